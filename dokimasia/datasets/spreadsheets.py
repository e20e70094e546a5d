"""The readers of tables: VLMEvalKit's TSV, CSV files and workbooks."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from dokimasia.datasets.columns import Columns, as_list, row_of, suggestion, table_rows
from dokimasia.datasets.creation import creative_fault
from dokimasia.datasets.images import Earlier
from dokimasia.datasets.lines import Problem, Row, RowFault
from dokimasia.datasets.mapping import mapped_columns, with_templates
from dokimasia.datasets.tables import (
    csv_delimiter,
    read_cells,
    repeated_column,
    unguarded,
    workbook_cells,
    wrong_width,
)
from dokimasia.domain.identity import JsonObject

LONGEST_INDEX = 64
"""The longest text in `image` that may be the index of an earlier row; longer ones are images (as in VLMEvalKit)."""


def read_tsv(path: Path, mapping: Mapping[str, str] = MappingProxyType({})) -> Iterator[Row | Problem]:
    """Yield the rows of a VLMEvalKit TSV in order, or their problems; a row's number is that of its first line.

    Images are base64 or paths, options are in columns A to Z; see `read_cells` for the format of cells. `mapping` names
    columns, see `parse_mapping`; the other fields keep VLMEvalKit's names.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read, or the mapping names a missing column.
    """

    def begin(header: list[str]) -> Columns | str:
        if wrong := repeated_column(header):
            return wrong
        columns = mapped_columns(header, mapping, where=path, images=(), own_names=False)
        return _tsv_header_fault(header, columns) or columns

    def read(number: int, cells: list[str], header: list[str], columns: Columns) -> Row | Problem:
        if len(cells) != len(header):
            return wrong_width(path, number, cells, header, "tab")
        values = {name: cell for name, cell in zip(header, cells, strict=True) if cell.strip()}
        return _tsv_row(number, with_templates(values, mapping), columns)

    return table_rows(path, read_cells(path), begin, read)


def _tsv_header_fault(header: list[str], columns: Columns) -> str | None:
    if columns.id is None:
        return (
            "the header has no column 'index'; the first line names the columns, such as index, question, answer, image; "
            "--map id=COLUMN takes another for it"
        )
    if columns.prompt is None and not columns.images and not {"image", "image_path"} & set(header):
        return (
            "the header has none of the columns 'question', 'image' and 'image_path'; --map prompt=COLUMN or "
            "--map image=COLUMN names them"
        )
    return creative_fault(header)


def _tsv_row(number: int, values: JsonObject, columns: Columns) -> Row:
    """Return a row of a TSV; its images are in the column of the mapping, else in `image`, else in `image_path`."""
    (column,) = columns.images or ("image",)
    image, paths = str(values.pop(column, "")).strip(), str(values.pop("image_path", "")).strip()
    images: list[Earlier | str] = []
    if not image:
        images += as_list(paths) if paths else []
        return row_of(number, values, columns, unit="line", images=images)
    refers = False
    for text in as_list(image):
        short = len(text) <= LONGEST_INDEX
        images.append(Earlier(text) if short else text)
        refers = refers or (short and text != "")
    row = row_of(number, values, columns, unit="line", images=images)
    names = as_list(paths)
    if names != [""] and len(names) != len(images) and not refers:
        wrong = f"'image' holds {len(images)} and 'image_path' names {len(names)}; each image has one name"
        row = row._replace(faults=(*row.faults, RowFault("image-missing", wrong)))
    return row


def read_spreadsheet(path: Path, mapping: Mapping[str, str] = MappingProxyType({})) -> Iterator[Row | Problem]:
    """Yield the rows of a CSV file, with commas or semicolons between its cells, or of the first sheet of a workbook.

    Columns have the names of JSON line fields, or those of a VLMEvalKit TSV; others become `meta`; `mapping`
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
            hint = suggestion(fields, ("prompt", "category"), header)
            return f"the first {unit} names no column 'id'{hint}; --map id=COLUMN names another"
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
