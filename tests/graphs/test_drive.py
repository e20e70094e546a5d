"""Threads survive a death at any moment between two steps."""

import gc
from contextlib import suppress
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from dokimasia.domain.identity import value_id
from dokimasia.errors import CallFailed
from dokimasia.gateway.doubles import ScriptedGateway
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.executor import COLLECTOR, GraphRun, LocalExecutor, reduced_gc
from dokimasia.storage.memory import MemoryStore
from tests.graphs.test_cognitive_replay import OPTIONS, SAMPLE, chain, criteria, look

pytestmark = pytest.mark.quick

REPLIES = ["no tags at all", chain("4"), chain("3"), criteria(), look()]


class Died(BaseException):
    """What ends a process, as nothing in it can catch it."""


class Dying(InMemorySaver):
    """A saver whose process dies before the n-th checkpoint, or the n-th writes of a task, is kept."""

    def __init__(self, *, checkpoint: int = 0, writes: int = 0) -> None:
        super().__init__()
        self.left = {"checkpoint": checkpoint, "writes": writes}
        self.dead = False

    def _live_or_die(self, what: str) -> None:
        self.left[what] -= 1
        self.dead = self.dead or self.left[what] == 0
        if self.dead:
            raise Died

    async def aput(self, *arguments: Any, **named: Any) -> Any:
        self._live_or_die("checkpoint")
        return await super().aput(*arguments, **named)

    async def aput_writes(self, *arguments: Any, **named: Any) -> None:
        self._live_or_die("writes")
        await super().aput_writes(*arguments, **named)


class Ledger(ScriptedGateway):
    """A scripted gateway that, as the ledger does, answers the same call with the same reply and asks it once."""

    def __init__(self) -> None:
        super().__init__(REPLIES)
        self._known: dict[str, Any] = {}

    async def ask(self, call: Any, *, label: str = "") -> Any:
        key = call.model_dump_json()
        if key not in self._known:
            self._known[key] = await super().ask(call, label=label)
        return self._known[key]


async def whole(saver: InMemorySaver, gateway: Ledger, store: MemoryStore) -> dict[str, Any]:
    graph, context = drive.GRAPHS["cognitive_replay"], Context(gateway, store, OPTIONS)
    return await LocalExecutor(saver).execute(GraphRun(graph, {"sample": value_id(SAMPLE)}, "item", context, "t"))


@pytest.mark.parametrize("moment", ["checkpoint", "writes"])
@pytest.mark.parametrize("number", range(1, 9))
async def test_a_thread_goes_on_from_any_moment_of_death(moment: str, number: int) -> None:
    """Whatever was kept when the process died, the thread resumes to the state of one that never died."""
    store = MemoryStore()
    await store.put(SAMPLE)
    expected = await whole(InMemorySaver(), Ledger(), store)
    assert expected["criteria"]
    gateway, saver = Ledger(), Dying(**{moment: number})
    try:
        await whole(saver, gateway, store)
    except Died:
        saver.dead = False
    state = await whole(saver, gateway, store)
    assert {key: state[key] for key in expected} == expected
    assert len(gateway.calls) == len(REPLIES)


class Poor(Ledger):
    """A ledger that pays for the first calls only, until it is given more."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.left = calls

    async def ask(self, call: Any, *, label: str = "") -> Any:
        if self.left <= 0:
            raise CallFailed("budget", "the budget is used up")
        self.left -= 1
        return await super().ask(call, label=label)


@pytest.mark.parametrize("calls", range(5))
async def test_a_step_that_left_something_open_is_taken_again(calls: int) -> None:
    """A walk that the budget ended, and of which no row was kept, is no ended walk: it goes on when there is money."""
    store = MemoryStore()
    await store.put(SAMPLE)
    expected = await whole(InMemorySaver(), Ledger(), store)
    here, gateway = LocalExecutor(InMemorySaver()), Poor(calls)
    graph = drive.GRAPHS["cognitive_replay"]
    walk = GraphRun(graph, {"sample": value_id(SAMPLE)}, "one", Context(gateway, store, OPTIONS), "t")
    with suppress(CallFailed):
        assert (await here.execute(walk))["failed"] == "budget"
    gateway.left = len(REPLIES)
    state = await here.execute(walk)
    assert {key: state[key] for key in expected} == expected
    assert len(gateway.calls) == len(REPLIES)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_run_excludes_objects_from_collection_unless_its_program_does(
    frozen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last run to end restores what the first one changed; what the program has excluded stays excluded."""
    monkeypatch.setattr("dokimasia.graphs.executor._thresholds", [])  # workers of earlier tests keep theirs
    gc.unfreeze()
    if frozen:
        gc.freeze()
    before = gc.get_threshold()
    with reduced_gc():
        with reduced_gc():
            assert gc.get_freeze_count()
        assert gc.get_threshold() == COLLECTOR
        assert gc.get_freeze_count()
    assert gc.get_threshold() == before
    assert bool(gc.get_freeze_count()) == frozen
