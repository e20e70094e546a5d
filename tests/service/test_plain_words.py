"""Pages speak in the words of pages: commands, options and files of the documentation stand only in a fold for them."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from dokimasia.runs.catalogue import OWN
from dokimasia.service.app import create_app
from dokimasia.service.state import Service
from dokimasia.storage.home import Home
from dokimasia.storage.trees.versions import list_trees
from tests.runs.kinds import JUDGE
from tests.service.conftest import service_over
from tests.service.waiting import Waits

FOLD = re.compile(r'<details class="command">.*?</details>', re.DOTALL)
UNSEEN = re.compile(r"<(script|style|svg)\b.*?</\1>|<!--.*?-->", re.DOTALL)
COMMAND = re.compile(r"\bdokimasia [a-z]|(?<![\w-])--[a-z][a-z-]+|\bdocs/\w+|\bdokimasia\.toml\b")
"""Words of the command line and of the documentation's files."""


def words_of_commands(page: str) -> list[str]:
    """Return the surroundings of words of the command line in the visible text of a page."""
    text = unescape(re.sub("<[^>]*>", " ", UNSEEN.sub(" ", FOLD.sub(" ", page))))
    text = " ".join(text.split())
    return [text[max(0, match.start() - 70) : match.end() + 70] for match in COMMAND.finditer(text)]


def browser(service: Service) -> TestClient:
    """Return a browser at a service."""
    return TestClient(create_app(service), base_url="http://localhost", headers={"accept": "text/html"})


@pytest.fixture
def pages(waiting: Waits) -> Iterator[tuple[TestClient, Service]]:
    """A browser at a service with runs of many kinds."""
    with service_over(waiting.home) as service, browser(service) as client:
        yield client, service


def test_pages_name_no_command_outside_of_its_fold(pages: tuple[TestClient, Service], waiting: Waits) -> None:
    """The pages on which people begin, read, review and manage runs need nobody to know the command line."""
    client, service = pages
    tree = quote(list_trees(service.home)[0].name, safe="")
    paths = [
        "/",
        "/new",
        "/data",
        "/models",
        "/trees",
        f"/trees/{tree}",
        "/review",
        "/passports",
        "/settings",
        "/compare",
    ]
    paths += ["/judge-checks", f"/judge-checks/verdict?name={JUDGE}&run={waiting.runs['probe']}"]
    paths += [f"/new/{name}" for name in OWN]
    for run in waiting.runs.values():
        paths += [f"/runs/{run}?wait=true", f"/runs/{run}/samples", f"/runs/{run}/delete", f"/runs/{run}/fork"]
    paths += [f"/review/{run}" for run in waiting.runs.values()]
    left = {path: words for path in paths if (words := words_of_commands(client.get(path).text))}
    assert not left, "\n".join(f"{path}: {words}" for path, words in left.items())


def test_an_empty_home_names_no_command(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Somebody who opens an empty service reads how to begin on its pages."""
    home = tmp_path_factory.mktemp("empty") / "home"
    Home.open(home, write=True).close()
    with service_over(home) as service, browser(service) as client:
        for path in ("/", "/new", "/data", "/models", "/trees", "/review", "/passports", "/settings", "/compare"):
            assert not words_of_commands(client.get(path).text), path
