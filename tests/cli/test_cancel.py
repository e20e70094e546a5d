"""`dokimasia runs cancel`: a run of a service is stopped, and taken out of the queue while the service is down."""

import json
from pathlib import Path

import pytest

from dokimasia.simulation.serving.server import running_server
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.cli.served import configured, runs_of, served
from tests.killing import held_back
from tests.processes import run_program
from tests.service.test_deaths import begun, queued


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One sample."""
    path = tmp_path / "questions.jsonl"
    path.write_text('{"id": "a", "prompt": "What is 2 + 2?", "reference_answer": "4"}')
    return path


def status_of(home: Path, run: str) -> str:
    """The status of a run as the home holds it."""
    with Home.open(home, write=False) as opened:
        return get_run(opened, run).status


def test_a_run_is_cancelled_while_the_service_is_down(data: Path, tmp_path: Path) -> None:
    """One that was at work and one that waited leave the queue, so that the next service begins the third alone."""
    home = tmp_path / "home"
    with running_server() as url, held_back(home, at=-3):
        configured(tmp_path, url, J="judge", A="strong")
        with served(home, "--width", 1) as service:
            first, second, third = (begun(service, data, seed) for seed in range(3))
            assert service.process.until(lambda: queued(home)[first][0] == 1)
            service.process.kill()
        for run in (first, second):
            ran = run_program(["runs", "cancel", run[:8], "--home", home], tmp_path)
            assert (ran.returncode, ran.stdout) == (0, f"run {run} is interrupted, and does not go on by itself\n")
        shown = json.loads(run_program(["runs", "cancel", first, "--json", "--home", home], tmp_path).stdout)
        assert (shown["id"], shown["status"]) == (first, "interrupted")
        assert list(queued(home)) == [third]
        with served(home) as service:
            assert service.process.until(lambda: status_of(home, third) == "running")  # it is tried before it runs
            assert {one["id"]: one["status"] for one in runs_of(home)} == {
                first: "interrupted",
                second: "interrupted",
                third: "running",
            }
            through = run_program(["runs", "cancel", third, "--at-once", "--json", "--home", home], tmp_path)
            assert (through.returncode, json.loads(through.stdout)["status"]) == (0, "interrupted"), through.stderr
            assert queued(home) == {}


def test_what_cannot_be_cancelled_is_said(data: Path, tmp_path: Path) -> None:
    """A run that is not there and one that is finished are refused with exit code 2, here and through a service."""
    home = tmp_path / "home"
    ran = run_program(["evaluate", data, "--judge", "sim/judge", "--models", "sim/strong", "--home", home], tmp_path)
    assert ran.returncode == 0, ran.stderr
    run = runs_of(home)[0]["id"]
    said = {run: f"run {run} is done: there is nothing to cancel", "feedbeef": "feedbeef"}

    def refused() -> None:
        for name, why in said.items():
            ran = run_program(["runs", "cancel", name, "--home", home], tmp_path)
            assert (ran.returncode, ran.stdout) == (2, "")
            assert why in ran.stderr

    refused()
    with served(home):
        refused()
    assert runs_of(home)[0]["status"] == "done"
