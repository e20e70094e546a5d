"""Going through what waits for a person in the terminal: an item at a time, each decision kept at once."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import click
from rich.markup import escape

from dokimasia.cli import answering
from dokimasia.cli.shared import console
from dokimasia.domain.decision import (
    Action,
    CheckItem,
    Decision,
    Kind,
    Standing,
    sentences_of,
    without_sentences,
)
from dokimasia.domain.decision import difference as sentence_difference
from dokimasia.errors import InputError
from dokimasia.methods.checks.perturbed import LABEL_KEYS, MEANINGS, Shown, shown_perturbations
from dokimasia.report.blocks import Cell, Facts
from dokimasia.report.differences import difference
from dokimasia.report.terminal import draw_blocks
from dokimasia.storage.decisions import clear_draft, draft_file
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import get_question
from dokimasia.storage.runs import load_samples

if TYPE_CHECKING:
    from dokimasia.cli.places import Place
    from dokimasia.settings import Settings

_MOVES = "o open the image · s skip · b back · q stop"
TEXT_KEYS = f"a accept · e edit · d 2,3 delete sentences · r reject · {_MOVES}"
KEYS: dict[Kind, str] = {
    "caption": TEXT_KEYS,
    "rubric": TEXT_KEYS,
    "question": answering.KEYS,
    "perturbation": " · ".join([*(f"{key} {label.replace('_', ' ')}" for key, label in LABEL_KEYS.items()), _MOVES]),
}
STEPS = {"s": 1, "b": -1, "q": None}
"""By key that decides nothing: the step to the next item, or None to stop."""


class _Aid(NamedTuple):
    """What is shown beside an item: its pictures as files, by what they are called, and a perturbation's other parts."""

    pictures: Sequence[tuple[str, Path]] = ()
    shown: Shown | None = None


def go_through(place: "Place", standings: Sequence[Standing], *, who: str, second: bool) -> int:
    """Show each item that waits and ask what to do with it, until there is none or the person stops; return how many.

    The home is held only while a decision is written, so that runs can go on beside. The end of the input, Ctrl-C and
    a closed terminal stop it; what was decided is kept, and so is an edit that the editor had saved.
    """
    settings = place.settings
    items = [one for one in standings if _is_due(one, who, second)]
    out = console()
    if others := answering.told_of_others(standings, who):
        out.print(escape(others))
    if not items:
        out.print("nothing waits" + (f" for a second opinion of {escape(who)}" if second else f" for {escape(who)}"))
        return 0
    decided = at = 0
    kind = items[0].item.kind
    out.print(f"[bold]{len(items)} to check as {escape(who)}[/bold] · {KEYS[kind]}")
    with TemporaryDirectory(prefix="dokimasia-check-") as folder:
        aids = _aids(settings, items, Path(folder))
        try:
            while at < len(items):
                item = items[at].item
                aid = aids.get(item.id, _Aid())
                if item.kind != kind:
                    kind = item.kind
                    out.print(f"\n{KEYS[kind]}")
                _show(item, at + 1, len(items), aid)
                shown = answering.show_question(settings, item).shown if item.kind == "question" else ""
                step, made = _ask(place, item, who, aid.pictures, shown)
                decided += made
                at = max(0, at + step) if step is not None else len(items)
        except (click.Abort, EOFError, KeyboardInterrupt):
            out.print()
    out.print(f"{decided} decided in this invocation")
    return decided


def _is_due(one: Standing, who: str, second: bool) -> bool:
    if one.item.kind == "question":
        return one.item.person == who and one.state == "waiting" and not second
    if second:
        return one.settled_by is not None and one.last_of(who) is None
    return one.state == "waiting"


def _show(item: CheckItem, number: int, count: int, aid: _Aid) -> None:
    out = console()
    of = f"by the prompt {item.detail}" if item.kind == "question" else f"of {escape(item.sample_id)}"
    out.print(f"\n[bold]{number} of {count}[/bold] · {item.kind} {of} · item {item.id}")
    for name, picture in aid.pictures:
        out.print(f"[dim]{name}: {escape(str(picture))}[/dim]", soft_wrap=True)
    if item.kind == "question":
        return
    if aid.shown is not None:
        _show_perturbation(aid.shown)
        return
    if item.detail:
        out.print(f"[dim]{escape(item.detail)}[/dim]")
    for place, sentence in enumerate(sentences_of(item.text), 1):
        out.print(f"{place:>3}  {escape(sentence)}")


def _show_perturbation(shown: Shown) -> None:
    """Print what was asked, the gold answer, what was changed in it, and what the change was meant as."""
    item = shown.item
    rows: list[tuple[str, Cell]] = [
        ("asked", shown.prompt),
        ("gold", item.gold),
        ("changed", difference(shown.pieces)),
        ("edit", item.instruction),
        ("said to be", item.description),
        ("checker", shown.doubt),
        ("meant as", f"{shown.title}: {shown.definition}"),
    ]
    draw_blocks(console(), [Facts([row for row in rows if row[1]])])


def _ask(
    place: "Place", item: CheckItem, who: str, pictures: Sequence[tuple[str, Path]], shown: str
) -> tuple[int | None, int]:
    """Ask until something is decided; return the step to the next item (None: stop) and how many decisions were made."""
    out, settings = console(), place.settings
    if draft_file(settings.home, item.id, who).exists():
        out.print("[yellow]an unfinished edit of yours is kept: e goes on with it[/yellow]")
    while True:
        answer = click.prompt("", prompt_suffix="> ", default="", show_default=False).strip()
        key, rest = answer[:1].lower(), answer[1:]
        if key in STEPS:
            return STEPS[key], 0
        try:
            if item.kind == "question" and key in ("e", "r"):
                text = answering.edited_reply(settings, item, who) if key == "e" else rest.strip()
                if key == "r" and not text:
                    raise answering.not_in_line(item)
                if text:
                    return 1, _said(place.decide(item, "reply", text=text, who=who, shown=shown))
                out.print("nothing was written")
                continue
            action = _action(item, key)
            if action is not None:
                return 1, _said(place.decide(item, action, who=who))
            if key == "d":
                numbers = [int(number) for number in re.findall(r"\d{1,4}", rest)]
                text = without_sentences(item.text, numbers)
            elif key == "o":
                for _, picture in pictures:
                    click.launch(str(picture))
                continue
            elif key == "e":
                text = _edit(settings, item, who)
            else:
                _explain(item)
                continue
            if text is not None:
                return 1, _said(place.decide(item, "edit", text=text, who=who))
            out.print("nothing was changed")
        except (InputError, ValueError) as problem:
            out.print(f"[red]{escape(str(problem))}[/red]")


def _action(item: CheckItem, key: str) -> Action | None:
    """What a key alone decides on an item; None where it needs more, or decides nothing.

    Raises:
        InputError: the key decides on a text, and a perturbation is labelled.
    """
    actions: dict[str, Action] = {"a": "accept", "r": "reject", "e": "edit", "d": "edit"}
    if key in actions and (refusal := item.refusal(actions[key])):
        raise InputError(refusal)
    alone: dict[Kind, dict[str, Action]] = {"perturbation": {**LABEL_KEYS}, "question": {"z": "undo"}}
    return alone.get(item.kind, {"a": "accept", "r": "reject"}).get(key)


def _explain(item: CheckItem) -> None:
    """Print the keys, and of labels what they mean."""
    console().print(KEYS[item.kind])
    if item.kind == "perturbation":
        for key, label in LABEL_KEYS.items():
            console().print(f"{key}  {label.replace('_', ' ')}: {MEANINGS[label]}")


def _edit(settings: "Settings", item: CheckItem, who: str) -> str | None:
    """Open the text in $EDITOR, a sentence a line; return the new text, or None where nothing was changed.

    The file lies in the home until the edit is decided, so that what was saved outlives a closed terminal.
    """
    draft = draft_file(settings.home, item.id, who)
    if not draft.exists():
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text("\n".join(sentences_of(item.text)) + "\n", encoding="utf-8")
    click.edit(filename=str(draft))
    lines = draft.read_text(encoding="utf-8", errors="replace").splitlines()
    text = " ".join(line.strip() for line in lines if line.strip())
    if not text or not sentence_difference(" ".join(sentences_of(item.text)), text):
        clear_draft(settings.home, item.id, who)
        return None
    return text


def _said(decision: Decision | None) -> int:
    if decision is None:
        console().print("[yellow]another process writes to the home: it takes the decision in[/yellow]")
    elif decision.difference:
        for line in decision.difference.splitlines()[2:]:
            style = {"-": "red", "+": "green"}.get(line[:1])
            if style:
                console().print(escape(line), style=style)
    return 1


def _aids(settings: "Settings", items: Sequence[Standing], folder: Path) -> dict[str, _Aid]:
    """What is shown beside each item; its images are copied to a folder, under names that programs for pictures know."""
    run = items[0].item.run
    with Home.open(settings.home, write=False) as home:
        perturbed = shown_perturbations(home, run) if any(one.item.kind == "perturbation" for one in items) else {}
        images = {sample.id: [("image", ref) for ref in sample.images] for sample in load_samples(home, run)}
        found: dict[str, _Aid] = {}
        for item in (one.item for one in items):
            shown = perturbed.get(item.subject)
            of_item = images.get(item.sample_id, []) if shown is None else shown.images
            if item.kind == "question":
                seen = [ref for message in get_question(home, item.id).call.messages for ref in message.images]
                of_item = [(f"image {number}", ref) for number, ref in enumerate(seen, 1)]
            copies = [(name, _copied(home.blobs.file(ref.sha256), ref.media_type, folder)) for name, ref in of_item]
            found[item.id] = _Aid(copies, shown)
    return found


def _copied(picture: Path, media_type: str, folder: Path) -> Path:
    copy = folder / f"{picture.name[:12]}.{media_type.rpartition('/')[2]}"
    if picture.is_file() and not copy.exists():
        shutil.copyfile(picture, copy)
    return copy
