"""Many samples at once: bounded, in order, and without the slowest endpoint idling the others."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from dokimasia.domain.call import ModelCall
from dokimasia.domain.sample import Sample
from dokimasia.errors import Interrupted
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs import work as crowd
from dokimasia.runs.work import work_through
from dokimasia.settings import load_settings
from dokimasia.simulation.serving.transport import SimTransport
from tests.methods.conftest import SAMPLES
from tests.processes import PATIENCE

MODELS = """
[models.quick]
model = "sim/strong"
endpoint = "quick"
max_concurrency = 2

[models.slow]
model = "sim/weak"
endpoint = "slow"
max_concurrency = 2
"""


def made(count: int) -> list[Sample]:
    """Return samples that differ in their ids."""
    return [Sample(id=f"s{number}", prompt="What is this?") for number in range(count)]


async def test_the_slowest_endpoint_does_not_idle_the_others(
    tmp_path: Path, request_of: Callable[..., EvaluationRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that answers nothing before another has answered all does not stop a run with more samples than its window."""
    monkeypatch.setattr(crowd, "TICK", 0.01)
    assert crowd.IN_FLIGHT[0] < SAMPLES
    (tmp_path / "dokimasia.toml").write_text(MODELS)
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    all_asked = asyncio.Event()

    def hold(call: ModelCall) -> Awaitable[object] | None:
        """Let the slow model answer only when the quick one has been asked about every sample."""
        if transport.by_model["quick"] == SAMPLES:
            all_asked.set()
        return all_asked.wait() if call.model.name == "slow" else None

    transport = CountingTransport(SimTransport(), hold=hold)
    async with asyncio.timeout(PATIENCE):
        result = await evaluate(request_of(models=("quick", "slow")), settings=settings, transports={"sim": transport})
    assert result.complete
    assert transport.by_model["quick"] == transport.by_model["slow"] == SAMPLES


async def test_no_more_than_the_width_are_begun_while_all_go_on_evenly() -> None:
    """Without an endpoint that holds up others the width is never exceeded, and every sample is done once, begun in order."""
    running, most, begun = 0, 0, list[str]()

    async def do(sample: Sample) -> None:
        nonlocal running, most
        begun.append(sample.id)
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    samples = made(100)
    await work_through(iter(samples), do, width=10, report=lambda: None, endpoint_idles=lambda: False)
    assert most == 10
    assert begun == [sample.id for sample in samples]


async def test_more_are_begun_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long an endpoint idles, no more than `MOST` are in flight."""
    monkeypatch.setattr(crowd, "TICK", 0.001)
    monkeypatch.setattr(crowd, "MAX_IN_FLIGHT", 30)
    full, gate, running, most = asyncio.Event(), asyncio.Event(), 0, 0

    async def do(sample: Sample) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 30:
            full.set()
        await gate.wait()
        running -= 1

    async def open_later() -> None:
        await full.wait()
        await asyncio.sleep(0.01)
        gate.set()

    opening = asyncio.create_task(open_later())
    await work_through(iter(made(100)), do, width=10, report=lambda: None, endpoint_idles=lambda: True)
    await opening
    assert most == 30


@pytest.mark.parametrize(("processes", "expected"), [(1, 256), (3, 768)])
async def test_what_is_in_flight_grows_with_the_processes(processes: int, expected: int) -> None:
    """An endpoint that takes a thousand at once is sent 256 by one process, and as many by each of several."""
    most = running = 0
    gate = asyncio.Event()

    async def do(sample: Sample) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == expected:
            gate.set()
        await gate.wait()
        running -= 1

    await work_through(iter(made(1000)), do, width=1000, report=lambda: None, processes=processes)
    assert most == expected


async def test_a_problem_ends_the_work_once_those_in_flight_have_ended() -> None:
    """The first problem that is no interruption is raised, no sample is begun after it, and none in flight is dropped."""
    ended: list[str] = []

    async def do(sample: Sample) -> None:
        await asyncio.sleep(0)
        if sample.id == "s3":
            raise Interrupted("stopped")
        if sample.id == "s4":
            raise ValueError("broken")
        await asyncio.sleep(0.01)
        ended.append(sample.id)

    with pytest.raises(ValueError, match="broken"):
        await work_through(iter(made(100)), do, width=8, report=lambda: None, endpoint_idles=lambda: True)
    assert sorted(ended) == ["s0", "s1", "s2", "s5", "s6", "s7"]


async def test_cancelling_cancels_those_in_flight() -> None:
    """Whoever cancels the work is told only when nothing of it runs any more."""
    begun, all_begun, cancelled = 0, asyncio.Event(), 0

    async def do(sample: Sample) -> None:
        nonlocal begun, cancelled
        begun += 1
        if begun == 8:
            all_begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled += 1
            raise

    work = asyncio.create_task(
        work_through(iter(made(100)), do, width=8, report=lambda: None, endpoint_idles=lambda: False)
    )
    await all_begun.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert cancelled == 8
