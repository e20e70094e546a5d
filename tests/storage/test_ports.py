"""One contract for the stores in memory and those of a home."""

import hashlib
from collections.abc import Callable

import pytest

from dokimasia.domain.call import (
    CallResult,
    Chat,
    ChatReply,
    Embedding,
    EmbeddingReply,
    ImageEdit,
    ImageEditReply,
    ModelCall,
    ModelRef,
    ModelReply,
    ToolCall,
    Usage,
    call_key,
)
from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.identity import Value, value_id
from dokimasia.domain.judgement import CheckpointScores, Failed, Provenance, Response
from dokimasia.domain.ports import BlobStore, ValueStore
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import NotFound, StorageError
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import CallFigures, SqliteLedger
from dokimasia.storage.memory import MemoryBlobs, MemoryLedger, MemoryStore
from dokimasia.storage.runs import SqliteValueStore

PROVENANCE = Provenance(
    call="c" * 32, model="judge", prompt="score", prompt_version=2, prompt_hash="ab", shown=("question", "response")
)
PICTURE = ImageRef(sha256="0" * 64, media_type="image/png", width=4, height=5)

VALUES: list[Value] = [
    Sample(id="s1", prompt="What?"),
    Sample(
        id="s2",
        images=(PICTURE,),
        prompt="Wie viele? 你好 \x00 end",
        reference_answer="two",
        choices=("one", "two"),
        category="count",
        meta={"deep": {"list": [1, 2.5, None, "x"]}},
    ),
    ReferenceChain(reasoning="First, then.", answer="two"),
    Response(sample="s2", model="m", text="", flags=("refused", "truncated")),
    Response(sample="s2", model="m", arm="blind", repeat=2, text="long " * 5000, provenance=PROVENANCE),
    CheckpointScores(response="r", criteria="c", scores=(5, 1, 3), score=3.4, provenance=PROVENANCE),
    Failed(kind="refused", reason="said no"),
]


@pytest.fixture(params=["memory", "home"])
def store(request: pytest.FixtureRequest) -> ValueStore:
    """A run store of each kind."""
    return MemoryStore() if request.param == "memory" else SqliteValueStore(request.getfixturevalue("home"))


@pytest.fixture(params=["memory", "home"])
def ledger(request: pytest.FixtureRequest) -> MemoryLedger | SqliteLedger:
    """A ledger of each kind."""
    return MemoryLedger() if request.param == "memory" else SqliteLedger(request.getfixturevalue("home"))


@pytest.fixture(params=["memory", "home"])
def blobs(request: pytest.FixtureRequest) -> BlobStore:
    """A blob store of each kind."""
    return MemoryBlobs() if request.param == "memory" else request.getfixturevalue("home").blobs


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
async def test_a_value_comes_back_equal_under_its_content_id(store: ValueStore, value: Value) -> None:
    """Every domain type can be put, and comes back equal under its content id; putting it twice is one."""
    first = await store.put(value)
    assert first == value_id(value) == await store.put(value)
    assert await store.get(type(value), first) == value


async def test_a_set_of_criteria_comes_back_equal(store: ValueStore, criteria: CriteriaSet) -> None:
    """Nested values with defaults come back equal."""
    assert await store.get(CriteriaSet, await store.put(criteria)) == criteria


async def test_a_value_is_not_given_out_as_another_type(store: ValueStore) -> None:
    """An id that is unknown, or belongs to another type, is an error that names type and id."""
    id = await store.put(VALUES[2])
    for type_, wanted in ((ReferenceChain, "f" * 32), (Response, id), (Failed, id)):
        with pytest.raises(StorageError, match=f"{type_.__name__} {wanted}"):
            await store.get(type_, wanted)


CALLS: list[tuple[ModelCall, ModelReply]] = [
    (
        Embedding(model=ModelRef(name="e", model="sim/e"), texts=("a", "b", "a")),
        EmbeddingReply(vectors=((0.1, 1e-9), (1.0, -2.0), (0.1, 1e-9)), usage=Usage(input_tokens=3)),
    ),
    (
        ImageEdit(model=ModelRef(name="i", model="sim/i", endpoint="x"), image=PICTURE, instruction="Remove the cat."),
        ImageEditReply(image=PICTURE),
    ),
]


async def test_a_committed_call_is_served_as_cached(ledger: MemoryLedger | SqliteLedger) -> None:
    """What was committed is served with its cost, marked as cached; what was not is None."""
    for call, reply in CALLS:
        key = call_key(call)
        assert await ledger.get(key) is None
        await ledger.commit(key, call, reply, cost=0.25, label="solver")
        assert await ledger.get(key) == CallResult(key=key, reply=reply, cost=0.25, cached=True)
        assert ledger.rebuild(key) == (call, reply)


async def test_every_part_of_a_chat_survives(ledger: MemoryLedger | SqliteLedger, chat: Callable[..., Chat]) -> None:
    """Schema, extra parameters, images and tool calls come back, also where they look like the ledger's references."""
    message = chat("Look.").messages[0]
    with_image = message.model_copy(update={"parts": (*message.parts, PICTURE)})
    call = Chat.model_validate(
        chat("").model_dump()
        | {
            "messages": [with_image.model_dump(), message.model_dump()],
            "sampling": {"temperature": 0.3, "max_tokens": 9, "extra": {"text": {"text_ref": "not one"}}},
            "output_schema": {"type": "object", "text_ref": "nor this"},
        }
    )
    reply = ChatReply(
        text="",
        finish_reason="content_filter",
        native_finish_reason="SAFETY",
        refusal="I will not.",
        tool_calls=(ToolCall(id="1", name="crop", arguments='{"x": 1'),),
    )
    key = call_key(call)
    await ledger.commit(key, call, reply, cost=None, label="")
    answer = await ledger.get(key)
    assert answer is not None
    assert answer.reply == reply
    assert ledger.rebuild(key) == (call, reply)


async def test_the_first_reply_of_a_key_stays(
    ledger: MemoryLedger | SqliteLedger, chat: Callable[..., Chat], reply: Callable[..., ChatReply]
) -> None:
    """A second commit under a key changes nothing."""
    call = chat("once")
    key = call_key(call)
    await ledger.commit(key, call, reply("first"), cost=1.0, label="a")
    await ledger.commit(key, call, reply("second"), cost=2.0, label="b")
    assert await ledger.get(key) == CallResult(key=key, reply=reply("first"), cost=1.0, cached=True)


async def test_figures_keep_the_unknown_unknown(
    ledger: MemoryLedger | SqliteLedger, chat: Callable[..., Chat], reply: Callable[..., ChatReply]
) -> None:
    """Tokens and cost that were not reported are None and not zero; keys that are not there are left out."""
    known, unknown = chat("known"), chat("unknown")
    await ledger.commit(call_key(known), known, reply("x"), cost=0.5, label="judge")
    await ledger.commit(call_key(unknown), unknown, reply("y", usage=Usage(output_tokens=0)), cost=None, label="judge")
    figures = ledger.calls_for([call_key(unknown), "absent", call_key(known), call_key(unknown)])
    assert figures == {
        call_key(unknown): CallFigures(None, 0, None, "judge", "sim/judge"),
        call_key(known): CallFigures(11, 7, 0.5, "judge", "sim/judge"),
    }


async def test_attempts_are_never_served(ledger: MemoryLedger | SqliteLedger, chat: Callable[..., Chat]) -> None:
    """A try without a reply is recorded and leaves the key unanswered."""
    call = chat("tried")
    await ledger.attempt(call_key(call), call, kind="rate_limit", status=429, message="slow down", label="judge")
    assert await ledger.get(call_key(call)) is None
    assert ledger.calls_for([call_key(call)]) == {}


def test_an_unknown_call_cannot_be_rebuilt(ledger: MemoryLedger | SqliteLedger) -> None:
    """Asking for a call that is not there names its key."""
    with pytest.raises(NotFound, match="no call abc"):
        ledger.rebuild("abc")


def test_blobs_come_back_by_hash(blobs: BlobStore, image: Callable[[bytes], ImageRef]) -> None:
    """Bytes that were put, once or twice, come back; unknown ones are an error that names them."""
    ref = image(b"picture")
    blobs.put_image(b"picture", ref)
    blobs.put_image(b"picture", ref)
    assert blobs.get(ref.sha256) == b"picture"
    absent = hashlib.sha256(b"other").hexdigest()
    with pytest.raises(StorageError, match=absent):
        blobs.get(absent)


def test_bytes_of_another_hash_are_refused(blobs: BlobStore, image: Callable[[bytes], ImageRef]) -> None:
    """Bytes that do not have the hash of their reference are not kept."""
    ref = image(b"picture")
    with pytest.raises(StorageError, match="another hash"):
        blobs.put_image(b"pictures", ref)
    with pytest.raises(StorageError):
        blobs.get(ref.sha256)


async def test_values_put_by_a_writer_are_read_by_a_reader(home: Home) -> None:
    """A reader of the same home, open meanwhile, finds what the writer has put."""
    ids = [await SqliteValueStore(home).put(value) for value in VALUES]
    with Home.open(home.path, write=False) as other:
        reading = SqliteValueStore(other)
        assert [await reading.get(type(value), id) for value, id in zip(VALUES, ids, strict=True)] == VALUES
