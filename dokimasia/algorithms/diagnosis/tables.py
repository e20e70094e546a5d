"""The citable tables of a diagnosis: cells by reference, and the paired test of two cells."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from dokimasia.algorithms.diagnosis.asset_tables import counted, figure_text
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure

COUNTED = "n"
"""The displayed last column of every table: the number of units behind a row."""

_WORDS = (
    "three four five six seven eight nine ten eleven twelve "
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety hundred"
COUNTING = {word: count for count, word in enumerate(_WORDS.split(), start=3)}
"""Number words that count as figures; one and two are too common in ordinary language."""

SPELT = re.compile(rf"\b(?:{'|'.join([*COUNTING, *_TENS.split()])})\b", re.IGNORECASE)
"""A figure in words."""

Way = Literal["higher than", "lower than", "not distinguishable from"]
_FORWARD: dict[str, Way] = {"better": "higher than", "worse": "lower than", "unclear": "not distinguishable from"}
_BACKWARD: dict[str, Way] = {**_FORWARD, "better": "lower than", "worse": "higher than"}


class Missing(Exception):
    """A reference has no target or refers to an empty cell; the message says which."""


@dataclass(frozen=True, slots=True)
class EvidenceCell:
    """A cell of a table; `number` is its row's number from 1, and `column` is None for `n`, the number of units of the row."""

    asset: Asset
    number: int
    row: AssetRow
    column: AssetColumn | None
    figure: Figure

    @property
    def place(self) -> str:
        """The cell's row, `ASSET:ROW`."""
        return f"{self.asset.id}:{self.number}"

    @property
    def text(self) -> str:
        """The cell as printed in reports: figure, unit and interval, or its text."""
        if self.column is None:
            return f"{counted(self.row)} {self.asset.counts}"
        return figure_text(self.figure, self.column)


@dataclass(frozen=True)
class EvidenceTables:
    """The citable tables, by id, and the models they are about."""

    assets: dict[str, Asset]
    models: tuple[str, ...] = ()

    def asset(self, ref: str) -> Asset:
        """Return a table by its id.

        Raises:
            Missing: there is no such table.
        """
        if ref not in self.assets:
            raise Missing(f"there is no table {ref[:80]!r}")
        return self.assets[ref]

    def cell(self, ref: str) -> EvidenceCell:
        """Return the cell of a reference `ASSET:ROW.COLUMN`, the row by its number, its key, or its first cell.

        Raises:
            Missing: there is no such table, row or column, two rows have that name, or the cell is empty.
        """
        asset, position = self._split(ref)
        for name, column in _columns(asset).items():
            number = _row(asset, position.removesuffix(f".{name}")) if position.endswith(f".{name}") else None
            if number is None:
                continue
            row = asset.rows[number - 1]
            figure = Figure(value=row.n) if column is None else row.cells[asset.columns.index(column)]
            if figure.value in (None, ""):
                raise Missing(f"{asset.id} has nothing under {name!r} in row {number}")
            return EvidenceCell(asset, number, row, column, figure)
        columns = ", ".join((*(column.name for column in asset.columns), COUNTED))[:200]
        if _row(asset, position) is not None:
            raise Missing(f"{ref[:80]!r} is a whole row; add a full stop and one of its columns: {columns}")
        row, _, column = position.rpartition(".")
        if _row(asset, row) is not None:
            raise Missing(f"{asset.id} has no column {column[:60]!r}; it has: {columns}")
        raise Missing(
            f"{asset.id} has no row {(row or position)[:80]!r}; its rows are numbered from 1 to {len(asset.rows)}"
        )

    def row(self, ref: str) -> str | None:
        """Return the row of a reference to a row or to one of its cells, as `ASSET:ROW`; None if there is no such row."""
        try:
            asset, position = self._split(ref)
        except Missing:
            return None
        for suffix in ("", *(f".{name}" for name in _columns(asset))):
            number = _row(asset, position.removesuffix(suffix)) if position.endswith(suffix) else None
            if number is not None:
                return f"{asset.id}:{number}"
        return None

    def tested(self, first: EvidenceCell, second: EvidenceCell) -> tuple[Way, str] | None:
        """Return how the first of two cells compares with the second by a paired test, and the row of that test.

        Two models' weighted scores (`models`, column `score`) are compared in `pairs`, sample by sample. With two
        models, their scores at one node are compared in `contrasts`, criterion by criterion, if that node was tested.
        No test compares other cells.
        """
        first_model, second_model = _model(first, self.models), _model(second, self.models)
        if not first_model or not second_model or first_model == second_model:
            return None
        if all(cell.asset.id == "models" and cell.column and cell.column.name == "score" for cell in (first, second)):
            return self._of_pair(first_model, second_model)
        scored = all(cell.column and cell.column.kind == "score" for cell in (first, second))
        if scored and len(self.models) == 2 and first.row.node and first.row.node == second.row.node:
            return self._at_node(first_model, first.row.node)
        return None

    def _of_pair(self, first: str, second: str) -> tuple[Way, str] | None:
        for number, row in self._rows("pairs"):
            about = (row.cells[0].value, row.cells[1].value)
            if self.assets["pairs"].direction is not None:  # Otherwise the second model is subtracted from the first.
                about = about[::-1]
            if about == (first, second) and row.mark in _FORWARD:
                return _FORWARD[row.mark], f"pairs:{number}"
            if about == (second, first) and row.mark in _BACKWARD:
                return _BACKWARD[row.mark], f"pairs:{number}"
        return None

    def _at_node(self, model: str, node: str) -> tuple[Way, str] | None:
        for number, row in self._rows("contrasts"):
            if (row.model, row.node) == (model, node) and row.mark in _FORWARD:
                return _FORWARD[row.mark], f"contrasts:{number}"
        return None

    def _rows(self, id: str) -> Iterable[tuple[int, AssetRow]]:
        if id in self.assets:
            return enumerate(self.assets[id].rows, start=1)
        return ()

    def _split(self, ref: str) -> tuple[Asset, str]:
        name, _, position = ref.strip().partition(":")
        return self.asset(name.strip()), position.strip()

    @cached_property
    def numbered_names(self) -> tuple[str, ...]:
        """Names of models, tables, rows, nodes and text cells with a figure in digits or words, longest first."""
        names = {*self.models, *self.assets}
        for asset in self.assets.values():
            names.update(column.name for column in asset.columns)
            for row in asset.rows:
                names.update((row.key, row.node, *(cell.value for cell in row.cells if isinstance(cell.value, str))))
        numbered = (
            name
            for name in names
            if (any(map(str.isdigit, name)) and any(map(str.isalpha, name))) or SPELT.search(name)
        )
        return tuple(sorted(numbered, key=lambda name: (-len(name), name)))


def tables_of(assets: Iterable[Asset], *, models: Sequence[str]) -> EvidenceTables:
    """Return the tables of a diagnosis and the models that it is about."""
    return EvidenceTables({asset.id: asset for asset in assets}, tuple(models))


def _model(cell: EvidenceCell, models: Sequence[str]) -> str:
    """Return the model that a cell is about; in a table with a column per model, the column's model."""
    column = cell.column.name if cell.column is not None else ""
    return cell.row.model or cell.asset.model or (column if column in models else "")


def _columns(asset: Asset) -> dict[str, AssetColumn | None]:
    """Return the columns by every name that a reference may use: with the unit, as in the heading, or without it."""
    return {**{column.name: column for column in asset.columns}, COUNTED: None, **asset.heads}


def _row(asset: Asset, key: str) -> int | None:
    """Return the number of a row by that number, its key, or its first cell, if only one row has it."""
    key = key.strip()
    if key.isascii() and key.isdigit() and len(key) <= 6:
        if 1 <= int(key) <= len(asset.rows):
            return int(key)
        return None
    for keys in ([row.key for row in asset.rows], [str(row.cells[0].value) for row in asset.rows]):
        if keys.count(key) == 1:
            return keys.index(key) + 1
    return None
