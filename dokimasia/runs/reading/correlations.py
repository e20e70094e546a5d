"""Correlations of scores with other measures, such as the length of a response."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from dokimasia.algorithms.statistics import adjusted, correlation_interval, kendall, pearson, spearman
from dokimasia.algorithms.statistics.correlation import Method
from dokimasia.algorithms.statistics.correlation_significance import correlation_exchange_test, correlation_p_value
from dokimasia.domain.identity import JsonObject
from dokimasia.report.figures import signed_text
from dokimasia.runs.measures import limits, rounded

METHODS: tuple[tuple[Method, Callable[[Sequence[float], Sequence[float]], float]], ...] = (
    ("pearson", pearson),
    ("spearman", spearman),
    ("kendall", kendall),
)


def correlations(scores: Sequence[float], ratings: Sequence[float], clusters: Sequence[str]) -> JsonObject:
    """Return Pearson's, Spearman's and Kendall's correlation, each as {value, low, high}, or None if undefined."""
    figures: JsonObject = {}
    for name, method in METHODS:
        value = value_of(method, scores, ratings)
        figures[name] = None
        if value is not None:
            figures[name] = {"value": value, "low": None, "high": None}
            try:
                interval = correlation_interval(scores, ratings, method=name, clusters=clusters)
            except ValueError:
                continue  # fewer than five clusters, or a constant side once one is omitted: there is no interval
            figures[name] |= limits(interval)
    return figures


def value_of(
    method: Callable[[Sequence[float], Sequence[float]], float], first: Sequence[float], second: Sequence[float]
) -> float | None:
    """Return a correlation, or None if there are too few pairs or a side is constant."""
    try:
        return rounded(method(first, second))
    except ValueError:
        return None


ALPHA = 0.05


def length_and_score(triples: Sequence[tuple[float, float, str]], *, seed: int) -> JsonObject:
    """Return the correlation of length and score of one model's answers, ready for JSON.

    Args:
        triples: for each scored answer its length in words, its score, and its cluster; at least one.
        seed: the seed of the test.

    Returns:
        `n`, `words` (mean length), `r` with `low` and `high`, `p` (permutation of whole clusters), the `reason` if there is
        no test, `adjusted` (see `adjust`), and `p_published`, which treats answers as independent. Values are None if
        lengths or scores do not vary.
    """
    words, scores = [triple[0] for triple in triples], [triple[1] for triple in triples]
    mean = sum(words) / len(words)
    result: JsonObject = {
        "n": len(triples),
        "words": rounded(mean),
        "r": None,
        "p_published": None,
        "p": None,
        "adjusted": None,
        "reason": "",
        "low": None,
        "high": None,
    }
    try:
        r = pearson(words, scores)
        result |= {"r": rounded(r), "p_published": rounded(correlation_p_value(r, len(triples)))}
    except ValueError:
        return result
    test = correlation_exchange_test(words, scores, clusters=[triple[2] for triple in triples], seed=seed)
    result |= {"p": rounded(test.p_value), "reason": test.reason}
    with suppress(ValueError):  # fewer than five clusters, or a constant side once one of them is omitted
        result |= limits(correlation_interval(words, scores, clusters=[triple[2] for triple in triples]))
    return result


def adjust(models: Mapping[str, JsonObject], names: Collection[str]) -> list[str]:
    """Adjust the p-values of the named models in place; return the models whose length and score are correlated."""
    tested = {name: models[name] for name in models if name in names and models[name]["p"] is not None}
    for model, q_value in zip(tested.values(), adjusted([model["p"] for model in tested.values()]), strict=True):
        model["adjusted"] = rounded(q_value)
    return [name for name, model in tested.items() if model["adjusted"] <= ALPHA]


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
