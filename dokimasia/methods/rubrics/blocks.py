"""What came of the making of rubrics: how many, what was dropped and why, and each image's set."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Column, Fold, Only, Paragraph, Section, Span, Table, Texts
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.sections import provenance, skipped

MOST_PRINTED = 5
STREAMS = (("must_right", "must-right"), ("easy_wrong", "easy-wrong"), ("rubrics", "together"))


def section(data: ReportData) -> Section:
    """Return how many rubrics there are, an image and together, and what was dropped on the way."""
    summary = data.summary
    rows: list[list[Cell]] = []
    for name, title in STREAMS:
        mean = summary["per_image"][name]
        each = figures.NOTHING if mean is None else Span(f"{mean:.2f}", "", f"/per_image/{name}", mean)
        rows.append([Span(title, "strong"), figures.count(summary[name], f"/{name}"), each])
    columns = (Column("stream", numeric=False), Column("rubrics"), Column("per image"))
    dropped: Mapping[str, int] = summary["dropped"]
    panel = ", ".join(summary["panel"]) or "none: nobody cross-checked"
    lines: list[Cell] = [
        f"{summary['sets']:,} images of {summary['samples']:,}, {summary['verified']:,} captions verified, "
        f"{summary['checked']:,} sets checked by a person",
        f"pool {', '.join(summary['pool'])}; panel {panel}",
        f"dropped: {dropped['rules']:,} by the rules, {dropped['panel']:,} by the panel; mended: {summary['repaired']:,}; "
        f"forbidding: {summary['negative']:,}",
    ]
    if summary["kinds"]:
        lines.append("kinds of error: " + figures.counts(summary["kinds"]))
    if summary["failures"]:
        lines.append(Span(f"failed: {figures.counts(summary['failures'])}", "bad"))
    blocks = (
        Table(columns, rows, "Rubrics, together and an image"),
        Bullets(lines),
        Paragraph(f"{figures.used(summary)[0].upper()}{figures.used(summary)[1:]}", "note"),
    )
    return Section("rubrics", "Rubrics", blocks)


def sets(data: ReportData) -> Section | None:
    """Return the sets of the images that are shown; None where none is."""
    if not data.samples:
        return None
    folds = [Fold(_title(item), tuple(sample(item))) for item in data.samples]
    printed: list[Block] = []
    for item in data.samples[:MOST_PRINTED]:
        printed += [Paragraph(Span(_title(item), "strong" if item["set"] else "bad")), *_rubrics(item)]
    printed.append(Paragraph("One whole, with what was dropped: `dokimasia show RUN --sample ID`.", "note"))
    note = Paragraph(data.selection.text, "note")
    return Section("sets", "Rubrics by image", (Only("page", (note, *folds)), Only("terminal", printed)))


def sample(item: Mapping[str, Any]) -> Iterator[Block]:
    """Yield one set whole: the caption, its rubrics with their evidence, and what was dropped and why."""
    made = item["set"]
    if made is None:
        yield Paragraph(f"{item['failure']}: {item['reason'] or ''}", "warning")
        return
    yield Texts([(Span("caption", "strong"), made["caption"])])
    yield from _rubrics(item, evidence=True)
    if made["dropped"]:
        gone = [f"by the {one['by']}: {one['rubric']['statement']} ({one['reason']})" for one in made["dropped"]]
        yield Paragraph(Span("dropped", "strong"))
        yield Bullets(gone)


def _title(item: Mapping[str, Any]) -> str:
    if item["set"]:
        return f"{item['sample']} ({item['set']['domain']})"
    return f"{item['sample']}: {item['failure']}: {item['reason'] or ''}"


def _rubrics(item: Mapping[str, Any], *, evidence: bool = False) -> Iterator[Block]:
    lines: list[Cell] = []
    for rubric in item["set"]["rubrics"] if item["set"] else ():
        mark = "gate" if rubric["stream"] == "must_right" else "fine"
        support = f" ← {', '.join(rubric['support'])}" if rubric["support"] else ""
        quoted = f'  "{rubric["evidence"]}"' if evidence and rubric["evidence"] else ""
        lines.append((Span(f"{mark}  ", "cited"), rubric["statement"], Span(f"{support}{quoted}", "muted")))
    if lines:
        yield Bullets(lines)


DRAWING = Drawing(
    "rubrics",
    (section, sets, skipped.section, provenance.section),
    sample=lambda views, cut: sample(views[0]),
)
