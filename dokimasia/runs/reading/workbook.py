"""A workbook (.xlsx) with one sheet, written row by row: texts as texts, which no program evaluates, numbers as numbers."""

import re
from collections.abc import Iterable
from math import isfinite
from types import TracebackType
from typing import IO, Self
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import orjson

from dokimasia.errors import InputError

MOST_CHARACTERS = 32_767
"""The maximum number of characters of a cell."""

MOST_ROWS = 2**20
"""The maximum number of rows of a sheet, with that of the column names."""

DATE = (1980, 1, 1, 0, 0, 0)

MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{MEDIA}.main+xml"/>'
        '<Override PartName="/xl/worksheets/sheet1.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="rows" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}

_ESCAPED = re.compile("_x[0-9A-Fa-f]{4}_|[\x00-\x08\x0b-\x1f\ufffe\uffff\ud800-\udfff]")
_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class WorkbookWriter:
    """Writes the rows of one sheet to an open file; closing it completes the workbook. The same rows give the same bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._archive = ZipFile(file, "w", ZIP_DEFLATED)
        for name, text in _PARTS.items():
            self._archive.writestr(_part(name), _DECLARATION + text, ZIP_DEFLATED)
        self._sheet = self._archive.open(_part("xl/worksheets/sheet1.xml"), "w")
        self._sheet.write(f'{_DECLARATION}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
        self._rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._sheet.write(b"</sheetData></worksheet>")
        self._sheet.close()
        self._archive.close()

    def write(self, values: Iterable[object]) -> None:
        """Write a row: texts, numbers, truths and, as JSON, lists; a cell of None, or of a number that is not finite, is empty.

        Raises:
            InputError: a text is too long for a cell, or there are too many rows.
        """
        self._rows += 1
        if self._rows > MOST_ROWS:
            raise InputError(f"a sheet of a workbook has at most {MOST_ROWS:,} rows; export as CSV or JSON lines")
        cells = "".join(self._cell(value) for value in values)
        self._sheet.write(f"<row>{cells}</row>".encode())

    def _cell(self, value: object) -> str:
        if isinstance(value, bool):
            return f'<c t="b"><v>{int(value)}</v></c>'
        if isinstance(value, int | float):
            if isfinite(value):
                return f"<c><v>{value!r}</v></c>"
            return "<c/>"
        if value is None or value == "":
            return "<c/>"
        text = value
        if not isinstance(text, str):
            text = orjson.dumps(text).decode()
        if len(text) > MOST_CHARACTERS:
            raise InputError(
                f"row {self._rows}: a text has {len(text):,} characters, and a cell of a workbook holds {MOST_CHARACTERS:,}; "
                "export as CSV or JSON lines"
            )
        return f'<c t="inlineStr"><is><t xml:space="preserve">{_escaped(text)}</t></is></c>'


def _part(name: str) -> ZipInfo:
    info = ZipInfo(name, DATE)
    info.compress_type = ZIP_DEFLATED
    return info


def _escaped(text: str) -> str:
    """Return a text for XML; characters that XML has no place for are written as `_x0001_`, as spreadsheets do."""
    return _ESCAPED.sub(_code, text).translate(_XML)


def _code(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) > 1:  # the text itself looks like such a character
        return f"_x005F{text}"
    return f"_x{ord(text):04X}_"
