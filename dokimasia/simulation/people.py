"""Simulated people: ratings of things with planted true ratings, and labels of perturbed answers."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from dokimasia.domain.blindspots import LABELS, NEUTRAL, Label, Task
from dokimasia.domain.identity import unit_interval
from dokimasia.simulation.gold_answers import faults_in_text
from dokimasia.simulation.image_edits import faults_in_image
from dokimasia.simulation.picture import read_scene
from dokimasia.simulation.picture_content import content_of_photograph, content_of_scene


class SimulatedPerson(NamedTuple):
    """A person's planted habits: probabilities of a rating off by one (`noise`), and of a random one (`careless`).

    The two exclude each other. At an end of the scale, noise goes inwards. For labels, noise replaces a label by the one in
    `MISTAKEN_LABELS`.
    """

    name: str
    noise: float = 0.0
    careless: float = 0.0


PEOPLE = (
    SimulatedPerson("anna", noise=0.2),
    SimulatedPerson("ben", noise=0.3),
    SimulatedPerson("carla", noise=0.25),
    SimulatedPerson("dan", careless=0.3),
)
"""Four people who partly agree."""

CAREFUL_PERSON = SimulatedPerson("eva", noise=0.02)
"""A person who is nearly always right, since noise in labels of harmless changes looks like false alarms of a judge."""


def rating_chances(person: SimulatedPerson, low: int, high: int) -> list[list[float]]:
    """Return the probability of each rating of a scale, by true rating; both in ascending order."""
    count = high - low + 1
    rows: list[list[float]] = []
    for true in range(count):
        row = [person.careless / count] * count
        row[true] += 1 - person.noise - person.careless
        neighbours = [rating for rating in (true - 1, true + 1) if 0 <= rating < count]
        for rating in neighbours:
            row[rating] += person.noise / len(neighbours)
        rows.append(row)
    return rows


def rating_of(person: SimulatedPerson, true: int, low: int, high: int, *thing: str | int) -> int:
    """Return a person's rating of a thing, drawn from both names."""
    draw = unit_interval("person", person.name, *thing)
    for rating, chance in enumerate(rating_chances(person, low, high)[true - low], start=low):
        if draw < chance:
            return rating
        draw -= chance
    return high


MISTAKEN_LABELS: Mapping[Label, Label] = {
    "valid": "score_invariant",
    "score_invariant": "valid",
    "incorrect": "valid",
    "not_relevant": "incorrect",
    "not_sure": "valid",
}
"""The label that a person confuses with each true label; nobody doubts a planted gold answer."""


def label_chances(person: SimulatedPerson, true: Label) -> dict[Label, float]:
    """Return the probability of each label of a perturbation, given the true one."""
    label_rates = dict.fromkeys(LABELS, 0.0) | dict.fromkeys(MISTAKEN_LABELS, person.careless / len(MISTAKEN_LABELS))
    label_rates[true] += 1 - person.noise - person.careless
    label_rates[MISTAKEN_LABELS[true]] += person.noise
    return label_rates


def label_of_person(person: SimulatedPerson, true: Label, *thing: str | int) -> Label:
    """Return a person's label of a perturbation, drawn from both names."""
    draw = unit_interval("person", person.name, *thing)
    for label, chance in label_chances(person, true).items():
        if draw < chance:
            return label
        draw -= chance
    return true


def true_label(dimension: str, gold: Collection[str], changed: Collection[str]) -> Label:
    """Return the true label of a change that was meant to be of a dimension.

    Args:
        dimension: the intended dimension.
        gold: dimensions of the faults of the gold answer.
        changed: dimensions of the faults of the changed answer.
    """
    new = set(changed) - set(gold)
    if not new:
        return "score_invariant"
    if new == {dimension} and dimension != NEUTRAL:
        return "valid"
    return "incorrect"


class CheckRow(BaseModel):
    """A line from `dokimasia decide --export`: a perturbation that people are to label."""

    item: str
    task: Task
    dimension: str
    images: list[str]
    gold: str | None = None
    perturbed: str | None = None


def true_label_of_row(row: CheckRow, folder: Path) -> Label:
    """Return the true label of the perturbation in a line from `dokimasia decide --export`.

    Args:
        row: the line.
        folder: the folder of the file; image names are relative to it.
    """
    pictures = [(folder / name).read_bytes() for name in row.images]
    if row.task == "text-to-image":
        gold, changed = (faults_in_image(picture) for picture in pictures)
        return true_label(row.dimension, gold, changed)
    sighting = read_scene(pictures[0])
    picture = (
        content_of_photograph(hashlib.sha256(pictures[0]).hexdigest())
        if sighting is None
        else content_of_scene(sighting[0])
    )
    gold, changed = (faults_in_text(text or "", picture) for text in (row.gold, row.perturbed))
    return true_label(row.dimension, {fault.dimension for fault in gold}, {fault.dimension for fault in changed})


def fill_label_form(form: Path, person: SimulatedPerson) -> Iterator[str]:
    """Yield the lines of a form filled in by a person (item, label and name), only those on perturbations."""
    for line in form.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line) if line.strip() else {}
        if fields.get("kind") == "perturbation":
            row = CheckRow.model_validate(fields)
            label = label_of_person(person, true_label_of_row(row, form.parent), row.item)
            yield json.dumps({"item": row.item, "label": label, "who": person.name})
