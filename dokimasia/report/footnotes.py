"""Reasons for missing intervals: in short in sentences; in tables as footnotes, each reason once."""

import re
from collections.abc import Callable
from dataclasses import replace

from dokimasia.report.blocks import Cell, Table, spans
from dokimasia.report.figures import NO_INTERVAL

_REASON = re.compile(rf"{NO_INTERVAL}([^\[\]()]+)")
_THIN = re.compile(
    r"(?P<details>[\d,]+ clusters (?:at the ceiling|at the floor|nearly alike): "
    r"the effective number that differ from the median is [\d.]+, at least [\d.]+ are needed)"
)
TOO_FEW = "too few different images"
"""Short form of the reasons for which data are too few for an interval."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def shortened(text: str, write: Callable[[str, str], str] = lambda short, details: short) -> str:
    """Return a text in which reasons of too few data are in short form.

    Args:
        text: a sentence, or any other text without room for details.
        write: returns the replacement from the short form and the details.
    """
    return _THIN.sub(lambda match: write(TOO_FEW, match["details"]), text)


class Footnotes:
    """Reasons for missing intervals, numbered in order of appearance.

    Reasons that differ only in their numbers share a footnote, with the range of each number.
    """

    def __init__(self) -> None:
        self._reasons: dict[str, list[str]] = {}

    def mark(self, text: str) -> str:
        """Return a text in which each reason is replaced by `none` and the number of its footnote."""
        return _REASON.sub(self._mark, text)

    def _mark(self, match: re.Match[str]) -> str:
        reason = match[1].rstrip()
        alike = self._reasons.setdefault(_NUMBER.sub("0", reason), [])
        alike.append(reason)
        number = list(self._reasons.values()).index(alike) + 1
        return f"none {str(number).translate(_RAISED)}{match[1][len(reason) :]}"

    def lines(self) -> list[str]:
        """Return the footnotes, one per line."""
        return [
            f"{str(number).translate(_RAISED)} {NO_INTERVAL}{_explained(alike)}"
            for number, alike in enumerate(self._reasons.values(), start=1)
        ]


def noted(table: Table) -> tuple[Table, list[str]]:
    """Return a table with reasons for missing intervals replaced by footnote numbers, and the footnotes in order."""
    footnotes = Footnotes()

    def short(cell: Cell) -> Cell:
        return tuple(
            footnotes.mark(piece) if isinstance(piece, str) else replace(piece, text=footnotes.mark(piece.text))
            for piece in spans(cell)
        )

    rows = [[short(cell) for cell in row] for row in table.rows]
    lines = footnotes.lines()
    return (replace(table, rows=rows), lines) if lines else (table, [])


def _explained(alike: list[str]) -> str:
    """Return reasons that differ only in their numbers as one, with the short form first."""
    details = _together(alike)
    return f"{TOO_FEW} ({details})" if _THIN.search(alike[0]) else details


def _together(reasons: list[str]) -> str:
    """Return reasons that differ only in their numbers as one, with the range of each number."""
    figures = zip(*(_NUMBER.findall(reason) for reason in reasons), strict=True)
    ranges = iter([sorted(set(column), key=float) for column in figures])

    def replacement(_: re.Match[str]) -> str:
        limits = next(ranges)
        return limits[0] if len(limits) == 1 else f"{limits[0]} to {limits[-1]}"

    return _NUMBER.sub(replacement, reasons[0])
