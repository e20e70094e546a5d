"""The report of failure modes: their definitions, frequency and reliability, and examples."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import BaseModel

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Response
from dokimasia.domain.sample import Sample
from dokimasia.methods.modes.coded import coded_of
from dokimasia.methods.modes.figures import (
    NO_MODE,
    CoderAgreement,
    ContrastFigures,
    Example,
    Making,
    ModeFigures,
    ModeRate,
    ModesFigures,
)
from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Facts,
    Fold,
    Image,
    Paragraph,
    Section,
    Span,
    Table,
    Texts,
    anchor,
    spans,
)
from dokimasia.report.browser import sample_views
from dokimasia.report.conclusions import joined, used_sentence
from dokimasia.report.data import Cut, Drawing, ReportData, Views
from dokimasia.report.fields import Share, TableRow, pointer
from dokimasia.report.figures import several
from dokimasia.report.sections import provenance
from dokimasia.report.tables import TableColumn, column, computed_column, table
from dokimasia.runs.reading.reporting import pictures_of, select_samples
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.runs import Run

MOST_LEAVES = 40
MOST_TEXT = 1_500
Links = Mapping[str, str]
"""Links to samples on the page, by name."""


class CodedAnswer(Value):
    """The text of a coded answer."""

    model: str
    repeat: int
    text: str


class AtomView(BaseModel):
    """An atom of a sample with the coders' results, as `items` yields it."""

    model: str
    criterion: int
    question: str
    group: str
    mode: str | None
    quote: str | None
    second: str | None
    failure: str | None
    reason: str | None


class CodedSample(Value):
    """A sample of the examples with its coded answers, as the page shows it."""

    sample: Sample
    answers: tuple[CodedAnswer, ...]


SHOWN_FIELDS: dict[str, Any] = {"sample": {"id", "prompt", "images"}, "answers": True}


def _coded_samples(data: ReportData) -> list[CodedSample]:
    return [CodedSample.model_validate(view) for view in data.samples if "answers" in view]


def own_section(data: ReportData) -> Section:
    """Return the section of modes on an analysis's own page; examples link to the samples on it."""
    links = {view.sample.id: f"#{anchor('sample-', view.sample.id)}" for view in _coded_samples(data)}
    return Section("modes", "Failure modes", list(_blocks(data.figures_as(ModesFigures), links, data)))


def section(data: ReportData) -> Section | None:
    """Return the section of modes on an evaluation's page, linked to its samples; None without an analysis."""
    analysis = data.addition("modes")
    if analysis is None:
        return None
    links = {view.sample.id: f"#s-{number}" for number, view in enumerate(sample_views(data), start=1)}
    return Section("modes", "Failure modes", list(_blocks(ModesFigures.model_validate(analysis), links, data)))


def samples(data: ReportData) -> Section | None:
    """Return the section of the examples' samples, with images and answers; None if there are none."""
    folds: list[Block] = []
    for view in _coded_samples(data):
        name = view.sample.id
        folds.append(Fold(name, tuple(_sample_blocks(view, data)), anchor("sample-", name)))
    if folds:
        return Section("samples", "Samples of the examples", folds, only="page")
    return None


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield the table of a sample's atoms, with the coders' results."""
    titles = ("model", "", "criterion", "group", "mode", "words of the answer", "second coder")
    rows: list[list[Cell]] = []
    for atom in map(AtomView.model_validate, views):
        mode: Cell = atom.mode or Span(f"{atom.failure}: {atom.reason or ''}", "bad")
        about = [Span(atom.model, "strong"), str(atom.criterion), cut(atom.question), atom.group]
        rows.append([*about, mode, cut(atom.quote or ""), atom.second or ""])
    columns = [Column(title, numeric=False) for title in titles]
    yield Table(columns, rows, "Criteria of the sample and what was seen in them")


def _blocks(analysis: ModesFigures, links: Links, data: ReportData) -> Iterator[Block]:
    for note in analysis.notes:
        yield Paragraph(note, "warning")
    if analysis.making is not None:
        yield from _making(analysis.making)
    elif analysis.given:
        yield Paragraph("The modes were taken from a file; images that they were made on are not counted.", "note")
    if analysis.agreement.n:
        yield _agreement(analysis)
    if not analysis.modes:
        return
    yield _overall(analysis, data)
    yield _failures(analysis)
    if len(analysis.models) > 1:
        yield _by_model(analysis, data)
        yield _contrasts(analysis, data)
    leaves = _by_leaf(analysis)
    if leaves is not None:
        yield Fold("By capability: where each mode is seen", (leaves,))
    yield Facts([(mode.name, (Span(f"{mode.kind}. ", "muted"), mode.definition)) for mode in analysis.modes])
    for mode in analysis.modes:
        if mode.examples:
            title = f"{mode.name}: {several(len(mode.examples), 'example')}"
            yield Fold(title, (Bullets([_example(example, links, data) for example in mode.examples]),))


def conclusion(data: ReportData) -> list[Cell]:
    """Return which mode is most frequent, the number of failed criteria behind that, and the usage."""
    analysis = data.figures_as(ModesFigures)
    failed_group, met_group = analysis.atoms.failed, analysis.atoms.met
    sentences: list[Cell] = []
    if analysis.modes and failed_group.n_scored:
        sentences.append(_most_frequent_mode(analysis))
    sentences.append(
        f"{figures.several(len(analysis.modes), 'failure mode')}, counted on {failed_group.n_scored:,} of {failed_group.there:,} "
        f"failed criteria and {met_group.n_scored:,} that were met, by {analysis.judge}, which knew neither scores nor models."
    )
    return [*sentences, used_sentence(analysis, data.paid)]


def _most_frequent_mode(analysis: ModesFigures) -> Cell:
    """Return which modes are most frequent, with their share of failed criteria."""
    highest = max(mode.failed.k for mode in analysis.modes)
    numbers = [number for number, mode in enumerate(analysis.modes) if mode.failed.k == highest]
    share = spans(figures.share_of(analysis.modes[numbers[0]].failed, f"{pointer('modes', str(numbers[0]))}/failed"))
    names = spans(joined([("“", Span(analysis.modes[number].name, "strong"), "”") for number in numbers]))
    if len(numbers) == 1:
        return (*names, " is seen most often: ", *share, " of the failed criteria.")
    return (*names, " are seen equally often, and most often: each ", *share, " of the failed criteria.")


def _making(making: Making) -> Iterator[Block]:
    """Yield the paragraphs on how the modes were made."""
    end = f"the last new mode came with note {making.notes_to_last}"
    end += ", and two further batches brought none" if making.settled else f" of {making.notes}"
    text = (
        f"Made from {several(making.notes, 'note')} on {several(making.atoms, 'failed criterion', 'failed criteria')} of the "
        f"other half of the samples: {end}. {several(making.merged, 'mode')} merged into others, "
        f"{several(making.loose, 'note')} under none"
    )
    if making.nothing:
        text += f"; of {several(making.nothing, 'failed criterion', 'failed criteria')} the reader found nothing wrong"
    yield Paragraph(f"{text}.", "note")
    if making.failures or making.unsorted:
        unread, unsorted = figures.counts({**making.failures}), figures.counts({**making.unsorted})
        yield Paragraph(f"Not read: {unread} criteria; not sorted: {unsorted} batches of notes.", "warning")


def _agreement(analysis: ModesFigures) -> Block:
    names = f"{analysis.judge} and {analysis.coder} agree: "
    if analysis.same_coder:
        names = (
            f"{analysis.judge}, asked again in another order, which says how steady one judge is, agrees with itself: "
        )
    overall, on_failed = _kappa(analysis.agreement), _kappa(analysis.agreement_failed)
    return Paragraph((names, *overall, ", on failed criteria alone ", *on_failed, "."), "note")


def _kappa(agreement: CoderAgreement) -> tuple[str | Span, ...]:
    counts = f"{agreement.agreed} of {agreement.n} criteria"
    if agreement.kappa is None:
        return (f"{counts}, Cohen's kappa has no value",)
    kappa = Span(f"{agreement.kappa:.2f}", "strong", "", agreement.kappa)
    ends = figures.bracketed(agreement, "{:.2f}".format)
    return f"{counts}, Cohen's kappa ", kappa, Span(ends, "muted")


def _overall(analysis: ModesFigures, data: ReportData) -> Table:
    rows: list[TableRow[ModeRate]] = []
    for index, mode in enumerate(analysis.modes):
        rows.append(TableRow(mode.name, mode, f"/modes/{index}"))
    if analysis.none is not None:
        rows.append(TableRow(NO_MODE, analysis.none, "/none"))
    columns: list[TableColumn[ModeRate]] = [
        computed_column("mode", partial(_mode_name, data=data), numeric=False),
        computed_column("", _mode_kind, numeric=False),
        column("failed"),
        column("met"),
        column("right", write=_of_mode),
        column("wrong", write=_of_mode),
    ]
    return table(ModeRate, rows, columns, "Failure modes and how often they are seen", sortable=True)


def _mode_name(row: TableRow[ModeRate], data: ReportData) -> Cell:
    if not isinstance(row.figures, ModeFigures):
        return Span(row.name, "muted")
    occurs = row.figures.failed.k or row.figures.met.k
    return Span(row.name, "strong", href=data.link_to_samples(group_modes=row.name) if occurs else "")


def _mode_kind(row: TableRow[ModeRate]) -> Cell:
    if isinstance(row.figures, ModeFigures):
        return row.figures.kind
    return ""


def _of_mode(share: Share, place: str) -> Cell:
    """Return a share of answers; empty in the row of atoms without a mode, where it has no meaning."""
    if place.startswith("/none/"):
        return figures.NOTHING
    return figures.share_of(share, place)


def _failures(analysis: ModesFigures) -> Paragraph:
    if not any(analysis.failures.values()):
        return Paragraph("Every criterion that was drawn was coded.", "note")
    text = f"Not coded, and counted under nothing: {figures.counts({**analysis.failures})}"
    if analysis.misquoted:
        text += f", {analysis.misquoted} of them since a phrase does not stand in the answer"
    return Paragraph(f"{text}.", "warning")


def _by_model(analysis: ModesFigures, data: ReportData) -> Table:
    rows: list[TableRow[ModeRate]] = [TableRow(mode.name, mode) for mode in analysis.modes]
    if analysis.none is not None:
        rows.append(TableRow(NO_MODE, analysis.none))
    columns: list[TableColumn[ModeRate]] = [
        computed_column("share of failed criteria", partial(_mode_name, data=data), numeric=False),
        *(column("models", model, title=model) for model in analysis.models),
    ]
    return table(ModeRate, rows, columns, "Failure modes by model")


def _contrasts(analysis: ModesFigures, data: ReportData) -> Block:
    """Return the table of significant differences between models' failures, or a sentence that there are none."""
    findings = [contrast for contrast in analysis.contrasts if contrast.verdict in ("more often", "less often")]
    if not findings:
        tested = sum(contrast.p_value is not None for contrast in analysis.contrasts)
        text = "too few samples were failed by several models to compare them"
        if tested:
            text = f"none of {tested} comparisons shows a difference beyond chance"
        return Paragraph(f"What distinguishes models: {text}.", "note")
    columns: list[TableColumn[ContrastFigures]] = [
        computed_column("model", lambda row: Span(row.figures.model, "strong"), numeric=False),
        computed_column("", _verdict, numeric=False),
        computed_column("mode", lambda row: _mode_of_model(row.figures, data), numeric=False),
        computed_column(
            "against the others",
            _difference,
            meaning="share of failed criteria, less the others' mean, on samples that both failed",
        ),
        computed_column("95 % interval", lambda row: figures.interval(row.figures, signed=True)),
        computed_column("samples", lambda row: str(row.figures.n)),
        column("adjusted"),
    ]
    rows = [TableRow("", contrast) for contrast in findings]
    return table(ContrastFigures, rows, columns, "Where a model's failures differ from those of the others")


def _mode_of_model(contrast: ContrastFigures, data: ReportData) -> Cell:
    return Span(contrast.mode, href=data.link_to_samples(group_modes=contrast.mode, model=contrast.model))


def _verdict(row: TableRow[ContrastFigures]) -> Cell:
    verdict = row.figures.verdict
    return Span(verdict, "bad" if verdict == "more often" else "good")


def _difference(row: TableRow[ContrastFigures]) -> Cell:
    difference = row.figures.difference
    if difference is None:
        return figures.NOTHING
    return Span(figures.signed_text(difference), "strong", "", difference)


def _by_leaf(analysis: ModesFigures) -> Table | None:
    rows: list[tuple[str, str, Share]] = []
    for mode in analysis.modes:
        for leaf, share in mode.leaves.items():
            rows.append((leaf.rpartition("<")[2].rstrip(">"), mode.name, share))
    if not rows:
        return None
    rows.sort(key=lambda row: (-row[2].k, row[0]))
    columns = (Column("capability", numeric=False), Column("mode", numeric=False), Column("failed criteria"))
    cells = [[leaf, Span(mode, "strong"), figures.share_of(share)] for leaf, mode, share in rows[:MOST_LEAVES]]
    return Table(columns, cells, "Failure modes by capability", sortable=True)


def _example(example: Example, links: Links, data: ReportData) -> Cell:
    words: tuple[str | Span, ...] = (Span("says nothing of it. ", "muted"),)
    if example.quote:
        words = (Span(f"\u201c{example.quote}\u201d", "cited"), " ")
    repeat = f", repeat {example.repeat + 1}" if example.repeat else ""
    return (
        Span(example.model, "strong"),
        " on ",
        Span(example.sample, "strong", href=links.get(example.sample) or data.link_to_sample(example.sample)),
        f"{repeat}, criterion {example.criterion}: ",
        *words,
        Span(f"{example.question} Truth: {example.ground_truth}", "muted"),
    )


def _sample_blocks(coded: CodedSample, data: ReportData) -> Iterator[Block]:
    for image in coded.sample.images:
        picture = data.pictures.get(image.sha256)
        about = f"image, {image.width} × {image.height}"
        if picture and picture.problem:
            about += f": {picture.problem}"
        yield Image(picture.uri if picture else "", about)
    yield Paragraph(Span(coded.sample.prompt, "strong"))
    yield Texts([(Span(answer.model, "strong"), _cut(answer.text)) for answer in coded.answers], prose=True)


def _cut(text: str) -> str:
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:MOST_TEXT]} … {len(text) - MOST_TEXT:,} more characters"


async def with_samples(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the report data with the samples of the examples and their coded answers."""
    examples = [example for mode in data.figures_as(ModesFigures).modes for example in mode.examples]
    cited = list(dict.fromkeys(example.sample for example in examples))
    ids, selection = select_samples(run, cited, (), samples)
    page_samples = samples_of(home, run.id, ids)
    answers = {
        atom.answer.key: atom.answer for atom in coded_of(home, run).atoms if atom.answer.sample_id in page_samples
    }
    texts = find_values(home, Response, (answer.response for answer in answers.values()))
    coded_answers: dict[str, list[CodedAnswer]] = {id: [] for id in ids}
    for answer in answers.values():
        text = texts[answer.response].text
        coded_answers[answer.sample_id].append(CodedAnswer(model=answer.model, repeat=answer.repeat, text=text))
    views: list[dict[str, Any]] = []
    for id in ids:
        view = CodedSample(sample=page_samples[id], answers=tuple(coded_answers[id]))
        views.append(view.model_dump(mode="json", include=SHOWN_FIELDS))
    images = {image.sha256: image for entry in page_samples.values() for image in entry.images}
    return replace(data, selection=selection, samples=views, pictures=pictures_of(home, images))


DRAWING = Drawing(
    "failure modes",
    (own_section, samples, provenance.section),
    terminal=(own_section,),
    sample=sample,
    figures=ModesFigures,
    conclusion=conclusion,
)
