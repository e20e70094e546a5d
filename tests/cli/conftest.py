"""Runs of the real program in processes of their own, against simulated models behind HTTP."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dokimasia.simulation.world import write_world
from tests.processes import run_program

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
Program = Callable[..., subprocess.CompletedProcess[str]]


def write_config(folder: Path, url: str) -> None:
    """Configure the judge J and the candidates A and B at the server."""
    models = {"J": "judge-noisy", "A": "strong", "B": "weak"}
    text = "".join(
        CONFIG.format(name=name, model=model, url=url, transport="litellm") for name, model in models.items()
    )
    (folder / "dokimasia.toml").write_text(text)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Runs the program in a folder of its own and returns what it printed."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return run_program(arguments, tmp_path)

    return run


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data file of twenty-one questions of the planted world."""
    path = tmp_path_factory.mktemp("world") / "world.jsonl"
    write_world(path, 21, 5)
    return path
