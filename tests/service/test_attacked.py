"""What somebody who means harm sends is refused in a sentence, and reaches nothing."""

import asyncio
import socket
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from anyio.to_thread import current_default_thread_limiter
from structlog.testing import capture_logs

from dokimasia.cli.output import export_form
from dokimasia.errors import ConfigError, InputError
from dokimasia.methods.tree.validity import TreeValidity
from dokimasia.operations.operation import FileReply
from dokimasia.operations.results import zipped
from dokimasia.runs.forking import ForkRequest
from dokimasia.service.app import READERS
from dokimasia.service.engine import RunEngine
from dokimasia.service.guard import Limits
from dokimasia.service.state import AT_ONCE, WAITING
from dokimasia.settings import load_settings
from dokimasia.storage.runs import list_runs
from tests.processes import PATIENCE
from tests.report.conftest import Finished
from tests.service.conftest import asking, at_address, service_over
from tests.service.test_guard import TOKEN, tokens
from tests.service.test_routes_scopes import TOKENS
from tests.service.test_routes_scopes import tokens as one_of_each
from tests.service.waiting import Waits

FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    "origin", ["http://[::1", "http://", "//", "[", "http://localhost@evil.example", "http://localhost/"]
)
async def test_an_origin_that_is_none_is_another_one(client: httpx.AsyncClient, origin: str) -> None:
    """A header that no browser sends is refused as another origin is, and is no error of the service."""
    assert (await client.post("/api/health", headers={"origin": origin})).status_code == 403


@pytest.mark.parametrize(
    "host", ["a@localhost", "localhost/@evil.example", "localhost:80:80", "[::1", "[::1%25eth0]", "localhost."]
)
async def test_a_host_with_more_in_it_than_a_name_and_a_port_is_refused(client: httpx.AsyncClient, host: str) -> None:
    """What is no name with a port is nobody's, whatever it ends or begins with."""
    assert (await client.get("/api/health", headers={"host": host})).status_code == 421


async def test_a_page_elsewhere_may_lead_here_and_nothing_else(client: httpx.AsyncClient) -> None:
    """A link of another site is followed; what its page loads by itself, or sends, is refused, also from a neighbour's port."""
    link = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    for site in ("cross-site", "same-site", "Cross-Site"):
        assert (await client.get("/", headers={"sec-fetch-site": site, **link})).status_code == 200
        image = {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
        frame = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}
        for loaded in (image, frame, {}):
            assert (await client.get("/", headers={"sec-fetch-site": site, **loaded})).status_code == 403
        assert (await client.post("/settings/name", headers={"sec-fetch-site": site, **link})).status_code == 403
    for site in ("same-origin", "none"):
        assert (await client.get("/api/health", headers={"sec-fetch-site": site})).status_code == 200


async def test_a_made_up_token_or_address_is_no_way_around_the_rate(small: Finished, tmp_path: Path) -> None:
    """Requests are counted by address, or by the holder of a known token: what a client makes up counts for nothing."""
    with service_over(small.home, tokens=tokens(tmp_path), limits=Limits(rate=0.001, burst=3)) as service:
        async with asking(service) as client:
            made_up = [
                {"authorization": f"Bearer guess-{number:016}", "x-forwarded-for": f"10.0.0.{number}"}
                for number in range(5)
            ]
            replies = [await client.get("/api/runs", headers=one) for one in made_up]
            known = await client.get("/api/runs", headers={"authorization": f"Bearer {TOKEN}"})
    assert [one.status_code for one in replies] == [401, 401, 401, 429, 429]
    assert known.status_code == 200


async def test_a_form_that_is_too_long_is_told_so_whatever_its_header_says(small: Finished) -> None:
    """A form sent in pieces without a length is 413 as one with a length is."""

    async def pieces() -> Any:
        for _ in range(4):
            yield b"x" * 500

    with service_over(small.home, limits=Limits(body=1000)) as service:
        async with asking(service) as client:
            for path in ("/settings/name", "/login"):
                reply = await client.post(path, content=pieces(), headers={"content-type": FORM})
                assert (reply.status_code, "longer than 1,000 bytes" in reply.text) == (413, True)


def test_a_body_that_does_not_go_on_or_has_two_lengths_is_refused(small: Finished) -> None:
    """A client that stops in the middle of a body is told so and let go; two lengths are one too many."""
    head = f"POST /settings/name HTTP/1.1\r\nhost: localhost\r\ncontent-type: {FORM}\r\ncontent-length: 9\r\n"
    with service_over(small.home, limits=Limits(patience=0.2)) as service, at_address(service) as url:
        slow = _sent(url, f"{head}\r\nname")
        twice = _sent(url, f"{head}transfer-encoding: chunked\r\n\r\n0\r\n\r\n")
        stream = httpx.get(f"{url}/api/runs/last/events", timeout=PATIENCE)
    assert slow.startswith("HTTP/1.1 408")
    assert twice.startswith("HTTP/1.1 400")
    assert stream.status_code == 200


def _sent(url: str, text: str) -> str:
    """What comes back, to the end of the connection."""
    address = httpx.URL(url)
    with socket.create_connection((address.host, address.port), timeout=PATIENCE) as connection:
        connection.sendall(text.encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


async def test_an_error_of_ours_has_the_headers_of_every_answer(
    small: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer of 500 has the policy and the id of its request, and of the error its class alone; the log has it whole."""

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of /home/somebody")

    monkeypatch.setattr("dokimasia.operations.runs.labelled_runs", fails)
    monkeypatch.setattr("dokimasia.service.pages.models.list_models", fails)
    with (
        service_over(small.home) as service,
        capture_logs() as logged,
    ):  # rendered, the locals of each frame take seconds
        async with asking(service) as client:
            for path in ("/api/runs", "/models"):
                reply = await client.get(path, headers={"accept": "text/html", "x-request-id": "mine"})
                assert reply.status_code == 500
                assert "RuntimeError" in reply.text
                assert "somebody" not in reply.text
                assert reply.headers["x-request-id"] == "mine"
                assert "default-src 'none'" in reply.headers["content-security-policy"]
                assert reply.headers["x-frame-options"] == "DENY"
    errors = {(line["path"], str(line["exc_info"])) for line in logged if line["event"] == "internal error"}
    assert errors == {(path, "a secret of /home/somebody") for path in ("/api/runs", "/models")}


async def test_no_fork_leads_keys_to_an_address(small: Finished) -> None:
    """A model that is named by an address is refused in a fork by whatever way it comes, and nothing is put into the queue."""
    settings = load_settings(home=small.home, cwd=small.home.parent, env={})
    address = "huggingface/http://127.0.0.1:9/x"
    with service_over(small.home) as service:
        runs = list_runs(service.home)
        async with RunEngine(settings, service.home) as engine:
            for asked in (
                ForkRequest(node="score", judge=address),
                ForkRequest(node="answer", models={"sim/weak": address}),
            ):
                with pytest.raises(InputError, match="is no name of a model"):
                    await engine.fork(runs[0], asked)
        assert len(list_runs(service.home)) == len(runs)


@pytest.mark.parametrize("number", ["9" * 26, "9" * 100])
async def test_a_version_of_a_tree_that_no_number_can_be_is_not_there(waiting_once: Waits, number: str) -> None:
    """A position beyond what a database counts to is 404, on pages and as JSON."""
    with service_over(waiting_once.home) as service:
        async with asking(service) as client:
            tree = (await client.get("/api/trees")).json()["trees"][0]["tree"]
            for path in (f"/api/trees/{tree}", f"/api/trees/{tree}/export", f"/trees/{tree}"):
                assert (await client.get(path, params={"version": number})).status_code == 404
            assert (await client.get(f"/api/trees/{tree}@{number * 50}")).status_code == 404


def test_a_token_that_no_header_carries_is_refused_at_the_start(tmp_path: Path) -> None:
    """A token with letters beyond ASCII is named by its line before anybody is given it."""
    with pytest.raises(ConfigError, match=r"line 1: a token has .* ASCII") as caught:
        tokens(tmp_path, "ana read ünïcödé-tökén-0123456789\n")
    assert "tökén" not in str(caught.value)


async def test_a_name_from_a_cookie_holds_no_signs_that_cannot_be_printed(waiting: Waits) -> None:
    """Who says at a browser who they are is kept as one line of at most 100 characters, without what turns or ends it."""
    at = f"/api/reviews/{waiting.runs['captions']}"
    with service_over(waiting.home) as service:
        async with asking(service) as client:
            item = (await client.get(at)).json()["items"][0]["item"]
            for name in ("a\r\nb\0\u202e ", "x" * 5000):
                told = {"cookie": f"dokimasia_who={quote(name)}"}
                sent = {"action": "accept", "second": True}
                assert (await client.post(f"{at}/{item}", json=sent, headers=told)).status_code == 201
            decisions = (await client.get(f"{at}/{item}", headers=told)).json()["decisions"]
    assert [one["who"] for one in decisions] == ["a b", "x" * 100]


async def test_a_decision_is_not_taken_back_at_the_page_of_another_run(waiting: Waits) -> None:
    """An item is reached in its own run alone, also where it is undone."""
    captions, rubrics = (f"/api/reviews/{waiting.runs[name]}" for name in ("captions", "rubrics"))
    with service_over(waiting.home) as service:
        async with asking(service) as client:
            item = (await client.get(captions)).json()["items"][0]["item"]
            assert (await client.post(f"{captions}/{item}", json={"action": "accept"})).status_code == 201
            undo = await client.post(f"{waiting.path('rubrics')}/undo", data={"item": item})
            assert undo.status_code == 404
            assert (await client.get(f"{rubrics}/{item}")).status_code == 404
            assert [one["action"] for one in (await client.get(f"{captions}/{item}")).json()["decisions"]] == ["accept"]


async def test_so_many_of_each_category_is_a_number_that_can_be(waiting_once: Waits) -> None:
    """A count of thousands of digits is refused beside the form, as a count of none is."""
    with service_over(waiting_once.home) as service:
        async with asking(service) as client:
            sent = {"kind": "pair", "annotators": "ana", "per": "9" * 5000}
            reply = await client.post(f"{waiting_once.path('pairs')}/hand-out", data=sent)
    assert reply.status_code == 422


async def test_a_cookie_that_came_over_https_goes_over_https_alone(small: Finished, tmp_path: Path) -> None:
    """Behind a proxy that speaks HTTPS to browsers the token's cookie is `Secure`; on loopback it is sent as it can be."""
    with service_over(small.home, tokens=tokens(tmp_path), hosts=("judge.example",)) as service:
        async with asking(service) as client:
            for origin, wanted in (("https://judge.example", True), ("http://judge.example", False)):
                told = {"host": "judge.example", "origin": origin}
                cookie = (await client.post("/login", data={"token": TOKEN}, headers=told)).headers["set-cookie"]
                assert ("Secure" in cookie, "HttpOnly" in cookie, "SameSite=strict" in cookie) == (wanted, True, True)


@pytest.mark.parametrize("name", ["../taken.tsv", "/tmp/taken.tsv", "a/../../taken.tsv"])  # never written
def test_a_service_elsewhere_names_no_file_outside_of_the_folder_that_was_named(tmp_path: Path, name: str) -> None:
    """Files of a form are written below the folder of -o, whatever the service calls them, and else none of them."""
    archive = FileReply(zipped({"fine.tsv": b"1", name: b"2"}), "application/zip")
    backend: Any = SimpleNamespace(
        find=lambda run: SimpleNamespace(id=run, status="done"),
        call=lambda operation, **arguments: archive,
        named="the home of X",
    )
    with pytest.raises(InputError, match="leads out of"):
        export_form(backend, "last", "vlmevalkit", tmp_path / "out", None)
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == []


async def test_readings_that_take_long_leave_threads_for_the_others(
    small: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many ask for what takes long, few are at work at once, too many are refused, and the rest is answered meanwhile."""
    go_on, at_work, most = threading.Event(), 0, 0
    counting = threading.Lock()

    def slow(*_: object, **__: object) -> TreeValidity:
        nonlocal at_work, most
        with counting:
            at_work += 1
            most = max(most, at_work)
        go_on.wait(PATIENCE)
        with counting:
            at_work -= 1
        return TreeValidity.model_construct()

    monkeypatch.setattr("dokimasia.operations.trees.evaluation_of", lambda home, run: (run, None))
    monkeypatch.setattr("dokimasia.operations.trees.validity_of", slow)
    current_default_thread_limiter().total_tokens = READERS
    with service_over(small.home, tokens=one_of_each()) as service:
        async with asking(service, headers={"authorization": f"Bearer {TOKENS['read']}"}) as client:
            waiting = [asyncio.ensure_future(client.get("/api/runs/last/validity")) for _ in range(WAITING + 5)]
            while not (at_work == AT_ONCE and sum(one.done() for one in waiting) == 5):  # noqa: ASYNC110  # counted in threads
                await asyncio.sleep(0.01)
            stranger = await client.get("/api/runs/last/validity", headers={"authorization": "Bearer nobody"})
            quick = await asyncio.wait_for(client.get("/api/runs"), PATIENCE)
            go_on.set()
            replies = await asyncio.gather(*waiting)
            assert service.read_semaphore.taken == 0
    assert (stranger.status_code, quick.status_code) == (401, 200)
    assert sorted(one.status_code for one in replies) == [200] * WAITING + [503] * 5
    assert most == AT_ONCE
