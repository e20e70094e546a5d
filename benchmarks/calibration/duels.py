"""Duels of two writers whose skill differs from image to image, by a judge that favours the first place, or no place."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.trials import Seed, Trial, tested, trial
from dokimasia.domain.duel import PLACES
from dokimasia.methods.duel.figures import DuelRow, duel_tables
from dokimasia.report.fields import as_json
from dokimasia.simulation.creative import LINES
from dokimasia.simulation.judging.whole_answers import MUCH_BETTER
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.truths.judges import ExpectedDuel, expected_duel

IMAGES, EACH = 30, 2
"""Images, and cases on each."""

LEVELS = (0.3, 0.45, 0.6, 0.75)
"""Skills of the model, one an image, each as likely; the baseline's is the same on all."""

BASELINE = 0.5
CRITERIA = 5
FAVOURS, FAVOURS_MUCH, JITTER = 0.4, 0.9, 0.2
FAILS, FAILS_SECOND = (0.03, 0.03), (0.03, 0.4)
"""How often a verdict fails with the model's answer shown first, and second: in both orders alike, and mostly in one."""

LOST = 0.15
"""How much of its skill the model lacks without the images."""

LONGER = 0.4
"""The rate at which the judge of another world favours the longer answer; lengths differ by a normal draw there."""

POPULATION = 400_000

Ints = NDArray[np.int64]


def duels(seed: int) -> Seed:
    """Sixty cases on thirty images, judged in both orders: with a favoured place, without one, and with favoured length.

    In another world the place is favoured strongly, and verdicts fail mostly in one order.
    """
    generator = np.random.default_rng([seed, 60])
    biased, fair = _judge(FAVOURS), _judge(0.0)
    found = _figures(generator, biased, seed=seed)
    truth = planted(FAVOURS)
    model = found["models"]["m"]
    intervals: dict[str, Trial] = {
        "reward, both orders": trial(model["reward"], truth.impartial),
        "reward, one order, misled": trial(model["single"]["first"]["reward"], truth.impartial),
        "reward, shown first, against what that order is expected to say": trial(
            model["single"]["first"]["reward"], truth.first
        ),
        "reward, one category": trial(model["by_category"]["x"]["reward"], truth.impartial),
        "win rate": trial(model["win_rate"], truth.win_rate),
        "win rate, shown first": trial(model["single"]["first"]["win_rate"], truth.win_rate_first),
        "position bias": trial(model["places"]["bias"], truth.bias),
        "position consistency": trial(model["places"]["consistency"], truth.consistency),
        "visual factuality": trial(model["factuality"]["model"], 10 * float(np.mean(LEVELS))),
    }
    null = _figures(generator, fair, seed=seed)
    intervals["position bias, null world"] = trial(null["models"]["m"]["places"]["bias"], 0.0)
    intervals["position consistency, null world"] = trial(
        null["models"]["m"]["places"]["consistency"], planted(0.0).consistency
    )
    skills = _skills(generator)
    arms = [*_rows(generator, fair, skills), *_rows(generator, fair, skills - LOST, arm="#blind")]
    blind = _figures_of(arms, seed=seed)["without_images"]["m#blind"]
    intervals["reward, without images less with"] = trial(
        blind["reward"]["difference"], planted(0.0, LOST).reward - planted(0.0).reward
    )
    intervals["visual factuality, without images less with"] = trial(blind["factuality"]["difference"], -10 * LOST)
    arms = [*_rows(generator, fair, skills), *_rows(generator, fair, skills, arm="#blind")]
    same = _figures_of(arms, seed=seed)["without_images"]
    longer = _judge(0.0, LONGER)
    lengths = _figures(generator, longer, seed=seed, apart=True)
    intervals["length and reward"] = trial(lengths["length_bias"]["m"], planted_length())
    indifferent = _figures(generator, fair, seed=seed, apart=True)
    rows = _rows(generator, _judge(FAVOURS_MUCH), _skills(generator), fails=FAILS_SECOND)
    lopsided = _figures_of(rows, seed=seed)["models"]["m"]
    truth = planted(FAVOURS_MUCH)
    intervals |= {
        "reward, verdicts failing in one order": trial(lopsided["reward"], truth.impartial),
        "reward, one category, verdicts failing in one order": trial(
            lopsided["by_category"]["x"]["reward"], truth.impartial
        ),
        "win rate, verdicts failing in one order": trial(lopsided["win_rate"], truth.win_rate),
        "position bias, verdicts failing in one order": trial(lopsided["places"]["bias"], truth.bias),
    }
    return Seed(
        intervals,
        {
            "sign-flip test, null world, favoured place": tested(null["models"]["m"]["places"]["p"]),
            "sign-flip test, null world, nothing lost without images": tested(same["m#blind"]["reward"]["p"]),
            "length and reward, null world": tested(indifferent["length_bias"]["m"]["p"]),
        },
    )


@cache
def planted(favours_first: float, lost: float = 0.0) -> ExpectedDuel:
    """Return what is expected over all images of a model that has lost so much of its skill."""
    each = [expected_duel(_judge(favours_first), skill - lost, BASELINE) for skill in LEVELS]
    return ExpectedDuel(*(float(np.mean(values)) for values in zip(*each, strict=True)))


@cache
def planted_length() -> float:
    """Return the correlation of difference in words and reward over a large population, by numpy alone."""
    generator = np.random.default_rng(12)
    judge = _judge(0.0, LONGER)
    ahead = _ahead(generator, generator.choice(LEVELS, POPULATION))
    words = _words(generator, POPULATION)
    first, second = _judged(generator, judge, ahead, words), -_judged(generator, judge, -ahead, -words)
    return float(np.corrcoef(words, first + second)[0, 1])


def _judge(favours_first: float, favours_longer: float = 0.0) -> JudgeProfile:
    return JudgeProfile(name="sim/duels", favours_first=favours_first, favours_longer=favours_longer, jitter=JITTER)


def _figures(generator: np.random.Generator, judge: JudgeProfile, *, seed: int, apart: bool = False) -> dict[str, Any]:
    return _figures_of(_rows(generator, judge, _skills(generator), apart=apart), seed=seed)


def _figures_of(rows: list[DuelRow], *, seed: int) -> dict[str, Any]:
    return as_json(duel_tables(rows, seed=seed))


def _skills(generator: np.random.Generator) -> NDArray[np.float64]:
    return np.repeat(generator.choice(LEVELS, IMAGES), EACH)


def _rows(
    generator: np.random.Generator,
    judge: JudgeProfile,
    skills: NDArray[np.float64],
    *,
    arm: str = "",
    apart: bool = False,
    fails: tuple[float, float] = FAILS,
) -> list[DuelRow]:
    n = len(skills)
    ahead = _ahead(generator, skills)
    words = _words(generator, n) if apart else np.zeros(n, dtype=np.int64)
    first, second = _judged(generator, judge, ahead, words), -_judged(generator, judge, -ahead, -words)
    failed = generator.random((n, 2)) < fails
    right = generator.binomial(CRITERIA, skills) * 10 / CRITERIA
    return [
        DuelRow(
            sample_id=f"s{case}",
            cluster=f"c{case // EACH}",
            model=f"m{arm}",
            repeat=0,
            category="xy"[case // EACH % 2],
            task="",
            verdicts={
                place: None if lost else int(value)
                for place, value, lost in zip(PLACES, (first[case], second[case]), failed[case], strict=True)
            },
            factuality={place: (float(right[case]), 5.0) for place in PLACES},
            words=200,
            longer=int(words[case]),
        )
        for case in range(n)
    ]


def _ahead(generator: np.random.Generator, skills: NDArray[np.float64]) -> Ints:
    return generator.binomial(LINES, skills) - generator.binomial(LINES, BASELINE, len(skills))


def _words(generator: np.random.Generator, n: int) -> Ints:
    return np.rint(generator.normal(size=n) * 40).astype(np.int64)


def _judged(generator: np.random.Generator, judge: JudgeProfile, ahead: Ints, words: Ints) -> Ints:
    """Return the verdicts for the answer that is shown first, which is so many vivid lines and words ahead."""
    n = len(ahead)
    value = np.sign(ahead) * (1 + (np.abs(ahead) >= MUCH_BETTER))
    value = value + (generator.random(n) < judge.favours_first)
    value = value + np.sign(words) * (generator.random(n) < judge.favours_longer)
    value = value + (generator.random(n) < judge.jitter) * generator.choice((-1, 1), n)
    return np.clip(value, -2, 2)
