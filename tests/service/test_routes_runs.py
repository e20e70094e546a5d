"""Runs over HTTP: listed, shown, called otherwise, exported, reported, compared, deleted."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Any

import httpx
import pytest
from click.testing import CliRunner

from dokimasia.cli.main import group
from dokimasia.errors import StorageError
from dokimasia.operations.operation import OperationContext
from dokimasia.operations.results import export
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run
from tests.report.conftest import Finished
from tests.service.conftest import asking, service_over
from tests.service.working import working

pytestmark = pytest.mark.quick


@pytest.fixture
async def client(small: Finished) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service over a home with one finished evaluation."""
    with service_over(small.home) as service:
        async with asking(service) as client:
            yield client


def printed(home: Path, *words: str) -> Any:
    """What the command line prints as JSON."""
    result = CliRunner().invoke(group, [*words, "--json", "--home", str(home)])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


async def test_a_run_is_listed_and_shown_as_the_command_line_prints_it(small: Finished) -> None:
    """The list, the figures, and a sample are those of `runs`, `show` and `show --sample`."""
    runs, shown = [await asyncio.to_thread(printed, small.home, *words) for words in (["runs"], ["show", small.run])]
    with service_over(small.home) as service:
        async with asking(service) as client:
            assert (await client.get("/api/runs")).json() == {"total": 1, "next": None, "runs": runs}
            found = (await client.get("/api/runs/last")).json()
            sample = (await client.get(f"/api/runs/{small.run}/samples")).json()["samples"][0]["sample"]
            whole = (await client.get(f"/api/runs/{small.run}/samples/{sample}?raw=true")).json()
    assert found["figures"] == shown
    words = ("show", small.run, "--sample", sample, "--raw")
    assert whole == await asyncio.to_thread(printed, small.home, *words)


async def test_lists_are_read_page_by_page_and_come_to_their_end(client: httpx.AsyncClient) -> None:
    """Pages follow each other without a gap or an entry twice; what is no page's `next` is refused."""
    for route, name in (("items", "items"), ("samples", "samples")):
        path, after, found = f"/api/runs/last/{route}", None, list[Any]()
        while True:
            page = (await client.get(path, params={"limit": 4, **({"after": after} if after else {})})).json()
            found += page[name]
            after = page["next"]
            if after is None:
                break
        whole = (await client.get(path, params={"limit": 500})).json()
        assert found == whole[name]
        assert len(found) == whole["total"] > 4
        assert (await client.get(path, params={"after": "no such entry"})).status_code == 422
    for limit in ("0", "501", "x"):
        assert (await client.get("/api/runs", params={"limit": limit})).status_code == 422


async def test_runs_are_found_by_method_status_and_text(client: httpx.AsyncClient) -> None:
    """Filters narrow the list, and one that nothing fits leaves it empty."""
    for query, total in (
        ("method=evaluate", 1),
        ("method=duel", 0),
        ("status=done", 1),
        ("status=running", 0),
        ("q=WORLD.jsonl", 1),
        ("q=nowhere", 0),
        ("tag=none", 0),
    ):
        assert (await client.get(f"/api/runs?{query}")).json()["total"] == total, query
    assert (await client.get("/api/runs?status=other")).status_code == 422


async def test_a_report_and_an_export_come_in_every_format(
    client: httpx.AsyncClient, small: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is kept from the service, Markdown and terminal are plain, and rows are those of `dokimasia export`."""
    page = await client.get("/api/runs/last/report")
    assert page.headers["content-type"].startswith("text/html")
    assert "sandbox" in page.headers["content-security-policy"]
    assert "\n# " in (await client.get("/api/runs/last/report?format=md")).text
    plain = await client.get("/api/runs/last/report?format=terminal&width=60")
    assert plain.headers["content-type"].startswith("text/plain")
    assert "\x1b" not in plain.text
    assert max(map(len, plain.text.splitlines())) <= 60
    assert "\x1b[" in (await client.get("/api/runs/last/report?format=terminal&colour=true")).text
    rows = (await client.get("/api/runs/last/export")).content
    words = ["export", small.run, "--home", str(small.home)]
    exported = await asyncio.to_thread(CliRunner().invoke, group, words)
    assert rows == exported.stdout_bytes
    monkeypatch.setattr("dokimasia.operations.results.IN_MEMORY", 100)
    long = await client.get("/api/runs/last/export")
    assert (long.content, long.headers["content-length"]) == (rows, str(len(rows)))
    assert (await client.get("/api/runs/last/export?format=csv")).headers["content-type"].startswith("text/csv")
    other = await client.get("/api/runs/last/export?format=vlmevalkit")
    assert other.status_code == 422
    assert "jsonl, csv, excel, xlsx, parquet" in other.json()["detail"]


async def test_an_export_that_fails_leaves_no_file_open(small: Finished, monkeypatch: pytest.MonkeyPatch) -> None:
    """The temporary file is closed where its rows cannot be written; otherwise the reply closes it."""
    files: list[IO[bytes]] = []

    async def write(home: Home, run: Run, format: str, file: IO[bytes]) -> int:
        files.append(file)
        raise StorageError("the disk is full")

    with Home.open(small.home, write=False) as home:
        context = OperationContext(settings=Settings(home=small.home), home=home)
        reply = await asyncio.to_thread(export, context, "last")
        assert reply.data
        monkeypatch.setattr("dokimasia.operations.results.write_export", write)
        with pytest.raises(StorageError):
            await asyncio.to_thread(export, context, "last")
    assert files[0].closed


async def test_an_image_of_the_home_never_changes_and_no_other_is_given(client: httpx.AsyncClient) -> None:
    """An image has its own media type, may be kept for ever and runs nothing; what is no image of the home is not there."""
    view = (await client.get("/api/runs/last/items?limit=1")).json()["items"][0]["sample"]
    whole = json.dumps((await client.get(f"/api/runs/last/samples/{view}?raw=true")).json())
    sha256 = whole.partition('"sha256": "')[2][:64]
    reply = await client.get(f"/api/images/{sha256}")
    assert reply.headers["content-type"] == "image/png"
    assert "immutable" in reply.headers["cache-control"]
    assert "sandbox" in reply.headers["content-security-policy"]
    again = await client.get(f"/api/images/{sha256}", headers={"if-none-match": reply.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert (await client.get(f"/api/images/{'0' * 64}")).status_code == 404
    for name in ("../lock", "..%2F..%2Fdokimasia.db", "0" * 63, "A" * 64):
        assert (await client.get(f"/api/images/{name}")).status_code in (404, 422), name


async def test_what_is_not_there_is_told_in_the_sentence_of_the_command_line(client: httpx.AsyncClient) -> None:
    """An unknown run, sample, method or prompt is 404 with what there is instead; two runs that are one are not compared."""
    for path, part in (
        ("/api/runs/ffff", "The newest are"),
        ("/api/runs/last/samples/none", "there are 21"),
        ("/api/methods/none", "there are evaluate"),
        ("/api/prompts/none", "'none'"),
        ("/api/trees/none", "no tree yet"),
        ("/api/passports/nobody", "nobody"),
    ):
        reply = await client.get(path)
        assert reply.status_code == 404, path
        assert reply.headers["content-type"] == "application/problem+json"
        assert part in reply.json()["detail"]
    assert (await client.get("/api/diff?runs=last")).status_code == 422
    assert (await client.get("/api/diff?runs=last,last")).status_code == 422
    both = await client.get("/api/diff?runs=last,last&models=sim/strong,sim/weak")
    assert both.json()["pairs"][0]["first_model"] == "sim/strong"


async def test_a_run_is_called_otherwise_and_gets_other_tags(small: Finished, tmp_path: Path) -> None:
    """A name serves in the place of the id, tags stand in the place of those before, and what is no name is refused."""
    home = Path(shutil.copytree(small.home, tmp_path / "home"))
    with service_over(home) as service:
        async with asking(service) as client:
            named = await client.patch("/api/runs/last", json={"name": "first", "tags": ["b", "a"]})
            assert (named.json()["name"], named.json()["tags"]) == ("first", ["a", "b"])
            assert (await client.patch("/api/runs/first", json={"tags": ["c"]})).json()["tags"] == ["c"]
            assert (await client.get("/api/runs?tag=c")).json()["runs"][0]["name"] == "first"
            assert (await client.get("/api/runs?tag=a")).json()["total"] == 0
            for body in ({"name": "last"}, {"name": "a/b"}, {"tags": "a"}, {"tags": [1]}, {"colour": "red"}, []):
                assert (await client.patch("/api/runs/first", json=body)).status_code == 422, body
            for body, kind, status in ((b"{", "application/json", 422), (b"{}", "text/plain", 415), (b"", "", 415)):
                reply = await client.patch("/api/runs/first", content=body, headers={"content-type": kind})
                assert reply.status_code == status, body


async def test_a_run_that_others_rest_on_is_deleted_by_force_alone(small: Finished, tmp_path: Path) -> None:
    """What was made from a run is named before it goes; a run at work stays."""
    home = Path(shutil.copytree(small.home, tmp_path / "home"))
    async with working(home) as at_work:
        client = at_work.client
        made = await client.post(f"/api/runs/{small.run}/fork", json={"judge": "sim/judge", "node": "score"})
        assert made.status_code == 201, made.text
        fork = made.json()["id"]
        assert (await client.get(f"/api/runs/{fork}")).json()["forked_from"]["run"] == small.run
        await at_work.ended(fork)
        refused = await client.delete(f"/api/runs/{small.run}")
        assert refused.status_code == 409
        assert fork in refused.json()["detail"]
        gone = await client.delete(f"/api/runs/{small.run}?force=true")
        assert gone.json()["results"] > 0
        assert (await client.get(f"/api/runs/{small.run}")).status_code == 404


async def test_no_secret_leaves_in_any_reply(small: Finished) -> None:
    """A key that stands in what a route would answer is replaced."""
    from dokimasia.log import Redactor

    with service_over(small.home, redact=Redactor(["world.jsonl"])) as service:
        async with asking(service) as client:
            for path in (
                "/api/runs",
                "/api/runs/last",
                "/api/runs/last/report?format=terminal",
                "/api/runs/world.jsonl",
            ):
                assert "world.jsonl" not in (await client.get(path)).text, path


def test_the_fields_of_a_listed_run_are_its_own() -> None:
    """What a list says of a run are fields of runs."""
    from dokimasia.runs.reading.inspection import FIELDS

    assert set(Run.model_fields) >= FIELDS
