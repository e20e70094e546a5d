"""What the models can and cannot do: weak and strong capabilities, the tree with every model's scores, and its picture."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.methods.tree.blocks.chart import coloured_by, tree_chart
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Fold, Paragraph, Section, Span, Table
from dokimasia.report.data import ReportData

MOST_OPEN = 90
"""A tree of more nodes is folded away, and its parents alone stand open."""

SPACE, MARK = "\u2003", "\u203a"
"""Stands between the names of a path, and before a name once for each layer above it."""


def section(data: ReportData) -> Section | None:
    """Return the capability tree of the run; None where its criteria are mapped to none."""
    tree = data.addition("tree")
    if tree is None or not tree["nodes"]:
        return None
    models = [name for name in data.ranked() if name in tree["models"]]
    blocks: list[Block] = [Paragraph(_lead(tree), "lead"), *_unplaced(tree), *_findings(tree, models)]
    nodes: Sequence[Mapping[str, Any]] = [node for node in tree["nodes"] if node["below"]]
    upper = [node for node in nodes if node["layer"] < 3]
    if len(nodes) <= MOST_OPEN:
        blocks.append(_table(nodes, models, "The capability tree with every model's scores"))
    else:
        blocks.append(_table(upper, models, "Categories and parents of the capability tree with every model's scores"))
        blocks.append(Fold(f"All {len(nodes)} nodes", (_table(nodes, models, "The whole capability tree"),)))
    blocks.append(
        Paragraph(
            "Mean score of the criteria at and below each node, 0 to 100, with its 95 % bootstrap interval clustered by "
            "samples. Every criterion is held by exactly one leaf. Many nodes stand here, and some differ by chance "
            "alone; the table of weak and strong nodes is corrected for that, this one is not.",
            "note",
        )
    )
    if models:
        blocks.append(
            Chart(
                tree_chart(tree["nodes"], tree["examples"]),
                "The capability tree: areas are numbers of criteria; colours the chosen model's score, from 0 (orange) "
                "over 50 (grey) to 100 (blue). A click on a node enters it, the bar above leads back.",
                picks="Model",
                variants={name: coloured_by(tree["nodes"], name) for name in models},
            )
        )
    return Section("capabilities", "Capabilities", blocks)


def _lead(tree: Mapping[str, Any]) -> str:
    counts = tree["counts"]
    several, capabilities = figures.several, counts["capabilities"]
    leaves = f"{several(capabilities, 'capability', 'capabilities')} under " if capabilities else ""
    return (
        f"{several(counts['criteria'], 'criterion', 'criteria')} on {leaves}{several(counts['parents'], 'parent')} in "
        f"{several(counts['categories'], 'category', 'categories')} (tree {tree['tree']}, version {tree['version']})."
    )


def _unplaced(tree: Mapping[str, Any]) -> list[Block]:
    if not tree["unplaced"]:
        return []
    kinds = ", ".join(f"{count} {kind}" for kind, count in tree["unplaced"].items())
    total = sum(tree["unplaced"].values())
    return [Paragraph(f"{total} criteria have no place in the tree and count nowhere below: {kinds}.", "warning")]


def _findings(tree: Mapping[str, Any], models: Sequence[str]) -> list[Block]:
    """Return the weak and strong nodes of all models in one table."""
    rows: list[list[Cell]] = []
    quiet: list[str] = []
    untested: dict[str, list[str]] = {}
    looked = 0
    for name in models:
        found = tree["findings"].get(name)
        if found is None:
            continue
        looked = max(looked, found["looked_at"])
        rows += [_finding(name, kind, one) for kind in ("weak", "strong") for one in found[kind]]
        if found["reason"]:
            untested[found["reason"]] = [*untested.get(found["reason"], ()), name]
        elif not found["weak"] and not found["strong"]:
            quiet.append(name)
    blocks: list[Block] = []
    if rows:
        columns = (
            Column("model", numeric=False),
            Column("", numeric=False),
            Column("node", numeric=False),
            Column("score", meaning="mean over scored criteria, 0 to 100"),
            Column("95 % interval", meaning="bootstrap, clustered by images"),
            Column("against the rest", meaning="mean here minus mean of all other criteria"),
            Column("criteria", meaning="scored, of those that were asked"),
            Column(
                "adjusted p", meaning="exchange of whole images' leaves; Benjamini and Hochberg over a model's nodes"
            ),
        )
        blocks.append(Table(columns, rows, "Weak and strong nodes of each model"))
    if quiet:
        blocks.append(
            Paragraph(
                f"No node is significantly weaker or stronger than the rest for {', '.join(quiet)}: "
                f"up to {looked} nodes were looked at.",
                "note",
            )
        )
    blocks += [
        Paragraph(f"No node of {', '.join(names)} was tested: {reason}.", "note") for reason, names in untested.items()
    ]
    return blocks


def _finding(model: str, kind: str, one: Mapping[str, Any]) -> list[Cell]:
    return [
        Span(model, "strong"),
        Span(kind, "bad" if kind == "weak" else "good"),
        _path(one),
        _score(one["mean"]),
        figures.interval(one, digits=1),
        figures.signed_text(one["difference"], 1),
        (figures.count(one["n"]), "/", figures.count(one["held"])),
        figures.p_value(one["q_value"]),
    ]


def _path(one: Mapping[str, Any]) -> Cell:
    """Return a node by its name, with the names above it set back."""
    *above, name = one["node"].strip("<>").split("><")
    return (Span(name, "strong"), Span(f" ({f' {MARK} '.join(above)})", "muted")) if above else Span(name, "strong")


def _table(nodes: Sequence[Mapping[str, Any]], models: Sequence[str], about: str) -> Table:
    columns = [
        Column("capability", numeric=False),
        Column("criteria", meaning="held at and below the node"),
        *(Column(name) for name in models),
    ]
    rows = [
        [_named(node), figures.count(node["below"]), *(_cell(node["scores"].get(name)) for name in models)]
        for node in nodes
    ]
    return Table(columns, rows, about)


def _named(node: Mapping[str, Any]) -> Cell:
    if node["layer"] == 0:
        return Span("all", "strong")
    indent = [Span(f"{SPACE}{MARK} " * (node["layer"] - 1), "muted")] if node["layer"] > 1 else []
    return (*indent, Span(node["name"], "strong" if node["layer"] == 1 else ""))


def _cell(score: Mapping[str, Any] | None) -> Cell:
    if score is None or score["mean"] is None:
        return figures.NOTHING
    held = [Span(f" ({score['n']}/{score['held']})", "bad")] if score["n"] < score["held"] else []
    return (
        _score(score["mean"], tinted=True),
        Span(f"  {figures.limits_text(score, '{:.0f}'.format)}", "muted"),
        *held,
    )


def _score(value: float, *, tinted: bool = False) -> Span:
    return Span(f"{value:.1f}", "strong", "", value, value / 100 if tinted else None)
