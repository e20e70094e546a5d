"""What came of the making of rubrics: how many, what was dropped and why, and each sample's set."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.domain.rubric import WEAK_POOL
from dokimasia.methods.rubrics import distributions
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Column, Fold, Only, Paragraph, Section, Span, Table, Texts
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.sections import provenance, skipped

MOST_PRINTED = 5
STREAMS = (("must_right", "must-right"), ("easy_wrong", "easy-wrong"), ("rubrics", "together"))


def section(data: ReportData) -> Section:
    """Return how many rubrics there are, a sample and together, and what was dropped on the way."""
    summary = data.summary
    rows: list[list[Cell]] = []
    for name, title in STREAMS:
        mean = summary["per_sample"][name]
        each = figures.NOTHING if mean is None else Span(f"{mean:.2f}", "", f"/per_sample/{name}", mean)
        rows.append([Span(title, "strong"), figures.count(summary[name], f"/{name}"), each])
    columns = (Column("stream", numeric=False), Column("rubrics"), Column("per sample"))
    dropped: Mapping[str, int] = summary["dropped"]
    panel = ", ".join(summary["panel"]) or "none: nobody cross-checked"
    lines: list[Cell] = [
        f"sets for {summary['sets']:,} of {figures.several(summary['samples'], 'sample')} "
        f"({figures.several(summary['images'], 'image')}), {summary['verified']:,} captions verified, "
        f"{summary['checked']:,} sets checked by a person",
        f"pool {', '.join(summary['pool'])}; panel {panel}",
        f"dropped: {dropped['rules']:,} by the rules, {dropped['trial']:,} by the trial, {dropped['panel']:,} by the panel; "
        f"mended: {summary['repaired']:,}; replaced: {summary['replaced']:,}; forbidding: {summary['negative']:,}",
    ]
    if summary["kinds"]:
        lines.append("kinds of error: " + figures.counts(summary["kinds"]))
    if summary["failures"]:
        lines.append(Span(f"failed: {figures.counts(summary['failures'])}", "bad"))
    blocks = (
        *_warnings(summary),
        Table(columns, rows, "Rubrics, together and a sample"),
        Bullets(lines),
        Paragraph(f"{figures.used(summary)[0].upper()}{figures.used(summary)[1:]}", "note"),
    )
    return Section("rubrics", "Rubrics", blocks)


def _warnings(summary: Mapping[str, Any]) -> Iterator[Block]:
    if summary["weak"]:
        yield Paragraph(
            f"Easy-wrong rubrics of {summary['weak']:,} of {summary['sets']:,} samples are weak: they were mined from fewer than "
            f"{WEAK_POOL} responses, and what one or two models got wrong is no habit of models. Name more with --pool.",
            "warning",
        )
    if summary["protocol"] == "published":
        yield Paragraph("Protocol published: rubrics were not tried before they were accepted.", "note")


def power(data: ReportData) -> Section | None:
    """Return what the sets catch; None where nothing was measured."""
    found: Mapping[str, Any] = data.summary["power"]
    if not found["caught"]["n"] and not found["must_right"]["n"]:
        return None
    rows = [
        [title, figures.share_of(found[name], f"/power/{name}")]
        for name, title in (
            ("caught", "planted errors that the set catches"),
            ("caught_by_gate", "planted errors that the gate catches"),
            ("must_right", "must-right rubrics that some text fails"),
            ("easy_wrong", "easy-wrong rubrics that some planted error fails"),
            ("golden", "rubrics that the golden caption passes"),
        )
    ]
    by_dimension = [
        [name, figures.share_of(one, f"/power{figures.pointer('dimensions', name)}")]
        for name, one in found["dimensions"].items()
    ]
    blocks: list[Block] = [
        Table((Column("what", numeric=False), Column("share")), rows, "Power of the sets"),
        Table(
            (Column("dimension", numeric=False), Column("caught")), by_dimension, "Planted errors caught, by dimension"
        ),
        Paragraph(
            f"Measured on golden captions with one planted error each and on {found['responses']:,} responses, none of which "
            "had a part in choosing the rubrics that it measures: easy-wrong rubrics are mined from all responses, and so "
            "are measured on planted errors alone. 95 % intervals, clustered by image.",
            "note",
        ),
    ]
    if found["failures"]:
        blocks.append(Paragraph(Span(f"not measured: {figures.counts(found['failures'])}", "bad")))
    return Section("power", "What the rubrics catch", blocks, menu="Power")


def sets(data: ReportData) -> Section | None:
    """Return the sets of the samples that are shown; None where none is."""
    if not data.samples:
        return None
    folds = [Fold(_title(item), tuple(sample(item))) for item in data.samples]
    printed: list[Block] = []
    for item in data.samples[:MOST_PRINTED]:
        printed += [Paragraph(Span(_title(item), "strong" if item["set"] else "bad")), *_rubrics(item)]
    printed.append(Paragraph("One whole, with what was dropped: `dokimasia show RUN --sample ID`.", "note"))
    note = Paragraph(data.selection.text, "note")
    return Section("sets", "Rubrics by sample", (Only("page", (note, *folds)), Only("terminal", printed)))


def sample(item: Mapping[str, Any]) -> Iterator[Block]:
    """Yield one set whole: the caption, its rubrics with their evidence, and what was dropped and why."""
    made = item["set"]
    if made is None:
        yield Paragraph(f"{item['failure']}: {item['reason'] or ''}", "warning")
        return
    yield Texts([(Span("caption", "strong"), made["caption"])])
    yield from _rubrics(item, evidence=True)
    yield from _tried(item)
    if made["dropped"]:
        gone = [f"by the {one['by']}: {one['rubric']['statement']} ({one['reason']})" for one in made["dropped"]]
        yield Paragraph(Span("dropped", "strong"))
        yield Bullets(gone)


def _tried(item: Mapping[str, Any]) -> Iterator[Block]:
    """Yield what the set was measured by, where it was."""
    tried: Sequence[Mapping[str, Any]] = item["set"].get("tried", ())
    if not tried:
        return
    power = item["power"]
    yield Paragraph((Span("tried", "strong"), " on what had no part in choosing its rubrics"))
    lines: list[Cell] = [
        ("planted errors caught: ", *_pieces(figures.share_of(power["caught"]))),
        ("rubrics failed by some text: ", *_pieces(figures.share_of(power["rubrics"]))),
    ]
    for one in tried:
        changes = ", ".join(f'"{change["new"]}" for "{change["original"]}"' for change in one["changes"])
        name = f"{one['what']} {one['name']}".strip() + (f": {changes}" if changes else "")
        failed = [str(number) for number, passed in enumerate(one["passes"], start=1) if passed is False]
        fails = one["failure"] or (f"fails {', '.join(failed)}" if failed else "passes all")
        lines.append((f"{name} ", Span(fails, "bad" if one["failure"] else "muted")))
    yield Bullets(lines)


def _pieces(cell: Cell) -> tuple[str | Span, ...]:
    return cell if isinstance(cell, tuple) else (cell,)


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
    (section, distributions.section, power, sets, skipped.section, provenance.section),
    sample=lambda views, cut: sample(views[0]),
)
