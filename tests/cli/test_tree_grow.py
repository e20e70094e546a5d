"""Growing trees on the command line: printed, shown, exported and refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.world import write_world


def test_in_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Phases and leaves are printed, `show` and the same command print them again, and the verbs are listed."""
    path = tmp_path / "c.csv"
    rows = [f"Does step {number} count the things?,s{number}" for number in range(12)]
    path.write_text("criterion,sample_id\n" + "\n".join(rows) + "\n")
    home = ["--home", str(tmp_path / "home")]
    grow = ["tree", "grow", "--criteria", str(path), "--judge", "sim/judge", "--name", "counts", *home]
    assert run(grow) == 0
    first = capsys.readouterr()
    assert "note: 12 criteria are few for 2 to 6 capabilities" in first.err
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
    assert (expected["samples"], expected["calls"]) == (12, 2 + 2 * (4 + 6) + 1)
    assert "--level parent" in expected["notes"][0]
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


def test_every_verb_knows_a_tree_of_parents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tree grown with --level parent is shown, listed, compared, exported, edited, proved and diagnosed like any other."""
    folder = tmp_path / "home"
    write_world(tmp_path / "world.jsonl", 40, 3)
    home = ["--home", str(folder)]

    def told(*words: str) -> Any:
        assert run([*words, "--json", *home]) == 0
        return json.loads(capsys.readouterr().out)

    models = "sim/strong,sim/hasty"
    done = told("evaluate", str(tmp_path / "world.jsonl"), "--judge", "sim/judge", "--models", models)["run"]
    grow = ["tree", "grow", done, "--judge", "sim/judge", "--name", "broad", "--level", "parent"]
    grown = told(*grow)
    leaves = [leaf["leaf"] for leaf in grown["leaves"]]
    assert {leaf.count("<") for leaf in leaves} == {2}
    assert grown["coverage"] > 0.8
    assert run([*grow, *home]) == 0
    assert f"{len(leaves)} parents, which are the tree's leaves" in capsys.readouterr().out
    shown = told("tree", "show", "broad", "--model", "sim/strong")
    assert {node["layer"] for node in shown["nodes"]} == {0, 1, 2}
    assert shown["counts"] | {"capabilities": 0, "parents": len(leaves)} == shown["counts"]
    assert run(["tree", "show", "broad", *home]) == 0
    assert f"{len(leaves)} parents · " in capsys.readouterr().out
    valid = told("tree", "validity", done, "--tree", "broad", "--permutations", "20", "--resamples", "0")
    assert valid["taxonomies"][0]["leaves"] == len(leaves)
    assert valid["taxonomies"][0]["grouped"] == grown["mapped"]
    weak = told("tree", "weaknesses", done, "--model", "sim/hasty", "--tree", "broad")
    assert weak["looked_at"] > 0
    assert {node["layer"] for node in (*weak["weak"], *weak["strong"])} <= {1, 2}
    assert told("tree", "agreement", "broad", "broad")["hit_rate"]["share"] == 1.0
    for ending in ("yaml", "json", "csv", "graphml"):
        file = tmp_path / f"broad.{ending}"
        assert run(["tree", "export", "broad", "--output", str(file), *home]) == 0
        capsys.readouterr()
        assert told("tree", "import", str(file), "--tree", "broad")["new"] is False
        assert told("tree", "import", str(file), "--tree", f"from-{ending}", "--new")["new"] is True
        capsys.readouterr()
        assert told("tree", "show", f"from-{ending}")["counts"] == shown["counts"]
    tables = told("diagnose", done, "--tree", "broad", "--asset", "heatmap")["assets"]
    assert [row["key"] for row in tables[0]["rows"]] == [one["id"] for one in shown["nodes"] if one["layer"] == 2]
    assert run(["report", done, "--output", str(tmp_path / "page.html"), *home]) == 0
    assert f"criteria on {len(leaves)} parents in 6 categories" in (tmp_path / "page.html").read_text()


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


def test_trees_of_other_samples_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One command grows a tree for each seed, says how far every two agree, and prints the same when given again."""
    path = tmp_path / "c.csv"
    asked = ("count the boats", "read the printed sign", "compare two bars")
    path.write_text(
        "criterion,sample_id\n" + "\n".join(f"How does one {asked[n % 3]} {n}?,s{n}" for n in range(30)) + "\n"
    )
    home = ["--home", str(tmp_path / "home")]
    grow = ["tree", "stability", "--criteria", str(path), "--judge", "sim/judge", *home]
    assert run(grow) == 2
    assert "--subsample 15" in capsys.readouterr().err
    grow += ["--subsample", "15", "--trees", "3", "--name", "again"]
    assert run([*grow, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(tree["tree"], tree["seed"]) for tree in found["trees"]] == [("again-0", 0), ("again-1", 1), ("again-2", 2)]
    assert len(found["pairs"]) == 3
    agreement = [pair["adjusted_rand"] for pair in found["pairs"]]
    assert found["adjusted_rand"]["least"] == min(agreement)
    for category, spread in found["categories"].items():
        shares = [tree["categories"].get(category, 0) for tree in found["trees"]]
        assert (spread["least"], spread["greatest"]) == (min(shares), max(shares))
    assert run([*grow, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert run(grow) == 0
    assert "adjusted Rand index of two" in capsys.readouterr().out
