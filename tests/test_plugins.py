"""Plug-ins by entry point: found without loading, loaded by name, and broken only where they are used."""

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.errors import ConfigError
from dokimasia.plugins import Kind, entry_points_of, listing, load, make_chat_model, prompt_folder, transports_for
from tests.distributions import install

GRAPH = """
from typing import TypedDict

NAME = "walk"
VERSION = 1

class State(TypedDict, total=False):
    sample: str

def build():
    raise AssertionError("never built here")
"""

KEYED = """
from pydantic import BaseModel

class Model(BaseModel):
    size: int

def make():
    return Model(size={"api_key": "acme-0123456789"})

def wrapped():
    try:
        make()
    except ValueError as error:
        raise RuntimeError("not today") from error
"""


@pytest.fixture(autouse=True)
def forget_modules() -> Iterator[None]:
    """Modules that a test's plug-ins brought are forgotten after it."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.split(".")[0].startswith("acme"):
            del sys.modules[name]


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed distribution with a good graph, a folder of prompts, and plug-ins that are broken in four ways."""
    (tmp_path / "acme_walk.py").write_text(GRAPH)
    (tmp_path / "acme_broken.py").write_text("raise RuntimeError('no\\nluck')\n")
    (tmp_path / "acme_half.py").write_text('NAME = "half"\nVERSION = "one"\n')
    (tmp_path / "acme_things.py").write_text("number = 3\ndef make():\n    raise ValueError('not today')\n")
    (tmp_path / "acme_keyed.py").write_text(KEYED)
    (tmp_path / "acme_prompts").mkdir()
    (tmp_path / "acme_prompts" / "__init__.py").write_text("")
    (tmp_path / "acme_prompts" / "solver.md").write_text("---\n")
    groups = {
        "dokimasia.graphs": {
            "walk": "acme_walk",
            "stroll": "acme_walk",
            "broken": "acme_broken",
            "half": "acme_half",
        },
        "dokimasia.prompts": {"mine": "acme_prompts", "single": "acme_walk"},
        "dokimasia.datasets": {"num": "acme_things:number"},
        "dokimasia.transports": {"later": "acme_things:make"},
        "dokimasia.chat_models": {"keyed": "acme_keyed:make", "wrapped": "acme_keyed:wrapped"},
    }
    install(tmp_path, monkeypatch, groups)
    return tmp_path


@pytest.mark.usefixtures("acme")
def test_plugins_are_found_without_being_loaded() -> None:
    """Looking for plug-ins imports none of them."""
    assert {"walk", "stroll", "broken", "half"} <= set(entry_points_of("graphs"))
    assert not [name for name in sys.modules if name.startswith("acme")]


@pytest.mark.usefixtures("acme")
def test_a_plugin_is_loaded_by_name() -> None:
    """What the entry point refers to comes back; a name that is nearly right is answered with the right one."""
    assert load("graphs", "walk").VERSION == 1
    with pytest.raises(
        ConfigError, match=r"no plug-in of group dokimasia.graphs is called 'wlak'; did you mean 'walk'\?"
    ):
        load("graphs", "wlak")


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (
            "graphs",
            "broken",
            r"'broken' \(dokimasia.graphs, acme_broken\) of acme-checks 1.0 cannot be loaded: RuntimeError: no",
        ),
        ("graphs", "half", r"of acme-checks 1.0: .*VERSION is missing or no int"),
        ("graphs", "stroll", r"the entry point is called 'stroll' and the graph 'walk'"),
        ("prompts", "single", r"this is a single module"),
        ("datasets", "num", r"has to be callable"),
    ],
)
def test_a_broken_plugin_is_named(kind: Kind, name: str, message: str) -> None:
    """Whatever is wrong with a plug-in, the error names its distribution, its group and its entry point."""
    with pytest.raises(ConfigError, match=message):
        load(kind, name)


@pytest.mark.usefixtures("acme")
def test_a_factory_that_fails_is_named() -> None:
    """A transport that cannot be made names its distribution; transports that are not asked for are not touched."""
    assert list(transports_for({"litellm", "nobody"})) == []
    with pytest.raises(ConfigError, match=r"of acme-checks 1.0: the factory failed: ValueError: not today"):
        list(transports_for({"later"}))


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    ("name", "message"), [("keyed", "ValidationError: size: Input should be a valid int"), ("wrapped", "not today")]
)
def test_what_a_factory_gave_a_model_is_not_shown(name: str, message: str, caplog: pytest.LogCaptureFixture) -> None:
    """A `ValidationError` prints the values, which may be keys: neither the error nor the log has them."""
    with caplog.at_level(logging.DEBUG), pytest.raises(ConfigError, match=message) as caught:
        make_chat_model(name)
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert "a plug-in broke" in shown
    assert "0123456789" not in shown
    assert "-v shows" not in shown


def test_prompts_come_from_a_package(acme: Path) -> None:
    """A package with prompts is a folder; a name that is neither folder nor plug-in is said to be neither."""
    assert prompt_folder("mine") == acme / "acme_prompts"
    with pytest.raises(ConfigError, match="--prompts theirs: there is no such folder, and no plug-in"):
        prompt_folder("theirs")


def test_two_distributions_with_one_name(acme: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that two distributions bring is used for neither, and both are named."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "acme_second.py").write_text(GRAPH)
    install(other, monkeypatch, {"dokimasia.graphs": {"walk": "acme_second"}}, name="acme-second")
    with pytest.raises(ConfigError, match=r"is brought by acme-(checks|second) 1.0 and acme-(checks|second) 1.0"):
        load("graphs", "walk")


@pytest.mark.usefixtures("acme")
def test_the_list_says_which_are_broken(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`dokimasia plugins` lists all, says why some cannot be used, and fails for none of them."""
    problems = {
        (plugin.kind, plugin.name): plugin.problem for plugin in listing() if plugin.distribution == "acme-checks"
    }
    assert problems[("graphs", "walk")] is None
    assert problems[("prompts", "mine")] is None
    assert "no luck" in (problems[("graphs", "broken")] or "")
    assert run(["plugins", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {one["name"] for one in listed} >= {"walk", "broken", "mine", "num", "later"}
    assert run(["plugins"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "acme_walk" in shown
    assert "RuntimeError: no luck" in shown


@pytest.mark.usefixtures("acme")
def test_a_broken_plugin_breaks_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands that do not use a broken plug-in work; the one that does ends with exit code 2 and one line."""
    data = tmp_path / "world.jsonl"
    home = ["--home", str(tmp_path / "home")]
    assert run(["sim", "make", str(data), "--samples", "2"]) == 0
    assert run(["evaluate", str(data), "--judge", "sim/judge", "--models", "sim/strong", *home]) == 0
    capsys.readouterr()
    assert run(["graph", "broken", str(data), "--judge", "sim/judge", *home]) == 2
    error = capsys.readouterr().err
    assert "acme-checks 1.0 cannot be loaded" in error
    assert len(error.strip().splitlines()) == 1


def test_a_broken_plugin_shows_where_it_broke(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the plug-in's file and line, of a syntax error too; with -v its traceback is in the log."""
    with pytest.raises(ConfigError, match=r"RuntimeError: no luck \[.*acme_broken\.py, line 1"):
        load("graphs", "broken")
    with pytest.raises(ConfigError, match=r"not today \[.*acme_things\.py, line 3"):
        list(transports_for({"later"}))
    (acme / "acme_broken.py").write_text("x = 1\ndef (:\n")
    with pytest.raises(ConfigError, match=r"SyntaxError: .* \[.*acme_broken\.py, line 2\]"):
        load("graphs", "broken")
    (acme / "acme_broken.py").write_text("raise RuntimeError('no luck')\n")
    assert run(["plugins"]) == 0
    assert "Traceback" not in capsys.readouterr().err
    assert run(["plugins", "-v"]) == 0
    assert "Traceback" in capsys.readouterr().err
