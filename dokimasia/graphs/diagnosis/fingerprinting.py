"""Fingerprinting: a judge is given answers of two models and two reports without names, and matches them (ATOM, G.1).

    match ─► end

One trial a walk; it is straight and asks once (and once more where the reply cannot be used), so it needs no checkpoint.
"""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents.diagnosis import match_reports
from dokimasia.algorithms.text.anonymising import anonymise_report
from dokimasia.domain.diagnosis.fingerprint import FingerprintMatch, FingerprintTask
from dokimasia.domain.diagnosis.report import Report
from dokimasia.domain.identity import value_id
from dokimasia.graphs.context import Context, failed_update
from dokimasia.graphs.reasking import within_budget
from dokimasia.graphs.versions import VERSIONS

NAME = "fingerprinting"
VERSION = VERSIONS[NAME]

NOTHING = "(no sentence of this report is verified)"


class State(TypedDict, total=False):
    """Ids: of the task and of both models' reports (the task's first and second), of the match; whether it is right."""

    task: str
    first: str
    second: str
    result: str
    score: float
    calls: list[str]
    failed: str
    reason: str


async def match(state: State, runtime: Runtime[Context]) -> State:
    """Ask whom the first report is about, and hold the reply against the truth."""
    context = runtime.context
    task = await context.store.get(FingerprintTask, state["task"])
    first, second = [await context.store.get(Report, state[name]) for name in ("first", "second")]
    reports = shown_reports(task, first, second)
    asked = within_budget(await context.ask(match_reports(reports, task.answers)))
    if asked.value is None or asked.provenance is None:
        return {"calls": asked.calls, **failed_update(asked.failure)}
    said = FingerprintMatch.model_validate(
        {
            "task": value_id(task),
            "said": asked.value,
            "right": asked.value == task.truth,
            "by": asked.provenance.model,
            "provenance": asked.provenance,
        }
    )
    return {"result": await context.store.put(said), "score": float(said.right), "calls": asked.calls}


def shown_reports(task: FingerprintTask, first: Report, second: Report) -> tuple[str, str]:
    """Return the verified sentences of both models' reports, without names, in the task's order."""
    known = (task.first, task.second, *task.known)
    texts = {
        report.subject: anonymise_report(
            [one.text for one in report.verified],
            report.subject,
            (task.first, task.second),
            ids=known,
            others=task.others,
        )
        for report in (first, second)
    }
    return texts[task.one] or NOTHING, texts[task.two] or NOTHING


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("match", match)
    graph.add_edge(START, "match")
    graph.add_edge("match", END)
    return graph
