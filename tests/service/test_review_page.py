"""The review's pages: the queue, one item after another, blind ratings, questions, and what is refused with all of it kept."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from dokimasia.methods.review import METHOD, ReviewRequest
from dokimasia.people.annotation import queued, ratings_of
from dokimasia.people.checks import all_standings, answer_all, review_items, waiting_questions
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.lifecycle import run as begin
from dokimasia.service.app import create_app
from dokimasia.service.pages.questions import question_view
from dokimasia.service.state import WHO_COOKIE, Service
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_described
from dokimasia.storage.decisions import draft_file
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import get_question
from dokimasia.storage.runs import get_run, load_samples
from tests.runs.people import as_model
from tests.service.conftest import service_over
from tests.service.waiting import Waits


@contextmanager
def _browsing(service: Service, who: str) -> Iterator[TestClient]:
    headers = {"accept": "text/html"}
    with TestClient(
        create_app(service), base_url="http://localhost", cookies={WHO_COOKIE: who}, headers=headers
    ) as found:
        yield found


@pytest.fixture
def served(waiting: Waits) -> Iterator[tuple[Service, Waits]]:
    """A service over a home in which all kinds of things wait."""
    with service_over(waiting.home) as service:
        yield service, waiting


def _first(home: Home, run: str) -> str:
    return next(one.item.id for one in review_items(home, get_run(home, run)) if one.state == "waiting")


def _said(reply: httpx.Response) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", reply.text))


def test_reports_on_pages_lead_to_pages(served: tuple[Service, Waits]) -> None:
    """Where people are to decide, the run's page and that of agreement name the page Review, and no command."""
    service, waits = served
    with _browsing(service, "ana") as browser:
        for path in (f"{waits.path('perturbations')}/agreement", f"/runs/{waits.runs['perturbations']}?wait=true"):
            said = " ".join(_said(browser.get(path)).split())
            assert "wait for a person to label them: the page Review" in said
            assert "dokimasia decide" not in said


def test_every_page_of_the_review_answers(served: tuple[Service, Waits]) -> None:
    """The queue, each run's items, their agreement and one item of each kind are pages."""
    service, waits = served
    with _browsing(service, "ana") as browser:
        queue = browser.get("/review")
        assert queue.status_code == 200
        for name in ("captions", "rubrics", "perturbations", "images", "pairs", "questions"):
            assert waits.runs[name] in queue.text
            run = browser.get(waits.path(name))
            assert run.status_code == 200
            item = browser.get(f"{waits.path(name)}/next")
            assert item.status_code == 200, item.text
            assert str(item.url).count("/") == 5
            assert browser.get(f"{waits.path(name)}/agreement").status_code == 200
        assert browser.get(f"{waits.path('captions')}/nothing").status_code == 404
        assert browser.get("/review/nowhere").status_code == 404


def test_a_decision_leads_on_and_can_be_taken_back(served: tuple[Service, Waits]) -> None:
    """Accept, deletion of sentences, edit and reject are kept as in the terminal, and undo leads back to the item."""
    service, waits = served
    run, path = waits.runs["captions"], waits.path("captions")
    with _browsing(service, "ana") as browser:
        first = _first(service.home, run)
        reply = browser.post(
            f"{path}/{first}", data={"action": "delete", "delete": ["1"], "seen": "0"}, follow_redirects=False
        )
        assert reply.status_code == 303
        assert reply.headers["location"] != f"{path}/{first}"
        stands = all_standings(service.home, run)[0]
        assert (stands.state, stands.text) == ("edited", stands.item.text.partition(". ")[2])
        undone = browser.post(f"{path}/undo", data={"item": first}, follow_redirects=False)
        assert undone.headers["location"] == f"{path}/{first}"
        assert all_standings(service.home, run)[0].state == "waiting"
        again = browser.post(f"{path}/{first}", data={"action": "edit", "text": "One thing.\nAnother.", "seen": "2"})
        assert again.status_code == 200
        assert all_standings(service.home, run)[0].text == "One thing. Another."


def test_the_page_asks_why_a_caption_is_changed(served: tuple[Service, Waits]) -> None:
    """Reasons of an edit are kept, shown beside it and counted; an accepted caption cannot have one."""
    service, waits = served
    run, path = waits.runs["captions"], waits.path("captions")
    with _browsing(service, "ana") as browser:
        first = _first(service.home, run)
        assert "Why you edit or reject it" in browser.get(f"{path}/{first}").text
        form = {"delete": ["1"], "reasons": ["spatial", "boundary"], "seen": "0"}
        refused = browser.post(f"{path}/{first}", data={**form, "action": "accept", "delete": []})
        assert refused.status_code == 422
        assert "reasons belong to an edit or a rejection" in _said(refused)
        assert refused.text.count('value="spatial" checked') == 1, "what was ticked is still there"
        assert browser.post(f"{path}/{first}", data={**form, "action": "delete"}).status_code == 200
        assert all_standings(service.home, run)[0].decisions[0].reasons == ("boundary", "spatial")
        assert "because: material or edge misread" in _said(browser.get(f"{path}/{first}"))
        agreement = _said(browser.get(f"{path}/agreement"))
        assert "Why people changed captions" in agreement
        assert "1 of 1 checked captions were edited or rejected" in agreement
        rubric = browser.get(f"{waits.path('rubrics')}/{_first(service.home, waits.runs['rubrics'])}")
        assert "Why you edit or reject it" not in rubric.text


def test_sending_a_form_twice_decides_once(served: tuple[Service, Waits]) -> None:
    """A browser that sends the same form again after a reload, or after undo, changes nothing more."""
    service, waits = served
    run, path = waits.runs["captions"], waits.path("captions")
    with _browsing(service, "ana") as browser:
        item = _first(service.home, run)
        form = {"action": "accept", "seen": "0"}
        for _ in range(3):
            assert browser.post(f"{path}/{item}", data=form).status_code == 200
        assert len(all_standings(service.home, run)[0].decisions) == 1
        browser.post(f"{path}/undo", data={"item": item})
        late = browser.post(f"{path}/{item}", data=form)
        assert late.status_code == 409
        assert all_standings(service.home, run)[0].state == "waiting"


def test_the_second_of_two_is_told_and_loses_nothing(served: tuple[Service, Waits]) -> None:
    """Who decides on what another has settled meanwhile sees by whom and not how, keeps their text, and may add it."""
    service, waits = served
    run, path = waits.runs["captions"], waits.path("captions")
    item = _first(service.home, run)
    with _browsing(service, "ana") as ana, _browsing(service, "bob") as bob:
        ana.post(f"{path}/{item}", data={"action": "accept", "seen": "0"})
        told = bob.post(f"{path}/{item}", data={"action": "edit", "text": "What bob wrote.", "seen": "0"})
        assert told.status_code == 409
        assert "ana decided on it" in _said(told)
        assert "accepted" not in _said(told)
        assert "What bob wrote." in told.text
        assert "What bob wrote." in bob.get(f"{path}/{item}").text
        kept = bob.post(f"{path}/{item}", data={"action": "edit", "text": "What bob wrote.", "seen": "1"})
        assert kept.status_code == 200
    stands = all_standings(service.home, run)[0]
    assert (stands.state, stands.opinions["bob"].text) == ("accepted", "What bob wrote.")


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"action": "edit", "text": " "}, "an edit to nothing"),
        ({"action": "delete"}, "strike out the sentences"),
        ({"action": "delete", "delete": ["99"]}, "there are sentences 1 to"),
        ({"action": "valid"}, "nothing that can be decided"),
        ({"action": "reply", "text": "hm"}, "nothing that can be decided"),
    ],
)
def test_what_cannot_be_kept_is_told_on_the_item(
    served: tuple[Service, Waits], form: dict[str, str], said: str
) -> None:
    """A refusal stands on the item's own page, and nothing is decided."""
    service, waits = served
    run, path = waits.runs["captions"], waits.path("captions")
    with _browsing(service, "ana") as browser:
        reply = browser.post(f"{path}/{_first(service.home, run)}", data={**form, "seen": "0"})
    assert reply.status_code == 422
    assert said in _said(reply)
    assert all_standings(service.home, run)[0].state == "waiting"


def test_a_question_is_answered_in_the_browser(served: tuple[Service, Waits]) -> None:
    """Its person sees what a model would see and answers; others are told whose it is; a withdrawn one is told as such."""
    service, waits = served
    run, path = waits.runs["questions"], waits.path("questions")
    first, second = (one.item for one in waiting_questions(service.home, run=run))
    with _browsing(service, "bob") as bob, _browsing(service, "ana") as ana:
        assert "This is for ana" in _said(bob.get(f"{path}/{first}"))
        assert bob.post(f"{path}/{first}", data={"action": "reply", "text": "hm", "seen": "0"}).status_code == 422
        shown = ana.get(f"{path}/{first}")
        question = get_question(service.home, first)
        assert question.shown_at
        assert question.call.messages[-1].images[0].sha256 in shown.text
        empty = ana.post(f"{path}/{first}/draft", data={"text": ""})
        assert empty.json() == {"kept": True, "faults": "the reply is empty"}
        ana.post(f"{path}/{first}/draft", data={"text": "half a rep"})
        assert "half a rep" in ana.get(f"{path}/{first}").text
        assert (
            ana.post(f"{path}/{first}", data={"action": "reply", "text": "Final answer: A", "seen": "0"}).status_code
            == 200
        )
        assert get_question(service.home, first).reply == "Final answer: A"
        assert ana.post(f"{path}/undo", data={"item": first}).status_code == 200
        assert "Final answer: A" in ana.get(f"{path}/{first}").text
        service.home.writer.submit(_withdraw(second)).result()
        gone = ana.post(f"{path}/{second}", data={"action": "reply", "text": "Final answer: B", "seen": "0"})
        assert gone.status_code == 422
        assert "withdrawn" in _said(gone)
        assert "Final answer: B" in gone.text
        assert draft_file(service.home.path, second, "ana").read_text() == "Final answer: B"


def _withdraw(item: str):
    from dokimasia.storage.schema.rows import change_row

    return lambda connection: change_row(connection, "questions", item, {"withdrawn_at": "2026-01-01T00:00:00+00:00"})


def test_pairs_are_rated_blind(served: tuple[Service, Waits]) -> None:
    """No page names a model before, or after, the ratings; they come out as annotations and as agreement."""
    service, waits = served
    run, path = waits.runs["pairs"], waits.path("pairs")
    for who in ("ana", "bob"):
        with _browsing(service, who) as browser:
            for one in queued(service.home, run):
                if one.item.person != who:
                    continue
                shown = browser.get(f"{path}/{one.item.id}")
                assert "sim/" not in shown.text
                agreement = browser.get(f"{path}/agreement").text
                assert "Where ratings differ," not in agreement
                verdict = {"ana": "equal", "bob": "left better"}[who]
                rated = browser.post(f"{path}/{one.item.id}", data={"action": "rate", "verdict": verdict, "seen": "0"})
                assert rated.status_code == 200
                assert "sim/" not in rated.text
    with _browsing(service, "ana") as browser:
        lines = browser.get(f"{path}/ratings.jsonl").text.splitlines()
        assert len(lines) == len(ratings_of(queued(service.home, run))) == len(queued(service.home, run))
        agreement = browser.get(f"{path}/agreement")
        assert "ana and bob" in agreement.text
        differing = agreement.text.partition("Where ratings differ, the farthest apart first")[2]
        assert re.search(rf'href="/runs/{run}/samples/[^"]+"', differing)
        assert "ana: 0" in differing
        refused = browser.post(f"{path}/hand-out", data={"kind": "pair", "annotators": "a b c/d"})
        assert refused.status_code == 422
        more = browser.post(f"{path}/hand-out", data={"kind": "response", "annotators": "eve", "per": "1"})
        assert more.status_code == 200
    assert any(one.item.person == "eve" for one in queued(service.home, run))


def test_the_lists_say_what_is_asked_and_of_whom(served: tuple[Service, Waits]) -> None:
    """In words and with the sample; whose turn it is can be taken from the page, and the last decision be undone there."""
    service, waits = served
    path = waits.path("questions")
    with _browsing(service, "root") as browser:
        queue = _said(browser.get("/review"))
        assert "answer a question" in queue
        assert re.search(r"check \d+ captions", queue)
        assert '<th scope="col">by</th>' not in browser.get(waits.path("captions")).text
        assert "I am ana" in queue
        before = browser.get(path)
        assert "I am ana" in _said(before)
        assert "0 of 0" not in _said(before)
        assert "Nothing more waits" not in _said(before)
        listed = re.findall(rf'href="{path}/(\w+)">[^<]*</a></th><td>([^<]+)</td>', before.text)
        prompts = {one.id: one.prompt for one in load_samples(service.home, waits.runs["questions"])}
        assert {sample for _, sample in listed} == set(prompts)
        for item, sample in listed:
            assert prompts[sample] in str(get_question(service.home, item).call.messages[-1].text)
        told = browser.get(f"/api{path.replace('/review/', '/reviews/')}").json()["items"]
        assert {one["item"]: one["sample"] for one in told} == dict(listed)
        browser.cookies.clear()
        named = browser.post("/settings/name", data={"name": "ana", "back": path}, follow_redirects=False)
        assert named.headers["location"] == path
        away = browser.post("/settings/name", data={"name": "ana", "back": "//elsewhere"}, follow_redirects=False)
        assert away.headers["location"] == "/settings"
    with _browsing(service, "ana") as browser:
        assert "Decide the next one" in browser.get(path).text
        assert '<th scope="col">by</th>' in browser.get(path).text
        for one in waiting_questions(service.home, run=waits.runs["questions"]):
            browser.post(f"{path}/{one.item}", data={"action": "reply", "text": "Final answer: A", "seen": "0"})
        after = _said(browser.get(path))
        assert "Nothing more waits for you here" in after
        assert "Undo your last decision (reply; answer a question of" in " ".join(after.split())


def test_an_empty_form_says_what_to_do_beside_its_places(tmp_path: Path) -> None:
    """A form that is not filled in is refused in words of the page, without ids or tags, and what was filled in stays."""
    write_described(tmp_path / "data.jsonl", 1, 0, disputed=0.0)
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    request = ReviewRequest(data=tmp_path / "data.jsonl", panel=("sim/panel-a", "sim/panel-b", "human/ana"))
    run = asyncio.run(begin(METHOD, request, settings=settings)).run
    answer_all(settings, run, "ana", as_model(settings, "sim/panel-c"))
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, run)
    asyncio.run(resume(row, settings=settings))
    with service_over(tmp_path / "home") as service, _browsing(service, "ana") as browser:
        item = waiting_questions(service.home, run=run)[0].item
        path = f"/review/{run}/{item}"
        form = question_view(get_question(service.home, item)).form
        assert form is not None
        order = next(one for one in form.places if one.kind == "order")
        critique = next(one for one in form.places if one.kind == "text")
        sent = {
            "action": "compose",
            "seen": "0",
            f"place-{critique.name}": "It names the cat.",
            f"place-{order.name}": "",
        }
        refused = browser.post(path, data=sent)
        assert refused.status_code == 422
        alert = _said_in(refused, "alert")
        assert "Ranking: choose a ranking" in alert
        assert item not in alert
        assert "<" not in alert
        assert f'id="place-{order.name}-fault">Choose a ranking.' in refused.text
        assert f'id="place-{critique.name}-fault"' not in refused.text
        assert "It names the cat." in refused.text
        draft = browser.post(f"{path}/draft", data=sent).json()
        assert "Ranking: choose a ranking" in draft["faults"]


def _said_in(reply: httpx.Response, role: str) -> str:
    found = re.search(rf'role="{role}">(.*?)</div>', reply.text, re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", found[1])) if found else ""


def test_a_refusal_is_a_page_of_its_own(served: tuple[Service, Waits]) -> None:
    """It is asked for by GET, so that Back and reload send no form again, and is over once somebody has decided."""
    service, waits = served
    run, path = waits.runs["captions"], waits.path("captions")
    item = _first(service.home, run)
    with _browsing(service, "ana") as ana, _browsing(service, "bob") as bob:
        reply = ana.post(f"{path}/{item}", data={"action": "delete", "seen": "0"}, follow_redirects=False)
        assert reply.status_code == 303
        told = ana.get(reply.headers["location"])
        assert told.status_code == 422
        assert "strike out the sentences first" in _said(told)
        assert f"item {item}" not in _said(told)
        assert ana.get(reply.headers["location"]).status_code == 422
        assert bob.get(reply.headers["location"]).status_code == 200
        ana.post(f"{path}/{item}", data={"action": "accept", "seen": "0"})
        assert ana.get(reply.headers["location"]).status_code == 200
