# pyright: standard
# networkx ships no types; what is read from a tree here is given its type at once.
"""The tables of leaves: bars with what is weak and strong, radars by group of categories, the heat map, and contrasts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dokimasia.algorithms.contrasts import contrast_interval
from dokimasia.algorithms.paired import sign_flip_test
from dokimasia.algorithms.statistics import false_discovery_rate
from dokimasia.algorithms.weakness import NodeFinding, node_findings
from dokimasia.analysis.diagnosis import LIMIT, MIN_SUPPORT, Material, slugs_of
from dokimasia.analysis.diagnosis_cells import (
    ADJUSTED,
    MODEL,
    NOTHING,
    POINTS,
    VERDICT,
    estimate,
    mean_of,
    number,
    text,
)
from dokimasia.analysis.trees import BEST, WORST, in_order, mapping_of, members_below, rounded
from dokimasia.domain.capability import DEEPEST, ROOT, CapabilityPath
from dokimasia.domain.diagnosis import Asset, AssetColumn, AssetRow, Figure, Mark

GROUPS = {
    "perception and comprehension": ("Perception", "Understanding"),
    "reasoning and generation": ("Reasoning", "Generation"),
    "knowledge and trustworthiness": ("Knowledge", "Trustworthiness"),
}
"""Which categories share a radar (ATOM, figure 16)."""

OTHERS = "other categories"
FEWEST_PERMUTATIONS, MOST_PERMUTATIONS = 2_000, 20_000

Verdicts = Mapping[str, Mapping[str, NodeFinding]]
"""Model to node to what is said of it."""


def verdicts_of(material: Material, *, limit: float = LIMIT, min_support: int = MIN_SUPPORT) -> Verdicts:
    """Return what is said of every node that is looked at, for each model.

    A node is held against all other criteria of the model (`algorithms.weakness.node_findings`); the p-values of all
    nodes of all models are adjusted together (Benjamini and Hochberg), since a diagnosis looks at them all.
    """
    tests = len(material.tree) * len(material.models)
    drawn = min(MOST_PERMUTATIONS, max(FEWEST_PERMUTATIONS, int(2 * tests / limit)))
    found = {
        model: node_findings(
            material.tree,
            material.measured.scores.get(model, {}),
            material.measured.sample_of,
            seed=material.seed,
            min_support=min_support,
            limit=limit,
            bounds=(WORST, BEST),
            permutations=drawn,
        )
        for model in material.models
    }
    listed = [(model, one) for model, findings in found.items() for one in findings]
    adjusted = false_discovery_rate([one.p_value for _, one in listed])
    verdicts: dict[str, dict[str, NodeFinding]] = {model: {} for model in material.models}
    for (model, one), q_value in zip(listed, adjusted, strict=True):
        verdict = "unclear" if q_value > limit else "weak" if one.difference < 0 else "strong"
        verdicts[model][one.node] = one._replace(q_value=q_value, verdict=verdict)
    return verdicts


def leaf_tables(material: Material, verdicts: Verdicts) -> list[Asset]:
    """Return each model's table of leaves, and its table of weak and strong nodes of all layers."""
    tables: list[Asset] = []
    held = members_below(material.tree)
    for model, slug in slugs_of(material.models).items():
        said = verdicts.get(model, {})
        rows = [_node_row(material, model, leaf, held[leaf], said.get(leaf)) for leaf in leaves_in_order(material)]
        low_first = sorted(rows, key=lambda row: (_value(row, 1), row.key))
        marked = [row for row in low_first if row.mark in ("weak", "strong")]
        tables.append(
            Asset(
                id=f"leaves/{slug}",
                title=f"{model}: every {material.leaf}",
                sentence=_leaves_sentence(material, model, marked, len(rows)),
                columns=_node_columns(material.leaf),
                rows=tuple(low_first),
                model=model,
            )
        )
        nodes = [
            _node_row(material, model, node, held[node], finding)
            for node, finding in said.items()
            if finding.verdict != "unclear"
        ]
        weak = [row for row in nodes if row.mark == "weak"]
        strong = [row for row in nodes if row.mark == "strong"]
        ordered = (
            *sorted(weak, key=lambda row: (_value(row, 1), row.key)),
            *sorted(strong, key=lambda row: (-_value(row, 1), row.key)),
        )
        tables.append(
            Asset(
                id=f"nodes/{slug}",
                title=f"{model}: weak and strong nodes",
                sentence=(
                    f"{len(weak)} weak and {len(strong)} strong among {len(said)} nodes of {model} with at least "
                    f"{MIN_SUPPORT} scored criteria; of all that is marked in this diagnosis at most {LIMIT:.0%} is "
                    "expected to be false."
                ),
                columns=_node_columns("node"),
                rows=ordered,
                model=model,
            )
        )
    return tables


def radars(material: Material) -> list[Asset]:
    """Return a table for each group of categories, with a leaf a row and a model a column."""
    if material.grouping == "category":
        return [_grid(material, "radar/categories", "Radar: the data's categories", leaves_in_order(material))]
    group_of = {category: group for group, several in GROUPS.items() for category in several}
    by_group: dict[str, list[str]] = {group: [] for group in (*GROUPS, OTHERS)}
    for leaf in leaves_in_order(material):
        by_group[group_of.get(CapabilityPath.parse(leaf).category, OTHERS)].append(leaf)
    return [
        _grid(material, f"radar/{group.replace(' ', '-')}", f"Radar: {group}", leaves)
        for group, leaves in by_group.items()
        if leaves
    ]


def heatmap(material: Material) -> Asset:
    """Return the scores of every leaf and model in one table."""
    return _grid(material, "heatmap", f"Heat map: {material.leaf} by model", leaves_in_order(material))


def contrasts(material: Material) -> Asset | None:
    """Return how each model does at each leaf against the mean of the others on the same criteria; None for one model."""
    if len(material.models) < 2:
        return None
    rows: list[AssetRow] = []
    p_values: list[float] = []
    held = members_below(material.tree)
    scores = {model: material.measured.scores.get(model, {}) for model in material.models}
    for leaf in leaves_in_order(material):
        shared = [one for one in held[leaf] if all(one in scores[model] for model in material.models)]
        clusters = [material.measured.sample_of.get(one, one) for one in shared]
        for model in material.models:
            others = [name for name in material.models if name != model]
            gaps = [scores[model][one] - sum(scores[name][one] for name in others) / len(others) for one in shared]
            row = AssetRow(
                key=f"{model} {leaf}",
                cells=(text(model), text(name_of(leaf)), NOTHING, NOTHING, text("")),
                n=len(shared),
                held=len(held[leaf]),
                model=model,
                node=leaf,
            )
            if len(shared) < MIN_SUPPORT:
                rows.append(row)
                continue
            p_values.append(sign_flip_test(gaps, clusters=clusters, seed=material.seed, permutations=4_000).p_value)
            gap = mean_of(gaps, clusters, bounds=(WORST - BEST, BEST - WORST), seed=material.seed)
            rows.append(row.model_copy(update={"cells": (*row.cells[:2], gap, NOTHING, text(""))}))
    adjusted = iter(false_discovery_rate(p_values))
    marked = [_judged(row, next(adjusted)) if row.cells[2].value is not None else row for row in rows]
    better, worse = (sum(row.mark == kind for row in marked) for kind in ("better", "worse"))
    return Asset(
        id="contrasts",
        title=f"Each model against the others, {material.leaf} by {material.leaf}",
        sentence=(
            f"{better} times a model is better and {worse} times worse than the mean of the other models at a "
            f"{material.leaf}, on criteria that all have a score for; sign flips of whole samples, at most {LIMIT:.0%} of "
            "the marks expected to be false."
        ),
        columns=(
            MODEL,
            AssetColumn(name=material.leaf, kind="name"),
            AssetColumn(name="against the others", unit=POINTS, kind="difference", better="higher"),
            ADJUSTED,
            VERDICT,
        ),
        rows=tuple(marked),
    )


def leaves_in_order(material: Material) -> list[str]:
    """Return the leaves, or categories, that hold a criterion, in the tree's order."""
    layer = DEEPEST if material.grouping == "tree" else 1
    placed = set(mapping_of(material.tree).values())
    return [node for node in in_order(material.tree) if node in placed and material.tree.nodes[node]["layer"] == layer]


def name_of(node: str) -> str:
    """Return a node's own name."""
    return "all" if node == ROOT else CapabilityPath.parse(node).name


def _judged(row: AssetRow, q_value: float) -> AssetRow:
    gap = row.cells[2].value
    mark: Mark = "unclear" if q_value > LIMIT else "worse" if isinstance(gap, float) and gap < 0 else "better"
    return row.model_copy(update={"cells": (*row.cells[:3], number(q_value), text(mark)), "mark": mark})


def _node_columns(what: str) -> tuple[AssetColumn, ...]:
    return (
        AssetColumn(name=what, kind="name"),
        AssetColumn(name="score", unit=POINTS, kind="score", better="higher"),
        AssetColumn(name="against the rest", unit=POINTS, kind="difference", better="higher"),
        ADJUSTED,
        VERDICT,
        AssetColumn(name="samples", kind="count"),
    )


def _node_row(
    material: Material, model: str, node: str, criteria: Sequence[str], finding: NodeFinding | None
) -> AssetRow:
    """Return what a model has at a node; a node that was not looked at has no mark."""
    scores, failed = material.measured.scores.get(model, {}), material.measured.failures.get(model, {})
    scored = [one for one in criteria if one in scores]
    clusters = [material.measured.sample_of.get(one, one) for one in scored]
    mean = mean_of([scores[one] for one in scored], clusters, bounds=(WORST, BEST), seed=material.seed)
    return AssetRow(
        key=node,
        cells=(
            text(name_of(node)),
            mean,
            _contrast(material, model, set(scored)),
            number(None if finding is None else finding.q_value),
            text("" if finding is None else finding.verdict),
            number(len(set(clusters))),
        ),
        n=len(scored),
        held=len(scored) + sum(1 for one in criteria if one in failed and one not in scores),
        mark="" if finding is None else finding.verdict,
        model=model,
        node=node,
    )


def _contrast(material: Material, model: str, inside: set[str]) -> Figure:
    """Return the mean of some criteria minus the mean of all other criteria of the model that the tree holds."""
    scores, sample_of = material.measured.scores.get(model, {}), material.measured.sample_of
    known = [one for one in sorted(mapping_of(material.tree)) if one in scores]
    values, part = [scores[one] for one in known], [one in inside for one in known]
    if not any(part) or all(part):
        return NOTHING
    here, there = sum(part), len(part) - sum(part)
    difference = (
        sum(value for value, one in zip(values, part, strict=True) if one) / here
        - sum(value for value, one in zip(values, part, strict=True) if not one) / there
    )
    clusters = [sample_of.get(one, one) for one in known]
    return estimate(difference, contrast_interval(values, part, clusters=clusters, bounds=(WORST, BEST)))


def _grid(material: Material, id: str, title: str, leaves: Sequence[str]) -> Asset:
    """Return leaves down, models across, each cell a mean with its interval."""
    held = members_below(material.tree)
    rows: list[AssetRow] = []
    for leaf in leaves:
        cells: list[Figure] = []
        n = asked = 0
        for model in material.models:
            row = _score_row(material, model, held[leaf])
            cells.append(row[0])
            n, asked = n + row[1], asked + row[2]
        rows.append(AssetRow(key=leaf, cells=(text(name_of(leaf)), *cells), n=n, held=asked, node=leaf))
    return Asset(
        id=id,
        title=title,
        sentence=(
            f"Mean scores of {len(material.models)} models at {len(leaves)} {material.leaves}, each with its own 95 % "
            "interval, clustered by samples; nothing here is corrected for being many."
        ),
        columns=(
            AssetColumn(name=material.leaf, kind="name"),
            *(AssetColumn(name=model[:60], unit=POINTS, kind="score", better="higher") for model in material.models),
        ),
        rows=tuple(rows),
    )


def _score_row(material: Material, model: str, criteria: Sequence[str]) -> tuple[Figure, int, int]:
    scores, failed = material.measured.scores.get(model, {}), material.measured.failures.get(model, {})
    scored = [one for one in criteria if one in scores]
    clusters = [material.measured.sample_of.get(one, one) for one in scored]
    mean = mean_of([scores[one] for one in scored], clusters, bounds=(WORST, BEST), seed=material.seed)
    return mean, len(scored), len(scored) + sum(1 for one in criteria if one in failed and one not in scores)


def _leaves_sentence(material: Material, model: str, marked: Sequence[AssetRow], total: int) -> str:
    scores = material.measured.scores.get(model, {})
    known = [scores[one] for one in mapping_of(material.tree) if one in scores]
    mean = f"mean {rounded(sum(known) / len(known)):.1f} of 100 over {len(known)} criteria" if known else "no score"
    weak = [str(row.cells[0].value) for row in marked if row.mark == "weak"]
    named = f"below it, beyond chance: {', '.join(weak)}" if weak else "none is below it beyond chance"
    return (
        f"{model}: {mean} on {total} {material.leaves if total != 1 else material.leaf}; {named}. Marked by exchange of "
        f"whole samples' {material.leaves}, corrected for all nodes of all models (at most {LIMIT:.0%} false)."
    )


def _value(row: AssetRow, at: int) -> float:
    value = row.cells[at].value
    return float(value) if isinstance(value, int | float) else BEST + 1


def with_seed(material: Material, seed: int) -> Material:
    """Return the same material under another seed of intervals and permutations."""
    return replace(material, seed=seed)
