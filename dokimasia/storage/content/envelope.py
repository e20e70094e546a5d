"""The ledger's format of calls and replies: JSON whose long texts are stored separately, each once, under their hash."""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from dokimasia.domain.call import ModelCall, ModelReply
from dokimasia.domain.identity import JsonObject, digest

_CALL: TypeAdapter[ModelCall] = TypeAdapter(ModelCall)
_REPLY: TypeAdapter[ModelReply] = TypeAdapter(ModelReply)


SHORT = 20_000
"""Longest text, in characters, whose hash is cached."""


def text_hash(text: str) -> str:
    """Return the hash of a text: SHA-256 of its UTF-8 bytes, 64 hexadecimal digits."""
    if len(text) <= SHORT:
        return _short_hash(text)
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=512)  # consecutive calls share instructions and questions
def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def reply_digest(reply: JsonObject) -> str:
    """Return the digest of a folded reply, which reveals later changes."""
    return digest("reply/1", reply)


def _replace(body: JsonObject, change: Callable[[Any], object]) -> None:
    """Apply `change` in place to every text of a request or reply body, and to nothing else.

    The places are listed explicitly, since a schema or a provider's extra parameters may contain anything, even something
    that looks like a reference.
    """
    for message in body.get("messages", ()):
        for part in message["parts"]:
            if part["kind"] == "text":
                part["text"] = change(part["text"])
    if "texts" in body:
        body["texts"] = [change(text) for text in body["texts"]]
    for field in ("instruction", "text"):
        if field in body:
            body[field] = change(body[field])


def fold(body: JsonObject, texts: dict[str, str]) -> JsonObject:
    """Replace every text of a body by `{"text_ref": hash}`, add the texts to `texts`, and return the modified body."""

    def refer(text: str) -> dict[str, str]:
        name = text_hash(text)
        texts[name] = text
        return {"text_ref": name}

    _replace(body, refer)
    return body


def unfold(body: JsonObject, text_of: Callable[[str], str]) -> JsonObject:
    """Restore the texts of a folded body, and return the modified body.

    Args:
        body: the result of `fold`.
        text_of: returns a text by its hash.

    Raises:
        KeyError, TypeError: the body has no reference in place of a text.
    """
    _replace(body, lambda reference: text_of(reference["text_ref"]))
    return body


def read_call(request: JsonObject, *, model_name: str) -> ModelCall:
    """Return the call of a canonical request; `model_name` is the model's name at the time of the call.

    Raises:
        ValueError, KeyError: the request is not a valid call.
    """
    body = {key: value for key, value in request.items() if key not in {"endpoint", "key_version"}}
    body["model"] = {"name": model_name, "model": request["model"], "endpoint": request["endpoint"]}
    return _CALL.validate_python(body)


def read_reply(body: JsonObject) -> ModelReply:
    """Return the reply of an unfolded body.

    Raises:
        ValueError: the body is not a valid reply.
    """
    return _REPLY.validate_python(body)
