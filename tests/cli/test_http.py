"""The whole path through LiteLLM to a real HTTP endpoint: killed, interrupted, answered again, and silent about keys."""

import json
import random
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

from dokimasia.simulation.faults import parse_faults
from dokimasia.simulation.server import running_server
from dokimasia.storage.home import Home
from tests.cli.conftest import KEY, Program, command, environment, write_config

KILLS = 20


def committed(home: Path) -> int:
    """How many calls the ledger holds; 0 before there is one."""
    if not (home / "dokimasia.db").exists():
        return 0
    connection = sqlite3.connect(f"file:{home / 'dokimasia.db'}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT count(*) FROM calls").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def committed_requests(home: Path) -> list[str]:
    """The committed calls as their canonical requests, which name what was asked."""
    connection = sqlite3.connect(f"file:{home / 'dokimasia.db'}?mode=ro", uri=True)
    try:
        return [row[0] for row in connection.execute("SELECT key FROM calls")]
    finally:
        connection.close()


def sent_requests(log: Path) -> list[str]:
    """What the server's log says was asked and left whole, in order."""
    return [
        line["request"]
        for line in map(json.loads, log.read_text().splitlines())
        if line["sent"] and line["status"] == 200
    ]


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
    assert first.returncode == 0, first.stderr
    for model in models_of(first.stdout).values():
        assert model["n"] == 69
        assert model["coverage"] >= 0.99
        assert model["cost"] > 0
    again = program(*arguments)
    assert again.stdout == first.stdout
    fresh = program(*arguments, "--fresh")
    assert fresh.returncode == 0, fresh.stderr
    assert models_of(fresh.stdout) == models_of(first.stdout)
    assert len(sent_requests(log)) == len(set(sent_requests(log)))


def test_killed_at_random_moments(program: Program, tmp_path: Path, world: Path) -> None:
    """Killed at twenty random moments and resumed, a run ends as one never killed, and asks no committed call again."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    log = tmp_path / "server.log"
    random_moments = random.Random(11)
    with running_server(latency=0.05, log_path=log) as url:
        write_config(tmp_path, url)
        arguments = ("evaluate", world, "--judge", "J", "--models", "A,B", "--repeats", "2", "--json")
        expected = program(*arguments, "--home", whole)
        assert expected.returncode == 0, expected.stderr
        total = committed(whole)
        log.write_text("")
        step = total / (KILLS + 1)
        done: set[str] = set()
        seen = 0
        for number in range(1, KILLS + 1):
            process = subprocess.Popen(
                command(*arguments, "--home", killed),
                cwd=tmp_path,
                env=environment(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            target = min(total - 1, round(step * number + random_moments.uniform(-0.4, 0.4) * step))
            while process.poll() is None and committed(killed) < target:
                time.sleep(0.005)
            time.sleep(random_moments.uniform(0, 0.04))
            process.send_signal(signal.SIGKILL)
            process.wait()
            time.sleep(0.15)  # what the server still had in hand is written to its log
            later = sent_requests(log)[seen:]
            assert not done & set(later), "a call that was committed at an earlier kill was sent again"
            seen += len(later)
            done = requests_of(killed)
        result = program(*arguments, "--home", killed)
        assert result.returncode == 0, result.stderr
        assert not done & set(sent_requests(log)[seen:])
    assert json.loads(result.stdout) == json.loads(expected.stdout)


def requests_of(home: Path) -> set[str]:
    """The committed calls as the server names them: the hash of each canonical request, computed from the ledger."""
    from dokimasia.simulation.draws import request_hash
    from dokimasia.storage.ledger import SqliteLedger

    with Home.open(home, write=False) as opened:
        ledger = SqliteLedger(opened)
        calls = [ledger.rebuild(key)[0] for key in committed_requests(home)]
    return {request_hash(call) for call in calls if call.kind == "chat"}


def test_ctrl_c_saves_and_names_the_way_on(program: Program, tmp_path: Path, world: Path) -> None:
    """Ctrl-C finishes the calls in flight, saves, exits with 130 and prints the command that resumes."""
    home = tmp_path / "home"
    with running_server(latency=0.1) as url:
        write_config(tmp_path, url)
        process = subprocess.Popen(
            command("evaluate", world, "--judge", "J", "--models", "A,B", "--home", home),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while process.poll() is None and committed(home) < 20:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
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
    """A second Ctrl-C does not wait for the calls in flight."""
    home = tmp_path / "home"
    with running_server(latency=20) as url:
        write_config(tmp_path, url)
        process = subprocess.Popen(
            command("evaluate", world, "--judge", "J", "--models", "A", "--home", home, "-v"),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        while process.poll() is None and not (home / "checkpoints.db").exists():
            time.sleep(0.02)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=15)
    assert process.returncode == 130, err
    assert "Traceback" not in err


def test_a_key_is_found_nowhere(program: Program, tmp_path: Path, world: Path) -> None:
    """A key from the environment is in no file, log line, error or JSON, also when the provider echoes it in a 401."""
    home, logs = tmp_path / "home", tmp_path / "run.log"
    with running_server(faults=parse_faults("unauthorized=0.3")) as url:
        write_config(tmp_path, url)
        ran = program(
            "evaluate", world, "--judge", "J", "--models", "A,B", "--home", home, "--json", "-vv", "--log-file", logs
        )
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
