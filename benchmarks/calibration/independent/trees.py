"""False marks and power on trees whose questions share images: worlds drawn by numpy alone, tested by the package.

    python -m benchmarks.calibration.independent.trees [--sets 1000]

Each row is a world and a unit of exchange: the share of data sets in which any node is marked (adjusted p at most 0.05), in
which validity is significant (p at most 0.05), and in which any contrast of two models at a leaf is. In null worlds the
promise is 5 %; in the last, where one leaf is weak, the share that finds it is the power.
"""

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.statistics import adjusted
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.algorithms.taxonomy import add_all, assign, new_tree, permutation_null
from dokimasia.algorithms.trees.weakness import node_findings

LEAVES = 8
WEAK = 25.0
"""How many points lower a model scores at the leaf that is planted weak."""

ICC = 0.7
"""The share of the variance of a question's score that its image brings."""

PATHS = [f"<{'AB'[leaf % 2]}><Parent {leaf % 4}><Leaf {leaf}>" for leaf in range(LEAVES)]
UNEQUAL = (1, 1, 2, 2, 3, 4, 5, 6, 8, 11, 15, 20)


class World(NamedTuple):
    """Criterion to scores of two models, leaf, sample and image."""

    scores: dict[str, dict[str, float]]
    leaf_of: dict[str, str]
    sample_of: dict[str, str]
    image_of: dict[str, str]


def world(
    seed: int, sizes: Sequence[int], *, themes: float = 0.8, criteria: Sequence[int] = (2,), weak: float = 0.0
) -> World:
    """Draw one data set.

    Args:
        seed: of all draws.
        sizes: how many questions each image has.
        themes: the share of questions that ask for what their image is about; the others ask for anything.
        criteria: how many criteria questions have, in turn.
        weak: points that the first model loses at the first leaf.
    """
    rng = np.random.default_rng(seed)
    found = World({"a": {}, "b": {}}, {}, {}, {})
    for image, size in enumerate(sizes):
        theme = int(rng.integers(LEAVES))
        shared = rng.normal(size=2) * np.sqrt(ICC)
        for question in range(size):
            leaf = theme if rng.random() < themes else int(rng.integers(LEAVES))
            own = rng.normal(size=2) * np.sqrt(1 - ICC)
            for number in range(criteria[question % len(criteria)]):
                name = f"{image:02d}/{question:02d}#{number}"
                noise = rng.normal(size=2) * 0.3
                for model, value in enumerate(60 + 20 * (shared + own + noise) - np.array([weak * (leaf == 0), 0.0])):
                    found.scores["ab"[model]][name] = float(np.clip(value, 0, 100))
                found.leaf_of[name] = PATHS[leaf]
                found.sample_of[name] = f"{image:02d}/{question:02d}"
                found.image_of[name] = f"{image:02d}"
    return found


class Found(NamedTuple):
    """What one data set yields; None where no p-value is printed."""

    marked: bool | None
    valid: bool | None
    contrasted: bool
    first_leaf: bool


def looked_at(drawn: World, cluster_of: dict[str, str], seed: int) -> Found:
    """Return what the package says of one data set when what is exchanged are whole `cluster_of`."""
    tree = assign(add_all(new_tree("AB"), PATHS), drawn.leaf_of)
    nodes = node_findings(tree, drawn.scores["a"], cluster_of, seed=seed, permutations=1000)
    null = permutation_null(drawn.scores, drawn.leaf_of, cluster_of, leave_cluster_out=True, seed=seed)
    gaps = {one: drawn.scores["a"][one] - drawn.scores["b"][one] for one in drawn.leaf_of}
    held = {leaf: [one for one in gaps if drawn.leaf_of[one] == leaf] for leaf in PATHS}
    p_values = [
        sign_flip_test(
            [gaps[one] for one in each], clusters=[cluster_of[one] for one in each], seed=seed, permutations=1000
        ).p_value
        for each in held.values()
        if len(each) >= 5
    ]
    known = [one for one in nodes if one.q_value is not None]
    return Found(
        marked=any(one.verdict in ("weak", "strong") for one in known) if known else None,
        valid=None if null.p_value is None else null.p_value <= 0.05,
        contrasted=any(value is not None and value <= 0.05 for value in adjusted(p_values)),
        first_leaf=any(one.node == PATHS[0] and one.verdict == "weak" for one in known),
    )


WORLDS = {
    "40 images x 6 questions, themes by image": {"sizes": (6,) * 40},
    "20 images x 6 questions, themes by image": {"sizes": (6,) * 20},
    "40 images x 6 questions of 1 to 5 criteria": {"sizes": (6,) * 40, "criteria": (1, 5, 2, 4, 3)},
    "12 images of 1 to 20 questions": {"sizes": UNEQUAL},
    "40 images x 6 questions, one leaf weak": {"sizes": (6,) * 40, "themes": 0.3, "weak": WEAK},
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000, help="Data sets a world (default: 1000).")
    sets: int = parser.parse_args().sets
    print(f"{sets} data sets a row; shares in % of those with a p-value (printed: share of data sets that have one)")
    print(f"{'world':<46}{'unit':<8}{'mark':>7}{'printed':>9}{'validity':>10}{'printed':>9}{'contrast':>10}{'leaf':>7}")
    for name, shape in WORLDS.items():
        rows: dict[str, list[Found]] = {"sample": [], "image": []}
        for seed in range(sets):
            drawn = world(seed, **shape)
            rows["sample"].append(looked_at(drawn, drawn.sample_of, seed))
            rows["image"].append(looked_at(drawn, drawn.image_of, seed))
        for unit, found in rows.items():
            marked = [one.marked for one in found if one.marked is not None]
            valid = [one.valid for one in found if one.valid is not None]
            print(
                f"{name:<46}{unit:<8}{_share(marked):>7}{_share([one.marked is not None for one in found]):>9}"
                f"{_share(valid):>10}{_share([one.valid is not None for one in found]):>9}"
                f"{_share([one.contrasted for one in found]):>10}{_share([one.first_leaf for one in found]):>7}",
                flush=True,
            )


def _share(hits: Sequence[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):.1f}" if hits else "-"


if __name__ == "__main__":
    main()
