"""Every number of every request has bounds, and at its upper bound no request stops the service."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dokimasia.errors import InputError
from dokimasia.runs.catalogue import OWN, own_method
from dokimasia.runs.preview import preview
from dokimasia.service.app import create_app
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home
from tests.processes import PATIENCE, run_program
from tests.report.conftest import Finished
from tests.service.conftest import service_over
from tests.service.working import Working, working

LOW, HIGH = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")
INSIDE = ("anyOf", "oneOf", "allOf", "items", "prefixItems", "additionalProperties")


def numbers(schema: Any, known: dict[str, Any], where: str, within: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every schema of a number within a schema, and where it stands."""
    if isinstance(schema, list):
        for one in schema:
            yield from numbers(one, known, where, within)
    if not isinstance(schema, dict):
        return
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name and name not in within:
        yield from numbers(known[name], known, where, (*within, name))
    if schema.get("type") in ("integer", "number") and not {"enum", "const"} & set(schema):
        yield where, schema
    for part in INSIDE:
        yield from numbers(schema.get(part), known, where, within)
    for field, one in schema.get("properties", {}).items():
        yield from numbers(one, known, f"{where}.{field}", within)


def asked_numbers(spec: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every number of a parameter or a body in an OpenAPI description."""
    known = spec["components"]["schemas"]
    for path, verbs in spec["paths"].items():
        for verb, one in verbs.items():
            for parameter in one.get("parameters", ()):
                yield from numbers(parameter["schema"], known, f"{verb} {path}?{parameter['name']}")
            for body in one.get("requestBody", {}).get("content", {}).values():
                yield from numbers(body["schema"], known, f"{verb} {path} ")


def test_every_number_that_can_be_sent_has_two_bounds(small: Finished) -> None:
    """No whole or other number of a query, a path or a body is without a minimum or a maximum."""
    with service_over(small.home) as service:
        found = list(asked_numbers(create_app(service).openapi()))
    assert len(found) > 150
    assert [where for where, one in found if not (set(LOW) & set(one) and set(HIGH) & set(one))] == []


LINE = {"id": "a", "prompt": "What is 2 + 2?", "reference_answer": "4"}


async def with_one_sample(service: Working) -> None:
    """Upload one sample and evaluate it, for the methods that go by a finished evaluation."""
    sent = await service.client.post("/api/uploads", files={"file": ("questions.jsonl", json.dumps(LINE).encode())})
    assert sent.status_code == 201, sent.text
    asked = {"data": "upload:questions.jsonl", "judge": "sim/judge", "models": ["sim/strong", "sim/weak"]}
    begun = await service.client.post("/api/runs/evaluate", json=asked)
    assert (await service.ended(begun.json()["id"]))["status"] == "done"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one sample that was uploaded and evaluated, which nobody writes to."""
    home = tmp_path_factory.mktemp("evaluated") / "home"

    async def evaluate() -> None:
        async with working(home) as service:
            await with_one_sample(service)

    with ThreadPoolExecutor(1) as aside:
        aside.submit(asyncio.run, evaluate()).result()
    return home


@pytest.mark.parametrize("name", list(OWN))
async def test_the_greatest_number_of_each_field_leaves_the_service_awake(
    name: str, evaluated: Path, tmp_path: Path
) -> None:
    """With one sample, each field of a method at its maximum is taken or refused, and health checks are answered meanwhile."""
    shutil.copytree(evaluated, tmp_path / "home")
    async with working(tmp_path / "home") as service:
        paths = (await service.client.get("/api/openapi.json")).json()["paths"]
        body = paths[f"/api/runs/{name}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        example = {**body["examples"][0], "seed": 1}
        fields = {
            field: bound
            for field, one in body["properties"].items()
            for _, number in numbers(one, {}, field)
            for bound in [number.get("maximum", number.get("exclusiveMaximum"))]
        }
        assert "seed" in fields
        for field, most in fields.items():
            reply = await service.client.post(f"/api/runs/{name}", json={**example, field: most})
            assert reply.status_code < 500, (field, reply.text)
            assert (await service.client.get("/api/health", timeout=PATIENCE)).status_code == 200, field
            if reply.status_code == 201:
                await asyncio.sleep(0)
                run = reply.json()["id"]
                assert (await service.client.get("/api/health", timeout=PATIENCE)).status_code == 200, field
                stopped = await service.client.post(f"/api/runs/{run}/cancel?at_once=true")
                assert stopped.status_code == 200, (field, stopped.text)
            beyond = await service.client.post(f"/api/runs/{name}", json={**example, field: most * 10})
            assert beyond.status_code == 422, (field, beyond.text)


TOO_MANY = {"models": ["sim/strong"], "repeats": 10_000}
SAID = (
    "an evaluation of 1,010,000 items is too large, since a run has 1,000,000 at most: "
    "lower --repeats 10000, or set --limit"
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A hundred and one samples."""
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(json.dumps({**LINE, "id": str(number)}) for number in range(101)))
    return path


async def test_a_request_of_too_many_items_is_refused(data: Path, tmp_path: Path) -> None:
    """Over HTTP it is a 422 that counts the items and says what to lower, in a dry run, too; nothing is kept."""
    async with working(tmp_path / "home", data_root=tmp_path) as service:
        asked = {"data": "questions.jsonl", **TOO_MANY}
        for query in ("", "?dry_run=true"):
            reply = await service.client.post(f"/api/runs/evaluate{query}", json=asked)
            assert (reply.status_code, reply.json()["detail"]) == (422, SAID)
        hostile = await service.client.post("/api/runs/evaluate", json={**asked, "repeats": 5_000_000})
        assert (hostile.status_code, hostile.json()["detail"]) == (422, "repeats: enter 10000 or less")
        assert (await service.client.get("/api/runs")).json()["total"] == 0
        assert (await service.client.get("/api/health")).status_code == 200


PANEL = tuple(f"openai/model-{number}" for number in range(50))
ABSURD = {
    "review": ({"panel": PANEL, "cycles": 10**9}, "cycles: enter 100 or less"),
    "arena": ({"judge": "sim/judge", "models": PANEL, "rounds": 10**9}, "rounds: enter 1000 or less"),
    "evaluate": ({"judge": "sim/judge", "models": PANEL, "repeats": 10**12}, "repeats: enter 10000 or less"),
    "duel": ({"judge": "sim/judge", "models": PANEL, "baseline": "sim/steady", "repeats": 10_000}, "is too large"),
}


@pytest.mark.parametrize("name", ABSURD)
async def test_a_dry_run_of_an_absurd_size_is_refused(name: str, data: Path, tmp_path: Path) -> None:
    """Fifty models by a billion rounds are refused before anything is counted, with the limit; nothing is kept."""
    fields, said = ABSURD[name]
    async with working(tmp_path / "home", data_root=tmp_path) as service:
        asked = {"data": "questions.jsonl", **fields}
        reply = await service.client.post(f"/api/runs/{name}?dry_run=true", json=asked)
        assert reply.status_code == 422
        assert said in reply.json()["detail"]
        assert (await service.client.get("/api/runs")).json()["total"] == 0


def test_a_command_of_too_many_items_ends_with_2(data: Path, tmp_path: Path) -> None:
    """The command line says the same in one line, with exit code 2, in a dry run, too; so does Python."""
    words = ["evaluate", data, "--models", "sim/strong", "--home", tmp_path / "home", "--repeats"]
    for more in ((), ("--dry-run",)):
        ran = run_program([*words, "10000", *more], tmp_path)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert SAID in " ".join(ran.stderr.split())
    panel = run_program(["review", data, "--panel", ",".join(PANEL), "--cycles", "1000000000", "--dry-run"], tmp_path)
    assert panel.returncode == 2
    assert "is not in the range 1<=x<=100" in " ".join(panel.stderr.split())
    beyond = run_program([*words, "5000000"], tmp_path)
    assert beyond.returncode == 2
    assert "is not in the range 1<=x<=10000" in " ".join(beyond.stderr.split())
    method, settings = own_method("evaluate"), load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    request = method.request.model_validate({"data": data, **TOO_MANY})
    with pytest.raises(InputError, match="1,010,000 items is too large"):
        preview(method, request, settings=settings)


async def test_health_is_answered_while_many_items_are_accepted_and_worked_on(data: Path, tmp_path: Path) -> None:
    """A run of 909,000 items is accepted, estimated and begun, and the event loop goes round all the while."""
    async with working(tmp_path / "home", data_root=tmp_path) as service:
        asked = {"data": "questions.jsonl", "models": ["sim/strong"], "repeats": 9_000}
        begun = asyncio.ensure_future(service.client.post("/api/runs/evaluate", json=asked))
        rounds = 0
        while not begun.done():
            assert (await service.client.get("/api/health")).status_code == 200
            rounds += 1
        run = begun.result().json()
        assert (rounds > 1, run["estimate"]["items"]) == (True, 909_000)
        with Home.open(tmp_path / "home", write=False) as home:
            while not home.all("SELECT 1 FROM results WHERE run_id = ? LIMIT 1", (run["id"],)):
                assert (await service.client.get("/api/health")).status_code == 200
        stopped = await service.client.post(f"/api/runs/{run['id']}/cancel?at_once=true")
        assert stopped.status_code == 200
