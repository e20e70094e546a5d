"""LangChain chat models as models, by plug-in or as an object; their identity, which contains no secret."""

import dataclasses
import math
import re
import sys
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import BaseModel, SecretBytes, SecretStr

from dokimasia.domain.call import ModelRef, ModelSpec
from dokimasia.domain.identity import canonical_json, digest
from dokimasia.errors import ConfigError
from dokimasia.log import names_secret
from dokimasia.plugins import make_chat_model

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LANGCHAIN = "langchain/"
"""The prefix of the names of LangChain chat models, and of their transports."""

IDENTITY_LENGTH = 12
"""Hexadecimal digits of a chat model's identity."""

_NOT_SHAPING = re.compile(
    r"cache|callbacks|callback_manager|verbose|tags|metadata|name|profile|rate_limiter|i"
    r"|max_retries|timeout|request_timeout|default_request_timeout|(.*_)?client"
)
"""Names of a chat model's fields that do not affect replies; `i` counts the replies of LangChain's own fakes."""

_FIRST_IDENTITIES: dict[int, dict[str, str]] = {}
"""By the `id` of a chat model that changes its own fields: each later identity, with the first one."""

_OPAQUE = object()
"""Represents a value that cannot be written as JSON."""

_LARGEST = 1 << 63
"""The smallest integer that is written as text."""


def check_chat_model(name: str, model: object) -> None:
    """Check that an object is a LangChain chat model.

    Raises:
        ConfigError: it is another object; the message states its type.
    """
    from langchain_core.language_models import BaseChatModel

    if isinstance(model, BaseChatModel):
        return
    hint = ""
    if isinstance(bound := getattr(model, "bound", None), BaseChatModel):
        hint = f": give the {type(bound).__name__} itself, and its parameters to its constructor"
    raise ConfigError(f"{name}: {type(model).__name__} is not a LangChain chat model (BaseChatModel){hint}")


def chat_model_ref(name: str, model: "BaseChatModel") -> ModelRef:
    """Return the identity of a chat model under a shown name.

    The ledger identifies the model by its class, its `_llm_type`, its fields that can be written as JSON, its
    `_identifying_params` and, if it has one, its `name`. Excluded are its `lc_secrets` and anything named like a
    secret; fields excluded from serialisation; and fields that do not affect replies, such as callbacks, clients and
    timeouts. A value that cannot be written as JSON counts by its type in `_identifying_params`, and not at all in a
    field. A field that the chat model itself changes while it replies, such as a count of its replies, counts with its
    earlier value (see `keeping_identity`).

    Args:
        name: the shown name.
        model: the chat model.
    """
    shown, identity = _identity(model)
    identity = _FIRST_IDENTITIES.get(id(model), {}).get(identity, identity)
    return ModelRef(name=name, model=f"{LANGCHAIN}{shown}", endpoint=f"{LANGCHAIN}{identity}")


@contextmanager
def keeping_identity(model: "BaseChatModel", ref: ModelRef) -> Iterator[None]:
    """Preserve the identity of a chat model that changes its own fields during the block, in which it is called.

    Otherwise a chat model that counts its replies would be a different model to the ledger after each of them.

    Args:
        model: the chat model.
        ref: the identity under which it is called.
    """
    first = _identity(model)
    try:
        yield
    finally:
        last = _identity(model)
        if last != first:
            if id(model) not in _FIRST_IDENTITIES:
                weakref.finalize(model, _FIRST_IDENTITIES.pop, id(model), None)
            _FIRST_IDENTITIES.setdefault(id(model), {})[last[1]] = ref.endpoint.removeprefix(LANGCHAIN)


def _identity(model: "BaseChatModel") -> tuple[str, str]:
    """Return the shown name of a chat model, and the digest of its type and its current fields."""
    secrets = set(model.lc_secrets)
    stated = {
        key: _type_of(value) if (part := _plain(value)) is _OPAQUE else part
        for key, value in _without_secrets(model._identifying_params.items(), secrets).items()
    }
    params = {**_fields(model), **stated}
    called = params.get("model_name") or params.get("model")
    kind = model._llm_type
    shown = f"{kind}/{called}" if isinstance(called, str) else kind
    label = {} if model.name is None else {"name": model.name}
    identity = digest("langchain", {"class": _type_of(model), "type": kind, "params": params, **label})
    return shown, identity[:IDENTITY_LENGTH]


def chat_model_spec(model: "BaseChatModel", configured: ModelSpec, name: str) -> ModelSpec:
    """Return a spec, with its limits, prices and sampling, for the chat model with a name."""
    return configured.model_copy(
        update={"ref": chat_model_ref(configured.ref.name, model), "transport": f"{LANGCHAIN}{name}"}
    )


def chat_model_of_plugin(name: str) -> "BaseChatModel":
    """Return the chat model of a plug-in, created once in a process.

    Raises:
        ConfigError: no plug-in provides one of that name, or its factory failed.
    """
    return _create(name, tuple(sys.path))


def resolved_chat_model(spec: ModelSpec) -> ModelSpec:
    """Return the spec of a model `langchain/NAME`, with the identity of the plug-in's chat model.

    Raises:
        ConfigError: no plug-in provides one of that name, or its factory failed.
    """
    name = spec.ref.model.removeprefix(LANGCHAIN)
    return chat_model_spec(chat_model_of_plugin(name), spec, name)


def chat_model_for(spec: ModelSpec, given: Mapping[str, "BaseChatModel"]) -> "BaseChatModel":
    """Return the chat model of a spec with a transport `langchain/NAME`.

    Args:
        spec: the spec.
        given: chat models passed by a program, by name; others come from plug-ins.

    Raises:
        ConfigError: there is none of that name, or it differs from the one the spec was made for.
    """
    name = spec.transport.removeprefix(LANGCHAIN)
    try:
        model = given[name] if name in given else chat_model_of_plugin(name)
    except ConfigError as problem:
        raise ConfigError(
            f"the LangChain chat model {name!r} ({spec.ref.model}) is missing: give the object again, "
            f"chat_models={{{name!r}: ...}}, or install the plug-in that brings it ({problem})"
        ) from problem
    if chat_model_ref(spec.ref.name, model) != spec.ref:
        raise ConfigError(
            f"the chat model {name!r} is not the one that the run was accepted with: {spec.ref.model} with other "
            "parameters, or of another type; give that one, or begin another run"
        )
    return model


@lru_cache(maxsize=64)
def _create(name: str, path: tuple[str, ...]) -> "BaseChatModel":
    model = make_chat_model(name)
    check_chat_model(f"the plug-in {name!r} of group dokimasia.chat_models", model)
    return model


def _without_secrets(params: Iterable[tuple[object, object]], secrets: Collection[str]) -> dict[str, object]:
    """Return parameters by name as text, without secrets. A number is never one, whatever its name (`token_limit`)."""
    parameters: dict[str, object] = {}
    for key, value in params:
        name = _text(str(key))
        bearer = isinstance(value, str) and value.lower().startswith(("bearer ", "basic "))
        secret = names_secret(name) and not isinstance(value, int | float)
        if name not in secrets and not secret and not bearer and not isinstance(value, SecretStr | SecretBytes):
            parameters[name] = value
    return parameters


def _fields(model: BaseModel) -> dict[str, object]:
    """Return a pydantic model's plain fields that may affect replies, such as a chat model's, without secrets."""
    from langchain_core.language_models import BaseLanguageModel

    secrets = getattr(model, "lc_secrets", ())
    fields: dict[str, object] = {}
    for name, field in type(model).model_fields.items():
        if not field.exclude and not (isinstance(model, BaseLanguageModel) and _NOT_SHAPING.fullmatch(name)):
            fields[name] = vars(model).get(name)
    return _plain_parts((*fields.items(), *(model.model_extra or {}).items()), secrets)


def _plain_parts(params: Iterable[tuple[object, object]], secrets: Collection[str] = ()) -> dict[str, object]:
    parts = {name: _plain(value) for name, value in _without_secrets(params, secrets).items()}
    return {name: part for name, part in parts.items() if part is not _OPAQUE}


def _plain(value: object) -> object:
    """Return a parameter as plain JSON, without secrets and opaque parts; `_OPAQUE` if it is opaque itself."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, int):
        if -_LARGEST <= value < _LARGEST:
            return int(value)
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return str(value)
    if isinstance(value, str | PurePath | UUID | Decimal | date):
        return _text(str(value))
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return _plain_parts(value.items())
    if isinstance(value, list | tuple | set | frozenset):
        parts = [part for part in map(_plain, value) if part is not _OPAQUE]
        if isinstance(value, set | frozenset):
            return sorted(parts, key=canonical_json)
        return parts
    if isinstance(value, BaseModel):
        return {"class": _type_of(value), "fields": _fields(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain_parts((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    return _OPAQUE


def _type_of(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _text(text: str) -> str:
    """Return text that UTF-8 can encode: lone surrogates are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()
