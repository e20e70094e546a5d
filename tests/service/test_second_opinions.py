"""A second opinion is blind: pages and API say nothing of the first person's before the second is kept."""

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from starlette.testclient import TestClient

from dokimasia.people.checks import review_items
from dokimasia.service.app import create_app
from dokimasia.service.state import WHO_COOKIE, Service
from dokimasia.storage.runs import get_run
from tests.service.conftest import service_over
from tests.service.waiting import Waits

TOLD = {
    "perturbations": ({"action": "incorrect"}, ("incorrect",)),
    "captions": ({"action": "edit", "text": "What ana wrote."}, ("What ana wrote", "edited")),
    "rubrics": ({"action": "reject"}, ("rejected",)),
}
"""By what waits: what ana decides, and the words that would tell it."""

FORM_OF_LABELS = (
    'value="incorrect"',
    "x</kbd></dt><dd>incorrect: ",
    '"incorrect":"the change',
    '"incorrect",',
    ">Incorrect ",
)
"""Where a form names a label that everybody can give."""


@pytest.fixture
def sat_down(waiting: Waits) -> Iterator[tuple[Service, Waits, TestClient, TestClient]]:
    """A service over a home in which all kinds of things wait, with ana and bob at it."""
    with service_over(waiting.home) as service, ExitStack() as stack:
        ana, bob = (
            stack.enter_context(TestClient(create_app(service), base_url="http://localhost", cookies={WHO_COOKIE: who}))
            for who in ("ana", "bob")
        )
        yield service, waiting, ana, bob


def _telling(reply: httpx.Response, words: tuple[str, ...]) -> list[str]:
    text = reply.text
    for named in FORM_OF_LABELS:
        text = text.replace(named, "")
    return [word for word in words if word in text]


@pytest.mark.parametrize("kind", TOLD)
def test_nothing_of_the_first_opinion_is_shown_before_the_second_is_kept(
    sat_down: tuple[Service, Waits, TestClient, TestClient], kind: str
) -> None:
    """Form, list, sample, JSON, file and refusal tell bob that ana decided and not what, until his own opinion is kept."""
    service, waits, ana, bob = sat_down
    decision, words = TOLD[kind]
    run = waits.runs[kind]
    item = next(one.item for one in review_items(service.home, get_run(service.home, run)) if one.state == "waiting")
    path = f"/api/reviews/{run}/{item.id}"
    assert ana.post(path, json=decision).status_code == 201
    pages = [f"/review/{run}/{item.id}", f"/review/{run}", f"/runs/{run}/samples/{item.sample_id}"]
    data = [path, f"/api/reviews/{run}", f"/api/runs/{run}/samples/{item.sample_id}", f"/api/runs/{run}/items"]
    for address in (*pages, f"{pages[0]}?second=true"):
        assert _telling(bob.get(address, headers={"accept": "text/html"}), words) == [], address
    shown = [bob.get(address) for address in data]
    assert shown[0].json()["decisions"] == []
    assert (shown[0].json()["shown"]["state"], shown[0].json()["shown"]["decided"]) == ("decided", 1)
    for reply in (shown[0], shown[1], shown[3]):
        assert _telling(reply, words) == [], reply.url
    assert _own(shown[2].json(), item.detail) in (None, "decided")
    late = bob.post(path, json={"action": "valid" if kind == "perturbations" else "accept"})
    assert late.status_code == 409
    assert "ana decided on it" in late.json()["detail"]
    assert _telling(late, words) == []
    assert _line(bob, run, item.id)["decisions"] == []
    assert _line(bob, run, item.id, others=True)["decisions"][0]["action"] == decision["action"]

    opinion = {"action": "valid" if kind == "perturbations" else "accept", "second": True}
    kept = bob.post(path, json=opinion).json()
    assert [one["who"] for one in kept["decisions"]] == ["ana", "bob"]
    assert kept["shown"]["state"] != "decided"
    page = bob.get(pages[0], headers={"accept": "text/html"})
    assert _telling(page, words) != []
    assert _line(bob, run, item.id)["state"] == kept["shown"]["state"]


def _own(view: dict[str, object], dimension: str) -> object:
    """What a sample's JSON says of the item that was decided on."""
    items = view.get("items")
    if not isinstance(items, list):
        return None
    for one in items:
        if one.get("golden"):
            return one["golden"]["state"]
        if one.get("dimension") == dimension:
            return one["label"]
    return None


def _line(client: TestClient, run: str, item: str, **query: bool) -> dict[str, object]:
    """An item's line in the file that is filled in."""
    reply = client.get(f"/api/reviews/{run}/files", params=query)
    with zipfile.ZipFile(io.BytesIO(reply.content)) as archive:
        lines = archive.read("items.jsonl").splitlines()
    return next(one for one in map(json.loads, lines) if one["item"] == item)
