"""Runs of the real program in processes of their own, against simulated models behind HTTP."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.simulation.world import write_world

CONFIG = """
[models.{name}]
model = "openai/sim/{model}"
endpoint = "sim-server"
api_base = "{url}"
api_key_env = "SIM_API_KEY"
transport = "{transport}"
input_price = 1.0
output_price = 4.0
max_concurrency = 8
"""
KEY = "key-9f3b1c77aa5d4e02"

Program = Callable[..., subprocess.CompletedProcess[str]]


def environment(**extra: str) -> dict[str, str]:
    """The environment of a program under test: no home or key of the machine, one key of the test's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOKIMASIA")}
    return {**kept, "SIM_API_KEY": KEY, "COLUMNS": "120", **extra}


def command(*arguments: object) -> list[str]:
    """The program as a command line."""
    return [sys.executable, "-m", "dokimasia", *map(str, arguments)]


def write_config(folder: Path, url: str, *, transport: str = "litellm") -> None:
    """Configure the judge J and the candidates A and B at the server."""
    models = {"J": "judge-noisy", "A": "strong", "B": "weak"}
    text = "".join(
        CONFIG.format(name=name, model=model, url=url, transport=transport) for name, model in models.items()
    )
    (folder / "dokimasia.toml").write_text(text)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Runs the program in a folder of its own and returns what it printed."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            cwd=options.pop("cwd", tmp_path),
            env=environment(**options.pop("env", {})),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **options,
        )

    return run


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data file of twenty-one questions of the planted world."""
    path = tmp_path_factory.mktemp("world") / "world.jsonl"
    write_world(path, 21, 5)
    return path
