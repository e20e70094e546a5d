"""Export of items to check: JSON lines to fill in elsewhere, with images and a page beside them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson
from pydantic import JsonValue

from dokimasia.domain.decision import Standing
from dokimasia.domain.question import PendingQuestion
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import InputError
from dokimasia.people.annotation import image_name
from dokimasia.people.checks.handing import image_folder, labelling_files, labelling_row
from dokimasia.people.checks.perturbed import PerturbationView, shown_perturbations
from dokimasia.runs.reading.exporting import make_folder, write_whole
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import get_question


def write_checks(settings: Settings, standings: Sequence[Standing], path: Path, *, who: str) -> list[Path]:
    """Write a run's items as a file, with its accompanying files (`check_files`), and return the paths.

    Raises:
        InputError: a file cannot be written.
    """
    with Home.open(settings.home, write=False) as home:
        files = check_files(home, standings, path.name, who=who)
    return write_files(files, path)


def check_files(
    home: Home, standings: Sequence[Standing], name: str, *, who: str, others: bool = False
) -> dict[str, bytes]:
    """Return the contents of a file of a run's items by name, with images and a page for labelling perturbations.

    Only questions to `who` are included. Others' decisions are included on items that `who` has decided, and with `others`
    on all.
    """
    stem = Path(name).stem
    folder = image_folder(stem)
    standings = [one for one in standings if not one.item.told(who)]
    asked = {one.item.id: get_question(home, one.item.id) for one in standings if one.item.kind == "question"}
    beside = {
        f"{folder}/{image_name(ref)}": home.blobs.get(ref.sha256)
        for ref in dict.fromkeys(ref for one in asked.values() for ref in _images(one))
    }
    shown: dict[str, PerturbationView] = {}
    if any(one.item.kind == "perturbation" for one in standings):
        shown = shown_perturbations(home, standings[0].item.run)
        beside |= dict(labelling_files(home, standings, who, stem))
    lines = b"".join(
        _question_row(one, asked[one.item.id], folder)
        if one.item.id in asked
        else _row(one, shown.get(one.item.subject), folder, who=None if others else who)
        for one in standings
    )
    return {name: lines, **beside}


def write_files(files: Mapping[str, bytes], path: Path) -> list[Path]:
    """Write what `check_files` returned, its first file as `path`, and return the paths.

    Raises:
        InputError: a file cannot be written, or would lie elsewhere than beside that one.
    """
    folder = image_folder(path.stem)
    for name in files:
        if name not in (path.name, f"{path.stem}.html") and (
            "\\" in name or name != f"{folder}/{Path(name).name}" or Path(name).name in ("", ".", "..")
        ):
            raise InputError(f"{name[:200]!r} is no file that lies beside {path}: nothing was written")
    for name, data in files.items():
        target = path.parent / name
        if target.parent != path.parent:
            make_folder(target.parent)
        write_whole(target, data)
    return [path.parent / name for name in files]


def _row(one: Standing, shown: PerturbationView | None, images: str, *, who: str | None) -> bytes:
    """Return the JSON line of an item: its text, its state, the decisions that `who` may see, and empty fields to fill in.

    `action` takes accept, edit (with `new_text`), delete (with `delete`, numbers of sentences from 1) or reject; of a caption
    `reasons` takes why it is edited or rejected (`CHANGE_REASONS`); of a
    perturbation `label` takes one of `LABELS`.
    """
    decisions = one.decisions if who is None else one.decisions_for(who)
    row: dict[str, JsonValue] = {
        "item": one.item.id,
        "run": one.item.run,
        "kind": one.item.kind,
        "sample": one.item.sample_id,
        "subject": one.item.subject,
        "text": one.item.text,
        "detail": one.item.detail,
        "state": one.state if who is None else one.state_for(who),
        "decisions": [made.model_dump(mode="json", exclude={"item", "number"}) for made in decisions],
    }
    row |= {"action": None, "new_text": None} if shown is None else {**labelling_row(shown, images), "label": None}
    if one.item.kind == "caption":
        row["reasons"] = []
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _question_row(one: Standing, question: PendingQuestion, images: str) -> bytes:
    """Return the JSON line of a question: its text, person, images, empty form, and `reply` to fill in."""
    row = {
        "item": one.item.id,
        "run": one.item.run,
        "kind": one.item.kind,
        "person": question.person,
        "prompt": question.prompt,
        "text": one.item.text,
        "images": [f"{images}/{image_name(ref)}" for ref in _images(question)],
        "form": question.aid.form,
        "state": one.state,
        "reply": question.reply,
    }
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _images(question: PendingQuestion) -> list[ImageRef]:
    return [ref for message in question.call.messages for ref in message.images]
