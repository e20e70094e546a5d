"""The transport over LiteLLM: sends each request once, to any provider supported by LiteLLM."""

import asyncio
import importlib
import logging
import os
import re
import warnings
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from types import ModuleType
from typing import Any

from dokimasia.domain.call import Chat, ImageEdit, ModelCall, ModelReply, ModelSpec
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.ports import BlobStore, ImageReader
from dokimasia.errors import TransportError
from dokimasia.gateway.images import EncodedImages, data_uri
from dokimasia.gateway.litellm.errors import classify, refusal
from dokimasia.gateway.litellm.replies import (
    ReceivedResponses,
    chat_reply_of,
    edited_image,
    embedding_reply_of,
    reading,
)
from dokimasia.gateway.openai_format import ImageReply, chat_fields, chat_messages, edit_fields, stored_edit
from dokimasia.gateway.rate_limit_headers import report_headers

_OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_MODE": "PRODUCTION",
}
"""Set before LiteLLM is imported: its data files come from the package, not the network, and it reads no `.env`."""

_SILENT = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
_DISCREET = ("httpx", "httpcore", "openai")
"""Loggers that record addresses, which for some providers contain the key."""

_NO_KEY = "no-key"
"""The key sent to a self-hosted server with no configured key."""

_open_transports = 0
"""The number of open transports. LiteLLM's connections belong to the process: the last open transport closes them."""


class LiteLLMTransport:
    """Sends calls through LiteLLM; implements `dokimasia.domain.ports.Transport`.

    LiteLLM is imported by the first call, in a thread. It retries nothing, logs nothing, runs no callbacks and fetches
    nothing else. Parameters that an endpoint does not accept (above all `seed`) are dropped.
    """

    def __init__(self, *, read_image: ImageReader | None = None) -> None:
        """Create a transport; `read_image` checks edited images."""
        self._read_image = read_image
        self._closed = False
        self._images = EncodedImages(data_uri)
        self._loading = asyncio.Lock()
        self._litellm: ModuleType | None = None

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Send the call once and return its reply.

        Raises:
            TransportError: no usable envelope, or an unacceptable edited image.
            StorageError: an image is not in the blob store.
        """
        litellm = await self._load()
        arguments = _common(call, spec, api_key)
        if isinstance(call, Chat):
            arguments = chat_fields(call, spec) | arguments
            uris = await self._images.shown_by(call, blobs)
            images = {sha256: {"type": "image_url", "image_url": {"url": uri}} for sha256, uri in uris.items()}
            arguments |= {"messages": chat_messages(call.messages, images)}
            if call.tools:
                # The package runs tools itself; LiteLLM's own handler needs another package.
                arguments["_skip_mcp_handler"] = True
            send, read = litellm.acompletion, partial(chat_reply_of, requested=call.model.model)
        elif isinstance(call, ImageEdit):
            del arguments["drop_params"]  # this function would send it too, as a form field
            arguments = edit_fields(call, spec) | arguments
            arguments["prompt"] = call.instruction
            send, read = litellm.aimage_edit, edited_image
            if call.image is not None:
                arguments["image"] = await asyncio.to_thread(blobs.get, call.image.sha256)
            else:
                send = litellm.aimage_generation
                if "response_format" in arguments:  # as a separate field it is refused for unknown models
                    inline = {"response_format": arguments.pop("response_format")}
                    arguments["extra_body"] = arguments.get("extra_body", {}) | inline
        else:
            arguments |= {"input": list(call.texts), "encoding_format": "float"}
            send, read = litellm.aembedding, embedding_reply_of
        response: object = None
        failure: ModelReply | TransportError | None = None
        received = ReceivedResponses(call, api_key=api_key)
        with reading(received):
            try:
                response = await _unlogged(send, arguments)
            except Exception as error:  # exceptions of LiteLLM and its providers have no common base; they get one here
                failure = (
                    received.unreadable()
                    or (refusal(error, api_key=api_key) if isinstance(call, ImageEdit) else None)
                    or classify(error, api_key=api_key)
                )
        if received.last is not None:
            report_headers(received.last.headers)
        outcome = received.outcome or failure or read(response)
        if isinstance(outcome, TransportError):
            raise outcome  # outside the handler, so that the original error, which can hold the key, is not its context
        if isinstance(outcome, ImageReply):
            return await stored_edit(outcome, read_image=self._read_image, blobs=blobs)
        return outcome

    async def aclose(self) -> None:
        """Close LiteLLM's connections, if no other transport uses them."""
        global _open_transports
        if self._litellm is None or self._closed:
            return
        self._closed = True
        _open_transports -= 1
        if _open_transports == 0:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()
            await _client().CONNECTIONS.connections.aclose()

    async def _load(self) -> ModuleType:
        global _open_transports
        if self._litellm is None:
            async with self._loading:
                if self._litellm is None:
                    litellm = await asyncio.to_thread(load_litellm)
                    if _open_transports == 0:
                        await asyncio.to_thread(lambda: _client().limit_replies(litellm))
                    self._litellm = litellm
                    _open_transports += 1
        return self._litellm


def _client() -> ModuleType:
    """Return the module of the client, which imports httpx: on demand, like LiteLLM itself."""
    return importlib.import_module("dokimasia.gateway.litellm.client")


def load_litellm() -> ModuleType:
    """Import LiteLLM, configured to be silent and to make no requests of its own; later calls return
    the same module.
    """
    os.environ.update(_OFFLINE)
    for name in _SILENT:
        logging.getLogger(name).disabled = True
    for name in _DISCREET:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
    warnings.filterwarnings("ignore", message=r".* is using the `ReadOnly` qualifier", category=UserWarning)
    litellm: Any = importlib.import_module("litellm")
    for name in _SILENT:
        logging.getLogger(name).disabled = True
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.num_retries = 0
    litellm.DEFAULT_MAX_RETRIES = 0  # its embeddings read `max_retries=0` as "not given" and would send three times
    litellm.cache = None
    for name in ("callbacks", "input_callback", "success_callback", "failure_callback", "service_callback"):
        setattr(litellm, name, [])
    return litellm


def missing_keys(model: str) -> list[str]:
    """Return the unset environment variables that a model's provider needs, according to LiteLLM."""
    environment = load_litellm().validate_environment(model)
    if environment["keys_in_environment"]:
        return []
    return sorted(environment["missing_keys"])


def provider_problem(model: str, api_base: str | None) -> str:
    """Return the problem if LiteLLM knows no provider of a model name, at an address if there is one; else empty."""
    litellm = load_litellm()
    try:
        litellm.get_llm_provider(model, api_base=api_base)
    except litellm.BadRequestError:
        own_name = "NAME" if re.search(r"\s", model) else model[:80]
        return (
            f"LiteLLM knows no provider of {model[:80]!r}: write PROVIDER/MODEL, such as openai/gpt-5; for a server of your "
            f"own that speaks OpenAI's format write hosted_vllm/{own_name}, and its address as api_base"
        )
    return ""


async def _unlogged(send: Callable[..., Awaitable[object]], arguments: JsonObject) -> object:
    """Await LiteLLM's function as one of its internal calls, for which it starts no background logging task."""
    internal = _internal_flag()
    if internal is None:
        return await send(**arguments)
    token = internal.set(True)
    try:
        return await send(**arguments)
    finally:
        internal.reset(token)


def _internal_flag() -> ContextVar[bool] | None:
    try:
        flag = importlib.import_module("litellm._internal_context").is_internal_call
    except (ImportError, AttributeError):  # older releases lack the switch, but log nowhere either
        return None
    if isinstance(flag, ContextVar):
        return flag
    return None


def _common(call: ModelCall, spec: ModelSpec, api_key: str | None) -> JsonObject:
    # Without a key LiteLLM takes the provider's own from the environment: right only for the provider's own address.
    if api_key is None and spec.api_base is not None:
        api_key = _NO_KEY
    return {
        "model": call.model.model,
        "api_base": spec.api_base,
        "api_key": api_key,
        "timeout": spec.timeout,
        "num_retries": 0,
        "max_retries": 0,
        "drop_params": True,
    }
