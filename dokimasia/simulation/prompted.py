"""Pictures by prompt: the prompt of a natural scene, and the scene that a simulated image model
derives from a prompt.
"""

import hashlib
import re
from random import Random

from dokimasia.simulation.scene import Scene
from dokimasia.simulation.scenes import HEIGHT, WIDTH, make_scene
from dokimasia.simulation.scenes.draft import SceneDraft
from dokimasia.simulation.scenes.drawing import COLOUR_NAMES
from dokimasia.simulation.scenes.natural import THINGS, Signed, arranged
from dokimasia.simulation.scenes.sorts import read_sorts

GROUND = {
    "park": "on the green of a park, with a footpath between the two rows",
    "street": "on a street, the back row along the house fronts and the front row on the carriageway",
    "kitchen": "in a kitchen, on two wooden shelves",
}
"""The wording of a natural scene's place in a prompt."""
SKY = {
    "sun": "the sun shines above",
    "moon": "the moon stands in a dark sky above",
    "cloud": "a cloud hangs above",
}
"""The wording of the sky in a prompt."""

_MOST_IN_A_ROW = 4
_ROWS = re.compile(r"In the back row stand, from left to right, ([^;]*); in the front row stand ([^.]*)\.")
_SIGN = re.compile(r'In the upper (left|right) corner [^"]* bears the words "([^"]*)" and below them the number (\d+)')
_BETWEEN = re.compile(r", | and ")
_THING = re.compile(rf"an? ({'|'.join(COLOUR_NAMES)}) ({'|'.join(THINGS)})")


def scene_by_prompt(prompt: str) -> Scene:
    """Return the scene that a prompt asks for; another natural scene if the prompt is none of the planted world's."""
    number = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4], "big")
    setting = next((name for name, ground in GROUND.items() if ground in prompt), "")
    sky = next((name for name, words in SKY.items() if words in prompt), "")
    rows, sign = _ROWS.search(prompt), _SIGN.search(prompt)
    if not (setting and sky and rows and sign):
        return make_scene("natural", number)
    named: dict[str, list[tuple[str, str]]] = {}
    for row, words in zip(("back", "front"), rows.groups(), strict=True):
        things = [_THING.fullmatch(thing) for thing in _BETWEEN.split(words)]
        named[row] = [(thing[1], thing[2]) for thing in things if thing is not None]
        if len(named[row]) != len(things) or len(things) > _MOST_IN_A_ROW:
            return make_scene("natural", number)
    draft = SceneDraft(Random(number), f"natural-{number}", read_sorts()[setting])
    questions = arranged(draft, named, Signed(sign[2], sign[3], sign[1], sky))
    return Scene(
        id=draft.id,
        domain="natural",
        layout=setting,
        look=number,
        title=f"a {setting} by a prompt",
        width=WIDTH,
        height=HEIGHT,
        facts=tuple(draft.facts.values()),
        questions=tuple(questions),
    )
