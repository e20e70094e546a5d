"""The main pages in a browser: start, new run, results, settings; looked at, and used from the form to the results."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, expect

from tests.report.chromium import settled
from tests.report.conftest import Finished
from tests.runs.kinds import JUDGE
from tests.service.browser.conftest import copied, serving
from tests.service.browser.looking import (
    NARROW,
    Site,
    View,
    assert_accessible,
    assert_calm,
    assert_fits,
    assert_whole_words,
    look_over,
)
from tests.service.waiting import Waits

PAGES = ("/", "/?q=nothing", "/new", "/new/evaluate", "/new/filter", "/new/tree", "/settings", "/spending", "/nowhere")


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_calm_fit_and_accessible(workshop: Site, path: str, views: tuple[View, ...]) -> None:
    """Each page at both sizes, light and dark: no console error, no foreign request, no axe violation, nothing too wide."""
    look_over(workshop, path, views, tolerates="404" if path == "/nowhere" else "")


def test_results_are_calm_fit_and_accessible(workshop: Site, small: Finished, views: tuple[View, ...]) -> None:
    """A run's page with its report's sections and charts, its menus opened too."""
    look_over(workshop, f"/runs/{small.run}?wait=true", views)
    with workshop.opened(f"/runs/{small.run}?wait=true") as seen:
        for name in ("Compare models", "Download", "Next steps", "Manage"):
            seen.page.click(f"summary:has-text('{name}')")
            assert_accessible(seen.page)
        expect(seen.page.locator(".js-plotly-plot").nth(2)).to_be_attached()
        assert_calm(seen)


def assert_no_table_scrolls(site: Site, path: str) -> None:
    """On a phone, a page shows all of a row of its tables within its width."""
    with site.opened(path, size=NARROW) as seen:
        settled(seen.page)
        wide = "[...document.querySelectorAll('main .scroll')].filter((box) => box.scrollWidth > box.clientWidth + 1)"
        visible = f"{wide}.filter((box) => box.checkVisibility())"
        assert not seen.page.evaluate(f"{visible}.map((box) => box.innerText.slice(0, 200))"), path
        assert_whole_words(seen.page)


def test_tables_are_read_on_a_phone_without_scrolling_sideways(waiting: Waits) -> None:
    """Lists of runs, trees, reviews and models, and the verdict on a judge, fit a phone."""
    verdict = f"/judge-checks/verdict?name={JUDGE}&run={waiting.runs['probe']}"
    with serving(waiting.home) as site:
        for path in ("/compare", "/board", "/trees", "/review", "/models", "/data", "/spending", verdict):
            assert_no_table_scrolls(site, path)


def test_figures_are_read_on_a_phone_without_scrolling_sideways(site: Site, small: Finished) -> None:
    """The report of a run and the comparison of two of its models fit a phone."""
    for path in (f"/runs/{small.run}?wait=true", f"/compare?runs={small.run}&models=sim/strong,sim/weak"):
        assert_no_table_scrolls(site, path)


def test_runs_are_chosen_on_a_phone(site: Site, small: Finished) -> None:
    """Where a table of runs is read as cards, each card has a box of full size that can be ticked."""
    for path in ("/compare", "/board"):
        with site.opened(path, size=(320, 800)) as seen:
            seen.page.evaluate("document.querySelectorAll('table').forEach((table) => table.classList.add('stack'))")
            box = seen.page.locator(f"input[name=runs][value='{small.run}']")
            assert seen.page.locator("table.stack", has=box).count() == 1
            bounds = box.bounding_box()
            assert bounds is not None
            assert bounds["width"] >= 16
            box.check()


def test_cards_are_sorted_on_a_phone(site: Site, small: Finished) -> None:
    """A table that is read as cards keeps the buttons by which it is sorted."""
    with site.opened(f"/board?runs={small.run}", size=(320, 800)) as seen:
        table = settled(seen.page).locator("table.stack.sortable")
        models = table.locator("tbody [data-label=model]")
        before = models.all_inner_texts()
        assert len(before) == 2
        button = table.get_by_role("button", name="model")
        while models.all_inner_texts() == before:
            button.click()
        assert models.all_inner_texts() == before[::-1]
        assert_accessible(seen.page)


def test_results_come_when_they_are_drawn(small: Finished, tmp_path: Path) -> None:
    """A page whose figures take a moment says so, and shows them by itself."""
    with serving(copied(small.home, tmp_path / "home")) as site, site.opened(f"/runs/{small.run}") as seen:
        seen.page.wait_for_selector("#overview")
        assert "sim/strong" in seen.page.inner_text("#overview")
        assert_calm(seen)


def test_results_that_come_do_not_move_an_open_menu(site: Site, small: Finished) -> None:
    """A page whose results are ready waits while a menu is open, says so, and shows them once it is closed."""
    with site.opened(f"/runs/{small.run}?wait=true") as seen:
        page = seen.page
        page.click("summary:has-text('Download')")
        page.evaluate("window.before = true; document.dispatchEvent(new Event('dokimasia-reload'))")
        expect(page.locator("details.menu[open] .notice.good")).to_contain_text("The results are ready")
        assert page.evaluate("window.before")
        with page.expect_navigation():
            page.keyboard.press("Escape")
        assert page.evaluate("window.before") is None
        assert_calm(seen)


def test_results_that_come_take_nothing_that_was_typed(site: Site, small: Finished) -> None:
    """A menu in which something was typed can be closed: a line on the page leads to the results instead."""
    with site.opened(f"/runs/{small.run}?wait=true") as seen:
        page = seen.page
        page.click("summary:has-text('Manage')")
        page.fill("#tags", "draft")
        page.evaluate("window.before = true; document.dispatchEvent(new Event('dokimasia-reload'))")
        page.keyboard.press("Escape")
        expect(page.locator("main > .notice.good:has-text('The results are ready')")).to_be_visible()
        assert page.evaluate("window.before")
        assert page.input_value("#tags") == "draft"
        with page.expect_navigation():
            page.click("main > .notice.good a")
        assert_calm(seen)


def test_a_field_that_is_filled_anew_is_no_longer_faulted(workshop: Site) -> None:
    """The message beside it goes, and the summary names the fields that are left, or goes with the last."""
    with workshop.opened("/new/arena") as seen:
        page = seen.page
        page.click("button[value=start]")
        expect(page.locator("#problem")).to_contain_text("Data")
        left = page.locator(".field > .fault").count()
        page.set_input_files(
            "[data-upload=data]", {"name": "a.csv", "mimeType": "text/csv", "buffer": b"id,prompt\na,What is it?\n"}
        )
        expect(page.locator("[data-uploaded=data]")).to_contain_text("a.csv")
        expect(page.locator(".field > .fault")).to_have_count(left - 1)
        expect(page.locator("#problem")).not_to_contain_text("Data")
        assert page.locator("#data[aria-invalid]").count() == 0


def test_a_run_is_begun_from_the_form(workshop: Site) -> None:
    """Data are looked at, a fault stands beside its field, an estimate costs nothing, and a start leads to the results."""
    with workshop.opened("/new/evaluate") as seen:
        page = seen.page
        page.fill("#data", "world.jsonl")
        page.click("text=Look at the data")
        page.wait_for_selector("#data-shown img")
        page.fill("#judge", "sim/judge")
        page.fill("#models", "sim/strong")
        page.click("summary:has-text('Options')")
        page.fill("#repeats", "0")
        page.click("button:has-text('Estimate')")
        page.wait_for_selector(".fault")
        assert "enter 1 or more" in page.inner_text(".field:has(#repeats) .fault")
        assert page.input_value("#data") == "world.jsonl"
        seen.errors.clear()  # Chromium says on the console that the reply was 422
        page.fill("#repeats", "1")
        page.fill("#limit", "3")
        page.click("button:has-text('Estimate')")
        page.wait_for_selector("#estimate")
        settled(page)
        page.click("#estimate details.command > summary")
        assert "--limit 3" in page.inner_text("#estimate .mono >> nth=0")
        assert_fits(page)
        assert_accessible(page)
        page.click("button:has-text('Start')")
        page.wait_for_url("**/runs/*")
        page.wait_for_selector(".badge.done")
        page.goto(page.url)
        page.wait_for_selector("#overview")
        assert_calm(seen)
        page.goto(f"{workshop.url}/")
        expect(page.locator("tr:has-text('3 samples')")).to_have_count(1)


def test_an_uploaded_file_is_named_by_its_field(workshop: Site, tmp_path: Path) -> None:
    """A file that is chosen is uploaded, and stands in the field as an upload."""
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": "a", "prompt": "What is two and two?", "reference_answer": "4"}\n')
    with workshop.opened("/new/evaluate") as seen:
        seen.page.set_input_files('input[data-upload="data"]', file)
        expect(seen.page.locator("#data")).to_have_value(re.compile("^upload:"))
        seen.page.click("text=Look at the data")
        seen.page.wait_for_selector("#data-shown article")
        assert "What is two and two?" in seen.page.inner_text("#data-shown")
        assert_calm(seen)


def test_a_data_set_is_uploaded_on_its_page(workshop: Site, tmp_path: Path) -> None:
    """A file that is chosen on the page of data sets is listed there."""
    file = tmp_path / "chosen-here.csv"
    file.write_text("id,prompt,reference_answer\na,What is 1 + 1?,2\n", encoding="utf-8")
    with workshop.opened("/data") as seen:
        seen.page.set_input_files("#upload-form input[type=file]", file)
        expect(seen.page.get_by_role("rowheader", name="chosen-here.csv")).to_be_visible()


def test_a_data_set_is_looked_at_with_its_faults(workshop: Site, tmp_path: Path, views: tuple[View, ...]) -> None:
    """The list says what is wrong with a data set, and its page shows the rows that can be used."""
    file = tmp_path / "half-right.csv"
    file.write_text("id,prompt,reference_answer\na,What is 1 + 1?,2\n,What is 1 + 2?,3\n", encoding="utf-8")
    with workshop.opened("/data") as seen:
        seen.page.set_input_files("#upload-form input[type=file]", file)
        fault = seen.page.locator("tr", has_text="half-right.csv").locator(".notice")
        expect(fault).to_contain_text("half-right.csv, line 3")
        seen.page.get_by_role("link", name="Look at half-right.csv").click()
        seen.page.wait_for_selector("#data-shown article")
        assert "What is 1 + 1?" in seen.page.inner_text("#data-shown")
        assert_calm(seen)
        path = seen.page.url.removeprefix(workshop.url)
    look_over(workshop, path, views)
    assert_no_table_scrolls(workshop, "/data")


def test_runs_are_ticked_and_compared_on_a_small_screen(workshop: Site, small: Finished) -> None:
    """The box of a run has a size where there is little room, and leads to the comparison of its models."""
    with workshop.opened("/", size=NARROW) as seen:
        box = seen.page.locator(f"#tick-{small.run}")
        size = box.bounding_box()
        assert size is not None
        assert min(size["width"], size["height"]) >= 16
        box.click()
        expect(seen.page.locator("#ticked")).to_have_text("1 run selected")
        seen.page.get_by_role("button", name="Compare").click()
        expect(seen.page.get_by_role("heading", level=1)).to_contain_text("Compare")


def test_a_run_is_called_otherwise_and_deleted(workshop: Site, small: Finished) -> None:
    """Name and tags are changed on a run's page, found on the first, and a run goes after a question."""
    with workshop.opened(f"/runs/{small.run}?wait=true") as seen:
        page = seen.page
        page.click("summary:has-text('Manage')")
        page.fill("#name", "first")
        page.fill("#tags", "colours, shapes")
        page.click("button:has-text('Save')")
        page.wait_for_url(f"**/runs/{small.run}")
        assert page.inner_text("h1") == "first"
        page.click("a.chip:has-text('shapes')")
        assert page.inner_text("tbody th a.strong") == "first"
        page.goto(f"{workshop.url}/runs/{small.run}/delete")
        assert_accessible(page)
        page.click("text=Cancel")
        page.wait_for_url(f"**/runs/{small.run}")
        assert_calm(seen)


def test_a_name_at_this_browser_is_remembered(workshop: Site) -> None:
    """Without tokens a browser keeps the name of who sits at it, in a cookie that no script reads."""
    with workshop.opened("/settings") as seen:
        seen.page.fill("#name", "Żaneta O'Neil")
        with seen.page.expect_navigation():  # to the address at which it is already
            seen.page.click("button:has-text('Save')")
        assert seen.page.inner_text(".who .name") == "Żaneta O'Neil"
        assert seen.page.evaluate("document.cookie") == ""


@pytest.fixture(scope="module")
def attacked(hostile: Finished, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service over a home in which every text attacks its reader."""
    with serving(copied(hostile.home, tmp_path_factory.mktemp("attacked") / "home")) as site:
        yield site


@pytest.mark.parametrize("path", ["/", "/runs/last?wait=true", "/new/evaluate?from=last", "/settings"])
def test_no_text_runs_or_loads_anything(attacked: Site, path: str) -> None:
    """Script in ids, prompts, references, categories, model names and answers stays text on every page."""
    with attacked.opened(path) as seen:
        settled(seen.page)
        assert seen.page.evaluate("window.pwned") is None
        assert seen.page.locator("main iframe, main script").count() == 0
        assert_calm(seen)


def test_no_text_of_a_form_runs_anything(workshop: Site) -> None:
    """Script that is written into a form or an address comes back as text."""
    attack = "%22%3E%3Cscript%3Ewindow.pwned=1%3C/script%3E%3Cimg src=x onerror=window.pwned=2%3E"
    for path in (f"/new/evaluate?data={attack}&models={attack}", f"/?q={attack}&tag={attack}", f"/login?next={attack}"):
        with workshop.opened(path) as seen:
            settled(seen.page)
            assert seen.page.evaluate("window.pwned") is None
            assert_calm(seen)


def test_leaving_a_page_that_still_asks_is_calm(small: Finished, tmp_path: Path) -> None:
    """A request that the browser gives up since the page is left says nothing on the console."""
    with serving(copied(small.home, tmp_path / "home")) as site, site.opened("/settings") as seen:
        held: list[Any] = []
        seen.page.route("**/row", lambda route: held.append(route))
        with seen.page.expect_request("**/row"):
            seen.page.goto(f"{site.url}/")
        seen.page.goto(f"{site.url}/trees")
        assert seen.page.inner_text("h1") == "Capability trees"
        assert_calm(seen)
        for route in held:
            with suppress(Error):
                route.abort()
