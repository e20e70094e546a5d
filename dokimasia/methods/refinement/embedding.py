"""Self-correction as part of other programs: a context in memory, and a function that refines one answer."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from dokimasia.agents import PromptLibrary
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import Response
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.ports import BlobStore, Ledger, Transport, ValueStore
from dokimasia.domain.refinement import Refined
from dokimasia.domain.sample import Sample
from dokimasia.errors import InputError
from dokimasia.gateway.budget import Budget
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.graphs.context import Context
from dokimasia.graphs.refinement.one_refinement import refine_answer
from dokimasia.log import Redactor
from dokimasia.runs.plans import with_known_price
from dokimasia.runs.services import check_prices, check_simulated, transports_for_models
from dokimasia.settings import Settings, api_key, load_settings, resolve_model
from dokimasia.storage.content.blobs import MemoryBlobs
from dokimasia.storage.content.reduced import ReducedImages
from dokimasia.storage.memory import MemoryLedger, MemoryStore
from dokimasia.tools.reducing import reduce_image


@asynccontextmanager
async def memory_context(
    *,
    judge: str,
    models: Sequence[str] = (),
    settings: Settings | None = None,
    blobs: BlobStore | None = None,
    ledger: Ledger | None = None,
    store: ValueStore | None = None,
    transports: Mapping[str, Transport] | None = None,
    prompts: PromptLibrary | None = None,
    budget: Budget | None = None,
    seed: int = 0,
) -> AsyncIterator[Context]:
    """Open a context for agents and graphs without a home; values and ledger live as long as the context.

    Args:
        judge: name of the judge, from the configuration or any LiteLLM name.
        models: names of other models that will be asked.
        settings: configuration and keys; read from the environment by default.
        blobs: store of the samples' images.
        ledger: a ledger that outlives the context.
        store: a store that outlives the context.
        transports: transports that replace the package's own.
        prompts: prompts that replace the package's own.
        budget: spending limits.
        seed: seed of all draws.

    Raises:
        ConfigError: a model is unknown, or its key is not in the environment.
    """
    settings = settings or load_settings()
    specs = {name: with_known_price(resolve_model(settings, name)) for name in dict.fromkeys((*models, judge))}
    for spec in specs.values() if "sim" not in (transports or ()) else ():
        check_simulated(spec)
    check_prices(specs, max_cost=budget.max_cost if budget else None)
    keys = {name: key for name, spec in specs.items() if (key := api_key(settings, spec)) is not None}
    blobs = blobs or MemoryBlobs()
    gateway = ModelGateway(
        ledger=ledger or MemoryLedger(),
        blobs=blobs,
        transports=transports or transports_for_models(specs, prompts),
        specs=specs,
        api_keys=keys,
        reduce=ReducedImages(blobs, reduce_image),
        budget=budget,
        redact=Redactor((*settings.secrets, *keys.values()), patterns=False),
        seed=seed,
    )
    options = GraphOptions(judge=judge, models=specs)
    try:
        yield Context(gateway, store or MemoryStore(), options, seed, prompts, blobs)
    finally:
        await gateway.aclose()


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
