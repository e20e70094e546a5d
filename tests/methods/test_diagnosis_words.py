"""Reports in words: what is planted is named, what is wrong is unverified, and a killed writer ends as one never killed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from dokimasia.domain.diagnosis.report import MOST_WORDS
from dokimasia.methods.diagnosis import METHOD, WordsRequest, write_diagnosis
from dokimasia.methods.diagnosis.evidence import evidence, report_diagnosis
from dokimasia.methods.diagnosis.evidence_data import gather
from dokimasia.methods.diagnosis.figures import latest_words, words_figures
from dokimasia.methods.diagnosis.tables import diagnose, stored_diagnosis
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.evaluation.correcting import CorrectionTarget, correct
from dokimasia.methods.tree import grow_tree
from dokimasia.runs import work
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.diagnosing import diagnosis_reply
from dokimasia.simulation.profiles import as_judge, find_profile
from dokimasia.simulation.requests import Inputs
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run, list_runs, run_samples
from tests.tree_judge_double import JudgeTransport, Killed

Requests = Callable[..., EvaluationRequest]
Reply = Callable[[str, dict[str, str]], str]


def writer(judge: str = "sim/judge", **replies: str) -> Reply:
    """A simulated writer that replies to some prompts with a text of the test's."""
    profile = as_judge(find_profile(judge))

    def reply(prompt: str, inputs: dict[str, str]) -> str:
        if prompt in replies:
            return replies[prompt]
        return diagnosis_reply(
            profile, prompt, Inputs.model_validate(inputs), Draws(f"{prompt}/{inputs.get('subject')}")
        )

    return reply


async def written(settings: Settings, run: str, reply: Reply | None = None, **more: Any) -> RunResult:
    """Have a run's reports written by a writer of the test's, or the simulated judge."""
    request = WordsRequest.model_validate({"run": run, "judge": "sim/judge", **more})
    return await write_diagnosis(request, settings=settings, transports={"sim": JudgeTransport(reply or writer())})


def by_subject(result: RunResult) -> dict[str, dict[str, Any]]:
    """The reports of a summary by whom they are about."""
    return {one["subject"]: one for one in result.summary["reports"]}


async def test_a_correction_after_the_writing_is_said(settings: Settings, request_of: Requests) -> None:
    """A verdict that a person corrected later is no part of the words, which say so until it is undone."""
    run = (await evaluate(request_of(), settings=settings)).run
    with Home.open(settings.home, write=True) as home:
        evaluation = get_run(home, run)
        samples = [sample.sample_id for sample in run_samples(home, run)]
        leave_out = {"leave_out": True, "reason": "the question is wrong"}
        await correct(home, evaluation, CorrectionTarget(sample=samples[0], **leave_out), person="ann")
    first = await written(settings, run)
    with Home.open(settings.home, write=True) as home:
        assert not any("corrected by hand after" in note for note in first.summary["notes"])
        await correct(home, evaluation, CorrectionTarget(sample=samples[1], **leave_out), person="ann")
        words = words_figures(home, get_run(home, first.run))
        assert "1 verdict or sample of run" in words.notes[-1]
        page = report_diagnosis(home, evaluation)
        assert page is not None
        assert words.notes[-1] in cast("list[str]", page["notes"])
        undo = CorrectionTarget(sample=samples[1], leave_out=True, undo=True)
        await correct(home, evaluation, undo, person="ann")
        assert words_figures(home, get_run(home, first.run)).notes == words.notes[:-1]
        await correct(home, evaluation, undo.model_copy(update={"sample": samples[0]}), person="ann")
        assert "1 verdict or sample of run" in words_figures(home, get_run(home, first.run)).notes[-1]


async def test_reports_are_kept_asked_for_once_and_shown_on_the_page(settings: Settings, request_of: Requests) -> None:
    """A report a model and one across; every place leads to a row with atoms behind it; the same again asks nothing."""
    run = (await evaluate(request_of(), settings=settings)).run
    first = await written(settings, run)
    assert first.complete
    assert list(by_subject(first)) == ["sim/strong", "sim/weak", ""]
    assert first.summary["totals"]["unverified"] == 0
    assert first.summary["totals"]["verified"] >= 6
    silent = JudgeTransport(writer())
    request = WordsRequest(run=run, judge="sim/judge")
    assert (await write_diagnosis(request, settings=settings, transports={"sim": silent})).summary == first.summary
    assert silent.asked == []
    with Home.open(settings.home, write=False) as home:
        stored = get_run(home, run)
        tables = stored_diagnosis(home, stored)
        page = report_diagnosis(home, stored)
        gathered = gather(home, stored)
        assert tables is not None
        for one in first.summary["reports"]:
            for sentence in one["sentences"]:
                for place in sentence["places"]:
                    assert page is not None
                    row = place["row"]
                    assert row in page["cited"]
                    assert page["evidence"][row]["atoms"] > 0
                    assert evidence(home, stored, gathered, tables, row).atoms == page["evidence"][row]["atoms"]


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 0.95])
async def test_killed_in_a_call_and_resumed_the_reports_are_the_same_to_the_byte(
    settings: Settings, request_of: Requests, tmp_path: Path, share: float
) -> None:
    """Killed anywhere between the first call and the last, and resumed: the same reports, no finished call again."""
    fabulist = writer("sim/judge-fabulist")
    run = (await evaluate(request_of(), settings=settings)).run
    whole = JudgeTransport(fabulist)
    request = WordsRequest(run=run, judge="sim/judge")
    expected = await write_diagnosis(request, settings=settings, transports={"sim": whole})
    other = load_settings(home=tmp_path / "other", cwd=tmp_path, env={})
    await evaluate(request_of(), settings=other)
    dying = JudgeTransport(fabulist, die_at=int(len(whole.asked) * share))
    with pytest.raises(Killed):
        await write_diagnosis(request, settings=other, transports={"sim": dying})
    with Home.open(other.home, write=False) as home:
        half = next(one for one in list_runs(home) if one.method == METHOD.name)
    rest = JudgeTransport(fabulist)
    result = await resume(half, settings=other, transports={"sim": rest})
    assert result.complete
    assert json.dumps(result.summary) == json.dumps(expected.summary)
    assert len(dying.asked) + len(rest.asked) == len(whole.asked)


async def test_killed_between_the_last_step_and_its_rows(
    settings: Settings, request_of: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed when all is written and nothing is recorded: the resume records it and asks nothing."""
    run = (await evaluate(request_of(), settings=settings)).run
    record = work.record_results

    async def die(*arguments: Any) -> None:
        raise Killed

    monkeypatch.setattr(work, "record_results", die)
    with pytest.raises(Killed):
        await written(settings, run)
    monkeypatch.setattr(work, "record_results", record)
    with Home.open(settings.home, write=False) as home:
        half = next(one for one in list_runs(home) if one.method == METHOD.name)
    silent = JudgeTransport(writer())
    result = await resume(half, settings=settings, transports={"sim": silent})
    assert result.complete
    assert result.summary["totals"]["verified"] >= 6
    assert silent.asked == []


async def test_a_writer_that_invents(settings: Settings, request_of: Requests) -> None:
    """Numbers of its own, tables that are not there, a comparison without a test: each unverified, with its reason."""
    run = (await evaluate(request_of(), settings=settings)).run
    invented = (
        "sim/weak fails on 73 % of all questions.\n"
        "It scores {leaves/atlantis:1.score}.\n"
        "It scores {models:77.criteria score}.\n"
        "It is {compare models:1.criteria score models:2.criteria score} the other.\n"
        "It is the worst of all models.\n"
        "It has {models:2.criteria score}, and much is left to do."
    )
    found = by_subject(await written(settings, run, writer(diagnosis_report=invented)))["sim/weak"]
    kinds = [[fault["kind"] for fault in one["faults"]] for one in found["sentences"]]
    assert kinds == [["literal_digit"], ["no_such_place"], ["no_such_place"], ["no_test"], ["no_test"], []]
    assert found["verified"] == 1
    assert found["unverified_at_first"] == 5
    assert "points of 100" in found["sentences"][-1]["text"]
    assert found["sentences"][-1]["written"] == "It has {models:2.criteria score}, and much is left to do."


async def test_a_writer_of_ten_thousand_words(settings: Settings, request_of: Requests) -> None:
    """It is sent back once, then cut after the last sentence that fits, and the report says so."""
    run = (await evaluate(request_of(models=("sim/weak",)), settings=settings)).run
    line = "It may be said, and has been said before, that there is much to say about this and little to add."
    found = by_subject(await written(settings, run, writer(diagnosis_report="\n".join([line] * 500))))["sim/weak"]
    assert found["cut"]
    assert found["words"] >= 10_000
    assert sum(len(one["text"].split()) for one in found["sentences"]) <= MOST_WORDS
    assert found["calls"] == 3


async def test_a_writer_without_an_answer(settings: Settings, request_of: Requests) -> None:
    """Nonsense twice is a failure in the place of a report; the other reports stand."""
    run = (await evaluate(request_of(), settings=settings)).run
    result = await written(settings, run, writer(diagnosis_across="  "))
    found = by_subject(result)
    assert found[""]["failed"]["kind"] in {"unparsable", "api_error"}
    assert found["sim/weak"]["failed"] is None
    assert result.summary["totals"]["failed"] == 1
    alone = (await evaluate(request_of(models=("sim/weak",)), settings=settings)).run
    nothing = await written(settings, alone, writer(diagnosis_salient="none of it"))
    assert nothing.complete
    assert by_subject(nothing)["sim/weak"]["failed"]["kind"] == "unparsable"
    assert nothing.summary["totals"]["failed"] == 1


async def test_a_later_failure_hides_no_report(settings: Settings, request_of: Requests) -> None:
    """A finished writing without a report is the newest only until there is one with a report, older or younger."""
    run = (await evaluate(request_of(models=("sim/weak",)), settings=settings)).run
    failed = await written(settings, run, writer(diagnosis_salient="none of it"))
    with Home.open(settings.home, write=False) as home:
        found = latest_words(home, run)
        assert found is not None
        assert found.id == failed.run
    good = await written(settings, run, judge="sim/judge-noisy", seed=5)
    again = await written(settings, run, writer(diagnosis_salient="none of it"), seed=6)
    assert len({failed.run, good.run, again.run}) == 3
    with Home.open(settings.home, write=False) as home:
        found = latest_words(home, run)
    assert found is not None
    assert found.id == good.run


async def test_one_model_one_sample_and_no_tree(settings: Settings, request_of: Requests, world: Path) -> None:
    """One model has no report across; one sample marks nothing; without a tree the note offers to grow one."""
    one = world.parent / "one.jsonl"
    one.write_text(world.read_text().splitlines()[0] + "\n")
    run = (await evaluate(request_of(data=one, models=("sim/weak",)), settings=settings)).run
    with Home.open(settings.home, write=False) as home:
        tables = diagnose(home, get_run(home, run))
    assert {row.mark for asset in tables.assets for row in asset.rows} <= {"", "unclear"}
    for asset in tables.assets:
        for row in asset.rows:
            assert row.n <= row.held
    result = await written(settings, run)
    assert list(by_subject(result)) == ["sim/weak"]
    assert result.summary["totals"]["failed"] == 0
    assert any(f"dokimasia tree grow {run}" in note for note in result.summary["notes"])


async def test_a_model_without_failures(settings: Settings, request_of: Requests) -> None:
    """Its table of failures counts none, with an interval, and its report claims no weakness."""
    run = (await evaluate(request_of(models=("sim/strong",), judge="sim/judge"), settings=settings)).run
    with Home.open(settings.home, write=False) as home:
        tables = diagnose(home, get_run(home, run))
    failed = tables.asset("failures")
    assert failed is not None
    assert "no failure of any kind" in failed.sentence
    (row,) = failed.rows
    assert row.cells[2].value == 0
    assert row.cells[3].high is not None
    assert row.cells[3].high < 0.5
    found = by_subject(await written(settings, run))["sim/strong"]
    assert not any(" is weak at " in one["text"] for one in found["sentences"])
    assert not any("have no score" in one["text"] for one in found["sentences"])


async def test_a_fork_is_written_from_the_tables_of_its_parent(settings: Settings, request_of: Requests) -> None:
    """With another judge the tables stay those that were written from, although the run has a tree by now."""
    run = (await evaluate(request_of(), settings=settings)).run
    first = await written(settings, run)
    await grow_tree(judge="sim/judge", run=run, settings=settings)
    with Home.open(settings.home, write=False) as home:
        parent = get_run(home, first.run)
    child = await fork(parent, ForkRequest(judge="sim/judge-noisy"), settings=settings)
    assert child.complete
    assert child.summary["diagnosis"] == first.summary["diagnosis"]
    assert child.summary["judge"] == "sim/judge-noisy"
    with Home.open(settings.home, write=False) as home:
        export = await export_rows(home, get_run(home, child.run))
    assert [row["model"] for row in export.rows] == ["", "sim/strong", "sim/weak"]
    for row in export.rows:
        assert row["judge"] == "sim/judge-noisy"
        assert row["verified"] + row["unverified"] > 0
        assert row["model"] in row["text"]
