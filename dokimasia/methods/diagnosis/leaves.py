# pyright: standard
# networkx ships no types; what is read from a tree here is given its type at once.
"""The tables of leaves: bars with what is weak and strong, radars by group of categories, the heat map, and contrasts."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dokimasia.algorithms.statistics import false_discovery_rate
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.algorithms.trees.weakness import NodeFinding, node_findings
from dokimasia.domain.capability import DEEPEST, ROOT, CapabilityPath
from dokimasia.domain.diagnosis import Asset, AssetColumn, AssetRow, Figure
from dokimasia.methods.diagnosis.cells import (
    ADJUSTED,
    MODEL,
    NOTHING,
    POINTS,
    VERDICT,
    difference_of,
    mark_of,
    mean_of,
    number,
    text,
)
from dokimasia.methods.diagnosis.measured import LIMIT, MIN_SUPPORT, Material, several, slugs_of
from dokimasia.methods.tree import BEST, WORST, in_order, mapping_of, members_below, rounded

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


def verdicts_of(material: Material, *, min_support: int = MIN_SUPPORT, permutations: int | None = None) -> Verdicts:
    """Return what is said of every node that is looked at, for each model.

    A node is compared with all other criteria of the model (`algorithms.weakness.node_findings`); the p-values of all
    nodes of all models are adjusted together (Benjamini and Hochberg), since a diagnosis looks at them all.
    """
    tests = len(material.tree) * len(material.models)
    drawn = permutations or min(MOST_PERMUTATIONS, max(FEWEST_PERMUTATIONS, int(4 * tests / LIMIT)))
    found = {
        model: node_findings(
            material.tree,
            material.measured.scores.get(model, {}),
            material.measured.sample_of,
            seed=material.seed,
            min_support=min_support,
            limit=LIMIT,
            bounds=(WORST, BEST),
            permutations=drawn,
        )
        for model in material.models
    }
    listed = [(model, one) for model, findings in found.items() for one in findings]
    adjusted = false_discovery_rate([one.p_value for _, one in listed])
    verdicts: dict[str, dict[str, NodeFinding]] = {model: {} for model in material.models}
    for (model, one), q_value in zip(listed, adjusted, strict=True):
        verdicts[model][one.node] = one._replace(q_value=q_value)
    return verdicts


def leaf_tables(material: Material, verdicts: Verdicts) -> list[Asset]:
    """Return each model's table of leaves, and its table of weak and strong nodes of all layers."""
    tables: list[Asset] = []
    held = members_below(material.tree)
    for model, slug in slugs_of(material.models).items():
        said, known = verdicts.get(model, {}), _known(material, model)
        rows = [
            _node_row(material, known, model, leaf, held[leaf], said.get(leaf)) for leaf in leaves_in_order(material)
        ]
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
        nodes = [_node_row(material, known, model, node, held[node], finding) for node, finding in said.items()]
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


def radars(material: Material, grid: Asset) -> list[Asset]:
    """Return the heat map's rows again, a table for each group of categories: a leaf a spoke."""
    if material.grouping == "category":
        return [_part(material, grid, "radar/categories", "Radar: the data's categories", leaves_in_order(material))]
    group_of = {category: group for group, several in GROUPS.items() for category in several}
    by_group: dict[str, list[str]] = {group: [] for group in (*GROUPS, OTHERS)}
    for leaf in leaves_in_order(material):
        by_group[group_of.get(CapabilityPath.parse(leaf).category, OTHERS)].append(leaf)
    return [
        _part(material, grid, f"radar/{group.replace(' ', '-')}", f"Radar: {group}", leaves)
        for group, leaves in by_group.items()
        if leaves
    ]


def categories(material: Material) -> Asset | None:
    """Return the tree's categories down, models across; None where the leaves are categories themselves."""
    if material.grouping == "category":
        return None
    placed = {CapabilityPath.parse(leaf).category for leaf in leaves_in_order(material)}
    nodes = [
        node for node in in_order(material.tree) if material.tree.nodes[node]["layer"] == 1 and name_of(node) in placed
    ]
    return _grid(
        material,
        nodes,
        "categories",
        "Categories by model",
        "1 category" if len(nodes) == 1 else f"{len(nodes)} categories",
    )


def heatmap(material: Material) -> Asset:
    """Return leaves down, models across, each cell a mean with its interval."""
    leaves = leaves_in_order(material)
    return _grid(material, leaves, "heatmap", f"Heat map: {material.leaf} by model", material.counted(len(leaves)))


def _grid(material: Material, nodes: Sequence[str], id: str, title: str, counted: str) -> Asset:
    held = members_below(material.tree)
    rows: list[AssetRow] = []
    for leaf in nodes:
        sizes = [_counts(material, model, held[leaf]) for model in material.models]
        rows.append(
            AssetRow(
                key=leaf,
                cells=(text(name_of(leaf)), *(_mean(material, model, held[leaf]) for model in material.models)),
                n=sum(n for n, _ in sizes),
                held=sum(asked for _, asked in sizes),
                node=leaf,
            )
        )
    return Asset(
        id=id,
        title=title,
        sentence=_grid_sentence(material, counted),
        columns=(
            AssetColumn(name="category" if id == "categories" else material.leaf, kind="name"),
            *(AssetColumn(name=model, unit=POINTS, kind="score", better="higher") for model in material.models),
        ),
        rows=tuple(rows),
    )


def contrasts(material: Material) -> Asset | None:
    """Return how each model does at each leaf against the mean of the others on the same criteria; None for one model."""
    if len(material.models) < 2:
        return None
    rows: list[AssetRow] = []
    p_values: list[float] = []
    held = members_below(material.tree)
    scores = {model: material.measured.scores.get(model, {}) for model in material.models}
    failed = [material.measured.failures.get(model, {}) for model in material.models]
    known = {one for each in (*scores.values(), *failed) for one in each}
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
                held=sum(one in known for one in held[leaf]),
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
    mark = mark_of(row.cells[2], q_value, limit=LIMIT, down="worse", up="better")
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
    material: Material, known: "_Known", model: str, node: str, criteria: Sequence[str], finding: NodeFinding | None
) -> AssetRow:
    """Return what a model has at a node; a node that was not looked at has no mark."""
    scores, sample_of = material.measured.scores.get(model, {}), material.measured.sample_of
    scored = [one for one in criteria if one in scores]
    n, asked = _counts(material, model, criteria)
    mean = _mean(material, model, criteria)
    contrast = _contrast(known, scored, mean, material.seed)
    q_value = None if finding is None else finding.q_value
    mark = mark_of(contrast, q_value, limit=LIMIT, down="weak", up="strong")
    return AssetRow(
        key=node,
        cells=(
            text(name_of(node)),
            mean,
            contrast,
            number(q_value),
            text(mark),
            number(len({sample_of.get(one, one) for one in scored})),
        ),
        n=n,
        held=asked,
        mark=mark,
        model=model,
        node=node,
    )


class _Known(NamedTuple):
    """All criteria of a model that the tree holds and that have a score, by name, with their scores and samples."""

    criteria: Sequence[str]
    values: Sequence[float]
    clusters: Sequence[str]


def _known(material: Material, model: str) -> _Known:
    scores, sample_of = material.measured.scores.get(model, {}), material.measured.sample_of
    criteria = [one for one in sorted(mapping_of(material.tree)) if one in scores]
    return _Known(criteria, [scores[one] for one in criteria], [sample_of.get(one, one) for one in criteria])


def _contrast(known: _Known, scored: Sequence[str], here: Figure, seed: int) -> Figure:
    """Return the mean of some criteria, which is known, minus the mean of all others."""
    inside = set(scored)
    rest = [at for at, one in enumerate(known.criteria) if one not in inside]
    there = mean_of(
        [known.values[at] for at in rest], [known.clusters[at] for at in rest], bounds=(WORST, BEST), seed=seed
    )
    return difference_of(here, there)


def _part(material: Material, grid: Asset, id: str, title: str, leaves: Sequence[str]) -> Asset:
    chosen = set(leaves)
    return grid.model_copy(
        update={
            "id": id,
            "title": title,
            "sentence": _grid_sentence(material, material.counted(len(chosen))),
            "rows": tuple(row for row in grid.rows if row.node in chosen),
        }
    )


def _grid_sentence(material: Material, counted: str) -> str:
    return (
        f"Mean scores of {several(len(material.models), 'model')} at {counted}, each with its own 95 % "
        "interval, clustered by samples; nothing here is corrected for being many. The last column counts the criteria of "
        "all models together."
    )


def _mean(material: Material, model: str, criteria: Sequence[str]) -> Figure:
    scores, sample_of = material.measured.scores.get(model, {}), material.measured.sample_of
    scored = [one for one in criteria if one in scores]
    clusters = [sample_of.get(one, one) for one in scored]
    return mean_of([scores[one] for one in scored], clusters, bounds=(WORST, BEST), seed=material.seed)


def _counts(material: Material, model: str, criteria: Sequence[str]) -> tuple[int, int]:
    """Return how many criteria have a score of a model, and how many it was asked about."""
    scores, failed = material.measured.scores.get(model, {}), material.measured.failures.get(model, {})
    n = sum(1 for one in criteria if one in scores)
    return n, n + sum(1 for one in criteria if one in failed and one not in scores)


def _leaves_sentence(material: Material, model: str, marked: Sequence[AssetRow], total: int) -> str:
    scores = material.measured.scores.get(model, {})
    known = [scores[one] for one in mapping_of(material.tree) if one in scores]
    mean = f"mean {rounded(sum(known) / len(known)):.1f} of 100 over {len(known)} criteria" if known else "no score"
    weak = [str(row.cells[0].value) for row in marked if row.mark == "weak"]
    named = f"below it, beyond chance: {', '.join(weak)}" if weak else "none is below it beyond chance"
    return (
        f"{model}: {mean} on {material.counted(total)}; {named}. Marked by exchange of "
        f"whole samples' {material.leaves}, corrected for all nodes of all models (at most {LIMIT:.0%} false), where "
        "the difference's own interval agrees."
    )


def _value(row: AssetRow, at: int) -> float:
    value = row.cells[at].value
    return float(value) if isinstance(value, int | float) else BEST + 1
