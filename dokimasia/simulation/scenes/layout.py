"""What a layout is: a function that composes a scene's facts and questions, and one that paints the facts."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from dokimasia.simulation.scene import Question, Scene
from dokimasia.simulation.scenes.draft import Draft
from dokimasia.simulation.scenes.drawing import Canvas, Pixels, pixels

Composed = tuple[str, list[Question]]
"""What a layout composes beside the facts: the title, and one question of each kind."""


class Sight:
    """A scene as a painter reads it: facts by id, their regions in pixels, and a seeded draw for what is no fact."""

    def __init__(self, scene: Scene) -> None:
        self._facts = {fact.id: fact for fact in scene.facts}
        self.rng = Random(scene.look)

    def value(self, id: str) -> str:
        """Return the fact's value."""
        return self._facts[id].value

    def number(self, id: str) -> int:
        """Return the digits of the fact's value as one number."""
        return int("".join(c for c in self._facts[id].value if c.isdigit()))

    def subject(self, id: str) -> str:
        """Return what the fact is about."""
        return self._facts[id].subject

    def at(self, id: str) -> Pixels:
        """Return the fact's region in pixels."""
        return pixels(self._facts[id].box)

    def under(self, prefix: str) -> list[str]:
        """Return the ids that begin with the prefix, in the scene's order."""
        return [id for id in self._facts if id.startswith(prefix)]


class Layout(NamedTuple):
    """One sort of picture. `compose` tells the facts of a draft, and asks the questions."""

    name: str
    compose: Callable[[Draft], Composed]
    paint: Callable[[Canvas, Sight], None]


def spread(rng: Random, n: int, low: int, high: int, *, step: int = 1, gap: int = 3) -> list[int]:
    """Return n multiples of `step` in [low, high], each at least `gap` steps from every other, in a seeded order."""
    room = (high - low) // step - gap * (n - 1)
    offsets = sorted(rng.randrange(room + 1) for _ in range(n))
    values = [low + (offset + gap * i) * step for i, offset in enumerate(offsets)]
    rng.shuffle(values)
    return values
