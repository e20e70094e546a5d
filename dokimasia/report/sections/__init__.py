"""The report's sections, in order: each a file with one function that makes it from the report's data, or leaves it out.

A new page is a new file here with a `section(data) -> Section | None`, and its place in `SECTIONS`.
"""

from collections.abc import Callable

from dokimasia.report.blocks import Section
from dokimasia.report.data import ReportData
from dokimasia.report.sections import (
    blind,
    capabilities,
    categories,
    cost,
    coverage,
    diagnosis,
    differences,
    fingerprints,
    overview,
    provenance,
    refinement,
    refinement_samples,
    repeats,
    review,
    rubrics,
    samples,
    scores,
    skipped,
)

SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    overview.section,
    scores.section,
    differences.section,
    categories.section,
    capabilities.section,
    diagnosis.section,
    fingerprints.section,
    coverage.section,
    repeats.section,
    blind.section,
    cost.section,
    samples.section,
    skipped.section,
    provenance.section,
)


REVIEW_SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    review.section,
    skipped.section,
    provenance.section,
)


AUDIT_SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    rubrics.scores,
    rubrics.analyses,
    skipped.section,
    provenance.section,
)


REFINEMENT_SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    refinement.section,
    refinement_samples.section,
    provenance.section,
)


def sections_of(data: ReportData) -> list[Section]:
    """Return the sections that have something to say of this kind of run, in order."""
    kinds = {"verdicts": REVIEW_SECTIONS, "analyses": AUDIT_SECTIONS, "leaks": REFINEMENT_SECTIONS}
    chosen = next((sections for name, sections in kinds.items() if name in data.summary), SECTIONS)
    made = (make(data) for make in chosen)
    return [section for section in made if section is not None]
