"""What a diagnosis is made from in the made-up world: models with planted weaknesses on a tree without a mistake."""

from collections.abc import Mapping

from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
from dokimasia.methods.diagnosis.evidence_data import DiagnosedAnswer, DiagnosisMaterial
from dokimasia.methods.tree.node_scores import MeasuredRun
from dokimasia.simulation.tree_world import planted_criteria, planted_scores


def world(seed: int, weak: Mapping[str, Mapping[str, float]], *, n: int = 400) -> DiagnosisMaterial:
    """Models of the made-up world, each with its planted weaknesses, on a perfectly mapped tree."""
    criteria = list(planted_criteria(n, seed, themes=True, width=1))
    planted = {one.id: one.capability for one in criteria}
    sample_of = {one.id: one.sample for one in criteria}
    scores = {
        name: planted_scores(criteria, 10 * seed + at, base=0.8, weak=chances)
        for at, (name, chances) in enumerate(weak.items())
    }
    answers: list[DiagnosedAnswer] = []
    for name, each in scores.items():
        by_sample: dict[str, list[float]] = {}
        for criterion, score in each.items():
            by_sample.setdefault(sample_of[criterion], []).append(score)
        answers += [
            DiagnosedAnswer(id, id, name, 0, 1 + sum(values) / len(values) / 25, None)
            for id, values in by_sample.items()
        ]
    tree = assign(add_all(new_tree(), sorted(set(planted.values()))), planted)
    measured = MeasuredRun(scores=scores, sample_of=sample_of)
    return DiagnosisMaterial(tree, "tree", measured, tuple(scores), answers, seed=seed)
