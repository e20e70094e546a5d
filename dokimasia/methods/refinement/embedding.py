"""Self-correction inside other programs: a function that refines one answer."""

from typing import Any

from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Response
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.refinement import Refined
from dokimasia.domain.sample import Sample
from dokimasia.errors import InputError
from dokimasia.graphs.context import Context
from dokimasia.graphs.refinement.one_refinement import refine_answer
from dokimasia.runs.embedding import memory_context
from dokimasia.settings import Settings


async def refine_one(
    sample: Sample,
    response: str | Response,
    criteria: CriteriaSet,
    *,
    model: str,
    judge: str | None = None,
    context: Context | None = None,
    settings: Settings | None = None,
    blobs: BlobStore | None = None,
    **options: Any,
) -> Refined:
    """Let a model correct one of its answers, in plain Python or inside any program or graph.

    Args:
        sample: the question.
        response: the model's answer to it.
        criteria: the sample's atomic criteria.
        model: name of the model.
        judge: name of the judge; not needed with a context, which has one.
        context: the context to use (see `memory_context`); by default one is opened for this answer only.
        settings: configuration and keys of the opened context.
        blobs: store of the sample's images, for the opened context.
        options: other keyword arguments of `refine_answer`: `judgement`, `chain`, `arm`, `peers`, `rounds`, `withhold`,
            `judgements`, `leak_judge`, `hide_answer`, `protocol`.

    Raises:
        InputError: neither a judge nor a context is given, a model is unknown, or the arm is impossible.
    """
    if context is not None:
        return await refine_answer(sample, response, criteria, context=context, model=model, **options)
    if judge is None:
        raise InputError("refine_one needs a judge by name, or a context, which has one")
    if blobs is None and sample.images:
        raise InputError(f"sample {sample.id} has images: say where they lie (blobs=...)")
    names = (model, *(options.get("peers") or {}))
    async with memory_context(judge=judge, models=names, settings=settings, blobs=blobs) as opened:
        return await refine_answer(sample, response, criteria, context=opened, model=model, **options)
