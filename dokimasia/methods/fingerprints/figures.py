"""From matched reports to figures: how reliably each pair of models is told apart, as a table and as a heat map's."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from dokimasia.algorithms.statistics import Interval, adjusted, clopper_pearson, rate_interval
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure
from dokimasia.methods.tree import LEVEL, rounded

CHANCE = 0.5
"""What guessing reaches."""

LIMIT = 0.05
"""The share of pairs that are expected to be told apart falsely among all that are said to be apart."""


class Trial(NamedTuple):
    """One trial of two models: whether the reports were matched rightly, or the kind of failure."""

    first: str
    second: str
    right: bool | None
    failure: str | None = None


def fingerprint_figures(trials: Sequence[Trial], models: Sequence[str]) -> dict[str, Any]:
    """Return the accuracy of matching for each pair and over all, ready for JSON.

    Args:
        trials: those of one matcher.
        models: in the order of the tables.

    Returns:
        What `shape.MatcherFigures` describes.
    """
    by_pair = {
        names: [trial for trial in trials if {trial.first, trial.second} == set(names)]
        for names in combinations(models, 2)
    }
    rows = [_pair(names, each) for names, each in by_pair.items() if each]
    for row, q_value in zip(rows, adjusted([row["p_value"] for row in rows]), strict=True):
        row["adjusted"] = None if q_value is None else rounded(q_value)
        row["apart"] = q_value is not None and q_value <= LIMIT
    judged = [trial for trial in trials if trial.right is not None]
    hits = [bool(trial.right) for trial in judged]
    clusters = [tuple(sorted((trial.first, trial.second))) for trial in judged]
    interval = rate_interval(hits, clusters=clusters, level=LEVEL) if hits else None
    return {
        "n": len(hits),
        "trials": len(trials),
        **_matched(hits, trials, interval),
        "n_pairs": len(rows),
        "pairs_apart": sum(row["apart"] for row in rows),
        "pairs_above_half": sum(row["above_half"] for row in rows),
        "pairs": rows,
    }


def fingerprint_assets(
    figures: Mapping[str, Any], models: Sequence[str], *, matcher: str, id: str = ""
) -> tuple[Asset, Asset]:
    """Return the figures as tables: a row a pair, and models by models for a heat map.

    Args:
        figures: what `fingerprint_figures` returned.
        models: in the order of the tables.
        matcher: who matched.
        id: told apart by this in the tables' ids; the judge's have none.
    """
    pairs = Asset(
        id=f"fingerprints/{id}" if id else "fingerprints",
        title=f"Fingerprints, matched by {matcher}: how reliably two models are told apart",
        sentence=(
            f"{figures['pairs_apart']} of {figures['n_pairs']} pairs are told apart beyond chance, adjusted over all pairs; "
            f"{figures['pairs_above_half']} were matched rightly in more than half of their trials, where guessing reaches "
            "one half. Each trial shows answers to other questions than the reports were written from."
        ),
        columns=(
            AssetColumn(name="first", kind="name"),
            AssetColumn(name="second", kind="name"),
            AssetColumn(name="accuracy", kind="share", better="higher"),
            AssetColumn(name="adjusted p", kind="p_value"),
            AssetColumn(name="trials", kind="count"),
        ),
        rows=tuple(
            AssetRow(
                key=f"{row['first']} {row['second']}",
                cells=(
                    Figure(value=row["first"]),
                    Figure(value=row["second"]),
                    Figure(value=row["accuracy"], low=row["low"], high=row["high"]),
                    Figure(value=row["adjusted"]),
                    Figure(value=row["trials"]),
                ),
                n=row["n"],
                held=row["trials"],
            )
            for row in figures["pairs"]
        ),
        counts="samples",
    )
    known = {frozenset((row["first"], row["second"])): row for row in figures["pairs"]}
    grid = Asset(
        id=f"heatmap/fingerprints-{id}" if id else "heatmap/fingerprints",
        title=f"Heat map of fingerprints, matched by {matcher}",
        sentence="Trials of 100 in which both reports were given to the right models; guessing reaches 50.",
        columns=(
            AssetColumn(name="model", kind="name"),
            *(AssetColumn(name=model[:300], unit="of 100", kind="score", better="higher") for model in models),
        ),
        rows=tuple(_grid_row(model, models, known) for model in models),
        counts="samples",
    )
    return pairs, grid


def _grid_row(model: str, models: Sequence[str], known: Mapping[frozenset[str], Mapping[str, Any]]) -> AssetRow:
    rows = [known.get(frozenset((model, other))) for other in models]
    return AssetRow(
        key=model,
        cells=(Figure(value=model), *(_percent(row) for row in rows)),
        n=sum(row["n"] for row in rows if row is not None),
        held=sum(row["trials"] for row in rows if row is not None),
        model=model,
    )


def _percent(row: Mapping[str, Any] | None) -> Figure:
    if row is None or row["accuracy"] is None:
        return Figure()
    return Figure(
        **{to: round(100 * row[name], 6) for to, name in (("value", "accuracy"), ("low", "low"), ("high", "high"))}
    )


def _pair(names: tuple[str, str], trials: Sequence[Trial]) -> dict[str, Any]:
    hits = [trial.right for trial in trials if trial.right is not None]
    interval = clopper_pearson(sum(hits), len(hits), LEVEL) if hits else None
    return {
        "first": names[0],
        "second": names[1],
        "trials": len(trials),
        "n": len(hits),
        **_matched(hits, trials, interval),
        "above_half": bool(hits) and sum(hits) / len(hits) > CHANCE,
        "p_value": rounded(guessing_p_value(sum(hits), len(hits))) if hits else None,
    }


def guessing_p_value(right: int, n: int) -> float:
    """Return how often guessing matches so many of n trials or more: the one-sided exact binomial p-value, 0 to 1.

    >>> guessing_p_value(8, 9), guessing_p_value(0, 9)
    (0.01953125, 1.0)
    """
    return sum(comb(n, k) for k in range(right, n + 1)) / 2**n


def _matched(hits: Sequence[bool], trials: Sequence[Trial], interval: Interval | None) -> dict[str, Any]:
    """Return how many trials with a verdict hit, their share with its interval, and what the failed ones leave open."""
    right, count, failed = sum(hits), len(trials), len(trials) - len(hits)
    failures = Counter(trial.failure for trial in trials if trial.failure is not None)
    return {
        "right": right,
        "accuracy": rounded(right / len(hits)) if hits else None,
        "low": rounded(interval.low) if interval else None,
        "high": rounded(interval.high) if interval else None,
        "failures": dict(sorted(failures.items())),
        "bounds": {
            "low": rounded(right / count) if count else None,
            "high": rounded((right + failed) / count) if count else None,
        },
    }
