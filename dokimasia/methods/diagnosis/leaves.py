# pyright: standard
# networkx ships no types; what is read from a tree here is given its type at once.
"""The tables of leaves: bars with what is weak and strong, radars by group of categories, the heat map, and contrasts."""

from collections.abc import Mapping, Sequence

import numpy as np

from dokimasia.algorithms.statistics import adjusted
from dokimasia.algorithms.statistics.within_clusters import draws_for, exchange_p_values, gaps_to_others
from dokimasia.algorithms.taxonomy import leaves
from dokimasia.algorithms.trees.weakness import NodeFinding, node_findings
from dokimasia.domain.capability import ROOT, CapabilityPath
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow
from dokimasia.methods.diagnosis.cells import (
    MODEL,
    NOTHING,
    POINTS,
    PartialRow,
    compared,
    difference_of,
    judged,
    mark_of,
    mean_of,
    number,
    points_of,
    text,
    value_of,
)
from dokimasia.methods.diagnosis.measured import LIMIT, MIN_SUPPORT, OWN_INTERVAL, DiagnosisMaterial, slugs_of
from dokimasia.methods.tree import BEST, WORST, in_order, mapping_of, members_below, rounded
from dokimasia.report.figures import several

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


def verdicts_of(material: DiagnosisMaterial, *, permutations: int | None = None) -> Verdicts:
    """Return what is said of every node that is looked at, for each model.

    A node is compared with all other criteria of the model (`algorithms.weakness.node_findings`); the p-values of all
    nodes of all models are adjusted together (Benjamini and Hochberg), since a diagnosis looks at them all.
    """
    tests = len(material.tree) * len(material.models)
    drawn = permutations or min(MOST_PERMUTATIONS, max(FEWEST_PERMUTATIONS, int(4 * tests / LIMIT)))
    found = {
        model: node_findings(
            material.tree,
            material.scores(model),
            material.measured.cluster_of,
            seed=material.seed,
            min_support=MIN_SUPPORT,
            limit=LIMIT,
            bounds=(WORST, BEST),
            permutations=drawn,
        )
        for model in material.models
    }
    listed = [(model, one) for model, findings in found.items() for one in findings]
    q_values = adjusted([one.p_value for _, one in listed])
    verdicts: dict[str, dict[str, NodeFinding]] = {model: {} for model in material.models}
    for (model, one), q_value in zip(listed, q_values, strict=True):
        verdicts[model][one.node] = one._replace(q_value=q_value)
    return verdicts


def leaf_tables(material: DiagnosisMaterial, verdicts: Verdicts) -> list[Asset]:
    """Return each model's table of leaves, and its table of weak and strong nodes of all layers."""
    tables: list[Asset] = []
    held, leaves, placed = members_below(material.tree), leaves_in_order(material), sorted(mapping_of(material.tree))
    for model, slug in slugs_of(material.models).items():
        said = verdicts.get(model, {})
        untested = next((one.reason for one in said.values() if one.reason), "")
        rows = {
            node: _node_row(material, model, node, held[node], placed, said.get(node))
            for node in dict.fromkeys((*leaves, *said))
        }
        low_first = sorted((rows[leaf] for leaf in leaves), key=lambda row: (_score(row), row.key))
        tables.append(
            Asset(
                id=f"leaves/{slug}",
                title=f"{model}: every {material.leaf}",
                sentence=_leaves_sentence(material, model, low_first, untested),
                columns=_node_columns(material.leaf),
                rows=tuple(low_first),
                model=model,
            )
        )
        nodes = [rows[node] for node in said]
        weak = sorted((row for row in nodes if row.mark == "weak"), key=lambda row: (_score(row), row.key))
        strong = sorted((row for row in nodes if row.mark == "strong"), key=lambda row: (-_score(row), row.key))
        tables.append(
            Asset(
                id=f"nodes/{slug}",
                title=f"{model}: weak and strong nodes",
                sentence=_nodes_sentence(model, len(weak), len(strong), len(said), untested),
                columns=_node_columns("node"),
                rows=(*weak, *strong),
                model=model,
            )
        )
    return tables


def _nodes_sentence(model: str, weak: int, strong: int, looked: int, untested: str) -> str:
    among = f"{looked} nodes of {model} with at least {MIN_SUPPORT} scored criteria"
    if not looked:
        return f"No node of {model} has {MIN_SUPPORT} scored criteria or more, so none was tested."
    if untested:
        return f"None of {among} was tested: {untested}."
    if not weak and not strong:
        return f"No significant weakness or strength was found among {among}: what differs there may be chance."
    return (
        f"{weak} weak and {strong} strong among {among}; of all that is marked in this diagnosis at most {LIMIT:.0%} is "
        "expected to be false."
    )


def radars(material: DiagnosisMaterial, grid: Asset) -> list[Asset]:
    """Return the heat map's rows again, a table for each group of categories: a leaf a spoke."""
    if material.grouping == "category":
        return [_grid(material, "radar/categories", "Radar: the data's categories", grid.rows)]
    group_of = {category: group for group, several in GROUPS.items() for category in several}
    by_group: dict[str, list[AssetRow]] = {group: [] for group in (*GROUPS, OTHERS)}
    for row in grid.rows:
        by_group[group_of.get(CapabilityPath.parse(row.node).category, OTHERS)].append(row)
    return [
        _grid(material, f"radar/{group.replace(' ', '-')}", f"Radar: {group}", rows)
        for group, rows in by_group.items()
        if rows
    ]


def categories(material: DiagnosisMaterial) -> Asset:
    """Return the tree's categories down, models across."""
    placed = {CapabilityPath.parse(leaf).category for leaf in leaves_in_order(material)}
    nodes = [
        node for node in in_order(material.tree) if material.tree.nodes[node]["layer"] == 1 and name_of(node) in placed
    ]
    counted = "1 category" if len(nodes) == 1 else f"{len(nodes)} categories"
    return _grid(material, "categories", "Categories by model", _grid_rows(material, nodes), counted)


def heatmap(material: DiagnosisMaterial) -> Asset:
    """Return leaves down, models across, each cell a mean with its interval."""
    rows = _grid_rows(material, leaves_in_order(material))
    return _grid(material, "heatmap", f"Heat map: {material.leaf} by model", rows)


def _grid_rows(material: DiagnosisMaterial, nodes: Sequence[str]) -> list[AssetRow]:
    held = members_below(material.tree)
    rows: list[AssetRow] = []
    for leaf in nodes:
        sizes = [_counts(material, model, held[leaf]) for model in material.models]
        rows.append(
            AssetRow(
                key=leaf,
                cells=(text(name_of(leaf)), *(points_of(material, model, held[leaf]) for model in material.models)),
                n=sum(n for n, _ in sizes),
                held=sum(asked for _, asked in sizes),
                node=leaf,
            )
        )
    return rows


def _grid(material: DiagnosisMaterial, id: str, title: str, rows: Sequence[AssetRow], counted: str = "") -> Asset:
    return Asset(
        id=id,
        title=title,
        sentence=(
            f"Mean scores of {several(len(material.models), 'model')} at {counted or material.counted(len(rows))}"
            f"{OWN_INTERVAL}; nothing here is corrected for being many. The last column "
            "counts the criteria of all models together."
        ),
        columns=(
            AssetColumn(name="category" if id == "categories" else material.leaf, kind="name"),
            *(AssetColumn(name=model, unit=POINTS, kind="score", better="higher") for model in material.models),
        ),
        rows=tuple(rows),
    )


def contrasts(material: DiagnosisMaterial) -> Asset:
    """Return how each model does at each leaf against the mean of the others on the same criteria."""
    drafts: list[PartialRow] = []
    held = members_below(material.tree)
    scores = {model: material.scores(model) for model in material.models}
    failed = [material.measured.failures.get(model, {}) for model in material.models]
    known = {one for each in (*scores.values(), *failed) for one in each}
    leaves = leaves_in_order(material)
    draws = draws_for(len(leaves) * len(material.models))
    for leaf in leaves:
        shared = [one for one in held[leaf] if all(one in scores[model] for model in material.models)]
        clusters = material.clusters_of(shared)
        tested = len(shared) >= MIN_SUPPORT
        values = np.array([[scores[model][one] for model in material.models] for one in shared], dtype=np.float64)
        gaps = gaps_to_others(values) if tested else values
        p_values = exchange_p_values(gaps, clusters, seed=material.seed, draws=draws) if tested else []
        for at, model in enumerate(material.models):
            row = AssetRow(
                key=f"{model} {leaf}",
                cells=(text(model), text(name_of(leaf))),
                n=len(shared),
                held=sum(one in known for one in held[leaf]),
                model=model,
                node=leaf,
            )
            if not tested:
                drafts.append(PartialRow(row, NOTHING, None))
                continue
            gap = mean_of(gaps[:, at].tolist(), clusters, bounds=(WORST - BEST, BEST - WORST), seed=material.seed)
            drafts.append(PartialRow(row, gap, p_values[at]))
    rows = judged(drafts)
    better, worse = (sum(row.mark == kind for row in rows) for kind in ("better", "worse"))
    return Asset(
        id="contrasts",
        title=f"Each model against the others, {material.leaf} by {material.leaf}",
        sentence=(
            (
                f"{better} times a model is better and {worse} times worse than the mean of the other models at a "
                f"{material.leaf}"
                if better or worse
                else f"No model was found significantly better or worse than the mean of the others at any {material.leaf}"
            )
            + f", on criteria that all have a score for; exchange of models within images, at most {LIMIT:.0%} of the marks "
            "expected to be false; p-values are adjusted over all rows of this table (Benjamini and Hochberg). "
            "A mark also needs an interval on one side of 0."
        ),
        columns=(MODEL, AssetColumn(name=material.leaf, kind="name"), *compared("against the others")),
        rows=tuple(rows),
    )


def leaves_in_order(material: DiagnosisMaterial) -> list[str]:
    """Return the leaves, or categories, that hold a criterion, in the tree's order."""
    placed = set(mapping_of(material.tree).values())
    if material.grouping == "tree":
        placed &= set(leaves(material.tree))
    return [node for node in in_order(material.tree) if node in placed]


def name_of(node: str) -> str:
    """Return a node's own name."""
    return "all" if node == ROOT else CapabilityPath.parse(node).name


def _node_columns(what: str) -> tuple[AssetColumn, ...]:
    return (
        AssetColumn(name=what, kind="name"),
        AssetColumn(name="score", unit=POINTS, kind="score", better="higher"),
        *compared("against the rest"),
        AssetColumn(name="samples", kind="count"),
    )


def _node_row(
    material: DiagnosisMaterial,
    model: str,
    node: str,
    criteria: Sequence[str],
    placed: Sequence[str],
    finding: NodeFinding | None,
) -> AssetRow:
    """Return what a model has at a node, against all criteria placed elsewhere; what was not looked at has no mark."""
    scores, inside = material.scores(model), set(criteria)
    samples = {material.measured.sample_of.get(one, one) for one in criteria if one in scores}
    n, asked = _counts(material, model, criteria)
    mean = points_of(material, model, criteria)
    rest = points_of(material, model, (one for one in placed if one not in inside))
    contrast = difference_of(mean, rest)
    q_value = None if finding is None else finding.q_value
    mark = mark_of(contrast, q_value, down="weak", up="strong")
    return AssetRow(
        key=node,
        cells=(text(name_of(node)), mean, contrast, number(q_value), text(mark), number(len(samples))),
        n=n,
        held=asked,
        mark=mark,
        model=model,
        node=node,
    )


def _counts(material: DiagnosisMaterial, model: str, criteria: Sequence[str]) -> tuple[int, int]:
    """Return how many criteria have a score of a model, and how many it was asked about."""
    scores, failed = material.scores(model), material.measured.failures.get(model, {})
    return sum(one in scores for one in criteria), sum(one in scores or one in failed for one in criteria)


def _leaves_sentence(material: DiagnosisMaterial, model: str, rows: Sequence[AssetRow], untested: str) -> str:
    scores = material.scores(model)
    known = [scores[one] for one in mapping_of(material.tree) if one in scores]
    mean = f"mean {rounded(sum(known) / len(known)):.1f} of 100 over {len(known)} criteria" if known else "no score"
    left = len(scores) - len(known)
    if left:
        mean += f" (of its {len(scores)} with a score {left} have no place in the tree and count in the table of models alone)"
    if untested:
        return f"{model}: {mean} on {material.counted(len(rows))}. None is marked: {untested}."
    weak = [str(row.cells[0].value) for row in rows if row.mark == "weak"]
    named = f"below it, beyond chance: {', '.join(weak)}" if weak else "none is below it beyond chance"
    return (
        f"{model}: {mean} on {material.counted(len(rows))}; {named}. Marked by exchange of "
        f"whole images' {material.leaves}, corrected for all nodes of all models (at most {LIMIT:.0%} false), where "
        "the difference's own interval agrees."
    )


def _score(row: AssetRow) -> float:
    return value_of(row.cells[1], BEST + 1)
