"""From what LiteLLM raised to one `TransportError`: by exception class, true HTTP status and cause together.

LiteLLM's own status cannot be trusted alone: it calls a reset connection, an empty body and HTML with status 200 a 500,
and any error whose text speaks of a rate limit a 429, even a bad request that quotes the prompt. The true status is the
one of the HTTP response at the root of the exception's chain; where there was no such response, the root's class tells
what happened.
"""

import email.utils
import json
import re
import time
from collections.abc import Iterator
from typing import Any

from dokimasia.errors import AttemptKind, TransportError

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
)
_LITELLM_PREFIX = re.compile(r"^(?:litellm\.\w+:\s*|\w+(?:Error|Exception)\s*(?::|-)\s*)+")
_NOT_AN_OBJECT = re.compile(r"(?s)invalid response from LLM endpoint\. Received:\s*(.*)")
_OVERFLOW_STATUSES = frozenset((400, 413, 422))
_NO_KEY = re.compile(r"(?i)\bmissing (?:[\w-]+ ){0,3}(?:api key|credentials)|no api key")
_LONGEST_MESSAGE = 300
_LONGEST_SAID = 4000

_BY_NAME: dict[str, tuple[AttemptKind, bool]] = {
    "ContextWindowExceededError": ("context_overflow", False),
    "AuthenticationError": ("auth", False),
    "PermissionDeniedError": ("auth", False),
    "NotFoundError": ("not_found", False),
    "UnsupportedParamsError": ("unsupported", False),
    "ImportError": ("unsupported", False),
    "ModuleNotFoundError": ("unsupported", False),
    "RateLimitError": ("rate_limit", True),
    "Timeout": ("timeout", True),
    "BadRequestError": ("bad_request", False),
    "UnprocessableEntityError": ("bad_request", False),
    "ServiceUnavailableError": ("server_error", True),
    "BadGatewayError": ("server_error", True),
    "InternalServerError": ("server_error", True),
}
"""Kind and retry by the name of a LiteLLM class or one of its bases, for errors without a response."""

_CODES: dict[str, tuple[AttemptKind, bool]] = {
    "rate_limit_exceeded": ("rate_limit", True),
    "insufficient_quota": ("rate_limit", False),
    "context_length_exceeded": ("context_overflow", False),
    "invalid_api_key": ("auth", False),
    "model_not_found": ("not_found", False),
}


def classify(error: BaseException, *, api_key: str | None) -> TransportError:
    """Return what a failed LiteLLM call comes to, with a message that holds no key.

    Args:
        error: what `acompletion` or `aembedding` raised.
        api_key: the key that was sent, taken out of the message literally.
    """
    chain = list(_chain(error))
    response = _response(chain)
    status = None if response is None else int(response.status_code)
    kind, retryable = _by_cause(chain) if status is None else _by_status(status, chain)
    shown = status if status is not None else 200 if kind in ("empty_body", "not_json", "broken_envelope") else None
    return TransportError(
        kind,
        _message(chain, kind, api_key),
        retryable=retryable,
        status=shown,
        retry_after=None if response is None else retry_after(response.headers),
    )


def retry_after(headers: Any, *, now: float | None = None) -> float | None:
    """Return the seconds that a response's headers ask to wait: `Retry-After` in seconds or as a date, or the
    `retry-after-ms` that some endpoints send; None if they ask nothing readable."""
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
    except (TypeError, ValueError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))


def scrub(text: str, api_key: str | None = None) -> str:
    """Return the text without the given key and without anything that looks like one."""
    if api_key:
        text = text.replace(api_key, "[key]")
    return _KEY_LIKE.sub("[key]", text)


def _chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    for _ in range(20):
        if current is None:
            return
        yield current
        current = current.__cause__ or current.__context__


def _response(chain: list[BaseException]) -> Any:
    """Return the HTTP response that the endpoint really gave: that of the error that httpx raised for its status."""
    for error in reversed(chain):
        if any(
            base.__name__ == "HTTPStatusError" and base.__module__.startswith("httpx") for base in type(error).__mro__
        ):
            return getattr(error, "response", None)
    return None


def _by_status(status: int, chain: list[BaseException]) -> tuple[AttemptKind, bool]:
    text = _said(chain)
    if status in (400, 500) and _is(chain[0], "ContextWindowExceededError"):
        return "context_overflow", False
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


def _by_cause(chain: list[BaseException]) -> tuple[AttemptKind, bool]:
    """Classify an error behind which stands no error status: connection, time, or a body that cannot be read."""
    if any(_is(each, "Timeout", "TimeoutException", "APITimeoutError", "TimeoutError") for each in chain):
        return "timeout", True
    body = _unreadable_body(chain)
    if body is not None:
        return _kind_of_body(body), True
    for each in chain:
        # LiteLLM raises a plain Exception with a status set on it for an error that it finds inside a reply.
        if type(each) is Exception and (code := getattr(each, "status_code", None)) is not None:
            return _error_in_body(code, chain)
    text = _said(chain)
    if _NO_KEY.search(text):
        return "auth", False
    if any(_is(each, "TransportError", "ClientError", "OSError") for each in chain if not _is(each, "ImportError")):
        return "connection", True
    if "provider returned 'choices'" in text:
        return ("empty_choices" if "(NoneType)" in text else "broken_envelope"), True
    if "Invalid response object" in text or any(_is(each, "ValidationError", "KeyError") for each in chain):
        return "broken_envelope", True
    for each in chain:
        for base in type(each).__mro__:
            if base.__name__ in _BY_NAME:
                return _BY_NAME[base.__name__]
    return ("connection", True) if _is(chain[0], "APIConnectionError") else ("unknown", True)


def _said(chain: list[BaseException]) -> str:
    """Return the beginnings of what all errors of the chain say: LiteLLM's own leaves out the endpoint's error code."""
    return "\n".join(str(error)[:_LONGEST_SAID] for error in chain)


def _unreadable_body(chain: list[BaseException]) -> str | None:
    """Return the body that was no JSON or no object, or its beginning; None if the failure is another one."""
    for error in chain:
        if isinstance(error, json.JSONDecodeError):
            return error.doc
    refused = _NOT_AN_OBJECT.search(str(chain[0]))
    return None if refused is None else refused[1].strip("'\"")


def _kind_of_body(body: str) -> AttemptKind:
    body = body.lstrip()
    if not body:
        return "empty_body"
    return "broken_envelope" if body[0] in "{[" else "not_json"


def _error_in_body(code: object, chain: list[BaseException]) -> tuple[AttemptKind, bool]:
    """Classify an error that the endpoint wrote into the body of a reply with status 200."""
    if isinstance(code, str) and not code.isdigit():
        return _CODES.get(code, ("server_error", True))
    number = int(code) if isinstance(code, int | str) else 0
    return _by_status(number, chain) if 400 <= number < 600 and number != 422 else ("server_error", True)


def _is(error: BaseException, *names: str) -> bool:
    return any(base.__name__ in names for base in type(error).__mro__)


def _message(chain: list[BaseException], kind: AttemptKind, api_key: str | None) -> str:
    fixed = {
        "empty_body": "the endpoint returned an empty body",
        "empty_choices": "the endpoint returned no choices",
        "broken_envelope": "the endpoint returned a reply that is cut off or not in the expected form",
    }.get(kind)
    if fixed is not None:
        return fixed
    if kind == "not_json":
        body = scrub((_unreadable_body(chain) or "")[:_LONGEST_SAID], api_key)
        return f"the endpoint returned something that is not JSON: {' '.join(body.split())[:80]}"
    text = scrub(str(chain[0])[:_LONGEST_SAID], api_key)
    line = " ".join(text.split("Traceback (most recent call last)")[0].split())
    return _LITELLM_PREFIX.sub("", line)[:_LONGEST_MESSAGE] or type(chain[0]).__name__
