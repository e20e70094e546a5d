"""Going through what waits for a person in the terminal: an item at a time, each decision kept at once."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.shared import console
from dokimasia.domain.decision import CheckItem, Decision, Standing, difference, sentences_of, without_sentences
from dokimasia.errors import InputError
from dokimasia.methods.checks import decide
from dokimasia.storage.decisions import clear_draft, draft_file
from dokimasia.storage.home import Home
from dokimasia.storage.runs import load_samples

if TYPE_CHECKING:
    from dokimasia.settings import Settings

KEYS = "a accept · e edit · d 2,3 delete sentences · r reject · o open the image · s skip · b back · q stop"
STEPS = {"s": 1, "b": -1, "q": None}
"""By key that decides nothing: the step to the next item, or None to stop."""


def go_through(settings: "Settings", standings: Sequence[Standing], *, who: str, second: bool) -> int:
    """Show each item that waits and ask what to do with it, until there is none or the person stops; return how many.

    The home is held only while a decision is written, so that runs can go on beside. The end of the input, Ctrl-C and
    a closed terminal stop it; what was decided is kept, and so is an edit that the editor had saved.
    """
    items = [one for one in standings if _is_due(one, who, second)]
    out = console()
    if not items:
        out.print("nothing waits" + (f" for a second opinion of {escape(who)}" if second else ""))
        return 0
    decided = at = 0
    out.print(f"[bold]{len(items)} to check as {escape(who)}[/bold] · {KEYS}")
    with TemporaryDirectory(prefix="dokimasia-check-") as folder:
        pictures = _pictures(settings, items, Path(folder))
        try:
            while at < len(items):
                item = items[at].item
                shown = pictures.get(item.sample_id, ())
                _show(item, at + 1, len(items), shown)
                step, made = _ask(settings, item, who, shown)
                decided += made
                at = max(0, at + step) if step is not None else len(items)
        except (click.Abort, EOFError, KeyboardInterrupt):
            out.print()
    out.print(f"{decided} decided in this invocation")
    return decided


def _is_due(one: Standing, who: str, second: bool) -> bool:
    if second:
        return bool(one.decisions) and one.last_of(who) is None
    return one.state == "waiting"


def _show(item: CheckItem, number: int, count: int, pictures: Sequence[Path]) -> None:
    out = console()
    out.print(f"\n[bold]{number} of {count}[/bold] · {item.kind} of {escape(item.sample_id)} · item {item.id}")
    for picture in pictures:
        out.print(f"[dim]image: {escape(str(picture))}[/dim]", soft_wrap=True)
    if item.detail:
        out.print(f"[dim]{escape(item.detail)}[/dim]")
    for place, sentence in enumerate(sentences_of(item.text), 1):
        out.print(f"{place:>3}  {escape(sentence)}")


def _ask(settings: "Settings", item: CheckItem, who: str, pictures: Sequence[Path]) -> tuple[int | None, int]:
    """Ask until something is decided; return the step to the next item (None: stop) and how many decisions were made."""
    out = console()
    if draft_file(settings.home, item.id, who).exists():
        out.print("[yellow]an unfinished edit of yours is kept: e goes on with it[/yellow]")
    while True:
        answer = click.prompt("", prompt_suffix="> ", default="", show_default=False).strip()
        key, rest = answer[:1].lower(), answer[1:]
        if key in STEPS:
            return STEPS[key], 0
        try:
            if key in ("a", "r"):
                return 1, _said(decide(item, "accept" if key == "a" else "reject", who=who, settings=settings))
            if key == "d":
                numbers = [int(number) for number in re.findall(r"\d{1,4}", rest)]
                text = without_sentences(item.text, numbers)
            elif key == "o":
                for picture in pictures:
                    click.launch(str(picture))
                continue
            elif key == "e":
                text = _edit(settings, item, who)
            else:
                out.print(KEYS)
                continue
            if text is not None:
                return 1, _said(decide(item, "edit", text=text, who=who, settings=settings))
            out.print("nothing was changed")
        except (InputError, ValueError) as problem:
            out.print(f"[red]{escape(str(problem))}[/red]")


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
    if not text or not difference(" ".join(sentences_of(item.text)), text):
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


def _pictures(settings: "Settings", items: Sequence[Standing], folder: Path) -> dict[str, list[Path]]:
    """Copy the images of each sample that is checked to a folder, under names that programs for pictures know."""
    wanted = {one.item.sample_id for one in items}
    with Home.open(settings.home, write=False) as home:
        return {
            sample.id: [_copied(home.blobs.file(image.sha256), image.media_type, folder) for image in sample.images]
            for sample in load_samples(home, items[0].item.run)
            if sample.id in wanted
        }


def _copied(picture: Path, media_type: str, folder: Path) -> Path:
    copy = folder / f"{picture.name[:12]}.{media_type.rpartition('/')[2]}"
    if picture.is_file() and not copy.exists():
        shutil.copyfile(picture, copy)
    return copy
