"""The retry policy as arithmetic."""

import random

import pytest

from dokimasia.errors import AttemptKind, TransportError
from dokimasia.gateway.retry import RetryPolicy

pytestmark = pytest.mark.quick


def failed(kind: AttemptKind = "server_error", retry_after: float | None = None) -> TransportError:
    """A failure that a retry may get over."""
    return TransportError(kind, "x", retryable=True, retry_after=retry_after)


def test_backoff_doubles_within_full_jitter() -> None:
    """After n failures the wait is anywhere from 0 to base times 2^(n-1), never above the longest."""
    policy, rng = RetryPolicy(base=1, longest=10), random.Random(1)
    for tries, bound in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (60, 10)):
        delays = [policy.delay(tries, failed(), rng) for _ in range(400)]
        assert 0 <= min(delays) < 0.1 * bound
        assert 0.9 * bound < max(delays) <= bound


@pytest.mark.parametrize(("asked", "least"), [(0.0, 0.0), (7.0, 7.0), (86_400.0, 60.0), (-3.0, 0.0)])
def test_asked_wait_is_honoured_up_to_a_cap(asked: float, least: float) -> None:
    """`Retry-After` is waited in full and a little longer, but a day becomes a minute."""
    delay = RetryPolicy().delay(1, failed("server_error", asked), random.Random(2))
    assert least <= delay <= least + 0.5


def test_rate_limits_wait_longer_than_hiccups() -> None:
    """A 429 without `Retry-After` backs off from its own base."""
    policy = RetryPolicy()
    waits = {
        kind: sum(policy.delay(1, failed(kind), random.Random(seed)) for seed in range(50))
        for kind in ("rate_limit", "server_error")
    }
    assert waits["rate_limit"] == pytest.approx(4 * waits["server_error"])


def test_no_next_try_when_hopeless_exhausted_or_too_long() -> None:
    """There is no next try for what cannot be retried, after the last try, or past the bound on all waiting."""
    policy, rng = RetryPolicy(max_tries=3, max_total_wait=10), random.Random(3)
    hopeless = TransportError("auth", "x", retryable=False)
    assert policy.next_delay(1, hopeless, waited=0, rng=rng) is None
    assert policy.next_delay(3, failed(), waited=0, rng=rng) is None
    assert policy.next_delay(1, failed(retry_after=5), waited=6, rng=rng) is None
    assert policy.next_delay(2, failed(), waited=0, rng=rng) is not None


def test_same_seed_same_waits() -> None:
    """The jitter is drawn from the given source alone."""
    one, two = ([RetryPolicy().delay(n, failed(), rng) for n in range(1, 6)] for rng in map(random.Random, (9, 9)))
    assert one == two
