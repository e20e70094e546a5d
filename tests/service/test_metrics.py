"""What the service says of itself to machines."""

import shutil
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from dokimasia.service.guard import Limits
from dokimasia.simulation.serving.transport import SimTransport
from tests.processes import PATIENCE
from tests.report.conftest import Finished
from tests.service.conftest import asking, service_over
from tests.service.test_events import follow, request, working
from tests.service.test_guard import TOKEN, tokens


async def measured(client: httpx.AsyncClient) -> dict[tuple[str, ...], float]:
    """Every sample of /metrics, by its name and the values of its labels."""
    text = (await client.get("/metrics")).text
    found = (one for family in text_string_to_metric_families(text) for one in family.samples)
    return {(one.name, *one.labels.values()): one.value for one in found}


async def test_requests_are_counted_by_the_route_that_answered_and_never_by_the_path(client: httpx.AsyncClient) -> None:
    """A path that names a run, or that nobody answers, makes no label of its own."""
    for path in ("/api/health", "/api/runs/one/events", "/api/runs/two/events", "/secret", "/static/htmx.js"):
        await client.get(path)
    await client.get("/api/health", headers={"host": "evil.example"})
    found = {
        name[1:]: value for name, value in (await measured(client)).items() if name[0].endswith("request_seconds_count")
    }
    assert found == {
        ("GET", "/api/health", "200"): 1,
        ("GET", "/api/runs/{run}/events", "404"): 2,
        ("GET", "none", "404"): 1,
        ("GET", "none", "421"): 1,
        ("GET", "/static", "200"): 1,
    }


async def test_metrics_say_what_runs_have_sent_and_spent(tmp_path: Path) -> None:
    """Runs by status, and calls with their tokens and cost, are those of the run that has ended."""
    async with working(tmp_path / "home", SimTransport()) as (service, engine, url):
        run = await engine.submit("evaluate", request(tmp_path))
        await follow(f"{url}/api/runs/{run.id}/events")
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            found = await measured(client)
        progress = (await service.events.log(run)).picture.progress
        assert progress is not None
    assert found["dokimasia_runs", "done"] == 1
    assert (
        found["dokimasia_runs", "queued"] == found["dokimasia_queue_length",] == found["dokimasia_event_streams",] == 0
    )
    assert found["dokimasia_calls_answered_total",] == progress["answered"] > 0
    assert found["dokimasia_input_tokens_total",] == progress["input_tokens"] > 0
    assert found["dokimasia_questions_waiting",] == 0


async def test_health_needs_no_token_and_metrics_do(small: Finished, tmp_path: Path) -> None:
    """Without a token only `/healthz` answers; it says nothing of what is in the home."""
    with service_over(small.home, tokens=tokens(tmp_path), limits=Limits()) as service:
        async with asking(service) as client:
            assert (await client.get("/metrics")).status_code == 401
            assert (await client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})).status_code == 200
            health = await client.get("/healthz")
            assert (health.status_code, set(health.json())) == (200, {"status", "home", "version"})
            service.events.drain()
            health = await client.get("/healthz")
            assert (health.status_code, health.json()["status"]) == (503, "draining")


async def test_a_home_that_is_gone_is_no_health(small: Finished, tmp_path: Path) -> None:
    """Where the home was moved away, or takes no write, `/healthz` says so."""
    copy = tmp_path / "kept"
    shutil.copytree(small.home, copy)
    (tmp_path / "home").symlink_to(copy)
    with service_over(tmp_path / "home") as service:
        async with asking(service) as client:
            assert (await client.get("/healthz")).json()["home"] == "writable"
            (tmp_path / "home").unlink()
            gone = await client.get("/healthz")
            (tmp_path / "home").symlink_to(copy)
    assert (gone.status_code, gone.json()["home"]) == (503, "gone")
