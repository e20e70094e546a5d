"""Costs that are known in part: wherever several are added up, at least the known part is said."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.cli.main import run as command_line
from dokimasia.cli.running import ProgressLine
from dokimasia.gateway.events import GatewayStats
from dokimasia.report import figures
from dokimasia.report.fields import Used
from dokimasia.runs.figures import costs
from dokimasia.runs.observer import Progress
from dokimasia.simulation.world import write_world

pytestmark = pytest.mark.quick

PRICED = """
[models.{name}]
model = "sim/{model}"
input_price = 1.0
output_price = 4.0
"""


def test_a_sum_keeps_its_known_part() -> None:
    """The cost of several is null where one is unknown, and what is known of it stands beside it."""
    assert costs([0.5, 0.25]) == {"cost": 0.75}
    assert costs([0.5, None], [None, 0.25]) == {"cost": None, "cost_known": 0.75}
    assert costs([None, None]) == {"cost": None}
    assert figures.used(Used(calls=3, **costs([0.96, None]))) == "3 calls, cost at least $0.9600"
    assert figures.used(Used(calls=1, **costs([None]))) == "1 call, cost unknown"


def test_what_is_spent_is_at_least_what_is_known(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    """The line of a run at work and its last sentence say the same of a model without a price."""
    monkeypatch.setattr("dokimasia.cli.running.PLAIN_EVERY", 0.0)
    with ProgressLine() as line:
        line.progressed(Progress(items=9, done=7, stats=GatewayStats(answered=3, cost=0.1474, cost_unknown=1)))
        assert "spent at least $0.1474" in capsys.readouterr().err
        assert "cost at least $0.1474, took" in line.paid()


def test_nothing_is_said_of_money_before_an_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No sum is named that turns out to be unknown with the first answer, and then it is said of how many calls."""
    monkeypatch.setattr("dokimasia.cli.running.PLAIN_EVERY", 0.0)
    with ProgressLine() as line:
        line.progressed(Progress(items=9))
        assert "spent" not in capsys.readouterr().err
        line.progressed(Progress(items=9, done=7, stats=GatewayStats(answered=3, cost_unknown=3)))
        assert "spent an unknown amount (3 calls of unknown cost)" in capsys.readouterr().err
        assert "cost an unknown amount (3 calls of unknown cost), took" in line.paid()


def test_a_run_says_what_it_cost_as_a_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """The criteria's calls have their cost, and the whole run has one, though a model's price is unknown."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world.jsonl", 5, 3)
    text = "".join(PRICED.format(name=name, model=model) for name, model in {"J": "judge", "A": "strong"}.items())
    (tmp_path / "dokimasia.toml").write_text(text + '\n[models.B]\nmodel = "sim/weak"\noutput_price = 4.0\n')
    asked = ["evaluate", "world.jsonl", "--judge", "J", "--models", "A,B", "--home", "home"]
    assert command_line([*asked, "--dry-run"]) == 0
    assert "cost at least $" in capsys.readouterr().out
    assert command_line(asked) == 0
    assert "cost at least $" in capsys.readouterr().err
    assert command_line(["show", "last", "--home", "home", "--json"]) == 0
    summary = orjson.loads(capsys.readouterr().out)
    made, a, b = summary["preparation"], summary["models"]["A"], summary["models"]["B"]
    assert (b["cost"], b["cost_known"] > 0) == (None, True)
    known = made["cost"] + a["cost"] + b["cost_known"]
    assert command_line(["show", "last", "--full", "--home", "home"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    calls = made["calls"] + a["calls"] + b["calls"]
    assert f"Their cost: {figures.cost_text(made['cost'])}. All together: {calls} calls" in shown
    assert f"cost at least {figures.cost_text(known)}. Calls shared by several models" in shown
