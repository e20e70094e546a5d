"""An endpoint's remaining requests and tokens, as stated in the headers of its replies."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import NamedTuple

LONGEST_RESET = 31 * 86_400.0
"""Seconds. No limit spans more than a month, so a header with a longer time is unreliable."""

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")


class Allowance(NamedTuple):
    """The allowance of an endpoint: at most `limit` at once, `remaining` of it now, with an inflow of `per_minute`."""

    limit: float
    remaining: float
    per_minute: float


HeaderListener = Callable[[Mapping[str, str]], None]

_listener: ContextVar[HeaderListener | None] = ContextVar("dokimasia_rate_limit_listener", default=None)


def report_headers(headers: Mapping[str, str]) -> None:
    """Pass the headers of a reply, or of a refusal, to the sender of the request; called by transports.

    Args:
        headers: by name, in any case if the mapping accepts that, else lower case.
    """
    listener = _listener.get()
    if listener is not None:
        listener(headers)


@contextmanager
def listening_for_headers(listener: HeaderListener) -> Iterator[None]:
    """Call the listener with the headers of replies to requests sent within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def read_allowance(headers: Mapping[str, str], unit: str, *, now: datetime | None = None) -> Allowance | None:
    """Return the allowance of `requests` or `tokens` in the headers; None if they state nothing reliable.

    It reads the formats of OpenAI (`x-ratelimit-limit-requests`, `-remaining-`, `-reset-`; also used by vLLM's
    gateways, Groq, Mistral and others) and of Anthropic (`anthropic-ratelimit-requests-limit` ...). The rate is the
    missing amount over the time until it is restored, so that a daily limit is not mistaken for one per minute; without
    a time, the limit is per minute. A time of more than a month is unreliable.
    """
    limit, remaining = _stated(headers, unit, "limit"), _stated(headers, unit, "remaining")
    if limit is None or remaining is None:
        return None
    maximum, remainder = _number(limit), _number(remaining)
    if maximum is None or remainder is None or maximum < 1 or not 0 <= remainder <= maximum:
        return None
    seconds = _until_reset(headers, unit, now)
    if seconds is not None and seconds > LONGEST_RESET:
        return None
    used = maximum - remainder
    per_minute = used / seconds * 60 if seconds and used else maximum
    return Allowance(maximum, remainder, per_minute)


def resets_too_late(headers: Mapping[str, str], unit: str, *, now: datetime | None = None) -> bool:
    """Return whether the headers put the reset of `requests` or `tokens` more than a month away."""
    seconds = _until_reset(headers, unit, now)
    return seconds is not None and seconds > LONGEST_RESET


def _until_reset(headers: Mapping[str, str], unit: str, now: datetime | None) -> float | None:
    reset = _stated(headers, unit, "reset")
    if reset is None:
        return None
    return _seconds(reset, now or datetime.now(UTC))


def _stated(headers: Mapping[str, str], unit: str, part: str) -> str | None:
    return headers.get(f"x-ratelimit-{part}-{unit}") or headers.get(f"anthropic-ratelimit-{unit}-{part}")


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if math.isfinite(number):
        return number
    return None


def _seconds(text: str, now: datetime) -> float | None:
    """Return the seconds in `6m0s`, `12ms`, `1d2h`, a number of seconds, or a moment in ISO form."""
    text = text.strip()
    read = _number(text)
    if read is None:
        match = _DURATION.fullmatch(text)
        read = _of_moment(text, now) if match is None or not any(match.groups()) else _of_duration(match)
    if read is not None and read > 0:
        return read
    return None


def _of_duration(match: re.Match[str]) -> float:
    days, hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return days * 86400 + hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _of_moment(text: str, now: datetime) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return None
        return (moment - now).total_seconds()
    except (ValueError, OverflowError):  # a moment near year 1 or 9999 in another zone
        return None
