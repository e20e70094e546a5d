"""Limits on spending: they stay with a run, count over all its invocations, and are raised or lifted by name."""

import asyncio
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dokimasia.gateway.doubles import CountingTransport
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.outcome import why_ended
from dokimasia.runs.requests import LIMITS
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, get_run
from dokimasia.storage.spending import spent_by
from tests.runs.conftest import Prepared
from tests.runs.kinds import KINDS, make

EVALUATE = KINDS["evaluate"]


def row_of(settings: Settings, run: str) -> Run:
    """The row of a run."""
    with Home.open(settings.home, write=False) as home:
        return get_run(home, run)


def counted(transport: Any = None) -> CountingTransport:
    """A transport that remembers what was sent."""
    return CountingTransport(transport or SimTransport())


async def gone_on(settings: Settings, run: str, **services: Any) -> tuple[Any, int]:
    """Resume a run; return what came of it and how many calls were sent."""
    transport = counted(services.pop("over", None))
    done = await resume(row_of(settings, run), settings=settings, transports={"sim": transport}, **services)
    return done, len(transport.sent)


def limits_of(settings: Settings, run: str) -> list[Any]:
    """The limits that are kept with a run."""
    return [row_of(settings, run).options["request"][name] for name in LIMITS]


async def test_a_limit_stays_and_counts_until_it_is_raised_or_lifted(world: Path, prepared: Prepared) -> None:
    """A resume without limits sends nothing more and says why; a larger limit adds the difference, and None lifts it."""
    settings = prepared(EVALUATE)
    part = await make(settings, world, EVALUATE, max_calls=8)
    for changes in (None, {}, {"fresh": False}):
        again, sent = await gone_on(settings, part.run, changes=changes)
        assert (again.end, sent) == ("spending", 0)
        assert "8 of at most 8 requests spent so far" in again.why
        assert "Raise it by a larger --max-calls, or lift it by --max-calls none" in again.why
    with Home.open(settings.home, write=False) as home:
        assert why_ended(home, get_run(home, part.run)) == again.why
    _, sent = await gone_on(settings, part.run, changes={"max_calls": 12})
    assert (sent, limits_of(settings, part.run)) == (4, [None, 12, None])
    assert (await gone_on(settings, part.run))[1] == 0
    done, _ = await gone_on(settings, part.run, changes={"max_calls": None})
    assert (done.end, limits_of(settings, part.run)) == ("complete", [None, None, None])


@pytest.mark.parametrize("limit", ["max_cost", "max_tokens"])
async def test_money_and_tokens_count_over_resumes(
    world: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """What was spent of dollars or tokens counts, and a further resume pays for no call beyond the limit."""
    monkeypatch.setattr("dokimasia.runs.plans.SIMULATED", "nothing/")  # which would cost nothing
    settings = prepared(EVALUATE)
    names = {"judge": "dear-judge", "models": ("dear",)}
    config = settings.home.with_suffix(".toml")
    prices = "input_price = 100.0\noutput_price = 100.0\n"
    config.write_text(
        f'[models.dear]\nmodel = "sim/strong"\n{prices}[models.dear-judge]\nmodel = "sim/judge"\n{prices}'
    )
    settings = load_settings(config=config, home=settings.home, env={})
    most = 1.5 if limit == "max_cost" else 15_000
    part = await make(settings, world, EVALUATE, **names, **{limit: most})
    assert part.end == "spending"
    if limit == "max_cost":
        assert re.search(r"\$\d+\.\d+ of at most \$1\.50 spent so far\.", part.why)
    with Home.open(settings.home, write=False) as home:
        before = spent_by(home, part.run)
    assert 0 < getattr(before, limit.removeprefix("max_")) <= 1.3 * most
    again, sent = await gone_on(settings, part.run)
    assert again.end == "spending"
    assert "of at most $1.50 spent" in again.why or limit != "max_cost"
    with Home.open(settings.home, write=False) as home:
        after = spent_by(home, part.run)
        [(calls, cost)] = home.all("SELECT count(*), sum(cost) FROM calls")
    assert after.calls == before.calls + sent == calls
    assert after.cost == pytest.approx(cost)
    assert getattr(after, limit.removeprefix("max_")) <= 1.3 * most


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.settings import load_settings
from dokimasia.simulation.serving.transport import SimTransport
from tests.runs.kinds import KINDS, make

def die(call):
    if len(transport.sent) > 9:
        os.kill(os.getpid(), signal.SIGKILL)

transport = CountingTransport(SimTransport(), fail=die)
settings = load_settings(config=Path(sys.argv[2]), home=Path(sys.argv[1]), env={})
services = {"transports": {"sim": transport}}
asyncio.run(make(settings, Path(sys.argv[3]), KINDS["evaluate"], services=services, max_calls=12))
"""


async def test_what_the_ledger_has_counts_after_a_kill(world: Path, prepared: Prepared) -> None:
    """A process that is killed loses no call of its count that the ledger has, so that a resume keeps the limit."""
    settings = prepared(EVALUATE)
    places = [str(settings.home), str(settings.home.with_suffix(".toml")), str(world)]
    died = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", KILLED, *places], capture_output=True, check=False
    )
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()[-2000:]
    with Home.open(settings.home, write=False) as home:
        [(run,)] = home.all("SELECT id FROM runs")
        [(kept,)] = home.all("SELECT count(*) FROM calls")
        spent = spent_by(home, run).calls
    assert 0 < kept <= spent
    again, sent = await gone_on(settings, run)
    assert again.end == "spending"
    assert sent == 12 - spent


DIES_WITH_CALLS_IN_FLIGHT = """
import asyncio, os, signal, sys
from pathlib import Path
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.settings import load_settings
from dokimasia.simulation.serving.transport import SimTransport
from tests.runs.kinds import KINDS, make

def hold(call):
    Path(sys.argv[6]).write_text(str(len(transport.sent)))
    os.kill(os.getpid(), signal.SIGKILL)

transport = CountingTransport(SimTransport(), hold=hold)
settings = load_settings(config=Path(sys.argv[2]), home=Path(sys.argv[1]), env={})
services = {"transports": {"sim": transport}}
limit = {sys.argv[4]: float(sys.argv[5])}
asyncio.run(make(settings, Path(sys.argv[3]), KINDS["evaluate"], services=services, **limit))
"""


@pytest.mark.parametrize(
    ("limit", "most", "fit"), [("max_calls", 1, 1), pytest.param("max_tokens", 4000, 3, marks=pytest.mark.full)]
)
async def test_requests_in_flight_at_a_kill_count(
    world: Path, prepared: Prepared, tmp_path: Path, limit: str, most: int, fit: int
) -> None:
    """Requests that had left when the process was killed count at their estimate, although no reply was stored."""
    settings, log = prepared(EVALUATE), tmp_path / "sent"
    config = settings.home.with_suffix(".toml")
    arguments = [str(settings.home), str(config), str(world), limit, str(most), str(log)]
    sent, ended = 0, -1
    for _ in range(fit + 1):
        log.write_text("0")
        command = [sys.executable, "-c", DIES_WITH_CALLS_IN_FLIGHT, *arguments]
        died = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)
        ended = died.returncode
        assert ended in (0, -signal.SIGKILL), died.stderr.decode()[-2000:]
        sent += int(log.read_text())
    with Home.open(settings.home, write=False) as home:
        [(run,)] = home.all("SELECT id FROM runs")
        assert home.all("SELECT count(*) FROM calls") == [(0,)]
        spending = spent_by(home, run)
    assert ended == 0
    assert 0 < sent <= spending.calls <= fit
    assert spending.cut_off == spending.calls
    assert (await gone_on(settings, run))[1] == 0


async def test_what_is_asked_anew_counts_and_a_fork_begins_with_nothing(world: Path, prepared: Prepared) -> None:
    """A retry is held against the limit of its run; a fork is a run of its own, without its parent's limit and spending."""
    settings = prepared(EVALUATE)
    faulty = {"transports": {"sim": SimTransport(faults=parse_faults(EVALUATE.faults))}}
    first = await make(settings, world, EVALUATE, services=faulty, max_calls=10_000)
    with Home.open(settings.home, write=False) as home:
        spent = spent_by(home, first.run).calls
    changes = {"max_calls": spent + 1}
    _, sent = await gone_on(settings, first.run, retry=("refused",), changes=changes)
    assert sent == 1
    done, _ = await gone_on(settings, first.run, changes={"max_calls": 10_000})
    assert done.complete
    parent = row_of(settings, first.run)
    asked, transport = ForkRequest(node="score", judge="sim/judge-careless"), counted()
    child = await fork(parent, asked, settings=settings, transports={"sim": transport})
    assert limits_of(settings, child.run) == [None, None, None]
    with Home.open(settings.home, write=False) as home:
        assert spent_by(home, child.run).calls == len(transport.sent)
