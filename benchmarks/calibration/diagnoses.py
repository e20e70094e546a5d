"""A diagnosis over the made-up world: one model with a planted weakness, and models of equal skill with none."""

from collections.abc import Mapping

from benchmarks.calibration.planted_trees import BASE, MET, MISSED, WEAK, WEAK_BRANCH
from benchmarks.calibration.trials import Seed, Trial
from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
from dokimasia.domain.diagnosis.tables import Asset, Figure
from dokimasia.methods.diagnosis.evidence_data import DiagnosedAnswer, DiagnosisMaterial
from dokimasia.methods.diagnosis.leaf_tables import contrasts, leaf_tables, verdicts_of
from dokimasia.methods.diagnosis.sample_tables import pairs
from dokimasia.methods.tree.node_scores import MeasuredRun
from dokimasia.simulation.tree_world import planted_criteria, planted_scores

CRITERIA, WIDTH, PERMUTATIONS, FEW = 300, 1, 4_000, 10
"""`FEW` permutations serve where only intervals are looked at."""

MODELS = ("first", "second", "third")


def diagnosis(seed: int) -> Seed:
    """A diagnosis of a model that is weak at one parent, and one of three models of equal skill."""
    criteria = list(planted_criteria(CRITERIA, seed, themes=True, width=WIDTH))
    planted = {one.id: one.capability for one in criteria}
    tree = assign(add_all(new_tree(), sorted(set(planted.values()))), planted)
    sample_of = {one.id: one.sample for one in criteria}
    weak = {"weak": planted_scores(criteria, 4 * seed + 3, base=BASE, weak={WEAK_BRANCH: WEAK})}
    even = {name: planted_scores(criteria, 4 * seed + at, base=BASE) for at, name in enumerate(MODELS)}

    def material(scores: Mapping[str, Mapping[str, float]]) -> DiagnosisMaterial:
        return DiagnosisMaterial(
            tree=tree,
            grouping="tree",
            measured=MeasuredRun(scores=scores, sample_of=sample_of),
            models=tuple(scores),
            answers=answers(scores, sample_of),
            seed=seed,
        )

    one, equal = material(weak), material(even)
    leaves, _ = leaf_tables(one, verdicts_of(one, permutations=FEW))
    gap = next((row.cells[2] for row in leaves.rows if row.node.startswith(WEAK_BRANCH)), Figure())
    tables = leaf_tables(equal, verdicts_of(equal, permutations=PERMUTATIONS))
    return Seed(
        {
            "weak leaf against the rest of the model": Trial(
                gap.low if gap.low is not None else -100.0,
                gap.high if gap.high is not None else 100.0,
                (WEAK - BASE) * (MET - MISSED),
            )
        },
        {
            "diagnosis of three equal models, weakness or strength of any node": alarm(*tables),
            "diagnosis of three equal models, a model against the others at any node": alarm(contrasts(equal)),
            "diagnosis of three equal models, two models, any node": alarm(pairs(equal)),
        },
    )


def answers(scores: Mapping[str, Mapping[str, float]], sample_of: Mapping[str, str]) -> list[DiagnosedAnswer]:
    """Return each model's answers, each scored by the mean over its criteria."""
    found: list[DiagnosedAnswer] = []
    for model, each in scores.items():
        by_sample: dict[str, list[float]] = {}
        for criterion, score in each.items():
            by_sample.setdefault(sample_of[criterion], []).append(score)
        found += [
            DiagnosedAnswer(sample, sample, model, 0, 1 + sum(values) / len(values) / 25, None)
            for sample, values in by_sample.items()
        ]
    return found


def alarm(*tables: Asset | None) -> float:
    """Return 0 where anything is marked, else 1: what a table marks, and not one p-value alone, is held to the rule."""
    found = any(row.mark not in ("", "unclear") for table in tables if table is not None for row in table.rows)
    return 0.0 if found else 1.0
