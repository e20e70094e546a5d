"""The verbs of every day, in process: export, diff, verify, runs delete and resume --retry-failed."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.domain.ports import Spending
from dokimasia.simulation.serving.faults import Faults
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.spending import spending_recorder

Verb = Callable[..., tuple[int, str, str]]


@pytest.fixture
def verb(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verb:
    """Runs a verb on a home of its own and returns its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([*map(str, arguments), "--home", str(tmp_path / "home")])
        said = capfd.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def evaluated(verb: Verb, tmp_path: Path) -> str:
    """The id of a finished run on three samples."""
    write_world(tmp_path / "world.jsonl", 3, 2)
    code, out, _ = verb("evaluate", "world.jsonl", "--judge", "sim/judge", "--models", "sim/strong,sim/weak", "--json")
    assert code == 0
    return json.loads(out)["run"]


def test_export_writes_files_and_streams(verb: Verb, evaluated: str, tmp_path: Path) -> None:
    """The format follows the file's name or the option, and standard output holds the same bytes as a file."""
    code, _, err = verb("export", evaluated[:6], "-o", "out.csv")
    assert (code, err) == (0, "wrote 6 answers to out.csv\n")
    code, out, _ = verb("export", evaluated, "--format", "csv")
    assert out == (tmp_path / "out.csv").read_text()
    code, out, _ = verb("export", evaluated)
    assert len(out.splitlines()) == 6
    assert all(json.loads(line)["run"] == evaluated for line in out.splitlines())
    assert verb("export", evaluated, "-o", "out.parquet")[0] == 0
    assert (tmp_path / "out.parquet").read_bytes()[:4] == b"PAR1"
    code, _, err = verb("export", evaluated, "-o", "nowhere/out.csv")
    assert code == 2
    assert "nowhere/out.csv cannot be written" in err


def test_a_format_that_an_export_does_not_have_is_refused(verb: Verb, evaluated: str, tmp_path: Path) -> None:
    """A file whose ending says another format is not written as JSON lines in secret, and none as another workbook."""
    code, out, err = verb("export", evaluated, "-o", "out.ods")
    assert (code, out) == (2, "")
    assert "out.ods: such a file is not written. --format xlsx writes a workbook" in err
    assert not (tmp_path / "out.ods").exists()
    assert verb("export", evaluated, "-o", "out.xlsx", "--format", "csv")[0] == 2
    assert verb("export", evaluated, "-o", "out.txt", "--format", "csv")[0] == 0
    _, out, _ = verb("export", evaluated, "-o", "-")
    assert out == verb("export", evaluated)[1]
    assert not (tmp_path / "-").exists()


def test_an_export_can_be_scored_again(verb: Verb, evaluated: str) -> None:
    """Answers of a run's export are read by --responses under the same names, and come to the same scores."""
    assert verb("export", evaluated, "-o", "answers.jsonl")[0] == 0
    code, out, err = verb("evaluate", "world.jsonl", "--judge", "sim/judge", "--responses", "answers.jsonl", "--json")
    assert code == 0, err
    again = json.loads(out)
    first = json.loads(verb("show", evaluated, "--json")[1])
    for name, model in first["models"].items():
        assert again["models"][name]["n_scored"] == model["n_scored"]
        assert again["models"][name]["score"]["mean"] == model["score"]["mean"]


def test_parquet_is_not_written_to_a_terminal(verb: Verb, evaluated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that are no text need a file or a pipe."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    code, out, err = verb("export", evaluated, "--format", "parquet")
    assert (code, out) == (2, "")
    assert "name a file with -o" in err


def test_show_of_some_models(verb: Verb, evaluated: str) -> None:
    """Tables, JSON and a sample have the named models alone; an unknown name is refused with the names that there are."""
    tables = (("show", evaluated), ("show", evaluated, "--full"), ("show", evaluated, "--format", "latex"))
    for words in tables:
        _, every, _ = verb(*words)
        code, weak, _ = verb(*words, "--model", "sim/weak")
        rows = [line for line in weak.splitlines() if line.startswith((" sim/", "sim/strong &", "sim/weak &"))]
        assert code == 0
        assert rows
        assert all("sim/weak" in row for row in rows)
        assert verb(*words, "--model", "sim/weak", "--model", "sim/strong")[1] == every
    summary = json.loads(verb("show", evaluated, "--json", "--model", "sim/weak")[1])
    assert list(summary["models"]) == ["sim/weak"]
    sample = json.loads(Path("world.jsonl").read_text().splitlines()[0])["id"]
    answers = json.loads(verb("show", evaluated, "--json", "--sample", sample, "--model", "sim/weak")[1])["answers"]
    assert [answer["model"] for answer in answers] == ["sim/weak"]
    for words in (*tables, ("show", evaluated, "--json"), ("show", evaluated, "--sample", sample)):
        code, out, err = verb(*words, "--model", "sim/weka")
        assert (code, out) == (2, "")
        assert err.endswith("have no model 'sim/weka'; did you mean 'sim/weak'?\n")
    assert verb("show", evaluated, "--search", "cups", "--model", "sim/weak")[0] == 2


def test_diff_of_two_judges_and_of_two_models(verb: Verb, evaluated: str) -> None:
    """People see who differs from whom and how significantly; machines get the same as JSON; mistakes are exit code 2."""
    code, out, _ = verb(
        "evaluate", "world.jsonl", "--judge", "sim/judge-noisy", "--models", "sim/strong,sim/weak", "--json"
    )
    other = json.loads(out)["run"]
    code, out, _ = verb("diff", evaluated, other)
    assert code == 0
    assert out.startswith("Simulated models:")
    assert "judge.name: sim/judge → sim/judge-noisy" in out
    assert "the judges agree exactly on" in out
    code, out, _ = verb("diff", evaluated, evaluated, "--models", "sim/weak,sim/strong", "--json")
    found = json.loads(out)
    assert found["pairs"][0]["difference"]["mean"] > 0
    assert found["pairs"][0]["n_paired"] == 3
    assert json.loads(verb("diff", evaluated, "--models", "sim/weak,sim/strong", "--json")[1]) == found
    code, _, err = verb("diff", evaluated, evaluated)
    assert code == 2
    assert f"compare two of its models: dokimasia diff {evaluated} --" in err
    assert verb("diff", evaluated)[0] == 2
    assert verb("diff", evaluated, other, "--models", "sim/weak")[0] == 2
    assert verb("diff", evaluated, "nosuchrun")[0] == 2


def test_verify_ends_with_1_when_something_is_damaged(verb: Verb, evaluated: str, tmp_path: Path) -> None:
    """A sound home is exit code 0; a damaged image is named with its run and the way out, and is exit code 1."""
    code, out, _ = verb("verify")
    assert code == 0
    assert "was checked is as it was written" in " ".join(out.split())
    image = next((tmp_path / "home" / "blobs").glob("??/*"))
    image.write_bytes(b"no image")
    code, out, _ = verb("verify")
    assert code == 1
    assert evaluated in out
    assert "way out: delete blobs/" in out
    code, out, _ = verb("verify", "--json")
    assert code == 1
    assert json.loads(out)["runs"] == [evaluated]


def test_verify_says_once_what_many_have(verb: Verb, evaluated: str, tmp_path: Path) -> None:
    """Of many things that are wrong alike one is told whole, with how many more there are and which the first are."""
    images = list((tmp_path / "home" / "blobs").glob("??/*"))
    for image in images:
        image.unlink()
    code, out, _ = verb("verify")
    assert (code, len(images) > 1) == (1, True)
    assert out.count("and it is missing") == 1
    assert f"so are {len(images) - 1} more" in " ".join(out.split())


def test_open_answers_are_no_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a limit on spending left open is not yet scored: nothing failed, and nothing is excluded from the mean."""
    data, home = str(tmp_path / "world.jsonl"), ["--home", str(tmp_path / "home")]
    assert run(["sim", "make", data, "--samples", "20", "--seed", "1"]) == 0
    asked = ["evaluate", data, "--judge", "sim/judge", "--models", "sim/weak,sim/strong", "--max-calls", "125"]
    assert run([*asked, *home]) == 4
    capsys.readouterr()
    assert run(["show", "last", *home]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(r"scored \(\d+ %\)\. \d+ answers are not yet scored\.", shown)
    assert "Failed answers" not in shown


def test_runs_are_listed_and_deleted(verb: Verb, evaluated: str) -> None:
    """Listing stays as it was; deleting needs a yes, and a run that is not there is exit code 2."""
    listed = verb("runs")[1]
    assert evaluated in listed
    assert "spent: every call that was sent; `show RUN` counts the calls that results rest on" in listed
    code, _, err = verb("runs", "delete", evaluated)
    assert code == 2
    assert "add --yes" in err
    code, out, _ = verb("runs", "delete", evaluated[:8], "--yes", "--json")
    assert json.loads(out) == {"events": 2, "results": 9, "run": evaluated, "samples": 3, "threads": 0}
    assert "no runs yet" in verb("runs")[1]
    assert verb("runs", "delete", evaluated, "--yes")[0] == 2
    assert run(["runs", "--json", "delete", evaluated]) == 2


def test_calls_that_were_cut_off_are_counted_in_the_list(verb: Verb, evaluated: str, tmp_path: Path) -> None:
    """A run of which requests were given up in flight says how many; others say nothing."""
    assert "cut off)" not in verb("runs")[1]
    with Home.open(tmp_path / "home", write=True) as home:
        spending_recorder(home, evaluated)(Spending(9, 100, 0.5, cut_off=2)).result()
    assert "(2 calls cut off)" in verb("runs")[1]
    assert json.loads(verb("runs", "--json")[1])[0]["spent"]["cut_off"] == 2


def test_a_renamed_run_says_what_still_finds_it(verb: Verb, evaluated: str) -> None:
    """The former name is named where a run gets another; a sample that nobody has is answered with the nearest ones."""
    assert verb("runs", "name", evaluated, "first")[1] == f"run {evaluated} is called 'first'\n"
    assert (
        verb("runs", "name", "first", "second")[1] == f"run {evaluated} is called 'second', and still found as first\n"
    )
    sample = json.loads(verb("export", "first")[1].splitlines()[0])["id"]
    code, _, err = verb("show", "first", "--sample", f"{sample}x")
    assert code == 2
    assert f"has no sample '{sample}x'; did you mean {sample!r}" in err
    assert "; there are 3, such as " in verb("show", "first", "--sample", "?")[2]


def test_a_terminal_is_asked_before_a_run_goes(verb: Verb, evaluated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What will go is said, a no keeps it, and a yes deletes it."""
    asked: list[str] = []

    def confirm(text: str, **_: Any) -> bool:
        asked.append(text)
        return True

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda *_: "n")
    code, _, err = verb("runs", "delete", evaluated)
    assert code == 130
    assert "9 results of 3 samples" in err
    assert evaluated in verb("runs")[1]
    monkeypatch.setattr("click.confirm", confirm)
    assert verb("runs", "delete", evaluated)[0] == 0
    assert asked == ["delete it?"]
    assert evaluated not in verb("runs")[1]


def test_resume_asks_anew_what_failed(verb: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finished run with refusals is mended by --retry-failed; show still tells what had failed."""
    write_world(tmp_path / "world.jsonl", 6, 3)
    monkeypatch.setattr(
        "dokimasia.simulation.serving.transport.SimTransport",
        lambda **_: SimTransport(faults=Faults(rates={"content_filter": 0.4})),
    )
    code, out, _ = verb("evaluate", "world.jsonl", "--judge", "sim/judge", "--models", "sim/strong", "--json")
    first = json.loads(out)
    assert first["models"]["sim/strong"]["failures"]["refused"] > 0
    monkeypatch.setattr("dokimasia.simulation.serving.transport.SimTransport", SimTransport)
    assert verb("resume", first["run"], "--kinds", "refused")[0] == 2
    assert verb("resume", first["run"], "--retry-failed", "--kinds", "lazy")[0] == 2
    dry = json.loads(verb("resume", first["run"], "--retry-failed", "--kinds", "refused", "--dry-run", "--json")[1])
    assert any(re.match(r"and what \d+ failed items? ha(s|ve) to be asked anew", note) for note in dry["notes"])
    assert "status" not in dry
    code, out, err = verb("resume", first["run"], "--retry-failed", "--kinds", "refused", "--json")
    assert code == 0, err
    again = json.loads(out)
    assert again["status"] == "done"
    assert again["models"]["sim/strong"]["coverage"] == 1
    _, exported, _ = verb("export", first["run"])
    retried = [row for row in map(json.loads, exported.splitlines()) if row["attempt"]]
    assert retried
    _, shown, _ = verb("show", first["run"], "--sample", retried[0]["id"])
    assert "Asked anew" in shown
    assert "before attempt 1: refused: sim/strong refused: " in shown
