"""A served page looked at as people see it: at two sizes, light and dark, by axe, and by what it asks and says."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.report.chromium import Scheme, Seen, opened, settled

WIDE, NARROW = (1280, 800), (400, 800)
View = tuple[tuple[int, int], Scheme]
USUAL_VIEWS: tuple[View, ...] = ((WIDE, "light"), (NARROW, "dark"))
"""The views of every page in the usual tier: each size and each scheme once."""

OTHER_VIEWS: tuple[View, ...] = ((NARROW, "light"), (WIDE, "dark"))
"""The other views, which the full tier adds."""

COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules of axe on colours, of those that it holds a page to unless told otherwise."""


@dataclass(frozen=True)
class Site:
    """A service at an address, and whose cookies a browser brings."""

    url: str
    cookies: tuple[tuple[str, str], ...] = ()

    @contextmanager
    def opened(self, path: str, **more: Any) -> Iterator[Seen]:
        """A page of the service in a browser, and what it does that it should not."""
        with opened(f"{self.url}{path}", cookies=dict(self.cookies), **more) as seen:
            yield seen


def assert_accessible(page: Page, *, colours_only: bool = False) -> None:
    """Have axe find nothing wrong with a page, or nothing with its colours."""
    options: dict[str, Any] = {"resultTypes": ["violations"]}  # what passes is half of the work to tell
    if colours_only:
        options["runOnly"] = {"type": "rule", "values": COLOURS}
    found: Any = Axe().run(page, options=options)
    told = [
        f"{one['id']}: {one['help']}\n    " + "\n    ".join(node["html"][:200] for node in one["nodes"][:4])
        for one in found.response["violations"]
    ]
    assert not told, f"{page.url}:\n" + "\n".join(told)


def assert_fits(page: Page) -> None:
    """A page never scrolls sideways: what is wider scrolls in its own box."""
    wide: Any = page.evaluate(
        """() => {
            const most = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= most) return [];
            const holds = (one) => ["auto", "scroll", "hidden"].includes(getComputedStyle(one).overflowX);
            const boxed = (one) => one && (holds(one) || boxed(one.parentElement));
            return [...document.body.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > most + 1
              && !boxed(one.parentElement)).map((one) => one.outerHTML.slice(0, 120)).slice(0, 5).concat(["(wider)"]);
        }"""
    )
    assert not wide, f"{page.url} is wider than its window: {wide}"


def assert_whole_words(page: Page) -> None:
    """Words and names of tables are not broken within; they may be after a hyphen or a dash, or if they are very long."""
    broken: Any = page.evaluate(
        """() => {
            const found = [];
            for (const cell of document.querySelectorAll(".scroll :is(td, th)")) {
                const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
                for (let text = texts.nextNode(); text; text = texts.nextNode()) {
                    for (const word of text.data.matchAll(/[^\\s–-]+/g)) {
                        if (word[0].length > 18) continue;
                        const range = document.createRange();
                        range.setStart(text, word.index);
                        range.setEnd(text, word.index + word[0].length);
                        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
                        if (lines.size > 1) found.push(word[0]);
                    }
                }
            }
            return found;
        }"""
    )
    assert not broken, f"{page.url} breaks words: {broken[:10]}"


def assert_calm(seen: Seen) -> None:
    """A page said nothing on the console, opened no dialog, and asked nobody but its service."""
    assert not seen.errors, f"{seen.page.url}: {seen.errors}"
    assert not seen.requests, f"{seen.page.url}: {seen.requests}"


def look_over(site: Site, path: str, views: Iterable[View], *, tolerates: str = "") -> None:
    """Look at a page in several sizes and schemes: calm, no wider than its window, and nothing wrong for axe.

    A page in the dark differs in its colours alone from the same page in the light: axe is asked for these there.
    `tolerates` is said by Chromium itself of a page that is an error, such as `404`.
    """
    for size, scheme in views:
        with site.opened(path, size=size, scheme=scheme) as seen:
            settled(seen.page)
            seen.errors[:] = [one for one in seen.errors if not (tolerates and tolerates in one)]
            assert_calm(seen)
            assert_fits(seen.page)
            assert_whole_words(seen.page)
            assert_accessible(seen.page, colours_only=scheme == "dark")
