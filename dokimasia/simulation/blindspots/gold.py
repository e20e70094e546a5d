"""The gold answer to a planted picture: statements of what it shows, and sentences that carry what statements cannot.

A statement can be wrong in an entity, an attribute, a number or a reading. What else an answer can be wrong in (its theme,
its tone, an order of steps, a cause, ...) stands in turns: sentences with a right wording, a second one that says the same,
and wrong ones. All of them are made from the picture alone, so that whoever sees the picture knows which are right.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from dokimasia.simulation.depicted import Depicted, Point

TOLD = 8
"""How many facts a gold answer states."""

MAKERS = ("in a hurry to be done", "paid by the hour", "on the point of retiring")
EXTRAS = ("watering can", "folding ladder", "birdcage", "typewriter", "garden gnome")
"""What no planted picture shows."""

THEME, CLOSING, TONE, DEPTH, CULTURE, PLACE, STEPS, CAUSE, FACT, STORY = (
    "opening",
    "closing",
    "tone",
    "depth",
    "culture",
    "place",
    "steps",
    "cause",
    "fact",
    "story",
)


class Turn(NamedTuple):
    """A sentence of a gold answer: its wording, another that says the same, wrong ones, and what they are at fault in.

    Where `wrong` is empty the sentence is at fault by being absent.
    """

    name: str
    dimension: str
    right: str
    also: str
    wrong: tuple[str, ...] = ()


def told(picture: Depicted) -> tuple[Point, ...]:
    """Return the facts that the gold answer to a picture states: of every sort one first, in the picture's order."""
    return _told(picture.points)


def turns(picture: Depicted) -> Mapping[str, Turn]:
    """Return the other sentences of the gold answer to a picture, in their order, by name."""
    return {one.name: one for one in _turns(picture.points)}


def gold_answer(picture: Depicted) -> str:
    """Return the gold answer to a picture: true throughout, and with something of every dimension that it allows."""
    return _laid_out(picture, [point.sentence() for point in told(picture)], neutral=False)


def reworded(picture: Depicted, statements: list[str]) -> str:
    """Return an answer with these statements that says the same as the gold one in other words and another order."""
    return _laid_out(picture, statements[::-1], neutral=True)


def _laid_out(picture: Depicted, statements: list[str], *, neutral: bool) -> str:
    said = {name: one.also if neutral else one.right for name, one in turns(picture).items()}
    before = [said.pop(name) for name in (THEME, TONE, CULTURE) if name in said]
    return " ".join([*before, *statements, *said.values()])


@lru_cache(maxsize=512)
def _told(points: tuple[Point, ...]) -> tuple[Point, ...]:
    settled = [point for point in points if not point.readings]
    first_of_sort = {point.sort: point for point in reversed(settled)}.values()
    rest = [point for point in settled if point not in first_of_sort]
    chosen = {point.key for point in [*first_of_sort, *rest][:TOLD]}
    return tuple(point for point in settled if point.key in chosen)


@lru_cache(maxsize=512)
def _turns(points: tuple[Point, ...]) -> tuple[Turn, ...]:
    facts = _told(points)
    subjects = list(dict.fromkeys(point.subject for point in facts))
    chief = facts[0]
    found = [
        Turn(
            THEME,
            "thematic_deviation",
            f"What this is about is the {chief.subject}.",
            f"It is the {chief.subject} that this is about.",
            ("What this is about is the wall on which it will hang.", "What this is about is the ink that it took."),
        ),
        Turn(
            TONE,
            "tone_mismatch",
            "It is a calm picture, and there is nothing in it to be afraid of.",
            "Calm as the picture is, it holds nothing to be afraid of.",
            (
                "It is a ghastly picture, and every line of it makes one shudder.",
                "It is a hilarious picture, and one cannot stop laughing at it.",
            ),
        ),
        Turn(
            CULTURE,
            "cultural_misalignment",
            "It is laid out in the European manner, from the left to the right.",
            "Its layout, from the left to the right, is in the European manner.",
            (
                "It is laid out in the Arabic manner, from the right to the left.",
                "It is laid out in the old Japanese manner, in columns from the right.",
            ),
        ),
    ]
    if place := _place(facts):
        found.append(place)
    if len(subjects) > 2:
        a, b, c = subjects[:3]
        found.append(
            Turn(
                STEPS,
                "procedural_reordering",
                f"Whoever goes through it in order comes first to the {a}, then to the {b}, and last to the {c}.",
                f"In order one comes to the {a} first, to the {b} after that, and to the {c} last.",
                tuple(
                    f"Whoever goes through it in order comes first to the {x}, then to the {y}, and last to the {z}."
                    for x, y, z in ((c, b, a), (b, a, c))
                ),
            )
        )
    found += [
        Turn(
            CAUSE,
            "causal_misattribution",
            f"Its {chief.attribute} can be told because the {chief.subject} is drawn without a blur.",
            f"Because the {chief.subject} is drawn without a blur, its {chief.attribute} can be told.",
            (
                f"The {chief.subject} is drawn without a blur because its {chief.attribute} can be told.",
                f"Its {chief.attribute} can be told because a label beside the {chief.subject} gives it away.",
            ),
        ),
        Turn(
            FACT,
            "factual_perturbation",
            f"The {chief.subject} is in full view, so whoever looks for it will find it.",
            f"Whoever looks for the {chief.subject} will find it, since it is in full view.",
            (f"The {chief.subject} is out of view, so whoever looks for it will miss it.",),
        ),
        Turn(
            STORY,
            "narrative_visual_conflict",
            f"One can make a story of it: in broad light someone stops before the {chief.subject}, looks, and goes on content.",
            f"It makes a story: someone stops in broad light before the {chief.subject}, looks, and goes on content.",
            (
                f"One can make a story of it: in pitch darkness someone feels for the {chief.subject}, and goes on content.",
                f"One can make a story of it: in thick fog someone walks past the {chief.subject}, and goes on content.",
            ),
        ),
        Turn(
            DEPTH,
            "contextual_depth_reduction",
            "It seems made with care, as though someone wished it to be looked at for long, and by many.",
            "One would say that care went into it, as though it were to be looked at for long, and by many.",
        ),
        Turn(
            CLOSING,
            "thematic_deviation",
            f"So much for the {chief.subject}, and for what is around it.",
            f"So much for what this is about, the {chief.subject}, and for what is around it.",
            ("So much for walls, and for what one hangs on them.", "So much for ink, and for what it costs."),
        ),
    ]
    return tuple(found)


def _place(facts: tuple[Point, ...]) -> Turn | None:
    """The first two things of which one is wholly to the left of, or above, the other."""
    for one, other in combinations(facts, 2):
        if one.box is None or other.box is None or one.subject == other.subject:
            continue
        sides = (("to the left of", "to the right of", "x0", "x1"), ("above", "below", "y0", "y1"))
        for before, after, start, end in sides:
            for a, b in ((one, other), (other, one)):
                if getattr(a.box, end) <= getattr(b.box, start):
                    return Turn(
                        PLACE,
                        "spatial_relation_swap",
                        f"In the picture the {a.subject} is {before} the {b.subject}.",
                        f"In the picture the {b.subject} is {after} the {a.subject}.",
                        (f"In the picture the {a.subject} is {after} the {b.subject}.",),
                    )
    return None
