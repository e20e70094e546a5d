"""What a sentence may rest on: the cells of a diagnosis's tables, found by their references."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from dokimasia.domain.diagnosis import Asset, AssetColumn, AssetRow, Mark

Node = str
FILLER = "\u25a1"
"""Stands for every character of a reference or a name in a sentence: neither a digit nor a letter."""

_SIDES = {"first higher": 0, "second higher": 1}
MIRROR: dict[str, Mark] = {"better": "worse", "worse": "better", "weak": "strong", "strong": "weak"}


@dataclass(frozen=True, slots=True)
class Fact:
    """What a reference leads to: a cell, a whole row (`column` is None), or a whole asset (`row` is None, too).

    Attributes:
        ref: the reference in its one form, such as `leaves/sim-weak:3.score`.
        asset: the table.
        row: the line.
        column: the column.
        value: the cell's number; None for a text, nothing, a row or an asset.
        low: lower end of its interval.
        high: upper end of its interval.
        model: whom it is about; empty for several.
        node: which leaf or category it is about; empty for all.
        pair: the two models that it compares, the first minus the second; empty where it does not.
        winner: the one of them that the column counts as the higher; empty where it counts neither.
    """

    ref: str
    asset: Asset
    row: AssetRow | None = None
    column: AssetColumn | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    model: str = ""
    node: str = ""
    pair: tuple[str, ...] = ()
    winner: str = ""

    @property
    def estimated(self) -> bool:
        """Whether it has an interval."""
        return self.low is not None and self.high is not None

    def mirrored(self) -> "Fact":
        """Return the same seen from the second of the pair: a difference the other way round, and its mark."""
        row = None if self.row is None else self.row.model_copy(update={"mark": MIRROR.get(self.mark, self.mark)})
        fact = replace(self, row=row, pair=self.pair[::-1])
        if self.kind != "difference" or self.value is None:
            return fact
        low, high = (None, None) if self.low is None or self.high is None else (-self.high, -self.low)
        return replace(fact, value=-self.value, low=low, high=high)

    @property
    def kind(self) -> str:
        """What its column holds; empty without one."""
        return self.column.kind if self.column is not None else ""

    @property
    def scale(self) -> tuple[str, str]:
        """What may be held against each other: what its column holds, and in which unit."""
        return self.kind, self.column.unit if self.column is not None else ""

    @property
    def mark(self) -> Mark:
        """What the rule says of its row."""
        return self.row.mark if self.row is not None else ""

    @property
    def ruled(self) -> bool:
        """Whether its table marks rows by a rule that is corrected for looking at many."""
        return any(column.kind == "mark" for column in self.asset.columns)


class Missing(Exception):
    """A reference leads nowhere: `asset` is false where the asset is there and the cell is not."""

    def __init__(self, reason: str, *, asset: bool) -> None:
        super().__init__(reason)
        self.asset = asset


@dataclass(frozen=True, slots=True)
class Evidence:
    """The tables that may be cited, and the names that sentences may speak of.

    Attributes:
        assets: by id.
        models: names of models.
        nodes: written name (a leaf's own name, or its path) to the nodes that bear it.
    """

    assets: dict[str, Asset]
    models: tuple[str, ...] = ()
    nodes: dict[str, tuple[Node, ...]] = field(default_factory=dict[str, tuple[Node, ...]])

    def find(self, ref: str) -> Fact:
        """Return what a reference leads to: `asset`, `asset:row`, or `asset:row.column`, the row by number or key.

        Raises:
            Missing: there is no such asset, row, or column, or two rows have that key.
        """
        name, colon, rest = ref.partition(":")
        asset = self.assets.get(name.strip())
        if asset is None:
            raise Missing(f"there is no asset {name.strip()[:80]!r}", asset=True)
        if not colon:
            return Fact(asset.id, asset, model=asset.model)
        rest = rest.strip()
        row, column = _place(asset, rest)
        number = asset.rows.index(row) + 1
        pair = self._pair(asset, row)
        if column is None:
            return Fact(f"{asset.id}:{number}", asset, row, model=row.model or asset.model, node=row.node, pair=pair)
        cell = row.cells[asset.columns.index(column)]
        value = None if isinstance(cell.value, str) else cell.value
        model = row.model or asset.model or (column.name if column.name in self.models else "")
        ref = f"{asset.id}:{number}.{column.name}"
        winner = pair[_SIDES[column.name]] if pair and column.name in _SIDES else ""
        return Fact(ref, asset, row, column, value, cell.low, cell.high, model, row.node, pair, winner)

    def _pair(self, asset: Asset, row: AssetRow) -> tuple[str, ...]:
        names = [str(cell.value) for cell, one in zip(row.cells, asset.columns, strict=True) if one.kind == "name"]
        pair = tuple(name for name in names if name in self.models)
        return pair if len(pair) == 2 and not row.model else ()


def evidence_of(assets: Iterable[Asset], *, models: Sequence[str] = ()) -> Evidence:
    """Return the evidence that assets are.

    Parameters
    ----------
    assets : iterable of Asset
        The tables.
    models : sequence of str, optional
        Names of models beside those that the tables name.

    Returns
    -------
    Evidence
        The assets by id, with every name of a model, a leaf and a category in them.
    """
    kept = {asset.id: asset for asset in assets}
    names: dict[str, None] = dict.fromkeys(models)
    nodes: dict[str, dict[Node, None]] = {}
    for asset in kept.values():
        if asset.model:
            names[asset.model] = None
        for row in asset.rows:
            if row.model:
                names[row.model] = None
            if row.node:
                for written in {row.node, *_PART.findall(row.node)[-1:]}:
                    nodes.setdefault(written, {})[row.node] = None
    return Evidence(kept, tuple(names), {name: tuple(held) for name, held in nodes.items()})


_PART = re.compile(r"<([^<>]+)>")


def _place(asset: Asset, rest: str) -> tuple[AssetRow, AssetColumn | None]:
    """Return row and column of what follows the asset's id; a row may have full stops in its key, a column, too."""
    splits: list[tuple[str, AssetColumn | None]] = [
        (rest[: -len(column.name) - 1], column) for column in asset.columns if rest.endswith("." + column.name)
    ]
    for key, column in [*splits, (rest, None)]:
        row = _row(asset, key.strip())
        if row is not None:
            return row, column
    if not splits and "." in rest and (row := _row(asset, rest.rpartition(".")[0].strip())) is not None:
        columns = ", ".join(column.name for column in asset.columns)
        raise Missing(
            f"{asset.id} has no column {rest.rpartition('.')[2][:60]!r}; it has: {columns[:200]}", asset=False
        )
    raise Missing(f"{asset.id} has no row {rest[:80]!r}", asset=False)


def _row(asset: Asset, key: str) -> AssetRow | None:
    if key.isascii() and key.isdigit() and len(key) <= 6:
        return asset.rows[int(key) - 1] if 1 <= int(key) <= len(asset.rows) else None
    found = [row for row in asset.rows if row.key == key]
    return found[0] if len(found) == 1 else None
