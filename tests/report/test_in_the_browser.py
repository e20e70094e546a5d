"""The report in a real browser: quiet, alone, usable by keyboard, and of the same figures as `show --json`."""

import asyncio
import json
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from dokimasia.cli.main import run
from dokimasia.runs.reading.reporting import write_report
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from tests.report.chromium import SCHEMES, opened, settled, until, wait_for
from tests.report.conftest import Finished, run_on

Scheme = Literal["light", "dark"]


def written(finished: Finished, path: Path, *, samples: int = 60) -> Path:
    """The report on a run, as a page."""

    async def write() -> Path:
        with Home.open(finished.home, write=False) as home:
            return (await write_report(home, resolve_run(home, finished.run), output=path, samples=samples)).path

    return asyncio.run(write())


def shown(finished: Finished, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What `show --json` prints of a run."""
    assert run(["show", finished.run, "--json", "--home", str(finished.home)]) == 0
    return json.loads(capsys.readouterr().out)


def at(value: Any, pointer: str) -> Any:
    """The value at a JSON pointer."""
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part.replace("~1", "/").replace("~0", "~")]
    return value


def number(text: str) -> float:
    """A figure as it is written, as a number; percent as a share."""
    plain = text.replace(",", "").replace("$", "").replace("\N{MINUS SIGN}", "-").strip("<> ")
    return float(plain.rstrip("% \N{NO-BREAK SPACE}")) / 100 if plain.endswith("%") else float(plain)


def last_digit(text: str) -> float:
    """One unit of the last digit that is written."""
    plain = text.strip("% $<>\N{NO-BREAK SPACE}")
    decimals = len(plain.partition(".")[2])
    return 10.0**-decimals / (100 if text.rstrip().endswith("%") else 1)


def check_figures(page: Page, figures: dict[str, Any]) -> int:
    """Hold the page's embedded figures and each figure that it shows against `show --json`; return how many it shows."""
    assert json.loads(page.locator("#figures").text_content() or "") == figures
    spans = page.eval_on_selector_all(
        "[data-figure]", "all => all.map(one => [one.dataset.figure, one.dataset.value, one.textContent])"
    )
    for pointer, value, text in spans:
        expected = at(figures, pointer)
        assert float(value) == expected, pointer
        assert abs(number(text) - expected) <= 0.5001 * last_digit(text), (pointer, text, expected)
    return len(spans)


def check_charts(page: Page) -> int:
    """Every chart is drawn; return how many there are."""
    drawn = page.eval_on_selector_all(".plot", "all => all.map(one => one.querySelectorAll('.trace').length)")
    assert drawn
    assert all(drawn)
    return len(drawn)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_small_demo(small: Finished, tmp_path: Path, capsys: pytest.CaptureFixture[str], scheme: Scheme) -> None:
    """The page opens without an error or a request, in the system's colours, with the figures of `show --json`."""
    page_file, figures = written(small, tmp_path / "report.html"), shown(small, capsys)
    assert page_file.stat().st_size < 8_000_000
    with opened(page_file, scheme=scheme) as seen:
        assert check_figures(seen.page, figures) > 40
        assert check_charts(seen.page) == 3
        ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}[scheme]
        assert seen.page.inner_text("body").startswith("Simulated models")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert (seen.errors, seen.requests) == ([], [])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_section(full: Finished, tmp_path: Path, capsys: pytest.CaptureFixture[str], scheme: Scheme) -> None:
    """A run with repeats, a blind arm, failures and skipped samples fills every section, and its figures are right."""
    page_file, figures = written(full, tmp_path / "report.html"), shown(full, capsys)
    with opened(page_file, scheme=scheme) as seen:
        assert check_figures(seen.page, figures) > 100
        assert check_charts(seen.page) == 5
        sections = seen.page.eval_on_selector_all("main > section", "all => all.map(one => one.id)")
        assert sections == [
            *("overview", "scores", "differences", "categories", "coverage", "criteria", "repeats"),
            *("blind", "cost", "samples", "skipped", "provenance"),
        ]
        assert seen.page.locator(".list li").first.locator(".bad").count() == 1
        assert (seen.errors, seen.requests) == ([], [])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_real_photographs(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], scheme: Scheme
) -> None:
    """The report on 69 real questions shows photographs in small copies and stays small."""
    finished = run_on(shared_data / "coco30" / "samples.jsonl", tmp_path / "home")
    page_file, figures = written(finished, tmp_path / "report.html"), shown(finished, capsys)
    assert page_file.stat().st_size < 8_000_000
    with opened(page_file, scheme=scheme) as seen:
        assert check_figures(seen.page, figures) > 40
        assert seen.page.locator(".card").count() == 60
        assert "60 of 69 samples" in seen.page.inner_text("#samples-note")
        box = seen.page.locator(".card.current .picture svg").bounding_box()
        assert box is not None
        assert box["width"] > 300
        assert (seen.errors, seen.requests) == ([], [])


def test_the_keyboard(small: Finished, tmp_path: Path) -> None:
    """The whole page is reached by keys: skip link, filter, arrows, and criteria that light up their regions."""
    with opened(written(small, tmp_path / "report.html")) as seen:
        page = seen.page
        current = page.locator(".card.current h3")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        first = current.inner_text()
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "filter"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        second = current.inner_text()
        assert second != first
        page.keyboard.press("End")
        assert current.inner_text() not in {first, second}
        page.keyboard.press("Home")
        assert current.inner_text() == first
        page.keyboard.press("/")
        page.keyboard.type("count")
        assert page.inner_text("#found") != "21 samples"
        assert "count" in current.inner_text()
        page.keyboard.press("Escape")
        assert page.inner_text("#found") == "21 samples"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        lit = page.evaluate("document.activeElement.dataset.mark ?? ''")
        for _ in range(12):
            if lit:
                break
            page.keyboard.press("Tab")
            lit = page.evaluate("document.activeElement.dataset.mark ?? ''")
        assert page.locator(f'.card.current svg .mark.lit[data-mark="{lit}"]').count() == 1
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        assert seen.errors == []


def test_the_pointer_and_the_order(full: Finished, tmp_path: Path) -> None:
    """A criterion under the pointer lights up its region, and the samples can be put in order of their scores."""
    with opened(written(full, tmp_path / "report.html")) as seen:
        page = seen.page
        for word in ("read", "count", "relate", "compare"):
            page.fill("#filter", word)
            if page.locator(".card.current .criterion").count():
                break
        page.locator(".card.current .criterion").first.hover()
        assert page.locator('.card.current .mark.lit[data-mark="1"]').count() == 1
        page.fill("#filter", "")
        page.select_option("#order", "low")
        scores = page.eval_on_selector_all(".list li", "all => all.map(one => one.dataset.score ?? null)")
        known = [float(score) for score in scores if score is not None]
        assert known == sorted(known)
        assert None not in scores[: len(known)]
        assert page.locator(".list li").first.locator("a[aria-current]").count() == 1
        assert seen.errors == []


def test_a_narrow_screen(full: Finished, tmp_path: Path) -> None:
    """At 400 pixels nothing is wider than the page, what ran is readable text, and the charts are drawn."""
    with opened(written(full, tmp_path / "report.html")) as seen:
        page = seen.page
        page.set_viewport_size({"width": 400, "height": 800})
        until(
            page, "Math.max(...[...document.querySelectorAll('.plot svg.main-svg')].map(one => one.clientWidth)) <= 400"
        )
        until(page, "document.documentElement.scrollWidth <= 400")
        widths = page.eval_on_selector_all(
            "#provenance .facts dd", "all => all.map(one => one.getBoundingClientRect().width)"
        )
        assert min(widths) > 250
        charts = page.eval_on_selector_all(".plot svg.main-svg", "all => all.map(one => one.clientWidth)")
        assert charts
        assert max(charts) <= 400
        assert seen.errors == []


def test_the_theme_button(small: Finished, tmp_path: Path) -> None:
    """The button changes the theme of page and charts against the system's choice."""
    with opened(written(small, tmp_path / "report.html"), scheme="light") as seen:
        page = seen.page
        before = page.evaluate("getComputedStyle(document.querySelector('.plot .xtick text')).fill")
        page.click("#theme")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
        assert page.evaluate("getComputedStyle(document.querySelector('.plot .xtick text')).fill") != before
        assert page.inner_text("#theme") == "Light"
        assert seen.errors == []


def test_without_scripts(small: Finished, tmp_path: Path) -> None:
    """Where scripts do not run, the tables and all samples are there to read."""
    with opened(written(small, tmp_path / "report.html"), scripts=False) as seen:
        assert seen.page.locator(".card:visible").count() == 21
        assert seen.page.locator("#scores table:visible").count() == 1


def test_hostile_texts(hostile: Finished, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing that data or models wrote runs, loads, breaks out of its place or is lost."""
    page_file, figures = written(hostile, tmp_path / "report.html"), shown(hostile, capsys)
    with opened(page_file) as seen:
        page = seen.page
        check_figures(page, figures)
        check_charts(page)
        assert page.evaluate("window.pwned") is None
        assert page.evaluate("document.scripts.length") == 4
        for element in ("iframe", "img", "object", "embed", "link", "form", "main svg svg"):
            assert page.locator(element).count() == 0, element
        assert page.locator("main section a:not(.list a)").count() == 0
        handlers = "all => all.filter(one => one.getAttributeNames().some(name => name.startsWith('on'))).length"
        assert page.eval_on_selector_all("*", handlers) == 0
        assert (
            page.eval_on_selector_all("h1, main > section > h2", "all => all.length")
            == len(page.locator("main > section").all()) + 1
        )
        texts = page.eval_on_selector_all(".prompt span", "all => all.map(one => one.textContent)")
        assert "<script>window.pwned = 1</script>" in texts
        assert (seen.errors, seen.requests) == ([], [])


def test_the_policy_stops_what_escapes(small: Finished, tmp_path: Path) -> None:
    """Even markup that did get into the page could neither run nor load anything: the page's policy forbids it."""
    with opened(written(small, tmp_path / "report.html")) as seen:
        seen.page.evaluate(
            """() => {
                const script = document.createElement("script");
                script.textContent = "window.pwned = 1";
                document.body.append(script);
                document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.pwned = 2'>");
                document.body.insertAdjacentHTML("beforeend", "<img src='http://127.0.0.1:9/x.png'>");
            }"""
        )
        wait_for(seen.page, lambda: len(seen.errors) >= 3, "each attempt is refused")
        assert seen.page.evaluate("window.pwned") is None
        assert all("Content Security Policy" in error for error in seen.errors), seen.errors


NARROW = (400, 800)


def test_a_narrow_window_cuts_no_title_and_says_where_columns_are_left(full: Finished, tmp_path: Path) -> None:
    """At 400 pixels a chart's axis title stands whole within it; a box that is narrower than its table says so.

    Scrolled to its end it says that there is more on the left alone; a wide window says nothing.
    """
    page_file = written(full, tmp_path / "report.html")
    long = "percent of valid verdicts, from the middle of the equal ones"
    page = page_file.read_text()
    assert "mean score of each repeat, 1 to 5" in page
    page_file.write_text(page.replace("mean score of each repeat, 1 to 5", long))
    with opened(page_file, size=NARROW) as seen:
        wider = seen.page.eval_on_selector_all(
            ".plot",
            """all => all.flatMap((plot) => [...plot.querySelectorAll(".xtitle")].filter((title) => {
                const [inner, outer] = [title.getBoundingClientRect(), plot.getBoundingClientRect()];
                return inner.left < outer.left || inner.right > outer.right || inner.bottom > outer.bottom;
            }).map((title) => title.textContent))""",
        )
        assert wider == []
        titles = seen.page.eval_on_selector_all(
            ".xtitle", "all => all.map((one) => one.querySelectorAll('tspan').length)"
        )
        assert 2 in titles
        assert (seen.errors, seen.requests) == ([], [])
    with opened(page_file) as seen:
        box = seen.page.locator("#scores .scroll").first
        assert box.get_attribute("data-more") is None
        box.evaluate("box => { box.style.width = '300px'; }")
        expect(box).to_have_attribute("data-more", "right")
        assert "scroll to the right" in box.evaluate("box => getComputedStyle(box, '::after').content")
        box.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
        expect(box).to_have_attribute("data-more", "left")


def test_wide_tables_are_cards_on_a_phone(full: Finished, tmp_path: Path) -> None:
    """No table is wider than a phone: each row is a card that names its columns."""
    with opened(written(full, tmp_path / "report.html"), size=NARROW) as seen:
        settled(seen.page)
        seen.page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        until(
            seen.page,
            "[...document.querySelectorAll('.scroll')].every((box) => box.scrollWidth <= box.clientWidth + 1)",
        )
        table = seen.page.locator("#scores table.stack").first
        titles = table.locator("thead").evaluate("head => [...head.rows[0].cells].map((cell) => cell.textContent)")
        labels = table.locator("tbody tr").first.evaluate("row => [...row.cells].map((cell) => cell.dataset.label)")
        assert labels == titles
        value = table.locator("tbody td").first
        assert titles[1] in value.evaluate("cell => getComputedStyle(cell, '::before').content")
        assert (seen.errors, seen.requests) == ([], [])
