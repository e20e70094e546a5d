"""Answers to reads are given again as long as they hold, and never after what they rest on has changed."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from dokimasia.service import response_cache as answers
from dokimasia.service.guard import Limits
from dokimasia.service.state import Service
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, record_results
from dokimasia.storage.runs import Run, create_run, get_run, run_samples, set_status
from tests.processes import PATIENCE
from tests.report.conftest import Finished
from tests.service.conftest import asking, service_over
from tests.service.test_guard import TOKEN, tokens
from tests.service.waiting import Waits
from tests.service.working import working

PATHS = (
    "/",
    "/api/runs",
    "/api/runs/{run}",
    "/api/runs/{run}/items",
    "/api/runs/{run}/samples",
    "/api/runs/{run}/samples/{sample}",
    "/api/runs/{run}/report?format=md",
    "/runs/{run}?wait=true",
    "/runs/{run}/samples",
    "/runs/{run}/samples/{sample}",
)


@pytest.fixture
def copied(small: Finished, tmp_path: Path) -> Finished:
    """A copy of a home with a finished evaluation, to be written to."""
    shutil.copytree(small.home, tmp_path / "home")
    return small._replace(home=tmp_path / "home")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time by which answers grow old."""
    now = [1000.0]
    monkeypatch.setattr(answers, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every query that is sent to a home."""
    sent: list[str] = []
    reader = Home.reader

    def counted(home: Home) -> Any:
        sent.append("query")
        return reader(home)

    monkeypatch.setattr(Home, "reader", counted)
    return sent


def asked(service: Service, run: str) -> list[str]:
    """The paths of a run."""
    sample = run_samples(service.home, run)[0].sample_id
    return [path.format(run=run, sample=sample) for path in PATHS]


async def test_what_was_answered_is_answered_again_without_a_query(small: Finished, queries: list[str]) -> None:
    """The same read has the same bytes and headers, is counted under its route, and costs the home nothing."""
    with service_over(small.home) as service:
        paths = asked(service, small.run)
        async with asking(service) as client:
            for path in paths:
                await client.get(path)  # figures that take a moment are worked out, which changes what a list says
            first = [await client.get(path) for path in paths]
            queries.clear()
            again = [await client.get(path) for path in paths]
            assert queries == []
            told = (await client.get("/metrics")).text
    assert [one.status_code for one in first] == [200] * len(paths)
    assert [one.content for one in again] == [one.content for one in first]
    headers, headers_again = (
        [httpx.Headers({**one.headers, "x-request-id": ""}) for one in some] for some in (first, again)
    )
    assert headers_again == headers
    assert 'count{method="GET",route="/api/runs/{run}/items",status="200"} 3.0' in told


async def test_nothing_is_answered_again_once_something_changed(copied: Finished) -> None:
    """A new name, a new run and another status stand in the next answer, on every page that says them."""
    with service_over(copied.home) as service:
        paths = asked(service, copied.run)
        async with asking(service) as client:

            async def texts() -> list[str]:
                return [(await client.get(path)).text for path in paths]

            await texts()
            await client.patch(f"/api/runs/{copied.run}", json={"name": "otherwise", "tags": ["seen"]})
            found = dict(zip(PATHS, await texts(), strict=True))
            assert all("otherwise" in found[path] for path in PATHS if path.startswith("/r") or path == "/")
            assert "otherwise" in found["/api/runs"]
            await create_run(
                service.home, Run(id="f" * 16, method="evaluate", options=get_run(service.home, copied.run).options)
            )
            assert (await client.get("/api/runs")).json()["total"] == 2
            assert f"/runs/{'f' * 16}" in (await client.get("/")).text
            await set_status(service.home, copied.run, "failed")
            assert (await client.get(f"/api/runs/{copied.run}")).json()["status"] == "failed"


async def test_a_deleted_run_is_gone_from_every_answer(copied: Finished) -> None:
    """Right after a run was deleted nothing of it is answered, and no list names it."""
    async with working(copied.home) as (service, client):
        paths = asked(service, copied.run)
        for path in (*paths, *paths):
            assert (await client.get(path)).status_code == 200
        assert (await client.delete(f"/api/runs/{copied.run}")).status_code == 200
        for path in paths:
            reply = await client.get(path)
            assert (reply.status_code == 404) == (copied.run in path), path
            assert path.startswith(("/runs/", "/api/runs/")) or copied.run not in reply.text


async def test_a_decision_stands_in_the_next_answer(waiting: Waits) -> None:
    """What waits for people is counted anew as soon as somebody has decided."""
    run = waiting.runs["questions"]
    with service_over(waiting.home) as service:
        async with asking(service, cookies={"dokimasia_who": "ana"}) as client:
            before = [(await client.get(f"/api/runs/{run}")).json()["open_questions"] for _ in range(2)]
            item = (await client.get(f"/api/reviews/{run}")).json()["items"][0]["item"]
            said = {"action": "reply", "text": "It is blue.\nFinal answer: blue"}
            reply = await client.post(f"/api/reviews/{run}/{item}", json=said)
            assert reply.status_code in (200, 201), reply.text
            assert (await client.get(f"/api/runs/{run}")).json()["open_questions"] == before[0] - 1 == before[1] - 1


async def test_rows_of_a_run_at_work_are_read_once_a_second(copied: Finished, clock: list[float]) -> None:
    """While a run goes on, its rows are read once a second for all who ask; where it does not go on, not even that."""
    with service_over(copied.home) as service:
        home, path = service.home, f"/api/runs/{copied.run}/samples"
        await set_status(home, copied.run, "running")
        async with asking(service) as client:

            async def results() -> int:
                return sum(one["results"] for one in (await client.get(path)).json()["samples"])

            before = await results()
            row = ResultRow(
                run_id=copied.run,
                item="more",
                kind="more",
                sample_id=run_samples(home, copied.run)[0].sample_id,
                outcome="made",
            )
            await record_results(home, [row])
            assert await results() == before
            clock[0] += answers.FRESH
            assert [await results() for _ in range(2)] == [before + 1] * 2
            await record_results(home, [row.model_copy(update={"item": "still more"})])
            await set_status(home, copied.run, "done")
            assert await results() == before + 2


async def test_one_of_those_who_ask_makes_the_next_answer(clock: list[float]) -> None:
    """When an answer is a second old, one who asks makes the next, and others are given the old one for a second more."""
    answer = answers.CachedResponse([], b"", None, "stands", 1, clock[0])
    assert answer.is_reusable("stands", 2)
    clock[0] += answers.FRESH
    assert [answer.is_reusable("stands", 2) for _ in range(3)] == [False, True, True]
    assert answer.is_reusable("stands", 1)
    assert not answer.is_reusable("otherwise", 1)
    clock[0] += answers.FRESH
    assert not answer.is_reusable("stands", 2)


async def test_of_many_who_ask_after_a_change_one_makes_the_answer(copied: Finished, queries: list[str]) -> None:
    """Twenty who ask at once for what has changed cost the home what one does, and all are told the new state."""
    with service_over(copied.home) as service:
        async with asking(service) as client:
            path, cost = f"/api/runs/{copied.run}/samples", list[int]()
            await client.get(path)
            for many in (1, 20):
                await set_status(service.home, copied.run, "failed")
                queries.clear()
                told = await asyncio.gather(*(client.get(path) for _ in range(many)))
                cost.append(len(queries))
                assert {one.status_code for one in told} == {200}
            assert cost[0] == cost[1] > 0


async def test_what_takes_long_is_made_seldom(clock: list[float]) -> None:
    """An answer that took four seconds is given again for twenty."""
    answer = answers.CachedResponse([], b"", None, "stands", 1, clock[0], took=4.0)
    clock[0] += 19
    assert answer.is_reusable("stands", 2)
    clock[0] += 1
    assert [answer.is_reusable("stands", 2) for _ in range(2)] == [False, True]
    clock[0] += 20
    assert not answer.is_reusable("stands", 2)


async def test_runs_at_work_leave_answers_about_others_alone(copied: Finished, queries: list[str]) -> None:
    """What a run at work adds makes no answer about a finished one anew."""
    with service_over(copied.home) as service:
        async with asking(service) as client:
            paths = asked(service, copied.run)[1:]
            for path in (*paths, *paths):
                await client.get(path)
            row = ResultRow(run_id=copied.run, item="more", kind="more", sample_id="one", outcome="made")
            await record_results(service.home, [row])
            queries.clear()
            for path in paths:
                await client.get(path)
    assert queries == []


async def test_nobody_is_given_an_answer_to_another(small: Finished, tmp_path: Path) -> None:
    """An answer is given again to the same person alone, and to nobody without a token."""
    second = TOKEN.replace("reader", "second")
    known = tokens(tmp_path, f"ana read {TOKEN}\nbob read,run {second}\n")
    with service_over(small.home, tokens=known) as service:
        async with asking(service) as client:
            path = f"/runs/{small.run}?wait=true"
            for _ in range(2):
                hers, his = [
                    await client.get(path, headers={"authorization": f"Bearer {token}"}) for token in (TOKEN, second)
                ]
                assert ("Duplicate run" in hers.text, "Duplicate run" in his.text) == (False, True)
            assert (await client.get(path)).status_code == 401


async def test_figures_that_were_worked_out_meanwhile_are_shown(small: Finished) -> None:
    """A page that said that figures are worked out, and a list without them, are made anew once they are there."""
    with service_over(small.home) as service:
        async with asking(service) as client:
            assert 'hx-trigger="revealed"' in [(await client.get("/")).text for _ in range(2)][1]
            row = await client.get(f"/runs/{small.run}/row")
            async with asyncio.timeout(PATIENCE):
                while row.text.strip() not in (await client.get("/")).text:  # noqa: ASYNC110  # kept by a thread
                    await asyncio.sleep(0.05)


async def test_what_is_kept_is_bounded(small: Finished, monkeypatch: pytest.MonkeyPatch, queries: list[str]) -> None:
    """Beyond so many bytes the answer that was not asked for longest is forgotten, and a large one is not kept."""
    with service_over(small.home, limits=Limits(rate=10_000, burst=10_000)) as service:
        async with asking(service) as client:
            monkeypatch.setattr(answers, "MOST", 5 * len((await client.get("/api/runs")).content))
        async with asking(service) as client:

            async def read(number: int) -> bool:
                """Whether an answer was kept."""
                queries.clear()
                assert (await client.get(f"/api/runs?limit={number}")).status_code == 200
                return not queries

            assert not any([await read(number) for number in range(1, 10)])
            assert await read(9)
            assert not await read(1)
            monkeypatch.setattr(answers, "LARGEST", 10)
            assert [await read(20) for _ in range(2)] == [False, False]


async def test_a_home_that_others_write_to_is_read_each_time(small: Finished, queries: list[str]) -> None:
    """Over a home that is open for reading nothing is answered again, since nobody says when it changes."""
    with service_over(small.home) as service, Home.open(small.home, write=False) as reading:
        async with asking(Service(settings=service.settings, home=reading, runner=service.runner)) as client:
            for _ in range(2):
                queries.clear()
                assert (await client.get("/api/runs")).status_code == 200
                assert queries
