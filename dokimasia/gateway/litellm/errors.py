"""Conversion of LiteLLM's exceptions to one `TransportError`: by exception class, true HTTP status and cause together.

LiteLLM's own status cannot be trusted alone: it reports a reset connection, an empty body and HTML with status 200 as a
500, and any error whose text mentions a rate limit as a 429, even a bad request that quotes the prompt. The true status
is that of the HTTP response at the root of the exception's chain; without such a response, the root's class identifies
the failure. The outcome of a response in the OpenAI format, or of one that is not JSON, is known without LiteLLM
(`received.py`).
"""

import re
from collections.abc import Iterator
from typing import Any

from dokimasia.domain.call import ImageEditReply
from dokimasia.errors import AttemptKind, TransportError
from dokimasia.gateway.failures import (
    BODY_MESSAGES,
    LONGEST_MESSAGE,
    LONGEST_SAID,
    Verdict,
    cut,
    retry_after,
    scrub,
    verdict_of_status,
)

_LITELLM_PREFIX = re.compile(r"^(?:litellm\.\w+:\s*|\w+(?:Error|Exception)\s*(?::|-)\s*)+")
_NO_KEY = re.compile(r"(?i)\bmissing (?:[\w-]+ ){0,3}(?:api key|credentials)|no api key")

_NO_EDITS = re.compile(r"(?i)image edit is not supported")

_BY_NAME: dict[str, Verdict] = {
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


def classify(error: BaseException, *, api_key: str | None) -> TransportError:
    """Return the failure of a LiteLLM call, with a message that contains no key.

    Args:
        error: the exception of `acompletion` or `aembedding`.
        api_key: the key that was sent, removed literally from the message.
    """
    chain = list(_chain(error))
    response = _response(chain)
    status = None if response is None else int(response.status_code)
    kind, retryable = _by_cause(chain) if status is None else _by_status(status, chain)
    if status is None and kind in BODY_MESSAGES:
        status = 200
    return TransportError(
        kind,
        _message(chain, kind, api_key),
        retryable=retryable,
        status=status,
        retry_after=None if response is None else retry_after(response.headers),
    )


def refusal(error: BaseException, *, api_key: str | None) -> ImageEditReply | None:
    """Return an error as the provider's refusal to edit an image; None for any other error."""
    chain = list(_chain(error))
    if not any(_is(error_, "ContentPolicyViolationError") for error_ in chain):
        return None
    return ImageEditReply(refusal=_message(chain, "bad_request", api_key))


def _chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    for _ in range(20):
        if current is None:
            return
        yield current
        current = current.__cause__ or current.__context__


def _response(chain: list[BaseException]) -> Any:
    """Return the endpoint's actual HTTP response: that of the error that httpx raised for its status."""
    for error in reversed(chain):
        if any(
            base.__name__ == "HTTPStatusError" and base.__module__.startswith("httpx") for base in type(error).__mro__
        ):
            return getattr(error, "response", None)
    return None


def _by_status(status: int, chain: list[BaseException]) -> Verdict:
    if status in (400, 500) and _is(chain[0], "ContextWindowExceededError"):
        return "context_overflow", False
    return verdict_of_status(status, _full_message(chain))


def _by_cause(chain: list[BaseException]) -> Verdict:
    """Classify an error without an error status at its root: no connection, a timeout, or a body of another form."""
    if any(_is(cause, "Timeout", "TimeoutException", "APITimeoutError", "TimeoutError") for cause in chain):
        return "timeout", True
    text = _full_message(chain)
    if _NO_EDITS.search(text):
        return "unsupported", False
    if _NO_KEY.search(text):
        return "auth", False
    if any(_is(cause, "TransportError", "ClientError", "OSError") for cause in chain if not _is(cause, "ImportError")):
        return "connection", True
    if "returned a response with no 'choices'" in text or "provider returned 'choices'" in text:
        return "empty_choices", True
    if "Invalid response object" in text or any(_is(cause, "ValidationError", "KeyError") for cause in chain):
        return "broken_envelope", True
    for each in chain:
        for base in type(each).__mro__:
            if base.__name__ in _BY_NAME:
                return _BY_NAME[base.__name__]
    if _is(chain[0], "APIConnectionError"):
        return ("connection", True)
    return ("unknown", True)


def _full_message(chain: list[BaseException]) -> str:
    """Return the beginnings of the messages of all errors in the chain: LiteLLM's own omits the
    endpoint's error code.
    """
    return "\n".join(str(error)[:LONGEST_SAID] for error in chain)


def _is(error: BaseException, *names: str) -> bool:
    return any(base.__name__ in names for base in type(error).__mro__)


def _message(chain: list[BaseException], kind: AttemptKind, api_key: str | None) -> str:
    if kind in BODY_MESSAGES:
        return BODY_MESSAGES[kind]
    text = scrub(str(chain[0]), api_key)
    line = " ".join(text.split("Traceback (most recent call last)")[0].split())
    return cut(_LITELLM_PREFIX.sub("", line), LONGEST_MESSAGE) or type(chain[0]).__name__
