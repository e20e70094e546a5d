"""Rubrics from a golden caption alone: written, checked and repaired as in `rubric_making`, without pool or trial.

    classify ─► write_must_right ─► mine_easy_wrong ─► check ─► cross_check ─► end
                                                        ▲ │ rules are broken
                                                 repair ┘◄┘

Without a pool, easy-wrong rubrics concern facts of the caption. The options name no panel, so `cross_check` asks no
model. A judge that assesses captions by rubrics uses the result.
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
    mine_easy_wrong,
    repair,
    unless_failed,
    write_must_right,
)
from dokimasia.graphs.versions import VERSIONS

NAME = "gold_rubrics"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph. Its inputs are the sample and an empty `answered`; its result is `made`."""
    graph = StateGraph(State, context_schema=Context)
    for node in (classify, write_must_right, mine_easy_wrong, check, repair, cross_check):
        graph.add_node(node)
    graph.add_edge(START, "classify")
    edges = itertools.pairwise(("classify", "write_must_right", "mine_easy_wrong", "check"))
    for before, after in (*edges, ("repair", "check")):
        graph.add_conditional_edges(before, unless_failed, {"go": after, "stop": END})
    graph.add_conditional_edges("check", after_check)
    graph.add_edge("cross_check", END)
    return graph
