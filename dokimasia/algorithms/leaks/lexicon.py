"""What things are also called and what points to them: a lexicon of common knowledge, kept in a text file beside this one."""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from dokimasia.algorithms.leaks.forms import plain_words, stem

Phrase = frozenset[str]


class Thing(NamedTuple):
    """One thing: its names and what points to it, each a set of stems that must all stand in a text."""

    names: tuple[Phrase, ...]
    pointers: tuple[Phrase, ...]


@cache
def things() -> dict[str, tuple[Thing, ...]]:
    """Return the things of the lexicon by each stem of their names; read from the file at the first call."""
    text = resources.files("dokimasia.algorithms.leaks").joinpath("lexicon.txt").read_text(encoding="utf-8")
    found: dict[str, list[Thing]] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            names, _, pointers = line.partition("|")
            thing = Thing(_phrases(names), _phrases(pointers))
            for name in {one for phrase in thing.names for one in phrase if len(phrase) == 1}:
                found.setdefault(name, []).append(thing)
    return {name: tuple(these) for name, these in found.items()}


def _phrases(listed: str) -> tuple[Phrase, ...]:
    found = (frozenset(stem(word) for word in plain_words(one)) for one in listed.split(","))
    return tuple(one for one in found if one)


def names_of(stems: Iterable[str]) -> set[Phrase]:
    """Return the other names of what stems name."""
    known, wanted = things(), set(stems)
    found = {name for one in wanted for thing in known.get(one, ()) for name in thing.names}
    return {name for name in found if not name <= wanted}


def pointers_of(stems: Iterable[str]) -> set[Phrase]:
    """Return what points to the things that stems name."""
    known = things()
    return {pointer for one in stems for thing in known.get(one, ()) for pointer in thing.pointers}


def among(phrases: Iterable[Phrase], stems: Sequence[str]) -> set[str]:
    """Return the stems of a text that belong to one of the phrases standing in it whole."""
    said = set(stems)
    return {word for phrase in phrases if phrase <= said for word in phrase}
