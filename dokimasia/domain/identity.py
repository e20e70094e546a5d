"""Content identity: all values are hashed in one way, so that equal content has equal ids everywhere."""

import hashlib
import re
from typing import Any, ClassVar

import orjson
from pydantic import BaseModel, ConfigDict

ID_LENGTH = 32
"""The number of hexadecimal digits of an id: 128 bits of SHA-256."""

_DIGITS = re.compile(r"[0-9]+")
_WIDTH = 20

JsonObject = dict[str, Any]
"""A JSON object with arbitrary fields, such as the body of a request or a reply, or the details of an event."""


class Value(BaseModel):
    """Base of every domain type: frozen, closed to unknown fields, equal by content."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")

    stored_as: ClassVar[str] = ""
    """The stored type name of values, if it differs from the class's: a renamed class still reads old homes."""

    @classmethod
    def stored_name(cls) -> str:
        """Return the type name used in the ids of this type's values and in storage."""
        return cls.__dict__.get("stored_as") or cls.__name__


def canonical_json(value: Any) -> bytes:
    """Return the canonical JSON bytes of a plain value: sorted keys, no spaces, UTF-8.

    Raises:
        TypeError: the value contains something that JSON cannot represent.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest(tag: str, value: Any) -> str:
    """Return the id (32 hexadecimal digits) of a plain value under a tag for its kind and version.

    The tag distinguishes values of different kinds with the same content.
    """
    return hashlib.sha256(tag.encode() + b"\0" + canonical_json(value)).hexdigest()[:ID_LENGTH]


def value_id(value: Value) -> str:
    """Return the content id of a domain value: over its type name and all fields."""
    return digest(value.stored_name(), value.model_dump(mode="json"))


def unit_interval(*parts: str | int) -> float:
    """Return a reproducible draw in [0, 1) from its parts: equal parts give equal draws on any machine."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big") / (1 << 56)


def natural_order(text: str) -> str:
    """Return a sort key for names in which numbers are ordered by value.

    Examples:
        >>> sorted(["q10", "q9", "2", "10"], key=natural_order)
        ['2', '10', 'q9', 'q10']
    """
    return _DIGITS.sub(lambda digits: digits[0].zfill(_WIDTH), text)
