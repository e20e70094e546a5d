"""Why intervals are missing: briefly in a sentence; in tables a raised number, and each reason once under the table."""

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
"""What is said of data too thin for an interval where there is no room for details."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def shortened(text: str, write: Callable[[str, str], str] = lambda short, details: short) -> str:
    """Return a text in which data too thin for an interval are told in a few words.

    Args:
        text: of a sentence, or of any other place without room for details.
        write: makes what stands there of these words and the details.
    """
    return _THIN.sub(lambda match: write(TOO_FEW, match["details"]), text)


class Footnotes:
    """Reasons why intervals are missing, numbered in the order in which they are marked.

    Reasons that differ in their figures alone are one note, with the least and the greatest of each figure.
    """

    def __init__(self) -> None:
        self._reasons: dict[str, list[str]] = {}

    def mark(self, text: str) -> str:
        """Return a text in which `none` with a raised number stands in the place of each reason."""
        return _REASON.sub(self._mark, text)

    def _mark(self, match: re.Match[str]) -> str:
        reason = match[1].rstrip()
        alike = self._reasons.setdefault(_NUMBER.sub("0", reason), [])
        alike.append(reason)
        number = list(self._reasons.values()).index(alike) + 1
        return f"none {str(number).translate(_RAISED)}{match[1][len(reason) :]}"

    def lines(self) -> list[str]:
        """Return what the numbers stand for, a line each."""
        return [
            f"{str(number).translate(_RAISED)} {NO_INTERVAL}{_explained(alike)}"
            for number, alike in enumerate(self._reasons.values(), start=1)
        ]


def noted(table: Table) -> tuple[Table, list[str]]:
    """Return a table in which why there is no interval is a raised number, and what the numbers stand for, in order."""
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
    """Return reasons that differ in their figures alone as one, what they mean before the details."""
    details = _together(alike)
    return f"{TOO_FEW} ({details})" if _THIN.search(alike[0]) else details


def _together(reasons: list[str]) -> str:
    """Return reasons that differ in their figures alone as one."""
    figures = zip(*(_NUMBER.findall(reason) for reason in reasons), strict=True)
    ranges = iter([sorted(set(column), key=float) for column in figures])

    def replacement(_: re.Match[str]) -> str:
        limits = next(ranges)
        return limits[0] if len(limits) == 1 else f"{limits[0]} to {limits[-1]}"

    return _NUMBER.sub(replacement, reasons[0])
