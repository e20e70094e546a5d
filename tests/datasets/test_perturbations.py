"""Perturbations read from files: what a line may hold, what is wrong with it, and who decided."""

import base64
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dokimasia.datasets.perturbations import TASKS, GivenPerturbation, read_perturbations
from dokimasia.errors import DataError, NotFound
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.storage.memory import MemoryBlobs

DIMENSIONS = {task: tuple(error_dimensions(task)) for task in TASKS}
TEXT: dict[str, Any] = {
    "id": "a",
    "task": "image-to-text",
    "image": "red.png",
    "prompt": "What is this?",
    "gold": "A red square.",
    "perturbed": "A blue square.",
    "dimension": "attribute_distortion",
}
PICTURE: dict[str, Any] = {
    "id": "b",
    "task": "text-to-image",
    "prompt": "A red square.",
    "gold_image": "red.png",
    "perturbed_image": "blue.png",
    "dimension": "attribute_manipulation",
    "instruction": "Make it blue.",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two small pictures."""
    for colour in ("red", "blue"):
        (tmp_path / f"{colour}.png").write_bytes(_png(colour))
    return tmp_path


def _png(colour: str) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(written, "PNG")
    return written.getvalue()


def _read(folder: Path, rows: Sequence[Any], **how: Any) -> list[GivenPerturbation]:
    path = folder / "items.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return read_perturbations(path, dimensions=DIMENSIONS, **how)


def test_texts_and_pictures_are_read_with_their_samples(folder: Path) -> None:
    """A text has its sample's image, a made picture has the prompt, with the gold one as the sample's image; bytes are kept."""
    blobs = MemoryBlobs()
    text, picture = _read(folder, [TEXT, PICTURE], blobs=blobs)
    assert (text.item.gold, text.item.perturbed, text.item.sample) == (
        "A red square.",
        "A blue square.",
        text.sample.digest,
    )
    assert text.sample.prompt == "What is this?"
    assert picture.sample.images == (picture.item.gold_image,)
    assert picture.item.instruction == "Make it blue."
    for ref in (*text.sample.images, picture.item.gold_image, picture.item.perturbed_image):
        assert ref is not None
        assert blobs.get(ref.sha256)


def test_items_may_share_a_sample(folder: Path) -> None:
    """Lines that name one sample have one, and a line that says otherwise of it is a fault."""
    rows = [TEXT | {"sample": "s"}, TEXT | {"id": "c", "sample": "s", "perturbed": "A green square."}]
    first, second = _read(folder, rows)
    assert first.sample == second.sample
    with pytest.raises(DataError, match=r"line 2 \(id 'c'\): sample 's' has another prompt than on line 1"):
        _read(folder, [rows[0], rows[1] | {"prompt": "Another?"}])
    first, second = _read(folder, [rows[0], rows[1] | {"category": None}])
    assert first.sample == second.sample


def test_images_may_stand_in_the_line(folder: Path) -> None:
    """An image is a path, a data URI or base64, as in any data file."""
    uri = f"data:image/png;base64,{base64.b64encode(_png('blue')).decode()}"
    (picture,) = _read(folder, [PICTURE | {"perturbed_image": uri}])
    (by_path,) = _read(folder, [PICTURE])
    assert picture.item == by_path.item


def test_who_decided_first_settles(folder: Path) -> None:
    """The first label counts; one label alone stands beside its annotator, or beside nobody."""
    said = [{"annotator": "anna", "label": "valid"}, {"annotator": "ben", "label": "incorrect"}]
    both, one, none, nameless = _read(
        folder,
        [
            TEXT | {"labels": said},
            TEXT | {"id": "b", "label": "score_invariant", "annotator": "ben"},
            TEXT | {"id": "c"},
            TEXT | {"id": "d", "label": "not_sure"},
        ],
    )
    assert both.label == "valid"
    assert [made.annotator for made in both.labels] == ["anna", "ben"]
    assert (one.label, none.label, nameless.label) == ("score_invariant", None, "not_sure")
    assert nameless.labels[0].annotator == ""


def test_a_limit_takes_the_first(folder: Path) -> None:
    """With a limit the rest is left."""
    assert [one.id for one in _read(folder, [TEXT, TEXT | {"id": "c"}], limit=1)] == ["a"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "broken JSON"),
        (TEXT | {"id": ""}, "the field 'id' is missing"),
        (TEXT | {"task": "text"}, "the field 'task' is 'text', not image-to-text or text-to-image"),
        ({key: TEXT[key] for key in TEXT if key != "task"}, "the field 'task' is missing"),
        (TEXT | {"dimension": "tpyo"}, "'tpyo' is no dimension of image-to-text; there are entity_substitution"),
        (PICTURE | {"dimension": "tone_mismatch"}, "'tone_mismatch' is no dimension of text-to-image"),
        (TEXT | {"dimension": None}, "the field 'dimension' is missing"),
        (TEXT | {"gold": " "}, "the field 'gold' is missing"),
        (TEXT | {"perturbed": 3}, "the field 'perturbed' is no text"),
        (TEXT | {"perturbed": "A  red square. "}, "nothing was changed"),
        (PICTURE | {"perturbed_image": "red.png"}, "nothing was changed"),
        (TEXT | {"gold_image": "red.png"}, "there is a field 'gold_image', which image-to-text does not have"),
        (PICTURE | {"gold": "x"}, "there is a field 'gold', which text-to-image does not have"),
        (PICTURE | {"prompt": ""}, "the field 'prompt' is missing"),
        (TEXT | {"image": "green.png"}, "there is no image file 'green.png'"),
        (TEXT | {"image": None}, "the field 'image' is missing"),
        (PICTURE | {"gold_image": "green.png"}, "there is no image file 'green.png'"),
        (PICTURE | {"perturbed_image": "/etc/passwd"}, "--allow-outside"),
        (PICTURE | {"perturbed_image": "https://example.org/a.png"}, "--allow-fetch"),
        (TEXT | {"label": "good"}, "'good' is no label; there are valid, score_invariant, incorrect"),
        (TEXT | {"labels": "valid"}, "the field 'labels' is not a list"),
        (TEXT | {"labels": [{"label": "valid"}], "label": "valid"}, "both 'label' and 'labels'"),
        (
            TEXT | {"labels": [{"annotator": "a", "label": "valid"}, {"annotator": "a", "label": "incorrect"}]},
            "a has labelled it twice",
        ),
        (TEXT | {"lable": "valid"}, "there is no field 'lable'"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(folder: Path, row: Any, said: str) -> None:
    """Each fault is named with file, line and what to do, and a good line beside it does not hide it."""
    with pytest.raises(DataError) as caught:
        _read(folder, [TEXT | {"id": "good"}, row])
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{folder / 'items.jsonl'}, line 2")
    assert "line 1" not in str(caught.value)


def test_all_faults_are_named_at_once(folder: Path) -> None:
    """Several lines, and several faults of one line, are one message; each image's fault stands in it once."""
    with pytest.raises(DataError) as caught:
        _read(folder, [TEXT | {"dimension": "x", "label": "y"}, TEXT, PICTURE | {"gold_image": "none.png"}])
    lines = str(caught.value).splitlines()
    assert [line.partition("line ")[2][0] for line in lines] == ["1", "1", "2", "3"]


def test_an_empty_file_and_none_are_said(folder: Path) -> None:
    """A file without a line, and a file that is not there, are two different mistakes."""
    with pytest.raises(DataError, match="no perturbation in it"):
        _read(folder, [""])
    with pytest.raises(NotFound):
        read_perturbations(folder / "other.jsonl", dimensions=DIMENSIONS)
