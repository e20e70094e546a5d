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
    whole_sample,
)
from dokimasia.report.browser import draw_sample
from dokimasia.report.data import Drawing
from dokimasia.report.sections import provenance, skipped

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
        whole_sample.section,
        skipped.section,
        provenance.section,
    ),
    terminal=(corrected.section, scores.section, categories.section, blind.section, skipped.section),
    sample=lambda views, cut: whole_sample.sample(views[0], cut),
    card=draw_sample,
    added_after=categories.section,
)
