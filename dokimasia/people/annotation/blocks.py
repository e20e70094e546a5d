"""How far people agree with each other, and judges with them, as it is drawn; no row tells one model from another."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table
from dokimasia.report.data import SIMULATED_NOTE

COEFFICIENTS = {
    "fleiss": "Fleiss' kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
}
"""Coefficients over all people by their name in the figures."""


def measure_blocks(found: Mapping[str, Any]) -> Iterator[Block]:
    """Yield figures of agreement, as of `compare`, measure by measure."""
    if found["simulated"]:
        yield Paragraph(SIMULATED_NOTE, "warning")
    for measure, one in found["measures"].items():
        low, high = one["scale"]
        people = figures.several(len(found["annotators"]), "person", "people")
        lead = f", {low} to {high}: {one['annotations']} ratings of {one['n']} by {people}"
        yield Paragraph((Span(measure, "strong"), lead))
        yield _held_against(one)
        if one["absent"]:
            yield Paragraph(f"No agreement between people: {one['absent']}.", "note")
        else:
            yield _together(one)


def _held_against(found: Mapping[str, Any]) -> Table:
    columns = [
        Column("who", numeric=False),
        Column("held against", numeric=False),
        Column("n"),
        Column("MAE", meaning="mean absolute difference"),
        Column("consistent, %", meaning="at most 1 away"),
        Column("Cohen's kappa, quadratic", numeric=False),
    ]
    rows: list[Sequence[Cell]] = [_row(name, "people", row) for name, row in found["judges"].items()]
    if found["together"] is not None:
        rows += [_row(name, "the mean of the others", row) for name, row in found["people"].items()]
    return Table(columns, rows, "Judges and people held against people")


def _row(name: str, against: str, row: Mapping[str, Any]) -> list[Cell]:
    mae = row["mae"]
    off: Cell = figures.NOTHING
    if mae is not None:
        off = (f"{mae['mean']:.2f}", Span(figures.bracketed(mae, lambda end: f"{end:.2f}"), "muted"))
    near: Cell = figures.share_of(row["consistency"], "") if row["n"] else figures.NOTHING
    return [Span(name, "strong"), against, figures.count(row["n"]), off, near, _coefficient(row["kappa"])]


def _together(found: Mapping[str, Any]) -> Table:
    columns = [Column("people with each other", numeric=False), Column("n"), Column("agreement", numeric=False)]
    rows: list[Sequence[Cell]] = [
        [" and ".join(pair["people"]), figures.count(pair["n"]), ("kappa ", *_coefficient(pair["kappa"]))]
        for pair in found["pairs"]
    ]
    chance = found["chance_corrected"]
    rows += [[title, figures.count(chance["n"]), _coefficient(chance[name])] for name, title in COEFFICIENTS.items()]
    return Table(columns, rows, "How far people agree with each other")


def _coefficient(one: Mapping[str, Any]) -> tuple[str | Span, ...]:
    if one["value"] is None:
        return (Span(f"none: {one['no_value']}", "muted"),)
    text = f"{one['value']:.2f}".replace("-", figures.MINUS)
    return text, Span(figures.bracketed(one, lambda end: f"{end:.2f}"), "muted")
