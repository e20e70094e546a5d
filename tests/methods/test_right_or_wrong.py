"""Right or wrong beside every score, from a data file to the figures: decided once, by rule or judge, and by rules alone."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import Chat, ModelCall
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer, Response
from dokimasia.errors import ConfigError, InputError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.diagnosis.evidence_data import gather
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.evaluation.criteria import export_criteria
from dokimasia.methods.refinement import RefinementRequest, refine
from dokimasia.methods.tree import grow_tree
from dokimasia.prompts import recognise
from dokimasia.report.data import ReportData
from dokimasia.report.document import render_document
from dokimasia.report.fields import as_json
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.observer import Progress, SilentObserver
from dokimasia.runs.outcome import RETRYABLE
from dokimasia.runs.reading.reporting import report_data
from dokimasia.settings import Settings
from dokimasia.simulation.serving.faults import spoil
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import get_run

Requests = Callable[..., EvaluationRequest]
LINE = "Final answer: "


def answers_of(settings: Settings, run: str) -> list[ResultRow]:
    with Home.open(settings.home, write=False) as home:
        return [row for row in results(home, run) if row.kind == "score"]


def values_of(settings: Settings, type_: Any, ids: Any) -> Mapping[str, Any]:
    with Home.open(settings.home, write=False) as home:
        return find_values(home, type_, [id for id in ids if id])


async def report_of(settings: Settings, run: str) -> ReportData:
    with Home.open(settings.home, write=False) as home:
        return await report_data(home, get_run(home, run), samples=4)


def prompt_of(call: ModelCall) -> str:
    found = recognise(call.messages) if isinstance(call, Chat) else None
    return "" if found is None else found.name


def watched(**options: Any) -> CountingTransport:
    return CountingTransport(SimTransport(), **options)


def prompts_of(transport: CountingTransport) -> Counter[str]:
    return Counter(map(prompt_of, transport.sent))


def references(world: Path) -> dict[str, str]:
    return {one["id"]: one["reference_answer"] for one in map(json.loads, world.read_text().splitlines())}


async def test_every_answer_says_whether_it_is_right(settings: Settings, request_of: Requests, world: Path) -> None:
    """Each row has its verdict, what it speaks to and its length; where a candidate says just the reference it is right."""
    result = await evaluate(request_of(judge="sim/judge"), settings=settings)
    rows, right = answers_of(settings, result.run), references(world)
    texts = values_of(settings, Response, [row.response_id for row in rows])
    finals = values_of(settings, FinalAnswer, [row.final_id for row in rows])
    judged = values_of(settings, CheckpointScores, [row.judgement_id for row in rows])
    for row in rows:
        text, final = texts[row.response_id or ""].text, finals[row.final_id or ""]
        assert row.verdict == final.verdict
        assert row.verdict == ("right" if text.rpartition(LINE)[2] == right[row.sample_id] else "wrong")
        assert (final.stated, row.length) == (LINE in text, len(text))
        told = judged[row.judgement_id or ""]
        assert len(told.stated) == len(told.scores)
        assert (row.stated == 1) == all(told.stated)
        assert (row.stated_score is None) == (row.stated == 0)
    assert {final.rule for final in finals.values()} >= {"choice", "exact", "judge"}
    for name, model in result.summary["models"].items():
        mine = [row for row in rows if row.model == name]
        assert (model["strict_accuracy"]["k"], model["strict_accuracy"]["n"]) == (
            sum(row.verdict == "right" for row in mine),
            14,
        )
        assert model["stated"]["mean"] == pytest.approx(sum(row.stated or 0 for row in mine) / 14, abs=1e-6)
        assert model["length"]["characters"] == pytest.approx(sum(row.length or 0 for row in mine) / 14, abs=0.1)
    assert (result.summary["ask"], result.summary["protocol"]) == ("show", "default")


async def test_the_bare_question_is_another_run(settings: Settings, request_of: Requests) -> None:
    """With `plain` the candidates get the data's own words, and figures and page say what that means."""
    transport = watched()
    shown = await evaluate(request_of(judge="sim/judge"), settings=settings)
    plain = await evaluate(request_of(judge="sim/judge", ask="plain"), settings=settings, transports={"sim": transport})
    assert plain.run != shown.run
    asked = prompts_of(transport)
    assert asked["candidate_plain"] == 28
    assert asked["candidate"] == asked["solver"] == asked["criteria"] == 0, "criteria are the same, and paid for"
    assert plain.summary["ask"] == "plain"
    with Home.open(settings.home, write=False) as home:
        plan: Any = get_run(home, plain.run).options["plan"]
    assert "candidate_plain" in plan["prompts"]
    assert "candidate" not in plan["prompts"]


async def test_the_published_protocol_goes_the_papers_way(settings: Settings, request_of: Requests) -> None:
    """As published the bare question is sent and silence is not told from error; the run says so, and can be asked otherwise."""
    transport = watched()
    result = await evaluate(
        request_of(judge="sim/judge", models=("sim/terse",), protocol="published"),
        settings=settings,
        transports={"sim": transport},
    )
    asked = prompts_of(transport)
    assert {"candidate_plain", "checkpoints_published", "criteria_published"} <= set(asked)
    assert not {"candidate", "checkpoints", "criteria", "criteria_check"} & set(asked)
    model = result.summary["models"]["sim/terse"]
    assert (result.summary["protocol"], result.summary["ask"]) == ("published", "plain")
    assert model["stated"]["n"] == model["stated_score"]["n"] == 0
    assert model["score"]["mean"] < 3
    assert model["strict_accuracy"]["n"] == 14, "right or wrong is decided all the same"
    shown = await evaluate(
        request_of(judge="sim/judge", models=("sim/terse",), protocol="published", ask="show"), settings=settings
    )
    assert (shown.summary["protocol"], shown.summary["ask"]) == ("published", "show")


async def test_a_terse_model_is_as_right_as_a_talkative_one(settings: Settings, tmp_path: Path) -> None:
    """Of two models of equal skill the one that says less scores far less and is right as often, and all places say why."""
    write_world(tmp_path / "world.jsonl", 84, 5)
    request = EvaluationRequest(data=tmp_path / "world.jsonl", judge="sim/judge", models=("sim/terse", "sim/talkative"))
    result = await evaluate(request, settings=settings)
    terse, talkative = (result.summary["models"][name] for name in request.models)
    assert talkative["score"]["low"] - terse["score"]["high"] > 1
    assert terse["stated"]["high"] < 0.3 < 0.85 < talkative["stated"]["low"]
    assert terse["length"]["characters"] < talkative["length"]["characters"] / 2
    assert result.summary["length"]["low"] > 0.3, "over both models, longer answers score higher"
    data = await report_of(settings, result.run)
    (pair,) = (as_json(difference) for difference in data.differences)
    right, both = pair["strict_accuracy"], pair["both_stated"]
    assert right["n"] == 84
    assert right["difference"]["low"] <= 0 <= right["difference"]["high"]
    assert both["difference"]["low"] <= 0 <= both["difference"]["high"]
    assert 0 < both["criteria"] < 100
    assert pair["stated"]["p_value"] < 0.001
    text = render_document(data)
    places = [
        text.index(words)
        for words in (
            "part of the difference below is how much each says",
            "It is ahead of **sim/terse**",
            "Their scores fall for what they do not say",
            "| model | strict accuracy |",
            "## Differences between models",
            "Go by strict accuracy",
            "| first | second | strict accuracy |",
            "| higher | lower | paired | difference |",
        )
    ]
    assert places == sorted(places), "silence is named before any score, and before any difference"


async def test_rules_alone_ask_the_candidates_alone(settings: Settings, request_of: Requests, world: Path) -> None:
    """Without a judge each answer is asked for and decided by rule, or fails as `undecided`; the same answers cost nothing."""
    transport = watched()
    heard = Progress()

    class Ear(SilentObserver):
        def progressed(self, progress: Progress) -> None:
            heard.items, heard.done = progress.items, progress.done

    result = await evaluate(request_of(judge=None), settings=settings, transports={"sim": transport}, observer=Ear())
    assert result.complete
    assert prompts_of(transport) == {"candidate": 28}
    summary = result.summary
    assert "judge" not in summary
    assert summary["open_items"] == summary["preparation"]["calls"] == 0
    right, rows = references(world), answers_of(settings, result.run)
    texts = values_of(settings, Response, [row.response_id for row in rows])
    for row in rows:
        assert (row.score, row.criteria_id, row.judgement_id, row.stated) == (None, None, None, None)
        assert (row.failure == "undecided") == (row.verdict == "unknown") == (row.outcome == "failed")
        said = texts[row.response_id or ""].text.rpartition(LINE)[2]
        assert row.verdict == "right" if said == right[row.sample_id] else row.verdict in ("wrong", "unknown")
    for name, model in summary["models"].items():
        mine = Counter(row.verdict for row in rows if row.model == name)
        accuracy = model["strict_accuracy"]
        assert (accuracy["k"], accuracy["n"], accuracy["answers"]) == (mine["right"], 14, 14)
        assert accuracy["n_undecided"] == mine["unknown"]
        assert (model["score"], model["bounds"], model["n_scored"]) == (None, None, 0)
        assert model["failed_answers"] == ({"undecided": mine["unknown"]} if mine["unknown"] else {})
    assert sum(model["failed_answers"].get("undecided", 0) for model in summary["models"].values()) > 0
    assert (heard.items, heard.done) == (28, 28), "each answer is an item, and no criteria are waited for"
    judged = watched()
    await evaluate(request_of(judge="sim/judge"), settings=settings, transports={"sim": judged})
    assert prompts_of(judged)["candidate"] == 0, "with a judge the same answers are scored, and not asked for again"


async def test_the_data_say_which_answers_are_accepted(settings: Settings, tmp_path: Path) -> None:
    """Answers that exist are decided by rule against every accepted answer, within the tolerance that was asked for."""
    data, answers = tmp_path / "data.jsonl", tmp_path / "answers.jsonl"
    samples = [
        ({"reference_answers": ["13.6", "13.7"]}, "13.7", "right"),
        ({"reference_answer": "no<OR>empty"}, "It is empty.", "right"),
        ({"reference_answer": "eggs<AND>flour"}, "flour and eggs", "right"),
        ({"reference_answer": "eggs<AND>flour"}, "flour", "unknown"),
        ({"reference_answer": "March 5, 2014"}, "2014-03-06", "wrong"),
        ({"reference_answer": "100"}, "Final answer: 104", "right"),
        ({"reference_answer": "100"}, "Final answer: 106", "wrong"),
        ({}, "anything", None),
    ]
    with data.open("w") as file, answers.open("w") as given:
        for number, (fields, answer, _) in enumerate(samples):
            file.write(json.dumps({"id": str(number), "prompt": "Which?", **fields}) + "\n")
            given.write(json.dumps({"id": str(number), "model": "someone", "response": answer}) + "\n")
    request = EvaluationRequest(data=data, responses=answers, tolerance=0.05)
    silent = watched()
    result = await evaluate(request, settings=settings, transports={"sim": silent})
    assert silent.sent == []
    rows = {row.sample_id: row for row in answers_of(settings, result.run)}
    assert [rows[str(number)].verdict for number in range(len(samples))] == [verdict for *_, verdict in samples]
    accuracy = result.summary["models"]["someone"]["strict_accuracy"]
    assert (accuracy["k"], accuracy["n"], accuracy["n_undecided"], accuracy["answers"]) == (4, 7, 1, 7)
    assert result.summary["ask"] is None, "whoever made the answers knows how the question was put"
    assert "no reference answer" in (rows["7"].reason or "")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tools": ("crop",)}, "`tools` is for a judge, and there is none"),
        ({"criteria": "abc"}, "`criteria` is for a judge, and there is none"),
        ({"show_image": True}, "`show_image` is for a judge, and there is none"),
    ],
)
async def test_what_needs_a_judge_is_refused_without_one(
    settings: Settings, request_of: Requests, fields: dict[str, Any], message: str
) -> None:
    """Nothing is sent, and the message says how to go on."""
    silent = watched()
    with pytest.raises(ConfigError, match=message):
        await evaluate(request_of(judge=None, **fields), settings=settings, transports={"sim": silent})
    assert silent.sent == []


async def test_rules_need_something_to_compare_with(settings: Settings, tmp_path: Path) -> None:
    """Data without any reference answer are refused where there is no judge."""
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": "1", "prompt": "Which?"}\n')
    with pytest.raises(ConfigError, match=r"no sample has a reference answer.*name a judge with `judge`"):
        await evaluate(EvaluationRequest(data=data, models=("sim/weak",)), settings=settings)


async def test_what_rests_on_criteria_says_that_there_are_none(settings: Settings, request_of: Requests) -> None:
    """A run by rules alone cannot be refined, diagnosed or grown from, and has no criteria to export: each says so."""
    run = (await evaluate(request_of(judge=None), settings=settings)).run
    alone = "decided by rules alone, so it has no criteria"
    with pytest.raises(InputError, match=alone):
        await refine(RefinementRequest(run=run), settings=settings)
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, run)
        with pytest.raises(InputError, match=alone):
            gather(home, row)
        with pytest.raises(InputError, match="without a judge none are made"):
            await export_criteria(home, row)
    with pytest.raises(InputError, match="has no criteria to grow a tree from"):
        await grow_tree(judge="sim/judge", run=run, settings=settings)


def open_question(world: Path, folder: Path) -> Path:
    """A data file with one question whose reference says the planted answer in part, so that a judge has to say."""
    rows = [json.loads(line) for line in world.read_text().splitlines()]
    row = next(one for one in rows if "choices" not in one and one["reference_answer"].count(", ") == 2)
    what, _, who = row["reference_answer"].split(", ")
    row["image"] = str(world.parent / row["image"])
    path = folder / "one.jsonl"
    path.write_text(json.dumps({**row, "reference_answer": f"{what} {who}"}) + "\n")
    return path


async def test_a_budget_that_ends_at_the_verdict_leaves_the_answer_open(
    settings: Settings, request_of: Requests, world: Path, tmp_path: Path
) -> None:
    """The answer whose verdict could not be paid for is `budget`, and a resume asks for just that and ends as the whole."""
    request = request_of(
        data=open_question(world, tmp_path), judge="sim/judge", models=("sim/weak",), allow_outside=True
    )
    reference = watched()
    elsewhere = Settings(home=settings.home.with_name("whole"))
    whole = await evaluate(request, settings=elsewhere, transports={"sim": reference})
    (row,) = answers_of(elsewhere, whole.run)
    assert (len(row.calls), prompts_of(reference)["equivalence"]) == (3, 2)
    short = request.model_copy(update={"max_calls": len(reference.sent) - 1})
    part = await evaluate(short, settings=settings, transports={"sim": watched()})
    assert not part.complete
    (row,) = answers_of(settings, part.run)
    assert (row.failure, row.verdict, row.score) == ("budget", "unknown", None)
    rest = watched()
    done = await goes_on(settings, part.run, rest, changes={"max_calls": None})
    assert prompts_of(rest) == {"equivalence": 1}
    assert done.summary == whole.summary
    assert answers_of(settings, done.run) == answers_of(elsewhere, whole.run)


async def goes_on(settings: Settings, run: str, transport: CountingTransport, **how: Any) -> RunResult:
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, run)
    return await resume(row, settings=settings, transports={"sim": transport}, **how)


async def test_a_retry_keeps_what_was_decided(
    settings: Settings, request_of: Requests, world: Path, tmp_path: Path
) -> None:
    """An answer whose scores failed keeps the judge's verdict: the retry asks for scores alone."""
    request = request_of(
        data=open_question(world, tmp_path), judge="sim/judge", models=("sim/strong",), allow_outside=True
    )

    def garbled(call: ModelCall, reply: Any) -> Any:
        return spoil(reply, call, "malformed") if isinstance(call, Chat) and prompt_of(call) == "checkpoints" else reply

    first = await evaluate(request, settings=settings, transports={"sim": watched(change=garbled)})
    (failed,) = answers_of(settings, first.run)
    assert (failed.failure, failed.verdict) == ("unparsable", "right")
    assert first.summary["models"]["sim/strong"]["strict_accuracy"]["n"] == 1, "right or wrong is known all the same"
    rest = watched()
    await goes_on(settings, first.run, rest, retry=RETRYABLE)
    assert set(prompts_of(rest)) == {"checkpoints"}
    (row,) = answers_of(settings, first.run)
    assert (row.verdict, row.final_id, row.failure) == ("right", failed.final_id, None)
    assert row.score is not None
