"""Prompts by which pictures of the planted world could have been made, and the data file of such prompts and pictures."""

from collections.abc import Iterator
from typing import Any

from dokimasia.simulation.blindspots.spots import of_scene
from dokimasia.simulation.scene import Scene
from dokimasia.simulation.scenes.composing import make_scene
from dokimasia.simulation.scenes.phrasing import article

_SCENES_A_SEED = 1_000_000
_PROMPTED_SEED = 2_000
_GROUND = {
    "park": "on the green of a park, with a footpath between the two rows",
    "street": "on a street, the back row along the house fronts and the front row on the carriageway",
    "kitchen": "in a kitchen, on two wooden shelves",
}
_SKY = {
    "sun": "the sun shines above",
    "moon": "the moon stands in a dark sky above",
    "cloud": "a cloud hangs above",
}


def generation_prompt(scene: Scene) -> str:
    """Return the prompt by which a natural scene could have been made: it asks for all that the picture is judged by.

    It names every thing with its place, the writing and what bears it, the surroundings, what must not be there, and how
    it is to be drawn; and it has a figure of speech, which is not meant by the word.
    """
    facts = {fact.id: fact for fact in scene.facts}
    spots = of_scene(scene)
    rows: dict[str, list[str]] = {"back": [], "front": []}
    for id, fact in facts.items():
        if id.endswith(".kind"):
            rows["back" if "back" in fact.subject else "front"].append(
                article(f"{facts[id.replace('.kind', '.colour')].value} {fact.value}")
            )
    sign = facts["sign.text"]
    side = "left" if sign.box.x0 < 0.5 else "right"
    place = scene.layout
    return (
        f"A clear, flat, coloured drawing with dark outlines, in one manner throughout and finished to its edges. "
        f"It shows {len(spots.things)} things of about the same size in two neat rows {_GROUND[place]}. "
        f"In the back row stand, from left to right, {_listed(rows['back'])}; in the front row stand {_listed(rows['front'])}. "
        f"There is no {spots.absent[0]}, no {spots.absent[1]} and no {spots.absent[2]} anywhere. "
        f'In the upper {side} corner a {sign.subject} bears the words "{sign.value}" and below them the number '
        f"{facts['sign.number'].value}. On its other side {_SKY[facts['sky'].value]}. "
        f"It is so still that nobody would think it could rain cats and dogs before evening."
    )


def make_prompted(n_scenes: int, seed: int) -> Iterator[Scene]:
    """Yield that many natural scenes, other ones than other data have. A shorter world is the beginning of a longer one."""
    for number in range(n_scenes):
        yield make_scene("natural", (seed + _PROMPTED_SEED) * _SCENES_A_SEED + number)


def to_prompted_row(scene: Scene) -> dict[str, Any]:
    """Return the data file's row for a prompt; the image is the gold one, which serves it well."""
    return {
        "id": scene.id,
        "image": f"images/{scene.id}.png",
        "prompt": generation_prompt(scene),
        "category": scene.layout,
        "meta": {"domain": scene.domain, "scene": scene.id, "planted": True},
    }


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
