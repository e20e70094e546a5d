"""The tables of samples: overall scores, paired differences, the distribution of ranks, stability, failures."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import stdev

from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow
from dokimasia.methods.diagnosis.cells import (
    MODEL,
    PAIR,
    POINTS,
    STEPS,
    PartialRow,
    compared,
    judged,
    mean_of,
    number,
    points_of,
    share_of,
    text,
    value_of,
)
from dokimasia.methods.diagnosis.measured import LIMIT, DiagnosisMaterial
from dokimasia.report.figures import several
from dokimasia.runs.reading.comparison import ATOMS

LOWEST, HIGHEST = ATOMS
SPAN = HIGHEST - LOWEST
TIE = 1e-9
"""Two scores that differ by no more than this are equal."""

MOST_RANKS = 12
"""With more models than this, shares of ranks are given for the first and the last alone."""


def compared_pairs(material: DiagnosisMaterial) -> Iterator[tuple[AssetRow, Sequence[float], Sequence[str]]]:
    """Yield for every two models a row that names them, and on shared samples their differences and the clusters."""
    for (first, one), (second, other) in combinations(material.seen.items(), 2):
        shared = [id for id in one.scores if id in other.scores]
        row = AssetRow(
            key=f"{first} {second}",
            cells=(text(first), text(second)),
            n=len(shared),
            held=len(one.clusters.keys() | other.clusters.keys()),
        )
        yield row, [one.scores[id] - other.scores[id] for id in shared], [one.clusters[id] for id in shared]


def overall(material: DiagnosisMaterial) -> Asset:
    """Return every model's weighted score over samples, and its mean over criteria.

    Where a sample has no score of a model, two columns say what the failures leave open: the model's score over all
    samples, had each that failed scored 1, and had each scored 5.
    """
    ends = ATOMS if any(len(own.scores) < len(own.clusters) for own in material.seen.values()) else ()
    rows: list[AssetRow] = []
    for model, own in material.seen.items():
        atoms = material.scores(model)
        at_ends = ({id: own.scores.get(id, end) for id in own.clusters} for end in ends)
        score, *opened = (
            mean_of(
                list(scores.values()),
                [own.clusters[id] for id in scores],
                bounds=(LOWEST, HIGHEST),
                seed=material.seed,
            )
            for scores in (own.scores, *at_ends)
        )
        rows.append(
            AssetRow(
                key=model,
                cells=(text(model), score, points_of(material, model, atoms), number(len(atoms)), *opened),
                n=len(own.scores),
                held=len(own.clusters),
                model=model,
            )
        )
    return Asset(
        id="models",
        title="The models",
        sentence=(
            f"Weighted scores of {several(len(rows), 'model')} over samples, and mean scores over all their criteria, whether "
            f"these have a place among the {material.leaves} or not."
            + (
                f" The last columns are what the failures leave open: the score, had every sample without one got "
                f"{LOWEST:.0f}, or {HIGHEST:.0f}."
                if ends
                else ""
            )
        ),
        columns=(
            MODEL,
            AssetColumn(name="score", unit=STEPS, kind="score", better="higher"),
            AssetColumn(name="criteria score", unit=POINTS, kind="score", better="higher"),
            AssetColumn(name="criteria", kind="count"),
            *(AssetColumn(name=f"failures at {end:.0f}", unit=STEPS, kind="score", better="higher") for end in ends),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def pairs(material: DiagnosisMaterial) -> Asset:
    """Return the differences of every two models on the samples that both have a score for."""
    rows = judged(
        PartialRow(
            row,
            mean_of(gaps, clusters, bounds=(-SPAN, SPAN), seed=material.seed),
            sign_flip_test(gaps, clusters=clusters, seed=material.seed).p_value if gaps else None,
        )
        for row, gaps, clusters in compared_pairs(material)
    )
    sure = sum(row.mark in ("better", "worse") for row in rows)
    return Asset(
        id="pairs",
        title="Every two models, sample by sample",
        sentence=(
            (
                f"{sure} of {len(rows)} pairs of models differ"
                if sure
                else f"None of {len(rows)} pairs of models differs"
            )
            + f" beyond chance in their weighted score on shared samples (sign flips, at most {LIMIT:.0%} of these expected "
            "to be false); p-values are adjusted over these pairs alone (Benjamini and Hochberg); differences are the first "
            "minus the second."
        ),
        columns=(*PAIR, *compared("difference", STEPS)),
        rows=tuple(rows),
        counts="samples",
    )


def ranks(material: DiagnosisMaterial) -> Asset:
    """Return how the models' ranks are spread over the samples that all have a score for.

    Models that tie share the ranks that they take up: two that tie for the first have rank 1.5, and half of each rank.
    """
    models, own = material.models, material.seen
    everyone = set.intersection(*(set(one.scores) for one in own.values()))
    shared = [id for id in own[models[0]].scores if id in everyone]
    clusters = [own[models[0]].clusters[id] for id in shared]
    places = [_places([own[model].scores[id] for model in models]) for id in shared]
    shown = range(1, len(models) + 1) if len(models) <= MOST_RANKS else (1, len(models))
    asked = len(set().union(*(one.clusters for one in own.values())))
    rows: list[AssetRow] = []
    for at, model in enumerate(models):
        spans = [each[at] for each in places]
        cells = [
            text(model),
            mean_of([(low + high) / 2 for low, high in spans], clusters, bounds=(1, len(models)), seed=material.seed),
        ]
        for rank in shown:
            taken = [1 / (high - low + 1) if low <= rank <= high else 0.0 for low, high in spans]
            cells.append(mean_of(taken, clusters, bounds=(0, 1), seed=material.seed))
        rows.append(AssetRow(key=model, cells=tuple(cells), n=len(shared), held=asked, model=model))
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
            *(AssetColumn(name=f"rank {rank}", kind="share") for rank in shown),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def stability(material: DiagnosisMaterial) -> Asset:
    """Return how far scores move from one repeat of the same question to the next; no rows where each was asked once."""
    rows: list[AssetRow] = []
    for model, own in material.seen.items():
        repeated = [id for id, each in own.repeats.items() if len(each) > 1]
        if not repeated:
            continue
        clusters = [own.clusters[id] for id in repeated]
        deviations = [stdev(own.repeats[id]) for id in repeated]
        widths = [max(own.repeats[id]) - min(own.repeats[id]) for id in repeated]
        rows.append(
            AssetRow(
                key=model,
                cells=(
                    text(model),
                    mean_of(deviations, clusters, bounds=(0, stdev(ATOMS)), seed=material.seed),
                    share_of([width <= TIE for width in widths], clusters),
                    mean_of(widths, clusters, bounds=(0, SPAN), seed=material.seed),
                ),
                n=len(repeated),
                held=len(own.clusters),
                model=model,
            )
        )
    return Asset(
        id="stability",
        title="Stability over repeats",
        sentence=(
            f"How far a sample's score moves over {material.repeats} repeats of the same question: standard deviation, "
            "share of samples with one score in all repeats, and highest minus lowest."
            if rows
            else "Every question was asked once, so nothing is known of stability: evaluate with --repeats 3."
        ),
        columns=(
            MODEL,
            AssetColumn(name="deviation", unit=STEPS, kind="score", better="lower"),
            AssetColumn(name="same score", kind="share", better="higher"),
            AssetColumn(name="range", unit=STEPS, kind="score", better="lower"),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def failures(material: DiagnosisMaterial) -> Asset:
    """Return how many answers of each model have no score, in all and by kind of failure."""
    rows: list[AssetRow] = []
    total = 0
    for model in material.models:
        own = [one for one in material.answers if one.model == model]
        clusters = [one.cluster for one in own]
        kinds = sorted({one.failure for one in own if one.failure is not None})
        for kind in ("any", *kinds):
            hits = [one.failure is not None if kind == "any" else one.failure == kind for one in own]
            total += sum(hits) if kind == "any" else 0
            rows.append(
                AssetRow(
                    key=f"{model} {kind}",
                    cells=(text(model), text(kind), number(sum(hits)), share_of(hits, clusters)),
                    n=len(own),
                    held=len(own),
                    model=model,
                    samples=tuple(dict.fromkeys(one.sample_id for one, hit in zip(own, hits, strict=True) if hit)),
                )
            )
    return Asset(
        id="failures",
        title="Kinds of failure",
        sentence=(
            f"{several(total, 'answer')} without a score; a failure is no low score, it opens the bounds of every mean."
            if total
            else "Every answer has a score: no failure of any kind."
        ),
        columns=(
            MODEL,
            AssetColumn(name="kind", kind="name"),
            AssetColumn(name="answers", kind="count"),
            AssetColumn(name="share of answers", kind="share", better="lower"),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def _places(scores: Sequence[float]) -> list[tuple[int, int]]:
    """Return the first and last rank that each score takes up, 1 being the highest."""
    return [
        (1 + sum(other > score + TIE for other in scores), sum(other >= score - TIE for other in scores))
        for score in scores
    ]
