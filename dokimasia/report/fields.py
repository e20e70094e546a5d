"""Types of figures (counts, shares, intervals, costs), and how their fields are displayed.

Figures are pydantic models from computation to display. A field with a default is left out of their JSON if it has its
default; every other field is always present, null or not.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, Field

from dokimasia.domain.differences import SecondMinusFirst
from dokimasia.domain.identity import JsonObject, Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.report.blocks import Cell

M = TypeVar("M", bound=BaseModel)
RunFigures = BaseModel | Mapping[str, Any]
"""A run's figures, as their model or as plain JSON."""

Writer = Callable[[Any, str], Cell]
"""Returns the cell of a field's value, given the value and its JSON pointer (empty for none)."""


@dataclass(frozen=True, slots=True)
class Display:
    """How to display a field: title, explanation if needed, and format of the value.

    It annotates the field: `Annotated[Interval | None, Display("reward", "50 times the mean verdict")]`.

    Attributes:
        title: title of a column or an axis.
        meaning: explanation of the title, shown next to it.
        numeric: whether to align values as numbers.
        write: writes the value; by default by its type (`tables.format_value`).
    """

    title: str
    meaning: str = ""
    numeric: bool = True
    write: Writer | None = None


Count = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Counts = dict[str, Count]

Calls = Annotated[Count, Field(description="calls of models that the results rest on, each counted once")]
Cost = Annotated[
    Annotated[float, Field(ge=0)] | None,
    Field(description="of these calls in US dollars; null where any price is unknown"),
]
CostKnown = Annotated[
    Annotated[float, Field(ge=0)] | None,
    Field(description="the known part of a cost that is null; left out where all is known, or nothing"),
]
Failures = Annotated[dict[FailureKind, Count], Field(description="how many failed, by kind of failure")]
LeftOpen = Annotated[
    dict[FailureKind, Count],
    Field(
        default_factory=dict[FailureKind, int],
        description="how many are still to be done: beyond the limit on spending (`budget`), or a person has to answer "
        "(`waiting`); no failures; left out where none is",
    ),
]
Coverage = Annotated[Fraction | None, Field(description="the part of n with an outcome, 0 to 1; null where n is 0")]
NoInterval = Annotated[
    str | None,
    Field(description="why there is no interval: the data cannot tell one that holds its level; absent where there is"),
]

IntervalMethod = Annotated[
    Literal["gaffke"] | None,
    Field(description="which interval it is, where it is not the usual one of the figure: gaffke's; else absent"),
]

Direction = Annotated[
    SecondMinusFirst, Field(description="of every difference of two sides: above 0 the second has the higher figure")
]


class Used(Value):
    """What results used."""

    calls: Calls
    cost: Cost
    cost_known: CostKnown = None


class PassportUsed(Value):
    """What was known of a judge before it was used."""

    judge: str = Field(description="the judge's name")
    sha256: str | None = Field(description="of its passport; null where none was given")
    warnings: tuple[str, ...] = Field(description="what the passport says against using it so")
    chosen: str | None = Field(default=None, description="why it was chosen as judge; absent where it was named")


class ForkedFrom(Value):
    """The run that a run was forked from."""

    run: str = Field(description="its id")
    node: str | None = Field(description="the step that was done anew; null where the whole run was")


class Bounds(Value):
    """What a figure over all n could have been, whatever the failed ones would have come to; in the figure's unit."""

    low: float
    high: float


class Interval(Value):
    """A mean, or a difference of means, with its 95 % interval, in the unit that its field names."""

    mean: float
    low: float | None = Field(description="lower end of the 95 % interval; null where there is none")
    high: float | None = Field(description="upper end of the 95 % interval; null where there is none")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None


class Rate(Value):
    """A share with its 95 % interval, each 0 to 1; null without a trial."""

    share: Fraction | None
    low: Fraction | None = Field(description="lower end of the 95 % interval")
    high: Fraction | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None


class CountedRate(Rate):
    """A share as the number of hits among trials."""

    k: Count = Field(description="hits")
    n: Count = Field(description="trials")


class Share(CountedRate):
    """A share of what has an outcome, and what the failed ones leave open."""

    bounds: Bounds | None = Field(description="of the share over all, failed ones included, 0 to 1; null without any")


class StrictShare(CountedRate):
    """The share of answers that are right: an undecided answer counts as not right, one whose decision failed does not count."""

    n: Count = Field(description="answers that are right, wrong or undecided")
    n_undecided: Count = Field(
        description="of these, answers of which no rule says whether they are right, nor a judge"
    )
    upper: Fraction | None = Field(description="the share if all undecided answers were right; null without an answer")
    outer: Bounds | None = Field(
        default=None,
        description="from the lower end of the interval to the upper end of the interval that the share has if all undecided "
        "answers are right; absent where none is undecided",
    )
    answers: Count = Field(description="answers, also those that failed")
    coverage: Coverage
    bounds: Bounds | None = Field(
        description="of the share over all answers, if no undecided or failed one were right, or all; null without any"
    )


class ChangeCounts(Value):
    """How many paired values are higher, equal and lower in the second of two than in the first."""

    higher: Count
    equal: Count
    lower: Count


class Permutations(Value):
    """The sign patterns that a permutation test went through, and whether these are all that there are."""

    patterns: Count
    exact: bool


class PairedDifference(Value):
    """The mean of paired differences, second minus first, with its test; null without a pair."""

    difference: Interval | None = Field(description="mean over the pairs, clusters resampled whole")
    p_value: Fraction | None = Field(description="two-sided, by sign flips of whole clusters")
    permutations: Permutations | None
    changed: ChangeCounts


class Lead(Value):
    """How the best of several compares with the next best, on the samples that all of them have.

    Who has less than half as many samples as another takes no part.
    """

    best: str = Field(description="who has the highest figure on these samples")
    next_best: str = Field(description="who has the next highest")
    n: Count = Field(description="samples that all have")
    difference: Interval = Field(description="best less next best, by sample, in the figure's unit; not below 0")
    p_value: Fraction = Field(
        description="two-sided, by sign flips of whole clusters; not adjusted for the choice of two"
    )
    samples_needed: Count | None = Field(
        description="samples that show a difference of this size with 80 % power; null where nothing can be said of it"
    )
    reversible: bool = Field(
        default=False,
        description="whether the next best would be ahead if its undecided answers were right; left out where not",
    )


class AgreementCoefficient(Value):
    """A coefficient of agreement corrected for chance, -1 to 1, with its 95 % interval."""

    value: float | None
    low: float | None = Field(description="lower end of the 95 % interval; null where there is none")
    high: float | None = Field(description="upper end of the 95 % interval; null where there is none")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None
    no_value: str | None = Field(default=None, description="why there is no value; absent where there is one")


class Limited(Protocol):
    """Anything with two ends: an interval, a rate, or bounds."""

    @property
    def low(self) -> float | None:
        """The lower end."""
        ...

    @property
    def high(self) -> float | None:
        """The upper end."""
        ...


class ScoredCounts(Protocol):
    """Anything that counts answers and scored answers."""

    @property
    def answers(self) -> int:
        """All answers."""
        ...

    @property
    def answers_scored(self) -> int:
        """Answers with a score."""
        ...


def as_json(figures: RunFigures) -> JsonObject:
    """Return figures as plain JSON; fields with their default are left out."""
    if isinstance(figures, BaseModel):
        return figures.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return dict(figures)


def pointer(*parts: str) -> str:
    """Return the JSON pointer (RFC 6901) of a path in the figures."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


@dataclass(frozen=True, slots=True)
class TableRow(Generic[M]):
    """A part of the figures with its own row: name, figures, and JSON pointer.

    `pointer` is the JSON pointer of the part in `show --json`; None if its cells have no pointers.
    """

    name: str
    figures: M
    pointer: str | None = None

    def find(self, *path: str) -> tuple[Any, str]:
        """Return the value at the end of a path of fields and keys, and its JSON pointer; None if the path ends early."""
        value: Any = self.figures
        names: list[str] = []
        for name in path:
            names.append(name)
            if isinstance(value, BaseModel):
                names[-1] = type(value).model_fields[name].alias or name
                value = getattr(value, name)
            elif value is not None:
                value = value.get(name)
        return value, "" if self.pointer is None else f"{self.pointer}{pointer(*names)}"


def rows_of(parts: Mapping[str, M], *path: str, order: Iterable[str] | None = None) -> list[TableRow[M]]:
    """Return a row for each part of the figures.

    Args:
        parts: the parts by name, such as the figures of each model.
        path: path of the parts in the run's figures; without it, cells have no JSON pointers.
        order: names in the order of the rows; by default the order of the parts.
    """
    return [
        TableRow(name, parts[name], pointer(*path, name) if path else None)
        for name in (parts if order is None else order)
    ]


def numbered_rows(parts: Iterable[M], place: str) -> list[TableRow[M]]:
    """Return a row without a name for each part of a list in the figures; `place` is the list's JSON pointer."""
    return [TableRow("", part, f"{place}/{number}") for number, part in enumerate(parts)]


def display_of(model: type[BaseModel], path: Iterable[str]) -> Display | None:
    """Return the `Display` of the field at the end of a path of fields and keys; None without one.

    Raises:
        AttributeError: there is no such field.
    """
    inside: object = model
    display: Display | None = None
    for name in path:
        display = None
        if get_origin(inside) is dict:
            inside = _without_null(get_args(inside)[1])
            continue
        fields = getattr(inside, "model_fields", {})
        if name not in fields:
            raise AttributeError(f"{inside} has no field {name!r}")
        field = fields[name]
        display = next((entry for entry in field.metadata if isinstance(entry, Display)), None)
        inside = _without_null(field.annotation)
    return display


def _without_null(annotation: object) -> object:
    """Return the type of a field's value when it is not null."""
    if get_origin(annotation) is Annotated:
        return _without_null(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return next(_without_null(option) for option in get_args(annotation) if option is not type(None))
    return annotation
