"""What a token may not do is said on the page before the click, with whom to ask; nothing there leads to a refusal."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dokimasia.operations.operation import Right
from dokimasia.service.app import create_app
from dokimasia.service.guard import AccessTokens, Caller, token_digest
from tests.report.conftest import Finished
from tests.service.conftest import service_over
from tests.service.waiting import Waits

TOKEN = "rita-0123456789abcdef"
ASK = "Ask whoever runs this service for it."


@contextmanager
def _browsing(home: Path, *scopes: Right) -> Iterator[TestClient]:
    tokens = AccessTokens(((token_digest(TOKEN), Caller("rita", frozenset(scopes))),))
    headers = {"accept": "text/html", "authorization": f"Bearer {TOKEN}"}
    with (
        service_over(home, tokens=tokens) as service,
        TestClient(create_app(service), base_url="http://localhost", headers=headers) as found,
    ):
        yield found


def _leads(browser: TestClient, text: str) -> list[tuple[str, int]]:
    """The links of a page that are refused, and what they answer."""
    links = sorted(set(re.findall(r'href="(/(?:new|review|runs|settings)[^"#]*)', text)))
    return [(one, reply) for one in links if (reply := browser.get(one.replace("&amp;", "&")).status_code) == 403]


def test_whoever_only_reads_is_offered_nothing_to_decide_or_begin(waiting: Waits) -> None:
    """Queue, run and item, the list of runs and the methods say what the token lacks, and no link of theirs is a 403."""
    with _browsing(waiting.home, "read") as browser:
        for path in ("/review", waiting.path("captions"), f"{waiting.path('captions')}/next", waiting.path("pairs")):
            text = browser.get(path).text
            assert "it lacks the scope review" in text, path
            assert ASK in text, path
            assert not re.search(r">\s*Decide (\d|the next)|Hand out<", text), path
            assert _leads(browser, text) == [], path
        for path in ("/", "/new"):
            text = browser.get(path).text
            assert "With your token (rita) you cannot begin runs: it lacks the scope run" in text, path
            assert 'href="/new/' not in text
            assert _leads(browser, text) == [], path
        refused = browser.get("/new/evaluate")
        assert (refused.status_code, "ask whoever runs this service" in refused.text) == (403, True)


def test_whoever_may_is_told_nothing_of_it(waiting: Waits) -> None:
    """With the scopes the pages offer what they did."""
    with _browsing(waiting.home, "read", "run", "review") as browser:
        assert "Decide the next one" in browser.get(waiting.path("captions")).text
        assert 'href="/new"' in browser.get("/").text
        for path in ("/", "/new", "/review", waiting.path("captions")):
            assert "lacks the scope" not in browser.get(path).text


@pytest.mark.parametrize("review", [False, True])
def test_a_sample_offers_to_be_corrected_by_who_may(small: Finished, review: bool) -> None:
    """The button stands on a sample's page for the scope `review` alone."""
    scopes: tuple[Right, ...] = ("read", "review") if review else ("read",)
    with _browsing(small.home, *scopes) as browser:
        listed = browser.get(f"/runs/{small.run}/samples").text
        found = re.search(rf'href="(/runs/{small.run}/samples/[^"]+)"', listed)
        assert found is not None
        page = browser.get(found[1]).text
        assert (re.search(r'href="#by-hand"[^>]*>Correct an answer', page) is not None) is review
        assert ("you cannot correct: it lacks the scope review" in page) is not review
