"""The rows of a file of records, JSON lines or CSV with a heading, each with its line."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dokimasia.datasets.lines import Problem, Row, not_utf8, problem_at, raw_lines, read_rows


def read_records(path: Path) -> Iterator[Row | Problem]:
    """Yield the records of a file in order, or what is wrong with their lines; empty cells of a CSV are left out.

    A file that ends in `.csv` has a heading and commas or semicolons between its cells, as spreadsheets write it; any other
    is JSON lines.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read.
    """
    if path.suffix.lower() != ".csv":
        yield from read_rows(path)
        return
    lines: list[str] = []
    for number, raw in enumerate(raw_lines(path, "the line is too long for a table"), start=1):
        if isinstance(raw, Problem):
            yield raw
            return
        try:
            lines.append(raw.decode())
        except UnicodeDecodeError as error:
            yield not_utf8(path, number, error)
            return
    yield from _cells(path, "".join(lines))


def _cells(path: Path, text: str) -> Iterator[Row | Problem]:
    heading = text.partition("\n")[0]
    separator = ";" if heading.count(";") > heading.count(",") else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        names = [name.strip() for name in reader.fieldnames or ()]
        if len(set(names)) < len(names):
            yield problem_at(path, 1, "two columns have one name", "syntax")
            return
        reader.fieldnames = names
        for row in reader:
            line = reader.line_num
            cells: dict[str | None, Any] = dict(row)
            if None in cells:
                yield problem_at(path, line, f"more cells than the {len(names)} of the heading", "syntax")
                continue
            yield Row(line, {str(name): cell.strip() for name, cell in cells.items() if cell and cell.strip()})
    except csv.Error as error:
        yield problem_at(path, max(line, reader.line_num), f"no table: {error}", "syntax")
