"""What an endpoint says, in the headers of its replies, of how many requests and tokens it still takes."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import NamedTuple

LONGEST_RESET = 31 * 86_400.0
"""Seconds: no limit is by more than a month. A header that names more names no time that could be relied on."""

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")


class Allowance(NamedTuple):
    """How much an endpoint takes: at most `limit` at once, `remaining` of it now, and `per_minute` flowing back in."""

    limit: float
    remaining: float
    per_minute: float


HeaderListener = Callable[[Mapping[str, str]], None]

_listener: ContextVar[HeaderListener | None] = ContextVar("dokimasia_rate_limit_listener", default=None)


def report_headers(headers: Mapping[str, str]) -> None:
    """Hand the headers of a reply, or of a refusal, to whoever sent the request; called by transports.

    Args:
        headers: by name, any case where the mapping takes any, else lower case.
    """
    listener = _listener.get()
    if listener is not None:
        listener(headers)


@contextmanager
def listening_for_headers(listener: HeaderListener) -> Iterator[None]:
    """Have the listener told the headers of what is sent in here."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def read_allowance(headers: Mapping[str, str], unit: str, *, now: datetime | None = None) -> Allowance | None:
    """Return what the headers say of `requests` or `tokens`; None where they say nothing that can be relied on.

    Read are the forms of OpenAI (`x-ratelimit-limit-requests`, `-remaining-`, `-reset-`; also vLLM's gateways, Groq,
    Mistral and others that took them over) and of Anthropic (`anthropic-ratelimit-requests-limit` ...). The rate comes
    from what is missing and the time until it is back, so that a limit a day is not taken for one a minute; where no
    time is given the limit is one a minute. A time of more than a month is none that could be relied on.
    """
    limit, remaining = _stated(headers, unit, "limit"), _stated(headers, unit, "remaining")
    if limit is None or remaining is None:
        return None
    maximum, left = _number(limit), _number(remaining)
    if maximum is None or left is None or maximum < 1 or not 0 <= left <= maximum:
        return None
    seconds = _until_reset(headers, unit, now)
    if seconds is not None and seconds > LONGEST_RESET:
        return None
    used = maximum - left
    per_minute = used / seconds * 60 if seconds and used else maximum
    return Allowance(maximum, left, per_minute)


def resets_too_late(headers: Mapping[str, str], unit: str, *, now: datetime | None = None) -> bool:
    """Return whether the headers put the reset of `requests` or `tokens` more than a month away."""
    seconds = _until_reset(headers, unit, now)
    return seconds is not None and seconds > LONGEST_RESET


def _until_reset(headers: Mapping[str, str], unit: str, now: datetime | None) -> float | None:
    reset = _stated(headers, unit, "reset")
    return None if reset is None else _seconds(reset, now or datetime.now(UTC))


def _stated(headers: Mapping[str, str], unit: str, part: str) -> str | None:
    return headers.get(f"x-ratelimit-{part}-{unit}") or headers.get(f"anthropic-ratelimit-{unit}-{part}")


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _seconds(text: str, now: datetime) -> float | None:
    """Read `6m0s`, `12ms`, `1d2h`, a number of seconds, or a moment in ISO form."""
    text = text.strip()
    read = _number(text)
    if read is None:
        match = _DURATION.fullmatch(text)
        read = _of_moment(text, now) if match is None or not any(match.groups()) else _of_duration(match)
    return read if read is not None and read > 0 else None


def _of_duration(match: re.Match[str]) -> float:
    days, hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return days * 86400 + hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _of_moment(text: str, now: datetime) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
        return None if moment.tzinfo is None else (moment - now).total_seconds()
    except (ValueError, OverflowError):  # a moment beside year 1 or 9999 in another zone
        return None
