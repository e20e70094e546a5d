"""Fingerprints in the report: there when a test was made, with a heat map and a table that sorts, in light and dark."""

import asyncio
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.methods.fingerprints import report as fingerprints
from dokimasia.runs.reading.reporting import report_data, write_report
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from tests.report.chromium import SCHEMES, opened
from tests.report.conftest import Finished, run_on


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A run whose fingerprints were tested."""
    folder = tmp_path_factory.mktemp("tested")
    write_world(folder / "world.jsonl", 28, 5)
    finished = run_on(folder / "world.jsonl", folder / "home", seed=5, judge="sim/judge")
    asked = ["--fingerprint", "--judge", "sim/judge", "--responses", "4"]
    assert run(["diagnose", finished.run, *asked, "--home", str(finished.home)]) == 0
    return finished


def test_a_run_without_a_test_has_no_such_section(small: Finished) -> None:
    """Nothing is matched for the report alone."""
    assert fingerprints.section(small.data()) is None


def test_a_key_in_a_name_is_redacted(tested: Finished) -> None:
    """Whatever the report redacts is redacted here, too."""

    async def data() -> object:
        with Home.open(tested.home, write=False) as home:
            found = await report_data(
                home, resolve_run(home, tested.run), redact=lambda text: text.replace("sim/", "x/")
            )
        return fingerprints.section(found)

    text = str(asyncio.run(data()))
    assert "x/judge" in text
    assert "sim/" not in text


@pytest.mark.parametrize("scheme", SCHEMES)
def test_in_the_browser(tested: Finished, tmp_path: Path, scheme: str) -> None:
    """The same twice to the byte; no error, no request, a drawn chart, and accuracies that sort by a click."""

    async def write(path: Path) -> Path:
        with Home.open(tested.home, write=False) as home:
            await write_report(home, resolve_run(home, tested.run), output=path)
        return path

    path, again = (asyncio.run(write(tmp_path / name)) for name in ("one.html", "two.html"))
    assert path.read_bytes() == again.read_bytes()
    with opened(path, scheme="dark" if scheme == "dark" else "light") as seen:
        section = seen.page.locator("section#fingerprints")
        assert section.count() == 1
        section.scroll_into_view_if_needed()
        folds = section.locator("details summary")
        if folds.count():
            folds.first.click()
        table = section.locator("table.sortable").first
        table.locator("thead th").nth(2).locator("button").click()
        shown = [text.strip() for text in table.locator("tbody tr td:nth-child(3)").all_inner_texts()]
        values = [float(text.replace("\u202f", "").rstrip(" %\u00a0")) for text in shown]
        assert values == sorted(values)
        assert not seen.errors
        assert not seen.requests
