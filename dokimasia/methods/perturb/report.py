"""The report of a perturbation run: figures by dimension and group, people's labels, and items with their differences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.ports import Spending
from dokimasia.domain.sample import ImageRef
from dokimasia.methods.perturb.figures import (
    PerturbFigures,
    Perturbing,
    PerturbItemView,
    items,
    perturbed_items,
)
from dokimasia.methods.perturb.request import NO_NEUTRAL, OWN_WORK
from dokimasia.people.checks import label_blocks
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Facts, Fold, Image, Paragraph, Section, Span, Texts, spans
from dokimasia.report.conclusions import used_sentence
from dokimasia.report.data import Cut, Drawing, Picture, ReportData, Views
from dokimasia.report.differences import difference
from dokimasia.report.fields import TableRow, pointer
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import TableColumn, column, computed_column, field_columns, labelled_table
from dokimasia.runs.reading.reporting import pictures_of, select_samples
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run

SIGNS = " Words that were taken out stand in [-…-], words that were put in in {+…+}."


def _failure_cell(row: TableRow[Perturbing]) -> Cell:
    kind = row.figures
    failure_count = figures.count(kind.failed, f"{row.pointer}/failed")
    if not kind.failed:
        return failure_count
    return (failure_count, Span(f" ({kind.changed_nothing}, {kind.changed_all})", "muted"))


def _agreed(row: TableRow[Perturbing]) -> Cell:
    if not row.figures.checked:
        return figures.NOTHING
    return figures.share_of(row.figures.agreed, f"{row.pointer}/agreed")


def _doubted(row: TableRow[Perturbing]) -> Cell:
    doubts = row.figures.doubts
    if row.figures.checked:
        return f"{doubts.kind} / {doubts.also} / {doubts.worse}"
    return figures.NOTHING


COLUMNS: list[TableColumn[Perturbing]] = [
    *field_columns("asked", "made", "not_applicable", "too_short"),
    computed_column(
        "failed", _failure_cell, meaning="in brackets: also the second reply changed nothing, or nearly everything"
    ),
    column("applies"),
    computed_column(
        "agreed", _agreed, meaning="of the checked: those that the checker has nothing against, in percent"
    ),
    computed_column(
        "doubted",
        _doubted,
        meaning="taken for another kind / worse beside / not worse where it should be, or worse where not",
    ),
]


def section(data: ReportData) -> Section:
    """Return the section with the figures by dimension, by group, and in total."""
    perturbing = data.figures_as(PerturbFigures)
    rows: list[tuple[Sequence[Cell], TableRow[Perturbing]]] = []
    for group, group_figures in perturbing.groups.items():
        names = [name for name, dimension in perturbing.dimensions.items() if (dimension.group or NEUTRAL) == group]
        if len(names) > 1:
            title = Span(f"{group} {group_figures.title}", "strong")
            rows.append(([title], TableRow("", group_figures, pointer("groups", group))))
        for name in names:
            rows.append(([name], TableRow("", perturbing.dimensions[name], pointer("dimensions", name))))
    rows.append(([Span("all", "strong")], TableRow("", perturbing, "")))
    blocks: list[Block] = []
    if perturbing.own_work:
        blocks.append(Paragraph(f"{OWN_WORK.format(checker=perturbing.checker)}.", "warning"))
    blocks.append(labelled_table(Perturbing, ("dimension",), rows, COLUMNS, "Perturbations by dimension"))
    blocks += [Paragraph(note, "note") for note in _notes(perturbing, data.paid)]
    return Section("perturbations", "Perturbations", tuple(blocks))


def conclusion(data: ReportData) -> list[Cell]:
    """Return how many perturbations were made, how many the checker agrees with, and the usage."""
    perturbing = data.figures_as(PerturbFigures)
    sentences: list[Cell] = [
        f"{perturbing.made:,} of {figures.several(perturbing.asked, 'perturbation')} were made on "
        f"{figures.several(perturbing.n, 'sample')}."
    ]
    if perturbing.checker is not None and perturbing.agreed.n:
        agreed = figures.share_of(perturbing.agreed, "/agreed")
        sentences.append((f"{perturbing.checker} agrees with ", *spans(agreed), " of those that it checked."))
    return [*sentences, used_sentence(perturbing, data.paid)]


def labels(data: ReportData) -> Section:
    """Return the section of people's labels."""
    perturbing = data.figures_as(PerturbFigures)
    blocks = label_blocks(perturbing.labels, perturbing.run)
    return Section("labels", "Labels by people", blocks or (Paragraph("Nothing was made to be labelled.", "note"),))


def items_section(data: ReportData) -> Section | None:
    """Return the section of some samples' items with their differences; None if there are none."""
    by_sample: dict[str, list[PerturbItemView]] = {}
    for view in data.samples:
        item = PerturbItemView.model_validate(view)
        by_sample.setdefault(item.sample, []).append(item)
    if not by_sample:
        return None
    folds = [Fold(id, tuple(_sample(sample_items, str, data.pictures))) for id, sample_items in by_sample.items()]
    lead = Paragraph(f"{data.selection.text}{_signs(data.figures_as(PerturbFigures))}", "note")
    return Section("items", "Items", (lead, *folds), only="page")


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield the items of a sample with their changes; images side by side."""
    yield from _sample([PerturbItemView.model_validate(view) for view in views], cut, {})


def _sample(views: Sequence[PerturbItemView], cut: Cut, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    for item in views:
        if item.dimension is None:
            yield from _gold(item, cut, pictures)
            continue
        title = Span(f"{item.dimension} ({item.group})", "strong")
        if item.failure:
            yield Paragraph((title, ": ", Span(f"{item.failure}: {item.reason}", "bad")))
        elif item.not_applicable:
            yield Paragraph((title, ": ", Span(f"does not apply: {item.not_applicable}", "muted")))
        else:
            label = f" (labelled {item.label.replace('_', ' ')})" if item.label else ""
            yield Paragraph((title, f": {item.description or 'not described'}", Span(label, "muted")))
            if item.rationale:
                yield Paragraph((Span("rationale: ", "muted"), item.rationale))
            yield from _images(item, pictures)
            if item.difference:
                yield Paragraph(difference(item.difference, whole=False))
            if item.hint:
                yield Paragraph(cut(item.hint), "warning")


def _images(item: PerturbItemView, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    if item.gold_image is None or item.perturbed_image is None:
        return
    if item.instruction:
        yield Facts([("instruction", item.instruction)])
    yield _image(item.gold_image, "as it was", pictures)
    yield _image(item.perturbed_image, "as it was edited", pictures)


def _image(sha256: str, title: str, pictures: Mapping[str, Picture]) -> Image:
    picture = pictures.get(sha256)
    return Image(picture.uri if picture else "", f"{title}: image {sha256[:12]}", sha256=sha256)


def _gold(item: PerturbItemView, cut: Cut, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    if item.failure:
        yield Paragraph(("gold answer: ", Span(f"{item.failure}: {item.reason}", "bad")))
        return
    if item.gold:
        yield Texts([(Span("gold answer", "strong"), cut(item.gold))])
    if item.gold_image:
        yield _image(item.gold_image, "gold image", pictures)
    if item.gold_wrong:
        yield Paragraph(f"The checker finds it wrong, and nothing is made from it: {item.gold_wrong}", "warning")


def _notes(perturbing: PerturbFigures, paid: Spending | None) -> Iterator[str]:
    golds = perturbing.golds
    if NEUTRAL not in perturbing.dimensions:
        yield f"{NO_NEUTRAL[0].upper()}{NO_NEUTRAL[1:]}."
    if perturbing.brought:
        yield "The images were edited elsewhere and brought in a file; nobody was asked."
    if golds.right or golds.written or golds.wrong or golds.failed or golds.open:
        what = "images" if perturbing.editor else "answers"
        parts = [f"{golds.wrong:,} found wrong", f"{golds.failed:,} failed; nothing is made from these"]
        if golds.written or not golds.given:
            parts.insert(0, f"{golds.written:,} by {perturbing.gold_writer} found right")
        if golds.given:
            parts.insert(0, f"{golds.right:,} of {golds.given:,} in the data found right")
        yield f"Gold {what}, checked by {perturbing.checker}: {', '.join(parts)}."
    if perturbing.checker:
        unaware = "" if perturbing.editor else ", which is not told what a change was meant as"
        yield (
            f"Checked by {perturbing.checker}{unaware}: {perturbing.checked:,} of {perturbing.made:,}. What it doubts is "
            "kept, and shown to the people who decide."
        )
    yield f"{figures.used(perturbing, paid)}. 95 % intervals, clustered by image."
    yield f"`dokimasia show {perturbing.run} --sample ID` shows what was changed in a sample.{_signs(perturbing)}"


def _signs(perturbing: PerturbFigures) -> str:
    if perturbing.task == "image-to-text":
        return SIGNS
    return ""


async def with_items(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the report data with the items that the page shows, failed ones first."""
    rows = results(home, run.id)
    ids = list(dict.fromkeys(row.sample_id for row in rows))
    failed_ids = {row.sample_id for row in rows if row.failure}
    chosen_ids, selection = select_samples(run, ids, failed_ids, samples)
    views = [item for id in chosen_ids for item in items(home, run, id)]
    images: dict[str, ImageRef] = {}
    for perturbed in perturbed_items(home, run):
        if perturbed.item.sample_id in chosen_ids:
            for image in (perturbed.item.gold_image, perturbed.item.perturbed_image):
                if image is not None:
                    images[image.sha256] = image
    return replace(data, selection=selection, samples=views, pictures=pictures_of(home, images))


DRAWING = Drawing(
    "perturbations",
    (section, labels, items_section, skipped.section, provenance.section),
    sample=sample,
    figures=PerturbFigures,
    conclusion=conclusion,
)
