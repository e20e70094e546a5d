"""A method is added in five places: the template beside this module, in a copy of the package, has the whole life of a run.

The template's files go to `methods/`, `graphs/`, `agents/` and `prompts/`, and one line to the catalogue. Each command runs
on the copy in a process of its own; the judge is a server on this machine, reached through LiteLLM.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dokimasia.simulation.world import write_world
from tests.killing import committed

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent
TEMPLATE = Path(__file__).parent / "method_template"
CATALOGUE = Path("dokimasia/runs/catalogue.py")
CATALOGUE_LINE = (
    '    "clarity": CatalogueEntry("clarity", "comparing", "clarity", '
    '"Have a judge rate how clearly questions are put."),\n'
)
SAMPLES = 4
PATIENCE = 300.0
"""Seconds within which a command ends, however busy the machine is."""

CONFIGURATION = """
[models.rater]
model = "openai/rater"
endpoint = "loopback"
api_base = "{url}"
api_key_env = "RATER_KEY"
transport = "litellm"
max_concurrency = 1
"""
REPLY = "<clarity><reasoning>It asks for one thing.</reasoning><score>4</score></clarity>"


class Judge(ThreadingHTTPServer):
    """A chat-completions server that rates every question 4; beyond `most_replies` it answers nobody."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), JudgeReplies)
        self.most_replies = SAMPLES
        self.requests: list[Any] = []
        self.silenced = threading.Event()
        self.released = threading.Event()

    @property
    def url(self) -> str:
        """Where it is reached."""
        return f"http://127.0.0.1:{self.server_port}/v1"


class JudgeReplies(BaseHTTPRequestHandler):
    """Answers one request of a judge's client."""

    server: Judge

    def do_POST(self) -> None:
        """Send the rating, or nothing before the server is released."""
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        if len(self.server.requests) > self.server.most_replies:
            self.server.silenced.set()
            self.server.released.wait(PATIENCE)
            return
        message = {"role": "assistant", "content": REPLY}
        completion = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "rater",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }
        body = json.dumps(completion).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""


class Checkout:
    """A copy of the package with the template in it, and a folder in which its program runs."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.folder = folder

    def start(self, *arguments: object) -> "subprocess.Popen[str]":
        """Start Python on the copy."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DOKIMASIA")}
        return subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            cwd=self.folder,
            env={**kept, "PYTHONPATH": str(self.root), "RATER_KEY": "key-of-the-rater", "COLUMNS": "120"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: object) -> str:
        """Run `dokimasia` to its end, and return what it printed."""
        process = self.start("-m", "dokimasia", *arguments)
        printed, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, (arguments, printed, errors)
        return printed


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by path, without what Python compiled."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def changed_lines(before: bytes, after: bytes) -> tuple[list[str], list[str]]:
    """Return the lines that only the first text has, and those that only the second has."""
    first, second = before.decode().splitlines(keepends=True), after.decode().splitlines(keepends=True)
    return [line for line in first if line not in second], [line for line in second if line not in first]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The package with the template's method."""
    root = tmp_path_factory.mktemp("checkout")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("dokimasia", "benchmarks"):
        shutil.copytree(ROOT / name, root / name)  # with what Python has compiled of it
    (root / "tests").mkdir()
    for name in ("__init__.py", "test_architecture.py", "tiers.py"):
        shutil.copy(ROOT / "tests" / name, root / "tests" / name)
    shutil.copy(ROOT / "pyproject.toml", root)
    shutil.copytree(TEMPLATE, root / "dokimasia", ignore=ignored, dirs_exist_ok=True)
    catalogue = (root / CATALOGUE).read_text()
    assert catalogue.count('\n}\n"""The package\'s methods by name, in the order of use."""') == 1
    (root / CATALOGUE).write_text(
        catalogue.replace('\n}\n"""The package', f'\n{CATALOGUE_LINE}}}\n"""The package'), newline=""
    )
    folder = tmp_path_factory.mktemp("work")
    write_world(folder / "world.jsonl", SAMPLES, 3)
    return Checkout(root, folder)


@pytest.fixture(scope="module")
def judge(checkout: Checkout) -> Iterator[Judge]:
    """The judge that the working folder's configuration names."""
    server = Judge()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    (checkout.folder / "dokimasia.toml").write_text(CONFIGURATION.format(url=server.url))
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def rated(checkout: Checkout, judge: Judge) -> str:
    """The id of a run that was killed while the judge had answered half of its questions, and resumed."""
    judge.most_replies = SAMPLES // 2
    process = checkout.start("-m", "dokimasia", "clarity", "world.jsonl", "--judge", "rater")
    end = time.monotonic() + PATIENCE
    while not judge.silenced.wait(0.2) or committed(checkout.folder / ".dokimasia") < judge.most_replies:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)
    process.kill()
    process.communicate()
    judge.most_replies = len(judge.requests) + SAMPLES
    judge.released.set()
    checkout.run("resume", "last")
    (run,) = json.loads(checkout.run("runs", "--json"))
    assert run["status"] == "done"
    return run["id"]


def test_a_method_needs_no_other_file_than_its_own_and_a_line_of_the_catalogue(checkout: Checkout, rated: str) -> None:
    """Beside the template's files the package with the new method differs in one line, after all that it was used for."""
    before, after = files_below(ROOT / "dokimasia"), files_below(checkout.root / "dokimasia")
    places = re.compile(r"(methods|prompts)/clarity/\w+\.\w+|(agents|graphs|algorithms)/clarity\.py")
    assert all(places.fullmatch(path) for path in files_below(TEMPLATE)), sorted(files_below(TEMPLATE))
    assert set(after) - set(before) == set(files_below(TEMPLATE))
    assert set(before) <= set(after)
    (changed,) = [path for path, data in before.items() if after[path] != data]
    assert changed == "runs/catalogue.py"
    assert changed_lines(before[changed], after[changed]) == ([], [CATALOGUE_LINE])


def test_the_verb_and_its_options_come_from_the_request(checkout: Checkout) -> None:
    """The list of verbs has the catalogue's line, and the verb's help the request's sentences and options."""
    assert re.search(r"clarity +Have a judge rate how clearly questions are put\.", checkout.run("--help"))
    text = checkout.run("clarity", "--help")
    assert "Have a judge rate how clearly each question of DATA is put, from 1 to 5." in text
    assert re.search(r"--judge TEXT +Who rates the questions\.", text)
    assert "--dry-run" in text


def test_a_killed_run_is_resumed_without_asking_twice(checkout: Checkout, judge: Judge, rated: str) -> None:
    """Each question is rated once; only the request without an answer was sent again, and a finished run asks nobody."""
    figures = json.loads(checkout.run("clarity", "world.jsonl", "--judge", "rater", "--json"))
    asked = [json.dumps(request["messages"]) for request in judge.requests]
    assert (len(set(asked)), len(asked)) == (SAMPLES, SAMPLES + 1)
    assert all("You rate how clearly a question about an image is put" in request for request in asked)
    assert (figures["run"], figures["n"], figures["n_rated"], figures["calls"]) == (rated, SAMPLES, SAMPLES, SAMPLES)
    assert figures["clarity"]["mean"] == 4.0


def test_the_figures_are_drawn_and_exported(checkout: Checkout, rated: str) -> None:
    """The report in Markdown and the terminal show the table, and the export has a row for each question."""
    checkout.run("report", "last", "-o", "clarity.md")
    report = (checkout.folder / "clarity.md").read_text()
    assert "## How clearly the questions are put" in report
    assert "| **all** | **4.00** " in report
    assert f"Rated by rater, {SAMPLES} of {SAMPLES} questions" in report
    assert "How clearly the questions are put" in checkout.run("show", "last")
    checkout.run("export", "last", "-o", "clarity.jsonl")
    rows = [json.loads(line) for line in (checkout.folder / "clarity.jsonl").read_text().splitlines()]
    assert [row["score"] for row in rows] == [4.0] * SAMPLES


def test_the_figures_have_a_published_schema(checkout: Checkout, rated: str) -> None:
    """The schema has every field that `--json` prints, with its description, and no other."""
    schema = json.loads(checkout.run("schema", "clarity"))
    figures = json.loads(checkout.run("show", "last", "--json"))
    assert set(schema["required"]) <= set(figures) <= set(schema["properties"])
    assert schema["properties"]["clarity"]["description"] == "mean rating, 1 to 5; null without a rated question"


def test_the_service_has_a_route_and_a_form_for_it(checkout: Checkout, rated: str) -> None:
    """The OpenAPI description has the route with the request's schema, a form begins such runs, and the run has its page."""
    process = checkout.start("-m", "dokimasia", "serve", "--port", 0)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]

        def read(path: str) -> str:
            with urllib.request.urlopen(address.rstrip("/") + path, timeout=PATIENCE) as reply:
                return reply.read().decode()

        operation = json.loads(read("/api/openapi.json"))["paths"]["/api/runs/clarity"]["post"]
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        assert schema["properties"]["judge"]["description"] == "Who rates the questions."
        assert "Who rates the questions." in read("/new/clarity")
        assert "How clearly the questions are put" in read(f"/runs/{rated}?wait=true")
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_the_catalogue_alone_names_the_template(checkout: Checkout) -> None:
    """The counter of files that name a method finds the line of the catalogue, and no other file."""
    code = "import gc; gc.disable(); from benchmarks.counters.methods import *; print(files_that_name_methods())"
    process = checkout.start("-c", code)
    printed, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert ast.literal_eval(printed)["clarity"] == ["runs/catalogue.py"]


def test_the_template_keeps_to_the_rules_of_the_source(checkout: Checkout) -> None:
    """The rules of imports, names and docstrings hold for the package with the template in it."""
    rules = ("imports", "takes_from", "heavy", "circle", "sentence", "environment")
    file = checkout.root / "tests/test_architecture.py"
    process = checkout.start(
        "-m", "pytest", "-q", "-p", "tests.tiers", "-p", "no:cacheprovider", file, "-k", " or ".join(rules)
    )
    printed, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, printed
    assert f"{len(rules)} passed" in printed
