"""The browser of samples and the comparison in a real browser: looked at, by keyboard, without scripts, under attack."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from dokimasia.storage.home import Home
from dokimasia.storage.runs import load_samples
from tests.report import conftest as reports
from tests.report.chromium import settled
from tests.report.conftest import Finished
from tests.runs import conftest as runs
from tests.runs.kinds import KINDS
from tests.service.browser.conftest import serving
from tests.service.browser.looking import NARROW, Site, View, assert_accessible, assert_calm, assert_fits, look_over

pytestmark = pytest.mark.full

hostile = reports.hostile
world, homes = runs.world, runs.homes
MODELS = "sim/strong,sim/weak"


@pytest.fixture(scope="session")
def names(small: Finished) -> list[str]:
    """The samples of the run, in order."""
    with Home.open(small.home, write=False) as home:
        return [sample.id for sample in load_samples(home, small.run)]


@pytest.fixture(scope="module")
def attacked(hostile: Finished) -> Iterator[Site]:
    """A service over a run in which every text attacks its reader."""
    with serving(hostile.home) as site:
        yield site


def focused(page: Page) -> str:
    """What has the focus, by its id or its text."""
    return str(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))


def follow(page: Page, selector: str) -> None:
    """Click what leads to another page, and wait until all of that is there."""
    with page.expect_navigation():
        page.click(selector)


def title(page: Page) -> str:
    """The sample that is shown."""
    return page.inner_text("#sample-title")


@pytest.mark.parametrize(
    "path",
    [
        "/runs/{run}/samples",
        "/runs/{run}/samples?q=zzzz&model=sim/weak",
        "/runs/{run}/samples/{sample}",
        "/runs/{run}/calls/{sample}",
        "/compare",
        "/compare?runs={run}&models=sim/strong,sim/weak",
        "/compare/sample?runs={run}&models=sim/strong,sim/weak&sample={sample}",
    ],
)
def test_pages_look_right(site: Site, small: Finished, names: list[str], path: str, views: tuple[View, ...]) -> None:
    """At both sizes, light and dark: calm, no wider than the window, and nothing wrong for axe."""
    look_over(site, path.format(run=small.run, sample=names[0]), views)


def test_the_list_is_walked_by_keyboard(site: Site, small: Finished, names: list[str]) -> None:
    """j and k move through the list, Enter opens, m filters by the next model, / searches, and the address keeps it."""
    with site.opened(f"/runs/{small.run}/samples") as seen:
        page = seen.page
        for _ in range(3):
            page.keyboard.press("j")
        assert focused(page) == "row-3"
        page.keyboard.press("k")
        assert focused(page) == "row-2"
        page.keyboard.press("m")
        page.wait_for_url("**model=sim%2Fstrong**")
        settled(page)
        assert page.locator("thead th.number").count() == 1
        page.keyboard.press("/")
        assert focused(page) == "q"
        page.keyboard.type(names[4])
        page.wait_for_url(f"**q={names[4]}**")
        settled(page)
        assert page.locator("[data-row]").all_inner_texts() == [names[4]]
        assert "low=" not in page.url
        page.locator("#q").blur()
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_selector("#sample-title")
        assert title(page) == names[4]
        assert "model=sim%2Fstrong" in page.url
        assert_calm(seen)


def test_samples_are_walked_by_keyboard(site: Site, small: Finished, names: list[str]) -> None:
    """j, k and the arrows lead through the filter, the focus stays, and going back shows what was there."""
    with site.opened(f"/runs/{small.run}/samples/{names[0]}?model=sim/weak") as seen:
        page = seen.page
        page.keyboard.press("j")
        page.wait_for_url(f"**/{names[1]}?model=sim%2Fweak")
        settled(page)
        assert title(page) == names[1]
        assert focused(page) == "after"
        page.keyboard.press("ArrowRight")
        page.wait_for_url(f"**/{names[2]}?*")
        settled(page)
        assert names[2] in page.title()
        page.keyboard.press("k")
        page.wait_for_url(f"**/{names[1]}?*")
        settled(page)
        assert title(page) == names[1]
        page.go_back()
        page.locator("#sample-title", has_text=names[2]).wait_for()
        page.wait_for_load_state()
        page.keyboard.press("u")
        page.wait_for_url("**/samples?model=sim%2Fweak")
        assert_calm(seen)


def test_models_and_calls_are_reached_by_keyboard(site: Site, small: Finished, names: list[str]) -> None:
    """m goes from answer to answer, c opens the calls, which are loaded then, and ? says all of it."""
    with site.opened(f"/runs/{small.run}/samples/{names[0]}") as seen:
        page = seen.page
        for model in ("sim/strong", "sim/weak", "sim/strong"):
            page.keyboard.press("m")
            assert model in page.locator(".answer.chosen").inner_text()
        assert page.locator(".call").count() == 0
        page.keyboard.press("c")
        page.wait_for_selector(".call")
        assert page.locator(".call").count() == int(page.inner_text("#calls > summary").split("(")[1].rstrip(")"))
        page.locator(".call > summary").first.press("Enter")
        assert_accessible(page)
        assert_fits(page)
        page.keyboard.press("?")
        assert page.locator("#keys").is_visible()
        assert_accessible(page)
        page.keyboard.press("Escape")
        assert not page.locator("#keys").is_visible()
        assert_calm(seen)


def test_an_image_is_looked_at_large(site: Site, small: Finished, names: list[str]) -> None:
    """o opens the image with its regions, + and the arrows zoom and move it, and Escape gives the focus back."""
    with site.opened(f"/runs/{small.run}/samples/{names[0]}") as seen:
        page = seen.page
        page.locator("#calls > summary").focus()
        page.keyboard.press("o")
        assert page.locator("#large").is_visible()
        page.locator(".stage image").wait_for(state="attached")
        settled(page)
        before = page.evaluate("document.querySelector('.stage').firstElementChild.style.transform")
        page.keyboard.press("+")
        page.keyboard.press("ArrowLeft")
        after = page.evaluate("document.querySelector('.stage').firstElementChild.style.transform")
        assert before != after
        assert "scale(1.5)" in after
        assert_accessible(page)
        page.keyboard.press("0")
        assert "scale(1)" in page.evaluate("document.querySelector('.stage').firstElementChild.style.transform")
        page.keyboard.press("Escape")
        assert not page.locator("#large").is_visible()
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
        page.locator(".enlarge").first.press("Enter")
        assert page.locator("#large").is_visible()
        assert_calm(seen)


def test_a_criterion_lights_its_region(site: Site, small: Finished, names: list[str]) -> None:
    """The focus on a criterion marks its region on the image, also after another sample was loaded in place."""
    with site.opened(f"/runs/{small.run}/samples/{names[0]}") as seen:
        page = seen.page
        page.keyboard.press("j")
        page.wait_for_url(f"**/{names[1]}")
        settled(page)
        page.locator(".criterion").first.focus()
        assert page.locator(".mark.lit, .criterion.lit").count() >= 1
        assert_calm(seen)


def test_all_is_there_without_scripts(site: Site, small: Finished, names: list[str]) -> None:
    """The filter is a form, samples lead to each other, calls have a page of their own, and models are chosen by a form."""
    with site.opened(f"/runs/{small.run}/samples", scripts=False) as seen:
        page = seen.page
        page.select_option("#f-model", "sim/weak")
        follow(page, "text=Filter")
        assert page.locator("thead th.number").count() == 1
        follow(page, f"text={names[0]}")
        follow(page, 'a[rel="next"]')
        assert title(page) == names[1]
        page.click("#calls > summary")
        follow(page, "text=Show them on a page of their own")
        assert page.locator(".call").count() > 3
        page.goto(f"{site.url}/compare?runs={small.run}")
        follow(page, "text=Compare the two models")
        assert page.locator(".compared > li").count() > 5
        page.locator(".compared summary").first.click()
        follow(page, "text=Both answers on a page of their own >> visible=true")
        assert page.locator("del").count() >= 1


def test_a_comparison_is_read_by_keyboard(site: Site, small: Finished) -> None:
    """j moves through the samples, Enter opens both answers with what changed marked, tabs change the list in place."""
    with site.opened(f"/compare?runs={small.run}&models={MODELS}") as seen:
        page = seen.page
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_selector(".compared details[open] .sides")
        assert page.locator(".compared details[open] del").count() >= 1
        assert_accessible(page)
        assert_fits(page)
        page.click("#show-right-wrong")
        page.wait_for_url("**show=right-wrong")
        settled(page)
        assert page.locator("#show-right-wrong").get_attribute("aria-current") == "true"
        assert focused(page) == "show-right-wrong"
        assert_calm(seen)


@pytest.mark.parametrize("kind", ["duel", "audit", "probe", "refine", "perturb of images", "graph", "modes"])
def test_samples_of_other_methods_look_right(homes: runs.Homes, tmp_path: Path, kind: str) -> None:
    """The list and a sample of other methods pass axe, fit, and show their images."""
    settings, made = homes.finished(KINDS[kind], tmp_path / "home")
    with serving(settings.home) as site, site.opened(f"/runs/{made.run}/samples", size=NARROW, scheme="dark") as seen:
        page = seen.page
        assert_accessible(settled(page))
        assert_fits(page)
        page.locator("[data-row]").first.click()
        page.wait_for_selector("#sample-title")
        assert_accessible(settled(page))
        assert_fits(page)
        broken = page.evaluate(
            "[...document.images].filter((one) => one.complete && !one.naturalWidth).map((one) => one.src)"
        )
        assert broken == []
        assert_calm(seen)


def test_no_attack_runs(attacked: Site, hostile: Finished) -> None:
    """Ids, questions, categories, models and answers that attack run nowhere, and every sample is reached by its link."""
    with attacked.opened(f"/runs/{hostile.run}/samples") as seen:
        page = seen.page
        count = page.locator("[data-row]").count()
        page.locator("[data-row]").first.click()
        for number in range(count):
            page.wait_for_selector("#sample-title")
            settled(page)
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            settled(page)
            assert page.evaluate("window.pwned === undefined")
            assert page.locator("iframe, [onload], [onerror]").count() == 0
            if number < count - 1:
                page.keyboard.press("j")
                page.locator(".walk", has_text=f"{number + 2} of").wait_for()
        page.goto(f"{attacked.url}/compare?runs={hostile.run}")
        page.click("text=Compare the two models")
        page.wait_for_selector(".compared")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        settled(page)
        assert page.evaluate("window.pwned === undefined")
        assert_calm(seen)
