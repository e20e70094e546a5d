"""A person corrects samples by hand in a real browser, by mouse, by keyboard and without scripts, and sees the figures change."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from tests.report.chromium import settled
from tests.report.conftest import ATTACKS, Finished
from tests.service.browser.conftest import copied, serving
from tests.service.browser.looking import NARROW, Site, View, assert_accessible, assert_calm, assert_fits, look_over

pytestmark = pytest.mark.full

WEAK = "sim/weak"


@pytest.fixture
def desk(small: Finished, tmp_path: Path) -> Iterator[Site]:
    """A service over a copy of a finished evaluation."""
    with serving(copied(small.home, tmp_path / "home")) as site:
        yield site


def wrong_of(small: Finished) -> list[str]:
    """Samples to which the weak model's answer is wrong, as the judge left it."""
    with Home.open(small.home, write=False) as home:
        rows = results(home, small.run, as_judged=True)
    return [row.sample_id for row in rows if row.model == WEAK and row.verdict == "wrong"]


def right_of(page: Page) -> list[str]:
    """The weak model's shares of right answers in the table of corrections: corrected, and as judged."""
    return page.locator("#corrected tr", has_text=WEAK).locator("td, th").all_inner_texts()[2:4]


def test_two_samples_are_corrected_and_the_figures_change(desk: Site, small: Finished) -> None:
    """One by mouse, one by keyboard alone, with undo and change again; the results then show both figures side by side."""
    first, second = wrong_of(small)[:2]
    with desk.opened(f"/runs/{small.run}/samples/{first}") as seen:
        page = seen.page
        page.get_by_role("link", name=f"Correct this: {WEAK}").click()
        form = page.locator("details.correct[open]")
        expect(form).to_have_count(1)
        expect(form).to_contain_text(WEAK)
        form.get_by_label("The final answer is").select_option("right")
        form.get_by_label("Reason").fill("the answer says so")
        form.get_by_role("button", name="Save the correction").click()
        expect(page.locator("header .chip.hand")).to_have_text("corrected")
        expect(page.locator("details.correct[open]")).to_contain_text("the rule: wrong")
        page.get_by_role("button", name="Undo and restore the rule's verdict").click()
        expect(page.locator("header .chip.hand")).to_have_count(0)
        form = page.locator("details.correct[open]")
        form.get_by_label("The final answer is").select_option("right")
        form.get_by_label("Reason").fill(ATTACKS[0])
        form.get_by_role("button", name="Save the correction").click()
        expect(page.locator("header .chip.hand")).to_have_text("corrected")
        assert_accessible(page)

        page.goto(f"{desk.url}/runs/{small.run}/samples/{second}")
        page.locator("details.correct > summary", has_text=WEAK).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        page.locator("details.correct[open]").get_by_label("Reason").focus()
        page.keyboard.type("it is right, too")
        page.keyboard.press("Enter")
        expect(page.locator("header .chip.hand")).to_have_text("corrected")

        page.goto(f"{desk.url}/runs/{small.run}")
        expect(page.locator("#corrected")).to_contain_text("People corrected 2 of 42 answers")
        corrected, judged = right_of(page)
        assert corrected != judged
        page.goto(f"{desk.url}/runs/{small.run}/samples?corrected=yes")
        expect(page.locator("#count")).to_have_text("2 samples found")
        assert_fits(settled(page))
        assert_calm(seen)


def test_what_is_not_saved_is_kept_and_left_by_no_key(desk: Site, small: Finished) -> None:
    """Keys stay at a correction that is not saved; a link leads away, and it is there again, until it is discarded or saved."""
    first = wrong_of(small)[0]
    with desk.opened(f"/runs/{small.run}/samples/{first}") as seen:
        page = seen.page
        page.locator("details.correct > summary", has_text=WEAK).click()
        form = page.locator("details.correct[open]")
        form.get_by_label("The final answer is").select_option("right")
        form.get_by_label("Reason").fill("the answer says so")
        expect(form.locator(".kept")).to_have_text("not saved; kept as a draft")
        for key in ("j", "u", "k"):
            form.get_by_label("Reason").blur()
            page.keyboard.press(key)
            expect(page.locator("#told")).to_contain_text("This correction is not saved")
            expect(form.get_by_label("Reason")).to_be_focused()
            assert first in page.url
        form.get_by_label("Reason").press_sequentially(", and once more")
        page.locator("#up").click()
        page.wait_for_url("**/samples")
        page.goto(f"{desk.url}/runs/{small.run}/samples/{first}")
        form = page.locator("details.correct[open]")
        expect(form.get_by_label("Reason")).to_have_value("the answer says so, and once more")
        expect(form.get_by_label("The final answer is")).to_have_value("right")
        assert_accessible(page)
        form.get_by_role("button", name="Discard").click()
        settled(page).reload()
        settled(page)
        expect(page.locator("details.correct[open]")).to_have_count(0)
        page.locator("details.correct > summary", has_text=WEAK).click()
        form.get_by_label("The final answer is").select_option("right")
        form.get_by_label("Reason").fill("the answer says so")
        form.get_by_role("button", name="Save the correction").click()
        expect(page.locator("header .chip.hand")).to_have_text("corrected")
        settled(page).reload()
        expect(settled(page).locator("details.correct[open]")).to_have_count(0)
        page.keyboard.press("u")
        page.wait_for_url("**/samples")
        assert_calm(seen)


def test_what_is_wrong_with_a_correction_is_in_sight(desk: Site, small: Finished) -> None:
    """A form that says nothing comes back with the sentence where one looks, with and without scripts."""
    for scripts in (True, False):
        with desk.opened(f"/runs/{small.run}/samples/{wrong_of(small)[0]}", scripts=scripts) as seen:
            page = seen.page
            page.locator("details.correct > summary", has_text=WEAK).click()
            form = page.locator("details.correct[open]")
            form.get_by_label("Reason").fill("no choice is made")
            form.get_by_role("button", name="Save the correction").click()
            expect(page.locator("#by-hand .notice.bad")).to_contain_text("you have not changed anything")
            expect(page.locator("#by-hand .notice.bad")).to_be_in_viewport()


def test_a_sample_is_left_out_without_scripts(desk: Site, small: Finished, views: tuple[View, ...]) -> None:
    """On a small screen and without scripts: the form opens, is sent, and the sample is marked; the list finds it."""
    sample = wrong_of(small)[0]
    with desk.opened(f"/runs/{small.run}/samples/{sample}", size=NARROW, scripts=False) as seen:
        page = seen.page
        page.locator("details.correct > summary", has_text="Leave this sample out").click()
        page.locator("details.correct[open]").get_by_label("Reason").fill("the reference names another thing")
        page.get_by_role("button", name="Leave it out of all figures").click()
        expect(page.locator("header .chip.hand")).to_have_text("left out")
        page.goto(f"{desk.url}/runs/{small.run}/samples?corrected=out")
        expect(page.locator("#count")).to_have_text("1 sample found")
    look_over(desk, f"/runs/{small.run}/samples/{sample}", views)
    look_over(desk, f"/runs/{small.run}?wait=1", views)
