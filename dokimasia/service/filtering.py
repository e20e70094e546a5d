"""Which samples of a run a person asked for: read from a page's address, put into the query, and written into links."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any, NamedTuple, cast, get_args
from urllib.parse import urlencode

from dokimasia.domain.judgement import Answered, FailureKind
from dokimasia.operations.operation import RequestRefused
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import shown_name
from dokimasia.runs.method import Method
from dokimasia.runs.reading.exporting import row_kind_of
from dokimasia.runs.reading.inspection import SampleGrouping, groupings
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of, count_corrections
from dokimasia.storage.reading.browsing import ANY, Facets, Order, SampleQuery, facets
from dokimasia.storage.runs import Run, get_run

GROUP = "group-"
"""The beginning of a parameter that names a group, before the name of the method that sorts samples so."""

BY_HAND, LEFT_OUT = "yes", "out"
"""Values of the parameter `corrected`: samples with anything corrected by hand, and those of them that were left out."""

CALLED: Mapping[str, str] = {BY_HAND: "corrected or left out", LEFT_OUT: "left out"}

ORDERS: Mapping[Order, str] = {
    "data": "as in the data",
    "low": "lowest score first",
    "high": "highest score first",
    "apart": "scores farthest apart first",
}


class FilterChoice(NamedTuple):
    """Something to choose from: its parameter, what it is called, and its values with what each is called."""

    name: str
    label: str
    values: Sequence[tuple[str, str]]


class Filter(NamedTuple):
    """What a page's address asks for: the samples as the database finds them, and every parameter that says anything."""

    wanted: SampleQuery
    given: Mapping[str, str]

    def query(self, **changes: str | int) -> str:
        """Return the end of a link that asks for the same, with changes; "" where nothing is asked for."""
        text = urlencode({name: value for name, value in {**self.given, **changes}.items() if value != ""})
        return f"?{text}" if text else ""


class FilterableRun(NamedTuple):
    """By what the samples of a run can be filtered: what its rows say, and how other methods sort its samples."""

    method: Method[Any, Any]
    kind: str
    facets: Facets
    groupings: Sequence[SampleGrouping]
    corrected: Mapping[str, frozenset[str]]


def sorted_by(home: Home, run: Run) -> FilterableRun:
    """Return by what the samples of a run can be filtered; what was found is kept until any run, or any tree, changes."""
    method = method_of(run)
    return FilterableRun(
        method, row_kind_of(method), facets_of(home, run), groupings_of(home, run), corrected_in(home, run)
    )


def corrected_in(home: Home, run: Run) -> Mapping[str, frozenset[str]]:
    """Return the samples of a run that people corrected an answer to, and those that they left out; nothing without any."""
    stands = corrections_of(home, run.id)
    answered = frozenset(answer.sample for answer in stands.answers.values())
    found = {BY_HAND: answered | frozenset(stands.left_out), LEFT_OUT: frozenset(stands.left_out)}
    return {name: samples for name, samples in found.items() if samples}


def facets_of(home: Home, run: Run) -> Facets:
    """Return models, failures, verdicts and categories of a run; of one that is done they are kept until any run changes."""
    kind = row_kind_of(method_of(run))
    return _facets(home, run.id, kind, changes_of(home)) if run.status == "done" else facets(home, run.id, kind)


def groupings_of(home: Home, run: Run) -> Sequence[SampleGrouping]:
    """Return how other methods sort the samples of a run; what was found is kept until any run, or any tree, changes."""
    return _groupings(home, run.id, changes_of(home))


def changes_of(home: Home) -> tuple[Any, ...]:
    """Return what is another one when a run of a home changes its status, a version of a tree is made, or a verdict corrected."""
    sql = (
        "SELECT (SELECT max(updated_at) FROM runs), (SELECT count(*) FROM runs), (SELECT max(created_at) FROM tree_versions), "
        "(SELECT count(*) FROM tree_versions)"
    )
    return (*home.all(sql)[0], count_corrections(home))


@lru_cache(maxsize=32)
def _facets(home: Home, run_id: str, kind: str, changes: tuple[Any, ...]) -> Facets:
    return facets(home, run_id, kind)


@lru_cache(maxsize=32)
def _groupings(home: Home, run_id: str, changes: tuple[Any, ...]) -> Sequence[SampleGrouping]:
    return groupings(home, get_run(home, run_id))


def filter_of(asked: Mapping[str, str], by: FilterableRun) -> Filter:
    """Return what the parameters of an address ask for.

    Raises:
        Refused: one is no number, or names nothing that there is.
    """
    every = _every_choice(by)
    names = TEXTS | {one.name for one in every}
    given = {name: value.strip() for name, value in asked.items() if value.strip() and name in names}
    model, arm = "", ""
    for one in every:
        # A link stays good when what it asks for was corrected, or asked anew, since.
        fixed = {"failure": get_args(FailureKind), "corrected": tuple(CALLED), "answer": get_args(Answered)}
        known = dict(one.values) | dict.fromkeys(fixed.get(one.name, ()), "")
        if one.name in given and given[one.name] not in known:
            raise RequestRefused(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                f"{one.label}: there is no {given[one.name]!r}; there are {', '.join(map(str, known)) or 'none'}",
            )
    if "model" in given:
        model, arm = {shown_name(*one): one for one in by.facets.models}[given["model"]]
    unit = by.method.shown
    wanted = SampleQuery(
        search=given.get("q", ""),
        answers="answers" in given,
        model=model,
        arm=arm,
        low=_number(given, "low", unit),
        high=_number(given, "high", unit),
        failure=given.get("failure", ""),
        verdict=given.get("answer", ""),
        category=given.get("category", ""),
        among=_among(given, by, given.get("model", "")),
        order=cast("Order", given.get("order", "data")),
    )
    return Filter(wanted, given)


TEXTS = frozenset({"q", "answers", "low", "high"})
"""Parameters that are written and not chosen."""


def choices(by: FilterableRun) -> list[FilterChoice]:
    """Return what there is to choose from; what leaves no choice is left out."""
    least = {"model": 2, "category": 2, "failure": 2, "order": 2 if by.method.scale and by.facets.models else 99}
    return [one for one in _every_choice(by) if len(one.values) >= least.get(one.name, 1)]


def _every_choice(by: FilterableRun) -> list[FilterChoice]:
    failures = [(ANY, "any failure"), *((failure, failure.replace("_", " ")) for failure in by.facets.failures)]
    return [
        FilterChoice("model", "model", [(name, name) for name in (shown_name(*model) for model in by.facets.models)]),
        FilterChoice("answer", "final answer", [(verdict, verdict) for verdict in by.facets.verdicts]),
        FilterChoice("failure", "failure", failures),
        *(
            FilterChoice(
                f"{GROUP}{grouping.name}",
                grouping.called,
                [(id, f"{'– ' * group.depth}{group.title}") for id, group in grouping.groups.items()],
            )
            for grouping in by.groupings
        ),
        FilterChoice("corrected", "corrected by hand", [(one, CALLED[one]) for one in by.corrected]),
        FilterChoice("category", "category", [(category, category) for category in by.facets.categories]),
        FilterChoice("order", "order", list(ORDERS.items())),
    ]


def _among(given: Mapping[str, str], by: FilterableRun, model: str) -> frozenset[str] | None:
    """Return the samples that are in every group that is asked for, with a model those whose answer by it is."""
    chosen = [grouping.groups[given[name]] for grouping in by.groupings if (name := f"{GROUP}{grouping.name}") in given]
    each = [
        frozenset(sample for sample, whose in group.members if not model or whose in ("", model)) for group in chosen
    ]
    if "corrected" in given:
        each.append(by.corrected.get(given["corrected"], frozenset()))
    return frozenset.intersection(*each) if each else None


def _number(given: Mapping[str, str], name: str, unit: float) -> float | None:
    text = given.get(name, "").strip().replace(",", ".")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, f"score ({name}): {text[:80]!r} is no number")
    return value / unit
