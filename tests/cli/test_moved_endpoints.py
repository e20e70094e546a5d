"""A home carries what its runs were asked with: without a configuration, and where a model has another address."""

import json
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_world

MODELS = {"J": "judge", "A": "strong"}
COMMAND = ("evaluate", "world.jsonl", "--judge", "J", "--models", "A")


def configure(folder: Path, address: str, endpoint: str = "") -> None:
    """Write a configuration with two models at an address, under the name of an endpoint if one is given."""
    named = f'endpoint = "{endpoint}"\n' if endpoint else ""
    (folder / "dokimasia.toml").write_text(
        "".join(
            f'[models.{name}]\nmodel = "openai/sim/{model}"\napi_base = "{address}"\n{named}'
            "input_price = 1.0\noutput_price = 2.0\n"
            for name, model in MODELS.items()
        )
    )


def test_a_finished_run_needs_neither_its_configuration_nor_its_address(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading, resuming and scoring again answer from the home; under its old name a moved endpoint is not asked again."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world.jsonl", 2, 3)

    def verb(*arguments: str) -> str:
        assert run([*arguments, "--home", str(tmp_path / "home")]) == 0, capfd.readouterr().err
        return capfd.readouterr().out

    with running_server() as address:
        configure(tmp_path, address)
        asked = json.loads(verb(*COMMAND, "--json"))
    (tmp_path / "dokimasia.toml").unlink()
    for arguments in (("show", "last", "--json"), ("resume", "last", "--json"), (*COMMAND, "--json")):
        assert json.loads(verb(*arguments)) == asked
    verb("export", "last", "-o", "rows.jsonl")
    verb("report", "last", "-o", "report.md")
    with running_server() as moved:
        configure(tmp_path, moved, endpoint=address)
        assert json.loads(verb(*COMMAND, "--json")) == asked
        verb(*COMMAND, "--seed", "3")
    (newest, _) = json.loads(verb("runs", "--json"))
    assert newest["spent"]["calls"] == 0
