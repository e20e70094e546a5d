"""Diagnostic reports: pick salient rows, write a report on each model, repair it once, then compare models (ATOM, 3.4).

    select ─► write ─► expand ─► mend ─► write_across ─► expand_across ─► mend_across ─► end
                                  └───────────────────────────────────────────────────────┘  (one model)

The writer's sentences contain references to cells of the tables, which `expand` replaces with the figures. A report
with unverified sentences is sent back once with every fault; sentences that remain unverified are kept and marked.

Every step is checkpointed, and the state holds ids. An interrupted step is repeated as a whole, with its calls answered
by the ledger. A subject whose calls fail twice has a failure instead of a report; the other subjects continue.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, TypedDict, TypeVar, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import Ask, AskResult, failure
from dokimasia.agents.diagnosis import Drafted, Picks, pick_salient, write_across, write_report
from dokimasia.algorithms.diagnosis.asset_tables import rows_of, shown_always, tables_text, telling_rows
from dokimasia.algorithms.diagnosis.places import expand
from dokimasia.algorithms.diagnosis.tables import EvidenceTables, tables_of
from dokimasia.domain.diagnosis.report import EVERYONE, ParsedReport, Report, ReportDraft, Salience, Sentence
from dokimasia.domain.diagnosis.tables import Asset, Diagnosis
from dokimasia.domain.judgement import Provenance, Rejected
from dokimasia.errors import ConfigError
from dokimasia.graphs.context import Context
from dokimasia.graphs.reasking import gather_all, within_budget
from dokimasia.graphs.versions import VERSIONS

NAME = "diagnosis"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True

T = TypeVar("T")


class State(TypedDict, total=False):
    """By subject (a model's name, or empty for all): ids of picked rows, drafts and reports; failures; calls.

    `failed` holds a kind and a reason; `calls` the ledger keys of all requests, in order.
    """

    salient: dict[str, str]
    drafts: dict[str, str]
    reports: dict[str, str]
    failed: dict[str, list[str]]
    calls: dict[str, list[str]]


def _ignore_progress(steps: int) -> None: ...


@dataclass(frozen=True)
class DiagnosisContext(Context):
    """The services of a diagnosis, its tables, and a callback that receives the number of finished steps."""

    diagnosis: Diagnosis | None = None
    on_progress: Callable[[int], None] = field(default=_ignore_progress)

    @cached_property
    def tables(self) -> Diagnosis:
        """The diagnosis whose tables the reports describe.

        Raises:
            ConfigError: the context has no diagnosis.
        """
        if self.diagnosis is None:
            raise ConfigError("a report needs the diagnosis it is written from: DiagnosisContext(..., diagnosis=...)")
        return self.diagnosis

    @cached_property
    def printable(self) -> EvidenceTables:
        """The tables in the form used to print references."""
        return tables_of(self.tables.assets, models=self.tables.models)


async def select(state: State, runtime: Runtime[DiagnosisContext]) -> State:
    """Pick the rows worth reporting, for every model and for all models together."""
    context = runtime.context
    models = list(context.tables.models)
    subjects = [*models, EVERYONE] if len(models) > 1 else models

    async def pick(subject: str) -> AskResult[Picks]:
        tables = tables_text(_tables(context.tables.assets, subject))
        return await _ask(context, pick_salient(subject, tables, row_of=context.printable.row))

    return await _store(context, state, "salient", Salience, subjects, await gather_all(map(pick, subjects)))


async def write(state: State, runtime: Runtime[DiagnosisContext], *, across: bool) -> State:
    """Write the reports on models concurrently, or the report across models, from the picked rows."""
    context = runtime.context
    subjects = _subjects(state.get("salient", {}), across=across)

    async def draft(subject: str) -> AskResult[Drafted]:
        return await _ask(context, await _report_ask(context, state, subject))

    return await _store(context, state, "drafts", ReportDraft, subjects, await gather_all(map(draft, subjects)))


async def print_places(state: State, runtime: Runtime[DiagnosisContext], *, across: bool) -> State:
    """Replace the references with figures in the reports on models, or in the report across models."""
    context, drafts, reports = runtime.context, state.get("drafts", {}), dict(state.get("reports", {}))
    for subject in _subjects(drafts, across=across):
        draft = await context.store.get(ReportDraft, drafts[subject])
        report = _report(context, subject, draft.written, draft.provenance)
        reports[subject] = await context.store.put(report)
    return {"reports": reports}


async def mend(state: State, runtime: Runtime[DiagnosisContext], *, across: bool) -> State:
    """Send reports with unverified sentences back once with all faults, and keep the version with fewer faults.

    A second version that is not better changes only the calls.
    """
    context, reports, calls = runtime.context, dict(state.get("reports", {})), _calls(state)
    first_reports: dict[str, Report] = {}
    for subject in _subjects(reports, across=across):
        report = await context.store.get(Report, reports[subject])
        if report.unverified:
            first_reports[subject] = report

    async def rewrite(subject: str) -> AskResult[Drafted]:
        draft = await context.store.get(ReportDraft, state.get("drafts", {})[subject])
        problem = _problem(first_reports[subject].unverified)
        rejection = Rejected(text=draft.text[:20_000], problem=problem, call=draft.provenance.call)
        return await _ask(context, await _report_ask(context, state, subject), rejected=rejection)

    results = await gather_all(map(rewrite, first_reports))
    for (subject, first), result in zip(first_reports.items(), results, strict=True):
        calls.setdefault(subject, []).extend(result.calls)
        if result.value is None:
            continue
        second = _report(context, subject, result.value.written, result.provenance)
        if len(second.unverified) < len(first.unverified):
            repair = {"unverified_at_first": first.unverified_at_first, "repaired": True}
            reports[subject] = await context.store.put(second.model_copy(update=repair))
    return {"reports": reports, "calls": calls}


async def after_models(state: State, runtime: Runtime[DiagnosisContext]) -> Literal["write_across", "end"]:
    """Return `write_across` if there are several models to compare, else the end."""
    if len(runtime.context.tables.models) > 1:
        return "write_across"
    return "end"


def build() -> StateGraph[State, DiagnosisContext]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=DiagnosisContext)
    steps = (("write", write), ("expand", print_places), ("mend", mend))
    graph.add_sequence([("select", select), *((name, partial(step, across=False)) for name, step in steps)])
    graph.add_sequence([(f"{name}_across", partial(step, across=True)) for name, step in steps])
    graph.add_edge(START, "select")
    graph.add_conditional_edges("mend", after_models, {"write_across": "write_across", "end": END})
    graph.add_edge("mend_across", END)
    return graph


def _tables(assets: Iterable[Asset], subject: str) -> list[tuple[Asset, Sequence[int]]]:
    """Return the tables and rows shown for a subject: a model's own tables and its rows of shared ones, or all shared tables.

    Rows without figures and radar charts, which repeat the heat map, are left out.
    """
    tables: list[tuple[Asset, Sequence[int]]] = []
    for asset in assets:
        if asset.family == "radar":
            continue
        if subject != EVERYONE:
            rows = rows_of(asset, subject)
        elif asset.model:
            rows = ()
        else:
            rows = range(1, len(asset.rows) + 1)
        tables.append((asset, telling_rows(asset, rows)))
    return tables


async def _picked_rows(context: DiagnosisContext, state: State, subject: str, *, further: Iterable[str] = ()) -> str:
    """Return, as text, the rows picked for a subject, further rows, and the rows that are always shown."""
    salient = await context.store.get(Salience, state.get("salient", {})[subject])
    always = shown_always(context.tables.assets, subject, everyone=subject == EVERYONE)
    rows = {name: set(numbers) for name, numbers in always.items()}
    for reference in (*salient.rows, *further):
        name, _, row = reference.rpartition(":")
        rows.setdefault(name, set()).add(int(row))
    return tables_text(
        [(asset, sorted(rows[asset.id])) for asset in context.tables.assets if asset.id in rows], quiet=True
    )


async def _across(context: DiagnosisContext, state: State) -> tuple[str, str]:
    """Return the input of the report across models: the tables, and the verified sentences of the reports on models.

    The sentences are shown with their references; the tables include the rows that these refer to.
    """
    parts: list[str] = []
    rows: dict[str, None] = {}
    for subject in context.tables.models:
        id = state.get("reports", {}).get(subject)
        if id is not None:
            verified = (await context.store.get(Report, id)).verified
            for sentence in verified:
                rows.update(dict.fromkeys(place.row for place in sentence.places if place.row))
            parts.append(f"{subject}:\n" + "\n".join(sentence.written for sentence in verified))
    return await _picked_rows(context, state, EVERYONE, further=rows), "\n\n".join(parts) or "none"


async def _ask(context: DiagnosisContext, request: Ask[T], *, rejected: Rejected | None = None) -> AskResult[T]:
    """Return the reply to a request, and report another finished step.

    Raises:
        CallFailed: the budget is exhausted; the step stays open, so that a resume repeats it.
    """
    result = within_budget(await context.ask(request, rejected=rejected))
    context.on_progress(1)
    return result


async def _store(
    context: DiagnosisContext,
    state: State,
    name: Literal["salient", "drafts"],
    type_: type[Salience | ReportDraft],
    subjects: Sequence[str],
    results: Sequence[AskResult[Picks] | AskResult[Drafted]],
) -> State:
    """Store the replies' values by subject, or the failures of subjects without one."""
    ids, failures, calls = dict(state.get(name, {})), dict(state.get("failed", {})), _calls(state)
    for subject, result in zip(subjects, results, strict=True):
        calls.setdefault(subject, []).extend(result.calls)
        if result.value is None:
            problem = failure(result.failure.kind, result.failure.reason)
            failures[subject] = [problem.kind, problem.reason]
            continue
        value = type_(subject=subject, provenance=result.provenance, **result.value._asdict())
        ids[subject] = await context.store.put(value)
    return cast("State", {name: ids, "failed": failures, "calls": calls})


def _subjects(ids: Mapping[str, str], *, across: bool) -> list[str]:
    """Return the subjects that have a value: models, or all models together."""
    return [subject for subject in ids if (subject == EVERYONE) is across]


async def _report_ask(context: DiagnosisContext, state: State, subject: str) -> Ask[Drafted]:
    """Return the request for a subject's report."""
    if subject == EVERYONE:
        return write_across(*await _across(context, state))
    return write_report(subject, await _picked_rows(context, state, subject))


def _report(context: DiagnosisContext, subject: str, parsed: ParsedReport, provenance: Provenance) -> Report:
    """Return a parsed report with its references replaced."""
    sentences = tuple(expand(sentence, context.printable) for sentence in parsed.sentences)
    return Report(
        subject=subject,
        sentences=sentences,
        words=parsed.words,
        cut=parsed.cut,
        unverified_at_first=sum(not sentence.verified for sentence in sentences),
        provenance=provenance,
    )


def _problem(unverified: Sequence[Sentence]) -> str:
    lines = ["These sentences cannot be printed as they stand:"]
    for number, sentence in enumerate(unverified, 1):
        lines.append(f"{number}. {sentence.written[:400]}")
        lines += [f"   {fault.reason}" for fault in sentence.faults]
    return "\n".join(lines)


def _calls(state: State) -> dict[str, list[str]]:
    return {subject: list(keys) for subject, keys in state.get("calls", {}).items()}
