"""Names and tags of runs, which are stored as events, and lookup of a run by name, id prefix or `last`."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dokimasia.domain.identity import Value
from dokimasia.domain.wording import nearest, shortened
from dokimasia.errors import InputError, NotFound
from dokimasia.log import logger
from dokimasia.storage.home import Home
from dokimasia.storage.results import record_event
from dokimasia.storage.runs import NEWEST_FIRST, Run, get_run, list_runs

LAST = "last"
NAMED = "named"
_CANDIDATES = 8


class Label(NamedTuple):
    """A run's name (empty for none), its tags in alphabetical order, and the earlier names that still find it."""

    name: str = ""
    tags: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names that find the run, the newest first."""
        if self.name:
            return (self.name, *self.other_names)
        return self.other_names


class Renaming(Value):
    """A change of a run's label, as an event stores it: its new name (empty: none), added tags, and removed ones."""

    name: str
    tags: tuple[str, ...]
    without: tuple[str, ...] = ()


def check_name(home: Home, run_id: str, name: str | None) -> None:
    """Check that a run can have a name.

    Raises:
        InputError: another run has it; the message names that run.
    """
    holder = next((id for id, label in labels(home).items() if name and label.name == name and id != run_id), None)
    if holder is not None:
        raise InputError(
            f"run {holder} is called {name!r} already: choose another name, or take the name from that run with --force "
            f"(dokimasia runs name {holder} NAME gives it another one)"
        )


async def name_run(home: Home, run_id: str, name: str | None, tags: Sequence[str], *, force: bool = False) -> None:
    """Name a run and add tags; with `force`, another run with that name loses it, with a warning.

    Raises:
        InputError: another run has the name, and `force` is not set.
        StorageError: it could not be written, or there is no such run.
    """
    if not force:
        check_name(home, run_id, name)
    names = labels(home)
    label = names.get(run_id, Label())
    if (name and name != label.name) or set(tags) - set(label.tags):
        await record_event(home, run_id, NAMED, {"name": name or "", "tags": list(tags)})
        for other, label in names.items():
            if not name or name not in label.names or other == run_id:
                continue
            role, other_name = "a former name", repr(label.name)
            if label.name in ("", name):
                other_name = "its id"
            if label.name == name:
                role = "the name"
            logger(__name__).warning(
                f"run {run_id} is called {name!r} now, which was {role} of run {other}; that is found by "
                f"{other_name}, and can be given another: dokimasia runs name {other} NAME"
            )


async def set_tags(home: Home, run_id: str, tags: Sequence[str]) -> None:
    """Replace the tags of a run.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    present = set(labels(home).get(run_id, Label()).tags)
    if present != set(tags):
        change = {"name": "", "tags": sorted(set(tags) - present), "without": sorted(present - set(tags))}
        await record_event(home, run_id, NAMED, change)


def labels(home: Home) -> Mapping[str, Label]:
    """Return the name and tags of every run that has any, by run id; a name belongs to the run that got it last."""
    return _labels_and_names(home)[0]


def _labels_and_names(home: Home) -> tuple[Mapping[str, Label], Mapping[str, str]]:
    """Return the labels of runs, and for each name the run that got it last, even if that has another name now."""
    by_run: dict[str, Label] = {}
    holder: dict[str, str] = {}
    for run_id, data in home.all("SELECT run_id, data FROM events WHERE kind = ? ORDER BY id", (NAMED,)):
        change = Renaming.model_validate_json(data)
        label = by_run.get(run_id, Label())
        if change.name:
            other = holder.get(change.name) or run_id
            holder[change.name] = run_id
            if by_run.get(other, Label()).name == change.name:
                by_run[other] = by_run[other]._replace(name="")
        tags = {*label.tags, *change.tags}.difference(change.without)
        by_run[run_id] = Label(change.name or label.name, tuple(sorted(tags)))
    for name, run_id in holder.items():
        label = by_run[run_id]
        if name != label.name:
            by_run[run_id] = label._replace(other_names=(name, *label.other_names))
    return by_run, holder


Usable = Callable[[Run], bool]
"""Returns whether a verb can use a run, which decides what `last` means."""


def of_method(method: str, *, done: bool = False) -> Usable:
    """Return a filter for runs of a method, with `done` only finished ones."""
    return lambda run: run.method == method and (not done or run.status == "done")


def comparable_with(first: Run) -> Usable:
    """Return a filter for other runs of the same method."""
    return lambda run: run.method == first.method and run.id != first.id


def resolve_run(home: Home, text: str, usable: Usable | None = None) -> Run:
    """Return the run with a name or id prefix, or the newest for `last`.

    A renamed run is still found by its former name, until another run takes it.

    Args:
        home: the home.
        text: the user's input.
        usable: the filter for `last`, which is the newest run that passes, or the newest of all if none does; the verb
            then states why it cannot use it. By default any run passes.

    Raises:
        NotFound: no run matches, or more than one; the message lists candidates.
    """
    if text == LAST:
        runs = list_runs(home)
        if not runs:
            raise NotFound(f"{home.path} has no runs yet.")
        return next((run for run in runs if usable is None or usable(run)), runs[0])
    matches = home.all("SELECT id FROM runs WHERE substr(id, 1, ?) = ? ORDER BY id", (len(text), text))
    by_name = _labels_and_names(home)[1].get(text)
    if by_name is not None and (text,) not in matches:
        return get_run(home, by_name)
    if len(matches) == 1 or (text,) in matches:
        return get_run(home, text if (text,) in matches else matches[0][0])
    if matches:
        candidates = shortened((id for (id,) in matches), _CANDIDATES)
        raise NotFound(f"{text!r} is the beginning of {len(matches)} runs: {candidates}. Write more of its letters.")
    newest = home.all(f"SELECT id, method FROM runs {NEWEST_FIRST} LIMIT ?", (_CANDIDATES,))
    if not newest:
        raise NotFound(f"no run begins with {text!r}: {home.path} has no runs yet.")
    labels_by_run, run_by_name = _labels_and_names(home)
    if hint := nearest(text, run_by_name):
        raise NotFound(f"no run of {home.path} has the name {text!r} or begins with {text!r}{hint}")
    candidates = ", ".join(f"{labels_by_run.get(id, Label()).name or id} ({method})" for id, method in newest)
    raise NotFound(
        f"no run of {home.path} has the name {text!r} or begins with {text!r}. The newest are: {candidates}."
    )
