"""`dokimasia diagnose`: tables, evidence and comparisons on the terminal and as JSON; mistakes cost one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.world import write_world


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two runs of one data set, the second judged by another judge."""
    folder = tmp_path_factory.mktemp("diagnose")
    write_world(folder / "world.jsonl", 14, 3)
    for judge in ("sim/judge", "sim/judge-noisy"):
        asked = ["--models", "sim/strong,sim/weak", "--judge", judge, "--home", str(folder / "home")]
        assert run(["evaluate", str(folder / "world.jsonl"), *asked]) == 0
    return folder / "home"


def runs_of(home: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The runs of a home, the newest first."""
    capsys.readouterr()
    assert run(["runs", "--json", "--home", str(home)]) == 0
    found = json.loads(capsys.readouterr().out)
    return [one["run"] if "run" in one else one["id"] for one in (found if isinstance(found, list) else found["runs"])]


def test_the_tables_as_text_and_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first line says that models are simulated; the JSON is the same twice, and has every table."""
    assert run(["diagnose", "last", "--home", str(home)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Simulated models")
    assert " scores highest, " in text.partition("The models")[0]
    assert "Right answer, wrong reason" in text
    assert "tree grow" in text
    printed: list[str] = []
    for _ in range(2):
        assert run(["diagnose", "last", "--json", "--home", str(home)]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    found = json.loads(printed[0])
    assert {"models", "heatmap", "leaves/sim-weak"} <= {one["id"] for one in found["assets"]}


def test_one_table_and_the_atoms_behind_a_row(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table is printed by its id or family; a row leads to question, truth, answer and picture."""
    assert run(["diagnose", "last", "--asset", "leaves", "--home", str(home)]) == 0
    text = capsys.readouterr().out
    assert "leaves/sim-strong" in text
    assert "leaves/sim-weak" in text
    assert run(["diagnose", "last", "--why", "leaves/sim-weak:1", "--top", "2", "--home", str(home)]) == 0
    text = capsys.readouterr().out
    assert "truth" in text
    assert "blobs" in text
    assert run(["diagnose", "last", "--why", "leaves/sim-weak:1", "--json", "--home", str(home)]) == 0
    assert json.loads(capsys.readouterr().out)["asset"] == "leaves/sim-weak"


def test_two_runs_and_the_export(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What changed is a table a model; all tables are files."""
    newest, oldest = runs_of(home, capsys)[:2]
    assert run(["diagnose", oldest, "--against", newest, "--export", str(tmp_path / "out"), "--home", str(home)]) == 0
    assert "shared samples" in capsys.readouterr().out
    assert (tmp_path / "out" / "changes-sim-weak.csv").exists()
    assert (tmp_path / "out" / "leaves-sim-weak.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--why", "leaves/absent:1"], "no asset"),
        (["--asset", "absent"], "no table"),
        (["--against", "last"], "itself"),
        (["--tree", "absent"], "no tree"),
        (["--judge", "sim/judge"], "--judge belongs to"),
        (["--write", "--fingerprint"], "two things"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    home: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what is wrong."""
    assert run(["diagnose", "last", *arguments, "--home", str(home)]) == 2
    assert told in capsys.readouterr().err


def test_options_without_an_effect_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that what was asked for would pass over is a mistake, and says where it belongs."""
    for given, said in (
        (["--top", "3"], "--top belongs to --why"),
        (["--responses", "5"], "--responses belongs to --fingerprint"),
        (["--max-cost", "1"], "--max-cost belongs to --write or --fingerprint"),
        (["--fresh"], "--fresh belongs to --write or --fingerprint"),
        (["--why", "models:1", "--asset", "models"], "--asset does not go with --why"),
        (["--why", "models:1", "--judge", "sim/judge"], "--judge belongs to --write or --fingerprint"),
        (["--write", "--judge", "sim/judge", "--export", "figures"], "--export does not go with --write"),
        (["--write", "--judge", "sim/judge", "--against", "last"], "--against does not go with --write"),
        (["--fingerprint", "--judge", "sim/judge", "--why", "models"], "--why does not go with --fingerprint"),
        (["--write", "--fingerprint"], "ask for one"),
    ):
        assert run(["diagnose", "last", *given, "--home", str(home)]) == 2
        assert said in capsys.readouterr().err, given


def test_a_dry_run_keeps_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What reports, or a test of them, would ask is said for each model; no run is made, and tables have no dry run."""
    before = runs_of(home, capsys)
    for asked in ("--write", "--fingerprint"):
        found: list[dict[str, Any]] = []
        for judge in ("sim/judge", "sim/judge-noisy"):
            assert run(["diagnose", "last", asked, "--judge", judge, "--dry-run", "--json", "--home", str(home)]) == 0
            found.append(json.loads(capsys.readouterr().out))
            assert list(found[-1]["models"]) == [judge]
            assert found[-1]["calls"] >= 9
        assert found[0]["run"] != found[1]["run"]
    assert runs_of(home, capsys) == before
    assert run(["diagnose", "last", "--dry-run", "--home", str(home)]) == 2
    assert "--dry-run belongs to --write or --fingerprint" in capsys.readouterr().err


def test_a_table_that_is_named_is_the_one_in_the_json_and_a_near_one_is_offered(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--asset` cuts JSON as it cuts text; a name that is misspelt ends with exit code 2, JSON or not."""
    capsys.readouterr()
    assert run(["diagnose", "last", "--asset", "models", "--asset", "leaves", "--json", "--home", str(home)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in found["assets"]] == ["models", "leaves/sim-strong", "leaves/sim-weak"]
    for more in ([], ["--json"]):
        assert run(["diagnose", "last", "--asset", "leaves/sim/weak", *more, "--home", str(home)]) == 2
        assert "near: leaves/sim-weak" in capsys.readouterr().err
    first, second = runs_of(home, capsys)[:2]
    assert (
        run(["diagnose", first, "--against", second, "--asset", "changes/sim-weak", "--json", "--home", str(home)]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in found["against"]["assets"]] == ["changes/sim-weak"]


def test_bare_final_answers_have_no_wrong_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Right answers of one line count as stating no reason; the notes name their model, the atoms are not stated."""
    home = ["--home", str(tmp_path / "home")]
    write_world(tmp_path / "world.jsonl", 8, 3)
    samples = [json.loads(line) for line in (tmp_path / "world.jsonl").read_text().splitlines()]
    answers = [
        {"id": one["id"], "model": "terse", "response": f"Final answer: {one['reference_answer']}"} for one in samples
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    asked = ["--judge", "sim/judge", "--responses", str(tmp_path / "answers.jsonl"), *home]
    assert run(["evaluate", str(tmp_path / "world.jsonl"), *asked]) == 0
    capsys.readouterr()
    assert run(["diagnose", "last", "--asset", "reasons", "--json", *home]) == 0
    (table,) = json.loads(capsys.readouterr().out)["assets"]
    names = [column["name"] for column in table["columns"]]
    cells = dict(zip(names, (cell["value"] for cell in table["rows"][0]["cells"]), strict=True))
    assert (cells["right, with reasons"], cells["of these, wrong reason"], cells["no reasons stated"]) == (0, None, 8)
    assert run(["diagnose", "last", "--asset", "reasons", *home]) == 0
    assert "These address less than 80 %" in capsys.readouterr().out
    assert run(["diagnose", "last", "--why", "terse", *home]) == 0
    assert "not stated" in capsys.readouterr().out
