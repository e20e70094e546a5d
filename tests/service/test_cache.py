"""The cache of figures: each value is computed once, and a caller that waits a limited time gets it or None."""

from concurrent.futures import Future
from typing import Any

import pytest

from dokimasia.service.cache import FigureCache

pytestmark = pytest.mark.quick


class LateFuture(Future[int]):
    """Gets its value as soon as a caller has given up waiting for it."""

    def result(self, timeout: float | None = None) -> int:
        if timeout is not None and not self.done():
            self.set_result(7)
            raise TimeoutError
        return super().result(timeout)


def test_a_value_that_arrives_as_the_wait_ends_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the end of a wait and the look whether the value is there, it can arrive."""
    cache = FigureCache()
    monkeypatch.setattr(cache._workers, "submit", lambda make: LateFuture())
    assert cache.get("figures", lambda: 7, seconds=0.001) == 7


def test_an_error_of_the_computation_is_no_end_of_the_wait() -> None:
    """A TimeoutError that the computation raises reaches the caller, and the next call computes again."""
    cache, calls = FigureCache(), []

    def fail_once() -> Any:
        calls.append(len(calls))
        if len(calls) == 1:
            raise TimeoutError("the endpoint")
        return "figures"

    with pytest.raises(TimeoutError, match="the endpoint"):
        cache.get("figures", fail_once, seconds=300)
    assert cache.get("figures", fail_once, seconds=300) == "figures"
    assert cache.computed == 2
