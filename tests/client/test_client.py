"""`dokimasia.Client`: runs of a service from Python, thin over its OpenAPI, errors as those of this package."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

import dokimasia
from dokimasia import Client, errors
from dokimasia.client import Event
from dokimasia.client.connection import parsed
from dokimasia.client.files import parts_of
from dokimasia.errors import ConfigError, DataError, DokimasiaError, InputError, NotFound, Unreachable
from dokimasia.service.app import create_app
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from tests.cli.served import Served, served
from tests.processes import run_program

pytestmark = pytest.mark.quick

MODELS = ("sim/strong", "sim/weak")
TOKEN = "secret-token-0123456789"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven questions."""
    path = tmp_path_factory.mktemp("data") / "world.jsonl"
    write_world(path, 7, 3)
    return path


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service over a home that began empty."""
    with served(tmp_path_factory.mktemp("served") / "home") as found:
        yield found


@pytest.fixture
def client(service: Served) -> Iterator[Client]:
    """A client of it."""
    with Client(service.url) as found:
        yield found


def test_a_run_from_its_request_to_its_rows(client: Client, data: Path, service: Served) -> None:
    """A run is begun, watched and read; what it says is what the command line prints of it."""
    preview = client.preview("evaluate", data=data, judge="sim/judge", models=MODELS)
    run = client.run("evaluate", data=data, judge="sim/judge", models=MODELS, name="first", tags=["a"])
    told: list[Event] = []
    ended = run.wait(told.append)
    assert (run.id, ended.end, ended.why) == (preview["run"], "complete", "")
    assert told[-1].kind in ("status", "ended")
    assert run.status == "done"

    def printed(*words: object) -> str:
        return run_program([*words, "--home", service.home], service.home.parent).stdout

    assert run.figures() == json.loads(printed("show", run.id, "--json"))
    assert run.export().decode() == printed("export", run.id)
    assert run.report("terminal", width=120).decode() == printed("show", run.id)
    samples = [one["sample"] for one in run.samples()]
    assert len(samples) == 7
    assert run.sample(samples[0], raw=True)["calls"]
    every = list(run.items())
    assert list(run.items(samples[0])) == [one for one in every if one["sample"] == samples[0]]
    assert [one.id for one in client.runs(tags=["a"])] == [run.id]
    assert client.find("first").id == client.find(run.id[:8]).id == client.find("last").id == run.id


def test_a_fork_is_compared_and_deleted(client: Client, data: Path) -> None:
    """Fork, diff, resume, retry, names and deletion answer for any run."""
    run = client.run("evaluate", data=data, judge="sim/judge", models=MODELS)
    run.wait()
    fork = run.fork(node="score", judge="sim/judge-noisy")
    assert fork.wait().end == "complete"
    assert client.diff(run.id, fork.id, top=1)["first"]["run"] == run.id
    assert run.resume(max_calls=1).wait().end == "complete"
    assert run.retry(["api_error"]).wait().end == "complete"
    assert run.ended({"min_score": 4.99}).end == "below"
    assert fork.call("other", ["b"]).shown["tags"] == ["b"]
    assert client.find("other").id == fork.id
    with pytest.raises(InputError, match="force"):
        run.delete()
    assert fork.delete()["run"] == fork.id
    with pytest.raises(NotFound):
        fork.figures()


def test_a_run_is_stopped(client: Client, data: Path) -> None:
    """A run that is stopped says so and keeps what is finished."""
    run = client.run("evaluate", data=data, judge="sim/judge", models=MODELS, seed=5)
    assert run.cancel().wait().end in ("interrupted", "complete")


def test_what_there_is_to_ask_with(client: Client) -> None:
    """Methods, models, prompts, trees, reviews, passports and uploads are listed."""
    assert {"evaluate", "review"} <= {one["name"] for one in client.methods()}
    assert any(one["name"] == "sim/judge" for one in client.models(simulated=True))
    assert client.prompts()
    assert client.trees() == client.reviews() == client.passports() == []
    assert client.health()["status"] == "ok"


@pytest.mark.parametrize(
    ("asked", "kind", "said"),
    [
        (lambda client, folder: client.find("nobody"), NotFound, "nobody"),
        (lambda client, folder: client.run("nothing"), DokimasiaError, "nothing"),
        (
            lambda client, folder: client.run(
                "evaluate", data=folder / "bad.jsonl", judge="sim/judge", models=["sim/weak"]
            ),
            DataError,
            "line 1",
        ),
        (
            lambda client, folder: client.run("evaluate", data=folder / "none.jsonl", judge="sim/judge"),
            InputError,
            r"there is no file .*none.jsonl here",
        ),
        (
            lambda client, folder: client.run("evaluate", jugde="sim/judge"),
            ConfigError,
            r"data: is needed.*jugde: there is no such field; did you mean 'judge'\?",
        ),
        (
            lambda client, folder: client.run("evaluate", data=folder, judge="J", models="sim/strong"),
            ConfigError,
            r"models: a list is wanted, such as \['sim/strong'\]",
        ),
        (lambda client, folder: client.run("evaluat"), ConfigError, "no method 'evaluat'; did you mean 'evaluate'"),
        (
            lambda client, folder: client.run("filter", data=folder / "bad.jsonl", output=folder / "x"),
            ConfigError,
            "judge",
        ),
        (lambda client, folder: client.tree("nothing"), NotFound, "no tree"),
        (lambda client, folder: client.decide("nobody", "x", "accept"), NotFound, "nobody"),
    ],
)
def test_errors_are_those_of_the_package(
    asked: Callable[[Client, Path], Any], kind: type[DokimasiaError], said: str, client: Client, tmp_path: Path
) -> None:
    """What the service refuses is raised as the class that it has here, with its sentence."""
    (tmp_path / "bad.jsonl").write_text('{"id": "a", "prompt": ""}\n')
    with pytest.raises(kind, match=said):
        asked(client, tmp_path)


def _answering(*replies: httpx.Response | Exception) -> tuple[Client, list[httpx.Request]]:
    """A client whose service gives these replies, and what it was asked."""
    asked: list[httpx.Request] = []
    waiting = list(replies)

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        reply = waiting.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return Client("http://example.test", TOKEN, transport=httpx.MockTransport(answer)), asked


def _problem(status: int, detail: str, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"title": "", "status": status, "detail": detail}, headers=headers)


def test_only_safe_requests_are_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GET outlives a service that goes away for a while, and whatever was refused for its rate is sent again; a POST is not."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    well = httpx.Response(200, json={"prompts": []})
    client, asked = _answering(well, httpx.ConnectError("gone"), _problem(503, "soon"), well)
    assert client.prompts() == client.prompts() == []
    assert len(asked) == 4
    client, asked = _answering(_problem(429, "slower", **{"retry-after": "1"}), httpx.Response(201, json={"id": "x"}))
    assert client.connection.send("POST", "/api/runs/x", {}) == {"id": "x"}
    for lost in (httpx.ConnectError("gone"), _problem(503, "soon")):
        client, asked = _answering(lost, well)
        with pytest.raises(DokimasiaError):
            client.connection.send("POST", "/api/runs/x", {})
        assert len(asked) == 1
    client, asked = _answering(httpx.ConnectError("nobody there"))
    with pytest.raises(Unreachable, match="does not answer"):
        client.prompts()


def test_a_stream_goes_on_after_the_last_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that breaks off is taken up again with the id of its last event, and one that is refused for good is not."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)

    class Broken(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield b'id: 7\nevent: progress\ndata: {"done": 1}\n\n'
            raise httpx.ReadError("broken off")

    end = b": still here\n\nid: 9\nevent: ended\ndata: {}\n\n"
    client, asked = _answering(
        httpx.Response(200, stream=Broken()), _problem(503, "about to end"), httpx.Response(200, content=end)
    )
    run = dokimasia.ClientRun(client, {"id": "r", "method": "evaluate", "command": "", "status": "running"})
    lost: list[str] = []
    assert [(one.kind, one.id) for one in run.events(lost=lost.append)] == [("progress", "7"), ("ended", "9")]
    assert [request.headers.get("last-event-id") for request in asked] == [None, "7", "7"]
    assert len(lost) == 2
    client, _ = _answering(_problem(404, "no run"))
    run = dokimasia.ClientRun(client, {"id": "r", "method": "evaluate", "command": "", "status": "running"})
    with pytest.raises(NotFound):
        list(run.events())


def test_events_are_read_as_the_standard_has_them() -> None:
    """Comments and unknown fields are passed over, several lines of data are one text, and an unfinished event is none."""
    lines = [
        ": hello",
        "retry: 2000",
        "",
        "id: 1",
        "event: a",
        'data: {"x":',
        "data: 1}",
        "",
        "data: 5",
        "",
        "data: left",
    ]
    assert list(parsed(lines)) == [Event("a", "1", {"x": 1}), Event("message", "1", {"value": 5})]


def test_the_token_is_never_told(caplog: pytest.LogCaptureFixture) -> None:
    """No `repr`, error or log of a client holds its token, whatever a service or a proxy echoes."""
    client, asked = _answering(
        _problem(401, f"the token {TOKEN} is not known"),
        httpx.Response(500, text=TOKEN),
        httpx.ConnectError(f"Authorization: Bearer {TOKEN}"),
    )
    said = [repr(client), repr(client.connection), str(vars(client))]
    with caplog.at_level("DEBUG"):
        for _ in range(3):
            with pytest.raises(DokimasiaError) as raised:
                client.connection.send("POST", "/api/x", {})
            said += [str(raised.value), repr(raised.value)]
    assert asked[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in "".join([*said, caplog.text])
    for text in ("a token", "tökén", "a\nb"):
        with pytest.raises(ConfigError) as refused:
            Client("http://example.test", text)
        assert text not in str(refused.value)


def test_another_version_warns_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service of another minor version is worked with, and said once."""
    told: list[str] = []
    monkeypatch.setattr("dokimasia.client.connection.logger", lambda name: SimpleNamespace(warning=told.append))
    replies = [httpx.Response(200, json={"prompts": []}, headers={"dokimasia-version": "9.9.0"}) for _ in range(2)]
    client, _ = _answering(*replies)
    client.prompts()
    client.prompts()
    assert len(told) == 1
    assert "is version 9.9.0" in told[0]


def test_a_data_set_goes_with_its_images(data: Path, tmp_path: Path) -> None:
    """Sent are the file and the images of its folder that it names, and of a folder all that is not hidden."""
    names = [part.name for part in parts_of(data)]
    named = {json.loads(line)["image"] for line in data.read_text().splitlines()}
    assert names[0] == "world.jsonl"
    assert set(names[1:]) == named
    (tmp_path / "secret.txt").write_text("not asked for")
    (tmp_path / "data.jsonl").write_text(
        json.dumps({"id": "1", "prompt": "secret.txt", "image": "../outside.png"}) + "\n"
    )
    assert [part.name for part in parts_of(tmp_path / "data.jsonl")] == ["data.jsonl"]
    (tmp_path / ".hidden").write_text("")
    assert [part.name for part in parts_of(tmp_path)] == [f"{tmp_path.name}/data.jsonl", f"{tmp_path.name}/secret.txt"]


def test_every_class_of_error_is_made_of_its_sentence() -> None:
    """An error's class travels by its name; each of them is raised here with the sentence that came with it."""
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, DokimasiaError):
            client, _ = _answering(_problem(422, "what is wrong", **{"dokimasia-error": name}))
            with pytest.raises(DokimasiaError, match="what is wrong"):
                client.connection.send("POST", "/api/x", {})


def test_the_client_asks_what_the_openapi_describes(tmp_path: Path, data: Path) -> None:
    """Each method of the client asks a route that the description has, with the query that it takes."""
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    with Home.open(tmp_path / "home", write=True) as home:
        described = create_app(Service(settings=settings, home=home, runner=None)).openapi()  # pyright: ignore[reportArgumentType]
    asked: list[httpx.Request] = []
    shown = {"id": "r", "method": "evaluate", "command": "", "status": "done", "figures": {}, "items_shown": True}
    lists = ("runs", "items", "samples", "uploads", "trees", "reviews", "judges", "methods", "models", "prompts")
    reply = {
        **shown,
        **{name: list[Any]() for name in lists},
        "next": None,
        "run": "r",
        "status": "done",
        "end": "complete",
        "why": "",
    }

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json=reply)

    client = Client("http://example.test", transport=httpx.MockTransport(answer))
    run = client.find("r")
    calls: list[Callable[[], Any]] = [
        client.health, client.methods, client.models, client.prompts, client.runs, client.uploads, client.trees,
        client.reviews, client.passports, lambda: client.passport("J"), lambda: client.tree("t", version="1"),
        lambda: client.diff("a", "b", models="A,B", top=1), lambda: client.image("0" * 64), lambda: client.upload(data),
        lambda: list(client.pending("r", second=True)), lambda: client.item("r", "i"),
        lambda: client.decide("r", "i", "accept"), lambda: client.agreement("r"),
        lambda: client.run("evaluate", data=data, judge="J"), lambda: client.preview("evaluate", data=data, judge="J"),
        run.figures, lambda: list(run.items("s")), lambda: list(run.samples(failed=True)), lambda: run.sample("a/b", raw=True),
        run.export, lambda: run.report("terminal", width=80, colour=True), run.cancel, run.resume, run.retry,
        lambda: run.fork(judge="J"), lambda: run.fork_preview(judge="J"), lambda: run.call("x", ["y"]), run.delete,
        lambda: run.ended({"min_score": 1.0}), run.detail,
    ]  # fmt: skip
    for call in calls:
        call()
    unknown: list[str] = []
    for request in asked:
        path, method = request.url.path.removeprefix("http://example.test"), request.method.lower()
        found = [known for known in described["paths"] if _fits(known, path) and method in described["paths"][known]]
        if not found:
            unknown.append(f"{method} {path}")
            continue
        takes = {
            one["name"]
            for known in found
            for one in described["paths"][known][method].get("parameters", [])
            if one["in"] == "query"
        }
        unknown += [f"{method} {path} ?{name}" for name in request.url.params if name not in takes]
    assert unknown == []
    assert len(asked) >= len(calls)


def _fits(known: str, path: str) -> bool:
    """Whether an address is one of a described path; a name in braces stands for anything."""
    parts, given = known.split("/"), path.split("/")
    free = known.endswith(":path}") or "{sample}" in known or "{judge}" in known
    if len(parts) != len(given) and not (free and len(given) > len(parts)):
        return False
    return all(one.startswith("{") or one == other for one, other in zip(parts, given, strict=False))


def test_threads_may_share_a_client(client: Client) -> None:
    """Several threads ask through one client."""
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(len(client.methods()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


def test_models_are_added_and_removed(client: Client, service: Served) -> None:
    """A model that a client adds is listed, asked by a run, and removed."""
    added = client.add_model("mine", model="sim/strong", rpm=600)
    assert (added["name"], added["added"], added["rpm"]) == ("mine", True, 600)
    assert [model["name"] for model in client.models()] == ["mine"]
    with pytest.raises(ConfigError, match="never the key itself"):
        client.add_model("keyed", model="openai/gpt-5", api_key_env="sk-an actual key")
    assert client.remove_model("mine") == {"name": "mine"}
    with pytest.raises(NotFound):
        client.remove_model("mine")
