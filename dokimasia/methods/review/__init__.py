"""Circular peer review: a panel agrees on a description of each image (PerceptionRubrics, 3.3.1)."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.errors import ConfigError
from dokimasia.graphs.versions import versions_of
from dokimasia.methods.checks import open_checks
from dokimasia.methods.passports import PAIRWISE, DroppedJudge, JudgeUse, held, without_blind
from dokimasia.methods.review.figures import caption_states, review_figures
from dokimasia.methods.review.request import ReviewPlan, ReviewRequest
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, SampleSize, added_up
from dokimasia.runs.figures import rows_shown
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Method, later, lazily, one_walk
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_value
from dokimasia.storage.runs import Run

DESCRIPTION_TOKENS, CRITIQUE_TOKENS = 800, 300
"""By rule of thumb: captions of the paper have 569 words in the median."""


async def accept(request: ReviewRequest, session: Session) -> Accepted[ReviewPlan]:
    """Read the images and find the panel.

    Raises:
        ConfigError: the panel has fewer than two members, names one twice, or a passport cannot be used with it.
    """
    if len(request.panel) < 2:
        raise ConfigError(
            f"--panel names {len(request.panel)} model: a review needs two or more, since nobody can agree with itself"
        )
    panel = session.models(request.panel, "--panel")
    if len({spec.ref.name for spec in panel}) < len(panel):
        raise ConfigError("--panel names one model twice: give it two names in dokimasia.toml to have it sit twice")
    as_asked = "_published" if request.protocol == "published" else ""
    way = JudgeUse("comparison of descriptions", PAIRWISE, f"peer_vote{as_asked}")
    dropped: Sequence[DroppedJudge] = ()
    if request.drop_blind:
        panel, files, dropped = without_blind(panel, request.passports, way, below=request.blind_below)
        names = tuple(spec.ref.name for spec in panel)
        request = request.model_copy(update={"panel": names, "passports": files, "drop_blind": False})
    found = await asyncio.to_thread(session.entries, request, images=True)
    plan = ReviewPlan(
        data=found.hash,
        limit=request.limit,
        seed=request.seed,
        panel=panel,
        cycles=request.cycles,
        accept=request.accept,
        request=request.prompt if request.prompt and request.prompt.strip() else DESCRIBE_REQUEST,
        protocol=request.protocol,
        prompts=prompts_used(session.library, ("describe", f"peer_review{as_asked}", f"peer_vote{as_asked}", "repair")),
    )
    accepted = found.accepted(plan, expected(plan, found.sizes_of_images, samples=len(found.known)))
    accepted = replace(accepted, request=request)
    return await held(accepted, request, session, judges=panel, ways=(way,), dropped=dropped)


def expected(plan: ReviewPlan, sizes: Sequence[SampleSize], *, samples: int) -> Estimate:
    """Return what a review will ask at most; samples that share their images are asked about once."""
    pool = len(plan.panel) * DESCRIPTION_TOKENS
    asked: list[Asking] = []
    for spec in plan.panel:
        for size in sizes:
            shown = INSTRUCTION_TOKENS + size.images_for(spec)
            asked += [
                Asking(spec, 1, shown, DESCRIPTION_TOKENS),
                Asking(spec, plan.cycles, shown + pool, CRITIQUE_TOKENS + DESCRIPTION_TOKENS),
                Asking(spec, plan.cycles, shown + pool, CRITIQUE_TOKENS),
            ]
    return added_up(asked, samples, items=samples)


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each reviewed sample with its record and golden caption, ready for JSON; with `sample`, that one whole.

    Whole means with every candidate, comparison and vote, in the order in which they were made.
    """
    states = caption_states(home, run.id)
    for row in rows_shown(home, run, sample):
        values = [{"id": id, **find_value(home, id)} for id in row.value_ids]
        golden = next((one for one in values if one["type"] == "GoldenCaption"), None)
        item = {
            "sample": row.sample_id,
            "record": next((one["value"] for one in values if one["type"] == "ReviewRecord"), None),
            "golden": None
            if golden is None
            else {"id": golden["id"], "state": states[golden["id"]], **golden["value"]},
        }
        yield item if sample is None else {**item, "values": values, "calls": list(row.calls)}


METHOD: Method[ReviewRequest, ReviewPlan] = Method(
    name="review",
    title="a peer review",
    request=ReviewRequest,
    plan=ReviewPlan,
    accept=accept,
    stages=one_walk("review.peer_review"),
    ended=open_checks,
    drawing=later("dokimasia.methods.review.blocks", "DRAWING"),
    figures=review_figures,
    shape=later("dokimasia.methods.review.shape", "ReviewFigures"),
    graphs=versions_of("peer_review"),
    items=items,
    row_name="reviews",
    previews=lazily("dokimasia.methods.review.previews", "previews"),
)

review = partial(run_method, METHOD)
"""Have a panel agree on descriptions: `await review(ReviewRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "ReviewPlan", "ReviewRequest", "review"]
