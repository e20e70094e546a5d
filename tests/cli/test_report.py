"""The verb `report`: where it writes, what it prints, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.world import write_world

Verb = Callable[..., tuple[int, str, str]]


@pytest.fixture
def verb(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verb:
    """Runs a verb on a home of its own and returns its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([*map(str, arguments), "--home", "home"])
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


def test_a_report_is_written_and_its_path_printed(verb: Verb, evaluated: str, tmp_path: Path) -> None:
    """By default a page in the home; a file's ending or the option chooses Markdown; nothing unfinished stays."""
    code, out, err = verb("report", evaluated[:6])
    page = tmp_path / "home" / "reports" / f"{evaluated}.html"
    assert (code, out, err) == (0, f"{page}\n", "")
    first = page.read_bytes()
    assert first.startswith(b"<!doctype html>")
    assert verb("report", evaluated)[0] == 0
    assert page.read_bytes() == first
    code, out, _ = verb("report", evaluated, "-o", "report.md", "--samples", "1")
    assert (code, out) == (0, "report.md\n")
    assert (tmp_path / "report.md").read_text().startswith("> Simulated models")
    code, out, _ = verb("report", evaluated, "--format", "md")
    assert out == f"{page.with_suffix('.md')}\n"
    assert [path.suffix for path in sorted((tmp_path / "home" / "reports").iterdir())] == [".html", ".md"]


def test_a_report_goes_to_standard_output(verb: Verb, evaluated: str, tmp_path: Path) -> None:
    """`-o -` prints the report, as Markdown or as --format says, and leaves no file; another format is refused."""
    code, out, err = verb("report", evaluated, "-o", "-")
    assert (code, err) == (0, "")
    assert out.startswith("> Simulated models")
    code, out, _ = verb("report", evaluated, "-o", "-", "--format", "html")
    assert out.startswith("<!doctype html>")
    assert not (tmp_path / "-").exists()
    assert verb("report", evaluated, "-o", "-", "--json")[0] == 2
    code, _, err = verb("report", evaluated, "-o", "report.pdf")
    assert code == 2
    assert "report.pdf: a report is a page (.html) or Markdown (.md)" in err


def test_machines_are_told_what_was_written(verb: Verb, evaluated: str, tmp_path: Path) -> None:
    """With --json the path, the size and the number of samples shown are printed as JSON."""
    code, out, err = verb("report", evaluated, "--samples", "2", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told == {
        "run": evaluated,
        "path": str(tmp_path / "home" / "reports" / f"{evaluated}.html"),
        "bytes": Path(told["path"]).stat().st_size,
        "shown": 2,
        "samples": 3,
    }


def test_what_is_left_out_is_said(verb: Verb, evaluated: str) -> None:
    """A person learns that the report shows a part of the samples, and how to see more."""
    _, out, err = verb("report", evaluated, "--samples", "1")
    assert "1 of 3 samples" in err
    assert out.endswith(".html\n")


def test_mistakes_are_the_users(verb: Verb, evaluated: str, tmp_path: Path) -> None:
    """A run that there is not, and a file that cannot be written, end with code 2 and leave nothing behind."""
    assert verb("report", "zzz")[0] == 2
    code, _, err = verb("report", evaluated, "-o", "nowhere/report.html")
    assert code == 2
    assert "nowhere/report.html cannot be written" in err
    assert not (tmp_path / "nowhere").exists()


def test_the_report_names_the_version_that_accepted_the_run(verb: Verb, evaluated: str, tmp_path: Path) -> None:
    """What ran is named with the version of the package, the prompts with version and hash, and no path of the machine."""
    from dokimasia import __version__

    verb("report", evaluated, "-o", "report.md")
    text = (tmp_path / "report.md").read_text()
    assert f"Accepted by: Dokimasia {__version__}" in text
    assert "| checkpoints | " in text
    assert str(tmp_path) not in text
