"""Live models and stored answers in one run over HTTP: killed in the middle and resumed, it says the same as a whole run."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_world
from tests.killing import Witness
from tests.processes import run_program, start_program

pytestmark = pytest.mark.full  # several processes, each with a run of its own

STORED = "llava"
CONFIG = """
[models.live]
model = "openai/sim/strong"
endpoint = "ours"
api_base = "{url}"

[models.weak]
model = "openai/sim/weak"
endpoint = "ours"
api_base = "{url}"

[models.judge]
model = "openai/sim/judge"
endpoint = "ours"
api_base = "{url}"
"""
VERBS = {
    "evaluate": ["--models", "live,weak", "--repeats", "2"],
    "duel": ["--models", "live", "--baseline", "weak"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with data, answers of a stored model, and models behind an endpoint on loopback that logs what it is sent."""
    write_world(tmp_path / "data.jsonl", 8, 1)
    samples = [json.loads(line)["id"] for line in (tmp_path / "data.jsonl").read_text(encoding="utf-8").splitlines()]
    answers = [
        {"id": id, "model": STORED, "response": f"Perhaps {id}.\n\nFinal answer: a green bird"} for id in samples
    ]
    (tmp_path / "stored.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    with running_server(log_path=tmp_path / "log.jsonl", latency=0.02) as url:
        (tmp_path / "dokimasia.toml").write_text(CONFIG.format(url=url))
        yield tmp_path


@pytest.mark.parametrize("verb", VERBS)
def test_a_killed_run_over_http_ends_with_the_bytes_of_a_whole_one(folder: Path, verb: str) -> None:
    """Killed twice (SIGKILL), the run sends no committed call again, and its figures and export are the same bytes."""
    words = [verb, "data.jsonl", "--responses", "stored.jsonl", "--judge", "judge", *VERBS[verb], "--json", "--home"]
    whole = run_program([*words, "whole"], folder)
    assert whole.returncode == 0, whole.stderr
    assert set(json.loads(whole.stdout)["models"]) >= {"live", STORED}
    witness = Witness(folder / "killed", folder / "log.jsonl")
    for at in (5, 15):
        witness.kill(start_program([*words, "killed"], folder), at=at)
    assert witness.deaths == 2
    resumed = run_program([*words, "killed"], folder)
    witness.check()
    assert (resumed.returncode, resumed.stdout) == (0, whole.stdout), resumed.stderr
    exports = [run_program(["export", "last", "--home", home], folder) for home in ("whole", "killed")]
    assert [export.returncode for export in exports] == [0, 0]
    assert exports[0].stdout == exports[1].stdout
    assert f'"{STORED}"' in exports[0].stdout
