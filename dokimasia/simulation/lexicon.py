"""Synonyms of the planted capabilities, and a simulated judge's reading of the words of a criterion or a name.

The capabilities of the planted scenes have further names in plain English. The *made-up tree* has capabilities that are
known only here: their names, and the cue words of criteria about them, are invented, so no list of synonyms has them.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import sha256
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.domain.capability import CATEGORIES
from dokimasia.simulation.capabilities import CAPABILITIES, LEAF_PATHS, OTHER_NAMES, OTHER_PARENT_NAMES
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.unknown_inputs import content_words, is_unknown_question

PARENTS, LEAVES = 4, 3
"""Numbers for the made-up tree: parents per category, leaves per parent."""

CUES = 10
"""Number of cue words of a made-up capability; none is part of its names."""

_WORD = re.compile(r"[a-z]+")
_START_LETTERS = "b br d dr f fl g gl h j k kr l m n p pr r s sk st t tr v z"
_STARTS, _VOWELS, _ENDS = (
    letters.split() for letters in (_START_LETTERS, "a e i o u ai ei oa ou", "d g k l m n p r s t x nd rk st")
)
_CRAFTS = ("Recognition", "Judgement", "Tracing", "Handling", "Sense", "Discernment", "Use", "Grasp")


class Capability(NamedTuple):
    """A planted capability: its path, all names of its leaf (the path's own first), and its cue words."""

    path: str
    names: tuple[str, ...]
    cues: tuple[str, ...] = ()


@cache
def scene_capabilities() -> Mapping[str, Capability]:
    """Return the capabilities of the planted scenes by path."""
    return {path: Capability(path, (last_of(path), *OTHER_NAMES[path])) for path in CAPABILITIES}


@cache
def made_up_capabilities() -> Mapping[str, Capability]:
    """Return the capabilities of the made-up tree by path: 6 categories, 24 parents, 72 leaves, six names each."""
    capabilities: dict[str, Capability] = {}
    words: set[str] = set()
    for category in CATEGORIES:
        for parent in range(PARENTS):
            group = _invent_word(words, category, parent)
            for leaf in range(LEAVES):
                names = _leaf_names(words, category, parent, leaf)
                cues = tuple(_invent_word(words, category, parent, leaf, "cue", at).lower() for at in range(CUES))
                path = f"<{category}><{group}><{names[0]}>"
                capabilities[path] = Capability(path, names, cues)
    return capabilities


@cache
def parent_names() -> Mapping[str, tuple[str, ...]]:
    """Return the names of each planted parent, by `<category><parent>`; its own name comes first."""
    names: dict[str, tuple[str, ...]] = {}
    for path in [*scene_capabilities(), *made_up_capabilities()]:
        above = parent_of(path)
        own = last_of(above)
        names[above] = (own, OTHER_PARENT_NAMES[own]) if own in OTHER_PARENT_NAMES else (own, f"{own} Matters")
    return names


@cache
def all_capabilities() -> Mapping[str, Capability]:
    """Return all planted capabilities by path."""
    return {**scene_capabilities(), **made_up_capabilities()}


def capability_by_name(name: str) -> str | None:
    """Return the planted capability with a leaf's name, ignoring case; None if there is none."""
    return _by_name().get(" ".join(name.casefold().split()))


def capability_by_cue(text: str) -> str | None:
    """Return the made-up capability of the first cue word in a text; None without one."""
    path_by_cue = _by_cue()
    return next((path_by_cue[word] for word in _WORD.findall(text.casefold()) if word in path_by_cue), None)


def parent_of(path: str) -> str:
    """Return the path of a node's parent."""
    return path[: max(0, path.rfind("<"))]


def last_of(path: str) -> str:
    """Return the last name of a path; other text is returned without markup."""
    return path[path.rfind("<") + 1 :].rstrip(">")


@cache
def _by_name() -> Mapping[str, str]:
    return {name.casefold(): path for path, capability in all_capabilities().items() for name in capability.names}


@cache
def _by_cue() -> Mapping[str, str]:
    return {cue: path for path, capability in made_up_capabilities().items() for cue in capability.cues}


def _leaf_names(words: set[str], *key: str | int) -> tuple[str, ...]:
    """Return the six names of a leaf: three unrelated words, each in two forms with different crafts."""
    names: list[str] = []
    rng = _rng("craft", *key)
    for root in range(3):
        word = _invent_word(words, *key, "name", root)
        craft, other = rng.sample(_CRAFTS, 2)
        names += [f"{word} {craft}", f"{other} of {word}s"]
    return tuple(names)


def _invent_word(words: set[str], *key: str | int) -> str:
    """Return an unused word, and add it to the used ones."""
    rng = _rng(*key)
    while True:
        word = "".join(rng.choice(_STARTS) + rng.choice(_VOWELS) for _ in range(2))
        word += rng.choice(_STARTS) + rng.choice(_VOWELS) + rng.choice(_ENDS)
        if word not in words:
            words.add(word)
            return word.capitalize()


def _rng(*key: str | int) -> Random:
    hashed = sha256("\0".join(["made-up tree/1", *map(str, key)]).encode()).digest()
    return Random(int.from_bytes(hashed[:8], "big"))


SCENES = 120
"""Number of scenes per domain from which a judge knows the wording of planted questions; other scenes have the same wording."""

ALIKE = 0.62
"""Share of common word pairs from which two questions count as wordings of the same one."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_EVERYDAY: tuple[tuple[str, str], ...] = (
    (r"\bhow many\b|\bnumber of\b|\bcount", "Object Counting"),
    (r"\bwhat colou?r|\bcolou?r of\b|\bcolou?red\b", "Colour Recognition"),
    (r"\bshape\b", "Shape Recognition"),
    (
        r"\bposition|\bwhere (?:is|are)\b|\bin relation to\b|\bnext to\b|\bleft of\b|\bright of\b|\bbehind\b",
        "Relative Position",
    ),
    (r"\bwritten\b|\bsign says\b|\btext on\b|\blabelled\b", "Text Reading"),
    (r"\bwhat (?:kind|type|sort) of (?:picture|image|photo|document)\b", "Genre Identification"),
)
_PLAIN = tuple((re.compile(pattern, re.IGNORECASE), LEAF_PATHS[leaf]) for pattern, leaf in _EVERYDAY)

_Pairs = frozenset[tuple[str, str]]


class Sense(NamedTuple):
    """The subject of a criterion: a planted capability or, without one, a word that represents it."""

    planted: str | None
    word: str | None = None


class _KnownWordings(NamedTuple):
    sizes: NDArray[np.int64]
    paths: list[str]
    holders: dict[tuple[str, str], NDArray[np.int64]]


def sense_of_criterion(question: str, ground_truth: str = "") -> Sense:
    """Return the subject of a criterion, by its words alone.

    Criteria of the made-up tree are recognised by cue words, those of the planted scenes by the wording of their
    question. Others are recognised by plain words ("how many", "which colour"), or else by their first content word.
    """
    path = capability_by_cue(question) or capability_by_cue(ground_truth)
    if path is None and not is_unknown_question(question):
        path = _capability_by_wording(question)
    if path is not None:
        return Sense(path)
    text = ground_truth if is_unknown_question(question) else f"{question} {ground_truth}"
    everyday = next((path for pattern, path in _PLAIN if pattern.search(text)), None)
    if everyday is not None:
        return Sense(everyday)
    return Sense(None, next(iter(content_words(text)), None))


def sense_of_name(name: str) -> Sense:
    """Return the meaning of a leaf's name: a planted capability, or else its last content word."""
    path = capability_by_name(name)
    if path is not None:
        return Sense(path)
    return Sense(None, next(reversed(content_words(name)), None))


def unknown_path(word: str | None) -> str:
    """Return a judge's path for an unknown capability with only a word; words in -ing are ways of reasoning."""
    name = (word or "the picture as a whole").capitalize()
    doing = name.endswith("ing")
    category = CATEGORIES[1] if doing else CATEGORIES[3]
    parent = "Working Steps" if doing else "Subject Understanding"
    return f"<{category}><{parent}><{name if doing else f'Understanding of {name}'}>"


@lru_cache(maxsize=100_000)
def _capability_by_wording(question: str) -> str | None:
    """Return the capability of the planted question with the most similar wording; None if none is similar enough."""
    wordings = _known_wordings()
    mine = _neighbours(question)
    holders = [wordings.holders[pair] for pair in mine if pair in wordings.holders]
    if not holders:
        return None
    shared = np.bincount(np.concatenate(holders), minlength=len(wordings.paths))
    likeness = 2 * shared / (len(mine) + wordings.sizes)
    best = int(likeness.argmax())  # the first of several
    if likeness[best] >= ALIKE:
        return wordings.paths[best]
    return None


@cache
def _known_wordings() -> _KnownWordings:
    """Return the wordings of planted questions, and the wordings that contain each pair of adjacent words."""
    path_by_pairs: dict[_Pairs, str] = {}
    for question, path in _planted_questions().items():
        path_by_pairs.setdefault(_neighbours(question), path)
    holders: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for at, pairs in enumerate(path_by_pairs):
        for pair in pairs:
            holders[pair].append(at)
    sizes = np.array([len(pairs) for pairs in path_by_pairs])
    return _KnownWordings(sizes, list(path_by_pairs.values()), {pair: np.array(ats) for pair, ats in holders.items()})


def _planted_questions() -> dict[str, str]:
    """Return the planted questions with the capability of the first step of that wording."""
    path_by_question: dict[str, str] = {}
    for domain in DOMAINS:
        for seed in range(SCENES):
            for question in make_scene(domain, seed).questions:
                for step in question.steps:
                    path_by_question.setdefault(step.question, step.capability)
    return path_by_question


def _neighbours(text: str) -> _Pairs:
    words = _TOKEN.findall(text.casefold())
    return frozenset(zip(["", *words], [*words, ""], strict=True))
