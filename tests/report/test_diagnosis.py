"""The diagnosis in the report: there when the run was diagnosed, sortable, and open to its evidence by a click."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dokimasia.cli.main import run
from dokimasia.methods.diagnosis import report as diagnosis
from dokimasia.report.blocks import Block, Chart, Fold, Only, Table
from dokimasia.report.sections import sections_of
from dokimasia.runs.reading.reporting import write_report
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from tests.report.chromium import SCHEMES, opened, until
from tests.report.conftest import Finished, run_on


@pytest.fixture(scope="module")
def diagnosed(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A run with a diagnosis that is kept."""
    folder = tmp_path_factory.mktemp("diagnosed")
    write_world(folder / "world.jsonl", 42, 5)
    finished = run_on(folder / "world.jsonl", folder / "home", seed=5, judge="sim/judge")
    write = ["--write", "--judge", "sim/judge-fabulist"]
    assert run(["diagnose", finished.run, *write, "--home", str(finished.home)]) == 0
    return finished


def page_of(finished: Finished, path: Path) -> Path:
    """The report, written."""

    async def write() -> None:
        with Home.open(finished.home, write=False) as home:
            await write_report(home, resolve_run(home, finished.run), output=path)

    asyncio.run(write())
    return path


def test_a_run_that_was_not_diagnosed_has_no_such_section(small: Finished) -> None:
    """Nothing is computed for the report alone."""
    assert diagnosis.section(small.data()) is None


def test_the_report_is_the_same_twice_and_in_markdown_too(diagnosed: Finished, tmp_path: Path) -> None:
    """Equal rows give equal bytes; the document has the same tables without the charts."""
    one, other = (page_of(diagnosed, tmp_path / f"{name}.html").read_bytes() for name in ("one", "other"))
    assert one == other
    text = page_of(diagnosed, tmp_path / "report.md").read_text()
    assert "Diagnosis" in text
    assert "Right answer, wrong reason" in text
    assert "In words, by sim/judge-fabulist" in text
    assert "printed by the program" in text
    assert re.search(r"\*[\d.]+ points of 100 \\\[95 % interval [\d.]+ to [\d.]+\\\]\*", text)
    assert "unverified: " in text


@pytest.mark.parametrize("scheme", SCHEMES)
def test_in_the_browser_tables_sort_and_bars_open_their_evidence(
    diagnosed: Finished, tmp_path: Path, scheme: str
) -> None:
    """No error; a click on a column's title sorts, once up, twice down; a click on a bar opens the atoms behind it."""
    path = page_of(diagnosed, tmp_path / "report.html")
    with opened(path, scheme="dark" if scheme == "dark" else "light") as seen:
        section = seen.page.locator("section#diagnosis")
        assert section.count() == 1
        fold = section.locator("details", has=seen.page.locator("table.sortable")).first
        fold.locator("summary").first.click()
        table = fold.locator("table.sortable").first
        title = table.locator("thead th").nth(1)

        def keys() -> list[float]:
            cells = table.locator("tbody tr td:nth-child(2)").all()
            return [float(told) for cell in cells if (told := cell.get_attribute("data-sort")) is not None]

        title.locator("button").click()
        assert keys() == sorted(keys())
        assert title.get_attribute("aria-sort") == "ascending"
        title.locator("button").click()
        assert keys() == sorted(keys(), reverse=True)
        bar = section.locator(".plot").first.locator(".bars .point path").first
        bar.scroll_into_view_if_needed()
        box = bar.bounding_box()
        assert box is not None
        seen.page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
        seen.page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
        expect(seen.page.locator("details[id^=why-][open]").first).to_be_visible()
        assert "unverified: " in str(section.inner_text())
        cited = section.locator(":is(p, li) a.cited").first
        cited.click()
        place = str(cited.get_attribute("href")).removeprefix("#")
        expect(seen.page.locator(f'details[id="{place}"]')).to_have_attribute("open", "")
        assert seen.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert not seen.errors
        assert not seen.requests


def test_on_a_narrow_screen_a_reference_leads_to_the_title_of_its_evidence(diagnosed: Finished, tmp_path: Path) -> None:
    """However long the atoms behind it are, the title of what was opened is in view, below the bar at the top."""
    with opened(page_of(diagnosed, tmp_path / "report.html")) as seen:
        seen.page.set_viewport_size({"width": 400, "height": 800})
        cited = seen.page.locator("section#diagnosis :is(p, li) a.cited").first
        place = str(cited.get_attribute("href")).removeprefix("#")
        cited.focus()
        seen.page.keyboard.press("Enter")
        until(
            seen.page,
            """id => {
                const title = document.getElementById(id).firstElementChild;
                const bar = document.querySelector(".top").getBoundingClientRect().bottom;
                const { top, bottom } = title.getBoundingClientRect();
                return document.activeElement === title && top >= bar && bottom <= window.innerHeight;
            }""",
            place,
        )
        assert not seen.errors


def test_scores_of_100_name_what_they_count(diagnosed: Finished) -> None:
    """Tables and axes with scores from 0 to 100 say whether they are of criteria or of samples."""
    counted: list[str] = []

    def read(blocks: Sequence[Block]) -> None:
        for block in blocks:
            if isinstance(block, Table):
                counted.extend(f"{one.title}: {one.meaning}" for one in block.columns if "0 to 100" in one.meaning)
            elif isinstance(block, Chart):
                title = block.figure["layout"].get("xaxis", {}).get("title", {}).get("text", "")
                counted.extend([title] if "of 100" in title else [])
            elif isinstance(block, Fold | Only):
                read(block.blocks)

    for section in sections_of(diagnosed.data()):
        read(section.blocks)
    assert counted
    assert [text for text in counted if "criteri" not in text and "sample" not in text] == []


def test_labels_of_the_radar_are_whole_on_a_phone(diagnosed: Finished, tmp_path: Path) -> None:
    """At 400 pixels the names of all spokes lie within the chart."""
    with opened(page_of(diagnosed, tmp_path / "report.html"), size=(400, 800)) as seen:
        seen.page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        cut = """() => [...document.querySelectorAll('.plot:has(.polar)')].flatMap((plot) => {
            const outer = plot.getBoundingClientRect();
            return [...plot.querySelectorAll('.angularaxistick text')].filter((text) => {
                const inner = text.getBoundingClientRect();
                return inner.left < outer.left || inner.right > outer.right;
            }).map((text) => text.textContent);
        })"""
        expect(seen.page.locator(".plot .angularaxistick text").nth(2)).to_be_attached()
        assert seen.page.evaluate(cut) == []
        assert (seen.errors, seen.requests) == ([], [])
