"""What visual factuality is judged by: the ground truth, the images where there is none; without both it is not asked."""

import asyncio
import json
from typing import Any

import pytest
from PIL import Image

from dokimasia.agents.duel import score_factuality
from dokimasia.domain.call import Chat, Message
from dokimasia.domain.duel import criteria_of
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.duel import METHOD, DuelRequest, duel
from dokimasia.methods.duel.figures import Cases, Factuality
from dokimasia.methods.duel.results import duel_items
from dokimasia.prompts import recognise, render
from dokimasia.report.blocks import Paragraph, plain
from dokimasia.runs.preview import prepare
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.runs.reading.reporting import report_data
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run, load_samples

CASES = {"both": ("red", True), "truth": ("red", False), "image": ("", True), "neither": ("", False)}
NOTHING_KNOWN = "neither a ground truth nor an image to judge it by"


@pytest.fixture(scope="module")
def request_of(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A request for duels: of the cases one has ground truth and image, two have one of them, one none, one no criteria."""
    folder = tmp_path_factory.mktemp("factual")
    Image.new("RGB", (64, 64), "red").save(folder / "red.png")
    rows: list[dict[str, Any]] = []
    for id, (truth, pictured) in CASES.items():
        criteria = {"subjective": "It is vivid.", "factuality": "1. It names the colour."}
        meta = {"criteria": criteria} | ({"ground_truth": f"It is {truth}."} if truth else {})
        rows.append({"id": id, "prompt": f"Write of {id}.", "meta": meta, "images": ["red.png"] * pictured})
    rows.append({"id": "none", "prompt": "Write.", "images": ["red.png"]})
    data, answers = folder / "cases.jsonl", folder / "answers.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = [{"id": row["id"], "model": name, "response": f"{name}: blue."} for row in rows for name in "bm"]
    answers.write_text("".join(json.dumps(one) + "\n" for one in given))
    base = {"data": data, "responses": answers, "baseline": "b", "judge": "sim/judge"}
    return lambda **changes: DuelRequest.model_validate({**base, **changes})


def run(settings: Settings, request: DuelRequest) -> tuple[Any, list[tuple[str, Chat]]]:
    """Return the result of a run, and the calls of visual factuality, each with its case."""
    transport = CountingTransport(SimTransport())
    done = asyncio.run(duel(request, settings=settings, transports={"sim": transport}))
    assert done.summary["calls"] == len(transport.sent)
    asked: list[tuple[str, Chat]] = []
    for call in transport.sent:
        found = recognise(call.messages) if isinstance(call, Chat) else None
        if isinstance(call, Chat) and found is not None and found.name == "duel_factuality":
            asked.append((found.inputs["question"].removeprefix("Write of ").rstrip("."), call))
    return done, asked


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        ("text", {("both", False), ("truth", False), ("image", True)}),
        ("image", {("both", True), ("truth", False), ("image", True)}),
        ("none", set[Any]()),
    ],
)
def test_the_judge_goes_by_the_ground_truth_or_by_the_images(
    request_of: Any, settings: Settings, by: str, wanted: set[tuple[str, bool]]
) -> None:
    """Without a ground truth the judge is shown the images, a case with neither is not asked, and the estimate counts so."""
    _, asked = run(settings, request_of(factuality=by))
    assert {(case, any(message.images for message in call.messages)) for case, call in asked} == wanted
    assert len(asked) == 2 * len(wanted)
    accepted = asyncio.run(prepare(METHOD, request_of(factuality=by), settings=settings))
    assert accepted.estimate.calls == 2 * (len(CASES) + 1) + len(asked)
    assert ("duel_factuality" in accepted.plan.prompts) is bool(wanted)


def test_a_call_with_a_ground_truth_shows_texts_alone(request_of: Any, settings: Settings) -> None:
    """The judge that has a ground truth is sent what it is sent without images, byte for byte, whether the case has any."""
    done, asked = run(settings, request_of())
    with Home.open(settings.home, write=False) as home:
        samples = {sample.id: sample for sample in load_samples(home, done.run)}
    for id in ("both", "truth"):
        ask = score_factuality(samples[id], criteria_of(samples[id]), ("m: blue.", "b: blue."), sees=False)
        messages: tuple[Message, ...] = render(ask.prompt, ask.inputs).messages
        assert [call.messages for case, call in asked if case == id].count(messages) == 1


def test_a_case_that_cannot_be_judged_has_no_score_and_says_why(request_of: Any, settings: Settings) -> None:
    """Figures count to how many cases visual factuality does not apply; the case, the export and the page say why."""
    done, _ = run(settings, request_of())
    found = Factuality.model_validate(done.summary["models"]["m"]["factuality"])
    assert (found.n, found.not_applicable, found.judged, found.failed) == (3, 2, 6, 0)
    cases = Cases.model_validate(done.summary["cases"])
    assert (cases.factuality_criteria, cases.factuality_by_image, cases.factuality_unknown) == (4, 1, 1)
    with Home.open(settings.home, write=False) as home:
        stored = get_run(home, done.run)
        items = {item["sample"]: item for item in duel_items(home, stored)}
        exported = {row["id"]: row for row in asyncio.run(export_rows(home, stored)).rows}
        data = asyncio.run(report_data(home, stored))
    assert [one["asked"] for one in items["neither"]["judgements"]] == ["verdict", "verdict"]
    for by_case in (items, exported):
        assert {id: one["factuality_not_applicable"] for id, one in by_case.items()} == {
            **dict.fromkeys(("both", "truth", "image")),
            "neither": NOTHING_KNOWN,
            "none": "no criteria of visual factuality",
        }
    assert exported["neither"]["factuality_first"] is None
    assert items["neither"]["failure"] is None
    section = METHOD.report.drawing().sections[0](data)
    assert section is not None
    assert (
        "Visual factuality is judged by the ground truth alone, and by the images in 1 case without a ground truth; it does "
        "not apply to 1 case without criteria of it and to 1 whose judge is shown neither a ground truth nor an image, which "
        "are no failures."
    ) in [plain(block.text) for block in section.blocks if isinstance(block, Paragraph)]
