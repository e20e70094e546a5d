"""A person's questions answered in a browser: forms for what is asked, composed into the reply that the run reads."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page

from dokimasia.domain.call import Message
from dokimasia.errors import NotFound
from dokimasia.methods.review import METHOD, ReviewRequest
from dokimasia.runs.lifecycle import run
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.service.pages.questions import question_view
from dokimasia.service.state import WHO_COOKIE
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.world import write_described
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import PendingQuestion, get_question
from dokimasia.storage.runs import get_run
from tests.report.chromium import settled
from tests.runs.people import as_model, to_the_end
from tests.service.browser.conftest import working
from tests.service.browser.looking import WIDE, Site, View, assert_calm, look_over

pytestmark = pytest.mark.full

PANEL = ("sim/panel-a", "sim/panel-b", "human/ana")
Given = dict[str, list[str]]


def _question(settings: Settings, item: str) -> PendingQuestion | None:
    """The question of a page, if it shows one: a run that goes on has none for a moment, and a caption to be checked at most."""
    with Home.open(settings.home, write=False) as home, suppress(NotFound):
        return get_question(home, item)
    return None


def _values(settings: Settings, question: PendingQuestion) -> tuple[Given, str]:
    """What a simulated model puts into the places of a question's form, and the reply that it makes; without a form, the text."""
    reply = as_model(settings, "sim/panel-c")(question.call.messages)
    form = question_view(question).form
    if form is None:
        return {}, reply
    given: Given = {}
    kinds = {one.name: one.kind for one in form.places}
    for piece in form.pieces:
        for name, before, after in zip(piece.places, piece.words, piece.words[1:], strict=False):
            found = re.search(f"{re.escape(before.strip())}(.*?){re.escape(after.strip())}", reply, re.DOTALL)
            value = found[1].strip() if found else ""
            parted = [one.strip() for one in value.split(",")] if kinds[name] in {"order", "several"} else [value]
            given[name] = [one for one in parted if one and one != "none"]
    return given, form.compose(given)


def _fill(page: Page, given: Given) -> None:
    """Fill the places of a form in, as a person does."""
    keeps = page.locator('[data-place="first"] input')
    if keeps.count():
        keep = given[(keeps.first.get_attribute("name") or "").removeprefix("place-")]
        (keeps.first if keep else keeps.last).check()
    for name, values in given.items():
        fields = page.locator(f'[name="place-{name}"]')
        kind = fields.first.evaluate("one => one.type")
        if kind == "select-one":
            for at, value in enumerate(values):
                fields.nth(at).select_option(value)
        elif kind in {"radio", "checkbox"} and not fields.first.evaluate('one => !!one.closest("[data-place=first]")'):
            for value in values:
                page.check(f'[name="place-{name}"][value="{value}"]')
        elif kind.startswith("text") and values:
            fields.fill(values[0])


def test_a_panel_with_a_person_is_done_in_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, views: tuple[View, ...]
) -> None:
    """From the form of a new run to its golden captions: a person answers all in forms, and the bytes are those of files."""
    monkeypatch.setattr("dokimasia.service.queue.ANSWER_INTERVAL", 0.05)
    monkeypatch.setattr("dokimasia.service.queue.QUIET", {False: 0.3, True: 5.0})
    write_described(tmp_path / "data" / "data.jsonl", 2, 0, disputed=0.0)
    here = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    with Home.open(here.home, write=True):
        pass
    replies: dict[tuple[str, ...], str] = {}
    with working(here.home, data_root=tmp_path / "data") as served:
        site = Site(served.url, ((WHO_COOKIE, "ana"),))
        with site.opened("/review", size=WIDE) as seen:
            page = seen.page
            page.goto(f"{site.url}/new/review")
            page.fill("#data", "data.jsonl")
            for number, name in enumerate(PANEL):
                while page.locator('[name="panel"]').count() <= number:
                    page.click('[data-more="panel"]')
                page.locator('[name="panel"]').nth(number).fill(name)
            with page.expect_navigation():
                page.click("button:has-text('Start')")
            id = page.url.rpartition("/")[2].partition("?")[0]
            prompts: set[str] = set()
            for _ in range(600):
                if _status(here, id) == "done":
                    break
                settled(page.goto(f"{site.url}/review/{id}/next") and page)
                item = page.url.rpartition("/")[2]
                question = _question(here, item)
                if question is None:
                    page.wait_for_timeout(200)
                    continue
                given, reply = _values(here, question)
                if question.prompt not in prompts:
                    look_over(site, f"/review/{id}/{item}", views)
                prompts.add(question.prompt)
                replies[_key(question.call.messages)] = reply
                if given:
                    _fill(page, given)
                    page.locator(".reply textarea").first.press("Control+Enter")
                else:
                    page.fill("#text", reply)
                    page.focus("#text")
                    page.keyboard.press("Control+Enter")
                page.wait_for_url(lambda url, item=item: item not in url)
            page.goto(f"{site.url}/")
            assert "human/ana" in page.inner_text(f"#run-{id} .models")
            assert_calm(seen)
    assert _status(here, id) == "done"
    assert {"describe", "peer_review"} <= prompts
    there = load_settings(home=tmp_path / "files", cwd=tmp_path, env={})
    request = ReviewRequest(data=tmp_path / "data" / "data.jsonl", panel=PANEL)
    first = asyncio.run(run(METHOD, request, settings=there))
    assert first.run == id
    asyncio.run(to_the_end(there, id, {"ana": lambda messages: replies[_key(messages)]}))
    exported = [_exported(one, id) for one in (here, there)]
    assert exported[0] == exported[1]
    assert "golden" in str(exported[0])


def _key(messages: Sequence[Message]) -> tuple[str, ...]:
    return tuple(str(part) for message in messages for part in message.parts)


def _status(settings: Settings, id: str) -> str:
    with Home.open(settings.home, write=False) as home:
        return get_run(home, id).status


def _exported(settings: Settings, id: str) -> object:
    with Home.open(settings.home, write=False) as home:
        return asyncio.run(export_rows(home, get_run(home, id))).rows
