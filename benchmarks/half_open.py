"""An attack on the service while a run works: more half-sent requests than the process may have files open.

The service may have 1,024 descriptors. The attacker opens connections, sends half of a request's headers on each, and opens
another for each that is closed. Meanwhile a run asks a stub, and a health check asks the service once a second.
"""

import asyncio
import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from benchmarks.command import BenchmarkFailed, Options, run_benchmark, scratch, sized
from benchmarks.figures import Figure, Report
from benchmarks.stub import running_stub

DESCRIPTORS = 1024
HALF = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "
PATIENCE = 3.0
"""Seconds that a health check waits for its answer."""

CONFIGURATION = """
[models.A]
model = "openai/answerer"
api_base = "{url}"
max_concurrency = 32

[models.judge]
model = "openai/judge"
api_base = "{url}"
max_concurrency = 32
"""


def measure(options: Options) -> Report:
    """Attack for some seconds."""
    half_open = sized(options, quick=1_100, usual=1_100)
    seconds = sized(options, quick=5, usual=30)
    with scratch() as folder, running_stub(latency=0.1) as stub:
        found = asyncio.run(_attacked(folder, stub.url, half_open, seconds))
    figures = [
        Figure("health checks without an answer", found["unanswered"], target=0, rule="exactly", must=True),
        Figure("health checks", found["checks"]),
        Figure("tries of the run that failed", found["failed_tries"], target=0, rule="exactly", must=True),
        Figure("calls of the run that were answered meanwhile", found["answered"]),
        Figure("log written meanwhile", found["log_kb"], "KB", target=20.0, rule="at most", must=True),
    ]
    return Report("half_open", tuple(figures), (found,))


def _few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


async def _attacked(folder: Path, stub: str, half_open: int, seconds: int) -> dict[str, Any]:
    (folder / "dokimasia.toml").write_text(CONFIGURATION.format(url=stub))
    lines = [
        {"id": str(number), "prompt": f"What is {number} + 2?", "reference_answer": "4"} for number in range(20_000)
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    log = folder / "log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "dokimasia", "serve", "--port", "0", "--data-root", ".",
            cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=errors, preexec_fn=_few_descriptors,
            env={**os.environ, "OPENAI_API_KEY": "unused", "PYTHONPATH": str(Path.cwd())},
        )  # fmt: skip
    assert process.stdout is not None
    try:
        url = (await asyncio.wait_for(process.stdout.readline(), 60)).decode().strip()
        if not url:
            raise BenchmarkFailed(f"the service did not start: {log.read_text()[-1000:]}")
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            request = {"data": str(folder / "questions.jsonl"), "judge": "judge", "models": ["A"]}
            begun = await client.post("/api/runs/evaluate", json=request)
            if begun.status_code >= 300:
                raise BenchmarkFailed(f"the run was refused: {begun.text}")
            while await _calls(client, "answered") < 10:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            before, log_before = await _counts(client), log.stat().st_size
        attack = asyncio.create_task(_half_open(int(url.rpartition(":")[2]), half_open))
        checks, unanswered, until = 0, 0, time.monotonic() + seconds
        while time.monotonic() < until:
            await asyncio.sleep(1.0)
            checks += 1
            unanswered += not await _healthy(url)
        log_after = log.stat().st_size
        attack.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await attack
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            after = await _counts(client)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), 30)
        except TimeoutError:
            process.kill()
    return {
        "checks": checks,
        "unanswered": unanswered,
        "failed_tries": after["failed_tries"] - before["failed_tries"],
        "answered": after["answered"] - before["answered"],
        "log_kb": (log_after - log_before) / 1000,
    }


async def _healthy(url: str) -> bool:
    try:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            return (await client.get("/healthz")).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


async def _counts(client: httpx.AsyncClient) -> dict[str, int]:
    return {name: await _calls(client, name) for name in ("answered", "failed_tries")}


async def _calls(client: httpx.AsyncClient, name: str) -> int:
    text = (await client.get("/metrics")).text
    values = [line.split()[-1] for line in text.splitlines() if line.startswith(f"dokimasia_calls_{name}_total")]
    return int(sum(map(float, values)))


async def _half_open(port: int, count: int) -> None:
    """Keep `count` connections open that have sent half of their headers."""

    async def keep() -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.5)
                continue
            try:
                writer.write(HALF)
                await reader.read()
            except OSError:
                pass
            finally:
                writer.transport.abort()
            await asyncio.sleep(0.2)

    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(keep())


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure on the command line."""
    return run_benchmark("half_open", __doc__, measure, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
