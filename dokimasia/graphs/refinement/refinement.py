"""Self-correction: one arm of the closed loop on one answer that failed, round by round (ATOM, section 3.5).

::

    select_atoms ─► (write_hints ─► check_leaks ◄─► rewrite_hints) ─► answer_again ─► check_answer ─► (judge_answer)
         ▲                                                                                                  │
         └───────────────────────────────── decide ◄─ score_again ◄─────────────────────────────────────────┘

The arm `original` enters at `check_answer`: whether the answer is wrong is what decides that it is refined. Arms:
`again` asks the same prompt anew, `retry` says only that the answer was wrong, `self` names the questions of failed
atoms, `peer` adds hints of peers that solved them. A random share of the failed atoms is never named. A hint that leaks
is rewritten once by its peer, then left out. Whether it goes round once more is decided by the shown atoms alone. The
state holds ids, numbers and small words only; every step is checkpointed.
"""

import operator
from typing import Annotated, Literal, TypedDict, cast

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import refiner
from dokimasia.agents.evaluation import score_checkpoints
from dokimasia.algorithms.closed_loop import failed_atoms, when_to_stop, withhold
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Answered, CheckpointScores, FailureKind, Response
from dokimasia.domain.refinement import Arm, Feedback, RefinementStep, Stopped
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update
from dokimasia.graphs.evaluation.final_answer import by_judge, by_rule
from dokimasia.graphs.evaluation.judgements import judgement_of
from dokimasia.graphs.reasking import gathered
from dokimasia.graphs.refinement import hinting
from dokimasia.graphs.refinement.hinting import PointState
from dokimasia.graphs.refinement.leak_checking import secrets_of
from dokimasia.graphs.versions import VERSIONS

NAME = "refinement"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True


class State(Failure, TypedDict, total=False):
    """Ids of values in the store, small numbers, and where the work stands.

    Given: `sample`, `criteria`, `source` and `source_judgement` (the response to refine and its judgement), `model`,
    `arm`, `repeat`; `rounds`, `withhold` (a share), `judgements` (draws of the judge an answer), `below` (whether the
    answer's score is below a threshold; absent: it is a wrong final answer that fails), `leak_judge` (whether the judge
    looks for leaks in what the rules let pass; absent: it does), `show_answer`; in the arm `peer`, by atom number,
    `peers`: pairs of a model's name and the id of its response, in order of choice.

    Made: `steps`, the ids of a `RefinementStep` a round; the rest is of the round at work. `scores` are the atoms' last.
    """

    sample: str
    criteria: str
    source: str
    source_judgement: str
    model: str
    arm: Arm
    repeat: int
    rounds: int
    withhold: float
    judgements: int
    below: bool
    leak_judge: bool
    show_answer: bool
    peers: dict[str, list[list[str]]]
    round: int
    shown: list[int]
    withheld: list[int]
    scores: list[float]
    points: list[PointState]
    feedback: str
    response: str
    final: str
    answered: Answered
    judged: list[str]
    calls: list[str]
    stopped: Stopped
    steps: Annotated[list[str], operator.add]


async def select_atoms(state: State, runtime: Runtime[Context]) -> State:
    """Split the failed atoms into shown and withheld, and take up those shown ones that still fail."""
    context = runtime.context
    judgement = await context.store.get(CheckpointScores, state["source_judgement"])
    sample = await context.store.get(Sample, state["sample"])
    split = withhold(
        failed_atoms(judgement.scores),
        state.get("withhold", 0.0),
        context.seed,
        sample.digest,
        state["model"],
        state.get("repeat", 0),
    )
    round = state.get("round", 0) + 1
    scores = list(state.get("scores") or map(float, judgement.scores))
    points: list[PointState] = []
    if state["arm"] in ("self", "peer"):
        told = [atom for atom in failed_atoms(scores) if atom in split.shown]
        points = [hinting.point_of(atom, state["arm"], round, state.get("peers", {})) for atom in told]
    return {
        "round": round,
        "shown": list(split.shown),
        "withheld": list(split.withheld),
        "scores": scores,
        "points": points,
        "feedback": "",
        "final": "",
        "judged": [],
        "calls": [],
    }


async def write_hints(state: State, runtime: Runtime[Context]) -> State:
    """Ask a peer that solved it for a hint on each point."""
    context, sample, criteria = await _given(state, runtime)
    return _pointed(state, await hinting.ask_hints(state["points"], sample, criteria, context))


async def check_leaks(state: State, runtime: Runtime[Context]) -> State:
    """Look for what the points' questions and hints give away, before anything of them is sent."""
    context, sample, criteria = await _given(state, runtime)
    secrets = secrets_of(sample, criteria, sorted((*state["shown"], *state["withheld"])))
    judge = state.get("leak_judge", True)
    return _pointed(state, await hinting.check(state["points"], sample, criteria, secrets, context, judge=judge))


async def rewrite_hints(state: State, runtime: Runtime[Context]) -> State:
    """Have each hint that leaks rewritten by its peer, once."""
    context, sample, criteria = await _given(state, runtime)
    return _pointed(state, await hinting.ask_hints(state["points"], sample, criteria, context, anew=True))


async def answer_again(state: State, runtime: Runtime[Context]) -> State:
    """Have the model answer once more, told what its arm allows."""
    context, sample, criteria = await _given(state, runtime)
    arm, round = state["arm"], state["round"]
    points = await hinting.finished(state["points"], criteria, context)
    feedback = Feedback(sample=sample.digest, model=state["model"], arm=arm, round=round, points=points)
    earlier = None
    if state.get("show_answer"):
        earlier = (await context.store.get(Response, state.get("response") or state["source"])).text
    what = refiner.answer_again(sample, arm, feedback.said, round=round, repeat=state.get("repeat", 0), earlier=earlier)
    asked = await context.ask(what, model=state["model"])
    update: State = {"feedback": await context.store.put(feedback), "calls": [*state["calls"], *asked.calls]}
    if asked.value is None:
        return {**update, "response": "", **failed_update(asked.failure)}
    return {**update, "response": await context.store.put(asked.value)}


async def check_answer(state: State, runtime: Runtime[Context]) -> State:
    """Hold the final answer against the reference by rule: choice, exact, number, yes or no."""
    context = runtime.context
    id = state.get("response") or state["source"]
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
    if final.failure == "budget":
        return {**update, "failed": "budget", "reason": "the judge may not be paid for any more"}
    return {**update, "final": await context.store.put(final)}


async def score_again(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge score all criteria of the answer in one call, as often as independent draws are wanted.

    Of the original answer, which has its judgement, one more is drawn, so that the judge's own unsteadiness is known.
    """
    context, sample, criteria = await _given(state, runtime)
    response = await context.store.get(Response, state["response"])
    round, repeat = state.get("round", 0), state.get("repeat", 0)
    first = 0 if round else 1
    asked = await gathered(
        context.ask(
            score_checkpoints(
                sample,
                criteria,
                response.text,
                show_image=context.options.shows_image,
                repeat=refiner.later_draw(repeat, round, number),
            ),
            node="score",
        )
        for number in range(first, first + state.get("judgements", 1))
    )
    judgements = [judgement_of(one, state["response"], state["criteria"], criteria) for one in asked]
    judged = [await context.store.put(one) for one in judgements if one is not None]
    update: State = {"judged": judged, "calls": [*state.get("calls", []), *(key for one in asked for key in one.calls)]}
    spent = next((one.failed for one in asked if one.failed is not None and one.failed.kind == "budget"), None)
    if spent is not None or (not judged and round):
        return {**update, **failed_update(spent or asked[0].failure)}
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
        draws = [(await context.store.get(CheckpointScores, id)).scores for id in state["judged"]]
        scores = [sum(column) / len(draws) for column in zip(*draws, strict=True)]
        stopped = when_to_stop(before, scores, state["shown"], round=round, rounds=state.get("rounds", 1))
    judged = state.get("judged", [])
    step = RefinementStep(
        arm=state["arm"],
        round=round,
        response=state.get("response") or None,
        final=state.get("final") or None,
        judgements=tuple(judged if round else [state["source_judgement"], *judged]),
        feedback=state.get("feedback") or None,
        shown=tuple(state.get("shown", [])),
        withheld=tuple(state.get("withheld", [])),
        stopped=stopped,
        failure=failure,
        reason=state.get("reason", ""),
        calls=tuple(state.get("calls", [])),
    )
    return {"steps": [await context.store.put(step)], "scores": scores, "stopped": stopped}


async def first_step(state: State) -> Literal["check_answer", "select_atoms"]:
    """The original answer is only checked."""
    return "check_answer" if state["arm"] == "original" else "select_atoms"


async def after_selection(state: State) -> Literal["write_hints", "check_leaks", "answer_again"]:
    """Ask peers, check what is to be said, or, where there is nothing to say, answer."""
    if any(hinting.wants_hint(point) for point in state["points"]):
        return "write_hints"
    return "check_leaks" if state["points"] else "answer_again"


async def after_hints(state: State) -> Literal["check_leaks", "decide"]:
    """Check what was written, or stop."""
    return "decide" if state.get("failed") else "check_leaks"


async def after_leaks(state: State) -> Literal["rewrite_hints", "answer_again", "decide"]:
    """Have leaking hints rewritten, go on, or stop."""
    if state.get("failed"):
        return "decide"
    return "rewrite_hints" if any(hinting.wants_rewriting(point) for point in state["points"]) else "answer_again"


async def after_answer(state: State) -> Literal["check_answer", "decide"]:
    """Check the answer if there is one."""
    return "decide" if state.get("failed") else "check_answer"


async def after_check(state: State) -> Literal["judge_answer", "score_again", "decide"]:
    """Let a judge say where no rule could; an original answer that did not fail needs no second judgement."""
    if state.get("failed"):
        return "decide"
    if not state.get("final"):
        return "judge_answer"
    return "decide" if state["arm"] == "original" and not fails(state) else "score_again"


async def after_decision(state: State) -> Literal["select_atoms", "__end__"]:
    """Go round, or end."""
    return "__end__" if state["stopped"] or state["arm"] == "original" else "select_atoms"


def fails(state: State) -> bool:
    """Whether the original answer is one to refine: its final answer is wrong, or its score below the threshold."""
    return state["below"] if "below" in state else state.get("answered") == "wrong"


def build() -> StateGraph[State, Context]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=Context)
    nodes = (select_atoms, write_hints, check_leaks, rewrite_hints, answer_again)
    for node in (*nodes, check_answer, judge_answer, score_again, decide):
        graph.add_node(node.__name__, node)
    graph.add_conditional_edges(START, first_step)
    graph.add_conditional_edges("select_atoms", after_selection)
    graph.add_conditional_edges("write_hints", after_hints)
    graph.add_conditional_edges("check_leaks", after_leaks)
    graph.add_conditional_edges("rewrite_hints", after_hints)
    graph.add_conditional_edges("answer_again", after_answer)
    graph.add_conditional_edges("check_answer", after_check)
    graph.add_conditional_edges("judge_answer", after_check)
    graph.add_edge("score_again", "decide")
    graph.add_conditional_edges("decide", after_decision)
    return graph


async def _given(state: State, runtime: Runtime[Context]) -> tuple[Context, Sample, CriteriaSet]:
    store = runtime.context.store
    return runtime.context, await store.get(Sample, state["sample"]), await store.get(CriteriaSet, state["criteria"])


def _pointed(state: State, done: hinting.Done) -> State:
    update: State = {"points": done.points, "calls": [*state["calls"], *done.calls]}
    return {**update, **failed_update(done.failed)} if done.failed is not None else update
