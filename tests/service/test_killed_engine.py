"""An engine killed with several runs at work and a review open: nothing lost, nothing paid twice, the same bytes at the end."""

import random
from pathlib import Path

import pytest

from benchmarks.crash import service
from benchmarks.crash.__main__ import Findings, Scene
from benchmarks.crash.evidence import ServerLog
from dokimasia.simulation.serving.server import running_server
from tests.processes import ROOT, Started, start_script

pytestmark = pytest.mark.full

KILLS = 6


def test_killed_again_and_again(tmp_path: Path) -> None:
    """Killed six times, an engine goes on by itself each time, and ends with what one has that nobody killed.

    No call that was committed is sent again, and no answer of the person in the review's panel is lost.
    """

    def start(folder: Path, home: Path) -> Started:
        return start_script(ROOT / "benchmarks" / "crash" / "engine.py", [folder, home], tmp_path)

    log, findings = tmp_path / "server.log", Findings()
    log.touch()
    with running_server(latency=0.03, log_path=log) as url:
        service.prepare(tmp_path, url, samples=7, in_flight=8, seed=3)
        scene = Scene(tmp_path, ServerLog(log), 0.03, random.Random(3))
        whole = service.whole_of(scene, start)
        service.kill_again_and_again(scene, tmp_path / "killed", start, whole, findings, kills=KILLS)
    assert findings.said == []
    assert findings.kills.total() == KILLS
    assert (findings.resent, findings.lost, findings.changed, findings.damaged, findings.differing) == (0, 0, 0, 0, 0)
    assert findings.requests <= whole.asked + KILLS * 8, "more than what was in flight was sent again"
