"""The power of rubric sets: planted errors that are caught at a rate of each image's own, and rubrics that texts fail."""

import numpy as np

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.domain.perturbation import TextChange
from dokimasia.domain.rubric import MEASURED_ERRORS, STREAMS, Rubric, RubricSet, Tried
from dokimasia.methods.rubrics.figures import power_figures
from dokimasia.report.fields import as_json

IMAGES = 40
GATE, FINE, RESPONSES = 4, 4, 3
DIMENSIONS = ("count", "position", "text", "state")
CHANGES = (TextChange(original="a", new="b"),)


def rubric_power(seed: int) -> Seed:
    """Sets whose rubrics fail a text each with the image's own probability, in a world of varied and of equal images."""
    intervals: dict[str, Trial] = {}
    for name, (a, b) in (("varied images", (1.0, 6.0)), ("equal images", (60.0, 360.0))):
        generator = np.random.default_rng([seed, int(b)])
        rates = generator.beta(a, b, IMAGES)
        sets = [_set(f"{image}", float(rate), generator) for image, rate in enumerate(rates)]
        found = as_json(power_figures(sets, {one.sample_id: one.sample_id for one in sets}))
        texts = MEASURED_ERRORS + RESPONSES
        planted = {
            "caught": float(np.mean(1 - (1 - rates) ** (GATE + FINE))),
            "caught_by_gate": float(np.mean(1 - (1 - rates) ** GATE)),
            "must_right": float(np.mean(1 - (1 - rates) ** texts)),
            "easy_wrong": float(np.mean(1 - (1 - rates) ** MEASURED_ERRORS)),
        }
        for figure, truth in planted.items():
            intervals[f"rubrics, {figure.replace('_', ' ')}, {name}"] = trial(found[figure], truth)
        of_one = found["dimensions"]["count"]
        intervals[f"rubrics, caught in one dimension, {name}"] = trial(of_one, planted["caught"])
    return Seed(intervals, {})


def _set(name: str, rate: float, generator: np.random.Generator) -> RubricSet:
    """Draw a set, and of each text which rubrics fail it; the golden caption passes all."""
    rubrics = tuple(
        Rubric(stream=stream, statement="The response must say so.", polarity="positive")
        for stream in (*STREAMS[:1] * GATE, *STREAMS[1:] * FINE)
    )

    def passes(count: int) -> tuple[bool, ...]:
        return tuple(bool(one) for one in generator.random(count) >= rate)

    planted = (
        Tried(what="planted", name=DIMENSIONS[place % len(DIMENSIONS)], changes=CHANGES, passes=passes(GATE + FINE))
        for place in range(MEASURED_ERRORS)
    )
    responses = (Tried(what="response", passes=(*passes(GATE), *[None] * FINE)) for _ in range(RESPONSES))
    golden = Tried(what="golden", passes=(True,) * (GATE + FINE))
    return RubricSet(sample_id=name, rubrics=rubrics, tried=(golden, *planted, *responses))
