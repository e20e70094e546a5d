"""Figures of a finished run that are kept: read again while nothing has changed, and computed anew after any change."""

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from dokimasia.domain.identity import JsonObject
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs import kept_figures
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.method import Method
from dokimasia.runs.persistence import delete_whole_run
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from tests.methods.conftest import Finished

Requests = Callable[..., EvaluationRequest]


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs whose figures were computed, in order; the figures of every run are kept."""
    runs: list[str] = []
    compute: Callable[..., JsonObject] = Method.json_figures

    def counted(method: Any, home: Any, run: Any) -> JsonObject:
        runs.append(run.id)
        return compute(method, home, run)

    monkeypatch.setattr(Method, "json_figures", counted)
    monkeypatch.setattr(kept_figures, "LEAST_ITEMS", 1)
    return runs


async def test_figures_are_computed_once_while_nothing_changes(
    settings: Settings, request_of: Requests, finished: Finished, computed: list[str]
) -> None:
    """The same command again has the same result; a damaged file is no result, and is mended."""
    request = request_of(limit=4)
    first = await finished(request)
    computed.clear()
    for _ in range(3):
        assert await evaluate(request, settings=settings) == first
    assert computed == [first.run]
    file = settings.home / "figures" / f"{first.run}.json"
    for damaged in (b"", b"{}", b"[1, 2]", file.read_bytes()[:-20]):
        file.write_bytes(damaged)
        assert await evaluate(request, settings=settings) == first
    assert computed == [first.run] * 5
    assert await evaluate(request, settings=settings) == first
    assert computed == [first.run] * 5


async def test_figures_follow_the_database_and_the_program(
    settings: Settings, request_of: Requests, finished: Finished, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is written, to whichever table, and another version of the program void what was kept."""
    request = request_of(limit=4)
    run = (await finished(request)).run
    before = (await evaluate(request, settings=settings)).summary
    with sqlite3.connect(settings.home / "dokimasia.db") as connection:
        connection.execute(
            "UPDATE results SET score = 5.0 WHERE run_id = ? AND model = 'sim/weak' AND score < 5", (run,)
        )
    connection.close()
    computed.clear()
    after = (await evaluate(request, settings=settings)).summary
    assert after["models"]["sim/weak"]["score"]["mean"] == 5.0 > before["models"]["sim/weak"]["score"]["mean"]
    assert (await evaluate(request, settings=settings)).summary == after
    assert computed == [run]
    await evaluate(request_of(limit=3), settings=settings)
    computed.clear()
    assert (await evaluate(request, settings=settings)).summary == after
    monkeypatch.setattr(kept_figures, "source_version", lambda: "another")
    assert (await evaluate(request, settings=settings)).summary == after
    assert computed == [run, run]


async def test_other_data_are_another_run(settings: Settings, request_of: Requests, computed: list[str]) -> None:
    """A data file that changed is read again, so that nothing that was kept is taken for its figures."""
    data = settings.home.parent / "data.jsonl"
    lines = request_of().data.read_bytes().splitlines(keepends=True)
    images = request_of().data.parent / "images"
    if images.is_dir():
        (data.parent / "images").symlink_to(images)
    results: list[RunResult] = []
    for count in (2, 3, 2):
        data.write_bytes(b"".join(lines[:count]))
        results.append(await evaluate(request_of(data=data, allow_outside=True), settings=settings))
    assert [result.summary["samples"] for result in results] == [2, 3, 2]
    assert results[0] == results[2]


async def test_kept_figures_go_with_their_run(
    settings: Settings, request_of: Requests, finished: Finished, computed: list[str]
) -> None:
    """A deleted run leaves no file with its figures."""
    request = request_of(limit=4)
    run = (await finished(request)).run
    await evaluate(request, settings=settings)
    folder = settings.home / "figures"
    assert [path.name for path in folder.iterdir()] == [f"{run}.json"]
    with Home.open(settings.home, write=True) as home:
        await delete_whole_run(home, run)
    assert not list(folder.iterdir())
