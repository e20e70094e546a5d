"""A run that brings the service down does so three times at most: then it is set aside until a person goes on with it."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from dokimasia.methods.evaluation import METHOD, EvaluationRequest
from dokimasia.prompts import default_library
from dokimasia.runs.persistence import persist_run
from dokimasia.runs.session import Session
from dokimasia.service.engine import RunEngine
from dokimasia.service.queue import DEATHS
from dokimasia.settings import load_settings
from dokimasia.simulation.serving.server import running_server
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, get_run, note_run, set_status
from dokimasia.storage.threads import Queued, enqueue, mark_at_work, queue
from dokimasia.storage.verification import verify_home
from tests.cli.served import Served, configured, served
from tests.killing import held_back
from tests.processes import PATIENCE, run_program

LINE = {"id": "a", "prompt": "What is 2 + 2?", "reference_answer": "4"}
SAID = "the service died 3 times while this run was at work, so it does not go on by itself"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One sample."""
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(LINE))
    return path


def queued(home: Path) -> dict[str, tuple[int, int]]:
    """The runs in the queue of a home in order: whether each is at work, and its deaths."""
    with closing(sqlite3.connect(f"file:{home / 'dokimasia.db'}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT id, at_work, deaths FROM queue ORDER BY number").fetchall()
    return {id: (at_work or 0, deaths or 0) for id, at_work, deaths in rows}


def begun(service: Served, data: Path, seed: int) -> str:
    """The id of a run that is left to the service."""
    words = ("evaluate", data, "--judge", "J", "--models", "A", "--seed", seed, "--detach")
    ran = service.run(*words)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_a_run_at_work_in_three_deaths_is_set_aside(data: Path, tmp_path: Path) -> None:
    """Killed three times with a run at work, the service sets it aside and says why; the next begins; a resume counts anew."""
    home = tmp_path / "home"
    with running_server() as url, held_back(home, at=-3):
        configured(tmp_path, url, J="judge", A="strong")
        runs: list[str] = []
        for death in range(DEATHS):
            with served(home, "--width", 1) as service:
                if not runs:
                    runs.extend(begun(service, data, seed) for seed in (0, 1))
                assert service.process.until(lambda: queued(home)[runs[0]][0] == 1)
                assert queued(home) == {runs[0]: (1, death), runs[1]: (0, 0)}
                service.process.kill()
        with served(home, "--width", 1) as service:
            assert service.process.until(lambda: queued(home)[runs[1]][0] == 1)
            assert queued(home) == {runs[1]: (1, 0)}
            shown = httpx.get(f"{service.url}/api/runs/{runs[0]}").json()
            assert (shown["status"], shown["why"][: len(SAID)]) == ("interrupted", SAID)
            assert f"dokimasia resume {runs[0]}" in shown["why"]
            listed = httpx.get(f"{service.url}/api/runs").json()["runs"]
            assert {one["id"]: one["why"][: len(SAID)] for one in listed} == {runs[0]: SAID, runs[1]: ""}
            assert SAID.capitalize() in httpx.get(f"{service.url}/runs/{runs[0]}").text
            assert f"run {runs[0]}: {SAID}" in service.run("runs").stdout
            resumed = httpx.post(f"{service.url}/api/runs/{runs[0]}/resume", json={})
            assert resumed.json()["status"] == "queued", resumed.text
            assert queued(home)[runs[0]] == (0, 0)
            service.process.kill()
        assert SAID not in run_program(["runs", "--home", home], tmp_path).stdout
    with Home.open(home, write=True) as opened:
        assert [one.findings for one in verify_home(opened) if one.findings] == []


async def evaluation(home: Home, data: Path, **changes: Any) -> Run:
    """A run that is kept and not begun; `changes` are made to its stored plan and request."""
    settings = load_settings(home=home.path, cwd=data.parent, env={})
    request = EvaluationRequest(data=data, judge="sim/judge", models=("sim/strong",))
    accepted = await METHOD.accept_checked(request, Session(settings, home, default_library()))
    row, _ = await persist_run(METHOD, home, request, accepted)
    parts: Any = {part: {**row.options[part], **changes} for part in ("plan", "request")}
    await note_run(home, row, parts)
    return get_run(home, row.id)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


async def test_only_a_death_at_work_counts(data: Path, tmp_path: Path) -> None:
    """Neither a clean stop counts nor a death while a run waits for its turn; deaths before a stop are still counted after it."""
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    with Home.open(tmp_path / "home", write=True) as home:
        run = await evaluation(home, data)
        await enqueue(home, Queued(id=run.id, deaths=1))
        for _ in range(DEATHS):
            engine = RunEngine(settings, home, width=0)
            await engine.start()
            assert engine.queue.queued == [run.id]
            await engine.close()
        assert [(one.at_work, one.deaths) for one in queue(home)] == [(False, 1)]
        await mark_at_work(home, run.id)
        engine = RunEngine(settings, home, width=0)
        await engine.start()
        assert [(one.at_work, one.deaths) for one in queue(home)] == [(False, 2)]
        await mark_at_work(home, run.id)
        await engine.close()
        assert [(one.at_work, one.deaths) for one in queue(home)] == [(False, 2)]
        await mark_at_work(home, run.id)
        async with RunEngine(settings, home, width=0) as engine:
            assert (queue(home), engine.queue.queued) == ([], [])
            assert get_run(home, run.id).status == "interrupted"


async def test_a_run_that_waits_for_people_is_not_at_work(data: Path, tmp_path: Path) -> None:
    """A run whose person has not answered is marked as at rest, so that a death meanwhile is not its own."""
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    with Home.open(tmp_path / "home", write=True) as home:
        async with RunEngine(settings, home) as engine:
            request = EvaluationRequest(data=data, models=("human/ann",))
            run = await engine.submit("evaluate", request)
            assert (await engine.ended(run)).status == "waiting"
            assert [(one.id, one.at_work) for one in queue(home)] == [(run.id, False)]


def earlier_version(home: Path) -> None:
    """Bring a home back to the schema before deaths were counted."""
    with closing(sqlite3.connect(home / "dokimasia.db")) as connection:
        for column in ("at_work", "deaths", "payer"):
            connection.execute(f"ALTER TABLE queue DROP COLUMN {column}")
        connection.execute("ALTER TABLE decisions DROP COLUMN reasons")
        connection.execute("ALTER TABLE calls DROP COLUMN cached_tokens")
        for table in ("spending", "payers", "comments", "views"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute(
            "DELETE FROM _migrations WHERE number >= (SELECT number FROM _migrations WHERE name = 'deaths')"
        )
        connection.commit()


async def test_a_home_with_a_poisoned_run_starts_anew(data: Path, tmp_path: Path) -> None:
    """A run of five million items in the queue of an earlier version is set aside with the reason, and others are done."""
    path = tmp_path / "home"
    with Home.open(path, write=True) as home:
        run = await evaluation(home, data, repeats=5_000_000)
        await enqueue(home, Queued(id=run.id))
        await set_status(home, run.id, "running")
    earlier_version(path)
    with served(path) as service:
        async with httpx.AsyncClient(base_url=service.url, timeout=PATIENCE) as client:
            await until(
                lambda: httpx.get(f"{service.url}/api/runs/{run.id}").json()["status"] not in ("queued", "running")
            )
            shown = (await client.get(f"/api/runs/{run.id}")).json()
            assert (shown["status"], queued(path)) == ("failed", {})
            assert "--repeats 5000000, and the bound is 10000 now" in shown["why"]
            assert (await client.get("/api/health")).status_code == 200
            again = await client.post(f"/api/runs/{run.id}/resume", json={})
            assert again.status_code == 422
            done = await asyncio.to_thread(
                service.run, "evaluate", data, "--judge", "sim/judge", "--models", "sim/strong", "--seed", "1"
            )
            assert done.returncode == 0, done.stderr
            assert (await client.get(f"/runs/{run.id}")).status_code == 200
            assert (await client.delete(f"/api/runs/{run.id}")).status_code == 200
    refused = run_program(["resume", run.id, "--home", path], tmp_path)
    assert refused.returncode == 2
