"""Predictions and cases of VLMEvalKit are judged here, and the rating goes back there, matched by id all the way."""

import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.__main__ import main
from dokimasia.datasets import named_file
from dokimasia.datasets.vlmevalkit import read_judged
from dokimasia.errors import ConfigError, DataError
from dokimasia.methods.duel import DuelRequest, duel
from dokimasia.methods.duel.exporting import vlmevalkit_files as files
from dokimasia.runs.lifecycle import RunResult
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.datasets.test_creation import BASE64, CASE, table
from tests.datasets.test_predictions import workbook

TASKS = ("travel_journal", "meme_explanation", "landscape_to_poem", "own_task")
COUNT = 12


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A table of twelve cases on one to three images, every third without factuality criteria."""
    cases = [
        CASE
        | {
            "index": str(100 + n),
            "question": f"Write piece {n}.",
            "task_name": TASKS[n % 4],
            "criteria": str({"subjective": "Vivid."} | ({"objective": "Two boats and a sign."} if n % 3 else {})),
            "image": str(BASE64[: 1 + n % 3]),
            "image_path": str([f"{n}_{one}.png" for one in range(1 + n % 3)]),
            "reference_answer_by_gpt4o": f"Boats and a sign, in reference {n}.",
        }
        for n in range(COUNT)
    ]
    return table(tmp_path / "Creation_MMBench.tsv", *cases)


def predictions(*, first: int = 100) -> list[dict[str, Any]]:
    """Return predictions in another order than the cases."""
    return [{"index": first + n, "prediction": f"=Piece {n} on two boats."} for n in reversed(range(COUNT))]


async def judged(settings: Settings, data: Path, responses: Path, **options: Any) -> RunResult:
    """Judge predictions against the reference answers."""
    fields = {"data": data, "judge": "sim/judge-noisy", "baseline": "reference", "responses": responses, **options}
    return await duel(DuelRequest.model_validate(fields), settings=settings)


def form(settings: Settings, run: str) -> dict[str, bytes]:
    """Return a run's files in VLMEvalKit's form."""
    with Home.open(settings.home, write=False) as home:
        return dict(files(home, get_run(home, run)))


async def test_predictions_are_judged_and_the_rating_is_read_back(
    settings: Settings, data: Path, tmp_path: Path
) -> None:
    """A workbook of predictions is judged; every verdict comes back by id, and the merged rating says what `show` says."""
    responses = workbook(tmp_path / "GPT4o_Creation_MMBench.xlsx", predictions())
    result = await judged(settings, data, responses)
    folder = tmp_path / "out"
    asked = ["export", result.run, "--as", "vlmevalkit", "-o", str(folder), "--home", str(settings.home)]
    with pytest.raises(SystemExit) as ended:
        main(asked)
    assert ended.value.code == 0
    rating = folder / "GPT4o_Creation_MMBench_merged_rating.json"
    cases = read_judged(rating)
    assert [case.id for case in cases] == [str(100 + n) for n in range(COUNT)]
    assert [case.answer for case in cases] == [f"=Piece {n} on two boats." for n in range(COUNT)]
    assert [case.factuality is None for case in cases] == [n % 3 == 0 for n in range(COUNT)]
    mine = result.summary["models"]["GPT4o"]
    merged = json.loads(rating.read_text())
    assert merged["overall"]["reward"] == pytest.approx(mine["reward"]["mean"])
    assert merged["overall"]["win_rate"] == pytest.approx(mine["win_rate"]["mean"])
    assert {"CATEGORY_Literary_Writing", *TASKS} <= merged.keys()


async def test_json_predictions_come_to_the_same_run(settings: Settings, data: Path, tmp_path: Path) -> None:
    """The form of the predictions does not matter: the same answers of the same model are the same run."""
    (tmp_path / "GPT4o_Creation_MMBench.json").write_text(json.dumps(predictions()))
    (tmp_path / "any.json").write_text(json.dumps(predictions()))
    first = await judged(settings, data, tmp_path / "GPT4o_Creation_MMBench.json")
    second = await judged(settings, data, named_file(f"GPT4o={tmp_path / 'any.json'}"))
    assert first.run == second.run
    assert form(settings, first.run) == form(settings, second.run)


async def test_unknown_ids_are_named(settings: Settings, data: Path, tmp_path: Path) -> None:
    """A prediction for a case that the data do not have is refused with its place, or left out and said."""
    path = tmp_path / "GPT4o_Creation_MMBench.json"
    path.write_text(json.dumps([*predictions(), {"index": 7, "prediction": "x"}]))
    with pytest.raises(DataError, match="entry 13: the data have no sample '7'"):
        await judged(settings, data, path)
    result = await judged(settings, data, path, on_bad_sample="skip")
    with Home.open(settings.home, write=False) as home:
        assert "no sample '7'" in str(get_run(home, result.run).options["skipped"])


async def test_one_order_has_no_merged_rating(settings: Settings, data: Path, tmp_path: Path) -> None:
    """A run with one order of places is refused, with the way out."""
    path = tmp_path / "GPT4o_Creation_MMBench.json"
    path.write_text(json.dumps(predictions()))
    result = await judged(settings, data, path, single=True)
    with pytest.raises(ConfigError, match="without --single"):
        form(settings, result.run)
