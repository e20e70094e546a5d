"""The browser of samples and the comparison in a real browser: looked at, by keyboard, without scripts, under attack."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import PIL.Image
import pytest
from playwright.sync_api import Page

from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import load_samples
from tests.report import conftest as reports
from tests.report.chromium import settled
from tests.report.conftest import Finished
from tests.runs import conftest as runs
from tests.runs.kinds import KINDS
from tests.service.browser.conftest import copied, serving
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


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Finished]]:
    """A service over a run whose first sample has three images, one wide and one high, and that has twelve models."""
    folder = tmp_path_factory.mktemp("many")
    write_world(folder / "world.jsonl", 3, 1)
    first, *others = [json.loads(line) for line in (folder / "world.jsonl").read_text().splitlines()]
    for name, size in (("wide.png", (900, 60)), ("high.png", (60, 900))):
        PIL.Image.new("RGB", size, "teal").save(folder / name)
    first["images"] = [first.pop("image"), "wide.png", "high.png"]
    (folder / "world.jsonl").write_text("\n".join(json.dumps(line) for line in (first, *others)))
    models = "\n".join(
        f'[models."vendor/a-model-with-a-long-name-{number}"]\nmodel = "sim/weak"' for number in range(12)
    )
    (folder / "dokimasia.toml").write_text(models)
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    names = tuple(f"vendor/a-model-with-a-long-name-{number}" for number in range(12))
    request = EvaluationRequest(data=folder / "world.jsonl", judge="sim/judge", models=names)
    run = asyncio.run(evaluate(request, settings=settings)).run
    with serving(settings.home) as site:
        yield site, Finished(settings.home, run)


def test_a_list_of_many_models_fits(many: tuple[Site, Finished], views: tuple[View, ...]) -> None:
    """The first few models are shown; with all of them the page is no wider, and a sample has its answers folded."""
    site, finished = many
    path = f"/runs/{finished.run}/samples"
    with Home.open(finished.home, write=False) as home:
        name = next(iter(load_samples(home, finished.run))).id
    everyone = "&".join(f"show=vendor/a-model-with-a-long-name-{number}" for number in range(12))
    for place in (path, f"{path}?{everyone}", f"{path}/{name}"):
        look_over(site, place, views)


def test_models_are_chosen_and_the_list_is_sorted_by_keyboard(many: tuple[Site, Finished]) -> None:
    """Boxes choose the columns, a heading sorts when Enter is pressed on it, and the address keeps both."""
    site, finished = many
    with site.opened(f"/runs/{finished.run}/samples") as seen:
        page = seen.page
        assert page.locator("thead th.number").count() == 8
        page.locator(".models > summary").press("Enter")
        page.get_by_role("searchbox", name="Find a model").fill("name-1")
        assert page.locator(".models .ticks label:visible").count() == 3
        assert_accessible(page)
        page.get_by_role("button", name="None", exact=True).click()
        page.wait_for_url("**show=**")
        settled(page)
        page.get_by_role("checkbox", name="vendor/a-model-with-a-long-name-11").check()
        page.wait_for_url("**name-11**")
        settled(page)
        page.keyboard.press("Escape")
        heading = page.locator("thead th.number a").last
        with page.expect_navigation():
            heading.press("Enter")
        assert "order=low" in page.url
        assert page.locator("thead [aria-sort=ascending]").count() == 1
        assert "show=" in page.url
        assert page.input_value("#f-by")
        assert_accessible(page)
        assert_fits(page)
        assert_calm(seen)


def test_answers_of_a_sample_are_found_by_model(many: tuple[Site, Finished]) -> None:
    """A field above the answers leaves those of the models that it names, also on the next sample."""
    site, finished = many
    with site.opened(f"/runs/{finished.run}/samples") as seen:
        page = seen.page
        follow(page, "[data-row]")
        assert page.locator(".sample .answer[open]").count() == 0
        assert page.locator(".matrix tbody tr:visible").count() == 12
        page.fill("#find-answers", "name-1")
        assert page.locator(".matrix tbody tr:visible").count() == 3
        assert "3 of 12" in page.inner_text("[data-found]")
        page.locator("#find-answers").blur()
        earlier = title(page)
        page.keyboard.press("j")
        page.wait_for_function("name => document.querySelector('#sample-title').textContent !== name", arg=earlier)
        settled(page)
        assert page.input_value("#find-answers") == "name-1"
        assert page.locator(".matrix tbody tr:visible").count() == 3
        assert_calm(seen)


@pytest.mark.parametrize("size", [(1280, 800), NARROW])
def test_images_follow_each_other_and_fit(many: tuple[Site, Finished], size: tuple[int, int]) -> None:
    """Arrows and buttons lead from image to image, around the end, and each fits the stage in width and height."""
    site, finished = many
    with site.opened(f"/runs/{finished.run}/samples", size=size) as seen:
        page = seen.page
        follow(page, "[data-row]")
        page.keyboard.press("o")
        shown = page.locator("#large .title")
        for key, number in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowRight", 1), ("ArrowLeft", 3)):
            page.keyboard.press(key)
            assert f"({number} of 3)" in (shown.text_content() or "")
            inside = page.evaluate(
                """() => {
                    const stage = document.querySelector(".stage").getBoundingClientRect();
                    const box = document.querySelector(".stage image").getBoundingClientRect();
                    return box.left >= stage.left - 1 && box.right <= stage.right + 1
                      && box.top >= stage.top - 1 && box.bottom <= stage.bottom + 1;
                }"""
            )
            assert inside, f"image {number} is larger than its stage"
        page.locator("#large [data-zoom=next]").click()
        assert "(1 of 3)" in (shown.text_content() or "")
        page.locator("#large [data-zoom=previous]").click()
        assert "(3 of 3)" in (shown.text_content() or "")
        page.locator("#large [data-zoom=close]").click()
        assert not page.locator("#large").is_visible()
        assert_fits(page)
        assert_calm(seen)


def test_a_comment_is_written_and_a_view_named(small: Finished, names: list[str], tmp_path: Path) -> None:
    """A comment is written and deleted on the sample's page, a fault stands in place, and a view is named and reopened."""
    with (
        serving(copied(small.home, tmp_path / "home")) as desk,
        desk.opened(f"/runs/{small.run}/samples/{names[0]}?order=low") as seen,
    ):
        page = seen.page
        page.fill("#comment-text", "The sign is hidden.")
        page.locator("h1").click()
        page.keyboard.press("j")
        assert "not saved" in page.inner_text("#told")
        page.get_by_role("button", name="Save comment").click()
        page.locator("#comments li").wait_for()
        assert "order=low" in page.url
        assert_accessible(page)
        page.goto(f"{desk.url}/runs/{small.run}/samples?comments=yes")
        assert page.locator("[data-row]").all_inner_texts() == [names[0]]
        page.locator(".views > summary").click()
        page.fill("#view-name", "commented")
        page.get_by_role("button", name="Save this view").click()
        page.wait_for_load_state()
        page.locator(".views > summary", has_text="(1)").wait_for()
        page.goto(f"{desk.url}/runs/{small.run}/samples")
        page.locator(".views > summary").click()
        assert_accessible(page)
        page.get_by_role("link", name="commented").click()
        page.wait_for_url("**comments=yes")
        page.locator("[data-row]").first.click()
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete the comment").click()
        page.locator("#comments li").wait_for(state="detached")
