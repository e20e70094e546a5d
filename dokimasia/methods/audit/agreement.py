"""An audit beside something else: outside ratings, another judge, fewer of its own rubrics (PerceptionRubrics, 5.1 to 5.4)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations, pairwise
from random import Random
from typing import Any, NamedTuple

from dokimasia.algorithms.gating import gated_score
from dokimasia.algorithms.statistics import (
    adjusted,
    jackknife_interval,
    kendall,
    pearson,
    spearman,
)
from dokimasia.algorithms.statistics.agreement import cohen_kappa
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.methods.audit.figures import AuditRow, Judged, judged_samples
from dokimasia.runs.reading.correlations import correlations, value_of
from dokimasia.runs.reading.rates import deviation, limits, mean, mean_interval, rounded, spread

FEWEST_CLUSTERS = 10
"""With fewer the difference of two correlations has no interval."""

SHARES = (20, 40, 60, 80)
DRAWS = 3
ALPHA = 0.05


class Rating(NamedTuple):
    """An outside rating, higher is better: of a model, or of its response to one sample (`sample_id`)."""

    model: str
    value: float
    sample_id: str | None = None


Pair = tuple[tuple[float, float, float], float, str]
"""Three scores, with the gate, without it and of all rubrics; the rating; and the cluster."""


def agreement(rows: Sequence[AuditRow], ratings: Sequence[Rating]) -> dict[str, Any]:
    """Return how scores agree with outside ratings: with the gate, without it, and as a plain share of all rubrics.

    Ratings of responses are compared response by response, clustered by image; ratings of models, model by model. Without
    the gate a score is the share of easy-wrong rubrics that hold.

    Returns:
        `level` (response or model), `n` pairs, `unmatched` ratings, by `gated`, `ungated`, `plain` the three
        correlations, each {value, low, high} or None where they cannot be computed, and `gain` {value, low, high}: Pearson's
        correlation with the gate less that without it, on the same pairs, with a jackknife interval over clusters.
    """
    judged = judged_samples(rows)
    each = [rating for rating in ratings if rating.sample_id is not None]
    compared = each or ratings
    pairs = _paired(judged, compared)
    result: dict[str, Any] = {
        "level": "response" if each else "model",
        "n": len(pairs),
        "unmatched": len(compared) - len(pairs),
        "gain": None,
    }
    clusters = [cluster for _, _, cluster in pairs]
    for place, name in enumerate(("gated", "ungated", "plain")):
        scores = [scores[place] for scores, _, _ in pairs]
        result[name] = correlations(scores, [value for _, value, _ in pairs], clusters)
    gated, ungated = result["gated"]["pearson"], result["ungated"]["pearson"]
    if gated is None or ungated is None:
        said = f"{len(pairs)} pairs of score and rating do not suffice, or do not vary: nothing can be said."
    else:
        gain = result["gain"] = _gain(pairs, gated["value"] - ungated["value"])
        both = f"Over {len(pairs)} {result['level']}s Pearson's correlation with the ratings is {ungated['value']:.2f} without"
        said = f"{both} the gate and {gated['value']:.2f} with it; "
        if gain["low"] is None:
            said += "these are too few to say whether the gate changes it."
        elif gain["low"] > 0 or gain["high"] < 0:
            said += f"the gate {'raises' if gain['low'] > 0 else 'lowers'} it beyond chance."
        else:
            said += "the difference may be chance."
    return result | {"says": said}


def two_judges(
    rows: Sequence[AuditRow],
    others: Sequence[AuditRow],
    *,
    names: tuple[str, str],
    seed: int,
    weights: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Return how two judges differ on the same rubrics: order of models, shift, agreement on decisions, spread over repeats.

    Args:
        rows: one judge's audit.
        others: the other's.
        names: what the judges are called.
        seed: of the bootstrap.
        weights: how much each judge counts where both are averaged; None averages nothing.

    Returns:
        `models.{NAME}` with each judge's mean over the samples that both judged, `shift` (second less first, {mean, low,
        high}, paired by sample and clustered), `n`, and each one's `spread`; with weights, which are then given, too, also
        `together`, the weighted mean of both; `order` of each judge; `same_order`, whether no
        two models are the other way round (equal means are in no order); `reversed`, those that are, each {models, p,
        adjusted}: the larger p-value of both judges' paired differences, adjusted over all pairs of models;
        `spearman` and `kendall` over models; `decisions` {n, equal, kappa}: single rubrics of identical responses.
    """
    first, second = judged_samples(rows), judged_samples(others)
    shifts = {name: _shift(first[name], second[name], weights, seed=seed) for name in first if name in second}
    models: dict[str, Any] = {name: one for name, one in shifts.items() if one is not None}
    orders = [sorted(models, key=lambda name: (-models[name]["means"][place], name)) for place in (0, 1)]
    means = [[models[name]["means"][place] for name in models] for place in (0, 1)]
    turned = _reversed(models, first, second, seed=seed)
    result: dict[str, Any] = {
        "judges": list(names),
        **({} if weights is None else {"weights": list(map(rounded, weights))}),
        "models": models,
        "order": orders,
        "same_order": not turned if len(models) > 1 else None,
        "reversed": turned,
        "spearman": value_of(spearman, means[0], means[1]),
        "kendall": value_of(kendall, means[0], means[1]),
        "decisions": _decisions(rows, others),
    }
    if not models:
        return result | {"says": "No response was judged by both, so the judges cannot be compared."}
    shift = sum(one["shift"]["mean"] for one in models.values()) / len(models)
    sure = sum(one["adjusted"] <= ALPHA for one in turned)
    order = "judge one model in common"
    if result["same_order"] is not None:
        order = "order no two models differently" if not turned else f"order {len(turned)} pairs of models differently"
        order += f", {sure} of them beyond chance" if turned else ""
    said = f"{names[0]} and {names[1]} {order}; {names[1]} scores {abs(shift):.1f} points "
    said += ("higher" if shift >= 0 else "lower") + " on average."
    return result | {"says": said}


def coverage(rows: Sequence[AuditRow], *, seed: int) -> dict[str, Any]:
    """Return what scores become with fewer rubrics: 20, 40, 60 and 80 % of each stream and sample, at least one each.

    Three draws, the same for all models. `deviation` is the standard deviation of a model's score over the draws and says
    how stable it is; `shift` is their mean less the score by all rubrics: fewer gates raise scores mechanically.

    Returns:
        `shares.{PERCENT}` with `deviation` and `shift` (means over models) and both by model under `models`.
    """
    kept = [row for row in rows if row.judged is not None]
    names = list(dict.fromkeys(row.model for row in kept))
    full = _scores(kept, lambda row: row.judged)
    shares: dict[str, Any] = {}
    for share in SHARES:
        draws = [_scores(kept, partial(_part, share=share, draw=draw, seed=seed)) for draw in range(DRAWS)]
        models = {
            name: {
                "deviation": rounded(deviation([draw[name] for draw in draws])),
                "shift": rounded(sum(draw[name] for draw in draws) / DRAWS - full[name]),
            }
            for name in names
        }
        shares[str(share)] = {
            **{figure: mean([one[figure] for one in models.values()]) for figure in ("deviation", "shift")},
            "models": models,
        }
    if not names:
        return {"shares": shares, "draws": DRAWS, "says": "No response was judged."}
    lowest, highest = shares[str(SHARES[0])], shares[str(SHARES[-1])]
    falls = all(shares[str(b)]["deviation"] <= shares[str(a)]["deviation"] for a, b in pairwise(SHARES))
    said = (
        f"From {SHARES[0]} to {SHARES[-1]} % of the rubrics the deviation over draws goes from {lowest['deviation']:.2f} to "
        f"{highest['deviation']:.2f} points{' without a rise between' if falls else ''}; with {SHARES[0]} % scores lie "
        f"{abs(lowest['shift']):.1f} points {'above' if lowest['shift'] >= 0 else 'below'} those by all."
    )
    return {"shares": shares, "draws": DRAWS, "says": said}


def _scores_of(sample: Judged) -> tuple[float, float, float] | None:
    """Return a sample's gated score, easy-wrong share, and share of all rubrics that hold, in percent."""
    gated = sample.mean("overall")
    if gated is None:
        return None
    fine = sample.mean("easy_wrong_mean")
    hits = [*sample.hits[0], *sample.hits[1]]
    return gated, 100.0 if fine is None else fine, 100 * sum(hits) / len(hits) if hits else 100.0


def _paired(judged: Mapping[str, Mapping[str, Judged]], ratings: Sequence[Rating]) -> list[Pair]:
    """Return ratings with the scores of what they are of: a response's, or the means over a model's samples."""
    pairs: list[Pair] = []
    for rating in ratings:
        samples = judged.get(rating.model, {})
        ids = samples if rating.sample_id is None else samples.keys() & {rating.sample_id}
        rated = [samples[id] for id in ids]
        known = [scores for one in rated if (scores := _scores_of(one)) is not None]
        if known:
            a, b, c = (sum(one[place] for one in known) / len(known) for place in range(3))
            pairs.append(((a, b, c), rating.value, rating.model if rating.sample_id is None else rated[0].cluster))
    return pairs


def _gain(pairs: Sequence[Pair], value: float) -> dict[str, Any]:
    """Return what the gate adds to the correlation, with its interval; none from fewer than ten clusters."""
    ratings = [rating for _, rating, _ in pairs]

    def gain(places: Sequence[int]) -> float:
        rated = [ratings[place] for place in places]
        return pearson([pairs[at][0][0] for at in places], rated) - pearson([pairs[at][0][1] for at in places], rated)

    known: dict[str, Any] = {"value": rounded(value), "low": None, "high": None}
    clusters = [cluster for _, _, cluster in pairs]
    if len(set(clusters)) >= FEWEST_CLUSTERS:
        with suppress(ValueError):
            known |= limits(jackknife_interval(gain, len(pairs), clusters=clusters, bounds=(-2.0, 2.0)))
    return known


def _shift(
    first: Mapping[str, Judged], second: Mapping[str, Judged], weights: tuple[float, float] | None, *, seed: int
) -> dict[str, Any] | None:
    pairs = [
        (one, other, first[id].cluster)
        for id in first
        if id in second
        and (one := first[id].mean("overall")) is not None
        and (other := second[id].mean("overall")) is not None
    ]
    if not pairs:
        return None
    differences = [other - one for one, other, _ in pairs]
    clusters = [cluster for _, _, cluster in pairs]
    together: dict[str, Any] = {}
    if weights is not None:
        both = [weights[0] * one + weights[1] * other for one, other, _ in pairs]
        together["together"] = mean_interval(both, clusters, seed=seed, bounds=(0.0, 100.0))
    return {
        **together,
        "n": len(pairs),
        "means": [mean([one for one, _, _ in pairs]), mean([other for _, other, _ in pairs])],
        "shift": mean_interval(differences, clusters, seed=seed, bounds=(-100.0, 100.0)),
        "spread": [_repeat_spread(samples) for samples in (first, second)],
    }


def _reversed(
    models: Mapping[str, Any],
    first: Mapping[str, Mapping[str, Judged]],
    second: Mapping[str, Mapping[str, Judged]],
    *,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the pairs of models that two judges put the other way round, and whether both are sure of their order."""
    found: list[dict[str, Any]] = []
    p_values: list[float] = []
    for one, other in combinations(sorted(models), 2):
        gaps = [models[one]["means"][place] - models[other]["means"][place] for place in (0, 1)]
        if gaps[0] * gaps[1] >= 0:
            p_values.append(1.0)
            continue
        p_value = max(_order_p(judge[one], judge[other], seed=seed) for judge in (first, second))
        p_values.append(p_value)
        found.append({"models": [one, other], "p": rounded(p_value), "place": len(p_values) - 1})
    q_values = adjusted(p_values)
    return [one | {"adjusted": rounded(q_values[one.pop("place")] or 0.0)} for one in found]


def _order_p(one: Mapping[str, Judged], other: Mapping[str, Judged], *, seed: int) -> float:
    """Return the p-value of one judge's paired difference of two models; 1 where no sample has both."""
    pairs = [
        (mine - theirs, one[id].cluster)
        for id in one
        if id in other
        and (mine := one[id].mean("overall")) is not None
        and (theirs := other[id].mean("overall")) is not None
    ]
    if not pairs:
        return 1.0
    return sign_flip_test([gap for gap, _ in pairs], clusters=[cluster for _, cluster in pairs], seed=seed).p_value


def _repeat_spread(samples: Mapping[str, Judged]) -> float | None:
    """Return the standard deviation of the model's mean over repeats; None where not all samples have them all."""
    counts = {len(sample.overall) for sample in samples.values() if sample.overall}
    if len(counts) != 1 or counts == {1}:
        return None
    repeats = counts.pop()
    scored = [sample for sample in samples.values() if sample.overall]
    means = [sum(sample.overall[number] for sample in scored) / len(scored) for number in range(repeats)]
    return spread([means])


def _decisions(rows: Sequence[AuditRow], others: Sequence[AuditRow]) -> dict[str, Any]:
    """Return how often both judges decide a rubric alike, on responses that are word for word the same."""
    known = {(row.sample_id, row.model, row.repeat, row.response): row.judged for row in others if row.response}
    first: list[bool] = []
    second: list[bool] = []
    for row in rows:
        other = known.get((row.sample_id, row.model, row.repeat, row.response))
        if row.judged is not None and other is not None:
            mine, theirs = [*row.judged[0], *row.judged[1]], [*other[0], *other[1]]
            if len(mine) == len(theirs):
                first += mine
                second += theirs
    if not first:
        return {"n": 0, "equal": None, "kappa": None}
    equal = sum(one == other for one, other in zip(first, second, strict=True)) / len(first)
    try:
        kappa: float | None = rounded(cohen_kappa(first, second))
    except ValueError:
        kappa = None
    return {"n": len(first), "equal": rounded(equal), "kappa": kappa}


def _scores(
    rows: Sequence[AuditRow], judged: Callable[[AuditRow], tuple[Sequence[bool], Sequence[bool]] | None]
) -> dict[str, float]:
    """Return each model's mean gated score in percent, a sample's being the mean over its repeats."""
    samples: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        groups = judged(row)
        if groups is not None:
            samples.setdefault(row.model, {}).setdefault(row.sample_id, []).append(100 * gated_score(*groups))
    return {name: sum(sum(one) / len(one) for one in scores.values()) / len(scores) for name, scores in samples.items()}


def _part(row: AuditRow, *, share: int, draw: int, seed: int) -> tuple[list[bool], list[bool]] | None:
    """Return a row's decisions on a part of its rubrics, the same part for every model and repeat."""
    if row.judged is None:
        return None
    parts: list[list[bool]] = []
    for stream, hits in zip("AB", row.judged, strict=True):
        count = max(1, round(share / 100 * len(hits))) if hits else 0
        places = Random(f"{seed}/{share}/{draw}/{row.sample_id}/{stream}").sample(range(len(hits)), count)
        parts.append([hits[place] for place in sorted(places)])
    return parts[0], parts[1]
