"""Labelling of perturbations outside the home: an offline page, and images beside the JSON lines."""

import base64
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from dokimasia.domain.decision import Standing
from dokimasia.domain.sample import ImageRef
from dokimasia.people.annotation import form_page, image_name
from dokimasia.people.checks.perturbed import MEANINGS, PerturbationView, shown_perturbations
from dokimasia.report.blocks import plain
from dokimasia.report.differences import difference
from dokimasia.storage.home import Home

QUESTION = "What is the change?"


def labelling_row(shown: PerturbationView, folder: str) -> dict[str, JsonValue]:
    """Return the fields of a perturbation's JSON line; images are paths in a folder beside the file."""
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
    """Yield the files beside the JSON lines of a run's items, by path: images, and a page for labelling.

    The page has the perturbations that the person has not labelled yet, without others' labels. The file that it saves can
    be imported with `import_checks`.
    """
    shown = shown_perturbations(home, standings[0].item.run)
    listed = [(one, shown[one.item.subject]) for one in standings if one.item.subject in shown]
    refs = {ref.sha256: ref for _, found in listed for _, ref in found.images}
    for _, ref in sorted(refs.items()):
        yield f"{image_folder(stem)}/{image_name(ref)}", home.blobs.get(ref.sha256)
    due = [(one.item.id, found) for one, found in listed if one.last_of(who) is None]
    if due:
        yield f"{stem}.html", _page(home, who, due).encode()


def image_folder(stem: str) -> str:
    """Return the name of the folder of images beside a file."""
    return f"{stem}-images"


def _page(home: Home, who: str, due: Sequence[tuple[str, PerturbationView]]) -> str:
    options = {label: f"{label.replace('_', ' ')}: {meaning}" for label, meaning in MEANINGS.items()}
    refs = {ref.sha256: ref for _, found in due for _, ref in found.images}
    images = {sha256: _uri(home, ref) for sha256, ref in sorted(refs.items())}
    rows = [_row(id, found) for id, found in due]
    return form_page(who, "perturbation", [("label", QUESTION, options)], rows, images, adds={"who": who})


def _row(id: str, shown: PerturbationView) -> Mapping[str, JsonValue]:
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
        "difference": [[one.kind, one.text] for one in shown.pieces],
        "instruction": item.instruction,
        "description": item.description,
        "rationale": item.rationale,
        "doubt": shown.doubt,
        "title": shown.title,
        "definition": shown.definition,
    }


def _uri(home: Home, ref: ImageRef) -> str:
    return f"data:{ref.media_type};base64,{base64.b64encode(home.blobs.get(ref.sha256)).decode()}"
