"""Semantic search of a run's samples: their texts are embedded once, through the ledger, and compared with a query."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.domain.call import Embedding, EmbeddingReply, ModelSpec, Usage, call_key
from dokimasia.errors import ConfigError, InputError, Unreachable
from dokimasia.gateway.budget import Budget
from dokimasia.gateway.pricing import cost_of, known_price, text_tokens
from dokimasia.runs.services import share_services
from dokimasia.settings import CONFIG_NAME, Settings, resolve_model
from dokimasia.storage.content.envelope import text_hash
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import EmbeddedText, SqliteLedger
from dokimasia.storage.reading.browsing import answer_texts, question_texts

TEXTS = 128
"""The most texts in one call."""

CHARACTERS = 6000
"""The embedded characters of a text: about 1,500 tokens, which embedding models accept."""

MOST_TEXTS = 50_000
"""The most distinct texts of a run; their vectors are compared in memory."""


class SearchableText(NamedTuple):
    """A text to compare: its hash, the samples of a run that contain it, and its input tokens by rule of thumb."""

    hash: str
    samples: tuple[str, ...]
    tokens: int


class SearchPrice(NamedTuple):
    """What a search still has to embed: texts (including the query) and calls, and their cost (US dollars; None:
    unknown).
    """

    texts: int
    calls: int
    cost: float | None


class MeaningSearch(NamedTuple):
    """A semantic search: the name of the model, what remains to embed, and cosine similarities by sample.

    `missing` are the text hashes of each remaining call. `similarities` range from -1 to 1, and are None while anything
    remains to embed. A sample without a text, or whose vectors have no direction, has none.
    """

    model: str
    price: SearchPrice
    missing: Sequence[Sequence[str]] = ()
    similarities: Mapping[str, float] | None = None


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


def searchable_texts(home: Home, run_id: str, *, answers: bool) -> tuple[SearchableText, ...]:
    """Return the questions of a run with their reference answers, or its answers; each distinct text once, in order.

    Raises:
        InputError: the run has more than 50,000 different texts.
    """
    return tuple(text for text, _ in _texts_of_run(home, run_id, answers=answers))


def look_up(home: Home, spec: ModelSpec, texts: Sequence[SearchableText], query: str) -> MeaningSearch:
    """Return a semantic search from the ledger alone; nothing is sent.

    Raises:
        InputError: the model's vectors differ in length.
    """
    embedded = SqliteLedger(home).embedded_texts(spec.ref)
    sought = _searchable(_beginning(query), ())
    missing = {text.hash: text for text in texts if text.hash not in embedded}
    hashes = list(missing)
    batches = [hashes[start : start + TEXTS] for start in range(0, len(hashes), TEXTS)]
    if sought.hash not in embedded and sought.hash not in missing:
        missing[sought.hash] = sought
        batches.append([sought.hash])  # separate, so that other searches of the run send the same calls
    tokens = sum(text.tokens for text in missing.values())
    cost = cost_of(Usage(input_tokens=tokens, output_tokens=0), known_price(spec))
    search = MeaningSearch(spec.ref.name, SearchPrice(len(missing), len(batches), cost), batches)
    if missing:
        return search
    vectors = _vectors_of_run(home, tuple(embedded[text.hash] for text in texts))
    (direction,) = _unit_vectors(home, (embedded[sought.hash],))
    if texts and vectors.shape[1] != len(direction):
        raise _differing_lengths()
    similarities: dict[str, float] = {}
    for text, similarity in zip(texts, (vectors @ direction).tolist() if texts else (), strict=True):
        if similarity == similarity:  # not NaN
            for sample in text.samples:
                similarities[sample] = max(round(similarity, 4), similarities.get(sample, -1.0))
    return search._replace(similarities=similarities)


async def search_by_meaning(
    home: Home,
    run_id: str,
    query: str,
    *,
    settings: Settings,
    answers: bool,
    estimate: bool,
    budget: Callable[[ModelSpec], Budget],
) -> MeaningSearch:
    """Embed the texts of a run and the query that are not in the ledger, and return the search with the price paid.

    Args:
        home: open for writing.
        run_id: the run.
        query: the text to search for.
        settings: the configuration, which names the model (`embedding`).
        answers: whether to search the answers instead of the questions with their reference answers.
        estimate: whether to return the price without embedding anything.
        budget: returns the budget of the calls to the model; called only if something is sent.

    Raises:
        ConfigError: no model is configured, its key or its price is missing, or the money does not suffice.
        Unreachable: a call failed; those before it are kept.
    """
    spec = embedding_model(settings)
    run_texts = await asyncio.to_thread(lambda: dict(_texts_of_run(home, run_id, answers=answers)))
    search = await asyncio.to_thread(look_up, home, spec, [*run_texts], query)
    if estimate or not search.missing:
        return search
    words = {text_hash(text): text for text in (*run_texts.values(), _beginning(query))}
    calls = [Embedding(model=spec.ref, texts=tuple(words[hash] for hash in batch)) for batch in search.missing]
    await _send(home, spec, calls, settings=settings, budget=budget(spec))
    costs = [figures.cost for figures in SqliteLedger(home).calls_for(map(call_key, calls)).values()]
    cost = None if None in costs else sum(cost or 0.0 for cost in costs)
    complete = await asyncio.to_thread(look_up, home, spec, [*run_texts], query)
    return complete._replace(price=search.price._replace(cost=cost))


async def _send(home: Home, spec: ModelSpec, calls: Iterable[Embedding], *, settings: Settings, budget: Budget) -> None:
    """Send calls through the ledger.

    Raises:
        ConfigError: the key or the price of the model is missing, or the money does not suffice.
        Unreachable: a call failed; those before it are kept.
    """
    from dokimasia.agents.asking import embed
    from dokimasia.domain.judgement import Failed
    from dokimasia.runs.embedding import memory_context  # imports LangGraph

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
        outcomes = await asyncio.gather(*(embed(call.texts, gateway=context.gateway, model=spec) for call in calls))
    for outcome in outcomes:
        if isinstance(outcome, Failed):
            message = f"the texts cannot all be embedded ({outcome.reason}); what was embedded is kept"
            raise ConfigError(message) if outcome.kind == "budget" else Unreachable(message)


def _texts_of_run(home: Home, run_id: str, *, answers: bool) -> Iterator[tuple[SearchableText, str]]:
    """Yield the texts of `searchable_texts` with their words."""
    read = answer_texts if answers else question_texts
    samples_by_text: dict[str, dict[str, None]] = {}
    for sample, text in read(home, run_id):
        if beginning := _beginning(text):
            samples_by_text.setdefault(beginning, {})[sample] = None
    if len(samples_by_text) > MOST_TEXTS:
        raise InputError(
            f"run {run_id} has {len(samples_by_text):,} different texts, and at most {MOST_TEXTS:,} are searched by meaning"
        )
    for text, samples in samples_by_text.items():
        yield _searchable(text, samples), text


def _beginning(text: str) -> str:
    return text.strip()[:CHARACTERS]


def _searchable(text: str, samples: Iterable[str]) -> SearchableText:
    return SearchableText(text_hash(text), tuple(samples), text_tokens(text))


def _unit_vectors(home: Home, texts: tuple[EmbeddedText, ...]) -> NDArray[np.float32]:
    """Return the vectors of embedded texts as rows of length 1, or of NaN where a vector has no direction.

    Raises:
        InputError: they differ in length.
    """
    ledger = SqliteLedger(home)
    replies: dict[str, NDArray[np.float32]] = {}
    for key in dict.fromkeys(text.call for text in texts):
        _, reply = ledger.rebuild(key)
        assert isinstance(reply, EmbeddingReply)
        replies[key] = np.asarray(reply.vectors, dtype=np.float32)
    if len({reply.shape[1] for reply in replies.values()}) > 1:
        raise _differing_lengths()
    rows = np.array([replies[text.call][text.place] for text in texts], dtype=np.float32)
    with np.errstate(invalid="ignore"):
        return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


_vectors_of_run = lru_cache(maxsize=4)(_unit_vectors)


def _differing_lengths() -> InputError:
    return InputError(
        f"the vectors of the embedding model differ in length: name another model as `embedding` in {CONFIG_NAME}"
    )
