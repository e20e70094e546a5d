"""The figures of `show` and `diff`: scores, categories, blind arms, paired differences, agreement of judges."""

from random import Random
from typing import Any

from benchmarks.calibration.planted import (
    Candidate,
    State,
    candidate,
    chance_of_agreement,
    draw_scores,
    draw_states,
    every_question,
    fogged_images,
    judge,
    kinds_of,
    world,
)
from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.algorithms.scoring import weighted_score
from dokimasia.algorithms.statistics import bootstrap_interval, difference_interval
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.methods.evaluation.figures import collect, summarise
from dokimasia.report.fields import as_json
from dokimasia.runs.reading.comparison import ComparedAnswer, ComparisonSide, SampleRef, compare
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.scene import Scene, SceneQuestion
from dokimasia.simulation.truths.evaluation import expected_blind_mean
from dokimasia.storage.usage import ScoredAnswer

JUDGE = judge("sim/judge-noisy")
FAULTLESS = judge("sim/judge")
CANDIDATES = tuple(candidate(f"sim/{name}") for name in ("strong", "steady", "nearsighted", "hasty", "weak"))
STRONG, STEADY, NEARSIGHTED = CANDIDATES[:3]
REPEATS = 3
BOUNDS = (1.0, 5.0)

Pairs = list[tuple[Scene, SceneQuestion]]
Scores = list[tuple[int, ...] | None]


def evaluation(seed: int) -> Seed:
    """The table of `show`: mean and category scores of five candidates, and what one loses without the image.

    One of them answers three times, and some of the judge's replies are of no use.
    """
    pairs = list(world(seed))
    rows: list[ScoredAnswer] = []
    for who in CANDIDATES:
        rng = Random(f"evaluation {who.name} {seed}")
        fogged = fogged_images(rng, who, pairs)
        for repeat in range(REPEATS if who is STEADY else 1):
            rows += _rows(pairs, _judged(rng, who, JUDGE, pairs, fogged), who.name, repeat)
    rng = Random(f"blind {seed}")
    rows += _rows(
        pairs,
        [draw_scores(rng, JUDGE, _nothing_stated(question)) for _, question in pairs],
        f"{STEADY.name}#blind",
    )
    summary = as_json(summarise(collect(rows), seed=seed))
    intervals: dict[str, Trial] = {}
    for who in CANDIDATES:
        expected = _expected(who, JUDGE, pairs)
        figures = summary["models"][who.name]
        intervals[f"mean score, {who.name}"] = trial(figures["score"], _mean(expected))
        for kind, positions in kinds_of(pairs).items():
            planted = _mean([expected[at] for at in positions])
            intervals[f"category score, {who.name}, {kind}"] = trial(figures["by_category"][kind]["score"], planted)
    means = {who.name: _mean(_expected(who, JUDGE, pairs)) for who in CANDIDATES}
    lead = summary["lead"]
    intervals["lead, five candidates"] = trial(lead["difference"], means[lead["best"]] - means[lead["next_best"]])
    lost = _mean(_expected(STEADY, JUDGE, pairs)) - expected_blind_mean(JUDGE.name)
    intervals[f"loss without the image, {STEADY.name}"] = trial(summary["blind"][STEADY.name]["difference"], lost)
    return Seed(intervals, {})


def comparison(seed: int) -> Seed:
    """The figures of `diff`: two candidates, one candidate against itself drawn anew, and two judges of one answer."""
    pairs = list(world(seed))
    one, other = _side(STRONG, pairs, f"first {seed}"), _side(NEARSIGHTED, pairs, f"second {seed}")
    found = as_json(compare(one, other, seed=seed))
    planted = _mean(_expected(NEARSIGHTED, JUDGE, pairs)) - _mean(_expected(STRONG, JUDGE, pairs))
    same = as_json(compare(_side(STEADY, pairs, f"once {seed}"), _side(STEADY, pairs, f"again {seed}"), seed=seed))
    intervals = {
        "paired difference, two candidates": trial(found["difference"], planted),
        "paired difference, null world": trial(same["difference"], 0.0),
    }
    equal: list[ScoredAnswer] = []
    for name in ("first", "second", "third"):
        rng = Random(f"equal {name} {seed}")
        equal += _rows(pairs, _judged(rng, STEADY, JUDGE, pairs, fogged_images(rng, STEADY, pairs)), name)
    lead = as_json(summarise(collect(equal), seed=seed))["lead"]
    intervals["lead, three equal candidates"] = trial(lead["difference"], 0.0)
    rng = Random(f"judges {seed}")
    fogged = fogged_images(rng, STEADY, pairs)
    states = [
        draw_states(rng, STEADY.fogged if scene.id in fogged else STEADY.clear, scene, question)
        for scene, question in pairs
    ]
    judged = [
        _as_side(pairs, [draw_scores(rng, rater, states[at]) for at in range(len(pairs))], "answer")
        for rater in (FAULTLESS, JUDGE)
    ]
    agreed = as_json(compare(judged[0], judged[1], seed=seed))["agreement"]["exact"]
    # The mean is over criteria, of which questions have three to five.
    weighted = [
        (
            len(question.steps),
            (1 - STEADY.fog) * chance_of_agreement(JUDGE, STEADY.clear, scene, question)
            + STEADY.fog * chance_of_agreement(JUDGE, STEADY.fogged, scene, question),
        )
        for scene, question in pairs
    ]
    chance = sum(steps * share for steps, share in weighted) / sum(steps for steps, _ in weighted)
    intervals["agreement of two judges, exact"] = trial(agreed, chance)
    return Seed(intervals, {"sign-flip test, null world": same["p_value"]})


def clusters(seed: int) -> Seed:
    """Six questions on each image: with clusters the intervals cover, without them they must not."""
    pairs = list(every_question(world(seed)))
    images = [scene.id for scene, _ in pairs]
    values: list[list[float]] = []
    for draw in ("first", "second"):
        rng = Random(f"clusters {draw} {seed}")
        judged = _judged(rng, STEADY, FAULTLESS, pairs, fogged_images(rng, STEADY, pairs))
        values.append([_score(question, scores) for (_, question), scores in zip(pairs, judged, strict=True) if scores])
    planted = _mean(_expected(STEADY, FAULTLESS, pairs))
    first, second = values
    gaps = [b - a for a, b in zip(first, second, strict=True)]
    intervals: dict[str, Trial] = {}
    p_values: dict[str, float] = {}
    for name, by in (("clustered", images), ("unclustered", None)):
        score = bootstrap_interval(first, clusters=by, seed=seed, bounds=BOUNDS)
        difference = difference_interval(first, second, clusters=by, seed=seed, bounds=BOUNDS)
        intervals[f"six questions an image, mean score, {name}"] = trial(score, planted)
        intervals[f"six questions an image, paired difference, {name}"] = trial(difference, 0.0)
        p_values[f"six questions an image, sign-flip test, {name}"] = sign_flip_test(
            gaps, clusters=by, seed=seed, permutations=2000
        ).p_value
    return Seed(intervals, p_values)


def _judged(rng: Random, who: Candidate, rater: JudgeProfile, pairs: Pairs, fogged: set[str]) -> Scores:
    """Draw one answer to each question and its scores."""
    return [
        draw_scores(rng, rater, draw_states(rng, who.fogged if scene.id in fogged else who.clear, scene, question))
        for scene, question in pairs
    ]


def _nothing_stated(question: SceneQuestion) -> list[State]:
    return ["missing" for _ in question.steps]


def _expected(who: Candidate, rater: JudgeProfile, pairs: Pairs) -> list[float]:
    return [who.expected(rater, scene, question) for scene, question in pairs]


def _score(question: SceneQuestion, scores: tuple[int, ...]) -> float:
    return weighted_score(scores, [step.weight for step in question.steps])


def _rows(pairs: Pairs, judged: Scores, model: str, repeat: int = 0) -> list[ScoredAnswer]:
    return [
        ScoredAnswer(
            sample_id=question.id,
            cluster=scene.id,
            category=question.kind,
            model=model,
            repeat=repeat,
            score=_score(question, scores) if scores else None,
            failure=None if scores else "unparsable",
        )
        for (scene, question), scores in zip(pairs, judged, strict=True)
    ]


def _side(who: Candidate, pairs: Pairs, name: str) -> ComparisonSide:
    rng = Random(name)
    return _as_side(pairs, _judged(rng, who, JUDGE, pairs, fogged_images(rng, who, pairs)), name)


def _as_side(pairs: Pairs, judged: Scores, name: str) -> ComparisonSide:
    answers = [_answer(question, scores, name) for (_, question), scores in zip(pairs, judged, strict=True)]
    return ComparisonSide.of([SampleRef(question.id, question.id, scene.id) for scene, question in pairs], answers)


def _answer(question: SceneQuestion, scores: tuple[int, ...] | None, name: str) -> ComparedAnswer:
    known: dict[str, Any] = {"response": f"{name} {question.id}", "criteria": question.id}
    if scores is None:
        return ComparedAnswer(question.id, 0, None, "unparsable", **known)
    return ComparedAnswer(question.id, 0, _score(question, scores), None, **known, criteria_scores=scores)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
