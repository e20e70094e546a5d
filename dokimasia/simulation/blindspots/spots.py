"""What in a picture an edit can be about: its things with what they are, the board that bears words, and its free places."""

from typing import NamedTuple

from dokimasia.domain.criterion import Box
from dokimasia.simulation.depicted import Point, depicted
from dokimasia.simulation.picture import read_scene
from dokimasia.simulation.scene import Scene

_MOST = 8
_LARGEST, _SMALLEST = 0.12, 0.005
"""Shares of a picture between which a fact's region is taken for that of a thing."""

_THIRDS = ("left", "middle", "right")
_LEVELS = ("upper", "central", "lower")


class Spot(NamedTuple):
    """A thing of a picture: how it is called, where it is, its kind and colour where they are known, and its writing."""

    name: str
    box: Box
    kind: str = ""
    colour: str = ""
    words: str = ""


class Spots(NamedTuple):
    """All that edits can be about: things, and what stands in writing.

    `board` and `label` bear words, and `mislabel` would be wrong on the label; None where no writing is known to stand in
    the picture. `absent` are kinds of things that are not in it.
    """

    things: tuple[Spot, ...]
    absent: tuple[str, ...] = ("bench", "balloon", "lamp")
    board: Spot | None = None
    label: Spot | None = None
    mislabel: str = ""

    @property
    def written(self) -> tuple[Spot, ...]:
        """What bears writing."""
        return tuple(one for one in (self.board, self.label) if one is not None)


def spots_of(picture: bytes) -> Spots:
    """Return what edits of a picture can be about: of a planted scene its things, of any other picture nine parts of it."""
    sighting = read_scene(picture)
    if sighting is None or sighting[1] != (0.0, 0.0, 1.0, 1.0):
        return Spots(_parts())
    scene = sighting[0]
    return of_scene(scene) if is_drawn(scene) else _told(scene) or Spots(_parts())


def is_drawn(scene: Scene) -> bool:
    """Whether a scene consists of things that stand side by side, so that a prompt can ask for it to be drawn."""
    return scene.domain == "natural"


def of_scene(scene: Scene) -> Spots:
    """Return what edits of a natural scene can be about."""
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
    sign, number = facts["sign.text"], facts["sign.number"]
    here = {one.kind for one in things}
    absent = tuple(kind for kind in ("bench", "lamp", "balloon", "mug", "kite", "bus") if kind not in here)
    return Spots(
        things,
        absent[:3],
        Spot(f"words on the {sign.subject}", sign.box, words=sign.value),
        Spot(f"number on the {sign.subject}", number.box, words=number.value),
        str((int(number.value) + 37) % 90 + 10),
    )


def _told(scene: Scene) -> Spots | None:
    """Return facts of a scene whose regions are of the size of a thing and do not overlap, called as descriptions do.

    The first two of them whose values begin with letters are what bears writing.
    """
    told = {(point.value, point.subject): point for point in depicted(scene).points}
    found: dict[Spot, Point] = {}
    for fact in scene.facts:
        point = told.get((fact.value, fact.subject))
        area = (fact.box.x1 - fact.box.x0) * (fact.box.y1 - fact.box.y0)
        if point is None or not _SMALLEST <= area <= _LARGEST or any(_meet(fact.box, one.box) for one in found):
            continue
        found[Spot(f"{point.attribute} of the {point.subject}", fact.box)] = point
    things = tuple(found)[:_MOST]
    if len(things) < 2:
        return None
    words = [one._replace(words=found[one].value) for one in things if found[one].value[:3].isalpha()]
    if len(words) < 2:
        return Spots(things)
    board, label = words[:2]
    mislabel = next(point.false[0] for spot, point in found.items() if spot.name == label.name)
    return Spots(things, board=board, label=label, mislabel=mislabel)


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
