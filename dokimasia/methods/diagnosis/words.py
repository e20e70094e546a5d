"""`diagnose --write`: a run's tables put into words by a judge, every figure printed by the program, kept, resumable."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from dokimasia.domain.diagnosis import Diagnosis
from dokimasia.domain.diagnosis_report import Report, Salience
from dokimasia.domain.identity import Value, value_id
from dokimasia.domain.ports import Transport
from dokimasia.errors import NotFound
from dokimasia.graphs import drive
from dokimasia.graphs.diagnosis import diagnosis as diagnosis_graph
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.diagnosis.diagnosing import diagnose, keep
from dokimasia.methods.diagnosis.plan import (
    WORDS,
    WRITING,
    WordsPlan,
    WordsRequest,
    prompts_for,
    words_row,
)
from dokimasia.methods.tree.reading.trees import evaluation_of
from dokimasia.prompts import PromptLibrary, default_library
from dokimasia.runs.concurrency import reporting
from dokimasia.runs.lifecycle import at_work, finish, next_fresh, unless_spent, without_limits
from dokimasia.runs.observer import Observer, Progress, Silent
from dokimasia.runs.samples import check_prompts, library_of
from dokimasia.runs.services import Stop, Workshop, check_prices, with_known_price
from dokimasia.settings import Settings, load_settings, resolve_model
from dokimasia.storage.checkpoints import delete_thread
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, record_results, results
from dokimasia.storage.runs import Run, SqliteRunStore, create_run, list_runs, run_samples
from dokimasia.storage.threads import Thread, close_thread, open_thread

ITEM = "report"
EVERYONE = diagnosis_graph.EVERYONE


class WordsResult(Value):
    """A finished, or unfinished, diagnosis in words: its run, whether it is complete, and its figures ready for JSON."""

    run: str
    complete: bool
    summary: dict[str, Any]


class Accepted(NamedTuple):
    """A run as it was accepted: what it is and what it is written from."""

    run: Run
    plan: WordsPlan
    diagnosis: Diagnosis


async def write_diagnosis(
    request: WordsRequest,
    *,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> WordsResult:
    """Have a judge write reports on a run's models, and across them, or go on with that, or return what was written.

    Args:
        request: what is asked.
        settings: home, configuration and keys; read from the environment by default.
        observer: told what happens.
        stop: lets someone else ask it to stop.
        transports: ways to a model that replace the package's own.

    Raises:
        InputError: the run has no scores, or the judge is not known; nothing was sent.
        Interrupted: it was asked to stop; what is finished is kept.
    """
    settings = settings or load_settings()
    library = library_of(request.prompts) or default_library()
    with Home.open(settings.home, write=True, command="diagnose") as home:
        source, own = evaluation_of(home, request.run)
        diagnosis = diagnose(home, source, tree=request.tree or own, seed=request.seed)
        await keep(home, source, diagnosis)
        plan = WordsPlan(
            source=source.id,
            diagnosis=value_id(diagnosis),
            models=len(diagnosis.models),
            samples=len(run_samples(home, source.id)),
            judge=with_known_price(resolve_model(settings, request.judge)),
            prompts=prompts_for(library, WRITING),
            seed=diagnosis.seed,
        )
        if request.fresh:
            plan = next_fresh(home, plan)
        check_prices(plan.specs, max_cost=request.max_cost)
        run, _ = await create_run(home, words_row(plan, request, source, kind=WORDS))
        await SqliteRunStore(home, run.id).put(diagnosis)
        accepted = Accepted(run, plan, diagnosis)
        return await _carry_out(home, accepted, request, settings, observer, stop, transports, library)


async def resume_words(
    run: Run,
    *,
    settings: Settings,
    request: WordsRequest | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> WordsResult:
    """Go on with a diagnosis in words, from the store alone.

    Raises:
        ConfigError: the prompts are not those of the run any more.
        Interrupted: it was asked to stop again.
    """
    plan, asked = read_words_plan(run)
    request = request or without_limits(asked)
    library = library_of(request.prompts) or default_library()
    if run.status != "done":
        check_prompts(plan.prompts, library.identity(), request.prompts, run.id)
    with Home.open(settings.home, write=True, create=False) as home:
        diagnosis = find_values(home, Diagnosis, [plan.diagnosis])[plan.diagnosis]
        accepted = Accepted(run, plan, diagnosis)
        return await _carry_out(home, accepted, request, settings, observer, stop, transports, library)


def read_words_plan(run: Run) -> tuple[WordsPlan, WordsRequest]:
    """Return the plan and the request that a diagnosis in words was accepted with.

    Raises:
        NotFound: the run is of another kind.
    """
    if run.options.get("kind") != WORDS:
        raise NotFound(f"run {run.id} is of kind {run.graph!r}, not a diagnosis in words")
    return WordsPlan.model_validate(run.options["plan"]), WordsRequest.model_validate(run.options["request"])


async def _carry_out(
    home: Home,
    accepted: Accepted,
    request: WordsRequest,
    settings: Settings,
    observer: Observer | None,
    stop: Stop | None,
    transports: Mapping[str, Transport] | None,
    library: PromptLibrary,
) -> WordsResult:
    run, plan = accepted.run, accepted.plan
    if run.status == "done":
        return WordsResult(run=run.id, complete=True, summary=words_summary(home, run))
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
    finished = await finish(home, run, complete=complete)
    return WordsResult(run=run.id, complete=complete, summary=words_summary(home, finished))


async def write_reports(
    home: Home, accepted: Accepted, workshop: Workshop, library: PromptLibrary, observer: Observer
) -> None:
    """Take the reports through their steps, from the last one that was finished on, and keep what came of each.

    Raises:
        CallFailed: the budget is used up; what is finished is kept.
    """
    run, diagnosis = accepted.run, accepted.diagnosis
    if any(row.kind == ITEM for row in results(home, run.id)):
        return
    progress = Progress(samples=len(diagnosis.models), items=3 * (len(diagnosis.models) + 1))

    def told(done: int) -> None:
        progress.done = min(progress.items, progress.done + done)

    def report() -> None:
        progress.stats = workshop.gateway.stats()
        observer.progressed(progress)

    context = diagnosis_graph.DiagnosisContext(
        workshop.gateway,
        workshop.store,
        accepted.plan.options,
        accepted.plan.seed,
        library,
        diagnosis=diagnosis,
        told=told,
    )
    name, version = diagnosis_graph.NAME, diagnosis_graph.VERSION
    thread = f"{run.id}/reports/{name}@{version}"
    await open_thread(
        home, Thread(thread_id=thread, run_id=run.id, item="reports", graph=name, graph_version=str(version))
    )
    graph = drive.compiled(cast("GraphFile", diagnosis_graph), workshop.saver)
    async with reporting(report):
        state = await drive.start_or_resume(graph, {}, context=context, thread=thread)
    await record_results(home, _rows(run.id, diagnosis, cast("diagnosis_graph.State", state)))
    await delete_thread(workshop.saver, thread)
    await close_thread(home, thread)


def _rows(run_id: str, diagnosis: Diagnosis, state: "diagnosis_graph.State") -> list[ResultRow]:
    """Return a row for each report: what was picked for it, then the report; or why there is none."""
    rows: list[ResultRow] = []
    for subject in (*diagnosis.models, EVERYONE) if len(diagnosis.models) > 1 else diagnosis.models:
        made = (state.get("salient", {}).get(subject), state.get("reports", {}).get(subject))
        failed = state.get("failed", {}).get(subject)
        fields: dict[str, Any] = {
            "run_id": run_id,
            "item": f"{ITEM}/{subject}",
            "kind": ITEM,
            "sample_id": "",
            "model": subject,
            "value_ids": tuple(id for id in made if id is not None),
            "calls": tuple(state.get("calls", {}).get(subject, ())),
            "outcome": "failed" if failed else "made",
        }
        if failed:
            fields |= {"failure": failed[0], "reason": failed[1]}
        rows.append(ResultRow(**fields))
    return rows


def reports_of(home: Home, run_id: str) -> dict[str, Report]:
    """Return the reports of a run by subject (empty: across models); those that failed are not among them."""
    made = {row.model: row.value_ids[1] for row in results(home, run_id) if row.kind == ITEM and row.outcome == "made"}
    found = find_values(home, Report, made.values())
    return {subject: found[id] for subject, id in made.items()}


def latest_words(home: Home, source: str) -> Run | None:
    """Return the newest finished diagnosis in words of an evaluation that has a report, None without one.

    Where all have failed, the newest: why it has no report is worth reading. A later failure hides no earlier report.
    """
    found: list[Run] = []
    for run in list_runs(home):
        plan: Any = run.options.get("plan")
        if run.options.get("kind") == WORDS and run.status == "done" and plan["source"] == source:
            if reports_of(home, run.id):
                return run
            found.append(run)
    return found[0] if found else None


def words_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return what a diagnosis in words came to, ready for JSON; the same stored rows give the same bytes.

    Returns:
        run, source, status, judge, simulated, models, notes, totals {sentences, verified, unverified,
        unverified_at_first, failed, by_kind}, and reports: one for each model, in order, and last the one across models
        (subject empty), each {subject, failed {kind, reason} or None, picked [references], unknown_picks, calls, words,
        cut, repaired, verified, unverified, unverified_at_first, sentences [{written, text, paragraph, heading, places
        [{written, start, end, row}], faults [{kind, reason}]}]}: see `domain.diagnosis_report.Sentence`.
    """
    plan, _ = read_words_plan(run)
    diagnosis = find_values(home, Diagnosis, [plan.diagnosis])[plan.diagnosis]
    rows = {row.model: row for row in results(home, run.id) if row.kind == ITEM}
    reports = reports_of(home, run.id)
    picked = find_values(home, Salience, [row.value_ids[0] for row in rows.values() if row.value_ids])
    subjects = [one for one in (*diagnosis.models, EVERYONE) if one in rows]
    shown = [_report(rows[one], reports.get(one), picked) for one in subjects]
    kinds = Counter(fault.kind for report in reports.values() for one in report.sentences for fault in one.faults)
    judged = "sim" in plan.judge.ref.model.split("/")[:-1]
    return {
        "run": run.id,
        "source": plan.source,
        "status": run.status,
        "judge": plan.judge.ref.name,
        "simulated": sorted({*diagnosis.simulated, *((plan.judge.ref.name,) if judged else ())}),
        "models": list(diagnosis.models),
        "notes": list(diagnosis.notes),
        "diagnosis": plan.diagnosis,
        "totals": {
            **{name: sum(one[name] for one in shown) for name in ("verified", "unverified", "unverified_at_first")},
            "sentences": sum(len(one["sentences"]) for one in shown),
            "failed": sum(one["failed"] is not None for one in shown),
            "by_kind": dict(sorted(kinds.items())),
        },
        "reports": shown,
    }


def _report(row: ResultRow, report: Report | None, picked: Mapping[str, Salience]) -> dict[str, Any]:
    salient = picked.get(row.value_ids[0]) if row.value_ids else None
    found: dict[str, Any] = {
        "subject": row.model,
        "failed": None if row.failure is None else {"kind": row.failure, "reason": row.reason},
        "picked": list(salient.rows) if salient else [],
        "unknown_picks": salient.unknown if salient else 0,
        "calls": len(row.calls),
    }
    if report is None:
        return found | {
            "words": 0,
            "cut": False,
            "repaired": False,
            "verified": 0,
            "unverified": 0,
            "unverified_at_first": 0,
            "sentences": [],
        }
    return found | {
        "words": report.words,
        "cut": report.cut,
        "repaired": report.repaired,
        "verified": len(report.verified),
        "unverified": len(report.unverified),
        "unverified_at_first": report.unverified_at_first,
        "sentences": [one.model_dump(mode="json") for one in report.sentences],
    }
