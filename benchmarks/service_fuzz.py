"""Schemathesis over a served home: `python -m benchmarks.service_fuzz --home HOME` asks every route what nobody would ask.

A copy of the home is served on loopback with its queue at work; the cases are counted, and no reply may be a 5xx, of an
undocumented status or content type, or of another shape than its schema says.
"""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from dokimasia.log import configure
from dokimasia.service.app import serve
from dokimasia.service.engine import RunEngine
from dokimasia.service.guard import Limits
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
CHECKS += "response_schema_conformance,negative_data_rejection,missing_required_header"
"""What every reply is held to. That a request which fits its schema is taken is no check here: whether a run, an upload or a
model of a name is there, no schema says."""

EVENTS = "/events$"
"""Streams that have no end."""


@contextmanager
def served(home: Path, root: Path) -> Iterator[str]:
    """Serve a home with its queue at work; gives the URL."""
    urls: list[str] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    def told(url: str) -> None:
        urls.append(url)
        ready.set()

    async def work() -> None:
        settings = load_settings(home=home, cwd=home.parent, env={})
        with Home.open(home, write=True) as opened:
            async with RunEngine(settings, opened) as engine:
                limits = Limits(rate=1e6, burst=1_000_000)
                service = Service(settings=settings, home=opened, runner=engine, limits=limits, data_root=root)
                await serve(service, ready=told, stop=stop)

    thread = threading.Thread(target=lambda: loop.run_until_complete(work()))
    thread.start()
    if not ready.wait(60):
        raise SystemExit("the service does not answer")
    try:
        yield urls[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)


def asked(url: str, folder: Path, *, examples: int, seed: int, known: dict[str, str]) -> dict[str, Any]:
    """Ask every route so many cases, with names of things that are there; return how many cases, and what failed."""
    lines = ["[parameters]", *(f'"path.{name}" = "{value}"' for name, value in known.items())]
    config = folder / "schemathesis.toml"
    config.write_text("\n".join(lines if known else []) + "\n")
    report = folder / f"report-{seed}-{len(known)}.ndjson"
    words = [
        sys.executable,
        "-c",
        "from schemathesis.cli import schemathesis; schemathesis()",
        "--config-file",
        str(config),
    ]
    words += ["run", f"{url}/api/openapi.json", "-n", str(examples), "--seed", str(seed), "--checks", CHECKS]
    words += [
        "--phases",
        "examples,coverage,fuzzing",
        "--continue-on-failure",
        "--no-shrink",
        "--exclude-path-regex",
        EVENTS,
    ]
    words += [
        "--request-timeout",
        "300",
        "--suppress-health-check",
        "all",
        "--report",
        "ndjson",
        "--report-ndjson-path",
        str(report),
    ]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=False)
    return counted(report) | {"exit": done.returncode, "said": done.stdout[done.stdout.find("= FAILURES") :][-6000:]}


def counted(report: Path) -> dict[str, Any]:
    """Return how many requests a report has, by status, and how many failed which check."""
    statuses, failures = Counter[str](), Counter[str]()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("status_code"), int):
                statuses[str(value["status_code"])] += 1
            if value.get("status") == "failure" and "name" in value:
                failures[str(value["name"])] += 1
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)

    with report.open(encoding="utf-8") as lines:
        for line in lines:
            walk(json.loads(line))
    return {"cases": statuses.total(), "statuses": dict(sorted(statuses.items())), "failures": dict(failures)}


def main() -> int:
    """Serve a copy of a home, ask, and print the figures; 1 where anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="such as of `dokimasia demo`; a copy of it is asked")
    parser.add_argument("--examples", type=int, default=100, help="cases for each route, of each of the two passes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(shutil.copytree(options.home, Path(folder) / "home"))
        configure(level="error", file=Path(folder) / "log.jsonl")
        with served(home, options.home) as url:
            with httpx.Client(base_url=url) as client:
                data = min(options.home.glob("world*.jsonl"), key=lambda path: len(path.name))
                files = [("file", ("questions.jsonl", data.read_bytes()))]
                images = sorted((options.home / "images").glob("*.png"))
                files += [("file", (f"images/{path.name}", path.read_bytes())) for path in images]
                sent = client.post("/api/uploads", files=files, data={"name": "questions.jsonl"}, timeout=300)
                sent.raise_for_status()
                run = client.get("/api/runs?method=evaluate").json()["runs"][-1]["id"]
                known = {"run": run, "tree": "last", "name": "checkpoints", "id": "questions.jsonl"}
            passes = [
                asked(url, Path(folder), examples=options.examples, seed=options.seed + at, known=one)
                for at, one in enumerate(({}, known))
            ]
        figures = {
            "cases": sum(one["cases"] for one in passes),
            "statuses": dict(sum((Counter(one["statuses"]) for one in passes), Counter[str]())),
            "failures": dict(sum((Counter(one["failures"]) for one in passes), Counter[str]())),
        }
        print(json.dumps(figures, indent=2, sort_keys=True))
        for one in passes:
            if one["failures"] or one["exit"]:
                print(one["said"], file=sys.stderr)
        errors = (Path(folder) / "log.jsonl").read_text() if (Path(folder) / "log.jsonl").is_file() else ""
        print(errors[-3000:], file=sys.stderr)
    return int(bool(figures["failures"]) or any(status >= "5" for status in figures["statuses"]))


if __name__ == "__main__":
    raise SystemExit(main())
