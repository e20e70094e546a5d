"""The sections of a run in order; this folder has those shared by all kinds of run."""

from dataclasses import replace

from dokimasia.report.blocks import Place, Section
from dokimasia.report.data import ReportData, SectionMaker
from dokimasia.report.sections.opening import opening


def sections_of(data: ReportData, place: Place = "page") -> list[Section]:
    """Return the sections of a run for a place, in order; empty ones are left out."""
    drawing = data.drawing
    chosen = drawing.terminal if place == "terminal" and drawing.terminal is not None else _with_added(data)
    sections = [section for make in chosen if (section := make(data)) is not None and section.only in (None, place)]
    if place == "page" and sections:
        sections[0] = replace(sections[0], blocks=[*opening(data, drawing.name), *sections[0].blocks])
    return sections


def _with_added(data: ReportData) -> list[SectionMaker]:
    """Return the sections of a kind of run, with additions of other methods in their place."""
    sections = list(data.drawing.sections)
    before = data.drawing.added_after
    if before is not None and before in sections:
        place = sections.index(before) + 1
        sections[place:place] = [added.section for added in data.added.values()]
    return sections
