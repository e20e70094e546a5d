"""The sections of every kind of run, in order: each a function that makes one from a report's data, or leaves it out.

A new section is a new file here with a `section(data) -> Section | None`, and its place in the kind's row of `KINDS`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dokimasia.report.blocks import Block, Place, Section
from dokimasia.report.data import ReportData
from dokimasia.report.sections import (
    blind,
    capabilities,
    categories,
    cost,
    coverage,
    density,
    diagnosis,
    differences,
    fingerprints,
    graph,
    growth,
    overview,
    provenance,
    refinement,
    refinement_samples,
    repeats,
    review,
    rubric_sets,
    rubrics,
    samples,
    scores,
    skipped,
    whole_sample,
    words,
)
from dokimasia.report.sections.opening import opening

Make = Callable[[ReportData], Section | None]
Views = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """How a kind of run is reported: its name, its sections, and those that a terminal shows where these are others.

    `sample` draws one sample whole from what `show RUN --sample ID --json` has of it; None where there is none to show.
    """

    name: str
    sections: tuple[Make, ...]
    terminal: tuple[Make, ...] | None = None
    sample: Callable[[Views], Iterator[Block]] | None = None


SECTIONS: tuple[Make, ...] = (
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
"""The sections on an evaluation."""

KINDS: dict[str, Kind] = {
    "": Kind(
        "evaluation",
        SECTIONS,
        terminal=(scores.section, categories.section, blind.section, skipped.section),
        sample=lambda views: whole_sample.sample(views[0]),
    ),
    "filter": Kind(
        "filter",
        (density.section, density.images, skipped.section, provenance.section),
        sample=lambda views: density.sample(*views),
    ),
    "review": Kind(
        "review",
        (review.section, review.captions, skipped.section, provenance.section),
        sample=lambda views: review.sample(views[0]),
    ),
    "rubrics": Kind(
        "rubrics",
        (rubric_sets.section, rubric_sets.sets, skipped.section, provenance.section),
        sample=lambda views: rubric_sets.sample(views[0]),
    ),
    "audit": Kind(
        "audit",
        (rubrics.scores, rubrics.analyses, skipped.section, provenance.section),
        sample=lambda views: rubrics.sample(*views),
    ),
    "refine": Kind(
        "refinement",
        (refinement.section, refinement_samples.section, provenance.section),
        sample=lambda views: refinement_samples.sample(views[0], {}),
    ),
    "tree": Kind("growth of a tree", (growth.section, provenance.section)),
    "diagnosis": Kind("diagnosis in words", (words.section, provenance.section)),
    "fingerprint": Kind("fingerprints", (fingerprints.test, provenance.section)),
    "graph": Kind(
        "graph",
        (graph.section, graph.items, skipped.section, provenance.section),
        sample=lambda views: graph.sample(*views),
    ),
}
"""By the word under `kind` in a run's options, "" for an evaluation; a method of one's own adds its row."""


def sections_of(data: ReportData, place: Place = "page") -> list[Section]:
    """Return the sections that have something to say of this kind of run, in order, as a place draws them."""
    kind = KINDS[data.kind]
    chosen = kind.terminal if place == "terminal" and kind.terminal is not None else kind.sections
    made = [section for make in chosen if (section := make(data)) is not None and section.only in (None, place)]
    if place == "page" and made:
        made[0] = replace(made[0], blocks=[*opening(data, kind.name), *made[0].blocks])
    return made
