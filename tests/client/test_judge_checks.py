"""Checks of judges by a service: from Python, over HTTP and with `--server`, with the figures of a local check."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dokimasia import Client, check_judge_sync, load_settings
from dokimasia.cli.main import run
from dokimasia.client import Event
from dokimasia.errors import ConfigError, DataError, InputError
from tests.cli.served import Served, served

FIELDS: dict[str, Any] = {
    "perturber": "sim/judge",
    "dimensions": ["numerical_errors", "tone_mismatch"],
    "evaluators": ["single-axes", "right-or-wrong"],
}
OPTIONS = ["--perturber", "sim/judge", "--dimensions", "numerical_errors,tone_mismatch"]
OPTIONS += ["--evaluators", "single-axes,right-or-wrong"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service over a home that began empty."""
    with served(tmp_path_factory.mktemp("checking") / "home") as found:
        yield found


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six right answers."""
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    assert run(["sim", "make", str(path), "--gold", "texts", "--samples", "6", "--seed", "1"]) == 0
    return path


@pytest.fixture
def client(service: Served) -> Iterator[Client]:
    """A client of it."""
    with Client(service.url) as found:
        yield found


def measured(check: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a check measured, without times and costs."""
    return [{name: use[name] for name in ("evaluator", "verdict", "reasons", "qualities")} for use in check["uses"]]


def test_a_check_by_the_service_says_what_a_local_one_says(client: Client, texts: Path, tmp_path: Path) -> None:
    """Both runs are carried out and watched; asked again, the verdict comes without a call."""
    told: list[Event] = []
    check = client.check_judge("sim/judge-longer", texts, on_event=told.append, name="mine", max_cost=1.0, **FIELDS)
    home = load_settings(home=tmp_path / "home")
    local = check_judge_sync("sim/judge-longer", texts, settings=home, **FIELDS).model_dump(mode="json")
    assert (check["verdict"], check["sentence"]) == (local["verdict"], local["sentence"])
    assert measured(check) == measured(local)
    assert {event.kind for event in told} >= {"snapshot"}
    assert [run.shown["name"] for run in client.runs()][:2] == ["mine", "mine-errors"]
    before = len(client.runs())
    assert client.check_judge("sim/judge-longer", texts, name="mine", max_cost=1.0, **FIELDS) == check
    assert len(client.runs()) == before


def test_the_command_line_has_a_service_do_it(
    service: Served, texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same bytes as at home, and the passport is written here."""
    words = ["judges", "check", "sim/judge-lenient", "--data", str(texts), *OPTIONS, "--json"]
    printed: list[dict[str, Any]] = []
    for where in (["--server", service.url], ["--home", str(tmp_path / "home")]):
        capsys.readouterr()
        passport = tmp_path / f"{len(printed)}.json"
        assert run([*words, "-o", str(passport), *where]) == 0
        printed.append(json.loads(capsys.readouterr().out))
        assert json.loads(passport.read_text())["sha256"] == printed[-1]["passport"]
    assert measured(printed[0]) == measured(printed[1])
    assert (printed[0]["verdict"], printed[0]["runs"]) == (printed[1]["verdict"], printed[1]["runs"])


def test_the_route_goes_on_step_by_step(client: Client, texts: Path) -> None:
    """A request begins the planting, the next one the probe, the last one has the verdict; what it would cost is known first."""
    body = {"judge": "sim/judge-noisy", "data": client.upload(texts), **FIELDS}
    estimated = client.connection.send("POST", "/api/judge-checks", body, dry_run=True)
    assert estimated["planting"]["calls"] >= 0
    steps: list[dict[str, Any]] = []
    while not steps or steps[-1]["stage"] != "checked":
        steps.append(client.connection.send("POST", "/api/judge-checks", body))
        if steps[-1]["run"] is not None:
            client.find(steps[-1]["run"]["id"]).wait()
        assert len(steps) < 5
    order = ["planting", "probing", "checked"]
    assert [step["stage"] for step in steps] == order[order.index(steps[0]["stage"]) :]
    estimated = client.connection.send("POST", "/api/judge-checks", body, dry_run=True)
    assert (estimated["planting"]["status"], estimated["probing"]["status"]) == ("done", "done")
    assert steps[-1]["check"]["judge"] == "sim/judge-noisy"
    path = f"/api/judge-checks/sim/judge-noisy?run={steps[-1]['check']['runs'][0]}"
    assert client.connection.get(path) == steps[-1]["check"]


def test_labels_are_taken_in_between_the_runs(client: Client, service: Served, texts: Path, tmp_path: Path) -> None:
    """The labels of a filled form count as people's decisions, and the judge is held against them."""
    client.check_judge("sim/judge", texts, name="labelled", **FIELDS)
    form, filled = tmp_path / "form.jsonl", tmp_path / "eva.jsonl"
    assert run(["decide", "labelled-errors", "--export", str(form), "--server", service.url]) == 0
    assert run(["sim", "label", str(form), "--person", "eva", "-o", str(filled)]) == 0
    check = client.check_judge("sim/judge", "labelled-errors", labels=filled, evaluators=["single-axes"])
    assert check["checked"] == 1
    assert "disagreement with labels" in [quality["name"] for quality in check["uses"][0]["qualities"]]


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"perturber": "sim/judge", "reference": "sim/judge"}, InputError, "name another model"),
        ({"perturber": "sim/judge", "output": "p.json"}, ConfigError, "a service writes no file here"),
        ({"perturber": "sim/judge", "fresh": True}, InputError, "fresh: a check of a judge takes no such field"),
        ({"perturber": "sim/judge", "per": 0}, ConfigError, "per: "),
        ({"perturber": "sim/judge", "dimensions": ["score_neutral"]}, InputError, "plants no error"),
        ({}, InputError, "name who plants them"),
    ],
)
def test_what_cannot_be_checked_says_the_way_out(
    client: Client, texts: Path, fields: dict[str, Any], error: type[Exception], words: str
) -> None:
    """The error is that of the command line, and no run is begun."""
    before = len(client.runs())
    with pytest.raises(error, match=words):
        client.check_judge("sim/judge", texts, **fields)
    assert len(client.runs()) == before


def test_labels_that_cannot_be_read_begin_no_run(client: Client, texts: Path, tmp_path: Path) -> None:
    """The labels are read before errors are planted, and their line is named."""
    filled = tmp_path / "labels.jsonl"
    filled.write_text('{"item": "a", "label": "perhaps"}\n')
    before = len(client.runs())
    with pytest.raises(InputError, match="line 1"):
        client.check_judge("sim/judge", texts, labels=filled, **FIELDS)
    assert len(client.runs()) == before


def test_a_run_that_planted_nothing_ends_the_check(client: Client, texts: Path, tmp_path: Path) -> None:
    """The client does not ask for ever: the error says why nothing was planted."""
    rows = [json.loads(line) for line in texts.read_text().splitlines()[:3]]
    short = texts.parent / "short.jsonl"
    short.write_text("\n".join(json.dumps({**row, "gold": "seven"}) for row in rows))
    with pytest.raises(DataError, match="planted nothing"):
        client.check_judge("sim/judge", short, perturber="sim/judge", dimensions=["numerical_errors"])
