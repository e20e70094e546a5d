"""The exit code of every way in which a run can end, and the one form of every error."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_described, write_world
from tests.killing import committed, held_back
from tests.processes import PATIENCE, environment, start_program

CONFIG = """
[models.J]
model = "openai/sim/judge"
api_base = "{url}"
transport = "direct"
max_concurrency = 8
[models.KEYED]
model = "openai/sim/judge"
api_base = "{url}"
api_key_env = "A_KEY_THAT_IS_NOT_SET"
[models.WRONG]
model = "openai/sim/nonsense"
api_base = "{url}"
transport = "direct"
"""
Verb = Callable[..., tuple[int, str, str]]


@pytest.fixture
def world(tmp_path: Path) -> Path:
    path = tmp_path / "world.jsonl"
    write_world(path, 7, 5)
    return path


@pytest.fixture
def verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verb:
    """Runs a verb in a home of its own; returns exit code, standard output, and standard error with spaces as one."""

    def do(*words: object) -> tuple[int, str, str]:
        code = run([*map(str, words), "--home", str(tmp_path / "home")])
        said = capsys.readouterr()
        return code, said.out, " ".join(said.err.split())

    return do


def statuses(verb: Verb) -> list[str]:
    return [one["status"] for one in json.loads(verb("runs", "--json")[1])]


def test_a_name_that_is_unknown_stops_the_run_and_the_same_command_tries_again(
    verb: Verb, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first few calls say so on one line, exit 1; the run is failed and never passes for complete."""
    monkeypatch.chdir(tmp_path)
    asked = ("evaluate", world, "--judge", "WRONG", "--models", "sim/strong")
    with running_server() as url:
        Path("dokimasia.toml").write_text(CONFIG.format(url=url))
        for _ in range(2):
            code, _, said = verb(*asked)
            assert code == 1
            assert said.count("error:") == 1
            assert "error: WRONG cannot be reached: not_found" in said
            assert "the run was complete" not in said
        assert statuses(verb) == ["failed"]
        code, _, said = verb(*asked, "--max-failures", "100%")
    assert code == 0, "whatever fails is allowed"
    assert statuses(verb) == ["done"]


def test_keys_and_names_behind_a_server(
    verb: Verb, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unset key is found before anything is sent, in a dry run, too; a 404 stops the run; then all goes on."""
    monkeypatch.chdir(tmp_path)
    with running_server() as url:
        Path("dokimasia.toml").write_text(CONFIG.format(url=url))
        asked = ("evaluate", world, "--models", "sim/strong", "--judge")
        for words in ((), ("--dry-run",), ("--dry-run", "--json")):
            code, shown, said = verb(*asked, "KEYED", *words)
            assert (code, bool(shown)) == (2, bool(words))
            assert "A_KEY_THAT_IS_NOT_SET is not set" in said
        assert verb(*asked, "KEYED", "--name", "first")[0] == 2
        assert statuses(verb) == [], "no run is made, and no name is taken"
        code, _, said = verb(*asked, "WRONG")
        assert code == 1
        assert "WRONG cannot be reached: not_found (status 404)" in said
        monkeypatch.setenv("A_KEY_THAT_IS_NOT_SET", "sk-something-set-now")
        assert verb(*asked, "KEYED", "--dry-run")[0] == 0
        assert verb("resume", "last")[0] == 1, "the newest unfinished run is still the one of the wrong name"
        assert verb(*asked, "KEYED")[0] == 0
    assert statuses(verb) == ["done", "failed"]


def test_a_missing_key_of_a_provider_makes_no_run(verb: Verb, world: Path) -> None:
    """The variable of a provider is named before anything is stored, also where a fork asks a model anew."""
    asked = ("evaluate", world, "--models", "sim/strong", "--name", "mine", "--judge")
    code, shown, said = verb(*asked, "openai/gpt-5")
    assert (code, shown) == (2, "")
    assert said.startswith("error: model openai/gpt-5: OPENAI_API_KEY is not set in the environment")
    assert statuses(verb) == []
    assert verb(*asked, "sim/judge")[0] == 0
    code, _, said = verb("fork", "mine", "--from", "score", "--judge", "openai/gpt-5")
    assert (code, "OPENAI_API_KEY is not set" in said) == (2, True)
    assert statuses(verb) == ["done"]


def test_a_resume_that_is_refused_changes_nothing(
    verb: Verb, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its key a run says that alone, and no plan; one that was interrupted stays so, and no new one is made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_KEY_THAT_IS_NOT_SET", "sk-something-set-now")
    with running_server() as url:
        Path("dokimasia.toml").write_text(CONFIG.format(url=url))
        asked = ("evaluate", world, "--models", "sim/strong", "--judge", "KEYED")
        assert verb(*asked, "--max-calls", "3")[0] == 4
        monkeypatch.delenv("A_KEY_THAT_IS_NOT_SET")
        for words in (("resume", "last"), asked):
            code, _, said = verb(*words)
            assert code == 2
            assert said.startswith("error: model KEYED: the environment variable A_KEY_THAT_IS_NOT_SET is not set")
            assert statuses(verb) == ["interrupted"]
        code, _, said = verb(*asked, "--limit", "2")
        assert (code, said.startswith("error:")) == (2, True)
        assert statuses(verb) == ["interrupted"]
        monkeypatch.setenv("A_KEY_THAT_IS_NOT_SET", "sk-something-set-now")
        assert verb(*asked)[0] == 0
    assert statuses(verb) == ["done"]


def test_a_dry_run_knows_the_keys_of_providers(verb: Verb, world: Path) -> None:
    """The variable that a provider's own key stands in is named where it is not set."""
    code, _, said = verb("evaluate", world, "--judge", "openai/gpt-5", "--models", "sim/strong", "--dry-run")
    assert code == 2
    assert "model openai/gpt-5: OPENAI_API_KEY is not set" in said


def test_failures_above_what_may_be(verb: Verb, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """3 where all items of a model failed, or more than --max-failures allows, with their kinds; 0 where it allows them."""
    monkeypatch.chdir(tmp_path)
    with running_server(faults=parse_faults("content_filter=1")) as url:
        Path("dokimasia.toml").write_text(CONFIG.format(url=url))
        asked = ("evaluate", world, "--judge", "sim/judge", "--models", "J,sim/strong,sim/weak")
        code, shown, said = verb(*asked, "--json")
        assert json.loads(shown)["models"]["J"]["failed_answers"] == {"refused": 7}
        assert code == 3
        assert "7 of 28 items failed, all of J (refused 7)" in said
        assert f"dokimasia resume {json.loads(shown)['run']} --home {tmp_path / 'home'} --retry-failed` asks" in said
        for limit, expected in (("7", 0), ("6", 3), ("25%", 0), ("24.9%", 3), ("few", 2)):
            assert verb(*asked, "--max-failures", limit)[0] == expected, limit
        code, _, said = verb("evaluate", world, "--judge", "J", "--models", "sim/strong")
        assert code == 3
        assert statuses(verb) == ["done", "done"], "what models reply is a result, and is not asked again"


def test_spending_and_thresholds(verb: Verb, world: Path) -> None:
    """4 where a limit on spending leaves items open, then 0; 5 where a model is below what is asked, with its figure."""
    asked = ("evaluate", world, "--judge", "sim/judge", "--models", "sim/strong,sim/weak")
    code, _, said = verb(*asked, "--max-calls", "5")
    assert code == 4
    assert "dokimasia resume" in said
    assert statuses(verb) == ["interrupted"]
    assert verb("resume", "last")[0] == 4, "a limit stays"
    assert verb("resume", "last", "--max-calls", "none")[0] == 0
    code, shown, said = verb(*asked, "--min-score", "4.99", "--json")
    models = json.loads(shown)["models"]
    assert code == 5
    assert f"sim/weak has {models['sim/weak']['score']['mean']:.4g}, below --min-score 4.99" in said
    assert verb(*asked, "--min-accuracy", "1")[0] == 5
    assert verb(*asked, "--min-score", "1", "--min-accuracy", "0")[0] == 0
    assert verb("resume", "last", "--min-score", "4.99")[0] == 5, "where none is unfinished it is the newest"


def test_commands_that_are_told_find_the_same_place(
    verb: Verb, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a report, an error and a sentence alike a command on a run has --home and --config where these were given."""
    asked = ("--judge", "sim/judge", "--models", "sim/weak")
    config, scenes = tmp_path / "other.toml", tmp_path / "scenes.jsonl"
    config.touch()
    write_described(scenes, 3, 5)
    place = f"--home {tmp_path / 'home'} --config {config}"
    code, _, said = verb("evaluate", world, *asked, "--max-calls", "5", "--config", config)
    [again] = [f"dokimasia resume {one['id']}" for one in json.loads(verb("runs", "--json")[1])]
    assert (code, f"Continue with: {again} {place} (with" in said) == (4, True)
    code, _, said = verb("modes", "last", "--judge", "sim/judge", "--config", config)
    assert (code, said.endswith(f"{again} {place}")) == (2, True), said
    _, shown, _ = verb("review", scenes, "--panel", "sim/panel-a,sim/panel-b,sim/panel-c", "--config", config)
    [check] = re.findall(r"dokimasia decide \w+", shown)
    assert f"{check} {place}\n" in shown
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOKIMASIA_HOME", str(tmp_path / "home"))
    assert run(["show", check.rpartition(" ")[2]]) == 0
    assert f"{check}\n" in capsys.readouterr().out, "who gave no option needs none"


@pytest.mark.parametrize("step", ["score", "extract_criteria"])
def test_a_fork_whose_judge_is_slow(
    verb: Verb, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Stopped by a limit and resumed it is done, never stays running, and comes to what one that was not stopped does."""
    monkeypatch.chdir(tmp_path)
    asked = ("--judge", "sim/judge-noisy", "--models", "sim/strong,sim/weak", "--limit", "3")
    assert verb("evaluate", world, *asked, "--name", "base")[0] == 0
    with running_server(latency=0.5) as url:
        Path("dokimasia.toml").write_text(CONFIG.format(url=url))
        fork = ("fork", "base", "--from", step, "--judge", "J", "--json")
        assert verb(*fork, "--max-calls", "2")[0] == 4
        assert statuses(verb) == ["interrupted", "done"]
        code, resumed, said = verb("resume", "last", "--max-calls", "none", "--json")
        assert code == 0, said
        assert statuses(verb) == ["done", "done"]
        again, whole, _ = verb(*fork)
        assert (again, whole) == (0, resumed)
    assert json.loads(resumed)["judge"] == "J"


def test_an_undecided_answer_is_not_right(verb: Verb, world: Path, tmp_path: Path) -> None:
    """By rules alone a threshold goes by strict accuracy, of which an undecided answer is no right one."""
    lines = [json.loads(line) for line in world.read_text().splitlines()][:4]
    answers = tmp_path / "answers.jsonl"
    said = [f"Final answer: {one['reference_answer']}" for one in lines[:2]] + [
        "It looks much like that.",
        "Something else.",
    ]
    rows = [{"id": one["id"], "model": "m", "response": text} for one, text in zip(lines, said, strict=True)]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = ("evaluate", world, "--limit", "4", "--responses", answers, "--max-failures", "100%")
    code, shown, _ = verb(*asked, "--min-accuracy", "0.6", "--json")
    accuracy = json.loads(shown)["models"]["m"]["strict_accuracy"]
    assert (accuracy["share"], accuracy["bounds"]["low"], accuracy["upper"]) == (0.5, 0.5, 1.0)
    assert code == 5
    assert verb(*asked, "--min-accuracy", "0.5")[0] == 0


def test_last_is_the_newest_run_that_the_verb_can_use(verb: Verb, world: Path) -> None:
    """A newer run of another kind, or one that is finished or not, is passed over."""
    asked = ("evaluate", world, "--judge", "sim/judge", "--models", "sim/weak,sim/strong")
    evaluated = json.loads(verb(*asked, "--json")[1])["run"]
    verb("filter", world, "--judge", "sim/judge", "--max-calls", "2")
    assert statuses(verb) == ["interrupted", "done"]
    code, refined, said = verb("refine", "last", "--json", "--models", "sim/weak")
    assert code == 0, said
    assert json.loads(refined)["source"] == evaluated
    code, _, said = verb("resume", "last", "--max-calls", "none", "--json")
    assert code == 0, said
    code, _, said = verb("resume", "last")
    assert (code, "nothing was asked" in said) == (0, True), "where none is unfinished it is the newest"
    assert verb("diff", "last", "last")[0] == 2, "nothing of the kind to compare it with"
    code, forked, said = verb("fork", "last", "--judge", "sim/judge-noisy", "--json")
    assert code == 0, said
    assert json.loads(forked)["judge"] == "sim/judge-noisy"


def test_runs_have_names_and_tags(verb: Verb, world: Path) -> None:
    """A name serves as an id, moves to the run that is given it last, and tags find runs."""
    first = ("evaluate", world, "--judge", "sim/judge", "--models", "sim/weak", "--limit", "2")
    second = (*first[:-1], "3")
    assert verb(*first, "--name", "base", "--tag", "ci")[0] == 0
    assert verb(*second, "--tag", "ci", "--tag", "big")[0] == 0
    shown = json.loads(verb("runs", "--tag", "ci", "--json")[1])
    assert [(one["name"], one["tags"]) for one in shown] == [("", ["big", "ci"]), ("base", ["ci"])]
    assert [one["id"] for one in json.loads(verb("runs", "--tag", "ci", "--tag", "big", "--json")[1])] == [
        shown[0]["id"]
    ]
    assert json.loads(verb("show", "base", "--json")[1])["run"] == shown[1]["id"]
    assert verb(*second, "--name", "base")[0] == 2, "another run has the name"
    assert verb(*second, "--name", "base", "--force")[0] == 0, "it is finished, and takes the name"
    assert json.loads(verb("show", "base", "--json")[1])["run"] == shown[0]["id"]
    assert "base" in verb("runs")[1]
    assert verb(*second, "--name", "last")[0] == verb(*second, "--name", "a/b")[0] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("evaluate",), "error: Missing argument 'DATA...'; see `dokimasia evaluate --help`"),
        (("evaluate", "--nonsense"), "error: No such option '--nonsense'"),
        (("tree", "nonsense"), "error: No such command 'nonsense'"),
        (("nonsense",), "error: no command 'nonsense'"),
        (("fork",), "error: Missing argument 'RUN'"),
        (("gate", "last"), "error: Missing options '--baseline', '--max-drop'; see `dokimasia gate --help`"),
        (
            ("evaluate", "pyproject.toml", "--models", "sim/strong", "sim/weak"),
            "error: Invalid value for 'DATA...': Path 'sim/weak' does not exist; several models are separated by commas: "
            "--models A,B; see",
        ),
        (
            ("evaluate", "pyprojet.toml"),
            "error: Invalid value for 'DATA...': Path 'pyprojet.toml' does not exist; did you mean",
        ),
        (
            ("evaluate", "pyproject.toml", "--max-cost", "lots"),
            "error: Invalid value for '--max-cost': 'lots' is not a number of",
        ),
        (
            ("evaluate", "pyproject.toml", "--max-cost", "-1"),
            "error: Invalid value for '--max-cost': -1 is not an amount of US dollars: 0 or more",
        ),
        (
            ("data", "nonsense"),
            "error: No such command 'nonsense'; there are captions, check; see `dokimasia data --help`",
        ),
    ],
)
def test_usage_errors_have_the_form_of_every_error(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that begins with error:, without a block of usage above it; exit code 2."""
    assert run(list(words)) == 2
    err = capsys.readouterr().err
    assert err.startswith(said)
    assert err.count("\n") == 1


@pytest.mark.parametrize("place", ["/dev/null/home", "/proc/home", "{file}/home", "/{long}"])
def test_an_impossible_home_is_said_to_be_one(
    place: str, world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no home can be, writing and reading end with exit code 2 and the place's name."""
    home = place.format(file=world, long="x" * 300)
    asked = ["evaluate", str(world), "--judge", "sim/judge", "--models", "sim/strong"]
    for words, said in (
        (asked, "there can be no home at"),
        (["demo"], "there can be no home at"),
        (["runs"], "no home"),
    ):
        assert run([*words, "--home", home]) == 2, words
        err = capsys.readouterr().err
        assert said in err
        assert home in err


def test_an_empty_home_is_none(
    tmp_path: Path, world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--home "$UNSET"` is the default home, as an empty DOKIMASIA_HOME is, and never the working folder."""
    folder = tmp_path / "working"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DOKIMASIA_HOME", "")
    words = ["evaluate", str(world), "--judge", "sim/judge", "--models", "sim/strong", "--home", ""]
    assert run(words) == 0, capsys.readouterr().err
    assert [one.name for one in folder.iterdir()] == [".dokimasia"]


def test_a_stop_is_kept_where_nobody_reads_errors_any_more(tmp_path: Path, world: Path) -> None:
    """SIGTERM with standard error a dead pipe: the run stops after the calls in flight, with exit code 130."""
    home = tmp_path / "home"
    with running_server(latency=0.3) as url:
        (tmp_path / "dokimasia.toml").write_text(CONFIG.format(url=url))
        asked = ("evaluate", world, "--judge", "J", "--models", "sim/strong,sim/weak", "--home", home)
        words = [sys.executable, "-m", "dokimasia", *map(str, asked)]
        process = subprocess.Popen(
            words, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        process.stderr.close()
        with held_back(home, at=4):
            while process.poll() is None and committed(home) < 4:
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
        code = process.wait(PATIENCE)
    assert code == 130
    assert 4 <= committed(home) < 40
    assert json.loads(_runs(home, tmp_path))[0]["status"] == "interrupted"


def _runs(home: Path, folder: Path) -> str:
    return start_program(("runs", "--json", "--home", home), folder).ended().stdout


def test_a_killed_run_is_interrupted_for_readers(tmp_path: Path, world: Path) -> None:
    """While its process lives a run is listed as running, and once it was killed as interrupted; nothing is written."""
    home = tmp_path / "home"
    with running_server(latency=0.3) as url:
        (tmp_path / "dokimasia.toml").write_text(CONFIG.format(url=url))
        asked = ("evaluate", world, "--judge", "J", "--models", "sim/strong,sim/weak", "--home", home)
        process = start_program(asked, tmp_path)
        assert process.until(lambda: committed(home) >= 4)
        assert json.loads(_runs(home, tmp_path))[0]["status"] == "running"
        process.kill()
    before = (home / "dokimasia.db").read_bytes(), (home / "lock").read_bytes()
    assert json.loads(_runs(home, tmp_path))[0]["status"] == "interrupted"
    assert ((home / "dokimasia.db").read_bytes(), (home / "lock").read_bytes()) == before


@pytest.mark.parametrize("moved", [True, False], ids=["moved", "deleted"])
def test_a_home_that_goes_away_stops_the_run(tmp_path: Path, world: Path, *, moved: bool) -> None:
    """The run notices though no reply comes, sends no more, and says what happened to the home: exit code 1."""
    home, log = tmp_path / "home", tmp_path / "log.jsonl"
    with running_server(latency=0.3, log_path=log) as url:
        (tmp_path / "dokimasia.toml").write_text(CONFIG.format(url=url))
        asked = ("evaluate", world, "--judge", "J", "--models", "sim/strong,sim/weak", "--home", home)
        process = start_program(asked, tmp_path)
        with held_back(home, at=4):
            assert process.until(lambda: committed(home) >= 4)
            if moved:
                os.rename(home, tmp_path / "elsewhere")
            while home.exists():  # a file that is written meanwhile keeps its folder
                shutil.rmtree(home, ignore_errors=True)
        ended = process.ended()
    assert ended.returncode == 1, ended.stderr
    assert f"{home} was deleted or moved while the run was under way" in ended.stderr
    assert len(log.read_text().splitlines()) < 40
    assert not home.exists()


def test_a_reader_that_goes_away_ends_the_program_as_sigpipe_does(verb: Verb, world: Path, tmp_path: Path) -> None:
    """`show | head` and `show --json | head` end with 141 and say nothing, whether little or much was still to be written."""
    assert verb("evaluate", world, "--judge", "sim/judge", "--models", "sim/weak")[0] == 0
    for more in ([], ["--json"]):
        reader, writer = os.pipe()
        os.close(reader)
        words = [sys.executable, "-m", "dokimasia", "show", "last", *more, "--home", str(tmp_path / "home")]
        done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, env=environment(), check=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, b"")


def test_the_name_that_runs_shows_leads_to_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """`schema duels` is refused with the method's own name."""
    assert run(["schema", "duels"]) == 2
    assert "`dokimasia schema duel`" in " ".join(capsys.readouterr().err.split())


def test_what_was_loaded_is_not_looked_through_at_the_end() -> None:
    """When the program ends, what it holds is no garbage to look for: with LiteLLM and LangGraph that takes seconds."""
    script = "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count())); "
    script += "from dokimasia.__main__ import main; main(['--version'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=True)
    assert int(done.stdout.split()[-1]) > 1000
