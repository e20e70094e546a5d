"""Limits a minute: from the configuration, from what endpoints say in their headers, and learnt from what they refuse."""

from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web

from dokimasia.errors import TransportError
from dokimasia.gateway.pace import GROWTH, SAFETY, Pacing
from dokimasia.gateway.rate_limit_headers import Allowance, listening_for_headers, read_allowance

OPENAI = {
    "x-ratelimit-limit-requests": "500",
    "x-ratelimit-remaining-requests": "499",
    "x-ratelimit-reset-requests": "120ms",
    "x-ratelimit-limit-tokens": "30000",
    "x-ratelimit-remaining-tokens": "15000",
    "x-ratelimit-reset-tokens": "30s",
}


@pytest.mark.parametrize(
    ("headers", "what", "read"),
    [
        (OPENAI, "requests", Allowance(500, 499, 500)),
        (OPENAI, "tokens", Allowance(30000, 15000, 30000)),
        (
            {
                "x-ratelimit-limit-requests": "200",
                "x-ratelimit-remaining-requests": "100",
                "x-ratelimit-reset-requests": "12h0m0s",
            },
            "requests",
            Allowance(200, 100, 100 / 720),
        ),
        (
            {
                "anthropic-ratelimit-requests-limit": "50",
                "anthropic-ratelimit-requests-remaining": "40",
                "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:12Z",
            },
            "requests",
            Allowance(50, 40, 50),
        ),
        (
            {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "60"},
            "requests",
            Allowance(60, 60, 60),
        ),
        ({"x-ratelimit-limit-requests": "60"}, "requests", None),
        ({"x-ratelimit-limit-requests": "many", "x-ratelimit-remaining-requests": "1"}, "requests", None),
        ({"x-ratelimit-limit-requests": "5", "x-ratelimit-remaining-requests": "9"}, "requests", None),
        ({"x-ratelimit-limit-requests": "nan", "x-ratelimit-remaining-requests": "nan"}, "requests", None),
        ({}, "tokens", None),
    ],
)
def test_headers_are_read_in_every_form(headers: dict[str, str], what: str, read: Allowance | None) -> None:
    """Limits, what is left, and durations or moments become a bucket; what makes no sense says nothing."""
    found = read_allowance(headers, what, now=datetime(2026, 1, 1, tzinfo=UTC))
    assert found == (None if read is None else pytest.approx(read))


async def test_a_stated_allowance_is_kept(fake_time: Any) -> None:
    """An endpoint with 2 of 60 requests left gets two at once and then one a second."""
    told: list[tuple[int, str]] = []
    pacing = Pacing(
        rpm=None, tpm=None, clock=fake_time.clock, sleep=fake_time.sleep, on_change=lambda *c: told.append(c)
    )
    await pacing.take(100)
    assert fake_time.now == 0
    pacing.read_headers({"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "2"})
    for _ in range(5):
        await pacing.take(100)
    assert fake_time.now == pytest.approx(3)
    assert told == [(60, "the endpoint takes 60 requests, as its headers say")]
    assert not pacing.counts_tokens


async def test_a_rate_is_learnt_from_a_second_refusal_and_grows_again(fake_time: Any) -> None:
    """120 successes in the last minute before a second refusal become 108 a minute, then more, then no limit."""
    told: list[str] = []
    pacing = Pacing(
        rpm=None,
        tpm=None,
        clock=fake_time.clock,
        sleep=fake_time.sleep,
        on_change=lambda _, reason: told.append(reason),
    )
    for second in range(120):
        fake_time.now = second / 2
        pacing.succeeded()
        if second == 60:
            pacing.refused()
    assert told == []
    pacing.refused()
    assert told == [f"{120 * SAFETY / 59.5 * 60:.0f} requests per minute: refused again (429) with less in flight"]
    before = fake_time.now
    for _ in range(100):
        await pacing.take(1)
    assert 40 < fake_time.now - before < 60
    fake_time.now += 61
    pacing.succeeded()
    assert told[-1] == f"{120 * SAFETY / 59.5 * 60 * GROWTH:.0f} requests per minute: a minute without a refusal"
    for _ in range(8):
        fake_time.now += 61
        pacing.succeeded()
    assert told[-1] == "no refusal for minutes: no limit a minute any more"
    before = fake_time.now
    for _ in range(1000):
        await pacing.take(1)
    assert fake_time.now == before


async def test_refusals_far_apart_teach_nothing(fake_time: Any) -> None:
    """One refusal is the concurrency's affair: no rate is learnt unless another follows within a minute."""
    told: list[str] = []
    pacing = Pacing(
        rpm=None,
        tpm=None,
        clock=fake_time.clock,
        sleep=fake_time.sleep,
        on_change=lambda _, reason: told.append(reason),
    )
    for _ in range(5):
        fake_time.now += 100
        pacing.succeeded()
        pacing.refused()
    assert told == []


async def test_every_transport_hands_on_the_headers(server: Any, send: Any) -> None:
    """On a good day and on a refusal, over LiteLLM and directly, the sender hears what the endpoint states."""
    heard: list[Allowance | None] = []
    limits = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "7"}
    good = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}],
    }
    server.acts = [
        lambda _: web.json_response(good, headers=limits),
        lambda _: web.json_response({"error": {"message": "slow down"}}, status=429, headers=limits),
    ]
    with listening_for_headers(lambda headers: heard.append(read_allowance(headers, "requests"))):
        await send()
        with pytest.raises(TransportError, match="slow down"):
            await send()
    assert heard == [Allowance(60, 7, 60)] * 2


def test_a_reset_in_the_far_future_paces_nobody() -> None:
    """A limit whose reset lies beyond a month is not believed, and is said once."""
    heard: list[str] = []
    pacing = Pacing(rpm=None, tpm=None, on_change=lambda limit, reason: heard.append(reason))
    headers = {
        "x-ratelimit-limit-requests": "1",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "9999-01-01T00:00:00Z",
    }
    for _ in range(3):
        pacing.read_headers(headers)
    assert not pacing.limited
    assert heard == [
        "the endpoint's headers put the reset of its limit of requests more than a month away: they are believed no more"
    ]


def test_a_limit_without_what_is_left_of_it_leaves_later_headers_believed() -> None:
    """Headers that name a limit alone say nothing, and complete ones are heeded afterwards."""
    heard: list[str] = []
    pacing = Pacing(rpm=None, tpm=None, on_change=lambda limit, reason: heard.append(reason))
    pacing.read_headers({"x-ratelimit-limit-requests": "60"})
    assert (pacing.limited, heard) == (False, [])
    pacing.read_headers({"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "7"})
    assert pacing.limited
