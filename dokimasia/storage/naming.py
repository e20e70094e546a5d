"""What people call runs, by name, tag, the beginning of an id, or as `last`; names and tags are events of the run."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import orjson

from dokimasia.errors import NotFound
from dokimasia.log import logger
from dokimasia.storage.home import Home
from dokimasia.storage.results import record_event
from dokimasia.storage.runs import NEWEST_FIRST, Run, get_run, list_runs

LAST = "last"
NAMED = "named"
_CANDIDATES = 8


class Label(NamedTuple):
    """What a run is called (empty: it has no name), and its tags in alphabetical order."""

    name: str = ""
    tags: tuple[str, ...] = ()


async def name_run(home: Home, run_id: str, name: str | None, tags: Sequence[str]) -> None:
    """Give a run a name, which another run that has it loses with a warning, and tags beside those that it has.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    known = labels(home)
    had = known.get(run_id, Label())
    if (name and name != had.name) or set(tags) - set(had.tags):
        await record_event(home, run_id, NAMED, {"name": name or "", "tags": list(tags)})
        for other in (id for id, label in known.items() if name and label.name == name and id != run_id):
            logger(__name__).warning(
                f"run {run_id} is called {name!r} now, which was the name of run {other}; that is found by its id, and can be "
                f"given another: dokimasia runs name {other} NAME"
            )


async def set_tags(home: Home, run_id: str, tags: Sequence[str]) -> None:
    """Give a run these tags and take all others off it.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    had = set(labels(home).get(run_id, Label()).tags)
    if had != set(tags):
        given = {"name": "", "tags": sorted(set(tags) - had), "without": sorted(had - set(tags))}
        await record_event(home, run_id, NAMED, given)


def labels(home: Home) -> Mapping[str, Label]:
    """Return name and tags of every run that has any, by the run's id; a name is the run's that was given it last."""
    found: dict[str, Label] = {}
    holder: dict[str, str] = {}  # who was given a name last, though it may have another one by now
    for run_id, data in home.all("SELECT run_id, data FROM events WHERE kind = ? ORDER BY id", (NAMED,)):
        given = orjson.loads(data)
        name: str = given["name"]
        had = found.get(run_id, Label())
        if name:
            other = holder.get(name) or run_id
            holder[name] = run_id
            if found.get(other, Label()).name == name:
                found[other] = found[other]._replace(name="")
        tags = {*had.tags, *given["tags"]}.difference(given.get("without", ()))
        found[run_id] = Label(name or had.name, tuple(sorted(tags)))
    return found


Usable = Callable[[Run], bool]
"""Whether a verb can use a run, for `last`."""


def of_method(method: str, *, done: bool = False) -> Usable:
    """Return that a run has to be of a method, and with `done` finished."""
    return lambda run: run.method == method and (not done or run.status == "done")


def other_than(first: Run) -> Usable:
    """Return that a run has to be another one of the same kind."""
    return lambda run: run.method == first.method and run.id != first.id


def resolve_run(home: Home, text: str, usable: Usable | None = None) -> Run:
    """Return the run that a user means: by its name, by the beginning of its id, or as `last`.

    Args:
        home: where it is.
        text: what the user wrote.
        usable: which runs can be used: `last` is the newest of them, or where there is none the newest of all, of which the
            verb says why it cannot be used. By default any can.

    Raises:
        NotFound: none is meant, or more than one; the message lists which there are.
    """
    if text == LAST and (runs := list_runs(home)):
        return next((run for run in runs if usable is None or usable(run)), runs[0])
    found = home.all("SELECT id FROM runs WHERE substr(id, 1, ?) = ? ORDER BY id", (len(text), text))
    named = next((id for id, label in labels(home).items() if label.name == text), None)
    if named is not None and (text,) not in found:
        return get_run(home, named)
    if len(found) == 1 or (text,) in found:
        return get_run(home, text if (text,) in found else found[0][0])
    if found:
        shown = ", ".join(id for (id,) in found[:_CANDIDATES]) + (", …" if len(found) > _CANDIDATES else "")
        raise NotFound(f"{text!r} is the beginning of {len(found)} runs: {shown}. Write more of its letters.")
    newest = home.all(f"SELECT id, method FROM runs {NEWEST_FIRST} LIMIT ?", (_CANDIDATES,))
    if not newest:
        raise NotFound(f"no run begins with {text!r}: {home.path} has no runs yet.")
    known = labels(home)
    shown = ", ".join(f"{known.get(id, Label()).name or id} ({method})" for id, method in newest)
    raise NotFound(f"no run of {home.path} has the name {text!r} or begins with {text!r}. The newest are: {shown}.")
