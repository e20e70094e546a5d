"""What a rating of questions is asked to do: its request, plan and acceptance."""

from typing import ClassVar

from pydantic import Field

from dokimasia.runs import (
    Accepted,
    DataRequest,
    ExpectedCalls,
    Judge,
    JudgedPlan,
    Session,
    prompts_used,
    total_estimate,
)

RATING_TOKENS = 60


class ClarityRequest(DataRequest):
    """Have a judge rate how clearly each question of DATA is put, from 1 to 5.

    The same command continues an interrupted run, or prints its results.
    """

    VERB: ClassVar[str] = "clarity"

    judge: Judge = Field(description="Who rates the questions.")


class ClarityPlan(JudgedPlan):
    """A rating of questions by its content."""


async def accept(request: ClarityRequest, session: Session) -> Accepted[ClarityPlan]:
    """Read the data and find the judge."""
    stored = session.store_samples(request)
    judge = session.judge(request.judge)
    plan = ClarityPlan(
        data=stored.hash,
        limit=request.limit,
        seed=request.seed,
        judge=judge,
        prompts=prompts_used(session.library, ("clarity", "repair")),
    )
    calls = [ExpectedCalls(judge, 1, size.text + size.images_for(judge), RATING_TOKENS) for size in stored.sizes]
    return stored.accepted(plan, total_estimate(calls, len(stored.entries), items=len(stored.entries)))
