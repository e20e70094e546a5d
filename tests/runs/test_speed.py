"""The time that a run will still take, as it is said while it is at work."""

from itertools import pairwise

import pytest

from dokimasia.gateway.events import GatewayStats
from dokimasia.runs.observer import Progress, Speed

DONE = (
    *(
        0,
        0,
        0,
        0,
        0,
        0,
        6,
        30,
        57,
        64,
        64,
        70,
        100,
        150,
        192,
        192,
        208,
        252,
        258,
        276,
        318,
        368,
        384,
        387,
        432,
        448,
        460,
    ),
    *(494, 542, 576, 576, 579, 623, 640, 646, 680, 732, 768, 768, 787, 812, 818, 900),
)
"""Items done after each second of an evaluation against replies of one second, whose requests at once grew from 16 to 64."""


class Watched:
    """A run whose time is what it is told."""

    def __init__(self, items: int, restored: int = 0) -> None:
        self.now, self.items, self.restored = 100.0, items, restored
        self.speed = Speed(lambda: self.now)

    def left(self, done: int, after: float) -> float | None:
        """Return the time left, so many seconds later."""
        self.now += after
        progress = Progress(items=self.items, done=done + self.restored, restored=self.restored)
        self.speed.mark(progress)
        return self.speed.of(progress)[1]


def test_the_time_left_is_steady_from_the_first_word_on() -> None:
    """A run that begins slowly and goes on in bursts is told near the truth, twice a second, and the time does not jump."""
    run, told = Watched(900), list[float | None]()
    for done in DONE[1:]:
        told += [run.left(done, 0.5), run.left(done, 0.5)]
    said = [left for left in told if left is not None]
    assert told[: len(told) - len(said)] == [None] * 21, "as long as the first item took is nothing said after it"
    assert all(0 <= earlier - later < 3.1 for earlier, later in pairwise(said))
    truth = [0.5 * at for at in reversed(range(len(said)))]
    assert all(abs(left - true) < max(3.5, 1.1 * true) for left, true in zip(said, truth, strict=True))
    assert said[-1] == 0


def test_items_of_the_same_length_are_told_to_the_second() -> None:
    """Between two items the time counts down, and what was done before the run went on counts for nothing."""
    run = Watched(100, restored=40)
    assert [run.left(second // 10, 1.0) for second in range(1, 20)] == [None] * 19
    for second in range(20, 600):
        assert run.left(second // 10, 1.0) == pytest.approx(600 - second, abs=1)
    assert run.left(60, 1.0) == 0


def test_a_run_that_stands_still_is_told_to_take_longer() -> None:
    """Where nothing ends any more the time left grows, by and by."""
    run = Watched(100)
    before = [run.left(second, 1.0) for second in range(1, 31)][-1]
    assert before == pytest.approx(70, abs=1)
    still = [run.left(30, 1.0) for _ in range(120)]
    assert still[2] is not None
    assert still[2] < 75
    assert still[-1] is not None
    assert still[-1] > 150


def test_what_ends_at_once_has_no_time_left_to_tell() -> None:
    """Items that all end together say nothing of those that are not begun."""
    run = Watched(100)
    assert run.left(50, 3.0) is None
    assert run.left(50, 60.0) is None


def test_a_run_that_another_process_takes_up_is_measured_anew() -> None:
    """Where a service was started anew, the calls counted begin from 0 again: no rate is below 0, and no time left at once."""
    run = Watched(100)
    for second in range(60):
        run.left(second, 1.0)
    progress = Progress(items=100, done=59)
    progress.stats = GatewayStats(answered=300)
    run.speed.mark(progress)
    run.now += 1
    progress.stats = GatewayStats(answered=2)
    run.speed.mark(progress)
    run.now += 1
    progress.stats = GatewayStats(answered=5)
    run.speed.mark(progress)
    assert run.speed.of(progress) == (3.0, None)


def test_what_the_ledger_answers_is_no_rate() -> None:
    """A second counts the calls that models answered; the ledger's answers make neither a rate nor a run begun again."""
    run = Watched(100)
    progress = Progress(items=100)
    for second in range(4):
        progress.stats = GatewayStats(answered=3 * second, cached=500 * second)
        run.speed.mark(progress)
        run.now += 1
    assert run.speed.of(progress)[0] == pytest.approx(3.0)


def test_the_time_left_follows_from_the_calls_that_were_sent() -> None:
    """Where the ledger answers some calls, the time left is that of the calls left to send, not that of finished items."""
    now = 0.0
    speed = Speed(lambda: now, to_send=100)
    progress = Progress(items=200)
    for second in range(31):
        now = float(second)
        progress.done = min(100, 20 * second) + second
        progress.stats = GatewayStats(answered=second, cached=min(100, 20 * second))
        speed.mark(progress)
    assert speed.of(progress)[1] == pytest.approx(70, abs=2)
