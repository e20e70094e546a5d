"""From the verdicts of an arena to its tables: ratings, ranks, who wins against whom, places, scores elsewhere."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from dokimasia.algorithms.pairwise import ConnectedModels, PairOutcome, rate_models
from dokimasia.algorithms.statistics import Interval, adjusted
from dokimasia.methods.arena.request import Pair
from dokimasia.methods.duel import DuelRow, places, unasked, verdict_figures
from dokimasia.runs.figures import counted
from dokimasia.runs.reading.correlations import correlations
from dokimasia.runs.reading.rates import limits, mean, rounded

FEWEST = 3
"""Over fewer models a correlation says nothing."""


class Meeting(NamedTuple):
    """Answers of two models to one case: what the judge said for the first of them, and the name of the other."""

    row: DuelRow
    other: str

    @property
    def pair(self) -> Pair:
        """The two models."""
        return self.row.model, self.other


def arena_figures(
    meetings: Sequence[Meeting],
    names: Sequence[str],
    *,
    parts: int = 1,
    scores: Mapping[str, float] | None = None,
    seed: int,
) -> dict[str, Any]:
    """Return the figures of an arena, ready for JSON: what of `shape.ArenaFigures` follows from its verdicts.

    Args:
        meetings: in the run's order.
        names: of all models that take part.
        parts: in how many parts of the cases it was drawn apart who meets whom.
        scores: what models have elsewhere, higher is better.
        seed: of the bootstrap.
    """
    comparisons, clusters = _comparisons(meetings)
    groups = rate_models(comparisons, clusters=clusters, models=names, parts=parts, seed=seed)
    models = {name: _model(name, meetings, groups, seed=seed) for name in names}
    ranked = sorted(models, key=lambda name: (models[name]["group"], -_rating(models[name]), name))
    pairs = _pairs(meetings, groups, ranked, seed=seed)
    figures: dict[str, Any] = {
        "models": {name: models[name] for name in ranked},
        "groups": [
            {
                "models": sorted(group.models, key=ranked.index),
                "reason": group.reason,
                "tie_rate": None if group.tie_rate is None else rounded(100 * group.tie_rate),
            }
            for group in groups
        ],
        "pairs": pairs,
        "wins": {name: _wins(name, pairs, ranked) for name in ranked},
        "places": places([one.row for one in meetings], seed=seed),
    }
    return figures | ({} if scores is None else {"elsewhere": _elsewhere(figures["models"], scores)})


def _comparisons(meetings: Sequence[Meeting]) -> tuple[list[PairOutcome], list[str]]:
    """Return who won, with the cluster of the case, where both orders have a verdict: one alone would count the place."""
    found = [
        (PairOutcome(*meeting.pair, (verdict > 0) - (verdict < 0)), meeting.row.cluster)
        for meeting in meetings
        if (both := meeting.row.both) is not None
        for verdict in both
    ]
    return [one for one, _ in found], [cluster for _, cluster in found]


def _model(name: str, meetings: Sequence[Meeting], groups: Sequence[ConnectedModels], *, seed: int) -> dict[str, Any]:
    own = [one for one in meetings if name in one.pair]
    number, group = next((at, group) for at, group in enumerate(groups) if name in group.models)
    rating = group.ratings.get(name)
    lengths = {(one.row.sample_id, one.row.repeat): words for one in own if (words := _words(name, one)) is not None}
    return {
        "rating": None if rating is None else {"mean": rounded(rating), **limits(group.intervals[name])},
        "group": number,
        "ranks": [rounded(100 * share) for share in group.ranks[name]] if name in group.ranks else None,
        "n": len({one.row.sample_id for one in own}),
        "met": sorted({other for one in own for other in one.pair} - {name}),
        **_verdicts(name, own, seed=seed),
        "words": mean(list(lengths.values())),
        "failures": counted(one.row.failure for one in own if one.row.failure),
    }


def _verdicts(name: str, meetings: Sequence[Meeting], *, seed: int) -> dict[str, Any]:
    """Return the figures of the verdicts on a model, whichever side it stood on."""
    found = [
        (
            [None if value is None else value if name == row.model else -value for value in row.verdicts.values()],
            row.cluster,
        )
        for row, _ in meetings
    ]
    return verdict_figures(found, seed=seed, unasked=unasked(one.row for one in meetings))


def _words(name: str, meeting: Meeting) -> int | None:
    """Return how many words a model's answer has; None where it is not known."""
    row = meeting.row
    if name == row.model:
        return row.words
    return None if row.words is None or row.longer is None else row.words - row.longer


def _pairs(
    meetings: Sequence[Meeting], groups: Sequence[ConnectedModels], ranked: Sequence[str], *, seed: int
) -> list[dict[str, Any]]:
    """Return every pair that met, or that can be compared, the better one first."""
    apart = {pair: one for group in groups for pair, one in group.differences.items()}
    tested = dict(zip(apart, adjusted([one.p_value for one in apart.values()]), strict=True))
    found: list[dict[str, Any]] = []
    for first, second in combinations(ranked, 2):
        own = [one for one in meetings if {*one.pair} == {first, second}]
        turned = (first, second) not in apart
        pair = (second, first) if turned else (first, second)
        difference = apart.get(pair)
        if not own and difference is None:
            continue
        known: dict[str, Any] = {"difference": None, "p": None, "adjusted": None}
        if difference is not None:
            value, interval, p_value = difference
            if turned:
                value, interval = -value, Interval(-interval.high, -interval.low, interval.reason)
            known["difference"] = {"mean": rounded(value), **limits(interval)}
            known |= {"p": _rounded(p_value), "adjusted": _rounded(tested[pair])}
        n = len({one.row.sample_id for one in own})
        found.append({"first": first, "second": second, "n": n, **_verdicts(first, own, seed=seed), **known})
    return found


def _rounded(p_value: float | None) -> float | None:
    return None if p_value is None else rounded(p_value)


def _wins(name: str, pairs: Sequence[Mapping[str, Any]], order: Sequence[str]) -> dict[str, float]:
    """Return how often a model wins against each that it met, in percent of the valid verdicts; ties are no wins."""
    found: dict[str, float] = {}
    for one in pairs:
        counts = one["verdicts"]
        if name in (one["first"], one["second"]) and counts["valid"]:
            won = ("much_better", "better") if name == one["first"] else ("worse", "much_worse")
            other = one["second"] if name == one["first"] else one["first"]
            found[other] = rounded(100 * sum(counts[key] for key in won) / counts["valid"])
    return dict(sorted(found.items(), key=lambda item: order.index(item[0])))


def _elsewhere(models: Mapping[str, Any], scores: Mapping[str, float]) -> dict[str, Any]:
    """Return how rewards and ratings go with scores elsewhere, over the models that have them (figure 6 and D.1)."""
    found: dict[str, Any] = {"scores": dict(scores)}
    for name in ("reward", "rating"):
        points = {
            model: [scores[model], one[name]["mean"]]
            for model, one in models.items()
            if model in scores and one[name] is not None
        }
        known = {model for model in points if models[model]["group"] == models[next(iter(points))]["group"]}
        enough = len(points) >= FEWEST and (name == "reward" or len(known) == len(points))
        own, other = [one[1] for one in points.values()], [one[0] for one in points.values()]
        pairs = correlations(own, other, list(points)) if enough else {"pearson": None, "spearman": None}
        pearson = pairs["pearson"]
        found[name] = {
            "points": points,
            "spearman": pairs["spearman"],
            "pearson": pearson,
            "r_squared": None if pearson is None else rounded(pearson["value"] ** 2),
        }
    return found


def _rating(one: Mapping[str, Any]) -> float:
    return 0.0 if one["rating"] is None else one["rating"]["mean"]
