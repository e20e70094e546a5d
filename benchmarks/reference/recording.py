"""Record what this checkout prints, writes and sends for every kind of run over the planted world."""

import asyncio
import contextlib
import importlib
import inspect
import io
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import click
import orjson
from fastapi.testclient import TestClient

from benchmarks.command import BenchmarkFailed
from benchmarks.kinds import JUDGE, KINDS, MODELS, make, write_data
from dokimasia.cli.main import group
from dokimasia.cli.main import run as command
from dokimasia.log import configure
from dokimasia.service.app import create_app
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home

DATABASE = "dokimasia.db"
PAGES_PER_RUN = 40
PUBLIC_MODULES = ("dokimasia", "dokimasia.parsing", "dokimasia.algorithms")

OF_THE_MOMENT = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?"), "<time>"),
    (re.compile(r"\bin \d+(\.\d+)? (s|ms|min)\b"), "in <duration>"),
    (re.compile(r"\d+(\.\d+)? (s|ms|min|seconds)\b"), "<duration>"),
    (
        re.compile(r'("(?:seconds|duration|latency|wall_s|elapsed|created|updated|started|ended|at)": ?)[\d.]+'),
        r"\1<number>",
    ),
    (re.compile(r'(name="csrf" value=")[^"]+'), r"\1<token>"),
    (re.compile(r"[?&]v=[0-9a-f]{6,}"), "<version>"),
)
"""What differs between two recordings of one checkout, and the placeholder written in its stead."""


def record_kind(name: str, folder: Path, home: Path, data: Path) -> None:
    """Make a run of a kind in a new home and write its outputs, the keys of its calls and its pages to a folder."""
    configure(level="error")
    home.parent.mkdir(parents=True, exist_ok=True)
    configuration = home.with_suffix(".toml")
    configuration.write_text("[defaults]\nmax_concurrency = 2\n")
    settings = load_settings(config=configuration, home=home, env={})
    result = asyncio.run(make(settings, data, KINDS[name]))
    private = home.parent

    def write(name: str, text: str) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stable(text, private))

    write("calls.txt", "\n".join(ledger_keys(home)) + "\n")
    commands = {
        "figures.json": ("show", "last", "--json"),
        "terminal.txt": ("show", "last"),
        "report.md": ("report", "last", "-o", "-"),
        "report.html": ("report", "last", "-o", "-", "--format", "html"),
        "export.jsonl": ("export", "last", "-o", "-"),
        "runs.txt": ("runs", "--json"),
        "resume.txt": ("resume", "last"),
        "diff.txt": ("diff", "last", "last", "--models", ",".join(MODELS)),
        "analyse.txt": ("analyse", "last"),
        "diagnose.txt": ("diagnose", "last"),
        "passport.txt": ("passport", JUDGE),
        "tree.txt": ("tree", "show", "last"),
        "criteria.txt": ("criteria", "export", "last"),
        "verify.txt": ("verify",),
    }
    for name, words in commands.items():
        write(name, _run([*words, "--home", str(home), "--config", str(configuration)]))
    for address, text in run_pages(home, result.run):
        write(f"pages/{re.sub(r'[^a-z0-9]+', '-', address.lower()).strip('-') or 'front'}.html", text)


def record_surface(folder: Path, home: Path) -> None:
    """Write the help of every verb, the schema of every method, the prompts' texts, the OpenAPI and the public names."""
    home.parent.mkdir(parents=True, exist_ok=True)
    for words in verbs():
        _write(folder / "help" / f"{'-'.join(words) or 'dokimasia'}.txt", _run([*words, "--help"]))
    for name in re.findall(r"^([a-z][\w-]*)  ", _output(["schema"]), re.MULTILINE):
        _write(folder / "schema" / f"{name}.json", _output(["schema", name]))
    for name in sorted(prompt_names()):
        _write(folder / "prompts" / f"{name}.md", _output(["prompts", "show", name]))
    with _service(home) as service:
        document = create_app(service).openapi()
    _write(folder / "openapi.json", orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
    _write(folder / "public.txt", "\n".join(public_names()) + "\n")


def verbs() -> Iterator[tuple[str, ...]]:
    """Every verb of the command line with the words that lead to it, the program itself first."""

    def walk(at: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield words
        if isinstance(at, click.Group):
            context = click.Context(at)
            for name in at.list_commands(context):
                command = at.get_command(context, name)
                if command is not None:
                    yield from walk(command, (*words, name))

    return walk(group, ())


def prompt_names() -> list[str]:
    """The names of the shipped prompts."""
    return [prompt["name"] for prompt in orjson.loads(_output(["prompts", "--json"]))]


def public_names() -> Iterator[str]:
    """The names that the public modules export, with the signatures of functions and classes."""
    for module_name in PUBLIC_MODULES:
        module = importlib.import_module(module_name)
        for name in sorted(name for name in dir(module) if not name.startswith("_")):
            value = getattr(module, name)
            if inspect.ismodule(value):
                continue
            try:
                signature = str(inspect.signature(value)) if callable(value) else ""
            except ValueError:
                signature = ""
            yield re.sub(r" at 0x[0-9a-f]+", "", f"{module_name}.{name}{signature}")


def ledger_keys(home: Path) -> list[str]:
    """The keys of all calls in a home's ledger, in order."""
    with contextlib.closing(sqlite3.connect(home / DATABASE)) as connection:
        return [key for (key,) in connection.execute("SELECT key FROM calls ORDER BY key")]


def run_pages(home: Path, run: str) -> Iterator[tuple[str, str]]:
    """The service's front page and a run's own pages, as far as links lead from them, with their addresses."""
    with _service(home) as service:
        client = TestClient(create_app(service), base_url="http://127.0.0.1")
        waiting, seen = ["/", f"/runs/{run}"], set[str]()
        while waiting and len(seen) < PAGES_PER_RUN:
            address = waiting.pop(0)
            if address in seen:
                continue
            seen.add(address)
            reply = client.get(address, headers={"accept": "text/html"})
            if "text/html" not in reply.headers.get("content-type", ""):
                continue
            yield address, reply.text
            for link in re.findall(r'href="([^"#]+)', reply.text):
                parts = urlsplit(urljoin(address, link.replace("&amp;", "&")))
                if not parts.netloc and parts.path.startswith(f"/runs/{run}"):
                    waiting.append(parts.path + (f"?{parts.query}" if parts.query else ""))


def stable(text: str, private: Path) -> str:
    """Return a text without the paths, moments and durations of this recording."""
    text = text.replace(str(private), "<folder>")
    for pattern, placeholder in OF_THE_MOMENT:
        text = pattern.sub(placeholder, text)
    return text


class _NoQueue:
    """A queue for pages that only read."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(name)


@contextlib.contextmanager
def _service(home: Path) -> Iterator[Service]:
    with contextlib.closing(Home.open(home, write=True)) as opened:
        yield Service(settings=load_settings(home=home, cwd=home.parent, env={}), home=opened, runner=_NoQueue())  # pyright: ignore[reportArgumentType]


def _run(words: list[str]) -> str:
    """Return what a command prints on both outputs, and its exit code."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = command(words)
    return f"exit code: {code}\n{output.getvalue()}\n[error output]\n{errors.getvalue()}"


def _output(words: list[str]) -> str:
    """Return what a command that must succeed prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = command(words)
    if code:
        raise BenchmarkFailed(f"dokimasia {' '.join(words)}: exit code {code}")
    return output.getvalue()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def prepare(folder: Path) -> Path:
    """Write the data that all kinds are run over; return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "world.jsonl"
    write_data(data)
    return data
