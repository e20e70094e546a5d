"""Which interval a corrected rate should have: four ways, on worlds drawn with numpy alone.

    python -m benchmarks.calibration.independent.corrected [--sets 2000]

Of n answers with a share x of right ones a judge of given sensitivity and specificity finds some wrong; its rates are those
seen in a passport of m wrong and m right answers. Coverage of x by 95 % intervals over all worlds in which
sensitivity + specificity - 1 is at least 0.1 and surely above 0.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Limits = tuple[Floats, Floats]

ANSWERS, ITEMS = (50, 200, 500, 2000), (40, 100, 400)
RATES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
JUDGES = ((0.8, 0.9), (0.95, 0.97), (0.6, 0.7), (0.5, 0.99))
LEAST_APART, Z = 0.1, 1.959963984540054
DRAWS, BOOTSTRAPPED = 400, 200
_HALVINGS = 40


class Seen(NamedTuple):
    """What was seen in many worlds: answers judged wrong of n, and wrong (and right) answers judged wrong, of m each."""

    wrong: Floats
    found: Floats
    alarms: Floats
    n: int
    m: int

    @property
    def shares(self) -> tuple[Floats, Floats, Floats]:
        return self.wrong / self.n, self.found / self.m, self.alarms / self.m

    @property
    def rate(self) -> Floats:
        wrong, found, alarms = self.shares
        return np.clip((found - wrong) / (found - alarms), 0, 1)


class Came(NamedTuple):
    """What came of one way in one world: the share of intervals that cover, their mean width, and the world."""

    covered: float
    width: float
    world: tuple[Any, ...]


def exact(k: Floats, n: int) -> Limits:
    """Return Clopper and Pearson's limits."""
    low = special.betaincinv(np.maximum(k, 1e-9), n - k + 1, 0.025)
    high = special.betaincinv(k + 1, np.maximum(n - k, 1e-9), 0.975)
    return np.where(k > 0, low, 0.0), np.where(k < n, high, 1.0)


def wilson(k: Floats, n: int) -> Limits:
    """Return Wilson's limits."""
    share, shrink = k / n, 1 + Z * Z / n
    middle, half = (share + Z * Z / 2 / n) / shrink, Z * np.sqrt(share * (1 - share) / n + Z * Z / 4 / n / n) / shrink
    return np.maximum(0, middle - half), np.minimum(1, middle + half)


def mover(of: Callable[[Floats, int], Limits]) -> Callable[[Seen, np.random.Generator], Limits]:
    """Return the way that puts the three shares' own limits together and solves for the rate (what `corrected_rate` does)."""

    def limits(seen: Seen, _: np.random.Generator) -> Limits:
        (wrong, found, alarms), rate = seen.shares, seen.rate
        sides = [of(seen.wrong, seen.n), of(seen.found, seen.m), of(seen.alarms, seen.m)]

        def off(x: Floats, up: bool) -> Floats:
            moved = (sides[0][not up] - wrong) ** 2
            moved += ((1 - x) * (sides[1][up] - found)) ** 2 + (x * (sides[2][up] - alarms)) ** 2
            return (1 - x) * found + x * alarms - wrong + (1 if up else -1) * np.sqrt(moved)

        def root(up: bool, end: float) -> Floats:
            sign, inside, outside = (1 if up else -1), rate.copy(), np.full_like(rate, end)
            reaches = off(outside, up) * sign >= 0
            for _ in range(_HALVINGS):
                middle = (inside + outside) / 2
                good = off(middle, up) * sign >= 0
                inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
            return np.where(reaches, end, inside)

        low, high = root(False, 0.0), root(True, 1.0)
        refused = (off(rate, False) > 0) | (off(rate, True) < 0)
        return np.where(refused, np.nan, low), np.where(refused, np.nan, high)

    return limits


def lang_reiczigel(seen: Seen, _: np.random.Generator) -> Limits:
    """Return the limits of Lang and Reiczigel, Confidence limits for prevalence of disease adjusted for the test, 2014."""
    n = seen.n + Z * Z
    wrong = (seen.wrong + Z * Z / 2) / n
    found, alarms = (seen.found + 1) / (seen.m + 2), (seen.alarms + 1) / (seen.m + 2)
    share, told = (wrong - alarms) / (found - alarms), found - alarms
    parts = found * (1 - found) / (seen.m + 2), alarms * (1 - alarms) / (seen.m + 2)
    shift = 2 * Z * Z * (share * parts[0] - (1 - share) * parts[1])
    error = np.sqrt(wrong * (1 - wrong) / n + share**2 * parts[0] + (1 - share) ** 2 * parts[1]) / np.abs(told)
    return np.clip(1 - (share + shift + Z * error), 0, 1), np.clip(1 - (share + shift - Z * error), 0, 1)


def delta_on_logit(seen: Seen, _: np.random.Generator) -> Limits:
    """Return the limits of the delta method on the logit of the rate."""
    wrong, found, alarms = seen.shares
    rate = np.clip(seen.rate, 1 / (2 * seen.n), 1 - 1 / (2 * seen.n))
    variance = wrong * (1 - wrong) / seen.n
    variance = variance + (1 - rate) ** 2 * found * (1 - found) / seen.m + rate**2 * alarms * (1 - alarms) / seen.m
    error = np.sqrt(variance) / (found - alarms) / (rate * (1 - rate))
    middle = special.logit(rate)
    return special.expit(middle - Z * error), special.expit(middle + Z * error)


def bootstrap(seen: Seen, generator: np.random.Generator) -> Limits:
    """Return percentiles of rates drawn from the shares seen; of the first two hundred worlds, since it takes long."""
    shares = [share[:BOOTSTRAPPED, None] for share in seen.shares]
    counts = (seen.n, seen.m, seen.m)
    wrong, found, alarms = (
        generator.binomial(n, np.broadcast_to(share, (len(share), DRAWS))) / n
        for share, n in zip(shares, counts, strict=True)
    )
    told = np.where(np.abs(found - alarms) < 1e-9, 1e-9, found - alarms)
    low, high = np.quantile(np.clip((found - wrong) / told, 0, 1), [0.025, 0.975], axis=1)
    return low, high


WAYS: dict[str, Callable[[Seen, np.random.Generator], Limits]] = {
    "MOVER, exact shares": mover(exact),
    "MOVER, Wilson's shares": mover(wilson),
    "Lang and Reiczigel": lang_reiczigel,
    "delta method on the logit": delta_on_logit,
    "parametric bootstrap": bootstrap,
}


def worlds(sets: int, generator: np.random.Generator) -> Iterator[tuple[tuple[Any, ...], Seen]]:
    """Yield each world with what is seen in it, so many times, as far as the correction is not refused."""
    for n, m, rate, judge in product(ANSWERS, ITEMS, RATES, JUDGES):
        share = (1 - rate) * judge[0] + rate * (1 - judge[1])
        wrong = generator.binomial(n, share, sets).astype(float)
        found, alarms = (generator.binomial(m, one, sets).astype(float) for one in (judge[0], 1 - judge[1]))
        told = (found - alarms) / m
        surely = told - np.hypot(found / m - exact(found, m)[0], exact(alarms, m)[1] - alarms / m) > 0
        kept = (told >= LEAST_APART) & surely
        if kept.sum() >= 10:
            yield (n, m, rate, judge), Seen(wrong[kept], found[kept], alarms[kept], n, m)


def compared(sets: int) -> dict[str, list[Came]]:
    """Return what came of each way in each world."""
    generator = np.random.default_rng(3)
    found: dict[str, list[Came]] = {name: [] for name in WAYS}
    for world, seen in worlds(sets, generator):
        for name, way in WAYS.items():
            low, high = way(seen, generator)
            shown = ~np.isnan(low)
            covers = (low <= world[2]) & (world[2] <= high)
            found[name].append(Came(float(covers[shown].mean()), float((high - low)[shown].mean()), world))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the least and the mean coverage of each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets a world")
    for name, came in compared(parser.parse_args(arguments).sets).items():
        least = min(came)
        short = sum(one.covered < 0.925 for one in came)
        means = [float(np.mean([one[place] for one in came])) for place in (0, 1)]
        print(
            f"{name:<26} worlds {len(came)}, coverage {means[0]:.1%}, least {least.covered:.1%} at {least.world}, "
            f"below 92.5 %: {short}, mean width {means[1]:.3f}"
        )


if __name__ == "__main__":
    main()
