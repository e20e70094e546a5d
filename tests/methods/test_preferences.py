"""Preference pairs: only decided ones, with images beside them, and everything else counted by its reason."""

import asyncio
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dokimasia.cli.main import run as command
from dokimasia.errors import ConfigError
from dokimasia.methods.arena import ArenaRequest, arena
from dokimasia.methods.duel import DuelRequest, duel
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs.reading.exporting import export_rows, form_of
from dokimasia.settings import Settings
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_creative
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

DUELLED = {"judge": "sim/judge", "models": ("sim/strong", "sim/weak"), "baseline": "sim/steady"}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight creative cases of one to nine pictures."""
    path = tmp_path_factory.mktemp("creative") / "cases.jsonl"
    write_creative(path, 8, 1)
    return path


async def written(settings: Settings, run: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, bytes]]:
    """Return the rows of a run's export, the pairs, and all files."""
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, run)
        files = dict(form_of(home, row, "preferences"))
        assert files == dict(form_of(home, row, "preferences"))
        rows = (await export_rows(home, row)).rows
    return [dict(row) for row in rows], [json.loads(line) for line in files["preferences.jsonl"].splitlines()], files


def text_of(messages: list[dict[str, Any]]) -> str:
    (message,) = messages
    assert message["role"] == "assistant"
    (part,) = message["content"]
    return part["text"]


async def test_every_right_answer_is_chosen_over_every_wrong_one(
    settings: Settings, request_of: Callable[..., EvaluationRequest]
) -> None:
    """Pairs and what is left out add up to the answers, prompts have a place for each image, and images can be opened."""
    transport = SimTransport(faults=parse_faults("refusal=0.1,content_filter=0.2"))
    done = await evaluate(request_of(repeats=2, no_image=True), settings=settings, transports={"sim": transport})
    rows, pairs, files = await written(settings, done.run)
    expected: set[tuple[str, str, str]] = set()
    paired = 0
    for id in {row["id"] for row in rows}:
        seen = [row for row in rows if row["id"] == id and not row["arm"] and row["response"] is not None]
        right, wrong = ([row for row in seen if row["verdict"] == verdict] for verdict in ("right", "wrong"))
        paired += len(right) + len(wrong) if right and wrong else 0
        expected |= {(id, one["response"], other["response"]) for one in right for other in wrong}
    assert pairs
    assert len(pairs) == len(expected)
    assert {(pair["sample"], text_of(pair["chosen"]), text_of(pair["rejected"])) for pair in pairs} == expected
    counts = json.loads(files["counts.json"])
    assert counts["pairs"] == len(pairs)
    assert counts["counted"] == "answers"
    assert sum(counts["left_out"].values()) == len(rows) - paired
    assert counts["left_out"]["in the arm blind"] == len(rows) / 2
    assert counts["left_out"]["failed"] > 0
    for pair in pairs:
        (message,) = pair["prompt"]
        kinds = Counter(part["type"] for part in message["content"])
        assert (message["role"], kinds["image"], kinds["text"]) == ("user", len(pair["images"]), 1)
        for path in pair["images"]:
            assert Image.open(io.BytesIO(files[path])).width > 0


@pytest.mark.parametrize("kind", ["duel", "arena"])
async def test_verdicts_count_that_both_orders_share(settings: Settings, cases: Path, kind: str) -> None:
    """A pair is what two verdicts of one sign decide; ties and orders that disagree are counted, and so is all the rest."""
    if kind == "duel":
        done = await duel(DuelRequest.model_validate({**DUELLED, "data": cases}), settings=settings)
    else:
        models = ("sim/strong", "sim/steady", "sim/weak")
        asked = {"judge": "sim/judge", "models": models, "data": cases}
        done = await arena(ArenaRequest.model_validate(asked), settings=settings)
    rows, pairs, files = await written(settings, done.run)
    expected: list[tuple[str, str, str]] = []
    reasons: Counter[str] = Counter()
    for row in rows:
        first, second = row["verdict_first"], row["verdict_second"]
        if first is None or second is None:
            reasons["failed"] += 1
        elif first == second == 0:
            reasons["tie"] += 1
        elif first * second <= 0:
            reasons["orders disagree"] += 1
        else:
            own = (row["model"], row["baseline"])
            expected.append((row["id"], *(own if first > 0 else own[::-1])))
    assert pairs
    assert [(pair["sample"], pair["chosen_model"], pair["rejected_model"]) for pair in pairs] == expected
    counts = json.loads(files["counts.json"])
    assert counts["left_out"] == dict(sorted(reasons.items()))
    assert len(pairs) + sum(reasons.values()) == len(rows)


async def test_one_order_decides_nothing(settings: Settings, cases: Path) -> None:
    """A run with one order is refused, with the way out."""
    asked = DuelRequest.model_validate({**DUELLED, "data": cases, "single": True})
    done = await duel(asked, settings=settings)
    with Home.open(settings.home, write=False) as home, pytest.raises(ConfigError, match="without --single"):
        form_of(home, get_run(home, done.run), "preferences")


async def test_the_command_writes_a_folder_and_says_what_is_left_out(
    settings: Settings, request_of: Callable[..., EvaluationRequest], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """`export --as preferences` writes lines whose images are there, and prints the counts."""
    done = await evaluate(request_of(), settings=settings)
    folder = tmp_path / "pairs"
    words = ["export", done.run, "--as", "preferences", "-o", str(folder), "--home", str(settings.home)]
    assert await asyncio.to_thread(command, words) == 0  # The command runs an event loop of its own.
    said = capfd.readouterr().err
    lines = (folder / "preferences.jsonl").read_text().splitlines()
    assert f"{len(lines)} pairs; " in said
    assert "answers left out" in said
    assert all((folder / path).is_file() for line in lines for path in json.loads(line)["images"])
