"""How much answers say: what an evaluation prints of models that leave things unsaid, and worlds without a difference."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from benchmarks.calibration.planted import Candidate, candidate, fogged_images, judge, kinds_of, world
from benchmarks.calibration.planted_speech import (
    Pairs,
    Said,
    Silence,
    Speaker,
    answers,
    expected,
    expected_gap,
    expected_length,
)
from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.algorithms.scoring import addressed_score, weighted_score
from dokimasia.methods.evaluation.figures import collect, summarise
from dokimasia.report.fields import as_json
from dokimasia.runs.reading.comparison import ComparedAnswer, ComparisonSide, SampleRef, compare
from dokimasia.storage.usage import ScoredAnswer

JUDGE = judge("sim/judge-noisy")
FAILURE = "unparsable"
HARD = 0.5
"""A criterion is hard where a model of `EASE` is right on it less often than this: two in five are."""

DEAF = 0.2
"""The share of silences that a judge takes for errors, where it does."""


def _model(base: float, reasoning: float, counting: float) -> Candidate:
    whole = candidate("sim/hasty")
    skills = {"base": base, "overrides": {"<Perception><Enumeration>": counting, "<Reasoning>": reasoning}}
    return whole._replace(clear=whole.clear.model_copy(update={**skills, "omission": 0.0, "truncated": 0.0}))


EQUAL, BETTER = _model(0.85, 0.4, 0.3), _model(0.93, 0.6, 0.5)
EASE = EQUAL.clear
SILENCE: dict[str, Silence] = {
    "talkative": lambda easy, wrong: 0.05,
    "silent at random": lambda easy, wrong: 0.6,
    "silent where it is hard": lambda easy, wrong: 0.3 if easy > HARD else 0.95,
    "silent where it errs": lambda easy, wrong: 0.9 if wrong else 0.3,
}
TALKATIVE, AT_RANDOM, HARD_ONES = (
    Speaker(EQUAL, SILENCE["talkative"], EASE, wordy=1.0),
    Speaker(EQUAL, SILENCE["silent at random"], EASE),
    Speaker(BETTER, SILENCE["silent where it is hard"], EASE),
)
SPEAKERS = {"talkative": TALKATIVE, "silent at random": AT_RANDOM, "silent where it is hard": HARD_ONES}
REPEATS = {"talkative": 3}


def speaking(seed: int) -> Seed:
    """What an evaluation prints of a talkative model, which answers three times, and of two that say little."""
    pairs = list(world(seed))
    rows: list[ScoredAnswer] = []
    for name, speaker in SPEAKERS.items():
        rng = Random(f"speaking {name} {seed}")
        fogged = fogged_images(rng, speaker.who, pairs)
        for repeat in range(REPEATS.get(name, 1)):
            rows += _rows(pairs, answers(rng, speaker, JUDGE, pairs, fogged), name, repeat)
    summary = as_json(summarise(collect(rows), seed=seed))
    intervals: dict[str, Trial] = {}
    for name, speaker in SPEAKERS.items():
        intervals |= dict(_figures(name, speaker, pairs, summary["models"][name], REPEATS.get(name, 1)))
    # Of the answers to a question three are the talkative model's.
    every = [SPEAKERS[name] for name in SPEAKERS for _ in range(REPEATS.get(name, 1))]
    intervals["length and score, all models"] = trial(summary["length"], expected_length(every, JUDGE, pairs))
    name, speaker = "silent where it is hard", HARD_ONES
    for kind, positions in kinds_of(pairs).items():
        category = summary["models"][name]["by_category"][kind]
        found = dict(_figures(f"{name}, {kind}", speaker, [pairs[at] for at in positions], category, 1))
        intervals |= {f"category {figure}": one for figure, one in found.items()}
    return Seed(intervals, {})


def _figures(
    name: str, speaker: Speaker, pairs: Pairs, found: Mapping[str, Any], repeats: int
) -> Iterator[tuple[str, Trial]]:
    planted = expected(speaker, JUDGE, pairs, repeats=repeats)
    yield f"accuracy, {name}", trial(found["strict_accuracy"], planted.accuracy)
    yield f"share spoken to, {name}", trial(found["stated"], planted.stated)
    yield f"score of what is spoken to, {name}", trial(found["stated_score"], planted.score)
    if "length" in found:
        yield f"length and score, {name}", trial(found["length"], planted.length)


def both_speaking(seed: int) -> Seed:
    """What a comparison prints of a talkative model and a better one that leaves out what is hard."""
    pairs = list(world(seed))
    one, other = (
        _side(speaker, pairs, f"{name} {seed}") for name, speaker in SPEAKERS.items() if name != "silent at random"
    )
    found = as_json(compare(one, other, seed=seed))
    before, after = (expected(speaker, JUDGE, pairs) for speaker in (TALKATIVE, HARD_ONES))
    return Seed(
        {
            "paired difference, right answers": trial(
                found["strict_accuracy"]["difference"], after.accuracy - before.accuracy
            ),
            "paired difference, share spoken to": trial(found["stated"]["difference"], after.stated - before.stated),
            "paired difference, score on what both speak to": trial(
                found["both_stated"]["difference"], expected_gap(TALKATIVE, HARD_ONES, JUDGE, pairs)
            ),
        },
        {},
    )


def equal_skill(seed: int) -> Seed:
    """A talkative model and one that says little, of equal skill: what is said to differ though nothing does.

    Right answers and the score on what both speak to must find nothing where silence is at random or by how hard a
    criterion is. The score as published finds a difference in both, which is why it is not what models are compared by.
    Where a model is silent on what it would have got wrong, or a judge takes silence for error, what both are said to
    speak to is not what both speak to alike, and that comparison misleads, too; right answers do not.
    """
    pairs = list(world(seed))
    intervals: dict[str, Trial] = {}
    p_values: dict[str, float] = {}
    for name, how, deaf in (
        ("silent at random", "silent at random", 0.0),
        ("silent where it is hard", "silent where it is hard", 0.0),
        ("silent where it errs", "silent where it errs", 0.0),
        ("silence taken for error", "silent at random", DEAF),
    ):
        terse = Speaker(EQUAL, SILENCE[how], EASE)
        found = as_json(
            compare(
                _side(TALKATIVE, pairs, f"talkative {name} {seed}", deaf=deaf),
                _side(terse, pairs, f"terse {name} {seed}", deaf=deaf),
                seed=seed,
            )
        )
        true = deaf == 0 and "errs" not in name
        intervals[f"paired difference, {name}, right answers"] = trial(found["strict_accuracy"]["difference"], 0.0)
        p_values[f"sign-flip test, {name}, right answers"] = found["strict_accuracy"]["p_value"]
        on_both = "score on what both speak to" + ("" if true else ", misled")
        intervals[f"paired difference, {name}, {on_both}"] = trial(found["both_stated"]["difference"], 0.0)
        p_values[f"sign-flip test, {name}, {on_both}"] = found["both_stated"]["p_value"]
        p_values[f"sign-flip test, {name}, score as published"] = found["p_value"]
    return Seed(intervals, p_values)


def _rows(pairs: Pairs, said: Sequence[Said], model: str, repeat: int) -> list[ScoredAnswer]:
    rows: list[ScoredAnswer] = []
    for (scene, question), one in zip(pairs, said, strict=True):
        weights = [step.weight for step in question.steps]
        row = ScoredAnswer(question.id, scene.id, question.kind, model, repeat, None, FAILURE, referenced=True)
        row = row._replace(verdict={True: "right", False: "wrong", None: "unknown"}[one.right], length=one.length)
        if one.scores is not None:
            share, score = addressed_score(one.scores, one.stated, weights)
            row = row._replace(
                score=weighted_score(one.scores, weights), failure=None, stated=share, stated_score=score
            )
        rows.append(row)
    return rows


def _side(speaker: Speaker, pairs: Pairs, name: str, *, deaf: float = 0.0) -> ComparisonSide:
    rng = Random(name)
    said = answers(rng, speaker, JUDGE, pairs, fogged_images(rng, speaker.who, pairs), deaf=deaf)
    rows = _rows(pairs, said, name, 0)
    return ComparisonSide.of(
        [SampleRef(question.id, question.id, scene.id) for scene, question in pairs],
        [
            ComparedAnswer(
                question.id,
                0,
                row.score,
                row.failure,
                criteria=question.id,
                criteria_scores=one.scores or (),
                correctness="failed" if one.right is None else "right" if one.right else "wrong",
                stated=row.stated,
                criteria_stated=one.stated if one.scores else (),
                weights=tuple(step.weight for step in question.steps),
            )
            for (_, question), row, one in zip(pairs, rows, said, strict=True)
        ],
    )
