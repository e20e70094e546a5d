"""How an evaluation is accepted: its data read and kept, its models found, its plan made; nothing is sent."""

import asyncio

from dokimasia.agents.schemas import takes_schema
from dokimasia.domain.criterion import MAX_CRITERIA, MIN_CRITERIA, PUBLISHED_COUNT
from dokimasia.domain.options import LOOKS
from dokimasia.errors import ConfigError, DataError
from dokimasia.methods.evaluation.expected import estimate
from dokimasia.methods.evaluation.plan import EvaluationPlan, prompts_of_evaluation
from dokimasia.methods.evaluation.request import (
    EvaluationRequest,
    answered_by,
    check_collection,
    read_answers,
    read_count,
)
from dokimasia.runs.method import Accepted
from dokimasia.runs.session import Session
from dokimasia.storage.runs import Run
from dokimasia.tools.registry import named


async def accept(request: EvaluationRequest, session: Session) -> Accepted[EvaluationPlan]:
    """Read and check everything that an evaluation needs.

    Raises:
        InputError: the data, the configuration or the options cannot be used.
    """
    responses, hashed = read_answers(request)
    found = await asyncio.to_thread(session.entries, request)
    if not found.known:
        raise DataError(f"{request.data}: no sample in it; an evaluation needs at least one line with id and prompt")
    if responses is not None:
        candidates = answered_by(request, found.places, responses)
    elif request.models:
        candidates = session.models(request.models, "--models")
    else:
        raise ConfigError("name at least one candidate with --models, or answers that exist with --responses FILE")
    tools = named(request.tools)
    judge = session.judge(request.judge)
    plan = EvaluationPlan(
        data=found.hash,
        judge=judge,
        protocol=request.protocol,
        criteria_count=_criteria_count(request),
        candidates=candidates,
        repeats=request.repeats if responses is None else 1 + max(repeat for _, _, repeat in responses),
        no_image=request.no_image,
        show_image=request.show_image,
        tools=tools,
        looks=request.looks if tools else LOOKS,
        limit=request.limit,
        seed=request.seed,
        criteria=request.criteria,
        responses=hashed,
        prompts=prompts_of_evaluation(
            session.library, protocol=request.protocol, structured_output=takes_schema(judge), tools=bool(tools)
        ),
    )
    if plan.criteria is not None:
        check_collection(session.opened, plan.criteria, found.places)
    return found.accepted(plan, estimate(plan, found.sizes))


def resumable(session: Session, run: Run, plan: EvaluationPlan, request: EvaluationRequest) -> None:
    """Check that the file of answers is the one that the run was accepted with.

    Raises:
        DataError: it has changed.
    """
    if read_answers(request)[1] != plan.responses:
        raise DataError(f"{request.responses} has changed since run {run.id} was accepted; evaluate it as a new run")


def _criteria_count(request: EvaluationRequest) -> tuple[int, int]:
    """Return how many criteria a sample is to have."""
    asked = None if request.criteria_count is None else read_count(request.criteria_count)
    if request.protocol == "published":
        if asked not in (None, PUBLISHED_COUNT):
            raise ConfigError("--criteria-count: as published a sample has 3 to 5 criteria; leave out one of the two")
        return PUBLISHED_COUNT
    return asked or (MIN_CRITERIA, MAX_CRITERIA)
