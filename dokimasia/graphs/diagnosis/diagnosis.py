"""Diagnosis in words: what is salient is picked, written model by model, checked, mended once, then across models (ATOM, 3.4).

::

    select ─► write ─► check ─► mend ─► write_across ─► check_across ─► mend_across ─► end
                                 └──────────────────────────────────────────────────────┘  (one model)

Every step is checkpointed and holds ids of what was made; a step that was cut off is done again whole, its calls
answered by the ledger. A subject whose calls fail twice has a failure in the place of a report, and the rest goes on.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypedDict, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import Asked, failure
from dokimasia.agents.reporter import Drafted, Picks, pick_salient, write_across, write_report
from dokimasia.algorithms.diagnosis.asset_tables import rows_of, tables_text
from dokimasia.algorithms.diagnosis.claims import check_report
from dokimasia.algorithms.diagnosis.evidence import Evidence, Missing, evidence_of
from dokimasia.domain.diagnosis import Asset, Diagnosis
from dokimasia.domain.diagnosis_report import Checked, Draft, Report, Salience
from dokimasia.domain.judgement import Failed, Rejected
from dokimasia.errors import CallFailed, ConfigError
from dokimasia.graphs.context import Context
from dokimasia.graphs.reasking import gathered, mended
from dokimasia.graphs.versions import VERSIONS

NAME = "diagnosis"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True

EVERYONE = ""
"""The subject of the report across models."""

ALWAYS = "models"
"""The table of overall results: a subject's own rows are shown to its writer in any case."""

NAMED = 12
"""Struck sentences that a writer is told of."""

T = TypeVar("T")


class State(TypedDict, total=False):
    """By subject (a model's name, or empty for all): ids of what was picked, drafted and checked; failures; calls.

    `failed` holds a kind and a reason; `calls` the ledger keys of all that was asked, in order.
    """

    salient: dict[str, str]
    drafts: dict[str, str]
    reports: dict[str, str]
    failed: dict[str, list[str]]
    calls: dict[str, list[str]]


def _silent(done: int) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class DiagnosisContext(Context):
    """The services of a diagnosis, its tables, and who hears that a subject has come a step further."""

    diagnosis: Diagnosis | None = None
    told: Callable[[int], None] = field(default=_silent)

    @cached_property
    def tables(self) -> Diagnosis:
        """The diagnosis.

        Raises:
            ConfigError: there is none.
        """
        if self.diagnosis is None:
            raise ConfigError("a report needs the diagnosis it is written from: DiagnosisContext(..., diagnosis=...)")
        return self.diagnosis

    @cached_property
    def evidence(self) -> Evidence:
        """The tables as what sentences may rest on."""
        return evidence_of(self.tables.assets, models=self.tables.models)


async def select(state: State, runtime: Runtime[DiagnosisContext]) -> State:
    """Pick, for every model and for all of them together, the rows that are worth reporting."""
    context = runtime.context
    models = list(context.tables.models)
    subjects = [*models, EVERYONE] if len(models) > 1 else models

    async def one(subject: str) -> Asked[Picks]:
        return await _asked(
            context,
            lambda rejected: pick_salient(
                subject,
                tables_text(_tables(context.tables.assets, subject)),
                row_of=lambda ref: _row_ref(context.evidence, ref),
                gateway=context.gateway,
                judge=context.judge,
                rejected=rejected,
                library=context.prompts,
            ),
        )

    salient: dict[str, str] = {}
    failed: dict[str, list[str]] = {}
    calls: dict[str, list[str]] = {}
    for subject, asked in zip(subjects, await gathered(map(one, subjects)), strict=True):
        calls[subject] = asked.calls
        if asked.value is None or asked.provenance is None:
            failed[subject] = _failed(asked.failure)
            continue
        picked = Salience(
            subject=subject, rows=asked.value.rows, unknown=asked.value.unknown, provenance=asked.provenance
        )
        salient[subject] = await context.store.put(picked)
    return {"salient": salient, "failed": failed, "calls": calls}


async def write(state: State, runtime: Runtime[DiagnosisContext]) -> State:
    """Write the report on each model from the rows that were picked for it, side by side."""
    context = runtime.context
    subjects = [subject for subject in state.get("salient", {}) if subject != EVERYONE]

    async def one(subject: str) -> Asked[Drafted]:
        tables = await _picked(context, state, subject)
        return await _asked(context, lambda rejected: _write_one(context, subject, tables, rejected))

    return await _drafted(context, state, subjects, await gathered(map(one, subjects)))


async def check(state: State, runtime: Runtime[DiagnosisContext]) -> State:
    """Hold every sentence of the reports on models against the tables."""
    return await _check(runtime.context, state, [one for one in state.get("drafts", {}) if one != EVERYONE])


async def mend(state: State, runtime: Runtime[DiagnosisContext]) -> State:
    """Send reports with struck sentences back, once, with what is wrong; the better of the two stays."""
    context = runtime.context
    subjects = [one for one in state.get("reports", {}) if one != EVERYONE]

    async def ask(subject: str, rejected: Rejected) -> Asked[Drafted]:
        return await _write_one(context, subject, await _picked(context, state, subject), rejected)

    return await _mend(context, state, subjects, ask)


async def write_all(state: State, runtime: Runtime[DiagnosisContext]) -> State:
    """Write the report across models from the rows that were picked for it and from what stands of each report."""
    context = runtime.context
    if EVERYONE not in state.get("salient", {}):
        return {}
    tables, reports = await _picked(context, state, EVERYONE), await _standing(context, state)
    asked = await _asked(context, lambda rejected: _write_across(context, tables, reports, rejected))
    return await _drafted(context, state, [EVERYONE], [asked])


async def check_all(state: State, runtime: Runtime[DiagnosisContext]) -> State:
    """Hold every sentence of the report across models against the tables."""
    return await _check(runtime.context, state, [one for one in state.get("drafts", {}) if one == EVERYONE])


async def mend_all(state: State, runtime: Runtime[DiagnosisContext]) -> State:
    """Send the report across models back, once, where sentences of it were struck."""
    context = runtime.context
    subjects = [one for one in state.get("reports", {}) if one == EVERYONE]

    async def ask(subject: str, rejected: Rejected) -> Asked[Drafted]:
        tables, reports = await _picked(context, state, subject), await _standing(context, state)
        return await _write_across(context, tables, reports, rejected)

    return await _mend(context, state, subjects, ask)


async def after_models(state: State, runtime: Runtime[DiagnosisContext]) -> Literal["write_across", "end"]:
    """One model is compared with nothing."""
    return "write_across" if len(runtime.context.tables.models) > 1 else "end"


def build() -> StateGraph[State, DiagnosisContext]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=DiagnosisContext)
    graph.add_node("select", select)
    graph.add_node("write", write)
    graph.add_node("check", check)
    graph.add_node("mend", mend)
    graph.add_node("write_across", write_all)
    graph.add_node("check_across", check_all)
    graph.add_node("mend_across", mend_all)
    for first, second in (
        (START, "select"),
        ("select", "write"),
        ("write", "check"),
        ("check", "mend"),
        ("write_across", "check_across"),
        ("check_across", "mend_across"),
        ("mend_across", END),
    ):
        graph.add_edge(first, second)
    graph.add_conditional_edges("mend", after_models, {"write_across": "write_across", "end": END})
    return graph


def _tables(assets: Iterable[Asset], subject: str) -> list[tuple[Asset, Sequence[int] | None]]:
    """Return what is shown of a subject: a model's own tables and its rows of others; of all, the tables of all."""
    if subject == EVERYONE:
        return [(asset, None) for asset in assets if not asset.model]
    return [(asset, rows_of(asset, subject)) for asset in assets]


async def _picked(context: DiagnosisContext, state: State, subject: str) -> str:
    """Return the tables' text of the rows that were picked for a subject, and its overall results."""
    salient = await context.store.get(Salience, state.get("salient", {})[subject])
    rows: dict[str, set[int]] = {}
    for ref in salient.rows:
        name, _, row = ref.rpartition(":")
        rows.setdefault(name, set()).add(int(row))
    chosen: list[tuple[Asset, Sequence[int] | None]] = []
    for asset in context.tables.assets:
        if asset.id == ALWAYS:
            every = range(1, len(asset.rows) + 1) if subject == EVERYONE else rows_of(asset, subject)
            rows.setdefault(asset.id, set()).update(every)
        if asset.id in rows:
            chosen.append((asset, sorted(rows[asset.id])))
    return tables_text(chosen)


async def _standing(context: DiagnosisContext, state: State) -> str:
    """Return what stands of the reports on models, as text."""
    parts: list[str] = []
    for subject in context.tables.models:
        id = state.get("reports", {}).get(subject)
        if id is not None:
            report = await context.store.get(Report, id)
            parts.append(f"{subject}:\n" + "\n".join(one.text for one in report.kept))
    return "\n\n".join(parts) or "none"


async def _write_one(context: DiagnosisContext, subject: str, tables: str, rejected: Rejected | None) -> Asked[Drafted]:
    return await write_report(
        subject,
        tables,
        gateway=context.gateway,
        judge=context.judge,
        rejected=rejected,
        library=context.prompts,
    )


async def _write_across(
    context: DiagnosisContext, tables: str, reports: str, rejected: Rejected | None
) -> Asked[Drafted]:
    return await write_across(
        tables,
        reports,
        gateway=context.gateway,
        judge=context.judge,
        rejected=rejected,
        library=context.prompts,
    )


async def _asked(context: DiagnosisContext, ask: Callable[[Rejected | None], Awaitable[Asked[T]]]) -> Asked[T]:
    """Ask, and send a reply that cannot be used back once.

    Raises:
        CallFailed: the budget is used up: the step stays open, so that a resume does it whole.
    """
    asked = await mended(ask)
    _within_budget(asked.failed)
    context.told(1)
    return asked


def _within_budget(failed: Failed | None) -> None:
    if failed is not None and failed.kind == "budget":
        raise CallFailed("budget", failed.reason)


async def _drafted(
    context: DiagnosisContext, state: State, subjects: Sequence[str], asks: Sequence[Asked[Drafted]]
) -> State:
    drafts, failed, calls = dict(state.get("drafts", {})), dict(state.get("failed", {})), _calls(state)
    for subject, asked in zip(subjects, asks, strict=True):
        calls.setdefault(subject, []).extend(asked.calls)
        if asked.value is None or asked.provenance is None:
            failed[subject] = _failed(asked.failure)
            continue
        draft = Draft(subject=subject, text=asked.value.text, written=asked.value.written, provenance=asked.provenance)
        drafts[subject] = await context.store.put(draft)
    return {"drafts": drafts, "failed": failed, "calls": calls}


async def _check(context: DiagnosisContext, state: State, subjects: Sequence[str]) -> State:
    reports = dict(state.get("reports", {}))
    for subject in subjects:
        draft = await context.store.get(Draft, state.get("drafts", {})[subject])
        sentences = check_report(draft.written.sentences, context.evidence)
        report = Report(
            subject=subject,
            sentences=tuple(sentences),
            words=draft.written.words,
            cut=draft.written.cut,
            struck_at_first=sum(not one.kept for one in sentences),
            provenance=draft.provenance,
        )
        reports[subject] = await context.store.put(report)
    return {"reports": reports}


async def _mend(
    context: DiagnosisContext,
    state: State,
    subjects: Sequence[str],
    ask: Callable[[str, Rejected], Awaitable[Asked[Drafted]]],
) -> State:
    """Send reports with struck sentences back; a second one that is no better changes nothing but the count of calls."""
    reports, calls = dict(state.get("reports", {})), _calls(state)
    before = {subject: await context.store.get(Report, reports[subject]) for subject in subjects}
    sent = [subject for subject in subjects if before[subject].struck]

    async def one(subject: str) -> Asked[Drafted]:
        draft = await context.store.get(Draft, state.get("drafts", {})[subject])
        problem = _problem(before[subject].struck)
        asked = await ask(subject, Rejected(text=draft.text[:20_000], problem=problem, call=draft.provenance.call))
        _within_budget(asked.failed)
        context.told(1)
        return asked

    for subject, asked in zip(sent, await gathered(map(one, sent)), strict=True):
        calls.setdefault(subject, []).extend(asked.calls)
        first = before[subject]
        if asked.value is None or asked.provenance is None:
            continue
        sentences = check_report(asked.value.written.sentences, context.evidence)
        if sum(not one.kept for one in sentences) >= len(first.struck):
            continue
        second = Report(
            subject=subject,
            sentences=tuple(sentences),
            words=asked.value.written.words,
            cut=asked.value.written.cut,
            struck_at_first=first.struck_at_first,
            repaired=True,
            provenance=asked.provenance,
        )
        reports[subject] = await context.store.put(second)
    return {"reports": reports, "calls": calls}


def _problem(struck: Sequence[Checked]) -> str:
    lines = [
        f"{number}. {one.sentence.text[:400]}\n   {one.strike.reason if one.strike else ''}"
        for number, one in enumerate(struck[:NAMED], 1)
    ]
    more = f"\nand {len(struck) - NAMED} more" if len(struck) > NAMED else ""
    return "These sentences do not hold against the tables:\n" + "\n".join(lines) + more


def _row_ref(evidence: Evidence, ref: str) -> str | None:
    """Return the reference to a row in its one form, also of a reference to a cell of it; None where there is none."""
    try:
        fact = evidence.find(ref)
    except Missing:
        return None
    return None if fact.row is None else f"{fact.asset.id}:{fact.asset.rows.index(fact.row) + 1}"


def _calls(state: State) -> dict[str, list[str]]:
    return {subject: list(keys) for subject, keys in state.get("calls", {}).items()}


def _failed(failed: Failed) -> list[str]:
    kept = failure(failed.kind, failed.reason)
    return [kept.kind, kept.reason]
