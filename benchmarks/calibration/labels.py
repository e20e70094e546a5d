"""Labels of perturbations by planted people: every interval of their figures, with many images and with few."""

from functools import cache

import numpy as np

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.domain.blindspots import LABELS, Label, Perturbed
from dokimasia.people.checks import label_figures
from dokimasia.people.checks.labels import LabelledPerturbation
from dokimasia.simulation.people import PEOPLE, SimulatedPerson, label_chances
from dokimasia.simulation.truths.people import expected_labelling

SHARES: dict[Label, float] = {
    "valid": 0.62,
    "score_invariant": 0.18,
    "incorrect": 0.12,
    "not_relevant": 0.05,
    "not_sure": 0.03,
}
"""How often each label is the true one."""

PERSONS: tuple[SimulatedPerson, ...] = PEOPLE[:3]
IMAGES, FEW = 50, 15
DIMENSIONS = ("entity_substitution", "tone_mismatch", "numerical_errors")
ALIKE = 0.3
"""The share of images on which one label is true of all perturbations."""

MISSING = 0.2


@cache
def truths() -> dict[str, float]:
    """Return what the figures come to."""
    return dict(expected_labelling(SHARES, PERSONS))


def labels(seed: int) -> Seed:
    """Three people label perturbations of 50 images in three dimensions, and of fifteen; a fifth of the labels is missing."""
    few = {f"{name}, {FEW} images": one for name, one in _world(seed, FEW).items()}
    return Seed({**_world(seed, IMAGES), **few}, {})


def _world(seed: int, images: int) -> dict[str, Trial]:
    generator = np.random.default_rng([seed, images])
    items: list[LabelledPerturbation] = []
    for image in range(images):
        true = generator.choice(len(SHARES), len(DIMENSIONS), p=list(SHARES.values()))
        if generator.random() < ALIKE:
            true[:] = true[0]
        for dimension, label in zip(DIMENSIONS, true, strict=True):
            said: dict[str, Label] = {}
            for person in PERSONS:
                chances = list(label_chances(person, list(SHARES)[label]).values())
                given = LABELS[generator.choice(len(LABELS), p=chances)]
                if person is PERSONS[0] or generator.random() >= MISSING:
                    said[person.name] = given
            items.append(LabelledPerturbation(_item(image, dimension), f"{image}", said[PERSONS[0].name], said))
    found, truth = label_figures(items), truths()
    agreement = found.agreement
    return {
        "fit": trial(found.fit, truth["valid"]),
        "fit in one dimension": trial(found.by_dimension[0].fit, truth["valid"]),
        "alpha": trial(agreement.alpha, truth["alpha"]),
        "same label": trial(agreement.pairs[0].same, truth["same"]),
        "kappa": trial(agreement.pairs[0].kappa, truth["kappa"]),
    }


@cache
def _item(image: int, dimension: str) -> Perturbed:
    return Perturbed(
        sample=f"d{image}",
        sample_id=f"s{image}",
        task="image-to-text",
        dimension=dimension,
        gold="as it is",
        perturbed="as it is not",
    )
