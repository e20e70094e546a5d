"""Refinements of stored runs: the same failures in every arm, bad input told, interrupted and continued to the byte."""

import asyncio
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.domain.call import Chat, ModelCall, call_key
from dokimasia.domain.refinement import RefinementRow
from dokimasia.errors import ConfigError, InputError, NotFound, TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.density import METHOD as FILTER
from dokimasia.methods.density import FilterRequest
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.refinement import METHOD, RefinementRequest, refine, refinement_rows
from dokimasia.methods.refinement.rows import refined_sample
from dokimasia.prompts import Recognised, recognise
from dokimasia.report.fields import as_json
from dokimasia.runs.lifecycle import RunResult, resume, run
from dokimasia.runs.plans import run_id
from dokimasia.runs.preview import prepare
from dokimasia.runs.reading.comparison import compare_runs
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.settings import Settings
from dokimasia.simulation.serving.faults import transport_error
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.retries import earlier_outcomes
from dokimasia.storage.runs import get_run, list_runs, load_samples, set_status
from dokimasia.storage.threads import live_threads

MODELS = ("sim/strong", "sim/weak")


def counting() -> CountingTransport:
    return CountingTransport(SimTransport())


@pytest.fixture(scope="module")
def evaluated(world: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home with a finished run of two models, and the run's id."""
    home = tmp_path_factory.mktemp("evaluated") / "home"
    request = EvaluationRequest(data=world, judge="sim/judge-noisy", models=MODELS)
    result = asyncio.run(evaluate(request, settings=Settings(home=home)))
    return home, result.run


@pytest.fixture
def source(evaluated: tuple[Path, str], settings: Settings) -> str:
    """The finished run, copied into the test's own home; its id."""
    shutil.copytree(evaluated[0], settings.home)
    return evaluated[1]


def read(call: ModelCall) -> Recognised | None:
    return recognise(call.messages) if isinstance(call, Chat) else None


def rows_of(settings: Settings, run: str) -> list[RefinementRow]:
    with Home.open(settings.home, write=False) as home:
        return refinement_rows(home, get_run(home, run))


def as_bytes(settings: Settings, result: RunResult) -> bytes:
    rows = [row.model_dump(mode="json") for row in rows_of(settings, result.run)]
    return orjson.dumps([result.summary, rows], option=orjson.OPT_SORT_KEYS)


def elsewhere(settings: Settings, name: str) -> Settings:
    """Settings with a copy of the home as it is now."""
    other = settings.home.with_name(name)
    shutil.copytree(settings.home, other)
    return Settings(home=other)


async def test_what_the_evaluation_decided_is_not_decided_again(settings: Settings, source: str) -> None:
    """Whether an original answer is right is the evaluation's own verdict, and nobody is asked about it once more."""
    transport = counting()
    result = await refine(
        RefinementRequest(run=source, strategy="again"), settings=settings, transports={"sim": transport}
    )
    with Home.open(settings.home, write=False) as home:
        decided = {(row.sample_id, row.model): row.final_id for row in results(home, source) if row.kind == "score"}
    originals = [row for row in rows_of(settings, result.run) if row.arm == "original"]
    assert {(row.sample_id, row.model): row.final_id for row in originals} == decided
    answers = sum(model["failed"] for model in result.summary["models"].values())
    asked = [found.name for call in transport.sent if (found := read(call)) is not None]
    assert asked.count("equivalence") <= answers


async def test_a_subsample_refines_samples_of_every_category(settings: Settings, source: str) -> None:
    """The draw is seeded and balanced over categories, is part of the run's identity, and is kept by a resume."""
    request = RefinementRequest(run=source, strategy="again", subsample=7, seed=1)
    result = await refine(request, settings=settings)
    rows = rows_of(settings, result.run)
    with Home.open(settings.home, write=False) as home:
        samples = load_samples(home, source)
        categories = {sample.id: sample.category for sample in samples}
        run_row = get_run(home, result.run)
        assert {sample.id for sample in load_samples(home, result.run)} == {row.sample_id for row in rows}
    drawn = Counter(categories[id] for id in {row.sample_id for row in rows})
    assert drawn.total() == 7
    assert max(drawn.values()) - min(drawn.values()) <= 1
    assert (await resume(run_row, settings=settings)).summary == result.summary
    others = [RefinementRequest(run=source, strategy="again", seed=1, subsample=size) for size in (6, 7, None, 999)]
    ids = [run_id(METHOD, (await prepare(METHOD, other, settings=settings)).plan) for other in others]
    assert ids[1] == result.run
    assert ids[2] == ids[3]
    assert len(set(ids)) == 3


async def test_every_arm_takes_up_the_same_failures(settings: Settings, source: str) -> None:
    """Those taken up are wrong and have a point to feed back; each has one row in each arm, with the same split."""
    result = await refine(RefinementRequest(run=source), settings=settings)
    assert result.complete
    rows = rows_of(settings, result.run)
    originals = [row for row in rows if row.arm == "original"]
    assert len(originals) == 28
    assert all(row.failed == (row.answered == "wrong") for row in originals)
    assert all(row.selected == (row.failed and bool(row.shown)) for row in originals)
    assert {row.rule for row in originals} >= {"choice", "exact", "judge"}
    failed = {(row.sample_id, row.model, row.shown, row.withheld) for row in originals if row.selected}
    for arm in ("again", "retry", "self", "peer"):
        mine = [row for row in rows if row.arm == arm]
        assert {(row.sample_id, row.model, row.shown, row.withheld) for row in mine} == failed
        assert all(row.round == 1 and row.last and row.answered_before == "wrong" for row in mine)
    left = sum(row.failed and not row.selected for row in originals)
    assert left == sum(one["left_out"]["answers"] for one in result.summary["models"].values())
    assert {unused.why for row in originals for unused in row.unused} <= {
        "final answer",
        "restates the question",
        "leak",
    }
    draws = {(row.sample_id, row.model, row.draw) for row in rows if row.arm != "original"}
    assert len(draws) == 4 * len(failed)
    for row in rows:
        assert row.told == () if row.arm in ("original", "again", "retry") else set(row.told) <= set(row.shown)
        assert row.after == row.before if row.arm == "original" else row.after != ()
        assert len(row.draws) == (2 if row.arm == "original" and row.selected else 1)
    figures = result.summary["models"]["sim/weak"]["arms"]
    assert figures["original"]["accuracy"]["share"] == 0
    assert {one["n"] for one in figures.values()} == {len([one for one in failed if one[1] == "sim/weak"])}
    with Home.open(settings.home, write=False) as home:
        assert live_threads(home) == set()
        stored = [row for row in results(home, result.run) if row.arm == "peer"]
    assert all(row.value_ids and row.calls and row.judgement_id for row in stored)


@pytest.mark.parametrize(
    ("strategy", "arms"),
    [
        ("again", ["original", "again"]),
        ("retry", ["original", "retry"]),
        ("self", ["original", "again", "retry", "self"]),
        ("peer", ["original", "again", "retry", "peer"]),
    ],
)
async def test_a_strategy_brings_its_controls(settings: Settings, source: str, strategy: Any, arms: list[str]) -> None:
    """`self` and `peer` run `again` and `retry` beside them; refined again, nothing is asked that another run asked."""
    transport = counting()
    request = RefinementRequest(run=source, strategy=strategy, models=("sim/weak",))
    result = await refine(request, settings=settings, transports={"sim": transport})
    assert result.summary["arms"] == arms
    assert sorted({row.arm for row in rows_of(settings, result.run)}) == sorted(arms)
    whole = counting()
    await refine(request.model_copy(update={"strategy": "all"}), settings=settings, transports={"sim": whole})
    assert not {call_key(call) for call in transport.sent} & {call_key(call) for call in whole.sent}


async def test_the_same_again_asks_nothing_and_another_is_another(settings: Settings, source: str) -> None:
    """Refined twice, a run is printed again; with other options it is a run of its own, and no arm of one is in the other."""
    request = RefinementRequest(run=source, strategy="self")
    first = await refine(request, settings=settings)
    transport = counting()
    again = await refine(request, settings=settings, transports={"sim": transport})
    assert (again, transport.sent) == (first, [])
    other = await refine(request.model_copy(update={"withhold": 0.0}), settings=settings)
    assert other.run != first.run
    assert all(row.withheld == () for row in rows_of(settings, other.run))
    assert rows_of(settings, first.run) != []
    fresh = await refine(request.model_copy(update={"fresh": True}), settings=settings, transports={"sim": transport})
    assert fresh.run not in (first.run, other.run)
    assert transport.sent == []
    with Home.open(settings.home, write=False) as home:
        commands = {run.id: run.command for run in list_runs(home)}
    assert commands[first.run] == f"refine {source} --strategy self"


async def test_a_budget_ends_it_and_a_resume_completes_it(settings: Settings, source: str) -> None:
    """What no call was left for is open; taken up later, the figures and the peers are those of a run never stopped."""
    request = RefinementRequest(run=source, models=("sim/weak",), strategy="peer")
    other = elsewhere(settings, "whole")
    whole = await refine(request, settings=other)
    for limit in (3, 40):
        part = await refine(request.model_copy(update={"max_calls": limit}), settings=settings)
        assert not part.complete
        assert part.summary["status"] == "interrupted"
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, part.run)
    done = await resume(run, settings=settings, changes={"max_calls": None})
    assert done.complete
    assert as_bytes(settings, done) == as_bytes(other, whole)


async def test_a_run_is_named_in_many_ways(settings: Settings, source: str) -> None:
    """The beginning of an id and `last` stand for one evaluation, and the request keeps its whole id."""
    first = await refine(RefinementRequest(run="last", strategy="again"), settings=settings)
    for name in (source[:6], source):
        assert await refine(RefinementRequest(run=name, strategy="again"), settings=settings) == first
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, first.run)
    assert METHOD.read(row)[1].run == source
    assert row.command == f"refine {source} --strategy again"


async def test_a_source_that_changed_is_refined_anew(settings: Settings, source: str) -> None:
    """Where the answers of the run that is refined are not what they were, a resume says so and asks nothing."""
    part = await refine(RefinementRequest(run=source, strategy="again", max_calls=2), settings=settings)
    with Home.open(settings.home, write=True) as home:
        row = get_run(home, part.run)
        await home.write(
            lambda connection: connection.execute(
                "UPDATE results SET score = 1.5 WHERE run_id = ? AND kind = 'score'", (source,)
            )
        )
    with pytest.raises(InputError, match=rf"refines run {source}, whose answers have changed since .* refine it anew"):
        await resume(row, settings=settings)
    again = await refine(RefinementRequest(run=source, strategy="again"), settings=settings)
    assert again.run != part.run


async def test_two_refinements_are_compared_arm_by_arm(settings: Settings, source: str) -> None:
    """Arms are paired by model and arm, over the answers that were taken up in both; two arms of one run, too."""
    first = await refine(RefinementRequest(run=source, strategy="self"), settings=settings)
    other = await refine(RefinementRequest(run=source, strategy="self", withhold=0.0), settings=settings)
    taken = {row.sample_id for row in rows_of(settings, first.run) if row.selected and row.model == "sim/weak"}
    with Home.open(settings.home, write=False) as home:
        runs = [get_run(home, one.run) for one in (first, other)]
        found = as_json(compare_runs(home, *runs))
        arms = as_json(compare_runs(home, runs[0], runs[0], models=("sim/weak#retry", "sim/weak#self")))
    assert [one["what"] for one in found["differs"]] == ["withhold"]
    pairs = {one["first_model"]: one for one in found["pairs"]}
    assert pairs["sim/weak#original"]["n_shared"] == 14
    assert pairs["sim/weak#self"]["n_shared"] == pairs["sim/weak#self"]["n_paired"] == len(taken)
    assert pairs["sim/weak#again"]["difference"]["mean"] == 0
    assert arms["pairs"][0]["n_paired"] == len(taken)


async def test_an_export_says_what_an_arm_was_told_and_came_to(settings: Settings, source: str) -> None:
    """Every arm of every answer is a row with its verdict, its final answer and its text; untouched answers have one."""
    result = await refine(RefinementRequest(run=source, rounds=2, strategy="self"), settings=settings)
    last = {(row.sample_id, row.model, row.arm): row for row in rows_of(settings, result.run) if row.last}
    with Home.open(settings.home, write=False) as home:
        rows = (await export_rows(home, get_run(home, result.run))).rows
    assert len(rows) == len(last)
    for row in rows:
        known = last[row["id"], row["model"], row["arm"]]
        assert (row["answered"], row["rounds"], row["selected"]) == (known.answered, known.round, known.selected)
        assert row["told"] == list(known.told)
        assert row["final_answer"] in row["response"]
        assert (row["score"] is None) == (known.failure is not None)
        assert row["judge"] == "sim/judge-noisy"


async def test_an_estimate_is_an_upper_bound(settings: Settings, source: str) -> None:
    """Nothing is sent beyond what was estimated, with every option that asks more, and less where less can fail."""
    request = RefinementRequest(run=source, rounds=2, judgements=2)
    expected = await prepare(METHOD, request, settings=settings)
    low = await prepare(METHOD, request.model_copy(update={"threshold": 2.0}), settings=settings)
    transport = counting()
    result = await refine(request, settings=settings, transports={"sim": transport})
    assert run_id(METHOD, expected.plan) == result.run
    assert len(transport.sent) <= expected.estimate.calls
    assert low.estimate.calls < expected.estimate.calls
    assert any("upper bound" in note for note in expected.estimate.notes), "who reads the number is told so"
    assert set(transport.by_model) == set(expected.estimate.models) == {*MODELS, "sim/judge-noisy"}


async def test_what_failed_is_asked_anew(settings: Settings, source: str) -> None:
    """Failed arms are asked again as new draws, those that came to something stay, and what failed stays on record."""
    request = RefinementRequest(run=source, strategy="again", models=("sim/weak",), keep_checkpoints=True)

    def too_long(call: ModelCall) -> TransportError | None:
        return transport_error("context_overflow") if call.model.name == "sim/weak" else None

    first = await refine(
        request, settings=settings, transports={"sim": CountingTransport(SimTransport(), fail=too_long)}
    )
    failed = [row for row in rows_of(settings, first.run) if row.arm == "again"]
    assert {row.failure for row in failed} == {"context_overflow"}
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, first.run)
    transport = counting()
    done = await resume(row, settings=settings, retry=("context_overflow",), transports={"sim": transport})
    again = [row for row in rows_of(settings, done.run) if row.arm == "again"]
    assert len(again) == len(failed)
    assert {row.failure for row in again} == {None}
    assert transport.by_model["sim/weak"] == len(failed)
    with Home.open(settings.home, write=False) as home:
        assert {one.failed.item for one in earlier_outcomes(home, done.run)} == {
            f"refine/{row.sample_id}/{row.model}/{row.repeat}/again" for row in failed
        }


async def test_a_threshold_takes_up_low_scores_instead(settings: Settings, source: str) -> None:
    """With a threshold it is the weighted score that decides; what was right is told so, and is in no gain."""
    transport = counting()
    request = RefinementRequest(run=source, strategy="retry", threshold=4.2)
    result = await refine(request, settings=settings, transports={"sim": transport})
    originals = [row for row in rows_of(settings, result.run) if row.arm == "original"]
    assert all(row.selected == (row.score_before is not None and row.score_before < 4.2) for row in originals)
    taken = Counter(row.answered for row in originals if row.selected)
    assert set(taken) == {"right", "wrong"}
    assert result.summary["threshold"] == 4.2
    told = [found.inputs["feedback"] for found in map(read, transport.sent) if found and found.name == "answer_again"]
    assert Counter(one.split(".")[0] for one in told) == {
        f"The final answer is {verdict}": count for verdict, count in taken.items()
    }
    assert sum(model["failed"] for model in result.summary["models"].values()) == taken["wrong"]


async def test_published_feedback_has_the_paper_s_form(settings: Settings, source: str) -> None:
    """No earlier answer, nothing withheld, every failed atom named, a hint for each; it is a run of its own."""
    transport = counting()
    request = RefinementRequest(run=source, protocol="published", models=("sim/weak",))
    result = await refine(request, settings=settings, transports={"sim": transport})
    assert (result.summary["protocol"], result.summary["hide_answer"], result.summary["withhold"]) == (
        "published",
        True,
        0,
    )
    rows = rows_of(settings, result.run)
    assert all(row.shown == row.failed_atoms for row in rows if row.selected and not row.unused)
    assert {unused.why for row in rows for unused in row.unused} <= {"leak"}
    asked = [found for call in transport.sent if (found := read(call)) is not None]
    assert {found.name for found in asked if found.name.startswith("answer_again")} == {"answer_again_published"}
    assert all(found.inputs["points"].count('"n":') == 1 for found in asked if found.name == "peer_hint")
    ours = await refine(request.model_copy(update={"protocol": "default"}), settings=settings)
    assert ours.run != result.run


async def test_models_and_peers_can_be_named(settings: Settings, source: str) -> None:
    """Only the named models are refined, and only the named peers asked."""
    request = RefinementRequest(run=source, strategy="peer", models=("sim/weak",), peers=("sim/strong",))
    result = await refine(request, settings=settings)
    rows = rows_of(settings, result.run)
    assert {row.model for row in rows} == {"sim/weak"}
    assert {point.peer for row in rows for point in row.points} <= {"sim/strong", ""}
    assert result.summary["hints"]["peer"]["points"] > 0


async def test_one_sample_is_shown_whole(settings: Settings, source: str) -> None:
    """Question, criteria and each round with what was told and said; an unknown sample is named."""
    result = await refine(RefinementRequest(run=source, strategy="self"), settings=settings)
    row = next(row for row in rows_of(settings, result.run) if row.arm == "self")
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
        view = await refined_sample(home, run, row.sample_id)
        with pytest.raises(NotFound, match="no finished item of a sample 'nowhere'"):
            await refined_sample(home, run, "nowhere")
    assert view["sample"]["id"] == row.sample_id
    assert any(one["arm"] == "self" and one["points"] and one["text"] for one in view["rounds"])


async def test_one_model_has_no_peer(settings: Settings, world: Path) -> None:
    """With one model `peer` is refused with the reason and the way out, and `self` works."""
    alone = EvaluationRequest(data=world, judge="sim/judge", models=("sim/weak",), limit=4)
    run = (await evaluate(alone, settings=settings)).run
    with pytest.raises(ConfigError, match=r"one model only, sim/weak.*`strategy` self"):
        await refine(RefinementRequest(run=run, strategy="peer"), settings=settings)
    assert (await refine(RefinementRequest(run=run, strategy="self"), settings=settings)).complete


async def test_what_cannot_be_refined_is_said(settings: Settings, source: str, world: Path) -> None:
    """Strangers among the models, a run that is not finished, and one that is no evaluation are refused, and why."""
    with pytest.raises(ConfigError, match=r"`models`: sim/other did not answer in run .*its models are: sim/strong"):
        await refine(RefinementRequest(run=source, models=("sim/other",)), settings=settings)
    with pytest.raises(ConfigError, match="only peer named is sim/weak itself"):
        await refine(
            RefinementRequest(run=source, strategy="peer", models=("sim/weak",), peers=("sim/weak",)),
            settings=settings,
        )
    rated = await run(FILTER, FilterRequest(data=world, judge="sim/judge", limit=1), settings=settings)
    with pytest.raises(NotFound, match="not an evaluation"):
        await refine(RefinementRequest(run=rated.run), settings=settings)
    with Home.open(settings.home, write=True) as home:
        await set_status(home, source, "interrupted")
    with pytest.raises(InputError, match=f"not finished.*dokimasia resume {source}"):
        await refine(RefinementRequest(run=source), settings=settings)


async def test_without_reference_answers_it_says_what_is_needed(
    settings: Settings, world: Path, tmp_path: Path
) -> None:
    """Nobody can say which answers are wrong; a threshold on the score works all the same, and accuracy stays unknown."""
    lines = [orjson.loads(line) for line in world.read_bytes().splitlines()[:5]]
    for line in lines:
        del line["reference_answer"]
        line["image"] = str(world.parent / line["image"])
    data = tmp_path / "bare.jsonl"
    data.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    request = EvaluationRequest(data=data, judge="sim/judge", models=("sim/weak",), allow_outside=True)
    run = (await evaluate(request, settings=settings)).run
    with pytest.raises(InputError, match=r"no sample .* has a reference answer.*threshold=3"):
        await refine(RefinementRequest(run=run, strategy="self"), settings=settings)
    result = await refine(RefinementRequest(run=run, strategy="self", threshold=5), settings=settings)
    figures = result.summary["models"]["sim/weak"]["arms"]["self"]
    assert figures["n"] > 0
    assert (figures["accuracy"], figures["coverage"], figures["bounds"]) == (None, 0, {"low": 0, "high": 1})


async def test_no_failure_is_nothing_to_do(settings: Settings, source: str) -> None:
    """Where nothing failed, the answers are checked, no model is asked to answer again, and the run is done."""
    transport = counting()
    request = RefinementRequest(run=source, models=("sim/strong",), threshold=1.01)
    result = await refine(request, settings=settings, transports={"sim": transport})
    assert result.complete
    assert result.summary["failed"] == 0
    assert {(row.arm, row.selected) for row in rows_of(settings, result.run)} == {("original", False)}
    assert not transport.by_model["sim/strong"]
