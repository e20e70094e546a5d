"""Diagnosis of a run: named, citable tables of figures with their intervals (ATOM, 3.4 and H)."""

from typing import Annotated, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from dokimasia.domain.differences import SecondMinusFirst
from dokimasia.domain.identity import JsonObject, Value

ColumnKind = Literal["name", "score", "difference", "share", "rank", "count", "p_value", "mark"]
"""The contents of a column: a name or a mark (text), a score (the unit states its scale), a difference of scores
(signed), a share (0 to 1), a rank (1 is best), a count, or a p-value (0 to 1).
"""

Grouping = Literal["tree", "category"]
"""The grouping of criteria: by the leaves of a capability tree, or by the data set's own categories."""

Mark = Literal["", "weak", "strong", "unclear", "better", "worse"]
"""The rule's mark of a row, corrected for multiple comparisons; empty if not tested or not significant."""

Number = Annotated[float, Field(allow_inf_nan=False)]


class AssetColumn(Value):
    """A column of an asset: its name, its unit as it is written (empty without one), and what it holds.

    `better` says whether more is better; None where neither is.
    """

    name: str = Field(min_length=1, max_length=300)
    unit: str = ""
    kind: ColumnKind
    better: Literal["higher", "lower"] | None = None


class Figure(Value):
    """One cell: a number, a text, or nothing, with the 95 % interval of a number that was estimated, or why it has none."""

    value: int | Number | str | None = None
    low: Number | None = None
    high: Number | None = None
    no_interval: str | None = None
    interval_method: Literal["gaffke"] | None = None

    @model_serializer(mode="wrap")
    def _without_empty_reason(self, plain: SerializerFunctionWrapHandler) -> JsonObject:
        """Leave out the reason where there is an interval, and the method of the usual one: older cells keep their JSON."""
        left_out = ("no_interval", "interval_method")
        return {name: value for name, value in plain(self).items() if name not in left_out or value}

    @property
    def estimated(self) -> bool:
        """Whether the cell has an interval, or a reason for its absence."""
        return self.no_interval is not None or (self.low is not None and self.high is not None)


class AssetRow(Value):
    """One line of an asset: a cell for each column, how much is behind it, and whom and what it is about.

    `n` counts what the row rests on (scored criteria, samples, or failed atoms: the asset's `counts` says which), `held` what was
    asked about; `model`, `node` (a leaf, or a category), and `samples` lead to the atoms behind it.
    """

    key: str = Field(min_length=1)
    cells: tuple[Figure, ...]
    n: int = Field(ge=0)
    held: int = Field(ge=0)
    mark: Mark = ""
    model: str = ""
    node: str = ""
    samples: tuple[str, ...] = ()

    @property
    def coverage(self) -> float | None:
        """The share of attempted judgements with a score, 0 to 1; None if nothing was attempted."""
        if self.held:
            return self.n / self.held
        return None


class Asset(Value):
    """A named table that a report may cite by its `id`, such as `leaves/sim-weak`, and a row of it as `leaves/sim-weak:3`.

    `family` is the part of the id before the stroke; `model` whom it is about (empty: all); `sentence` says what the
    table shows, and by which rule its rows are marked; `counts` what `n` counts. `direction` is that of differences of two
    models or runs, and of their marks; null where there are none, and in `pairs` of older homes, where the first model has
    the second subtracted.
    """

    id: str = Field(pattern=r"^[a-z0-9-]+(/[^\s:\[\]]+)?$")
    title: str
    sentence: str
    columns: tuple[AssetColumn, ...] = Field(min_length=1)
    rows: tuple[AssetRow, ...] = ()
    model: str = ""
    counts: Literal["criteria", "samples", "failed atoms"] = "criteria"
    direction: SecondMinusFirst | None = None

    @model_serializer(mode="wrap")
    def _without_no_direction(self, plain: SerializerFunctionWrapHandler) -> JsonObject:
        """Leave out the direction where there is none: older tables keep their JSON."""
        return {name: value for name, value in plain(self).items() if name != "direction" or value}

    @model_validator(mode="after")
    def _rectangular(self) -> Self:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(
                    f"row {row.key!r} of {self.id} has {len(row.cells)} cells for {len(self.columns)} columns"
                )
        return self

    @property
    def family(self) -> str:
        """The kind of asset."""
        return self.id.partition("/")[0]

    @property
    def heads(self) -> dict[str, AssetColumn | None]:
        """The columns by their headings (names with units); the last (None) is the row's count."""
        heads = {f"{column.name} ({column.unit})" if column.unit else column.name: column for column in self.columns}
        return {**heads, f"n ({self.counts})": None}

    def cell(self, row: int, column: str) -> Figure:
        """Return the cell in a row (from 1) and a column.

        Raises:
            KeyError: there is no such row or column.
        """
        names = [column.name for column in self.columns]
        if not 1 <= row <= len(self.rows) or column not in names:
            raise KeyError(f"{self.id} has no row {row} with a column {column!r}")
        return self.rows[row - 1].cells[names.index(column)]


class Diagnosis(Value):
    """Everything that is said of a run in numbers: who was judged, what the criteria were grouped by, and the tables.

    `tree` and `version` are empty, and `position` 0, where the criteria are grouped by the data's categories. `notes`
    are what a reader must know first, such as a mapping that is out of date.
    """

    run: str
    status: str
    seed: int
    grouping: Grouping
    tree: str = ""
    position: int = 0
    version: str = ""
    models: tuple[str, ...]
    simulated: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    assets: tuple[Asset, ...]

    def asset(self, id: str) -> Asset | None:
        """Return the asset with that id, or None."""
        return next((asset for asset in self.assets if asset.id == id), None)
