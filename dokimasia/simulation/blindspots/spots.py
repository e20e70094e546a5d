"""What in a picture an edit can be about: its things with what they are, the board that bears words, and its free places."""

from typing import NamedTuple

from dokimasia.domain.criterion import Box
from dokimasia.simulation.depicted import depicted
from dokimasia.simulation.picture import read_scene
from dokimasia.simulation.scene import Scene

_MOST = 8
_LARGEST, _SMALLEST = 0.12, 0.005
"""Shares of a picture between which a fact's region is taken for that of a thing."""

_THIRDS = ("left", "middle", "right")
_LEVELS = ("upper", "central", "lower")


class Spot(NamedTuple):
    """A thing of a picture: how it is called, where it is, and its kind and colour where these are known."""

    name: str
    box: Box
    kind: str = ""
    colour: str = ""


class Spots(NamedTuple):
    """All that edits can be about. `board` bears `words`; None where no words are known to stand in the picture.

    `absent` are kinds of things that are not in the picture, `kept` boxes beside the things that are no background.
    """

    things: tuple[Spot, ...]
    board: Spot | None = None
    words: str = ""
    absent: tuple[str, ...] = ("bench", "balloon", "lamp")
    kept: tuple[Box, ...] = ()

    def thing(self, name: str) -> Spot | None:
        """Return the thing of that name, whatever its case."""
        return next((one for one in self.things if one.name.casefold() == name.casefold()), None)


def spots_of(picture: bytes) -> Spots:
    """Return what edits of a picture can be about: of a planted scene its things, of any other picture nine parts of it."""
    sighting = read_scene(picture)
    if sighting is None or sighting[1] != (0.0, 0.0, 1.0, 1.0):
        return Spots(_parts())
    scene = sighting[0]
    return of_scene(scene) if is_drawn(scene) else Spots(_told(scene) or _parts())


def is_drawn(scene: Scene) -> bool:
    """Whether a scene consists of things that stand side by side, so that a prompt can ask for it to be drawn."""
    return scene.domain == "natural"


def of_scene(scene: Scene) -> Spots:
    """Return the things, the board and the absent things of a natural scene."""
    facts = {fact.id: fact for fact in scene.facts}
    things = tuple(
        Spot(
            f"{facts[id.replace('.kind', '.colour')].value} {fact.value}",
            fact.box,
            fact.value,
            facts[id.replace(".kind", ".colour")].value,
        )
        for id, fact in facts.items()
        if id.endswith(".kind")
    )
    sign = facts["sign.text"]
    here = {one.kind for one in things}
    absent = tuple(kind for kind in ("bench", "lamp", "balloon", "mug", "kite", "bus") if kind not in here)
    kept = (sign.box, facts["sign.number"].box)
    return Spots(things, Spot(sign.subject, sign.box), sign.value, absent[:3], kept)


def _told(scene: Scene) -> tuple[Spot, ...]:
    """Return facts of a scene whose regions are of the size of a thing and do not overlap, called as descriptions do."""
    told = {(point.value, point.subject): point for point in depicted(scene).points}
    found: list[Spot] = []
    for fact in scene.facts:
        point = told.get((fact.value, fact.subject))
        area = (fact.box.x1 - fact.box.x0) * (fact.box.y1 - fact.box.y0)
        if point is None or not _SMALLEST <= area <= _LARGEST or any(_meet(fact.box, one.box) for one in found):
            continue
        found.append(Spot(f"{point.attribute} of the {point.subject}", fact.box))
    return tuple(found[:_MOST]) if len(found) > 1 else ()


def _parts() -> tuple[Spot, ...]:
    return tuple(
        Spot(
            f"{level} {side} part",
            Box(x0=column / 3 + 0.08, y0=row / 3 + 0.08, x1=(column + 1) / 3 - 0.08, y1=(row + 1) / 3 - 0.08),
        )
        for row, level in enumerate(_LEVELS)
        for column, side in enumerate(_THIRDS)
    )


def _meet(one: Box, other: Box) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1
