"""A home with a run that made perturbations of planted pictures, without the work of making them."""

import asyncio
import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from dokimasia.datasets.images import read_image
from dokimasia.domain.blindspots import Perturbed
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.gold_answers import gold_answer, plant_error
from dokimasia.simulation.picture import draw_scene
from dokimasia.simulation.picture_content import content_of_scene
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes import make_scene
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, record_results
from dokimasia.storage.runs import Run, SqliteValueStore, add_samples, create_run, set_status

DIMENSIONS = ("entity_substitution", "attribute_distortion", "phantom_details", "tone_mismatch", "score_neutral")


def perturbed_home(
    folder: Path, *, scenes: int = 3, dimensions: Sequence[str] = DIMENSIONS, id: str = "perturbs0"
) -> tuple[Home, list[Perturbed]]:
    """Return a home, open for writing, with a finished run of image-to-text perturbations, and these in order."""
    home = Home.open(folder, write=True)
    samples: list[Sample] = []
    items: list[Perturbed] = []
    for number in range(scenes):
        scene = make_scene(DOMAINS[number % len(DOMAINS)], number)
        picture, gold = content_of_scene(scene), gold_answer(content_of_scene(scene))
        sample = Sample(id=f"s{number}", prompt="What is to be seen?", images=(_kept(home, draw_scene(scene)),))
        samples.append(sample)
        for name in dimensions:
            made = plant_error(name, gold, picture, Draws(f"{name}{number}"))
            if made is not None:
                items.append(
                    Perturbed(
                        sample=sample.digest,
                        sample_id=sample.id,
                        task="image-to-text",
                        dimension=name,
                        gold=gold,
                        perturbed=made.text,
                        description=made.description,
                        by="sim/perturber",
                    )
                )
    asyncio.run(keep_run(home, id, samples, items))
    return home, items


def pictured_home(folder: Path, *, id: str = "pictures0") -> tuple[Home, list[Perturbed]]:
    """Return a home, open for writing, with a finished run of text-to-image perturbations, and these in order."""
    home = Home.open(folder, write=True)
    samples: list[Sample] = []
    items: list[Perturbed] = []
    for number, (colour, other) in enumerate((("red", "blue"), ("green", "yellow"))):
        gold, changed = (_kept(home, _square(one)) for one in (colour, other))
        samples.append(Sample(id=f"p{number}", prompt=f"A {colour} square.", images=(gold,)))
        items.append(
            Perturbed(
                sample=samples[-1].digest,
                sample_id=f"p{number}",
                task="text-to-image",
                dimension="attribute_manipulation",
                gold_image=gold,
                perturbed_image=changed,
                instruction=f"Make the square {other}.",
                description=f"The square is {other}.",
            )
        )
    asyncio.run(keep_run(home, id, samples, items))
    return home, items


async def keep_run(home: Home, run: str, samples: Sequence[Sample], items: Sequence[Perturbed]) -> None:
    """Keep a finished run of perturb that made these items of these samples."""
    await create_run(home, Run(id=run, method="perturb", data_name="planted"))
    await add_samples(home, run, samples)
    store = SqliteValueStore(home, run)
    rows = [
        ResultRow(
            run_id=run,
            item=f"{item.sample_id}/{item.dimension}",
            kind="perturb",
            sample_id=item.sample_id,
            outcome="made",
            value_ids=(await store.put(item),),
        )
        for item in items
    ]
    await record_results(home, rows)
    await set_status(home, run, "done")


def _kept(home: Home, data: bytes) -> ImageRef:
    ref = read_image(data, "planted")
    home.blobs.put_image(data, ref)
    return ref


def _square(colour: str) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (16, 16), colour).save(written, "PNG")
    return written.getvalue()
