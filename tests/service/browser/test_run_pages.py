"""The page of a run for somebody who never opens a terminal: what was spent, why it failed, its menus, its fork, its images."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.report.conftest import Finished
from tests.service.browser.conftest import copied, serving
from tests.service.browser.looking import (
    NARROW,
    WIDE,
    Site,
    View,
    assert_accessible,
    assert_calm,
    assert_fits,
    look_over,
)

PLANNED = {
    "calls": 40_000,
    "cost": 123.456,
    "budget": {"max_cost": 150.0},
    "spent_before": {"cost": 20.0, "calls": 3, "tokens": 1_000},
}
PROGRESS = {
    "items": 100_000,
    "done": 99_999,
    "restored": 5,
    "failures": {},
    "rate": 1234.5,
    "rates": [1.0, 2.0],
    "left": 360_000.0,
    "answered": 39_000,
    "cached": 10,
    "sent": 39_000,
    "cost": 10.5,
    "cost_unknown": 0,
    "input_tokens": 1_000_000,
    "output_tokens": 2_000_000,
    "failed_tries": 12_345,
    "in_flight": {},
    "limits": {},
}


def watched(page: Page, site: Site, run: str, **picture: Any) -> None:
    """Open the live page of a run whose events say that it is in a state."""
    blank = {"status": None, "history": [], "planned": PLANNED, "starting": None, "progress": PROGRESS, "failures": {}}
    state = {**blank, "limits": {}, "graphs": {}, "steps": {}, "ended": None, **picture}
    event = f"id: 1\nevent: snapshot\ndata: {json.dumps({'reason': '', 'picture': state})}\n\n"
    page.route("**/events*", lambda route: route.fulfill(content_type="text/event-stream", body=event))
    page.goto(f"{site.url}/runs/{run}/live")


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_spending_adds_up_and_stands_beside_its_limit(site: Site, small: Finished, size: tuple[int, int]) -> None:
    """What earlier invocations spent is in the figure, the limit beside it, and no figure lies over another."""
    with site.opened("/", size=size) as seen:
        watched(seen.page, site, small.run, status={"status": "running", "end": "", "why": "", "at": ""})
        expect(seen.page.locator("[data-figure=spent]")).to_have_text("$30.50 of at most $150.00")
        expect(seen.page.locator("[data-limits]")).to_have_text("$30.50 of at most $150.00")
        expect(seen.page.locator("[data-figure=tokens]")).to_have_text("3,001,000")
        overlaps: Any = seen.page.evaluate(
            """() => {
                const tiles = [...document.querySelectorAll(".live-stats dd, .live-stats dt")].map((tile) => {
                    const range = document.createRange();
                    range.selectNodeContents(tile);
                    return range.getBoundingClientRect();
                }).filter((box) => box.width);
                return tiles.flatMap((a, at) => tiles.slice(at + 1).filter((b) => a.left < b.right - 1 && b.left < a.right - 1
                    && a.top < b.bottom - 1 && b.top < a.bottom - 1)).length;
            }"""
        )
        assert overlaps == 0
        assert_fits(seen.page)


def test_a_failed_run_says_why_on_its_live_page(site: Site, small: Finished) -> None:
    """The card of failures names the reason where no single item failed."""
    with site.opened("/") as seen:
        why = "beta cannot be reached: no connection"
        watched(seen.page, site, small.run, status={"status": "failed", "end": "", "why": why, "at": ""})
        expect(seen.page.locator("[data-failures]")).to_contain_text(why)
        expect(seen.page.locator("[data-standing]")).to_contain_text(why)


def test_menus_close_and_stay_on_the_screen(site: Site, small: Finished) -> None:
    """Each menu of a run lies within the window, and closes by Esc, by a click beside it, and when the focus leaves it."""
    for size in (WIDE, NARROW):
        with site.opened(f"/runs/{small.run}?wait=true", size=size) as seen:
            page = seen.page
            for name in ("Compare models", "Download", "Next steps", "Manage"):
                menu = page.locator(f"details.menu:has(> summary:has-text('{name}'))")
                menu.locator("summary").first.click()
                card = menu.locator("> .card")
                expect(card).to_be_visible()
                page.wait_for_timeout(50)
                box = card.bounding_box()
                assert box is not None
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= size[0]
                assert box["y"] + box["height"] <= size[1]
                page.keyboard.press("Escape")
                expect(menu).not_to_have_attribute("open", "")
                menu.locator("summary").first.click()
                page.mouse.click(size[0] - 3, size[1] - 3)
                expect(menu).not_to_have_attribute("open", "")


def test_a_fork_lists_steps_and_loses_nothing(workshop: Site, small: Finished, views: tuple[View, ...]) -> None:
    """Steps are a list, a fault stands beside its field, and what was entered is still there."""
    path = f"/runs/{small.run}/fork"
    look_over(workshop, path, views)
    with workshop.opened(path) as seen:
        page = seen.page
        judge = page.get_by_label("Replace judge")
        judge.fill("sim/nobody")
        page.click("button:has-text('Re-run')")
        expect(page.locator(".field:has(#fork-node) .fault")).to_have_text("Choose the step to re-run from.")
        expect(page.locator(".field:has(#fork-1) .fault")).to_contain_text("sim/nobody")
        expect(judge).to_have_value("sim/nobody")
        page.locator("#fork-node").select_option("score")
        page.click("button:has-text('Re-run')")
        expect(page.locator(".field:has(#fork-1) .fault")).to_contain_text("sim/nobody")
        expect(page.locator("#fork-node")).to_have_value("score")
        assert_accessible(page)
        judge.fill("sim/judge")
        page.click("button:has-text('Re-run')")
        page.wait_for_url(re.compile(r"/runs/[0-9a-f]{16}$"))
        expect(page.locator(".about")).to_contain_text("forked from")


def test_a_form_of_a_menu_says_what_is_wrong_in_place(workshop: Site, small: Finished) -> None:
    """A tag that cannot be used leaves the page and all that was typed as they are."""
    with workshop.opened(f"/runs/{small.run}?wait=true") as seen:
        page = seen.page
        page.click("summary:has-text('Manage')")
        page.fill("#name", "good")
        page.fill("#tags", "last")
        page.click("button:has-text('Save')")
        expect(page.locator("form[data-inline] .fault")).to_contain_text("last")
        assert page.input_value("#name") == "good"
        assert page.url.endswith("?wait=true")


def test_an_image_fits_both_ways(site: Site, small: Finished) -> None:
    """The enlarged image lies whole within the stage, wide or narrow."""
    with site.opened(f"/runs/{small.run}/samples") as seen:
        href = seen.page.locator("a[href*='/samples/']").first.get_attribute("href") or ""
    for size in (WIDE, (400, 300)):
        with site.opened(href, size=size) as seen:
            seen.page.locator(".enlarge").first.click()
            stage, shown = seen.page.locator(".stage").bounding_box(), seen.page.locator(".stage > *").bounding_box()
            assert stage is not None
            assert shown is not None
            assert shown["width"] <= stage["width"] + 1
            assert shown["height"] <= stage["height"] + 1
            expect(seen.page.locator("[data-zoom=next]")).to_be_hidden()
            assert_calm(seen)


def test_a_probe_opens_with_what_it_is_to_probe(small: Finished, tmp_path: Path) -> None:
    """A method that continues another's run opens with the newest finished one of it."""
    with serving(copied(small.home, tmp_path / "home")) as site, site.opened("/new/refine") as seen:
        assert seen.page.input_value("#run") == small.run
