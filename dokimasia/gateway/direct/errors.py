"""From a response that is no reply, or an exception of the client, to one `TransportError` without a key in it."""

from collections.abc import Mapping
from http.client import responses
from typing import Any
from urllib.parse import urlsplit

from dokimasia.domain.call import ImageEditReply
from dokimasia.errors import TransportError
from dokimasia.gateway.direct.replies import read_object
from dokimasia.gateway.failures import (
    LONGEST_MESSAGE,
    LONGEST_SAID,
    cut,
    kind_of_body,
    message_of_body,
    retry_after,
    scrub,
    verdict_of_code,
    verdict_of_status,
)
from dokimasia.gateway.image_edits import refusal_of


def of_status(status: int, headers: Mapping[str, str], body: bytes, *, url: str, api_key: str | None) -> TransportError:
    """Return what a response with a status outside of 2xx comes to: status and body are judged together."""
    if 300 <= status < 400:
        return _redirect(status, headers)
    text = body.decode("utf-8", "replace")
    kind, retryable = verdict_of_status(status, text[:LONGEST_SAID])
    message = f"the endpoint answered {status}{_reason(status)}: {_words(text, body, api_key)}".removesuffix(": ")
    if kind == "not_found" and "/v1/" not in urlsplit(url).path:
        message = f"{message} (asked at {url}; is /v1 missing in api_base?)"
    wait = retry_after(headers)
    return TransportError(kind, cut(message, LONGEST_MESSAGE), retryable=retryable, status=status, retry_after=wait)


def of_error_inside(
    error: Any, status: int, headers: Mapping[str, str], body: bytes, *, api_key: str | None
) -> TransportError:
    """Return what an `error` comes to that stands in the body of a reply with a good status."""
    text = body.decode("utf-8", "replace")
    code = error.get("code") if isinstance(error, dict) else None
    kind, retryable = verdict_of_code(code, text[:LONGEST_SAID])
    message = f"the endpoint answered {status} with an error inside: {_words(text, body, api_key)}"
    wait = retry_after(headers)
    return TransportError(kind, cut(message, LONGEST_MESSAGE), retryable=retryable, status=status, retry_after=wait)


def refusal_in(status: int, body: bytes, api_key: str | None) -> ImageEditReply | None:
    """Return the reply of a provider that refuses an image edit for its content policy; None for any other response."""
    error = (read_object(body) or {}).get("error")
    return None if error is None else refusal_of(status, error, api_key)


def of_body(status: int, body: bytes, *, api_key: str | None) -> TransportError:
    """Return what a body comes to that is no JSON object."""
    text = body.decode("utf-8", "replace")
    kind = kind_of_body(text[:LONGEST_SAID])
    return TransportError(kind, message_of_body(kind, text, api_key), retryable=True, status=status)


def of_exception(error: Exception, *, url: str, seconds: float) -> TransportError:
    """Return what an exception of the client comes to: the time is over, or there is no connection (any more)."""
    import aiohttp

    if isinstance(error, TimeoutError):
        return TransportError("timeout", f"no reply within {seconds:g} s", retryable=True)
    place = urlsplit(url).netloc
    if isinstance(error, aiohttp.ClientConnectorError):
        said = error.os_error.strerror or type(error.os_error).__name__
        return TransportError("connection", f"no connection to {place}: {said}"[:LONGEST_MESSAGE], retryable=True)
    if isinstance(error, aiohttp.ClientPayloadError):
        message = f"the connection to {place} broke in the middle of the reply"
    elif isinstance(error, aiohttp.ServerDisconnectedError):
        message = f"{place} closed the connection without a reply"
    else:
        # The class alone: what some of aiohttp's errors say holds the request's headers, and those hold the key.
        message = f"the connection to {place} failed ({type(error).__name__})"
    return TransportError("connection", message, retryable=True)


def _redirect(status: int, headers: Mapping[str, str]) -> TransportError:
    target = urlsplit(headers.get("Location", ""))
    place = f"{target.scheme}://{target.hostname}" if target.scheme and target.hostname else "another address"
    message = (
        f"the endpoint answered {status}: it redirects to {place}, where no call goes; set api_base to what answers"
    )
    return TransportError("unsupported", cut(message, LONGEST_MESSAGE), retryable=False, status=status)


def _words(text: str, body: bytes, api_key: str | None) -> str:
    """Return what the endpoint said of its error, in one line: its message where there is one, else the body."""
    data = read_object(body) or {}
    error = data.get("error") or data
    found = (error.get("message") or error.get("detail")) if isinstance(error, dict) else error
    said = found if isinstance(found, str) else text
    return " ".join(scrub(said, api_key).split())


def _reason(status: int) -> str:
    return f" ({responses[status]})" if status in responses else ""
