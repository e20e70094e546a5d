"""Tables of samples: overall scores, paired differences, wins and ties, ranks, stability over repeats, and failures."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import stdev

from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure
from dokimasia.domain.differences import DIRECTION
from dokimasia.domain.judgement import FAILURE_MEANINGS
from dokimasia.domain.wording import percentage
from dokimasia.methods.diagnosis.cells import (
    MODEL,
    PAIR,
    POINTS,
    STEPS,
    PartialRow,
    cells_of,
    count_column,
    difference_columns,
    distinct_samples,
    marked_rows,
    mean_of,
    name_column,
    points_of,
    score_column,
    share_column,
    share_of,
    value_of,
)
from dokimasia.methods.diagnosis.evidence_data import LIMIT, DiagnosisMaterial
from dokimasia.report.figures import several
from dokimasia.runs.reading.comparison import ATOMS

LOWEST, HIGHEST = ATOMS
SPAN = HIGHEST - LOWEST
TIE = 1e-9
"""Largest difference between two scores that count as equal."""

MOST_RANKS = 12
"""With more models, shares are listed only for the first and the last rank."""

MOST_PATTERNS = 20
"""Maximum number of listed groups of models that share the highest score."""

NAMED_MODELS = 6
"""Maximum number of named models of a group; the others are counted."""


def overall(material: DiagnosisMaterial) -> Asset:
    """Return every model's weighted score over samples, and its mean over criteria.

    If samples failed, two columns give bounds: the score over all samples if every failed sample had scored 1, or 5.
    """
    failing = any(len(samples.scores) < len(samples.clusters) for samples in material.samples.values())
    ends = ATOMS if failing else ()
    rows: list[AssetRow] = []
    for model, samples in material.samples.items():
        means: list[Figure] = []
        filled = [{id: samples.scores.get(id, end) for id in samples.clusters} for end in ends]
        for scores in (samples.scores, *filled):
            clusters = [samples.clusters[id] for id in scores]
            means.append(mean_of(list(scores.values()), clusters, bounds=(LOWEST, HIGHEST), seed=material.seed))
        atoms = material.scores(model)
        rows.append(
            AssetRow(
                key=model,
                cells=cells_of(model, means[0], points_of(material, model, atoms), len(atoms), *means[1:]),
                n=len(samples.scores),
                held=len(samples.clusters),
                model=model,
            )
        )
    sentence = (
        f"Weighted scores of {several(len(rows), 'model')} over samples, and mean scores over all their criteria, whether "
        f"these have a place among the {material.leaves} or not."
    )
    if ends:
        sentence += (
            " The last columns are what the failures leave open: the score, had every sample without one got "
            f"{LOWEST:.0f}, or {HIGHEST:.0f}."
        )
    return Asset(
        id="models",
        title="The models",
        sentence=sentence,
        columns=(
            MODEL,
            score_column("score", STEPS),
            score_column("criteria score", POINTS),
            count_column("criteria"),
            *(score_column(f"failures at {end:.0f}", STEPS) for end in ends),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def _compared_pairs(material: DiagnosisMaterial) -> Iterator[tuple[AssetRow, Sequence[float], Sequence[str]]]:
    """Yield, for each pair of models, a row with their names, the differences, and the clusters of shared samples.

    Differences are the second model's score minus the first's.
    """
    for (first, first_samples), (second, second_samples) in combinations(material.samples.items(), 2):
        shared = [id for id in first_samples.scores if id in second_samples.scores]
        row = AssetRow(
            key=f"{first} {second}",
            cells=cells_of(first, second),
            n=len(shared),
            held=len(first_samples.clusters.keys() | second_samples.clusters.keys()),
        )
        gaps = [second_samples.scores[id] - first_samples.scores[id] for id in shared]
        yield row, gaps, [first_samples.clusters[id] for id in shared]


def pairs(material: DiagnosisMaterial) -> Asset:
    """Return the paired differences of all pairs of models on the samples scored for both."""
    partial_rows: list[PartialRow] = []
    for row, gaps, clusters in _compared_pairs(material):
        gap = mean_of(gaps, clusters, bounds=(-SPAN, SPAN), seed=material.seed)
        p_value = sign_flip_test(gaps, clusters=clusters, seed=material.seed).p_value if gaps else None
        partial_rows.append(PartialRow(row, gap, p_value))
    rows = marked_rows(partial_rows)
    different = sum(row.mark in ("better", "worse") for row in rows)
    summary = f"None of {len(rows)} pairs of models differs"
    if different:
        summary = f"{different} of {len(rows)} pairs of models differ"
    return Asset(
        id="pairs",
        title="Pairwise differences",
        sentence=(
            f"{summary} beyond chance in their weighted score on shared samples (sign flips, at most "
            f"{percentage(LIMIT)} of these "
            "expected to be false); p-values are adjusted over these pairs alone (Benjamini and Hochberg); differences are the "
            f"{DIRECTION}, and a verdict is the second's: better where it scores higher than the first."
        ),
        columns=(*PAIR, *difference_columns("difference", STEPS)),
        rows=tuple(rows),
        counts="samples",
        direction=DIRECTION,
    )


def win_ties(material: DiagnosisMaterial) -> Asset:
    """Return, for each pair of models, how often each has the higher score, and how often they tie."""
    rows: list[AssetRow] = []
    for row, gaps, clusters in _compared_pairs(material):
        shares = (
            share_of([gap < -TIE for gap in gaps], clusters),
            share_of([abs(gap) <= TIE for gap in gaps], clusters),
            share_of([gap > TIE for gap in gaps], clusters),
        )
        rows.append(row.model_copy(update={"cells": (*row.cells, *shares)}))
    return Asset(
        id="ties",
        title="Wins and ties",
        sentence="On how many of the shared samples each of two models scores higher, and on how many they tie.",
        columns=(
            *PAIR,
            *(share_column(name) for name in ("first higher", "tied", "second higher")),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def _shared_samples(material: DiagnosisMaterial) -> tuple[list[str], list[str], int]:
    """Return the samples scored for all models, their clusters, and the total number of samples."""
    of_models = list(material.samples.values())
    first = of_models[0]
    shared = [id for id in first.scores if all(id in samples.scores for samples in of_models)]
    total = len(set[str]().union(*(samples.clusters for samples in of_models)))
    return shared, [first.clusters[id] for id in shared], total


def top_ties(material: DiagnosisMaterial) -> Asset:
    """Return how often each group of models has the highest score of a sample, alone or tied."""
    models, samples = material.models, material.samples
    shared, clusters, total = _shared_samples(material)
    groups: list[tuple[str, ...]] = []
    for id in shared:
        highest = max(samples[model].scores[id] for model in models)
        groups.append(tuple(model for model in models if samples[model].scores[id] >= highest - TIE))
    counts = Counter(groups)
    order = sorted(counts, key=lambda group: (-counts[group], [models.index(model) for model in group]))
    rows: list[AssetRow] = []
    for group in order[:MOST_PATTERNS]:
        hits = [top_group == group for top_group in groups]
        name = ", ".join(group[:NAMED_MODELS])
        if len(group) > NAMED_MODELS:
            name += f" and {len(group) - NAMED_MODELS} more"
        rows.append(
            AssetRow(
                key=" + ".join(group),
                cells=cells_of(name, len(group), counts[group], share_of(hits, clusters)),
                n=len(shared),
                held=total,
                model=group[0] if len(group) == 1 else "",
                samples=tuple(id for id, hit in zip(shared, hits, strict=True) if hit),
            )
        )
    tied = sum(len(group) > 1 for group in groups)
    remainder = f", of which the {MOST_PATTERNS} most frequent are shown." if len(order) > MOST_PATTERNS else "."
    return Asset(
        id="top-ties",
        title="Best model per sample",
        sentence=(
            f"Which models share the highest score of a sample: on {tied} of the {len(shared)} samples that all have a "
            f"score for it is more than one. {len(order)} different groups{remainder}"
        ),
        columns=(
            name_column("models at the top"),
            count_column("models"),
            count_column("times"),
            share_column("share of samples"),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def ranks(material: DiagnosisMaterial) -> Asset:
    """Return the distribution of the models' ranks over the samples scored for all.

    Tied models share ranks: two models tied for first place have rank 1.5, half of rank 1 and half of rank 2 each.
    """
    models, samples = material.models, material.samples
    shared, clusters, total = _shared_samples(material)
    spans = [_rank_spans([samples[model].scores[id] for model in models]) for id in shared]
    rank_columns = range(1, len(models) + 1) if len(models) <= MOST_RANKS else (1, len(models))
    rows: list[AssetRow] = []
    for position, model in enumerate(models):
        model_spans = [by_model[position] for by_model in spans]
        means = [(first + last) / 2 for first, last in model_spans]
        cells = [mean_of(means, clusters, bounds=(1, len(models)), seed=material.seed)]
        for rank in rank_columns:
            shares = [1 / (last - first + 1) if first <= rank <= last else 0.0 for first, last in model_spans]
            cells.append(mean_of(shares, clusters, bounds=(0, 1), seed=material.seed))
        rows.append(AssetRow(key=model, cells=cells_of(model, *cells), n=len(shared), held=total, model=model))
    rows.sort(key=lambda row: (value_of(row.cells[1], len(models) + 1), row.key))
    return Asset(
        id="ranks",
        title="Ranks over samples",
        sentence=(
            f"Ranks of {len(models)} models on each of the {len(shared)} samples that all have a score for: the mean rank "
            "(1 is best), and the share of samples at each rank; models that tie share their ranks."
        ),
        columns=(
            MODEL,
            AssetColumn(name="mean rank", kind="rank", better="lower"),
            *(share_column(f"rank {rank}") for rank in rank_columns),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def _rank_spans(scores: Sequence[float]) -> list[tuple[int, int]]:
    """Return the first and last rank of each score; rank 1 is the highest score."""
    spans: list[tuple[int, int]] = []
    for score in scores:
        higher = sum(rival > score + TIE for rival in scores)
        spans.append((1 + higher, sum(rival >= score - TIE for rival in scores)))
    return spans


def stability(material: DiagnosisMaterial) -> Asset:
    """Return the variation of scores over repeats of the same question; no rows without repeats."""
    rows: list[AssetRow] = []
    for model, samples in material.samples.items():
        repeated = [id for id, scores in samples.repeats.items() if len(scores) > 1]
        if not repeated:
            continue
        clusters = [samples.clusters[id] for id in repeated]
        deviations = [stdev(samples.repeats[id]) for id in repeated]
        widths = [max(samples.repeats[id]) - min(samples.repeats[id]) for id in repeated]
        rows.append(
            AssetRow(
                key=model,
                cells=cells_of(
                    model,
                    mean_of(deviations, clusters, bounds=(0, stdev(ATOMS)), seed=material.seed),
                    share_of([width <= TIE for width in widths], clusters),
                    mean_of(widths, clusters, bounds=(0, SPAN), seed=material.seed),
                ),
                n=len(repeated),
                held=len(samples.clusters),
                model=model,
            )
        )
    sentence = "Every question was asked once, so nothing is known of stability: evaluate with --repeats 3."
    if rows:
        sentence = (
            f"How far a sample's score moves over {material.repeats} repeats of the same question: standard deviation, "
            "share of samples with one score in all repeats, and highest minus lowest."
        )
    return Asset(
        id="stability",
        title="Stability over repeats",
        sentence=sentence,
        columns=(
            MODEL,
            score_column("deviation", STEPS, better="lower"),
            share_column("same score", better="higher"),
            score_column("range", STEPS, better="lower"),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def failures(material: DiagnosisMaterial) -> Asset:
    """Return the number of each model's answers without a score, in total and by kind of failure."""
    rows: list[AssetRow] = []
    total = 0
    kinds: set[str] = set()
    for model in material.models:
        answers = material.answers_of(model)
        clusters = [answer.cluster for answer in answers]
        failed_answers = [answer for answer in answers if answer.failure is not None]
        kinds.update(answer.failure for answer in answers if answer.failure is not None)
        total += len(failed_answers)
        for kind in ("any", *sorted({str(answer.failure) for answer in failed_answers})):
            of_kind = [answer for answer in failed_answers if kind in ("any", answer.failure)]
            hits = [answer.failure is not None and kind in ("any", answer.failure) for answer in answers]
            rows.append(
                AssetRow(
                    key=f"{model} {kind}",
                    cells=cells_of(model, kind, len(of_kind), share_of(hits, clusters)),
                    n=len(answers),
                    held=len(answers),
                    model=model,
                    samples=distinct_samples(of_kind),
                )
            )
    sentence = "Every answer has a score: no failure of any kind."
    if total:
        meanings = "; ".join(f"{kind}: {FAILURE_MEANINGS[kind]}" for kind in sorted(kinds))
        sentence = (
            f"{several(total, 'answer')} without a score. Failed answers are excluded from every mean; its bounds show how "
            "much they could change it. "
            f"{meanings}."
        )
    return Asset(
        id="failures",
        title="Kinds of failure",
        sentence=sentence,
        columns=(
            MODEL,
            name_column("kind"),
            count_column("answers"),
            share_column("share of answers", better="lower"),
        ),
        rows=tuple(rows),
        counts="samples",
    )
