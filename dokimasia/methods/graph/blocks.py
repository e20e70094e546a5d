"""What a graph of somebody else's came to: counts by model, and the items with the values that they made."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Fold, Only, Paragraph, Section, Span, Table, Texts
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.sections import provenance, skipped

MOST_PRINTED, PREVIEW = 20, 160


def section(data: ReportData) -> Section:
    """Return how the items ended, by model; what a score means is the graph's affair."""
    summary = data.summary
    rows: list[list[Cell]] = []
    for name, one in summary["models"].items():
        place = figures.pointer("models", name)
        counted = (figures.count(one[key], f"{place}/{key}") for key in ("n", "made", "scored"))
        rows.append([Span(name or "–", "strong"), *counted, figures.failures(one["failures"], f"{place}/failures")])
    columns = (
        Column("model", numeric=False),
        *(Column(title) for title in ("items", "made", "scored")),
        Column("failed", numeric=False),
    )
    note = f"Graph {summary['graph']}, version {summary['version']}: {summary['samples']:,} samples, {figures.used(summary)}."
    return Section("graph", "Items", (Table(columns, rows, "How the items ended"), Paragraph(note, "note")))


def items(data: ReportData) -> Section | None:
    """Return the items that are shown with what they made; None where none is shown."""
    if not data.samples:
        return None
    note = Paragraph(data.selection.text, "note")
    folds = [Fold(_title(item), tuple(sample(item))) for item in data.samples]
    printed = [block for item in data.samples[:MOST_PRINTED] for block in _preview(item)]
    left = len(folds) - MOST_PRINTED
    whole = "one whole: `dokimasia show RUN --sample ID`"
    printed.append(Paragraph(f"and {left:,} more; {whole}" if left > 0 else whole, "note"))
    return Section("items", "What was made", (Only("page", (note, *folds)), Only("terminal", printed)))


def sample(*items: Mapping[str, Any]) -> Iterator[Block]:
    """Yield items whole, each with the values that it made."""
    for item in items:
        yield Paragraph(Span(_title(item), "bad" if item["failure"] else "strong"))
        for value in item["values"]:
            text = json.dumps(value["value"], indent=2, ensure_ascii=False)
            yield Texts([(Span(value["type"], "strong"), text)])


def _title(item: Mapping[str, Any]) -> str:
    who = f"{item['sample']} · {item['model']}" if item["model"] else item["sample"]
    end = item["outcome"] if item["score"] is None else f"{item['score']:g}"
    return f"{who} · {item['failure']}: {item['reason']}" if item["failure"] else f"{who} · {end}"


def _preview(item: Mapping[str, Any]) -> Iterator[Block]:
    yield Paragraph(Span(_title(item), "bad" if item["failure"] else "strong"))
    for value in item["values"]:
        text = " ".join(str(value["value"].get("text") or json.dumps(value["value"], ensure_ascii=False)).split())
        shown = text if len(text) <= PREVIEW else f"{text[: PREVIEW - 1]}…"
        yield Paragraph(f"  {value['type']}: {shown}", "note")


DRAWING = Drawing(
    "graph",
    (section, items, skipped.section, provenance.section),
    sample=lambda views, cut: sample(*views),
)
