"""The review in a browser: twenty items by keyboard, two people on one item, reloads, drafts, undo, and hostile texts."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dokimasia.domain.decision import CheckItem
from dokimasia.people.annotation import hand_out_here
from dokimasia.people.checks import all_standings
from dokimasia.service.state import WHO_COOKIE
from dokimasia.storage.decisions import keep_items
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run, list_runs
from tests.report.conftest import ATTACKS, Finished
from tests.service.browser.conftest import serving
from tests.service.browser.looking import WIDE, Site, View, assert_calm, look_over
from tests.service.waiting import Waits

pytestmark = pytest.mark.full


@contextmanager
def _site(home: Path, *who: str) -> Iterator[tuple[Site, ...]]:
    with serving(home) as site:
        yield tuple(Site(site.url, ((WHO_COOKIE, name),)) for name in who)


def _states(waits: Waits, name: str) -> list[str]:
    with Home.open(waits.home, write=False) as home:
        return [one.state for one in all_standings(home, waits.runs[name])]


def _press(page: Page, key: str) -> None:
    """Press a key that leads to another page, and wait for it."""
    with page.expect_navigation():
        page.keyboard.press(key)


@pytest.mark.parametrize("name", ["captions", "rubrics", "perturbations", "images", "pairs", "questions"])
def test_every_kind_of_item_looks_right(waiting: Waits, name: str, views: tuple[View, ...]) -> None:
    """An item of each kind is calm, fits and passes axe at both sizes, light and dark."""
    with _site(waiting.home, "ana") as (site,):
        look_over(site, f"{waiting.path(name)}/next", views)


def test_the_queue_and_a_runs_items_look_right(waiting: Waits, views: tuple[View, ...]) -> None:
    """So are the queue, a run's items and its agreement."""
    with _site(waiting.home, "ana") as (site,):
        for path in ("/review", waiting.path("pairs"), f"{waiting.path('perturbations')}/agreement"):
            look_over(site, path, views)


def test_twenty_items_are_decided_by_keyboard(waiting: Waits) -> None:
    """From the list on, one key labels an item and leads to the next; the first key of twenty labels twenty."""
    keys = "vixnu" * 4
    labels = ["valid", "score_invariant", "incorrect", "not_relevant", "not_sure"] * 4
    with _site(waiting.home, "ana") as (site,), site.opened(waiting.path("images"), size=WIDE) as seen:
        _press(seen.page, "Enter")
        for key in keys:
            _press(seen.page, key)
        assert "20 by you" in seen.page.inner_text(".progressing")
        assert_calm(seen)
    assert _states(waiting, "images")[:20] == labels


def test_sentences_are_struck_out_by_their_numbers(waiting: Waits) -> None:
    """Digits and clicks strike sentences out, what is left is shown, and d keeps it; r and a decide, z takes back."""
    with _site(waiting.home, "ana") as (site,), site.opened(waiting.path("captions"), size=WIDE) as seen:
        page = seen.page
        _press(page, "Enter")
        page.keyboard.press("2")
        page.click(".sentences li:nth-child(3) .sentence")
        expect(page.locator(".sentences :checked")).to_have_count(2)  # a digit that could go on is taken after a moment
        left = page.inner_text("#result .text")
        _press(page, "d")
        with Home.open(waiting.home, write=False) as home:
            first = all_standings(home, waiting.runs["captions"])[0]
        assert (first.state, first.text) == ("edited", left)
        _press(page, "z")
        assert page.url.endswith(first.item.id)
        assert page.locator(".badge.waiting").count() == 1
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.keyboard.press("d")
        expect(page.locator("#told")).to_contain_text("Strike the sentences out first")
        assert_calm(seen)


def test_one_key_alone_undoes(waiting: Waits) -> None:
    """z takes a decision back from an item and from the list; u, which decides on perturbations, takes nothing back."""
    with _site(waiting.home, "ana") as (site,), site.opened(waiting.path("captions"), size=WIDE) as seen:
        page = seen.page
        _press(page, "Enter")
        first = page.url
        _press(page, "a")
        second = page.url
        page.keyboard.press("u")
        page.wait_for_timeout(300)
        assert page.url == second != first
        _press(page, "z")
        assert page.url == first
        _press(page, "a")
        page.goto(f"{site.url}{waiting.path('captions')}")
        page.keyboard.press("u")
        page.wait_for_timeout(300)
        assert page.url.endswith(waiting.path("captions"))
        _press(page, "z")
        assert page.url == first
    assert set(_states(waiting, "captions")) == {"waiting"}


def test_accepting_keeps_what_was_struck_out(waiting: Waits) -> None:
    """Accept says that it accepts what is left, and does; an edit that is not saved is never lost to another key."""
    with _site(waiting.home, "ana") as (site,), site.opened(f"{waiting.path('captions')}/next", size=WIDE) as seen:
        page = seen.page
        page.keyboard.press("1")
        expect(page.locator("#result")).to_be_visible()
        expect(page.locator("#accept")).to_have_text("Accept what is left")
        left = page.inner_text("#result .text")
        _press(page, "a")
        page.keyboard.press("e")
        page.fill("#text", "Half an edit.")
        page.keyboard.press("Escape")
        _press(page, "a")
        assert "an edit that is not saved" in page.inner_text("[role=alert]")
        assert page.input_value("#text") == "Half an edit."
        page.click("#discard")
        _press(page, "a")
    with Home.open(waiting.home, write=False) as home:
        first, second = all_standings(home, waiting.runs["captions"])[:2]
    assert (first.state, first.text, second.state) == ("edited", left, "accepted")


def test_an_edit_outlives_reload_browser_and_service(waiting: Waits) -> None:
    """What is written and not saved stands again after a reload, in another browser, and after the service was stopped."""
    path = f"{waiting.path('captions')}/next"
    with _site(waiting.home, "ana", "bob") as (ana, bob):
        with ana.opened(path) as seen:
            page = seen.page
            page.keyboard.press("e")
            page.fill("#text", "What ana is writing.")
            page.wait_for_selector(".kept:text('kept on the server')")
            page.reload()
            assert page.input_value("#text") == "What ana is writing."
            item = page.url
        with bob.opened(path) as seen:
            assert "What ana" not in seen.page.input_value("#text")
    with _site(waiting.home, "ana") as (again,), again.opened(f"/review/{item.partition('/review/')[2]}") as seen:
        assert seen.page.input_value("#text") == "What ana is writing."
        seen.page.focus("#text")
        _press(seen.page, "Control+Enter")
    with Home.open(waiting.home, write=False) as home:
        stands = all_standings(home, waiting.runs["captions"])[0]
    assert (stands.state, stands.text) == ("edited", "What ana is writing.")


def test_two_browsers_on_one_item(waiting: Waits) -> None:
    """The second learns who decided, keeps what was written, and adds it as a second opinion."""
    path = f"{waiting.path('rubrics')}/next"
    with _site(waiting.home, "ana", "bob") as (ana, bob), ana.opened(path) as first, bob.opened(path) as second:
        second.page.keyboard.press("e")
        second.page.fill("#text", "A rubric of bob's own.")
        _press(first.page, "a")
        second.page.focus("#text")
        _press(second.page, "Control+Enter")
        assert "ana decided on it" in second.page.inner_text("[role=alert]")
        assert second.page.input_value("#text") == "A rubric of bob's own."
        second.page.focus("#text")
        _press(second.page, "Control+Enter")
        second.errors[:] = [one for one in second.errors if "409" not in one]
        assert_calm(second)
    with Home.open(waiting.home, write=False) as home:
        stands = all_standings(home, waiting.runs["rubrics"])[0]
    assert (stands.state, stands.opinions["bob"].text) == ("accepted", "A rubric of bob's own.")


def test_a_reload_in_mid_decision_repeats_nothing(waiting: Waits) -> None:
    """After a decision the page that stands is asked for by GET: reloads and Back decide nothing."""
    with _site(waiting.home, "ana") as (site,), site.opened(f"{waiting.path('perturbations')}/next") as seen:
        page = seen.page
        _press(page, "v")
        page.reload()
        page.go_back()
        page.reload()
        assert page.locator(".opinions").count() == 1
        assert_calm(seen)
    states = _states(waiting, "perturbations")
    assert states.count("valid") == 1
    with Home.open(waiting.home, write=False) as home:
        assert sum(len(one.decisions) for one in all_standings(home, waiting.runs["perturbations"])) == 1


def test_back_leads_through_a_refusal(waiting: Waits) -> None:
    """After a refused edit and a good one, Back shows pages: no form has to be sent again."""
    with _site(waiting.home, "ana") as (site,), site.opened(f"{waiting.path('captions')}/next", size=WIDE) as seen:
        page = seen.page
        page.keyboard.press("e")
        page.fill("#text", "Half an edit.")
        page.keyboard.press("Escape")
        _press(page, "a")
        assert "an edit that is not saved" in page.inner_text("[role=alert]")
        page.click(".editor:not([open]) summary, #text")
        page.focus("#text")
        _press(page, "Control+Enter")
        page.go_back()
        page.wait_for_load_state()
        expect(page.locator("h1")).to_contain_text("Caption")
        expect(page.locator(".opinions")).to_contain_text("you edited it")


def test_without_scripts_everything_can_be_decided(waiting: Waits) -> None:
    """Where no script runs the forms decide all the same."""
    with _site(waiting.home, "ana") as (site,), site.opened(f"{waiting.path('captions')}/next", scripts=False) as seen:
        seen.page.check(".sentences li:first-child input")
        with seen.page.expect_navigation():
            seen.page.click("button[value=delete]")
        assert "1 by you" in seen.page.inner_text(".progressing")
    assert _states(waiting, "captions")[0] == "edited"


def test_no_text_of_others_runs_as_script(hostile: Finished, tmp_path: Path) -> None:
    """Hostile samples, responses, captions, drafts and names are texts on every page of the review."""
    shutil.copytree(hostile.home, tmp_path / "home")
    with Home.open(tmp_path / "home", write=True) as home:
        run = get_run(home, list_runs(home)[0].id)
        asyncio.run(hand_out_here(home, run, "response", annotators=("ana",)))
        items = [
            CheckItem(run=run.id, kind=kind, sample_id=attack, subject=f"{number}", text=attack, detail=attack)
            for number, attack in enumerate(ATTACKS)
            for kind in ("caption", "rubric")
        ]
        asyncio.run(keep_items(home, items))
        rated = [id for (id,) in home.all("SELECT id FROM check_items")]
    with _site(tmp_path / "home", "ana") as (site,), site.opened("/review") as seen:
        for id in ["", *rated]:
            seen.page.goto(f"{site.url}/review/{run.id}/{id}".rstrip("/"))
            if seen.page.locator("#text").count():
                seen.page.evaluate(
                    "([path, text]) => fetch(path, {method: 'POST', body: new URLSearchParams({text})})",
                    [f"/review/{run.id}/{id}/draft", ATTACKS[0]],
                )
                seen.page.reload()
            assert seen.page.evaluate("window.pwned") is None
        assert_calm(seen)
