"""What a simulated judge makes of a criterion's words: the planted capability behind them, or, elsewhere, a key word."""

import re
from collections import defaultdict
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dokimasia.domain.capability import CATEGORIES
from dokimasia.simulation import capabilities as can
from dokimasia.simulation import foreign
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes.composing import make_scene
from dokimasia.simulation.tree.lexicon import betrayed, named

SCENES = 120
"""Scenes of each domain from which a judge knows how the planted questions are worded. Others word them alike."""

ALIKE = 0.62
"""The share of common pairs of neighbouring words from which two questions are wordings of one thing."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_EVERYDAY: tuple[tuple[str, str], ...] = (
    (r"\bhow many\b|\bnumber of\b|\bcount", can.COUNTING),
    (r"\bwhat colou?r|\bcolou?r of\b|\bcolou?red\b", can.COLOUR),
    (r"\bshape\b", can.SHAPE),
    (
        r"\bposition|\bwhere (?:is|are)\b|\bin relation to\b|\bnext to\b|\bleft of\b|\bright of\b|\bbehind\b",
        can.POSITION,
    ),
    (r"\bwritten\b|\bsign says\b|\btext on\b|\blabelled\b", can.TEXT),
    (r"\bwhat (?:kind|type|sort) of (?:picture|image|photo|document)\b", can.GENRE),
)
_PLAIN = tuple((re.compile(pattern, re.IGNORECASE), path) for pattern, path in _EVERYDAY)

_Pairs = frozenset[tuple[str, str]]


class Sense(NamedTuple):
    """What a criterion probes: a planted capability, or, where nothing is planted, a word that stands for one."""

    planted: str | None
    word: str | None = None


class _Wordings(NamedTuple):
    sizes: NDArray[np.int64]
    paths: list[str]
    holders: dict[tuple[str, str], NDArray[np.int64]]


def sense(question: str, ground_truth: str = "") -> Sense:
    """Return what a criterion probes, by its words alone.

    Criteria of the made-up tree betray themselves by a word, those of the planted scenes by how their question is
    worded. Anything else is told by plain words ("how many", "which colour"), else by the first word of content.
    """
    path = betrayed(question) or betrayed(ground_truth)
    if path is None and not foreign.is_foreign_question(question):
        path = _worded(question)
    if path is not None:
        return Sense(path)
    text = ground_truth if foreign.is_foreign_question(question) else f"{question} {ground_truth}"
    everyday = next((path for pattern, path in _PLAIN if pattern.search(text)), None)
    if everyday is not None:
        return Sense(everyday)
    return Sense(None, next(iter(foreign.content_words(text)), None))


def sense_of_name(name: str) -> Sense:
    """Return what a leaf of that name is about: a planted capability, else its first word of content."""
    path = named(name)
    return Sense(path) if path is not None else Sense(None, next(reversed(foreign.content_words(name)), None))


def foreign_path(word: str | None) -> str:
    """Return where a judge hangs a capability of which it knows a word only: what ends in -ing is a way of reasoning."""
    name = (word or "the picture as a whole").capitalize()
    doing = name.endswith("ing")
    category = CATEGORIES[1] if doing else CATEGORIES[3]
    parent = "Working Steps" if doing else "Subject Understanding"
    return f"<{category}><{parent}><{name if doing else f'Understanding of {name}'}>"


@lru_cache(maxsize=100_000)
def _worded(question: str) -> str | None:
    """Return the capability of the planted question that is worded most alike, None where none is alike enough."""
    known = _wordings()
    mine = _neighbours(question)
    held = [known.holders[pair] for pair in mine if pair in known.holders]
    if not held:
        return None
    shared = np.bincount(np.concatenate(held), minlength=len(known.paths))
    alike = 2 * shared / (len(mine) + known.sizes)
    best = int(alike.argmax())  # the first of several
    return known.paths[best] if alike[best] >= ALIKE else None


@cache
def _wordings() -> _Wordings:
    """Return how planted questions are worded, and which wordings hold each pair of neighbouring words."""
    found: dict[_Pairs, str] = {}
    for question, path in _planted().items():
        found.setdefault(_neighbours(question), path)
    holders: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for at, pairs in enumerate(found):
        for pair in pairs:
            holders[pair].append(at)
    sizes = np.array([len(pairs) for pairs in found])
    return _Wordings(sizes, list(found.values()), {pair: np.array(ats) for pair, ats in holders.items()})


def _planted() -> dict[str, str]:
    """Return the planted questions and the capability of each, as the first step that is worded so has it."""
    found: dict[str, str] = {}
    for domain in DOMAINS:
        for seed in range(SCENES):
            for question in make_scene(domain, seed).questions:
                for step in question.steps:
                    found.setdefault(step.question, step.capability)
    return found


def _neighbours(text: str) -> _Pairs:
    words = _TOKEN.findall(text.casefold())
    return frozenset(zip(["", *words], [*words, ""], strict=True))
