"""Operations on the runs of a home: list, show, rename, stop, delete and compare."""

from collections import Counter
from collections.abc import Callable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from dokimasia.domain.identity import JsonObject
from dokimasia.errors import InputError
from dokimasia.operations.operation import (
    After,
    Body,
    Limit,
    ListPage,
    OperationContext,
    Parameter,
    RequestRefused,
    operation,
    page_of,
)
from dokimasia.report.board import Board, Measure
from dokimasia.report.comparison import RunComparison
from dokimasia.report.gate import Gate
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.reading.inspection import (
    current_summary,
    end_reasons,
    labelled_runs,
    run_summary,
    waiting_questions,
)
from dokimasia.runs.requests import RunLabel
from dokimasia.storage.deletion import Deleted, run_size
from dokimasia.storage.naming import LAST, comparable_with, name_run, resolve_run, set_tags
from dokimasia.storage.runs import AT_WORK, Run, RunStatus

CONFLICT = 409

TWO = r"^[^,\s][^,]*,[^,\s][^,]*$"
"""The pattern of two names separated by a comma."""


class Forked(BaseModel):
    """The parent of a fork, and the step at which the fork begins, if any."""

    run: str
    node: str | None = None


class SpendingLimits(BaseModel):
    """The limits of a run's total spending, over every resume and retry; null is no limit."""

    max_cost: float | None = Field(description="US dollars")
    max_calls: int | None = Field(description="requests")
    max_tokens: int | None


class RunSpent(BaseModel):
    """The spending of a run so far, towards its limits."""

    cost: float = Field(description="US dollars, as far as they are known")
    calls: int = Field(description="requests")
    tokens: int
    cut_off: int = Field(
        default=0,
        ge=0,
        description="of the requests, those that ended without a reply or an error, as at a kill; at work also those in flight",
    )
    unknown_cost: bool = Field(description="whether the cost of some requests is unknown, so that `cost` is a part")


class RunShown(BaseModel):
    """A run in a list; `dokimasia runs --json` prints the same."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "2e235f0474c474b7",
                    "method": "evaluate",
                    "command": "evaluate questions.jsonl --judge judge --models strong,weak",
                    "data_name": "questions.jsonl",
                    "seed": 0,
                    "fresh": 0,
                    "status": "done",
                    "created_at": "2026-11-23T08:00:00+00:00",
                    "updated_at": "2026-11-23T08:10:00+00:00",
                    "forked_from": None,
                    "open_questions": 0,
                    "why": "",
                    "models": ["strong", "weak", "judge"],
                    "spent": {"cost": 0.31, "calls": 260, "tokens": 214000, "cut_off": 0, "unknown_cost": False},
                    "limits": {"max_cost": 5.0, "max_calls": None, "max_tokens": None},
                    "name": "first",
                    "other_names": [],
                    "tags": ["colours"],
                }
            ]
        }
    )

    id: str
    method: str
    command: str = Field(description="the command that asks for the same")
    data_name: str
    seed: int
    fresh: int = Field(description="how often the same was asked to begin anew")
    status: RunStatus
    created_at: str
    updated_at: str
    forked_from: Forked | None
    open_questions: int = Field(ge=0, description="questions of it that wait for people")
    why: str = Field(description="why it was interrupted or failed, where that is known; else empty")
    models: list[str] = Field(description="its models, also those whose responses were given; the judge last")
    spent: RunSpent = Field(description="what it paid for itself; what the ledger answered is not in it")
    limits: SpendingLimits
    name: str = Field(description="what the run is called; empty without a name")
    other_names: list[str] = Field(description="earlier names by which it is still found, the newest first")
    tags: list[str]


class RunsListed(ListPage):
    """A page of the list of runs, the newest first."""

    runs: list[RunShown]


class Links(BaseModel):
    """The addresses of a run's routes and page."""

    self: str
    page: str = Field(description="for people")
    items: str
    samples: str
    report: str
    export: str
    events: str = Field(description="server-sent events")
    cancel: str


class RunBegun(RunShown):
    """A run that was started, resumed or forked, with its estimate."""

    estimate: JsonObject = Field(description="calls, tokens and cost by model, as `--dry-run` prints them")
    links: Links


class RunDetail(RunShown):
    """A run with its figures: the same that `dokimasia show RUN --json` prints."""

    title: str = Field(description="what a run of its method is called")
    estimate: JsonObject
    figures: JsonObject = Field(description="of the shape that GET /api/methods/{method} gives")
    items_shown: bool = Field(description="whether `dokimasia show RUN --json` prints its items, too")
    links: Links


class Renamed(Body):
    """New labels of a run: a name, tags that replace its tags, or both."""

    name: RunLabel | None = None
    force: bool = Field(default=False, description="take the name from the run that has it")
    tags: tuple[RunLabel, ...] | None = Field(default=None, max_length=100)


@operation("GET", "/runs", tag="runs")
def list_of_runs(
    context: OperationContext,
    tag: Annotated[list[str] | None, Parameter(description="Only runs with each of these tags.", max_length=50)] = None,
    status: RunStatus | None = None,
    method: Annotated[str | None, Parameter(max_length=200)] = None,
    q: Annotated[
        str, Parameter(max_length=500, description="Only runs whose id, name, tags, command or data hold it.")
    ] = "",
    limit: Limit = 50,
    after: After = None,
) -> RunsListed:
    """List the runs, the newest first."""

    def wanted(run: Run) -> bool:
        return (status is None or run.status == status) and (method is None or run.method == method)

    context.cache()
    entries = labelled_runs(context.home, tags=tuple(tag or ()), wanted=wanted, text=q)
    page, next_key = page_of(entries, lambda entry: entry[0].id, limit=limit, after=after)
    waiting, reasons = waiting_questions(context.home), end_reasons(context.home, (run for run, _ in page))
    runs = [
        RunShown.model_validate(
            run_summary(context.home, run, label, questions=waiting[run.id], why=reasons.get(run.id, ""))
        )
        for run, label in page
    ]
    return RunsListed(total=len(entries), next=next_key, runs=runs)


@operation("GET", "/runs/{run}", tag="runs")
def one_run(context: OperationContext, run: str) -> RunDetail:
    """Show a run with its figures; RUN is its id, the beginning of it, its name, or `last`."""
    row = context.run(run)
    context.cache(row)
    method = method_of(row)
    return RunDetail(
        **current_summary(context.home, row),
        title=method.title,
        estimate=estimate_of(row),
        figures=context.figures(row),
        items_shown=method.results.items_shown,
        links=links_of(row.id),
    )


@operation("PATCH", "/runs/{run}", tag="runs", right="run")
async def call_otherwise(context: OperationContext, run: str, body: Renamed) -> RunShown:
    """Set a run's name, with `force` even if another run has it, and its tags, which replace the former ones."""
    row = context.run(run)
    if body.name is not None:
        await name_run(context.home, row.id, body.name, (), force=body.force)
    if body.tags is not None:
        await set_tags(context.home, row.id, body.tags)
    return run_now(context, context.run(row.id))


@operation("DELETE", "/runs/{run}", tag="runs", right="run")
async def delete(
    context: OperationContext,
    run: str,
    force: Annotated[bool, Parameter(description="Also where other runs were made from it.")] = False,
) -> Deleted:
    """Delete a run: its results, events and place in the list; the ledger, images and values stay."""
    row = context.run(run)
    if context.served:
        _check_deletable(context, row, force=force)
    size = run_size(context.home, row.id)
    await context.delete(row)
    return size


def _check_deletable(context: OperationContext, run: Run, *, force: bool) -> None:
    """Refuse to delete a run that is at work or, without `force`, one that other runs were made from."""
    from dokimasia.runs.persistence import dependent_runs as resting_on

    if run.status in AT_WORK:
        raise RequestRefused(CONFLICT, f"run {run.id} is {run.status}: stop it first (POST /api/runs/{run.id}/cancel)")
    resting = resting_on(context.home, run.id)
    if resting and not force:
        ids = ", ".join(other.id for other in resting)
        raise RequestRefused(
            CONFLICT, f"what {ids} shows of run {run.id} goes with it: delete it all the same with ?force=true"
        )


@operation("GET", "/diff", tag="runs", slow=True, figures=True, local=("announce",))
def diff(
    context: OperationContext,
    runs: Annotated[
        str,
        Parameter(
            pattern=TWO, max_length=500, description="Two runs with a comma between them: the second minus the first."
        ),
    ],
    models: Annotated[
        str | None,
        Parameter(pattern=TWO, max_length=500, description="A,B: compare A of the first with B of the second."),
    ] = None,
    top: Annotated[int, Parameter(ge=0, le=1000, description="List so many changed samples.")] = 10,
    seed: Annotated[
        int | None, Parameter(ge=0, lt=2**63, description="Of intervals and tests; by default the first's.")
    ] = None,
    announce: Callable[[Run, Run], None] | None = None,
) -> RunComparison:
    """Compare two runs on the samples they share; `dokimasia diff FIRST SECOND --json` prints the same."""
    from dokimasia.runs.reading.comparison import compare_runs

    first, second = _two(runs)
    pair = None if models is None else _two(models)

    def comparable(run: Run) -> bool:
        return method_of(run).scores.no_diff is None

    run = resolve_run(context.home, first, comparable)
    other = resolve_run(context.home, second, comparable if pair else comparable_with(run))
    if first == second == LAST and run.id != other.id:
        run, other = other, run
    context.cache(run, other)
    if announce is not None:
        announce(run, other)
    return compare_runs(context.home, run, other, models=pair, top=top, seed=seed)


@operation("GET", "/board", tag="runs", slow=True, figures=True)
def board(
    context: OperationContext,
    runs: Annotated[
        str, Parameter(max_length=10_000, description="Runs with commas between them; by default all finished ones.")
    ] = "",
    tag: Annotated[list[str] | None, Parameter(description="Only runs with each of these tags.", max_length=50)] = None,
    measure: Annotated[
        Measure | None, Parameter(description="By default accuracy, if all runs have reference answers.")
    ] = None,
    seed: Annotated[int, Parameter(ge=0, lt=2**63, description="Of tests.")] = 0,
) -> Board:
    """Rank models over the data sets of several runs; `dokimasia board RUN... --json` prints the same.

    Without runs, it has all finished runs of the method with the most runs that have scores; of equals, the method of
    the newest.
    """
    from dokimasia.runs.reading.board import board_of, has_board

    names = [name.strip() for name in runs.split(",") if name.strip()]
    if names:
        chosen = [resolve_run(context.home, name, has_board) for name in names]
    else:
        finished = labelled_runs(
            context.home, tags=tuple(tag or ()), wanted=lambda run: run.status == "done" and has_board(run)
        )
        methods = dict(Counter(run.method for run, _ in finished).most_common(1))
        chosen = [run for run, _ in finished if run.method in methods]
        if not chosen:
            raise InputError(
                "there is no finished run with scores by sample, as of evaluate or audit, to make a board of"
            )
    context.cache(*chosen)
    return board_of(context.home, chosen, measure=measure, seed=seed)


@operation("GET", "/runs/{run}/gate", tag="runs", slow=True, figures=True)
def gate(
    context: OperationContext,
    run: str,
    baseline: Annotated[str, Parameter(max_length=500, description="The run to compare with.")],
    max_drop: Annotated[
        float, Parameter(ge=0, le=100, description="The largest allowed drop, in percent of the scale.")
    ],
    measure: Annotated[
        Measure | None, Parameter(description="By default accuracy, if both runs have reference answers.")
    ] = None,
    models: Annotated[
        str | None,
        Parameter(pattern=TWO, max_length=500, description="A,B: compare A of the baseline with B of the run."),
    ] = None,
    seed: Annotated[
        int | None, Parameter(ge=0, lt=2**63, description="Of intervals; by default the baseline's.")
    ] = None,
) -> Gate:
    """Decide whether a run is worse than its baseline by more than allowed; `dokimasia gate RUN --json` prints the same."""
    from dokimasia.runs.reading.board import has_board
    from dokimasia.runs.reading.gate import gate_of

    gated = resolve_run(context.home, run, has_board)
    compared = resolve_run(context.home, baseline, comparable_with(gated))
    context.cache(gated, compared)
    pair = None if models is None else _two(models)
    return gate_of(context.home, gated, compared, max_drop=max_drop, measure=measure, models=pair, seed=seed)


@operation("POST", "/runs/{run}/cancel", tag="runs", right="run", replies=(503,))
async def cancel(
    context: OperationContext,
    run: str,
    at_once: Annotated[bool, Parameter(description="Give up the calls in flight, too.")] = False,
) -> RunShown:
    """Stop a run once the calls in flight are committed; it does not continue by itself."""
    return run_now(context, await context.cancel(context.run(run), at_once=at_once))


def run_now(context: OperationContext, run: Run) -> RunShown:
    """Return a run as in lists, with its name and tags."""
    return RunShown.model_validate(current_summary(context.home, run))


def begun(context: OperationContext, run: Run) -> RunBegun:
    """Return a run with its estimate and links."""
    return RunBegun(
        **current_summary(context.home, run),
        estimate=estimate_of(run),
        links=links_of(run.id),
    )


def estimate_of(run: Run) -> JsonObject:
    """Return the estimate of a run's calls and cost, as made when it was accepted."""
    return Estimate.of_run(run).shown()


def links_of(run: str) -> Links:
    """Return the addresses of a run's routes and page."""
    base = f"/api/runs/{run}"
    parts = {name: f"{base}/{name}" for name in ("items", "samples", "report", "export", "events", "cancel")}
    return Links(self=base, page=f"/runs/{run}", **parts)


def _two(text: str) -> tuple[str, str]:
    first, _, second = text.partition(",")
    return first.strip(), second.strip()
