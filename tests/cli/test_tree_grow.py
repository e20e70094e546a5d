"""Growing trees on the command line: printed, shown, exported and refused."""

import json
from pathlib import Path

import pytest

from dokimasia.cli.main import run


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
