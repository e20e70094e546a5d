"""What a response's headers ask to wait, and what counts as a key in a message."""

import pytest

from dokimasia.gateway.failures import retry_after, scrub
from dokimasia.gateway.litellm.errors import classify

NOON = 1_767_182_400.0  # Wed, 31 Dec 2025 12:00:00 GMT


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "3", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Wed, 31 Dec 2025 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 31 Dec 2025 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_asked_wait_is_read_from_seconds_milliseconds_and_dates(headers: dict[str, str], seconds: float | None) -> None:
    """Each form of `Retry-After` comes out in seconds; what cannot be read asks nothing."""
    assert retry_after(headers, now=NOON) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcdef123456",
        "Bearer abc.def",
        "?key=abcdef&x",
        "AIzaSyA1234567890",
        "API key: deadbeef99",
        "gsk_12345678",
    ],
)
def test_what_looks_like_a_key_is_scrubbed(text: str) -> None:
    """Keys of the usual forms are taken out even when nobody knows them."""
    secret = text.replace("API key:", "").replace("Bearer", "").replace("?key=", "").removesuffix("&x").strip()
    assert secret not in scrub(f"wrong {text} here")


@pytest.mark.parametrize(
    "text", ["rate_limit_exceeded", "api_connection failed", "the token_limit is 5", "risk-taking"]
)
def test_ordinary_words_are_left(text: str) -> None:
    """Words that merely contain the beginnings of keys stay readable."""
    assert scrub(text) == text


@pytest.mark.parametrize("text", ["Missing credentials. Please pass an `api_key`", "Missing Gemini API key. Set it."])
def test_missing_key_is_an_authentication_failure(text: str) -> None:
    """A provider that LiteLLM cannot call for want of a key fails as `auth`, and trying again cannot help."""
    failure = classify(RuntimeError(text), api_key=None)
    assert (failure.kind, failure.retryable) == ("auth", False)


def test_unheard_of_error_may_be_tried_again_and_names_its_class() -> None:
    """An exception of no known class is `unknown`, may be retried within bounds, and is named where it says nothing."""
    failure = classify(ArithmeticError(), api_key=None)
    assert (failure.kind, failure.retryable, failure.status, str(failure)) == ("unknown", True, None, "ArithmeticError")
