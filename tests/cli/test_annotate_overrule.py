"""`annotate overrule` as a user runs it: a verdict corrected, a sample left out, taken back, refused, and through a service."""

import json
import shutil
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.client import Client
from tests.report import conftest as reports
from tests.report.conftest import Finished
from tests.service.conftest import at_address, service_over

small = reports.small
WEAK = "sim/weak"


@pytest.fixture
def done(small: Finished, tmp_path: Path) -> Finished:
    """A copy of a finished evaluation, to be corrected."""
    shutil.copytree(small.home, tmp_path / "home")
    return small._replace(home=tmp_path / "home")


def wrong_of(done: Finished, capsys: pytest.CaptureFixture[str]) -> str:
    """A sample to which the weak model's answer is wrong."""
    capsys.readouterr()
    assert run(["export", done.run, "--home", str(done.home)]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    return str(next(row["id"] for row in rows if row["model"] == WEAK and row["verdict"] == "wrong"))


def test_a_verdict_is_corrected_and_taken_back(done: Finished, capsys: pytest.CaptureFixture[str]) -> None:
    """The verb says what changed, `show` says how much was corrected, and after both are taken back it prints the same bytes."""
    home = ["--home", str(done.home)]
    sample = wrong_of(done, capsys)
    assert run(["show", done.run, *home]) == 0
    before = capsys.readouterr().out
    verb = ["annotate", "overrule", done.run, sample, *home, "--who", "anna"]
    assert run([*verb, "--model", WEAK, "--answer", "right", "--criterion", "1=0", "--reason", "It says so."]) == 0
    assert "answer: wrong → right" in capsys.readouterr().out
    assert run([*verb, "--leave-out", "--reason", "The reference is wrong.", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["who"] == "anna"
    assert run(["show", done.run, *home]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "People corrected 0 of 40 answers, and left 1 sample out of all figures: anna (1)" in shown
    assert run(["show", done.run, "--sample", sample, *home]) == 0
    assert "left out of all figures by anna" in " ".join(capsys.readouterr().out.split())
    assert run([*verb, "--leave-out", "--undo"]) == 0
    assert run([*verb, "--model", WEAK, "--undo"]) == 0
    capsys.readouterr()
    assert run(["show", done.run, *home]) == 0
    assert capsys.readouterr().out == before


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--model", WEAK, "--answer", "right"], "a reason is needed"),
        (["--model", WEAK, "--criterion", "one", "--reason", "x"], "NUMBER=SCORE"),
        (["--model", WEAK, "--criterion", "99=1", "--reason", "x"], "there are criteria 1 to"),
        (["--model", "nobody", "--answer", "right", "--reason", "x"], "no answer of nobody"),
        (["--leave-out", "--undo"], "nothing to take back"),
    ],
)
def test_misuse_says_what_is_wrong(
    done: Finished, capsys: pytest.CaptureFixture[str], options: list[str], fault: str
) -> None:
    """A missing reason, a criterion or model that there is not, nothing to undo: one sentence and exit code 2."""
    sample = wrong_of(done, capsys)
    assert run(["annotate", "overrule", done.run, sample, "--home", str(done.home), *options]) == 2
    assert fault in " ".join(capsys.readouterr().err.split())


def test_a_service_is_told_by_verb_and_client(done: Finished, capsys: pytest.CaptureFixture[str]) -> None:
    """With --server, and from Python, the same is kept under the person's name, and the service's figures count it."""
    sample = wrong_of(done, capsys)
    with service_over(done.home) as service, at_address(service) as url:
        verb = ["annotate", "overrule", done.run, sample, "--server", url, "--model", WEAK]
        assert run([*verb, "--answer", "right", "--reason", "It says so.", "--who", "ben"]) == 0
        with Client(url, who="cara") as client:
            found = client.find(done.run)
            found.overrule(sample, model=WEAK, criteria={"1": 5, "2": 5}, reason="both are there")
            assert [one["who"] for one in found.corrections()] == ["ben", "cara"]
            assert found.figures()["corrections"]["answers"] == 1
