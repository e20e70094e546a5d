"""A real browser for a page: Debian's Chromium at laptop size, which is told of nothing but the file."""

import asyncio
import os
import shutil
from asyncio import events
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

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
    started = sync_playwright().start().chromium.launch(executable_path=found, args=FLAGS)
    return started, asyncio.get_running_loop()


@contextmanager
def opened(path: Path, *, scheme: Literal["light", "dark"] = "light", scripts: bool = True) -> Iterator[Seen]:
    """Open a page at 1280x800 in a profile of its own, and let it finish.

    Playwright's loop counts as running from its start on, so that no test could run one of its own: it is set aside while
    no page is open.
    """
    chromium, loop = browser()
    events._set_running_loop(loop)
    context = chromium.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme=scheme, java_script_enabled=scripts
    )
    try:
        seen = Seen(context.new_page())
        seen.page.on(
            "console", lambda said: seen.errors.append(said.text) if said.type in {"error", "warning"} else None
        )
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        seen.page.on("dialog", lambda dialog: seen.errors.append(f"dialog: {dialog.message}"))
        seen.page.on("request", lambda asked: None if asked.url.startswith(LOCAL) else seen.requests.append(asked.url))
        seen.page.goto(path.resolve().as_uri())
        seen.page.wait_for_load_state("load")
        yield seen
    finally:
        context.close()
        events._set_running_loop(None)
