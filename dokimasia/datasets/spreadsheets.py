"""The reader of CSV files and of workbooks."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from dokimasia.datasets.columns import Columns, as_list, row_of, suggestion, table_rows
from dokimasia.datasets.lines import Problem, Row
from dokimasia.datasets.mapping import mapped_columns, with_templates
from dokimasia.datasets.tables import (
    csv_delimiter,
    read_cells,
    repeated_column,
    unguarded,
    workbook_cells,
    wrong_width,
)


def read_spreadsheet(path: Path, mapping: Mapping[str, str] = MappingProxyType({})) -> Iterator[Row | Problem]:
    """Yield the rows of a CSV file, with commas or semicolons between its cells, or of the first sheet of a workbook.

    Columns are named as the fields of JSON lines are, or as in a VLMEvalKit TSV; others become `meta`; `mapping`
    names columns, see `parse_mapping`. A row's number is that of its first line, or of its row in the sheet.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read.
        ConfigError: it is a workbook, and openpyxl is not installed.
    """
    workbook = path.suffix.lower() != ".csv"
    unit = "row" if workbook else "line"
    records = workbook_cells(path) if workbook else read_cells(path, delimiter=csv_delimiter(path))

    def begin(header: list[str]) -> Columns | str:
        while header and not header[-1]:
            header.pop()
        if wrong := repeated_column(header):
            return wrong
        columns = mapped_columns(header, mapping, where=path)
        if columns.id is None:
            fields = dict.fromkeys((name for name in header if name not in columns.used()), "")
            return f"the first {unit} names no column 'id'{suggestion(fields, ('prompt', 'category'))}"
        return columns

    def read(number: int, cells: list[str], header: list[str], columns: Columns) -> Row | Problem:
        while len(cells) > len(header) and not cells[-1].strip():
            cells.pop()
        cells += [""] * (len(header) - len(cells) if workbook else 0)
        if len(cells) != len(header):
            return wrong_width(path, number, cells, header, "delimiter")
        values = {name: unguarded(cell) for name, cell in zip(header, cells, strict=True) if cell.strip()}
        images = [text for name in columns.images for text in as_list(values.get(name, "").strip()) if text]
        return row_of(number, with_templates(values, mapping), columns, unit=unit, images=images)

    return table_rows(path, records, begin, read, unit=unit)
