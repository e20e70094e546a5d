"""Simulated people: what each says of a thing whose true rating is planted, with noise of their own."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dokimasia.domain.blindspots import LABELS, Label
from dokimasia.domain.identity import unit_interval


class Person(NamedTuple):
    """A person's planted habits: one rating off with probability `noise`, and any rating at all with probability `careless`.

    The two exclude each other. At an end of the scale the noise goes inwards. Of a label, noise takes it for the one that
    it is mistaken for.
    """

    name: str
    noise: float = 0.0
    careless: float = 0.0


PEOPLE = (Person("anna", noise=0.2), Person("ben", noise=0.3), Person("carla", noise=0.25), Person("dan", careless=0.3))
"""Four people who agree to a degree."""

CAREFUL = Person("eva", noise=0.02)
"""A person who is nearly always right: noise in the labels of harmless changes reads as a judge's false alarms."""


def chances(person: Person, low: int, high: int) -> list[list[float]]:
    """Return with what probability a person gives each rating of a scale, by the true one; both from the lowest on."""
    count = high - low + 1
    rows: list[list[float]] = []
    for true in range(count):
        row = [person.careless / count] * count
        row[true] += 1 - person.noise - person.careless
        near = [one for one in (true - 1, true + 1) if 0 <= one < count]
        for one in near:
            row[one] += person.noise / len(near)
        rows.append(row)
    return rows


def said(person: Person, true: int, low: int, high: int, *thing: str | int) -> int:
    """Return what a person says of a thing, drawn by both."""
    draw = unit_interval("person", person.name, *thing)
    for rating, chance in enumerate(chances(person, low, high)[true - low], start=low):
        if draw < chance:
            return rating
        draw -= chance
    return high


def filled(items: Sequence[str], truths: Sequence[int], person: Person, low: int, high: int) -> dict[str, int]:
    """Return a person's ratings of items by name."""
    return {item: said(person, true, low, high, item) for item, true in zip(items, truths, strict=True)}


MISTAKEN: Mapping[Label, Label] = {
    "valid": "score_invariant",
    "score_invariant": "valid",
    "incorrect": "valid",
    "not_relevant": "incorrect",
    "not_sure": "valid",
}
"""What a person who mistakes one label of a perturbation takes it for."""


def label_chances(person: Person, true: Label) -> dict[Label, float]:
    """Return with what probability a person gives each label to a perturbation of which one is true."""
    found = dict.fromkeys(LABELS, person.careless / len(LABELS))
    found[true] += 1 - person.noise - person.careless
    found[MISTAKEN[true]] += person.noise
    return found


def labelled(person: Person, true: Label, *thing: str | int) -> Label:
    """Return the label that a person gives a perturbation, drawn by both."""
    draw = unit_interval("person", person.name, *thing)
    for label, chance in label_chances(person, true).items():
        if draw < chance:
            return label
        draw -= chance
    return true
