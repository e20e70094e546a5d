"""Runs begun, stopped, gone on with and forked over HTTP, from an upload to their results."""

import asyncio
import io
import json
import re
import threading
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from dokimasia.service import engine
from dokimasia.service.queue import Queue
from dokimasia.simulation.world import write_world
from dokimasia.storage.naming import Label, labels
from tests.processes import PATIENCE
from tests.service.working import Working, working

ASKED = {"data": "upload:world", "judge": "sim/judge", "models": ["sim/strong", "sim/weak"]}


def world_zip(folder: Path, samples: int = 7) -> bytes:
    """A small planted world with its images, as an archive."""
    folder.mkdir()
    write_world(folder / "world.jsonl", samples, 1)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return out.getvalue()


@pytest.fixture
async def at_work(tmp_path: Path) -> AsyncIterator[Working]:
    """A service with an empty home and a world that was uploaded."""
    async with working(tmp_path / "home") as found:
        world = await asyncio.to_thread(world_zip, tmp_path / "world")
        reply = await found.client.post("/api/uploads", files={"file": ("world.zip", world)})
        assert reply.status_code == 201, reply.text
        yield found


async def test_a_run_goes_from_an_upload_to_its_results(at_work: Working) -> None:
    """A request is accepted with its estimate and links, worked off, shown; the same again is the same run."""
    client = at_work.client
    shown = (await client.post("/api/runs/evaluate?dry_run=true", json=ASKED)).json()
    assert (await client.get("/api/runs")).json()["total"] == 0
    begun = await client.post("/api/runs/evaluate", json={**ASKED, "name": "first", "tags": ["a"]})
    assert begun.status_code == 201, begun.text
    body = begun.json()
    assert begun.headers["location"] == body["links"]["self"] == f"/api/runs/{shown['run']}"
    assert (body["name"], body["tags"], body["estimate"]["calls"]) == ("first", ["a"], shown["calls"])
    ended = await at_work.ended(body["id"])
    assert ended["status"] == "done"
    assert set(ended["figures"]["models"]) == {"sim/strong", "sim/weak"}
    again = await client.post("/api/runs/evaluate", json=ASKED)
    assert (again.status_code, again.json()["id"]) == (200, body["id"])
    assert (await client.get("/api/runs")).json()["total"] == 1
    for link in ("items", "samples", "report", "export", "page"):
        if link != "page":
            assert (await client.get(body["links"][link])).status_code == 200, link
    fresh = await client.post("/api/runs/evaluate", json={**ASKED, "fresh": True})
    assert fresh.status_code == 201
    assert fresh.json()["id"] != body["id"]


async def test_a_method_that_rests_on_a_run_names_it(at_work: Working) -> None:
    """A run is named by id, name or `last`, and a fork and a diff go by it; what nothing changes is refused."""
    client = at_work.client
    first = (await client.post("/api/runs/evaluate", json=ASKED)).json()["id"]
    await at_work.ended(first)
    refined = await client.post("/api/runs/refine", json={"run": "last", "models": ["sim/weak"], "strategy": "again"})
    assert refined.status_code == 201, refined.text
    assert (await at_work.ended(refined.json()["id"]))["status"] == "done"
    path = f"/api/runs/{first}/fork"
    preview = (await client.post(f"{path}?dry_run=true", json={"node": "score", "judge": "sim/judge-noisy"})).json()
    assert preview["forked_from"] == {"run": first, "node": "score"}
    forked = await client.post(path, json={"node": "score", "judge": "sim/judge-noisy"})
    assert (forked.status_code, forked.json()["id"]) == (201, preview["run"])
    assert (await at_work.ended(preview["run"]))["forked_from"] == {"run": first, "node": "score"}
    compared = (await client.get(f"/api/diff?runs={first},{preview['run']}")).json()
    assert compared["second"]["judge"] == "sim/judge-noisy"
    assert (await client.post(path, json={})).status_code == 422
    assert (await client.post(path, json={"node": "nowhere", "judge": "sim/judge-noisy"})).status_code == 422
    assert (await client.post("/api/runs/none/fork", json={"judge": "sim/judge"})).status_code == 404
    filtered = (await client.post("/api/runs/filter", json={"data": "upload:world", "judge": "sim/judge"})).json()["id"]
    assert (await at_work.ended(filtered))["status"] == "done"
    asked = {"models": {"sim/judge": "sim/judge-noisy"}, "min_accuracy": 0.5}
    refused = await client.post(f"/api/runs/{filtered}/fork", json=asked)
    assert (refused.status_code, "--min-accuracy" in refused.text) == (422, True), refused.text


async def test_the_page_of_a_capped_run_says_once_how_to_go_on(at_work: Working) -> None:
    """Its notice has words of pages alone, and a resume with a limit that is spent already is refused."""
    begun = (await at_work.client.post("/api/runs/evaluate", json={**ASKED, "max_calls": 3})).json()["id"]
    assert (await at_work.ended(begun))["status"] == "interrupted"
    page = (await at_work.client.get(f"/runs/{begun}?wait=true", headers={"accept": "text/html"})).text
    notice = (
        "<p>The limit on requests was reached and some results are missing: 3 of at most 3 requests spent so far. To continue, "
        "raise or lift the limit under “Resume with other limits or prompts” in the menu Manage.</p>"
    )
    assert notice in page
    outside_the_fold = re.sub(
        r'<details class="command">.*?</details>', "", page.partition("<main")[2], flags=re.DOTALL
    )
    assert "--max" not in outside_the_fold
    assert "Spent so far, resumes included" not in page
    refused = await at_work.client.post(f"/runs/{begun}/resume", data={"max_calls": "3"})
    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        "Max calls: 3 are spent already: enter more than 3",
    )
    assert (await at_work.client.post(f"/runs/{begun}/resume", data={"max_calls": "4"})).status_code == 303
    assert (await at_work.ended(begun))["status"] == "interrupted"


async def test_samples_say_what_repeats_and_a_missing_result_mean(at_work: Working) -> None:
    """With repeats a verdict is that of any of them; what a finished refinement left alone was not taken up."""
    html = {"accept": "text/html"}
    begun = (await at_work.client.post("/api/runs/evaluate", json={**ASKED, "repeats": 2})).json()["id"]
    assert (await at_work.ended(begun))["status"] == "done"
    page = (await at_work.client.get(f"/runs/{begun}/samples", headers=html)).text
    assert '<option value="wrong">wrong in any repeat</option>' in page
    refined = (await at_work.client.post("/api/runs/refine", json={"run": begun})).json()["id"]
    assert (await at_work.ended(refined))["status"] == "done"
    page = (await at_work.client.get(f"/runs/{refined}/samples", headers=html)).text
    assert "not taken up" in page
    assert "nothing yet" not in page


async def test_a_run_is_stopped_gone_on_with_and_asked_anew(at_work: Working) -> None:
    """What a limit stops goes on once it is raised or lifted, and not before; failures are asked anew by kind."""
    client = at_work.client
    begun = (await client.post("/api/runs/evaluate", json={**ASKED, "max_calls": 3})).json()["id"]
    assert (await at_work.ended(begun))["status"] == "interrupted"
    more = await client.post(f"/api/runs/{begun}/resume", json={"max_calls": 5})
    assert more.status_code == 200, more.text
    assert (await at_work.ended(begun))["status"] == "interrupted"
    for body in ({}, {"max_calls": 6}):
        assert (await client.post(f"/api/runs/{begun}/resume", json=body)).status_code == 200
        assert (await at_work.ended(begun))["status"] == "interrupted"
    shown = (await client.get(f"/api/runs/{begun}")).json()
    assert (shown["limits"], shown["spent"]["calls"]) == ({"max_cost": None, "max_calls": 6, "max_tokens": None}, 6)
    page = await client.get(f"/runs/{begun}", headers={"accept": "text/html"})
    assert "6 of at most 6 requests" in page.text
    left = (await client.post(f"/api/runs/{begun}/resume?dry_run=true", json={"max_calls": None})).json()
    again = (await client.post("/api/runs/evaluate?dry_run=true", json=ASKED)).json()
    assert (left["run"], left["calls"], left["cost"]) == (begun, again["calls"], again["cost"])
    assert (await client.get(f"/api/runs/{begun}")).json()["status"] == "interrupted", "nothing was begun"
    assert (await client.post(f"/api/runs/{begun}/resume", json={"max_calls": None})).status_code == 200
    assert (await at_work.ended(begun))["status"] == "done"
    assert (await client.post(f"/api/runs/{begun}/cancel")).json()["status"] == "done"
    retried = await client.post(f"/api/runs/{begun}/retry", json={"kinds": ["refused"]})
    assert (retried.status_code, retried.json()["status"]) == (200, "done")
    for body in ({"kinds": ["nothing"]}, {"kinds": "refused"}, {"judge": "sim/judge"}):
        assert (await client.post(f"/api/runs/{begun}/retry", json=body)).status_code == 422, body
    assert (await client.post(f"/api/runs/{begun}/resume", json={"kinds": ["refused"]})).status_code == 422


async def test_a_resume_at_the_very_moment_of_an_end_is_not_lost(
    at_work: Working, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose row says already that it was interrupted goes on also where it has not left the queue yet."""
    leave = Queue._leave

    async def late(self: Queue, *holds: Any) -> None:
        await asyncio.sleep(0.3)
        await leave(self, *holds)

    monkeypatch.setattr(Queue, "_leave", late)
    begun = (await at_work.client.post("/api/runs/evaluate", json={**ASKED, "max_calls": 3})).json()["id"]
    for limits in ({"max_calls": 5}, {"max_calls": None}):
        assert (await at_work.ended(begun))["status"] == "interrupted"
        more = await at_work.client.post(f"/api/runs/{begun}/resume", json=limits)
        assert more.status_code == 200, more.text
    assert (await at_work.ended(begun))["status"] == "done"
    assert (await at_work.client.delete(f"/api/runs/{begun}")).status_code == 200


async def test_a_run_at_work_is_cancelled_and_not_deleted(tmp_path: Path) -> None:
    """A run at work is not deleted; cancelled it stops, and does not go on by itself."""
    async with working(tmp_path / "home") as at_work:
        world = await asyncio.to_thread(world_zip, tmp_path / "world", 84)
        client = at_work.client
        await client.post("/api/uploads", files={"file": ("world.zip", world)})
        models = [f"sim/{name}" for name in ("strong", "weak", "steady", "hasty", "nearsighted")]
        begun = (await client.post("/api/runs/evaluate", json={**ASKED, "models": models, "repeats": 5})).json()["id"]
        refused = await client.delete(f"/api/runs/{begun}")
        assert refused.status_code == 409, refused.text
        assert "cancel" in refused.json()["detail"]
        assert (await client.post(f"/api/runs/{begun}/resume", json={"max_calls": 1})).status_code == 409
        assert (await client.post(f"/api/runs/{begun}/retry")).status_code == 409
        stopped = await client.post(f"/api/runs/{begun}/cancel")
        assert stopped.status_code == 200
        assert (await at_work.ended(begun))["status"] == "interrupted"
        assert (await client.delete("/api/uploads/world")).status_code == 409
        assert (await client.delete(f"/api/runs/{begun}")).status_code == 200


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({}, "data: Field required"),
        ({**ASKED, "colour": "red"}, "colour: Extra inputs"),
        ({**ASKED, "judge": 5}, "judge"),
        ({**ASKED, "judge": "nobody"}, "there is no model 'nobody'"),
        ({**ASKED, "data": "/etc/passwd"}, "no upload"),
        ({**ASKED, "repeats": 0}, "repeats"),
        ({**ASKED, "seed": 2**63}, "64 bits"),
        ({**ASKED, "allow_fetch": True}, "allow_fetch"),
        ({**ASKED, "workers": 4096}, "workers: cannot be asked of a service"),
        ({**ASKED, "engine": "ray"}, "engine: cannot be asked of a service"),
        ({**ASKED, "address": "ray://10.0.0.1:10001"}, "address: cannot be asked of a service"),
        ({**ASKED, "min_accuracy": 2}, "min_accuracy"),
        ({**ASKED, "responses": ["sim/strong=upload:world"]}, "world.jsonl, line 1: the field 'response' is missing"),
        ([], "no JSON object"),
        ("text", "no JSON object"),
    ],
)
async def test_a_request_that_cannot_be_used_is_refused_in_a_sentence(at_work: Working, body: Any, part: str) -> None:
    """Nothing is accepted; the sentence names the field or is the command line's, without a path of the service."""
    reply = await at_work.client.post("/api/runs/evaluate", json=body)
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    assert part in reply.json()["detail"] or part in reply.text
    assert str(at_work.service.home.path) not in reply.text
    assert (await at_work.client.get("/api/runs")).json()["total"] == 0


async def test_bodies_of_another_type_are_refused_by_every_route_that_takes_one(at_work: Working) -> None:
    """No JSON, JSON that is broken, another media type, and a body that is too long each have their status."""
    spec = (await at_work.client.get("/api/openapi.json")).json()
    taking = [
        (verb, path)
        for path, verbs in spec["paths"].items()
        for verb, one in verbs.items()
        if "application/json" in one.get("requestBody", {}).get("content", {})
    ]
    assert len(taking) > 20
    for verb, path in taking:
        filled = path.replace("{run}", "last").replace("{tree}", "last").replace("{item}", "x")
        for content, kind, status in (
            (b"{", "application/json", 422),
            (b"\xff\xfe", "application/json", 422),
            (b'{"a": "\\ud800"}', "application/json", 422),
            (b'{"a": NaN}', "application/json", 422),
            (b"[" * 100_000, "application/json", 422),
            (b"{}", "text/plain", 415),
            (b"a=b", "application/x-www-form-urlencoded", 415),
            (b" " * 1_000_001, "application/json", 413),
        ):
            reply = await at_work.client.request(verb, filled, content=content, headers={"content-type": kind})
            assert reply.status_code == status, (verb, path, content[:20], kind, reply.text)


async def test_an_unknown_method_is_answered_with_those_that_there_are(at_work: Working) -> None:
    """A run of no method is 404, and the sentence lists the methods."""
    reply = await at_work.client.post("/api/runs/guess", json={})
    assert reply.status_code == 404
    assert "there are evaluate, filter" in reply.json()["detail"]


async def test_every_method_has_an_operation_described_by_its_request(at_work: Working) -> None:
    """The OpenAPI description has a route for each method, with the schema and the example that the list of methods gives."""
    spec = (await at_work.client.get("/api/openapi.json")).json()
    methods = (await at_work.client.get("/api/methods")).json()["methods"]
    assert len(methods) >= 17
    for one in methods:
        operation = spec["paths"][f"/api/runs/{one['name']}"]["post"]
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        assert set(schema["properties"]) == set(one["request"]["properties"])
        assert schema.get("required") == one["request"].get("required")
        assert schema["examples"] == [one["example"]]
        assert {"200", "201", "401", "403", "404", "409", "413", "415", "422", "429", "503"} <= set(
            operation["responses"]
        )
        figures = (await at_work.client.get(f"/api/methods/{one['name']}")).json()["figures"]
        assert figures is None or figures["properties"]


async def test_the_method_of_a_plug_in_has_its_route(at_work: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    """A method of another distribution is begun, described and listed like any; one that is broken is named with its fault."""
    from dataclasses import replace

    from dokimasia.errors import ConfigError
    from dokimasia.runs.catalogue import own_method
    from tests.service.conftest import asking

    plugged = replace(own_method("evaluate"), name="mine", title="one of mine")

    def named(name: str) -> Any:
        if name == "broken":
            raise ConfigError("the plug-in 'broken' cannot be loaded")
        return plugged if name == "mine" else own_method(name)

    monkeypatch.setattr("dokimasia.service.routes.starting.plugin_methods", lambda: ["broken", "mine"])
    monkeypatch.setattr("dokimasia.service.routes.starting.method_named", named)
    async with asking(at_work.service) as client:
        spec = (await client.get("/api/openapi.json")).json()
        assert "/api/runs/mine" in spec["paths"]
        assert "/api/runs/broken" not in spec["paths"]
        listed = (await client.get("/api/methods")).json()
        assert listed["methods"][-1]["title"] == "one of mine"
        assert listed["unusable"] == {"broken": "the plug-in 'broken' cannot be loaded"}
        reply = await client.post("/api/runs/mine", json={"data": "/etc/passwd"})
        assert (reply.status_code, "no upload" in reply.text) == (422, True)


async def test_a_name_that_another_run_has_is_taken_from_it(at_work: Working) -> None:
    """The name of a new run is its own from then on, if it is to take it from another."""
    client = at_work.client
    first = (await client.post("/api/runs/evaluate", json={**ASKED, "name": "mine"})).json()["id"]
    asked = {**ASKED, "seed": 2, "name": "mine"}
    assert "--force" in (await client.post("/api/runs/evaluate", json=asked)).json()["detail"]
    second = (await client.post("/api/runs/evaluate", json={**asked, "force": True})).json()["id"]
    assert (await client.get("/api/runs/mine")).json()["id"] == second
    assert labels(at_work.service.home).get(first, Label()).name == ""
    assert json.loads((await client.get("/api/runs?q=mine")).text)["total"] == 1


async def test_dry_runs_at_work_hold_up_no_start(at_work: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many dry runs take however long, a run is accepted; each of them is answered in its turn."""
    last = threading.Event()
    begun = threading.Semaphore(0)
    real = engine.preview

    def slow(*given: Any, **more: Any) -> dict[str, object]:
        begun.release()
        assert last.wait(PATIENCE)
        return real(*given, **more)

    monkeypatch.setattr(engine, "preview", slow)
    client = at_work.client
    previews = [asyncio.create_task(client.post("/api/runs/evaluate?dry_run=true", json=ASKED)) for _ in range(4)]
    for _ in range(engine.PREVIEWED_AT_ONCE):
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE)
    try:
        reply = await asyncio.wait_for(client.post("/api/runs/evaluate", json=ASKED), PATIENCE)
        assert reply.status_code == 201
        assert not any(preview.done() for preview in previews)
    finally:
        last.set()
    for preview in previews:
        assert (await preview).json()["run"] == reply.json()["id"]
