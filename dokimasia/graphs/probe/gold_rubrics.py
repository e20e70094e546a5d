"""Must-right rubrics of a golden caption alone, as the making of rubrics writes, checks and mends them, without pool and trial.

    classify ─► write_must_right ─► check ─► cross_check ─► end
                                     ▲ │ rules are broken
                              repair ┘◄┘

Nobody cross-checks them either; they are what a judge is held to that assesses the caption by rubrics of its own.
"""

import itertools

from langgraph.graph import END, START, StateGraph

from dokimasia.graphs.context import Context
from dokimasia.graphs.rubrics.rubric_making import (
    State,
    after_check,
    check,
    classify,
    cross_check,
    repair,
    unless_failed,
    write_must_right,
)
from dokimasia.graphs.versions import VERSIONS

NAME = "gold_rubrics"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled; it is given the sample, and nobody as having `answered`, and ends with `made`."""
    graph = StateGraph(State, context_schema=Context)
    for node in (classify, write_must_right, check, repair, cross_check):
        graph.add_node(node)
    graph.add_edge(START, "classify")
    for before, after in (*itertools.pairwise(("classify", "write_must_right", "check")), ("repair", "check")):
        graph.add_conditional_edges(before, unless_failed, {"go": after, "stop": END})
    graph.add_conditional_edges("check", after_check)
    graph.add_edge("cross_check", END)
    return graph
