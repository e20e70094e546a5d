"""What backends return to verbs: how a run ended, what a person can decide on, and an item as it is shown to them."""

import getpass
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from dokimasia.domain.decision import CheckItem
    from dokimasia.runs.outcome import End


class RunOutcome(NamedTuple):
    """A run that was brought as far as it came: its id, how it ended, why that is not as it was wanted, and its figures.

    `summary` is None where nobody has computed the figures yet.
    """

    run: str
    end: "End"
    why: str = ""
    summary: Any = None


class DueItems(NamedTuple):
    """What a person can decide on in a run: the items' ids in order, and how many questions wait there for whom."""

    run: str
    items: Sequence[str]
    asked: Mapping[str, int]


class CheckScreen(NamedTuple):
    """An item as a person is shown it (`shown_item`), whether they have an unfinished text of it, and since when it is shown."""

    item: "CheckItem"
    shown: Mapping[str, Any]
    unfinished: bool
    since: str


def user_name() -> str:
    """Return the name of the user of this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name is known to the system, as in some containers
        return "somebody"


def edited_in(path: Path, begin: str) -> str:
    """Open a file in $EDITOR, with a text to begin with where there is none, and return what was saved."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(begin, encoding="utf-8")
    click.edit(filename=str(path))
    return path.read_text(encoding="utf-8", errors="replace")
