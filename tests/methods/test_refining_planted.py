"""Self-correction end to end on planted worlds: what each arm mends is what was planted, and nothing where nothing helps."""

import asyncio
from pathlib import Path
from typing import NamedTuple

import pytest

from dokimasia.algorithms.statistics import difference_interval
from dokimasia.algorithms.statistics.intervals import rate_interval
from dokimasia.domain.refinement import SOLVED, RefinementRow
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.refinement import RefinementRequest, refine, refinement_rows
from dokimasia.settings import load_settings
from dokimasia.simulation.learners import failure_reason, gives_guidance
from dokimasia.simulation.profiles import as_candidate, as_judge, find_profile
from dokimasia.simulation.scene import Scene, SceneQuestion
from dokimasia.simulation.truths.refinement import (
    ARMS,
    Arm,
    RefinementRates,
    expected_rates,
    guess_chance,
    states_answer,
)
from dokimasia.simulation.world import make_world, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

pytestmark = pytest.mark.full  # benchmarks.calibration repeats these worlds over many more seeds

SEEDS, SAMPLES = 3, 27
LEARNER, HEEDLESS, JUDGE = "sim/learner", "sim/learner-heedless", "sim/judge"
FLIPPER, RECITER = "sim/learner-flipper", "sim/learner-reciter"
FLIPS = as_candidate(find_profile(FLIPPER)).flips
PEERS = ("sim/tutor-leaky", "sim/tutor-vain")
GAINS: tuple[tuple[Arm, Arm], ...] = (("self", "retry"), ("peer", "retry"), ("peer", "again"))


class Loop(NamedTuple):
    """One seed's refinement: its rows, its questions by id, and the planted rates of both learners."""

    rows: list[RefinementRow]
    pairs: dict[str, tuple[Scene, SceneQuestion]]
    planted: dict[str, RefinementRates]

    def last(self, model: str, arm: Arm) -> list[RefinementRow]:
        """The rows by which an arm of a model is judged, in the order of the data."""
        return [row for row in self.rows if row.selected and row.last and (row.model, row.arm) == (model, arm)]

    def right(self, model: str, arm: Arm) -> list[bool]:
        """Whether each answer that failed came out right in an arm."""
        return [row.answered == "right" for row in self.last(model, arm)]

    def images(self, model: str) -> list[str]:
        """The images of the answers that failed."""
        return [row.cluster for row in self.last(model, "again")]


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> list[Loop]:
    """Evaluate and refine on the worlds of three seeds."""
    return [_loop(tmp_path_factory.mktemp(f"seed-{seed}"), seed) for seed in range(2, 2 + SEEDS)]


def _loop(folder: Path, seed: int) -> Loop:
    data = folder / "world.jsonl"
    write_world(data, SAMPLES, seed)
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    refined_models = (LEARNER, HEEDLESS, FLIPPER, RECITER)
    models = (*refined_models, *PEERS)

    async def go() -> str:
        run = await evaluate(EvaluationRequest(data=data, judge=JUDGE, models=models, seed=seed), settings=settings)
        request = RefinementRequest(run=run.run, models=refined_models, peers=PEERS, seed=seed)
        refined = await refine(request, settings=settings)
        assert refined.complete
        return refined.run

    run = asyncio.run(go())
    with Home.open(settings.home, write=False) as home:
        rows = refinement_rows(home, get_run(home, run))
    pairs = list(make_world(SAMPLES, seed))
    judge, peers = as_judge(find_profile(JUDGE)), [as_candidate(find_profile(name)) for name in PEERS]
    planted = {
        name: expected_rates(as_candidate(find_profile(name)), judge, pairs, peers=peers)
        for name in (LEARNER, HEEDLESS)
    }
    return Loop(rows, {question.id: (scene, question) for scene, question in pairs}, planted)


def test_intervals_cover_the_planted_accuracies_and_gains(loops: list[Loop]) -> None:
    """Of three worlds' intervals of four accuracies and three gains nearly all contain what was planted."""
    covered: list[bool] = []
    for loop in loops:
        images, planted = loop.images(LEARNER), loop.planted[LEARNER].accuracy
        for arm in ARMS:
            interval = rate_interval(loop.right(LEARNER, arm), clusters=images)
            covered.append(interval.low <= planted[arm] <= interval.high)
        for arm, control in GAINS:
            first, second = (list(map(float, loop.right(LEARNER, one))) for one in (control, arm))
            gain = difference_interval(first, second, clusters=images, seed=0, bounds=(0.0, 1.0))
            covered.append(gain.low <= planted[arm] - planted[control] <= gain.high)
    assert len(covered) == 21
    assert sum(covered) >= 20


def test_all_worlds_together_show_the_planted_order(loops: list[Loop]) -> None:
    """Over three worlds each arm's accuracy is near the planted one, and they rise from again to peer."""
    pooled: dict[Arm, float] = {}
    for arm in ARMS:
        hits = [hit for loop in loops for hit in loop.right(LEARNER, arm)]
        pooled[arm] = sum(hits) / len(hits)
        weights = [len(loop.right(LEARNER, arm)) for loop in loops]
        expected = sum(
            weight * loop.planted[LEARNER].accuracy[arm] for weight, loop in zip(weights, loops, strict=True)
        ) / sum(weights)
        interval = rate_interval(hits, clusters=[image for loop in loops for image in loop.images(LEARNER)])
        assert interval.low <= expected <= interval.high, arm
    assert pooled["again"] < pooled["self"] < pooled["peer"]
    assert pooled["retry"] < pooled["self"]


def test_each_reason_is_mended_by_its_arm(loops: list[Loop]) -> None:
    """A named step that drifted is mended, a gap of knowledge with a hint only, the rest by chance."""
    learner = as_candidate(find_profile(LEARNER))
    outcomes: dict[tuple[str, Arm, str], list[bool]] = {}
    for loop in loops:
        for arm in ("self", "peer"):
            for row in loop.last(LEARNER, arm):
                scene, question = loop.pairs[row.sample_id]
                hints = {point.atom: point.hint for point in row.points}
                for atom in row.failed_atoms:
                    said = "unnamed" if atom not in hints else "hinted" if gives_guidance(hints[atom]) else "named"
                    why = failure_reason(learner, scene, question.steps[atom - 1])
                    outcomes.setdefault((why, arm, said), []).append(row.after[atom - 1] >= SOLVED)

    def share(*keys: tuple[str, Arm, str]) -> float:
        hits = [hit for key in keys for hit in outcomes.get(key, [])]
        assert len(hits) >= 4, keys
        return sum(hits) / len(hits)

    assert share(("drift", "self", "named")) > 0.9
    assert share(("drift", "peer", "named"), ("drift", "peer", "hinted")) > 0.9
    assert share(("gap", "peer", "hinted")) > 0.9
    assert share(("gap", "self", "named")) < 0.4
    assert share(("beyond", "self", "named"), ("beyond", "peer", "named"), ("beyond", "peer", "hinted")) < 0.4
    assert share(("gap", "self", "unnamed"), ("beyond", "self", "unnamed"), ("beyond", "peer", "unnamed")) < 0.4


def test_no_final_answer_is_fed_back(loops: list[Loop]) -> None:
    """No named step states the whole answer, and every answer that was taken up has a step that is named."""
    for loop in loops:
        for row in loop.rows:
            _, question = loop.pairs[row.sample_id]
            assert not any(states_answer(question, question.steps[atom - 1]) for atom in row.told)
            assert bool(row.shown) or not row.selected


def test_one_that_flips_gains_where_it_can_guess(loops: list[Loop]) -> None:
    """Told that it was wrong, it comes out right about as often as a guess among the rest, and points add nothing."""
    few = [(row, loop.pairs[row.sample_id][1]) for loop in loops for row in loop.last(FLIPPER, "retry") if row.options]
    expected = FLIPS * sum(guess_chance(question) for _, question in few) / len(few)
    interval = rate_interval([row.answered == "right" for row, _ in few], clusters=[row.cluster for row, _ in few])
    assert interval.low <= expected <= interval.high
    right: dict[Arm, int] = {arm: sum(sum(loop.right(FLIPPER, arm)) for loop in loops) for arm in ARMS}
    taken = sum(len(loop.right(FLIPPER, "retry")) for loop in loops)
    assert abs(right["self"] - right["retry"]) <= 0.2 * taken
    assert abs(right["peer"] - right["retry"]) <= 0.2 * taken


def test_one_that_recites_solves_atoms_and_no_question(loops: list[Loop]) -> None:
    """What it had left out and is asked for it says; its final answers, and what it had said, stay as after a retry."""
    rows = [row for loop in loops for row in loop.last(RECITER, "self")]
    silent, spoken = (
        [row.after[at - 1] >= SOLVED for row in rows for at in row.shown if row.stated_before[at - 1] is stated]
        for stated in (False, True)
    )
    assert sum(silent) / len(silent) > 0.6
    assert sum(spoken) / len(spoken) < 0.4
    right: dict[Arm, int] = {arm: sum(sum(loop.right(RECITER, arm)) for loop in loops) for arm in ARMS}
    assert right["self"] - right["retry"] <= 0.1 * len(rows)


def test_a_model_that_heeds_nothing_gains_nothing(loops: list[Loop]) -> None:
    """In the null world the gains' intervals over three worlds contain zero, all nine at a joint level of 95 %."""
    covered: list[bool] = []
    for loop in loops:
        images = loop.images(HEEDLESS)
        for arm, control in GAINS:
            first, second = (list(map(float, loop.right(HEEDLESS, one))) for one in (control, arm))
            gain = difference_interval(first, second, clusters=images, level=1 - 0.05 / 9, seed=0, bounds=(0.0, 1.0))
            covered.append(gain.low <= 0 <= gain.high)
            planted = loop.planted[HEEDLESS].accuracy
            assert planted[arm] == pytest.approx(planted[control])
    assert len(covered) == 9
    assert all(covered)


def test_bad_hints_are_counted_and_not_passed_on(loops: list[Loop]) -> None:
    """Flattery, 5,000 words and refusals leave a point without a hint; leaks are rewritten, or left out in the end."""
    points = [point for loop in loops for row in loop.last(LEARNER, "peer") for point in row.points]
    vain = [point for point in points if point.peer == "sim/tutor-vain"]
    leaky = [point for point in points if point.peer == "sim/tutor-leaky"]
    assert any(point.fallback == "no hint" for point in vain)
    assert all(len(point.hint.split()) <= 160 for point in points)
    assert any(point.rewritten and point.hint for point in leaky)
    assert any(point.fallback == "leak" for point in leaky)
