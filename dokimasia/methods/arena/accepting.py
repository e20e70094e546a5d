"""How an arena is accepted: its cases and answers as those of duels, its models, and the scores that they have elsewhere."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from dokimasia.datasets.ratings import read_ratings
from dokimasia.domain.call import ModelRef, ModelSpec
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError
from dokimasia.methods.arena.request import ArenaPlan, ArenaRequest, rounds_of
from dokimasia.methods.duel import ANSWER_TOKENS, JUDGED_TOKENS, METHOD, DuelPlan, DuelRequest
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, added_up, size_of
from dokimasia.runs.requests import DataRequest
from dokimasia.runs.session import Accepted, Session


async def accept(request: ArenaRequest, session: Session) -> Accepted[ArenaPlan]:
    """Read the cases, the answers that exist and the scores, and find the models: as duels of all with the first.

    Raises:
        InputError: data, answers, scores, configuration or options cannot be used.
    """
    rounds = rounds_of(request)
    first, *others = request.models
    shared = {name: getattr(request, name) for name in DataRequest.model_fields}
    as_duels = DuelRequest(
        **shared,
        models=tuple(others),
        baseline=first,
        judge=request.judge,
        factuality="none",
        judge_sees=request.judge_sees,
        repeats=request.repeats,
        responses=request.responses,
    )
    found = await METHOD.accept(as_duels, session)
    scores = None if request.scores is None else await asyncio.to_thread(_scores, request.scores, request.models)
    duels = found.plan
    kept = {name: getattr(duels, name) for name in DuelPlan.model_fields}
    plan = ArenaPlan(
        **kept | {"candidates": (_first(duels), *duels.candidates), "baseline": None, "baseline_name": ""},
        draw=request.draw,
        rounds=rounds,
        scores=scores,
    )
    return Accepted(
        plan=plan,
        estimate=_expected(plan, found.samples),
        samples=found.samples,
        values=found.values,
        skipped=found.skipped,
        first=found.first,
    )


def _first(duels: DuelPlan) -> ModelSpec:
    """Return the model that stood in the baseline's place; one whose answers exist is not asked."""
    name = duels.baseline_name
    return duels.baseline or ModelSpec(ref=ModelRef(name=name, model=name, endpoint="file"))


def _scores(path: Path, models: tuple[str, ...]) -> dict[str, float]:
    rated = read_ratings(path)
    if any(one.sample_id is not None for one in rated):
        raise DataError(f"{path}: scores of models have model and rating, and no id")
    found = {one.model: one.rating for one in rated if one.model in models}
    if not found:
        raise DataError(f"{path}: scores none of the models that meet: {', '.join(models)}")
    return dict(sorted(found.items()))


def _expected(plan: ArenaPlan, samples: Sequence[Sample]) -> Estimate:
    asked: list[Asking] = []
    for size in map(size_of, samples):
        asked += [Asking(spec, plan.repeats, size.text + size.images_for(spec), ANSWER_TOKENS) for spec in plan.asked]
        seen = size.images_for(plan.judge) if plan.judge_sees == "image" else 0
        sent = INSTRUCTION_TOKENS + size.text + 2 * ANSWER_TOKENS + seen
        asked.append(Asking(plan.judge, plan.per_sample * len(plan.places), sent, JUDGED_TOKENS))
    items = plan.rounds + len(samples) * plan.per_sample  # who meets whom in a round is a row, too
    return added_up(asked, len(samples), items=items)
