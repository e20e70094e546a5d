"""Trees and passports over HTTP: shown, compared, edited by one and then by another, restored, taken in, deleted."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.report.conftest import Finished
from tests.service.working import Working, working


@pytest.fixture
async def grown(small: Finished, tmp_path: Path) -> AsyncIterator[tuple[Working, str]]:
    """A service over a home with an evaluation and a tree that was grown from it."""
    home = Path(shutil.copytree(small.home, tmp_path / "home"))
    async with working(home) as at_work:
        asked = {"run": small.run, "judge": "sim/judge", "subsample": 0, "name": "mine"}
        begun = await at_work.client.post(
            "/api/runs/tree", json={name: one for name, one in asked.items() if name != "name"}
        )
        assert begun.status_code == 201, begun.text
        await at_work.ended(begun.json()["id"])
        yield at_work, (await at_work.client.get("/api/trees")).json()["trees"][0]["tree"]


async def test_a_tree_is_edited_with_a_reason_and_restored(grown: tuple[Working, str]) -> None:
    """An edit is a version with its reason; whoever edits an older one is told so; a version is restored and compared."""
    at_work, tree = grown
    client, path = at_work.client, f"/api/trees/{tree}"
    found = (await client.get(path)).json()
    version = found["position"]
    leaf = next(one["id"] for one in found["nodes"] if one["layer"] == 3)
    change = {"kind": "rename", "node": leaf, "into": "Another name", "reason": "clearer", "version": version}
    edited = await client.post(f"{path}/edits", json=change)
    assert (edited.status_code, edited.json()["position"]) == (201, version + 1), edited.text
    late = await client.post(f"{path}/edits", json=change)
    assert late.status_code == 409
    assert "is newer" in late.json()["detail"]
    for wrong in ({"reason": ""}, {"kind": "burn"}, {"node": "<no>"}, {"version": "x"}, {"colour": 1}, {"into": ""}):
        reply = await client.post(f"{path}/edits", json={**change, "version": version + 1, **wrong})
        assert reply.status_code == 422, (wrong, reply.text)
    compared = (await client.get(f"{path}/diff?first={version}&second={version + 1}")).json()
    assert [one["reason"] for one in compared["edits"]] == ["clearer"]
    restored = await client.post(f"{path}/restore", json={"version": str(version)})
    assert (restored.status_code, restored.json()["restored"]) == (201, version), restored.text
    listed = (await client.get(f"{path}/versions")).json()["versions"]
    assert [one["position"] for one in listed][-2:] == [version + 1, version + 2]
    assert (await client.post(f"{path}/restore", json={"version": "99"})).status_code == 404


async def test_two_edits_at_once_do_not_undo_each_other(grown: tuple[Working, str]) -> None:
    """Of edits of one version that come at the same time one is kept, and the others are told of it."""
    at_work, tree = grown
    found = (await at_work.client.get(f"/api/trees/{tree}")).json()
    leaves = [one["id"] for one in found["nodes"] if one["layer"] == 3][:2]
    sent = [
        at_work.client.post(
            f"/api/trees/{tree}/edits",
            json={"kind": "rename", "node": leaf, "into": f"Name {at}", "reason": "x", "version": found["position"]},
        )
        for at, leaf in enumerate(leaves * 2)
    ]
    statuses = sorted(one.status_code for one in await asyncio.gather(*sent))
    assert statuses == [201, 409, 409, 409]


async def test_a_tree_goes_out_as_a_file_and_comes_back(grown: tuple[Working, str]) -> None:
    """Every format is a file; an edited one is taken in from an upload, and its fault is told by the upload's name."""
    at_work, tree = grown
    client = at_work.client
    for name in ("yaml", "json", "csv", "graphml", "mermaid"):
        reply = await client.get(f"/api/trees/{tree}/export?format={name}")
        assert reply.status_code == 200
        assert "attachment" in reply.headers["content-disposition"]
    text = (await client.get(f"/api/trees/{tree}/export")).content
    await client.post("/api/uploads", files={"file": ("tree.yaml", text)})
    same = await client.post("/api/trees", json={"file": "upload:tree.yaml"})
    assert (same.status_code, same.json()["new"]) == (200, False), same.text
    await client.post("/api/uploads", files={"file": ("broken.yaml", b"a: [")})
    broken = await client.post("/api/trees", json={"file": "upload:broken.yaml"})
    assert broken.status_code == 422
    assert str(at_work.service.home.path) not in broken.text
    assert (await client.post("/api/trees", json={"file": "/etc/passwd"})).status_code == 422


async def test_scores_on_a_tree_and_its_deletion(grown: tuple[Working, str], small: Finished) -> None:
    """Weaknesses and validity are those of the command line; a deleted tree is gone with its growth."""
    at_work, tree = grown
    client = at_work.client
    weak = await client.get(f"/api/runs/{small.run}/weaknesses?model=sim/weak")
    assert weak.json()["tree"] == tree
    assert (await client.get(f"/api/runs/{small.run}/weaknesses")).status_code == 422
    valid = await client.get(f"/api/runs/{small.run}/validity?permutations=5&resamples=2&baselines=false")
    assert valid.json()["taxonomies"][0]["name"] == "tree"
    gone = await client.delete(f"/api/trees/{tree}")
    assert gone.json()["runs"]
    assert (await client.get("/api/trees")).json()["total"] == 0


async def test_judges_without_a_probe_have_no_passport(grown: tuple[Working, str]) -> None:
    """Without a finished probe there is nothing to make a passport from, and the sentence says how."""
    at_work, _ = grown
    assert (await at_work.client.get("/api/passports")).json() == {"judges": []}
    reply = await at_work.client.get("/api/passports/sim/judge")
    assert (reply.status_code, "dokimasia probe" in reply.json()["detail"]) == (404, True)
