"""Errors in the reasoning before a final answer: no errors to the evaluator that judges final answers alone."""

import asyncio
import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.planted_perturbations import write_perturbations
from dokimasia.domain.blindspots import Perturbed
from dokimasia.errors import ConfigError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.probe import METHOD, ProbeRequest
from dokimasia.methods.probe.passports import check_of
from dokimasia.methods.probe.units import changes_final_answer
from dokimasia.people.passports import JudgeCheck, check_blocks
from dokimasia.report.blocks import Paragraph, Table, plain
from dokimasia.runs.lifecycle import run
from dokimasia.runs.preview import prepare
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home


def items_in(folder: Path, *, changed: int) -> int:
    """Write errors in texts that end with a final answer, which `changed` of the errors change; return their number."""
    path = folder / "items.jsonl"
    write_perturbations(path, 3, dimensions=("numerical_errors", "entity_substitution"))
    rows = [orjson.loads(line) for line in path.read_text().splitlines()]
    for number, row in enumerate(rows):
        row["gold"] += "\n\nFinal answer: One"
        final = "one." if number >= changed else f"{number + 2}"
        row["perturbed"] += f"\n\nFinal answer: {final}"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return len(rows)


def settings_of(folder: Path) -> Settings:
    return load_settings(home=folder / "home", cwd=folder, env={})


def checked(folder: Path, transport: Any, **fields: Any) -> JudgeCheck:
    settings = settings_of(folder)
    request = ProbeRequest.model_validate(
        {"data": folder / "items.jsonl", "judges": ("sim/judge",), "unchecked": True, **fields}
    )
    done = asyncio.run(run(METHOD, request, settings=settings, transports={"sim": transport}))
    assert done.complete
    assert done.summary["open_items"] == 0
    with Home.open(settings.home, write=False) as home:
        return check_of(home, "sim/judge", (done.run,))[0]


@pytest.mark.parametrize(
    ("gold", "perturbed", "changes"),
    [
        ("A bus.\nFinal answer: 40%", "A car.\nFinal answer:  40%.", False),
        ("A bus.\nFinal answer: 40%", "A bus.\nFinal answer: 41%", True),
        ("A bus.\nFinal answer: 40%", "A bus.", True),
        ("A bus.", "A car.", True),
        ("A bus.", "a  bus", False),
    ],
)
def test_a_change_counts_if_it_changes_the_final_answer(gold: str, perturbed: str, changes: bool) -> None:
    """Without a line of its own for the final answer the whole text is the answer."""
    item = Perturbed(
        sample="0", sample_id="s", task="image-to-text", dimension="numerical_errors", gold=gold, perturbed=perturbed
    )
    assert changes_final_answer(item) is changes


def test_right_or_wrong_is_asked_about_changed_final_answers_alone(tmp_path: Path) -> None:
    """Two errors change the final answer: they and their gold answers are judged, and the others are counted."""
    errors = items_in(tmp_path, changed=2)
    counting = CountingTransport(SimTransport())
    check = checked(tmp_path, counting, evaluators=("single-vanilla", "right-or-wrong"), retests=0)
    decided = next(use for use in check.uses if use.evaluator == "right-or-wrong")
    scored = next(use for use in check.uses if use.evaluator == "single-vanilla")
    assert [use.qualities[0].n for use in (scored, decided)] == [errors, 2]
    assert (check.unjudged, check.perturbations) == ({"right-or-wrong": errors - 2}, errors)
    golds = [json.loads(row)["gold"] for row in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert len(counting.sent) == (len(set(golds)) + errors) + (len(set(golds[:2])) + 2)
    notes = [plain(block.text) for block in check_blocks(check) if isinstance(block, Paragraph)]
    assert any(f"{errors - 2} of {errors} perturbations leave the final answer as it is" in note for note in notes)
    assert any(note.startswith("False alarms were not measured: no harmless change") for note in notes)
    (qualities,) = [
        block for block in check_blocks(check) if isinstance(block, Table) and block.about == "What was measured"
    ]
    assert {str(row[0]) for row in qualities.rows} == {"single-vanilla", "right-or-wrong"}


def test_right_or_wrong_is_not_asked_about_padding_beside_a_final_answer(tmp_path: Path) -> None:
    """The padding is no part of what it judges; a judge of the whole answer is asked about it."""
    items_in(tmp_path, changed=2)
    check = checked(tmp_path, SimTransport(), evaluators=("single-vanilla", "right-or-wrong"), padded=True)
    measured = {use.evaluator: [quality.name for quality in use.qualities] for use in check.uses}
    assert "length bias" in measured["single-vanilla"]
    assert "changed by length" not in measured["right-or-wrong"]


def test_without_a_changed_final_answer_there_is_no_verdict_by_right_or_wrong(tmp_path: Path) -> None:
    """It is left out with a note, nothing is asked for it, and alone it is refused before anything is asked."""
    errors = items_in(tmp_path, changed=0)
    check = checked(tmp_path, SimTransport(), evaluators=("single-vanilla", "right-or-wrong"))
    assert [use.evaluator for use in check.uses] == ["single-vanilla"]
    notes = [plain(block.text) for block in check_blocks(check) if isinstance(block, Paragraph)]
    assert any(note.startswith("right-or-wrong is left out, without a verdict") for note in notes)
    alone = ProbeRequest(
        data=tmp_path / "items.jsonl", judges=("sim/judge",), evaluators=("right-or-wrong",), unchecked=True
    )
    with pytest.raises(ConfigError, match=f"none of the {errors} perturbations changes one"):
        asyncio.run(prepare(METHOD, alone, settings=settings_of(tmp_path)))
