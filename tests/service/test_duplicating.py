"""A run duplicated in the form of a new run: its files are named though they are no uploads, and one that is gone says so."""

import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from dokimasia.cli.main import run as run_command
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import list_runs
from tests.service.working import working

BROWSER = {"accept": "text/html"}


@pytest.fixture
def commanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a run whose data file lies elsewhere, as the command line was given it."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "elsewhere" / "world.jsonl", 7, 3)
    asked = ["evaluate", "elsewhere/world.jsonl", "--judge", "sim/judge", "--models", "sim/strong", "--limit", "1"]
    assert run_command([*asked, "--home", "home"]) == 0
    return tmp_path


def field(text: str, name: str) -> str:
    """What a field of the form holds."""
    match = re.search(rf'<input id="{name}" name="{name}" value="([^"]*)"', text)
    assert match
    return unescape(match[1])


async def test_a_run_of_the_command_line_is_duplicated(commanded: Path) -> None:
    """The data file is named by the run, never by its path, and a run of it begins."""
    async with working(commanded / "home") as at:
        (run,) = list_runs(at.service.home)
        page = await at.client.get(f"/new/evaluate?from={run.id}", headers=BROWSER)
        data = field(page.text, "data")
        assert (page.status_code, data) == (200, f"run:{run.id}/world.jsonl")
        assert str(commanded) not in page.text
        assert 'class="fault"' not in page.text
        form = {"data": data, "judge": "sim/judge", "models": "sim/weak", "limit": "1", "do": "start"}
        begun = await at.client.post("/new/evaluate", data=form, headers=BROWSER)
        assert begun.status_code == 303, begun.text
        assert (await at.ended(begun.headers["location"].rpartition("/")[2]))["status"] == "done"
        over_http = {"data": data, "judge": "sim/judge", "models": ["sim/steady"], "limit": 1}
        assert (await at.client.post("/api/runs/evaluate", json=over_http)).is_success


async def test_a_file_that_is_gone_says_so_at_once(commanded: Path) -> None:
    """The form opens with the fault beside the field, before anything is filled in."""
    shutil.rmtree(commanded / "elsewhere")
    async with working(commanded / "home") as at:
        (run,) = list_runs(at.service.home)
        page = await at.client.get(f"/new/evaluate?from={run.id}", headers=BROWSER)
        assert page.status_code == 200
        fault = re.search(r'class="fault"[^>]*>([^<]*)', page.text)
        assert fault
        assert "is not there any more: upload it again" in fault[1]
        assert str(commanded) not in unescape(page.text)


@pytest.mark.parametrize("name", ["../../etc/passwd", "passwd", "/etc/passwd", "", "world.jsonl/x", "."])
async def test_no_other_file_is_named_by_a_run(commanded: Path, name: str) -> None:
    """Only the files of its request are; texts of the request that look like paths are none."""
    home = commanded / "home"
    async with working(home) as at:
        sent = {"data": "", "judge": "sim/judge", "models": ["sim/weak"], "limit": 1, "prompt": "/etc/passwd"}
        (run,) = list_runs(at.service.home)
        first = await at.client.post("/api/runs/evaluate", json={**sent, "data": f"run:{run.id}/world.jsonl"})
        assert first.is_success, first.text
        for id in (run.id, first.json()["id"], "unknown", ""):
            reply = await at.client.post("/api/runs/evaluate", json={**sent, "data": f"run:{id}/{name}"})
            assert reply.status_code in (404, 422), reply.text
            assert "root:" not in reply.text


def test_fields_of_stored_requests_stay_readable(commanded: Path) -> None:
    """The stored request names the file by its whole path, which is what a duplicate rests on."""
    with Home.open(commanded / "home", write=False) as home:
        (run,) = list_runs(home)
        assert run.request["data"] == str(commanded / "elsewhere" / "world.jsonl")
