"""Self-correction of one answer: an API for plain Python and for nodes of other LangGraph graphs."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.graph.state import CompiledStateGraph

from dokimasia.agents.evaluation import score_criteria
from dokimasia.algorithms.closed_loop import Need, assign_peers
from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.identity import JsonObject, value_id
from dokimasia.domain.judgement import Answered, CheckpointScores, Failed, FinalAnswer, Response
from dokimasia.domain.options import Protocol
from dokimasia.domain.refinement import (
    SOLVED,
    Arm,
    Feedback,
    PointSelection,
    Refined,
    RefinementStep,
)
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, InputError
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context, Walk
from dokimasia.graphs.evaluation.checkpoint_scoring import judgement_of
from dokimasia.graphs.reasking import gather_all
from dokimasia.graphs.refinement import refinement


async def refine_answer(
    sample: Sample,
    response: str | Response,
    criteria: CriteriaSet,
    *,
    context: Context,
    model: str,
    judgement: CheckpointScores | None = None,
    chain: ReferenceChain | None = None,
    arm: Arm = "self",
    peers: Mapping[str, str] | None = None,
    rounds: int = 1,
    withhold: float = 0.0,
    judgements: int = 1,
    leak_judge: bool = True,
    hide_answer: bool = False,
    protocol: Protocol = "default",
    walk: Walk | None = None,
) -> Refined:
    """Have a model correct one of its own answers, whatever the answer's origin.

    The answer is checked first, since the model learns whether it is right; a right answer without failed atoms to show
    is returned unchanged. Nothing is checkpointed; repeated calls are answered by the context's ledger, if it has one.

    Args:
        sample: the question; without a reference answer, whether the answer is right stays unknown.
        response: the model's answer.
        criteria: the atomic criteria of the sample.
        context: the gateway, the store, and the options, which name the judge, the model and the peers.
        model: the displayed name of the model.
        judgement: the scores of the answer; without them, the judge is asked first.
        chain: the reference chain that the criteria were drawn from, whose answer no hint may reveal either.
        arm: how much the model learns: `again`, `retry`, `self` (the questions of the failed atoms) or `peer`.
        peers: in the arm `peer`, other models' own answers by displayed name; the judge scores them to choose helpers
            for each atom.
        rounds: maximum number of rounds.
        withhold: the share of the failed atoms that the feedback does not name.
        judgements: independent draws of the judge for every new answer.
        leak_judge: whether the judge checks for leaks before anything is sent, in addition to the rules.
        hide_answer: whether the model's earlier answer is hidden from it.
        protocol: `published` gives feedback as in the paper (ATOM, section 3.5).
        walk: runs the graph from a state; by default it is run here.

    Raises:
        ConfigError: a name is not among the context's models.
        InputError: the arm is `original`, or `peer` without another model's answer.
    """
    peers = dict(peers or {})
    _check(context, arm, [model, *peers], peers)
    store, walk = context.store, walk or _walk
    if isinstance(response, str):
        response = Response(sample=sample.digest, model=model, text=response)
    ids = {"sample": await store.put(sample), "criteria": await store.put(criteria)}
    ids |= {"source": await store.put(response), "chain": "" if chain is None else await store.put(chain)}
    if judgement is None:
        result = await _score(sample, criteria, response, ids["criteria"], context)
        if isinstance(result, Failed):
            why: dict[str, Any] = {
                "stopped": "failed",
                "failure": result.kind,
                "reason": result.reason,
            }
            step = RefinementStep(arm="original", round=0, response=ids["source"], **why)
            return await _refined([await store.put(step)], arm, (), "unknown", context)
        judgement = result
    inputs: dict[str, Any] = {
        **ids,
        "source_judgement": await store.put(judgement),
        "model": model,
        "repeat": response.repeat,
        "rounds": rounds,
        "withhold": withhold,
        "judgements": judgements,
        "leak_judge": leak_judge,
        "hide_answer": hide_answer,
        "protocol": protocol,
    }
    of_first = {"arm": "original", "below": True, "looks_again": False, "needs_points": arm in ("self", "peer")}
    first = await walk({**inputs, **of_first}, context)
    steps, first_verdict = first["steps"], first.get("answered", "unknown")
    if not first.get("failed"):
        inputs |= {"arm": arm, "answered": first_verdict, "selection": first["selection"]}
        shown_atoms = (await store.get(PointSelection, first["selection"])).shown
        if arm == "peer":
            inputs["peers"] = await _peers(sample, criteria, ids["criteria"], shown_atoms, peers, context)
        if shown_atoms or first_verdict != "right":
            steps = [*steps, *(await walk(inputs, context))["steps"]]
    return await _refined(steps, arm, judgement.scores, first_verdict, context)


def refinement_runnable(context: Context, **limits: Any) -> Runnable[dict[str, Any], Refined]:
    """Return self-correction as an async LangChain runnable that has its own context.

    Its input is a dict with `sample`, `response`, `criteria` and `model`, and any other argument of `refine_answer`;
    `limits` are the defaults. A node of another graph can await it directly: that graph's context and checkpointer have
    no effect on it.
    """

    async def call(inputs: dict[str, Any]) -> Refined:
        return await refine_answer(context=context, **{**limits, **inputs})

    return RunnableLambda(call, name=refinement.NAME)


async def _walk(state: JsonObject, context: Context) -> JsonObject:
    return await drive.run(_graph(), state, context=context)


@cache
def _graph() -> CompiledStateGraph[Any, Context]:
    return refinement.build().compile(checkpointer=False, name=refinement.NAME)


def _check(context: Context, arm: Arm, names: Sequence[str], peers: Mapping[str, str]) -> None:
    strangers = sorted(set(names) - set(context.options.models))
    if strangers:
        raise ConfigError(
            f"not among the context's models: {', '.join(strangers)}; there are: "
            f"{', '.join(sorted(context.options.models))}"
        )
    if arm == "original":
        raise InputError("the arm 'original' is the answer as it is; choose again, retry, self or peer")
    if arm == "peer" and not set(peers) - {names[0]}:
        raise InputError("the arm 'peer' needs another model's own answer in `peers`; the arm 'self' needs none")


async def _score(
    sample: Sample, criteria: CriteriaSet, response: Response, criteria_id: str, context: Context
) -> CheckpointScores | Failed:
    options = context.options
    ask = score_criteria(sample, criteria, response.text, show_image=options.shows_image, published=options.published)
    reply = await context.ask(ask, node="score")
    judgement = judgement_of(reply, value_id(response), criteria_id, criteria)
    if judgement is None:
        return reply.failure
    await context.store.put(response)
    return judgement


async def _peers(
    sample: Sample,
    criteria: CriteriaSet,
    criteria_id: str,
    atoms: Sequence[int],
    peers: Mapping[str, str],
    context: Context,
) -> dict[str, list[list[str]]]:
    """Return, for each atom, the peers that solved it, in order of choice, each with the id of its answer."""
    answers = {name: Response(sample=sample.digest, model=name, text=text) for name, text in sorted(peers.items())}
    results = await gather_all(_score(sample, criteria, answer, criteria_id, context) for answer in answers.values())
    judgements: dict[str, CheckpointScores] = {}
    for name, judgement in zip(answers, results, strict=True):
        if isinstance(judgement, CheckpointScores):
            judgements[name] = judgement
    solved: dict[Need, dict[str, float]] = {}
    for atom in atoms:
        scores = solved.setdefault(Need(sample.id, atom), {})
        for name, judgement in judgements.items():
            if judgement.scores[atom - 1] >= SOLVED:
                scores[name] = float(judgement.scores[atom - 1])
    order = assign_peers(solved, solved, seed=context.seed)
    return {str(need.atom): [[name, judgements[name].response] for name in names] for need, names in order.items()}


async def _refined(
    ids: Sequence[str], arm: Arm, before: Sequence[int], answered_before: Answered, context: Context
) -> Refined:
    store = context.store
    steps = [await store.get(RefinementStep, id) for id in ids]
    last = steps[-1]
    draws = [(await store.get(CheckpointScores, id)).scores for id in last.judgements] if last.failure is None else []
    selection = steps[0].selection
    untouched = last.round == 0 and last.failure is None
    return Refined(
        arm=arm,
        response=await store.get(Response, last.response) if last.response and (last.round or untouched) else None,
        final=await store.get(FinalAnswer, last.final) if last.final else None,
        answered_before=answered_before,
        before=tuple(map(float, before)),
        after=tuple(sum(column) / len(draws) for column in zip(*draws, strict=True)),
        selection=PointSelection() if selection is None else await store.get(PointSelection, selection),
        feedback=tuple([await store.get(Feedback, step.feedback) for step in steps if step.feedback]),
        steps=tuple(steps),
        stopped="nothing to say" if untouched else last.stopped,
        failure=last.failure,
        reason=last.reason,
    )
