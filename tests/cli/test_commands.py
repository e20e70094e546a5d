"""What the verbs print and how they fail, for people and for machines."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from dokimasia.cli.main import VERBS, run
from dokimasia.storage.home import Home
from tests.cli.conftest import Program
from tests.processes import ROOT, environment, start_program

HEAVY = ("litellm", "langgraph", "langchain_core", "plotly", "pydantic", "numpy", "sqlite_utils", "PIL", "aiohttp")
SIM = ("--judge", "sim/judge", "--models", "sim/strong,sim/weak")


def test_help_loads_nothing_heavy() -> None:
    """The first screen of help imports no library that a verb may need."""
    code = (
        "import sys\nfrom dokimasia.cli.main import run\nassert run(['--help']) == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert ran.stderr.strip() == "[]"
    assert all(verb in ran.stdout for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each verb has a help of its own and exists under the name that the list gives it."""
    assert run([verb, "--help"]) == 0
    assert "Usage: dokimasia " + verb in capsys.readouterr().out


def test_python_m_is_the_same_program() -> None:
    """`python -m dokimasia` prints the version that the package has."""
    asked = [sys.executable, "-m", "dokimasia", "--version"]
    ran = subprocess.run(asked, capture_output=True, text=True, check=True, env=environment())
    assert ran.stdout.startswith("dokimasia 0.")


def test_without_what_it_needs_it_says_so(tmp_path: Path) -> None:
    """Where its dependencies are not installed, one sentence names what is missing and how to install it; exit code 2."""
    asked = [sys.executable, "-S", "-m", "dokimasia", "runs"]
    ran = subprocess.run(
        asked, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT)}, cwd=tmp_path
    )
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith("error: click is not installed for this Python")
    assert "pip install ." in ran.stderr


def test_a_misspelt_verb_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """A typo costs one line and exit code 2."""
    assert run(["evalaute"]) == 2
    assert capsys.readouterr().err == "error: no command 'evalaute'; did you mean 'evaluate'? See `dokimasia --help`\n"
    assert run(["evaluate", "data.jsonl", "--jugde", "J"]) == 2
    assert (
        "No such option '--jugde'; did you mean '--judge'? See `dokimasia evaluate --help`" in capsys.readouterr().err
    )
    assert run(["--home", "home", "runs"]) == 2
    assert "dokimasia has no option --home; write it after the command that takes it" in capsys.readouterr().err


def distance(planted: float, measured: float, figure: dict[str, float]) -> float:
    """How far a planted value lies from the measured one, as a part of the way to the end of the interval on that side."""
    if planted == measured:
        return 0.0
    return (planted - measured) / (figure["high" if planted > measured else "low"] - measured)


def test_the_demo_holds_the_measurement_against_the_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The demo has measured and planted figures of every simulated model; intervals of 95 % contain the truth, but for chance.

    Of so many intervals one may miss whatever the seed: few do, and none by as much again as it is wide.
    """
    demo = ["demo", "--samples", "35", "--home", str(tmp_path / "home")]
    assert run([*demo, "--json"]) == 0
    first = capsys.readouterr()
    shown = json.loads(first.out)
    assert len(shown["planted"]) == 5
    distances: dict[tuple[str, ...], float] = {}
    for name, expected in shown["planted"].items():
        score = shown["models"][name]["score"]
        distances[name,] = distance(expected, score["mean"], score)
        assert shown["models"][name]["coverage"] >= 0.95
    refined = shown["refinement"]
    assert list(refined["planted"]) == ["sim/hasty", "sim/weak"]
    for name, arms in refined["planted"].items():
        for arm, expected in arms.items():
            accuracy = refined["models"][name]["arms"][arm]["accuracy"]
            distances[name, arm] = distance(expected, accuracy["share"], accuracy)
    probed = shown["probe"]["tasks"]["image-to-text"]["judges"]
    for judge, evaluators in shown["probe"]["planted"].items():
        for evaluator, expected in evaluators.items():
            missed = probed[judge]["evaluators"][evaluator]["undetected"]
            distances[judge, evaluator] = distance(expected[""], missed["share"], missed)
    assert len(distances) == 15
    assert max(distances.values()) < 2, distances
    assert sum(value > 1 for value in distances.values()) <= 3, distances
    assert run(demo) == 0
    text = capsys.readouterr()
    assert text.out.startswith("Simulated models:")
    assert "planted" in text.out
    assert "where each model is significantly weaker than it is elsewhere" in text.out, "other than the leaves below it"
    assert "nothing was asked" in text.err
    told = [line for line in (first.err + text.out).splitlines() if "--" in line]
    assert sum("`dokimasia " in line for line in told) == 2, "notes of a tree that has few criteria and of a probe"
    assert all("dokimasia " in line for line in told), "no option that the demo does not have itself"
    page = Path(text.out.splitlines()[-1].rpartition(" ")[2])
    assert page.read_text().startswith("<!doctype html>")
    assert page.stat().st_size < 3_500_000


def test_evaluate_show_and_runs_agree(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`evaluate --json`, `show --json` and the tables speak of the same figures."""
    home = ("--home", str(tmp_path / "home"))
    assert run(["evaluate", str(world), *SIM, *home, "--json"]) == 0
    evaluated = json.loads(capsys.readouterr().out)
    assert run(["show", evaluated["run"][:6], *home, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == evaluated
    assert run(["show", evaluated["run"], *home]) == 0
    table = capsys.readouterr().out
    assert f"{evaluated['models']['sim/strong']['score']['mean']:.2f}" in table
    assert run(["runs", *home]) == 0
    assert evaluated["run"] in capsys.readouterr().out
    sample = json.loads(world.read_text().splitlines()[0])
    assert run(["show", evaluated["run"], "--sample", sample["id"], "--raw", *home]) == 0
    view = capsys.readouterr().out
    assert sample["prompt"] in view.replace("\n", " ")
    assert "criteria" in view
    assert "checkpoints" in view


def test_raw_is_raw(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every message stands with its own line breaks and no other, under model, latency, tokens and finish reason."""
    home = ("--home", str(tmp_path / "home"))
    assert run(["evaluate", str(world), *SIM, *home, "--limit", "1"]) == 0
    capsys.readouterr()
    sample = json.loads(world.read_text().splitlines()[0])["id"]
    assert run(["show", "last", "--sample", sample, "--raw", "--json", *home]) == 0
    called = json.loads(capsys.readouterr().out)["calls"]
    assert run(["show", "last", "--sample", sample, "--raw", *home]) == 0
    view = capsys.readouterr().out
    for call in called:
        assert 0 <= call["latency"] < 60
        head = next(line for line in view.splitlines() if call["key"] in line)
        for part in (call["model"], f"{call['latency']:.3f} s", "tokens in", call["reply"]["finish_reason"]):
            assert part in head
        texts = [part["text"] for one in call["request"]["messages"] for part in one["parts"] if part["kind"] == "text"]
        assert all(line in view.splitlines() for text in texts for line in text.splitlines() if len(line) > 120)
    assert any(len(line) > 200 for line in view.splitlines())


def test_a_finished_run_loads_no_state_machine(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same command again prints the same figures without loading what only a running evaluation needs."""
    asked = ["evaluate", str(world), *SIM, "--home", str(tmp_path / "home"), "--limit", "3", "--json"]
    assert run(asked) == 0
    first = capsys.readouterr().out
    code = (
        f"import sys\nfrom dokimasia.cli.main import run\nassert run({asked!r}) == 0\n"
        "print([name for name in ('langgraph', 'langchain_core', 'litellm', 'aiohttp') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert ran.stdout == f"{first}[]\n"


def test_a_dry_run_shows_one_prompt_of_each_kind(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The estimate and every prompt are shown, nothing is asked, and no home is made."""
    home = tmp_path / "home"
    assert run(["evaluate", str(world), *SIM, "--home", str(home), "--dry-run", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert list(shown["prompts"]) == ["candidate", "checkpoints", "criteria", "criteria_check", "equivalence", "solver"]
    assert shown["calls"] == 21 * (3 + 2 * 2), (
        "a chain, criteria, a look at them; an answer and its scores of each model"
    )
    assert shown["undecided"]["calls"] == 21 * (1 + 2), "where no rule decides what is right"
    assert run(["evaluate", str(world), *SIM, "--home", str(home), "--show-prompts"]) == 0
    assert "prompt solver" in capsys.readouterr().out
    assert not home.exists()


def test_criteria_travel_through_the_command_line(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Export, import into another home, evaluate by the collection: the same scores, no call of the solver."""
    first, second = ("--home", str(tmp_path / "one")), ("--home", str(tmp_path / "two"))
    assert run(["evaluate", str(world), *SIM, *first, "--json"]) == 0
    evaluated = json.loads(capsys.readouterr().out)
    file = str(tmp_path / "criteria.jsonl")
    assert run(["criteria", "export", evaluated["run"], "-o", file, *first]) == 0
    assert run(["criteria", "import", file, "--json", *second]) == 0
    collection = json.loads(capsys.readouterr().out)["collection"]
    assert run(["evaluate", str(world), *SIM, "--criteria", collection, *second, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["models"] == evaluated["models"]
    assert again["preparation"]["calls"] == 0


def test_init_writes_a_configuration_that_loads(program: Program, tmp_path: Path) -> None:
    """The commented configuration is accepted as it stands, and is not overwritten."""
    assert program("init").returncode == 0
    assert "[models." in (tmp_path / "dokimasia.toml").read_text()
    again = program("init")
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert program("evaluate", "nowhere.jsonl", *SIM).returncode == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": "a", "prompt": "x"', "line 2"),
        ('{"id": "a", "prompt": ""}', "line 2"),
        ('{"id": "first", "prompt": "again"}', "line 2"),
        ('{"id": "a", "prompt": "x", "image": "missing.png"}', "missing.png"),
        ('{"id": "a", "prompt": "x", "image": "https://example.org/a.png"}', "--allow-fetch"),
    ],
)
def test_bad_data_is_named_by_file_and_line(
    line: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bad line is one clear error with exit code 2."""
    path = tmp_path / "data.jsonl"
    path.write_text('{"id": "first", "prompt": "What?"}\n' + line + "\n")
    assert run(["evaluate", str(path), *SIM, "--home", str(tmp_path / "home")]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert "data.jsonl" in err
    assert "line 2" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--judge", "sim/judge", "--models", "nonsense"], "nonsense"),
        (["--judge", "sim/judge"], "--models"),
        (["--judge", "sim/judge", "--models", "sim/strong,sim/strong"], "twice"),
        (["--judge", "sim/judge", "--models", "hosted_vllm/model", "--max-cost", "1"], "input_price"),
        ([*SIM, "--criteria", "unknown"], "criteria import"),
        ([*SIM, "--repeats", "0"], "repeats"),
    ],
)
def test_bad_options_are_explained(
    arguments: list[str], says: str, world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option that cannot be used is one clear error with exit code 2, and no run is made."""
    home = tmp_path / "home"
    assert run(["evaluate", str(world), *arguments, "--home", str(home)]) == 2
    assert says in capsys.readouterr().err
    if (home / "dokimasia.db").exists():
        assert sqlite3.connect(home / "dokimasia.db").execute("SELECT count(*) FROM runs").fetchone() == (0,)


def test_a_locked_home_names_its_holder(program: Program, world: Path, tmp_path: Path) -> None:
    """A second writer is told who writes; a reader is let in."""
    home = tmp_path / "home"
    with Home.open(home, write=True, command="dokimasia evaluate other.jsonl"):
        refused = program("evaluate", world, *SIM, "--home", home)
        assert refused.returncode == 2
        assert "other.jsonl" in refused.stderr
        assert program("runs", "--home", home).returncode == 0


def test_unknown_runs_and_samples_are_explained(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run or a sample that is not there is answered with those that are."""
    home = ("--home", str(tmp_path / "home"))
    assert run(["show", "abc", *home]) == 2
    assert "no home" in capsys.readouterr().err
    assert run(["evaluate", str(world), *SIM, "--limit", "2", *home, "--json"]) == 0
    run_id = json.loads(capsys.readouterr().out)["run"]
    assert run(["show", "zzz", *home]) == 2
    assert run_id in capsys.readouterr().err
    assert run(["show", run_id, "--sample", "nobody", *home]) == 2
    assert "there are 2" in capsys.readouterr().err


def test_sim_make_is_reproducible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same seed writes the same data file and the same pictures."""
    for name in ("one", "two"):
        assert run(["sim", "make", str(tmp_path / name / "w.jsonl"), "--samples", "9", "--seed", "4"]) == 0
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / name).rglob("*.*")} for name in ("one", "two"))
    assert one == two
    assert "9 questions" in capsys.readouterr().out


def test_sim_make_replaces_nothing_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file with another content stays unless --force says otherwise; an equal one may be written again."""
    file = tmp_path / "w.jsonl"
    asked = ["sim", "make", str(file), "--samples", "3"]
    assert run(asked) == 0
    assert run([*asked, "--rankings"]) == 0
    kept = file.read_bytes()
    assert run([*asked, "--seed", "1"]) == 2
    assert f"{file} is already there with another content" in capsys.readouterr().err
    assert file.read_bytes() == kept
    assert run([*asked, "--seed", "1", "--force"]) == 0
    assert file.read_bytes() != kept


def test_sim_serve_speaks_openai(tmp_path: Path) -> None:
    """The server says where it is, lists its models, and stops on Ctrl-C."""
    import signal
    import urllib.request

    process = start_program(("sim", "serve", "--port", "0"), tmp_path)
    assert process.until(lambda: process.printed.endswith("\n"))
    url = process.printed.split(" at ")[1].split()[0]
    with urllib.request.urlopen(f"{url}/models") as reply:
        models = [model["id"] for model in json.load(reply)["data"]]
    assert "sim/strong" in models
    assert any("judge" in model for model in models)
    process.signal(signal.SIGINT)
    assert "Traceback" not in process.ended().stderr


def test_looking_at_what_methods_ask_loads_no_graph() -> None:
    """All methods can be loaded, as the pages of a run do, without LangGraph."""
    code = (
        "import sys; from dokimasia.runs.catalogue import OWN; from dokimasia.runs.catalogue import method_named; "
        "[method_named(name) for name in OWN]; print('langgraph' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.strip() == "False"
