"""Cells that the tables of a refinement share: gains with their intervals, shares, scores, and figures with no place."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Cell, Column, Span


def rate_cell(found: Mapping[str, Any] | None, place: str) -> Cell:
    return figures.NOTHING if found is None else figures.share(found["share"], place)


def named(*titles: str) -> list[Column]:
    return [Column(title, numeric=False) for title in titles]


def of(known: int, n: int) -> str:
    return str(n) if known == n else f"{known}/{n}"


def sure(gain: Mapping[str, Any]) -> bool:
    return gain["adjusted"] is not None and gain["adjusted"] <= figures.SURE


def gain_of(one: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return {**one["difference"], "adjusted": one["adjusted"]} if one and one["difference"] else None


def value_cell(cell: Mapping[str, Any] | None, place: str, percent: bool) -> Cell:
    if cell is None or cell["value"] is None:
        return figures.NOTHING
    value = cell["value"]
    return (
        Span(f"{100 * value:.1f} %", "", place, value) if percent else figures.score(value, place, tone="", tinted=True)
    )


def limits_cell(found: Mapping[str, Any] | None, place: str, percent: bool) -> Cell:
    if found is None:
        return figures.NOTHING
    if found["low"] is None:
        return figures.no_interval(found)
    if not percent:
        return figures.interval(found, place)
    return f"{100 * found['low']:.0f} – {100 * found['high']:.0f} %"


def gain_cells(gain: Mapping[str, Any] | None, place: str, percent: bool) -> list[Cell]:
    if gain is None:
        return [figures.NOTHING] * 2
    unit, digits = (100, 1) if percent else (1, 2)
    names = ("mean",) if gain["low"] is None else ("mean", "low", "high")
    mean, *ends = (
        Span(
            figures.signed_text(unit * gain[name], digits),
            "strong" if name == "mean" and sure(gain) else "",
            "" if percent else f"{place}/{name}",
            gain[name],
        )
        for name in names
    )
    limits: Cell = (ends[0], ", ", ends[1]) if ends else figures.no_interval(gain)
    return [(mean, *beside(limits)), figures.p_value(gain["adjusted"])]


def beside(limits: Cell) -> tuple[str | Span, ...]:
    """An interval in brackets after the figure that it belongs to; nothing where there is none."""
    if limits is figures.NOTHING:
        return ()
    pieces = (piece if isinstance(piece, Span) else Span(piece) for piece in pieces_of(limits))
    return (Span("  [", "muted"), *(replace(piece, tone="muted") for piece in pieces), Span("]", "muted"))


def pieces_of(cell: Cell) -> tuple[str | Span, ...]:
    return cell if isinstance(cell, tuple) else (cell,)


def share_cell(one: Mapping[str, Any], place: str) -> Cell:
    if one["share"] is None:
        return figures.NOTHING
    return (figures.share(one["share"], f"{place}/share"), Span(f" of {one['n']}", "muted"))
