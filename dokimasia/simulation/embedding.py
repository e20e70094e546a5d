"""A simulated embedding model: texts about the same planted capability are close together, whatever their words."""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import fsum, sqrt
from random import Random

from dokimasia.domain.call import Embedding, EmbeddingReply, Usage
from dokimasia.domain.identity import digest
from dokimasia.errors import NotFound
from dokimasia.simulation.draws import bare_name, count_tokens
from dokimasia.simulation.lexicon import all_capabilities, sense_of_criterion
from dokimasia.simulation.unknown_inputs import content_words

EMBEDDERS = ("sim/embedding",)
DIMENSIONS = 64
MEANING, WORDS = 0.9, 0.436
"""Weights of meaning and wording in a vector; their squares add up to 1."""

_APART = re.compile(r"[^\w-]+")


def embed_texts(call: Embedding) -> EmbeddingReply:
    """Return a unit vector for each text; equal texts have equal vectors.

    Raises:
        NotFound: no simulated embedding model has that name.
    """
    name = bare_name(call.model.model)
    if name not in EMBEDDERS:
        raise NotFound(f"no simulated embedding model is called {name!r}; there are: {', '.join(EMBEDDERS)}")
    tokens = sum(count_tokens(text) for text in call.texts)
    return EmbeddingReply(
        vectors=tuple(_vector(text) for text in call.texts), usage=Usage(input_tokens=tokens, output_tokens=0)
    )


@lru_cache(maxsize=50_000)
def _vector(text: str) -> tuple[float, ...]:
    words = content_words(text)
    of_words = _unit_length(
        [fsum(column) for column in zip(*(_direction("word", word) for word in words), strict=True)]
    )
    path = _meant_capability(text)
    if path is None:
        return tuple(round(number, 6) for number in of_words or _direction("text", text))
    topic = _direction("capability", path)
    mixed = [MEANING * meaning + WORDS * wording for meaning, wording in zip(topic, of_words or topic, strict=True)]
    return tuple(round(number, 6) for number in _unit_length(mixed))


def _meant_capability(text: str) -> str | None:
    """Return the planted capability that a text names (by the longest name), or that it probes as a criterion."""
    plain = f" {_APART.sub(' ', text.casefold())} "
    matches = [(len(name), path) for name, path in _capability_names() if f" {name} " in plain]
    if matches:
        return max(matches)[1]
    return sense_of_criterion(text).planted


@lru_cache(maxsize=1)
def _capability_names() -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.casefold(), path) for path, capability in all_capabilities().items() for name in capability.names
    )


@lru_cache(maxsize=20_000)
def _direction(*key: str) -> tuple[float, ...]:
    rng = Random(digest("sim-embedding/direction", list(key)))
    return tuple(_unit_length([rng.gauss(0, 1) for _ in range(DIMENSIONS)]))


def _unit_length(numbers: Sequence[float]) -> list[float]:
    length = sqrt(fsum(number * number for number in numbers))
    if length:
        return [number / length for number in numbers]
    return []
