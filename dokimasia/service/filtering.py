"""Filters for the samples of a run: read from a page's address, turned into a query, and written into links."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from http import HTTPStatus
from typing import NamedTuple, cast, get_args
from urllib.parse import urlencode

from dokimasia.domain.judgement import Answered, FailureKind
from dokimasia.operations.operation import RequestRefused
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import shown_name
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.reading.inspection import SampleGrouping, sample_groupings
from dokimasia.runs.reading.meaning import MeaningSearch, SearchableText, embedding_model, look_up, searchable_texts
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.people.comments import comment_counts
from dokimasia.storage.people.corrections import corrections_of, count_corrections
from dokimasia.storage.reading.browsing import ANY, Facets, Order, ReplyKind, SampleQuery, facets
from dokimasia.storage.runs import Run, get_run

GROUP = "group-"
"""The prefix of a parameter that names a group, before the name of the method that groups the samples."""

BY_HAND, LEFT_OUT = "yes", "out"
"""Values of the parameter `corrected`: samples that people corrected or left out, and only those left out."""

COMMENTED_LABELS: Mapping[str, str] = {"yes": "with comments"}

CORRECTED_LABELS: Mapping[str, str] = {BY_HAND: "corrected or left out", LEFT_OUT: "left out"}

ORDERS: Mapping[Order, str] = {
    "data": "as in the data",
    "low": "lowest score first",
    "high": "highest score first",
    "apart": "scores farthest apart first",
    "name": "name, A to Z",
    "name-down": "name, Z to A",
    "most-failures": "most failures first",
    "fewest-failures": "fewest failures first",
}

REPLIES: Mapping[ReplyKind, str] = {"refused": "refused", "empty": "empty", "truncated": "cut at the token limit"}

FAILURES: Mapping[str, str] = {
    ANY: "any failure",
    "unparsable": "unreadable",
    "api_error": "API error",
    "context_overflow": "context too long",
    "budget": "not asked: budget",
    "waiting": "waits for a person",
}
"""Labels of kinds of failure; any other kind is its own label."""

SHOWN = 8
"""The number of models in the list if none are chosen."""


class FilterChoice(NamedTuple):
    """A choice: its parameter, its label, and its values with their labels."""

    name: str
    label: str
    values: Sequence[tuple[str, str]]


class Filter(NamedTuple):
    """The filter in a page's address: the database query, every set parameter, and the models to show (none: some).

    `search` is the semantic search in the parameters.
    """

    sample_query: SampleQuery
    values: Mapping[str, str]
    shown: tuple[str, ...] = ()
    search: MeaningSearch | None = None

    def query(self, **changes: str | int) -> str:
        """Return the query string of a link with the same filter and some changes; "" without any filter."""
        pairs = [(name, value) for name, value in {**self.values, **changes}.items() if value != ""]
        text = urlencode([*pairs, *(("show", name) for name in self.shown)])
        return f"?{text}" if text else ""

    def order_query(self, first: Order, second: Order, by: str = "") -> str:
        """Return the query string of a link that sorts by a column: in its `first` order, or in the `second` if it has that."""
        order = second if self.is_order(first, by) else first
        return self.query(order=order, by=by)

    def is_order(self, order: Order, by: str = "") -> bool:
        """Whether the samples are in an order, by the scores of a model if one is named."""
        return self.sample_query.order == order and self.values.get("by", "") == by


class FilterableRun(NamedTuple):
    """What the samples of a run can be filtered by: facets of its rows, groups of other methods, corrections, comments.

    `look_up` returns the semantic search for a text, in questions or, with True, in answers, from the ledger alone.
    `repeated` is whether a model has several answers to a sample.
    """

    method: AnyMethod
    kind: str
    facets: Facets
    groupings: Sequence[SampleGrouping]
    corrected: Mapping[str, frozenset[str]]
    commented: Mapping[str, int]
    look_up: Callable[[str, bool], MeaningSearch]
    repeated: bool = False


def filterable_run(home: Home, run: Run, settings: Settings) -> FilterableRun:
    """Return what the samples of a run can be filtered by; cached until any run or tree changes."""
    method = method_of(run)
    return FilterableRun(
        method,
        method.row_kind,
        facets_of(home, run),
        groupings_of(home, run),
        corrected_samples(home, run),
        comment_counts(home, run.id),
        partial(_look_up, home, run, settings),
        repeated=run.request.get("repeats", 1) not in (None, 1),
    )


def _look_up(home: Home, run: Run, settings: Settings, text: str, answers: bool) -> MeaningSearch:
    spec = embedding_model(settings)
    if run.status == "done":
        texts = _texts(home, run.id, answers, home_version(home))
    else:
        texts = searchable_texts(home, run.id, answers=answers)
    return look_up(home, spec, texts, text)


@lru_cache(maxsize=8)
def _texts(home: Home, run_id: str, answers: bool, changes: tuple[object, ...]) -> tuple[SearchableText, ...]:
    return searchable_texts(home, run_id, answers=answers)


def corrected_samples(home: Home, run: Run) -> Mapping[str, frozenset[str]]:
    """Return the samples of a run with answers that people corrected, and those that people left out, if any."""
    corrections = corrections_of(home, run.id)
    answered = frozenset(answer.sample for answer in corrections.answers.values())
    samples_by_kind = {BY_HAND: answered | frozenset(corrections.left_out), LEFT_OUT: frozenset(corrections.left_out)}
    return {name: samples for name, samples in samples_by_kind.items() if samples}


def facets_of(home: Home, run: Run) -> Facets:
    """Return models, failures, verdicts and categories of a run; for a run that is done, cached until any run changes."""
    kind = method_of(run).row_kind
    if run.status == "done":
        return _facets(home, run.id, kind, home_version(home))
    return facets(home, run.id, kind)


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


def filter_of(parameters: Mapping[str, str], filterable: FilterableRun, *, show: Sequence[str] = ()) -> Filter:
    """Return the filter described by the parameters of an address; `show` are the models whose results are shown.

    Raises:
        RequestRefused: a parameter is not a number, or names nothing that exists.
        ConfigError: samples are searched by meaning, but no embedding model is configured.
    """
    all_choices = _every_choice(filterable)
    names = TEXTS | {choice.name for choice in all_choices}
    values = {name: value.strip() for name, value in parameters.items() if value.strip() and name in names}
    model, arm = "", ""
    for choice in all_choices:
        # A link stays valid after the answers it filters by were corrected or asked again.
        fixed_values = {
            "failure": get_args(FailureKind),
            "corrected": tuple(CORRECTED_LABELS),
            "answer": get_args(Answered),
            "comments": tuple(COMMENTED_LABELS),
        }
        allowed = dict(choice.values) | dict.fromkeys(fixed_values.get(choice.name, ()), "")
        if choice.name in values and values[choice.name] not in allowed:
            raise RequestRefused(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                f"{choice.label}: there is no {values[choice.name]!r}; there are {', '.join(map(str, allowed)) or 'none'}",
            )
    models = {shown_name(*model): model for model in filterable.facets.models}
    if "model" in values:
        model, arm = models[values["model"]]
    if unknown := [name for name in show if name not in models]:
        raise RequestRefused(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"show: there is no model {unknown[0][:80]!r}; there are {', '.join(models)}",
        )
    unit = filterable.method.scores.factor
    search = filterable.look_up(values["meaning"], "answers" in values) if "meaning" in values else None
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
        by=models[values["by"]] if "by" in values else None,
        reply=cast("ReplyKind | None", values.get("reply")),
        similarities=search and search.similarities,
    )
    chosen = tuple(name for name in models if name in show)
    return Filter(query, values, () if chosen == default_models(filterable) else chosen, search)


def bound_faults(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the faults of the score bounds in an address, by parameter; "" if the parameter means their order."""
    faults: dict[str, str] = {}
    bounds: dict[str, float] = {}
    for name in ("low", "high"):
        try:
            value = _number(parameters, name, 1.0)
        except RequestRefused as refusal:
            faults[name] = str(refusal)
            continue
        if value is not None:
            bounds[name] = value
    if len(bounds) == 2 and bounds["low"] > bounds["high"]:
        faults[""] = (
            f"The bounds are reversed: {bounds['low']:g} is above {bounds['high']:g}, so that no score is between them."
        )
    return faults


def default_models(filterable: FilterableRun) -> tuple[str, ...]:
    """Return the models whose results the list shows if none are chosen: the first few."""
    return tuple(shown_name(*model) for model in filterable.facets.models[:SHOWN])


TEXTS = frozenset({"q", "answers", "meaning", "low", "high"})
"""Parameters that are typed rather than chosen."""


def choices(filterable: FilterableRun) -> list[FilterChoice]:
    """Return the choices that offer more than one possibility."""
    least = {"model": 2, "category": 2, "failure": 2, "by": 2}
    return [choice for choice in _every_choice(filterable) if len(choice.values) >= least.get(choice.name, 1)]


def failure_label(kind: str) -> str:
    """Return the label of a kind of failure on pages."""
    return FAILURES.get(kind, kind.replace("_", " "))


def _every_choice(filterable: FilterableRun) -> list[FilterChoice]:
    models = [(name, name) for name in (shown_name(*model) for model in filterable.facets.models)]
    scored = filterable.method.scores.scale and models
    orders = [(order, text) for order, text in ORDERS.items() if scored or order not in ("low", "high", "apart")]
    return [
        FilterChoice("model", "model", models),
        FilterChoice(
            "answer",
            "final answer",
            [
                (verdict, f"{verdict} in any repeat" if filterable.repeated else verdict)
                for verdict in filterable.facets.verdicts
            ],
        ),
        FilterChoice(
            "failure", "failure", [(kind, failure_label(kind)) for kind in (ANY, *filterable.facets.failures)]
        ),
        FilterChoice("reply", "reply", list(REPLIES.items()) if models else []),
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
        FilterChoice("comments", "comments", list(COMMENTED_LABELS.items()) if filterable.commented else []),
        FilterChoice("order", "order", orders),
        FilterChoice("by", "score of", models),
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
    if "comments" in values:
        sample_sets.append(frozenset(filterable.commented))
    if sample_sets:
        return frozenset.intersection(*sample_sets)
    return None


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
