"""The kinds of run that the tests of a run's life go through: those that the benchmarks have, too."""

import pytest

from benchmarks.kinds import JUDGE, KINDS, MODELS, OTHER, PANEL, Kind, made, make, models_of, write_data

__all__ = [
    "EVERY",
    "JUDGE",
    "KINDS",
    "MODELS",
    "OTHER",
    "OTHER_REQUESTS",
    "PANEL",
    "Kind",
    "made",
    "make",
    "models_of",
    "write_data",
]

OTHER_REQUESTS = {
    *("evaluate by rules", "evaluate as published", "evaluate of live and stored answers"),
    *("duel with the reference", "perturb of images"),
}
"""Kinds that are another request of a method that is there already, which are left to the full tier."""

EVERY = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, id=kind.id, marks=pytest.mark.full if kind.id in OTHER_REQUESTS else ())
        for kind in KINDS.values()
    ],
)
