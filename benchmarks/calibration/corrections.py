"""Corrected rates: a judge of planted sensitivity and specificity, its passport, mixes of errors, and labels of people."""

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.algorithms.correction import (
    Corrected,
    DecidedLabel,
    LabelledAnswers,
    Powered,
    ShareEstimate,
    corrected_difference,
    corrected_rate,
    mixed_sensitivity,
    powered_difference,
    powered_rate,
    same_kinds,
    unlike,
)
from dokimasia.algorithms.statistics import ConfidenceInterval, rate_interval
from dokimasia.algorithms.statistics.distributions import student_t_quantile
from dokimasia.people.correction.rates import SURE

T = TypeVar("T")

Generator = np.random.Generator
Bools = NDArray[np.bool_]

SENSITIVITY, SPECIFICITY = 0.8, 0.9
JUDGES = {"good": (0.95, 0.97), "mediocre": (0.8, 0.75), "useless": (0.3, 0.7)}
"""Sensitivity and specificity of the judges that labels are put beside."""

LABELS = 50
ALIKE = 0.5
"""The correlation of answers to one image, and of what a judge does on one."""

KINDS = {"a": 0.95, "b": 0.9, "c": 0.85, "d": 0.7, "e": 0.55, "f": 0.4}
"""A judge's sensitivity by kind of error."""

OWN = dict.fromkeys(KINDS, 1.0)
OTHER = {"a": 0.02, "b": 0.03, "c": 0.05, "d": 0.2, "e": 0.3, "f": 0.4}
SEEN = 60
"""Errors whose kind is known."""


class Judged(NamedTuple):
    """Answers by image: whether they are right, and whether the judge says so."""

    images: list[int]
    right: Bools
    said: Bools


def corrections(seed: int) -> Seed:
    """Rates corrected by a passport, by kinds of error and by labels, alone and in images, and what warns of a shifted mix."""
    generator = np.random.default_rng([seed, 41])
    intervals = {**_by_passport(generator, seed), **_by_kind(generator, seed), **_by_labels(generator, seed)}
    intervals |= _fallen(seed)
    return Seed(intervals, _warned(generator, seed))


def _world(generator: Generator, rate: float, judge: tuple[float, float], images: int, each: int = 1) -> Judged:
    """Return answers to images; with several each, images differ in how hard they are and in how the judge sees them."""
    place = np.repeat(np.arange(images), each)
    shares = [np.full(images, one) if each == 1 else _per_image(generator, one, images) for one in (rate, *judge)]
    return _judged(generator, place, shares[0], (shares[1], shares[2]))


def _per_image(generator: Generator, share: float, images: int) -> NDArray[np.float64]:
    strength = 1 / ALIKE - 1
    return generator.beta(share * strength, (1 - share) * strength, size=images)


def _judged(
    generator: Generator,
    place: NDArray[np.int_],
    right: NDArray[np.float64],
    judge: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> Judged:
    true = generator.random(len(place)) < right[place]
    says_right = np.where(true, judge[1][place], 1 - judge[0][place])
    return Judged(place.tolist(), true, generator.random(len(place)) < says_right)


def _passport(generator: Generator, n: int, *, images: int = 0) -> dict[str, ShareEstimate]:
    """Return sensitivity and specificity, each measured on so many items, alone or shared out over images."""
    found: dict[str, ShareEstimate] = {}
    for name, share in (("sensitivity", SENSITIVITY), ("specificity", SPECIFICITY)):
        if not images:
            found[name] = ShareEstimate.of(int(generator.binomial(n, share)), n)
            continue
        place = np.repeat(np.arange(images), n // images)
        hits = generator.random(len(place)) < _per_image(generator, share, images)[place]
        found[name] = ShareEstimate(float(hits.mean()), rate_interval(hits.tolist(), clusters=place.tolist()))
    return found


def _of(found: Corrected, planted: float) -> Trial:
    if found.interval is None:
        return Trial(None, None, planted)
    return trial(found.interval, planted)


def _decisions(world: Judged, ruled: Bools | None = None) -> list[DecidedLabel]:
    """Return what was decided: by rules, which do not err, where they could say."""
    by_rule = np.zeros(len(world.said), dtype=bool) if ruled is None else ruled
    sides = zip(world.right.tolist(), world.said.tolist(), by_rule.tolist(), strict=True)
    return [DecidedLabel(right if rule else said, not rule) for right, said, rule in sides]


def _by_passport(generator: Generator, seed: int) -> Mapping[str, Trial]:
    intervals: dict[str, Trial] = {}
    planted = (SENSITIVITY, SPECIFICITY)
    for rate, n, m in ((0.5, 300, 200), (0.9, 300, 200), (0.3, 100, 60), (0.95, 1000, 400)):
        name = f"corrected rate {rate:g} of {n}, passport of {m} and {m}"
        world = _world(generator, rate, planted, n)
        passport = _passport(generator, m)
        intervals[name] = _of(corrected_rate(_decisions(world), **passport, seed=seed), rate)
        intervals[f"{name}, as judged"] = trial(rate_interval(world.said.tolist()), rate)
    world, passport = _world(generator, 0.7, planted, 60, 5), _passport(generator, 200, images=40)
    found = corrected_rate(_decisions(world), **passport, clusters=world.images, seed=seed)
    intervals["corrected rate 0.7 of 300 on 60 images, passport on 40 images"] = _of(found, 0.7)
    ruled = generator.random(len(world.said)) < 0.4
    found = corrected_rate(_decisions(world, ruled), **passport, clusters=world.images, seed=seed)
    intervals["corrected rate 0.7 of 300 on 60 images, two fifths by rule"] = _of(found, 0.7)
    hard = _per_image(generator, 0.6, 60)
    place = np.repeat(np.arange(60), 5)
    judge = (np.full(60, SENSITIVITY), np.full(60, SPECIFICITY))
    first = _judged(generator, place, hard, judge)
    second = _judged(generator, place, hard + (1 - hard) * 0.4, judge)
    sides = (_decisions(first), _decisions(second))
    found = corrected_difference(*sides, **_passport(generator, 200), clusters=place.tolist(), seed=seed)
    intervals["corrected difference of two models on 60 images"] = _of(found, 0.16)
    return intervals


def _fallen(seed: int) -> Mapping[str, Trial]:
    """Return a rate of a run in which the judge is less specific than the passport says."""
    generator = np.random.default_rng([seed, 42])
    world = _world(generator, 0.9, (SENSITIVITY, 0.9), 1000)
    measured = [ShareEstimate.of(int(generator.binomial(400, share)), 400) for share in (SENSITIVITY, 0.95)]
    found = corrected_rate(_decisions(world), sensitivity=measured[0], specificity=measured[1], seed=seed)
    return {"corrected rate 0.9 of 1000, specificity 0.95 by passport and 0.9 in the run, misled": _of(found, 0.9)}


def _measured_kinds(generator: Generator, n: int = 40) -> dict[str, ShareEstimate]:
    return {name: ShareEstimate.of(int(generator.binomial(n, share)), n) for name, share in KINDS.items()}


def _by_kind(generator: Generator, seed: int) -> Mapping[str, Trial]:
    by_kind, specificity = _measured_kinds(generator), ShareEstimate.of(int(generator.binomial(200, SPECIFICITY)), 200)
    sensitivity = sum(share * KINDS[name] for name, share in OTHER.items())
    world = _world(generator, 0.7, (sensitivity, SPECIFICITY), 300)
    drawn = generator.multinomial(SEEN, list(OTHER.values()))
    counted = {name: float(count) for name, count in zip(OTHER, drawn, strict=True)}
    mixes = {
        "reweighted by a given mix": mixed_sensitivity(by_kind, OTHER),
        "reweighted by a mix counted in 60 errors": mixed_sensitivity(by_kind, counted, n_errors=SEEN),
        "by the passport's own mix where errors have another, misled": mixed_sensitivity(by_kind, OWN),
    }
    return {
        f"corrected rate {name}": _of(
            corrected_rate(_decisions(world), sensitivity=one, specificity=specificity, seed=seed), 0.7
        )
        for name, one in mixes.items()
    }


def _by_labels(generator: Generator, seed: int) -> Mapping[str, Trial]:
    intervals: dict[str, Trial] = {}
    for name, judge in JUDGES.items():
        for rate, images, each, where in (
            (0.7, 300, 1, "300 images"),
            (0.9, 300, 1, "300 images"),
            (0.7, 60, 5, "60 images of 5"),
        ):
            world = _world(generator, rate, judge, images, each)
            labels = _labelled(generator, world.right.tolist())
            found = powered_rate(world.said.tolist(), labels, clusters=world.images)
            called = f"by labels, {name} judge, rate {rate:g}, {where}"
            intervals[called] = Trial(None, None, rate) if found.interval is None else trial(found.interval, rate)
            if found.alone is not None:
                intervals[f"{called}, labels alone"] = trial(found.alone.interval, rate)
            if each == 1 and rate == 0.7:  # near the end of the scale Student's t does not keep its level
                said = [float(one) for one in labels if one is not None]
                intervals[f"{called}, labels alone by t"] = trial(_student(said), rate)
        intervals |= _differences(generator, name, judge)
    return {**intervals, **_ruled(seed)}


def _differences(generator: Generator, name: str, judge: tuple[float, float]) -> Mapping[str, Trial]:
    """Return the difference of two models from labels of both: the second mends two fifths of what the first gets wrong."""
    place, hard = np.repeat(np.arange(100), 3), _per_image(generator, 0.6, 100)
    sides = (np.full(100, judge[0]), np.full(100, judge[1]))
    first = _judged(generator, place, hard, sides)
    second = _judged(generator, place, hard + (1 - hard) * 0.4, sides)
    drawn = set(generator.choice(len(place), LABELS, replace=False).tolist())
    answers = [
        LabelledAnswers(
            one.said.tolist(), [right if at in drawn else None for at, right in enumerate(one.right.tolist())]
        )
        for one in (first, second)
    ]
    found = powered_difference(*answers, clusters=place.tolist())
    called = f"by labels, {name} judge, difference of two models on 100 images"
    alone = found.alone
    return {
        called: Trial(None, None, 0.16) if found.interval is None else trial(found.interval, 0.16),
        f"{called}, labels alone": Trial(None, None, 0.16) if alone is None else trial(alone.interval, 0.16),
    }


class RuledWorld(NamedTuple):
    """Two models' answers, most of which a rule decided, with labels of some that the judge decided, and the true rates."""

    sides: tuple[LabelledAnswers, LabelledAnswers]
    images: list[int]
    truths: tuple[float, float]


RULED, RIGHT_BY_RULE, RIGHT_BY_JUDGE = 0.7, (0.85, 0.9), (0.45, 0.6)
"""The share that a rule decides, and the shares of right answers among these and among the others, by model."""


def ruled_world(seed: int, *, labels: int, images: int = 150, each: int = 2) -> RuledWorld:
    """Return answers on images; labels are drawn evenly among those of a model that were judged right and wrong.

    Args:
        seed: seed of the world.
        labels: labels of each model.
        images: number of images.
        each: samples of an image.
    """
    generator = np.random.default_rng([seed, 123])
    place = np.repeat(np.arange(images), each)
    known = generator.random(images * each) < RULED
    sides: list[LabelledAnswers] = []
    for by_rule, by_judge in zip(RIGHT_BY_RULE, RIGHT_BY_JUDGE, strict=True):
        right = generator.random(len(place)) < np.where(known, by_rule, by_judge)
        wrong_verdict = generator.random(len(place)) < np.where(right, 1 - SPECIFICITY, 1 - SENSITIVITY)
        said = np.where(~known & wrong_verdict, ~right, right)
        drawn: set[int] = set()
        for verdict in (True, False):
            stratum = np.flatnonzero(~known & (said == verdict))
            size = round(labels * len(stratum) / max(1, int((~known).sum())))
            drawn |= set(generator.choice(stratum, min(size, len(stratum)), replace=False).tolist())
        told = [value if at in drawn else None for at, value in enumerate(right.tolist())]
        sides.append(LabelledAnswers(said.tolist(), told, known.tolist()))
    first, second = (
        RULED * by_rule + (1 - RULED) * by_judge
        for by_rule, by_judge in zip(RIGHT_BY_RULE, RIGHT_BY_JUDGE, strict=True)
    )
    return RuledWorld((sides[0], sides[1]), place.tolist(), (first, second))


def certain(answers: LabelledAnswers) -> tuple[float, float]:
    """Return the least and the most of a model's rate that rules and labels leave open."""
    settled = [
        decided if known else label
        for decided, label, known in zip(answers.decided, answers.labels, answers.known or (), strict=True)
    ]
    n = len(settled)
    return settled.count(True) / n, 1 - settled.count(False) / n


def _ruled(seed: int) -> Mapping[str, Trial]:
    world = ruled_world(seed, labels=LABELS)
    intervals: dict[str, Trial] = {}
    for name, side, truth in zip(("first", "second"), world.sides, world.truths, strict=True):
        found = powered_rate(*side[:2], known=side.known, clusters=world.images, seed=seed)
        intervals[f"by labels, seven tenths by rule, {name} model"] = _of_powered(found, truth)
    difference = powered_difference(*world.sides, clusters=world.images)
    apart = world.truths[1] - world.truths[0]
    intervals["by labels, seven tenths by rule, difference"] = _of_powered(difference, apart)
    return intervals


def _of_powered(found: Powered, truth: float) -> Trial:
    return Trial(None, None, truth) if found.interval is None else trial(found.interval, truth)


def _labelled(generator: Generator, truth: list[T]) -> list[T | None]:
    drawn = set(generator.choice(len(truth), LABELS, replace=False).tolist())
    return [one if place in drawn else None for place, one in enumerate(truth)]


def _student(values: list[float]) -> ConfidenceInterval:
    array = np.array(values)
    margin = student_t_quantile(0.975, len(array) - 1) * float(array.std(ddof=1)) / len(array) ** 0.5
    return ConfidenceInterval(float(array.mean()) - margin, float(array.mean()) + margin)


def _warned(generator: Generator, seed: int) -> Mapping[str, float]:
    """Return p-values of kinds of errors seen, and whether the judge's rates on labels are unlike the passport's."""
    found: dict[str, float] = {}
    for name, mix in (("as in the passport", OWN), ("shifted, warned of", OTHER)):
        shares = np.array(list(mix.values())) / sum(mix.values())
        kinds = generator.choice(list(mix), size=SEEN, p=shares).tolist()
        found[f"mix of {SEEN} errors, {name}"] = same_kinds(kinds, OWN, seed=seed)
        passport = mixed_sensitivity(_measured_kinds(generator), OWN)
        sensitivity = sum(share * KINDS[kind] for kind, share in zip(mix, shares, strict=True))
        world = _world(generator, 0.6, (float(sensitivity), SPECIFICITY), 4 * LABELS)
        wrong, right = ~world.right[: 2 * LABELS], world.right[: 2 * LABELS]
        said = world.said[: 2 * LABELS]
        here = [
            ShareEstimate(float(agreed.mean()), rate_interval(agreed.tolist(), level=SURE))
            for agreed in (~said[wrong], said[right])
        ]
        specificity = ShareEstimate.of(int(generator.binomial(200, SPECIFICITY)), 200)
        off = unlike(here[0], passport) or unlike(here[1], specificity)
        found[f"rates of the judge on {2 * LABELS} labels, mix {name}{'' if mix is not OWN else ', any rate'}"] = (
            0.0 if off else 1.0
        )
    return found
