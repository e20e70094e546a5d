"""Fifty creative cases of one to nine images each through HTTP endpoints: killed, gone on with, and the same table."""

import shlex
from pathlib import Path

import orjson
import pytest

from dokimasia.methods.duel import METHOD, DuelRequest
from dokimasia.runs.lifecycle import run_sync
from dokimasia.settings import load_settings
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_creative
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.killing import Witness, committed
from tests.processes import KEY, run_program, start_program
from tests.runs.test_over_http import MODEL

pytestmark = pytest.mark.full

CASES = 50
WRITER, BASELINE, JUDGE = "sim/weak", "sim/steady", "sim/judge-first-place"


def test_fifty_cases_killed_twice_come_to_the_same_table(tmp_path: Path) -> None:
    """A run of fifty cases that dies twice prints what one that never died prints; no committed call is sent again."""
    data, log, config = tmp_path / "cases.jsonl", tmp_path / "server.log", tmp_path / "dokimasia.toml"
    write_creative(data, CASES, 2)
    images = [len(orjson.loads(line)["images"]) for line in data.read_text().splitlines()]
    assert (len(images), min(images), max(images)) == (CASES, 1, 9)
    with running_server(latency=0.01, log_path=log) as url:
        tables = [MODEL.format(name=name, url=url, transport="direct") for name in (WRITER, BASELINE, JUDGE)]
        config.write_text("".join(tables))
        settings = load_settings(config=config, home=tmp_path / "whole", env={"SIM_API_KEY": KEY})
        request = DuelRequest(data=data, models=(WRITER,), baseline=BASELINE, judge=JUDGE)
        whole = run_sync(METHOD, request, settings=settings)
        calls = committed(settings.home)
        with Home.open(settings.home, write=False) as home:
            asked = shlex.split(get_run(home, whole.run).command)
        killed = tmp_path / "killed"
        command = [*asked, "--json", "--home", killed, "--config", config]
        witness = Witness(killed, log)
        for part in (3, 2):
            witness.kill(start_program(command, tmp_path), at=calls // part)
        assert witness.deaths == 2, "the run was over before it could die"
        resumed = run_program(command, tmp_path)
        assert resumed.returncode == 0, resumed.stderr
        witness.check()
    assert whole.complete
    figures, printed = orjson.loads(orjson.dumps(whole.summary)), orjson.loads(resumed.stdout)
    assert {name: printed[name] for name in figures} == figures
    assert committed(killed) == calls
    assert figures["models"][WRITER]["verdicts"]["valid"] == 2 * CASES
