"""A diagnosis's tables as text that a model can read and cite: numbered rows, columns by name, intervals behind values."""

from collections.abc import Iterable, Sequence

from dokimasia.domain.diagnosis import Asset, AssetRow, Figure

MOST_ROWS = 120
"""Rows of one table that are shown; those that a rule marks come first into the choice."""

_DIGITS = {"share": 4, "p_value": 4, "count": 0, "rank": 2, "score": 2, "difference": 2}


def shown_value(value: float, kind: str) -> float:
    """Return a value as far as a table shows it.

    Examples
    --------
    >>> shown_value(31.24551, "score"), shown_value(0.123456, "share")
    (31.25, 0.1235)
    """
    return round(value, _DIGITS.get(kind, 4))


def rows_of(asset: Asset, model: str) -> list[int]:
    """Return the numbers (from 1) of the rows that are about a model: all of its own table."""
    return [at for at, row in enumerate(asset.rows, 1) if asset.model == model or row.model == model]


def table_text(asset: Asset, rows: Iterable[int] | None = None) -> str:
    """Return a table as lines: its id and title, what it shows, its columns, and its rows with their numbers.

    Parameters
    ----------
    asset : Asset
        The table.
    rows : iterable of int, optional
        Which rows, from 1; all by default, of a long table the marked ones and the first.

    Returns
    -------
    str
        A row reads `3 | Counting | 31.20 (25.10 to 37.90) | ...`; its first number is what references name it by.
    """
    chosen = sorted(set(rows)) if rows is not None else list(range(1, len(asset.rows) + 1))
    left = len(chosen)
    if len(chosen) > MOST_ROWS:
        by_mark = sorted(chosen, key=lambda at: (asset.rows[at - 1].mark in ("", "unclear"), at))
        chosen = sorted(by_mark[:MOST_ROWS])
    left -= len(chosen)
    units = [f"{one.name} ({one.unit})" if one.unit else one.name for one in asset.columns]
    lines = [f"asset {asset.id}: {asset.title}", asset.sentence, " | ".join(["row", *units, f"n ({asset.counts})"])]
    lines += [_line(asset, at, asset.rows[at - 1]) for at in chosen]
    if left:
        lines.append(f"({left} more rows)")
    return "\n".join(lines)


def tables_text(tables: Sequence[tuple[Asset, Sequence[int] | None]]) -> str:
    """Return several tables, an empty line between them; tables without a row are left out."""
    return "\n\n".join(table_text(asset, rows) for asset, rows in tables if (rows if rows is not None else asset.rows))


def _line(asset: Asset, at: int, row: AssetRow) -> str:
    cells = [_cell(cell, column.kind) for cell, column in zip(row.cells, asset.columns, strict=True)]
    of = f"{row.n} of {row.held}" if row.held != row.n else str(row.n)
    return " | ".join([str(at), *cells, of])


def _cell(cell: Figure, kind: str) -> str:
    if cell.value is None:
        return "-"
    if isinstance(cell.value, str):
        return cell.value or "-"
    text = _number(cell.value, kind)
    if cell.low is None or cell.high is None:
        return text
    return f"{text} ({_number(cell.low, kind)} to {_number(cell.high, kind)})"


def _number(value: float, kind: str) -> str:
    digits = _DIGITS.get(kind, 4)
    if kind == "share":
        return f"{round(value, digits) * 100:.{digits - 2}f} %"
    return f"{round(value, digits):.{digits}f}"
