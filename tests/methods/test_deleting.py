"""A run deleted: nothing of it is left but what runs share, and evaluated again it costs nothing."""

import sqlite3
from collections.abc import Callable

import pytest

from dokimasia.errors import InputError, Interrupted, NotFound
from dokimasia.gateway.doubles import CountingTransport, Crash
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs.persistence import delete_whole_run
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.deletion import run_size
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, create_run, list_runs, set_status
from dokimasia.storage.threads import Thread, live_threads, open_thread

Requests = Callable[..., EvaluationRequest]


def dead() -> CountingTransport:
    """A transport that must not be used."""
    return CountingTransport(SimTransport(), fail=lambda _: Crash("a call was sent"))


async def test_a_deleted_run_costs_nothing_when_evaluated_again(settings: Settings, request_of: Requests) -> None:
    """Its rows go, another run's stay, and the ledger answers it to the same figures."""
    first = await evaluate(request_of(limit=4), settings=settings)
    other = await evaluate(request_of(limit=3), settings=settings)
    with Home.open(settings.home, write=True) as home:
        size = run_size(home, first.run)
        assert (size.results, size.samples) == (12, 4)
        assert await delete_whole_run(home, first.run) == size
        assert [run.id for run in list_runs(home)] == [other.run]
        assert run_size(home, first.run).results == run_size(home, first.run).events == 0
        with pytest.raises(NotFound, match="has no run"):
            await delete_whole_run(home, first.run)
    again = await evaluate(request_of(limit=4), settings=settings, transports={"sim": dead()})
    assert again == first
    assert await evaluate(request_of(limit=3), settings=settings, transports={"sim": dead()}) == other


async def test_the_checkpoints_of_its_threads_go_with_it(settings: Settings, request_of: Requests) -> None:
    """A run that was killed half-way leaves no thread and no checkpoint behind when it is deleted."""
    result = await evaluate(request_of(limit=2), settings=settings)
    checkpoints = settings.home / "checkpoints.db"
    thread = f"{result.run}/replay/x/cognitive_replay@2"
    with Home.open(settings.home, write=True) as home:
        await open_thread(
            home,
            Thread(thread_id=thread, run_id=result.run, item="replay/x", graph="cognitive_replay", graph_version="1"),
        )
        connection = sqlite3.connect(checkpoints)
        connection.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id) VALUES (?, '', 'one')", (thread,)
        )
        connection.commit()
        await delete_whole_run(home, result.run)
        assert live_threads(home) == set()
    assert connection.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)
    connection.close()


async def test_a_run_can_be_deleted_before_it_is_finished(settings: Settings, request_of: Requests) -> None:
    """An interrupted run is deleted like any other."""
    stop = Stop()
    stop.ask()
    with pytest.raises(Interrupted):
        await evaluate(request_of(limit=2), settings=settings, stop=stop)
    with Home.open(settings.home, write=True) as home:
        (run,) = list_runs(home)
        await delete_whole_run(home, run.id)
        assert list_runs(home) == []


async def test_a_run_that_an_unfinished_fork_needs_stays(settings: Settings, request_of: Requests) -> None:
    """The fork is named; once it is done, or gone, the run can be deleted."""
    result = await evaluate(request_of(limit=2), settings=settings)
    fork = Run(id="fork", method="evaluate", options={"needs": [result.run]})
    with Home.open(settings.home, write=True) as home:
        await create_run(home, fork)
        with pytest.raises(InputError, match=rf"run {result.run} is needed by fork, which is unfinished"):
            await delete_whole_run(home, result.run)
        await set_status(home, "fork", "done")
        await delete_whole_run(home, result.run)
