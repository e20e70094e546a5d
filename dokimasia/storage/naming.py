"""Names and tags of runs, stored as events, and lookup of a run by name, id prefix or `last`."""

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
    """A run's name (empty for none), and its tags in alphabetical order."""

    name: str = ""
    tags: tuple[str, ...] = ()


async def name_run(home: Home, run_id: str, name: str | None, tags: Sequence[str]) -> None:
    """Name a run and add tags; another run with that name loses it, with a warning.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    names = labels(home)
    had = names.get(run_id, Label())
    if (name and name != had.name) or set(tags) - set(had.tags):
        await record_event(home, run_id, NAMED, {"name": name or "", "tags": list(tags)})
        for other in (id for id, label in names.items() if name and label.name == name and id != run_id):
            logger(__name__).warning(
                f"run {run_id} is called {name!r} now, which was the name of run {other}; that is found by its id, and can be "
                f"given another: dokimasia runs name {other} NAME"
            )


async def set_tags(home: Home, run_id: str, tags: Sequence[str]) -> None:
    """Replace the tags of a run.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    had = set(labels(home).get(run_id, Label()).tags)
    if had != set(tags):
        change = {"name": "", "tags": sorted(set(tags) - had), "without": sorted(had - set(tags))}
        await record_event(home, run_id, NAMED, change)


def labels(home: Home) -> Mapping[str, Label]:
    """Return name and tags of every run that has any, by run id; a name belongs to the run it was given to last."""
    by_run: dict[str, Label] = {}
    holder: dict[str, str] = {}  # the run that a name was given to last, even if it has another name by now
    for run_id, data in home.all("SELECT run_id, data FROM events WHERE kind = ? ORDER BY id", (NAMED,)):
        change = orjson.loads(data)
        name: str = change["name"]
        had = by_run.get(run_id, Label())
        if name:
            other = holder.get(name) or run_id
            holder[name] = run_id
            if by_run.get(other, Label()).name == name:
                by_run[other] = by_run[other]._replace(name="")
        tags = {*had.tags, *change["tags"]}.difference(change.get("without", ()))
        by_run[run_id] = Label(name or had.name, tuple(sorted(tags)))
    return by_run


Usable = Callable[[Run], bool]
"""Whether a verb can use a run, for `last`."""


def of_method(method: str, *, done: bool = False) -> Usable:
    """Return a filter for runs of a method, with `done` finished ones."""
    return lambda run: run.method == method and (not done or run.status == "done")


def comparable_with(first: Run) -> Usable:
    """Return a filter for other runs of the same method."""
    return lambda run: run.method == first.method and run.id != first.id


def resolve_run(home: Home, text: str, usable: Usable | None = None) -> Run:
    """Return the run with a name or id prefix, or the newest for `last`.

    Args:
        home: where it is.
        text: the user's input.
        usable: which runs can be used: `last` is the newest of them, or where there is none the newest of all, of which the
            verb says why it cannot be used. By default any can.

    Raises:
        NotFound: no run matches, or more than one; the message lists candidates.
    """
    if text == LAST and (runs := list_runs(home)):
        return next((run for run in runs if usable is None or usable(run)), runs[0])
    matches = home.all("SELECT id FROM runs WHERE substr(id, 1, ?) = ? ORDER BY id", (len(text), text))
    by_name = next((id for id, label in labels(home).items() if label.name == text), None)
    if by_name is not None and (text,) not in matches:
        return get_run(home, by_name)
    if len(matches) == 1 or (text,) in matches:
        return get_run(home, text if (text,) in matches else matches[0][0])
    if matches:
        listed = ", ".join(id for (id,) in matches[:_CANDIDATES]) + (", …" if len(matches) > _CANDIDATES else "")
        raise NotFound(f"{text!r} is the beginning of {len(matches)} runs: {listed}. Write more of its letters.")
    newest = home.all(f"SELECT id, method FROM runs {NEWEST_FIRST} LIMIT ?", (_CANDIDATES,))
    if not newest:
        raise NotFound(f"no run begins with {text!r}: {home.path} has no runs yet.")
    names = labels(home)
    listed = ", ".join(f"{names.get(id, Label()).name or id} ({method})" for id, method in newest)
    raise NotFound(f"no run of {home.path} has the name {text!r} or begins with {text!r}. The newest are: {listed}.")
