"""The planted world: scenes by seed, questions in balance over domains and kinds, and the data file that holds them."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from dokimasia.simulation.blindspots.gold import gold_answer
from dokimasia.simulation.creating import make_creative, to_creative_row
from dokimasia.simulation.depicted import depicted, fact_to_dispute
from dokimasia.simulation.picture import draw
from dokimasia.simulation.scene import DOMAINS, KINDS, Question, Scene
from dokimasia.simulation.scenes.composing import make_scene

_SCENES_A_SEED = 1_000_000
_DESCRIBED_SEED = 1_000

TO_DESCRIBE = "Describe the picture: what it is about, what it shows and where, how it is made, and how it strikes you."
"""What is asked of scenes that have a gold answer."""

DISPUTED_SHARE = 0.2
"""The share of scenes to be described that have a disputed fact, unless another is asked for."""


def find_question(scene: Scene, text: str) -> Question | None:
    """Return the scene's question with exactly that text, or None."""
    return next((question for question in scene.questions if question.text == text), None)


def make_world(n_samples: int, seed: int) -> Iterator[tuple[Scene, Question]]:
    """Yield that many questions with their scenes: domains in turn, two or three questions a scene, kinds in turn.

    Any prefix is balanced to within one scene over domains and one question over kinds; every 210 samples hold each
    domain and kind together equally often. A shorter world is the beginning of a longer one.
    """
    made, scenes = 0, 0
    while made < n_samples:
        scene = make_scene(DOMAINS[scenes % len(DOMAINS)], seed * _SCENES_A_SEED + scenes)
        for _ in range(min(2 + scenes % 2, n_samples - made)):
            yield scene, scene.questions[made % len(KINDS)]
            made += 1
        scenes += 1


def to_row(scene: Scene, question: Question) -> dict[str, Any]:
    """Return the data file's row for a question; `image` is relative to the data file."""
    row: dict[str, Any] = {
        "id": question.id,
        "image": f"images/{scene.id}.png",
        "prompt": question.text,
        "reference_answer": question.answer,
    }
    if question.choices:
        row["choices"] = list(question.choices)
    row["category"] = question.kind
    row["meta"] = {"domain": scene.domain, "scene": scene.id, "planted": True}
    return row


def write_world(path: Path, n_samples: int, seed: int) -> int:
    """Write a data file (JSON lines) and, in `images/` beside it, the pictures it names; return how many pictures.

    Equal arguments give equal bytes. Each file appears whole or not at all, the data file last, so that a data file
    that is there has all of its pictures.
    """
    rows = ((scene, to_row(scene, question)) for scene, question in make_world(n_samples, seed))
    return len(_write_all(path, rows))


def make_described(n_scenes: int, seed: int, *, disputed: float = DISPUTED_SHARE) -> Iterator[Scene]:
    """Yield that many scenes, domains in turn, of which a share, evenly spread, has a fact that can be read several ways.

    They are other scenes than those of `make_world`. A shorter world is the beginning of a longer one.
    """
    for number in range(n_scenes):
        scene = make_scene(DOMAINS[number % len(DOMAINS)], (seed + _DESCRIBED_SEED) * _SCENES_A_SEED + number)
        if int((number + 1) * disputed + 1e-9) > int(number * disputed + 1e-9):
            scene = scene.model_copy(update={"disputed": (fact_to_dispute(scene),)})
        yield scene


def to_described_row(scene: Scene) -> dict[str, Any]:
    """Return the data file's row for a scene that is to be described: no question, its domain, whether it is disputed."""
    return {
        "id": scene.id,
        "image": f"images/{scene.id}.png",
        "domain": scene.domain,
        "meta": {"scene": scene.id, "planted": True, "disputed": bool(scene.disputed)},
    }


def write_described(path: Path, n_scenes: int, seed: int, *, disputed: float = DISPUTED_SHARE) -> int:
    """Write a data file of scenes to be described and their pictures, as `write_world` does; return how many are disputed."""
    rows = ((scene, to_described_row(scene)) for scene in make_described(n_scenes, seed, disputed=disputed))
    return sum(bool(scene.disputed) for scene in _write_all(path, rows))


def write_gold(path: Path, n_scenes: int, seed: int, *, of_texts: bool = True) -> None:
    """Write a data file of scenes with what can be perturbed in them, and their pictures, as `write_world` does.

    Of texts each has a request to describe it and its gold answer; else the prompt that the picture passes for made by.
    """

    def row(scene: Scene) -> dict[str, Any]:
        asked: dict[str, Any] = {"prompt": f"A picture of {scene.title}."}
        if of_texts:
            asked = {"prompt": TO_DESCRIBE, "gold": gold_answer(depicted(scene))}
        return {"id": scene.id, "image": f"images/{scene.id}.png", **asked} | {
            "category": scene.domain,
            "meta": {"scene": scene.id, "planted": True},
        }

    _write_all(path, ((scene, row(scene)) for scene in make_described(n_scenes, seed, disputed=0.0)))


def write_creative(path: Path, n_cases: int, seed: int) -> int:
    """Write a data file of creative cases and their pictures, as `write_world` does; return how many pictures."""
    folder = path.parent / "images"
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[bytes] = []
    drawn = 0
    for case in make_creative(n_cases, seed):
        for scene in case.scenes:
            _write(folder / f"{scene.id}.png", draw(scene))
        drawn += len(case.scenes)
        lines.append(orjson.dumps(to_creative_row(case), option=orjson.OPT_APPEND_NEWLINE))
    _write(path, b"".join(lines))
    return drawn


def _write_all(path: Path, rows: Iterable[tuple[Scene, dict[str, Any]]]) -> list[Scene]:
    """Write the picture of each scene, drawn once, then the data file of all rows; return the scenes, each once."""
    folder = path.parent / "images"
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[bytes] = []
    drawn: dict[str, Scene] = {}
    for scene, row in rows:
        if scene.id not in drawn:
            _write(folder / f"{scene.id}.png", draw(scene))
            drawn[scene.id] = scene
        lines.append(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    _write(path, b"".join(lines))
    return list(drawn.values())


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
