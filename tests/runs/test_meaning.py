"""Searches by meaning from the ledger alone: which vectors have a similarity, and which are refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from dokimasia.domain.call import Embedding, EmbeddingReply, ModelRef, ModelSpec, call_key
from dokimasia.errors import InputError
from dokimasia.runs.reading.meaning import SearchableText, look_up
from dokimasia.storage.content.envelope import text_hash
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger

pytestmark = pytest.mark.quick

SPEC = ModelSpec(ref=ModelRef(name="near", model="openai/near"))
TEXTS = [SearchableText(text_hash(text), (f"sample {text}",), 1) for text in ("a", "b")]


async def embed(home: Home, vectors: Mapping[str, tuple[float, ...]]) -> None:
    """Put texts and their vectors into the ledger as one call."""
    call, reply = Embedding(model=SPEC.ref, texts=tuple(vectors)), EmbeddingReply(vectors=tuple(vectors.values()))
    await SqliteLedger(home).commit(call_key(call), call, reply, cost=None, label="embedding")


async def test_a_vector_without_a_direction_has_no_similarity(tmp_path: Path) -> None:
    """What a model embeds as zeros is near to nothing and far from nothing: its sample is no result with a number."""
    with Home.open(tmp_path / "home", write=True) as home:
        await embed(home, {"a": (0.0, 2.0), "b": (0.0, 0.0)})
        assert look_up(home, SPEC, TEXTS, "q").missing == [[text_hash("q")]]
        await embed(home, {"q": (3.0, 3.0), "another": (1.0, 0.0)})
        search = look_up(home, SPEC, TEXTS, "q")
    assert (search.price.texts, search.similarities) == (0, {"sample a": pytest.approx(0.7071, abs=1e-4)})


async def test_vectors_of_different_lengths_are_refused(tmp_path: Path) -> None:
    """A model that was exchanged behind its name is told apart by its vectors, among texts and beside a query."""
    with Home.open(tmp_path / "home", write=True) as home:
        await embed(home, {"a": (1.0, 0.0)})
        await embed(home, {"b": (1.0, 0.0, 0.0), "q": (1.0, 0.0, 0.0)})
        for texts in (TEXTS, TEXTS[:1]):
            with pytest.raises(InputError, match="differ in length: name another model as `embedding`"):
                look_up(home, SPEC, texts, "q")
