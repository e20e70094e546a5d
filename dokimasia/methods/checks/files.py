"""Items to be checked as files: JSON lines that people fill in elsewhere and that are taken in again."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson
from pydantic import BaseModel, ValidationError

from dokimasia.agents.readers import faults_of
from dokimasia.domain.blindspots import Label
from dokimasia.domain.decision import Action, CheckItem, Standing
from dokimasia.domain.question import Question
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import DataError, DokimasiaError
from dokimasia.methods.checks import decide, open_for_people
from dokimasia.methods.checks.handing import image_folder, labelling_files, labelling_row
from dokimasia.methods.checks.perturbed import Shown, shown_perturbations
from dokimasia.methods.people import image_name
from dokimasia.runs.reading.export_formats import make_folder, write_whole
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import get_question

MAX_LINE = 1 << 20


class Imported(NamedTuple):
    """What came of an import: decisions taken, those left for a process that writes, and lines without a decision."""

    decided: int
    left: int
    empty: int


class _Made(BaseModel):
    who: str
    action: Action
    text: str = ""
    at: str = ""


class _Line(BaseModel):
    item: str
    subject: str = ""
    action: Action | Literal["delete", ""] | None = None
    label: Label | Literal[""] | None = None
    new_text: str | None = None
    reply: str | None = None
    delete: list[int] = []
    who: str = ""
    decisions: list[_Made] = []

    @property
    def asked(self) -> Action | None:
        """What is decided on the item; deleting is an edit, and a reply that is there is given."""
        if self.label:
            return self.label
        if (self.reply or "").strip():
            return "reply"
        return "edit" if self.action == "delete" else self.action or None


def write_checks(settings: Settings, standings: Sequence[Standing], path: Path, *, who: str) -> list[Path]:
    """Write a run's items as a file, and beside it what a person needs to label perturbations, and the images of questions.

    Of questions those to `who` are written alone. Returns the paths.

    Raises:
        InputError: a file cannot be written.
    """
    files: dict[str, bytes] = {}
    shown: dict[str, Shown] = {}
    standings = [one for one in standings if not one.item.told(who)]
    asked: dict[str, Question] = {}
    with Home.open(settings.home, write=False) as home:
        for one in standings:
            if one.item.kind == "question":
                asked[one.item.id] = get_question(home, one.item.id)
        for ref in dict.fromkeys(ref for one in asked.values() for ref in _images(one)):
            files[f"{image_folder(path.stem)}/{image_name(ref)}"] = home.blobs.get(ref.sha256)
    if any(one.item.kind == "perturbation" for one in standings):
        with Home.open(settings.home, write=False) as home:
            shown = shown_perturbations(home, standings[0].item.run)
            files |= dict(labelling_files(home, standings, who, path.stem))
    folder = image_folder(path.stem)
    lines = b"".join(
        _question_row(one, asked[one.item.id], folder)
        if one.item.id in asked
        else _row(one, shown.get(one.item.subject), folder)
        for one in standings
    )
    for name, data in ((path.name, lines), *files.items()):
        target = path.parent / name
        if target.parent != path.parent:
            make_folder(target.parent)
        write_whole(target, data)
    return [path, *(path.parent / name for name in files)]


def _row(one: Standing, shown: Shown | None, images: str) -> bytes:
    """A JSON line of an item: what it is, how it stands, all decisions, and empty fields to fill in.

    `action` takes accept, edit (with `new_text`), delete (with `delete`, numbers of sentences from 1) or reject; of a
    perturbation `label` takes one of the five labels.
    """
    row: dict[str, Any] = {
        "item": one.item.id,
        "run": one.item.run,
        "kind": one.item.kind,
        "sample": one.item.sample_id,
        "subject": one.item.subject,
        "text": one.item.text,
        "detail": one.item.detail,
        "state": one.state,
        "decisions": [made.model_dump(mode="json", exclude={"item", "number"}) for made in one.decisions],
    }
    row |= {"action": None, "new_text": None} if shown is None else {**labelling_row(shown, images), "label": None}
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _question_row(one: Standing, question: Question, images: str) -> bytes:
    """A JSON line of a question: what is asked, whose it is, its images, the empty form, and `reply` to fill in."""
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


def _images(question: Question) -> list[ImageRef]:
    return [ref for message in question.call.messages for ref in message.images]


def import_checks(settings: Settings, run: str, path: Path, *, who: str) -> Imported:
    """Take in the decisions of a file; a line's own `who` goes before the one given here. Doing it again changes nothing.

    The whole file is read before anything is decided. A line of another run is taken for what is the same in this one, so
    that what people have decided is not lost where a run is made anew with more samples.

    Raises:
        DataError: a line cannot be used; the message names it, and nothing was decided.
        NotFound: there is no such run.
    """
    standings = open_for_people(settings, run)
    known = {one.item.id: one.item for one in standings}
    same = {one.item.subject: one.item for one in standings}
    lines: list[tuple[int, _Line, CheckItem]] = []
    faults: list[str] = []
    for number, line in _read(path):
        item = known.get(line.item) or same.get(line.subject)
        if item is None:
            raise DataError(f"{path}, line {number}: the run has no item {line.item!r}")
        if line.action and line.label:
            raise DataError(f"{path}, line {number}: both action and label are given; keep one")
        asked: list[Action | None] = [line.asked, *(one.action for one in line.decisions)]
        for action in asked:
            if action is not None and (refusal := item.refusal(action)):
                raise DataError(f"{path}, line {number}: {refusal}")
        if line.asked == "reply" and (fault := _fault(settings, item, line, who)):
            faults.append(f"{path}, line {number}: {fault}")
        if line.action == "edit" and not (line.new_text or "").strip():
            raise DataError(f"{path}, line {number}: an edit needs new_text")
        lines.append((number, line, item))
    if faults:
        raise DataError("\n".join(faults))
    counts = {"decided": 0, "left": 0, "empty": 0}
    for number, line, item in lines:
        made = [one.model_dump() for one in line.decisions]
        if line.action == "delete" and not line.delete:
            raise DataError(f"{path}, line {number}: delete needs the numbers of sentences, such as [2]")
        if line.asked is not None:
            decided = {"who": line.who or who, "action": line.asked, "text": line.reply or line.new_text or ""}
            made.append(decided | ({"delete": line.delete} if line.action == "delete" else {}))
        if not made:
            counts["empty"] += 1
        for one in made:
            try:
                decision = decide(item, **one, settings=settings)
            except DokimasiaError as error:
                raise DataError(f"{path}, line {number}: {error}") from error
            counts["left" if decision is None else "decided"] += 1
    return Imported(**counts)


def _fault(settings: Settings, item: CheckItem, line: _Line, who: str) -> str:
    """Return why a line's reply cannot be kept; empty where it can, or is kept already."""
    if told := item.told(line.who or who):
        return told
    with Home.open(settings.home, write=False) as home:
        question = get_question(home, item.id)
    reply = line.reply or ""
    return "" if question.reply == reply.strip() else faults_of(question.aid, reply)


def _read(path: Path) -> Iterator[tuple[int, _Line]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    for number, raw in enumerate(data.splitlines(), 1):
        if not raw.strip():
            continue
        if len(raw) > MAX_LINE:
            raise DataError(f"{path}, line {number}: longer than {MAX_LINE} bytes")
        try:
            yield number, _Line.model_validate_json(raw)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            raise DataError(f"{path}, line {number}: {where}: {first['msg']}") from None
