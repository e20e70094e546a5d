"""Values that backends return to verbs: the outcome of a run, items that a person can decide, and an item as they see it."""

import getpass
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from dokimasia.domain.decision import CheckItem
    from dokimasia.runs.outcome import End


class RunOutcome(NamedTuple):
    """The outcome of a run: its id, how it ended, a reason if that is not as wanted, and its figures.

    `summary` is None if the figures have not been computed.
    """

    run: str
    end: "End"
    why: str = ""
    summary: Any = None


class DueItems(NamedTuple):
    """The items that a person can decide in a run, as ids in order, and the number of waiting questions by person."""

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
    """Open a file in $EDITOR, created with an initial text if it is missing, and return what was saved."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(begin, encoding="utf-8")
    click.edit(filename=str(path))
    return path.read_text(encoding="utf-8", errors="replace")
