"""LangChain chat models as models: by plug-in or as an object; their identity, which holds no secret."""

import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from dokimasia.domain.call import ModelRef, ModelSpec
from dokimasia.domain.identity import digest
from dokimasia.errors import ConfigError
from dokimasia.plugins import make_chat_model

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LANGCHAIN = "langchain/"
"""The prefix of the names of LangChain chat models, and of their transports."""

IDENTITY_LENGTH = 12
"""Hexadecimal digits of a chat model's identity."""

_SECRET = re.compile(r"(^|_)(api_?key|key|secret|password|token|authorization|credentials?)$", re.IGNORECASE)
"""Names of parameters that may hold a secret; a parameter called so is no part of an identity."""


def check_chat_model(name: str, model: object) -> None:
    """Check that an object is a LangChain chat model.

    Raises:
        ConfigError: it is none; the message says what it is.
    """
    from langchain_core.language_models import BaseChatModel

    if isinstance(model, BaseChatModel):
        return
    hint = ""
    if isinstance(bound := getattr(model, "bound", None), BaseChatModel):
        hint = f": give the {type(bound).__name__} itself, and its parameters to its constructor"
    raise ConfigError(f"{name}: {type(model).__name__} is no LangChain chat model (BaseChatModel){hint}")


def chat_model_ref(name: str, model: "BaseChatModel") -> ModelRef:
    """Return the identity of a chat model under a shown name.

    The ledger knows the model by its `_llm_type`, its `_identifying_params` and, where it has one, its `name`. Parameters
    among its `lc_secrets`, and others that are called like secrets, are left out. A value that is no JSON counts by its type.

    Args:
        name: the shown name.
        model: the chat model.
    """
    secrets = set(model.lc_secrets)
    params = {key: _plain(value) for key, value in _without_secrets(model._identifying_params, secrets).items()}
    called = params.get("model_name") or params.get("model")
    kind = model._llm_type
    shown = f"{kind}/{called}" if isinstance(called, str) else kind
    label = {} if model.name is None else {"name": model.name}
    identity = digest("langchain", {"type": kind, "params": params, **label})[:IDENTITY_LENGTH]
    return ModelRef(name=name, model=f"{LANGCHAIN}{shown}", endpoint=f"{LANGCHAIN}{identity}")


def chat_model_spec(model: "BaseChatModel", configured: ModelSpec, name: str) -> ModelSpec:
    """Return a spec, with its limits, prices and sampling, for the chat model that goes by a name."""
    return configured.model_copy(
        update={"ref": chat_model_ref(configured.ref.name, model), "transport": f"{LANGCHAIN}{name}"}
    )


def chat_model_of_plugin(name: str) -> "BaseChatModel":
    """Return the chat model of a plug-in, made once in a process.

    Raises:
        ConfigError: no plug-in brings one of that name, or its factory failed.
    """
    return _made(name, tuple(sys.path))


def resolved_chat_model(spec: ModelSpec) -> ModelSpec:
    """Return the spec of a model `langchain/NAME`, with the identity of the plug-in's chat model.

    Raises:
        ConfigError: no plug-in brings one of that name, or its factory failed.
    """
    name = spec.ref.model.removeprefix(LANGCHAIN)
    return chat_model_spec(chat_model_of_plugin(name), spec, name)


def chat_model_for(spec: ModelSpec, given: Mapping[str, "BaseChatModel"]) -> "BaseChatModel":
    """Return the chat model that a spec with a transport `langchain/NAME` asks.

    Args:
        spec: the spec.
        given: chat models that a program gave, by name; others come from plug-ins.

    Raises:
        ConfigError: there is none of that name, or it is another one than the spec was made for.
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
def _made(name: str, path: tuple[str, ...]) -> "BaseChatModel":
    model = make_chat_model(name)
    check_chat_model(f"the plug-in {name!r} of group dokimasia.chat_models", model)
    return model


def _without_secrets(params: Mapping[str, object], secrets: set[str]) -> dict[str, object]:
    return {key: value for key, value in params.items() if key not in secrets and not _SECRET.search(key)}


def _plain(value: object) -> object:
    """Return a parameter as plain JSON, without secrets; what is no JSON counts by its type."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in _without_secrets(dict(value), set()).items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return f"{type(value).__module__}.{type(value).__qualname__}"
