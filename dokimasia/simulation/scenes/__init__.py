"""The planted scenes: the sorts of pictures of the seven domains, and scenes by domain and seed."""

from collections.abc import Mapping
from hashlib import sha256
from random import Random

from dokimasia.simulation.scene import Domain, Scene
from dokimasia.simulation.scenes import creative, data, document, interface, logic, natural, stem
from dokimasia.simulation.scenes.draft import Compose, SceneDraft
from dokimasia.simulation.scenes.drawing import HEIGHT, WIDTH
from dokimasia.simulation.scenes.sorts import read_sorts

LAYOUTS: Mapping[Domain, Mapping[str, Compose]] = {
    "natural": natural.LAYOUTS,
    "document": document.LAYOUTS,
    "interface": interface.LAYOUTS,
    "data": data.LAYOUTS,
    "stem": stem.LAYOUTS,
    "logic": logic.LAYOUTS,
    "creative": creative.LAYOUTS,
}
"""The composers of pictures, by domain and sort, in a fixed order."""


def make_scene(domain: Domain, seed: int) -> Scene:
    """Return the domain's scene of that seed, equal on every machine, without drawing it.

    It has one question of each of the six kinds, in order.
    """
    hashed = sha256(f"scene/1\0{domain}\0{seed}".encode()).digest()
    rng = Random(int.from_bytes(hashed[:8], "big"))
    layout = rng.choice(tuple(LAYOUTS[domain]))
    draft = SceneDraft(rng, f"{domain}-{seed}", read_sorts()[layout])
    title, questions = LAYOUTS[domain][layout](draft)
    return Scene(
        id=draft.id,
        domain=domain,
        layout=layout,
        look=rng.randrange(1 << 31),
        title=title,
        width=WIDTH,
        height=HEIGHT,
        facts=tuple(draft.facts.values()),
        questions=tuple(questions),
    )
