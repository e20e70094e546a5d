"""Footnotes of tables, printed once: missing and unusual intervals, and intervals that contradict the adjusted test."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from dokimasia.report.blocks import Block, Paragraph, Table, with_texts
from dokimasia.report.fields import Interval
from dokimasia.report.figures import ALLOWING, NO_INTERVAL, SURE, disagree

_ALLOWING = ALLOWING.replace(" ", r"\s")  # also where no line may break
_MARKED = re.compile(rf"{NO_INTERVAL}(?P<reason>[^\[\]()]+)|{_ALLOWING}")
_THIN = re.compile(
    r"(?P<details>[\d,]+ clusters (?:at the ceiling|at the floor|nearly alike): "
    r"the effective number that differ from the median is [\d.]+, at least [\d.]+ are needed)"
)
TOO_FEW = "too few distinct images"
"""The short form of reasons why data are too few for an interval."""
WHY_ALLOWING = (
    "too few images differ from the median for the usual interval (images with unequal numbers of questions count as "
    "fewer): this one (Gaffke's) allows for images at both ends of the scale that were not drawn, and is wider"
)
"""Footnote of an interval by Gaffke's method."""
DISAGREEMENT = (
    f"Each interval stands for its own difference, and p is adjusted for all of them: where the interval leaves out 0 and "
    f"adjusted p is above {SURE:g}, or the reverse, treat the difference as inconclusive."
)
"""Footnote of a table in which an interval and the adjusted p-value of the same difference disagree."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class AdjustedDifference(Protocol):
    """A difference with its interval, and its p-value adjusted for all comparisons of a table."""

    @property
    def difference(self) -> Interval | None:
        """The difference with its own 95 % interval."""
        ...

    @property
    def adjusted(self) -> float | None:
        """The adjusted p-value; None without a test."""
        ...


def disagreement(differences: Iterable[AdjustedDifference | None]) -> list[Block]:
    """Return the footnote on intervals that disagree with the adjusted test; empty if none of the differences does."""
    if any(tested is not None and disagree(tested.difference, tested.adjusted) for tested in differences):
        return [Paragraph(DISAGREEMENT, "note")]
    return []


def shortened(text: str, write: Callable[[str, str], str] = lambda short, details: short) -> str:
    """Return a text with reasons of too few data in short form.

    Args:
        text: a sentence, or any other text without room for details.
        write: returns the replacement from the short form and the details.
    """
    return _THIN.sub(lambda match: write(TOO_FEW, match["details"]), text)


class Footnotes:
    """Reasons for missing intervals, and notes on intervals that are not the usual ones, numbered in order of appearance.

    Reasons that differ only in their numbers share a footnote, with the range of each number.
    """

    def __init__(self) -> None:
        self._notes: dict[str, list[str]] = {}

    def mark(self, text: str) -> str:
        """Return a text with the number of a footnote in each place of a reason, which reads `none`, or of a note."""
        return _MARKED.sub(self._mark, text)

    def _mark(self, match: re.Match[str]) -> str:
        if match["reason"] is None:
            return f" {self.number(WHY_ALLOWING)}"
        reason = match["reason"].rstrip()
        return f"none {self.number(NO_INTERVAL + reason)}{match['reason'][len(reason) :]}"

    def number(self, note: str) -> str:
        """Return the raised number of a note."""
        group = self._notes.setdefault(_NUMBER.sub("0", note), [])
        group.append(note)
        return _raised(list(self._notes.values()).index(group) + 1)

    def lines(self) -> list[str]:
        """Return the footnotes, one per line."""
        return [f"{_raised(number)} {_merged(group)}" for number, group in enumerate(self._notes.values(), start=1)]


def _raised(number: int) -> str:
    return str(number).translate(_RAISED)


def noted(table: Table) -> tuple[Table, list[str]]:
    """Return a table with reasons and notes on intervals replaced by footnote numbers, and the footnotes in order."""
    footnotes = Footnotes()
    rows = [[with_texts(cell, footnotes.mark) for cell in row] for row in table.rows]
    lines = footnotes.lines()
    if lines:
        return (replace(table, rows=rows), lines)
    return (table, [])


def _merged(alike: list[str]) -> str:
    """Return reasons that differ only in their numbers as one, with the short form first."""
    details = _together(alike)
    if not _THIN.search(alike[0]):
        return details
    return f"{NO_INTERVAL}{TOO_FEW} ({details.removeprefix(NO_INTERVAL)})"


def _together(reasons: list[str]) -> str:
    """Return reasons that differ only in their numbers as one, with the range of each number."""
    figures = zip(*(_NUMBER.findall(reason) for reason in reasons), strict=True)
    ranges = iter([sorted(set(column), key=float) for column in figures])

    def replacement(_: re.Match[str]) -> str:
        limits = next(ranges)
        if len(limits) == 1:
            return limits[0]
        return f"{limits[0]} to {limits[-1]}"

    return _NUMBER.sub(replacement, reasons[0])
