"""The report of a run that makes rubrics: numbers, power, dropped rubrics, and each sample's set."""

from collections.abc import Iterator, Mapping, Sequence

from dokimasia.domain.density import DOMAIN_TITLES
from dokimasia.domain.rubric import WEAK_POOL, RubricSet
from dokimasia.methods.rubrics.figures import STEP, RubricItem, RubricsFigures, SetPower
from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Fold,
    Only,
    Paragraph,
    Section,
    Span,
    Table,
    Texts,
    spans,
)
from dokimasia.report.charts import KEYED, PALETTE, Figure
from dokimasia.report.conclusions import used_sentence
from dokimasia.report.data import Cut, Drawing, ReportData, Views
from dokimasia.report.fields import Share, TableRow
from dokimasia.report.labels import label
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import cell

MOST_PRINTED = 5
WIDEST = 24
"""Maximum number of characters of a bar on a terminal."""

STREAMS = {"must_right": "must-right", "easy_wrong": "easy-wrong", "rubrics": "together"}

POWER = {
    "caught": "planted errors that the set catches",
    "caught_by_gate": "planted errors that the gate catches",
    "caught_by_several": "caught errors that two rubrics or more fail",
    "must_right": "must-right rubrics that some text fails",
    "easy_wrong": "easy-wrong rubrics that some planted error fails",
    "golden": "rubrics that the golden caption passes",
}


def section(data: ReportData) -> Section:
    """Return the section on the numbers of rubrics, per sample and in total, and on dropped ones."""
    run = data.figures_as(RubricsFigures)
    table_row = TableRow("", run, "")
    rows: list[Sequence[Cell]] = []
    for name, title in STREAMS.items():
        rows.append([Span(title, "strong"), cell(table_row, name), cell(table_row, "per_sample", name)])
    columns = (Column("stream", numeric=False), Column("rubrics"), Column("per sample"))
    usage = figures.used(run, data.paid)
    blocks = (
        *_warnings(run),
        Table(columns, rows, "Rubrics, together and a sample"),
        Bullets(_facts(run)),
        Paragraph(f"{usage[0].upper()}{usage[1:]}", "note"),
    )
    return Section("rubrics", "Rubrics", blocks)


def conclusion(data: ReportData) -> list[Cell]:
    """Return how many samples have rubrics, what share of inserted errors they catch, and the usage."""
    run = data.figures_as(RubricsFigures)
    caught_share = run.power.caught
    sentences: list[Cell] = [
        f"{run.sets:,} of {figures.several(run.samples, 'sample')} have rubrics: {run.must_right:,} must-right and "
        f"{run.easy_wrong:,} easy-wrong."
    ]
    if caught_share.n:
        sentences.append(
            ("They catch ", *spans(figures.share_of(caught_share, "/power/caught")), " of the planted errors.")
        )
    return [*sentences, used_sentence(run, data.paid)]


def _warnings(run: RubricsFigures) -> Iterator[Block]:
    if run.weak:
        yield Paragraph(
            f"Easy-wrong rubrics of {run.weak:,} of {run.sets:,} samples are weak: they were mined from fewer than "
            f"{WEAK_POOL} responses, and what one or two models got wrong is no habit of models. Name more with --pool.",
            "warning",
        )
    if run.protocol == "published":
        yield Paragraph("Protocol published: rubrics were not tried before they were accepted.", "note")


def _facts(run: RubricsFigures) -> list[Cell]:
    panel = ", ".join(run.panel) or "none: nobody cross-checked"
    counts = run.dropped
    facts: list[Cell] = [
        f"sets for {run.sets:,} of {figures.several(run.samples, 'sample')} ({figures.several(run.images, 'image')}), "
        f"{run.verified:,} captions verified, {run.checked:,} sets checked by a person",
        f"pool {', '.join(run.pool)}; panel {panel}",
        f"dropped: {counts.rules:,} by the rules, {counts.trial:,} by the trial, {counts.panel:,} by the panel; "
        f"mended: {run.repaired:,}; replaced: {run.replaced:,}; forbidding: {run.negative:,}",
    ]
    if run.easy_wrong:
        n_added = run.easy_wrong - run.mined
        facts.append(f"easy-wrong: {run.mined:,} on errors of the pool, {n_added:,} on facts of the caption")
    if run.kinds:
        facts.append(f"kinds of error: {figures.counts(run.kinds)}")
    if run.failures:
        facts.append(Span(f"failed: {figures.counts(run.failures)}", "bad"))
    return facts


def distributions(data: ReportData) -> Section | None:
    """Return the section on lengths of captions, numbers of rubrics and domains (PerceptionRubrics, figures 3, 5, 11).

    None if there is no set.
    """
    run = data.figures_as(RubricsFigures)
    if not run.sets:
        return None
    blocks: list[Block] = []
    words = run.caption_words
    if words.by_length:
        counts = {f"{start} – {int(start) + STEP - 1}": count for start, count in words.by_length.items()}
        about = f"Golden captions by length in words: mean {words.mean:.0f}, median {words.median:.0f}"
        blocks += _count_blocks("words", "captions", counts, about)
    distribution = run.distribution
    series = {
        "all rubrics": _filled(distribution.rubrics),
        "must-right": _filled(distribution.must_right),
        "easy-wrong": _filled(distribution.easy_wrong),
    }
    chart = histogram(series, x="rubrics of a sample")
    blocks.append(Chart(chart, "Samples by number of rubrics, of each stream and in all"))
    for title, counts in series.items():
        blocks.append(_bars(title, "samples", counts, f"Samples by number of rubrics: {title}"))
    titles = {str(name): title for name, title in DOMAIN_TITLES.items()}
    domains = {titles.get(name, name): count for name, count in run.domains.items()}
    blocks += _count_blocks("domain", "samples", domains, "Samples by domain")
    return Section("distributions", "Captions and rubrics by number", blocks, menu="Distributions")


def _count_blocks(title: str, subject: str, counts: Mapping[str, int], about: str) -> list[Block]:
    """Return counts as a chart and a table."""
    return [Chart(histogram({subject: counts}, x=title), about), _bars(title, subject, counts, about)]


def histogram(series: Mapping[str, Mapping[str, int]], *, x: str) -> Figure:
    """Return a bar chart of counts in the given order, grouped for several series."""
    categories = list(dict.fromkeys(name for counts in series.values() for name in counts))
    if len(series) > 1:
        categories.sort(key=int)
    traces = [
        {
            "type": "bar",
            "name": label(name),
            "x": list(counts),
            "y": list(counts.values()),
            "marker": {"color": PALETTE[number % len(PALETTE)]},
            "hovertemplate": "%{x}: <b>%{y}</b>" + f"<extra>{label(name)}</extra>",
        }
        for number, (name, counts) in enumerate(series.items())
    ]
    axis = {"automargin": True, "fixedrange": True, "title": {"text": x, "font": {"size": 13}}}
    layout: Figure = {
        "height": 320,
        "margin": {"t": 24, "r": 24, "b": 48, "l": 8},
        "bargap": 0.1,
        "xaxis": axis | {"type": "category", "categoryorder": "array", "categoryarray": categories},
        "yaxis": {"automargin": True, "fixedrange": True, "rangemode": "tozero"},
        "showlegend": False,
    }
    return {"data": traces, "layout": layout | KEYED if len(series) > 1 else layout}


def _filled(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts by number, including numbers in between with a count of 0."""
    if not counts:
        return {}
    numbers = [int(number) for number in counts]
    return {str(number): counts.get(str(number), 0) for number in range(min(numbers), max(numbers) + 1)}


def _bars(title: str, subject: str, counts: Mapping[str, int], about: str) -> Table:
    """Return a table of counts, with bars on a terminal."""
    columns = [Column(title, numeric=False), Column(subject), Column("", numeric=False, only="terminal")]
    most = max(counts.values(), default=0)
    rows: list[Sequence[Cell]] = []
    for name, count in counts.items():
        length = max(round(WIDEST * count / most), 1) if count else 0
        rows.append([name, f"{count:,}", Span("\N{FULL BLOCK}" * length, "cited")])
    return Table(columns, rows, about)


def power(data: ReportData) -> Section | None:
    """Return the section on the power of the sets; None if nothing was measured."""
    run = data.figures_as(RubricsFigures)
    table_row = TableRow("", run, "")
    if not run.power.caught.n and not run.power.must_right.n:
        return None
    rows = [[title, cell(table_row, "power", name)] for name, title in POWER.items()]
    by_dimension = [[name, cell(table_row, "power", "dimensions", name)] for name in run.power.dimensions]
    blocks: list[Block] = [
        Table((Column("what", numeric=False), Column("share")), rows, "Power of the sets"),
        Table(
            (Column("dimension", numeric=False), Column("caught")), by_dimension, "Planted errors caught, by dimension"
        ),
        Paragraph(
            f"Measured on golden captions with one planted error each and on {run.power.responses:,} responses, none of which "
            "had a part in choosing the rubrics that it measures: easy-wrong rubrics are mined from all responses, and so "
            "are measured on planted errors alone. 95 % intervals, clustered by image.",
            "note",
        ),
    ]
    if run.power.failures:
        blocks.append(Paragraph(Span(f"not measured: {figures.counts(run.power.failures)}", "bad")))
    return Section("power", "What the rubrics catch", blocks, menu="Power")


def sets(data: ReportData) -> Section | None:
    """Return the section of the displayed samples' sets; None if there are none."""
    items = [RubricItem.model_validate(view) for view in data.samples]
    if not items:
        return None
    folds = [Fold(_title(item), tuple(item_blocks(item))) for item in items]
    printed: list[Block] = []
    for item in items[:MOST_PRINTED]:
        printed.append(Paragraph(Span(_title(item), "strong" if item.set else "bad")))
        if item.set:
            printed += _rubrics(item.set)
    printed.append(Paragraph("One whole, with what was dropped: `dokimasia show RUN --sample ID`.", "note"))
    page = Only("page", (Paragraph(data.selection.text, "note"), *folds))
    return Section("sets", "Rubrics by sample", (page, Only("terminal", printed)))


def _title(item: RubricItem) -> str:
    if item.set is not None:
        return f"{item.sample} ({item.set.domain})"
    return f"{item.sample}: {item.failure}: {item.reason or ''}"


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield the blocks of a set."""
    return item_blocks(RubricItem.model_validate(views[0]))


def item_blocks(item: RubricItem) -> Iterator[Block]:
    """Yield the blocks of a set: caption, rubrics with evidence, and dropped rubrics with reasons."""
    rubric_set = item.set
    if rubric_set is None:
        yield Paragraph(f"{item.failure}: {item.reason or ''}", "warning")
        return
    yield Texts([(Span("caption", "strong"), rubric_set.caption)])
    yield from _rubrics(rubric_set, evidence=True)
    if rubric_set.tried and item.power is not None:
        yield from _trial_blocks(rubric_set, item.power)
    if rubric_set.dropped:
        yield Paragraph(Span("dropped", "strong"))
        yield Bullets([f"by the {entry.by}: {entry.rubric.statement} ({entry.reason})" for entry in rubric_set.dropped])


def _rubrics(rubric_set: RubricSet, *, evidence: bool = False) -> Iterator[Block]:
    lines: list[Cell] = []
    for rubric in rubric_set.rubrics:
        mark = "gate" if rubric.stream == "must_right" else "fine"
        support = f" ← {', '.join(rubric.support)}" if rubric.support else ""
        quoted = f'  "{rubric.evidence}"' if evidence and rubric.evidence else ""
        lines.append((Span(f"{mark}  ", "cited"), rubric.statement, Span(f"{support}{quoted}", "muted")))
    if lines:
        yield Bullets(lines)


def _trial_blocks(rubric_set: RubricSet, power: SetPower) -> Iterator[Block]:
    """Yield the texts on which the set was measured."""
    yield Paragraph((Span("tried", "strong"), " on what had no part in choosing its rubrics"))
    lines: list[Cell] = [
        _labelled("planted errors caught: ", power.caught),
        _labelled("rubrics failed by some text: ", power.rubrics),
    ]
    for trial in rubric_set.tried:
        name = f"{trial.what} {trial.name}".strip()
        changes = [f'"{change.new}" for "{change.original}"' for change in trial.changes]
        if changes:
            name += f": {', '.join(changes)}"
        failures = [str(number) for number, passed in enumerate(trial.passes, start=1) if passed is False]
        outcome = f"fails {', '.join(failures)}" if failures else "passes all"
        end = Span(trial.failure, "bad") if trial.failure else Span(outcome, "muted")
        lines.append((f"{name} ", end))
    yield Bullets(lines)


def _labelled(title: str, share: Share) -> Cell:
    text = figures.share_of(share)
    if isinstance(text, tuple):
        return (title, *text)
    return (title, text)


DRAWING = Drawing(
    "rubrics",
    (section, distributions, power, sets, skipped.section, provenance.section),
    sample=sample,
    figures=RubricsFigures,
    conclusion=conclusion,
)
