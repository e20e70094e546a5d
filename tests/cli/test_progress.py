"""The line on how far a run is: what is counted as failed, and what is said of models that do not answer."""

import io
import os
import signal
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from dokimasia.cli import running as module
from dokimasia.cli.running import ProgressLine, run_to_end
from dokimasia.errors import Interrupted
from dokimasia.gateway.events import GatewayEvent, GatewayStats
from dokimasia.runs.estimate import Estimate, StepEstimate
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.observer import Progress, Speed
from dokimasia.runs.reachability import Stop
from dokimasia.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has each standing printed at once."""
    monkeypatch.setattr(module, "PLAIN_EVERY", 0.0)


def test_a_run_without_a_terminal_prints_few_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints a line for each tenth of the items, and one where nothing was printed for minutes."""
    clock = 0.0
    monkeypatch.setattr(module, "PLAIN_EVERY", 180.0)
    monkeypatch.setattr(module.time, "monotonic", lambda: clock)
    with ProgressLine() as line:
        for done in range(421):
            clock += 1.0
            line.progressed(Progress(items=420, done=done))
        assert len(capsys.readouterr().err.splitlines()) == 10
        for _ in range(400):
            clock += 1.0
            line.progressed(Progress(items=420, done=420))
        assert len(capsys.readouterr().err.splitlines()) == 2


def test_undecided_answers_are_no_failures(capsys: pytest.CaptureFixture[str]) -> None:
    """What no rule could decide is counted apart from what failed."""
    with ProgressLine() as line:
        line.progressed(Progress(items=9, done=7, failures={"undecided": 4, "refused": 1}))
    said = capsys.readouterr().err
    assert said.endswith("· 1 failed · 4 undecided\n")
    assert "tries failed" not in said


def test_tries_that_fail_are_shown_until_the_model_answers(capsys: pytest.CaptureFixture[str]) -> None:
    """Behind a dead endpoint the line has the number of failed tries, what fails, and when the next try is."""
    failed = GatewayEvent(kind="failed_try", model="J", reason="connection: refused " + "x" * 80, number=3, delay=4.2)
    with ProgressLine() as line:
        line.happened(failed)
        line.progressed(Progress(items=9, stats=GatewayStats(sent=6, failed_tries=6)))
        said = capsys.readouterr().err
        assert "6 tries failed" in said
        assert "J does not answer (try 3: connection: refused x" in said
        assert "…, next try in 4 s)" in said
        line.happened(GatewayEvent(kind="answered", model="J"))
        line.progressed(Progress(items=9, done=1, stats=GatewayStats(sent=7, answered=1, failed_tries=6)))
        said = capsys.readouterr().err
        assert "6 tries failed" in said
        assert "does not answer" not in said


def test_items_that_wait_are_neither_done_nor_failed(capsys: pytest.CaptureFixture[str]) -> None:
    """An item that waits for a person is a count of its own: it is not done, did not fail, and takes no time."""
    progress = Progress(items=4)
    for failure in (None, "waiting", "waiting", "refused"):
        progress.count(failure)
    assert (progress.done, progress.waiting_items, progress.failures) == (2, 2, {"refused": 1})
    assert Speed().of(progress)[1] == 0.0
    with ProgressLine() as line:
        line.progressed(progress)
    said = capsys.readouterr().err
    assert "2/4 done" in said
    assert "1 failed · 2 items waiting for people" in said


def test_items_beyond_the_budget_are_neither_done_nor_failed(capsys: pytest.CaptureFixture[str]) -> None:
    """An item that the budget does not reach is open: it is not done, did not fail, and takes no time."""
    progress = Progress(items=4)
    for failure in (None, "budget", "budget", "refused"):
        progress.count(failure)
    assert (progress.done, progress.unpaid_items, progress.failures) == (2, 2, {"refused": 1})
    assert Speed().of(progress)[1] == 0.0
    with ProgressLine() as line:
        line.progressed(progress)
    assert "1 failed · 2 items beyond the budget" in capsys.readouterr().err


def test_a_rate_is_known_from_the_first_look_on() -> None:
    """A run that is over before it was looked at twice has a rate, too."""
    speed, progress = Speed(), Progress(items=4, stats=GatewayStats(answered=106))
    speed.mark(progress)
    assert speed.of(progress)[0] > 0


def test_the_rate_is_of_models_and_the_ledger_is_a_count(capsys: pytest.CaptureFixture[str]) -> None:
    """Calls that the ledger answered stand beside the rate, and are no part of it."""
    with ProgressLine() as line:
        line.progressed(Progress(items=9, done=7, stats=GatewayStats(cached=1200)))
    assert "7/9 done · 0.0 calls/s · 1,200 by the ledger · 0 in flight" in capsys.readouterr().err


def test_a_long_note_leaves_the_counts_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line begins with the method; on a terminal that is too narrow the note is cut, and the counts stand all the time."""
    shown = Console(force_terminal=True, width=60, file=io.StringIO(), color_system=None)
    with ProgressLine("duel") as line:
        monkeypatch.setattr(line, "_console", shown)
        line.planned("r1", Estimate(samples=9, models={}))
        line.happened(GatewayEvent(kind="limit", endpoint="http://127.0.0.1:1/v1", reason="4 -> 8: " + "x" * 90))
        line.progressed(Progress(items=9, done=7))
    last = cast("io.StringIO", shown.file).getvalue().rpartition("duel")[2]
    assert "7/9" in last
    assert "…" in last


def test_more_workers_than_cores_are_remarked_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is waited for is said while Ray starts, and that a machine has fewer cores than workers; then nothing more."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    line = ProgressLine()
    line.starting(3, None)
    said = capsys.readouterr().err
    assert "starting 3 workers by Ray on this machine" in said
    assert "more than this machine's 2 cores" in said
    line.starting(0, None)
    assert not capsys.readouterr().err
    line.starting(3, "ray://head:10001")
    assert capsys.readouterr().err == "starting 3 workers by Ray on the cluster at ray://head:10001\n"


@pytest.mark.parametrize(
    ("workers", "said"),
    [(2, "stopping once Ray has started"), (0, "finishing the calls in flight; Ctrl-C again stops")],
)
def test_ctrl_c_says_what_it_does(workers: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While workers start, Ctrl-C says that their start is waited for, and otherwise what it does to calls in flight."""

    async def work(*, settings: Settings, observer: ProgressLine, stop: Stop) -> RunResult:
        observer.starting(2, None)
        observer.starting(workers, None)
        observer.happened(GatewayEvent(kind="sent", model="m"))
        os.kill(os.getpid(), signal.SIGINT)
        await stop.wait()
        raise Interrupted("asked")

    with pytest.raises(Interrupted):
        run_to_end(work, load_settings(home=tmp_path / "home", env={}))
    told = capsys.readouterr().err
    assert said in told
    assert ("again stops at once" in told) == (not workers)


def test_the_first_line_has_all_calls_and_the_limits_are_told_from_concurrency(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What comes to the calls where no rule decides stands beside them; a limit of an endpoint is one of requests at a time."""
    steps = [
        StepEstimate(step="a", model="J", calls=9, left=9, input_tokens=1, output_tokens=1, left_cost=0.0),
        StepEstimate(
            step="b", model="J", calls=5, left=4, input_tokens=1, output_tokens=1, left_cost=0.0, if_undecided=True
        ),
    ]
    with ProgressLine() as line:
        line.planned("r1", Estimate(samples=9, models={}, by_step=tuple(steps), answered=3))
        said = capsys.readouterr().err
        assert "about 9 calls left (J 9)" in said
        assert "; at most 4 calls more where no rule decides an answer; 3 calls made already; cached" in said
        line.happened(GatewayEvent(kind="limit", endpoint="sim", reason="30 → 33: busy"))
        line.progressed(Progress(items=9))
    assert "requests at a time to sim: 30 → 33: busy" in capsys.readouterr().err
