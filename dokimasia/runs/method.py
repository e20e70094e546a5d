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
class Method(Generic[Q, P]):
    """The parts that a method fills into the life-cycle of runs.

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
        graphs: its graphs with their versions, read without LangGraph.
        graphs_of: returns the same for a plan, if the plan decides which graph runs.
        library: returns the prompts of a run, from its request and what a program passed beside it.
        reaches: returns the models that a run still has to call; by default all of its plan.
        resumable: checks that what a run was accepted with has not changed.
        ended: called when all stages are done.
        checked: whether people check what its runs made.
        after: writes the files that a request asks for when its run has ended; returns a line for each.
        items: yields each item of a run, ready for JSON; with a sample's name, that sample's items with all details.
        items_shown: whether the JSON of a run's figures has its items, too.
        sample: returns one sample of a run with all details, if these are more than its items.
        drawing: returns how its runs are drawn on a page, in Markdown and on a terminal; by default as plain figures.
        opening: returns the sentences, a paragraph each, with which the report of a finished run begins.
        report: adds to a report's data what only the page shows, such as chosen samples; by default the items.
        report_figures: returns the figures of a report, if they are more than those of `show`.
        adds: what it adds to the page of a run that its own runs rest on.
        row_kind: the kind of the result rows that are a run's results; by default the method's name.
        row_name: the name of these rows for readers.
        columns: further columns of an export with their types; `cells` returns their values.
        paged: whether `cells` takes some rows of a run as well as all, so that an export is written as it is read.
        export: returns the whole table of an export, for a run whose results are no rows.
        forms: other forms of an export by name; each returns the files of a folder by name.
        scale: the lowest and the highest score of a row; None for a method without scores.
        shown: the factor from a row's score to the scale of the figures: 100 if a share is shown in percent.
        rubrics: returns an id of the rubrics that a run scored each sample's answers by, by the sample's name; None if rows
            name criteria.
        rates_battles: whether battles that exist are rated in place of a run, with `--battles FILE` after the verb.
        judged: returns the judge's scores of things that people rate, too, by the way the judge was asked (empty: all of
            them); by default the scores of its rows' models.
        decisions: returns the yes-or-no decisions of a run, whose rates `dokimasia correct` corrects.
        pairs: returns the pairs of responses that it compares, for people to compare them, too.
        measures: the path of a measure, such as `score`, in the figures of each model; `--min-score` and `--min-accuracy`
            read it.
        score_called: the name of the measure `score` on the pages of its runs.
        previews: returns one prompt of each kind, rendered for a sample.
        fork: accepts a fork of a run with steps. By default a fork is accepted like a new run, with other models or prompts;
            a sentence says what to do instead if the method has no forks.
        fork_steps: returns the steps that a fork can begin at, in order, each with what it does; none for a method whose
            forks begin at the beginning.
        diff: a sentence that says what to do instead if two runs are not compared row by row.
        retry: a sentence that says what to do instead if failed items cannot be asked anew.
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
    graphs: Mapping[str, int] = field(default_factory=dict[str, int])
    graphs_of: Callable[[P], Mapping[str, int]] = field(default=lambda plan: {})
    library: Callable[[Q, object], PromptLibrary] = shipped_prompts
    reaches: Callable[[Home, Run, P, Collection[FailureKind]], Mapping[str, ModelSpec]] | None = None
    resumable: "Callable[[Session, Run, P, Q], None] | None" = None
    ended: "Callable[[Job[P]], Awaitable[None]] | None" = None
    checked: bool = False
    after: Callable[[Home, Run, Q], Iterable[str]] | None = None
    items: Callable[[Home, Run, str | None], Iterator[Mapping[str, object]]] | None = None
    items_shown: bool = True
    sample: Callable[[Home, Run, str], Awaitable[Mapping[str, object]]] | None = None
    drawing: "Callable[[], Drawing]" = PLAIN
    opening: "Callable[[Home, Run], Sequence[Cell]] | None" = None
    report: "Callable[[Home, Run, ReportData, int], Awaitable[ReportData]] | None" = None
    report_figures: Callable[[Home, Run], RunFigures] | None = None
    adds: "Addition | None" = None
    row_kind: str = ""
    row_name: str = "results"
    columns: Mapping[str, ColumnType] = field(default_factory=dict[str, ColumnType])
    cells: Callable[[Home, Run, Sequence[ResultRow]], Awaitable[Sequence[Mapping[str, object]]]] | None = None
    paged: bool = False
    export: Callable[[Home, Run], Export] | None = None
    forms: Mapping[str, Callable[[Home, Run], Mapping[str, bytes]]] = field(
        default_factory=dict[str, Callable[[Home, Run], Mapping[str, bytes]]]
    )
    scale: tuple[float, float] | None = None
    shown: float = 1.0
    rubrics: Callable[[Home, Run], Mapping[str, str]] | None = None
    rates_battles: bool = False
    judged: "Callable[[Home, Run], Mapping[str, Mapping[AnnotationUnit, float]]] | None" = None
    decisions: "Callable[[Home, Run], DecidedRun] | None" = None
    pairs: "Callable[[Home, Run], Iterable[ResponsePair]] | None" = None
    measures: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    score_called: str = "score"
    previews: Callable[[P, Sample, PromptLibrary], Sequence[Rendered]] | None = None
    fork: "Callable[[Session, Run, Any], Awaitable[tuple[Q, Accepted[P], Mapping[str, object]]]] | str | None" = None
    fork_steps: Callable[[], Mapping[str, str]] = field(default=dict)
    diff: str | None = None
    retry: str | None = None

    def __post_init__(self) -> None:
        """Fill in the defaults that depend on other fields."""
        if not self.row_kind:
            object.__setattr__(self, "row_kind", self.name)
        if self.graphs:
            graphs = dict(self.graphs)
            object.__setattr__(self, "graphs_of", lambda plan: graphs)

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """The thresholds of a request for which its figures have no measure."""
        return tuple(f"min_{name}" for name in ("score", "accuracy") if name not in self.measures)

    def measure_called(self, name: str) -> tuple[str, str]:
        """Return a measure's name beside those of other methods, and its scale in words, empty if unknown."""
        if name != "score" or self.scale is None:
            return "strict accuracy" if name == "accuracy" else name, ""
        low, high = (f"{end * self.shown:g}".replace("-", "\N{MINUS SIGN}") for end in self.scale)
        return self.score_called, f"{low} to {high}"

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
