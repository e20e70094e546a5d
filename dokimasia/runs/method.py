"""A method: one value that fills in the life-cycle of a run with what it is asked, what it accepts, its work, its figures."""

import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.sample import Sample
from dokimasia.errors import InputError, NotFound
from dokimasia.prompts import PromptLibrary, Rendered, default_library
from dokimasia.report.fields import RunFigures, as_json
from dokimasia.runs.plans import RunPlan
from dokimasia.runs.requests import RunRequest, fields_in_order, option_of, stored_request
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run

if TYPE_CHECKING:
    from dokimasia.domain.annotation import AnnotationUnit, ResponsePair
    from dokimasia.report.data import Drawing, Make, ReportData
    from dokimasia.runs.decisions import DecidedRun
    from dokimasia.runs.session import Accepted, Session
    from dokimasia.runs.work import Job, Stage

Q = TypeVar("Q", bound=RunRequest)
P = TypeVar("P", bound=RunPlan)


def shipped_prompts(request: RunRequest, given: object = None) -> PromptLibrary:
    """Return the package's prompts with those of the folders that a request names in their place."""
    return default_library().overridden(*request.prompts)


def later(module: str, name: str) -> Callable[[], Any]:
    """Return what gives a module's value when it is asked for, so that a method loads nothing before it is used."""
    return lambda: getattr(importlib.import_module(module), name)


def lazily(module: str, name: str) -> Callable[..., Any]:
    """Return what calls a module's function, and loads the module at the first call."""

    def call(*arguments: object, **options: object) -> Any:
        return getattr(importlib.import_module(module), name)(*arguments, **options)

    return call


def one_walk(graph: str) -> "Callable[[Job[Any]], AsyncIterator[Stage[Sample]]]":
    """Return the stages of a method that walks every sample once through the graph of a module, loaded when it is asked for."""

    async def stages(job: "Job[Any]") -> "AsyncIterator[Stage[Sample]]":
        module: Any = importlib.import_module(f"dokimasia.graphs.{graph}")
        yield job.each(module)

    return stages


ColumnType = Literal["text", "integer", "number", "truth", "integers", "texts"]
"""The type of a column of an export."""


class Export(NamedTuple):
    """A run's rows with their columns, in order; the values of a row go by the columns' names."""

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
    section: "Callable[[], Make]"
    grouping: str = ""
    groups: Callable[[Home, Run], Mapping[str, SampleGroup]] | None = None


PLAIN = later("dokimasia.report.sections.plain", "DRAWING")
"""Draws the figures as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Generic[Q, P]):
    """A method by what it puts into the life-cycle that all runs share.

    Attributes:
        name: its name, stored with every run.
        title: what one of its runs is called, with its article.
        version: raised wherever the same plan would come to other results.
        request: what it can be asked.
        plan: what decides its results.
        accept: reads and checks all that a request names, stores samples and images, and sends nothing.
        stages: the work: stages one after another, each of units that may be done in any order; it is asked for the next
            stage when the one before is done, and may look at the rows that it left.
        figures: a finished or unfinished run's figures: a model, or plain JSON; equal rows give equal bytes.
        shape: the model that describes these figures, loaded when it is asked for; the published schema of what `--json`
            prints is made from it. None publishes none.
        graphs: its graphs with their versions, read without LangGraph.
        graphs_of: the same from a plan, where the plan says which graph it is.
        library: the prompts that a run asks by, from its request and what a program handed in beside it.
        reaches: the models that a run still has to reach, by default all of its plan.
        resumable: checks that what a run was accepted with is as it was.
        ended: what is done when all stages are done.
        checked: whether people check what its runs made.
        after: what a request also wants written when its run has ended; returns a line for each file.
        items: each item of a run, ready for JSON; with a sample's name, that sample's items whole.
        items_shown: whether the JSON of a run's figures holds its items, too.
        sample: one sample of a run whole, where that is more than its items.
        drawing: how its runs are drawn on a page, in Markdown and on a terminal; loaded when one is. By default the figures
            are shown as they are.
        report: adds to a report's data what the page alone shows, such as chosen samples; by default the items.
        report_figures: the figures of a report, where these are more than those of `show`.
        adds: what it adds to the page of a run that its own runs rest on.
        row_kind: the kind of result rows that stand for what a run came to, by default the method's name.
        row_name: what these rows are called.
        columns: what an export says of a row beside what it says of every row, and of what type; `cells` gives the values.
        export: the whole table of an export, where a run ends in something else than result rows.
        forms: other forms of an export by name, each the files of a folder by theirs.
        scale: the lowest and the highest score of a row; None for a method without scores.
        shown: how many points of the scale that its figures are shown in make one of a row's: 100 where a share is shown in
            percent.
        rubrics: by what rubrics a run scored each sample's answers, so that these can be told apart, by the sample's name;
            None where rows name criteria.
        judged: what its judge says of things that people rate, too, by the way in which it was asked (empty: all of it); by
            default the scores of its rows' models.
        decisions: what its runs decided about answers with yes or no, whose rates `dokimasia correct` corrects.
        pairs: the pairs of responses that it compares, for people to compare them, too.
        measures: by name, such as `score`, where the figures of each model hold it; `--min-score` and
            `--min-accuracy` go by it.
        score_called: what the measure `score` is called on the pages of its runs.
        previews: one prompt of each kind, rendered for a sample.
        fork: by default a fork is accepted anew with other models or prompts; a method with steps says what it takes
            over; a sentence says what to do instead where a fork makes no sense.
        diff: a sentence that says what to do instead where two runs are not compared row by row.
        retry: a sentence that says what to do instead where failed items cannot be asked anew.
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
    report: "Callable[[Home, Run, ReportData, int], Awaitable[ReportData]] | None" = None
    report_figures: Callable[[Home, Run], RunFigures] | None = None
    adds: "Addition | None" = None
    row_kind: str = ""
    row_name: str = "results"
    columns: Mapping[str, ColumnType] = field(default_factory=dict[str, ColumnType])
    cells: Callable[[Home, Run, Sequence[ResultRow]], Awaitable[Sequence[Mapping[str, object]]]] | None = None
    export: Callable[[Home, Run], Export] | None = None
    forms: Mapping[str, Callable[[Home, Run], Mapping[str, bytes]]] = field(
        default_factory=dict[str, Callable[[Home, Run], Mapping[str, bytes]]]
    )
    scale: tuple[float, float] | None = None
    shown: float = 1.0
    rubrics: Callable[[Home, Run], Mapping[str, str]] | None = None
    judged: "Callable[[Home, Run], Mapping[str, Mapping[AnnotationUnit, float]]] | None" = None
    decisions: "Callable[[Home, Run], DecidedRun] | None" = None
    pairs: "Callable[[Home, Run], Iterable[ResponsePair]] | None" = None
    measures: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    score_called: str = "score"
    previews: Callable[[P, Sample, PromptLibrary], Sequence[Rendered]] | None = None
    fork: "Callable[[Session, Run, Any], Awaitable[tuple[Q, Accepted[P], Mapping[str, object]]]] | str | None" = None
    diff: str | None = None
    retry: str | None = None

    def __post_init__(self) -> None:
        """Take `graphs` for every plan where `graphs_of` is not given."""
        if self.graphs:
            graphs = dict(self.graphs)
            object.__setattr__(self, "graphs_of", lambda plan: graphs)

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """The thresholds of a request that the figures of its runs cannot be held to."""
        return tuple(f"min_{name}" for name in ("score", "accuracy") if name not in self.measures)

    def measure_called(self, name: str) -> tuple[str, str]:
        """Return what a measure is called where it stands beside those of other methods, and its scale, empty where unknown."""
        if name != "score" or self.scale is None:
            return "strict accuracy" if name == "accuracy" else name, ""
        low, high = (f"{end * self.shown:g}".replace("-", "\N{MINUS SIGN}") for end in self.scale)
        return self.score_called, f"{low} to {high}"

    def read(self, run: Run) -> tuple[P, Q]:
        """Return the plan and the request that a run was accepted with.

        Raises:
            NotFound: it is a run of another method.
        """
        if run.method != self.name:
            raise NotFound(f"run {run.id} is of kind {run.method!r}, not {self.title}")
        return run.plan_as(self.plan), stored_request(self.request, run.request)

    def json_figures(self, home: Home, run: Run) -> dict[str, Any]:
        """Return a run's figures as plain JSON."""
        return as_json(self.figures(home, run))

    async def admit(self, request: Q, session: "Session") -> "Accepted[P]":
        """Return what a request is accepted as, if that is no more than a run may be.

        Raises:
            InputError: the data, the configuration or the options cannot be used, or the run would have too many items.
        """
        accepted = await self.accept(request, session)
        check_items(self, request, accepted.estimate.most_items)
        return accepted


AnyMethod = Method[Any, Any]
"""A method, whatever it is asked and plans."""

MOST_ITEMS = 1_000_000
"""The most items of a run: each becomes a row of results, which figures and reports read into memory."""

MULTIPLIERS = ("repeats", "retests", "judgements", "orders", "rounds", "trials", "per", "limit")
"""The options by which a run comes to more items or fewer."""


def check_items(method: AnyMethod, request: RunRequest, items: int) -> None:
    """Refuse a request that comes to more items than a run may have.

    Raises:
        InputError: naming the number, the limit and the options to lower.
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
