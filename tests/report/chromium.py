"""A real browser for a page: Debian's Chromium at any size, which is told of nothing but the file, or one service."""

import asyncio
import os
import shutil
import time
from asyncio import events
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from tests.processes import PATIENCE

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome")
LOCAL = ("file:", "data:", "blob:")
PATIENT = 1000 * PATIENCE
"""Milliseconds within which a page does what it is told, however busy the machine is."""

expect.set_options(timeout=PATIENT)


@dataclass
class Seen:
    """A page in the browser, and what it did that it should not have: errors, questions, requests to a host."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@cache
def browser() -> tuple[Browser, asyncio.AbstractEventLoop]:
    """The browser of this process, started once, and the loop that it is driven by; both end with the process.

    The test is skipped where there is no Chromium, but not in CI.
    """
    found = next((which for name in NAMES if (which := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium in CI: its tests are not optional there; apt-get install chromium")
        pytest.skip("no Chromium on this machine; Debian's package chromium has it")
    started = sync_playwright().start().chromium.launch(executable_path=found, args=FLAGS, timeout=PATIENT)
    return started, asyncio.get_running_loop()


def until(page: Page, script: str, given: object = None) -> None:
    """Wait until a script says yes; a page whose policy forbids `eval` can be asked, but cannot be waited in."""
    wait_for(page, lambda: page.evaluate(script, given), script)


def wait_for(page: Page, so: Callable[[], bool], what: str) -> None:
    """Look again and again, while the page goes on, until it is so."""
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end, f"not so within {PATIENCE:g} s: {what}"
        page.wait_for_timeout(50)


ASKING = """(() => {
    const asking = { open: 0, last: 0 }, due = new Set();
    Object.defineProperty(window, "asking", { value: asking });
    const begun = () => { asking.open += 1; };
    const ended = () => { asking.open -= 1; asking.last = performance.now(); };
    const { fetch, setTimeout, clearTimeout } = window, { send } = XMLHttpRequest.prototype;
    const counted = (call) => function (...given) { begun(); return call.apply(this, given).finally(ended); };
    window.fetch = counted(fetch);
    for (const name of ["text", "json"]) Response.prototype[name] = counted(Response.prototype[name]);
    XMLHttpRequest.prototype.send = function (...given) {
        begun();
        this.addEventListener("loadend", ended, { once: true });
        return send.apply(this, given);
    };
    const over = (id) => { if (due.delete(id)) ended(); };
    window.setTimeout = (work, delay = 0, ...given) => {
        if (typeof work !== "function" || delay > 500) return setTimeout(work, delay, ...given);
        const id = setTimeout(() => { try { work(...given); } finally { over(id); } }, delay);
        due.add(id);
        begun();
        return id;
    };
    window.clearTimeout = (id) => { over(id); clearTimeout(id); };
})()"""
"""Counts in every document what its scripts ask for and have not read the whole answer to yet, and what they put off for
half a second at most."""

QUIET = 100.0
"""Milliseconds without any of that after which a page has settled."""


def settled(page: Page) -> Page:
    """Wait until a page is loaded, its scripts have asked for nothing for a while, and what moves has come to rest.

    Playwright's own `networkidle` is said once a document at most, and sometimes never.
    """

    def quiet() -> bool:
        page.wait_for_load_state("load")
        try:
            return page.evaluate(
                "(quiet) => !window.asking || asking.open === 0 && performance.now() - asking.last >= quiet && "
                "document.getAnimations().every((one) => one.effect.getComputedTiming().endTime === Infinity)",
                QUIET,
            )
        except Error as error:
            if "Execution context was destroyed" in error.message:  # another page took its place
                return False
            raise

    wait_for(page, quiet, "the page has settled")
    return page


Scheme = Literal["light", "dark"]
SCHEMES = ("light", pytest.param("dark", marks=pytest.mark.full))
"""The schemes that a page is looked at in: light in the usual tier, dark in the full one too."""


@contextmanager
def opened(
    target: Path | str,
    *,
    scheme: Scheme = "light",
    scripts: bool = True,
    size: tuple[int, int] = (1280, 800),
    cookies: Mapping[str, str] | None = None,
) -> Iterator[Seen]:
    """Open a page, a file or one of a service, in a profile of its own, and let it finish.

    A service's page may ask its own service. Playwright's loop counts as running from its start on, so that no test could run
    one of its own: it is set aside while no page is open.
    """
    before = events._get_running_loop()
    chromium, loop = browser()
    events._set_running_loop(loop)
    context = chromium.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, java_script_enabled=scripts
    )
    context.set_default_timeout(PATIENT)
    context.add_init_script(ASKING)
    url = target if isinstance(target, str) else target.resolve().as_uri()
    own = LOCAL if isinstance(target, Path) else (*LOCAL, origin_of(url))
    context.add_cookies([{"name": name, "value": value, "url": url} for name, value in (cookies or {}).items()])
    try:
        seen = Seen(context.new_page())
        seen.page.on(
            "console", lambda said: seen.errors.append(said.text) if said.type in {"error", "warning"} else None
        )
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        seen.page.on("dialog", lambda dialog: seen.errors.append(f"dialog: {dialog.message}"))
        seen.page.on("request", lambda asked: None if asked.url.startswith(own) else seen.requests.append(asked.url))
        seen.page.goto(url)
        seen.page.wait_for_load_state("load")
        yield seen
    finally:
        context.close()
        events._set_running_loop(before)


def origin_of(url: str) -> str:
    """The beginning of every URL of the same service."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"
