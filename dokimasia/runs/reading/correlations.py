"""Correlations of scores with other measures, such as the length of a response."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from dokimasia.algorithms.statistics import (
    correlation_interval,
    false_discovery_rate,
    kendall,
    pearson,
    spearman,
)
from dokimasia.algorithms.statistics.correlation import Method
from dokimasia.algorithms.statistics.correlation_significance import correlation_exchange_test, correlation_p_value
from dokimasia.algorithms.statistics.shares import ConfidenceInterval
from dokimasia.domain.identity import Value
from dokimasia.report.fields import IntervalMethod, NoInterval
from dokimasia.report.figures import signed_text
from dokimasia.runs.measures import limits, rounded

ALPHA = 0.05

_METHODS: dict[Method, Callable[[Sequence[float], Sequence[float]], float]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}


class Correlated(NamedTuple):
    """A correlation; the interval is None with fewer than five clusters, or where a side does not vary without one."""

    value: float
    interval: ConfidenceInterval | None


def correlation(
    method: Method, scores: Sequence[float], ratings: Sequence[float], clusters: Sequence[str]
) -> Correlated | None:
    """Return a correlation with its interval, or None if there are too few pairs or a side does not vary."""
    value = value_of(_METHODS[method], scores, ratings)
    if value is None:
        return None
    interval: ConfidenceInterval | None = None
    with suppress(ValueError):
        interval = correlation_interval(scores, ratings, method=method, clusters=clusters)
    return Correlated(value, interval)


def value_of(
    method: Callable[[Sequence[float], Sequence[float]], float], first: Sequence[float], second: Sequence[float]
) -> float | None:
    """Return a correlation, or None if there are too few pairs or a side is constant."""
    try:
        return rounded(method(first, second))
    except ValueError:
        return None


class LengthAssociation(Value):
    """How the score goes with the length of one model's answers.

    Attributes:
        n: answers.
        words: mean length.
        r: Pearson's correlation; None, as all below, where lengths or scores do not vary.
        p: by permutation of whole clusters; None without a test, for the `reason`.
        p_published: p that takes answers for independent.
        low: lower end of the 95 % interval, clustered; None where there is none.
        high: its upper end.
    """

    n: int
    words: float
    r: float | None = None
    p: float | None = None
    p_published: float | None = None
    reason: str = ""
    low: float | None = None
    high: float | None = None
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None


def length_and_score(triples: Sequence[tuple[float, float, str]], *, seed: int) -> LengthAssociation:
    """Return how score and length of one model's answers go together.

    Args:
        triples: for each scored answer its length in words, its score, and its cluster; at least one.
        seed: the seed of the test.
    """
    words, scores = [triple[0] for triple in triples], [triple[1] for triple in triples]
    clusters = [triple[2] for triple in triples]
    mean = rounded(sum(words) / len(words))
    try:
        r = pearson(words, scores)
        p_published = correlation_p_value(r, len(words))
    except ValueError:
        return LengthAssociation(n=len(words), words=mean)
    test = correlation_exchange_test(words, scores, clusters=clusters, seed=seed)
    interval: ConfidenceInterval | None = None
    with suppress(ValueError):  # fewer than five clusters, or a constant side once one of them is omitted
        interval = correlation_interval(words, scores, clusters=clusters)
    return LengthAssociation(
        n=len(words),
        words=mean,
        r=rounded(r),
        p=rounded(test.p_value),
        p_published=rounded(p_published),
        reason=test.reason,
        **limits(interval),
    )


def adjusted_over(models: Mapping[str, LengthAssociation]) -> dict[str, float]:
    """Return the p-values of the tested models by name, adjusted over all of them (Benjamini and Hochberg)."""
    p_values = {name: model.p for name, model in models.items() if model.p is not None}
    return dict(zip(p_values, map(rounded, false_discovery_rate(list(p_values.values()))), strict=True))


def directions(correlations: Mapping[str, float], score: str) -> str:
    """Return a sentence on the direction of each model's correlation of length and score; at least one model."""
    rises = [f"{name} (r {signed_text(r)})" for name, r in correlations.items() if r > 0]
    falls = [f"{name} (r {signed_text(r)})" for name, r in correlations.items() if r <= 0]
    ways: list[str] = []
    if rises:
        ways.append(f"rises for {', '.join(rises)}")
    if falls:
        ways.append(f"falls for {', '.join(falls)}")
    return f"With longer answers {score} {' and '.join(ways)}."


def untested(reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield the reasons why correlations have no test, each once, with its models.

    `reasons` are by model, empty for a tested correlation.
    """
    models: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason:
            models.setdefault(reason, []).append(name)
    yield from (f"{', '.join(names)}: {reason}." for reason, names in models.items())
