"""Expected agreement of planted people and a planted judge, by enumeration of all their ratings.

The numbers follow from the definitions of `Person` alone: nothing is drawn, and no estimator is used.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from dokimasia.domain.blindspots import LABELS, Label
from dokimasia.simulation.people import SimulatedPerson, label_chances, rating_chances

Matrix = NDArray[np.float64]


def expected_agreement(
    shares: Sequence[float], people: Sequence[SimulatedPerson], judge: SimulatedPerson, *, low: int, high: int
) -> Mapping[str, float]:
    """Return the expectations of all coefficients, over things whose true ratings have these shares.

    The scale has a rating in its middle. Returns:
        `judge mae`, `judge consistency`, `judge kappa` (with the mean of people); `people mae`, `people consistency`, `people
        kappa` (each with the mean of the others); `pair kappa` (of the first two); `fleiss`; `alpha nominal`, `alpha
        ordinal`, `alpha interval`.
    """
    ratings = range(low, high + 1)
    chances_of = [rating_chances(person, low, high) for person in people]
    judged = rating_chances(judge, low, high)
    measured = ("judge mae", "judge consistency", "people mae", "people consistency")
    expectations: dict[str, float] = dict.fromkeys(measured, 0.0)
    size = (len(shares), len(shares))
    tables = {name: np.zeros(size) for name in ("judge", "people", "pair")}
    meetings = np.zeros(size)
    for true, share in enumerate(shares):
        for ratings_given in product(range(len(ratings)), repeat=len(people)):
            chance = share * prod(row[true][rating] for row, rating in zip(chances_of, ratings_given, strict=True))
            values = [ratings[rating] for rating in ratings_given]
            mean = sum(values) / len(values)
            for rating, likely in zip(ratings, judged[true], strict=True):
                _add_comparison(expectations, tables, "judge", rating, mean, chance * likely, low, high)
            for position, value in enumerate(values):
                mean_of_others = (sum(values) - value) / (len(values) - 1)
                _add_comparison(expectations, tables, "people", value, mean_of_others, chance / len(values), low, high)
                for other_rating in (*ratings_given[:position], *ratings_given[position + 1 :]):
                    meetings[ratings_given[position], other_rating] += chance / len(values) / (len(values) - 1)
            tables["pair"][ratings_given[:2]] += chance
    for name, table in tables.items():
        expectations[f"{name} kappa"] = _kappa(table)
    for name in ("nominal", "ordinal", "interval"):
        expectations[f"alpha {name}"] = _alpha(meetings, name)
    expectations["fleiss"] = expectations["alpha nominal"]
    return expectations


def expected_labelling(shares: Mapping[Label, float], people: Sequence[SimulatedPerson]) -> Mapping[str, float]:
    """Return the expected agreement on labels of perturbations whose true labels have these shares.

    Returns:
        `alpha` of all people, `kappa` and `same` of the first two, and `valid`, the first one's rate of that label.
    """
    rows = {true: [label_chances(person, true) for person in people] for true in shares}
    meetings, pair = np.zeros((2, len(LABELS), len(LABELS)))
    pairs = [(a, b) for a in range(len(people)) for b in range(len(people)) if a != b]
    for true, share in shares.items():
        for (row, label), (column, other_label) in product(enumerate(LABELS), repeat=2):
            pair[row, column] += share * rows[true][0][label] * rows[true][1][other_label]
            meeting = sum(rows[true][a][label] * rows[true][b][other_label] for a, b in pairs)
            meetings[row, column] += share * meeting / len(pairs)
    same, chance = float(np.trace(pair)), float(pair.sum(axis=1) @ pair.sum(axis=0))
    return {
        "alpha": _alpha(meetings, "nominal"),
        "kappa": (same - chance) / (1 - chance),
        "same": same,
        "valid": float(pair.sum(axis=1)[LABELS.index("valid")]),
    }


def _add_comparison(
    expectations: dict[str, float],
    tables: Mapping[str, Matrix],
    who: str,
    value: int,
    against: float,
    chance: float,
    low: int,
    high: int,
) -> None:
    expectations[f"{who} mae"] += chance * abs(value - against)
    expectations[f"{who} consistency"] += chance * (abs(value - against) <= 1 + 1e-9)
    middle = (low + high) // 2
    inward = ceil(abs(against - middle) - 0.5 - 1e-9)
    tables[who][value - low, middle + (inward if against > middle else -inward) - low] += chance


def _kappa(table: Matrix) -> float:
    """Return Cohen's kappa with quadratic weights of a table of probabilities."""
    places = np.arange(len(table))
    distances = np.subtract.outer(places, places) ** 2
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    return 1 - float((distances * table).sum() / (distances * expected).sum())


def _alpha(table: Matrix, scale: str) -> float:
    """Return Krippendorff's alpha of the probabilities with which two people's ratings meet."""
    margins = table.sum(axis=1)
    places = margins.cumsum() - margins / 2 if scale == "ordinal" else np.arange(len(margins))
    distances = np.subtract.outer(places, places) ** 2
    if scale == "nominal":
        distances = distances > 0
    return 1 - float((distances * table).sum() / (distances * np.outer(margins, margins)).sum())
