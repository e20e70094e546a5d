"""`dokimasia models --discover`: local servers are told apart by their documented replies, within limits of time and size."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from dokimasia.cli.main import run
from dokimasia.endpoints import discovery
from dokimasia.endpoints.discovery import LOOPBACK, discover
from dokimasia.errors import ConfigError
from dokimasia.gateway.routes import chosen_transport_name
from dokimasia.runs.services import default_transports
from dokimasia.settings import load_settings

pytestmark = pytest.mark.quick

Replies = Mapping[str, Any]

OLLAMA: Replies = {
    "/api/tags": {"models": [{"name": "gemma3:latest", "model": "gemma3:latest"}, {"name": "qwen3:8b"}]},
    "/api/show": {
        "gemma3:latest": {
            "capabilities": ["completion", "vision"],
            "model_info": {"general.architecture": "gemma3", "gemma3.context_length": 131072},
        },
        "qwen3:8b": {
            "capabilities": ["completion", "tools", "thinking"],
            "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
        },
    },
    "/v1/models": {"object": "list", "data": [{"id": "gemma3:latest", "object": "model", "owned_by": "library"}]},
}
LM_STUDIO: Replies = {
    "/api/v1/models": {
        "models": [
            {
                "type": "llm",
                "key": "mistralai/devstral-small-2-2512",
                "loaded_instances": [{"id": "devstral", "config": {"context_length": 8192}}],
                "max_context_length": 393216,
                "capabilities": {"vision": True, "trained_for_tool_use": True},
            },
            {
                "type": "llm",
                "key": "google/gemma-3-1b",
                "loaded_instances": [],
                "max_context_length": 32768,
                "capabilities": {"vision": False, "trained_for_tool_use": False},
            },
            {"type": "embedding", "key": "text-embedding-nomic-embed-text-v1.5", "max_context_length": 2048},
        ]
    },
    "/v1/models": {"data": [{"id": "mistralai/devstral-small-2-2512", "object": "model"}]},
}
LLAMA_CPP: Replies = {
    "/props": {
        "default_generation_settings": {"id": 0, "n_ctx": 16384},
        "total_slots": 1,
        "model_path": "gemma-3-4b-it-Q4_K_M.gguf",
        "modalities": {"vision": True, "audio": False},
        "build_info": "b6123-abc",
    },
    "/v1/models": {
        "models": [{"name": "gemma-3-4b-it-Q4_K_M.gguf", "capabilities": ["completion", "multimodal"]}],
        "object": "list",
        "data": [{"id": "gemma-3-4b-it-Q4_K_M.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131072}}],
    },
}
VLLM: Replies = {
    "/v1/models": {
        "object": "list",
        "data": [
            {"id": "Qwen/Qwen2.5-VL-7B-Instruct", "object": "model", "owned_by": "vllm", "max_model_len": 32768},
        ],
    },
    "/version": {"version": "0.11.0"},
}


@contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler, str, bytes], None]) -> Iterator[str]:
    """A server on loopback that answers by a function, and its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self, urlsplit(self.path).path, self.rfile.read(int(self.headers.get("Content-Length") or 0)))

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    """Answer a request."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def replaying(replies: Replies) -> Callable[[BaseHTTPRequestHandler, str, bytes], None]:
    """Return the function that answers with documented replies, and with 404 elsewhere."""

    def answer(handler: BaseHTTPRequestHandler, path: str, body: bytes) -> None:
        reply = replies.get(path)
        if path == "/api/show" and reply is not None:
            reply = reply.get(json.loads(body)["model"])
        send(handler, json.dumps(reply or {"error": "not found"}).encode(), 200 if reply else 404)

    return answer


@pytest.fixture
def servers() -> Iterator[list[str]]:
    """The four servers, and the addresses that they listen at."""
    with ExitStack() as stack:
        yield [stack.enter_context(serving(replaying(replies))) for replies in (VLLM, OLLAMA, LLAMA_CPP, LM_STUDIO)]


def test_each_server_is_told_by_what_it_answers(servers: list[str]) -> None:
    """Server, models, sight, tools and context come from the documented replies; an embedding model is left out."""
    result = asyncio.run(discover([*servers, "http://127.0.0.1:9/v1"]))
    assert [(model.server, model.model, model.vision, model.tools, model.context) for model in result.models] == [
        ("vLLM", "hosted_vllm/Qwen/Qwen2.5-VL-7B-Instruct", None, None, 32768),
        ("Ollama", "ollama/gemma3:latest", True, False, 131072),
        ("Ollama", "ollama/qwen3:8b", False, True, 40960),
        ("llama.cpp", "llama_cpp/gemma-3-4b-it-Q4_K_M.gguf", True, None, 16384),
        ("LM Studio", "lm_studio/mistralai/devstral-small-2-2512", True, True, 8192),
        ("LM Studio", "lm_studio/google/gemma-3-1b", False, False, 32768),
    ]
    assert result.silent == ["http://127.0.0.1:9"]


def test_the_lines_are_a_configuration_by_which_each_model_is_reached(
    servers: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--write` adds the lines once; every model goes by the direct transport, and those that see have the capability."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dokimasia.toml").write_text('[models.gemma3-latest]\nmodel = "openai/gpt-4o"\n')
    assert run(["models", "--discover", "--write", *servers]) == 0
    printed = capsys.readouterr()
    assert "added 6 models to" in printed.err
    assert "LM Studio" in printed.out
    assert '[models.gemma3-latest-2]\nmodel = "ollama/gemma3:latest"' in printed.out
    settings = load_settings(cwd=tmp_path, env={})
    assert len(settings.models) == 7
    assert settings.models["gemma3-latest-2"].capabilities == ("vision",)
    assert settings.models["devstral-small-2-2512"].capabilities == ("vision", "tools")
    reached = {chosen_transport_name(spec, default_transports()) for spec in settings.models.values() if spec.api_base}
    assert reached == {"direct"}
    assert run(["models", "--discover", "--write", *servers]) == 0
    assert "added 0 models to" in capsys.readouterr().err
    assert len(load_settings(cwd=tmp_path, env={}).models) == 7


def test_without_addresses_only_this_machine_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual ports of loopback, and nothing else."""
    assert {urlsplit(address).hostname for address in LOOPBACK} == {"127.0.0.1"}
    assert {urlsplit(address).port for address in LOOPBACK} >= {8000, 11434, 8080, 1234}
    urls: list[str] = []

    async def ask(connections: object, url: str, **_: object) -> None:
        urls.append(url)

    monkeypatch.setattr(discovery, "ask_json", ask)
    assert asyncio.run(discover()).silent == list(LOOPBACK)
    assert {f"http://{urlsplit(url).netloc}" for url in urls} == set(LOOPBACK)


def test_replies_out_of_bounds_are_no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply that is too large, late, redirected or no JSON, and names that cannot be printed, give no models."""
    monkeypatch.setattr(discovery, "MOST_BYTES", 1000)
    release = threading.Event()

    def large(handler: BaseHTTPRequestHandler, path: str, body: bytes) -> None:
        send(handler, json.dumps({"data": [{"id": "x" * 2000}], "models": [{"name": "x" * 2000}]}).encode())

    def late(handler: BaseHTTPRequestHandler, path: str, body: bytes) -> None:
        release.wait(30)
        handler.close_connection = True

    def moved(handler: BaseHTTPRequestHandler, path: str, body: bytes) -> None:
        send(handler, b"", 302, Location="http://127.0.0.1:9/v1/models")

    def garbled(handler: BaseHTTPRequestHandler, path: str, body: bytes) -> None:
        send(handler, b"[" * 900 if path == "/props" else b'{"data": [1, {"id": 2}], "models": {"name": []}}')

    def hostile(handler: BaseHTTPRequestHandler, path: str, body: bytes) -> None:
        send(handler, json.dumps({"data": [{"id": "a\x1b[2Jb"}, {"id": 'fine"\\'}, {"id": "n" * 301}]}).encode())

    with ExitStack() as stack:
        addresses = [stack.enter_context(serving(answer)) for answer in (large, late, moved, garbled, hostile)]
        result = asyncio.run(discover(addresses, seconds=0.5))
        release.set()
    assert result.silent == addresses[:4]
    (model,) = result.models
    assert (model.server, model.model, model.name) == ("OpenAI format", 'openai/fine"\\', "fine")
    assert 'model = "openai/fine\\"\\\\"' in model.lines


@pytest.mark.parametrize(
    "address",
    [
        "ftp://127.0.0.1",
        "127.0.0.1:8000",
        "http://user:secret@127.0.0.1:8000",
        "http://:secret@127.0.0.1:8000",
        "http://[::1",
        "http://127.0.0.1:99999",
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    """An address is of HTTP, without a user, whose password the error does not repeat."""
    with pytest.raises(ConfigError, match="is not the address of a server") as refused:
        asyncio.run(discover([address]))
    assert "secret" not in str(refused.value)
