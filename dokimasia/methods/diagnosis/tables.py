"""From what a run measured to the tables of its diagnosis: which tables come out, in which order (ATOM, 3.4 and H)."""

from dokimasia.domain.diagnosis.tables import Asset
from dokimasia.methods.diagnosis.failure_modes import mode_tables
from dokimasia.methods.diagnosis.leaves import categories, contrasts, heatmap, leaf_tables, radars, verdicts_of
from dokimasia.methods.diagnosis.measured import DiagnosisMaterial
from dokimasia.methods.diagnosis.reasons import answer_tables, reasons
from dokimasia.methods.diagnosis.samples import failures, overall, pairs, ranks, stability
from dokimasia.methods.diagnosis.ties import ties, top_ties


def assets_of(material: DiagnosisMaterial) -> tuple[Asset, ...]:
    """Return all tables of a diagnosis, in the order in which they are read; equal material gives equal tables.

    Their ids: `models`, `pairs`, `ties`, `top-ties`, `ranks`, `stability`, `failures`, `reasons`; `categories`, `heatmap`
    and `contrasts` (category or leaf by model), `radar/GROUP` for each group of categories; and for each model
    `leaves/MODEL`, `nodes/MODEL`, `answers/MODEL`. Where failure modes were found, `modes`, `modes/MODEL` and
    `examples/MODEL`. What needs two models is left out with one.
    """
    grid, several = heatmap(material), len(material.models) > 1
    return (
        overall(material),
        *(make(material) for make in (pairs, ties, top_ties, ranks) if several),
        *([categories(material)] if material.grouping == "tree" else []),
        *radars(material, grid),
        grid,
        *([contrasts(material)] if several else []),
        *leaf_tables(material, verdicts_of(material)),
        *mode_tables(material),
        stability(material),
        failures(material),
        reasons(material),
        *answer_tables(material),
    )
