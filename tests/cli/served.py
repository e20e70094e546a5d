"""A real `dokimasia serve` over a home, in a process of its own, and the program asked through it."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.processes import Started, environment, run_program, start_program

MODEL = """
[models.{name}]
model = "openai/sim/{model}"
endpoint = "sim-server"
api_base = "{url}"
api_key_env = "SIM_API_KEY"
transport = "direct"
input_price = 1.0
output_price = 4.0
max_concurrency = 4
start_concurrency = 4
"""


@dataclass
class Served:
    """A service: its process, its address, and the home that it holds."""

    process: Started
    url: str
    home: Path

    def run(self, *arguments: object, folder: Path | None = None, **variables: str) -> Any:
        """Run the program against the service, in a folder that has neither home nor configuration."""
        there = folder or self.home.parent / "elsewhere"
        there.mkdir(exist_ok=True)
        return run_program([*arguments, "--server", self.url], there, variables={**environment(), **variables})

    def start(self, *arguments: object) -> Started:
        """Start the program against the service."""
        there = self.home.parent / "elsewhere"
        there.mkdir(exist_ok=True)
        return start_program([*arguments, "--server", self.url], there)


@contextmanager
def served(home: Path, *options: object, port: object = 0) -> Iterator[Served]:
    """Serve a home from the folder in which it lies, by default on a free port, until the end."""
    process = start_program(["serve", "--home", home, "--port", port, *options], home.parent)
    assert process.until(lambda: "\n" in process.printed), process.ended().stderr
    url = re.sub(r"\s.*", "", process.printed, flags=re.DOTALL)
    try:
        yield Served(process, url, home)
    finally:
        if process.alive:
            process.signal(signal.SIGTERM)
            process.ended()


def configured(folder: Path, url: str, **models: str) -> None:
    """Configure models of a server of simulated ones."""
    text = "".join(MODEL.format(name=name, model=model, url=url) for name, model in models.items())
    (folder / "dokimasia.toml").write_text(text)


def runs_of(home: Path) -> list[dict[str, Any]]:
    """Return the runs of a home."""
    return json.loads(run_program(["runs", "--json", "--home", home], home.parent).stdout)
