"""Decisions in the terminal: a person goes through waiting items one at a time; each decision is stored at once."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.shared import console
from dokimasia.datasets.images import image_format
from dokimasia.domain.decision import (
    CHANGE_REASONS,
    REASON_ACTIONS,
    Action,
    ChangeReason,
    CheckItem,
    Decision,
    Kind,
    sentences_of,
    without_sentences,
)
from dokimasia.domain.decision import difference as sentence_difference
from dokimasia.errors import DecidedMeanwhile, InputError, Unreachable
from dokimasia.people.checks.perturbed import LABEL_KEYS, MEANINGS
from dokimasia.report.blocks import Cell, Facts
from dokimasia.report.differences import difference
from dokimasia.report.figures import several
from dokimasia.report.terminal import draw_blocks

if TYPE_CHECKING:
    from dokimasia.cli.backend import Backend
    from dokimasia.cli.outcomes import CheckScreen, PerturbationOnScreen

_MOVES = "o open the image · s skip · b back · q stop"
_REPLY = "e write the reply in an editor · r TEXT reply in one line · z take the answer back"
TEXT_KEYS = f"a accept · e edit · d 2,3 delete sentences · r reject · {_MOVES}"
KEYS: dict[Kind, str] = {
    "caption": TEXT_KEYS,
    "rubric": TEXT_KEYS,
    "question": f"{_REPLY} · {_MOVES.replace('image', 'images')}",
    "perturbation": " · ".join([*(f"{key} {label.replace('_', ' ')}" for key, label in LABEL_KEYS.items()), _MOVES]),
}
STEPS = {"s": 1, "b": -1, "q": None}
"""Steps to another item by key; None to stop."""


Pictures = Sequence[tuple[str, Path]]
"""The images of an item, each as name and file."""


def go_through(backend: "Backend", run: str, *, who: str, second: bool) -> int:
    """Show waiting items and ask for decisions until none waits or the person stops; return the number of decisions.

    The home is locked only while a decision is written, so that runs can continue meanwhile. The end of the input,
    Ctrl-C and a closed terminal stop the loop; decisions are kept, and so is an edit saved in the editor.

    Raises:
        Unreachable: the service no longer answers; the message states how to continue.
    """
    due = backend.due_items(run, who=who, second=second)
    out = console()
    if others := _questions_to_others(due.asked, who):
        out.print(escape(others))
    if not due.items:
        out.print("nothing waits" + (f" for a second opinion of {escape(who)}" if second else f" for {escape(who)}"))
        return 0
    count = position = 0
    kind: Kind | None = None
    with TemporaryDirectory(prefix="dokimasia-check-") as folder:
        try:
            while position < len(due.items):
                screen = backend.show_item(due.run, due.items[position], who=who)
                if kind is None:
                    out.print(f"[bold]{len(due.items)} to check as {escape(who)}[/bold] · {KEYS[screen.item.kind]}")
                elif screen.item.kind != kind:
                    out.print(f"\n{KEYS[screen.item.kind]}")
                kind = screen.item.kind
                pictures = _pictures(backend, screen, Path(folder))
                _show(screen, position + 1, len(due.items), pictures)
                step, newly_decided = _ask(backend, screen, who, pictures, second=second)
                count += newly_decided
                position = max(0, position + step) if step is not None else len(due.items)
        except (click.Abort, EOFError, KeyboardInterrupt):
            out.print()
        except Unreachable as problem:
            out.print(f"{count} decided in this invocation")
            command = f"dokimasia decide {due.run} --who {who}{' --second' if second else ''}{backend.where}"
            raise Unreachable(f"{problem}; what was decided is kept. Continue with: {command}") from None
    out.print(f"{count} decided in this invocation")
    return count


def _questions_to_others(counts: Mapping[str, int], who: str) -> str:
    """Return a sentence on the questions that wait for other people; empty if there are none."""
    questions = [
        f"{several(count, 'question')} to {person} (--who {person})"
        for person, count in counts.items()
        if person != who
    ]
    if questions:
        return f"others are asked, too: {', '.join(questions)}"
    return ""


def _show(screen: "CheckScreen", number: int, count: int, pictures: Pictures) -> None:
    out, item = console(), screen.item
    origin = f"by the prompt {item.detail}" if item.kind == "question" else f"of {escape(item.sample_id)}"
    out.print(f"\n[bold]{number} of {count}[/bold] · {item.kind} {origin} · item {item.id}")
    for name, picture in pictures:
        out.print(f"[dim]{name}: {escape(str(picture))}[/dim]", soft_wrap=True)
    if item.kind == "question":
        out.print(escape(item.text), soft_wrap=True)
    elif screen.shown.perturbation is not None:
        _show_perturbation(screen.shown.perturbation)
    else:
        if item.detail:
            out.print(f"[dim]{escape(item.detail)}[/dim]")
        for place, sentence in enumerate(sentences_of(item.text), 1):
            out.print(f"{place:>3}  {escape(sentence)}")


def _show_perturbation(perturbation: "PerturbationOnScreen") -> None:
    """Print the question, the gold answer, its change, and the intended kind of error."""
    rows: list[tuple[str, Cell]] = [
        ("asked", perturbation.prompt),
        ("gold", perturbation.gold),
        ("changed", difference(perturbation.difference)),
        ("edit", perturbation.instruction),
        ("said to be", perturbation.description),
        ("rationale", perturbation.rationale),
        ("checker", perturbation.doubt),
        ("meant as", f"{perturbation.title}: {perturbation.definition}"),
    ]
    draw_blocks(console(), [Facts([row for row in rows if row[1]])])


def _ask(
    backend: "Backend", screen: "CheckScreen", who: str, pictures: Pictures, *, second: bool
) -> tuple[int | None, int]:
    """Ask until something is decided; return the step to the next item (None: stop) and the number of decisions."""
    out, item = console(), screen.item
    decisions_seen = None if second or item.kind == "question" else screen.shown.decided
    since = screen.since if item.kind == "question" else ""
    if screen.unfinished:
        out.print("[yellow]an unfinished edit of yours is kept: e goes on with it[/yellow]")
    while True:
        answer = click.prompt("", prompt_suffix="> ", default="", show_default=False).strip()
        key, argument = answer[:1].lower(), answer[1:]
        if key in STEPS:
            return STEPS[key], 0
        try:
            action, text = _action_and_text(backend, screen, who, key, argument.strip())
            if action is not None:
                reasons, stopped = _reasons(item, action)
                outcome = backend.decide(
                    item, action, text=text, who=who, shown=since, seen=decisions_seen, reasons=reasons
                )
                return None if stopped else 1, _print_decision(outcome)
        except DecidedMeanwhile as problem:
            out.print(f"[red]{escape(str(problem))}[/red]; s goes on, and decide --second gives a second opinion")
        except (InputError, ValueError) as problem:
            out.print(f"[red]{escape(str(problem))}[/red]")
        if key == "o":
            for _, picture in pictures:
                click.launch(str(picture))


def _reasons(item: CheckItem, action: Action) -> tuple[Sequence[ChangeReason], bool]:
    """Ask for the reasons for changing a caption; return them, and whether the input ended, which loses no decision."""
    if item.kind != "caption" or action not in REASON_ACTIONS:
        return (), False
    names = list(CHANGE_REASONS)
    for number, meaning in enumerate(CHANGE_REASONS.values(), 1):
        console().print(f"[dim]{number}  {meaning}[/dim]")
    while True:
        try:
            answer = click.prompt("why? (such as 2,5; Enter: no reason)", default="", show_default=False)
        except click.Abort:
            return (), True
        numbers = re.findall(r"[^\s,]+", answer)
        if all(number in map(str, range(1, len(names) + 1)) for number in numbers):
            return [names[int(number) - 1] for number in numbers], False
        console().print(f"[red]numbers from 1 to {len(names)}, with commas between them[/red]")


def _action_and_text(
    backend: "Backend", screen: "CheckScreen", who: str, key: str, argument: str
) -> tuple[Action | None, str]:
    """Return the action of a key and its argument on an item, and the text; None if the key decides nothing.

    Raises:
        InputError: the item does not accept this decision.
        ValueError: there is no such sentence.
    """
    item = screen.item
    if item.kind == "question" and key == "r":
        if not argument:
            raise InputError(f"question {item.id}: write the reply behind r, or press e for an editor")
        return "reply", argument
    if item.kind == "question" and key == "e":
        form = screen.shown.form
        text = backend.edit_text(item, form, who=who)
        if text.strip() != form.strip():
            return "reply", text
        backend.forget_text(item, who=who)
        console().print("nothing was written")
        return None, ""
    if action := _action(item, key):
        return action, ""
    if key == "d":
        return "edit", without_sentences(item.text, [int(number) for number in re.findall(r"\d{1,4}", argument)])
    if key == "e":
        lines = backend.edit_text(item, "\n".join(sentences_of(item.text)) + "\n", who=who).splitlines()
        text = " ".join(line.strip() for line in lines if line.strip())
        if text and sentence_difference(" ".join(sentences_of(item.text)), text):
            return "edit", text
        backend.forget_text(item, who=who)
        console().print("nothing was changed")
    elif key != "o":
        _explain(item)
    return None, ""


def _action(item: CheckItem, key: str) -> Action | None:
    """Return the action of a key without argument on an item; None if it needs more, or decides nothing.

    Raises:
        InputError: the item does not accept the key's action.
    """
    actions: dict[str, Action] = {"a": "accept", "r": "reject", "e": "edit", "d": "edit"}
    if key in actions and (refusal := item.refusal(actions[key])):
        raise InputError(refusal)
    actions_by_kind: dict[Kind, dict[str, Action]] = {"perturbation": {**LABEL_KEYS}, "question": {"z": "undo"}}
    return actions_by_kind.get(item.kind, {"a": "accept", "r": "reject"}).get(key)


def _explain(item: CheckItem) -> None:
    """Print the keys, and the meanings of labels."""
    console().print(KEYS[item.kind])
    if item.kind == "perturbation":
        for key, label in LABEL_KEYS.items():
            console().print(f"{key}  {label.replace('_', ' ')}: {MEANINGS[label]}")


def _print_decision(decision: Decision | None) -> int:
    if decision is None:
        console().print("[yellow]another process writes to the home: it takes the decision in[/yellow]")
    elif decision.difference:
        for line in decision.difference.splitlines()[2:]:
            style = {"-": "red", "+": "green"}.get(line[:1])
            if style:
                console().print(escape(line), style=style)
    return 1


def _pictures(backend: "Backend", screen: "CheckScreen", folder: Path) -> Pictures:
    """Write an item's images to a folder, with file extensions that image viewers recognise, and return them."""
    images = [(image.name, image.sha256) for image in screen.shown.images]
    if screen.item.kind == "question":
        parts = [part for message in screen.shown.messages for part in message.parts]
        hashes = [part.image for part in parts if part.image is not None]
        images = [(f"image {number}", sha256) for number, sha256 in enumerate(hashes, 1)]
    return [(name, _copy_image(backend, sha256, folder)) for name, sha256 in images]


def _copy_image(backend: "Backend", sha256: str, folder: Path) -> Path:
    earlier_copy = next(folder.glob(f"{sha256[:12]}.*"), None)
    if earlier_copy is not None:
        return earlier_copy
    data = backend.image(sha256)
    copy = folder / f"{sha256[:12]}.{(image_format(data) or 'png').lower()}"
    if data:
        copy.write_bytes(data)
    return copy
