"""Texts as cells of comma-separated text that no spreadsheet takes for a formula, and such tables read back."""

import re
from collections.abc import Iterator
from pathlib import Path

from dokimasia.datasets.lines import Problem, Row, problem_at
from dokimasia.datasets.tsv import read_records

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def guarded(text: str) -> str:
    """Return a text with an apostrophe in front where a spreadsheet would take it for a formula; numbers stay.

    Texts that look guarded already get one more, so that `unguarded` is the inverse.

    Examples:
        >>> [guarded(text) for text in ("=1+1", "-5", "'=1+1", "it's")]
        ["'=1+1", '-5', "''=1+1", "it's"]
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Return the text of a cell that `guarded` made.

    Examples:
        >>> [unguarded(guarded(text)) for text in ("=1+1", "-5", "'=1+1", "it's")]
        ['=1+1', '-5', "'=1+1", "it's"]
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def read_csv(path: Path) -> Iterator[Row | Problem]:
    """Yield the rows of comma-separated text, each a text by column, or what is wrong with them; the first names the columns.

    A row's number is that of its first line. Empty cells are None.

    Raises:
        NotFound: there is no such file.
        DataError: it is a folder or cannot be read.
    """
    header: list[str] | None = None
    for record in read_records(path, delimiter=",", exact=True):
        if isinstance(record, Problem):
            yield record
            continue
        number, cells = record
        if header is None:
            header = [cell.strip() for cell in cells]
            if twice := sorted({name for name in header if header.count(name) > 1}):
                yield problem_at(path, number, f"the column {twice[0]!r} stands twice in the header", "columns")
                return
            if len(header) == 1 and ";" in header[0]:
                wrong = f"one column, {header[0]!r}, is found: a comma is expected between cells, and not a semicolon"
                yield problem_at(path, number, wrong, "columns")
                return
        elif len(cells) != len(header):
            wrong = f"{len(cells)} cells where the header has {len(header)} columns; is a comma too few or too many, or a quote?"
            yield problem_at(path, number, wrong, "columns")
        else:
            yield Row(number, {name: unguarded(cell) or None for name, cell in zip(header, cells, strict=True)})
