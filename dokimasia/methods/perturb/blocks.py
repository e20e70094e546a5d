"""A perturbing as it is drawn: what came of each dimension and group, and items with their differences marked."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.methods.checks import label_blocks
from dokimasia.methods.perturb.accepting import NO_NEUTRAL, OWN_WORK
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Facts, Fold, Image, Paragraph, Section, Span, Table, Texts
from dokimasia.report.data import Cut, Drawing, ReportData, Views
from dokimasia.report.differences import difference
from dokimasia.report.sections import provenance, skipped

HEAD = (
    Column("dimension", numeric=False),
    Column("asked", meaning="samples that the perturber was asked about"),
    Column("made", meaning="items that were made"),
    Column("does not apply", meaning="as the perturber says; no failure"),
    Column("too short", meaning="not asked about: the gold answer has too few words"),
    Column("failed", meaning="in brackets: also the second reply changed nothing, or nearly everything"),
    Column("applies", meaning="made, of made and not applicable, with the 95 % interval of the share in percent"),
    Column("agreed", meaning="of the checked: those that the checker has nothing against, in percent"),
    Column(
        "doubted", meaning="taken for another kind / worse beside / not worse where it should be, or worse where not"
    ),
)
SIGNS = " Words that were taken out stand in [-…-], words that were put in in {+…+}."


def section(data: ReportData) -> Section:
    """Return what came of each dimension, group by group, and of all."""
    summary = data.summary
    rows: list[list[Cell]] = []
    for group, one in summary["groups"].items():
        within = [name for name, each in summary["dimensions"].items() if (each["group"] or "score_neutral") == group]
        if len(within) > 1:
            rows.append(_row(Span(f"{group} {one['title']}", "strong"), one, figures.pointer("groups", group)))
        for name in within:
            rows.append(_row(name, summary["dimensions"][name], figures.pointer("dimensions", name)))
    rows.append(_row(Span("all", "strong"), summary, ""))
    blocks: list[Block] = []
    if summary["own_work"]:
        blocks.append(Paragraph(f"{OWN_WORK.format(checker=summary['checker'])}.", "warning"))
    blocks.append(Table(HEAD, rows, "Perturbations by dimension"))
    blocks += [Paragraph(one, "note") for one in _notes(summary)]
    return Section("perturbations", "Perturbations", tuple(blocks))


def labels(data: ReportData) -> Section:
    """Return what people said of the items."""
    blocks = label_blocks(data.summary["labels"], data.summary["run"])
    return Section("labels", "Labels by people", blocks or (Paragraph("Nothing was made to be labelled.", "note"),))


def items(data: ReportData) -> Section | None:
    """Return the items of some samples, each with its difference; None where none is shown."""
    shown = dict.fromkeys(item["sample"] for item in data.samples)
    folds = [
        Fold(id, tuple(sample([one for one in data.samples if one["sample"] == id], _whole, pictures=data.pictures)))
        for id in shown
    ]
    if not folds:
        return None
    lead = Paragraph(f"{data.selection.text}{_signs(data.summary)}", "note")
    return Section("items", "Items", (lead, *folds), only="page")


def sample(views: Views, cut: Cut, *, pictures: Mapping[str, Any] | None = None) -> Iterator[Block]:
    """Yield the items of one sample, each with what was changed; images beside each other where there are any."""
    for item in views:
        if item["dimension"] is None:
            yield from _gold(item, cut)
            continue
        title = Span(f"{item['dimension']} ({item['group']})", "strong")
        if item["failure"]:
            yield Paragraph((title, ": ", Span(f"{item['failure']}: {item['reason']}", "bad")))
        elif item["not_applicable"]:
            yield Paragraph((title, ": ", Span(f"does not apply: {item['not_applicable']}", "muted")))
        else:
            label = f" (labelled {item['label'].replace('_', ' ')})" if item["label"] else ""
            yield Paragraph((title, f": {item['description'] or 'not described'}", Span(label, "muted")))
            yield from _images(item, pictures or {})
            if item["difference"]:
                yield Paragraph(difference(item["difference"], whole=False))
            if item["hint"]:
                yield Paragraph(cut(item["hint"]), "warning")


def _images(item: Mapping[str, Any], pictures: Mapping[str, Any]) -> Iterator[Block]:
    if item["perturbed_image"] is None:
        return
    if item["instruction"]:
        yield Facts([("instruction", item["instruction"])])
    for name, title in (("gold_image", "as it was"), ("perturbed_image", "as it was edited")):
        one = pictures.get(item[name])
        yield Image(one.uri if one else "", f"{title}: image {item[name][:12]}", sha256=item[name])


def _gold(item: Mapping[str, Any], cut: Cut) -> Iterator[Block]:
    if item["failure"]:
        yield Paragraph(("gold answer: ", Span(f"{item['failure']}: {item['reason']}", "bad")))
    elif item["gold"]:
        yield Texts([(Span("gold answer, as it was written", "strong"), cut(item["gold"]))])
        if item["gold_wrong"]:
            yield Paragraph(f"The checker finds it wrong, and nothing is made from it: {item['gold_wrong']}", "warning")


def _whole(text: str) -> str:
    return text


def _row(title: Cell, one: Mapping[str, Any], place: str) -> list[Cell]:
    failed: Cell = figures.count(one["failed"], f"{place}/failed")
    if one["failed"]:
        failed = (failed, Span(f" ({one['changed_nothing']}, {one['changed_all']})", "muted"))  # pyright: ignore[reportAssignmentType]
    doubts = one["doubts"]
    return [
        title,
        *(figures.count(one[name], f"{place}/{name}") for name in ("asked", "made", "not_applicable", "too_short")),
        failed,
        figures.share_of(one["applies"], f"{place}/applies"),
        figures.share_of(one["agreed"], f"{place}/agreed") if one["checked"] else figures.NOTHING,
        f"{doubts['kind']} / {doubts['also']} / {doubts['worse']}" if one["checked"] else figures.NOTHING,
    ]


def _notes(summary: Mapping[str, Any]) -> Iterator[str]:
    golds = summary["golds"]
    if NEUTRAL not in summary["dimensions"]:
        yield f"{NO_NEUTRAL[0].upper()}{NO_NEUTRAL[1:]}."
    if summary["brought"]:
        yield "The images were edited elsewhere and brought in a file; nobody was asked."
    if summary["gold_writer"]:
        yield (
            f"Gold answers: {golds['given']:,} given, {golds['written']:,} written by {summary['gold_writer']} and found "
            f"right by {summary['checker']}, {golds['wrong']:,} found wrong and left out, {golds['failed']:,} failed."
        )
    if summary["checker"]:
        told = "" if summary["editor"] else ", which is not told what a change was meant as"
        yield (
            f"Checked by {summary['checker']}{told}: {summary['checked']:,} of {summary['made']:,}. What it doubts is kept, "
            "and shown to the people who decide."
        )
    yield f"{figures.used(summary)}. 95 % intervals, clustered by image."
    yield f"`dokimasia show {summary['run']} --sample ID` shows what was changed in a sample.{_signs(summary)}"


def _signs(summary: Mapping[str, Any]) -> str:
    return SIGNS if summary["task"] == "image-to-text" else ""


DRAWING = Drawing(
    "perturbations",
    (section, labels, items, skipped.section, provenance.section),
    sample=sample,
)
