"""Filters for the samples of a run: read from a page's address, turned into a query, and written into links."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple, cast, get_args
from urllib.parse import urlencode

from dokimasia.domain.judgement import Answered, FailureKind
from dokimasia.operations.operation import RequestRefused
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import shown_name
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.reading.inspection import SampleGrouping, sample_groupings
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of, count_corrections
from dokimasia.storage.reading.browsing import ANY, Facets, Order, SampleQuery, facets
from dokimasia.storage.runs import Run, get_run

GROUP = "group-"
"""The prefix of a parameter that names a group, before the name of the method that groups the samples."""

BY_HAND, LEFT_OUT = "yes", "out"
"""Values of the parameter `corrected`: samples that people corrected or left out, and those that they left out."""

CORRECTED_LABELS: Mapping[str, str] = {BY_HAND: "corrected or left out", LEFT_OUT: "left out"}

ORDERS: Mapping[Order, str] = {
    "data": "as in the data",
    "low": "lowest score first",
    "high": "highest score first",
    "apart": "scores farthest apart first",
}


class FilterChoice(NamedTuple):
    """A choice: its parameter, its label, and its values with their labels."""

    name: str
    label: str
    values: Sequence[tuple[str, str]]


class Filter(NamedTuple):
    """The filter in a page's address: the database query, and every parameter that is set."""

    sample_query: SampleQuery
    values: Mapping[str, str]

    def query(self, **changes: str | int) -> str:
        """Return the query string of a link with the same filter and some changes; "" without any filter."""
        text = urlencode({name: value for name, value in {**self.values, **changes}.items() if value != ""})
        return f"?{text}" if text else ""


class FilterableRun(NamedTuple):
    """What the samples of a run can be filtered by: facets of its rows, groups of other methods, and corrections."""

    method: AnyMethod
    kind: str
    facets: Facets
    groupings: Sequence[SampleGrouping]
    corrected: Mapping[str, frozenset[str]]


def filterable_run(home: Home, run: Run) -> FilterableRun:
    """Return what the samples of a run can be filtered by; cached until any run or tree changes."""
    method = method_of(run)
    return FilterableRun(
        method, method.row_kind, facets_of(home, run), groupings_of(home, run), corrected_samples(home, run)
    )


def corrected_samples(home: Home, run: Run) -> Mapping[str, frozenset[str]]:
    """Return the samples of a run whose answers people corrected, and those that they left out, where there are any."""
    corrections = corrections_of(home, run.id)
    answered = frozenset(answer.sample for answer in corrections.answers.values())
    samples_by_kind = {BY_HAND: answered | frozenset(corrections.left_out), LEFT_OUT: frozenset(corrections.left_out)}
    return {name: samples for name, samples in samples_by_kind.items() if samples}


def facets_of(home: Home, run: Run) -> Facets:
    """Return models, failures, verdicts and categories of a run; for a run that is done, cached until any run changes."""
    kind = method_of(run).row_kind
    return _facets(home, run.id, kind, home_version(home)) if run.status == "done" else facets(home, run.id, kind)


def groupings_of(home: Home, run: Run) -> Sequence[SampleGrouping]:
    """Return how other methods group the samples of a run; cached until any run or tree changes."""
    return _groupings(home, run.id, home_version(home))


def home_version(home: Home) -> tuple[object, ...]:
    """Return a cache key that changes with the status of any run, a new version of a tree, and a correction."""
    sql = (
        "SELECT (SELECT max(updated_at) FROM runs), (SELECT count(*) FROM runs), (SELECT max(created_at) FROM tree_versions), "
        "(SELECT count(*) FROM tree_versions)"
    )
    return (*home.all(sql)[0], count_corrections(home))


@lru_cache(maxsize=32)
def _facets(home: Home, run_id: str, kind: str, changes: tuple[object, ...]) -> Facets:
    return facets(home, run_id, kind)


@lru_cache(maxsize=32)
def _groupings(home: Home, run_id: str, changes: tuple[object, ...]) -> Sequence[SampleGrouping]:
    return sample_groupings(home, get_run(home, run_id))


def filter_of(parameters: Mapping[str, str], filterable: FilterableRun) -> Filter:
    """Return the filter that the parameters of an address describe.

    Raises:
        RequestRefused: a parameter is no number, or names nothing that exists.
    """
    all_choices = _every_choice(filterable)
    names = TEXTS | {choice.name for choice in all_choices}
    values = {name: value.strip() for name, value in parameters.items() if value.strip() and name in names}
    model, arm = "", ""
    for choice in all_choices:
        # A link remains valid when the answers that it filters by have since been corrected or asked again.
        fixed_values = {
            "failure": get_args(FailureKind),
            "corrected": tuple(CORRECTED_LABELS),
            "answer": get_args(Answered),
        }
        allowed = dict(choice.values) | dict.fromkeys(fixed_values.get(choice.name, ()), "")
        if choice.name in values and values[choice.name] not in allowed:
            raise RequestRefused(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                f"{choice.label}: there is no {values[choice.name]!r}; there are {', '.join(map(str, allowed)) or 'none'}",
            )
    if "model" in values:
        model, arm = {shown_name(*model): model for model in filterable.facets.models}[values["model"]]
    unit = filterable.method.shown
    query = SampleQuery(
        search=values.get("q", ""),
        answers="answers" in values,
        model=model,
        arm=arm,
        low=_number(values, "low", unit),
        high=_number(values, "high", unit),
        failure=values.get("failure", ""),
        verdict=values.get("answer", ""),
        category=values.get("category", ""),
        among=_among(values, filterable, values.get("model", "")),
        order=cast("Order", values.get("order", "data")),
    )
    return Filter(query, values)


TEXTS = frozenset({"q", "answers", "low", "high"})
"""Parameters that are typed, not chosen."""


def choices(filterable: FilterableRun) -> list[FilterChoice]:
    """Return the choices that offer more than one possibility."""
    least = {
        "model": 2,
        "category": 2,
        "failure": 2,
        "order": 2 if filterable.method.scale and filterable.facets.models else 99,
    }
    return [choice for choice in _every_choice(filterable) if len(choice.values) >= least.get(choice.name, 1)]


def _every_choice(filterable: FilterableRun) -> list[FilterChoice]:
    failures = [(ANY, "any failure"), *((failure, failure.replace("_", " ")) for failure in filterable.facets.failures)]
    return [
        FilterChoice(
            "model", "model", [(name, name) for name in (shown_name(*model) for model in filterable.facets.models)]
        ),
        FilterChoice("answer", "final answer", [(verdict, verdict) for verdict in filterable.facets.verdicts]),
        FilterChoice("failure", "failure", failures),
        *(
            FilterChoice(
                f"{GROUP}{grouping.name}",
                grouping.called,
                [(id, f"{'– ' * group.depth}{group.title}") for id, group in grouping.groups.items()],
            )
            for grouping in filterable.groupings
        ),
        FilterChoice(
            "corrected", "corrected by hand", [(kind, CORRECTED_LABELS[kind]) for kind in filterable.corrected]
        ),
        FilterChoice("category", "category", [(category, category) for category in filterable.facets.categories]),
        FilterChoice("order", "order", list(ORDERS.items())),
    ]


def _among(values: Mapping[str, str], filterable: FilterableRun, model: str) -> frozenset[str] | None:
    """Return the samples in all chosen groups; with a model, those whose answer by that model is in them."""
    groups = [
        grouping.groups[values[name]]
        for grouping in filterable.groupings
        if (name := f"{GROUP}{grouping.name}") in values
    ]
    sample_sets = [
        frozenset(sample for sample, answerer in group.members if not model or answerer in ("", model))
        for group in groups
    ]
    if "corrected" in values:
        sample_sets.append(filterable.corrected.get(values["corrected"], frozenset()))
    return frozenset.intersection(*sample_sets) if sample_sets else None


def _number(values: Mapping[str, str], name: str, unit: float) -> float | None:
    text = values.get(name, "").strip().replace(",", ".")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, f"score ({name}): {text[:80]!r} is no number")
    return value / unit
