"""The nodes that make a feedback: which atoms it may name, what it says of the last answer, and hints on its points."""

from typing import Literal

from langgraph.runtime import Runtime

from dokimasia.agents import refiner
from dokimasia.algorithms.closed_loop import failed_atoms, withhold
from dokimasia.domain.judgement import CheckpointScores, Response
from dokimasia.domain.refinement import Feedback, FeedbackPoint, PointSelection
from dokimasia.graphs.context import Context, failed_update
from dokimasia.graphs.refinement import hinting
from dokimasia.graphs.refinement.leak_checking import secrets_of
from dokimasia.graphs.refinement.state import State, as_published, given, solved_answer


async def choose_points(state: State, runtime: Runtime[Context]) -> State:
    """Choose which failed atoms of the original answer a feedback may name, and withhold a random share of these."""
    context, sample, criteria = await given(state, runtime)
    judgement = await context.store.get(CheckpointScores, state["source_judgement"])
    failed = failed_atoms(judgement.scores)
    needed = state.get("needs_points", True)
    usable = hinting.Usable({})
    if failed:
        secrets = secrets_of(sample, criteria, await solved_answer(state, context))
        judge = needed and state.get("leak_judge", True)
        usable = await hinting.unused_atoms(
            sample, criteria, secrets, context, published=as_published(state), judge=judge
        )
    split = withhold(
        [atom for atom in failed if atom not in usable.unused],
        state.get("withhold", 0.0),
        context.seed,
        sample.digest,
        state["model"],
        state.get("repeat", 0),
    )
    unused = tuple(usable.unused[atom] for atom in failed if atom in usable.unused)
    selection = PointSelection(shown=split.shown, withheld=split.withheld, unused=unused, unjudged=usable.unjudged)
    update: State = {
        "selection": await context.store.put(selection),
        "looks_again": state.get("looks_again", True) and (bool(split.shown) or not needed),
        "calls": [*state.get("calls", []), *usable.calls],
    }
    return {**update, **failed_update(usable.failed)} if usable.failed is not None else update


async def begin_round(state: State, runtime: Runtime[Context]) -> State:
    """Say what is known of the last answer, with the shown atoms that still fail as points, where the arm names them."""
    context, sample, criteria = await given(state, runtime)
    arm, round = state["arm"], state.get("round", 0) + 1
    last = await context.store.get(CheckpointScores, _last_judgement(state))
    scores = state.get("scores") or [float(score) for score in last.scores]
    points: tuple[FeedbackPoint, ...] = ()
    if arm in ("self", "peer"):
        shown = (await context.store.get(PointSelection, state["selection"])).shown
        peers = state.get("peers", {}) if arm == "peer" else None
        told = [atom for atom in failed_atoms(scores) if atom in shown]
        points = hinting.points_of(told, criteria, stated=last.stated, round=round, peers=peers)
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
    """Return the judgement by which it is known what the last answer lacks."""
    return state.get("decided") or (state.get("judged") or [state["source_judgement"]])[0]


async def write_hints(state: State, runtime: Runtime[Context]) -> State:
    """Ask each peer that solved them for hints on the points, in one call."""
    return await _hints(state, runtime, anew=False)


async def check_hints(state: State, runtime: Runtime[Context]) -> State:
    """Look for what the hints give away, before anything of them is sent."""
    reader = await reader_of(state, runtime)
    judge = state.get("leak_judge", True)
    done = await hinting.check(reader.feedback.points, reader, runtime.context, judge=judge)
    update = await _pointed(state, reader.feedback, done, runtime.context)
    return {**update, "todo": "rewrite_hints" if any(map(hinting.wants_rewriting, done.points)) else ""}


async def rewrite_hints(state: State, runtime: Runtime[Context]) -> State:
    """Have the hints that leak rewritten by their peer, once."""
    return await _hints(state, runtime, anew=True)


async def after_hints(state: State) -> Literal["write_hints", "check_hints", "rewrite_hints", "answer_again", "decide"]:
    """Ask peers, check what they wrote, have it rewritten, or, where there is nothing more to do, answer."""
    if state.get("failed"):
        return "decide"
    return state["todo"] or "answer_again"


async def reader_of(state: State, runtime: Runtime[Context]) -> hinting.Reader:
    """Return who is to be helped, with the feedback as it is so far."""
    context, sample, criteria = await given(state, runtime)
    earlier = None
    if not state.get("hide_answer") and not as_published(state):
        earlier = (await context.store.get(Response, state.get("response") or state["source"])).text
    secrets = secrets_of(sample, criteria, await solved_answer(state, context))
    return hinting.Reader(sample, secrets, await context.store.get(Feedback, state["feedback"]), earlier)


async def _hints(state: State, runtime: Runtime[Context], *, anew: bool) -> State:
    reader = await reader_of(state, runtime)
    points, apart = reader.feedback.points, as_published(state)
    done = await hinting.ask_hints(points, reader, runtime.context, anew=anew, apart=apart)
    update = await _pointed(state, reader.feedback, done, runtime.context)
    return {**update, "todo": "check_hints" if any(point.hint for point in done.points) else ""}


async def _pointed(state: State, feedback: Feedback, done: hinting.HintedPoints, context: Context) -> State:
    id = await context.store.put(feedback.model_copy(update={"points": done.points}))
    update: State = {"feedback": id, "calls": [*state["calls"], *done.calls]}
    return {**update, **failed_update(done.failed)} if done.failed is not None else update
