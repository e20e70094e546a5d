"""The figures under test: how each data set is drawn, what its truth is, and the function that makes the interval."""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np

from benchmarks.calibration.independent.worlds import Drawn, Floats, Generator, Level, again, rubrics, scores

JUDGES, MODELS = 0.97, 0.9
"""How alike two judges' readings of the same answers are, and two models' answers to the same samples."""
WORSE = 0.4
"""How far another model, or the same one without the image, lies from the first, in standard deviations."""
ATOMS = 4

Table = np.ndarray[Any, np.dtype[np.floating[Any]]]


class Figure(NamedTuple):
    """A figure: one row a sample, what is computed from rows, and the interval that the package gives it."""

    rows: Callable[[Drawn, Level, Generator], Table]
    value: Callable[[Table], float]
    interval: Callable[[Table, list[int], int], Any]


def _one_score(drawn: Drawn, level: Level, generator: Generator) -> Table:
    return scores(drawn.behind, level).reshape(-1, 1)


def _two_models(drawn: Drawn, level: Level, generator: Generator) -> Table:
    other = again(drawn, generator, likeness=MODELS) + _towards_middle(level)
    return np.column_stack([scores(drawn.behind, level), scores(other, level)])


def _without_image(drawn: Drawn, level: Level, generator: Generator) -> Table:
    other = again(drawn, generator, likeness=JUDGES) + _towards_middle(level)
    return np.column_stack([scores(drawn.behind, level), scores(other, level)])


def _atoms(drawn: Drawn, level: Level, generator: Generator) -> Table:
    noise = generator.normal(size=(len(drawn.behind), ATOMS))
    behind = math.sqrt(0.8) * drawn.behind[:, None] + math.sqrt(0.2) * noise
    return np.column_stack([scores(column, level) for column in behind.T]).mean(axis=1)[:, None]


def _leaf(drawn: Drawn, level: Level, generator: Generator) -> Table:
    return 25 * (_one_score(drawn, level, generator) - 1)


def _rubrics(drawn: Drawn, level: Level, generator: Generator) -> Table:
    """The share of must-right rubrics that hold, the gate, and the gated score, all in percent."""
    must_right = rubrics(drawn.behind, level, generator)
    easy_wrong = rubrics(drawn.behind, level, generator, harder=0.2)
    gate = must_right.all(axis=1)
    parts = [must_right.mean(axis=1), gate, gate * easy_wrong.mean(axis=1)]
    return 100 * np.column_stack(parts).astype(np.float64)


def _two_judges(drawn: Drawn, level: Level, generator: Generator) -> Table:
    first = _rubrics(drawn, level, np.random.default_rng(generator.integers(1 << 32)))[:, 2]
    seen = again(drawn, generator, likeness=JUDGES) + 0.2
    second = _rubrics(Drawn(drawn.image, seen), level, generator)[:, 2]
    return np.column_stack([first, second])


def _two_coders(drawn: Drawn, level: Level, generator: Generator) -> Table:
    """What two coders call each thing: one of two names, the rarer as rare as scores apart from the most frequent one."""
    rare = min(0.5, 1 - max(level.scores))
    noise = generator.normal(size=(len(drawn.behind), 2))
    behind = math.sqrt(0.85) * drawn.behind[:, None] + math.sqrt(0.15) * noise
    return (behind > NormalDist().inv_cdf(1 - rare)).astype(float)


def _towards_middle(level: Level) -> float:
    return WORSE if np.argmax(level.scores) == 0 else -WORSE


def _mean(table: Table) -> float:
    return float(table[:, 0].mean())


def _difference(table: Table) -> float:
    return float((table[:, 1] - table[:, 0]).mean())


def _kappa(table: Table) -> float:
    agreed = float((table[:, 0] == table[:, 1]).mean())
    first, second = table.mean(axis=0).tolist()
    chance = first * second + (1 - first) * (1 - second)
    return (agreed - chance) / (1 - chance)


def _mean_interval(bounds: tuple[float, float], column: int = 0) -> Callable[[Table, list[int], int], Any]:
    def interval(table: Table, images: list[int], seed: int) -> Any:
        from dokimasia.algorithms.statistics import bootstrap_interval

        return bootstrap_interval(table[:, column].tolist(), clusters=images, seed=seed, bounds=bounds)

    return interval


def _difference_interval(bounds: tuple[float, float]) -> Callable[[Table, list[int], int], Any]:
    def interval(table: Table, images: list[int], seed: int) -> Any:
        from dokimasia.algorithms.statistics import difference_interval

        first, second = table.T.tolist()
        return difference_interval(first, second, clusters=images, seed=seed, bounds=bounds)

    return interval


def _gap_interval(table: Table, images: list[int], seed: int) -> Any:
    from dokimasia.algorithms.statistics import jackknife_interval

    def gap(use: Sequence[int]) -> float:
        return float((table[list(use), 0] - table[list(use), 1]).mean())

    return jackknife_interval(gap, len(table), clusters=images, bounds=(-100.0, 100.0), additive=True)


def _kappa_interval(table: Table, images: list[int], seed: int) -> Any:
    from dokimasia.algorithms.modes import kappa_of

    first, second = table.T.tolist()
    return kappa_of(first, second, images).interval


def _plain_kappa_interval(table: Table, images: list[int], seed: int) -> Any:
    from dokimasia.algorithms.statistics import jackknife_interval
    from dokimasia.algorithms.statistics.agreement import cohen_kappa

    def kappa(use: Sequence[int]) -> float:
        return cohen_kappa(*table[list(use)].T.tolist())

    try:
        return jackknife_interval(kappa, len(table), clusters=images, bounds=(-1.0, 1.0))
    except ValueError:
        return None


def _right_interval(table: Table, images: list[int], seed: int) -> Any:
    from dokimasia.algorithms.statistics import rate_interval

    return rate_interval([gate == 100 for gate in table[:, 1].tolist()], clusters=images)


FIGURES = {
    "mean score": Figure(_one_score, _mean, _mean_interval((1.0, 5.0))),
    "paired difference": Figure(_two_models, _difference, _difference_interval((1.0, 5.0))),
    "loss without the image": Figure(_without_image, _difference, _difference_interval((1.0, 5.0))),
    "gated overall": Figure(_rubrics, lambda table: float(table[:, 2].mean()), _mean_interval((0.0, 100.0), 2)),
    "gate pass, as a rate": Figure(_rubrics, lambda table: float(table[:, 1].mean() / 100), _right_interval),
    "reliability gap": Figure(_rubrics, lambda table: float((table[:, 0] - table[:, 1]).mean()), _gap_interval),
    "shift of two judges": Figure(_two_judges, _difference, _difference_interval((0.0, 100.0))),
    "atom score after refining": Figure(_atoms, _mean, _mean_interval((1.0, 5.0))),
    "leaf mean": Figure(_leaf, _mean, _mean_interval((0.0, 100.0))),
    "kappa of two coders": Figure(_two_coders, _kappa, _kappa_interval),
    "kappa of two mappings": Figure(_two_coders, _kappa, _plain_kappa_interval),
}
"""By name; `value` of very many independent images is the truth."""


Correlation = Literal["pearson", "spearman", "kendall"]


def correlation(method: Correlation, n: int, rho: float, seed: int) -> tuple[Any, float]:
    """Return the interval of a correlation of n pairs of normal values, and its truth; an error counts as no interval."""
    from dokimasia.algorithms.statistics import correlation_interval

    generator = np.random.default_rng([n, round(1000 * rho), seed])
    x: Floats = generator.normal(size=n)
    y: Floats = rho * x + math.sqrt(1 - rho**2) * generator.normal(size=n)
    truth = {"pearson": rho, "spearman": 6 / math.pi * math.asin(rho / 2), "kendall": 2 / math.pi * math.asin(rho)}
    try:
        return correlation_interval(x.tolist(), y.tolist(), method=method, clusters=None), truth[method]
    except ValueError:
        return None, truth[method]
