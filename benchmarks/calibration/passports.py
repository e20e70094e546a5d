"""Passports of a judge that is alike under every evaluator: what the half that did not choose says of the chosen one.

Where nothing tells evaluators apart the best of them on one half of the images is the luckiest there; its rates in the
passport are those of the other half, and are held to the truth here. So it is with the best of ten judges that are alike.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.domain.blindspots import NEUTRAL, Detection, Evaluator
from dokimasia.domain.passport import MeasuredDifference, MeasuredShare, PassportModel
from dokimasia.people.passports import JudgeUse, PassportMaterial, passport_of
from dokimasia.people.passports.picking import best_of, halves_for

WAYS: tuple[Evaluator, ...] = ("single-vanilla", "single-rubric", "single-axes", "reference", "right-or-wrong")
DIMENSIONS = {"a": "VG", "b": "VG", "c": "VR", "d": "VR"}
IMAGES = 40
DETECTED, ALARMS, FLICKERS, FAILS = 0.6, 0.2, 0.1, 0.03
OF_IMAGE = 0.8
"""Standard deviation, in log odds, of what an image makes easy."""

OWN = 0.9
"""How much less, in log odds, is detected of errors that the judge's own model wrote, which is half of them."""

POPULATION = 400_000


def passports(seed: int) -> Seed:
    """A judge with one rate under five evaluators, on forty images of which some are easy, and errors that it wrote itself."""
    generator = np.random.default_rng([seed, 120])
    found = list(_drawn(generator, {}))
    of_own = {f"{image}-{name}": (image + at) % 2 == 0 for image in range(IMAGES) for at, name in enumerate(DIMENSIONS)}
    preferring = list(_drawn(generator, of_own))
    judge = PassportModel(name="judge", model="judge", endpoint="default", version=None)
    plain = passport_of(PassportMaterial(judge, {}, (), found, seed=seed))
    own = passport_of(PassportMaterial(judge, {}, (), preferring, own=of_own, seed=seed))
    detected, alarms = _rate(DETECTED), _rate(ALARMS)
    whole = plain.rates("image-to-text", "single-axes")
    group = plain.rates("image-to-text", "single-axes", level="group", name="VR")
    kind = plain.rates("image-to-text", "single-axes", level="dimension", name="a")
    decided = plain.decisions("image-to-text", "right-or-wrong")
    intervals: dict[str, Trial] = {}
    if whole and group and kind and decided:
        intervals = {
            "passport, detection of all errors": _trial(whole.detection, detected),
            "passport, detection of a group": _trial(group.detection, detected),
            "passport, detection of a dimension": _trial(kind.detection, detected),
            "passport, false alarms": _trial(plain.neutral[2].false_alarms, alarms),
            "passport, judged otherwise again": _trial(plain.retests[2].changed, _rate(FLICKERS)),
            "passport, sensitivity": _trial(decided.sensitivity, detected),
            "passport, sensitivity to a dimension": _trial(decided.by_dimension[0], detected),
            "passport, specificity": _trial(decided.specificity, 1 - alarms),
            "passport, own answers": _trial(own.own_answers[2].difference, _rate(DETECTED, -OWN) - detected),
            "passport, unparsable replies": _trial(plain.replies[2].unparsable, FAILS),
        }
    for one in plain.recommended[:2]:
        if one.estimated is None:
            continue
        name = f"recommended for {one.group or 'all errors'}"
        intervals[f"passport, detection of the {name}"] = _trial(one.estimated.detection, detected)
        intervals[f"passport, false alarms of the {name}"] = _trial(one.estimated.false_alarms, alarms)
    chosen, _ = best_of_ten(seed)
    intervals["passport, detection of the judge chosen of ten"] = _trial(chosen, EQUAL)
    return Seed(intervals, {})


JUDGES, EQUAL, EQUAL_ALARMS = 10, 0.8, 0.1
"""How many judges there are to choose from, all with the same rates."""


def best_of_ten(seed: int, *, images: int = 80) -> tuple[MeasuredShare, MeasuredShare]:
    """Return the detection rate of the chosen one of ten equal judges: on the half that did not choose, and of the best on all.

    Args:
        seed: seed of what the judges detect.
        images: images of each judge's passport, with an error and a harmless change each.
    """
    generator = np.random.default_rng([seed, 122])
    judge = PassportModel(name="judge", model="judge", endpoint="default", version=None)
    passports = [passport_of(PassportMaterial(judge, {}, (), list(_equal(generator, images)))) for _ in range(JUDGES)]
    way = JudgeUse("deciding", ("right-or-wrong",), "")
    both = halves_for(passports[best_of(passports, [way])], way)
    assert both is not None  # Every judge was asked so.
    rates = [(passport.errors[0].detection, passport.neutral[0].false_alarms) for passport in passports]
    luckiest, _ = max(rates, key=lambda one: (one[0].share or 0.0) - (one[1].share or 0.0))
    return both.estimating.detection, luckiest


def _equal(generator: np.random.Generator, images: int) -> Iterator[Detection]:
    for image in range(images):
        asked: dict[str, Any] = {
            "judge": "judge",
            "task": "image-to-text",
            "evaluator": "right-or-wrong",
            "cluster": str(image),
        }
        missed = float(generator.random() >= EQUAL)
        equal = float(generator.random() >= EQUAL_ALARMS)
        error = {"dimension": "a", "group": "VG", "item": f"{image}-a", "undetected": missed, "strict": missed}
        yield Detection(**asked, case="error", **error)
        yield Detection(**asked, case="neutral", dimension=NEUTRAL, group="", item=f"{image}-n", equal=equal)


def _drawn(generator: np.random.Generator, own: Mapping[str, bool]) -> Iterator[Detection]:
    """Yield what comes of an error of each dimension, a harmless change and a retest an image under every evaluator."""
    eases = generator.normal(size=IMAGES) * OF_IMAGE

    def hits(rate: float, image: int, shift: float = 0.0) -> float:
        return float(generator.random() < _logistic(np.log(rate / (1 - rate)) + eases[image] + shift))

    for way in WAYS:
        for image in range(IMAGES):
            for name in (*DIMENSIONS, NEUTRAL, "again"):
                group, item = DIMENSIONS.get(name, ""), f"{image}-{name}"
                case = "error" if group else "neutral" if name == NEUTRAL else "retest"
                asked: dict[str, Any] = {
                    "judge": "judge",
                    "task": "image-to-text",
                    "evaluator": way,
                    "case": case,
                    "group": group,
                }
                asked |= {"group": group, "dimension": name, "cluster": str(image), "item": item}
                if generator.random() < FAILS:
                    yield Detection(**asked, failure="unparsable")
                elif group:
                    missed = 1 - hits(DETECTED, image, -OWN if own.get(item) else 0.0)
                    yield Detection(**asked, undetected=missed, strict=missed, worse=0.0)
                else:
                    yield Detection(
                        **asked, equal=1 - hits(ALARMS if case == "neutral" else FLICKERS, image), worse=0.0
                    )


def _logistic(odds: float | NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-np.asarray(odds))))


@cache
def _rate(rate: float, shift: float = 0.0) -> float:
    """Return a rate in the population of images, of which some are easy."""
    eases = np.random.default_rng(121).normal(size=POPULATION) * OF_IMAGE
    return float(_logistic(np.log(rate / (1 - rate)) + shift + eases).mean())


def _trial(one: MeasuredShare | MeasuredDifference, planted: float) -> Trial:
    return trial({"low": one.low, "high": one.high}, planted)
