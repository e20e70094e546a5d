"""The planted world: scenes by seed, questions balanced over domains and kinds, and their data files."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson
from pydantic import JsonValue

from dokimasia.simulation.creative import make_creative, to_creative_row
from dokimasia.simulation.gold_answers import gold_answer
from dokimasia.simulation.image_edits import spots_of_scene
from dokimasia.simulation.picture import draw_scene
from dokimasia.simulation.picture_content import content_of_scene, fact_to_dispute
from dokimasia.simulation.prompted import GROUND, SKY
from dokimasia.simulation.scene import DOMAINS, QUESTION_KINDS, Scene, SceneQuestion
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.scenes.draft import article

_SCENES_A_SEED = 1_000_000
_DESCRIBED_SEED = 1_000

TO_DESCRIBE = "Describe the picture: what it is about, what it shows and where, how it is made, and how it strikes you."
"""The request for scenes with a gold answer."""

DISPUTED_SHARE = 0.2
"""Default share of described scenes with a disputed fact."""


def make_world(n_samples: int, seed: int) -> Iterator[tuple[Scene, SceneQuestion]]:
    """Yield questions with their scenes: domains in turn, two or three questions per scene, kinds in turn.

    Any prefix is balanced to within one scene over domains and one question over kinds; every 210 samples contain each
    combination of domain and kind equally often. A shorter world is the beginning of a longer one.
    """
    question_count, scenes = 0, 0
    while question_count < n_samples:
        scene = make_scene(DOMAINS[scenes % len(DOMAINS)], seed * _SCENES_A_SEED + scenes)
        for _ in range(min(2 + scenes % 2, n_samples - question_count)):
            yield scene, scene.questions[question_count % len(QUESTION_KINDS)]
            question_count += 1
        scenes += 1


def to_row(scene: Scene, question: SceneQuestion) -> dict[str, JsonValue]:
    """Return a question as a row of a data file; `image` is relative to the data file."""
    return {
        "id": question.id,
        "image": f"images/{scene.id}.png",
        "prompt": question.text,
        "reference_answer": question.answer,
        **({"choices": [*question.choices]} if question.choices else {}),
        "category": question.kind,
        "meta": {"domain": scene.domain, "scene": scene.id, "planted": True},
    }


def write_world(path: Path, n_samples: int, seed: int) -> int:
    """Write a data file (JSON lines) with its pictures in `images/`, and return the number of pictures.

    Equal arguments give equal bytes. Each file is written atomically, the data file last, so that an existing data file has
    all of its pictures.
    """
    rows = (([scene], to_row(scene, question)) for scene, question in make_world(n_samples, seed))
    return len(_write_all(path, rows))


def make_described(n_scenes: int, seed: int, *, disputed: float = DISPUTED_SHARE) -> Iterator[Scene]:
    """Yield scenes to describe, domains in turn; an evenly spread share of them has a disputed fact.

    They differ from the scenes of `make_world`. A shorter world is the beginning of a longer one.
    """
    for number in range(n_scenes):
        scene = make_scene(DOMAINS[number % len(DOMAINS)], (seed + _DESCRIBED_SEED) * _SCENES_A_SEED + number)
        if int((number + 1) * disputed + 1e-9) > int(number * disputed + 1e-9):
            scene = scene.model_copy(update={"disputed": (fact_to_dispute(scene),)})
        yield scene


def to_described_row(scene: Scene) -> dict[str, JsonValue]:
    """Return a scene to describe as a row of a data file, without a question."""
    return {
        "id": scene.id,
        "image": f"images/{scene.id}.png",
        "domain": scene.domain,
        "meta": {"scene": scene.id, "planted": True, "disputed": bool(scene.disputed)},
    }


def write_described(path: Path, n_scenes: int, seed: int, *, disputed: float = DISPUTED_SHARE) -> int:
    """Write a data file of scenes to describe, as `write_world` does, and return the number of disputed ones."""
    rows = (([scene], to_described_row(scene)) for scene in make_described(n_scenes, seed, disputed=disputed))
    return sum(bool(scene.disputed) for scene in _write_all(path, rows))


def write_gold(path: Path, n_scenes: int, seed: int, *, of_texts: bool = True) -> None:
    """Write a data file of scenes to perturb, as `write_world` does.

    For texts, each has a request for a description and its gold answer; else the prompt for the picture.
    """

    def row(scene: Scene) -> dict[str, JsonValue]:
        fields = {"prompt": TO_DESCRIBE, "gold": gold_answer(content_of_scene(scene))}
        return {"id": scene.id, "image": f"images/{scene.id}.png", **fields} | {
            "category": scene.domain,
            "meta": {"scene": scene.id, "planted": True},
        }

    if of_texts:
        _write_all(path, (([scene], row(scene)) for scene in make_described(n_scenes, seed, disputed=0.0)))
    else:
        _write_all(path, (([scene], to_prompted_row(scene)) for scene in make_prompted(n_scenes, seed)))


def write_creative(path: Path, n_cases: int, seed: int) -> int:
    """Write a data file of creative cases, as `write_world` does, and return the number of pictures."""
    return len(_write_all(path, ((case.scenes, to_creative_row(case)) for case in make_creative(n_cases, seed))))


def _write_all(path: Path, rows: Iterable[tuple[Iterable[Scene], dict[str, JsonValue]]]) -> list[Scene]:
    """Write the picture of each scene once, then the data file of the rows, and return the distinct scenes."""
    folder = path.parent / "images"
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[bytes] = []
    scenes: dict[str, Scene] = {}
    for shown, row in rows:
        for scene in shown:
            if scene.id not in scenes:
                _write(folder / f"{scene.id}.png", draw_scene(scene))
                scenes[scene.id] = scene
        lines.append(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    _write(path, b"".join(lines))
    return list(scenes.values())


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


_PROMPTED_SEED = 2_000


def generation_prompt(scene: Scene) -> str:
    """Return a prompt from which a natural scene could have been generated.

    It names every thing with its place, the text and its support, the surroundings, what must be absent, and the style; and
    it contains a figure of speech that is not meant literally.
    """
    facts = {fact.id: fact for fact in scene.facts}
    spots = spots_of_scene(scene)
    back: list[str] = []
    front: list[str] = []
    for id, fact in facts.items():
        if id.endswith(".kind"):
            row = back if "back" in fact.subject else front
            row.append(article(f"{facts[id.replace('.kind', '.colour')].value} {fact.value}"))
    sign = facts["sign.text"]
    side = "left" if sign.box.x0 < 0.5 else "right"
    setting = scene.layout
    return (
        f"A clear, flat, coloured drawing with dark outlines, in one manner throughout and finished to its edges. "
        f"It shows {len(spots.things)} things of about the same size in two neat rows {GROUND[setting]}. "
        f"In the back row stand, from left to right, {_list_in_words(back)}; "
        f"in the front row stand {_list_in_words(front)}. "
        f"There is no {spots.absent[0]}, no {spots.absent[1]} and no {spots.absent[2]} anywhere. "
        f'In the upper {side} corner a {sign.subject} bears the words "{sign.value}" and below them the number '
        f"{facts['sign.number'].value}. On its other side {SKY[facts['sky'].value]}. "
        f"It is so still that nobody would think it could rain cats and dogs before evening."
    )


def make_prompted(n_scenes: int, seed: int) -> Iterator[Scene]:
    """Yield that many natural scenes, unlike those of other data. A shorter world is the beginning of a longer one."""
    for number in range(n_scenes):
        yield make_scene("natural", (seed + _PROMPTED_SEED) * _SCENES_A_SEED + number)


def to_prompted_row(scene: Scene) -> dict[str, JsonValue]:
    """Return a prompt as a row of a data file; the image is the gold one."""
    return {
        "id": scene.id,
        "image": f"images/{scene.id}.png",
        "prompt": generation_prompt(scene),
        "category": scene.layout,
        "meta": {"domain": scene.domain, "scene": scene.id, "planted": True},
    }


def _list_in_words(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"
