"""Search of a run's samples by meaning: their texts are embedded once, through the ledger, and compared with a query."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.domain.call import Embedding, EmbeddingReply, ModelRef, ModelSpec, Usage, call_key
from dokimasia.errors import ConfigError, InputError, Unreachable
from dokimasia.gateway.budget import Budget
from dokimasia.gateway.pricing import cost_of, estimate_usage, known_price
from dokimasia.runs.services import share_services
from dokimasia.settings import CONFIG_NAME, Settings, resolve_model
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.reading.browsing import answer_texts, question_texts

SAMPLES = 64
"""Samples in a row whose texts are embedded together, so that the calls of a run stay the same when others are added."""

TEXTS = 128
"""Texts in one call, at most."""

CHARACTERS = 6000
"""Characters of a text that are embedded: about 1,500 tokens, which embedding models read."""

MOST_TEXTS = 50_000
"""Different texts of a run, at most; their vectors are compared in memory."""


class TextBatch(NamedTuple):
    """A call that embeds texts of a run: its key, the samples of each text, and the input tokens by rule of thumb."""

    key: str
    samples: tuple[tuple[str, ...], ...]
    tokens: int


class SearchPrice(NamedTuple):
    """What a search still has to embed: texts (the query among them) and calls, and their cost (US dollars; None: unknown)."""

    texts: int
    calls: int
    cost: float | None


class MeaningSearch(NamedTuple):
    """A search by meaning: the name of the model, what is left to embed, and cosine similarities by sample.

    `similarities` are from -1 to 1, and None as long as anything is left to embed.
    """

    model: str
    price: SearchPrice
    similarities: Mapping[str, float] | None


def embedding_model(settings: Settings) -> ModelSpec:
    """Return the configured model that embeds texts.

    Raises:
        ConfigError: none is configured, or its name is unknown.
    """
    if not settings.embedding:
        raise ConfigError(
            f'no embedding model is configured for searches by meaning: write embedding = "MODEL" at the top of '
            f"{settings.config_path or CONFIG_NAME}"
        )
    return resolve_model(settings, settings.embedding)


def embedding_calls(
    home: Home, run_id: str, model: ModelRef, *, answers: bool
) -> Iterator[tuple[TextBatch, Embedding]]:
    """Yield the calls that embed the questions of a run with their reference answers, or its answers; each text once.

    Raises:
        InputError: the run has more than 50,000 different texts.
    """
    read = answer_texts if answers else question_texts
    samples_by_text: dict[str, dict[str, None]] = {}
    parts: dict[int, list[str]] = {}
    for position, sample, text in read(home, run_id):
        beginning = text[:CHARACTERS]
        if beginning and beginning not in samples_by_text:
            parts.setdefault(position // SAMPLES, []).append(beginning)
        samples_by_text.setdefault(beginning, {})[sample] = None
    if len(samples_by_text) > MOST_TEXTS:
        raise InputError(
            f"run {run_id} has {len(samples_by_text):,} different texts, and at most {MOST_TEXTS:,} are searched by meaning"
        )
    for texts in parts.values():
        for start in range(0, len(texts), TEXTS):
            call = Embedding(model=model, texts=tuple(texts[start : start + TEXTS]))
            samples = tuple(tuple(samples_by_text[text]) for text in call.texts)
            yield TextBatch(call_key(call), samples, estimate_usage(call).input_tokens or 0), call


def text_batches(home: Home, run_id: str, model: ModelRef, *, answers: bool) -> tuple[TextBatch, ...]:
    """Return the calls of `embedding_calls` without their texts."""
    return tuple(batch for batch, _ in embedding_calls(home, run_id, model, answers=answers))


def query_call(model: ModelRef, query: str) -> Embedding:
    """Return the call that embeds a query."""
    return Embedding(model=model, texts=(query.strip()[:CHARACTERS],))


def look_up(home: Home, spec: ModelSpec, batches: Sequence[TextBatch], query: str) -> MeaningSearch:
    """Return a search by meaning from the ledger alone; nothing is sent.

    Raises:
        InputError: the model's vectors differ in length, or are not one a text.
    """
    call = query_call(spec.ref, query)
    wanted = TextBatch(call_key(call), (("",),), estimate_usage(call).input_tokens or 0)
    known = SqliteLedger(home).calls_for(batch.key for batch in (*batches, wanted))
    missing = [batch for batch in (*batches, wanted) if batch.key not in known]
    price = SearchPrice(sum(len(batch.samples) for batch in missing), len(missing), _cost(spec, missing))
    if missing:
        return MeaningSearch(spec.ref.name, price, None)
    samples = [names for batch in (*batches, wanted) for names in batch.samples]
    vectors = _unit_vectors(home, spec.ref.name, tuple(batch.key for batch in (*batches, wanted)))
    if len(vectors) != len(samples):
        raise _unusable(spec.ref.name, "are not one a text")
    similarities: dict[str, float] = {}
    for names, similarity in zip(samples[:-1], (vectors[:-1] @ vectors[-1]).tolist(), strict=True):
        for name in names:
            similarities[name] = max(round(similarity, 4), similarities.get(name, -1.0))
    return MeaningSearch(spec.ref.name, price, similarities)


async def search_by_meaning(
    home: Home,
    run_id: str,
    query: str,
    *,
    settings: Settings,
    answers: bool = False,
    max_cost: float | None = None,
    above: Sequence[Budget] = (),
) -> MeaningSearch:
    """Embed what the ledger lacks of a run's texts and of a query, and return the search with the price that was paid.

    Args:
        home: open for writing.
        run_id: the run.
        query: what to look for.
        settings: names the model (`embedding`).
        answers: search the answers instead of the questions with their reference answers.
        max_cost: US dollars that may be spent, at most.
        above: budgets in which each call needs room, too.

    Raises:
        ConfigError: no model is configured, its key or its price is missing, or the money does not suffice.
        Unreachable: a call failed; those before it are kept.
    """
    from dokimasia.agents.asking import embed
    from dokimasia.domain.judgement import Failed
    from dokimasia.runs.embedding import memory_context  # loads LangGraph

    spec = embedding_model(settings)
    calls = await asyncio.to_thread(lambda: list(embedding_calls(home, run_id, spec.ref, answers=answers)))
    batches = [batch for batch, _ in calls]
    before = await asyncio.to_thread(look_up, home, spec, batches, query)
    if before.similarities is not None:
        return before
    asked = query_call(spec.ref, query)
    by_key = {batch.key: call for batch, call in calls} | {call_key(asked): asked}
    known = SqliteLedger(home).calls_for(by_key)
    missing = [key for key in by_key if key not in known]
    budget = Budget(max_cost, above=above)
    async with (
        share_services(home) as shared,
        memory_context(
            judge=spec.ref.name,
            settings=settings,
            ledger=SqliteLedger(home),
            blobs=home.blobs,
            budget=budget,
            traffic=shared.traffic,
        ) as context,
    ):
        outcomes = await asyncio.gather(
            *(embed(by_key[key].texts, gateway=context.gateway, model=spec) for key in missing)
        )
    for outcome in outcomes:
        if isinstance(outcome, Failed):
            message = f"the texts cannot all be embedded ({outcome.reason}); what was embedded is kept"
            raise ConfigError(message) if outcome.kind == "budget" else Unreachable(message)
    paid = SqliteLedger(home).calls_for(missing).values()
    costs = [figures.cost for figures in paid]
    cost = None if None in costs else sum(cost or 0.0 for cost in costs)
    found = await asyncio.to_thread(look_up, home, spec, batches, query)
    return found._replace(price=before.price._replace(cost=cost))


def _cost(spec: ModelSpec, batches: Sequence[TextBatch]) -> float | None:
    price, total = known_price(spec), 0.0
    for batch in batches:
        cost = cost_of(Usage(input_tokens=batch.tokens, output_tokens=0), price)
        if cost is None:
            return None
        total += cost
    return total


@lru_cache(maxsize=4)
def _unit_vectors(home: Home, name: str, keys: tuple[str, ...]) -> NDArray[np.float32]:
    """Return the vectors of a model's calls in the ledger as rows of length 1, or of zeros where a vector has no direction."""
    ledger = SqliteLedger(home)
    parts: list[NDArray[np.float32]] = []
    for key in keys:
        _, reply = ledger.rebuild(key)
        if not isinstance(reply, EmbeddingReply) or len({len(vector) for vector in reply.vectors}) != 1:
            raise _unusable(name, "differ in length")
        parts.append(np.asarray(reply.vectors, dtype=np.float32))
    if len({part.shape[1] for part in parts}) > 1:
        raise _unusable(name, "differ in length")
    rows = np.concatenate(parts)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _unusable(name: str, fault: str) -> InputError:
    return InputError(f"the vectors of {name} {fault}: name another model as `embedding` in {CONFIG_NAME}")
