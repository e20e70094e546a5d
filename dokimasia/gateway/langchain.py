"""The transport to a LangChain chat model: any `BaseChatModel`, called in this process."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING

import httpx
from pydantic import BaseModel, SecretBytes, SecretStr

from dokimasia.domain.call import Chat, ChatReply, Message, ModelCall, ModelReply, ModelSpec, ToolCall, Usage
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.ports import BlobStore
from dokimasia.errors import TransportError
from dokimasia.gateway.failures import LONGEST_MESSAGE, Verdict, cut, retry_after, scrub, verdict_of_status
from dokimasia.gateway.images import EncodedImages, data_uri
from dokimasia.gateway.openai_format import chat_fields, finish_of, storable, version_of
from dokimasia.gateway.sending import Redact, clean_reply, redactor
from dokimasia.log import names_secret

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import RunnableConfig

FINISH_FIELDS = ("finish_reason", "stop_reason", "done_reason", "stopReason")
"""Fields of a message's `response_metadata` with the finish reason, by provider."""

NOT_STREAMED = "nostream"
"""LangGraph's tag of calls whose tokens are excluded from a graph's stream of messages."""

CAUSES = 6
"""The number of an exception's causes that are examined, since many chat models wrap their provider's exceptions."""

SCHEMES = ("bearer ", "basic ", "token ")
"""The prefixes of the key in a header."""


class LangChainTransport:
    """Calls one chat model; implements `dokimasia.domain.ports.Transport`.

    Images are content blocks with data URLs. Sampling settings are sent if set; otherwise the chat model's own
    parameters apply. The repeat index is not sent, since many chat models refuse a `seed`. LangChain's own cache is
    bypassed: a repeat is an independent draw, and the ledger stores paid replies. A chat model without asynchronous
    code runs in its own threads, so that its slow replies do not delay other work that the event loop runs in threads.
    """

    def __init__(
        self, model: "BaseChatModel", *, during: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        """Call this chat model, which the caller closes; each request is made inside a new context of `during`."""
        self._model = model
        self._during = during
        self._images = EncodedImages(data_uri)
        self._clean = redactor(_secrets(model), str)
        self._pool: ThreadPoolExecutor | None = None

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Call the chat model once and return its reply.

        Raises:
            TransportError: the chat model raised; a limit, a timeout and a lost connection can be retried, an error in
                its code cannot.
            StorageError: an image is not in the blob store.
        """
        if not isinstance(call, Chat):
            raise TransportError("unsupported", f"a chat model answers chats, not {call.kind}", retryable=False)
        urls = await self._images.shown_by(call, blobs)
        messages = [_message(message, urls) for message in call.messages]
        fields = chat_fields(call, spec)
        del fields["seed"]
        failure: TransportError
        try:
            chat_model = self._asked()
            tools = fields.pop("tools", None)
            runnable = chat_model.bind_tools(tools) if tools else chat_model
            config: RunnableConfig = {"tags": [NOT_STREAMED]}
            with self._during():
                if _is_asynchronous(chat_model):
                    reply = await runnable.ainvoke(messages, config, **fields)
                else:
                    reply = await self._in_thread(partial(runnable.invoke, messages, config, **fields), spec)
            return clean_reply(chat_reply_of(reply, spec), self._clean)
        except TransportError:
            raise
        except Exception as error:  # third-party code, whose exceptions have no common base
            failure = classify(error, self._clean)
        raise failure  # outside the handler, so that the original error, which can contain a key, is not its context

    async def aclose(self) -> None:
        """End the threads once they are idle; the caller closes the chat model."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    async def _in_thread(self, work: "Callable[[], AIMessage]", spec: ModelSpec) -> "AIMessage":
        if self._pool is None:
            self._pool = ThreadPoolExecutor(spec.max_concurrency, thread_name_prefix="dokimasia-chat-model")
        context = copy_context()

        def run() -> "AIMessage":
            try:
                return context.run(work)
            except StopIteration as error:  # which a future cannot carry
                raise RuntimeError("StopIteration") from error

        return await asyncio.get_running_loop().run_in_executor(self._pool, run)

    def _asked(self) -> "BaseChatModel":
        """Return the chat model, without a cache."""
        from langchain_core.globals import get_llm_cache

        cache = self._model.cache
        if cache is False or (not cache and get_llm_cache() is None):
            return self._model
        return self._model.model_copy(update={"cache": False})


def _is_asynchronous(model: "BaseChatModel") -> bool:
    """Return whether a chat model has its own asynchronous code, instead of LangChain's, which calls a thread."""
    from langchain_core.language_models import BaseChatModel

    names = ("_agenerate", "_astream", "agenerate", "ainvoke")
    return any(getattr(type(model), name) is not getattr(BaseChatModel, name) for name in names)


def chat_reply_of(message: "AIMessage", spec: ModelSpec) -> ChatReply:
    """Return a chat model's message as a reply: text, tool calls, finish reason, usage, and the model's version."""
    metadata = message.response_metadata
    finish, native = finish_of(_finish_word(metadata))
    tools = [
        ToolCall(id=_text(tool["id"]), name=tool["name"], arguments=json.dumps(tool["args"]))
        for tool in message.tool_calls
    ]
    for broken in message.invalid_tool_calls:
        tools.append(ToolCall(id=_text(broken["id"]), name=_text(broken["name"]), arguments=_text(broken["args"])))
    refusal = message.additional_kwargs.get("refusal") or _refusal_block(message)
    used = message.usage_metadata
    usage = Usage()
    if used is not None:
        cache = used.get("input_token_details", {})
        usage = Usage(
            input_tokens=used["input_tokens"],
            output_tokens=used["output_tokens"],
            cached_tokens=cache.get("cache_read"),
            cache_write_tokens=cache.get("cache_creation"),
        )
    return ChatReply(
        text=storable(message.text),
        finish_reason=finish,
        native_finish_reason=native,
        refusal=storable(refusal) if isinstance(refusal, str) and refusal else None,
        tool_calls=tuple(tools),
        usage=usage,
        version=version_of(metadata.get("model_name") or metadata.get("model"), spec.ref.model.rpartition("/")[2]),
    )


def _finish_word(metadata: Mapping[str, object]) -> object:
    """Return a provider's finish reason; OpenAI's Responses API states one only for an incomplete reply."""
    for field in FINISH_FIELDS:
        if metadata.get(field):
            return metadata[field]
    if metadata.get("status") != "incomplete":
        return None
    details = metadata.get("incomplete_details")
    return (details.get("reason") if isinstance(details, Mapping) else None) or "incomplete"


def _refusal_block(message: "AIMessage") -> str | None:
    """Return the text of a content block that is a refusal."""
    for block in message.content if isinstance(message.content, list) else ():
        inner = block.get("value") if isinstance(block, dict) and block.get("type") == "non_standard" else block
        if isinstance(inner, dict) and inner.get("type") == "refusal":
            return str(inner.get("refusal") or inner.get("text") or "refusal")
    return None


def classify(error: Exception, clean: Redact = str) -> TransportError:
    """Return an exception of a chat model as the failure of one request.

    An HTTP status, a timeout or a lost connection in the exception or its causes decides the kind. Any other exception
    is an error in the chat model's code, which would recur on a retry.
    """
    text = scrub(clean(storable(error)))
    names = " from ".join(dict.fromkeys(type(cause).__name__ for cause in _causes(error)))
    message = cut(f"{names}: {' '.join(text.split())}".removesuffix(": "), LONGEST_MESSAGE)
    for cause in _causes(error):
        status = _status(cause)
        if status is not None:
            kind, retryable = verdict_of_status(status, text)
            wait = retry_after(_headers(cause))
            return TransportError(kind, message, retryable=retryable, status=status, retry_after=wait)
        verdict = _verdict(cause)
        if verdict is not None:
            return TransportError(verdict[0], message, retryable=verdict[1])
    return TransportError("unknown", f"the chat model's code raised {message}", retryable=False)


def _verdict(error: BaseException) -> Verdict | None:
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "timeout", True
    if isinstance(error, ConnectionError | httpx.TransportError):
        return "connection", True
    if isinstance(error, NotImplementedError):
        return "unsupported", False
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes, the outermost first."""
    cause: BaseException | None = error
    for _ in range(CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _status(error: BaseException) -> int | None:
    """Return the HTTP status in a provider's exception, or None."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        candidates: list[object] = [response.get("ResponseMetadata", {}).get("HTTPStatusCode")]
    else:
        candidates = [getattr(response, "status_code", None)]
    for name in ("status_code", "status", "code"):
        candidates.append(getattr(error, name, None))
    for value in candidates:
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return None


def _headers(error: BaseException) -> dict[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return {str(name).lower(): str(value) for name, value in dict(headers or {}).items()}


def _message(message: Message, urls: Mapping[str, str]) -> "BaseMessage":
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    content: str | list[str | JsonObject] = message.text
    if message.images:
        content = []
        for part in message.parts:
            if part.kind == "image":
                content.append({"type": "image_url", "image_url": {"url": urls[part.sha256]}})
            else:
                content.append({"type": "text", "text": part.text})
    if message.role == "system":
        return SystemMessage(content)
    if message.role == "tool":
        return ToolMessage(content, tool_call_id=message.tool_call_id)
    if message.role == "user":
        return HumanMessage(content)
    tools, unreadable = [], []
    for tool in message.tool_calls:
        try:
            tools.append({"id": tool.id, "name": tool.name, "args": dict(json.loads(tool.arguments))})
        except (ValueError, TypeError) as problem:
            unreadable.append({"id": tool.id, "name": tool.name, "args": tool.arguments, "error": str(problem)})
    return AIMessage(content, tool_calls=tools, invalid_tool_calls=unreadable)


def _secrets(model: "BaseChatModel") -> list[str]:
    """Return the secrets among a chat model's fields, headers included; those after `Bearer` also without it."""
    texts = [
        *_secret_texts(_fields(model)),
        *_secret_texts({name: getattr(model, name, None) for name in model.lc_secrets}, True),
    ]
    bare = [text.partition(" ")[2].strip() for text in texts if text.lower().startswith(SCHEMES)]
    return [*texts, *bare]


def _secret_texts(value: object, secret: bool = False) -> Iterator[str]:
    """Yield the texts in a value that are secret by type or by key or, with `secret`, all of them."""
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, SecretBytes | bytes):
        data = value if isinstance(value, bytes) else value.get_secret_value()
        if secret or not isinstance(value, bytes):
            yield data.decode("utf-8", "replace")
    elif isinstance(value, str):
        if secret:
            yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _secret_texts(part, secret or _covers_secrets(str(name)))
    elif isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):  # a header as a pair
        yield from _secret_texts(value[1], secret or _covers_secrets(value[0]))
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _secret_texts(part, secret)
    elif isinstance(value, BaseModel):
        yield from _secret_texts(_fields(value), secret)


def _covers_secrets(name: str) -> bool:
    return names_secret(name) or "header" in name.lower()


def _fields(model: BaseModel) -> dict[str, object]:
    return {**{name: vars(model).get(name) for name in type(model).model_fields}, **(model.model_extra or {})}


def _text(value: str | None) -> str:
    return storable(value)
