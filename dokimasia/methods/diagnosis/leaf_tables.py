# pyright: standard
# networkx has no types; values read from a tree are typed right away.
"""Tables of leaves: scores with weak and strong marks, radars, the heat map, contrasts between models, and changes."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dokimasia.algorithms.statistics import adjusted
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.algorithms.statistics.within_clusters import draws_for, exchange_p_values, gaps_to_others
from dokimasia.algorithms.taxonomy import attributes_of, leaves
from dokimasia.algorithms.trees.weakness import NodeFinding, node_findings
from dokimasia.domain.capability import ROOT, CapabilityPath
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow
from dokimasia.domain.differences import DIRECTION
from dokimasia.domain.wording import percentage
from dokimasia.methods.diagnosis.cells import (
    MODEL,
    NOTHING,
    POINTS,
    PartialRow,
    cells_of,
    count_column,
    difference_columns,
    difference_of,
    mark_of,
    marked_rows,
    mean_of,
    name_column,
    points_of,
    score_column,
    value_of,
)
from dokimasia.methods.diagnosis.evidence_data import LIMIT, MIN_SUPPORT, OWN_INTERVAL, DiagnosisMaterial, slugs_of
from dokimasia.methods.tree import BEST, WORST, in_order, kept_leaves, mapping_of, members_below
from dokimasia.report.figures import several
from dokimasia.runs.measures import rounded, unrounded_mean
from dokimasia.runs.reading.comparison import SampleRef

GROUPS = {
    "perception and comprehension": ("Perception", "Understanding"),
    "reasoning and generation": ("Reasoning", "Generation"),
    "knowledge and trustworthiness": ("Knowledge", "Trustworthiness"),
}
"""The categories of each radar chart (ATOM, figure 16)."""

OTHERS = "other categories"
FEWEST_PERMUTATIONS, MOST_PERMUTATIONS = 2_000, 20_000
FEWEST_SAMPLES = 5
"""Leaves with fewer samples in both runs are shown, but their changes are not tested."""

Verdicts = Mapping[str, Mapping[str, NodeFinding]]
"""Findings by model and node."""

LeafMeans = Mapping[tuple[str, str], float | None]
"""Mean score of a sample's criteria at a leaf, by sample and leaf; None if none has a score."""

SharedSamples = Sequence[tuple[SampleRef, SampleRef]]
"""Samples shared by two runs, as references in the first and in the second run."""


def verdicts_of(material: DiagnosisMaterial, *, permutations: int | None = None) -> Verdicts:
    """Return the finding on every tested node, by model.

    A node is compared with all other criteria of the model (`algorithms.weakness.node_findings`). P-values are adjusted
    over all nodes of all models (Benjamini-Hochberg), since a diagnosis tests them all.
    """
    tests = len(material.tree) * len(material.models)
    default = min(MOST_PERMUTATIONS, max(FEWEST_PERMUTATIONS, int(4 * tests / LIMIT)))
    findings: list[tuple[str, NodeFinding]] = []
    for model in material.models:
        of_model = node_findings(
            material.tree,
            material.scores(model),
            material.measured.cluster_of,
            seed=material.seed,
            min_support=MIN_SUPPORT,
            limit=LIMIT,
            bounds=(WORST, BEST),
            permutations=permutations or default,
        )
        findings += [(model, finding) for finding in of_model]
    q_values = adjusted([finding.p_value for _, finding in findings])
    verdicts: dict[str, dict[str, NodeFinding]] = {model: {} for model in material.models}
    for (model, finding), q_value in zip(findings, q_values, strict=True):
        verdicts[model][finding.node] = finding._replace(q_value=q_value)
    return verdicts


def leaf_tables(material: DiagnosisMaterial, verdicts: Verdicts) -> list[Asset]:
    """Return, for each model, the table of leaves and the table of weak and strong nodes of all layers."""
    tables: list[Asset] = []
    members, mapped_criteria = members_below(material.tree), sorted(mapping_of(material.tree))
    leaf_order = leaves_in_order(material)
    for model, slug in slugs_of(material.models).items():
        findings = verdicts.get(model, {})
        untested = next((finding.reason for finding in findings.values() if finding.reason), "")
        exchanged = next((finding.exchanged for finding in findings.values()), 1.0)
        immovable = "" if untested else kept_leaves(exchanged)
        rows = {
            node: _node_row(material, model, node, members[node], mapped_criteria, findings.get(node))
            for node in dict.fromkeys((*leaf_order, *findings))
        }
        low_first = sorted((rows[leaf] for leaf in leaf_order), key=_low_first)
        tables.append(
            Asset(
                id=f"leaves/{slug}",
                title=f"{model}: every {material.leaf}",
                sentence=f"{_leaves_sentence(material, model, low_first, untested)} {immovable}".rstrip(),
                columns=_node_columns(material.leaf),
                rows=tuple(low_first),
                model=model,
            )
        )
        weak = sorted((rows[node] for node in findings if rows[node].mark == "weak"), key=_low_first)
        strong = sorted(
            (rows[node] for node in findings if rows[node].mark == "strong"), key=lambda row: (-_score(row), row.key)
        )
        tables.append(
            Asset(
                id=f"nodes/{slug}",
                title=f"{model}: weak and strong nodes",
                sentence=f"{_nodes_sentence(model, len(weak), len(strong), len(findings), untested)} {immovable}".rstrip(),
                columns=_node_columns("node"),
                rows=(*weak, *strong),
                model=model,
            )
        )
    return tables


def _node_columns(kind: str) -> tuple[AssetColumn, ...]:
    return (
        name_column(kind),
        score_column("score", POINTS),
        *difference_columns("against the rest"),
        count_column("samples"),
    )


def _node_row(
    material: DiagnosisMaterial,
    model: str,
    node: str,
    criteria: Sequence[str],
    placed: Sequence[str],
    finding: NodeFinding | None,
) -> AssetRow:
    """Return a model's row for a node, compared with all criteria outside it; an untested node has no mark."""
    scores, inside = material.scores(model), set(criteria)
    samples = {material.measured.sample_of.get(criterion, criterion) for criterion in criteria if criterion in scores}
    scored_count, criteria_count = _counts(material, model, criteria)
    mean = points_of(material, model, criteria)
    other_points = points_of(material, model, (criterion for criterion in placed if criterion not in inside))
    contrast = difference_of(mean, other_points)
    q_value = None if finding is None else finding.q_value
    mark = mark_of(contrast, q_value, down="weak", up="strong")
    return AssetRow(
        key=node,
        cells=cells_of(name_of(node), mean, contrast, q_value, mark, len(samples)),
        n=scored_count,
        held=criteria_count,
        mark=mark,
        model=model,
        node=node,
    )


def _counts(material: DiagnosisMaterial, model: str, criteria: Sequence[str]) -> tuple[int, int]:
    """Return the number of a model's scored criteria, and of those it was asked about."""
    scores = material.scores(model)
    judged_criteria = scores.keys() | material.failures(model).keys()
    return sum(criterion in scores for criterion in criteria), sum(
        criterion in judged_criteria for criterion in criteria
    )


def _score(row: AssetRow) -> float:
    return value_of(row.cells[1], BEST + 1)


def _low_first(row: AssetRow) -> tuple[float, str]:
    return _score(row), row.key


def _leaves_sentence(material: DiagnosisMaterial, model: str, rows: Sequence[AssetRow], untested: str) -> str:
    scores = material.scores(model)
    mapped_scores = [scores[criterion] for criterion in mapping_of(material.tree) if criterion in scores]
    mean = "no score"
    if mapped_scores:
        mean = f"mean {rounded(sum(mapped_scores) / len(mapped_scores)):.1f} of 100 over {len(mapped_scores)} criteria"
    unplaced = len(scores) - len(mapped_scores)
    if unplaced:
        mean += (
            f" (of its {len(scores)} with a score {unplaced} have no place in the tree and count in the table of models "
            "alone)"
        )
    if untested:
        return f"{model}: {mean} on {material.counted(len(rows))}. None is marked: {untested}."
    weak = [str(row.cells[0].value) for row in rows if row.mark == "weak"]
    weak_leaves = f"below it, beyond chance: {', '.join(weak)}" if weak else "none is below it beyond chance"
    return (
        f"{model}: {mean} on {material.counted(len(rows))}; {weak_leaves}. Marked by exchange of "
        f"whole images' {material.leaves}, corrected for all nodes of all models (at most {percentage(LIMIT)} false), where "
        "the difference's own interval agrees."
    )


def _nodes_sentence(model: str, weak: int, strong: int, tested: int, untested: str) -> str:
    tested_nodes = f"{tested} nodes of {model} with at least {MIN_SUPPORT} scored criteria"
    if not tested:
        return f"No node of {model} has {MIN_SUPPORT} scored criteria or more, so none was tested."
    if untested:
        return f"None of {tested_nodes} was tested: {untested}."
    if not weak and not strong:
        return f"No significant weakness or strength was found among {tested_nodes}: what differs there may be chance."
    counts = f"{weak} weak and {strong} strong among {tested_nodes}"
    return f"{counts}; false discovery rate {percentage(LIMIT)} across this diagnosis."


def radars(material: DiagnosisMaterial, grid: Asset) -> list[Asset]:
    """Return the tables of the radar charts, one per group of categories, with the rows of the heat map."""
    if material.grouping == "category":
        return [_grid(material, "radar/categories", "Radar: the data's categories", grid.rows)]
    group_of = {category: group for group, categories in GROUPS.items() for category in categories}
    by_group: dict[str, list[AssetRow]] = {group: [] for group in (*GROUPS, OTHERS)}
    for row in grid.rows:
        by_group[group_of.get(CapabilityPath.parse(row.node).category, OTHERS)].append(row)
    tables: list[Asset] = []
    for group, rows in by_group.items():
        if rows:
            tables.append(_grid(material, f"radar/{group.replace(' ', '-')}", f"Radar: {group}", rows))
    return tables


def categories(material: DiagnosisMaterial) -> Asset:
    """Return the table of categories: a row per category of the tree, a column per model."""
    names = {CapabilityPath.parse(leaf).category for leaf in leaves_in_order(material)}
    nodes = [
        node
        for node in in_order(material.tree)
        if attributes_of(material.tree, node).layer == 1 and name_of(node) in names
    ]
    extent = "1 category" if len(nodes) == 1 else f"{len(nodes)} categories"
    return _grid(material, "categories", "Categories by model", _grid_rows(material, nodes), extent)


def heatmap(material: DiagnosisMaterial) -> Asset:
    """Return the table of the heat map: a row per leaf, a column per model, each cell a mean with its interval."""
    rows = _grid_rows(material, leaves_in_order(material))
    return _grid(material, "heatmap", f"Heat map: {material.leaf} by model", rows)


def _grid_rows(material: DiagnosisMaterial, nodes: Sequence[str]) -> list[AssetRow]:
    members = members_below(material.tree)
    rows: list[AssetRow] = []
    for node in nodes:
        counts = [_counts(material, model, members[node]) for model in material.models]
        rows.append(
            AssetRow(
                key=node,
                cells=cells_of(
                    name_of(node), *(points_of(material, model, members[node]) for model in material.models)
                ),
                n=sum(n_scored for n_scored, _ in counts),
                held=sum(total for _, total in counts),
                node=node,
            )
        )
    return rows


def _grid(material: DiagnosisMaterial, id: str, title: str, rows: Sequence[AssetRow], extent: str = "") -> Asset:
    return Asset(
        id=id,
        title=title,
        sentence=(
            f"Mean scores of {several(len(material.models), 'model')} at {extent or material.counted(len(rows))}"
            f"{OWN_INTERVAL}; not corrected for multiple comparisons. The last column "
            "counts the criteria of all models together."
        ),
        columns=(
            name_column("category" if id == "categories" else material.leaf),
            *(score_column(model, POINTS) for model in material.models),
        ),
        rows=tuple(rows),
    )


def contrasts(material: DiagnosisMaterial) -> Asset:
    """Return each model's difference from the mean of the other models at each leaf, over the same criteria."""
    models = material.models
    partial_rows: list[PartialRow] = []
    members = members_below(material.tree)
    scores = {model: material.scores(model) for model in models}
    judged_criteria = set[str]().union(*scores.values(), *map(material.failures, models))
    leaf_order = leaves_in_order(material)
    draws = draws_for(len(leaf_order) * len(models))
    for leaf in leaf_order:
        shared = [criterion for criterion in members[leaf] if all(criterion in scores[model] for model in models)]
        criteria_count = sum(criterion in judged_criteria for criterion in members[leaf])
        heads = [
            AssetRow(
                key=f"{model} {leaf}",
                cells=cells_of(model, name_of(leaf)),
                n=len(shared),
                held=criteria_count,
                model=model,
                node=leaf,
            )
            for model in models
        ]
        if len(shared) < MIN_SUPPORT:
            partial_rows += [PartialRow(head, NOTHING, None) for head in heads]
            continue
        clusters = material.clusters_of(shared)
        values = np.array([[scores[model][criterion] for model in models] for criterion in shared], dtype=np.float64)
        gaps = gaps_to_others(values)
        p_values = exchange_p_values(gaps, clusters, seed=material.seed, draws=draws)
        for position, head in enumerate(heads):
            own_gaps = gaps[:, position].tolist()
            gap = mean_of(own_gaps, clusters, bounds=(WORST - BEST, BEST - WORST), seed=material.seed)
            partial_rows.append(PartialRow(head, gap, p_values[position]))
    rows = marked_rows(partial_rows)
    better, worse = (sum(row.mark == mark for row in rows) for mark in ("better", "worse"))
    summary = f"No model was found significantly better or worse than the mean of the others at any {material.leaf}"
    if better or worse:
        summary = (
            f"{better} times a model is better and {worse} times worse than the mean of the other models at a "
            f"{material.leaf}"
        )
    return Asset(
        id="contrasts",
        title=f"Each model against the others, {material.leaf} by {material.leaf}",
        sentence=(
            f"{summary}, on criteria that all have a score for; exchange of models within images, at most "
            f"{percentage(LIMIT)} of the "
            "marks expected to be false; p-values are adjusted over all rows of this table (Benjamini and Hochberg). "
            "A mark also needs an interval on one side of 0."
        ),
        columns=(MODEL, name_column(material.leaf), *difference_columns("against the others")),
        rows=tuple(rows),
    )


def leaves_in_order(material: DiagnosisMaterial) -> list[str]:
    """Return the leaves or categories that have a criterion, in the tree's order."""
    leaves_with_criteria = set(mapping_of(material.tree).values())
    if material.grouping == "tree":
        leaves_with_criteria &= set(leaves(material.tree))
    return [node for node in in_order(material.tree) if node in leaves_with_criteria]


def name_of(node: str) -> str:
    """Return a node's name without its path."""
    if node == ROOT:
        return "all"
    return CapabilityPath.parse(node).name


def change_tables(
    first: DiagnosisMaterial, second: DiagnosisMaterial, shared: SharedSamples, *, names: tuple[str, str]
) -> list[Asset]:
    """Return, for each model of both runs, a table of every leaf before and after, with tests of the changes.

    A sample's score at a leaf is the mean over its criteria at the leaf in each run; p-values come from sign flips of
    clusters of samples and are adjusted over all leaves of all models.

    Args:
        first: data of the first run, whose tree defines the leaves.
        second: data of the second run, under the same tree.
        shared: the samples of both runs.
        names: displayed names of the runs.
    """
    models = [model for model in first.models if model in second.models]
    rows = marked_rows(partial for model in models for partial in _change_rows(first, second, shared, model))
    tables: list[Asset] = []
    for model, slug in slugs_of(models).items():
        model_rows = [row for row in rows if row.model == model]
        better, worse = (sum(row.mark == mark for row in model_rows) for mark in ("better", "worse"))
        tables.append(
            Asset(
                id=f"changes/{slug}",
                title=f"{model}: {names[1]} against {names[0]}",
                sentence=(
                    f"{model} is better at {better} and worse at {worse} of {first.counted(len(model_rows))} than in run "
                    f"{names[0]}, "
                    f"on {len(shared)} shared samples; sign flips of whole images, at most {percentage(LIMIT)} of the "
                    "marks expected "
                    "to be false; p-values are adjusted over all models and rows of these changes (Benjamini and Hochberg)."
                ),
                columns=(
                    name_column(first.leaf),
                    score_column("before", POINTS),
                    score_column("after", POINTS),
                    *difference_columns("change"),
                ),
                rows=tuple(model_rows),
                model=model,
                counts="samples",
                direction=DIRECTION,
            )
        )
    return tables


def _change_rows(
    first: DiagnosisMaterial, second: DiagnosisMaterial, shared: SharedSamples, model: str
) -> Iterator[PartialRow]:
    before, after = _leaf_means(first, model), _leaf_means(second, model)
    for leaf in dict.fromkeys((*leaves_in_order(first), *leaves_in_order(second))):
        samples_before = 0
        clusters: list[str] = []
        old_scores: list[float] = []
        new_scores: list[float] = []
        for old_sample, new_sample in shared:
            if (old_sample.sample_id, leaf) not in before:
                continue
            samples_before += 1
            old = before[old_sample.sample_id, leaf]
            new = after.get((new_sample.sample_id, leaf))
            if old is not None and new is not None:
                clusters.append(old_sample.cluster)
                old_scores.append(old)
                new_scores.append(new)
        gaps = [new - old for old, new in zip(old_scores, new_scores, strict=True)]
        row = AssetRow(
            key=leaf,
            cells=cells_of(
                name_of(leaf),
                mean_of(old_scores, clusters, bounds=(WORST, BEST), seed=first.seed),
                mean_of(new_scores, clusters, bounds=(WORST, BEST), seed=first.seed),
            ),
            n=len(gaps),
            held=samples_before,
            model=model,
            node=leaf,
        )
        gap = mean_of(gaps, clusters, bounds=(WORST - BEST, BEST - WORST), seed=first.seed)
        p_value = None
        if len(gaps) >= FEWEST_SAMPLES:
            p_value = sign_flip_test(gaps, clusters=clusters, seed=first.seed).p_value
        yield PartialRow(row, gap, p_value)


def _leaf_means(material: DiagnosisMaterial, model: str) -> LeafMeans:
    """Return a model's mean score by sample and leaf."""
    scores, failures = material.scores(model), material.failures(model)
    by_place: dict[tuple[str, str], list[float]] = {}
    for criterion, leaf in mapping_of(material.tree).items():
        sample = material.measured.sample_of.get(criterion)
        if sample is None or (criterion not in scores and criterion not in failures):
            continue
        values = by_place.setdefault((sample, leaf), [])
        if criterion in scores:
            values.append(scores[criterion])
    return {place: unrounded_mean(values) for place, values in by_place.items()}
