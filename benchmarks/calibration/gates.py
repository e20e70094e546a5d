"""Gates over planted pairs of runs: false alarms and misses where accuracy fell by 0, 2 or 5 points and 2 are allowed.

Images have one to three questions and shift the chances of all of them; a share of the answers changes from run to run at
random, and a fall turns right answers to wrong ones.
"""

import numpy as np

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.runs.reading.gate import decide

IMAGES = 300
ALLOWED = 0.02
LEVEL = 0.95
RIGHT = 0.7
"""The mean chance of a right answer."""

OF_IMAGE = 0.15
"""Half the range of an image's shift of that chance."""

CHANGED = 0.1
"""The share of answers that are given anew, with the same chance, in the second run."""


def gates(seed: int) -> Seed:
    """Return the interval of each planted drop, and 0 for each wrong and each right verdict (else 1) as p-values."""
    intervals: dict[str, Trial] = {}
    wrong: dict[str, float] = {}
    for points in (0, 2, 5):
        generator = np.random.default_rng([seed, 43, points])
        sizes = generator.integers(1, 4, size=IMAGES)
        clusters = np.repeat(np.arange(IMAGES), sizes)
        chances = RIGHT + OF_IMAGE * generator.uniform(-1, 1, size=IMAGES)[clusters]
        before = generator.random(len(clusters)) < chances
        anew = generator.random(len(clusters)) < chances
        after = np.where(generator.random(len(clusters)) < CHANGED, anew, before)
        after &= generator.random(len(clusters)) >= points / 100 / RIGHT
        decision = decide(
            before.astype(np.float64),
            after.astype(np.float64),
            clusters.tolist(),
            margin=ALLOWED,
            level=LEVEL,
            seed=seed,
        )
        intervals[f"a drop of {points} points"] = trial(decision.difference, -points / 100)
        if points <= 2:
            wrong[f"drop reported of {points} points, any wrong verdict"] = float(decision.verdict != "drop")
        if points >= 2:
            wrong[f"no drop reported of {points} points, any wrong verdict"] = float(decision.verdict != "no drop")
        if points != 2:
            expected = "drop" if points else "no drop"
            wrong[f"{expected} of {points} points found"] = float(decision.verdict != expected)
    return Seed(intervals, wrong)
