"""The page of a run at work, followed in a browser: to its end, over a lost connection, stopped and resumed."""

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from dokimasia.service.engine import RunEngine
from tests.processes import PATIENCE
from tests.report.chromium import wait_for
from tests.service.browser.looking import Site, View, assert_accessible, assert_fits
from tests.service.test_events import Held, request, working


class Working:
    """A service with one run at work, from a thread of its own; its models answer when they may."""

    def __init__(self, site: Site, run: str, loop: asyncio.AbstractEventLoop, held: Held, engine: RunEngine) -> None:
        self.site = site
        self.run = run
        self._loop = loop
        self._held = held
        self._engine = engine

    @property
    def stopping(self) -> bool:
        """Whether the service has heard that the run is to stop."""
        return self._engine.queue._entries[self.run].stop.asked

    def answer(self, yes: bool = True) -> None:
        """Let the models answer, or let them wait again."""
        self._loop.call_soon_threadsafe(self._held.may.set if yes else self._held.may.clear)


@contextmanager
def at_work(folder: Path, *, port: int = 0, run: str = "") -> Iterator[Working]:
    """A service over a home in a folder; a run in it begins, or goes on from before."""
    loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    made: list[Any] = []

    async def serve() -> None:
        held = Held()
        async with working(folder / "home", held, port=port) as (_, engine, url):
            id = run or (await engine.submit("evaluate", request(folder))).id
            made.append(Working(Site(url), id, loop, held, engine))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield made[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        loop.close()


def figure(page: Page, name: str) -> Any:
    """The place of a figure."""
    return page.locator(f"[data-figure={name}]")


def test_a_run_is_watched_to_its_end(tmp_path: Path) -> None:
    """The page shows progress and the counts at each node as they come, and where the results are when the run has ended."""
    with at_work(tmp_path) as service, service.site.opened(f"/runs/{service.run}/live") as seen:
        page = seen.page
        expect(page.locator("[data-badge]")).to_have_text("running")
        expect(page.locator("svg.live-graph").first).to_be_visible()
        expect(page.locator("svg .at-work [data-count]").first).to_contain_text("at work")
        expect(page.locator("form[data-verb=cancel]")).to_be_visible()
        service.answer()
        expect(figure(page, "calls")).to_contain_text(" of at most ")
        expect(figure(page, "done")).to_have_text("27 of 27")
        expect(page.locator("[data-badge]")).to_have_text("done")
        expect(page.locator("[data-node=score] [data-count]")).to_have_text("9 done")
        expect(page.locator("[data-endpoints]")).to_contain_text("sim")
        expect(page.locator("[data-taken]")).to_have_text(re.compile(r"As of \d\d:\d\d:\d\d UTC"))
        expect(page.get_by_role("link", name="See the results")).to_be_visible()
        expect(page.locator("form[data-verb=cancel]")).to_be_hidden()
        expect(page.locator("[data-since]")).to_be_hidden()
        expect(figure(page, "rate")).to_have_text("–")
        expect(page.locator("[data-highest]")).not_to_contain_text("now")


def test_a_run_is_stopped_and_resumed_from_its_page(tmp_path: Path) -> None:
    """Stop leaves the run interrupted and shows the way to go on, which the same page then follows."""
    with at_work(tmp_path) as service, service.site.opened(f"/runs/{service.run}/live") as seen:
        page = seen.page
        expect(page.locator("svg .at-work").first).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        wait_for(page, lambda: service.stopping, "the service has heard of it")
        service.answer()
        expect(page.locator("[data-badge]")).to_have_text("interrupted")
        expect(page.locator("[data-since]")).to_be_hidden()
        page.get_by_role("button", name="Resume").click()
        expect(page.locator("[data-badge]")).to_have_text("done")
        expect(page.locator("[data-since]")).to_contain_text("counted since then")
        expect(figure(page, "done")).to_have_text("27 of 27")


def test_a_page_goes_on_when_the_service_is_back(tmp_path: Path) -> None:
    """While the service is away the page says so; after its restart it follows the run, which went on, to its end."""
    with ExitStack() as stack:
        with at_work(tmp_path) as service:
            page = stack.enter_context(service.site.opened(f"/runs/{service.run}/live")).page
            expect(page.locator("svg .at-work").first).to_be_visible()
        expect(page.locator("[data-lost]")).to_contain_text("lost")
        with at_work(tmp_path, port=int(service.site.url.rsplit(":", 1)[1]), run=service.run) as again:
            expect(page.locator("[data-lost]")).to_be_hidden()
            again.answer()
            expect(page.locator("[data-badge]")).to_have_text("done")
            expect(figure(page, "done")).to_have_text("27 of 27")


def test_the_page_of_a_run_at_work_fits_and_is_accessible(tmp_path: Path, views: tuple[View, ...]) -> None:
    """At every size, light and dark, axe finds nothing and nothing is wider than the page."""
    with at_work(tmp_path) as service:
        for size, scheme in views:
            with service.site.opened(f"/runs/{service.run}/live", size=size, scheme=scheme) as seen:
                expect(seen.page.locator("svg.live-graph").first).to_be_visible()
                assert_accessible(seen.page)
                assert_fits(seen.page)


def test_the_page_of_results_takes_the_part_in_and_shows_the_results_at_the_end(tmp_path: Path) -> None:
    """Who opens a run at work sees it at work, and its results once it has ended, without a click."""
    with at_work(tmp_path) as service, service.site.opened(f"/runs/{service.run}") as seen:
        page = seen.page
        expect(page.locator("[data-live] svg.live-graph").first).to_be_visible()
        expect(page.locator(".badge.running")).to_have_count(1)
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        expect(page.get_by_text("Spent so far")).to_have_count(0)
        page.route(
            f"**/runs/{service.run}", lambda route: None
        )  # the page stays as it is at the end, before it loads again
        service.answer()
        expect(page.locator(".badge.done")).to_be_visible()
        expect(page.get_by_role("button", name="Stop")).to_be_hidden()
        page.unroute(f"**/runs/{service.run}")
        page.reload()
        expect(page.locator("#live")).to_have_count(0)
        expect(page.locator(".badge.done")).to_be_visible()
