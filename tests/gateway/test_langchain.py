"""LangChain chat models as models: messages, replies, failures, identity, secrets, in runs and by plug-in."""

import asyncio
import re
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import BaseChatModel, FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel, Field, SecretStr

from dokimasia import as_runnable
from dokimasia.chat_models import chat_model_ref
from dokimasia.datasets import read_jsonl
from dokimasia.domain.call import Chat, Message, ModelCall, ModelSpec, ToolCall, ToolSpec
from dokimasia.domain.sample import ImageRef, Sample, TextPart
from dokimasia.errors import ConfigError, Interrupted, StorageError, TransportError
from dokimasia.gateway.langchain import LangChainTransport, chat_reply_of
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings, load_settings, resolve_model
from dokimasia.simulation.world import write_creative, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.memory import MemoryBlobs
from dokimasia.storage.runs import get_run
from tests.distributions import install
from tests.processes import PATIENCE

KEY = "acme-0123456789abcdef"
PIXELS = b"an image, which nobody decodes here"

Answer = Callable[[list[BaseMessage]], AIMessage]


class Chatty(BaseChatModel):
    """A chat model that answers with a function and remembers what it was asked."""

    answer: Answer = lambda messages: AIMessage("yes")
    temperature: float = 0.5
    acme_key: SecretStr = SecretStr(KEY)
    token: str = KEY
    asked: list[tuple[list[BaseMessage], dict[str, Any]]] = Field(default_factory=list, exclude=True)

    @property
    def lc_secrets(self) -> dict[str, str]:
        """The field that holds the key."""
        return {"token": "ACME_KEY"}

    @property
    def _llm_type(self) -> str:
        return "chatty"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        shared = {"model": "c-1", "temperature": self.temperature, "token": self.token, "acme_key": self.acme_key}
        return {**shared, "headers": {"authorization": KEY, "version": 2}, "answer": self.answer}

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **given: Any
    ) -> ChatResult:
        self.asked.append((messages, given))
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])

    def bind_tools(self, tools: Any, **given: Any) -> Any:
        """Bind tools as keyword arguments."""
        return self.bind(tools=tools, **given)


def spec_of(model: BaseChatModel) -> ModelSpec:
    """Return how a chat model is asked as `mine`."""
    return resolve_model(Settings(home=Path()).with_chat_models({"mine": model}), "mine")


def chat(model: BaseChatModel, *messages: Message, **fields: Any) -> Chat:
    """Return a call to a chat model."""
    user = Message(role="user", parts=(TextPart(text="Is it red?"),))
    return Chat(model=spec_of(model).ref, messages=messages or (user,), **fields)


async def sent(model: BaseChatModel, call: ModelCall, blobs: MemoryBlobs | None = None) -> Any:
    """Return the reply of a chat model to a call."""
    return await LangChainTransport(model).send(call, spec_of(model), api_key=None, blobs=blobs or MemoryBlobs())


async def test_images_and_texts_are_content_blocks() -> None:
    """An image is a block with a data URL, and sampling that is set goes along; a seed does not."""
    blobs = MemoryBlobs()
    image = ImageRef(sha256=sha256(PIXELS).hexdigest(), media_type="image/png", width=1, height=1)
    blobs.put_image(PIXELS, image)
    model = Chatty()
    question = Message(role="user", parts=(image, TextPart(text="Is it red?")))
    system = Message(role="system", parts=(TextPart(text="Be brief."),))
    call = chat(model, system, question, repeat=3).model_copy(
        update={"sampling": spec_of(model).sampling.model_copy(update={"temperature": 0.1, "max_tokens": 9})}
    )
    assert (await sent(model, call, blobs)).text == "yes"
    [((first, second), given)] = model.asked
    assert (first.type, first.content) == ("system", "Be brief.")
    assert isinstance(second.content, list)
    shown, text = second.content
    assert isinstance(shown, dict)
    assert shown["image_url"]["url"].startswith("data:image/png;base64,YW4g")
    assert text == {"type": "text", "text": "Is it red?"}
    assert given == {"temperature": 0.1, "max_tokens": 9}


async def test_a_reply_has_usage_finish_and_version() -> None:
    """What LangChain says of a reply is what any transport says of one."""
    message = AIMessage(
        [{"type": "text", "text": "half"}],
        usage_metadata={"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
        response_metadata={"stop_reason": "max_tokens", "model_name": "c-1-2026"},
        additional_kwargs={"refusal": "no"},
    )
    model = Chatty(answer=lambda messages: message)
    reply = await sent(model, chat(model))
    assert (reply.text, reply.finish_reason, reply.native_finish_reason) == ("half", "length", "max_tokens")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (5, 2)
    assert (reply.version, reply.refusal) == ("c-1-2026", "no")


async def test_tools_are_offered_and_their_results_shown() -> None:
    """Tools are bound, calls come back as JSON text, and a tool's result is a message of its own."""
    call = {"id": "t1", "name": "crop", "args": {"x": 1}}
    model = Chatty(answer=lambda messages: AIMessage("", tool_calls=[call]))
    tool = ToolSpec(name="crop", description="Crop.", parameters={"type": "object"})
    reply = await sent(model, chat(model, tools=(tool,)))
    assert reply.tool_calls == (ToolCall(id="t1", name="crop", arguments='{"x": 1}'),)
    assert model.asked[0][1]["tools"][0]["function"]["name"] == "crop"
    broken = ToolCall(id="t2", name="crop", arguments="{x")
    history = (
        Message(role="user", parts=(TextPart(text="Look."),)),
        Message(role="assistant", parts=(), tool_calls=(*reply.tool_calls, broken)),
        Message(role="tool", parts=(TextPart(text="done"),), tool_call_id="t1"),
    )
    await sent(model, chat(model, *history, tools=(tool,)))
    _, asked, result = model.asked[1][0]
    assert isinstance(asked, AIMessage)
    assert [made["args"] for made in asked.tool_calls] == [{"x": 1}]
    assert [made["args"] for made in asked.invalid_tool_calls] == ["{x"]
    assert (result.type, result.content) == ("tool", "done")


class Refused(Exception):
    """An error of a provider, with the response."""

    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"status {status}")
        self.response = httpx.Response(status, headers=headers)


def wrapped(error: Exception) -> Exception:
    """Return an error that an error of no known class wraps."""
    outer = RuntimeError("the client failed")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (Refused(429, **{"retry-after": "7"}), "rate_limit", True),
        (Refused(401), "auth", False),
        (wrapped(Refused(503)), "server_error", True),
        (wrapped(httpx.ReadTimeout("slow")), "timeout", True),
        (wrapped(httpx.ConnectError("away")), "connection", True),
        (NotImplementedError("no images"), "unsupported", False),
        (ValueError("a bug"), "unknown", False),
        (KeyError("a bug"), "unknown", False),
    ],
)
async def test_exceptions_have_a_kind(error: Exception, kind: str, retryable: bool) -> None:
    """A status, a timeout and a lost connection decide the kind; an error in the chat model's code is not tried again."""

    def answer(messages: list[BaseMessage]) -> AIMessage:
        raise error

    model = Chatty(answer=answer)
    with pytest.raises(TransportError) as caught:
        await sent(model, chat(model))
    assert (caught.value.kind, caught.value.retryable) == (kind, retryable)
    if kind == "rate_limit":
        assert caught.value.retry_after == 7


async def test_a_cache_of_langchain_is_bypassed() -> None:
    """Independent draws of one question are asked anew, whatever cache the program has set."""
    model = Chatty()
    set_llm_cache(InMemoryCache())
    try:
        for repeat in range(2):
            await sent(model, chat(model, repeat=repeat))
    finally:
        set_llm_cache(None)
    assert len(model.asked) == 2


def test_the_identity_is_of_parameters_and_not_of_secrets() -> None:
    """Equal chat models are one model to the ledger, whatever their keys; other parameters make another."""
    first = chat_model_ref("mine", Chatty())
    other_key = Chatty(token="another-key-000", acme_key=SecretStr("x"))
    assert chat_model_ref("mine", other_key) == first
    assert chat_model_ref("mine", Chatty(temperature=0.6)).endpoint != first.endpoint
    assert first.model == "langchain/chatty/c-1"
    assert re.fullmatch(r"langchain/[0-9a-f]{12}", first.endpoint)


class Part(BaseModel):
    """A part of a chat model."""

    size: int = 1
    name: str = ""
    api_key: str = KEY


class Silent(Chatty):
    """A chat model that states no parameters."""

    part: Part = Field(default_factory=Part)
    mode: set[str] = Field(default_factory=set)
    options: dict[Any, Any] = Field(default_factory=dict)
    default_headers: dict[str, str] = Field(default_factory=dict)
    api_key: str = KEY
    max_retries: int = 2

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {}


class Quiet(Silent):
    """Another class of the same fields."""


def endpoint(model: BaseChatModel) -> str:
    """Return the identity of a chat model."""
    return chat_model_ref("mine", model).endpoint


@pytest.mark.parametrize(
    "other",
    [
        Silent(temperature=0.6),
        Silent(part=Part(size=2)),
        Silent(part=Part(name="tool")),
        Silent(mode={"a"}),
        Silent(options={"depth": 1}),
        Silent(options={1234: 5}),
        Silent(options={"\ud800": "\ud800", "big": 2**70, "nan": float("nan")}),
        Silent(options={"token_limit": 7}),
        Quiet(),
    ],
)
def test_fields_and_class_are_part_of_an_identity(other: Silent) -> None:
    """Chat models that differ in a plain field, or in their class, are two models, whatever parameters they state."""
    assert endpoint(other) != endpoint(Silent())


@pytest.mark.parametrize(
    "other",
    [
        Silent(api_key="rotated-0123456789"),
        Silent(part=Part(api_key="rotated-0123456789")),
        Silent(default_headers={"X-Api-Key": "rotated"}),
        Silent(options={"apiKey": "a", "api_keys": ["b"], "access_key_id": "c", "passwd": "d", "auth": "Basic e"}),
        Silent(options={"way": "Bearer rotated"}),
        Silent(options={"made": object()}),
        Silent(verbose=True, max_retries=0, cache=False),
    ],
)
def test_keys_and_objects_are_no_part_of_an_identity(other: Silent) -> None:
    """A rotated key, an object that is not plain and what shapes no reply leave the identity as it was."""
    as_empty = Silent(options={}, default_headers={})
    assert endpoint(other) == endpoint(as_empty)


def test_an_order_of_a_set_and_asking_are_no_part_of_an_identity() -> None:
    """A set counts by its members, and LangChain's fake stays itself when it has answered."""
    assert endpoint(Silent(mode={"a", "b", "c"})) == endpoint(Silent(mode={"c", "b", "a"}))
    fake = FakeListChatModel(responses=["a", "b"])
    before = endpoint(fake)
    fake.invoke("x")
    assert endpoint(fake) == before != endpoint(FakeListChatModel(responses=["a"]))


async def test_synchronous_code_runs_in_threads_of_its_own() -> None:
    """As many calls as the model may have at once wait together, though the loop's own threads are all taken."""
    together = threading.Barrier(4)
    running: set[threading.Thread] = set()

    def answer(messages: list[BaseMessage]) -> AIMessage:
        running.add(threading.current_thread())
        together.wait(timeout=PATIENCE)
        return AIMessage("yes")

    model = Chatty(answer=answer)
    spec = spec_of(model).model_copy(update={"max_concurrency": 4})
    transport, blobs = LangChainTransport(model), MemoryBlobs()
    with ThreadPoolExecutor(1) as single:
        asyncio.get_running_loop().set_default_executor(single)
        replies = await asyncio.gather(
            *(transport.send(chat(model, repeat=n), spec, api_key=None, blobs=blobs) for n in range(4))
        )
    assert {getattr(reply, "text", None) for reply in replies} == {"yes"}
    assert len(running) == 4
    await transport.aclose()
    for thread in running:
        thread.join(timeout=PATIENCE)
    assert not any(thread.is_alive() for thread in running)


async def test_asynchronous_code_runs_in_the_loop() -> None:
    """A chat model with asynchronous code of its own is asked by it."""

    class Prompt(Chatty):
        """A chat model with asynchronous code."""

        async def _agenerate(
            self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **given: Any
        ) -> ChatResult:
            return self._generate(messages)

    names: list[str] = []

    def answer(messages: list[BaseMessage]) -> AIMessage:
        names.append(threading.current_thread().name)
        return AIMessage("yes")

    model = Prompt(answer=answer)
    assert (await sent(model, chat(model))).text == "yes"
    assert names == [threading.current_thread().name]


async def test_plain_keys_reach_no_text() -> None:
    """A key in a plain field, in headers or in a part is taken out of replies and errors; a Bearer value also without it."""
    texts = ["plain-0123456789", "bearer-0123456789", "custom-0123456789", "paired-0123456789", "nested-0123456789"]
    plain, bearer, custom, paired, nested = texts

    def answer(messages: list[BaseMessage]) -> AIMessage:
        raise ValueError(" ".join(texts) + " and gpt-0123456789")

    model = Silent(
        api_key=plain,
        default_headers={"Authorization": f"Bearer {bearer}", "X-Own": custom},
        options={"extra_headers": [("X-Own", paired)], "model": "gpt-0123456789"},
        part=Part(api_key=nested),
        answer=answer,
    )
    with pytest.raises(TransportError) as caught:
        await sent(model, chat(model))
    assert str(caught.value).count("[key]") == len(texts)
    assert "gpt-0123456789" in str(caught.value)
    model.answer = lambda messages: AIMessage(f"{plain} {bearer}")
    assert (await sent(model, chat(model))).text == "[key] [key]"


@pytest.mark.parametrize(
    ("metadata", "finish", "word"),
    [
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "length",
            "max_output_tokens",
        ),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter", None),
        ({"status": "incomplete", "incomplete_details": None}, "unknown", "incomplete"),
        ({"status": "completed", "incomplete_details": None}, "unknown", None),
        ({"stop_reason": "model_context_window_exceeded"}, "length", "model_context_window_exceeded"),
        ({"stop_reason": "refusal"}, "content_filter", "refusal"),
        ({"stopReason": "guardrail_intervened"}, "content_filter", "guardrail_intervened"),
        ({"finish_reason": "RECITATION"}, "content_filter", "RECITATION"),
    ],
)
def test_every_providers_word_for_an_end_is_known(metadata: dict[str, Any], finish: str, word: str | None) -> None:
    """A reply that is cut off, filtered or refused says so, in whatever field and word."""
    reply = chat_reply_of(AIMessage("half", response_metadata=metadata), spec_of(Chatty()))
    assert (reply.finish_reason, reply.native_finish_reason) == (finish, word)


@pytest.mark.parametrize("wrapped_block", [False, True])
def test_a_block_may_be_a_refusal(wrapped_block: bool) -> None:
    """A content block of the type `refusal` is a refusal, also as LangChain's standard content wraps it."""
    block: dict[str, Any] = {"type": "refusal", "refusal": "I cannot."}
    content = {"type": "non_standard", "value": block} if wrapped_block else block
    assert chat_reply_of(AIMessage([content]), spec_of(Chatty())).refusal == "I cannot."


def test_objects_that_the_ledger_cannot_tell_apart_are_refused() -> None:
    """Two objects of equal parameters would answer each other's calls; a name tells them apart, and one object is one."""
    settings, first = Settings(home=Path()), Chatty()
    with pytest.raises(ConfigError, match=r"'a' and 'b' cannot be told apart by the ledger.*: give each a name"):
        settings.with_chat_models({"a": first, "b": Chatty()})
    named = settings.with_chat_models({"a": first, "b": Chatty(name="second"), "c": first})
    assert named.models["a"].ref.endpoint == named.models["c"].ref.endpoint != named.models["b"].ref.endpoint


def test_what_is_no_chat_model_is_refused() -> None:
    """A string, and a chat model with bound parameters, are refused with the way out."""
    settings = Settings(home=Path())
    with pytest.raises(ConfigError, match="'mine': str is not a LangChain chat model"):
        settings.with_chat_models({"mine": "gpt"})  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigError, match="give the Chatty itself"):
        settings.with_chat_models({"mine": Chatty().bind(stop=["x"])})  # pyright: ignore[reportArgumentType]


async def test_a_run_asks_a_chat_model_as_any_other(tmp_path: Path) -> None:
    """A candidate by object is scored and answered from the ledger; a resume without it says what is missing."""
    data = tmp_path / "world.jsonl"
    write_world(data, 2, 0)
    settings = load_settings(home=tmp_path / "home", env={}, cwd=tmp_path)
    request = EvaluationRequest(data=data, judge="sim/judge", models=("mine",), max_failures="100%")
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    model = Chatty(answer=lambda messages: AIMessage(f"It is 3. {KEY}", usage_metadata=usage))
    result = await evaluate(request, settings=settings, chat_models={"mine": model})
    assert result.end == "complete"
    assert len(model.asked) == result.summary["models"]["mine"]["n_scored"]
    again = Chatty()
    await evaluate(request.model_copy(update={"fresh": True}), settings=settings, chat_models={"mine": again})
    assert not again.asked

    def fail(messages: list[BaseMessage]) -> AIMessage:
        raise ValueError(f"a bug with {KEY}")

    broken = Chatty(answer=fail, temperature=0.7)
    limited = request.model_copy(update={"models": ("broken",), "max_calls": 100})
    failed = await evaluate(limited, settings=settings, chat_models={"broken": broken})
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, failed.run)
    assert len(broken.asked) == 2, "an error in the chat model's code is not tried again"
    with pytest.raises(ConfigError, match=r"the LangChain chat model 'broken' .* is missing: give the object again"):
        await resume(run, settings=settings, retry=("api_error",))
    with pytest.raises(ConfigError, match="'broken' is not the one that the run was accepted with"):
        await resume(run, settings=settings, retry=("api_error",), chat_models={"broken": Chatty()})
    mended = Chatty(temperature=0.7)
    done = await resume(run, settings=settings, retry=("api_error",), chat_models={"broken": mended})
    assert (done.end, len(mended.asked)) == ("complete", 2)
    stored = b"".join(path.read_bytes() for path in settings.home.rglob("*") if path.is_file())
    assert KEY.encode() not in stored


async def test_the_way_on_is_a_programs_where_chat_models_are_objects(tmp_path: Path) -> None:
    """What ended early says how a program goes on with it, since no command can give the chat models again."""
    data = tmp_path / "world.jsonl"
    write_world(data, 2, 0)
    settings = load_settings(home=tmp_path / "home", env={}, cwd=tmp_path)
    request = EvaluationRequest(data=data, judge="sim/judge", models=("mine",))
    spent = request.model_copy(update={"max_calls": 1})
    stopped = await evaluate(spent, settings=settings, chat_models={"mine": Chatty()})
    assert stopped.end == "spending"
    way = f"; to continue, call `resume('{stopped.run}', chat_models=...)` in Python with the same chat models"
    assert stopped.why.endswith(way)

    def fail(messages: list[BaseMessage]) -> AIMessage:
        raise ValueError("a bug")

    broken = Chatty(answer=fail, temperature=0.7)
    failed = await evaluate(request, settings=settings, chat_models={"mine": broken})
    assert failed.end == "failures"
    assert f"to ask them anew, call `resume('{failed.run}', retry=True, chat_models=...)` in Python" in failed.why
    stop = Stop()

    def stop_run(messages: list[BaseMessage]) -> AIMessage:
        stop.ask()
        return AIMessage("It is 3.")

    with pytest.raises(
        Interrupted, match=r"to continue, call `resume\('\w+', chat_models=...\)` in Python with the same chat models"
    ):
        await evaluate(
            request, settings=settings, stop=stop, chat_models={"mine": Chatty(answer=stop_run, temperature=0.8)}
        )


async def test_a_forgotten_store_of_images_is_named() -> None:
    """A chat model that is to see an image which is not in the store fails with the argument that gives the store."""
    image = ImageRef(sha256="0" * 64, media_type="image/png", width=1, height=1)
    review = as_runnable(
        "peer_review", options={"panel": ("a", "b")}, chat_models={"a": Chatty(), "b": Chatty(temperature=0.7)}
    )
    with pytest.raises(StorageError, match=r"is not in this store; .* give that store by blobs=, as in read_jsonl"):
        await review.ainvoke({"sample": Sample(id="1", prompt="", images=(image,))})


async def test_a_fake_of_langchain_is_a_candidate(tmp_path: Path) -> None:
    """LangChain's own fake answers; when it has nothing more to say, its calls fail once each."""
    data = tmp_path / "world.jsonl"
    write_world(data, 2, 0)
    settings = load_settings(home=tmp_path / "home", env={}, cwd=tmp_path)
    fake = GenericFakeChatModel(messages=iter(["It is 3."]))
    request = EvaluationRequest(data=data, judge="sim/judge", models=("fake",), max_failures="100%")
    result = await evaluate(request, settings=settings, chat_models={"fake": fake})
    assert result.summary["models"]["fake"]["n_scored"] == 1


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed distribution that brings a chat model, and one whose factory makes something else."""
    (tmp_path / "acme_chat.py").write_text(
        "from langchain_core.language_models import FakeListChatModel\n"
        "def make():\n    return FakeListChatModel(responses=['It is 3.'])\n"
        "def wrong():\n    return 'gpt'\n"
    )
    install(tmp_path, monkeypatch, {"dokimasia.chat_models": {"acme": "acme_chat:make", "wrong": "acme_chat:wrong"}})
    yield
    sys.modules.pop("acme_chat", None)


@pytest.mark.usefixtures("plugin")
async def test_a_plugin_brings_a_chat_model(tmp_path: Path) -> None:
    """`langchain/NAME` is the chat model of a plug-in, also under a name and with the limits of the configuration."""
    data = tmp_path / "world.jsonl"
    write_world(data, 2, 0)
    (tmp_path / "dokimasia.toml").write_text('[models.mine]\nmodel = "langchain/acme"\nmax_concurrency = 2\n')
    settings = load_settings(home=tmp_path / "home", env={}, cwd=tmp_path)
    assert resolve_model(settings, "mine").max_concurrency == 2
    request = EvaluationRequest(data=data, judge="sim/judge", models=("mine", "langchain/acme"))
    result = await evaluate(request, settings=settings)
    assert result.end == "complete"
    assert {"mine", "langchain/acme"} == set(result.summary["models"])
    with pytest.raises(
        ConfigError, match=r"no plug-in of group dokimasia.chat_models is called 'acm'; did you mean 'acme'"
    ):
        resolve_model(settings, "langchain/acm")
    with pytest.raises(ConfigError, match=r"'wrong' of group dokimasia.chat_models: str is not a LangChain chat model"):
        resolve_model(settings, "langchain/wrong")


class Forgetful(Chatty):
    """A judge whose first reply is of no use, and which notes that in a field."""

    scolded: bool = False

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **given: Any
    ) -> ChatResult:
        self.asked.append((messages, given))
        text = "Final Verdict is: [[A>B]]" if self.scolded else "I like both of them."
        self.scolded = True
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


async def test_a_repaired_reply_is_taken_from_the_ledger(tmp_path: Path) -> None:
    """A chat model that changes a field of its own while it replies stays one model, so that nothing is asked twice."""
    data, blobs = tmp_path / "cases.jsonl", MemoryBlobs()
    write_creative(data, 1, 0)
    [sample] = read_jsonl(data, blobs=blobs)
    judge = Forgetful()
    how: Any = {"judge": "mine", "models": ("sim/strong",), "blobs": blobs, "home": tmp_path / "home"}
    options = {"baseline": "sim/weak", "factuality": "none", "places": ("first",)}
    input = {"sample": sample, "items": [{"model": "sim/strong"}]}
    duel = as_runnable("duel", chat_models={"mine": judge}, options=options, **how)
    first = await duel.ainvoke(input)
    assert len(judge.asked) == 2, "the second request sends the reply back"
    assert (await duel.ainvoke(input), len(judge.asked)) == (first, 2)
    again = as_runnable("duel", chat_models={"mine": judge}, options=options, **how)
    assert (await again.ainvoke(input), len(judge.asked)) == (first, 2)
    fresh = Forgetful()
    assert await as_runnable("duel", chat_models={"mine": fresh}, options=options, **how).ainvoke(input) == first
    assert not fresh.asked
    judge.temperature = 0.9
    assert endpoint(judge) != endpoint(Forgetful()), "a parameter that the program changes makes another model"
