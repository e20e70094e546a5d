"""A question to a person in the terminal: shown as a model would be asked, answered in an editor or in a line."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click
from rich.markup import escape

from dokimasia.cli.shared import console
from dokimasia.domain.decision import CheckItem, Standing
from dokimasia.domain.question import Question
from dokimasia.errors import HomeLocked, InputError
from dokimasia.methods.checks import draft_of, keep_draft
from dokimasia.report.figures import several
from dokimasia.storage.decisions import clear_draft
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import get_question, mark_shown
from dokimasia.storage.runs import now

if TYPE_CHECKING:
    from dokimasia.settings import Settings

_MOVES = "o open the images · s skip · b back · q stop"
KEYS = f"e write the reply in an editor · r TEXT reply in one line · z take the answer back · {_MOVES}"


class Asked(NamedTuple):
    """A question as it is on the screen, since when (UTC, ISO form)."""

    question: Question
    shown: str


def show_question(settings: "Settings", item: CheckItem) -> Asked:
    """Print what is asked, as a model would be asked it; that it was shown is kept where the home can be written."""
    import asyncio

    with Home.open(settings.home, write=False) as home:
        question = get_question(home, item.id)
    if not question.shown_at:
        try:
            with Home.open(settings.home, write=True, create=False, command="dokimasia check") as home:
                asyncio.run(mark_shown(home, [item.id]))
        except HomeLocked:
            pass  # the answer carries the time along
    console().print(escape(item.text), soft_wrap=True)
    return Asked(question, now())


def edited_reply(settings: "Settings", item: CheckItem, who: str) -> str:
    """Open the empty form, or what was saved before, in $EDITOR, and return what is there after; empty where nothing is new.

    The file lies in the home until the question is answered, so that what was saved outlives a closed terminal.
    """
    with Home.open(settings.home, write=False) as home:
        question = get_question(home, item.id)
        path = keep_draft(home, item.id, who, draft_of(home, question, who))
        click.edit(filename=path)
        text = draft_of(home, question, who)
    if text.strip() != question.aid.form.strip():
        return text
    clear_draft(settings.home, item.id, who)
    return ""


def told_of_others(standings: Sequence[Standing], who: str) -> str:
    """Return a sentence on the questions that wait for other people; empty where none does."""
    waiting = [one.item.person for one in standings if one.state == "waiting" and one.item.person not in (None, who)]
    people = sorted({person for person in waiting if person})
    told = [f"{several(waiting.count(person), 'question')} to {person} (--who {person})" for person in people]
    return f"others are asked, too: {', '.join(told)}" if told else ""


def not_in_line(item: CheckItem) -> InputError:
    """Return the error of a reply in one line that has no text."""
    return InputError(f"question {item.id}: write the reply behind r, or press e for an editor")
