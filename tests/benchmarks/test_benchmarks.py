"""Every benchmark runs in a tiny size and finds what it should; no time is asserted."""

import importlib
import json
from typing import Any

import pytest

from benchmarks import replay
from benchmarks.figures import Figure, Report, number

pytestmark = pytest.mark.full


def tiny(name: str, capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> dict[str, Any]:
    """Run one benchmark in this process and return its JSON with the figures by name."""
    module = "__main__" if name in ("throughput", "crash", "taxonomy") else ""
    main = importlib.import_module(f"benchmarks.{name}{'.' if module else ''}{module}").main
    assert main(["--json", *map(str, arguments)]) == code
    report = json.loads(capsys.readouterr().out)
    report["by_name"] = {figure["what"]: figure for figure in report["figures"]}
    return report


def test_throughput(capsys: pytest.CaptureFixture[str]) -> None:
    """All calls of ours, of aiohttp and of aiohttp with a ledger are made, without and with images."""
    report = tiny("throughput", capsys, "--samples", 3, "--without", "Inspect AI", "--without", "litellm")
    assert [(row["messages"], row["client"], row["calls"]) for row in report["rows"]] == [
        (messages, client, 24)
        for messages in ("text only", "image of 160 KB")
        for client in ("dokimasia", "aiohttp + ledger", "aiohttp")
    ]
    assert {"text only: share of aiohttp + ledger", "image of 160 KB: share of aiohttp + ledger"} <= set(
        report["by_name"]
    )


def test_latency_bound(capsys: pytest.CaptureFixture[str]) -> None:
    """So many calls are in flight as configured, and never more."""
    size = ("--waves", 2, "--in-flight", 8, "--latency", 0.1)
    report = tiny("latency_bound", capsys, *size, "--without", "litellm")
    assert [(row["client"], row["calls"], row["at once"]) for row in report["rows"]] == [
        ("dokimasia", 16, 8),
        ("aiohttp", 16, 8),
    ]


def test_writer(capsys: pytest.CaptureFixture[str]) -> None:
    """All rows are committed in each way, and the texts of 2 KB lie in the file."""
    report = tiny("writer", capsys, "--commits", 300)
    assert [row["commits"] for row in report["rows"]] == [300, 300, 300]
    assert all(row["bytes"] > 2048 and row["writer µs"] > 0 for row in report["rows"])


def test_replay(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A finished run sends nothing again, and a fresh run of the same work is answered by the ledger."""
    monkeypatch.setattr(replay, "AGAIN", 1)
    report = tiny("replay", capsys, "--samples", 4, "--candidates", 2)
    assert [(row["what"], row["answers"], row["requests"]) for row in report["rows"]] == [
        ("first run", 16, 16),
        ("the command again", 0, 0),
        ("the same inside a process", 0, 0),
        ("fresh run", 16, 0),
    ]


def test_taxonomy(capsys: pytest.CaptureFixture[str]) -> None:
    """A tree is grown in a process of its own; what it took is told, and the planted leaves come back."""
    report = tiny("taxonomy", capsys, "--sizes", 900)
    (row,) = report["rows"]
    assert row["criteria"] == 900
    assert 60 < row["leaves"] <= 72
    assert row["CPU s"] > 0
    assert row["calls"] == pytest.approx(row["each"] * 900, abs=1)
    assert report["by_name"]["adjusted Rand index to the planted tree, lowest"]["value"] >= 0.95


def test_memory(capsys: pytest.CaptureFixture[str]) -> None:
    """Memory and database are weighed for a tenth of the samples and for all."""
    report = tiny("memory", capsys, "--samples", 20)
    assert [row["samples"] for row in report["rows"]] == [2, 20]
    assert all(row["peak MB"] >= row["MB at the end"] > 0 for row in report["rows"])
    assert report["rows"][1]["text MB"] >= 0.1


def test_startup(capsys: pytest.CaptureFixture[str]) -> None:
    """The import and the help are timed beside Python alone."""
    report = tiny("startup", capsys, "--runs", 1)
    assert [row["what"] for row in report["rows"]] == ["import dokimasia", "dokimasia --help", "Python alone"]


def test_checkpoint_size(capsys: pytest.CaptureFixture[str]) -> None:
    """What a replay's steps hold of ours is small, and the same however large images and replies are."""
    report = tiny("checkpoint_size", capsys)
    figures = report["by_name"]
    assert figures["sizes under which our values differ"]["value"] == 0
    assert 0 < figures["our channel values, the largest step"]["value"] < 700
    assert figures["the whole step, the largest"]["value"] > figures["our channel values, the largest step"]["value"]


def test_soak(capsys: pytest.CaptureFixture[str]) -> None:
    """The memory is looked at in every tenth of the calls."""
    report = tiny("soak", capsys, "--calls", 80)
    assert [row["calls"] for row in report["rows"]] == [str(8 * tenth) for tenth in range(1, 11)]


def test_crash(capsys: pytest.CaptureFixture[str]) -> None:
    """Killed four times, also in the middle of writes, nothing is lost, changed or sent again."""
    report = tiny("crash", capsys, "--kills", 4, "--samples", 20, "--per-run", 8, "--in-flight", 8)
    wrong = {what: figure["value"] for what, figure in report["by_name"].items() if figure["reached"] is False}
    assert not wrong, report["notes"]
    killed = {row["killed"]: row["times"] for row in report["rows"]}
    assert sum(killed.values()) == 4
    assert killed["in a migration"] >= 1
    assert killed["in a commit"] > 0


def test_a_broken_rule_fails_and_a_missed_target_does_not() -> None:
    """A report has failed only by a rule that must hold; a slow machine is no failure."""
    slow = Figure("calls a second", 3.0, target=10)
    resent = Figure("sent again", 1, target=0, rule="exactly", must=True)
    assert slow.reached is False
    assert not Report("x", (slow,)).failed
    assert Report("x", (slow, resent)).failed
    assert Figure("growth", 12.0, "MB", 10, "at most").reached is False
    assert Figure("growth", 9.0, "MB", 10, "at most").reached is True
    assert Figure("calls", 9.0).reached is None
    assert [number(value) for value in (12345.6, 12.34, 0.0123, 7.0)] == ["12,346", "12.3", "0.0123", "7"]
