"""`dokimasia models`: what is configured, for people and for machines, and the check with its exit code."""

import json
import sqlite3
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.image_edits import EDITORS
from dokimasia.simulation.profiles import planted_in, profiles
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_world

pytestmark = pytest.mark.quick

CONFIG = """
[models.good]
model = "openai/sim/strong"
endpoint = "ours"
api_base = "{url}"
api_key_env = "GOOD_KEY"
rpm = 600
tpm = 200000
input_price = 1.0
output_price = 4.0
capabilities = ["vision"]

[models.hosted]
model = "openai/gpt-4o"

[models.gone]
model = "openai/sim/nobody"
api_base = "{url}"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def test_the_list_says_everything_but_the_key(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Transport, key, limits, prices with their source and capabilities are listed; nothing is sent or written."""
    (folder / "dokimasia.toml").write_text(CONFIG.format(url="http://127.0.0.1:9/v1"))
    monkeypatch.setenv("GOOD_KEY", "secret-4f1b9d2c7a")
    assert run(["models", "--json"]) == 0
    text = capsys.readouterr().out
    assert "secret-4f1b9d2c7a" not in text
    listed = {one["name"]: one for one in json.loads(text)}
    good, hosted, gone = listed["good"], listed["hosted"], listed["gone"]
    assert good["key"] == {"variable": "GOOD_KEY", "present": True}
    assert (good["max_concurrency"], good["rpm"], good["tpm"]) == (64, 600, 200000)
    assert good["start_concurrency"] == 16
    assert good["price"] == {"input": 1.0, "output": 4.0, "source": "configuration"}
    assert (good["transport"], good["capabilities"], good["measured"]) == ("direct", ["vision"], None)
    assert hosted["price"]["source"] == "list"
    assert (hosted["transport"], hosted["key"]) == ("litellm", None)
    assert gone["price"] == {"input": None, "output": None, "source": None}
    assert run(["models"]) == 0
    shown = capsys.readouterr().out
    for word in ("good", "GOOD_KEY", "600 rpm", "LiteLLM list", "unknown", "never checked"):
        assert word in shown
    assert not (folder / ".dokimasia").exists()


def test_the_check_reports_and_is_remembered(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One model answers and one does not: exit code 1, both named; the list shows what was measured."""
    monkeypatch.setenv("GOOD_KEY", "secret-4f1b9d2c7a")
    with running_server() as url:
        (folder / "dokimasia.toml").write_text(CONFIG.format(url=url))
        assert run(["models", "--check", "good", "gone"]) == 1
        shown = capsys.readouterr().out
        assert run(["models", "--check", "good", "--json"]) == 0
        (checked,) = json.loads(capsys.readouterr().out)
    assert "3 paid calls" in shown
    assert "gone: not_found" in shown
    assert checked["reachable"] is True
    assert checked["profile"]["vision"]["verdict"] == "yes"
    assert checked["cost"] > 0
    assert run(["models", "good", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["measured"]["json_schema"]["verdict"] == "yes"
    assert listed["structured_output"] is False
    assert run(["models", "good"]) == 0
    assert "json_schema yes" in capsys.readouterr().out


def test_simulated_models_are_listed_on_request(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a configuration there is nothing but a hint; --simulated lists those that ship."""
    assert run(["models"]) == 0
    assert "dokimasia init" in capsys.readouterr().out
    assert run(["models", "--check"]) == 2
    assert "no model is configured" in capsys.readouterr().err
    assert run(["models", "--simulated", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in listed] == [*profiles(), *EDITORS]
    assert {one["name"]: one["about"] for one in listed} == planted_in()
    assert run(["models", "--simulated"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith("simulated model what is planted in it")
    assert "sim/judge-lenient judge that overlooks a third of all faults" in shown


def test_an_old_home_is_no_hindrance_where_none_is_needed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Simulated models are listed beside a home that is not read any more; whatever needs it ends with 2 and the way out."""
    (folder / ".dokimasia").mkdir()
    database = sqlite3.connect(folder / ".dokimasia" / "dokimasia.db")
    database.execute("CREATE TABLE _migrations (number INTEGER PRIMARY KEY, name TEXT, applied_at TEXT)")
    database.execute("INSERT INTO _migrations VALUES (4, 'old', '2024-01-01')")
    database.commit()
    database.close()
    assert run(["models", "--simulated"]) == 0
    assert "sim/tutor" in capsys.readouterr().out
    (folder / "dokimasia.toml").write_text('[models.mine]\nmodel = "openai/gpt-4o"\n')
    write_world(folder / "world.jsonl", 7, 1)
    asked = ("evaluate", "world.jsonl", "--models", "sim/strong", "--judge", "sim/judge")
    for words in (("models",), ("runs",), ("show", "last"), asked, (*asked, "--dry-run"), ("verify",), ("demo",)):
        assert run(list(words)) == 2, words
        assert "use another home with --home" in capsys.readouterr().err


def test_a_misspelt_simulated_model_is_refused_before_anything_is_kept(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 with the nearest names, in a dry run and a fork, too; no run is left behind."""
    write_world(folder / "world.jsonl", 7, 1)
    asked = ["evaluate", "world.jsonl", "--models", "sim/strong", "--judge"]
    for words in ([], ["--dry-run"]):
        assert run([*asked, "sim/jugde", *words]) == 2
        said = capsys.readouterr()
        assert "error: there is no simulated model 'sim/jugde'; did you mean 'sim/judge'" in said.err
        assert said.err.count("\n") == 1
        assert not said.out
    assert run(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert run([*asked, "sim/judge"]) == 0
    for words in (
        ["--from", "score", "--judge", "sim/judge-nosy"],
        ["--from", "answer", "--models", "sim/strong=sim/strang", "--dry-run"],
    ):
        capsys.readouterr()
        assert run(["fork", "last", *words]) == 2
        assert "did you mean 'sim/" in capsys.readouterr().err
    assert run(["models", "sim/wek"]) == 2
    assert "did you mean 'sim/weak'" in capsys.readouterr().err


def test_an_unknown_name_is_the_users_mistake(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that nothing knows ends with exit code 2."""
    assert run(["models", "nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err


def test_a_model_is_kept_in_the_home(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--set adds a model with settings as in dokimasia.toml, which commands ask from then on, and --remove removes it."""
    settings = ["--set", "model=sim/strong", "--set", "rpm=600", "--set", "sampling.temperature=0.5"]
    assert run(["models", "mine", *settings, "--set", "capabilities=vision"]) == 0
    out, err = capsys.readouterr()
    assert "added mine (sim/strong)" in out
    assert err == ""
    assert run(["models", "mine", *settings, "--set", 'capabilities=["vision"]']) == 0
    assert "replaced mine (sim/strong) in " in capsys.readouterr().out
    assert run(["models", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["name"], listed["rpm"], listed["capabilities"], listed["added"]) == ("mine", 600, ["vision"], True)
    write_world(folder / "world.jsonl", 7, 3)
    assert run(["evaluate", "world.jsonl", "--judge", "sim/judge", "--models", "mine", "--limit", "1"]) == 0
    capsys.readouterr()
    assert run(["models", "mine", "--remove", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"removed": ["mine"]}
    assert run(["models", "mine"]) == 2
    assert "no model 'mine'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine", "--set", "model"], "KEY=VALUE"),
        (["mine", "--set", "model=a/b", "--set", "model=c/d"], "each key once"),
        (["mine", "--set", "model=a/b", "--set", "rpm=many"], "rpm"),
        (["mine", "--set", "model=a/b", "--set", "api_key=sk-1"], "api_key"),
        (["mine", "--set", "rpm=6"], "model is missing"),
        (["mine", "--set", "model=a/b", "--set", "rpm=true"], "rpm: Input should be a valid integer"),
        (["mine", "--set", "model=a/b", "--set", "transport=foo"], "no transport 'foo'; there are: direct, litellm"),
        (["mine", "--set", "model=a/b", "--set", "capabilities=vision,smell"], "'vision', 'json_schema', 'tools'"),
        (["mine", "--set", "model=a/b", "--set", "a b=1"], "no setting a b; settings are model"),
        (["mine", "--set", "model=a/b", "--set", "foo=3"], "no setting foo; settings are model, api_base,"),
        (["--set", "model=a/b"], "NAME of one model"),
        (["mine", "--set", "model=a/b", "--remove"], "three things"),
        (["mine", "--remove"], "there is no home"),
        (["--remove"], "needs the names"),
        (["two words", "--set", "model=a/b"], "no spaces"),
        (["mine", "--set", "model=a/b", "--set", "sampling.extra.x=nan"], "not a finite number"),
    ],
)
def test_what_cannot_be_added_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """The message names the option or the setting, and nothing is written."""
    assert run(["models", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / ".dokimasia" / "models.toml").exists()


def test_no_title_of_a_check_is_broken(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 100 columns every word of the header is whole, whatever the width of the model's name."""
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["models", "--check", "sim/judge-inventive"]) == 0
    words = capsys.readouterr().out.split()
    titles = "transport reached sees image JSON schema tools edits images usage finish reason latency"
    assert set(titles.split()) <= set(words)
    assert "tool_calls" in words
