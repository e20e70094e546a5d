"""Self-correction: one arm of the closed loop on one failed answer, round by round (ATOM, section 3.5).

    begin_round ─► (write_hints ─► check_hints ◄─► rewrite_hints) ─► answer_again ─► check_answer ─► (judge_answer)
         ▲                                                                                                 │
         └──────────────────── decide ◄─ score_again ◄─────────── (choose_points) ◄────────────────────────┘

The arm `original` enters at `check_answer`: only a wrong answer is refined, and `choose_points` selects the failed
atoms that feedback may name; an answer without any is left out of all arms. The other arms differ in their feedback
alone: `again` gives none, `retry` says whether the answer was right, `self` adds the questions of failed atoms, `peer`
also hints from peers that solved them. A random share of the usable atoms is withheld from every feedback. Hints that
leak are rewritten once by their peer, then left out. The shown atoms alone decide whether another round follows. The
state holds ids, numbers and short strings only; every step is checkpointed.
"""

import operator
from typing import Annotated, Literal, NamedTuple, TypedDict, cast

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import refiner
from dokimasia.agents.evaluation import score_criteria
from dokimasia.algorithms.closed_loop import failed_atoms, when_to_stop, withhold
from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.judgement import CheckpointScores, FailureKind, FinalAnswer, Response
from dokimasia.domain.options import Protocol
from dokimasia.domain.refinement import (
    Answered,
    Arm,
    Feedback,
    FeedbackPoint,
    PointSelection,
    RefinementStep,
    Stopped,
)
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context, Failure, failed_update
from dokimasia.graphs.evaluation.checkpoint_scoring import by_judge, by_rule, judgement_of
from dokimasia.graphs.reasking import first_open, gather_all, still_open
from dokimasia.graphs.refinement import hinting
from dokimasia.graphs.versions import VERSIONS

NAME = "refinement"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True

Todo = Literal["write_hints", "check_hints", "rewrite_hints", ""]
"""The next node that works on the hints; empty: none."""


class State(Failure, TypedDict, total=False):
    """Ids of values in the store, small numbers, and the progress of the work.

    Inputs: `sample`, `criteria`, `chain` (of the reference, may be empty), `source` and `source_judgement` (the
    response to refine and its judgement), `model`, `arm`, `repeat`; `rounds`, `withhold` (a share), `judgements` (draws
    of the judge an answer), `below` (whether the answer's score is below a threshold; absent: a wrong final answer
    counts as failed), `leak_judge` (whether the judge also checks for leaks; absent: it does), `hide_answer`,
    `protocol`. For the arm `original` also `needs_points` (whether an answer without a usable point is left unchanged),
    `looks_again` (whether another judgement is drawn of the others), and `final`, if the evaluation decided whether the
    answer is right. For all other arms `answered` (whether the source is right) and `selection`. For the arm `peer`
    also `peers`: by atom number, pairs of a model's name and the id of its response, in order of choice.

    Outputs: `steps`, the id of a `RefinementStep` for each round; all other fields concern the current round. `scores` are
    the atoms' latest.
    """

    sample: str
    criteria: str
    chain: str
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
    hide_answer: bool
    protocol: Protocol
    needs_points: bool
    looks_again: bool
    selection: str
    peers: dict[str, list[list[str]]]
    round: int
    draw: int
    scores: list[float]
    feedback: str
    todo: Todo
    response: str
    final: str
    answered: Answered
    judged: list[str]
    decided: str
    calls: list[str]
    stopped: Stopped
    steps: Annotated[list[str], operator.add]


class RefinedQuestion(NamedTuple):
    """A sample and its criteria."""

    sample: Sample
    criteria: CriteriaSet


async def question_of(state: State, context: Context) -> RefinedQuestion:
    """Return the sample and its criteria."""
    sample = await context.store.get(Sample, state["sample"])
    return RefinedQuestion(sample, await context.store.get(CriteriaSet, state["criteria"]))


async def secrets_of(state: State, context: Context, question: RefinedQuestion) -> hinting.CriteriaSecrets:
    """Return what no feedback may reveal, including the final answer of the reference chain, if there is one."""
    reference = None
    if state.get("chain"):
        reference = (await context.store.get(ReferenceChain, state["chain"])).answer
    return hinting.secrets_of(question.sample, question.criteria, reference)


def as_published(state: State) -> bool:
    """Return whether feedback is given as in the paper."""
    return state.get("protocol") == "published"


async def choose_points(state: State, runtime: Runtime[Context]) -> State:
    """Choose the failed atoms of the original answer that feedback may name, and withhold a random share of them."""
    context = runtime.context
    question = await question_of(state, context)
    judgement = await context.store.get(CheckpointScores, state["source_judgement"])
    atoms = failed_atoms(judgement.scores)
    needs_points = state.get("needs_points", True)
    usable = hinting.Usable({})
    if atoms:
        secrets = await secrets_of(state, context, question)
        judge = needs_points and state.get("leak_judge", True)
        usable = await hinting.unused_atoms(
            question.sample, question.criteria, secrets, context, published=as_published(state), judge=judge
        )
    split = withhold(
        [atom for atom in atoms if atom not in usable.unused],
        state.get("withhold", 0.0),
        context.seed,
        question.sample.digest,
        state["model"],
        state.get("repeat", 0),
    )
    unused = tuple(usable.unused[atom] for atom in atoms if atom in usable.unused)
    selection = PointSelection(shown=split.shown, withheld=split.withheld, unused=unused, unjudged=usable.unjudged)
    update: State = {
        "selection": await context.store.put(selection),
        "looks_again": state.get("looks_again", True) and (bool(split.shown) or not needs_points),
        "calls": [*state.get("calls", []), *usable.calls],
    }
    if usable.failed is not None:
        return {**update, **failed_update(usable.failed)}
    return update


async def begin_round(state: State, runtime: Runtime[Context]) -> State:
    """Start feedback on the last answer, with the shown atoms that still fail as points, if the arm names them."""
    context = runtime.context
    sample, criteria = await question_of(state, context)
    arm, round = state["arm"], state.get("round", 0) + 1
    last = await context.store.get(CheckpointScores, _last_judgement(state))
    scores = state.get("scores") or [float(score) for score in last.scores]
    points: tuple[FeedbackPoint, ...] = ()
    if arm in ("self", "peer"):
        shown_atoms = (await context.store.get(PointSelection, state["selection"])).shown
        peers = state.get("peers", {}) if arm == "peer" else None
        atoms = [atom for atom in failed_atoms(scores) if atom in shown_atoms]
        points = hinting.points_of(atoms, criteria, stated=last.stated, round=round, peers=peers)
    feedback = Feedback(
        sample=sample.digest, model=state["model"], arm=arm, round=round, answered=state["answered"], points=points
    )
    return {
        "round": round,
        "draw": refiner.arm_draw(state.get("repeat", 0), round, arm),
        "scores": scores,
        "feedback": await context.store.put(feedback),
        "todo": "write_hints" if any(map(hinting.wants_hint, points)) else "",
        "final": "",
        "judged": [],
        "decided": "",
        "calls": [],
    }


def _last_judgement(state: State) -> str:
    """Return the id of the judgement that says which atoms of the last answer fail."""
    return state.get("decided") or (state.get("judged") or [state["source_judgement"]])[0]


async def write_hints(state: State, runtime: Runtime[Context]) -> State:
    """Ask each peer, in one call, for hints on the points that it solved."""
    return await _hints(state, runtime.context, anew=False)


async def check_hints(state: State, runtime: Runtime[Context]) -> State:
    """Check the hints for leaks before they are sent."""
    reader = await reader_of(state, runtime.context)
    judge = state.get("leak_judge", True)
    hinted = await hinting.check_hints_of(reader.feedback.points, reader, runtime.context, judge=judge)
    update = await _feedback_update(state, reader.feedback, hinted, runtime.context)
    return {**update, "todo": "rewrite_hints" if any(map(hinting.wants_rewriting, hinted.points)) else ""}


async def rewrite_hints(state: State, runtime: Runtime[Context]) -> State:
    """Have each leaking hint rewritten once by its peer."""
    return await _hints(state, runtime.context, anew=True)


async def after_hints(state: State) -> Literal["write_hints", "check_hints", "rewrite_hints", "answer_again", "decide"]:
    """Return the next step for the hints, or `answer_again` once they are finished."""
    if state.get("failed"):
        return "decide"
    return state["todo"] or "answer_again"


async def reader_of(state: State, context: Context) -> hinting.Reader:
    """Return the reader of the hints, with the current feedback."""
    question = await question_of(state, context)
    earlier = None
    if not state.get("hide_answer") and not as_published(state):
        earlier = (await context.store.get(Response, state.get("response") or state["source"])).text
    secrets = await secrets_of(state, context, question)
    feedback = await context.store.get(Feedback, state["feedback"])
    return hinting.Reader(question.sample, secrets, feedback, earlier)


async def _hints(state: State, context: Context, *, anew: bool) -> State:
    reader = await reader_of(state, context)
    separately = as_published(state)
    hinted = await hinting.ask_hints(reader.feedback.points, reader, context, anew=anew, apart=separately)
    update = await _feedback_update(state, reader.feedback, hinted, context)
    return {**update, "todo": "check_hints" if any(point.hint for point in hinted.points) else ""}


async def _feedback_update(state: State, feedback: Feedback, hinted: hinting.HintedPoints, context: Context) -> State:
    id = await context.store.put(feedback.model_copy(update={"points": hinted.points}))
    update: State = {"feedback": id, "calls": [*state["calls"], *hinted.calls]}
    if hinted.failed is not None:
        return {**update, **failed_update(hinted.failed)}
    return update


async def answer_again(state: State, runtime: Runtime[Context]) -> State:
    """Have the model answer again, with the feedback of its arm."""
    context = runtime.context
    reader = await reader_of(state, context)
    ask = refiner.answer_again(
        reader.sample,
        reader.feedback,
        draw=state["draw"],
        repeat=state.get("repeat", 0),
        earlier=reader.earlier,
        published=as_published(state),
    )
    reply = await context.ask(ask, model=state["model"])
    update: State = {"calls": [*state["calls"], *reply.calls]}
    if reply.value is None:
        return {**update, "response": "", **failed_update(reply.failure)}
    return {**update, "response": await context.store.put(reply.value)}


async def check_answer(state: State, runtime: Runtime[Context]) -> State:
    """Compare the final answer with the reference by rule, or use the evaluation's verdict on an original answer."""
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
    """Ask the judge whether the final answer is equivalent to the reference."""
    context = runtime.context
    sample = await context.store.get(Sample, state["sample"])
    response = await context.store.get(Response, state["response"])
    final = await by_judge(sample, response, state["response"], context, node="judge_answer")
    update: State = {"calls": [*state.get("calls", []), *final.calls], "answered": final.verdict}
    failure = still_open(final.failure)
    if failure is not None:
        return {**update, **failed_update(failure)}
    return {**update, "final": await context.store.put(final)}


async def score_again(state: State, runtime: Runtime[Context]) -> State:
    """Have the judge score all criteria of the answer, in one call for each requested draw.

    The original answer, which already has a judgement, gets another, to measure how much the judge varies. If another
    round may follow, a separate draw decides whether it does; this draw enters no figure, since a score that stops the
    loop is biased upwards. As published, one draw serves both purposes.
    """
    context = runtime.context
    sample, criteria = await question_of(state, context)
    response = await context.store.get(Response, state["response"])
    round, repeat = state.get("round", 0), state.get("repeat", 0)
    first = 0 if round else 1
    last = first + state.get("judgements", 1)
    deciding = 0 < round < state.get("rounds", 1) and not as_published(state)
    replies = await gather_all(
        context.ask(
            score_criteria(
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
    ids: list[str] = []
    calls = [*state.get("calls", [])]
    for reply in replies:
        judgement = judgement_of(reply, state["response"], state["criteria"], criteria)
        ids.append("" if judgement is None else await context.store.put(judgement))
        calls += reply.calls
    judgement_ids = [id for id in ids[: last - first] if id]
    update: State = {"judged": judgement_ids, "decided": ids[-1] if deciding else "", "calls": calls}
    failure = first_open(reply.failed for reply in replies)
    if failure is None and round and not judgement_ids:
        failure = replies[0].failure
    if failure is None and deciding and not ids[-1]:
        failure = replies[-1].failure
    if failure is None:
        return update
    return {**update, **failed_update(failure)}


async def decide(state: State, runtime: Runtime[Context]) -> State:
    """Store the round as a `RefinementStep`, and decide whether another round follows."""
    context = runtime.context
    round = state.get("round", 0)
    stopped: Stopped = ""
    scores = state.get("scores", [])
    before = scores
    failure = cast("FailureKind", state["failed"]) if state.get("failed") else None
    if failure:
        stopped = "failed"
    elif round:
        shown_atoms = (await context.store.get(PointSelection, state["selection"])).shown
        decided = [state["decided"]] if state.get("decided") else state["judged"]
        draws = [(await context.store.get(CheckpointScores, id)).scores for id in decided]
        scores = [sum(column) / len(draws) for column in zip(*draws, strict=True)]
        stopped = when_to_stop(before, scores, shown_atoms, round=round, rounds=state.get("rounds", 1))
    judgement_ids = state.get("judged", [])
    step = RefinementStep(
        arm=state["arm"],
        round=round,
        draw=state.get("draw"),
        response=state.get("response") or None,
        final=state.get("final") or None,
        judgements=tuple(judgement_ids if round else [state["source_judgement"], *judgement_ids]),
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
    """Return `check_answer` for the original answer, which is only checked, else `begin_round`."""
    if state["arm"] == "original":
        return "check_answer"
    return "begin_round"


async def after_answer(state: State) -> Literal["check_answer", "decide"]:
    """Return `check_answer`, or `decide` after a failure."""
    if state.get("failed"):
        return "decide"
    return "check_answer"


async def after_check(state: State) -> Literal["judge_answer", "choose_points", "score_again", "decide"]:
    """Return the next step: the judge if no rule could decide, points or scores, or `decide` if neither is needed."""
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
    """Return `score_again` if the original answer needs another judgement, else `decide`."""
    if state.get("looks_again", True) and not state.get("failed"):
        return "score_again"
    return "decide"


async def after_decision(state: State) -> Literal["begin_round", "__end__"]:
    """Return `begin_round` for another round, else the end."""
    if state["stopped"] or state["arm"] == "original":
        return "__end__"
    return "begin_round"


def fails(state: State) -> bool:
    """Return whether the original answer fails: its final answer is wrong, or its score below the threshold."""
    if "below" in state:
        return state["below"]
    return state.get("answered") == "wrong"


def build() -> StateGraph[State, Context]:
    """Return the uncompiled graph."""
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
