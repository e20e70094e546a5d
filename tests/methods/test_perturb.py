"""Perturbing end to end: every dimension makes items, what does not apply is no failure, and bad input is named."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dokimasia.agents.asking import RETRY_STRIDE
from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.call import Chat, ModelCall
from dokimasia.errors import ConfigError, DataError, TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.perturb import METHOD, PerturbedItem, PerturbRequest, perturb, perturbed_items
from dokimasia.methods.perturb.figures import items
from dokimasia.methods.perturb.request import NO_NEUTRAL, draw_dimensions
from dokimasia.prompts import recognise
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.report.document import render_document
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.outcome import RETRYABLE
from dokimasia.runs.preview import prepare
from dokimasia.runs.reading.reporting import report_data
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.gold_answers import faults_in_text
from dokimasia.simulation.image_edits import faults_in_image
from dokimasia.simulation.picture import read_scene
from dokimasia.simulation.picture_content import content_of_scene
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import generation_prompt, write_gold, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

TEXTS = {"perturber": "sim/judge", "checker": "sim/judge-noisy"}
IMAGES = {"task": "text-to-image", "perturber": "sim/judge", "editor": "sim/editor", "checker": "none"}


class Worlds:
    """Planted scenes with gold answers, and with the prompts of gold images, each perturbed in every dimension."""

    def __init__(self, folder: Path) -> None:
        self.texts, self.images = folder / "texts.jsonl", folder / "images.jsonl"
        write_gold(self.texts, 7, 2)
        write_gold(self.images, 7, 2, of_texts=False)
        self.settings = load_settings(home=folder / "home", cwd=folder, env={})
        self.of_texts = perturbed(self.settings, self.texts, **TEXTS)
        self.of_images = perturbed(self.settings, self.images, **IMAGES)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Worlds:
    """The planted world, perturbed once."""
    return Worlds(tmp_path_factory.mktemp("perturbed"))


def perturbed(settings: Settings, data: Path, transport: Any = None, **fields: Any) -> RunResult:
    """A finished run."""
    request = PerturbRequest.model_validate({"data": data, **fields})

    async def wait() -> RunResult:
        return await perturb(request, settings=settings, transports=None if transport is None else {"sim": transport})

    return asyncio.run(wait())


def made_of(settings: Settings, result: RunResult) -> list[PerturbedItem]:
    """The items of a run."""
    with Home.open(settings.home, write=False) as home:
        return perturbed_items(home, get_run(home, result.run))


def lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_every_dimension_of_texts_makes_items_on_the_planted_world(worlds: Worlds) -> None:
    """All 18 dimensions and harmless changes: each item is at fault in its own dimension and in no other."""
    found: Counter[str] = Counter()
    with Home.open(worlds.settings.home, write=False) as home:
        for one in made_of(worlds.settings, worlds.of_texts):
            sighting = read_scene(home.blobs.get(one.cluster))
            assert sighting is not None
            at_fault = {fault.dimension for fault in faults_in_text(one.item.perturbed, content_of_scene(sighting[0]))}
            assert at_fault == ({one.item.dimension} - {NEUTRAL})
            assert one.item.description
            found[one.item.dimension] += 1
    assert list(error_dimensions("image-to-text")) == [
        name for name in error_dimensions("image-to-text") if found[name]
    ]
    assert len(found) == 19


def test_every_dimension_of_images_makes_items_on_the_planted_world(worlds: Worlds) -> None:
    """All 21 dimensions and harmless changes: each edited image is at fault in its own dimension and in no other."""
    found: Counter[str] = Counter()
    with Home.open(worlds.settings.home, write=False) as home:
        for one in made_of(worlds.settings, worlds.of_images):
            assert one.item.perturbed_image is not None
            png = home.blobs.get(one.item.perturbed_image.sha256)
            assert set(faults_in_image(png)) == ({one.item.dimension} - {NEUTRAL})
            assert one.item.instruction
            found[one.item.dimension] += 1
    assert set(found) == set(error_dimensions("text-to-image"))
    assert len(found) == 22


def test_what_does_not_apply_is_counted_and_no_failure(worlds: Worlds) -> None:
    """Every sample is accounted for in every dimension: made, not applicable, too short or failed; groups add up."""
    summary = worlds.of_texts.summary
    parts = ("made", "not_applicable", "failed")
    for one in (summary, *summary["dimensions"].values(), *summary["groups"].values()):
        assert one["asked"] == sum(one[part] for part in parts)
        assert one["coverage"] == 1.0
    assert summary["not_applicable"] > 0
    assert summary["failed"] == summary["open_items"] == 0
    for name in ("asked", "made", "checked"):
        assert sum(one[name] for one in summary["groups"].values()) == summary[name]
    assert summary["groups"]["VG"]["title"] == "Visual Grounding"


def test_a_noisy_checker_is_heard_and_decides_nothing(worlds: Worlds) -> None:
    """What the checker doubts stays an item, is counted, and comes with a hint in words."""
    doubted = [one for one in made_of(worlds.settings, worlds.of_texts) if one.doubts]
    agreed = worlds.of_texts.summary["agreed"]
    assert len(doubted) == agreed["n"] - agreed["k"] > 0
    assert all(one.hint.startswith("The checker ") for one in doubted)
    assert sum(worlds.of_texts.summary["doubts"].values()) >= len(doubted)


def test_each_item_comes_with_its_word_level_difference(worlds: Worlds) -> None:
    """Both answers can be read off what `--json` of a sample gives."""
    with Home.open(worlds.settings.home, write=False) as home:
        run = get_run(home, worlds.of_texts.run)
        views: list[Any] = [view for view in items(home, run) if view["perturbed"]]
    for one in views:
        for answer, other in (("gold", "added"), ("perturbed", "removed")):
            text = "".join(text for kind, text in one["difference"] if kind != other)
            assert "".join(text.split()) == "".join(one[answer].split())


def test_a_perturber_that_meddles_is_sent_back_and_found_out(worlds: Worlds) -> None:
    """Changing nothing or everything fails after a second try, told apart; what is worse beside is doubted by the checker."""
    meddling = perturbed(worlds.settings, worlds.texts, perturber="sim/judge-meddler", checker="sim/judge")
    summary = meddling.summary
    assert summary["changed_nothing"] > 0
    assert summary["changed_all"] > 0
    assert summary["failed"] >= summary["changed_nothing"] + summary["changed_all"]
    assert summary["doubts"]["also"] > 0
    doubted = [one for one in made_of(worlds.settings, meddling) if "also" in one.doubts]
    assert all("worse in" in one.hint for one in doubted)


def test_gold_answers_are_written_checked_and_left_out_where_they_are_wrong(worlds: Worlds, tmp_path: Path) -> None:
    """A writer that errs is caught by the checker: nothing is made from an answer that was found wrong, and it is counted."""
    data = tmp_path / "world.jsonl"
    write_world(data, 14, 3)
    asked = {"gold_writer": "sim/steady", "perturber": "sim/judge", "dimensions": ("numerical_errors", "LG")}
    summary = perturbed(worlds.settings, data, **asked).summary
    golds = summary["golds"]
    assert golds["wrong"] > 0
    assert golds["written"] > 0
    assert golds["written"] + golds["wrong"] == 14
    assert summary["asked"] == 4 * golds["written"]
    assert summary["made"] == summary["asked"]


def test_a_gold_answer_of_the_data_that_is_wrong_is_found_before_anything_is_planted_in_it(
    worlds: Worlds, tmp_path: Path
) -> None:
    """An error that stands in the data's gold answer costs its sample and no other; with nobody to check, it stays."""
    rows = [json.loads(line) for line in worlds.texts.read_text().splitlines()]
    wrong = next(one for one in made_of(worlds.settings, worlds.of_texts) if one.item.dimension == "numerical_errors")
    for row in rows:
        row["image"] = str(worlds.texts.parent / row["image"])
        if row["id"] == wrong.item.sample_id:
            row["gold"] = wrong.item.perturbed
    data = lines(tmp_path / "wrong.jsonl", rows)
    asked = {"perturber": "sim/judge", "dimensions": ("attribute_distortion",), "allow_outside": True}
    summary = perturbed(worlds.settings, data, **asked).summary
    assert (summary["golds"]["given"], summary["golds"]["right"], summary["golds"]["wrong"]) == (7, 6, 1)
    assert summary["asked"] == 6
    unchecked = perturbed(worlds.settings, data, **asked, checker="none").summary
    assert (unchecked["golds"]["right"], unchecked["golds"]["wrong"], unchecked["asked"]) == (0, 0, 7)


@pytest.mark.parametrize("of_texts", [True, False], ids=["texts", "images"])
def test_nothing_is_made_from_a_gold_answer_whose_check_failed_until_it_is_checked_again(
    worlds: Worlds, tmp_path: Path, of_texts: bool
) -> None:
    """It counts as failed, whether an answer or an image of the data; a retry checks it and makes its items."""
    prompt, data = ("gold_check", worlds.texts) if of_texts else ("gold_image_check", worlds.images)
    asked = {"perturber": "sim/judge", "dimensions": ("numerical_errors",)}
    if not of_texts:
        asked = {**IMAGES, "checker": "sim/judge", "dimensions": ("object_substitution",)}
    checks: list[Chat] = []

    def fail(call: ModelCall) -> TransportError | None:
        prompted = recognise(call.messages[:2]) if isinstance(call, Chat) else None
        if prompted is None or prompted.name != prompt or not isinstance(call, Chat):
            return None
        checks.append(call)
        first = call.messages == checks[0].messages and call.repeat < RETRY_STRIDE
        return TransportError("bad_request", "not now", retryable=False) if first else None

    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    transport = CountingTransport(SimTransport(), fail=fail)
    result = perturbed(settings, data, transport, limit=3, max_failures="100%", **asked)
    golds = result.summary["golds"]
    assert (golds["given"], golds["right"], golds["failed"]) == (3, 2, 1)
    assert result.summary["asked"] == result.summary["made"] == 2
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, result.run)
    again = asyncio.run(resume(run, settings=settings, transports={"sim": transport}, retry=RETRYABLE))
    golds = again.summary["golds"]
    assert (golds["right"], golds["failed"], again.summary["made"]) == (3, 0, 3)


def test_gold_images_are_made_by_an_image_model_checked_and_edited(worlds: Worlds, tmp_path: Path) -> None:
    """Data without images: each is made by its prompt; one that strays is found wrong, and nothing is made from it."""
    rows = [json.loads(line) for line in worlds.images.read_text().splitlines()]
    for row in rows:
        del row["image"]
    data = lines(tmp_path / "prompts.jsonl", rows)
    asked = {**IMAGES, "checker": "sim/judge", "dimensions": ("object_substitution",)}
    with pytest.raises(DataError, match="exactly one image"):
        perturbed(worlds.settings, data, **asked)
    result = perturbed(worlds.settings, data, **asked, gold_writer="sim/editor")
    assert (result.summary["golds"]["written"], result.summary["golds"]["wrong"]) == (7, 0)
    made = made_of(worlds.settings, result)
    assert len(made) == result.summary["made"] == 7
    with Home.open(worlds.settings.home, write=False) as home:
        shown = render_document(asyncio.run(report_data(home, get_run(home, result.run))))
        assert "checked by sim/judge: 7 by sim/editor found right, 0 found wrong, 0 failed; nothing is made" in shown
        for one, row in zip(made, rows, strict=True):
            assert one.item.gold_image is not None
            assert one.item.perturbed_image is not None
            scene = read_scene(home.blobs.get(one.item.gold_image.sha256))
            assert scene is not None
            assert generation_prompt(scene[0]) == row["prompt"], "the image shows what the prompt asks for"
            assert faults_in_image(home.blobs.get(one.item.perturbed_image.sha256)) == ("object_substitution",)
    careless = perturbed(worlds.settings, data, **asked, gold_writer="sim/editor-careless", seed=5).summary
    assert careless["golds"]["wrong"] > 0
    assert careless["asked"] == careless["golds"]["written"]
    again = perturbed(worlds.settings, worlds.images, **asked).summary["golds"]
    assert (again["given"], again["right"], again["written"]) == (7, 7, 0), "those of the data are checked, too"


def test_a_gold_answer_of_one_word_is_not_asked_about_where_it_cannot_work(settings: Settings, tmp_path: Path) -> None:
    """Nobody is asked to reorder the steps of one word; where no dimension is left, the run is refused with the way out."""
    data = tmp_path / "world.jsonl"
    write_world(data, 7, 3)
    rows = [json.loads(line) | {"reference_answer": "red"} for line in data.read_text().splitlines()]
    lines(data, rows)
    chosen = ("numerical_errors", "procedural_reordering")
    summary = perturbed(settings, data, perturber="sim/judge", dimensions=chosen).summary
    assert summary["dimensions"]["procedural_reordering"]["too_short"] == 7
    assert summary["dimensions"]["procedural_reordering"]["asked"] == 0
    assert summary["dimensions"]["numerical_errors"]["not_applicable"] == 7
    with pytest.raises(DataError, match="every gold answer has too few words for tone_mismatch; give longer ones"):
        perturbed(settings, data, perturber="sim/judge", dimensions=("tone_mismatch",))


def test_edited_images_are_brought_in_a_file(worlds: Worlds, tmp_path: Path) -> None:
    """Images that were edited elsewhere become items without a call."""
    with Home.open(worlds.settings.home, write=False) as home:
        made = made_of(worlds.settings, worlds.of_images)[:5]
        for number, one in enumerate(made):
            assert one.item.perturbed_image is not None
            (tmp_path / f"{number}.png").write_bytes(home.blobs.get(one.item.perturbed_image.sha256))
    rows = [
        {
            "id": one.item.sample_id,
            "dimension": one.item.dimension,
            "image": f"{n}.png",
            "instruction": "So.",
            "description": "",
        }
        for n, one in enumerate(made)
    ]
    file = lines(tmp_path / "edited.jsonl", rows)
    brought = perturbed(worlds.settings, worlds.images, task="text-to-image", edited=file)
    assert brought.summary["brought"]
    assert (brought.summary["made"], brought.summary["calls"]) == (5, 0)
    found = made_of(worlds.settings, brought)
    assert {(one.item.sample_id, one.item.dimension) for one in found} == {
        (row["id"], row["dimension"]) for row in rows
    }
    assert all(one.item.by == "" and not one.checked for one in found)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"id": "nobody"}, "line 1: the data have no sample 'nobody'"),
        ({"dimension": "numerical_errors"}, "'numerical_errors' is no dimension that is asked for"),
        ({"image": "none.png"}, "there is no image file"),
        ({"image": ""}, "the field 'image' is missing"),
        ({"colour": "red"}, "there is no field 'colour'"),
        ({"image": "images/{id}.png"}, "the edited image is the one that the sample has: nothing was changed"),
    ],
)
def test_a_file_of_edited_images_with_faults_is_refused(worlds: Worlds, row: dict[str, str], reason: str) -> None:
    """Unknown samples, dimensions and files, and images that are not edited, are named with their line."""
    id = json.loads(worlds.images.read_text().splitlines()[0])["id"]
    whole = {"id": id, "dimension": "overcrowding", "image": "images/other.png", **row}
    whole["image"] = whole["image"].format(id=id)
    file = lines(worlds.images.parent / "edited.jsonl", [whole])
    with pytest.raises(DataError, match=r"edited\.jsonl, line 1") as refused:
        perturbed(worlds.settings, worlds.images, task="text-to-image", edited=file)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "name who perturbs with `perturber`"),
        ({"perturber": "sim/judge", "dimensions": ("VG", "XX")}, "`dimensions`: XX: no dimension or group"),
        (
            {"perturber": "sim/judge", "dimensions": ("overcrowding",)},
            "overcrowding: no dimension or group of image-to-text",
        ),
        ({"perturber": "sim/judge", "editor": "sim/editor"}, "are for images: give `task` text-to-image"),
        ({"perturber": "sim/judge", "task": "text-to-image"}, "name an image model with `editor`"),
        (
            {"perturber": "sim/judge", "gold_writer": "sim/strong", "checker": "none"},
            "gold answers that a model writes are checked",
        ),
        ({**IMAGES, "gold_writer": "sim/editor"}, "gold answers that a model writes are checked"),
    ],
)
def test_options_that_do_not_go_together_are_refused(worlds: Worlds, fields: dict[str, Any], reason: str) -> None:
    """The message names the option and the way out."""
    with pytest.raises(ConfigError) as refused:
        perturbed(worlds.settings, worlds.texts, **fields)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"gold": None}, "a sample without a gold answer: natural-"),
        ({"gold": 7}, "the field 'gold' is no text"),
        ({"gold": "  "}, "the field 'gold' is no text"),
        ({"image": None}, "a sample has an image; not so: natural-"),
    ],
)
def test_data_without_gold_answers_or_images_are_refused(
    worlds: Worlds, changes: dict[str, Any], reason: str, settings: Settings
) -> None:
    """The samples are named, with the ways to give a gold answer."""
    first, *rest = (json.loads(line) for line in worlds.texts.read_text().splitlines())
    row = {name: value for name, value in (first | changes).items() if value is not None}
    data = lines(worlds.texts.parent / "bad.jsonl", [row, *rest])
    with pytest.raises(DataError) as refused:
        perturbed(settings, data, **TEXTS)
    assert reason.removeprefix("a sample without") in str(refused.value)


def test_leaving_out_harmless_changes_is_said(worlds: Worlds) -> None:
    """Before the run and beside its figures stands what to add, unless harmless changes are among the dimensions."""
    for names, told in ((("numerical_errors",), True), (("numerical_errors", "score_neutral"), False)):
        asked = {**TEXTS, "data": worlds.texts, "dimensions": names}
        prepared = asyncio.run(prepare(METHOD, PerturbRequest.model_validate(asked), settings=worlds.settings))
        assert (NO_NEUTRAL in prepared.estimate.notes) == told


def test_so_many_of_each_dimension_are_drawn_evenly() -> None:
    """With --per each dimension is asked of so many samples, and no sample serves twice more often than another."""
    samples = [str(number) for number in range(12)]
    without: dict[str, set[str]] = {name: set() for name in ("a", "b", "c", "d", "e", "f")} | {"g": set(samples[:10])}
    found = draw_dimensions(samples, without, per=4, seed=1)
    counts = Counter(name for names in found.values() for name in names)
    assert counts == {**dict.fromkeys("abcdef", 4), "g": 2}
    assert {len(names) for names in found.values()} <= {2, 3}
    assert draw_dimensions(samples, without, per=4, seed=1) == found
    assert draw_dimensions(samples, without, per=4, seed=2) != found
