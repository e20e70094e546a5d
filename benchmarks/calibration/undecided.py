"""Answers that rules alone decide: they know most right ones and few wrong ones, and what is left is undecided."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from benchmarks.calibration.evaluations import NEARSIGHTED, STRONG, Pairs
from benchmarks.calibration.planted import Candidate, draw_states, fogged_images, world
from benchmarks.calibration.planted_speech import chance_of_right
from benchmarks.calibration.trials import Seed, Trial, tested, trial
from dokimasia.algorithms.statistics import rate_interval
from dokimasia.domain.judgement import Correctness, FailureKind
from dokimasia.methods.evaluation.figures import collect, summarise
from dokimasia.report.fields import as_json
from dokimasia.runs.reading.comparison import ComparedAnswer, ComparisonSide, SampleRef, compare
from dokimasia.storage.usage import ScoredAnswer

FAILED = 0.05
"""The share of questions to which there is no answer, whatever it would have been."""


class Rules(NamedTuple):
    """How often rules decide a right answer, and a wrong one."""

    right: float
    wrong: float


EXACT = Rules(0.95, 0.3)
"""Rules as they are: a right answer is often in the reference's words, and a wrong one hardly ever contradicts it plainly."""


def rules_alone(seed: int) -> Seed:
    """The strict accuracy of two candidates by rules alone, what undecided answers leave open, and the paired difference.

    The share of the answers that were decided, which is no figure of an evaluation, is held against the truth, too, to show
    that it misses it.
    """
    pairs = list(world(seed))
    candidates = (STRONG, NEARSIGHTED)
    drawn = {who.name: _answers(who, pairs, f"rules {seed}") for who in candidates}
    models = as_json(summarise(collect(_rows(pairs, drawn)), seed=seed, judged=False))["models"]
    intervals: dict[str, Trial] = {}
    for who in candidates:
        found, true = models[who.name]["strict_accuracy"], _accuracy(who, pairs)
        intervals[f"strict accuracy, {who.name}"] = trial(found, true * EXACT.right)
        intervals[f"accuracy between strict and upper, {who.name}"] = trial(found["outer"], true)
        intervals[f"accuracy of decided answers, {who.name}, misled"] = trial(_of_decided(pairs, drawn[who.name]), true)
    sides = [_side(pairs, drawn[who.name]) for who in candidates]
    difference = as_json(compare(sides[0], sides[1], seed=seed))["strict_accuracy"]["difference"]
    planted = EXACT.right * (_accuracy(NEARSIGHTED, pairs) - _accuracy(STRONG, pairs))
    intervals["paired difference, strict accuracy"] = trial(difference, planted)
    again = _side(pairs, _answers(STRONG, pairs, f"again {seed}"))
    same = as_json(compare(sides[0], again, seed=seed))["strict_accuracy"]
    intervals["paired difference, strict accuracy, null world"] = trial(same["difference"], 0.0)
    return Seed(intervals, {"sign-flip test, null world, right answers": tested(same["p_value"])})


def _answers(who: Candidate, pairs: Pairs, name: str) -> list[Correctness]:
    """Draw one answer to each question, and what rules say of it."""
    rng = Random(f"{name} {who.name}")
    fogged = fogged_images(rng, who, pairs)
    found: list[Correctness] = []
    for scene, question in pairs:
        states = draw_states(rng, who.fogged if scene.id in fogged else who.clear, scene, question)
        right, failed, decided = states[-1] != "missing", rng.random() < FAILED, rng.random()
        known: Correctness = "right" if right else "wrong"
        if decided >= (EXACT.right if right else EXACT.wrong):
            known = "undecided"
        found.append("failed" if failed else known)
    return found


def _rows(pairs: Pairs, drawn: Mapping[str, Sequence[Correctness]]) -> list[ScoredAnswer]:
    failures: dict[Correctness, FailureKind] = {"undecided": "undecided", "failed": "api_error"}
    verdicts = {"right": "right", "wrong": "wrong", "undecided": "unknown"}
    return [
        ScoredAnswer(question.id, scene.id, question.kind, model, 0, None, failures.get(one), True, verdicts.get(one))
        for model, answers in drawn.items()
        for (scene, question), one in zip(pairs, answers, strict=True)
    ]


def _side(pairs: Pairs, answers: Sequence[Correctness]) -> ComparisonSide:
    return ComparisonSide.of(
        [SampleRef(question.id, question.id, scene.id) for scene, question in pairs],
        [
            ComparedAnswer(question.id, 0, None, None, correctness=one)
            for (_, question), one in zip(pairs, answers, strict=True)
        ],
        scored=False,
    )


def _of_decided(pairs: Pairs, answers: Sequence[Correctness]) -> Any:
    known = [
        (one == "right", scene.id) for (scene, _), one in zip(pairs, answers, strict=True) if one in ("right", "wrong")
    ]
    return rate_interval([right for right, _ in known], clusters=[cluster for _, cluster in known])


def _accuracy(who: Candidate, pairs: Pairs) -> float:
    return sum(chance_of_right(who, scene, question.steps[-1]) for scene, question in pairs) / len(pairs)
