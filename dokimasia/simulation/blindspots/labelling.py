"""Simulated people label perturbations of planted pictures: which label is true follows from what the answers are at fault in."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from dokimasia.domain.blindspots import NEUTRAL, Label
from dokimasia.simulation.blindspots.images import faults_of
from dokimasia.simulation.blindspots.texts import faults
from dokimasia.simulation.depicted import depicted, photograph
from dokimasia.simulation.people import Person, labelled
from dokimasia.simulation.picture import read_scene


def true_label(dimension: str, gold: Collection[str], changed: Collection[str]) -> Label:
    """Return which label is true of a change that was meant as one of a dimension.

    Args:
        dimension: what it was meant as.
        gold: the dimensions that the gold answer is at fault in.
        changed: those that the changed answer is at fault in.
    """
    new = set(changed) - set(gold)
    if not new:
        return "score_invariant"
    return "valid" if new == {dimension} and dimension != NEUTRAL else "incorrect"


def label_of(row: Mapping[str, Any], folder: Path) -> Label:
    """Return which label is true of the perturbation of a line that `dokimasia check --export` wrote.

    Args:
        row: the line.
        folder: where it lies, which its images are named from.
    """
    pictures = [(folder / name).read_bytes() for name in row["images"]]
    if row["task"] == "text-to-image":
        gold, changed = (faults_of(picture) for picture in pictures)
        return true_label(row["dimension"], gold, changed)
    seen = read_scene(pictures[0])
    picture = photograph(hashlib.sha256(pictures[0]).hexdigest()) if seen is None else depicted(seen[0])
    told = ({one.dimension for one in faults(row[name], picture)} for name in ("gold", "perturbed"))
    return true_label(row["dimension"], *told)


def labelled_form(form: Path, person: Person) -> Iterator[str]:
    """Yield the lines of a form as a person fills it in: item, label, and who; other lines than perturbations are left out."""
    for line in form.read_text(encoding="utf-8").splitlines():
        row: Any = json.loads(line) if line.strip() else {}
        if row.get("kind") == "perturbation":
            label = labelled(person, label_of(row, form.parent), row["item"])
            yield json.dumps({"item": row["item"], "label": label, "who": person.name})
