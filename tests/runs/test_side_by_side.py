"""Several runs at work at once over one open home: the same bytes as one after the other, each call paid once."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.errors import InputError, Interrupted
from dokimasia.gateway.doubles import CountingTransport, Crash
from dokimasia.methods.evaluation import METHOD, EvaluationRequest
from dokimasia.runs.catalogue import method_named
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.lifecycle import RunResult, resume, run
from dokimasia.runs.outcome import why_ended
from dokimasia.runs.persistence import delete_whole_run
from dokimasia.runs.reading.exporting import encode, export_rows
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run, list_runs
from dokimasia.storage.threads import Thread, live_threads, open_thread
from tests.killing import sent_requests
from tests.runs.conftest import Finished, Prepared
from tests.runs.kinds import KINDS, Kind

ALONE = [kind for kind in KINDS.values() if not kind.on]
"""The kinds of run that rest on no other."""

EVALUATE = KINDS["evaluate"]
OTHERS = ("sim/strong", "sim/steady")
MODELS = "".join(
    f'[models."{name}"]\nmodel = "openai/{name}"\nendpoint = "planted"\napi_base = "{{url}}"\ntransport = "direct"\n'
    "max_concurrency = {most}\nstart_concurrency = {most}\n"
    for name in ("sim/judge", "sim/strong", "sim/weak", "sim/steady")
)


@contextmanager
def opened(settings: Settings) -> Iterator[dict[str, Any]]:
    """A home that is open for writing, as what runs are given."""
    with Home.open(settings.home, write=True) as home:
        yield {"settings": settings, "home": home}


async def exported(settings: Settings, result: RunResult) -> tuple[bytes, bytes]:
    """A run's figures and its whole export."""
    with Home.open(settings.home, write=False) as home:
        return orjson.dumps(result.summary), encode(await export_rows(home, get_run(home, result.run)), "jsonl")


def request_of(kind: Kind, world: Path, **changes: Any) -> Any:
    return kind.request(world, "", **changes)


async def test_every_kind_at_once(world: Path, prepared: Prepared, finished: Finished) -> None:
    """Runs of every kind that rests on none, at work at once over one home, come to the bytes that each has alone."""
    settings = prepared(EVALUATE)
    with opened(settings) as over:
        done = await asyncio.gather(
            *(run(method_named(kind.name), request_of(kind, world), given=kind.given, **over) for kind in ALONE)
        )
    for kind, result in zip(ALONE, done, strict=True):
        alone, whole = finished(kind, f"alone {kind.id}")
        assert result.run == whole.run
        assert await exported(settings, result) == await exported(alone, whole), kind.id


async def test_each_call_is_paid_once_over_http(world: Path, tmp_path: Path) -> None:
    """Two evaluations that share a candidate, at once: the server is asked each call once, as one after the other."""
    found: list[list[Any]] = []
    for at_once in (False, True):
        log = tmp_path / f"{at_once}.log"
        with running_server(latency=0.01, log_path=log) as url:
            config = tmp_path / f"{at_once}.toml"
            config.write_text(MODELS.format(url=url, most=8))
            settings = load_settings(config=config, home=tmp_path / str(at_once), env={})
            asked = [
                EvaluationRequest(data=world, judge="sim/judge", models=some)
                for some in (EVALUATE.fields["models"], OTHERS)
            ]
            with opened(settings) as over:
                works = [run(METHOD, one, **over) for one in asked]
                results = await asyncio.gather(*works) if at_once else [await one for one in works]
        requests = sent_requests(log)
        assert len(requests) == len(set(requests)), "a call was sent twice"
        found.append([set(requests), *[await exported(settings, one) for one in results]])
    assert found[0] == found[1]


async def test_a_limit_holds_over_all_runs(world: Path, tmp_path: Path) -> None:
    """However many runs ask one endpoint under one key, its limit holds for all of them together."""
    config = tmp_path / "dokimasia.toml"
    config.write_text(MODELS.format(url="http://127.0.0.1:9/v1", most=3))
    settings = load_settings(config=config, home=tmp_path / "home", env={})

    async def a_moment() -> None:
        await asyncio.sleep(0.001)

    transport = CountingTransport(SimTransport(), hold=lambda call: a_moment())
    asked = [
        EvaluationRequest(data=world, judge="sim/judge", models=(f"sim/{one}",)) for one in ("strong", "weak", "steady")
    ]
    with opened(settings) as over:
        await asyncio.gather(*(run(METHOD, one, transports={"direct": transport}, **over) for one in asked))
    assert transport.most_open == 3
    assert not transport.closed, "who handed it in closes it"


async def test_a_budget_and_a_stop_are_one_runs_own(world: Path, prepared: Prepared, finished: Finished) -> None:
    """One run that is out of money and one that is stopped end none of the others, and go on to the same bytes."""
    _, whole = finished(EVALUATE)
    settings = prepared(EVALUATE)
    stop = Stop()
    with opened(settings) as over:
        works = (
            run(METHOD, request_of(EVALUATE, world), **over),
            run(METHOD, request_of(EVALUATE, world, models=OTHERS, max_calls=2), **over),
            run(
                METHOD,
                request_of(EVALUATE, world, models=("sim/steady",)),
                stop=stop,
                transports=stopping(stop),
                **over,
            ),
        )
        first, poor, stopped = await asyncio.gather(*works, return_exceptions=True)
        assert isinstance(first, RunResult)
        assert isinstance(poor, RunResult)
        assert orjson.dumps(first.summary) == orjson.dumps(whole.summary)
        assert (poor.complete, poor.end) == (False, "spending")
        assert isinstance(stopped, Interrupted)
        rows = [one for one in list_runs(over["home"]) if one.status != "done"]
        assert [one.status for one in rows] == ["interrupted", "interrupted"]
        again = await asyncio.gather(*(resume(one, changes={"max_calls": None}, **over) for one in rows))
    assert all(one.complete for one in again)


def stopping(stop: Stop) -> dict[str, CountingTransport]:
    return {"sim": CountingTransport(SimTransport(), stop=stop.ask, stop_after=3)}


async def test_the_same_run_twice_at_once_is_one(world: Path, prepared: Prepared) -> None:
    """The second joins the first, also its failure; failures are not asked anew meanwhile, nor is the run deleted."""
    settings = prepared(EVALUATE)
    gate, entered = asyncio.Event(), asyncio.Event()

    def hold(call: Any) -> Any:
        entered.set()
        return gate.wait()

    transport = CountingTransport(SimTransport(), hold=hold)
    with opened(settings) as over:
        ways: Any = {"transports": {"sim": transport}, **over}
        works = [asyncio.ensure_future(run(METHOD, request_of(EVALUATE, world), **ways)) for _ in range(2)]
        await entered.wait()
        await asyncio.sleep(0.05)
        (row,) = list_runs(over["home"])
        with pytest.raises(InputError, match="is at work: what failed can be asked anew when it has ended"):
            await resume(row, retry=("refused",), **ways)
        with pytest.raises(InputError, match="is at work; stop it first"):
            await delete_whole_run(over["home"], row.id)
        stop = Stop()
        joined = asyncio.ensure_future(resume(row, stop=stop, **ways))
        await asyncio.sleep(0.05)
        stop.ask()
        with pytest.raises(Interrupted, match="the run goes on"):
            await joined
        gate.set()
        first, second = await asyncio.gather(*works)
        assert first == second
        sent = [call.model_dump_json() for call in transport.sent]
        assert len(sent) == len(set(sent))
        await delete_whole_run(over["home"], row.id)


async def test_two_fresh_runs_at_once_are_two(world: Path, prepared: Prepared) -> None:
    """--fresh asked twice at the same time makes two runs, and the ledger answers both."""
    settings = prepared(EVALUATE)
    with opened(settings) as over:
        works = (run(METHOD, request_of(EVALUATE, world, fresh=True), **over) for _ in range(3))
        done = await asyncio.gather(*works)
        assert len({one.run for one in done}) == 3
        assert sorted(one.fresh for one in list_runs(over["home"])) == [1, 2, 3]


async def test_a_fork_beside_a_run(world: Path, prepared: Prepared, finished: Finished) -> None:
    """A fork at work beside another run over the same home comes to what it comes to alone."""
    alone, parent = finished(EVALUATE, "alone")
    asked = ForkRequest(node="score", judge="sim/judge-noisy")
    with Home.open(alone.home, write=False) as home:
        row = get_run(home, parent.run)
    by_itself = await fork(row, asked, settings=alone)
    settings, _ = finished(EVALUATE, "beside")
    with opened(settings) as over:
        beside, _ = await asyncio.gather(
            fork(row, asked, **over), run(METHOD, request_of(EVALUATE, world, models=OTHERS), **over)
        )
    assert await exported(settings, beside) == await exported(alone, by_itself)


async def test_what_another_run_keeps_is_not_swept(world: Path, prepared: Prepared) -> None:
    """A run that begins sweeps orphans among the checkpoints, and no thread of one at work or waiting."""
    settings = prepared(EVALUATE)
    with opened(settings) as over:
        kept = await run(METHOD, request_of(EVALUATE, world, keep_checkpoints=True), **over)
        steps = threads_with_steps(over["home"])
        assert steps
        thread = Thread(thread_id="another/run", run_id=kept.run, item="x", graph="g", graph_version="1")
        await open_thread(over["home"], thread)
        await run(METHOD, request_of(EVALUATE, world, models=OTHERS), **over)
        assert threads_with_steps(over["home"]) == steps
        assert "another/run" in live_threads(over["home"])


def threads_with_steps(home: Home) -> int:
    """How many threads have steps among the checkpoints."""
    with sqlite3.connect(home.checkpoints) as connection:
        return connection.execute("SELECT count(DISTINCT thread_id) FROM checkpoints").fetchone()[0]


async def test_one_that_breaks_ends_no_other(world: Path, prepared: Prepared) -> None:
    """A run that breaks is failed and keeps its sentence; another over the same home is complete."""
    settings = prepared(EVALUATE)
    bad = CountingTransport(SimTransport(), fail=lambda call: Crash("the machine went away"))
    with opened(settings) as over:
        first, second = await asyncio.gather(
            run(METHOD, request_of(EVALUATE, world), **over),
            run(METHOD, request_of(EVALUATE, world, judge="sim/judge-noisy"), transports={"sim": bad}, **over),
            return_exceptions=True,
        )
        assert isinstance(first, RunResult)
        assert (first.complete, first.end) == (True, "complete")
        assert isinstance(second, Crash)
        (failed,) = [one for one in list_runs(over["home"]) if one.id != first.run]
        assert failed.status == "failed"
        assert why_ended(over["home"], failed) == "internal error: Crash: the machine went away"
