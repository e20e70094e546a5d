"""Classification of endpoint failures by status, code and message, for all transports; all texts are free of keys."""

import email.utils
import re
import time
from collections.abc import Mapping
from functools import lru_cache

from dokimasia.errors import AttemptKind, TransportError
from dokimasia.log import RespelledSecrets, forms_of

Verdict = tuple[AttemptKind, bool]
"""A failure's kind, and whether the same request may succeed later."""

_KEY_LIKE = re.compile(
    r"""(?ix)
    \b(?:sk|pk|rk|gsk|xai|hf)[-_][A-Za-z0-9_\-*.]{6,}   # prefixed keys, masked ones too
    | \bAIza[A-Za-z0-9_\-]{10,}
    | (?<=bearer\s)\S+
    | (?<=key=)[^\s&"']+
    | (?<=key:\s)[A-Za-z0-9_\-*.]{8,}
    | (?<=provided:\s)[A-Za-z0-9_\-*.]{4,}
    """
)
_OVERFLOW = re.compile(
    r"(?i)context_length_exceeded|maximum context length|prompt is too long|context window|available context size"
    r"|exceeds the maximum number of tokens|exceed context limit|too many (?:input )?tokens|input is too long"
    r"|exceed_context_size|longer than the (?:maximum model length|model's context length)|loaded with context length"
)
_OVERFLOW_STATUSES = frozenset((400, 413, 422, 500))

_CODES: dict[str, Verdict] = {
    "rate_limit_exceeded": ("rate_limit", True),
    "insufficient_quota": ("rate_limit", False),
    "context_length_exceeded": ("context_overflow", False),
    "invalid_api_key": ("auth", False),
    "model_not_found": ("not_found", False),
}

BODY_MESSAGES: dict[AttemptKind, str] = {
    "empty_body": "the endpoint returned an empty body",
    "empty_choices": "the endpoint returned no choices",
    "broken_envelope": "the endpoint returned a reply that is cut off or not in the expected form",
}
"""Messages about an unusable body; for one that is not JSON, `message_of_body` shows the beginning."""

MAX_REPLY_BYTES = 32 * 1024 * 1024
"""The maximum size of a decoded reply; a longer one is cut off and rejected."""

LONGEST_SAID = 4000
"""The number of characters of an endpoint's message that are examined."""

LONGEST_MESSAGE = 300
"""The maximum number of characters of a failure's message."""


def broken(kind: AttemptKind = "broken_envelope") -> TransportError:
    """Return the failure for a reply with status 200 and an unusable envelope."""
    return TransportError(kind, BODY_MESSAGES[kind], retryable=True, status=200)


def too_long(most: int, status: int) -> TransportError:
    """Return the failure for a reply longer than `most` bytes."""
    message = f"the endpoint's reply is longer than {most} bytes"
    return TransportError("broken_envelope", message, retryable=False, status=status)


def verdict_of_status(status: int, text: str) -> Verdict:
    """Return the kind of failure for an HTTP error status and the endpoint's message (the beginning of its body)."""
    if status in _OVERFLOW_STATUSES and _OVERFLOW.search(text):
        return "context_overflow", False
    if status == 429:
        return "rate_limit", "insufficient_quota" not in text
    if status == 408:
        return "timeout", True
    if status in (409, 425) or status >= 500:
        return "server_error", True
    if status in (401, 402, 403):
        return "auth", False
    if status == 404:
        return "not_found", False
    return "bad_request", False


def verdict_of_code(code: object, text: str) -> Verdict:
    """Return the kind of failure for an error in the body of a reply with status 200.

    Args:
        code: the error's `code`: an HTTP status, a word, or None.
        text: the endpoint's message.
    """
    if isinstance(code, str) and not code.isdecimal():
        return _CODES.get(code, ("server_error", True))
    number = int(code) if isinstance(code, int) or (isinstance(code, str) and len(code) == 3) else 0
    if 400 <= number < 600 and number != 422:
        return verdict_of_status(number, text)
    return ("server_error", True)


def kind_of_body(body: str) -> AttemptKind:
    """Return the kind of an unreadable body: empty, truncated JSON, JSON of another form, or neither."""
    body = body.lstrip()
    if not body:
        return "empty_body"
    if body[0] in "{[":
        return "broken_envelope"
    return "not_json"


def message_of_body(kind: AttemptKind, body: str, api_key: str | None) -> str:
    """Return the message for an unreadable body; includes the beginning of a body that is not JSON."""
    if kind in BODY_MESSAGES:
        return BODY_MESSAGES[kind]
    text = " ".join(scrub(body, api_key).split())
    return f"the endpoint returned something that is not JSON: {text[:80]}"


def cut(text: str, most: int) -> str:
    """Return a message shortened to a number of characters, between words if it has a space.

    Examples:
        >>> cut("one two three", 10), cut("one two", 10)
        ('one two…', 'one two')
    """
    if len(text) <= most:
        return text
    head = text[: most - 1]
    space = head.rfind(" ")
    return f"{head[:space] if space > most // 2 else head}…".replace(",…", ", …")


def retry_after(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """Return the wait in seconds that a response's headers request: `Retry-After` in seconds or as a date, or the
    `retry-after-ms` of some endpoints; None if there is nothing readable.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        moment = email.utils.parsedate_to_datetime(headers.get("retry-after") or "").timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))


@lru_cache(maxsize=64)
def _forms(api_key: str | None) -> tuple[str, ...]:
    if api_key:
        return tuple(sorted(forms_of(api_key), key=len, reverse=True))
    return ()


@lru_cache(maxsize=64)
def _respelled(api_key: str) -> RespelledSecrets:
    return RespelledSecrets([api_key])


def scrub(text: str, api_key: str | None = None) -> str:
    """Return the beginning of a text without the key in any of its forms and without anything that looks like a key.

    The key is removed before the text is shortened, since half a key would not be recognised.
    """
    for form in _forms(api_key):
        text = text.replace(form, "[key]")
    if api_key:
        text = _respelled(api_key).replaced(text, "[key]")
    return _KEY_LIKE.sub("[key]", text[:LONGEST_SAID])
