"""Parts that the figures of several methods have, typed: the heading of a run, intervals, shares; and the published schema.

A field that has a default is left out where there is nothing to say; every other field is always there, null or not.
"""

from contextlib import suppress
from typing import Annotated, Any

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.errors import ConfigError, NotFound
from dokimasia.runs.catalogue import OWN, plugin_methods
from dokimasia.runs.method import Method
from dokimasia.runs.registry import method_named, own_method
from dokimasia.storage.runs import RunStatus

Count = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Counts = dict[str, Count]

Seed = Annotated[int, Field(ge=0, description="of draws and intervals")]
Judge = Annotated[str, Field(description="the judge's name")]
Skipped = Annotated[
    tuple[str, ...], Field(description="samples and answers that were left out, each with its problems")
]
OpenItems = Annotated[Count, Field(description="items without a result yet; 0 for a finished run")]
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
Coverage = Annotated[Fraction | None, Field(description="the part of n with an outcome, 0 to 1; null where n is 0")]


class Heading(Value):
    """What the figures of every run begin with."""

    run: str = Field(description="the run's id")
    status: RunStatus
    simulated: tuple[str, ...] = Field(description="names of its models that are simulated")


class PassportUsed(Value):
    """What was known of a judge before it was used."""

    judge: str = Field(description="the judge's name")
    sha256: str | None = Field(description="of its passport; null where none was given")
    warnings: tuple[str, ...] = Field(description="what the passport says against using it so")
    chosen: str | None = Field(default=None, description="why it was chosen as judge; absent where it was named")


class DataFigures(Heading):
    """What the figures of every run over a data set say."""

    seed: Seed
    skipped: Skipped
    open_items: OpenItems
    passports: tuple[PassportUsed, ...] = Field(
        default=(), description="of its judges, where passports were given; else absent"
    )


class Used(Value):
    """What results used."""

    calls: Calls
    cost: Cost
    cost_known: CostKnown = None


class Bounds(Value):
    """What a figure over all n could have been, whatever the failed ones would have come to; in the figure's unit."""

    low: float
    high: float


NoInterval = Annotated[
    str | None,
    Field(description="why there is no interval: the data cannot tell one that holds its level; absent where there is"),
]


class Interval(Value):
    """A mean, or a difference of means, with its 95 % interval, in the unit that its field names."""

    mean: float
    low: float | None = Field(description="lower end of the 95 % interval; null where there is none")
    high: float | None = Field(description="upper end of the 95 % interval; null where there is none")
    no_interval: NoInterval = None


class Rate(Value):
    """A share with its 95 % interval, each 0 to 1; null without a trial."""

    share: Fraction | None
    low: Fraction | None = Field(description="lower end of the 95 % interval")
    high: Fraction | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None


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
    answers: Count = Field(description="answers, also those that failed")
    coverage: Coverage
    bounds: Bounds | None = Field(
        description="of the share over all answers, if no undecided or failed one were right, or all; null without any"
    )


def described() -> list[Method[Any, Any]]:
    """Return the methods whose figures have a published schema, in the order of use; plug-ins that cannot be used have none."""
    found = [own_method(name) for name in OWN]
    for name in plugin_methods():
        with suppress(ConfigError):
            found.append(method_named(name))
    return [one for one in found if one.shape is not None]


def published(method: Method[Any, Any]) -> dict[str, Any]:
    """Return the JSON schema of what `--json` prints of a run of a method.

    Raises:
        NotFound: the method says nothing of the shape of its figures.
    """
    if method.shape is None:
        raise NotFound(f"the method {method.name!r} says nothing of the shape of its figures")
    schema = method.shape().model_json_schema()
    if method.items is not None and method.items_shown:
        schema["properties"]["items"] = {
            "type": "array",
            "items": {"type": "object"},
            "description": "the items of the run that have a result",
        }
        schema["required"].append("items")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
