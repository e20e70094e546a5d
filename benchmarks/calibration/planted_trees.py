"""The capability tree over the made-up world: planted weaknesses, criteria mapped with noise, and worlds without either.

The whole made-up tree is used. With one leaf of each parent (`width=1`), which was tried to save time, nine of the ten
rules are kept: the p-values of the tree mapped with noise have p = 0.007 for being uniform over the seeds 0 to 199. Over
the seeds 1,000 to 3,999, which were drawn to find out why, that figure is 0.60, with 149 of 3,000 at or below 5 %.
"""

from random import Random

from benchmarks.calibration.trials import Seed, tested, trial
from dokimasia.algorithms.taxonomy import add_all, assign, new_tree, permutation_null
from dokimasia.algorithms.trees.weakness import NodeFinding, node_findings
from dokimasia.simulation.lexicon import made_up_capabilities, parent_of
from dokimasia.simulation.tree_world import planted_criteria, planted_scores

CRITERIA, FEW = 600, 10
"""`FEW` permutations serve where only intervals are looked at."""

BASE, WEAK, NOISE = 0.85, 0.35, 0.05
MET, MISSED = 93.75, 18.75
"""The mean score of a criterion that is met, and of one that is not."""

WEAK_BRANCH = parent_of(next(iter(made_up_capabilities())))


def planted_tree(seed: int) -> Seed:
    """A model that is weak at one parent, and one that is weak nowhere; a tree that is right, and one mapped with noise."""
    criteria = list(planted_criteria(CRITERIA, seed, themes=True))
    sample_of = {one.id: one.sample for one in criteria}
    planted = {one.id: one.capability for one in criteria}
    noisy = misplaced(planted, seed)
    weak = planted_scores(criteria, 2 * seed, base=BASE, weak={WEAK_BRANCH: WEAK})
    even = planted_scores(criteria, 2 * seed + 1, base=BASE)
    tree = add_all(new_tree(), made_up_capabilities())

    def findings(
        leaf_of: dict[str, str], scores: dict[str, float], *, permutations: int | None = None
    ) -> tuple[NodeFinding, ...]:
        return node_findings(assign(tree, leaf_of), scores, sample_of, seed=seed, permutations=permutations)

    found = {one.node: one for one in findings(planted, weak, permutations=FEW)}
    null = findings(planted, even)
    spoilt = findings(noisy, even)
    category = "<Knowledge>"
    return Seed(
        {
            "score at a weak parent": trial(found[WEAK_BRANCH].interval, WEAK * MET + (1 - WEAK) * MISSED),
            "score at a category without weakness": trial(found[category].interval, BASE * MET + (1 - BASE) * MISSED),
        },
        {
            "validity of the planted tree, null world": tested(
                permutation_null({"m": even}, planted, sample_of, seed=seed).p_value
            ),
            "validity of a tree mapped with noise, null world": tested(
                permutation_null({"m": even}, noisy, sample_of, leave_cluster_out=True, seed=seed).p_value
            ),
            "weakness of one category of the planted tree, null world": tested(
                next(one.p_value for one in null if one.node == category)
            ),
            "planted tree, weakness or strength of any node": min(tested(one.q_value) for one in null),
            "tree mapped with noise, weakness or strength of any node": min(tested(one.q_value) for one in spoilt),
        },
    )


def misplaced(planted: dict[str, str], seed: int, *, rate: float = NOISE) -> dict[str, str]:
    """Return a mapping in which each criterion lies, at that rate, in any other leaf."""
    rng, leaves = Random(f"misplaced/{seed}"), sorted(made_up_capabilities())
    return {
        one: rng.choice([other for other in leaves if other != leaf]) if rng.random() < rate else leaf
        for one, leaf in planted.items()
    }
