"""Tables declared by the fields that they show: titles, explanations, digits and JSON pointers come from the fields.

table(
    DuelModel,
    rows_of(figures.models, "models", order=ranked),
    [name_column("model"), column("reward"), column("win_rate"), column("verdicts", "failed", only="page")],
    "Models against the baseline",
)
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic

from dokimasia.report import figures
from dokimasia.report.blocks import Cell, Column, Place, Span, Table, Tone
from dokimasia.report.charts import Point
from dokimasia.report.fields import Bounds, CountedRate, Display, Interval, M, TableRow, Writer, display_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldColumn:
    """A column of the values at the end of a path of fields and keys; by default, drawn by the field's `Display`."""

    path: tuple[str, ...]
    title: str | None = None
    meaning: str | None = None
    numeric: bool | None = None
    only: Place | None = None
    detail: bool = False
    write: Writer | None = None
    linked: bool = True


@dataclass(frozen=True, slots=True)
class ComputedColumn(Generic[M]):
    """A column whose cells are computed from whole rows."""

    title: str
    write: Callable[[TableRow[M]], Cell]
    _: KW_ONLY
    meaning: str = ""
    numeric: bool = True
    only: Place | None = None
    detail: bool = False


computed_column = ComputedColumn
"""Declare a column whose cells are computed from whole rows; the other arguments are as in `column`."""

TableColumn = FieldColumn | ComputedColumn[M]


def column(
    *path: str,
    title: str | None = None,
    meaning: str | None = None,
    numeric: bool | None = None,
    only: Place | None = None,
    detail: bool = False,
    write: Writer | None = None,
    linked: bool = True,
) -> FieldColumn:
    """Declare a column by its field: `column("reward")`, or `column("by_domain", "maps", "overall", title="maps")`.

    Args:
        path: names of fields, and keys of fields that contain parts by name.
        title: title, instead of the field's own; the other arguments override it likewise.
        meaning: explanation of the title; empty for none.
        numeric: whether to align the values as numbers.
        only: the only place where the column is drawn.
        detail: whether it is omitted where a terminal shows only some columns.
        write: writes the value with its JSON pointer.
        linked: whether cells carry the JSON pointers of their values.
    """
    return FieldColumn(
        path=path,
        title=title,
        meaning=meaning,
        numeric=numeric,
        only=only,
        detail=detail,
        write=write,
        linked=linked,
    )


def field_columns(*names: str) -> list[FieldColumn]:
    """Declare a column for each of some fields."""
    return [column(name) for name in names]


def name_column(title: str, tone: Tone = "strong") -> ComputedColumn[Any]:
    """Declare the column of the rows' names."""
    return computed_column(title, lambda row: Span(row.name, tone), numeric=False)


def part_column(
    title: str,
    part: str,
    whole: str,
    *,
    path: Sequence[str] = (),
    meaning: str = "",
    only: Place | None = None,
    detail: bool = False,
) -> ComputedColumn[Any]:
    """Declare the column of a number and its whole, as `12/30`: two fields at the end of a path."""

    def write(row: TableRow[Any]) -> Cell:
        number, pointer = row.find(*path, part)
        if number is None:
            return figures.NOTHING
        return (figures.count(number, pointer), "/", figures.count(*row.find(*path, whole)))

    return computed_column(title, write, meaning=meaning, only=only, detail=detail)


def cost_column(*, meaning: str = "", only: Place | None = None) -> ComputedColumn[Any]:
    """Declare the column of the cost of the rows' results."""
    return computed_column(
        "cost", lambda row: figures.cost_of(row.figures, row.pointer or ""), meaning=meaning, only=only
    )


def origin_columns(model: type[M], stored: Collection[str]) -> list[TableColumn[M]]:
    """Declare the column that marks models with stored answers; none if `stored` names no model."""
    if not stored:
        return []
    origins = dict.fromkeys(stored, "stored")

    def origin(row: TableRow[M]) -> Cell:
        return origins.get(row.name, "live")

    meaning = "stored: read from --responses; live: the model answered in this run"
    return [computed_column("answers", origin, meaning=meaning, numeric=False)]


def table(
    model: type[M],
    rows: Sequence[TableRow[M]],
    columns: Sequence[TableColumn[M]],
    about: str,
    *,
    sortable: bool = False,
) -> Table:
    """Return a table of the figures of rows.

    Args:
        model: model of a row's figures.
        rows: the rows, from top to bottom.
        columns: the columns, from left to right.
        about: caption of the table.
        sortable: whether rows can be sorted on the page.

    Raises:
        AttributeError: a column names no field of the model.
    """
    heads: list[Column] = []
    writers: list[Callable[[TableRow[M]], Cell]] = []
    for declared in columns:
        if isinstance(declared, FieldColumn):
            heads.append(_head(model, declared))
            writers.append(_cell_writer(model, declared))
        else:
            heads.append(Column(declared.title, declared.numeric, declared.meaning, declared.only, declared.detail))
            writers.append(declared.write)
    return Table(heads, [[write(row) for write in writers] for row in rows], about, sortable)


def labelled_table(
    model: type[M],
    titles: Sequence[str | Column],
    rows: Sequence[tuple[Sequence[Cell], TableRow[M]]],
    columns: Sequence[TableColumn[M]],
    about: str,
    *,
    sortable: bool = False,
) -> Table:
    """Return a table whose rows begin with given cells, such as judge and evaluator, under `titles`."""
    heads = [Column(title, numeric=False) if isinstance(title, str) else title for title in titles]
    labels = Table(heads, [cells for cells, _ in rows], about)
    return join_tables([labels, table(model, [row for _, row in rows], columns, about)], about, sortable=sortable)


def join_tables(tables: Sequence[Table], about: str, *, sortable: bool = False) -> Table:
    """Return several tables with the same number of rows, joined side by side."""
    heads = [head for table in tables for head in table.columns]
    rows: list[list[Cell]] = []
    for parts in zip(*(table.rows for table in tables), strict=True):
        rows.append([cell for part in parts for cell in part])
    return Table(heads, rows, about, sortable)


def cell(row: TableRow[M], *path: str, write: Writer | None = None) -> Cell:
    """Return the cell of the value at the end of a path of fields and keys, for tables of another form."""
    display = display_of(type(row.figures), path)
    value, pointer = row.find(*path)
    return _written(value, pointer, write or (display and display.write))


def format_value(value: object, pointer: str = "") -> Cell:
    """Return a value as a cell, by its type: interval, bounds, share, counts by kind, count, other number, text."""
    match value:
        case None:
            return figures.NOTHING
        case Interval():
            return figures.measured(value, pointer)
        case CountedRate():
            return figures.share_of(value, pointer)
        case Bounds():
            return figures.interval(value, pointer)
        case Mapping():
            return figures.failures(value, pointer)
        case int():
            return figures.count(value, pointer)
        case float():
            return figures.number(value, pointer)
        case _:
            return str(value)


def points_of(rows: Sequence[TableRow[M]], *path: str) -> list[Point]:
    """Return the points of a chart: the interval at the end of a path, for each row that has one."""
    points: list[Point] = []
    for row in rows:
        measured, _ = row.find(*path)
        if measured is not None:
            points.append(Point(row.name, measured.mean, measured.low, measured.high))
    return points


def _written(value: object, pointer: str, write: Writer | None) -> Cell:
    if write is None:
        return format_value(value, pointer)
    return write(value, pointer)


def _head(model: type[M], declared: FieldColumn) -> Column:
    display = display_of(model, declared.path) or Display(declared.path[-1].replace("_", " "))
    title, meaning, numeric = declared.title, declared.meaning, declared.numeric
    return Column(
        display.title if title is None else title,
        display.numeric if numeric is None else numeric,
        display.meaning if meaning is None else meaning,
        declared.only,
        declared.detail,
    )


def _cell_writer(model: type[M], declared: FieldColumn) -> Callable[[TableRow[M]], Cell]:
    display = display_of(model, declared.path)
    write = declared.write or (display and display.write)

    def cell_of(row: TableRow[M]) -> Cell:
        value, pointer = row.find(*declared.path)
        return _written(value, pointer if declared.linked else "", write)

    return cell_of
