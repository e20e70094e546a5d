"""What the page of an evaluation shows beside its figures: differences, repeats, and some samples whole, failures first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from dokimasia.algorithms.statistics import false_discovery_rate
from dokimasia.domain.sample import ImageRef
from dokimasia.methods.evaluation.figures import scored_rows
from dokimasia.methods.evaluation.sample_view import view_of
from dokimasia.methods.evaluation.scores import AnswerRow
from dokimasia.report.data import ReportData
from dokimasia.runs.reading.comparison import ComparedAnswer, ComparisonSide, SampleRef, answer_of, compare
from dokimasia.runs.reading.rates import mean, rounded
from dokimasia.runs.reading.reporting import chosen, pictures_of
from dokimasia.storage.excerpts import failed_samples, failure_reasons, rows_of, samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of
from dokimasia.storage.results import results
from dokimasia.storage.retries import Retry, earlier_outcomes
from dokimasia.storage.runs import (
    Run,
    SqliteRunStore,
    criteria_weights,
    judgement_scores,
    judgement_stated,
    run_samples,
)


async def with_samples(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the data of an evaluation with what the page alone shows."""
    rows = list(scored_rows(home, run))
    places = [SampleRef(one.sample_id, one.sample_digest, one.cluster) for one in run_samples(home, run.id)]
    told = judgement_scores(home, run.id), judgement_stated(home, run.id), criteria_weights(home, run.id)
    answers: dict[str, list[ComparedAnswer]] = {}
    for row in results(home, run.id):
        if row.kind == "score" and not row.arm:
            answers.setdefault(row.model, []).append(answer_of(row, *told))
    sides = {name: ComparisonSide.of(places, answers[name]) for name in data.ranked() if name in answers}
    shown, selection = chosen(run, [place.sample_id for place in places], failed_samples(home, run.id), samples)
    views, images = await _views(home, run, shown)
    return replace(
        data,
        differences=rival_differences(sides, list(sides), seed=run.seed),
        repeats=means_by_repeat(rows),
        reasons=failure_reasons(home, run.id),
        selection=selection,
        samples=views,
        pictures=pictures_of(home, images),
    )


def rival_differences(sides: Mapping[str, ComparisonSide], order: Sequence[str], *, seed: int) -> list[dict[str, Any]]:
    """Return the paired differences of every two models, the first in the order minus the second, ready for JSON.

    Args:
        sides: each model's answers, by its shown name.
        order: the models to compare, best first, so that differences of means lean to the positive.
        seed: of the bootstrap and of the permutations.

    Returns:
        One mapping a pair, in the order of the models: `better` and `worse` (the names), what
        `dokimasia.runs.reading.comparison.compare` returns with `first` and `second` as mean scores of `worse` and
        `better`, and `adjusted`, the p-value after Benjamini and Hochberg over all pairs that have one (None without);
        so, too, in `strict_accuracy`, `stated` and `both_stated`, each over all pairs.
    """
    pairs = [
        {"better": better, "worse": worse, **compare(sides[worse], sides[better], seed=seed, top=0)}
        for better, worse in combinations([name for name in order if name in sides], 2)
    ]
    for family in (
        pairs,
        *([pair[name] for pair in pairs if name in pair] for name in ("strict_accuracy", "stated", "both_stated")),
    ):
        tested = [one for one in family if one["p_value"] is not None]
        for one in family:
            one["adjusted"] = None
        for one, value in zip(tested, false_discovery_rate([one["p_value"] for one in tested]), strict=True):
            one["adjusted"] = rounded(value)
    return pairs


def means_by_repeat(rows: Iterable[AnswerRow]) -> dict[str, list[dict[str, Any]]]:
    """Return, by model, each repeat with n, n_scored and the mean over its scored answers (1 to 5; None without any)."""
    found: dict[str, dict[int, list[float | None]]] = {}
    for row in rows:
        found.setdefault(row.model, {}).setdefault(row.repeat, []).append(row.score)
    return {
        model: [_one_repeat(repeat, scores) for repeat, scores in sorted(repeats.items())]
        for model, repeats in found.items()
    }


def _one_repeat(repeat: int, scores: list[float | None]) -> dict[str, Any]:
    known = [score for score in scores if score is not None]
    return {"repeat": repeat, "n": len(scores), "n_scored": len(known), "mean": mean(known)}


async def _views(home: Home, run: Run, ids: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, ImageRef]]:
    samples, rows, store = samples_of(home, run.id, ids), rows_of(home, run.id, ids), SqliteRunStore(home, run.id)
    earlier: dict[str, list[Retry]] = {}
    for one in earlier_outcomes(home, run.id):
        earlier.setdefault(one.failed.sample_id, []).append(one)
    images = {image.sha256: image for id in ids for image in samples[id].images}
    corrected = corrections_of(home, run.id)
    views = [
        await view_of(store, run, samples[id], rows=rows.get(id, []), earlier=earlier.get(id, []), corrected=corrected)
        for id in ids
    ]
    return views, images
