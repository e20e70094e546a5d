"""What an audit's figures say: reliability gap, failures by domain, consistency, length bias (PerceptionRubrics, 4.3, 5.2).

Each analysis returns its numbers, ready for JSON, and under `says` one sentence on what they mean.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from dokimasia.algorithms.statistics import (
    Interval,
    jackknife_interval,
    r_squared,
)
from dokimasia.domain.identity import unit_interval
from dokimasia.methods.audit.figures import BLIND_MARK, AuditRow, Judged, Outcome, judged_samples, rate
from dokimasia.report.figures import in_words, several
from dokimasia.runs.reading.lengths import ALPHA, adjust, directions, length_and_score
from dokimasia.runs.reading.rates import limits, rounded

NO_VARIATION = "Lengths or scores do not vary, so there is no length bias to measure."
MIN_MODELS = 3
AXES: tuple[Outcome, Outcome] = ("gate_pass", "easy_wrong_mean")
SPLITS = 200
"""Halvings of the images, over which gate pass rates and easy-wrong means are read from different images."""


def reliability_gap(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return each model's must-right item accuracy, gate pass rate and gap, and the mean gap over models that see the image.

    Args:
        figures: what `audit_figures` returns.
    """
    models = {
        name: {"item": one["must_right_item"]["mean"], "gate": one["gate_pass"]["mean"], "gap": one["reliability_gap"]}
        for name, one in figures["models"].items()
        if one["reliability_gap"] is not None
    }
    if not models:
        return {"models": {}, "mean": None, "says": "No response was judged, so there is no gap to speak of."}
    seeing = [name for name in models if BLIND_MARK not in name]
    if not seeing:
        return {"models": models, "mean": None, "says": "No response to an image was judged."}
    mean = sum(models[name]["gap"]["mean"] for name in seeing) / len(seeing)
    gap = max(models[name]["gap"]["mean"] for name in seeing)
    widest = [name for name in seeing if models[name]["gap"]["mean"] == gap]
    parts = "; ".join(
        f"{name} gets {models[name]['item']:.0f} % of single facts right and passes {models[name]['gate']:.0f} % of gates"
        for name in widest
    )
    said = (
        f"On average {mean:.1f} points lie between single must-right facts and whole gates; they are most for "
        f"{in_words(widest)} ({gap:.1f}): {parts}."
        if mean >= 1
        else f"Single must-right facts and whole gates lie close together ({mean:.1f} points on average)."
    )
    return {"models": models, "mean": rounded(mean), "says": said}


def failures_by_domain(rows: Sequence[AuditRow]) -> dict[str, Any]:
    """Return where gates fail: for each model and over all, by domain, the rate of failure and the share of all failures.

    All are the models that see the image. A sample's gate counts once a scored repeat; failed judgements are in neither count.
    """
    models = {name: _failures(list(samples.values())) for name, samples in judged_samples(rows).items()}
    seeing = [samples for name, samples in judged_samples(rows).items() if BLIND_MARK not in name]
    pooled = _failures([sample for samples in seeing for sample in samples.values()])
    rates = {domain: one["rate"]["mean"] for domain, one in pooled.items() if one["rate"] is not None}
    if not rates:
        said = "No response was judged."
    elif not any(rates.values()):
        said = "No gate failed in any domain."
    else:
        said = _extremes(rates)
    return {"models": models, "all": pooled, "says": said}


def consistency(rows: Sequence[AuditRow], figures: Mapping[str, Any], *, seed: int) -> dict[str, Any]:
    """Return how well gate pass rates foretell easy-wrong means over models: R squared of a straight line.

    As published both axes are read from the same responses, so that models of equal skill lie on a line by what their
    responses share. `disjoint` reads the gate pass rates from one random half of the images and the easy-wrong means from
    the other: the mean R squared over many such halvings, and their middle 90 %. The interval of the published figure
    leaves out one cluster of samples at a time: it speaks of other images, the models being these. Arms without images
    are left out.
    """
    points = {
        name: [one["gate_pass"]["mean"], one["easy_wrong_mean"]["mean"]]
        for name, one in figures["models"].items()
        if one["gate_pass"] is not None and one["easy_wrong_mean"] is not None and BLIND_MARK not in name
    }
    result: dict[str, Any] = {"n": len(points), "points": points, "r_squared": None, "low": None, "high": None}
    result["disjoint"] = None
    if len(points) < MIN_MODELS:
        said = f"With {several(len(points), 'model')} a line through gate pass rates and easy-wrong means says nothing."
        return result | {"says": said}
    gates, fine = [one[0] for one in points.values()], [one[1] for one in points.values()]
    try:
        value = r_squared(gates, fine)
    except ValueError:
        return result | {"says": "All models have one gate pass rate or one easy-wrong mean, so there is no line."}
    result["r_squared"] = rounded(value)
    interval = _consistency_interval(rows, list(points))
    if interval is not None:
        result |= limits(interval)
    strength = "closely" if value >= 0.8 else "loosely" if value >= 0.3 else "hardly"
    said = f"Over {several(len(points), 'model')} easy-wrong means follow gate pass rates {strength} (R² {value:.2f})."
    apart = _disjoint(rows, list(points), seed=seed)
    if apart is not None:
        result["disjoint"] = apart
        said += (
            f" Read from different images it is {apart['r_squared']:.2f}; {len(points)} equal models would bring "
            f"{1 / (len(points) - 1):.2f}."
        )
    return result | {"says": said}


def length_bias(rows: Sequence[AuditRow], *, seed: int) -> dict[str, Any]:
    """Return, for each model, the correlation of a response's length in words with its gated score, with its p-value.

    Interval and `p` are clustered by images, `adjusted` is p corrected for all models that see the image (Benjamini and
    Hochberg); `p_published`, as the paper's, takes responses for independent.
    """
    by_model: dict[str, list[tuple[float, float, str]]] = {}
    for row in rows:
        if row.score is not None and row.words is not None:
            by_model.setdefault(row.model, []).append((float(row.words), row.score, row.cluster))
    models = {name: length_and_score(triples, seed=seed) for name, triples in by_model.items()}
    marked = adjust(models, [name for name in models if BLIND_MARK not in name])
    known = [name for name, one in models.items() if one["adjusted"] is not None]
    if not known:
        untested = next((one["reason"] for one in models.values() if one["reason"]), "")
        said = f"Length bias was not tested: {untested}." if untested else NO_VARIATION
    elif not marked:
        said = f"For none of {len(known)} models does length go with the score (adjusted p above {ALPHA:g} for each)."
    else:
        said = (
            f"Length goes with the score for {len(marked)} of {len(known)} models. {directions(models, marked, 'it')}"
        )
    return {"models": models, "says": said}


def _extremes(rates: Mapping[str, float]) -> str:
    """Say in which domains gates fail most and least often: all that tie, and that none stands out where all do."""
    highest, lowest = max(rates.values()), min(rates.values())
    worst, best = ([name for name, rate in rates.items() if rate == end] for end in (highest, lowest))
    digits = 0 if highest == lowest or f"{highest:.0f}" != f"{lowest:.0f}" else 2
    if highest == lowest:
        where = f"in {worst[0]}" if len(worst) == 1 else f"equally often in {in_words(worst)}"
        return f"Gates fail {where} ({highest:.0f} % of responses)."
    return (
        f"Gates fail most often in {in_words(worst)} ({highest:.{digits}f} % of responses) and least in {in_words(best)} "
        f"({lowest:.{digits}f} %)."
    )


def _failures(samples: Sequence[Judged]) -> dict[str, Any]:
    failed = [(sample.domain, value < 100, sample.cluster) for sample in samples for value in sample.gate_pass]
    total = sum(one for _, one, _ in failed)
    found: dict[str, Any] = {}
    for domain in sorted({sample.domain for sample in samples}):
        here = [(one, cluster) for name, one, cluster in failed if name == domain]
        count = sum(one for one, _ in here)
        found[domain] = {
            "n": len(here),
            "failed": count,
            "share": rounded(count / total) if total else None,
            "rate": rate([one for one, _ in here], [cluster for _, cluster in here]),
        }
    return found


def _consistency_interval(rows: Sequence[AuditRow], names: Sequence[str]) -> Interval | None:
    judged = judged_samples(rows)
    ids = list(dict.fromkeys(row.sample_id for row in rows))
    clusters = {row.sample_id: row.cluster for row in rows}
    table = [
        [
            (sample.mean("gate_pass"), sample.mean("easy_wrong_mean"))
            if (sample := judged[name].get(id))
            else (None, None)
            for id in ids
        ]
        for name in names
    ]

    def figure(places: Sequence[int]) -> float:
        gates = [_mean([one[place][0] for place in places]) for one in table]
        fine = [_mean([one[place][1] for place in places]) for one in table]
        return r_squared(gates, fine)

    try:
        return jackknife_interval(figure, len(ids), clusters=[clusters[id] for id in ids], bounds=(0.0, 1.0))
    except ValueError:
        return None


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    if not known:
        raise ValueError("nothing is left to take a mean of")
    return sum(known) / len(known)


def _disjoint(rows: Sequence[AuditRow], names: Sequence[str], *, seed: int) -> dict[str, float] | None:
    """Return R squared with gates and easy-wrong means from different halves of the images; None where no half has both."""
    judged = judged_samples(rows)
    clusters = sorted({row.cluster for row in rows})
    axes = [
        [
            [(one.cluster, value) for one in judged[name].values() if (value := one.mean(axis)) is not None]
            for name in names
        ]
        for axis in AXES
    ]
    found: list[float] = []
    for split in range(SPLITS):
        drawn = {one: unit_interval("halves", seed, split, one) for one in clusters}
        half = set(sorted(clusters, key=drawn.__getitem__)[: len(clusters) // 2])
        gates = [[value for cluster, value in each if cluster in half] for each in axes[0]]
        fine = [[value for cluster, value in each if cluster not in half] for each in axes[1]]
        if all(gates) and all(fine):
            with suppress(ValueError):
                found.append(r_squared([sum(one) / len(one) for one in gates], [sum(one) / len(one) for one in fine]))
    if not found:
        return None
    ordered, last = sorted(found), len(found) - 1
    return {
        "r_squared": rounded(sum(found) / len(found)),
        "low": rounded(ordered[round(0.05 * last)]),
        "high": rounded(ordered[round(0.95 * last)]),
    }
