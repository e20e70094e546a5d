"""`diagnose --fingerprint`: are reports on models as telling as fingerprints? Written from one half, matched on the other."""

from collections.abc import Mapping

from dokimasia.domain.diagnosis import Diagnosis
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.ports import Transport
from dokimasia.errors import InputError
from dokimasia.methods.diagnosis.diagnosing import diagnosis_of
from dokimasia.methods.diagnosis.material import gather
from dokimasia.methods.diagnosis.plan import (
    FINGERPRINT,
    MATCHING,
    WRITING,
    FingerprintPlan,
    FingerprintRequest,
    prompts_for,
    words_row,
)
from dokimasia.methods.diagnosis.words import Accepted, WordsResult, write_reports
from dokimasia.methods.fingerprints.matching import match_all, read_fingerprint_plan
from dokimasia.methods.fingerprints.results import fingerprint_summary
from dokimasia.methods.fingerprints.tasks import draw_tasks, halves, restricted
from dokimasia.methods.tree.reading.trees import evaluation_of
from dokimasia.prompts import PromptLibrary, default_library
from dokimasia.runs.lifecycle import at_work, finish, next_fresh, unless_spent, without_limits
from dokimasia.runs.observer import Observer, Silent
from dokimasia.runs.samples import check_prompts, library_of
from dokimasia.runs.services import Stop, check_prices, with_known_price
from dokimasia.settings import Settings, load_settings, resolve_model
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.runs import Run, SqliteRunStore, create_run, get_run, set_status


async def match_fingerprints(
    request: FingerprintRequest,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    by_hand: bool = False,
) -> WordsResult:
    """Write reports from one half of a run's samples and have a judge match them to answers of the other half.

    Args:
        request: what is asked.
        settings: home, configuration and keys; read from the environment by default.
        observer: told what happens.
        stop: lets someone else ask it to stop.
        transports: ways to a model that replace the package's own.
        by_hand: have the judge write the reports only, so that a person can match them; resumed, the judge matches, too.

    Raises:
        InputError: the run has one model, no scores, or too few samples; nothing was sent.
        Interrupted: it was asked to stop; what is finished is kept.
    """
    settings = settings or load_settings()
    library = library_of(request.prompts) or default_library()
    with Home.open(settings.home, write=True, command="diagnose") as home:
        source, own = evaluation_of(home, request.run)
        gathered = gather(home, source, tree=request.tree or own, seed=request.seed)
        seed, models = gathered.material.seed, gathered.material.models
        if len(models) < 2:
            raise InputError(f"run {source.id} has one model, {', '.join(models)}: fingerprints tell two or more apart")
        parts = halves(home, source, seed)
        material = restricted(gathered.material, parts.reports)
        diagnosis = diagnosis_of(source, gathered._replace(material=material))
        tasks, untested = draw_tasks(
            home, source, models, parts.answers, responses=request.responses, trials=request.trials, seed=seed
        )
        plan = FingerprintPlan(
            source=source.id,
            diagnosis=value_id(diagnosis),
            models=len(models),
            judge=with_known_price(resolve_model(settings, request.judge)),
            prompts=prompts_for(library, (*WRITING, *MATCHING)),
            seed=seed,
            responses=request.responses,
            tasks=len(tasks),
            drawn=digest("tasks", [value_id(task) for task in tasks]),
        )
        if request.fresh:
            plan = next_fresh(home, plan)
        check_prices(plan.specs, max_cost=request.max_cost)
        drawn = {
            "tasks": [value_id(task) for task in tasks],
            "untested": [[*pair, count] for pair, count in untested.items()],
        }
        run, _ = await create_run(home, words_row(plan, request, source, kind=FINGERPRINT, **drawn))
        store = SqliteRunStore(home, run.id)
        for value in (diagnosis, *tasks):
            await store.put(value)
        accepted = Accepted(run, plan, diagnosis)
        return await _carry_out(home, accepted, request, settings, observer, stop, transports, library, by_hand=by_hand)


async def resume_fingerprints(
    run: Run,
    *,
    settings: Settings,
    request: FingerprintRequest | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> WordsResult:
    """Go on with a test of fingerprints, from the store alone.

    Raises:
        ConfigError: the prompts are not those of the run any more.
        Interrupted: it was asked to stop again.
    """
    plan, asked = read_fingerprint_plan(run)
    request = request or without_limits(asked)
    library = library_of(request.prompts) or default_library()
    if run.status != "done":
        check_prompts(plan.prompts, library.identity(), request.prompts, run.id)
    with Home.open(settings.home, write=True, create=False) as home:
        diagnosis = find_values(home, Diagnosis, [plan.diagnosis])[plan.diagnosis]
        accepted = Accepted(run, plan, diagnosis)
        return await _carry_out(home, accepted, request, settings, observer, stop, transports, library)


async def _carry_out(
    home: Home,
    accepted: Accepted,
    request: FingerprintRequest,
    settings: Settings,
    observer: Observer | None,
    stop: Stop | None,
    transports: Mapping[str, Transport] | None,
    library: PromptLibrary,
    *,
    by_hand: bool = False,
) -> WordsResult:
    run, plan = accepted.run, accepted.plan
    if run.status == "done":
        return WordsResult(run=run.id, complete=True, summary=fingerprint_summary(home, run))
    watching = observer or Silent()
    check_prices(plan.specs, max_cost=request.max_cost)
    watching.planned(run.id, plan.estimate())
    async with at_work(
        home,
        run,
        plan.specs,
        settings=settings,
        budget=request.budget,
        seed=plan.seed,
        observer=watching,
        stop=stop,
        transports=transports,
        prompts=library,
    ) as workshop:
        complete = await unless_spent(write_reports(home, accepted, workshop, library, watching))
        if complete and not by_hand:
            complete = await unless_spent(match_all(home, accepted, workshop, library, watching))
    if by_hand:
        await set_status(home, run.id, "interrupted")
        finished = get_run(home, run.id)
    else:
        finished = await finish(home, run, complete=complete)
    return WordsResult(run=run.id, complete=complete, summary=fingerprint_summary(home, finished))
