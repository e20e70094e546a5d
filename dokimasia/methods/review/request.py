"""The request of a peer review, its plan, its acceptance, and the estimate of its calls."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dokimasia.agents.asking import rendered_asks
from dokimasia.agents.candidate import describe_image
from dokimasia.agents.review import review_candidates, vote_for_best
from dokimasia.domain.call import ModelSpec, model_names
from dokimasia.domain.options import GraphOptions, Protocol
from dokimasia.domain.review import DESCRIBE_REQUEST, MAX_CYCLES, ReviewOptions
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError
from dokimasia.people.passports import (
    BLIND_BELOW,
    PAIRWISE,
    BlindBelow,
    DroppedJudge,
    JudgeUse,
    Passports,
    held,
    without_blind,
)
from dokimasia.prompts import PromptLibrary, Rendered
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Estimate, ExpectedCalls, SampleSize, total_estimate
from dokimasia.runs.plans import DataPlan, prompts_used
from dokimasia.runs.requests import DataRequest, Models, Option, ProtocolChoice
from dokimasia.runs.session import Accepted, Session

DESCRIPTION_TOKENS, CRITIQUE_TOKENS = 800, 300
"""Estimated numbers of tokens; the paper's captions have a median of 569 words."""

MOST_CYCLES = 100
"""Upper limit of the number of cycles."""

Rule = Literal["unanimous", "majority"]


class ReviewRequest(DataRequest):
    """Have a panel describe every image of DATA, compare, rank, rewrite and vote, until all agree on one description.

    Images without agreement after the last cycle are discarded. A line of DATA needs only `id` and `image`; its
    question, if any, is not asked. Accepted descriptions are unverified until a person has checked them (dokimasia
    decide). The same command continues an interrupted run, or prints its results.
    """

    VERB: ClassVar[str] = "review"

    panel: Models = Field(description="Two or more models, separated by commas; three different ones are usual.")
    cycles: int = Field(default=MAX_CYCLES, ge=1, le=MOST_CYCLES, description="Maximum number of review cycles.")
    accept: Rule = Field(
        default="unanimous",
        description="majority: after the last cycle more than half of the votes will do; every such caption is marked.",
    )
    prompt: Annotated[str | None, Option()] = Field(
        default=None, description="What descriptions are asked for, in place of a full description."
    )
    protocol: ProtocolChoice = "default"
    passports: Passports = ()
    blind_below: BlindBelow = BLIND_BELOW
    drop_blind: bool = Field(
        default=False,
        description="With --passport: leave out panel members that surely detect less than --blind-below of all errors.",
    )


class ReviewPlan(DataPlan):
    """The plan of a review."""

    panel: tuple[ModelSpec, ...]
    cycles: int = Field(default=MAX_CYCLES, ge=1)
    accept: Rule = "unanimous"
    request: str = DESCRIBE_REQUEST
    protocol: Protocol = "default"

    @property
    def names(self) -> tuple[str, ...]:
        """The displayed names of the panel's members, in order."""
        return model_names(self.panel)

    @property
    def options(self) -> GraphOptions:
        """The options of the graph."""
        return ReviewOptions(
            judge=self.names[0],
            models=self.models,
            panel=self.names,
            cycles=self.cycles,
            accept=self.accept,
            request=self.request,
            published=self.protocol == "published",
        )


async def accept(request: ReviewRequest, session: Session) -> Accepted[ReviewPlan]:
    """Validate a request, and return its plan, its estimate and its samples.

    Raises:
        ConfigError: the panel has fewer than two members, names one twice, or a passport cannot be used with it.
    """
    if len(request.panel) < 2:
        raise ConfigError(
            f"--panel names {len(request.panel)} model: a review needs two or more, since nobody can agree with itself"
        )
    panel = session.models(request.panel, "--panel")
    if len(set(model_names(panel))) < len(panel):
        raise ConfigError("--panel names one model twice: give it two names in dokimasia.toml to have it sit twice")
    suffix = "_published" if request.protocol == "published" else ""
    judge_use = JudgeUse("comparison of descriptions", PAIRWISE, f"peer_vote{suffix}")
    blind_judges: Sequence[DroppedJudge] = ()
    if request.drop_blind:
        panel, files, blind_judges = without_blind(panel, request.passports, judge_use, below=request.blind_below)
        changes = {"panel": model_names(panel), "passports": files, "drop_blind": False}
        request = request.model_copy(update=changes)
    data = await asyncio.to_thread(session.store_samples, request, images=True)
    plan = ReviewPlan(
        data=data.hash,
        limit=request.limit,
        seed=request.seed,
        panel=panel,
        cycles=request.cycles,
        accept=request.accept,
        request=request.prompt if request.prompt and request.prompt.strip() else DESCRIBE_REQUEST,
        protocol=request.protocol,
        prompts=prompts_used(session.library, ("describe", f"peer_review{suffix}", f"peer_vote{suffix}", "repair")),
    )
    acceptance = data.accepted(plan, expected_calls(plan, data.sizes_of_images, samples=len(data.entries)))
    acceptance = replace(acceptance, request=request)
    return await held(acceptance, request, session, judges=panel, ways=(judge_use,), dropped=blind_judges)


def expected_calls(plan: ReviewPlan, sizes: Sequence[SampleSize], *, samples: int) -> Estimate:
    """Return the maximum number of calls; samples with the same images are reviewed only once."""
    pool = len(plan.panel) * DESCRIPTION_TOKENS
    calls: list[ExpectedCalls] = []
    for spec in plan.panel:
        for size in sizes:
            input_tokens = INSTRUCTION_TOKENS + size.images_for(spec)
            calls.append(ExpectedCalls(spec, 1, input_tokens, DESCRIPTION_TOKENS))
            calls.append(ExpectedCalls(spec, plan.cycles, input_tokens + pool, CRITIQUE_TOKENS + DESCRIPTION_TOKENS))
            calls.append(ExpectedCalls(spec, plan.cycles, input_tokens + pool, CRITIQUE_TOKENS))
    return total_estimate(calls, samples, items=samples)


def previews(plan: ReviewPlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    """Return the prompts for every member (models and people), with placeholders for what members write."""
    texts = tuple(f"(description {number})" for number in range(1, len(plan.panel) + 1))
    published = plan.protocol == "published"
    asks = (
        describe_image(sample, request=plan.request),
        review_candidates(sample, texts, request=plan.request, published=published),
        vote_for_best(sample, texts, request=plan.request, published=published),
    )
    return rendered_asks(asks, library)
