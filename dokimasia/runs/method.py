"""A method: one value that fills in the life-cycle of a run with what it is asked, what it accepts, its work, its figures."""

import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import ValidationError

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import JsonObject, Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, InputError, NotFound, faults_of
from dokimasia.prompts import PromptLibrary, Rendered, default_library
from dokimasia.report.fields import RunFigures, as_json
from dokimasia.runs.plans import RunPlan
from dokimasia.runs.requests import RunRequest, fields_in_order, option_of, stored_request
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run

if TYPE_CHECKING:
    from dokimasia.domain.annotation import AnnotationUnit, ResponsePair
    from dokimasia.report.blocks import Cell
    from dokimasia.report.data import Drawing, ReportData, SectionMaker
    from dokimasia.runs.decisions import DecidedRun
    from dokimasia.runs.session import Accepted, Session
    from dokimasia.runs.work import Job, Stage

Q = TypeVar("Q", bound=RunRequest)
P = TypeVar("P", bound=RunPlan)


def shipped_prompts(request: RunRequest, given: object = None) -> PromptLibrary:
    """Return the package's prompts, replaced by those of the folders that a request names."""
    return default_library().overridden(*request.prompts)


def lazy_value(module: str, name: str) -> Callable[[], Any]:
    """Return a function that imports a module and returns its value of that name."""
    return lambda: getattr(importlib.import_module(module), name)


def lazy_function(module: str, name: str) -> Callable[..., Any]:
    """Return a function that calls a module's function of that name; the module is imported at the first call."""
    function = lazy_value(module, name)
    return lambda *arguments, **options: function()(*arguments, **options)


def graph_stages(graph: str) -> "Callable[[Job[Any]], AsyncIterator[Stage[Sample]]]":
    """Return the `stages` of a method with a single one, in which each sample goes once through a graph.

    `graph` is the graph's module below `dokimasia.graphs`, imported when the stage begins.
    """

    async def stages(job: "Job[Any]") -> "AsyncIterator[Stage[Sample]]":
        module: Any = importlib.import_module(f"dokimasia.graphs.{graph}")
        yield job.graph_stage(module)

    return stages


ColumnType = Literal["text", "integer", "number", "truth", "integers", "texts", "objects"]
"""The type of a column of an export; Parquet holds each object as its JSON."""


class Export(NamedTuple):
    """The table of an export: columns with their types in order, and rows by the columns' names."""

    columns: Mapping[str, ColumnType]
    rows: Sequence[Mapping[str, object]]


class SampleGroup(NamedTuple):
    """Some of a run's samples by what was found in them: a title, and how deep the group lies among those before it.

    `members` are samples with the model whose answer it is about, "" where it is about the sample itself. `criteria` are the
    criteria that it is about (`storage.trees.lookup.criterion_key`), none where it is about whole samples.
    """

    title: str
    depth: int
    members: frozenset[tuple[str, str]]
    criteria: frozenset[str] = frozenset()


class Addition(NamedTuple):
    """What a method adds to the page of another's run: figures (None: nothing), and how the section that draws them is found.

    `groups` are those that it sorts the run's samples into, by an id that stays the same, in the order in which they are
    shown, none where it has nothing to say of the run; `grouping` is what one of them is called.
    """

    figures: Callable[[Home, Run], object]
    section: "Callable[[], SectionMaker]"
    grouping: str = ""
    groups: Callable[[Home, Run], Mapping[str, SampleGroup]] | None = None


PLAIN = lazy_value("dokimasia.report.sections.plain", "DRAWING")
"""Returns the drawing of plain figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultParts:
    """What a method says of the rows that are the results of its runs.

    Attributes:
        kind: the kind of these rows; by default the method's name.
        name: their name for readers.
        items: yields each item of a run, ready for JSON; with a sample's name, that sample's items with all details.
        items_apart: whether the JSON of a run's figures leaves its items out.
        sample: returns one sample of a run with all details, if these are more than its items.
    """

    kind: str = ""
    name: str = "results"
    items: Callable[[Home, Run, str | None], Iterator[Mapping[str, object]]] | None = None
    items_apart: bool = False
    sample: Callable[[Home, Run, str], Awaitable[Mapping[str, object]]] | None = None

    @property
    def items_shown(self) -> bool:
        """Whether the JSON of a run's figures has its items, too."""
        return self.items is not None and not self.items_apart


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParts:
    """What a method says of the scores of its runs, and of comparing these runs.

    Attributes:
        scale: the lowest and the highest score of a row; None for a method without scores.
        factor: from a row's score to the scale of the figures: 100 if a share is shown in percent.
        name: the name of the measure `score` on the pages of its runs.
        measures: the path of a measure, such as `score`, in the figures of each model; `--min-score` and `--min-accuracy`
            read it.
        rubrics: returns an id of the rubrics that a run scored each sample's answers by, by the sample's name; None if rows
            name criteria.
        no_diff: a sentence that says what to do instead if two runs are not compared row by row.
    """

    scale: tuple[float, float] | None = None
    factor: float = 1.0
    name: str = "score"
    measures: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    rubrics: Callable[[Home, Run], Mapping[str, str]] | None = None
    no_diff: str | None = None

    @property
    def shown_scale(self) -> tuple[float, float] | None:
        """The lowest and the highest score in the scale of the figures; None for a method without scores."""
        return None if self.scale is None else (self.scale[0] * self.factor, self.scale[1] * self.factor)

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """The thresholds of a request for which the figures have no measure."""
        return tuple(f"min_{name}" for name in ("score", "accuracy") if name not in self.measures)

    def measure_called(self, name: str) -> tuple[str, str]:
        """Return a measure's name beside those of other methods, and its scale in words, empty if unknown."""
        if name != "score" or self.shown_scale is None:
            return "strict accuracy" if name == "accuracy" else name, ""
        low, high = (f"{end:g}".replace("-", "\N{MINUS SIGN}") for end in self.shown_scale)
        return self.name, f"{low} to {high}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportParts:
    """What a method says of the reports of its runs.

    Attributes:
        drawing: returns how its runs are drawn on a page, in Markdown and on a terminal; by default as plain figures.
        opening: returns the sentences, a paragraph each, with which the report of a finished run begins.
        figures: returns the figures of a report, if they are more than those of `show`.
        extend: adds to a report's data what only the page shows, such as chosen samples; by default the items.
        adds: what it adds to the page of a run that its own runs rest on.
    """

    drawing: "Callable[[], Drawing]" = PLAIN
    opening: "Callable[[Home, Run], Sequence[Cell]] | None" = None
    figures: Callable[[Home, Run], RunFigures] | None = None
    extend: "Callable[[Home, Run, ReportData, int], Awaitable[ReportData]] | None" = None
    adds: Addition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportParts:
    """What a method says of the exports of its runs.

    Attributes:
        columns: further columns with their types; `cells` returns their values.
        cells: returns the values of these columns for rows of a run.
        paged: whether `cells` takes some rows of a run as well as all, so that an export is written as it is read.
        table: returns the whole table, for a run whose results are no rows.
        forms: other forms by name; each returns the files of a folder by name.
    """

    columns: Mapping[str, ColumnType] = field(default_factory=dict[str, ColumnType])
    cells: Callable[[Home, Run, Sequence[ResultRow]], Awaitable[Sequence[Mapping[str, object]]]] | None = None
    paged: bool = False
    table: Callable[[Home, Run], Export] | None = None
    forms: Mapping[str, Callable[[Home, Run], Mapping[str, bytes]]] = field(
        default_factory=dict[str, Callable[[Home, Run], Mapping[str, bytes]]]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleParts:
    """What a method says of people: what of its runs they check and rate, too.

    Attributes:
        checked: whether people check what its runs made.
        judged: returns the judge's scores of things that people rate, too, by the way the judge was asked (empty: all of
            them); by default the scores of its rows' models.
        decisions: returns the yes-or-no decisions of a run, whose rates `dokimasia correct` corrects.
        pairs: returns the pairs of responses that it compares, for people to compare them, too.
    """

    checked: bool = False
    judged: "Callable[[Home, Run], Mapping[str, Mapping[AnnotationUnit, float]]] | None" = None
    decisions: "Callable[[Home, Run], DecidedRun] | None" = None
    pairs: "Callable[[Home, Run], Iterable[ResponsePair]] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunParts(Generic[Q, P]):
    """What a method says of resuming, retrying and forking its runs.

    Attributes:
        check: checks that what a run was accepted with has not changed.
        reaches: returns the models that a run still has to call; by default all of its plan.
        no_retry: a sentence that says what to do instead if failed items cannot be asked anew.
        fork: accepts a fork of a run with steps; by default a fork is accepted like a new run, with other models or prompts.
        fork_steps: returns the steps that a fork can begin at, in order, each with what it does; none for a method whose
            forks begin at the beginning.
        no_fork: a sentence that says what to do instead if the method has no forks.
    """

    check: "Callable[[Session, Run, P, Q], None] | None" = None
    reaches: Callable[[Home, Run, P, Collection[FailureKind]], Mapping[str, ModelSpec]] | None = None
    no_retry: str | None = None
    fork: "Callable[[Session, Run, Any], Awaitable[tuple[Q, Accepted[P], Mapping[str, object]]]] | None" = None
    fork_steps: Callable[[], Mapping[str, str]] = field(default=dict)
    no_fork: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Generic[Q, P]):
    """What a method fills into the life-cycle of runs.

    Attributes:
        name: its name, stored with every run.
        title: the name of one of its runs, with its article.
        version: raised when the same plan would give other results.
        request: the model of its requests.
        plan: the model of what decides its results.
        accept: reads and checks all that a request names, stores samples and images, and sends nothing.
        stages: yields the stages of the work in order. The next stage is requested when the one before is done, so that it
            may read its rows.
        figures: a finished or unfinished run's figures: a model, or plain JSON; equal rows give equal bytes.
        shape: returns the model of these figures, from which the schema of `--json` is published; None publishes none.
        graphs: its graphs with their versions, read without LangGraph; a function of the plan if the plan decides which run.
        library: returns the prompts of a run, from its request and what a program passed beside it.
        previews: returns one prompt of each kind, rendered for a sample.
        ended: called when all stages are done.
        after: writes the files that a request asks for when its run has ended; returns a line for each.
        rates_battles: whether battles that exist are rated in place of a run, with `--battles FILE` after the verb.
        results: the rows of its runs.
        scores: their scores, and how runs are compared by them.
        report: what is drawn of a run.
        export: what is exported of a run.
        people: what people check and rate.
        reruns: how its runs are resumed, retried and forked.
    """

    name: str
    title: str
    version: int = 1
    request: type[Q]
    plan: type[P]
    accept: "Callable[[Q, Session], Awaitable[Accepted[P]]]"
    stages: "Callable[[Job[P]], AsyncIterator[Stage[Any]]]"
    figures: Callable[[Home, Run], RunFigures]
    shape: Callable[[], type[Value]] | None = None
    graphs: Mapping[str, int] | Callable[[P], Mapping[str, int]] = field(default_factory=dict[str, int])
    library: Callable[[Q, object], PromptLibrary] = shipped_prompts
    previews: Callable[[P, Sample, PromptLibrary], Sequence[Rendered]] | None = None
    ended: "Callable[[Job[P]], Awaitable[None]] | None" = None
    after: Callable[[Home, Run, Q], Iterable[str]] | None = None
    rates_battles: bool = False
    results: ResultParts = ResultParts()
    scores: ScoreParts = ScoreParts()
    report: ReportParts = ReportParts()
    export: ExportParts = ExportParts()
    people: PeopleParts = PeopleParts()
    reruns: RerunParts[Q, P] = field(default_factory=lambda: RerunParts())

    @property
    def row_kind(self) -> str:
        """The kind of the result rows that are a run's results."""
        return self.results.kind or self.name

    def graphs_of(self, plan: P) -> Mapping[str, int]:
        """Return the versions of a plan's graphs, by name."""
        return self.graphs(plan) if callable(self.graphs) else self.graphs

    def read(self, run: Run) -> tuple[P, Q]:
        """Return the plan and the request that a run was accepted with.

        Raises:
            NotFound: it is a run of another method.
            ConfigError: the models of plan or request changed, so that they cannot be read any more.
        """
        if run.method != self.name:
            raise NotFound(
                f"run {run.id} is of kind {run.method!r}, not {self.title}; `dokimasia runs --method {self.name}` lists those"
            )
        try:
            return run.plan_as(self.plan), stored_request(self.request, run.request)
        except ValidationError as error:
            raise ConfigError(
                f"run {run.id} cannot be read by this version of the method {self.name!r}: {error.title} has "
                f"{faults_of(error)}. A field that is added needs a default, and one that is gone has to stay readable"
            ) from error

    def json_figures(self, home: Home, run: Run) -> JsonObject:
        """Return a run's figures as plain JSON."""
        return as_json(self.figures(home, run))

    async def accept_checked(self, request: Q, session: "Session") -> "Accepted[P]":
        """Return the accepted request, if its items are not too many for a run.

        Raises:
            InputError: the data, the configuration or the options cannot be used, or the run would have too many items.
        """
        accepted = await self.accept(request, replace(session, sampling=request.sampling_settings))
        check_items(self, request, accepted.estimate.most_items)
        return accepted


AnyMethod = Method[Any, Any]
"""A method, whatever it is asked and plans."""

MOST_ITEMS = 1_000_000
"""The most items of a run: each becomes a row of results, which figures and reports read into memory."""

MULTIPLIERS = ("repeats", "retests", "judgements", "orders", "rounds", "trials", "per", "limit")
"""The options that multiply a run's items."""


def check_items(method: AnyMethod, request: RunRequest, items: int) -> None:
    """Check that a request has no more items than a run may have.

    Raises:
        InputError: it has more; the message names the number, the limit and the options to lower.
    """
    if items <= MOST_ITEMS:
        return
    ways: list[str] = []
    for name, info in fields_in_order(type(request)):
        value, flag = getattr(request, name), f"--{name.replace('_', '-')}"
        if name in MULTIPLIERS and (name == "limit" or (value or 0) > 1):
            ways.append(f"set {flag}" if value is None else f"lower {flag} {value}")
        elif isinstance(value, tuple) and len(value) > 1 and option_of(info).models:
            ways.append(f"name fewer {flag}")
    raise InputError(
        f"{method.title} of {items:,} items is too large, since a run has {MOST_ITEMS:,} at most: "
        f"{', or '.join(ways) or 'take fewer samples'}"
    )
