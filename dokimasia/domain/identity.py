"""Content identity: the one way in which values become hashes, so that equal content has equal ids everywhere."""

import hashlib
from typing import Any, ClassVar

import orjson
from pydantic import BaseModel, ConfigDict

ID_LENGTH = 32
"""Hexadecimal digits of an id: 128 bits of SHA-256."""


class Value(BaseModel):
    """Base of every domain type: frozen, closed to unknown fields, equal by content."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")

    stored_as: ClassVar[str] = ""
    """The name that values are stored under where it differs from the class's: a renamed class keeps reading old homes."""

    @classmethod
    def stored_name(cls) -> str:
        """Return the name that enters the ids of this type's values and stands beside them in storage."""
        return cls.__dict__.get("stored_as") or cls.__name__


def canonical_json(value: Any) -> bytes:
    """Return the canonical JSON bytes of a plain value: sorted keys, no spaces, UTF-8.

    Raises:
        TypeError: if the value holds something that JSON has no form for.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest(tag: str, value: Any) -> str:
    """Return the id (32 hexadecimal digits) of a plain value under a tag that names its kind and version.

    The tag keeps values of different kinds apart even when their content is the same.
    """
    return hashlib.sha256(tag.encode() + b"\0" + canonical_json(value)).hexdigest()[:ID_LENGTH]


def value_id(value: Value) -> str:
    """Return the content id of a domain value: its type's name and all of its fields."""
    return digest(value.stored_name(), value.model_dump(mode="json"))


def unit_interval(*parts: str | int) -> float:
    """Return a reproducible draw in [0, 1) from its parts: equal parts, equal draw, on any machine."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big") / (1 << 56)
