"""The planted tree and its many surface forms: names of each capability that share nothing, and words that betray it.

Two parts. The capabilities that steps of the planted scenes belong to have further names in plain English. The *made-up
tree* has capabilities of which nobody can know anything but what is planted here: their names and the words by which a
criterion speaks of them are invented, so that a list of synonyms, however long, holds none of them.
"""

import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from random import Random
from typing import NamedTuple

from dokimasia.domain.capability import CATEGORIES
from dokimasia.simulation import capabilities as can

PARENTS, LEAVES = 4, 3
"""Of the made-up tree: parents of a category, leaves of a parent."""

CUES = 10
"""Words by which criteria of a made-up capability speak of it; none is in any of its names."""

_WORD = re.compile(r"[a-z]+")
_START_LETTERS = "b br d dr f fl g gl h j k kr l m n p pr r s sk st t tr v z"
_STARTS, _VOWELS, _ENDS = (
    letters.split() for letters in (_START_LETTERS, "a e i o u ai ei oa ou", "d g k l m n p r s t x nd rk st")
)
_CRAFTS = ("Recognition", "Judgement", "Tracing", "Handling", "Sense", "Discernment", "Use", "Grasp")

_PARENT_NAMES = {
    "Enumeration": "Quantities",
    "Object Perception": "Thing Identity",
    "Attribute Perception": "Visible Properties",
    "Character Perception": "Glyphs and Digits",
    "Measurement Perception": "Instruments",
    "Spatial Understanding": "Layout Sense",
    "Structure Understanding": "Table and Key Logic",
    "Purpose Understanding": "Intent",
    "Narrative Understanding": "Story Grasp",
    "Numerical Reasoning": "Arithmetic",
    "Comparative Reasoning": "Weighing Up",
    "Logical Reasoning": "Inference",
    "Scientific Knowledge": "Physics and Maths",
    "Everyday Knowledge": "Common Sense",
    "Cultural Knowledge": "Heritage",
    "Groundedness": "Honesty about Evidence",
    "Answer Composition": "Wording",
}
"""What else a parent of the planted scenes' tree is called."""

_NAMES: dict[str, tuple[str, ...]] = {
    can.COUNTING: ("Tallying All Items", "Cardinality", "How Many There Are"),
    can.COUNTING_SELECTED: ("Filtered Tally", "Conditional Cardinality", "Subset Quantity"),
    can.OBJECT: ("Naming Entities", "Identifying What It Is", "Recognising Things"),
    can.COLOUR: ("Hue Discrimination", "Naming Tints", "Color Identification"),
    can.SHAPE: ("Geometric Outline", "Form Classification", "Contour Naming"),
    can.STATE: ("Condition Detection", "On-Off Status", "Seeing How It Is Set"),
    can.TEXT: ("Optical Lettering", "Transcribing Words", "Script Decoding"),
    can.NUMBER: ("Digit Transcription", "Numeral Decoding", "Figures as Printed"),
    can.GAUGE: ("Dial Interpretation", "Axis Values", "Level Estimation"),
    can.POSITION: ("Where Things Lie", "Placement among Neighbours", "Spatial Relations"),
    can.ORDINAL: ("Rank in a Row", "Sequence Index", "Nth from One End"),
    can.FIELD: ("Key-Value Association", "Cell Lookup", "Matching Labels with Entries"),
    can.LEGEND: ("Key Decoding", "Symbol-to-Series Matching", "Mark Attribution"),
    can.GENRE: ("Document Type", "Classifying the Medium", "Kind of Drawing"),
    can.TOPIC: ("Subject Matter", "What It Is About", "Theme Extraction"),
    can.SPEAKER: ("Who Says It", "Dialogue Ownership", "Character Voice"),
    can.ADDITION: ("Summing Up", "Totals", "Plus Calculation"),
    can.DIFFERENCE: ("Taking Away", "Computing a Gap", "Minus Calculation"),
    can.PRODUCT: ("Scaling by Factors", "Times Tables", "Ratios"),
    can.LIMIT: ("Cutoff Check", "Bound Testing", "Above or Below a Mark"),
    can.EXTREME: ("Superlatives", "Argmax", "Finding Peaks and Troughs"),
    can.MAGNITUDE: ("Pairwise Ordering", "Which One Is Bigger", "Size Contest"),
    can.RULE: ("Abstracting Regularities", "Law behind Figures", "Pattern Discovery"),
    can.CONTINUATION: ("Extrapolating Series", "What Comes Next", "Gap Filling"),
    can.DEDUCTION: ("Combining Premises", "Entailment", "Joint Conditions"),
    can.SCIENCE: ("Mechanics", "Forces and Circuits", "Physics Principles"),
    can.GEOMETRY: ("Angle Sums", "Euclidean Facts", "Triangle Propositions"),
    can.CONVENTION: ("Customary Behaviour", "Usage of Common Devices", "Ordinary Practice"),
    can.CULTURE: ("Heraldic Terms", "Emblem Lore", "Traditional Vocabulary"),
    can.ABSENCE: ("Noticing What Is Missing", "Denying False Presence", "No Such Thing Shown"),
    can.FORM: ("Full Phrasing", "Response Format", "Stating Everything Asked"),
}
"""What else a capability of the planted scenes is called."""


class Capability(NamedTuple):
    """A planted capability: its path, all names of its leaf (the path's own first), and the words that betray it."""

    path: str
    names: tuple[str, ...]
    cues: tuple[str, ...] = ()


@cache
def shown() -> Mapping[str, Capability]:
    """Return the capabilities of the planted scenes by path."""
    return {path: Capability(path, (last_of(path), *_NAMES[path])) for path in can.CAPABILITIES}


@cache
def made_up() -> Mapping[str, Capability]:
    """Return the capabilities of the made-up tree by path: 6 categories, 24 parents, 72 leaves, six names each."""
    found: dict[str, Capability] = {}
    taken: set[str] = set()
    for category in CATEGORIES:
        for parent in range(PARENTS):
            group = _invented(taken, category, parent)
            for leaf in range(LEAVES):
                names = _names(taken, category, parent, leaf)
                cues = tuple(_invented(taken, category, parent, leaf, "cue", at).lower() for at in range(CUES))
                path = f"<{category}><{group}><{names[0]}>"
                found[path] = Capability(path, names, cues)
    return found


@cache
def parent_names() -> Mapping[str, tuple[str, ...]]:
    """Return what each planted parent is called, by `<category><parent>`: its own name first."""
    names: dict[str, tuple[str, ...]] = {}
    for path in [*shown(), *made_up()]:
        above = parent_of(path)
        own = last_of(above)
        names[above] = (own, _PARENT_NAMES[own]) if own in _PARENT_NAMES else (own, f"{own} Matters")
    return names


@cache
def every() -> Mapping[str, Capability]:
    """Return all planted capabilities by path."""
    return {**shown(), **made_up()}


def named(name: str) -> str | None:
    """Return the planted capability that a leaf's name stands for, whatever its case; None for a name that is none."""
    return _by_name().get(" ".join(name.casefold().split()))


def betrayed(text: str) -> str | None:
    """Return the made-up capability that a text's words betray: the first of the cues in it, None without any."""
    known = _by_cue()
    return next((known[word] for word in _WORD.findall(text.casefold()) if word in known), None)


def parent_of(path: str) -> str:
    """Return the path above."""
    return path[: max(0, path.rfind("<"))]


def last_of(path: str) -> str:
    """Return the name at the end of a path, of any text that is none all of it."""
    return path[path.rfind("<") + 1 :].rstrip(">")


@cache
def _by_name() -> Mapping[str, str]:
    return {name.casefold(): path for path, capability in every().items() for name in capability.names}


@cache
def _by_cue() -> Mapping[str, str]:
    return {cue: path for path, capability in made_up().items() for cue in capability.cues}


def _names(taken: set[str], *key: str | int) -> tuple[str, ...]:
    """Return three unrelated words, each alone with one craft and turned round with another: six names of a leaf."""
    names: list[str] = []
    rng = _rng("craft", *key)
    for root in range(3):
        word = _invented(taken, *key, "name", root)
        craft, other = rng.sample(_CRAFTS, 2)
        names += [f"{word} {craft}", f"{other} of {word}s"]
    return tuple(names)


def _invented(taken: set[str], *key: str | int) -> str:
    """Return a word that is not taken yet, and take it."""
    rng = _rng(*key)
    while True:
        word = "".join(rng.choice(_STARTS) + rng.choice(_VOWELS) for _ in range(2))
        word += rng.choice(_STARTS) + rng.choice(_VOWELS) + rng.choice(_ENDS)
        if word not in taken:
            taken.add(word)
            return word.capitalize()


def _rng(*key: str | int) -> Random:
    hashed = sha256("\0".join(["made-up tree/1", *map(str, key)]).encode()).digest()
    return Random(int.from_bytes(hashed[:8], "big"))
