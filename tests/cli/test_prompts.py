"""The shipped prompts on the command line: listed, shown as their files are, and copied to be changed."""

import json
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.prompts import default_library


def test_prompts_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Every shipped prompt is in the list, and show prints its file."""
    assert run(["prompts", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in listed] == default_library().names()
    assert run(["prompts"]) == 0
    assert "checkpoints" in capsys.readouterr().out
    assert run(["prompts", "show", "checkpoints"]) == 0
    assert capsys.readouterr().out.startswith("---\nname: checkpoints\nversion:")
    assert run(["prompts", "show", "chekpoints"]) == 2
    assert "no prompt is called 'chekpoints'; did you mean 'checkpoints'" in capsys.readouterr().err


def test_a_copy_is_a_folder_for_prompts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was copied overrides nothing until it is changed, and is not replaced unasked."""
    folder = tmp_path / "my" / "prompts"
    assert run(["prompts", "copy", "checkpoints", "criteria", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == {"checkpoints.md", "criteria.md"}
    capsys.readouterr()
    assert default_library().overridden(folder).get("checkpoints") == default_library().get("checkpoints")
    assert run(["prompts", "copy", "checkpoints", str(folder)]) == 2
    assert "--force" in capsys.readouterr().err
    assert run(["prompts", "copy", "checkpoints", str(folder), "--force"]) == 0
