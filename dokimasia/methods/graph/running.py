"""Run any graph over a data set, such as a plug-in's, with the ledger, the limits and the resume of every other run."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

from dokimasia.domain.identity import Value, value_id
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.ports import Transport
from dokimasia.domain.sample import Sample
from dokimasia.errors import CallFailed, ConfigError, DokimasiaError, NotFound
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.checks.checking import open_checks
from dokimasia.methods.graph.plan import KIND, GraphItem, GraphPlan, GraphRequest, plan_of, prompts_of
from dokimasia.methods.graph.results import graph_summary
from dokimasia.plugins import load
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.concurrency import work_through
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.lifecycle import at_work, finish, next_fresh, run_row, without_limits
from dokimasia.runs.observer import Observer, Progress, Silent
from dokimasia.runs.samples import DataRequest, check_accepted, check_prompts, read_samples
from dokimasia.runs.services import Stop, Workshop, check_prices
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.checkpoints import delete_thread
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, get_result, record_result
from dokimasia.storage.runs import Run, add_samples, create_run, load_samples, run_samples
from dokimasia.storage.threads import Thread, close_thread, open_thread

KINDS = get_args(FailureKind)

P = TypeVar("P", bound=GraphPlan)


class GraphResult(Value):
    """A finished, or unfinished, run of a graph: its id, whether it is complete, and its figures ready for JSON."""

    run: str
    complete: bool
    summary: dict[str, Any]


async def run_graph(
    request: GraphRequest,
    *,
    graph: GraphFile | None = None,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> GraphResult:
    """Run a graph over a data set, or continue that run, or, where it is finished, return its figures without any call.

    Each sample, and with `models` each sample for each model, is a work item: the graph gets `sample` (and `model`) and
    ends with `result` (the id of what it made, or a list of ids) or with `failed` (a kind of failure) and `reason`; a
    `score` and `calls` (ledger keys) are kept where they are there.

    Args:
        request: what is asked.
        graph: the graph; by default the plug-in that the request names.
        settings: home, configuration and keys; read from the environment by default.
        observer: told what happens.
        stop: lets someone else ask the run to stop.
        transports: ways to a model that replace the package's own.

    Raises:
        InputError: the data, the configuration or the graph cannot be used; what is finished is kept.
        Interrupted: the run was asked to stop; what is finished is kept.
    """
    settings = settings or load_settings()
    graph = load_graph(request.graph) if graph is None else graph
    library = prompts_of(graph, request.prompts)
    need_prompt = bool(getattr(graph, "NEEDS_PROMPT", True))
    with Home.open(settings.home, write=True) as home:
        samples, skipped = await asyncio.to_thread(read_samples, request, home.blobs, need_prompt=need_prompt)
        plan = plan_of(request, graph, settings, samples, library)
        if request.fresh:
            plan = next_fresh(home, plan)
        check_prices(plan.options.models, max_cost=request.max_cost)
        run, new = await create_run(home, _run_row(plan, request, [problem.message for problem in skipped]))
        if new or len(run_samples(home, run.id)) != len(samples):
            await add_samples(home, run.id, samples)
        return await carry_out(home, run, plan, request, graph, settings, observer, stop, transports, library)


def load_graph(name: str) -> GraphFile:
    """Return the graph that a plug-in brings under a name.

    Raises:
        ConfigError: there is none, or it cannot be used.
    """
    return load("graphs", name)


async def resume_graph(
    run: Run,
    *,
    settings: Settings,
    request: GraphRequest | None = None,
    graph: GraphFile | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> GraphResult:
    """Go on with an accepted run of a graph, from the store alone.

    Raises:
        ConfigError: the graph or its prompts are of another version than the run's.
        Interrupted: the run was asked to stop again.
    """
    plan, accepted = read_graph_plan(run)
    request = request or without_limits(accepted)
    graph = load_graph(plan.graph) if graph is None else graph
    if plan.version != graph.VERSION:
        raise ConfigError(
            f"run {run.id} was accepted with version {plan.version} of the graph {plan.graph!r}, which is at version "
            f"{graph.VERSION} now: run it anew; the ledger answers what did not change"
        )
    library = prompts_of(graph, request.prompts)
    check_prompts(plan.prompts, library.identity(), request.prompts, run.id)
    with Home.open(settings.home, write=True, create=False) as home:
        check_accepted(home, run.id, plan.data)
        return await carry_out(home, run, plan, request, graph, settings, observer, stop, transports, library)


def read_graph_plan(run: Run) -> tuple[GraphPlan, GraphRequest]:
    """Return the plan and the request that a run of a graph was accepted with.

    Raises:
        NotFound: the run is of another kind.
    """
    if run.options.get("kind") != KIND:
        raise NotFound(f"run {run.id} is of kind {run.graph!r}, not a run of a plug-in's graph")
    return GraphPlan.model_validate(run.options["plan"]), GraphRequest.model_validate(run.options["request"])


async def carry_out(
    home: Home,
    run: Run,
    plan: GraphPlan,
    request: DataRequest,
    graph: GraphFile,
    settings: Settings,
    observer: Observer | None,
    stop: Stop | None,
    transports: Mapping[str, Transport] | None,
    library: PromptLibrary,
    *,
    kind: str = KIND,
    summary: Callable[[Home, Run], dict[str, Any]] = graph_summary,
    expected: Estimate | None = None,
) -> GraphResult:
    """Do every item of an accepted run that has no result yet, and return its figures.

    Args:
        home: open for writing.
        run: the run as it was accepted; one that is done asks nothing.
        plan: what it is.
        request: what may be spent in this sitting.
        graph: the graph of every item.
        settings: configuration and keys.
        observer: told what happens.
        stop: lets someone else ask the run to stop.
        transports: ways to a model that replace the package's own.
        library: the prompts.
        kind: what the result rows say that was done.
        summary: the run's figures, ready for JSON.
        expected: what the run will ask, where that is known.

    Raises:
        Interrupted: the run was asked to stop; what is finished is kept.
    """
    watching = observer or Silent()
    if run.status == "done":
        return GraphResult(run=run.id, complete=True, summary=summary(home, run))
    specs = dict(plan.options.models)
    check_prices(specs, max_cost=request.max_cost)
    places = run_samples(home, run.id)
    watching.planned(run.id, expected or Estimate(samples=len(places), models={}))
    async with at_work(
        home,
        run,
        specs,
        settings=settings,
        budget=request.budget,
        seed=plan.seed,
        observer=watching,
        stop=stop,
        transports=transports,
        prompts=library,
    ) as workshop:
        worker = _Worker(home, plan, graph, workshop, library, watching, kind)
        worker.progress.samples = len(places)
        worker.progress.items = len(places) * len(list(plan.items("")))
        width = max(spec.max_concurrency for spec in specs.values())
        await work_through(load_samples(home, run.id), worker.do, width=width, report=worker.report)
        await open_checks(home, workshop.saver, run.id)
    finished = await finish(home, run)
    return GraphResult(run=run.id, complete=finished.status == "done", summary=summary(home, finished))


class _Worker:
    """Walks every item that has no result yet through the graph."""

    def __init__(
        self,
        home: Home,
        plan: GraphPlan,
        graph: GraphFile,
        workshop: Workshop,
        library: PromptLibrary,
        observer: Observer,
        kind: str,
    ) -> None:
        self._kind = kind
        self._home, self._plan, self._run, self._graph = home, plan, plan.run_id, graph
        self._saver = workshop.saver if getattr(graph, "CHECKPOINTED", False) else None
        self._compiled = drive.compiled(graph, self._saver)
        self._context = Context(workshop.gateway, workshop.store, plan.options, plan.seed, library, home.blobs)
        self._stats = workshop.gateway.stats
        self._observer = observer
        self.progress = Progress()

    def report(self) -> None:
        self.progress.stats = self._stats()
        self._observer.progressed(self.progress)

    async def do(self, sample: Sample) -> None:
        for item in self._plan.items(sample.id):
            row = get_result(self._home, self._run, item.name)
            if row is None:
                row = await self._walk(sample, item)
            else:
                self.progress.restored += 1
            self.progress.count(row.failure)
        self.progress.samples_done += 1

    async def _walk(self, sample: Sample, item: GraphItem) -> ResultRow:
        inputs = {"sample": value_id(sample), **({"model": item.model} if item.model else {})}
        thread = f"{self._run}/{item.name}/{self._graph.NAME}@{self._graph.VERSION}"
        if self._saver is not None:
            await open_thread(
                self._home,
                Thread(
                    thread_id=thread,
                    run_id=self._run,
                    item=item.name,
                    graph=self._graph.NAME,
                    graph_version=str(self._graph.VERSION),
                ),
            )
        try:
            if self._saver is None:
                state = await drive.run(self._compiled, inputs, context=self._context)
            else:
                state = await drive.start_or_resume(self._compiled, inputs, context=self._context, thread=thread)
        except CallFailed as failed:
            state = {"failed": failed.kind, "reason": failed.reason}
        except DokimasiaError:
            raise
        except Exception as error:  # whatever a stranger's node does, the user learns where
            text = " ".join(str(error).split())[:300]
            raise ConfigError(
                f"the graph {self._graph.NAME!r} broke at sample {sample.id!r}: {type(error).__name__}: {text}. Mend it and "
                "resume; what is finished is kept"
            ) from error
        row = self._row(sample, item, state)
        await record_result(self._home, row)
        if self._saver is not None:
            await delete_thread(self._saver, thread)
            await close_thread(self._home, thread)
        return row

    def _row(self, sample: Sample, item: GraphItem, state: Mapping[str, Any]) -> ResultRow:
        result = state.get("result") or ()
        fields: dict[str, Any] = {
            "run_id": self._run,
            "item": item.name,
            "kind": self._kind,
            "sample_id": sample.id,
            "sample_digest": sample.digest,
            "model": item.model,
            "value_ids": (result,) if isinstance(result, str) else tuple(result),
            "calls": tuple(state.get("calls") or ()),
        }
        failed, score = state.get("failed"), state.get("score")
        if failed and failed not in KINDS:
            raise ConfigError(
                f"the graph {self._graph.NAME!r} ended at sample {sample.id!r} with failed={failed!r}; the kinds of failure "
                f"are {', '.join(KINDS)}"
            )
        if failed:
            return ResultRow(**fields, outcome="failed", failure=failed, reason=str(state.get("reason", ""))[:500])
        if score is not None:
            return ResultRow(**fields, outcome="scored", score=float(score))
        return ResultRow(**fields, outcome="made")


def _run_row(plan: GraphPlan, request: GraphRequest, skipped: list[str]) -> Run:
    models = f" --models {','.join(request.models)}" if request.models else ""
    return run_row(
        plan,
        request,
        graph=plan.graph,
        command=f"run {plan.graph} {request.data.name} --judge {request.judge}{models}",
        data_name=request.data.name,
        data_hash=plan.data,
        seed=plan.seed,
        kind=KIND,
        skipped=skipped,
    )
