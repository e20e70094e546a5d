"""How an evaluation is accepted: its data read and kept, its models found, its plan made; nothing is sent."""

import asyncio
from dataclasses import replace

from dokimasia.agents.schemas import takes_schema
from dokimasia.domain.criterion import MAX_CRITERIA, MIN_CRITERIA, PUBLISHED_COUNT
from dokimasia.domain.options import LOOKS
from dokimasia.errors import ConfigError, DataError
from dokimasia.methods.evaluation.expected import estimate
from dokimasia.methods.evaluation.plan import EvaluationPlan, prompts_of_evaluation
from dokimasia.methods.evaluation.request import (
    EvaluationRequest,
    check_collection,
    mapped_tree,
    read_count,
)
from dokimasia.methods.passports import JudgeUse, chosen_judge, held
from dokimasia.runs.responses import candidates_of, check_no_blind_arm, check_unchanged, read_given
from dokimasia.runs.session import Accepted, Entries, Session
from dokimasia.storage.runs import Run
from dokimasia.tools.registry import named


async def accept(request: EvaluationRequest, session: Session) -> Accepted[EvaluationPlan]:
    """Read and check everything that an evaluation needs.

    Raises:
        InputError: the data, the configuration or the options cannot be used.
    """
    responses = read_given(request.responses)
    found = await asyncio.to_thread(session.entries, request)
    chosen = chosen_judge(request.judge, request.choose_judge, request.passports, session, *ways_of(request, found))
    request = request.model_copy(update={"judge": chosen.judge, "choose_judge": (), "passports": chosen.passports})
    if not found.known:
        raise DataError(f"{request.data}: no sample in it; an evaluation needs at least one line with id and prompt")
    if responses is not None:
        check_no_blind_arm(request.no_image)
        names = {place.sample_id for place in found.places}
        candidates, left_out = candidates_of(responses, request, models=request.models, samples=names)
        found.skipped += left_out
    elif request.models:
        candidates = session.models(request.models, "--models")
    else:
        raise ConfigError("name at least one candidate with --models, or answers that exist with --responses FILE")
    tools = named(request.tools)
    judge = None if request.judge is None else session.judge(request.judge)
    if judge is None:
        _check_without_judge(request, found)
    ask = request.ask or ("plain" if request.protocol == "published" else "show")
    plan = EvaluationPlan(
        data=found.hash,
        judge=judge,
        candidates=candidates,
        repeats=request.repeats if responses is None else responses.repeats,
        ask=ask,
        protocol=request.protocol,
        tolerance=request.tolerance,
        criteria_count=_criteria_count(request),
        no_image=request.no_image,
        show_image=request.show_image,
        tools=tools,
        looks=request.looks if tools else LOOKS,
        limit=request.limit,
        seed=request.seed,
        criteria=request.criteria,
        tree=None if request.tree is None else mapped_tree(session.opened, request.tree),
        responses=None if responses is None else responses.hash,
        prompts=prompts_of_evaluation(
            session.library,
            judged=judge is not None,
            ask=ask,
            protocol=request.protocol,
            structured_output=judge is not None and takes_schema(judge),
            tools=bool(tools),
        ),
    )
    if plan.criteria is not None:
        check_collection(session.opened, plan.criteria, found.places)
    accepted = replace(found.accepted(plan, estimate(plan, found.sizes, session.library)), request=request)
    return await with_passports(accepted, request, session, found, chosen=chosen.why)


def ways_of(request: EvaluationRequest, found: Entries) -> tuple[JudgeUse, ...]:
    """Return how an evaluation uses its judge: what is right is decided only where there are reference answers."""
    published = "_published" if request.protocol == "published" else ""
    scoring = JudgeUse("scoring by checkpoints", ("checkpoints",), f"checkpoints{published}")
    if not any(size.reference for size in found.sizes):
        return (scoring,)
    return scoring, JudgeUse("deciding whether an answer is right", ("right-or-wrong",), "equivalence")


async def with_passports(
    accepted: Accepted[EvaluationPlan],
    request: EvaluationRequest,
    session: Session,
    found: Entries,
    *,
    chosen: str = "",
) -> Accepted[EvaluationPlan]:
    """Return what was accepted with what the passports of its judges say of it."""
    plan = accepted.plan
    judges = () if plan.judge is None else (plan.judge_of("score"),)
    ways = ways_of(request, found)
    return await held(accepted, request, session, judges=judges, ways=ways, tools=bool(plan.tools), chosen=chosen)


def resumable(session: Session, run: Run, plan: EvaluationPlan, request: EvaluationRequest) -> None:
    """Check that the file of answers is the one that the run was accepted with, and no score asked for without a judge.

    Raises:
        DataError: the file has changed.
        ConfigError: a score is asked for, and there is no judge to give one.
    """
    if plan.judge is None:
        _check_scored(request)
    check_unchanged(request.responses, plan.responses, run.id)


def _criteria_count(request: EvaluationRequest) -> tuple[int, int]:
    """Return how many criteria a sample is to have."""
    asked = None if request.criteria_count is None else read_count(request.criteria_count)
    if request.protocol == "published":
        if asked not in (None, PUBLISHED_COUNT):
            raise ConfigError("--criteria-count: as published a sample has 3 to 5 criteria; leave out one of the two")
        return PUBLISHED_COUNT
    return asked or (MIN_CRITERIA, MAX_CRITERIA)


def _check_without_judge(request: EvaluationRequest, found: Entries) -> None:
    """Check that rules have something to decide, and that nothing is asked that needs a judge."""
    needing = {
        "--criteria": request.criteria,
        "--tree": request.tree,
        "--tools": request.tools,
        "--show-image": request.show_image,
        "--passport": request.passports,
    }
    named = next((option for option, value in needing.items() if value), None)
    if named is not None:
        raise ConfigError(f"{named} is for a judge, and there is none: name one with --judge, or leave {named} out")
    _check_scored(request)
    if not any(size.reference for size in found.sizes):
        raise ConfigError(
            f"{request.data}: no sample has a reference answer, so rules cannot decide whether an answer is right: "
            "name a judge with --judge, or add `reference_answer` to the data"
        )


def _check_scored(request: EvaluationRequest) -> None:
    """Refuse a threshold on scores that rules alone do not give."""
    if request.min_score is not None:
        raise ConfigError(
            "--min-score: without a judge there are no scores, so no model could reach it: name a judge with --judge, or "
            "hold right answers to --min-accuracy"
        )
