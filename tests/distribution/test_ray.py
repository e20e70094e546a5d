"""Workers that Ray starts: the same bytes, also when their processes are killed."""

import asyncio
import os
import platform
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.distribution import worker_config
from dokimasia.distribution.cluster import Cluster
from dokimasia.errors import ConfigError
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.server import running_server
from tests.killing import committed, held_back, requests_of, sent_requests
from tests.runs.conftest import Finished, Prepared
from tests.runs.kinds import KINDS, make

pytestmark = pytest.mark.full

EVALUATE = KINDS["evaluate"]
MODELS = "".join(
    f'[models."{name}"]\nmodel = "openai/{name}"\nendpoint = "planted"\napi_base = "{{url}}"\ntransport = "direct"\n'
    "max_concurrency = 4\nstart_concurrency = 4\n"
    for name in ("sim/judge", "sim/strong", "sim/weak")
)


async def test_processes_come_to_the_same_bytes(
    world: Path, prepared: Prepared, finished: Finished, ray: Cluster
) -> None:
    """Walked by processes that Ray starts, a run comes to the bytes that one process comes to."""
    _, whole = finished(EVALUATE)
    done = await make(prepared(EVALUATE), world, EVALUATE, workers=2, address=ray.address)
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)
    assert len(ray.living) == 2


async def in_the_middle(settings: Settings, running: "asyncio.Future[Any]") -> None:
    """Wait until some calls are committed, and the run goes on."""
    while committed(settings.home) < 10 and not running.done():  # noqa: ASYNC110 - another process writes it
        await asyncio.sleep(0.05)
    assert not running.done(), "it ended before anything could happen to it"


async def test_a_killed_process_costs_its_calls_in_flight(
    world: Path, tmp_path: Path, ray: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """A worker's process that is killed loses its calls in flight: the endpoint is asked no committed call again.

    What Ray has to say of it is not printed among the figures.
    """
    log, config = tmp_path / "log", tmp_path / "dokimasia.toml"
    with running_server(latency=0.2, log_path=log) as url:
        config.write_text(MODELS.format(url=url))
        settings = load_settings(config=config, home=tmp_path / "home", env={})
        running = asyncio.ensure_future(make(settings, world, EVALUATE, workers=2, address=ray.address))
        with held_back(settings.home, at=10):
            await in_the_middle(settings, running)
            killed = next(iter(ray.living))
            os.kill(killed, signal.SIGKILL)
        kept, before = requests_of(settings.home), len(sent_requests(log))
        done = await running
    assert done.complete
    assert killed not in ray.living
    after = sent_requests(log)[before:]
    assert not kept & set(after)
    assert "raylet" not in capsys.readouterr().out


async def test_a_stopped_process_is_replaced_and_asks_nothing_when_it_goes_on(
    world: Path, tmp_path: Path, ray: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker's process that is stopped is taken for dead, and sends none of the calls that it had when it goes on."""
    monkeypatch.setattr(worker_config, "PATIENCE", 6.0)
    log, config = tmp_path / "log", tmp_path / "dokimasia.toml"
    with running_server(latency=0.2, log_path=log) as url:
        config.write_text(MODELS.format(url=url))
        settings = load_settings(config=config, home=tmp_path / "home", env={})
        running = asyncio.ensure_future(make(settings, world, EVALUATE, workers=2, address=ray.address))
        with held_back(settings.home, at=10):
            await in_the_middle(settings, running)
            hired = set(ray.living)
            stopped = next(iter(ray.living))
            os.kill(stopped, signal.SIGSTOP)
        kept, before = requests_of(settings.home), len(sent_requests(log))
        while stopped in ray.living and not running.done():  # noqa: ASYNC110 - time passes
            await asyncio.sleep(0.02)
        with suppress(ProcessLookupError):  # Ray ends it in some seconds, stopped as it is
            os.kill(stopped, signal.SIGCONT)
        done = await running
    assert done.complete
    assert stopped not in ray.living
    after = sent_requests(log)
    assert not kept & set(after[before:])
    lost = hired - set(ray.living)  # a machine that stands still for as long may cost the other one, too
    assert len(after) - len(set(after)) <= 4 * len(lost)


async def test_a_process_of_another_version_is_refused(ray: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that Ray starts and that runs other sources than the driver is refused, with its machine, and ended."""
    monkeypatch.setattr(ray, "_idle", [])
    monkeypatch.setattr("dokimasia.distribution.cluster.source_version", lambda: "another")
    before = dict(ray.living)
    with pytest.raises(ConfigError, match=f"{platform.node()} runs another version of dokimasia.*this is another"):
        await ray.start_worker()
    assert ray.living == before
