"""The report's sections, in order: each a file with one function that makes it from the report's data, or leaves it out.

A new page is a new file here with a `section(data) -> Section | None`, and its place in `SECTIONS`.
"""

from collections.abc import Callable

from dokimasia.report.blocks import Section
from dokimasia.report.data import ReportData
from dokimasia.report.sections import (
    blind,
    categories,
    cost,
    coverage,
    differences,
    overview,
    provenance,
    repeats,
    samples,
    scores,
    skipped,
)

SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    overview.section,
    scores.section,
    differences.section,
    categories.section,
    coverage.section,
    repeats.section,
    blind.section,
    cost.section,
    samples.section,
    skipped.section,
    provenance.section,
)


def sections_of(data: ReportData) -> list[Section]:
    """Return the sections that have something to say, in order."""
    made = (make(data) for make in SECTIONS)
    return [section for section in made if section is not None]
