"""The sections of a run in order; the modules of this package draw the sections shared by all methods."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from dokimasia.domain.wording import nearest
from dokimasia.errors import InputError
from dokimasia.report.blocks import Block, Fold, Only, Place, Section, Table
from dokimasia.report.blocks import plain as plain_text
from dokimasia.report.data import ReportData, SectionMaker
from dokimasia.report.sections.opening import opening

MODEL_COLUMNS = ("model", "first", "second")
"""Titles of the columns that name the models of a table's row."""


def sections_of(data: ReportData, place: Place = "page") -> list[Section]:
    """Return the sections of a run for a place, in order, without empty ones."""
    drawing = data.drawing
    makers = drawing.terminal if place == "terminal" and drawing.terminal is not None else _with_added(data)
    sections = [section for make in makers if (section := make(data)) is not None and section.only in (None, place)]
    if place == "page" and sections:
        sections[0] = replace(sections[0], blocks=[*opening(data, drawing.name), *sections[0].blocks])
    return sections


def about_models(sections: Sequence[Section], models: Collection[str], run: str) -> list[Section]:
    """Return sections whose tables have only the rows about some models; without `models`, return them unchanged.

    Raises:
        InputError: a model is in no table of the run.
    """
    if not models:
        return list(sections)
    names: dict[str, None] = {}
    filtered_sections = [replace(section, blocks=_about_models(section.blocks, models, names)) for section in sections]
    check_models(models, names, run)
    return filtered_sections


def check_models(models: Collection[str], known: Collection[str], run: str) -> None:
    """Check that all of some models are among those that a run's results name, `known`.

    Raises:
        InputError: a model is not among them.
    """
    for model in models:
        if model not in known:
            names = f"there are {', '.join(known)}" if known else "they name no model"
            raise InputError(f"the results of run {run} have no model {model!r}{nearest(model, known) or f'; {names}'}")


def _about_models(blocks: Sequence[Block], models: Collection[str], names: dict[str, None]) -> list[Block]:
    """Return blocks with only the rows about some models, and add all models of their tables to `names`."""
    filtered_blocks: list[Block] = []
    for block in blocks:
        if isinstance(block, Fold | Only):
            filtered_blocks.append(replace(block, blocks=_about_models(block.blocks, models, names)))
            continue
        if isinstance(block, Table):
            places = [index for index, column in enumerate(block.columns) if column.title in MODEL_COLUMNS]
            if places:
                row_models = [{plain_text(row[place]) for place in places} for row in block.rows]
                names |= dict.fromkeys(name for row_names in row_models for name in row_names)
                rows = [
                    row for row, row_names in zip(block.rows, row_models, strict=True) if row_names.intersection(models)
                ]
                if not rows:
                    continue
                block = replace(block, rows=rows)
        filtered_blocks.append(block)
    return filtered_blocks


def _with_added(data: ReportData) -> list[SectionMaker]:
    """Return the makers of a run's sections, with those that other methods add."""
    sections = list(data.drawing.sections)
    previous = data.drawing.added_after
    if previous is not None and previous in sections:
        place = sections.index(previous) + 1
        sections[place:place] = [added.section for added in data.added.values()]
    return sections
