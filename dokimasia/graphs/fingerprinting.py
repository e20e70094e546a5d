"""Fingerprinting: a judge matches two anonymous reports to the answers of two models (ATOM, G.1).

    match ─► end

A thread is a trial with one request (repeated once if the reply is unusable), so it needs no checkpoints.
"""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.diagnosis import match_reports
from dokimasia.algorithms.text.anonymising import anonymise_report
from dokimasia.domain.diagnosis.fingerprint import FingerprintMatch, FingerprintTask, Letter
from dokimasia.domain.diagnosis.report import Report
from dokimasia.domain.identity import value_id
from dokimasia.graphs.context import Context, failed_update
from dokimasia.graphs.reasking import within_budget
from dokimasia.graphs.versions import VERSIONS

NAME = "fingerprinting"
VERSION = VERSIONS[NAME]

NOTHING = "(no sentence of this report is verified)"


class State(TypedDict, total=False):
    """Ids of the task, of the two models' reports (in the task's order) and of the match (`result`); `score` is 1 if right."""

    task: str
    first: str
    second: str
    result: str
    score: float
    calls: list[str]
    failed: str
    reason: str


async def match_task(state: State, runtime: Runtime[Context]) -> State:
    """Ask the judge which model the first report describes, and compare its choice with the truth."""
    context = runtime.context
    task = await context.store.get(FingerprintTask, state["task"])
    first = await context.store.get(Report, state["first"])
    second = await context.store.get(Report, state["second"])
    reports = anonymous_reports(task, first, second)
    reply = within_budget(await context.ask(match_reports(reports, task.answers)))
    if reply.value is None:
        return {"calls": reply.calls, **failed_update(reply.failure)}
    letter: Letter = "A" if reply.value == "A" else "B"
    right = letter == task.truth
    match = FingerprintMatch(
        task=value_id(task), said=letter, right=right, by=reply.provenance.model, provenance=reply.provenance
    )
    return {"result": await context.store.put(match), "score": float(right), "calls": reply.calls}


def anonymous_reports(task: FingerprintTask, first: Report, second: Report) -> tuple[str, str]:
    """Return the verified sentences of both models' reports, without names, in the task's order."""
    models = (task.first, task.second)
    texts: dict[str, str] = {}
    for report in (first, second):
        sentences = [sentence.text for sentence in report.verified]
        ids = (*models, *task.known)
        texts[report.subject] = anonymise_report(sentences, report.subject, models, ids=ids, others=task.others)
    return texts[task.one] or NOTHING, texts[task.two] or NOTHING


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("match", match_task)
    graph.add_edge(START, "match")
    graph.add_edge("match", END)
    return graph
