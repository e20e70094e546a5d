"""Blind forms for annotators (an offline page, a table and JSON lines), and the reader of filled forms."""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import chain
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

import orjson

from dokimasia.datasets.lines import Problem, location, refuse
from dokimasia.datasets.tables import read_records
from dokimasia.domain.annotation import ACCURACY, MEASURES, NECESSITY, PLACE, SCORE, VERDICT, Annotation, AnnotationUnit
from dokimasia.domain.identity import digest
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import DataError
from dokimasia.people.annotation.key import KeyedItem, KeyHead, KeyItem
from dokimasia.prompts import choices_text
from dokimasia.report.drawing import escape
from dokimasia.report.page import script_hash, script_json
from dokimasia.runs.reading.exporting import csv_text

SIDES: dict[str, int] = {
    "left much better": 2,
    "left better": 1,
    "equal": 0,
    "right better": -1,
    "right much better": -2,
}
"""The choices between two sides, with their verdicts for the left side."""

ASKED: dict[str, str] = {
    VERDICT: "Which response is better?",
    SCORE: "How good is the response?",
    ACCURACY: "Is what is held to be true right, going by the image?",
    NECESSITY: "Has an answer to the question to get this criterion right?",
}
RIGHT, RIGHT_ANSWER = "Is the response right?", "Is the final answer right? The reasoning before it does not count."
"""Questions about a response on the scale of 0 and 1; the second is for samples with reference answers."""

YES_OR_NO = (0, 1)
_LABELS: dict[str, tuple[str, str, str]] = {
    ACCURACY: ("1 · wrong", "2 · partly right, or not to be told", "3 · right"),
    NECESSITY: ("1 · no, it is beside the point", "2 · it helps", "3 · yes, it is needed"),
}
LETTERS = ascii_lowercase
"""The letters of the responses of a ranking, in order."""

_POINT_ZERO = re.compile(r"(?<=\d)\.0+$")
"""The end of a whole number that a table program wrote as a decimal, such as `1.0`."""

PAGE, TABLE, LINES = "annotate.html", "form.csv", "items.jsonl"


class FormRatings(NamedTuple):
    """The ratings of filled forms, and how many ratings are still missing."""

    annotations: list[Annotation]
    waiting: int


def measures_of(head: KeyHead) -> tuple[str, ...]:
    """Return the fields of a form: the measures of its kind or, for a ranking, the place of each response by letter."""
    if head.kind != "ranking":
        return MEASURES[head.kind]
    return tuple(f"{PLACE}_{letter}" for letter in LETTERS[: head.scale[1]])


def options_of(measure: str, scale: tuple[int, int]) -> dict[str, str]:
    """Return the options of a measure, as written into a form, with their labels."""
    if measure == VERDICT:
        return {side: side[0].upper() + side[1:] for side in SIDES}
    if measure.startswith(PLACE):
        return {str(place): f"{place}{' · best' if place == 1 else ''}" for place in range(1, scale[1] + 1)}
    if measure in _LABELS:
        return {str(value): label for value, label in enumerate(_LABELS[measure], start=1)}
    if scale == YES_OR_NO:
        return {"0": "0 · no, wrong", "1": "1 · yes, right"}
    low, high = scale
    ends = {low: " · worst", high: " · best"}
    return {str(value): f"{value}{ends.get(value, '')}" for value in range(low, high + 1)}


def form_files(head: KeyHead, who: str, placed: Sequence[KeyedItem], blobs: BlobStore) -> Iterator[tuple[str, bytes]]:
    """Yield the files of one annotator's form by name: the page, the table and the JSON lines.

    Args:
        head: the head of the key.
        who: the annotator.
        placed: the annotator's items, in order.
        blobs: the images.
    """
    measures = measures_of(head)
    rows = [shown_of(head, item) for item in placed]
    refs: dict[str, ImageRef] = {}
    for item in placed:
        refs |= {ref.sha256: ref for ref in item.subject.sample.images}
    questions = [(measure, question_of(head, measure, rows), options_of(measure, head.scale)) for measure in measures]
    images = {sha256: image_uri(blobs, ref) for sha256, ref in sorted(refs.items())}
    yield PAGE, form_page(who, head.kind, questions, rows, images).encode()
    names = {sha256: f"../images/{image_name(ref)}" for sha256, ref in refs.items()}
    yield TABLE, csv_text(_table(head, rows, names))
    empty = dict.fromkeys((*measures, "comment"))
    lines: list[bytes] = []
    for row in rows:
        shown = row | {"images": [names[sha256] for sha256 in row["images"]]} | empty
        lines.append(orjson.dumps(shown, option=orjson.OPT_APPEND_NEWLINE))
    yield LINES, b"".join(lines)


def _table(head: KeyHead, rows: Sequence[Mapping[str, Any]], images: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """Yield the rows of a table: what an item shows, the questions with their choices, and cells for the answers."""
    measures = measures_of(head)
    questions = "\n".join(
        f"{measure}: {question_of(head, measure, rows)} {'; '.join(options_of(measure, head.scale).values())}"
        for measure in measures
    )
    cells = [_cells(row, images) for row in rows]
    shown = [name for name in dict.fromkeys(chain.from_iterable(cells)) if any(item.get(name) for item in cells)]
    yield (*shown, "asked", *measures, "comment")
    for item in cells:
        yield (*(item.get(name, "") for name in shown), questions, *("" for _ in measures), "")


def _cells(row: Mapping[str, Any], images: Mapping[str, str]) -> dict[str, str]:
    """Return the contents of an item by column name; a ranking has a column for each response."""
    cells = {name: value for name, value in row.items() if isinstance(value, str)}
    cells["images"] = " ".join(images[sha] for sha in row["images"])
    for letter, response in zip(LETTERS, row.get("responses", ()), strict=False):
        cells[f"response_{letter}"] = response
    return cells


def image_name(ref: ImageRef) -> str:
    """Return the name of an image's file."""
    return f"{ref.sha256[:16]}.{ref.media_type.removeprefix('image/').replace('jpeg', 'jpg')}"


def image_uri(blobs: BlobStore, ref: ImageRef) -> str:
    """Return an image as a data URI."""
    return f"data:{ref.media_type};base64,{base64.b64encode(blobs.get(ref.sha256)).decode()}"


def read_forms(head: KeyHead, items: Mapping[str, KeyItem], paths: Sequence[Path]) -> FormRatings:
    """Return the ratings in filled forms for the items of a key; an item without a choice counts as unrated.

    A form is JSON lines, as saved by the page, or the table, with a column for each measure. A verdict is converted to one
    for the model.

    Raises:
        DataError: a form belongs to another key, or lines are unusable (each is named): the item is not in the key or
            is repeated, or the choice is invalid.
    """
    ratings: list[Annotation] = []
    problems: list[str] = []
    places: dict[str, str] = {}
    for path in paths:
        rows = list(read_records(path))
        _check_key(path, items, [_item_of(row.fields) for row in rows if not isinstance(row, Problem)])
        for row in rows:
            if isinstance(row, Problem):
                problems.append(row.message)
                continue
            where, name = location(path, row.line), _item_of(row.fields)
            item = items.get(name)
            if item is None:
                problems.append(f"{where}: the key has no item {name[:40]!r}")
            elif name in places:
                problems.append(f"{where}: item {name} stands in {places[name]} already")
            else:
                places[name] = where
                wrong = [
                    _add_rating(head, item, measure, row.fields, row.line, ratings) for measure in measures_of(head)
                ]
                problems += [f"{where}, item {name}: {fault}" for fault in wrong if fault]
    refuse(problems)
    if not ratings:
        raise DataError(f"{', '.join(map(str, paths))}: no choice in it: fill in {', '.join(measures_of(head))}")
    return FormRatings(ratings, len(items) * len(measures_of(head)) - len(ratings))


def _item_of(fields: Mapping[str, Any]) -> str:
    return str(fields.get("item") or "")


def _check_key(path: Path, items: Mapping[str, KeyItem], names: Sequence[str]) -> None:
    """Raise if most of a form's items, when there are several, are not in the key."""
    unknown = sum(name not in items for name in names)
    if unknown < 2 or 2 * unknown <= len(names):
        return
    raise DataError(
        f"{path}: this form belongs to another key: {unknown:,} of its {len(names):,} items are not in this one. Name the key "
        "that `annotate draw` wrote with the form"
    )


def _add_rating(
    head: KeyHead, item: KeyItem, measure: str, fields: Mapping[str, Any], line: int, found: list[Annotation]
) -> str | None:
    """Add the rating of one measure to `found`; return the error, if any."""
    said = fields.get(measure)
    text = " ".join(str(said).split()).casefold() if said is not None else ""
    text = _POINT_ZERO.sub("", text)
    if not text:
        return None
    options = options_of(measure, head.scale)
    choice = next((value for value, label in options.items() if text in _words(value, label)), None)
    if choice is None:
        accepted = ", ".join(_accepted(value, label) for value, label in options.items())
        return f"{measure} is {str(said)[:40]!r}, and has to be one of: {accepted}"
    found.append(rating_of(head, item, measure, choice, str(fields.get("comment") or ""), line=line))
    return None


def _words(value: str, label: str) -> set[str]:
    """Return the accepted texts for an option: its value, its label, or a part of its label.

    Examples:
        >>> sorted(_words("1", "1 · yes, right"))
        ['1', '1 · yes, right', 'right', 'yes', 'yes, right']
    """
    words = label.partition(" · ")[2]
    return {value, label.casefold(), words, *words.split(", ")} - {""}


def _accepted(value: str, label: str) -> str:
    """Return an option with the accepted words for it.

    Examples:
        >>> _accepted("1", "1 · yes, right"), _accepted("2", "2")
        ('1 (or yes, right)', '2')
    """
    words = label.partition(" · ")[2]
    if words:
        return f"{value} (or {words})"
    return value


def rating_of(head: KeyHead, item: KeyItem, measure: str, text: str, comment: str = "", *, line: int = 0) -> Annotation:
    """Return the choice for an item as a rating of its unit; a verdict is converted to one for the model."""
    unit = item.unit(measure)
    scale = ""
    if unit.measure == SCORE:
        scale = "{}-{}".format(*head.scale)
    if item.models:
        unit = AnnotationUnit(item.id, PLACE, item.models[LETTERS.index(measure[-1])])
    return Annotation(
        unit,
        item.annotator,
        SIDES[text] * (-1 if item.swapped else 1) if measure == VERDICT else int(text),
        category=item.category,
        cluster=item.cluster,
        comment=comment,
        line=line,
        response_sha256=item.response_sha256,
        scale=scale,
    )


def shown_of(head: KeyHead, placed: KeyedItem) -> dict[str, Any]:
    """Return an item as shown to an annotator, without the names of models."""
    item, subject = placed
    sample, texts = subject.sample, subject.texts
    shown: dict[str, Any] = {
        "item": item.item,
        "question": sample.prompt,
        "choices": choices_text(sample.choices) if sample.choices else "",
        "images": [ref.sha256 for ref in sample.images],
        "aid": subject.aid,
    }
    if head.kind == "pair":
        left, right = reversed(texts) if item.swapped else texts
        return shown | {"left": left, "right": right}
    if head.kind == "ranking":
        text_of = dict(zip(subject.models, texts, strict=True))
        return shown | {"responses": [text_of[model] for model in item.models]}
    if head.kind == "criterion":
        return shown | {"criterion": texts[0], "ground_truth": texts[1]}
    if head.scale == YES_OR_NO and sample.accepted:
        shown["reference"] = sample.reference_text
    return shown | {"response": texts[0]}


def question_of(head: KeyHead, measure: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the question of a measure."""
    if measure.startswith(PLACE):
        return f"The place of response {measure[-1].upper()} (equal places are ties)"
    if measure != SCORE or head.scale != YES_OR_NO:
        return ASKED[measure]
    if all("reference" in row for row in rows):
        return RIGHT_ANSWER
    return RIGHT


def form_page(
    who: str,
    kind: str,
    measures: Sequence[tuple[str, str, Mapping[str, str]]],
    rows: Sequence[Mapping[str, Any]],
    images: Mapping[str, str],
    *,
    adds: Mapping[str, str] | None = None,
) -> str:
    """Return an offline page where a person answers items one by one and saves the answers as JSON lines.

    Args:
        who: the person.
        kind: the layout of items: pair, response, criterion, ranking or perturbation.
        measures: for each question about an item, its field in the saved line, the text, and the answers with their labels.
        rows: the items, each with its name as `item`.
        images: data URIs by the names that items refer to.
        adds: additional fields of every saved line.
    """
    questions: list[dict[str, object]] = []
    for name, question, options in measures:
        choices = [{"value": value, "label": label} for value, label in options.items()]
        questions.append({"name": name, "question": question, "options": choices})
    form: dict[str, object] = {
        "form": digest("form", [who, [row["item"] for row in rows]])[:16],
        "annotator": who,
        "kind": kind,
        "measures": questions,
        "items": rows,
        "images": images,
    }
    if adds:
        form["adds"] = adds
    script = _asset("annotate.js")
    policy = (
        f"default-src 'none'; script-src {script_hash(script)}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Annotation for {escape(who)}</title>
<style>
{_asset("annotate.css")}</style>
</head>
<body>
<header><strong>Annotation for {escape(who)}</strong><span class="muted" id="standing"></span>
<button id="save" class="main" type="button">Save</button></header>
<main>
<p class="muted">Your answers stay in this browser until you save them; the saved file is what you hand in.</p>
<div id="item"></div>
<nav aria-label="Items"><button id="back" type="button">Back</button>
<button id="next" type="button" class="main">Next</button></nav>
</main>
<script type="application/json" id="form">{script_json(form)}</script>
<script>{script}</script>
</body>
</html>
"""


@cache
def _asset(name: str) -> str:
    return (
        resources.files("dokimasia.people.annotation").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")
    )
