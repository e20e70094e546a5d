"""Refinements of stored runs: the same failures in every arm, bad input told, interrupted and continued to the byte."""

import asyncio
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.domain.refinement import RefinementRow
from dokimasia.errors import ConfigError, InputError, Interrupted, NotFound
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.refinement import RefinementRequest, refine, refinement_rows
from dokimasia.methods.refinement.results import refined_sample
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings
from dokimasia.simulation.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import get_run, list_runs, set_status
from dokimasia.storage.threads import live_threads

MODELS = ("sim/strong", "sim/weak")


class Counting(SimTransport):
    """The simulated transport, counting what is sent and stopping a run after so many calls."""

    def __init__(self, *, stop: Stop | None = None, after: int = 10**9) -> None:
        super().__init__()
        self.sent: list[str] = []
        self._stop, self._after = stop, after

    async def send(self, call: Any, spec: Any, **rest: Any) -> Any:
        """Count, and ask for the stop when it is time."""
        self.sent.append(call.model_dump_json())
        if self._stop is not None and len(self.sent) >= self._after:
            self._stop.ask()
        await asyncio.sleep(0.001)
        return await super().send(call, spec, **rest)


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


async def test_every_arm_takes_up_the_same_failures(settings: Settings, source: str) -> None:
    """The failed answers are those whose final answer is wrong; each has one row in each arm, with the same split."""
    result = await refine(RefinementRequest(run=source), settings=settings)
    assert result.complete
    rows = rows_of(settings, result.run)
    originals = [row for row in rows if row.arm == "original"]
    assert len(originals) == 28
    assert all(row.selected == (row.answered == "wrong") for row in originals)
    assert {row.rule for row in originals} >= {"choice", "exact", "judge"}
    failed = {(row.sample_id, row.model, row.shown, row.withheld) for row in originals if row.selected}
    for arm in ("again", "retry", "self", "peer"):
        mine = [row for row in rows if row.arm == arm]
        assert {(row.sample_id, row.model, row.shown, row.withheld) for row in mine} == failed
        assert all(row.round == 1 and row.last and row.answered_before == "wrong" for row in mine)
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
    transport = Counting()
    request = RefinementRequest(run=source, strategy=strategy, models=("sim/weak",))
    result = await refine(request, settings=settings, transports={"sim": transport})
    assert result.summary["arms"] == arms
    assert sorted({row.arm for row in rows_of(settings, result.run)}) == sorted(arms)
    whole = Counting()
    await refine(request.model_copy(update={"strategy": "all"}), settings=settings, transports={"sim": whole})
    assert not set(transport.sent) & set(whole.sent)


async def test_the_same_again_asks_nothing_and_another_is_another(settings: Settings, source: str) -> None:
    """Refined twice, a run is printed again; with other options it is a run of its own, and no arm of one is in the other."""
    request = RefinementRequest(run=source, strategy="self")
    first = await refine(request, settings=settings)
    transport = Counting()
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


async def test_stopped_in_every_place_and_continued(settings: Settings, source: str) -> None:
    """Stopped again and again in the middle of rounds, it ends with the same bytes and sends no committed call again."""
    request = RefinementRequest(run=source, rounds=2, models=("sim/weak",))
    other = elsewhere(settings, "whole")
    whole = await refine(request, settings=other)
    sent: Counter[str] = Counter()
    result, number = None, 0
    for number in range(60):
        stop = Stop()
        transport = Counting(stop=stop, after=9)
        options: dict[str, Any] = {"settings": settings, "stop": stop, "transports": {"sim": transport}}
        try:
            if number % 2:
                with Home.open(settings.home, write=False) as home:
                    run = get_run(home, whole.run)
                result = await resume(run, **options)
            else:
                result = await refine(request, **options)
            break
        except Interrupted:
            continue
        finally:
            sent += Counter(transport.sent)
    assert result is not None
    assert as_bytes(settings, result) == as_bytes(other, whole)
    assert number > 10
    assert max(sent.values()) == 1
    assert max(row.round for row in rows_of(settings, result.run)) == 2


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
    done = await resume(run, settings=settings)
    assert done.complete
    assert as_bytes(settings, done) == as_bytes(other, whole)


async def test_a_threshold_takes_up_low_scores_instead(settings: Settings, source: str) -> None:
    """With a threshold it is the weighted score that decides, whether or not the final answer is right."""
    result = await refine(RefinementRequest(run=source, strategy="retry", threshold=3.5), settings=settings)
    originals = [row for row in rows_of(settings, result.run) if row.arm == "original"]
    assert all(row.selected == (row.score_before is not None and row.score_before < 3.5) for row in originals)
    assert {row.answered for row in originals if row.selected} == {"right", "wrong"}
    assert result.summary["threshold"] == 3.5


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
        view = refined_sample(home, run, row.sample_id)
        with pytest.raises(NotFound, match="no finished item of a sample 'nowhere'"):
            refined_sample(home, run, "nowhere")
    assert view["sample"]["id"] == row.sample_id
    assert any(one["arm"] == "self" and one["points"] and one["text"] for one in view["rounds"])


async def test_one_model_has_no_peer(settings: Settings, world: Path) -> None:
    """With one model `peer` is refused with the reason and the way out, and `self` works."""
    alone = EvaluationRequest(data=world, judge="sim/judge", models=("sim/weak",), limit=4)
    run = (await evaluate(alone, settings=settings)).run
    with pytest.raises(ConfigError, match=r"one model only, sim/weak.*--strategy self"):
        await refine(RefinementRequest(run=run, strategy="peer"), settings=settings)
    assert (await refine(RefinementRequest(run=run, strategy="self"), settings=settings)).complete


async def test_what_cannot_be_refined_is_said(settings: Settings, source: str) -> None:
    """Strangers among the models, a run that is not finished, and one that is no evaluation are refused, and why."""
    with pytest.raises(ConfigError, match=r"--models: sim/other did not answer in run .*its models are: sim/strong"):
        await refine(RefinementRequest(run=source, models=("sim/other",)), settings=settings)
    with pytest.raises(ConfigError, match="only peer named is sim/weak itself"):
        await refine(
            RefinementRequest(run=source, strategy="peer", models=("sim/weak",), peers=("sim/weak",)),
            settings=settings,
        )
    refined = await refine(RefinementRequest(run=source, strategy="again"), settings=settings)
    with pytest.raises(NotFound, match="not an evaluation"):
        await refine(RefinementRequest(run=refined.run), settings=settings)
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
    request = EvaluationRequest(data=data, judge="sim/judge", models=("sim/weak",))
    run = (await evaluate(request, settings=settings)).run
    with pytest.raises(InputError, match=r"no sample .* has a reference answer.*--threshold 3"):
        await refine(RefinementRequest(run=run, strategy="self"), settings=settings)
    result = await refine(RefinementRequest(run=run, strategy="self", threshold=5), settings=settings)
    figures = result.summary["models"]["sim/weak"]["arms"]["self"]
    assert figures["n"] > 0
    assert (figures["accuracy"], figures["coverage"], figures["bounds"]) == (None, 0, {"low": 0, "high": 1})


async def test_no_failure_is_nothing_to_do(settings: Settings, source: str) -> None:
    """Where nothing failed, the answers are checked, no model is asked to answer again, and the run is done."""
    transport = Counting()
    request = RefinementRequest(run=source, models=("sim/strong",), threshold=1.01)
    result = await refine(request, settings=settings, transports={"sim": transport})
    assert result.complete
    assert result.summary["failed"] == 0
    assert {(row.arm, row.selected) for row in rows_of(settings, result.run)} == {("original", False)}
    assert not [call for call in transport.sent if orjson.loads(call)["model"]["name"] == "sim/strong"]
