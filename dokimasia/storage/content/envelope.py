"""How a call and its reply lie in the ledger: JSON whose long texts are kept apart, each once, under their hash."""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from dokimasia.domain.call import ModelCall, ModelReply
from dokimasia.domain.identity import digest

_CALL: TypeAdapter[ModelCall] = TypeAdapter(ModelCall)
_REPLY: TypeAdapter[ModelReply] = TypeAdapter(ModelReply)


SHORT = 20_000
"""Characters up to which a text is remembered with its hash."""


def text_hash(text: str) -> str:
    """Return the name of a text: the SHA-256 of its UTF-8 bytes, 64 hexadecimal digits."""
    return _short_hash(text) if len(text) <= SHORT else hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=512)  # instructions and questions stand in many calls, one after the other
def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def reply_digest(reply: dict[str, Any]) -> str:
    """Return the digest of a folded reply, by which a later change of it shows."""
    return digest("reply/1", reply)


def _replace(body: dict[str, Any], change: Callable[[Any], Any]) -> None:
    """Apply `change` in place to every text of a request or reply body, and to nothing else.

    The places are named one by one: a schema or a provider's extra parameters may hold anything, also something that
    looks like a reference.
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


def fold(body: dict[str, Any], texts: dict[str, Any]) -> dict[str, Any]:
    """Put `{"text_ref": hash}` in the place of every text of a body, and each text into `texts`; changes `body`."""

    def refer(text: str) -> dict[str, str]:
        name = text_hash(text)
        texts[name] = text
        return {"text_ref": name}

    _replace(body, refer)
    return body


def unfold(body: dict[str, Any], text_of: Callable[[str], str]) -> dict[str, Any]:
    """Put the texts of a folded body back; changes `body` and returns it.

    Args:
        body: what `fold` made.
        text_of: returns the text of a hash.

    Raises:
        KeyError, TypeError: the body has no reference where a text belongs.
    """
    _replace(body, lambda reference: text_of(reference["text_ref"]))
    return body


def read_call(request: dict[str, Any], *, model_name: str) -> ModelCall:
    """Return the call of a canonical request; `model_name` is what the model was called when it was asked.

    Raises:
        ValueError, KeyError: the request does not read as a call.
    """
    body = {key: value for key, value in request.items() if key not in {"endpoint", "key_version"}}
    body["model"] = {"name": model_name, "model": request["model"], "endpoint": request["endpoint"]}
    return _CALL.validate_python(body)


def read_reply(body: dict[str, Any]) -> ModelReply:
    """Return the reply of an unfolded body.

    Raises:
        ValueError: the body does not read as a reply.
    """
    return _REPLY.validate_python(body)
