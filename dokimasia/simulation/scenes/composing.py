"""A scene by its domain and seed, composed by one of the domain's layouts."""

from hashlib import sha256
from random import Random

from dokimasia.simulation.scene import Domain, Scene
from dokimasia.simulation.scenes import LAYOUTS
from dokimasia.simulation.scenes.draft import Draft
from dokimasia.simulation.scenes.drawing import HEIGHT, WIDTH


def make_scene(domain: Domain, seed: int) -> Scene:
    """Return the domain's scene of that seed: equal on every machine, and nothing is drawn yet.

    It has one question of each of the six kinds, in their order.
    """
    hashed = sha256(f"scene/1\0{domain}\0{seed}".encode()).digest()
    rng = Random(int.from_bytes(hashed[:8], "big"))
    layout = rng.choice(LAYOUTS[domain])
    draft = Draft(rng, f"{domain}-{seed}")
    title, questions = layout.compose(draft)
    return Scene(
        id=draft.id,
        domain=domain,
        layout=layout.name,
        look=rng.randrange(1 << 31),
        title=title,
        width=WIDTH,
        height=HEIGHT,
        facts=tuple(draft.facts.values()),
        questions=tuple(questions),
    )
