"""Reasons that make a table too wide for a terminal: a mark in the cell, and the reason under the table."""

import re
from dataclasses import replace

from dokimasia.report.blocks import Cell, Table, spans
from dokimasia.report.figures import NO_INTERVAL

_REASON = re.compile(rf"{NO_INTERVAL}([^\[\]()]+)")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def noted(table: Table) -> tuple[Table, list[str]]:
    """Return a table in which why there is no interval is a raised number, and what the numbers stand for, in order."""
    reasons: dict[str, str] = {}

    def marked(text: str) -> str:
        return _REASON.sub(lambda found: f"none {_mark(reasons, found[1])}", text)

    def short(cell: Cell) -> Cell:
        return tuple(
            marked(piece) if isinstance(piece, str) else replace(piece, text=marked(piece.text))
            for piece in spans(cell)
        )

    rows = [[short(cell) for cell in row] for row in table.rows]
    if not reasons:
        return table, []
    return replace(table, rows=rows), [f"{mark} {NO_INTERVAL}{reason}" for reason, mark in reasons.items()]


def _mark(reasons: dict[str, str], reason: str) -> str:
    return reasons.setdefault(reason, str(len(reasons) + 1).translate(_RAISED))
