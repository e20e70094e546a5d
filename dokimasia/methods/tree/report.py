"""The report of a growth, and the capability tree's section on the page of an evaluation."""

from collections.abc import Iterator, Mapping, Sequence

from dokimasia.methods.tree.figures import PhaseFigures, TreeFigures
from dokimasia.methods.tree.node_scores import ModelFindings, NodeScore, ReportedTree, TreeNode, WeaknessFinding
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Chart, Column, Fold, Only, Paragraph, Section, Span, Table
from dokimasia.report.charts import Figure, mixed
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.fields import rows_of
from dokimasia.report.labels import short_labels
from dokimasia.report.sections import provenance
from dokimasia.report.tables import column, computed_column, table

MOST_PRINTED, MOST_MOVES, MOST_REFUSED = 60, 20, 5
MOST_OPEN = 90
"""Trees with more nodes are folded and show only their parents."""

SPACE, MARK = "\u2003", "\u203a"
"""The indentation per layer before a name, and the separator of names in a path."""

HEIGHT = 620
NOT_SCORED = "#8a8f98"
LOW, MIDDLE, HIGH = (221, 116, 46), (196, 199, 204), (47, 111, 206)
"""Colours of 0, 50 and 100."""

MOST_EXAMPLE, MOST_NAME = 96, 60
"""Maximum numbers of characters of an example and of a node's name in the treemap."""

FINDING_COLUMNS = (
    Column("model", numeric=False),
    Column("", numeric=False),
    Column("node", numeric=False),
    Column("score by criterion", meaning="mean over scored criteria, 0 to 100"),
    Column("95 % interval", meaning="bootstrap, clustered by images"),
    Column("against the rest", meaning="mean here minus mean of all other criteria"),
    Column("criteria", meaning="scored, of those that were asked"),
    Column("adjusted p", meaning="exchange of whole images' leaves; Benjamini and Hochberg over a model's nodes"),
)


def growth_section(data: ReportData) -> Section:
    """Return the section with the phases of a growth and the resulting tree."""
    growth = data.figures_as(TreeFigures)
    blocks: list[Block] = [Paragraph(note, "warning") for note in growth.notes]
    blocks.append(
        table(
            PhaseFigures,
            rows_of({str(number): phase for number, phase in enumerate(growth.phases)}, "phases"),
            [
                column("phase"),
                *map(column, ("round", "calls", "added", "merged", "renamed", "pruned", "placed")),
                computed_column("without place", lambda row: _count(sum(row.figures.unplaced.values()))),
                column("rejected"),
            ],
            "The phases of the growth",
        )
    )
    if growth.version is None or growth.coverage is None:
        blocks.append(Paragraph("No criterion is mapped yet.", "warning"))
        return Section("growth", "Growth", blocks)
    unplaced = figures.counts(growth.unplaced) if growth.unplaced else "none without a place"
    mapped: Cell = (
        figures.count(growth.mapped, "/mapped", tone="strong"),
        " of ",
        figures.count(growth.n, "/n"),
        " criteria (",
        figures.share(growth.coverage, "/coverage"),
        f") are mapped to {_leaf_counts(growth)}; {unplaced}.",
    )
    blocks += [Paragraph(mapped), *_leaves(growth), *_moves(growth), *_rejections(growth)]
    note = (
        f"Version {growth.version[:12]}, {growth.calls:,} calls of the judge, {growth.calls_per_criterion:.2f} "
        "a criterion. See it: "
    )
    command = Span(f"dokimasia tree show {growth.tree}", "code")
    return Section("growth", "Growth", (*blocks, Paragraph((note, command), "note")))


def conclusion(data: ReportData) -> list[Cell]:
    """Return the number of capabilities and of mapped criteria in the tree, and the usage."""
    growth = data.figures_as(TreeFigures)
    if growth.version is None or growth.coverage is None:
        return ["No criterion is mapped yet."]
    coverage = figures.share(growth.coverage, "/coverage")
    return [
        (f"The tree {growth.tree} has {_leaf_counts(growth)}."),
        (f"{growth.mapped:,} of {growth.n:,} criteria are mapped (", coverage, ")."),
        f"{figures.several(growth.calls, 'call')} of the judge, {growth.calls_per_criterion:.2f} a criterion.",
    ]


def _count(value: int) -> Cell:
    if value:
        return figures.count(value)
    return figures.NOTHING


def _leaf_counts(growth: TreeFigures) -> str:
    parents = figures.several(growth.parents, "parent")
    if growth.level == "capability":
        return f"{figures.several(len(growth.leaves), 'capability', 'capabilities')} below {parents}"
    verb = "is the tree's only leaf" if growth.parents == 1 else "are the tree's leaves"
    return f"{parents}, which {verb}"


def _leaves(growth: TreeFigures) -> Iterator[Block]:
    leaves = sorted(growth.leaves, key=lambda leaf: (-leaf.support, leaf.leaf))
    rows = [[_name_and_path(leaf.leaf), figures.count(leaf.support)] for leaf in leaves]
    columns, about = (Column("leaf", numeric=False), Column("criteria")), "Leaves by their criteria"
    yield Only("page", (Table(columns, rows, about, sortable=True),))
    yield Only("terminal", (Table(columns, rows[:MOST_PRINTED], about),))
    if len(rows) > MOST_PRINTED:
        yield Only("terminal", (Paragraph(f"and {len(rows) - MOST_PRINTED:,} more", "note"),))


def _name_and_path(leaf: str) -> Cell:
    """Return a leaf's name, with the names of its ancestors muted."""
    *ancestors, name = leaf.strip("<>").split("><")
    if ancestors:
        return (Span(name, "strong"), Span(f"  {' > '.join(ancestors)}", "muted"))
    return Span(name, "strong")


def _moves(growth: TreeFigures) -> Iterator[Block]:
    if growth.grown_on is None:
        return
    yield Paragraph(
        f"{growth.new_criteria:,} criteria are new, {len(growth.new_leaves):,} capabilities; "
        f"{growth.moved_count:,} criteria that the tree had are elsewhere now."
    )
    moves = [f"{move.text}: {move.before or 'nowhere'} → {move.to or 'nowhere'}" for move in growth.moved[:MOST_MOVES]]
    if moves:
        yield Bullets(moves)


def _rejections(growth: TreeFigures) -> Iterator[Block]:
    if growth.rejected:
        items: list[Cell] = []
        for rejection in growth.rejections[:MOST_REFUSED]:
            items.append((rejection.what[:80], Span(f": {rejection.reason[:160]}", "muted")))
        refused = figures.several(growth.rejected, "proposal or line", "proposals or lines")
        yield Bullets(items, f"Refused: {refused} of the judge, such as:")


def section(data: ReportData) -> Section | None:
    """Return the capability tree's section on the page of an evaluation; None without a mapped tree."""
    addition = data.addition("tree")
    if addition is None:
        return None
    tree = ReportedTree.model_validate(addition)
    if not tree.nodes:
        return None
    models = [name for name in data.ranked() if name in tree.models]
    blocks: list[Block] = [Paragraph(_lead(tree), "lead")]
    if tree.unplaced:
        total = sum(tree.unplaced.values())
        kinds = ", ".join(f"{count} {kind}" for kind, count in tree.unplaced.items())
        reasons = f": {kinds}" if len(tree.unplaced) > 1 else ""
        text = f"{total} criteria could not be assigned to the tree and are left out below{reasons}."
        blocks.append(Paragraph(text, "warning"))
    blocks += _findings({name: tree.findings[name] for name in models if name in tree.findings})
    nodes = [node for node in tree.nodes if node.below]
    if len(nodes) <= MOST_OPEN:
        blocks.append(_node_table(nodes, models, "The capability tree with every model's scores"))
    else:
        upper = [node for node in nodes if node.layer < 3]
        about = "Categories and parents of the capability tree with every model's scores"
        blocks.append(_node_table(upper, models, about))
        blocks.append(Fold(f"All {len(nodes)} nodes", (_node_table(nodes, models, "The whole capability tree"),)))
    blocks.append(
        Paragraph(
            "Mean score of the criteria at and below each node, 0 to 100, with its 95 % bootstrap interval clustered by "
            "samples. Every criterion is held by exactly one leaf. Many nodes stand here, and some differ by chance "
            "alone; the table of weak and strong nodes is corrected for that, this one is not. Weak and strong are tested for "
            "one model at a time, as by `dokimasia tree weaknesses`; a diagnosis looks at all models at once, adjusts over the "
            "nodes of all of them, and so marks fewer. Scores are means over criteria here; the score of a model beside its "
            "name elsewhere is a mean over samples, so the two are not the same figure.",
            "note",
        )
    )
    if models:
        blocks.append(
            Chart(
                tree_chart(tree.nodes, tree.examples),
                "The capability tree: areas are numbers of criteria; colours the chosen model's score, from 0 (orange) "
                "over 50 (grey) to 100 (blue). A click on a node enters it, the bar above leads back.",
                picks="Model",
                variants={name: coloured_by(tree.nodes, name) for name in models},
            )
        )
    return Section("capabilities", "Capabilities", blocks)


def _lead(tree: ReportedTree) -> str:
    counts, count_text = tree.counts, figures.several
    leaves = ""
    if counts.capabilities:
        leaves = f"{count_text(counts.capabilities, 'capability', 'capabilities')} under "
    return (
        f"{count_text(counts.criteria, 'criterion', 'criteria')} on {leaves}{count_text(counts.parents, 'parent')} in "
        f"{count_text(counts.categories, 'category', 'categories')} (tree {tree.tree}, version {tree.version})."
    )


def _findings(by_model: Mapping[str, ModelFindings]) -> Iterator[Block]:
    """Yield a table of all models' weak and strong nodes, then the models without any."""
    rows: list[list[Cell]] = []
    unremarkable: list[str] = []
    untested: dict[str, list[str]] = {}
    for model, findings in by_model.items():
        rows += [_finding_row(model, "weak", finding) for finding in findings.weak]
        rows += [_finding_row(model, "strong", finding) for finding in findings.strong]
        if findings.reason:
            untested.setdefault(findings.reason, []).append(model)
        elif not findings.weak and not findings.strong:
            unremarkable.append(model)
    if rows:
        yield Table(FINDING_COLUMNS, rows, "Weak and strong nodes of each model")
    if unremarkable:
        most = max(findings.looked_at for findings in by_model.values())
        yield Paragraph(
            f"No node is significantly weaker or stronger than the rest for {', '.join(unremarkable)}: "
            f"up to {most} nodes were tested.",
            "note",
        )
    for reason, names in untested.items():
        yield Paragraph(f"No node of {', '.join(names)} was tested: {reason}.", "note")
    sentences: dict[str, list[str]] = {}
    for model, findings in by_model.items():
        sentences.setdefault(findings.kept_leaves, []).append(model)
    for sentence, names in sentences.items():
        if sentence:
            yield Paragraph(f"{', '.join(names)}: {sentence}", "note")


def _finding_row(model: str, kind: str, finding: WeaknessFinding) -> list[Cell]:
    *ancestors, name = finding.node.strip("<>").split("><")
    node: Cell = Span(name, "strong")
    if ancestors:
        node = (node, Span(f" ({f' {MARK} '.join(ancestors)})", "muted"))
    return [
        Span(model, "strong"),
        Span(kind, "bad" if kind == "weak" else "good"),
        node,
        _score(finding.mean or 0.0),
        figures.interval(finding, digits=1),
        figures.signed_text(finding.difference, 1),
        (figures.count(finding.n), "/", figures.count(finding.held)),
        figures.p_value(finding.q_value),
    ]


def _node_table(nodes: Sequence[TreeNode], models: Sequence[str], about: str) -> Table:
    columns = [
        Column("capability", numeric=False),
        Column("criteria", meaning="held at and below the node"),
        *map(Column, models),
    ]
    rows: list[list[Cell]] = []
    for node in nodes:
        scores = [_score_cell(node.scores.get(model)) for model in models]
        rows.append([_indented_name(node), figures.count(node.below), *scores])
    return Table(columns, rows, about)


def _indented_name(node: TreeNode) -> Cell:
    if node.layer == 0:
        return Span("all", "strong")
    if node.layer == 1:
        return (Span(node.name, "strong"),)
    return (Span(f"{SPACE}{MARK} " * (node.layer - 1), "muted"), Span(node.name, ""))


def _score_cell(score: NodeScore | None) -> Cell:
    if score is None or score.mean is None:
        return figures.NOTHING
    cell = [
        _score(score.mean, tinted=True),
        Span(figures.bracketed(score, "{:.0f}".format), "muted"),
    ]
    if score.n < score.held:
        cell.append(Span(f" ({score.n}/{score.held})", "bad"))
    return tuple(cell)


def _score(value: float, *, tinted: bool = False) -> Span:
    return Span(f"{value:.1f}", "strong", "", value, value / 100 if tinted else None)


def tree_chart(nodes: Sequence[TreeNode], examples: Mapping[str, Sequence[str]]) -> Figure:
    """Return the nodes of a tree as a Plotly treemap; its colours come from `coloured_by`.

    Args:
        nodes: the nodes, root first; those without criteria are left out.
        examples: a few criteria of each node.
    """
    nodes = [node for node in nodes if node.below]
    names = short_labels([node.name for node in nodes], MOST_NAME)
    example_lines: list[list[str]] = []
    for node in nodes:
        lines = [f"<br>· {short_labels([text], MOST_EXAMPLE)[0]}" for text in examples.get(node.id, ())]
        example_lines.append(["".join(lines)])
    trace = {
        "type": "treemap",
        "ids": [node.id for node in nodes],
        "labels": ["all" if node.parent is None else name for node, name in zip(nodes, names, strict=True)],
        "parents": [node.parent or "" for node in nodes],
        "values": [node.below for node in nodes],
        "branchvalues": "total",
        "sort": False,
        "customdata": example_lines,
        "texttemplate": "%{label}<br>%{text}",
        "hovertemplate": "<b>%{label}</b><br>%{text}<br>%{value} criteria%{customdata[0]}<extra></extra>",
        "pathbar": {"visible": True, "thickness": 26},
        "tiling": {"pad": 2},
    }
    layout = {
        "height": HEIGHT,
        "margin": {"t": 34, "r": 0, "b": 0, "l": 0},
        "uniformtext": {"minsize": 10, "mode": "hide"},
        "uirevision": "tree",
    }
    return {"data": [trace], "layout": layout}


def coloured_by(nodes: Sequence[TreeNode], model: str) -> dict[str, object]:
    """Return the treemap's trace properties that show a model's scores."""
    texts: list[str] = []
    colours: list[str] = []
    for node in nodes:
        if not node.below:
            continue
        score = node.scores.get(model)
        if score is None or score.mean is None:
            texts.append("not asked" if score is None else "no score")
            colours.append(NOT_SCORED)
        else:
            texts.append(f"{score.mean:.0f}{figures.bracketed(score, '{:.0f}'.format)}")
            colours.append(colour(score.mean))
    return {
        "text": texts,
        "textfont": {"size": 13, "color": [ink(ground) for ground in colours]},
        "marker": {"colors": colours, "pad": {"t": 24, "l": 4, "r": 4, "b": 4}, "line": {"width": 1.5}},
    }


def colour(score: float) -> str:
    """Return the colour of a score from 0 to 100."""
    return mixed(2 * min(1.0, max(0.0, score / 100)), LOW, MIDDLE, HIGH)


def ink(ground: str) -> str:
    """Return black or white, whichever contrasts more."""
    linear: list[float] = []
    for start in (1, 3, 5):
        part = int(ground[start : start + 2], 16) / 255
        linear.append(part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4)
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    if (light + 0.05) / 0.058 >= 1.05 / (light + 0.05):
        return "#14171c"
    return "#ffffff"


DRAWING = Drawing(
    "tree growth",
    (growth_section, provenance.section),
    counts=("criterion", "criteria"),
    figures=TreeFigures,
    conclusion=conclusion,
)
