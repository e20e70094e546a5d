"""Every kind of run through its whole life, over HTTP endpoints and from the command line: one table, a row a kind.

``python -m benchmarks.lifecycle`` makes what each kind rests on, then does with each: a dry run, a run that is
interrupted (SIGINT), resumed, killed (SIGKILL), resumed to its end, its failures retried, forked, shown, reported (HTML,
Markdown), exported (JSON lines, CSV, Parquet), compared with another and deleted. A cell says `ok`, or `says` where the
kind answers with the sentence that names what to do instead; anything else is a failure, and the exit code is 1.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_world

ROOT = Path(__file__).parent.parent
SAMPLES = 14
MODELS = {
    "J": "judge",
    "K": "judge-noisy",
    "A": "strong",
    "B": "weak",
    "C": "steady",
    "P": "panel-a",
    "Q": "panel-b",
    "R": "panel-c",
}
MODEL = """
[models.{name}]
model = "openai/sim/{model}"
endpoint = "sim-server"
api_base = "{url}"
api_key_env = "SIM_API_KEY"
transport = "direct"
input_price = 1.0
output_price = 4.0
max_concurrency = 2
"""
STEPS = (
    "dry run",
    "SIGINT",
    "resume",
    "SIGKILL",
    "resume",
    "retry",
    "fork",
    "show",
    "html",
    "md",
    "jsonl",
    "csv",
    "parquet",
    "diff",
    "delete",
)
FAULTS = "content_filter=0.04"

COMMANDS: dict[str, Callable[[dict[str, str]], list[str]]] = {
    "evaluate": lambda runs: ["evaluate", "world.jsonl", "--judge", "J", "--models", "A,B"],
    "filter": lambda runs: ["filter", "world.jsonl", "--judge", "J"],
    "review": lambda runs: ["review", "world.jsonl", "--panel", "P,Q,R"],
    "rubrics": lambda runs: ["rubrics", runs["review"], "--judge", "J", "--pool", "A,B"],
    "audit": lambda runs: ["audit", "world.jsonl", "--rubrics", runs["rubrics"], "--models", "A,B", "--judge", "J"],
    "refine": lambda runs: ["refine", runs["evaluate"], "--models", "B"],
    "tree": lambda runs: ["tree", "grow", runs["evaluate"], "--judge", "J"],
    "modes": lambda runs: ["modes", runs["evaluate"], "--judge", "J"],
    "diagnosis": lambda runs: ["diagnose", runs["evaluate"], "--write", "--judge", "J"],
    "fingerprint": lambda runs: [
        *("diagnose", runs["evaluate"], "--fingerprint", "--judge", "J"),
        *("--responses", "2", "--trials", "3"),
    ],
    "graph": lambda runs: ["graph", "once", "world.jsonl", "--judge", "J", "--models", "A,B"],
}
FORKS = {
    "evaluate": ["--from", "score", "--judge", "K"],
    "review": ["--models", "R=C"],
    "graph": ["--models", "B=C"],
}


class Program:
    """The program in one folder, at one server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"

    def run(self, *arguments: str, stop: tuple[int, float] | None = None) -> tuple[int, str, str]:
        """Run a command to its end, or send it a signal once the ledger has grown by a share of what it needs."""
        command = [sys.executable, "-m", "dokimasia", *arguments, "--home", str(self.home)]
        path = os.pathsep.join((str(self.folder), str(ROOT)))
        environment = {**os.environ, "SIM_API_KEY": "key-of-a-benchmark", "COLUMNS": "120", "PYTHONPATH": path}
        process = subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if stop is not None:
            number, calls = stop
            before = self.committed()
            while process.poll() is None and self.committed() < before + calls:
                time.sleep(0.01)
            if process.poll() is None:
                process.send_signal(number)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def committed(self) -> int:
        """How many calls the ledger holds."""
        import sqlite3

        if not (self.home / "dokimasia.db").exists():
            return 0
        connection = sqlite3.connect(f"file:{self.home / 'dokimasia.db'}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT count(*) FROM calls").fetchone()[0]
        except sqlite3.OperationalError:
            return 0
        finally:
            connection.close()

    def newest(self) -> str:
        """The id of the run that was accepted last."""
        code, out, err = self.run("runs", "--json")
        if code != 0:
            raise RuntimeError(err)
        return json.loads(out)[0]["id"]


def life_of(program: Program, name: str, command: list[str]) -> tuple[list[str], str]:
    """Take one kind of run through its life; return the table's cells and the id of the finished run."""
    cells: list[str] = []

    def step(*arguments: str, said: str = "", codes: tuple[int, ...] = (0,), stop: Any = None) -> None:
        code, out, err = program.run(*arguments, stop=stop)
        if code in codes:
            cells.append("ok")
        elif said and code == 2 and said in err:
            cells.append("says")
        else:
            cells.append(f"FAILED ({code}: {(err or out).strip().splitlines()[-1][:200] if err or out else ''})")

    few = 1 if name == "filter" else 3
    step(*command, "--dry-run")
    step(*command, codes=(0, 2, 130), stop=(signal.SIGINT, few))
    run = program.newest()
    step("resume", run, "--max-calls", str(few))
    step("resume", run, "--max-calls", "none", codes=(0, -9), stop=(signal.SIGKILL, few))
    step("resume", run)
    step("resume", run, "--retry-failed", said="cannot ask anew what failed")
    step("fork", run, *FORKS.get(name, ["--judge", "K"]), said="is not forked")
    step("show", run)
    step("report", run, "-o", f"{name}.html")
    step("report", run, "-o", f"{name}.md")
    for format in ("jsonl", "csv", "parquet"):
        step("export", run, "-o", f"{name}.{format}")
    other = [*command, "--seed", "1", *(["--name", "second"] if name == "tree" else [])]
    program.run(*other)
    second = program.newest()
    step("diff", run, second, said="is not compared so")
    step("runs", "delete", second, "--yes")
    return cells, run


@contextmanager
def endpoints(folder: Path) -> Iterator[None]:
    """Serve the simulated models, some of whose replies are filtered, and configure them in a folder."""
    with running_server(faults=parse_faults(FAULTS)) as url:
        text = "".join(MODEL.format(name=name, model=model, url=url) for name, model in MODELS.items())
        (folder / "dokimasia.toml").write_text(text)
        yield


def install_plugin(folder: Path) -> None:
    """Announce `benchmarks.once` as the graph of an installed distribution, to programs that are started in a folder."""
    info = folder / "lifecycle_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lifecycle-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[dokimasia.graphs]\nonce = benchmarks.once\n")


def main() -> int:
    """Print the table; return 1 if a cell failed."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_world(folder / "world.jsonl", SAMPLES, 3)
        install_plugin(folder)
        runs: dict[str, str] = {}
        failed: list[str] = []
        with endpoints(folder):
            program = Program(folder)
            print("| kind | " + " | ".join(STEPS) + " |")
            print("|---" * (len(STEPS) + 1) + "|")
            for name, command in COMMANDS.items():
                cells, runs[name] = life_of(program, name, command(runs))
                failed += [
                    f"{name}, {step}: {cell}" for step, cell in zip(STEPS, cells, strict=True) if "FAILED" in cell
                ]
                print(f"| {name} | " + " | ".join(cell.split()[0] for cell in cells) + " |", flush=True)
        for line in failed:
            print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
