"""The report of a probe: undetected errors by paradigm and judge, blind spots, variants side by side, and samples."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

from dokimasia.domain.blindspots import EVALUATORS, Evaluator, Paradigm, Task, paradigm_of
from dokimasia.domain.wording import percentage
from dokimasia.methods.probe.figures import (
    BY_ANY,
    HIGHER,
    LOWER,
    NEW,
    ORIGINAL,
    WITH,
    WITHOUT,
    ArmsBeside,
    GoldJudgements,
    ProbeComparison,
    ProbedEvaluator,
    ProbedKind,
    ProbedTask,
    ProbeFigures,
    ProbeItem,
    ProbeItems,
    ProbeShare,
    limits_span,
    percent,
    percent_span,
    plain_percent,
    probe_items,
)
from dokimasia.methods.probe.request import ProbePlan
from dokimasia.methods.probe.units import stored_probes
from dokimasia.prompts.dimensions import error_dimensions, error_groups
from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Facts,
    Fold,
    Image,
    Only,
    Paragraph,
    Section,
    Span,
    Table,
    Texts,
)
from dokimasia.report.charts import AXIS, KEYED, PALETTE, Figure, Point, heat_chart, plain_layout
from dokimasia.report.conclusions import used_sentence
from dokimasia.report.data import Cut, Drawing, Picture, ReportData, Views, cut_text
from dokimasia.report.fields import Bounds, Interval, TableRow, numbered_rows, pointer
from dokimasia.report.footnotes import disagreement
from dokimasia.report.labels import label, short_labels, ticks
from dokimasia.report.overlay import look_text, looks_at
from dokimasia.report.sections import provenance
from dokimasia.report.tables import TableColumn, cell, column, computed_column, join_tables, labelled_table, table
from dokimasia.runs.figures import grouped
from dokimasia.runs.reading.reporting import pictures_of, select_samples
from dokimasia.storage.excerpts import failed_samples, samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, run_samples

PARADIGMS: dict[Paradigm, str] = {
    "single": "single",
    "pairwise": "pairwise",
    "reference": "reference",
    "checkpoints": "checkpoints",
    "gated": "gated",
    "right-or-wrong": "right or wrong",
}
STRATEGIES = {"vanilla": "V", "rubric": "R", "rules": "R", "axes": "Ax", "axes-rubric": "Ax+R", "axes-rules": "Ax+R"}
MEANING_OF_STRATEGIES = "V: vanilla; R: with a rubric or rules; Ax: with axes; Ax+R: with both"

RULE = (
    "A dimension is called a blind spot of a judge where its errors go undetected more often than the judge's other errors "
    "on the same images under the same evaluator, and chance would bring that about in at most 5 % of cases: one-sided "
    "exchanges of outcomes within images, adjusted over all dimensions and evaluators of the judge (Benjamini and "
    "Hochberg). A dimension that stands on hard images is none for that. A judge that misses all kinds alike has none; its "
    "share over all errors says how much it misses."
)

WAY_OUT = (
    "`dokimasia show RUN --sample ID` says why each failed (api_error: the endpoint did). A judge whose endpoint refuses "
    "temperature or reasoning effort is probed as it is configured by `--sampling own`."
)

THREE_RULES = (
    "An axis detects an error where its points change, and in pairs where it prefers the gold answer. By any relevant axis, the "
    "rule of every share that is called undetected, an error is detected where at least one of them does: FOCUS states this for "
    "single scores, and of pairs only that the relevant axes count, so that the same rule for both is this project's. By "
    "majority, more than half of them have to, and an honest tie counts against the judge. By overall, that axis alone decides."
)

NAMED_AT_MOST = 3
"""Maximum number of names with the same share."""

FEW = 30
"""With fewer errors of a kind, a note says that a blind spot may be overlooked."""

LONGEST_TEXT, LONGEST_JUSTIFICATION = 3_000, 400
"""Characters of a sample's text, and of a justification, on a page."""


class EvaluatorRow(NamedTuple):
    """A judge under one evaluator, with the row of its figures."""

    judge: str
    evaluator: Evaluator
    row: TableRow[ProbedEvaluator]

    @property
    def figures(self) -> ProbedEvaluator:
        """The row's figures."""
        return self.row.figures

    @property
    def labels(self) -> tuple[Cell, Cell]:
        """The first cells of a table row: the judge and the evaluator."""
        return Span(self.judge, "strong"), short(self.evaluator)


class TaskReport(NamedTuple):
    """The figures of a task, their pointer, and whether it is the only task."""

    task: Task
    figures: ProbedTask
    place: str
    alone: bool

    def evaluator_table(
        self,
        rows: Sequence[EvaluatorRow],
        columns: Sequence[TableColumn[ProbedEvaluator]],
        about: str,
        *,
        sortable: bool = False,
    ) -> Table:
        """Return a table with a row for each judge and evaluator."""
        labelled = [(row.labels, row.row) for row in rows]
        heads, title = ("judge", "evaluator"), self.titled(about)
        return labelled_table(ProbedEvaluator, heads, labelled, columns, title, sortable=sortable)

    def titled(self, text: str) -> str:
        """Return a table's title, with the task if there are several."""
        if self.alone:
            return text
        return f"{text}, {self.task}"

    def evaluators(self) -> list[Evaluator]:
        """Return the evaluators used with any judge, in their fixed order."""
        names = {name for judge in self.figures.judges.values() for name in judge.evaluators}
        return [name for name in EVALUATORS if name in names]

    def rows(self) -> list[EvaluatorRow]:
        """Return the rows of every judge and evaluator."""
        rows: list[EvaluatorRow] = []
        for name, judge in self.figures.judges.items():
            for evaluator in self.evaluators():
                if evaluator in judge.evaluators:
                    place = f"{self.place}{pointer('judges', name, 'evaluators', evaluator)}"
                    rows.append(EvaluatorRow(name, evaluator, TableRow("", judge.evaluators[evaluator], place)))
        return rows

    def dimension(self, name: str) -> str:
        """Return the published title of a dimension, or its name if it is not built in."""
        dimension = error_dimensions(self.task).get(name)
        if dimension is None:
            return name
        return dimension.title

    def group(self, name: str) -> str:
        """Return a group with its published title."""
        title = error_groups(self.task).get(name)
        if title is None:
            return name
        return f"{title} ({name})"


def tasks_of(data: ReportData) -> list[TaskReport]:
    """Return the figures of each task."""
    tasks = data.figures_as(ProbeFigures).tasks
    return [
        TaskReport(task, task_figures, pointer("tasks", task), len(tasks) == 1) for task, task_figures in tasks.items()
    ]


def strategy(evaluator: Evaluator) -> str:
    """Return the short name of an evaluator's strategy; a dash if its paradigm has only one strategy."""
    if evaluator in PARADIGMS:
        return "–"
    return STRATEGIES.get(evaluator.partition("-")[2], "–")


def short(evaluator: Evaluator) -> str:
    """Return an evaluator's short name, such as `pairwise Ax+R`."""
    paradigm, variant = PARADIGMS[paradigm_of(evaluator)], strategy(evaluator)
    if variant == "–":
        return paradigm
    return f"{paradigm} {variant}"


def _scored_cell(counts: ProbeShare | GoldJudgements | None, place: str) -> Cell:
    """Return the number of judged items out of the total."""
    if counts is None:
        return figures.NOTHING
    return (figures.count(counts.n_scored, f"{place}/n_scored"), "/", figures.count(counts.n, f"{place}/n"))


def _scored_errors(share: ProbeShare, place: str) -> Cell:
    return figures.count(share.n_scored, f"{place}/n_scored")


def _bounds(bounds: Bounds | None, place: str) -> Cell:
    return figures.percent_ends(bounds)


def _points(difference: Interval | None, place: str, *, sure: bool) -> Cell:
    """Return a difference in percentage points with its interval, marked if it is significant."""
    if difference is None:
        return figures.NOTHING
    text = figures.signed_text(100 * difference.mean, 1)
    number = Span(text, "strong" if sure else "", f"{place}/mean", difference.mean)
    return (number, limits_span(difference, lambda end: figures.signed_text(100 * end, 0)))


def _tinted(kind: ProbedKind | None, place: str) -> Cell:
    """Return an undetected share, tinted (lower is better), without its interval; a blind spot is marked."""
    if kind is None or kind.undetected.share is None:
        return figures.NOTHING
    share = kind.undetected.share
    text, blind = f"{100 * share:.0f}", kind.spot is not None and kind.spot.blind
    if blind:
        text = f"{text} *"
    return Span(text, "bad" if blind else "", f"{place}/undetected/share", share, 1 - share)


def _section(id: str, title: str, blocks: Sequence[Block], menu: str, *notes: str) -> Section | None:
    """Return a section with notes below its blocks; None if there are no blocks."""
    if not blocks:
        return None
    return Section(id, title, (*blocks, *(Paragraph(note, "note") for note in notes)), menu=menu)


def failures(data: ReportData) -> Section:
    """Return the section in the form of the paper's table 3: undetected and score-invariant shares."""
    blocks: list[Block] = []
    tasks = tasks_of(data)
    for task in tasks:
        blocks.append(_main_table(task))
        notes = (other_ways_of_asking(task.figures), without_neutral(task))
        blocks += [Paragraph(note, "note") for note in notes if note]
    blocks += [Paragraph(note, "note") for note in _unjudged_and_unchecked(data.figures_as(ProbeFigures).probes)]
    blocks.append(
        Paragraph(
            f"Undetected (lower is better): the share of errors that no relevant axis detects. Score-invariant "
            f"({HIGHER}): the share of harmless changes judged equal, on all axes; by reference, with the full score. "
            f"{MEANING_OF_STRATEGIES}. 95 % intervals, clustered by image.",
            "note",
        )
    )
    blocks += [Only("page", (_other_forms(task),)) for task in tasks]
    blocks += [*_by_rule(tasks), *_failure_blocks(tasks)]
    return Section("failures", "What the judges miss", blocks, menu="Failures")


def conclusion(data: ReportData) -> list[Cell]:
    """Return, by task, which judges miss the fewest and the most errors, and the usage."""
    headlines: list[Cell] = []
    for task in tasks_of(data):
        if task.figures.shown:
            headlines.append(headline(task.task, measured_judges(task)))
    return [*headlines, used_sentence(data.figures_as(ProbeFigures), data.paid)]


def _main_table(task: TaskReport) -> Table:
    columns = [Column("paradigm", numeric=False), Column("strategy", numeric=False, meaning=MEANING_OF_STRATEGIES)]
    for judge in task.figures.shown:
        columns.append(Column(f"{judge} undetected", meaning=LOWER))
        columns.append(Column(f"{judge} score-invariant", meaning=f"harmless changes judged equal; {HIGHER}"))
    overall = TableRow("", task.figures, task.place)
    rows: list[Sequence[Cell]] = []
    for evaluator in task.evaluators():
        cells: list[Cell] = []
        for judge in task.figures.shown:
            for field in ("undetected", "equal"):
                cells.append(cell(overall, "judges", judge, "evaluators", evaluator, field))
        if any(entry is not figures.NOTHING for entry in cells):
            rows.append([PARADIGMS[paradigm_of(evaluator)], strategy(evaluator), *cells])
    return Table(columns, rows, task.titled("Undetected errors and harmless changes judged equal, in percent"))


def _other_forms(task: TaskReport) -> Table:
    return task.evaluator_table(
        task.rows(),
        [
            column("undetected", title="errors", meaning="judged, of all", write=_scored_cell),
            column("undetected"),
            column(
                "undetected",
                "bounds",
                title="bounds",
                meaning="of undetected, were none or all of the failed ones undetected",
                write=_bounds,
            ),
            column("strict"),
            column("worse"),
            column("equal", title="harmless", meaning="changes judged, of all", write=_scored_cell),
            column("preferred"),
            column("flickers"),
            column("gold", title="gold answers", meaning="judged on their own, of all", write=_scored_cell),
            column("unasked", title="not asked", meaning="since the gold answer's own judgement failed, or its basis"),
        ],
        "Other forms, and what they rest on",
        sortable=True,
    )


def _by_rule(tasks: Iterable[TaskReport]) -> Iterator[Block]:
    """Yield a table per task of shares undetected by any relevant axis, a majority, and `overall`, if any."""
    any_rows = False
    for task in tasks:
        rows = [row for row in task.rows() if row.figures.overall is not None]
        if rows:
            any_rows = True
            columns = [
                column("overall", title="errors", meaning="judged, of all", write=_scored_cell),
                column("undetected", title="by any relevant axis", meaning=BY_ANY),
                column("majority", write=plain_percent),
                column("overall", write=plain_percent),
            ]
            about = "Undetected by any relevant axis, by a majority of them, and by overall, in percent"
            yield task.evaluator_table(rows, columns, about)
    if any_rows:
        yield Paragraph(THREE_RULES, "note")


def _failure_blocks(tasks: Iterable[TaskReport]) -> Iterator[Block]:
    by_judge: dict[str, Counter[str]] = {}
    unasked = 0
    for task in tasks:
        for row in task.rows():
            by_judge.setdefault(row.judge, Counter()).update(row.figures.failures)
            unasked += row.figures.unasked
    lines = [f"{judge} {figures.counts(dict(sorted(kinds.items())))}" for judge, kinds in by_judge.items() if kinds]
    if lines:
        refused = any("api_error" in kinds for kinds in by_judge.values())
        advice = f" {WAY_OUT}" if refused else ""
        yield Paragraph(f"Failed judgements, which are no numbers: {'; '.join(lines)}.{advice}", "warning")
    if unasked:
        text = "not judged, since the gold answer's own judgement failed, or what both rest on: they count in n and in bounds."
        yield Paragraph(f"{figures.several(unasked, 'item')} {text}", "warning")


class MeasuredJudge(NamedTuple):
    """A judge under one evaluator: the share of errors that go undetected, and of harmless changes judged equal."""

    judge: str
    evaluator: str
    undetected: float
    equal: float | None


def measured_judges(task: TaskReport) -> list[MeasuredJudge]:
    """Return all judges and evaluators of a task that have a share, with all budgets and tools."""
    measured: list[MeasuredJudge] = []
    for name, judge in task.figures.judges.items():
        for evaluator, evaluator_figures in judge.evaluators.items():
            if evaluator_figures.undetected.share is not None:
                shares = evaluator_figures.undetected.share, evaluator_figures.equal.share
                measured.append(MeasuredJudge(name, short(evaluator), *shares))
    return measured


def headline(task: str, measured: Sequence[MeasuredJudge]) -> str:
    """Return a sentence on the judges and evaluators that miss the fewest and the most errors."""
    if not measured:
        return f"Nothing of {task} was judged."
    if len(measured) == 1:
        return f"{task}: {_names(measured)} misses {_percent_text(measured[0].undetected)} of the errors."
    least = min(row.undetected for row in measured)
    most = max(row.undetected for row in measured)
    fewest = [row for row in measured if row.undetected == least]
    if least == most:
        return f"{task}: {_names(measured)} miss {_percent_text(least)} of the errors each."
    worst = [row for row in measured if row.undetected == most]
    if len({row.judge for row in measured}) == 1:
        text = f"{task}: {measured[0].judge} misses fewest errors under {_names(fewest, alone=True)}, {_percent_text(least)}, "
        text += f"and most under {_names(worst, alone=True)}, {_percent_text(most)}."
    else:
        text = (
            f"{task}: fewest errors are missed by {_names(fewest)}, {_percent_text(least)}; most by {_names(worst)}, "
        )
        text += f"{_percent_text(most)}."
    if any(row.equal is not None and row.equal < 0.5 for row in fewest):
        text += " A judge that also penalises harmless changes catches errors trivially."
    return text


def _names(measured: Sequence[MeasuredJudge], *, alone: bool = False) -> str:
    """Return names, each with the harmless changes that the judge judged equal, if any."""
    names: list[str] = []
    for row in measured[:NAMED_AT_MOST]:
        name = row.evaluator if alone else f"{row.judge} under {row.evaluator}"
        harmless = "" if row.equal is None else f" (score-invariant {_percent_text(row.equal)})"
        names.append(f"{name}{harmless}")
    if len(measured) > NAMED_AT_MOST:
        names.append(f"{len(measured) - NAMED_AT_MOST} more")
    return figures.in_words(names)


def _percent_text(share: float) -> str:
    return percentage(share, 1)


def other_ways_of_asking(task: ProbedTask) -> str:
    """Return a note on where to find judges missing from the main table; empty if all are in it."""
    other_names = [name for name in task.judges if name not in task.shown]
    if not other_names:
        return ""
    return (
        f"Of each judge the table has one way of asking: without tools, at the last effort named. {', '.join(other_names)} "
        "stand under efforts and tools."
    )


def without_neutral(task: TaskReport) -> str:
    """Return a note on why there is no score-invariant share; empty if harmless changes were judged."""
    if any(row.figures.equal.n for row in task.rows()):
        return ""
    return (
        "No harmless changes are among the perturbations, so score-invariant is not measured: `perturb` makes them with "
        "score_neutral among its --dimensions."
    )


def _unjudged_and_unchecked(probes: ProbeItems) -> Iterator[str]:
    """Yield notes on perturbations that an evaluator does not judge, and on unlabelled ones."""
    perturbations = probes.errors + probes.neutral
    for evaluator, count in probes.unjudged.items():
        yield (
            f"{short(evaluator).capitalize()} judges final answers alone: {count:,} of {perturbations:,} perturbations leave "
            "theirs as it is, are no errors to it, and it is not asked about them."
        )
    if unchecked := perturbations - probes.checked:
        yield (
            f"Nobody has decided on {unchecked:,} of {perturbations:,} perturbations, which are taken as they were meant: "
            "`dokimasia decide` labels those of a run."
        )


def groups(data: ReportData) -> Section | None:
    """Return the section in the form of the paper's figure 2: undetected errors by group and paradigm."""
    blocks: list[Block] = []
    for task in tasks_of(data):
        cells = task.figures.groups
        if not cells:
            continue
        paradigms: list[Paradigm] = [name for name in PARADIGMS if any(name in means for means in cells.values())]
        titled: dict[str, dict[str, Interval | None]] = {}
        rows: list[Sequence[Cell]] = []
        for name, means in cells.items():
            titled[task.group(name)] = {PARADIGMS[paradigm]: mean for paradigm, mean in means.items()}
            row: list[Cell] = [task.group(name)]
            for paradigm in paradigms:
                row.append(percent(means.get(paradigm), f"{task.place}/groups{pointer(name, paradigm)}"))
            rows.append(row)
        columns = [Column("group", numeric=False), *(Column(PARADIGMS[paradigm]) for paradigm in paradigms)]
        about = task.titled("Undetected errors by group and paradigm, in percent")
        chart = groups_chart(titled, title="undetected, percent")
        blocks += [Chart(chart, f"{about}; {LOWER}"), Table(columns, rows, about)]
    text = f"Mean over the judges of the table above and over the strategies of a paradigm; {LOWER}."
    return _section("groups", "Kinds of error by paradigm", blocks, "Groups", text)


def dimensions(data: ReportData) -> Section | None:
    """Return the section on dimensions: a heat map per judge of undetected errors, and blind spots."""
    blocks: list[Block] = []
    tasks = tasks_of(data)
    for task in tasks:
        if not task.figures.dimensions:
            continue
        blocks += [_blind_spots(task), Paragraph(tested_on(task), "note")]
        for judge in task.figures.judges:
            heat_map = list(_heat_map(task, judge))
            title = task.titled(judge)
            if judge in task.figures.shown:
                blocks += [Paragraph(Span(title, "strong")), *heat_map]
            else:
                blocks.append(Fold(f"{title}, by dimension", heat_map, f"dimensions-{judge}-{task.task}"))
    marks = "Undetected errors in percent; * marks a blind spot."
    return _section("dimensions", "Blind spots", blocks, "Blind spots", marks, RULE)


def _blind_spots(task: TaskReport) -> Block:
    """Return the blind spots of all judges on a task, or a sentence that there are none."""
    rows: list[tuple[Sequence[Cell], TableRow[ProbedKind]]] = []
    wholes: dict[str, Cell] = {}
    for row in task.rows():
        for name, kind in row.figures.dimensions.items():
            if kind.spot is not None and kind.spot.blind:
                place = f"{row.row.pointer}{pointer('dimensions', name)}"
                rows.append(((*row.labels, task.dimension(name)), TableRow(place, kind, place)))
                wholes[place] = cell(row.row, "undetected", write=plain_percent)
    if not rows:
        return Paragraph(f"{task.titled(no_blind_spot(task))}.", "lead")
    columns: list[TableColumn[ProbedKind]] = [
        column("undetected", meaning="errors of this dimension, in percent, with its 95 % interval"),
        column("majority", write=plain_percent),
        column("overall", write=plain_percent),
        column("undetected", title="errors", meaning="judged", write=_scored_errors),
        computed_column(
            "all its errors", lambda row: wholes[row.name], meaning="undetected of all errors under the evaluator"
        ),
        column("spot", "adjusted", linked=False),
    ]
    heads = ("judge", "evaluator", "blind spot")
    return labelled_table(ProbedKind, heads, rows, columns, task.titled("Blind spots"), sortable=True)


def no_blind_spot(task: TaskReport) -> str:
    """Return a sentence that no blind spot was found, with the number of errors and a caveat."""
    counts = [kind.undetected.n_scored for row in task.rows() for kind in row.figures.dimensions.values()]
    least, most = min(counts, default=0), max(counts, default=0)
    count = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    text = f"No dimension is told to be a blind spot of any judge by the rule below, from {count} judged errors a dimension"
    if most < FEW:
        text += ", too few to tell more than kinds that are missed nearly always: judges are not cleared by it"
    return text


def tested_on(task: TaskReport) -> str:
    """Return a sentence on the images that the blind-spot test used and left out, and on untested dimensions."""
    images: list[int] = []
    most_alone = 0
    untested: dict[str, None] = {}
    for judge in task.figures.judges.values():
        for evaluator in judge.evaluators.values():
            for name, kind in evaluator.dimensions.items():
                if not kind.undetected.n_scored:
                    continue
                if kind.spot is None:
                    untested[task.dimension(name)] = None
                else:
                    images.append(kind.spot.images)
                    most_alone = max(most_alone, kind.spot.alone)
    sentences: list[str] = []
    if images:
        least, most = min(images), max(images)
        count = f"{least:,} to {most:,}" if most > least else f"{least:,}"
        sentence = "None holds errors of it alone."
        if most_alone:
            sentence = f"Up to {most_alone:,} more hold errors of it alone and say nothing of it."
        sentences.append(
            f"A dimension is tested on the images that hold errors of other dimensions, too: {count} of them a dimension. "
            f"{sentence}"
        )
    if untested:
        sentences.append(
            "Not tested under some evaluator, since no image holds errors of it and of another dimension: "
            f"{figures.in_words(list(untested))}; `perturb` makes errors of several --dimensions from the same samples."
        )
    return " ".join(sentences)


def _heat_map(task: TaskReport, judge: str) -> Iterator[Block]:
    """Yield a judge's heat map, and its figures as a table."""
    by_evaluator = task.figures.judges[judge].evaluators
    evaluators: list[Evaluator] = [name for name in task.evaluators() if name in by_evaluator]
    values: list[list[float | None]] = []
    rows: list[Sequence[Cell]] = []
    for name, group in task.figures.dimensions.items():
        shares: list[float | None] = []
        cells: list[Cell] = []
        most_judged = 0
        for evaluator in evaluators:
            kind = by_evaluator[evaluator].dimensions.get(name)
            share = None if kind is None else kind.undetected.share
            shares.append(None if share is None else round(100 * share, 1))
            place = pointer("judges", judge, "evaluators", evaluator, "dimensions", name)
            cells.append(_tinted(kind, f"{task.place}{place}"))
            if kind is not None:
                most_judged = max(most_judged, kind.undetected.n_scored)
        values.append(shares)
        rows.append([task.dimension(name), group, figures.count(most_judged), *cells])
    names = [short(evaluator) for evaluator in evaluators]
    chart = heat_chart(
        [task.dimension(name) for name in task.figures.dimensions],
        names,
        values,
        hover="%{y}<br>%{x}: <b>%{z:.1f} %</b> undetected",
        failures=True,
    )
    columns = [
        Column("dimension", numeric=False),
        Column("group", numeric=False),
        Column("errors", meaning="judged, under the evaluator with most"),
        *map(Column, names),
    ]
    about = task.titled(f"Undetected by {judge}, by dimension and evaluator, in percent")
    yield Chart(chart, f"{about}; {LOWER}")
    yield Table(columns, rows, about)


def justifications(data: ReportData) -> Section | None:
    """Return the section on errors that justifications name although the scores do not reflect them."""
    blocks: list[Block] = []
    for task in tasks_of(data):
        rows = [row for row in task.rows() if row.figures.unnoticed.n]
        if rows:
            columns = [
                column("undetected", meaning=f"by the scores alone; {LOWER}", write=plain_percent),
                column("named"),
                column("named", "n", title="of"),
                column("unnoticed"),
                column("false_alarms"),
            ]
            about = "Errors that the justification names and the score ignores, in percent"
            blocks.append(task.evaluator_table(rows, columns, about))
    text = (
        "A reader, a separate model, says of each justification whether it names the error. What it finds where there is "
        "none stands beside: a share named that is no higher says nothing of the judge."
    )
    return _section("justifications", "Named and not scored", blocks, "Justifications", text)


def places(data: ReportData) -> Section | None:
    """Return the section on the effect of the order on pairwise judgements."""
    columns: list[TableColumn[ProbedEvaluator]] = [
        column("places", "n", title="pairs"),
        column("places", "consistency"),
        computed_column(
            "bias",
            _bias,
            meaning="percentage points by which the first place is chosen more often than the second",
        ),
        column("places", "adjusted", linked=False),
        column("undetected", meaning="mean of both orders", write=plain_percent),
        column("either"),
        column("both"),
    ]
    blocks: list[Block] = []
    for task in tasks_of(data):
        rows: list[tuple[Sequence[Cell], TableRow[ProbedEvaluator]]] = []
        for row in task.rows():
            if row.figures.places is not None:
                rows.append(((Span(row.judge, "strong"), strategy(row.evaluator)), row.row))
        if rows:
            about = task.titled("Pairwise judgements in both orders")
            blocks.append(labelled_table(ProbedEvaluator, ("judge", "strategy"), rows, columns, about))
    return _section("places", "The order of places", blocks, "Places")


def length(data: ReportData) -> Section | None:
    """Return the section on the effect of padding on judgements; None if nothing was padded."""
    columns: list[TableColumn[ProbedEvaluator]] = [
        column("length", "n", title="answers"),
        column("length", "changed"),
        column(
            "length",
            "bias",
            title="length bias",
            meaning="percentage points by which padding makes a judgement better more often than worse",
            write=partial(_points, sure=False),
        ),
    ]
    blocks: list[Block] = []
    for task in tasks_of(data):
        rows = [row for row in task.rows() if row.figures.length is not None]
        if rows:
            about = "Right answers and errors behind sentences that say nothing"
            blocks.append(task.evaluator_table(rows, columns, about))
    return _section("length", "The length of an answer", blocks, "Length")


def _bias(row: TableRow[ProbedEvaluator]) -> Cell:
    pairs = row.figures.places
    if pairs is None:
        return figures.NOTHING
    return _points(pairs.bias, f"{row.pointer}/places/bias", sure=pairs.adjusted <= figures.SURE)


def _difference(row: TableRow[ProbeComparison]) -> Cell:
    return _points(row.figures.difference, f"{row.pointer}/difference", sure=figures.is_sure(row.figures.adjusted))


def _side(side: int, row: TableRow[ProbeComparison]) -> Cell:
    shares = row.figures.shares
    if shares is None:
        return figures.NOTHING
    return percent_span(shares[side], f"{row.pointer}/shares/{side}")


COMPARISON: list[TableColumn[ProbeComparison]] = [
    computed_column(
        "first",
        partial(_side, 0),
        meaning="undetected on the first side, in percent, over the items judged on both",
    ),
    computed_column(
        "second",
        partial(_side, 1),
        meaning="undetected on the second side, in percent, over the items judged on both",
    ),
    computed_column(
        "difference",
        _difference,
        meaning="in percentage points, second minus first, paired by item, with its 95 % interval",
    ),
    column("n"),
    column("adjusted", linked=False),
]
"""The columns of a comparison: both shares, difference, number of items, and adjusted p-value."""

COMPARED: dict[Literal["judges", "paradigms", "strategies"], tuple[str, str]] = {
    "judges": ("Judges under the same evaluator", "evaluator"),
    "paradigms": ("Paradigms of the same judge", "judge"),
    "strategies": ("Strategies of the same judge and paradigm", "judge and paradigm"),
}
"""The title of a list of comparisons, and what both sides share."""

LabelledComparison = tuple[Sequence[Cell], TableRow[ProbeComparison]]


def comparisons(data: ReportData) -> Section | None:
    """Return the section on differences in undetected errors between judges, paradigms and strategies."""
    blocks: list[Block] = []
    figures_of_pairs: list[ProbeComparison] = []
    for task in tasks_of(data):
        for kind, (about, shared) in COMPARED.items():
            rows: list[LabelledComparison] = []
            for number, comparison in enumerate(getattr(task.figures.comparisons, kind)):
                sides = f"{_title(comparison.second)} − {_title(comparison.first)}"
                place = f"{task.place}/comparisons/{kind}/{number}"
                rows.append(((_title(comparison.of), sides), TableRow("", comparison, place)))
            if not rows:
                continue
            figures_of_pairs += [row.figures for _, row in rows]
            heads = (shared, "second minus first")
            table = labelled_table(ProbeComparison, heads, rows, COMPARISON, task.titled(about), sortable=True)
            if kind == "strategies":
                title = f"{task.titled(about)}: {figures.several(len(rows), 'difference')}"
                blocks.append(Fold(title, [table], f"comparisons-{kind}-{task.task}"))
            else:
                blocks.append(table)
    if not blocks:
        return None
    text = (
        "Above 0 the second misses more. An item counts where both sides judged it; a paradigm's value is the mean over its "
        "strategies."
    )
    notes = (Paragraph(text, "note"), *disagreement(figures_of_pairs))
    return Section("comparisons", "Who misses more", (*blocks, *notes), menu="Comparisons")


def _title(name: str) -> str:
    """Return the displayed name of an evaluator or a paradigm; any other name is unchanged."""
    titles: dict[str, str] = {evaluator: short(evaluator) for evaluator in EVALUATORS}
    return {**titles, **PARADIGMS}.get(name, name)


def _effort(budget: str) -> str:
    return budget or "default"


def budgets(data: ReportData) -> Section | None:
    """Return the section on reasoning efforts, in the form of the paper's figure 4, with differences."""
    blocks: list[Block] = []
    for task in tasks_of(data):
        entries = task.figures.budgets
        if not entries:
            continue
        columns: list[TableColumn[ArmsBeside]] = []
        for budget in dict.fromkeys(name for entry in entries for name in entry.arms):
            for field, title in (("undetected", "undetected"), ("equal", "score-invariant")):
                columns.append(column("arms", budget, field, title=f"{_effort(budget)} {title}"))
        rows: list[tuple[Sequence[Cell], TableRow[ArmsBeside]]] = []
        changes: list[LabelledComparison] = []
        lines: dict[str, dict[str, ProbeShare]] = {}
        for number, entry in enumerate(entries):
            place, evaluator = f"{task.place}/budgets/{number}", short(entry.evaluator)
            rows.append(((Span(entry.model, "strong"), evaluator), TableRow("", entry, place)))
            lines[f"{entry.model}, {evaluator}"] = {
                _effort(budget): arm.undetected for budget, arm in entry.arms.items()
            }
            for row in numbered_rows(entry.differences, f"{place}/differences"):
                efforts = f"{_effort(row.figures.second)} − {_effort(row.figures.first)}"
                changes.append(((entry.model, evaluator, efforts), row))
        about = task.titled("Undetected errors by reasoning effort, in percent")
        blocks += [
            Chart(budgets_chart(lines, title="undetected, percent"), f"{about}; {LOWER}"),
            labelled_table(ArmsBeside, ("judge", "evaluator"), rows, columns, about),
            labelled_table(
                ProbeComparison,
                ("judge", "evaluator", "efforts"),
                changes,
                COMPARISON,
                task.titled("Differences between efforts"),
                sortable=True,
            ),
            *disagreement(row.figures for _, row in changes),
        ]
    return _section("budgets", "Reasoning efforts", blocks, "Efforts")


def tools(data: ReportData) -> Section | None:
    """Return the section on undetected errors without and with tools, overall and by dimension."""
    blocks: list[Block] = []
    for task in tasks_of(data):
        entries = task.figures.tools
        if not entries:
            continue
        about = task.titled("Undetected errors without tools and with them, in percent")
        blocks.append(_two_ways(entries, f"{task.place}/tools", (WITHOUT, WITH), about))
        rows: list[LabelledComparison] = []
        for number, entry in enumerate(entries):
            for name, comparison in entry.dimensions.items():
                place = f"{task.place}/tools/{number}/dimensions{pointer(name)}"
                labels = (entry.model, short(entry.evaluator), task.dimension(name))
                rows.append((labels, TableRow("", comparison, place)))
        heads = ("judge", "evaluator", "dimension")
        about = task.titled("With tools less without, by dimension")
        blocks.append(labelled_table(ProbeComparison, heads, rows, COMPARISON, about, sortable=True))
        blocks += disagreement(row.figures for _, row in rows)
    text = "Below 0, errors are found with tools that are missed without."
    return _section("tools", "With tools and without", blocks, "Tools", text)


def references(data: ReportData) -> Section | None:
    """Return the section in the form of the paper's table 4: undetected by the original and by a new reference."""
    blocks: list[Block] = []
    for task in tasks_of(data):
        entries = task.figures.references
        if entries:
            about = task.titled("Undetected errors by the original reference and by a new one, in percent")
            blocks.append(_two_ways(entries, f"{task.place}/references", (ORIGINAL, NEW), about))
            blocks += disagreement(entry.differences[0] for entry in entries)
    text = (
        "A new reference is another right answer, drawn anew: it differs from the judged answer by more than the error."
    )
    return _section("references", "New references", blocks, "References", text)


def _two_ways(entries: Sequence[ArmsBeside], place: str, variants: tuple[str, str], about: str) -> Table:
    rows: list[tuple[Sequence[Cell], TableRow[ArmsBeside]]] = []
    changes: list[TableRow[ProbeComparison]] = []
    for number, entry in enumerate(entries):
        labels = (Span(entry.model, "strong"), short(entry.evaluator))
        rows.append((labels, TableRow("", entry, f"{place}/{number}")))
        changes.append(TableRow("", entry.differences[0], f"{place}/{number}/differences/0"))
    undetected = [
        column("arms", variant, "undetected", title=variant, meaning=f"undetected; {LOWER}") for variant in variants
    ]
    equal = [
        column("arms", variant, "equal", title=f"score-invariant, {variant}", write=plain_percent)
        for variant in variants
    ]
    return join_tables(
        [
            labelled_table(ArmsBeside, ("judge", "evaluator"), rows, undetected, about),
            table(ProbeComparison, changes, COMPARISON[2:], about),
            table(ArmsBeside, [row for _, row in rows], equal, about),
        ],
        about,
    )


PERCENT_AXIS = {"range": [0, 102], "ticksuffix": " %"}
HOVER = "<b>%{y:.0f} %</b>  95 % %{customdata[0]} to %{customdata[1]}"


def groups_chart(cells: Mapping[str, Mapping[str, Interval | None]], *, title: str) -> Figure:
    """Return the bar chart of groups of errors: a bar with its interval per paradigm, in percent (lower is better).

    Args:
        cells: mean with interval by group and paradigm; None if missing.
        title: title of the vertical axis.
    """
    traces: list[Figure] = []
    for number, paradigm in enumerate(dict.fromkeys(name for means in cells.values() for name in means)):
        points: list[Point] = []
        for group, means in cells.items():
            mean = means.get(paradigm)
            if mean is not None:
                points.append(Point(group, mean.mean, mean.low, mean.high))
        traces.append(
            {
                "type": "bar",
                "name": label(paradigm),
                **_upwards(points),
                "marker": {"color": PALETTE[number % len(PALETTE)]},
                "hovertemplate": f"%{{x}}<br>{HOVER}<extra>{label(paradigm)}</extra>",
            }
        )
    layout: Figure = plain_layout("", title) | KEYED | {"barmode": "group", "height": 360}
    layout["yaxis"] |= PERCENT_AXIS
    layout["xaxis"] |= {"type": "category", **ticks(list(cells))}
    return {"data": traces, "layout": layout}


def budgets_chart(lines: Mapping[str, Mapping[str, ProbeShare]], *, title: str) -> Figure:
    """Return the line chart of reasoning efforts: a line per judge and evaluator, in percent (lower is better)."""
    keys = short_labels(list(lines))
    traces: list[Figure] = []
    for number, (name, shares) in enumerate(lines.items()):
        points: list[Point] = []
        for budget, share in shares.items():
            if share.share is not None:
                points.append(Point(budget, share.share, share.low, share.high))
        colour = PALETTE[number % len(PALETTE)]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": keys[number],
                **_upwards(points),
                "line": {"width": 2, "color": colour},
                "marker": {"size": 9, "color": colour},
                "hovertemplate": f"%{{x}}<br>{HOVER}<extra>{label(name)}</extra>",
            }
        )
    layout: Figure = plain_layout("reasoning effort", title) | KEYED | {"height": 360}
    layout["xaxis"] = {**AXIS, "type": "category", "title": {"text": "reasoning effort", "font": {"size": 13}}}
    layout["yaxis"] |= PERCENT_AXIS
    return {"data": traces, "layout": layout}


def _upwards(points: Sequence[Point]) -> Figure:
    """Return the chart's heights in percent with error bars; a hover text notes a missing interval."""
    upper: list[float] = []
    lower: list[float] = []
    ends: list[list[str]] = []
    for _, mean, low, high, *_ in points:
        upper.append(0.0 if high is None else round(100 * abs(high - mean), 3))
        lower.append(0.0 if low is None else round(100 * abs(low - mean), 3))
        ends.append(["none" if end is None else f"{100 * end:.0f}" for end in (low, high)])
    return {
        "x": [label(point.label) for point in points],
        "y": [round(100 * point.mean, 3) for point in points],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": upper,
            "arrayminus": lower,
            "thickness": 1.4,
            "width": 3,
        },
        "customdata": ends,
    }


def planted(task: Task, measured: ProbedTask, expected: Mapping[str, Mapping[Evaluator, Mapping[str, float]]]) -> Table:
    """Return undetected and planted shares by dimension, and whether the intervals contain the planted ones.

    Args:
        task: the task.
        measured: its figures.
        expected: expected undetected share by judge, evaluator and dimension; the empty name stands for all errors.
    """
    report = TaskReport(task, measured, "", alone=True)
    rows: list[list[Cell]] = []
    for judge, by_evaluator in expected.items():
        for evaluator, shares in by_evaluator.items():
            evaluator_figures = measured.judges[judge].evaluators[evaluator]
            for name, truth in shares.items():
                share = evaluator_figures.dimensions[name].undetected if name else evaluator_figures.undetected
                kind = report.dimension(name) if name else Span("all errors", "strong")
                truth_cells = figures.within(truth, share.low, share.high, f"{100 * truth:.1f}")
                rows.append([Span(judge, "strong"), short(evaluator), kind, percent(share), *truth_cells])
    columns = [Column(title, numeric=False) for title in ("judge", "evaluator", "dimension")]
    columns += [Column("undetected, measured"), Column("true value"), Column("in interval")]
    return Table(columns, rows, "Undetected errors, measured and planted, in percent")


def not_entered(data: ReportData) -> Section | None:
    """Return the section on perturbations that were not judged, and why; None if all were."""
    skipped = data.figures_as(ProbeFigures).skipped
    if not skipped:
        return None
    return Section("skipped", "Perturbations that do not enter", (Bullets(skipped),), menu="Not entered")


async def with_samples(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the report data with the samples that the page displays, failed ones first."""
    ids = [place.sample_id for place in run_samples(home, run.id)]
    chosen_ids, selection = select_samples(run, ids, failed_samples(home, run.id), samples)
    views = [item for id in chosen_ids for item in probe_items(home, run, id)]
    page_samples = samples_of(home, run.id, chosen_ids)
    images = {image.sha256: image for sample in page_samples.values() for image in sample.images}
    for probe in stored_probes(home, run.plan_as(ProbePlan)):
        edited = probe.item.perturbed_image
        if probe.item.sample_id in chosen_ids and edited is not None:
            images[edited.sha256] = edited
    return replace(data, selection=selection, samples=views, pictures=pictures_of(home, images))


def samples_section(data: ReportData) -> Section | None:
    """Return the section of samples; None if there are none."""
    by_sample = grouped(map(ProbeItem.model_validate, data.samples), lambda item: item.sample)
    if not by_sample:
        return None
    cut = partial(cut_text, most=LONGEST_TEXT)
    folds: list[Block] = []
    for id, items in by_sample.items():
        failure_note = " · with a failure" if any(item.failure for item in items) else ""
        folds.append(
            Fold(f"{id}{failure_note}", (*_pictures(items, data.pictures), *_sample(items, cut)), f"sample-{id}")
        )
    return Section("samples", "Samples", (Paragraph(data.selection.text, "note"), *folds), menu="Samples", only="page")


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield the blocks of a sample: request, gold answer, perturbations, judgements and looks."""
    yield from _sample([ProbeItem.model_validate(view) for view in views], cut)


def _sample(items: Sequence[ProbeItem], cut: Cut) -> Iterator[Block]:
    if not items:
        return
    images = _images(items)
    yield Facts([(f"image {number}", Span(sha256, "muted")) for number, sha256 in enumerate(images, start=1)])
    yield Texts([(Span("request", "muted"), cut(items[0].prompt))])
    answers: list[tuple[Cell, str]] = []
    for gold in dict.fromkeys(item.gold for item in items):
        answers.append((Span("gold answer", "strong"), cut(gold or "")))
    for item in {item.item: item for item in items if item.item and item.case != "padded"}.values():
        title = (Span(item.dimension or "", "strong"), f": {item.description}")
        answers.append((title, cut(item.perturbed or "")))
    yield Texts(answers, prose=True)
    titles = ("item", "judge", "evaluator", "gold answer", "item's", "found")
    columns = [Column(title, numeric=False) for title in titles]
    yield Table(columns, [_judgement(item) for item in items if item.case != "gold"], "What the judges said")
    texts: list[tuple[Cell, str]] = []
    looks: list[Cell] = []
    for item in items:
        if item.item:
            for text in item.justification or ():
                title = f"{item.judge} on {item.dimension} ({short(item.evaluator)})"
                texts.append((title, cut(cut_text(text, LONGEST_JUSTIFICATION))))
        looks += _looks(item, images)
    if texts:
        yield Fold(f"{len(texts)} justifications", (Texts(texts),))
    if looks:
        yield Paragraph(Span("Where judges looked closer", "strong"))
        yield Bullets(looks)


def _images(items: Sequence[ProbeItem]) -> list[str]:
    return list(dict.fromkeys(sha256 for item in items for sha256 in item.image_hashes))


def _judgement(item: ProbeItem) -> list[Cell]:
    name = item.dimension if item.item else "unchanged, judged again"
    if item.case == "padded":
        name = f"{name}, padded"
    scores = [", ".join(texts or ()) or figures.NOTHING for texts in (item.gold_scores, item.scores)]
    evaluator = short(item.evaluator)
    if item.new_reference:
        evaluator += " · new reference"
    return [name or "", item.judge, evaluator, *scores, _outcome(item)]


def _outcome(item: ProbeItem) -> Cell:
    """Return the outcome of an item in a word or two."""
    if item.failure:
        return Span(f"{item.failure}: {item.reason}", "bad")
    spans: list[Span] = []
    if item.undetected == 0:
        spans.append(Span("detected", "good"))
    elif item.undetected is not None:
        spans.append(Span("undetected" if item.undetected == 1 else "undetected in one order", "bad"))
    elif item.equal is not None:
        equal = item.equal == 1
        spans.append(Span("judged equal" if equal else "not judged equal", "good" if equal else "bad"))
    if item.worse:
        other = "without the padding" if item.case == "padded" else "the gold answer"
        spans.append(Span(f" · judged better than {other}", "bad"))
    if item.words:
        spans.append(Span(f" · named: “{'”, “'.join(item.words)}”", "muted"))
    return tuple(spans)


def _looks(item: ProbeItem, images: Sequence[str]) -> Iterator[Cell]:
    for look in item.looks:
        image = f" → image {look.made.sha256[:12]}" if look.made else ""
        subject = f"{item.judge} for {item.dimension or 'the unchanged answer'} ({short(item.evaluator)})"
        text = f"{subject}: {look_text(look, images)}{image}: {look.text}"
        yield Span(text, "bad" if look.failed else "muted")


def _pictures(items: Sequence[ProbeItem], pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the images of a sample, with the regions that judges inspected."""
    regions = looks_at([look for item in items for look in item.looks])
    for number, sha256 in enumerate(_images(items), start=1):
        picture = pictures.get(sha256)
        if picture is None:
            continue
        boxes = [region.box for region in regions.get(sha256, ()) if region.box is not None]
        about = f"image {number}"
        if boxes:
            about += f": {len(set(boxes))} regions that judges looked at"
        if picture.problem:
            about += f": {picture.problem}"
        yield Image(picture.uri, about, boxes, picture.height / picture.width)


DRAWING = Drawing(
    "probe of judges",
    (
        failures,
        groups,
        dimensions,
        justifications,
        places,
        length,
        comparisons,
        budgets,
        tools,
        references,
        samples_section,
        not_entered,
        provenance.section,
    ),
    sample=sample,
    asks=True,
    figures=ProbeFigures,
    conclusion=conclusion,
)
