"""The service for somebody who never opens a terminal: keys before a start, names, exports, and the page of data sets."""

import csv
import io
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import httpx
import pytest

from dokimasia.runs.figures import limits_of
from dokimasia.runs.outcome import ENDED
from dokimasia.service.run_events import Events
from dokimasia.service.suggestions import models_of
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.results import record_event
from dokimasia.storage.runs import get_run, set_status
from tests.report.conftest import Finished
from tests.service.conftest import asking, service_over
from tests.service.working import working

LINE = b'{"id": "a", "prompt": "What is two and two?", "reference_answer": "4"}\n'


async def test_a_start_without_a_key_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose provider is unknown, or has no key set, is refused before a run is stored or a call is sent."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    async with working(tmp_path / "home") as at:
        await at.client.post("/api/uploads", files={"file": ("data.jsonl", LINE)})
        asked = {"data": "upload:data.jsonl", "judge": "sim/judge", "models": ["openai/gpt-4o"]}
        reply = await at.client.post("/api/runs/evaluate", json=asked)
        assert reply.status_code == 422
        assert "model openai/gpt-4o: OPENAI_API_KEY is not set" in reply.json()["detail"]
        unknown = await at.client.post("/api/runs/evaluate", json={**asked, "models": ["nobody/nonsense"]})
        assert unknown.status_code == 422
        assert "LiteLLM knows no provider of 'nobody/nonsense': write PROVIDER/MODEL" in unknown.json()["detail"]
        assert (await at.client.get("/api/runs")).json()["total"] == 0


async def test_a_limit_and_its_spending_hold_over_resumes(tmp_path: Path) -> None:
    """The events of a resumed run have the limit that holds, though the resume named none, and what was spent before."""
    async with working(tmp_path / "home") as at:
        await at.client.post("/api/uploads", files={"file": ("data.jsonl", LINE)})
        asked = {"data": "upload:data.jsonl", "judge": "sim/judge", "models": ["sim/strong"], "max_calls": 1}
        run = (await at.client.post("/api/runs/evaluate", json=asked)).json()["id"]
        assert (await at.ended(run))["status"] == "interrupted"
        text = unescape((await at.client.get(f"/runs/{run}", headers={"accept": "text/html"})).text)
        assert "1 of at most 1 request" in text
        with_more = await at.client.post(f"/api/runs/{run}/resume", json={"max_cost": 5.0})
        assert with_more.status_code < 300
        await at.ended(run)
    with Home.open(tmp_path / "home", write=False) as home:
        row = get_run(home, run)
        picture = (await Events(home).log(row)).picture
        planned = picture.planned or {}
        assert planned["budget"] == {"max_calls": 1, "max_cost": 5.0} == {k: v for k, v in limits_of(row).items() if v}
        assert planned["spent_before"]["calls"] == 1


async def test_a_failed_run_says_why_on_its_page(small: Finished, tmp_path: Path) -> None:
    """The page of a run that failed opens with the reason, and does not say that nothing failed."""
    shutil.copytree(small.home, tmp_path / "home")
    with service_over(tmp_path / "home") as service:
        await record_event(service.home, small.run, ENDED, {"end": "failed", "why": "dead cannot be reached"})
        await set_status(service.home, small.run, "failed")
        async with asking(service, headers={"accept": "text/html"}) as client:
            text = unescape((await client.get(f"/runs/{small.run}?wait=true")).text)
    assert "<strong>This run failed.</strong> dead cannot be reached" in text
    assert "No failures, so" not in text
    assert "No item has failed so far." in text


async def test_exports_are_named_by_their_run_and_open_in_excel(tmp_path: Path) -> None:
    """A file is called after the run's name, which may hold spaces; rows have question and reference; a mark says UTF-8."""
    async with working(tmp_path / "home") as at:
        await at.client.post("/api/uploads", files={"file": ("data.jsonl", LINE)})
        asked = {"data": "upload:data.jsonl", "judge": "sim/judge", "models": ["sim/strong"]}
        run = (await at.client.post("/api/runs/evaluate", json=asked)).json()["id"]
        await at.ended(run)
        plain = await at.client.get(f"/api/runs/{run}/export?format=csv")
        assert f"evaluate-data-{run[:8]}.csv" in plain.headers["content-disposition"]
        named = await at.client.patch(f"/api/runs/{run}", json={"name": "My first run"})
        assert named.json()["name"] == "My first run"
        reply = await at.client.get("/api/runs/My first run/export?format=excel")
        assert "My-first-run.csv" in reply.headers["content-disposition"]
        assert reply.content == b"\xef\xbb\xbf" + plain.content
        (row,) = csv.DictReader(io.StringIO(plain.text))
        assert (row["question"], row["reference_answer"]) == ("What is two and two?", "4")


async def uploaded(client: httpx.AsyncClient) -> str:
    """The id of a small data set that was uploaded."""
    return (await client.post("/api/uploads", files={"file": ("data.jsonl", LINE)})).json()["id"]


async def test_data_sets_have_a_page(tmp_path: Path) -> None:
    """It lists each with its runs, renames it, keeps a name that cannot be used in its field, and deletes it."""
    async with working(tmp_path / "home") as at:
        client = at.client
        id = await uploaded(client)
        asked = {"data": f"upload:{id}", "judge": "sim/judge", "models": ["sim/strong"], "name": "first"}
        run = (await client.post("/api/runs/evaluate", json=asked)).json()["id"]
        await at.ended(run)
        page = (await client.get("/data")).text
        assert f'href="/runs/{run}">first</a>' in page
        renamed = await client.post(f"/data/{id}/rename", data={"name": "My questions"})
        assert renamed.status_code == 303
        assert "My questions" in (await client.get("/data")).text
        refused = await client.post(f"/data/{id}/rename", data={"name": "a/b"})
        assert refused.status_code == 422
        assert 'value="a/b"' in refused.text
        assert "no slash" in refused.text
        assert (await client.patch(f"/api/uploads/{id}", json={"name": "Others"})).json()["name"] == "Others"
        assert (await client.post(f"/data/{id}/delete")).status_code == 303
        assert (await client.get("/api/uploads")).json()["total"] == 0


async def test_simulated_models_are_offered_last(small: Finished, tmp_path: Path) -> None:
    """Configured models come first, with whether their key is set; the simulated ones follow."""
    config = tmp_path / "dokimasia.toml"
    config.write_text('[models.mine]\nmodel = "openai/gpt-4o"\napi_key_env = "NO_SUCH_KEY"\n')
    settings = load_settings(home=small.home, cwd=tmp_path, env={})
    with service_over(small.home) as service:
        (first, about), *others = models_of(replace(service, settings=settings))
        assert first == "mine"
        assert "NO_SUCH_KEY is not set" in about
        assert {text for _, text in others} == {"simulated"}
        async with asking(service) as client:
            assert (await client.get("/data")).status_code == 200
