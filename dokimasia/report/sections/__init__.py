"""The sections of a run in order; this folder has those shared by all kinds of run."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from dokimasia.domain.wording import nearest
from dokimasia.errors import InputError
from dokimasia.report.blocks import Block, Fold, Only, Place, Section, Table
from dokimasia.report.blocks import plain as plain_text
from dokimasia.report.data import ReportData, SectionMaker
from dokimasia.report.sections.opening import opening

MODEL_COLUMNS = ("model", "first", "second")
"""Titles of the columns that say which models a row of a table is about."""


def sections_of(data: ReportData, place: Place = "page") -> list[Section]:
    """Return the sections of a run for a place, in order; empty ones are left out."""
    drawing = data.drawing
    chosen = drawing.terminal if place == "terminal" and drawing.terminal is not None else _with_added(data)
    sections = [section for make in chosen if (section := make(data)) is not None and section.only in (None, place)]
    if place == "page" and sections:
        sections[0] = replace(sections[0], blocks=[*opening(data, drawing.name), *sections[0].blocks])
    return sections


def about_models(sections: Sequence[Section], models: Collection[str], run: str) -> list[Section]:
    """Return sections whose tables have only rows about some models; without `models`, the sections as they are.

    Raises:
        InputError: no table of the run has one of these models.
    """
    if not models:
        return list(sections)
    known: dict[str, None] = {}
    chosen = [replace(section, blocks=_about_models(section.blocks, models, known)) for section in sections]
    check_models(models, known, run)
    return chosen


def check_models(models: Collection[str], known: Collection[str], run: str) -> None:
    """Check that a run's results name some models.

    Raises:
        InputError: they do not name one of them.
    """
    for model in models:
        if model not in known:
            names = f"there are {', '.join(known)}" if known else "they name no model"
            raise InputError(f"the results of run {run} have no model {model!r}{nearest(model, known) or f'; {names}'}")


def _about_models(blocks: Sequence[Block], models: Collection[str], known: dict[str, None]) -> list[Block]:
    """Return blocks with the rows about some models, and add all models of their tables to `known`."""
    chosen: list[Block] = []
    for block in blocks:
        if isinstance(block, Fold | Only):
            chosen.append(replace(block, blocks=_about_models(block.blocks, models, known)))
            continue
        if isinstance(block, Table):
            places = [index for index, column in enumerate(block.columns) if column.title in MODEL_COLUMNS]
            if places:
                names = [{plain_text(row[place]) for place in places} for row in block.rows]
                known |= dict.fromkeys(name for of_row in names for name in of_row)
                rows = [row for row, of_row in zip(block.rows, names, strict=True) if of_row.intersection(models)]
                if not rows:
                    continue
                block = replace(block, rows=rows)
        chosen.append(block)
    return chosen


def _with_added(data: ReportData) -> list[SectionMaker]:
    """Return the sections of a kind of run, with additions of other methods in their place."""
    sections = list(data.drawing.sections)
    before = data.drawing.added_after
    if before is not None and before in sections:
        place = sections.index(before) + 1
        sections[place:place] = [added.section for added in data.added.values()]
    return sections
