"""A run's perturbations as files: what is written is read back as the same items, with samples, images and labels."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from dokimasia.datasets.perturbations import TASKS, GivenPerturbation, read_perturbations
from dokimasia.domain.blindspots import Task
from dokimasia.domain.identity import value_id
from dokimasia.domain.sample import Sample
from dokimasia.methods.perturb.figures import perturbation_files
from dokimasia.methods.probe import probes_of
from dokimasia.people.checks import decide, open_for_people
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.memory import MemoryBlobs
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.runs import load_samples
from tests.perturbed_home import keep_run, perturbed_home, pictured_home

NAMES = {task: tuple(error_dimensions(task)) for task in TASKS}


def _written(home: Home, folder: Path) -> Mapping[str, bytes]:
    files = perturbation_files(home, resolve_run(home, "last"))
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return files


def _read(folder: Path) -> list[GivenPerturbation]:
    return read_perturbations(folder / "items.jsonl", dimensions=NAMES, blobs=MemoryBlobs())


@pytest.mark.parametrize("task", TASKS)
def test_what_is_written_is_read_back_the_same(tmp_path: Path, task: Task) -> None:
    """Items, their ids, samples and labels are the same after a way through files, and so is what enters a probe."""
    make = perturbed_home if task == "image-to-text" else pictured_home
    home, made = make(tmp_path / "home")
    home.close()
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    waiting = [one.item for one in open_for_people(settings, "last")]
    decide(waiting[0], "valid", who="anna", settings=settings)
    decide(waiting[0], "incorrect", who="ben", settings=settings)
    decide(waiting[1], "score_invariant", who="ben", settings=settings)
    with Home.open(settings.home, write=False) as opened:
        files = _written(opened, tmp_path / "out")
        assert perturbation_files(opened, resolve_run(opened, "last")) == files
        back = _read(tmp_path / "out")
        assert {one.id: one.item for one in back} == {value_id(item): item for item in made}
        samples = {sample.id: sample for sample in load_samples(opened, resolve_run(opened, "last").id)}
        assert all(samples[one.sample.id] == one.sample for one in back)
        labels = {one.id: [tuple(said) for said in one.labels] for one in back if one.labels}
        assert labels == {
            waiting[0].subject: [("anna", "valid"), ("ben", "incorrect")],
            waiting[1].subject: [("ben", "score_invariant")],
        }
        from_run = probes_of("last", opened, task=task)
    from_file = probes_of(tmp_path / "out" / "items.jsonl", None, task=task)
    assert from_file.probes == from_run.probes
    assert from_file.left_out == from_run.left_out
    assert from_file.samples == from_run.samples


def test_samples_keep_all_that_they_are_known_by(tmp_path: Path) -> None:
    """Reference answers, options, category, meta, and several images of a question are there after a way through files."""
    home, made = perturbed_home(tmp_path / "home", scenes=2, dimensions=("tone_mismatch",), id="first")
    images = tuple(sample.images[0] for sample in load_samples(home, "first"))
    rich = Sample(
        id="rich",
        prompt="Which of the two?",
        images=images,
        reference_answer="the first",
        reference_answers=("the first", "number one"),
        choices=("the first", "the second"),
        category="comparing",
        meta={"source": "a book", "year": 1999},
    )
    item = made[0].model_copy(update={"sample": rich.digest, "sample_id": "rich"})
    asyncio.run(keep_run(home, "second", [rich], [item]))
    _written(home, tmp_path / "out")
    home.close()
    (back,) = _read(tmp_path / "out")
    assert back.sample == rich
    assert back.item == item
