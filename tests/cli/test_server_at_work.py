"""Runs of a service while they are at work: stopped, left alone, taken up again; and a home that a service holds."""

import json
import re
import signal
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from dokimasia.cli import remote_backend
from dokimasia.cli.decide import command as check
from dokimasia.cli.running import ProgressLine
from dokimasia.client import Client, Event
from dokimasia.report.figures import cost_text
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_described, write_world
from dokimasia.storage.lock import access_to
from tests.cli.served import configured, runs_of, served
from tests.killing import committed, held_back
from tests.processes import PATIENCE, environment, run_program

EVALUATE = ("evaluate", "--judge", "J", "--models", "A")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fourteen questions."""
    path = tmp_path_factory.mktemp("data") / "world.jsonl"
    write_world(path, 14, 3)
    return path


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the run prints that nothing happened to."""
    folder = tmp_path_factory.mktemp("whole")
    with running_server() as url:
        configured(folder, url, J="judge", A="strong")
        ran = run_program([*EVALUATE, data], folder)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_ctrl_c_stops_the_run_and_resume_goes_on(data: Path, whole: str, tmp_path: Path) -> None:
    """The first Ctrl-C stops the run in the service, which says how to go on; resumed, it prints what a whole run prints."""
    with running_server(latency=0.1) as url:
        configured(tmp_path, url, J="judge", A="strong")
        with served(tmp_path / "home") as service:
            with held_back(service.home, at=6, seconds=3.0):  # the stop has to come to the service first
                asked = service.start(*EVALUATE, data)
                assert asked.until(lambda: committed(service.home) > 5 and "/" in asked.told)
                asked.signal(signal.SIGINT)
                ended = asked.ended()
            assert (ended.returncode, ended.stdout) == (130, "")
            assert "finishing the calls in flight" in ended.stderr
            run = runs_of(service.home)[0]
            assert run["status"] == "interrupted"
            assert f"dokimasia resume {run['id']} --server {service.url}" in ended.stderr
            early = service.run("modes", "last", "--judge", "J").stderr
            assert early.endswith(f"dokimasia resume {run['id']} --server {service.url}\n")
            resumed = service.run("resume", "last")
            assert (resumed.returncode, resumed.stdout) == (0, whole), resumed.stderr


def test_a_client_that_dies_or_leaves_stops_nothing(data: Path, whole: str, tmp_path: Path) -> None:
    """--detach prints the run's id and leaves it to the service, and so does a client that is killed."""
    with running_server(latency=0.05) as url:
        configured(tmp_path, url, J="judge", A="strong")
        with served(tmp_path / "home") as service:
            with held_back(service.home, at=6):
                asked = service.start(*EVALUATE, data)
                assert asked.until(lambda: committed(service.home) > 5)
                asked.kill()
            left = service.run("evaluate", data, "--judge", "J", "--models", "A", "--seed", "1", "--detach")
            assert left.returncode == 0
            with Client(service.url) as client:
                assert client.find(left.stdout.strip()).wait().end == "complete"
                assert [one.wait().end for one in client.runs()] == ["complete", "complete"]
            assert service.run("evaluate", data, "--judge", "J", "--models", "A").stdout == whole


def test_a_service_that_goes_away_and_comes_back(data: Path, whole: str, tmp_path: Path) -> None:
    """A client in the middle of a run waits for the service, says so, goes on with it, and prints what a whole run prints."""
    with running_server(latency=0.1) as url:
        configured(tmp_path, url, J="judge", A="strong")
        with served(tmp_path / "home") as service:
            with held_back(service.home, at=6):
                asked = service.start(*EVALUATE, data)
                assert asked.until(lambda: committed(service.home) > 5)
                service.process.signal(signal.SIGTERM)
                assert service.process.until(lambda: "answering and committing" in service.process.told)
            stopped = service.process.ended()
            assert stopped.returncode == 0
            assert "1 run goes on when the service is back" in stopped.stderr
            assert asked.until(lambda: "trying again" in asked.told)
            with served(tmp_path / "home", port=service.url.rpartition(":")[2]):
                ended = asked.ended()
            assert (ended.returncode, ended.stdout) == (0, whole), ended.stderr
            assert "the service is back" in ended.stderr
            with closing(sqlite3.connect(service.home / "dokimasia.db")) as home:
                [(paid,)] = home.execute("SELECT sum(cost) FROM calls")
            said = re.search(r"cost (\S+) \((\S+) of it before the run went on\)", ended.stderr)
            assert said is not None, ended.stderr
            assert said[1] == cost_text(paid)


def test_what_a_service_says_of_workers_and_money_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Who follows a run is told that the service starts workers, and what was spent before the run went on there."""
    planned = {"samples": 3, "calls": 9, "spent_before": {"cost": 2.0, "calls": 4, "tokens": 9}}
    picture = {"status": {"status": "running"}, "planned": planned, "starting": {"workers": 2}, "progress": None}
    line = ProgressLine()
    shown = remote_backend._EventPrinter(line, "r1")  # pyright: ignore[reportPrivateUsage]
    shown(Event("snapshot", "1", {"picture": picture}))
    assert "the service starts 2 workers" in capsys.readouterr().err
    shown(Event("starting", "2", {"workers": 0}))
    shown(Event("progress", "3", {"items": 3, "done": 1, "answered": 1, "cost": 1.0}))
    assert not capsys.readouterr().err
    assert "cost $3.00 ($2.00 of it before the run went on), took" in line.paid()


def test_a_killed_service_is_replaced(data: Path, whole: str, tmp_path: Path) -> None:
    """What a killed service left in the home misleads nobody: a command writes by itself, and the next service replaces it."""
    with running_server() as url:
        configured(tmp_path, url, J="judge", A="strong")
        with served(tmp_path / "home") as service:
            before = access_to(service.home)
            service.process.kill()
        assert before is not None
        ran = run_program([*EVALUATE, data, "--home", tmp_path / "home"], tmp_path)
        assert (ran.returncode, ran.stdout) == (0, whole), ran.stderr
        with served(tmp_path / "home"):
            after = access_to(tmp_path / "home")
            assert after is not None
            assert after.token != before.token
        assert access_to(tmp_path / "home") is None


def test_verbs_of_this_machine_go_through_the_service_that_holds_the_home(
    data: Path, whole: str, tmp_path: Path
) -> None:
    """While a service holds the home, even one with tokens, commands with --home do what they do without it."""
    tokens = tmp_path / "tokens"
    tokens.write_text("ana read,run,review 0123456789abcdef0\n")
    tokens.chmod(0o600)
    with running_server() as url:
        configured(tmp_path, url, J="judge", K="judge-noisy", A="strong")
        with served(tmp_path / "home", "--token-file", tokens) as service:

            def here(*words: object) -> str:
                ran = run_program([*words, "--home", service.home], tmp_path)
                assert ran.returncode == 0, ran.stderr
                return ran.stdout

            assert here(*EVALUATE, data) == whole
            assert here("runs", "name", "last", "mine") == f"run {runs_of(service.home)[0]['id']} is called 'mine'\n"
            here("fork", "mine", "--from", "score", "--judge", "K", "--name", "two")
            assert here("resume", "mine") == whole
            assert "deleted run" in here("runs", "delete", "two", "--yes")
            assert [run["name"] for run in runs_of(service.home)] == ["mine"]
            detached = here("evaluate", data, "--judge", "J", "--models", "A", "--seed", "2", "--detach")
            here("filter", data, "--judge", "J", "-o", "kept.jsonl")
            assert (tmp_path / "kept.jsonl").exists()
            access = access_to(service.home)
            assert access is not None
            with Client(access.url, access.token) as client:
                assert client.find(detached.strip()).wait().end == "complete"
            mode = (service.home / "service.json").stat().st_mode & 0o777
            assert mode == 0o600
            ended = run_program(["evaluate", data, "--judge", "J", "--models", "A", "--detach"], tmp_path)
        assert (ended.returncode, ended.stdout) == (2, "")  # another home, which no service holds
        assert "--detach leaves a run to a service" in ended.stderr


def test_captions_are_checked_through_the_service(tmp_path: Path) -> None:
    """`decide` in the terminal decides through the service that holds the home, at once and under the name that is given."""
    write_described(tmp_path / "data.jsonl", 6, 0, disputed=0.0)
    made = run_program(["review", "data.jsonl", "--panel", "sim/panel-a,sim/panel-c", "--home", "home"], tmp_path)
    assert made.returncode == 0, made.stderr
    home = tmp_path / "home"
    with served(home) as service:
        words = ["last", "--home", str(home), "--who", "Zoë"]
        result = CliRunner().invoke(check, words, input="a\nd 1\nq\n", catch_exceptions=False)
        assert "2 decided in this invocation" in result.output
        assert "another process" not in result.output
        assert not (home / "decisions").exists() or not list((home / "decisions").iterdir())
        here = run_program(["decide", "last", "--home", "home", "--json"], tmp_path)
        assert json.loads(here.stdout)["people"] == {"Zoë": 2}
        there = service.run("decide", "last", "--json")
        assert (there.returncode, there.stdout) == (0, here.stdout), there.stderr
        asked = service.run("decide", "last")
        assert (asked.returncode, asked.stderr) == (0, "")
        assert "0 decided in this invocation" in asked.stdout


def test_tokens_are_asked_for_and_never_told(data: Path, tmp_path: Path) -> None:
    """Without its token, or with another, a verb is refused; with it, from the environment or a file, it is answered."""
    right, wrong = "right-token-0123456789", "wrong-token-0123456789"
    for name, text in (("tokens", f"ana read {right}\n"), ("right", f"{right}\n"), ("open", f"{right}\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o644 if name == "open" else 0o600)
    with served(tmp_path / "home", "--token-file", tmp_path / "tokens") as service:
        none = service.run("runs")
        other = service.run("runs", DOKIMASIA_SERVER_TOKEN=wrong)
        for ran in (none, other):
            assert (ran.returncode, ran.stdout) == (2, "")
            assert "DOKIMASIA_SERVER_TOKEN" in ran.stderr
        assert "is not known" in other.stderr
        opened = service.run("runs", "--server-token-file", tmp_path / "open")
        assert (opened.returncode, opened.stdout) == (2, "")
        assert "chmod 600" in opened.stderr
        for ran in (
            service.run("runs", DOKIMASIA_SERVER_TOKEN=right),
            service.run("runs", "--server-token-file", tmp_path / "right"),
        ):
            assert ran.returncode == 0, ran.stderr
        may_not = service.run(
            "evaluate", data, "--judge", "sim/judge", "--models", "sim/weak", "-vv", DOKIMASIA_SERVER_TOKEN=right
        )
        assert may_not.returncode == 2
        assert "lacks the scope" in may_not.stderr
        told = "".join(ran.stderr for ran in (none, other, opened, may_not)) + service.process.told
        assert not {one for one in (right, wrong) if one in told}


def test_the_environment_names_the_service(tmp_path: Path) -> None:
    """DOKIMASIA_SERVER stands for --server; a home that is named goes before it, and `verify` says that it works here alone."""
    with served(tmp_path / "home") as service:
        variables = {**environment(), "DOKIMASIA_SERVER": service.url}
        assert (
            run_program(["runs"], tmp_path, variables=variables).stdout == f"no runs yet in the home of {service.url}\n"
        )
        refused = run_program(["verify"], tmp_path, variables=variables)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "works on a home of this machine" in refused.stderr
        named = run_program(["verify", "--home", "home"], tmp_path, variables=variables)
        assert named.returncode == 0, named.stderr


def test_a_service_that_cannot_begin_says_why(tmp_path: Path) -> None:
    """A home that is held, a port that is taken, an address open to others without tokens: exit code 2 and the way out."""
    with served(tmp_path / "home") as service:
        port = service.url.rpartition(":")[2]
        for words, said in (
            (["--home", "home"], f"a service at {service.url}"),
            (["--home", "other", "--port", port], "choose another with --port"),
            (["--home", "other", "--host", "0.0.0.0"], "--token-file"),
        ):
            ran = run_program(["serve", *words], tmp_path)
            assert (ran.returncode, ran.stdout) == (2, "")
            assert said in ran.stderr
    assert not (tmp_path / "home" / "service.json").exists()


def test_a_second_signal_does_not_wait(data: Path, tmp_path: Path) -> None:
    """The first signal waits for calls in flight, a second one gives them up; the exit code is 0 both times."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        configured(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/v1", J="judge", A="strong")
        with (tmp_path / "dokimasia.toml").open("a") as file:
            file.write(f"timeout = {100 * PATIENCE}\n")  # of the model that answers: whoever waits for it never ends
        with served(tmp_path / "home") as service:
            assert service.run(*EVALUATE, data, "--detach").returncode == 0
            connection, _ = silent.accept()
            assert connection.recv(1), "a call is in flight"
            service.process.signal(signal.SIGTERM)
            assert service.process.until(lambda: "answering and committing" in service.process.told)
            service.process.signal(signal.SIGINT)
            ended = service.process.ended()
            assert ended.returncode == 0, ended.stderr
            connection.close()
        assert runs_of(tmp_path / "home")[0]["status"] in ("queued", "interrupted")
