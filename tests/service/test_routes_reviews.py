"""Reviews over HTTP: what waits, item by item, decided by one person and then by another."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from dokimasia.operations.operation import Right
from dokimasia.service.guard import AccessTokens, Caller, token_digest
from dokimasia.storage.decisions import standing
from tests.service.test_routes_starting import world_zip
from tests.service.working import Working, working

ANA, BEN = ({"authorization": f"Bearer {name}-0123456789abcdef"} for name in ("ana", "ben"))


def people() -> AccessTokens:
    """Two people who may do everything."""
    every: frozenset[Right] = frozenset({"read", "run", "review"})
    return AccessTokens(
        tuple((token_digest(f"{name}-0123456789abcdef"), Caller(name, every)) for name in ("ana", "ben"))
    )


@pytest.fixture
async def reviewed(tmp_path: Path) -> AsyncIterator[tuple[Working, str]]:
    """A finished review whose captions wait for people."""
    async with working(tmp_path / "home", client={"headers": ANA}, tokens=people()) as at_work:
        world = await asyncio.to_thread(world_zip, tmp_path / "world")
        await at_work.client.post("/api/uploads", files={"file": ("world.zip", world)})
        panel = ["sim/panel-a", "sim/panel-b", "sim/panel-c"]
        begun = await at_work.client.post("/api/runs/review", json={"data": "upload:world", "panel": panel})
        assert begun.status_code == 201, begun.text
        await at_work.ended(begun.json()["id"])
        yield at_work, begun.json()["id"]


async def items(client: httpx.AsyncClient, run: str, **query: Any) -> list[Mapping[str, Any]]:
    """The items of a run."""
    return (await client.get(f"/api/reviews/{run}", params=query)).json()["items"]


async def test_captions_wait_and_are_decided(reviewed: tuple[Working, str]) -> None:
    """What waits is counted, shown whole with its sentences, accepted, edited by sentences or rejected, and counted again."""
    at_work, run = reviewed
    client = at_work.client
    queue = (await client.get("/api/reviews")).json()["reviews"]
    assert [(one["run"], one["waiting"], one["yours"]) for one in queue] == [(run, len(await items(client, run)),) * 1 + (
        len(await items(client, run)),)]  # fmt: skip
    first, second, third = [one["item"] for one in (await items(client, run))[:3]]
    shown = (await client.get(f"/api/reviews/{run}/{first}")).json()["shown"]
    assert shown["sentences"]
    assert (await client.get(f"/api/images/{shown['images'][0]['sha256']}")).status_code == 200
    assert (await client.post(f"/api/reviews/{run}/{first}", json={"action": "accept"})).status_code == 201
    edited = await client.post(f"/api/reviews/{run}/{second}", json={"action": "edit", "delete": [1]})
    assert edited.status_code == 201, edited.text
    assert edited.json()["shown"]["state"] == "edited"
    assert edited.json()["decisions"][0]["who"] == "ana"
    assert (await client.post(f"/api/reviews/{run}/{third}", json={"action": "reject"})).status_code == 201
    why = await client.post(f"/api/reviews/{run}/{third}", json={"action": "reject", "reasons": ["low_visibility"]})
    assert why.json()["decisions"][-1]["reasons"] == ["low_visibility"]
    assert (await client.get(f"/api/reviews/{run}/agreement")).json()["reasons"]["with_reason"] == 1
    assert (await items(client, run))[-1]["state"] != "waiting"
    assert len(await items(client, run, due=True)) == len(await items(client, run)) - 3
    back = await client.post(f"/api/reviews/{run}/{third}", json={"action": "undo"})
    assert back.json()["shown"]["state"] == "waiting"
    figures = (await client.get(f"/api/reviews/{run}/agreement")).json()
    assert figures["people"] == {"ana": 2}


async def test_of_two_people_the_second_is_told_and_nothing_is_lost(reviewed: tuple[Working, str]) -> None:
    """Whoever comes second is told who was first and keeps their text; as a second opinion it counts beside the first."""
    at_work, run = reviewed
    client = at_work.client
    item = (await items(client, run))[0]["item"]
    path = f"/api/reviews/{run}/{item}"
    await client.post(path, json={"action": "accept"})
    other = await client.post(path, json={"action": "edit", "text": "Something else."}, headers=BEN)
    assert other.status_code == 409
    assert "ana decided on it" in other.json()["detail"]
    assert '"second": true' in other.json()["detail"]
    assert any("Something else." in file.read_text() for file in (at_work.service.home.path / "drafts").iterdir())
    assert [one["who"] for one in (await client.get(path)).json()["decisions"]] == ["ana"]
    kept = await client.post(path, json={"action": "edit", "text": "Something else.", "second": True}, headers=BEN)
    assert kept.status_code == 201, kept.text
    assert [one["who"] for one in (await client.get(path)).json()["decisions"]] == ["ana", "ben"]
    assert (await client.get(path)).json()["shown"]["state"] == "accepted"
    assert (await client.get(path, headers=BEN)).json()["decisions"]
    again = await client.post(path, json={"action": "accept"})
    assert again.status_code == 201
    late = await client.post(path, json={"action": "reject", "seen": 1})
    assert late.status_code == 409


async def test_many_at_once_decide_one_item_once(reviewed: tuple[Working, str]) -> None:
    """Of many who decide at the same time one is first, and all others are told so."""
    at_work, run = reviewed
    item = (await items(at_work.client, run))[0]["item"]
    sent = [
        at_work.client.post(f"/api/reviews/{run}/{item}", json={"action": action}, headers=who)
        for action, who in (("accept", ANA), ("reject", BEN)) * 4
    ]
    statuses = [one.status_code for one in await asyncio.gather(*sent)]
    assert set(statuses) <= {201, 409}
    decisions = standing(at_work.service.home, item).decisions
    assert len({one.who for one in decisions}) == 1


async def test_decisions_that_make_no_sense_are_refused(reviewed: tuple[Working, str]) -> None:
    """Another kind's action, an empty or equal edit, a sentence that there is not, an unknown item and an unknown field."""
    at_work, run = reviewed
    item = (await items(at_work.client, run))[0]["item"]
    path = f"/api/reviews/{run}/{item}"
    for body in (
        {"action": "valid"},
        {"action": "reply", "text": "x"},
        {"action": "rate"},
        {"action": "edit"},
        {"action": "edit", "delete": [99]},
        {"action": "undo"},
        {"action": "other"},
        {"action": "reject", "reasons": ["ugly"]},
        {"action": "accept", "reasons": ["vague"]},
        {"action": "accept", "who": "ben"},
        {},
    ):
        reply = await at_work.client.post(path, json=body)
        assert reply.status_code == 422, (body, reply.text)
    assert (await at_work.client.post(f"/api/reviews/{run}/none", json={"action": "accept"})).status_code == 404
    assert (await at_work.client.post(f"/api/reviews/none/{item}", json={"action": "accept"})).status_code == 404
    draft = await at_work.client.put(f"{path}/draft", json={"text": "Half a"})
    assert draft.json() == {"faults": ""}


async def test_a_question_to_a_person_is_answered_over_http(tmp_path: Path) -> None:
    """A run with a person waits; their answer goes on with it, a question of another is refused, and one withdrawn is 410."""
    async with working(tmp_path / "home", client={"headers": ANA}, tokens=people()) as at_work:
        world = await asyncio.to_thread(world_zip, tmp_path / "world", 1)
        client = at_work.client
        await client.post("/api/uploads", files={"file": ("world.zip", world)})
        asked = {"data": "upload:world", "models": ["human/ana"]}
        run = (await client.post("/api/runs/evaluate", json=asked)).json()["id"]
        assert (await at_work.ended(run))["status"] == "waiting"
        item = (await items(client, run))[0]
        path = f"/api/reviews/{run}/{item['item']}"
        assert (item["person"], item["due"]) == ("ana", True)
        assert (await client.get(path)).json()["shown"]["messages"]
        assert (await client.post(path, json={"action": "reply", "text": "4"}, headers=BEN)).status_code == 422
        assert (await client.post(path, json={"action": "reply", "text": ""})).status_code == 422
        lacking = await client.post(path, json={"action": "reply", "text": "The red car"})
        assert lacking.status_code == 422
        assert 'no last line of its own that begins with "Final answer:"' in lacking.json()["detail"]
        answered = await client.post(path, json={"action": "reply", "text": "Final answer: 4"})
        assert answered.status_code == 201, answered.text
        from dokimasia.storage.schema.rows import change_row

        await at_work.service.home.write(
            lambda connection: change_row(
                connection, "questions", item["item"], {"withdrawn_at": "2026-01-01T00:00:00"}
            )
        )
        gone = await client.post(path, json={"action": "reply", "text": "answer: 5"})
        assert gone.status_code == 410
        assert "withdrawn" in gone.json()["detail"]
