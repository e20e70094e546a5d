"""What reads a role's reply, kept as text beside a question to a person, who can so be told at once whether the reply will do."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, cast

import orjson

from dokimasia.domain.identity import canonical_json
from dokimasia.errors import UnparsableReply

_OURS = "dokimasia."
"""Only functions of this package are called by a name that lies in a home."""


def kept_reader(parse: Callable[[str], Any] | None) -> str:
    """Return a role's reader as text: a function of this package with plain arguments; empty for any other."""
    try:
        return "" if parse is None else canonical_json(_kept(parse)).decode()
    except ValueError:
        return ""


def faults_of(reader: str, text: str) -> str:
    """Return what is wrong with a reply as its role would read it; empty where it will do, or where only the run can say.

    Examples:
        >>> from dokimasia.parsing.verdicts import parse_equivalence
        >>> reader = kept_reader(parse_equivalence)
        >>> faults_of(reader, "verdict: [same]"), bool(faults_of(reader, "perhaps")), faults_of("", "perhaps")
        ('', True, '')
    """
    if not text.strip():
        return "the reply is empty"
    read: Callable[[str], Any] | None = _loaded(orjson.loads(reader)) if reader else None
    try:
        if read is not None:
            read(text)
    except UnparsableReply as problem:
        return problem.reason
    return ""


def _kept(value: Any) -> Any:
    """Return a value as JSON: what JSON has no form for as an object with one name, which says what it is."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, partial):
        made = cast("partial[Any]", value)
        return {"call": _kept(made.func), "args": _kept(list(made.args)), "named": _kept(dict(made.keywords))}
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value)
        return {"map": [[_kept(key), _kept(one)] for key, one in pairs.items()]}
    if isinstance(value, set | frozenset):
        return {"set": sorted((_kept(one) for one in cast("set[Any]", value)), key=canonical_json)}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return {
            "list": [_kept(one) for one in cast("Sequence[Any]", value)],
            "of": type(cast("object", value)).__name__,
        }
    module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
    if callable(value) and module.startswith(_OURS) and name.isidentifier():
        return {"function": f"{module}:{name}"}
    raise ValueError(f"{type(value).__name__} cannot be kept")


def _loaded(kept: Any) -> Any:
    """Return what `_kept` was given; a list for a list, a tuple for every other sequence."""
    if not isinstance(kept, dict):
        return kept
    found = cast("dict[str, Any]", kept)
    if "function" in found:
        module, _, name = str(found["function"]).partition(":")
        if not module.startswith(_OURS):
            raise ValueError(f"{module} is no module of this package")
        return getattr(import_module(module), name)
    if "call" in found:
        return partial(_loaded(found["call"]), *_loaded(found["args"]), **_loaded(found["named"]))
    if "map" in found:
        return {_loaded(key): _loaded(one) for key, one in found["map"]}
    if "set" in found:
        return frozenset(_loaded(one) for one in found["set"])
    items = [_loaded(one) for one in found["list"]]
    return items if found["of"] == "list" else tuple(items)
