"""Self-correction of one answer, for embedding: from plain Python, or inside any LangGraph graph, by values."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.graph.state import CompiledStateGraph

from dokimasia.agents.evaluation import score_checkpoints
from dokimasia.algorithms.closed_loop import Need, assign_peers, failed_atoms
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import CheckpointScores, Failed, FinalAnswer, Response
from dokimasia.domain.refinement import SOLVED, Arm, Feedback, Refined, RefinementStep
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, InputError
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.evaluation.judgements import judgement_of
from dokimasia.graphs.reasking import gathered
from dokimasia.graphs.refinement import refinement


async def refine_answer(
    sample: Sample,
    response: str | Response,
    criteria: CriteriaSet,
    *,
    context: Context,
    model: str,
    judgement: CheckpointScores | None = None,
    arm: Arm = "self",
    peers: Mapping[str, str] | None = None,
    rounds: int = 1,
    withhold: float = 0.0,
    judgements: int = 1,
    leak_judge: bool = True,
    show_answer: bool = False,
) -> Refined:
    """Have a model mend one answer of its own, whatever brought the answer about.

    Nothing is checkpointed: the context's ledger, if it keeps one, answers what was asked before.

    Args:
        sample: the question; without a reference answer it stays unknown whether the new answer is right.
        response: the model's answer.
        criteria: the atomic criteria of the sample.
        context: the gateway, the store and the options, in which the judge, the model and the peers are to be found.
        model: the shown name of the model.
        judgement: the scores of the answer; without them the judge is asked first.
        arm: how much the model is told: `again`, `retry`, `self` or `peer`.
        peers: in the arm `peer`, other models' own answers by shown name; the judge scores them to see which helps where.
        rounds: at most.
        withhold: the share of the failed atoms that the feedback does not name.
        judgements: independent draws of the judge for every new answer.
        leak_judge: whether the judge looks for leaks in what the certain rules let pass, before anything is sent.
        show_answer: whether the model is shown its earlier answer.

    Raises:
        InputError: a name is not among the context's models, or the arm cannot be.
    """
    peers = dict(peers or {})
    _check(context, arm, [model, *peers], peers)
    store = context.store
    if isinstance(response, str):
        response = Response(sample=sample.digest, model=model, text=response)
    ids = {"sample": await store.put(sample), "criteria": await store.put(criteria)}
    source = await store.put(response)
    if judgement is None:
        scored = await _score(sample, criteria, response, ids["criteria"], context)
        if isinstance(scored, Failed):
            why: dict[str, Any] = {"stopped": "failed", "failure": scored.kind, "reason": scored.reason}
            step = RefinementStep(arm=arm, round=0, response=source, **why)
            return Refined(arm=arm, response=None, final=None, before=(), after=(), feedback=(), steps=(step,), **why)
        judgement = scored
    inputs: dict[str, Any] = {
        **ids,
        "source": source,
        "source_judgement": await store.put(judgement),
        "model": model,
        "arm": arm,
        "repeat": response.repeat,
        "rounds": rounds,
        "withhold": withhold,
        "judgements": judgements,
        "leak_judge": leak_judge,
        "show_answer": show_answer,
    }
    if arm == "peer":
        inputs["peers"] = await _peers(sample, criteria, ids["criteria"], judgement, peers, context)
    state = await drive.run(_graph(), inputs, context=context)
    return await _refined(state["steps"], arm, judgement, context)


def refinement_runnable(context: Context, **limits: Any) -> Runnable[dict[str, Any], Refined]:
    """Return self-correction as a LangChain runnable (async) that brings its own context.

    It takes a dict with `sample`, `response`, `criteria` and `model`, and whatever else `refine_answer` takes by name;
    `limits` are used where the dict names none. Inside a node of another graph it is awaited as it is: that graph's own
    context and checkpointer play no part in it.
    """

    async def call(inputs: dict[str, Any]) -> Refined:
        return await refine_answer(context=context, **{**limits, **inputs})

    return RunnableLambda(call, name=refinement.NAME)


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
    what = score_checkpoints(sample, criteria, response.text, show_image=context.options.shows_image)
    asked = await context.ask(what, node="score")
    judgement = judgement_of(asked, value_id(response), criteria_id, criteria)
    if judgement is None:
        return asked.failure
    await context.store.put(response)
    return judgement


async def _peers(
    sample: Sample,
    criteria: CriteriaSet,
    criteria_id: str,
    judgement: CheckpointScores,
    peers: Mapping[str, str],
    context: Context,
) -> dict[str, list[list[str]]]:
    """Return for each failed atom the peers that solved it, in order of choice, each with the id of its answer."""
    answers = {name: Response(sample=sample.digest, model=name, text=text) for name, text in sorted(peers.items())}
    scored = await gathered(_score(sample, criteria, answer, criteria_id, context) for answer in answers.values())
    known = {name: one for name, one in zip(answers, scored, strict=True) if isinstance(one, CheckpointScores)}
    solved: dict[Need, dict[str, float]] = {}
    for atom in failed_atoms(judgement.scores):
        scores = {name: float(one.scores[atom - 1]) for name, one in known.items()}
        solved[Need(sample.id, atom)] = {name: score for name, score in scores.items() if score >= SOLVED}
    order = assign_peers(solved, solved, seed=context.seed)
    return {str(need.atom): [[name, known[name].response] for name in names] for need, names in order.items()}


async def _refined(ids: Sequence[str], arm: Arm, judgement: CheckpointScores, context: Context) -> Refined:
    store = context.store
    steps = [await store.get(RefinementStep, id) for id in ids]
    last = steps[-1]
    draws = [(await store.get(CheckpointScores, id)).scores for id in last.judgements] if last.failure is None else []
    return Refined(
        arm=arm,
        response=await store.get(Response, last.response) if last.response else None,
        final=await store.get(FinalAnswer, last.final) if last.final else None,
        before=tuple(map(float, judgement.scores)),
        after=tuple(sum(column) / len(draws) for column in zip(*draws, strict=True)),
        feedback=tuple([await store.get(Feedback, step.feedback) for step in steps if step.feedback]),
        steps=tuple(steps),
        stopped=last.stopped,
        failure=last.failure,
        reason=last.reason,
    )
