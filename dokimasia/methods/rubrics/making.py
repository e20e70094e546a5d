"""`rubrics`: must-right and easy-wrong rubrics for each golden caption of a review, or of a file of captions."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, cast

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.ports import Transport
from dokimasia.errors import ConfigError
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.rubrics import rubric_making
from dokimasia.methods.evaluation.plan import model_identity
from dokimasia.methods.graph.images import ImageRun, resolve_models, simulated
from dokimasia.methods.graph.running import GraphResult, carry_out
from dokimasia.methods.rubrics.figures import set_figures
from dokimasia.methods.rubrics.files import sets_of_run
from dokimasia.methods.rubrics.plan import KIND, PROMPTS, RubricPlan, RubricRequest
from dokimasia.methods.rubrics.sources import as_asked, read_captions
from dokimasia.prompts import default_library
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, SampleSize, added_up, size_of
from dokimasia.runs.lifecycle import next_fresh, run_row
from dokimasia.runs.observer import Observer
from dokimasia.runs.services import Stop, check_prices
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_value
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, SqliteRunStore, add_samples, create_run, run_samples

_CAPTION_TOKENS, _RUBRIC_TOKENS, _CHECK_TOKENS = 900, 500, 200


async def make_rubrics(
    request: RubricRequest,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> GraphResult:
    """Make rubrics, or continue that run, or, where it is finished, return its figures without any call.

    Captions that a person rejected are left out, those that one edited are taken as edited; a caption on which nobody has
    decided yet is taken and marked.

    Raises:
        InputError: the source, the configuration or the options cannot be used; nothing was sent.
        Interrupted: the run was asked to stop; what is finished is kept.
    """
    settings = settings or load_settings()
    library = default_library().overridden(*request.prompts)
    with Home.open(settings.home, write=True) as home:
        found, skipped, wanted, own = await asyncio.to_thread(read_captions, request, home)
        found = found[: request.limit]
        store = SqliteRunStore(home)
        samples = [as_asked(sample, wanted) for sample, _ in found]
        sources = {sample.id: await store.put(source) for sample, source in found}
        judge, *_ = resolve_models(settings, (request.judge,), "--judge")
        panel = own if request.panel is None else resolve_models(settings, request.panel, "--panel")
        known = library.identity()
        plan = RubricPlan(
            graph=rubric_making.NAME,
            version=rubric_making.VERSION,
            data=digest("data", [[sample.id, value_id(sample)] for sample in samples]),
            judge=judge,
            pool=_pool(settings, request),
            panel=panel,
            sources=sources,
            request=wanted,
            limit=request.limit,
            seed=request.seed,
            prompts={name: known[name] for name in sorted(PROMPTS)},
        )
        _check_names(plan)
        if request.fresh:
            plan = next_fresh(home, plan)
        check_prices(plan.options.models, max_cost=request.max_cost)
        run, new = await create_run(home, _run_row(plan, request, skipped))
        if new or len(run_samples(home, run.id)) != len(samples):
            await add_samples(home, run.id, samples)
        return await carry_out(
            home,
            run,
            plan,
            request,
            cast("GraphFile", rubric_making),
            settings,
            observer,
            stop,
            transports,
            library,
            kind=KIND,
            summary=rubric_summary,
            expected=_expected(plan, [size_of(sample) for sample in samples]),
        )


def rubric_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a run that makes rubrics, ready for JSON; the same stored rows give the same bytes."""
    plan = RubricPlan.model_validate(run.options["plan"])
    rows = results(home, run.id)
    used = SqliteLedger(home).calls_for(dict.fromkeys(key for row in rows for key in row.calls))
    costs = [one.cost for one in used.values()]
    failures: dict[str, int] = {}
    for row in rows:
        if row.failure is not None:
            failures[row.failure] = failures.get(row.failure, 0) + 1
    samples = len(run_samples(home, run.id))
    made = sets_of_run(home, run) if any(row.outcome == "made" for row in rows) else []
    return {
        "run": run.id,
        "status": run.status,
        "samples": samples,
        "open_items": samples - len(rows),
        "skipped": run.options.get("skipped", []),
        "judge": plan.judge.ref.name,
        "pool": [spec.ref.name for spec in plan.pool],
        "panel": [spec.ref.name for spec in plan.panel],
        "request": plan.request,
        "seed": run.seed,
        "simulated": simulated((plan.judge, *plan.pool, *plan.panel)),
        "failures": dict(sorted(failures.items())),
        **set_figures(made),
        "calls": len(used),
        "cost": None if any(cost is None for cost in costs) else round(sum(cost or 0.0 for cost in costs), 6),
    }


def rubric_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each sample's set with what was dropped, or its failure, ready for JSON; with `sample`, that one alone."""
    for row in results(home, run.id):
        if sample is None or row.sample_id == sample:
            values = [find_value(home, id) for id in row.value_ids]
            yield {
                "sample": row.sample_id,
                "failure": row.failure,
                "reason": row.reason,
                "set": values[0]["value"] if values else None,
            }


def _pool(settings: Settings, request: RubricRequest) -> tuple[ModelSpec, ...]:
    if not request.pool:
        raise ConfigError("--pool names no model: easy-wrong rubrics are mined from the responses of at least one")
    return resolve_models(settings, request.pool, "--pool")


def _check_names(plan: RubricPlan) -> None:
    named: dict[str, ModelSpec] = {}
    for spec in (*plan.pool, *plan.panel, plan.judge):
        if model_identity(named.setdefault(spec.ref.name, spec)) != model_identity(spec):
            raise ConfigError(f"two models of this run are called {spec.ref.name!r} and are not the same")


def _run_row(plan: RubricPlan, request: RubricRequest, skipped: list[str]) -> Run:
    return run_row(
        plan,
        request,
        graph=plan.graph,
        command=_command(request),
        data_name=request.source or request.data.name,
        data_hash=plan.data,
        seed=plan.seed,
        kind=KIND,
        skipped=skipped,
    )


def _command(request: RubricRequest) -> str:
    words = ["rubrics", request.source or request.data.name, "--judge", request.judge, "--pool", ",".join(request.pool)]
    if request.panel is not None:
        words += ["--panel", ",".join(request.panel) or "none"]
    if request.prompt is not None:
        words += ["--prompt", request.prompt]
    return " ".join(words)


def _plan_again(request: RubricRequest, settings: Settings, shared: dict[str, Any]) -> RubricPlan:
    raise ConfigError("rubrics are made from captions, not from a data set: make_rubrics(request) accepts them")


def _expected(plan: RubricPlan, sizes: list[SampleSize]) -> Estimate:
    asked: list[Asking] = []
    for size in sizes:
        shown = INSTRUCTION_TOKENS + _CAPTION_TOKENS
        asked += [Asking(spec, 1, size.text + size.images, _CAPTION_TOKENS) for spec in plan.pool]
        asked += [
            Asking(plan.judge, 1, shown + size.images, _RUBRIC_TOKENS),
            Asking(plan.judge, 2, shown + len(plan.pool) * _CAPTION_TOKENS, _RUBRIC_TOKENS),
        ]
        asked += [Asking(spec, 1, shown + _RUBRIC_TOKENS, _CHECK_TOKENS) for spec in plan.panel]
    return added_up(asked, len(sizes))


RUBRICS: ImageRun[RubricRequest, RubricPlan] = ImageRun(
    kind=KIND,
    graph=cast("GraphFile", rubric_making),
    request=RubricRequest,
    plan=RubricPlan,
    prompts=PROMPTS,
    plan_of=_plan_again,
    command=_command,
    summary=rubric_summary,
    expected=_expected,
)
"""The kind of run that `rubrics` makes."""
