"""A run that was stopped: what is left of it, and what is said where nothing is scored yet."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.errors import Interrupted
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs.reachability import Stop
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_world

Verb = Callable[..., tuple[int, str, str]]
ASKED = ("evaluate", "world.jsonl", "--judge", "sim/judge", "--models", "sim/strong,sim/weak")


@pytest.fixture
def verb(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verb:
    """Runs a verb on a home of its own and returns its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world.jsonl", 6, 2)

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([*map(str, arguments), "--home", str(tmp_path / "home")])
        said = capfd.readouterr()
        return code, said.out, said.err

    return call


def stop_after(calls: int, folder: Path) -> None:
    """Ask for the run and stop it after so many calls, as Ctrl-C does."""
    stop = Stop()
    transport = CountingTransport(SimTransport(), stop=stop.ask, stop_after=calls)
    request = EvaluationRequest.model_validate(
        {"data": folder / "world.jsonl", "judge": "sim/judge", "models": ("sim/strong", "sim/weak")}
    )
    settings = Settings(home=folder / "home")
    with pytest.raises(Interrupted):
        asyncio.run(evaluate(request, settings=settings, stop=stop, transports={"sim": transport}))


def test_what_is_left_is_said(verb: Verb) -> None:
    """After an interruption the same command tried out, and resume, say what is answered and what is left at most."""
    whole = json.loads(verb(*ASKED, "--dry-run", "--json")[1])
    assert "answered" not in whole
    assert verb(*ASKED, "--max-calls", 24)[0] == 4
    shown = json.loads(verb(*ASKED, "--dry-run", "--json")[1])
    answered, left = shown["answered"], shown["calls"] + shown["undecided"]["calls"]
    assert 0 < answered <= 24
    table = " ".join(verb("show", "last")[1].split())
    assert "answers have no verdict, and over all answers it is" in table
    assert "bounds" in table
    models = json.loads(verb("show", "last", "--json")[1])["models"].values()
    assert any(model.get("left_open", {}).get("budget") for model in models)
    assert not any("budget" in {**model["failures"], **model["failed_answers"]} for model in models)
    assert (shown["run"], shown["samples"], shown["followed"]) == (whole["run"], whole["samples"], whole["samples"])
    assert shown["calls"] < whole["calls"]
    assert shown["in_ledger"] >= 24
    assert "calls in the ledger or not needed" in verb(*ASKED, "--dry-run")[1]
    limited = json.loads(verb("resume", "last", "--dry-run", "--json")[1])
    (note,) = limited["notes"]
    assert re.match(
        r"the limit of 24 calls is likely to stop this run before its end, which needs about \d+ calls", note
    )
    resumed = json.loads(verb("resume", "last", "--max-calls", "none", "--dry-run", "--json")[1])
    assert resumed == shown, "resume is counted as the same command is"
    assert verb("resume", "last", "--max-calls", "none", "--dry-run")[1] == verb(*ASKED, "--dry-run")[1]
    assert "prompt" in verb("resume", "last", "--show-prompts")[1]
    code, _, err = verb("resume", "last", "--max-calls", "none")
    assert code == 0
    assert f"about {shown['calls']} calls left (" in err
    assert f"{answered} calls made already" in err
    assert int(re.findall(r"(\d+) calls? answered by models", err)[0]) <= left
    assert "is finished: the same command prints what came of it" in verb(*ASKED, "--dry-run")[1]


def test_a_dry_run_of_resume_needs_no_data_and_changes_nothing(verb: Verb, tmp_path: Path) -> None:
    """It begins with the cost, also where the data file is gone; of a finished run it says so."""
    assert verb(*ASKED, "--max-calls", 24)[0] == 4
    (tmp_path / "world.jsonl").unlink()
    before = verb("runs", "--json")[1]
    first = verb("resume", "last", "--dry-run")[1].splitlines()[0]
    assert re.match(r"estimated cost \$0\.00: 6 samples, about \d+ calls?$", first), "it begins with the cost"
    assert verb("runs", "--json")[1] == before
    assert verb("resume", "last", "--max-calls", "none")[0] == 0
    assert "is finished: the same command prints what came of it" in verb("resume", "last", "--dry-run")[1]


def test_a_run_without_a_score_says_so(verb: Verb, tmp_path: Path) -> None:
    """Stopped before the first score, a run shows no empty table, and `diff` says that it has nothing to compare yet."""
    stop_after(2, tmp_path)
    stopped = json.loads(verb("show", "last", "--json")[1])
    assert stopped["models"] == {}
    code, out, _ = verb("show", "last")
    assert code == 0
    assert "Nothing is scored yet: 0 answers have a result; criteria of 0 of 6 samples are there." in " ".join(
        out.split()
    )
    assert re.search(rf"dokimasia resume {stopped['run']} --home \S+ goes on", out), "no line ends within the command"
    assert "95 % interval" not in out
    assert verb("evaluate", "world.jsonl", "--models", "sim/strong")[0] in (0, 3)
    code, _, err = verb("diff", stopped["run"], stopped["run"], "--models", "sim/strong,sim/weak")
    assert code == 2
    assert f"run {stopped['run']} has no result to compare yet; it is interrupted: dokimasia resume" in err


def test_a_limit_before_the_first_score_is_said(verb: Verb) -> None:
    """Where nothing is scored, no model is the least covered one, what is open is counted, and nobody interrupted the run."""
    code, out, err = verb(*ASKED, "--max-calls", 5)
    assert code == 4
    assert re.search(r"note: the limit of 5 calls is likely to stop this run before its end", err)
    assert re.search(r"at most \d+ calls more where no rule decides an answer", err)
    text = " ".join(out.split())
    assert "None of 12 answers has a score (12 budget)." in text
    assert "least covered" not in text
    assert "This run stopped before its end" in text
    assert "failed" not in text
    assert "5 of at most 5 requests spent so far. Raise it by a larger --max-calls" in err


def test_what_is_said_in_passing(verb: Verb) -> None:
    """A threshold that cannot be read, a tag that no run has and an option without bounds are said in plain words."""
    code, _, err = verb(*ASKED, "--max-failures", "lots")
    assert (code, "--max-failures: 'lots' cannot be read; write N or N%" in err) == (2, True)
    assert verb(*ASKED)[0] == 0
    assert "no runs with the tag nonsense in" in verb("runs", "--tag", "nonsense")[1]
    assert "x<=None" not in verb("evaluate", "--help")[1]
