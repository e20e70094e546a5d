"""How an evaluation is drawn."""

from dokimasia.methods.evaluation.blocks import (
    blind,
    categories,
    corrected,
    cost,
    coverage,
    criteria,
    differences,
    overview,
    repeats,
    scores,
)
from dokimasia.methods.evaluation.samples import sample_blocks
from dokimasia.report.blocks import Browser, Section
from dokimasia.report.browser import draw_sample
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.sections import provenance, skipped


def samples(data: ReportData) -> Section | None:
    """Return the browser of samples; None where none is to be shown."""
    return Section("samples", "Samples", (Browser(data.selection.text),)) if data.selection.total else None


DRAWING = Drawing(
    "evaluation",
    (
        overview.section,
        corrected.section,
        scores.section,
        differences.section,
        categories.section,
        coverage.section,
        criteria.section,
        repeats.section,
        blind.section,
        cost.section,
        samples,
        skipped.section,
        provenance.section,
    ),
    terminal=(corrected.section, scores.section, categories.section, blind.section, skipped.section),
    sample=lambda views, cut: sample_blocks(views[0], cut),
    card=draw_sample,
    added_after=categories.section,
)
