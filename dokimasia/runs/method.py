"""A method: one value that supplies the parts of a run that differ: its request, acceptance, stages and figures."""

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
    """Return the `stages` of a method with a single stage, which runs each sample through a graph once.

    `graph` is the name of the graph's module in `dokimasia.graphs`, imported when the stage begins.
    """

    async def stages(job: "Job[Any]") -> "AsyncIterator[Stage[Sample]]":
        module: Any = importlib.import_module(f"dokimasia.graphs.{graph}")
        yield job.graph_stage(module)

    return stages


ColumnType = Literal["text", "integer", "number", "truth", "integers", "texts", "objects"]
"""The type of a column of an export; Parquet stores objects as JSON."""


class Export(NamedTuple):
    """The table of an export: columns with their types in order, and rows by the columns' names."""

    columns: Mapping[str, ColumnType]
    rows: Sequence[Mapping[str, object]]


class SampleGroup(NamedTuple):
    """A titled group of a run's samples that share a finding, with its depth below the groups before it.

    `members` are pairs of a sample and the model whose answer the finding concerns, "" if it concerns the sample itself.
    `criteria` are the keys of the criteria concerned (`storage.trees.lookup.criterion_key`), empty if it concerns whole
    samples.
    """

    title: str
    depth: int
    members: frozenset[tuple[str, str]]
    criteria: frozenset[str] = frozenset()


class Addition(NamedTuple):
    """An addition of a method to the page of another method's run: figures (None adds nothing) and the section for them.

    `groups` returns the groups into which the method sorts the run's samples, by stable id and in display order, or none;
    `grouping` is the word for such a group.
    """

    figures: Callable[[Home, Run], object]
    section: "Callable[[], SectionMaker]"
    grouping: str = ""
    groups: Callable[[Home, Run], Mapping[str, SampleGroup]] | None = None


PLAIN = lazy_value("dokimasia.report.sections.plain", "DRAWING")
"""Returns the drawing of plain figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultParts:
    """The parts of a method that concern its result rows.

    Attributes:
        kind: the kind of the result rows; by default the method's name.
        name: the name of the results for readers.
        items: yields each item of a run, ready for JSON; with a sample's name, only that sample's items, with all details.
        items_apart: whether the JSON of a run's figures omits its items.
        sample: returns one sample of a run with all details, if there are more than its items have.
        missing: what a missing result of a finished run means, if the method leaves samples alone.
    """

    kind: str = ""
    name: str = "results"
    items: Callable[[Home, Run, str | None], Iterator[Mapping[str, object]]] | None = None
    items_apart: bool = False
    sample: Callable[[Home, Run, str], Awaitable[Mapping[str, object]]] | None = None
    missing: str = ""

    @property
    def items_shown(self) -> bool:
        """Whether the JSON of a run's figures includes its items."""
        return self.items is not None and not self.items_apart


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParts:
    """The parts of a method that concern the scores of its runs and the comparison of runs.

    Attributes:
        scale: the lowest and the highest score of a row; None for a method without scores.
        factor: the factor from a row's score to the scale of the figures, such as 100 if shares are shown in percent.
        name: the name of the measure `score` on pages.
        measures: the path of a measure, such as `score`, in the figures of each model; `--min-score` and `--min-accuracy`
            read it.
        rubrics: returns the id of the rubrics used to score each sample's answers, by the sample's name; None if rows name
            criteria.
        no_diff: a sentence that names the alternative if two runs cannot be compared row by row.
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
        if self.scale is None:
            return None
        return (self.scale[0] * self.factor, self.scale[1] * self.factor)

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """The thresholds of a request for which the figures have no measure."""
        return tuple(f"min_{name}" for name in ("score", "accuracy") if name not in self.measures)

    def measure_called(self, name: str) -> tuple[str, str]:
        """Return the name of a measure in a list with other methods, and its scale in words, empty if unknown."""
        if name != "score" or self.shown_scale is None:
            return "strict accuracy" if name == "accuracy" else name, ""
        low, high = (f"{end:g}".replace("-", "\N{MINUS SIGN}") for end in self.shown_scale)
        return self.name, f"{low} to {high}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportParts:
    """The parts of a method that concern the reports of its runs.

    Attributes:
        drawing: returns the drawing of a run for page, Markdown and terminal; by default one of plain figures.
        opening: returns the first paragraphs of the report of a finished run, one sentence each.
        figures: returns the figures of a report, if it has more than `show`.
        extend: adds the data that only the page shows, such as a selection of samples; by default the items.
        adds: the addition to the page of a run on which runs of this method are based.
    """

    drawing: "Callable[[], Drawing]" = PLAIN
    opening: "Callable[[Home, Run], Sequence[Cell]] | None" = None
    figures: Callable[[Home, Run], RunFigures] | None = None
    extend: "Callable[[Home, Run, ReportData, int], Awaitable[ReportData]] | None" = None
    adds: Addition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportParts:
    """The parts of a method that concern the exports of its runs.

    Attributes:
        columns: additional columns with their types.
        cells: returns the values of the additional columns for rows of a run.
        paged: whether `cells` accepts a part of a run's rows, so that an export is written while it is read.
        table: returns the whole table, for a run whose results are not rows.
        reason: returns why an answer was judged as it was, from the values of its additional columns; None if they do not
            say.
        forms: other formats by name; each returns the files of a folder by name.
    """

    columns: Mapping[str, ColumnType] = field(default_factory=dict[str, ColumnType])
    cells: Callable[[Home, Run, Sequence[ResultRow]], Awaitable[Sequence[Mapping[str, object]]]] | None = None
    paged: bool = False
    table: Callable[[Home, Run], Export] | None = None
    reason: Callable[[Mapping[str, object]], str | None] | None = None
    forms: Mapping[str, Callable[[Home, Run], Mapping[str, bytes]]] = field(
        default_factory=dict[str, Callable[[Home, Run], Mapping[str, bytes]]]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleParts:
    """The parts of a method that concern what people check and rate.

    Attributes:
        checked: whether people check the products of its runs.
        judged: returns the judge's scores of units that people also rate, by the way the judge was asked (empty: all of
            them); by default the scores of its rows' models.
        decisions: returns the yes-or-no decisions of a run, whose rates `dokimasia correct` corrects.
        pairs: returns the pairs of responses that a run compares, for people to compare as well.
    """

    checked: bool = False
    judged: "Callable[[Home, Run], Mapping[str, Mapping[AnnotationUnit, float]]] | None" = None
    decisions: "Callable[[Home, Run], DecidedRun] | None" = None
    pairs: "Callable[[Home, Run], Iterable[ResponsePair]] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunParts(Generic[Q, P]):
    """The rules of a method for resuming, retrying and forking its runs.

    Attributes:
        check: checks that the inputs of a run have not changed since its acceptance.
        reaches: returns the models that a run still has to call; by default all models of its plan.
        no_retry: a sentence that names the alternative if failed items cannot be retried.
        fork: accepts a fork that begins at a step; by default a fork is accepted like a new run, with other models or prompts.
        fork_steps: returns the steps at which a fork can begin, in order, each with a description; empty if forks always
            begin at the beginning.
        no_fork: a sentence that names the alternative if runs cannot be forked.
    """

    check: "Callable[[Session, Run, P, Q], None] | None" = None
    reaches: Callable[[Home, Run, P, Collection[FailureKind]], Mapping[str, ModelSpec]] | None = None
    no_retry: str | None = None
    fork: "Callable[[Session, Run, Any], Awaitable[tuple[Q, Accepted[P], Mapping[str, object]]]] | None" = None
    fork_steps: Callable[[], Mapping[str, str]] = field(default=dict)
    no_fork: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Generic[Q, P]):
    """A kind of run: its name, its models of request and plan, and the functions that do its part of a run's life.

    Attributes:
        name: the method's name, stored with every run.
        title: the name of a run of the method, with its article.
        version: a number raised whenever the same plan would give other results.
        request: the model of requests.
        plan: the model of plans, which decide the results.
        accept: reads and checks everything that a request names, stores samples and images, and sends nothing.
        stages: yields the stages of the work in order. Each stage is requested after the previous one is done, so that it can
            read the rows of earlier stages.
        figures: returns the figures of a finished or unfinished run: a model, or plain JSON; equal rows give equal bytes.
        shape: returns the model of the figures, from which the schema of `--json` is published; None publishes none.
        graphs: the versions of the graphs by name, read without LangGraph; a function of the plan if the plan decides which
            of them run.
        library: returns the prompts of a run, from its request and the `given` objects of a Python call.
        previews: returns one prompt of each kind, rendered for a sample.
        ended: runs after all stages.
        after: writes the files that a request asks for when its run has ended; returns a line for each.
        rates_battles: whether existing battles can be rated in place of a run, with `--battles FILE` after the verb.
        results: the parts that concern result rows.
        scores: the parts that concern scores and the comparison of runs.
        report: the parts that concern reports.
        export: the parts that concern exports.
        people: the parts that concern checks and ratings by people.
        reruns: the rules for resuming, retrying and forking.
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
        """The kind of the rows that are a run's results."""
        return self.results.kind or self.name

    def graphs_of(self, plan: P) -> Mapping[str, int]:
        """Return the versions of a plan's graphs, by name."""
        if callable(self.graphs):
            return self.graphs(plan)
        return self.graphs

    def read(self, run: Run) -> tuple[P, Q]:
        """Return the plan and the request that a run was accepted with.

        Raises:
            NotFound: the run is of another method.
            ConfigError: the models of plan or request have changed, so that the stored ones can no longer be read.
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
        """Accept a request and check the number of items.

        Raises:
            InputError: the data, the configuration or the options are unusable, or the run would have too many items.
        """
        accepted = await self.accept(request, replace(session, sampling=request.sampling_settings))
        check_items(self, request, accepted.estimate.most_items)
        return accepted


AnyMethod = Method[Any, Any]
"""A method with any models of request and plan."""

MOST_ITEMS = 1_000_000
"""The maximum number of items of a run; each becomes a result row, which figures and reports read into memory."""

MULTIPLIERS = ("repeats", "retests", "judgements", "orders", "rounds", "trials", "per", "limit")
"""The options that multiply a run's items."""


def check_items(method: AnyMethod, request: RunRequest, items: int) -> None:
    """Check that a request has at most `MOST_ITEMS` items.

    Raises:
        InputError: the request has more; the message names the number, the limit and the options to lower.
    """
    if items <= MOST_ITEMS:
        return
    remedies: list[str] = []
    for name, info in fields_in_order(type(request)):
        value, flag = getattr(request, name), f"--{name.replace('_', '-')}"
        if name in MULTIPLIERS and (name == "limit" or (value or 0) > 1):
            remedies.append(f"set {flag}" if value is None else f"lower {flag} {value}")
        elif isinstance(value, tuple) and len(value) > 1 and option_of(info).models:
            remedies.append(f"name fewer {flag}")
    raise InputError(
        f"{method.title} of {items:,} items is too large, since a run has {MOST_ITEMS:,} at most: "
        f"{', or '.join(remedies) or 'take fewer samples'}"
    )
