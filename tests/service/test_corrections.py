"""Corrections by hand over HTTP: the route, the page of a sample without scripts, and who may not."""

import re
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from html import escape, unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from dokimasia.service.guard import AccessTokens, Caller, token_digest
from tests.report.conftest import ATTACKS, Finished
from tests.service.conftest import asking, service_over
from tests.service.waiting import Waits

WEAK = "sim/weak"
HTML = {"accept": "text/html"}
FORM = {**HTML, "origin": "http://localhost"}


@pytest.fixture
async def desk(small: Finished, tmp_path: Path) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """A client of a service over a copy of a finished evaluation, and the run."""
    shutil.copytree(small.home, tmp_path / "desk" / "home")
    with service_over(tmp_path / "desk" / "home") as service:
        async with asking(service) as client:
            yield client, small.run


async def wrong_of(client: httpx.AsyncClient, run: str) -> list[str]:
    """Samples to which the weak model's answer is wrong."""
    page = (await client.get(f"/runs/{run}/samples", params={"model": WEAK, "answer": "wrong"}, headers=HTML)).text
    return [unescape(name) for name in re.findall(r"data-row>([^<]*)</a>", page)]


async def share(client: httpx.AsyncClient, run: str) -> dict[str, Any]:
    """The strict accuracy of the weak model."""
    return (await client.get(f"/api/runs/{run}")).json()["figures"]["models"][WEAK]["strict_accuracy"]


async def test_a_verdict_is_corrected_over_http(desk: tuple[httpx.AsyncClient, str]) -> None:
    """What is sent is kept and listed, the figures count it at once and say so, and it is taken back as easily."""
    client, run = desk
    before, sample = await share(client, run), (await wrong_of(client, run))[0]
    sent = {"sample": sample, "model": WEAK, "answer": "right", "criteria": {"1": 5}, "reason": "It does say so."}
    kept = await client.post(f"/api/runs/{run}/corrections", json=sent)
    assert kept.status_code == 201, kept.text
    assert kept.json()["changes"][0] == {"what": "answer", "from": "wrong", "to": "right"}
    assert (await share(client, run))["k"] == before["k"] + 1
    found = (await client.get(f"/api/runs/{run}/corrections")).json()
    assert found["total"] == 1
    assert found["corrections"][0]["reason"] == "It does say so."
    assert sample not in await wrong_of(client, run)
    assert "People corrected 1 of 42 answers" in (await client.get(f"/api/runs/{run}/report")).text
    undone = await client.post(f"/api/runs/{run}/corrections", json={"sample": sample, "model": WEAK, "undo": True})
    assert undone.status_code == 201
    assert await share(client, run) == before


async def test_what_cannot_be_corrected_is_a_problem(desk: tuple[httpx.AsyncClient, str], waiting: Waits) -> None:
    """Unknown runs, samples and models, wrong values, no reason, what was seen before: each with its status and sentence."""
    client, run = desk
    sample = (await wrong_of(client, run))[0]
    good = {"sample": sample, "model": WEAK, "answer": "right", "reason": "x"}
    for body, status in (
        ({**good, "sample": "nobody"}, 404),
        ({**good, "model": "sim/none"}, 404),
        ({**good, "answer": "maybe"}, 422),
        ({**good, "criteria": {"1": 9}}, 422),
        ({**good, "criteria": {"x": 1}}, 422),
        ({**good, "reason": ""}, 422),
        ({**good, "reason": "x" * 501}, 422),
        ({**good, "who": "ben"}, 422),
        ({**good, "seen": 3}, 409),
        ({"sample": sample}, 422),
        ([], 422),
    ):
        reply = await client.post(f"/api/runs/{run}/corrections", json=body)
        assert reply.status_code == status, (body, reply.text)
        assert reply.headers["content-type"] == "application/problem+json"
    assert (await client.post("/api/runs/none/corrections", json=good)).status_code == 404
    with service_over(waiting.home) as service:
        async with asking(service) as other:
            for one in (await other.get("/api/runs")).json()["runs"]:
                if one["method"] != "evaluate" or one["status"] != "done":
                    reply = await other.post(f"/api/runs/{one['id']}/corrections", json=good)
                    assert reply.status_code == 422, reply.text
                    assert "only answers of an evaluation" in reply.text or "not finished" in reply.text
    assert (await client.get(f"/api/runs/{run}/corrections")).json()["total"] == 0


async def test_a_form_without_scripts_corrects_and_leaves_out(desk: tuple[httpx.AsyncClient, str]) -> None:
    """The page's forms are plain: a save leads back to the sample, which shows it; a fault keeps what was written."""
    client, run = desk
    first, second = (await wrong_of(client, run))[:2]
    path = f"/runs/{run}/corrections"
    said = {"sample": first, "model": WEAK, "repeat": "0", "seen": "0", "answer": "right", "reason": "seen it"}
    kept = await client.post(path, data={**said, "action": "correct", "criterion": ["5", ""]}, headers=FORM)
    assert kept.status_code == 303, kept.text
    assert kept.headers["location"].endswith("#correct-sim%2Fweak-0")
    page = (await client.get(kept.headers["location"], headers=HTML)).text
    top = page.partition('<article class="card sample"')[0]
    assert "The correction is saved; the figures count it." in top
    assert ">See the figures</a>" in top
    assert '<span class="chip hand">corrected</span>' in page
    assert "the rule: wrong" in page, "a rule compared this answer with the reference"
    assert "Undo and restore the rule" in page
    again = (await client.get(f"/runs/{run}/samples/{first}", headers=HTML)).text
    assert "The correction is saved" not in again
    late = await client.post(path, data={**said, "action": "correct", "answer": "wrong"}, headers=FORM)
    assert late.status_code == 409
    assert re.search(r"meanwhile it was corrected otherwise by \w+ \(\d{4}-\d\d-\d\d \d\d:\d\d UTC\)", late.text)
    empty = await client.post(path, data={"sample": second, "action": "leave_out", "reason": ""}, headers=FORM)
    assert empty.status_code == 422
    assert "a reason is needed" in empty.text
    out = {"sample": second, "action": "leave_out", "reason": "no such thing in it"}
    assert (await client.post(path, data=out, headers=FORM)).status_code == 303
    for value, names in (("yes", {first, second}), ("out", {second})):
        listed = (await client.get(f"/runs/{run}/samples", params={"corrected": value}, headers=HTML)).text
        assert set(re.findall(r"data-row>([^<]*)</a>", listed)) == names
    assert (await client.post(path, data={"sample": second, "action": "keep"}, headers=FORM)).status_code == 303
    none = await client.get(f"/runs/{run}/samples", params={"corrected": "out"}, headers=HTML)
    assert "No sample of this run" in none.text


async def test_a_correction_under_a_filter_keeps_the_place(desk: tuple[httpx.AsyncClient, str]) -> None:
    """A correction that takes a sample out of the filtered list leads back to it, and on to those that were beside it."""
    client, run = desk
    query = {"model": WEAK, "answer": "wrong"}
    before, sample, after = (await wrong_of(client, run))[:3]
    page = (await client.get(f"/runs/{run}/samples/{sample}", params=query, headers=HTML)).text
    action = re.search(r'action="(/runs/[^"]*/corrections[^"]*)"', page)
    assert action
    said = {"sample": sample, "model": WEAK, "repeat": "0", "seen": "0", "answer": "right", "reason": "seen it"}
    kept = await client.post(unescape(action[1]), data={**said, "action": "correct"}, headers=FORM)
    assert kept.status_code == 303
    shown = (await client.get(kept.headers["location"], headers=HTML)).text
    assert sample not in await wrong_of(client, run)
    assert "any more; previous and next are those beside it" in shown
    for rel, name in (("prev", before), ("next", after)):
        link = re.search(rf'rel="{rel}" href="([^"]*)"', shown)
        assert link
        address = httpx.URL(unescape(link[1]))
        assert address.path == f"/runs/{run}/samples/{name}"
        assert dict(address.params) == query
    for at in ("0", "-1", "x", "9" * 10, "%00"):
        assert (await client.get(f"/runs/{run}/samples/{sample}", params={**query, "at": at})).status_code == 200


async def test_a_late_correction_keeps_all_that_was_chosen(desk: tuple[httpx.AsyncClient, str]) -> None:
    """A form that comes too late is shown with its own choices, so that saving it once more writes them."""
    client, run = desk
    sample = (await wrong_of(client, run))[0]
    path = f"/runs/{run}/corrections"
    said = {"sample": sample, "model": WEAK, "repeat": "0", "seen": "0", "action": "correct"}
    first = {**said, "criterion": ["4", ""], "reason": "first"}
    assert (await client.post(path, data=first, headers=FORM)).status_code == 303
    late = await client.post(
        path, data={**said, "answer": "right", "criterion": ["3", ""], "reason": "second"}, headers=FORM
    )
    assert late.status_code == 409
    assert '<option value="right" selected>' in late.text
    assert '<option value="3" selected>' in late.text
    assert 'value="second"' in late.text
    seen = re.search(rf'value="{WEAK}">.*?name="seen" value="(\d+)"', late.text)
    assert seen is not None
    assert seen[1] == "1"


async def test_corrected_verdicts_can_be_filtered_by(small: Finished, tmp_path: Path) -> None:
    """Where the judge gave one verdict alone, the other is offered once a person gave it, and a link to either never fails."""
    home = Path(shutil.copytree(small.home, tmp_path / "home"))
    with closing(sqlite3.connect(home / "dokimasia.db")) as database, database:
        database.execute("UPDATE results SET verdict = 'wrong' WHERE verdict IS NOT NULL")
    with service_over(home) as service:
        async with asking(service) as client:
            samples = f"/runs/{small.run}/samples"
            none = await client.get(samples, params={"answer": "right"}, headers=HTML)
            assert none.status_code == 200
            assert '<option value="right"' not in none.text
            sample = (await wrong_of(client, small.run))[0]
            sent = {"sample": sample, "model": WEAK, "answer": "right", "reason": "x"}
            assert (await client.post(f"/api/runs/{small.run}/corrections", json=sent)).status_code == 201
            found = await client.get(samples, params={"answer": "right"}, headers=HTML)
            assert '<option value="right" selected>' in found.text
            assert [unescape(name) for name in re.findall(r"data-row>([^<]*)</a>", found.text)] == [sample]


async def test_a_reason_that_attacks_its_reader_stays_text(desk: tuple[httpx.AsyncClient, str]) -> None:
    """Markup, scripts and control characters of a reason are shown as they were written, on the page and in the report."""
    client, run = desk
    for sample, attack in zip(await wrong_of(client, run), ATTACKS, strict=False):
        sent = {"sample": sample, "model": WEAK, "answer": "right", "reason": attack}
        assert (await client.post(f"/api/runs/{run}/corrections", json=sent)).status_code == 201
        for path in (f"/runs/{run}/samples/{sample}", f"/api/runs/{run}/report?samples=50"):
            text = (await client.get(path, headers=HTML)).text
            if escape(attack) != attack:
                assert attack not in text, path
        if "<script>" in attack:
            assert escape(attack) in (await client.get(f"/runs/{run}/samples/{sample}", headers=HTML)).text


async def test_whoever_may_not_review_corrects_nothing(small: Finished, tmp_path: Path) -> None:
    """A token without the scope `review` sees corrections and makes none, and its page offers no form; nor may another origin."""
    shutil.copytree(small.home, tmp_path / "desk" / "home")
    callers = Caller("reader", frozenset({"read", "run"})), Caller("judge", frozenset({"read", "review"}))
    people = AccessTokens([(token_digest(f"{caller.name}-0123456789abcdef"), caller) for caller in callers])
    with service_over(tmp_path / "desk" / "home", tokens=people) as service:
        async with asking(service) as client:
            reader, judge = ({"authorization": f"Bearer {name}-0123456789abcdef"} for name in ("reader", "judge"))
            client.headers.update(reader)
            sample = (await wrong_of(client, small.run))[0]
            sent = {"sample": sample, "model": WEAK, "answer": "right", "reason": "x"}
            path = f"/api/runs/{small.run}/corrections"
            assert (await client.post(path, json=sent)).status_code == 403
            page = await client.get(f"/runs/{small.run}/samples/{sample}", headers=HTML)
            assert "it lacks the scope review" in page.text
            foreign = {**judge, "origin": "http://elsewhere.invalid"}
            assert (await client.post(path, json=sent, headers=foreign)).status_code == 403
            assert (await client.get(path)).json()["total"] == 0
            assert (await client.post(path, json=sent, headers=judge)).json()["who"] == "judge"
