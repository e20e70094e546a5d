"""The whole path through LiteLLM to a real HTTP endpoint: killed, interrupted, answered again, and silent about keys."""

import json
import random
import signal
import socket
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.server import running_server
from dokimasia.storage.home import Home
from tests.cli.conftest import Program, write_config
from tests.killing import Witness, committed, held_back, sent_requests
from tests.processes import KEY, start_program

KILLS = 6


def models_of(output: str) -> Any:
    return json.loads(output)["models"]


def test_real_photographs_through_http(program: Program, tmp_path: Path, shared_data: Path) -> None:
    """69 real questions on 23 photographs are scored through HTTP, and printed again when the server is gone."""
    data = shared_data / "coco30" / "samples.jsonl"
    arguments = ("evaluate", data, "--judge", "J", "--models", "A,B", "--json")
    log = tmp_path / "server.log"
    with running_server(log_path=log) as url:
        write_config(tmp_path, url)
        first = program(*arguments)
        retried = program("resume", "last", "--retry-failed", "--json")
    assert first.returncode == retried.returncode == 0, first.stderr + retried.stderr
    for model in models_of(first.stdout).values():
        assert model["n"] == 69
        assert model["n_scored"] + sum(model["failures"].values()) == 69
        assert model["cost"] > 0
    assert all(model["coverage"] >= 0.99 for model in models_of(retried.stdout).values())
    again = program(*arguments)
    assert again.stdout == retried.stdout
    fresh = program(*arguments, "--fresh")
    assert fresh.returncode == 0, fresh.stderr
    assert models_of(fresh.stdout) == models_of(first.stdout)
    assert len(sent_requests(log)) == len(set(sent_requests(log)))


@pytest.mark.full
def test_killed_at_random_moments(program: Program, tmp_path: Path, world: Path) -> None:
    """Killed at six random moments and resumed, a run ends as one never killed, and asks no committed call again."""
    whole, killed, log = tmp_path / "whole", tmp_path / "killed", tmp_path / "server.log"
    random_moments = random.Random(11)
    with running_server(latency=0.05, log_path=log) as url:
        write_config(tmp_path, url)
        arguments = ("evaluate", world, "--judge", "J", "--models", "A,B", "--repeats", "2", "--json")
        expected = program(*arguments, "--home", whole)
        assert expected.returncode == 0, expected.stderr
        total = committed(whole)
        step = total / (KILLS + 1)
        witness = Witness(killed, log)
        for number in range(1, KILLS + 1):
            target = min(total - 1, round(step * number + random_moments.uniform(-0.4, 0.4) * step))
            process = start_program((*arguments, "--home", killed), tmp_path)
            witness.kill(process, at=target, pause=random_moments.uniform(0, 0.04))
        result = program(*arguments, "--home", killed)
        assert result.returncode == 0, result.stderr
        witness.check()
    assert witness.deaths > KILLS / 2
    assert json.loads(result.stdout) == json.loads(expected.stdout)


def test_ctrl_c_saves_and_names_the_way_on(program: Program, tmp_path: Path, world: Path) -> None:
    """Ctrl-C finishes the calls in flight, saves, exits with 130 and prints the command that resumes."""
    home = tmp_path / "home"
    with running_server(latency=0.1) as url:
        write_config(tmp_path, url)
        process = start_program(("evaluate", world, "--judge", "J", "--models", "A,B", "--home", home), tmp_path)
        with held_back(home, at=20):
            assert process.until(lambda: committed(home) >= 20)
            process.signal(signal.SIGINT)
        ended = process.ended()
        err = ended.stderr
        assert ended.returncode == 130, err
        assert "dokimasia resume" in err
        run = err.split("dokimasia resume ")[1].split()[0]
        before = committed(home)
        shown = program("runs", "--home", home, "--json")
        assert json.loads(shown.stdout)[0]["status"] == "interrupted"
        resumed = program("resume", run, "--home", home, "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["status"] == "done"
    assert committed(home) > before >= 20


def test_ctrl_c_twice_stops_at_once(tmp_path: Path, world: Path) -> None:
    """A second Ctrl-C does not wait for the calls in flight, here to a server that never answers."""
    home = tmp_path / "home"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        write_config(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        process = start_program(("evaluate", world, "--judge", "J", "--models", "A", "--home", home, "-v"), tmp_path)
        connection, _ = silent.accept()
        with connection:
            assert connection.recv(1), "a call is in flight"
            process.signal(signal.SIGINT)
            assert process.until(lambda: "Ctrl-C again stops at once" in process.told)
            process.signal(signal.SIGINT)
            ended = process.ended()
    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_key_is_found_nowhere(program: Program, tmp_path: Path, world: Path) -> None:
    """A key from the environment is in no file, log line, error or JSON, also when the provider echoes it in a 401."""
    home, logs = tmp_path / "home", tmp_path / "run.log"
    with running_server(faults=parse_faults("unauthorized=0.3")) as url:
        write_config(tmp_path, url)
        asked = ("evaluate", world, "--judge", "J", "--models", "A,B", "--max-failures", "100%")
        ran = program(*asked, "--home", home, "--json", "-vv", "--log-file", logs)
    assert ran.returncode == 0, ran.stderr
    kinds = [kind for model in models_of(ran.stdout).values() for kind in model["failures"]]
    assert "api_error" in kinds
    shown = program("show", json.loads(ran.stdout)["run"], "--home", home, "--json")
    for text in (ran.stdout, ran.stderr, shown.stdout, shown.stderr, logs.read_text()):
        assert KEY not in text
    for path in home.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
    with Home.open(home, write=False) as opened:
        packed = opened.all("SELECT unpack(text) FROM texts UNION ALL SELECT unpack(prompt) FROM samples")
    assert packed
    assert not [text for (text,) in packed if KEY in text]
    attempts = sqlite3.connect(home / "dokimasia.db").execute("SELECT kind, message FROM attempts").fetchall()
    assert {"auth"} <= {kind for kind, _ in attempts}
    assert any("[key]" in message or "[redacted]" in message for _, message in attempts)
