"""Self-correction: one arm of the closed loop on one answer that failed, round by round (ATOM, section 3.5).

    begin_round ─► (write_hints ─► check_hints ◄─► rewrite_hints) ─► answer_again ─► check_answer ─► (judge_answer)
         ▲                                                                                                 │
         └──────────────────── decide ◄─ score_again ◄─────────── (choose_points) ◄────────────────────────┘

The arm `original` enters at `check_answer`: whether the answer is wrong decides that it is refined, and `choose_points`
says which of its failed atoms a feedback may name; an answer without any leaves all arms alike. All others share one frame
and differ in the feedback alone: `again` is told nothing, `retry` whether the answer was right, `self` also the questions
of failed atoms, `peer` also hints of peers that solved them. A random share of what could be named never is. Hints that
leak are rewritten once by their peer, then left out. Whether it goes round once more is decided by the shown atoms alone.
The state holds ids, numbers and small words only; every step is checkpointed.
"""

from typing import Literal, cast

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import refiner
from dokimasia.agents.evaluation import score_checkpoints
from dokimasia.algorithms.closed_loop import when_to_stop
from dokimasia.domain.judgement import CheckpointScores, FailureKind, FinalAnswer, Response
from dokimasia.domain.refinement import PointSelection, RefinementStep, Stopped
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, failed_update
from dokimasia.graphs.evaluation.checkpoint_scoring import by_judge, by_rule, judgement_of
from dokimasia.graphs.reasking import first_open, gathered, still_open
from dokimasia.graphs.refinement.feeding_back import (
    after_hints,
    begin_round,
    check_hints,
    choose_points,
    reader_of,
    rewrite_hints,
    write_hints,
)
from dokimasia.graphs.refinement.state import State, as_published, given
from dokimasia.graphs.versions import VERSIONS

NAME = "refinement"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True


async def answer_again(state: State, runtime: Runtime[Context]) -> State:
    """Have the model answer once more, told what its arm allows."""
    context = runtime.context
    reader = await reader_of(state, runtime)
    what = refiner.answer_again(
        reader.sample,
        reader.feedback,
        draw=state["draw"],
        repeat=state.get("repeat", 0),
        earlier=reader.earlier,
        published=as_published(state),
    )
    asked = await context.ask(what, model=state["model"])
    update: State = {"calls": [*state["calls"], *asked.calls]}
    if asked.value is None:
        return {**update, "response": "", **failed_update(asked.failure)}
    return {**update, "response": await context.store.put(asked.value)}


async def check_answer(state: State, runtime: Runtime[Context]) -> State:
    """Hold the final answer against the reference by rule; of the original answer take the evaluation's verdict, if any."""
    context = runtime.context
    id = state.get("response") or state["source"]
    if not state.get("round") and state.get("final"):
        return {"response": id, "answered": (await context.store.get(FinalAnswer, state["final"])).verdict}
    sample = await context.store.get(Sample, state["sample"])
    final = by_rule(sample, await context.store.get(Response, id), id, tolerance=context.options.tolerance)
    if final is None:
        return {"response": id, "final": ""}
    return {"response": id, "final": await context.store.put(final), "answered": final.verdict}


async def judge_answer(state: State, runtime: Runtime[Context]) -> State:
    """Ask the judge whether the final answer says the same as the reference."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    response = await context.store.get(Response, state["response"])
    final = await by_judge(sample, response, state["response"], context, node="judge_answer")
    update: State = {"calls": [*state.get("calls", []), *final.calls], "answered": final.verdict}
    if (left := still_open(final.failure)) is not None:
        return {**update, **failed_update(left)}
    return {**update, "final": await context.store.put(final)}


async def score_again(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge score all criteria of the answer in one call, as often as independent draws are wanted.

    Of the original answer, which has its judgement, one more is drawn, so that the judge's own unsteadiness is known.
    Where rounds may follow, whether they do is decided by a draw of its own, which is no part of any figure: a score by
    which one stops is too high. As published the same draw does both.
    """
    context, sample, criteria = await given(state, runtime)
    response = await context.store.get(Response, state["response"])
    round, repeat = state.get("round", 0), state.get("repeat", 0)
    first, last = (0, state.get("judgements", 1)) if round else (1, state.get("judgements", 1) + 1)
    deciding = 0 < round < state.get("rounds", 1) and not as_published(state)
    asked = await gathered(
        context.ask(
            score_checkpoints(
                sample,
                criteria,
                response.text,
                show_image=context.options.shows_image,
                published=context.options.published,
                repeat=refiner.later_draw(repeat, round, number),
            ),
            node="score",
        )
        for number in range(first, last + deciding)
    )
    judgements = [judgement_of(one, state["response"], state["criteria"], criteria) for one in asked]
    ids = ["" if one is None else await context.store.put(one) for one in judgements]
    judged = [id for id in ids[: last - first] if id]
    update: State = {
        "judged": judged,
        "decided": ids[-1] if deciding else "",
        "calls": [*state.get("calls", []), *(key for one in asked for key in one.calls)],
    }
    spent = first_open(one.failed for one in asked)
    if spent is not None or (not judged and round):
        return {**update, **failed_update(spent or asked[0].failure)}
    if deciding and not ids[-1]:
        return {**update, **failed_update(asked[-1].failure)}
    return update


async def decide(state: State, runtime: Runtime[Context]) -> State:
    """Keep what came of the round, and say whether there is another one."""
    context = runtime.context
    round = state.get("round", 0)
    stopped: Stopped = ""
    scores = state.get("scores", [])
    before = scores
    failure = cast("FailureKind", state["failed"]) if state.get("failed") else None
    if failure:
        stopped = "failed"
    elif round:
        shown = (await context.store.get(PointSelection, state["selection"])).shown
        decided = [state["decided"]] if state.get("decided") else state["judged"]
        draws = [(await context.store.get(CheckpointScores, id)).scores for id in decided]
        scores = [sum(column) / len(draws) for column in zip(*draws, strict=True)]
        stopped = when_to_stop(before, scores, shown, round=round, rounds=state.get("rounds", 1))
    judged = state.get("judged", [])
    step = RefinementStep(
        arm=state["arm"],
        round=round,
        draw=state.get("draw"),
        response=state.get("response") or None,
        final=state.get("final") or None,
        judgements=tuple(judged if round else [state["source_judgement"], *judged]),
        decided=state.get("decided") or None,
        selection=None if round else state.get("selection"),
        feedback=state.get("feedback") or None,
        stopped=stopped,
        failure=failure,
        reason=state.get("reason", ""),
        calls=tuple(state.get("calls", [])),
    )
    return {"steps": [await context.store.put(step)], "scores": scores, "stopped": stopped}


async def first_step(state: State) -> Literal["check_answer", "begin_round"]:
    """The original answer is only checked."""
    return "check_answer" if state["arm"] == "original" else "begin_round"


async def after_answer(state: State) -> Literal["check_answer", "decide"]:
    """Check the answer if there is one."""
    return "decide" if state.get("failed") else "check_answer"


async def after_check(state: State) -> Literal["judge_answer", "choose_points", "score_again", "decide"]:
    """Let a judge say where no rule could; an original answer that did not fail needs neither points nor a judgement."""
    if state.get("failed"):
        return "decide"
    if not state.get("final"):
        return "judge_answer"
    if state["arm"] != "original":
        return "score_again"
    if not fails(state):
        return "decide"
    return "choose_points"


async def after_choice(state: State) -> Literal["score_again", "decide"]:
    """Look at the original answer once more, unless it leaves all arms, or nobody asks for that look."""
    return "score_again" if state.get("looks_again", True) and not state.get("failed") else "decide"


async def after_decision(state: State) -> Literal["begin_round", "__end__"]:
    """Go round, or end."""
    return "__end__" if state["stopped"] or state["arm"] == "original" else "begin_round"


def fails(state: State) -> bool:
    """Whether the original answer is one to refine: its final answer is wrong, or its score below the threshold."""
    return state["below"] if "below" in state else state.get("answered") == "wrong"


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    nodes = (begin_round, write_hints, check_hints, rewrite_hints, answer_again)
    for node in (*nodes, check_answer, judge_answer, choose_points, score_again, decide):
        graph.add_node(node.__name__, node)
    graph.add_conditional_edges(START, first_step)
    for node in (begin_round, write_hints, check_hints, rewrite_hints):
        graph.add_conditional_edges(node.__name__, after_hints)
    graph.add_conditional_edges("answer_again", after_answer)
    graph.add_conditional_edges("check_answer", after_check)
    graph.add_conditional_edges("judge_answer", after_check)
    graph.add_conditional_edges("choose_points", after_choice)
    graph.add_edge("score_again", "decide")
    graph.add_conditional_edges("decide", after_decision)
    return graph
