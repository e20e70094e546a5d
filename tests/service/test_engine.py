"""The engine: requests accepted or refused at once, a bounded number at work, stopped, gone on with, kept over restarts."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import ModelCall
from dokimasia.errors import ConfigError, DataError, InputError, Interrupted, TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.evaluation import METHOD, EvaluationRequest
from dokimasia.methods.review import ReviewRequest
from dokimasia.people.checks import answer, checked, undo, waiting_questions
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.lifecycle import run
from dokimasia.runs.observer import Progress, SilentObserver
from dokimasia.runs.outcome import why_ended
from dokimasia.runs.reading.exporting import encode, export_rows
from dokimasia.runs.services import Stop
from dokimasia.service.engine import RunEngine
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world
from dokimasia.storage.decisions import file_decision
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import OpenQuestion, get_question
from dokimasia.storage.runs import Run, create_run, get_run, list_runs, set_status
from dokimasia.storage.threads import queue
from tests.processes import PATIENCE
from tests.runs.people import as_model

JUDGE = "sim/judge"


class Told(SilentObserver):
    """An observer that keeps what it is told of how its run stands."""

    def __init__(self) -> None:
        self.became_: list[tuple[str, str, str]] = []

    def became(self, status: str, *, end: str = "", why: str = "") -> None:
        """Keep it."""
        self.became_.append((status, end, why))

    def progressed(self, progress: Progress) -> None:
        """Break, as an observer may."""
        raise ValueError("an observer that breaks")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven questions of the planted world."""
    path = tmp_path_factory.mktemp("data") / "world.jsonl"
    write_world(path, 7, 3)
    return path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A home that is not there yet, and models that take two calls at once."""
    config = tmp_path / "dokimasia.toml"
    config.write_text("[defaults]\nmax_concurrency = 2\n")
    return load_settings(config=config, home=tmp_path / "home", env={})


class Gate:
    """A transport whose calls wait until it is opened."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.entered = asyncio.Event()
        self.transport = CountingTransport(SimTransport(), hold=self._hold)

    def _hold(self, call: ModelCall) -> Any:
        self.entered.set()
        return self.open.wait()


@asynccontextmanager
async def engine_over(settings: Settings, way: Any = None, **more: Any) -> AsyncIterator[tuple[RunEngine, Home]]:
    """An engine at work over the home, by a transport of the test's own."""
    with Home.open(settings.home, write=True) as home:
        transports = {"sim": way or SimTransport()}
        async with RunEngine(settings, home, transports=transports, **more) as engine:
            yield engine, home


def asked(data: Path, *models: str, **more: Any) -> EvaluationRequest:
    """A request for an evaluation."""
    return EvaluationRequest(data=data, judge=JUDGE, models=tuple(f"sim/{one}" for one in models or ("weak",)), **more)


async def exported(home: Home, run: Run) -> bytes:
    """A run's whole export."""
    return encode(await export_rows(home, get_run(home, run.id)), "jsonl")


async def test_runs_wait_for_their_turn_and_come_to_the_bytes_of_the_command_line(
    data: Path, settings: Settings, tmp_path: Path
) -> None:
    """Requests are accepted at once, two runs are at work at once, and each ends as the command line's run of the same."""
    other = load_settings(config=settings.config_path, home=tmp_path / "other", env={})
    gate = Gate()
    async with engine_over(settings, gate.transport, width=2) as (engine, home):
        requests = [asked(data, one) for one in ("strong", "weak", "steady")]
        rows = [await engine.submit("evaluate", one) for one in requests]
        assert [get_run(home, one.id).status for one in rows][2] == "queued"
        assert engine.queue.at_work == [one.id for one in rows[:2]]
        assert engine.queue.queued == [rows[2].id]
        again = await engine.submit("evaluate", requests[2])
        assert again.id == rows[2].id
        gate.open.set()
        assert [(await engine.ended(one)).status for one in rows] == ["done"] * 3
        assert queue(home) == []
        assert (await engine.submit("evaluate", requests[0])).status == "done"
        for request, row in zip(requests, rows, strict=True):
            alone = await run(METHOD, request, settings=other)
            with Home.open(other.home, write=False) as elsewhere:
                assert alone.run == row.id
                assert await exported(home, row) == await exported(elsewhere, get_run(elsewhere, alone.run))


async def test_what_is_refused_keeps_nothing(data: Path, settings: Settings, tmp_path: Path) -> None:
    """A request that the command line would refuse is refused with the same error, and no run is kept."""
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "a"}\n')
    config = tmp_path / "dokimasia.toml"
    config.write_text(
        '[models.keyed]\nmodel = "openai/x"\napi_base = "http://127.0.0.1:9/v1"\napi_key_env = "NOT_SET"\n'
    )
    settings = load_settings(config=config, home=settings.home, env={})
    keyed = EvaluationRequest(data=data, judge=JUDGE, models=("keyed",))
    async with engine_over(settings) as (engine, home):
        with pytest.raises(DataError, match=r"bad\.jsonl, line 1"):
            await engine.submit("evaluate", asked(bad))
        with pytest.raises(ConfigError, match="there is no simulated model 'sim/nobody'"):
            await engine.preview("evaluate", asked(data, "nobody"))
        with pytest.raises(ConfigError, match="NOT_SET is not set"):
            await engine.submit("evaluate", keyed)
        with pytest.raises(ConfigError, match=r"no plug-in .* is called 'nothing'"):
            await engine.submit("nothing", asked(data))
        assert list_runs(home) == []
        shown = await engine.preview("evaluate", asked(data))
        assert (shown["samples"], shown["calls"] > 7, list(shown["prompts"]) != []) == (7, True, True)
        assert list_runs(home) == []


async def test_stopped_and_gone_on_with(data: Path, settings: Settings) -> None:
    """A stop finishes the calls in flight; the run does not go on by itself, and comes to the same bytes when resumed."""
    gate, observers = Gate(), list[Told]()

    def watched(run: Run) -> Told:
        observers.append(Told())
        return observers[-1]

    async with engine_over(settings, gate.transport, width=1, observers=watched) as (engine, home):
        row, behind = [await engine.submit("evaluate", asked(data, one)) for one in ("weak", "strong")]
        await gate.entered.wait()
        assert (await engine.cancel(behind)).status == "interrupted", "it was not at work yet"
        stopping = asyncio.create_task(engine.cancel(row))
        while queue(home):  # noqa: ASYNC110  # it has left the queue, and whoever asks now is behind who stops it
            await asyncio.sleep(0.01)
        assert not stopping.done()
        with pytest.raises(InputError, match="is being stopped"):
            await engine.resume(row)
        flying = gate.transport.open
        gate.open.set()
        assert (await stopping).status == "interrupted"
        assert len(gate.transport.done) == flying
        assert (engine.queue.at_work, queue(home)) == ([], [])
        done = [await engine.ended(await engine.resume(one)) for one in (row, behind)]
        assert [one.status for one in done] == ["done", "done"]
        back = [call.model_dump_json() for call in gate.transport.done]
        assert len(back) == len(set(back))
    assert [one[0] for one in observers[0].became_] == ["queued", "running", "interrupted"]
    assert observers[-1].became_ == [("queued", "", ""), ("running", "", ""), ("done", "complete", "")]


async def test_stopped_at_once(data: Path, settings: Settings) -> None:
    """Stopped at once, a run gives up the calls in flight, and can still be resumed."""
    gate = Gate()
    async with engine_over(settings, gate.transport) as (engine, _):
        row = await engine.submit("evaluate", asked(data))
        await gate.entered.wait()
        assert (await engine.cancel(row, at_once=True)).status == "interrupted"
        assert gate.transport.done == []
        gate.open.set()
        assert (await engine.ended(await engine.resume(row))).status == "done"


async def test_a_limit_is_one_runs_own(data: Path, settings: Settings) -> None:
    """A run that has spent its limit is interrupted and says so; another beside it is complete; lifted, it ends."""
    async with engine_over(settings) as (engine, home):
        poor = await engine.submit("evaluate", asked(data, max_calls=3))
        rich = await engine.submit("evaluate", asked(data, "strong"))
        assert (await engine.ended(rich)).status == "done"
        row = await engine.ended(poor)
        assert row.status == "interrupted"
        assert why_ended(home, row).startswith("the limit on requests was reached")
        with pytest.raises(InputError, match="max_calls: Input should be"):
            await engine.resume(row, changes={"max_calls": -1})
        with pytest.raises(InputError, match="nonsense: Extra inputs"):
            await engine.resume(row, changes={"nonsense": 1})
        again = await engine.ended(await engine.resume(row, changes={"max_calls": 5}))
        assert again.status == "interrupted"
        assert (await engine.ended(await engine.resume(again))).status == "interrupted"
        lifted = await engine.resume(again, changes={"max_calls": None})
        assert (await engine.ended(lifted)).status == "done"


async def test_failures_are_asked_anew(data: Path, settings: Settings) -> None:
    """A finished run with failures goes into the queue with kinds to retry, and without such failures stays as it is."""
    failing = [True]

    def fail(call: ModelCall) -> TransportError | None:
        bad = failing[0] and call.model.name == "sim/weak"
        return TransportError("bad_request", "not today", retryable=False, status=400) if bad else None

    async with engine_over(settings, CountingTransport(SimTransport(), fail=fail)) as (engine, home):
        row = await engine.ended(await engine.submit("evaluate", asked(data)))
        assert row.status == "done"
        assert "all of sim/weak" in why_ended(home, row)
        failing[0] = False
        assert (await engine.resume(row)).status == "done", "nothing is open"
        assert (await engine.resume(row, retry=("refused",))).status == "done", "nothing failed so"
        with pytest.raises(InputError, match="no failure is of kind 'odd'"):
            await engine.resume(row, retry=("odd",))
        again = await engine.resume(row, retry=("api_error",))
        assert again.status in ("queued", "running")
        assert (await engine.ended(again)).status == "done"
        assert why_ended(home, get_run(home, row.id)) == ""


async def test_a_fork_goes_through_the_queue(data: Path, settings: Settings) -> None:
    """A fork is accepted at once or refused at once, and is a run of its own."""
    async with engine_over(settings) as (engine, home):
        parent = await engine.ended(await engine.submit("evaluate", asked(data)))
        with pytest.raises(InputError, match="a fork changes something"):
            await engine.fork(parent, ForkRequest(node="score"))
        child = await engine.fork(parent, ForkRequest(node="score", judge="sim/judge-noisy"))
        assert child.id != parent.id
        assert (await engine.ended(child)).status == "done"
        await set_status(home, parent.id, "interrupted")
        with pytest.raises(InputError, match="finish it first"):
            await engine.fork(parent, ForkRequest(node="score", judge="sim/judge-lenient"))


async def test_deleted_only_when_nothing_works_on_it(data: Path, settings: Settings) -> None:
    """A run in the queue or at work is not deleted; one that is neither is."""
    gate = Gate()
    async with engine_over(settings, gate.transport, width=1) as (engine, home):
        rows = [await engine.submit("evaluate", asked(data, one)) for one in ("weak", "strong")]
        await gate.entered.wait()
        for row, status in zip(rows, ("running", "queued"), strict=True):
            with pytest.raises(InputError, match=f"is {status}; cancel it first"):
                await engine.delete(row)
        gate.open.set()
        for row in rows:
            await engine.ended(row)
            assert (await engine.delete(row)).id == row.id
        assert list_runs(home) == []


async def test_a_run_that_breaks_ends_no_other(data: Path, settings: Settings) -> None:
    """A model that cannot be reached fails its run, whose sentence is kept and told; the engine goes on."""
    observers: dict[str, Told] = {}

    def fail(call: ModelCall) -> TransportError | None:
        return (
            TransportError("auth", "no such key", retryable=False, status=401)
            if call.model.name == "sim/weak"
            else None
        )

    way = CountingTransport(SimTransport(), fail=fail)
    async with engine_over(settings, way, observers=lambda run: observers.setdefault(run.id, Told())) as (engine, home):
        bad, good = [await engine.submit("evaluate", asked(data, one)) for one in ("weak", "strong")]
        row = await engine.ended(bad)
        assert row.status == "failed"
        assert why_ended(home, row).startswith("sim/weak cannot be reached: auth (status 401)")
        assert observers[bad.id].became_[-1] == ("failed", "", why_ended(home, row))
        assert (await engine.ended(good)).status == "done"
        assert observers[good.id].became_[-1] == ("done", "complete", "")


async def test_a_restart_goes_on_with_what_was_the_services(data: Path, settings: Settings) -> None:
    """What was queued or at work goes on after a restart, in order and under its limit; what was cancelled does not."""
    gate = Gate()
    async with engine_over(settings, gate.transport, width=1) as (engine, home):
        rows = [await engine.submit("evaluate", asked(data, one)) for one in ("weak", "strong", "steady")]
        await gate.entered.wait()
        await engine.cancel(rows[2])
        closing = asyncio.create_task(engine.close())
        await asyncio.sleep(0.05)
        with pytest.raises(Interrupted, match="about to end"):
            await engine.submit("evaluate", asked(data, "weak", "strong"))
        flying = gate.transport.open
        assert flying
        gate.open.set()
        await closing
        assert len(gate.transport.done) == flying, "what was in flight is answered and committed"
        assert [get_run(home, one.id).status for one in rows] == ["queued", "queued", "interrupted"]
        by_hand = Run(id="by-hand", method="evaluate", status="running")
        await create_run(home, by_hand)
    async with engine_over(settings, gate.transport, width=1) as (engine, home):
        assert [*engine.queue.at_work, *engine.queue.queued] == [rows[0].id, rows[1].id]
        assert get_run(home, "by-hand").status == "interrupted", "a command line's that died"
        for one in rows[:2]:
            assert (await engine.ended(one)).status == "done"
        assert get_run(home, rows[2].id).status == "interrupted"
    back = [call.model_dump_json() for call in gate.transport.done]
    assert len(back) == len(set(back))


async def test_what_a_command_line_went_on_with_is_left_alone(data: Path, settings: Settings) -> None:
    """A queued run that a command line finished, or that was interrupted there, does not go on by itself."""
    gate = Gate()
    async with engine_over(settings, gate.transport, width=1) as (engine, _):
        rows = [await engine.submit("evaluate", asked(data, one)) for one in ("weak", "strong")]
        await gate.entered.wait()
        closing = asyncio.create_task(engine.close())
        gate.open.set()
        await closing
    await run(METHOD, asked(data, "weak"), settings=settings)
    stop = Stop()
    way = CountingTransport(SimTransport(), stop=stop.ask, stop_after=2)
    with pytest.raises(Interrupted):
        await run(METHOD, asked(data, "strong"), settings=settings, stop=stop, transports={"sim": way})
    async with engine_over(settings) as (engine, home):
        assert (engine.queue.at_work, engine.queue.queued, queue(home)) == ([], [], [])
        assert [get_run(home, one.id).status for one in rows] == ["done", "interrupted"]


async def test_a_limit_holds_over_restarts(data: Path, settings: Settings) -> None:
    """What a run has spent counts against its limit after a restart, too, however soon it was stopped."""
    sent, row = 0, None
    for _ in range(6):
        gate = Gate()

        def some(call: ModelCall, gate: Gate = gate) -> Any:
            gate.entered.set()
            return None if len(gate.transport.sent) <= 3 else gate.open.wait()

        gate.transport = CountingTransport(SimTransport(), hold=some)
        async with engine_over(settings, gate.transport) as (engine, home):
            row = row or await engine.submit("evaluate", asked(data, max_calls=10))
            waited = asyncio.create_task(gate.entered.wait())
            ended = asyncio.create_task(engine.ended(row))
            await asyncio.wait([waited, ended], return_when=asyncio.FIRST_COMPLETED)
            gate.open.set()
            await engine.close()
            for one in (waited, ended):
                one.cancel()
            sent += len(gate.transport.sent)
            if get_run(home, row.id).status == "interrupted":
                break
    assert 10 <= sent <= 12


async def test_a_run_that_waits_for_people_goes_on_when_they_have_answered(
    data: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes no place at work while it waits, goes on by itself after answers, also over a restart, unless it is cancelled."""
    monkeypatch.setattr("dokimasia.service.queue.ANSWER_INTERVAL", 0.02)
    monkeypatch.setattr("dokimasia.service.queue.QUIET", {False: 0.1, True: 0.3})
    panel = ("sim/panel-a", "sim/panel-b", "human/ann")
    waits, dropped = (ReviewRequest(data=data, panel=panel, limit=limit) for limit in (2, 1))
    async with engine_over(settings, width=1) as (engine, home):
        row = await engine.ended(await engine.submit("review", waits))
        assert row.status == "waiting"
        assert why_ended(home, row).startswith("1 question waits for human/ann")
        other = await engine.ended(await engine.submit("review", dropped))
        assert (other.status, engine.queue.at_work) == ("waiting", [])
        assert (await engine.cancel(other)).status == "interrupted"
        assert (await engine.ended(await engine.submit("evaluate", asked(data)))).status == "done"
    async with engine_over(settings, width=1) as (engine, home):
        for _ in range(8):
            if (now := get_run(home, row.id)).status == "done":
                break
            leave_answers(settings, home, row.id)
            await asyncio.wait_for(_begun(engine, row.id), PATIENCE)
            now = await engine.ended(row)
        assert now.status == "done"
        assert get_run(home, other.id).status == "interrupted", "a person stopped it"


async def test_answers_can_be_taken_back_while_somebody_is_in_the_middle_of_answering(
    data: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run goes on once each who began to answer has answered all of theirs; who has not begun holds nothing up."""
    monkeypatch.setattr("dokimasia.service.queue.ANSWER_INTERVAL", 0.02)
    monkeypatch.setattr("dokimasia.service.queue.QUIET", {False: 0.1, True: 60.0})
    reply = as_model(settings, "sim/panel-c")
    async with engine_over(settings) as (engine, home):
        request = ReviewRequest(data=data, panel=("sim/panel-a", "human/ann", "human/bob"), limit=4)
        row = await engine.ended(await engine.submit("review", request))
        ann, bob = (waiting_questions(home, run=row.id, who=who) for who in ("ann", "bob"))
        assert len(ann) == len(bob) > 1

        async def answers(which: Sequence[OpenQuestion]) -> None:
            for one in which:
                text = reply(get_question(home, one.item).call.messages)
                assert (await answer(home, one.item, text, who=one.person)).done

        await answers([ann[0], *bob])
        await asyncio.sleep(0.6)
        assert row.id not in engine.queue
        assert not any(get_question(home, one.item).used_at for one in (*ann, *bob))
        assert (await undo(home, ann[0].item, who="ann")).done, "nothing rests on it yet"
        await asyncio.wait_for(_begun(engine, row.id), PATIENCE)
        assert (await engine.ended(row)).status == "waiting"
        assert all(get_question(home, one.item).used_at for one in bob)
        await answers(ann)
        await asyncio.wait_for(_begun(engine, row.id), PATIENCE)
        await engine.ended(row)
        assert all(get_question(home, one.item).used_at for one in ann)


async def _begun(engine: RunEngine, run: str) -> None:
    """Return when a run is in the queue."""
    while run not in engine.queue:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def leave_answers(settings: Settings, home: Home, run: str) -> None:
    """Answer all that waits, as another process does: in files."""
    reply = as_model(settings, "sim/panel-c")
    for one in waiting_questions(home, run=run):
        question = get_question(home, one.item)
        file_decision(settings.home, checked(home, one.item, "reply", who="ann", text=reply(question.call.messages)))
