"""`audit`: models describe the images of a data set, and a judge holds each description against the image's rubrics."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.ports import Transport
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.domain.rubric import RubricSet
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, NotFound
from dokimasia.graphs.context import Context
from dokimasia.graphs.rubrics import rubric_audit
from dokimasia.methods.audit.plan import KIND, PROMPTS, AuditPlan, AuditRequest, sets_for
from dokimasia.methods.audit.results import audit_summary
from dokimasia.methods.audit.work import AuditWorker
from dokimasia.methods.evaluation.plan import model_identity
from dokimasia.methods.graph.images import resolve_models
from dokimasia.methods.graph.running import GraphResult
from dokimasia.methods.rubrics.files import read_sets, sets_id, sets_of_run
from dokimasia.prompts import PromptLibrary, default_library
from dokimasia.runs.concurrency import work_through
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, added_up, size_of
from dokimasia.runs.lifecycle import at_work, finish, next_fresh, run_row, without_limits
from dokimasia.runs.observer import Observer, Silent
from dokimasia.runs.samples import check_accepted, check_prompts, read_samples
from dokimasia.runs.services import Stop, check_prices
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import (
    Run,
    SqliteRunStore,
    add_samples,
    create_run,
    load_samples,
    resolve_run,
    run_samples,
)

DESCRIPTION_TOKENS, RUBRIC_TOKENS, RESULT_TOKENS = 900, 350, 160


async def audit(
    request: AuditRequest,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> GraphResult:
    """Audit models, or continue that audit, or, where it is finished, return its figures without any call.

    Raises:
        InputError: data, rubrics, configuration or options cannot be used; nothing was sent.
        Interrupted: the run was asked to stop; what is finished is kept.
    """
    settings = settings or load_settings()
    library = default_library().overridden(*request.prompts)
    with Home.open(settings.home, write=True) as home:
        sets, source = await asyncio.to_thread(_sets, request, home)
        found, skipped, missing = await asyncio.to_thread(_samples, request, home, sets, source)
        samples = [sample for sample, _ in found]
        store = SqliteRunStore(home)
        ids = {sample.id: await store.put(one) for sample, one in found}
        plan = _plan(request, settings, samples, ids, sets_id([one for _, one in found]), library)
        if request.fresh:
            plan = next_fresh(home, plan)
        check_prices(plan.options.models, max_cost=request.max_cost)
        run, new = await create_run(home, _run_row(plan, request, skipped, missing))
        if new or len(run_samples(home, run.id)) != len(samples):
            await add_samples(home, run.id, samples)
        return await _carry_out(home, run, plan, request, settings, observer, stop, transports, library)


async def resume_audit(
    run: Run,
    *,
    settings: Settings,
    request: AuditRequest | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> GraphResult:
    """Go on with an accepted audit, from the store alone.

    Raises:
        ConfigError: the graph or its prompts are of another version than the run's.
        Interrupted: the run was asked to stop again.
    """
    plan, accepted = read_audit(run)
    request = request or without_limits(accepted)
    if plan.version != rubric_audit.VERSION:
        raise ConfigError(
            f"run {run.id} was accepted with version {plan.version} of the audit, which is at version "
            f"{rubric_audit.VERSION} now: give its command anew; the ledger answers what did not change"
        )
    library = default_library().overridden(*request.prompts)
    check_prompts(plan.prompts, library.identity(), request.prompts, run.id)
    with Home.open(settings.home, write=True, create=False) as home:
        check_accepted(home, run.id, plan.data)
        return await _carry_out(home, run, plan, request, settings, observer, stop, transports, library)


def read_audit(run: Run) -> tuple[AuditPlan, AuditRequest]:
    """Return the plan and the request that an audit was accepted with.

    Raises:
        NotFound: the run is of another kind.
    """
    if run.options.get("kind") != KIND:
        raise NotFound(f"run {run.id} is of kind {run.graph!r}, not an audit")
    return AuditPlan.model_validate(run.options["plan"]), AuditRequest.model_validate(run.options["request"])


async def _carry_out(
    home: Home,
    run: Run,
    plan: AuditPlan,
    request: AuditRequest,
    settings: Settings,
    observer: Observer | None,
    stop: Stop | None,
    transports: Mapping[str, Transport] | None,
    library: PromptLibrary,
) -> GraphResult:
    watching = observer or Silent()
    if run.status == "done":
        return GraphResult(run=run.id, complete=True, summary=audit_summary(home, run))
    specs = dict(plan.options.models)
    check_prices(specs, max_cost=request.max_cost)
    places = run_samples(home, run.id)
    watching.planned(run.id, _expected(plan, home, run))
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
        context = Context(workshop.gateway, workshop.store, plan.options, plan.seed, library, home.blobs)
        worker = AuditWorker(home=home, plan=plan, context=context, observer=watching, stats=workshop.gateway.stats)
        worker.progress.samples = len(places)
        worker.progress.items = len(places) * len(list(plan.items("")))
        width = max(spec.max_concurrency for spec in specs.values())
        await work_through(load_samples(home, run.id), worker.do, width=width, report=worker.report)
    finished = await finish(home, run)
    return GraphResult(run=run.id, complete=finished.status == "done", summary=audit_summary(home, finished))


def _sets(request: AuditRequest, home: Home) -> tuple[list[RubricSet], str]:
    """Return the rubric sets that the user names, a file before a run, and what to call them in errors."""
    path = Path(request.rubrics)
    if path.is_file():
        return read_sets(path), str(path)
    if path.suffix or "/" in request.rubrics:
        raise NotFound(f"{request.rubrics}: there is no such file of rubrics")
    run = resolve_run(home, request.rubrics)
    if run.status != "done":
        raise DataError(f"run {run.id} is {run.status}: finish its rubrics first (dokimasia resume {run.id})")
    return sets_of_run(home, run), f"run {run.id}"


def _samples(
    request: AuditRequest, home: Home, sets: Sequence[RubricSet], source: str
) -> tuple[list[tuple[Sample, RubricSet]], list[str], list[str]]:
    """Return the data's samples as they are asked with their rubrics, what was skipped, and who has no rubrics."""
    read, problems = read_samples(request.model_copy(update={"prompt": None}), home.blobs, need_prompt=False)
    wanted = request.prompt if request.prompt and request.prompt.strip() else DESCRIBE_REQUEST
    asking = [sample.model_copy(update={"prompt": wanted, "choices": (), "reference_answer": None}) for sample in read]
    found, missing = sets_for(asking, sets, source)
    return found, [problem.message for problem in problems], missing


def _plan(
    request: AuditRequest,
    settings: Settings,
    samples: Sequence[Sample],
    ids: dict[str, str],
    rubrics: str,
    library: PromptLibrary,
) -> AuditPlan:
    if not request.models:
        raise ConfigError("--models names no model to audit")
    judge, *_ = resolve_models(settings, (request.judge,), "--judge")
    candidates = resolve_models(settings, request.models, "--models")
    for spec in candidates:
        if spec.ref.name == judge.ref.name and model_identity(spec) != model_identity(judge):
            raise ConfigError(f"two models of this run are called {spec.ref.name!r} and are not the same")
    known = library.identity()
    return AuditPlan(
        data=digest("data", [[sample.id, value_id(sample)] for sample in samples]),
        rubrics=rubrics,
        sets=ids,
        judge=judge,
        candidates=candidates,
        repeats=request.repeats,
        no_image=request.no_image,
        show_image=request.show_image,
        limit=request.limit,
        seed=request.seed,
        prompts={name: known[name] for name in PROMPTS},
    )


def _expected(plan: AuditPlan, home: Home, run: Run) -> Estimate:
    asked: list[Asking] = []
    samples = 0
    for size in map(size_of, load_samples(home, run.id)):
        samples += 1
        judged = INSTRUCTION_TOKENS + RUBRIC_TOKENS + DESCRIPTION_TOKENS + (size.images if plan.show_image else 0)
        for spec in plan.candidates:
            for arm in plan.arms:
                sent = size.text + (0 if arm else size.images)
                asked.append(Asking(spec, plan.repeats, sent, DESCRIPTION_TOKENS))
                asked.append(Asking(plan.judge, plan.repeats, judged, RESULT_TOKENS))
    return added_up(asked, samples)


def _run_row(plan: AuditPlan, request: AuditRequest, skipped: list[str], missing: list[str]) -> Run:
    return run_row(
        plan,
        request,
        graph=KIND,
        command=_command(request),
        data_name=request.data.name,
        data_hash=plan.data,
        seed=plan.seed,
        kind=KIND,
        skipped=skipped,
        without_rubrics=missing,
    )


def _command(request: AuditRequest) -> str:
    rubrics = Path(request.rubrics).name
    words = ["audit", request.data.name, "--rubrics", rubrics, "--models", ",".join(request.models)]
    words += ["--judge", request.judge]
    if request.repeats > 1:
        words += ["--repeats", str(request.repeats)]
    for name in ("no_image", "show_image"):
        if getattr(request, name):
            words.append(f"--{name.replace('_', '-')}")
    if request.prompt is not None:
        words += ["--prompt", request.prompt]
    return " ".join(words)
