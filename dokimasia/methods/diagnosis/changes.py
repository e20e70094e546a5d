"""What got better or worse between two runs, leaf by leaf, on the samples that both have, corrected for many leaves."""

from collections.abc import Iterator, Mapping, Sequence

from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow
from dokimasia.methods.diagnosis.cells import POINTS, PartialRow, compared, judged, mean_of, text
from dokimasia.methods.diagnosis.leaves import leaves_in_order, name_of
from dokimasia.methods.diagnosis.measured import LIMIT, DiagnosisMaterial, slugs_of
from dokimasia.methods.tree import BEST, WORST, mapping_of
from dokimasia.runs.reading.comparison import SampleRef

FEWEST = 5
"""A leaf with fewer samples in both runs is shown, and not tested."""

Means = Mapping[tuple[str, str], float | None]
"""Sample and leaf to the mean score of its criteria there; None where none has a score."""


def change_tables(
    first: DiagnosisMaterial,
    second: DiagnosisMaterial,
    shared: Sequence[tuple[SampleRef, SampleRef]],
    *,
    names: tuple[str, str],
) -> list[Asset]:
    """Return a table for each model that both runs have: every leaf before and after, and whether the change is sure.

    A sample counts at a leaf with the mean over its criteria there, in each run by that run's criteria; p-values are of
    sign flips of clusters of samples, adjusted over all leaves of all models.

    Args:
        first: one run; its tree says which leaves there are.
        second: the other, under the same tree.
        shared: the samples that both have.
        names: how the runs are called.
    """
    models = [model for model in first.models if model in second.models]
    rows = judged(draft for model in models for draft in _drafts(first, second, shared, model))
    return [
        _table(first, model, slug, [row for row in rows if row.model == model], names, len(shared))
        for model, slug in slugs_of(models).items()
    ]


def _drafts(
    first: DiagnosisMaterial, second: DiagnosisMaterial, shared: Sequence[tuple[SampleRef, SampleRef]], model: str
) -> Iterator[PartialRow]:
    ours, theirs = _by_sample(first, model), _by_sample(second, model)
    for leaf in dict.fromkeys((*leaves_in_order(first), *leaves_in_order(second))):
        places = [(one.cluster, (one.sample_id, leaf), (other.sample_id, leaf)) for one, other in shared]
        held = [(cluster, ours[one], theirs.get(other)) for cluster, one, other in places if one in ours]
        both = [(cluster, old, new) for cluster, old, new in held if old is not None and new is not None]
        clusters = [cluster for cluster, _, _ in both]
        before, after = [old for _, old, _ in both], [new for _, _, new in both]
        gaps = [new - old for _, old, new in both]
        row = AssetRow(
            key=leaf,
            cells=(
                text(name_of(leaf)),
                mean_of(before, clusters, bounds=(WORST, BEST), seed=first.seed),
                mean_of(after, clusters, bounds=(WORST, BEST), seed=first.seed),
            ),
            n=len(both),
            held=len(held),
            model=model,
            node=leaf,
        )
        gap = mean_of(gaps, clusters, bounds=(WORST - BEST, BEST - WORST), seed=first.seed)
        tested = len(both) >= FEWEST
        yield PartialRow(row, gap, sign_flip_test(gaps, clusters=clusters, seed=first.seed).p_value if tested else None)


def _by_sample(material: DiagnosisMaterial, model: str) -> Means:
    """Return a model's mean score by sample and leaf, of all that it was asked about."""
    scores, failed = material.scores(model), material.measured.failures.get(model, {})
    values: dict[tuple[str, str], list[float]] = {}
    for criterion, leaf in mapping_of(material.tree).items():
        sample = material.measured.sample_of.get(criterion)
        if sample is not None and (criterion in scores or criterion in failed):
            known = values.setdefault((sample, leaf), [])
            if criterion in scores:
                known.append(scores[criterion])
    return {place: sum(known) / len(known) if known else None for place, known in values.items()}


def _table(
    first: DiagnosisMaterial, model: str, slug: str, rows: Sequence[AssetRow], names: tuple[str, str], shared: int
) -> Asset:
    better, worse = (sum(row.mark == kind for row in rows) for kind in ("better", "worse"))
    return Asset(
        id=f"changes/{slug}",
        title=f"{model}: {names[1]} against {names[0]}",
        sentence=(
            f"{model} is better at {better} and worse at {worse} of {first.counted(len(rows))} than in run {names[0]}, on "
            f"{shared} shared samples; sign flips of whole images, at most {LIMIT:.0%} of the marks expected to be false; "
            "p-values are adjusted over all models and rows of these changes (Benjamini and Hochberg)."
        ),
        columns=(
            AssetColumn(name=first.leaf, kind="name"),
            AssetColumn(name="before", unit=POINTS, kind="score", better="higher"),
            AssetColumn(name="after", unit=POINTS, kind="score", better="higher"),
            *compared("change"),
        ),
        rows=tuple(rows),
        model=model,
        counts="samples",
    )
