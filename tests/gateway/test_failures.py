"""What a response's headers ask to wait, what counts as a key in a message, and what a status or a code comes to."""

from typing import Any

import pytest

from dokimasia.gateway.failures import cut, kind_of_body, retry_after, scrub, verdict_of_code, verdict_of_status

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


def test_cut_leaves_no_half_of_a_key() -> None:
    """A key that stands where a long text is cut is taken out whole, whatever it looks like."""
    assert "plain" not in scrub("x" * 3997 + "plainsecret", "plainsecret")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (None, ("server_error", True)),
        (502, ("server_error", True)),
        ("429", ("rate_limit", True)),
        ("rate_limit_exceeded", ("rate_limit", True)),
        ("insufficient_quota", ("rate_limit", False)),
        ("invalid_api_key", ("auth", False)),
        ("anything", ("server_error", True)),
        ("²", ("server_error", True)),
        (7, ("server_error", True)),
        ([1], ("server_error", True)),
    ],
)
def test_code_inside_a_body_is_a_status_or_a_word(code: Any, expected: tuple[str, bool]) -> None:
    """An error inside a reply is judged by its code; one without a readable code is the server's and may pass."""
    assert verdict_of_code(code, "") == expected


def test_status_and_words_are_judged_together() -> None:
    """The same status is another failure with other words: too long, out of money, or only unlucky."""
    assert verdict_of_status(400, "no") == ("bad_request", False)
    assert verdict_of_status(400, "prompt is too long") == ("context_overflow", False)
    assert verdict_of_status(503, "prompt is too long") == ("server_error", True)
    assert verdict_of_status(429, "insufficient_quota") == ("rate_limit", False)


@pytest.mark.parametrize(
    ("body", "kind"), [("", "empty_body"), (" \n", "empty_body"), ('{"a', "broken_envelope"), ("<p>", "not_json")]
)
def test_unreadable_body_is_empty_cut_or_something_else(body: str, kind: str) -> None:
    """A body that is no JSON object tells by its beginning what became of it."""
    assert kind_of_body(body) == kind


def test_a_long_message_is_cut_between_words() -> None:
    """No word is cut in the middle; what has no space is cut where it has to be."""
    assert cut("there is no model sim/nobody; near: sim/judge-vague", 45) == "there is no model sim/nobody; near:…"
    assert cut("x" * 50, 10) == f"{'x' * 9}…"
    assert cut("short", 10) == "short"
