"""What a growth of a capability tree came to: its phases, the leaves with their support, what moved and what was refused."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Column, Only, Paragraph, Section, Span, Table
from dokimasia.report.data import ReportData

MOST_PRINTED, MOST_MOVES, MOST_REFUSED = 60, 20, 5
PHASE = ("round", "calls", "added", "merged", "renamed", "pruned", "placed")


def section(data: ReportData) -> Section:
    """Return the phases of a growth and the tree that it came to."""
    summary = data.summary
    columns = (Column("phase", numeric=False), *map(Column, (*PHASE, "without place", "rejected")))
    rows = [_phase(one, f"/phases/{number}") for number, one in enumerate(summary["phases"])]
    blocks: list[Block] = [*(Paragraph(note, "warning") for note in summary["notes"])]
    blocks.append(Table(columns, rows, "The phases of the growth"))
    if summary["version"] is None or summary["coverage"] is None:
        blocks.append(Paragraph("No criterion is mapped yet.", "warning"))
        return Section("growth", "Growth", blocks)
    unplaced = figures.counts(summary["unplaced"]) if summary["unplaced"] else "none without a place"
    parents = figures.several(summary["parents"], "parent")
    which = "is the tree's only leaf" if summary["parents"] == 1 else "are the tree's leaves"
    leaves = f"{parents}, which {which}"
    if summary["level"] == "capability":
        leaves = f"{figures.several(len(summary['leaves']), 'capability', 'capabilities')} below {parents}"
    mapped: Cell = (
        figures.count(summary["mapped"], "/mapped", tone="strong"),
        " of ",
        figures.count(summary["n"], "/n"),
        " criteria (",
        figures.share(summary["coverage"], "/coverage"),
        f") are mapped to {leaves}; {unplaced}.",
    )
    blocks += [Paragraph(mapped, "lead"), *_leaves(summary), *_moved(summary), *_refused(summary)]
    note = (
        f"Version {summary['version'][:12]}, {summary['calls']:,} calls of the judge, {summary['calls_per_criterion']:.2f} "
        "a criterion. See it: "
    )
    show = Span(f"dokimasia tree show {summary['tree']}", "code")
    return Section("growth", "Growth", (*blocks, Paragraph((note, show), "note")))


def _phase(one: Mapping[str, Any], place: str) -> list[Cell]:
    values = {name: one.get(name, 0) for name in PHASE} | {
        "unplaced": sum(one["unplaced"].values()),
        "rejected": one["rejected"],
    }
    cells: list[Cell] = [
        figures.count(value, "" if name == "unplaced" else f"{place}/{name}") if value else figures.NOTHING
        for name, value in values.items()
    ]
    return [Span(one["phase"], "strong"), *cells]


def _leaves(summary: Mapping[str, Any]) -> Iterator[Block]:
    leaves = sorted(summary["leaves"], key=lambda leaf: (-leaf["support"], leaf["leaf"]))
    rows = [[_named(one["leaf"]), figures.count(one["support"])] for one in leaves]
    columns, about = (Column("leaf", numeric=False), Column("criteria")), "Leaves by their criteria"
    yield Only("page", (Table(columns, rows, about, sortable=True),))
    yield Only("terminal", (Table(columns, rows[:MOST_PRINTED], about),))
    if len(rows) > MOST_PRINTED:
        yield Only("terminal", (Paragraph(f"and {len(rows) - MOST_PRINTED:,} more", "note"),))


def _moved(summary: Mapping[str, Any]) -> Iterator[Block]:
    if "moved" not in summary:
        return
    yield Paragraph(
        f"{summary['new_criteria']:,} criteria are new, {len(summary['new_leaves']):,} capabilities; "
        f"{summary['moved_count']:,} criteria that the tree had are elsewhere now."
    )
    moves = [f"{one['text']}: {one['from'] or 'nowhere'} → {one['to'] or 'nowhere'}" for one in summary["moved"]]
    if moves:
        yield Bullets(moves[:MOST_MOVES])


def _refused(summary: Mapping[str, Any]) -> Iterator[Block]:
    if summary["rejected"]:
        yield Paragraph(f"{summary['rejected']:,} proposals or lines of the judge were refused, such as:", "warning")
        refused = summary["rejections"][:MOST_REFUSED]
        yield Bullets([(one["what"][:80], Span(f": {one['reason'][:160]}", "muted")) for one in refused])


def _named(leaf: str) -> Cell:
    """Return a leaf by its name, with the names above it set back."""
    *above, name = leaf.strip("<>").split("><")
    return (Span(name, "strong"), Span(f"  {' > '.join(above)}", "muted")) if above else Span(name, "strong")
