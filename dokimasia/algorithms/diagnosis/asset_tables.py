"""A diagnosis's tables as text for a model to read, and their figures as printed in reports."""

from collections.abc import Iterable, Sequence

from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure
from dokimasia.domain.wording import percentage

MOST_ROWS = 120
"""Maximum number of shown rows of a table; rows marked by a rule have priority."""

MOST_MARKED, MOST_MODES = 12, 6
"""Maximum numbers of marked rows of a table, and of a model's failure modes (with two examples each), that a writer
always sees."""

LEVEL = "95 % interval"
"""The level of the intervals of all tables."""
_MINUS = "\N{MINUS SIGN}"


def rows_of(asset: Asset, model: str) -> list[int]:
    """Return the numbers (from 1) of the rows about a model: all rows of its own table."""
    return [at for at, row in enumerate(asset.rows, 1) if asset.model == model or row.model == model]


def telling_rows(asset: Asset, rows: Iterable[int]) -> list[int]:
    """Return the informative rows (from 1): in a table of estimates, those with at least one estimate."""
    at = [place for place, column in enumerate(asset.columns) if column.kind not in ("name", "mark", "count")]
    return [row for row in rows if not at or any(asset.rows[row - 1].cells[place].value is not None for place in at)]


def shown_always(assets: Iterable[Asset], subject: str, *, everyone: bool) -> dict[str, list[int]]:
    """Return the rows, by table, that a writer always sees, so that no selection starves a report.

    These are the overall results, the pairs of models, the rows marked by a rule, right answers on wrong grounds, and
    the failure modes with their examples. A table without marked rows is shown without rows, as its sentence states.

    Parameters
    ----------
    assets : iterable of Asset
        The tables of a diagnosis.
    subject : str
        The model that the report is about.
    everyone : bool
        Whether the report is about all models instead.
    """
    rows_of_table: dict[str, list[int]] = {}
    for asset in assets:
        rows = range(1, len(asset.rows) + 1)
        own_rows = [
            at for at in rows if everyone or asset.model == subject or subject in _about(asset, asset.rows[at - 1])
        ]
        marked = [at for at in own_rows if asset.rows[at - 1].mark not in ("", "unclear")][:MOST_MARKED]
        foreign = bool(asset.model) and asset.model != subject
        match asset.family:
            case "models" | "reasons":
                rows_of_table[asset.id] = own_rows
            case "pairs":
                rows_of_table[asset.id] = own_rows[:MOST_MARKED]
            case "nodes" | "contrasts" if everyone or not foreign:
                rows_of_table[asset.id] = marked
            case "modes" if not asset.model:
                rows_of_table[asset.id] = list(rows)[: 2 * MOST_MODES]
            case "modes" if everyone or not foreign:
                rows_of_table[asset.id] = marked if everyone else own_rows[:MOST_MODES]
            case "examples" if not everyone and not foreign:
                rows_of_table[asset.id] = own_rows[: 2 * MOST_MODES]
            case _:
                pass
    return rows_of_table


def table_text(asset: Asset, rows: Iterable[int] | None = None) -> str:
    """Return a table as text: its id and title, what it shows, its columns, and its numbered rows.

    Parameters
    ----------
    asset : Asset
        The table.
    rows : iterable of int, optional
        The rows to show, from 1; by default all, or for a long table the marked ones and the first.

    Returns
    -------
    str
        A row reads `3 | Counting | 31.2 (25.1 to 37.9) | ...`; references use its first number.
    """
    chosen = sorted(set(rows)) if rows is not None else list(range(1, len(asset.rows) + 1))
    remaining = len(chosen)
    if len(chosen) > MOST_ROWS:
        by_mark = sorted(chosen, key=lambda at: (asset.rows[at - 1].mark in ("", "unclear"), at))
        chosen = sorted(by_mark[:MOST_ROWS])
    remaining -= len(chosen)
    lines = [f"asset {asset.id}: {asset.title}", asset.sentence, " | ".join(["row", *asset.heads])]
    for at in chosen:
        row = asset.rows[at - 1]
        cells = [_cell(cell, column) for cell, column in zip(row.cells, asset.columns, strict=True)]
        lines.append(" | ".join([str(at), *cells, counted(row)]))
    if remaining:
        lines.append(f"({remaining} more rows)")
    return "\n".join(lines)


def tables_text(tables: Sequence[tuple[Asset, Sequence[int] | None]], *, quiet: bool = False) -> str:
    """Return several tables as text, separated by empty lines; tables without rows are omitted unless `quiet`."""
    return "\n\n".join(
        table_text(asset, rows) for asset, rows in tables if quiet or (asset.rows if rows is None else rows)
    )


def counted(row: AssetRow) -> str:
    """Return the number of units behind a row in the notation of tables: `12`, or `12 of 14` if some have no score."""
    if row.held != row.n:
        return f"{row.n:,} of {row.held:,}"
    return f"{row.n:,}"


def number_text(value: float, column: AssetColumn) -> str:
    """Return a number in the notation of tables: a share with its percent sign, a difference with its sign.

    Examples
    --------
    >>> number_text(31.246, AssetColumn(name="score", unit="points of 100", kind="score"))
    '31.2'
    >>> number_text(0.375, AssetColumn(name="tied", kind="share"))
    '37.5 %'
    """
    match column.kind:
        case "count":
            return f"{value:,.0f}"
        case "share":
            return percentage(value, 1)
        case "p_value":
            if value < 0.001:
                return "< 0.001"
            return f"{value:.3f}"
        case "difference":
            text = f"{value:+.{_digits(column)}f}"
            return (text.lstrip("+-") if float(text) == 0 else text).replace("-", _MINUS)
        case _:
            return f"{value:.{_digits(column)}f}"


def figure_text(figure: Figure, column: AssetColumn) -> str:
    """Return a cell as a report prints it: the figure, its unit and its interval; empty for an empty cell.

    Examples
    --------
    >>> score = AssetColumn(name="score", unit="points, 1 to 5", kind="score")
    >>> figure_text(Figure(value=4.357, low=3.58, high=4.81), score)
    '4.36 points [scale 1 to 5; 95 % interval 3.58 to 4.81]'
    """
    if not isinstance(figure.value, int | float):
        return figure.value or ""
    unit, _, scale = column.unit.partition(", ")
    notes = [f"scale {scale}"] if scale else []
    if figure.low is not None and figure.high is not None:
        allowing = ", allowing for unseen images" if figure.interval_method else ""
        notes.append(f"{LEVEL} {number_text(figure.low, column)} to {number_text(figure.high, column)}{allowing}")
    elif figure.no_interval:
        notes.append(f"no interval: {figure.no_interval}")
    text = " ".join(filter(None, (number_text(figure.value, column), unit)))
    if notes:
        return f"{text} [{'; '.join(notes)}]"
    return text


def _about(asset: Asset, row: AssetRow) -> tuple[str, ...]:
    """Return the models that a row is about: one, or the two of a pair."""
    if asset.family == "pairs":
        return (row.model, *(str(cell.value) for cell in row.cells[:2]))
    return (row.model,)


def _cell(cell: Figure, column: AssetColumn) -> str:
    if not isinstance(cell.value, int | float):
        return cell.value or "-"
    text = number_text(cell.value, column)
    if cell.low is None or cell.high is None:
        if cell.no_interval:
            return f"{text} (no interval: {cell.no_interval})"
        return text
    return f"{text} ({number_text(cell.low, column)} to {number_text(cell.high, column)})"


def _digits(column: AssetColumn) -> int:
    """Return the number of decimals of a score: one on a scale of 100 points, two on a scale of 5."""
    return 1 if "100" in column.unit else 2
