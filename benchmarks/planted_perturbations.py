"""Files of perturbations of the planted world: gold answers or gold images, with errors planted that are known."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from dokimasia.domain.blindspots import NEUTRAL, Task
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.gold_answers import gold_answer, plant_error
from dokimasia.simulation.image_edits import edit_image, spots_of, write_instruction
from dokimasia.simulation.picture import draw_scene
from dokimasia.simulation.picture_content import content_of_scene
from dokimasia.simulation.scene import Scene
from dokimasia.simulation.world import make_described

REQUEST = "Describe what the picture shows."


def write_perturbations(
    path: Path,
    scenes: int,
    *,
    seed: int = 1,
    task: Task = "image-to-text",
    dimensions: Sequence[str] = (),
    label: str | None = None,
) -> int:
    """Write a file of perturbations and its images; return how many perturbations.

    Args:
        path: the file.
        scenes: how many pictures.
        seed: of the scenes and of what is planted.
        task: what is judged.
        dimensions: those that are planted, by default all.
        label: what people are to have said: "meant", as it was meant; None leaves them undecided.
    """
    folder = path.parent / f"{path.stem}-images"
    folder.mkdir(parents=True, exist_ok=True)
    names = dimensions or tuple(error_dimensions(task))
    make = _texts if task == "image-to-text" else _images
    rows = [row for scene in make_described(scenes, seed, disputed=0) for row in make(scene, folder, names, seed)]
    if label == "meant":
        for row in rows:
            row["label"] = "score_invariant" if row["dimension"] == NEUTRAL else "valid"
            row["annotator"] = "ann"
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    return len(rows)


def _texts(scene: Scene, folder: Path, names: Sequence[str], seed: int) -> Iterator[dict[str, Any]]:
    picture = content_of_scene(scene)
    (folder / f"{scene.id}.png").write_bytes(draw_scene(scene))
    gold = gold_answer(picture)
    for name in names:
        planted = plant_error(name, gold, picture, Draws(f"{seed}{name}{scene.id}"))
        if planted is not None:
            yield {
                "id": f"{scene.id}-{name}",
                "task": "image-to-text",
                "dimension": name,
                "sample": scene.id,
                "image": f"{folder.name}/{scene.id}.png",
                "prompt": REQUEST,
                "gold": gold,
                "perturbed": planted.text,
                "description": planted.description,
                "by": "planted",
            }


def _images(scene: Scene, folder: Path, names: Sequence[str], seed: int) -> Iterator[dict[str, Any]]:
    png = draw_scene(scene)
    (folder / f"{scene.id}.png").write_bytes(png)
    for name in names:
        draws = Draws(f"{seed}{name}{scene.id}")
        instruction = write_instruction(name, spots_of(png), draws)
        made = None if instruction is None else edit_image(png, instruction)
        if made is not None:
            (folder / f"{scene.id}-{name}.png").write_bytes(made)
            yield {
                "id": f"{scene.id}-{name}",
                "task": "text-to-image",
                "dimension": name,
                "sample": scene.id,
                "prompt": gold_answer(content_of_scene(scene)),
                "gold_image": f"{folder.name}/{scene.id}.png",
                "perturbed_image": f"{folder.name}/{scene.id}-{name}.png",
                "description": f"A change of the kind {name}.",
                "by": "planted",
            }
