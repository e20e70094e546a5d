"""Growing trees on the command line: through HTTP by both transports, killed and resumed, printed, and refused."""

import json
import shutil
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.serving.server import running_server
from tests.cli.conftest import Program, write_config
from tests.killing import Witness, committed
from tests.processes import start_program


def test_through_http_by_both_transports(program: Program, tmp_path: Path, world: Path) -> None:
    """The tree of a run comes out the same through LiteLLM and directly, with every criterion mapped or counted."""
    home, other = tmp_path / "home", tmp_path / "other"
    grow = ("tree", "grow", "last", "--judge", "J", "--min-support", "2", "--json")
    with running_server() as url:
        write_config(tmp_path, url, transport="direct")
        evaluated = program("evaluate", world, "--judge", "J", "--models", "A", "--home", home)
        assert evaluated.returncode == 0, evaluated.stderr
        shutil.copytree(home, other)
        direct = program(*grow, "--home", home)
        write_config(tmp_path, url, transport="litellm")
        lite = program(*grow, "--home", other)
    assert direct.returncode == lite.returncode == 0, direct.stderr + lite.stderr
    assert direct.stdout == lite.stdout
    summary = json.loads(direct.stdout)
    assert summary["status"] == "done"
    assert summary["n"] == summary["mapped"] + sum(summary["unplaced"].values())
    assert summary["leaves"]
    assert "calls answered by models" in direct.stderr


def test_killed_and_resumed(program: Program, tmp_path: Path) -> None:
    """Killed twice and gone on with by `resume`, a growth ends as one that was never killed, and asks nothing twice."""
    lines = [
        json.dumps({"criterion": f"What does step {number} {word}?", "sample_id": f"s{number % 17}"})
        for number in range(60)
        for word in ("count in the picture", "read on the label", "compare of the sizes")
    ]
    (tmp_path / "criteria.jsonl").write_text("\n".join(lines))
    grow = ("tree", "grow", "--criteria", "criteria.jsonl", "--judge", "J", "--min-support", "2", "--batch", "4")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    log = tmp_path / "server.log"
    with running_server(latency=0.03, log_path=log) as url:
        write_config(tmp_path, url, transport="direct")
        expected = program(*grow, "--json", "--home", whole)
        assert expected.returncode == 0, expected.stderr
        total = committed(whole)
        witness = Witness(killed, log)
        for arguments, third in ((grow, 1), (("resume", "last"), 2)):
            witness.kill(start_program((*arguments, "--home", killed), tmp_path), at=total * third // 3)
        result = program("resume", "last", "--json", "--home", killed)
        witness.check()
    assert witness.deaths
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == json.loads(expected.stdout)


def test_in_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Phases and leaves are printed, `show` and the same command print them again, and the verbs are listed."""
    path = tmp_path / "c.csv"
    rows = [f"Does step {number} count the things?,s{number}" for number in range(12)]
    path.write_text("criterion,sample_id\n" + "\n".join(rows) + "\n")
    home = ["--home", str(tmp_path / "home")]
    grow = ["tree", "grow", "--criteria", str(path), "--judge", "sim/judge", "--name", "counts", *home]
    assert run(grow) == 0
    first = capsys.readouterr()
    assert "propose" in first.out
    assert "of 12 criteria" in first.out
    assert "dokimasia tree show counts" in first.out
    assert run(grow) == 0
    assert capsys.readouterr().out == first.out
    assert run(["show", "last", *home]) == 0
    assert capsys.readouterr().out == first.out
    assert run(["tree", "--help"]) == 0
    listed = capsys.readouterr().out
    assert all(verb in listed for verb in ("grow", "show", "diff", "export", "import", "weaknesses"))


def test_other_verbs_know_a_growth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run keeps nothing; a growth is exported and deleted; what makes no sense for it says what to do instead."""
    path, folder = tmp_path / "c.csv", tmp_path / "home"
    rows = [f"Does step {number} count the things?,s{number}" for number in range(12)]
    path.write_text("criterion,sample_id\n" + "\n".join(rows) + "\n")
    home = ["--home", str(folder)]
    grow = ["tree", "grow", "--criteria", str(path), "--judge", "sim/judge", "--name", "counts", *home]
    assert run([*grow, "--dry-run", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    assert (expected["samples"], expected["calls"]) == (12, 2 + 8 + 1)
    assert not folder.exists()
    assert run([*grow, "--json"]) == 0
    grown = json.loads(capsys.readouterr().out)
    assert grown["run"] == expected["run"]
    assert run(["export", "last", *home]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["text"] for line in lines} == {row.partition(",")[0] for row in rows}
    assert {line["leaf"] for line in lines} == {leaf["leaf"] for leaf in grown["leaves"]}
    for arguments, said in (
        (["fork", "last", "--judge", "sim/judge-noisy"], "tree agreement"),
        (["diff", "last", "last"], "tree diff A B"),
        (["resume", "last", "--retry-failed"], "--onto TREE"),
        (["show", "last", "--sample", "s1"], "no samples"),
    ):
        assert run([*arguments, *home]) == 2
        assert said in capsys.readouterr().err
    assert run(["runs", "delete", "last", "--yes", *home]) == 0
    capsys.readouterr()
    assert run([*grow, "--json"]) == 0
    again = capsys.readouterr()
    assert json.loads(again.out) == grown
    assert "0 calls answered by models" in again.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tree", "grow", "--judge", "sim/judge"], "one of the two"),
        (["tree", "grow", "nothing", "--judge", "sim/judge"], "no home"),
        (["tree", "grow", "--criteria", "{empty}", "--judge", "sim/judge"], "no criterion in it"),
        (["tree", "grow", "--criteria", "{one}", "--judge", "sim/judge", "--onto", "T"], "no tree"),
        (["tree", "grow", "--criteria", "{one}", "--judge", "sim/judge", "--onto", "T", "--name", "U"], "leave --name"),
        (["tree", "grow", "--criteria", "{one}", "--judge", "sim/judge", "--categories", "A<b>"], "--categories"),
        (["tree", "grow", "--criteria", "{one}", "--judge", "sim/judge", "--name", "a/b"], "--name"),
        (["tree", "grow", "--criteria", "{one}", "--judge", "sim/judge", "--max-cost", "-1"], "max-cost"),
    ],
)
def test_mistakes_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    """What cannot be grown is one line of error and exit code 2."""
    empty, one = tmp_path / "empty.jsonl", tmp_path / "one.jsonl"
    empty.write_text("\n")
    one.write_text('{"criterion": "Does it count?", "sample_id": "a"}\n')
    filled = [word.format(empty=empty, one=one) for word in arguments]
    assert run([*filled, "--home", str(tmp_path / "home")]) == 2
    assert said in capsys.readouterr().err
