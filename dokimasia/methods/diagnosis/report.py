"""The report of a diagnosis: tables and charts on an evaluation's page, and the reports in words."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from dokimasia.domain.diagnosis.report import Sentence
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Diagnosis, Figure
from dokimasia.domain.refinement import SOLVED
from dokimasia.domain.wording import is_or_are
from dokimasia.methods.diagnosis.answer_tables import NO_MODE
from dokimasia.methods.diagnosis.charts import SPOKES, bars_figure, heat_map, leaf_bars, radar, stacked_ranks
from dokimasia.methods.diagnosis.evidence import Evidence, EvidenceAtom, ReportedDiagnosis
from dokimasia.methods.diagnosis.evidence_data import UNNAMED
from dokimasia.methods.diagnosis.figures import DiagnosisFigures, WrittenReport
from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Fold,
    Paragraph,
    Section,
    Span,
    Table,
    Tone,
    anchor,
    plain,
    spans,
)
from dokimasia.report.browser import sample_views
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.sections import provenance
from dokimasia.report.verdicts import NOT_STATED

TONES: Mapping[str, Tone] = {"weak": "bad", "worse": "bad", "strong": "good", "better": "good", "unclear": "muted"}
FOLDED_FIRST = (
    "models",
    "categories",
    "pairs",
    "ties",
    "top-ties",
    "ranks",
    "stability",
    "failures",
    "reasons",
    "modes",
)
FOLDED_LAST = ("leaves", "answers", "modes", "examples")
MOST_ROWS = 200
MOST_ANSWER = 280

FAULTS = {
    "literal_digit": "the judge wrote a number that no table has printed",
    "no_such_place": "it names a figure that is in no table",
    "no_test": "it compares what no paired test compares",
}
"""Reasons why a sentence is unverified, by kind of fault; `--json` has the reasons as sent to the writer."""

UNPRINTED = "[no figure]"
"""The replacement for an unresolved reference in a sentence."""

MOST_NAMED = 3
"""Maximum number of models that the verdict names for their weakness."""

MOST_IN_PARAGRAPH = 4
"""Maximum number of sentences in a paragraph; longer texts become a list."""

_PLACE = re.compile(r"\{[^{}]*\}")

MARKED_COLUMNS = (
    Column("model", numeric=False),
    Column("", numeric=False),
    Column("node", numeric=False, meaning="a click shows the criteria behind it"),
    Column("score by criterion", meaning="mean over scored criteria, 0 to 100"),
    Column("95 % interval"),
    Column("against the rest", meaning="mean here minus mean of the model's other criteria"),
    Column("95 % interval"),
    Column("adjusted p", meaning="exchange of whole images' leaves; Benjamini and Hochberg over all models and nodes"),
    Column("criteria", meaning="scored, of those that were asked"),
)


def section(data: ReportData) -> Section | None:
    """Return the diagnosis's section on the page of an evaluation; None without a diagnosis."""
    addition = data.addition("diagnosis")
    if addition is None:
        return None
    diagnosis = ReportedDiagnosis.model_validate(addition)
    evidence = diagnosis.evidence
    links = {row: f"#{_evidence_id(row)}" for row in diagnosis.cited if row in evidence}
    cards = {view.sample.id: f"#s-{number}" for number, view in enumerate(sample_views(data), start=1)}

    def link(asset: Asset, row: AssetRow) -> str:
        return _samples_of_row(diagnosis, asset, row, data)

    blocks: list[Block] = [Paragraph(_lead(diagnosis), "lead")]
    blocks += [Paragraph(note, "warning") for note in diagnosis.notes]
    blocks += _marked_nodes(diagnosis, data)
    if diagnosis.words is not None:
        blocks += prose(diagnosis.words, links)
    blocks += _leaf_chart(diagnosis)
    for asset in diagnosis.assets:
        if asset.family == "radar" and len(asset.rows) in SPOKES:
            blocks.append(Chart(radar(asset), f"{asset.title}. {asset.sentence}"))
    heat = diagnosis.asset("heatmap")
    if heat is not None and heat.rows:
        blocks.append(Chart(heat_map(heat), f"{heat.title}. {heat.sentence}"))
        blocks.append(Fold(f"{heat.title}, as a table", tuple(table(heat, link=link))))
    ranks = diagnosis.asset("ranks")
    if ranks is not None and ranks.rows:
        blocks.append(Chart(stacked_ranks(ranks), f"{ranks.title}. {ranks.sentence}"))
    for name in FOLDED_FIRST:
        asset = diagnosis.asset(name)
        if asset is not None:
            blocks.append(Fold(asset.title, tuple(table(asset, link=link))))
    for asset in diagnosis.assets:
        if asset.id == "contrasts" or (asset.family in FOLDED_LAST and asset.id != asset.family):
            blocks.append(Fold(asset.title, tuple(table(asset, cards=cards, evidence=evidence, link=link))))
    if evidence:
        note = "A sample's name leads to its picture and whole answers where this page has them; --samples N takes in more."
        titles = {asset.id: asset.title for asset in diagnosis.assets}
        evidence_blocks = (
            Paragraph(note, "note"),
            *(_evidence_fold(row, atoms, cards, titles, data) for row, atoms in evidence.items()),
        )
        title = "Criteria behind the highlighted and cited results, and each model's lowest leaves"
        blocks.append(Fold(title, evidence_blocks))
    return Section("diagnosis", "Diagnosis", blocks)


def _samples_of_row(diagnosis: ReportedDiagnosis, asset: Asset, row: AssetRow, data: ReportData) -> str:
    """Return the URL of the samples behind a row; empty if the report has no page of samples or no matching filter."""
    model = row.model if row.model in diagnosis.models else ""
    family = asset.id.partition("/")[0]
    if family in ("answers", "examples") and row.samples:
        return data.link_to_sample(row.samples[0])
    if family in ("modes", "failures") and not row.samples:
        return ""
    if family == "modes":
        if row.key != NO_MODE:
            return data.link_to_samples(group_modes=row.key, model=model)
        return ""
    if family == "failures":
        return data.link_to_samples(failure=row.key.removeprefix(f"{model} "), model=model)
    if row.node and diagnosis.grouping == "category":
        category = row.node.strip("<>")
        if category == UNNAMED:
            return ""
        return data.link_to_samples(category=category, model=model)
    if row.node:
        return data.link_to_samples(group_tree=row.node, model=model)
    if model:
        return data.link_to_samples(model=model)
    return ""


def _evidence_id(row: str) -> str:
    """Return the HTML id of the evidence of a row (`ASSET:ROW`)."""
    return anchor("why-", row)


def _of_family(diagnosis: ReportedDiagnosis, family: str) -> list[Asset]:
    return [asset for asset in diagnosis.assets if asset.id.startswith(f"{family}/")]


def _lead(diagnosis: ReportedDiagnosis) -> str:
    basis = "the data's categories"
    if diagnosis.tree:
        basis = f"the capability tree {diagnosis.tree}@{diagnosis.position}"
    marks = Counter(row.mark for asset in _of_family(diagnosis, "nodes") for row in asset.rows)
    models = figures.several(len(diagnosis.models), "model")
    return f"{models} on {basis}: {marks['weak']} weak and {marks['strong']} strong nodes beyond chance."


def _marked_nodes(diagnosis: ReportedDiagnosis, data: ReportData) -> Iterator[Block]:
    """Yield a table of all weak and strong nodes, with links from rows to their evidence and from models to samples."""
    rows: list[list[Cell]] = []
    for asset in _of_family(diagnosis, "nodes"):
        for number, row in enumerate(asset.rows, start=1):
            reference = f"{asset.id}:{number}"
            name, score, gap, q_value = row.cells[:4]
            href = f"#{_evidence_id(reference)}" if reference in diagnosis.evidence else ""
            rows.append(
                [
                    Span(row.model, "strong", href=_samples_of_row(diagnosis, asset, row, data)),
                    Span(row.mark, TONES.get(row.mark, "")),
                    Span(str(name.value), "strong", href=href),
                    _number(score.value, "score", "points of 100"),
                    figures.interval(score, digits=1),
                    _number(gap.value, "difference", "points of 100"),
                    figures.interval(gap, signed=True, digits=1),
                    _number(q_value.value, "p_value", ""),
                    _count_cell(row),
                ]
            )
    if rows:
        yield Table(MARKED_COLUMNS, rows, "Weak and strong nodes of all models", sortable=True)
    else:
        yield Paragraph(
            "No leaf or node of any model is significantly weaker or stronger than the rest of that model.", "note"
        )


def _leaf_chart(diagnosis: ReportedDiagnosis) -> Iterator[Block]:
    tables = {asset.model: asset for asset in _of_family(diagnosis, "leaves") if asset.rows}
    if not tables:
        return
    variants = {}
    names: list[str] = []
    for model, asset in tables.items():
        opens: dict[int, str] = {}
        for number, row in enumerate(asset.rows, start=1):
            names.append(str(row.cells[0].value))
            if f"{asset.id}:{number}" in diagnosis.evidence:
                opens[number] = _evidence_id(f"{asset.id}:{number}")
        variants[model] = leaf_bars(asset, opens)
    most_rows = max(len(asset.rows) for asset in tables.values())
    yield Chart(
        bars_figure(next(iter(variants.values())), most_rows, names),
        "Scores of one model, the lowest first, with 95 % intervals where there are any. "
        "Red is weaker and green stronger than the rest of that "
        "model beyond chance. Amber is below the model's mean and blue above it by no more than chance explains. A click on "
        "one of the three lowest bars, or on a marked one, shows the criteria behind it.",
        picks="Model",
        variants=variants,
    )


def table(
    asset: Asset,
    *,
    cards: Mapping[str, str] | None = None,
    evidence: Mapping[str, Evidence] | None = None,
    most: int | None = MOST_ROWS,
    link: Callable[[Asset, AssetRow], str] = lambda asset, row: "",
) -> Iterator[Block]:
    """Yield an asset's sentence and its sortable rows, at most `most`; samples and rows with evidence are links.

    A row without evidence links to the target that `link` returns, if any.
    """
    yield Paragraph((asset.sentence, Span(f"  [{asset.id}]", "muted")), "note")
    if not asset.rows:
        return
    columns = [Column("", only="terminal")]
    for column in asset.columns:
        meaning = "adjusted together as the sentence above says" if column.kind == "p_value" else column.unit
        columns.append(Column(column.name, numeric=column.kind not in ("name", "mark"), meaning=meaning))
    columns.append(Column(asset.counts, meaning="with a score, of those asked"))
    rows: list[list[Cell]] = []
    for number, row in enumerate(asset.rows[:most], start=1):
        reference = f"{asset.id}:{number}"
        href = ""
        if cards and row.samples and asset.id.startswith(("answers/", "examples/")):
            href = cards.get(row.samples[0], "")
        if not href and evidence and reference in evidence:
            href = f"#{_evidence_id(reference)}"
        href = href or link(asset, row)
        cells = [_cell(column, cell) for column, cell in zip(asset.columns, row.cells, strict=True)]
        if isinstance(row.cells[0].value, str):
            cells[0] = _text(asset.columns[0], row.cells[0].value, href)
        rows.append([str(number), *cells, _count_cell(row)])
    yield Table(columns, rows, asset.title, sortable=True)
    if len(asset.rows) > len(rows):
        command = f"dokimasia diagnose RUN --asset {asset.id}"
        yield Paragraph(
            (f"The first {len(rows)} of {len(asset.rows)} rows; all of them: ", Span(command, "code")), "note"
        )


def _cell(column: AssetColumn, cell: Figure) -> Cell:
    if cell.value is None:
        return figures.NOTHING
    if isinstance(cell.value, str):
        return _text(column, cell.value)
    value = _number(cell.value, column.kind, column.unit)
    if cell.low is None or cell.high is None:
        if cell.no_interval:
            return value, Span(f" [{figures.no_interval(cell).text}]", "muted")
        return value
    low, high = (_number(end, column.kind, column.unit).text.removesuffix(" %") for end in (cell.low, cell.high))
    return value, Span(f" [{low}, {high}]", "muted")


def _text(column: AssetColumn, value: str, href: str = "") -> Span:
    return Span(value, TONES.get(value, "") if column.kind == "mark" else "", href=href)


def _number(value: float | str | None, kind: str, unit: str) -> Span:
    if value is None or isinstance(value, str):
        return figures.NOTHING
    if kind == "count":
        return figures.count(int(value))
    if kind == "share":
        return figures.share(value)
    if kind == "p_value":
        return figures.p_value(value)
    digits = 1 if "100" in unit else 2
    if kind == "difference":
        return Span(figures.signed_text(value, digits), "strong", "", value)
    return Span(f"{value:.{digits}f}", "strong", "", value)


def _count_cell(row: AssetRow) -> Cell:
    n_scored = figures.count(row.n)
    if row.n == row.held:
        return n_scored
    return (n_scored, f"/{row.held:,}")


def _evidence_fold(
    reference: str, evidence: Evidence, cards: Mapping[str, str], titles: Mapping[str, str], data: ReportData
) -> Fold:
    """Return the table of atoms behind a row: sample, question, ground truth, answer and score."""
    items: list[Cell] = []
    for atom in evidence.shown:
        items.append(
            (
                Span(atom.sample, "strong", href=cards.get(atom.sample) or data.link_to_sample(atom.sample)),
                f", criterion {atom.criterion}: ",
                score_of(atom),
                f". {atom.question} ",
                Span(f"Truth: {atom.ground_truth} ", "muted"),
                Span(f"Answer: {shortened(atom.answer)}", "muted"),
            )
        )
    models = ", ".join(evidence.models)
    blocks: Sequence[Block] = (
        Paragraph(
            f"{models}: {evidence.scored} of {evidence.atoms} criteria have a score; {len(items)} are shown.", "note"
        ),
        Bullets(items),
    )
    name = titles.get(evidence.asset or "", "")
    if evidence.node:
        name = evidence.node.rpartition("<")[2].rstrip(">")
    return Fold(f"Behind {models}, {name} [{reference}]", blocks, _evidence_id(reference))


def score_of(atom: EvidenceAtom) -> Span:
    """Return an atom's score, or that the answer does not address it, or its failure."""
    if atom.score is None:
        return Span(f"failed: {atom.failure}", "bad")
    if not atom.stated:
        return Span(NOT_STATED, "muted")
    return Span(f"score {atom.score} of 5", "good" if atom.score >= SOLVED else "bad")


def shortened(text: str | None, most: int = MOST_ANSWER) -> str:
    """Return a text on one line, cut after `most` characters."""
    line = " ".join((text or "none").split())
    if len(line) <= most:
        return line
    return f"{line[: most - 1]}…"


def verdict_of(diagnosis: Diagnosis) -> str:
    """Return which model scores highest, and where each is weak beyond chance, the lowest node of each first."""
    sentences = [_highest(diagnosis.asset("models"), diagnosis.asset("pairs"))]
    weak_nodes: list[str] = []
    tested = False
    for asset in diagnosis.assets:
        if asset.family == "leaves":
            tested = tested or any(row.mark for row in asset.rows)
        weak = [row for row in asset.rows if row.mark == "weak"]
        if asset.family != "nodes" or not weak:
            continue
        more = ""
        if len(weak) > 1:
            more = f" and {figures.several(len(weak) - 1, 'more node')}"
        weak_nodes.append(f"{asset.model} at {weak[0].cells[0].value} ({_score_text(asset, weak[0])} of 100){more}")
    if weak_nodes:
        more = ""
        if len(weak_nodes) > MOST_NAMED:
            more = f"; {figures.several(len(weak_nodes) - MOST_NAMED, 'more model')} in the tables below"
        sentences.append(f"Weak beyond chance: {'; '.join(weak_nodes[:MOST_NAMED])}{more}.")
    elif tested:
        sentences.append("No weakness beyond chance was found at any node.")
    else:
        sentences.append("No node was tested for weakness: the tables of nodes say why.")
    return " ".join(sentences)


def _highest(models: Asset | None, pairs: Asset | None) -> str:
    """Return the sentence on the model with the highest score, and whether the next is below it beyond chance."""
    if models is None:
        return "No answer has a score."
    scored = [row for row in models.rows if row.cells[1].value is not None]
    if not scored:
        return "No answer has a score."
    first = scored[0]
    score = f"{_score_text(models, first)} of {figures.HIGHEST:g}"
    if len(scored) == 1:
        return f"{first.model} scores {score}."
    second = scored[1].model
    if first.cells[1].value == scored[1].cells[1].value:
        names = [row.model for row in scored if row.cells[1].value == first.cells[1].value]
        return f"{figures.in_words(names)} share the highest score, {score}."
    for row in pairs.rows if pairs else ():
        names = (row.cells[0].value, row.cells[1].value)
        if set(names) == {first.model, second} and row.mark in ("better", "worse"):
            return f"{first.model} scores highest, {score}, above {second} beyond chance."
    return f"{first.model} scores highest, {score}, and is not distinguishable from {second}."


def _score_text(asset: Asset, row: AssetRow) -> str:
    """Return the score in a row's second cell with its interval, as the table shows it."""
    return plain(_cell(asset.columns[1], row.cells[1]))


def words_section(data: ReportData) -> Section:
    """Return the section with the reports of a diagnosis in words, unfolded."""
    words = data.figures_as(DiagnosisFigures)
    blocks: list[Block] = [Paragraph(note, "warning") for note in words.notes]
    for block in prose(words, {}):
        if isinstance(block, Fold):
            blocks += [Paragraph(Span(f"\n{block.title}", "strong")), *block.blocks]
        else:
            blocks.append(block)
    command = Span(f"dokimasia diagnose {words.source} --why REFERENCE", "code")
    blocks.append(Paragraph(("What is behind a sentence: ", command, ", such as leaves/NAME:1"), "note"))
    return Section("words", "In words", blocks)


def conclusion(data: ReportData) -> list[Cell]:
    """Return the number of models that the reports cover, and of unsupported sentences in them."""
    words = data.figures_as(DiagnosisFigures)
    totals = words.totals
    return [
        f"Reports on {figures.several(len(words.models), 'model')}, by {words.judge}.",
        f"{totals.unverified:,} of {figures.several(totals.sentences, 'sentence')} are unverified.",
    ]


def prose(words: DiagnosisFigures, links: Mapping[str, str]) -> Iterator[Block]:
    """Yield a note on the writer, the report across models, and a fold for each model's report.

    Args:
        words: the reports.
        links: link to the evidence on the page, by row (`ASSET:ROW`).
    """
    unverified, sentences = words.totals.unverified, words.totals.sentences
    yield Paragraph(
        (
            f"In words, by {words.judge}. Figures with their intervals, tested comparisons (higher than, lower than, not "
            "distinguishable from) and quotations were ",
            Span("printed by the program", "cited"),
            " from the tables",
            "; on the page each leads to the row that it comes from" if links else "",
            f". All other words are {words.judge}'s, and nobody checked them: also of which model a figure is said. ",
            Span(
                f"{unverified:,} of {sentences:,} sentences {is_or_are(unverified)} unverified",
                "bad" if unverified else "",
            ),
            ", marked with the reason." if unverified else ".",
        ),
        "note",
    )
    for report in words.reports:
        if len(words.reports) == 1 or not report.subject:
            yield from _report_blocks(report, links)
    for report in words.reports:
        if len(words.reports) > 1 and report.subject:
            unverified_count = f", {report.unverified} unverified" if report.unverified else ""
            title = f"In words: {report.subject} ({len(report.sentences)} sentences{unverified_count})"
            yield Fold(title, tuple(_report_blocks(report, links)))


def _report_blocks(report: WrittenReport, links: Mapping[str, str]) -> Iterator[Block]:
    if report.failed:
        yield Paragraph(f"No report: {report.failed.kind}: {report.failed.reason or ''}", "warning")
    if report.cut:
        yield Paragraph(f"Cut: the reply had {report.words:,} words.", "warning")
    paragraphs: dict[int, list[Cell]] = {}
    for sentence in report.sentences:
        pieces = [*_pieces(sentence, links)]
        if sentence.faults:
            reasons = dict.fromkeys(FAULTS[fault.kind] for fault in sentence.faults)
            pieces.append(Span(f" (unverified: {'; '.join(reasons)})", "bad"))
        paragraphs.setdefault(sentence.paragraph, []).append(tuple(pieces))
    for cells in paragraphs.values():
        if len(cells) > MOST_IN_PARAGRAPH:
            yield Bullets(cells)
            continue
        spaced: list[str | Span] = []
        for cell in cells:
            spaced += [" ", *spans(cell)]
        yield Paragraph(tuple(spaced[1:]))


def _pieces(sentence: Sentence, links: Mapping[str, str]) -> Iterator[str | Span]:
    """Yield a sentence's text, with its references as links to their rows."""
    end = 0
    for place in sentence.places:
        yield _own_words(sentence, sentence.text[end : place.start])
        yield Span(sentence.text[place.start : place.end], "cited", href=links.get(place.row, ""))
        end = place.end
    yield _own_words(sentence, sentence.text[end:])


def _own_words(sentence: Sentence, text: str) -> str | Span:
    text = _PLACE.sub(UNPRINTED, text)
    if sentence.heading and text:
        return Span(text, "strong")
    return text


DRAWING = Drawing(
    "diagnosis in words", (words_section, provenance.section), figures=DiagnosisFigures, conclusion=conclusion
)
