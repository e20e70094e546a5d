"""Export of items to check: JSON lines to fill in outside the home, with images and a page."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import orjson
from pydantic import JsonValue

from dokimasia.domain.decision import Standing
from dokimasia.domain.question import PendingQuestion
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import InputError
from dokimasia.people.annotation import form_page, image_name, image_uri
from dokimasia.people.checks.perturbed import MEANINGS, PerturbationView, shown_perturbations
from dokimasia.report.blocks import plain
from dokimasia.report.differences import difference
from dokimasia.runs.reading.exporting import make_folder, write_whole
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import get_question

QUESTION = "What is the change?"


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

    Only questions to `who` are included. Others' decisions are included for items that `who` has decided or, with
    `others`, for all items.
    """
    stem = Path(name).stem
    folder = image_folder(stem)
    standings = [standing for standing in standings if not standing.item.told(who)]
    further: dict[str, bytes] = {}
    shown: dict[str, PerturbationView] = {}
    if any(standing.item.kind == "perturbation" for standing in standings):
        shown = shown_perturbations(home, standings[0].item.run)
        further |= dict(labelling_files(home, standings, who, stem))
    lines: list[bytes] = []
    for standing in standings:
        if standing.item.kind == "question":
            question = get_question(home, standing.item.id)
            further |= {f"{folder}/{image_name(ref)}": home.blobs.get(ref.sha256) for ref in _images(question)}
            lines.append(_question_row(standing, question, folder))
        else:
            view = shown.get(standing.item.subject)
            lines.append(_row(standing, view, folder, who=None if others else who))
    return {name: b"".join(lines), **further}


def write_files(files: Mapping[str, bytes], path: Path) -> list[Path]:
    """Write the files from `check_files`, the first one as `path`, and return the paths.

    Raises:
        InputError: a file cannot be written, or would lie outside the folder of `path`.
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


def _row(standing: Standing, shown: PerturbationView | None, images: str, *, who: str | None) -> bytes:
    """Return the JSON line of an item: its text, its state, the decisions that `who` may see, and fields to fill in.

    `action` takes accept, edit (with `new_text`), delete (with `delete`, numbers of sentences from 1) or reject. For a
    caption, `reasons` takes the reasons for editing or rejecting it (`CHANGE_REASONS`); for a perturbation, `label`
    takes one of `LABELS`.
    """
    decisions = standing.decisions if who is None else standing.decisions_for(who)
    row: dict[str, JsonValue] = {
        "item": standing.item.id,
        "run": standing.item.run,
        "kind": standing.item.kind,
        "sample": standing.item.sample_id,
        "subject": standing.item.subject,
        "text": standing.item.text,
        "detail": standing.item.detail,
        "state": standing.state if who is None else standing.state_for(who),
        "decisions": [made.model_dump(mode="json", exclude={"item", "number"}) for made in decisions],
    }
    row |= {"action": None, "new_text": None} if shown is None else {**labelling_row(shown, images), "label": None}
    if standing.item.kind == "caption":
        row["reasons"] = []
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _question_row(standing: Standing, question: PendingQuestion, images: str) -> bytes:
    """Return the JSON line of a question: its text, person, images, empty form, and `reply` to fill in."""
    row = {
        "item": standing.item.id,
        "run": standing.item.run,
        "kind": standing.item.kind,
        "person": question.person,
        "prompt": question.prompt,
        "text": standing.item.text,
        "images": [f"{images}/{image_name(ref)}" for ref in _images(question)],
        "form": question.aid.form,
        "state": standing.state,
        "reply": question.reply,
    }
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _images(question: PendingQuestion) -> list[ImageRef]:
    images: list[ImageRef] = []
    for message in question.call.messages:
        images += message.images
    return images


def labelling_row(shown: PerturbationView, folder: str) -> dict[str, JsonValue]:
    """Return the fields of a perturbation's JSON line; images are paths in a folder next to the file."""
    item = shown.item
    return {
        "task": item.task,
        "dimension": item.dimension,
        "definition": shown.definition,
        "prompt": shown.prompt,
        "images": [f"{folder}/{image_name(ref)}" for _, ref in shown.images],
        "gold": item.gold,
        "perturbed": item.perturbed,
        "difference": plain(difference(shown.pieces)),
        "instruction": item.instruction,
        "description": item.description,
        "rationale": item.rationale,
        "doubt": shown.doubt,
    }


def labelling_files(home: Home, standings: Sequence[Standing], who: str, stem: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files that accompany the JSON lines of a run's items, by path: images, and a page for labelling.

    The page has the perturbations that the person has not labelled yet, without others' labels. The file that it saves
    can be imported with `import_checks`.
    """
    shown = shown_perturbations(home, standings[0].item.run)
    due: list[tuple[str, PerturbationView]] = []
    refs: dict[str, ImageRef] = {}
    for standing in standings:
        view = shown.get(standing.item.subject)
        if view is None:
            continue
        refs |= {ref.sha256: ref for _, ref in view.images}
        if standing.last_of(who) is None:
            due.append((standing.item.id, view))
    for _, ref in sorted(refs.items()):
        yield f"{image_folder(stem)}/{image_name(ref)}", home.blobs.get(ref.sha256)
    if due:
        yield f"{stem}.html", _page(home, who, due).encode()


def image_folder(stem: str) -> str:
    """Return the name of the folder of images next to a file."""
    return f"{stem}-images"


def _page(home: Home, who: str, due: Sequence[tuple[str, PerturbationView]]) -> str:
    options = {label: f"{label.replace('_', ' ')}: {meaning}" for label, meaning in MEANINGS.items()}
    refs: dict[str, ImageRef] = {}
    for _, view in due:
        refs |= {ref.sha256: ref for _, ref in view.images}
    images = {sha256: image_uri(home.blobs, ref) for sha256, ref in sorted(refs.items())}
    rows = [_form_row(id, view) for id, view in due]
    return form_page(who, "perturbation", [("label", QUESTION, options)], rows, images, adds={"who": who})


def _form_row(id: str, shown: PerturbationView) -> Mapping[str, JsonValue]:
    item, names = shown.item, [(name, ref.sha256) for name, ref in shown.images]
    compared = item.gold_image is not None
    return {
        "item": id,
        "question": shown.prompt,
        "choices": "",
        "aid": "",
        "images": [] if compared else [sha256 for _, sha256 in names],
        "compared": [[name.capitalize(), sha256] for name, sha256 in names] if compared else [],
        "gold": item.gold,
        "difference": [[piece.kind, piece.text] for piece in shown.pieces],
        "instruction": item.instruction,
        "description": item.description,
        "rationale": item.rationale,
        "doubt": shown.doubt,
        "title": shown.title,
        "definition": shown.definition,
    }
