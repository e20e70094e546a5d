"""Report blocks of a passport: its judge, its data, rates by kind of error, and recommendations."""

from collections.abc import Iterator, Sequence

from dokimasia.domain.passport import (
    ErrorRates,
    MeasuredDifference,
    MeasuredShare,
    Passport,
    Recommendation,
    rates_of,
)
from dokimasia.domain.wording import percentage
from dokimasia.people.judgements import CeilingRow, ceiling_tables
from dokimasia.people.passports.blindness import FEW_IMAGES, is_blind, thin_mark
from dokimasia.people.passports.options import BLIND_BELOW
from dokimasia.prompts.dimensions import error_groups
from dokimasia.report.blocks import Block, Bullets, Cell, Column, Facts, Paragraph, Span, Table
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import Interval
from dokimasia.report.figures import (
    NOTHING,
    cost,
    counts,
    in_words,
    measured_share,
    percent_bracketed,
    several,
    signed_text,
)

RULE = (
    "An error is detected where at least one relevant axis detects it, in pairs by preferring the answer without it; what is "
    "recommended, warned of and chosen goes by this rule, and the file has a majority of the axes and overall beside it."
)

ORDER = "groups, and kinds of error within them, by their mean detection rate over the evaluators, the most undetected first"

KIND, EVALUATOR, TASK = (Column(title, numeric=False) for title in ("kind of error", "evaluator", "task"))

UNMEASURED = 2.0
"""A value that sorts after every detection rate, for unmeasured rates."""

MARKS = (
    "* blind spot: a dimension missed more often than the judge's other errors under the same evaluator, adjusted over all "
    "dimensions and evaluators of the probes in this passport, so that a page of one probe alone may mark others. ! surely "
    f"detected less than {percentage(BLIND_BELOW)}: the whole interval lies below (the default of --blind-below). ~ "
    "thin: on fewer than "
    f"{FEW_IMAGES} images."
)
"""The legend of the marks next to rates."""


def blocks_of(passport: Passport) -> Iterator[Block]:
    """Yield the blocks of a passport for the terminal."""
    judge = passport.judge
    if judge.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    yield Paragraph((Span(f"passport of {judge.name}", "strong"), f" · {passport.sha256}"))
    yield Facts([*_facts(passport)])
    if thin := _thin(passport):
        yield Paragraph("Thin data: what these rates say may be chance.", "warning")
        yield Bullets(thin)
    for task in dict.fromkeys(rates.task for rates in passport.errors):
        yield Paragraph((Span(f"Errors detected, {task}", "strong"), f" (95 % intervals, clustered by image; {ORDER})"))
        yield _errors([rates for rates in passport.errors if rates.task == task])
        yield Paragraph(MARKS, "note")
        yield Paragraph(RULE, "note")
    yield Paragraph(Span("What else was measured", "strong"))
    yield _ways(passport)
    yield from _lengths(passport)
    yield from _ceilings(passport)
    yield Paragraph(Span("Recommended", "strong"))
    yield _recommended(passport.recommended)
    yield Paragraph(
        "Each is chosen on one half of the images, and its rates are those of the other half. Rates of planted errors are not "
        "the rates of the errors that models make; see docs/passports.md.",
        "note",
    )


def _facts(passport: Passport) -> Iterator[tuple[str, Cell]]:
    judge = passport.judge
    yield "model", f"{judge.model} at {judge.endpoint}"
    yield "version", judge.version or "not known"
    for data in passport.data:
        checked = f"{percentage(data.checked)} checked by people"
        yield data.task, f"{several(data.items, 'item')} on {several(data.images, 'image')}, {checked}"
    if passport.dates is not None:
        days = passport.dates
        yield "judged", days.first if days.first == days.last else f"{days.first} to {days.last}"
    versions = [f"{name} {prompt.partition(':')[0]}" for name, prompt in passport.prompts.items()]
    yield "prompts", ", ".join(versions) or "not known"


def _thin(passport: Passport) -> list[Cell]:
    """Return the groups measured on few images, by evaluator."""
    thin: dict[str, list[str]] = {}
    for rates in passport.errors:
        if rates.level == "group" and rates.images < FEW_IMAGES:
            thin.setdefault(rates.evaluator, []).append(f"{rates.name} ({several(rates.images, 'image')})")
    return [f"{evaluator}: {in_words(groups)}" for evaluator, groups in thin.items()]


def _errors(rates: Sequence[ErrorRates]) -> Table:
    """Return detection by evaluator and kind of error: all errors, then the groups, each followed by its dimensions.

    Groups, and the dimensions of a group, are in the order of their mean detection rate, the most undetected first.
    """
    evaluators = list(dict.fromkeys(row.evaluator for row in rates))
    titles = error_groups(rates[0].task)
    kinds: dict[tuple[str, str], dict[str, ErrorRates]] = {}
    for row in rates:
        kinds.setdefault((row.level, row.name), {})[row.evaluator] = row
    mean_detected: dict[tuple[str, str], float] = {}
    for kind, by_evaluator in kinds.items():
        shares = [row.detection.share for row in by_evaluator.values() if row.detection.share is not None]
        mean_detected[kind] = sum(shares) / len(shares) if shares else UNMEASURED

    def place(by_evaluator: dict[str, ErrorRates]) -> tuple[float, str, bool, float, str]:
        row = next(iter(by_evaluator.values()))
        if row.level == "all":
            return -1.0, "", False, 0.0, ""
        of_group = mean_detected.get(("group", row.group), UNMEASURED)
        return of_group, row.group, row.level == "dimension", mean_detected[row.level, row.name], row.name

    table: list[list[Cell]] = []
    for by_evaluator in sorted(kinds.values(), key=place):
        row = next(iter(by_evaluator.values()))
        title = Span(f"  {row.name}")
        if row.level == "group":
            title = Span(f"{row.group} {titles[row.group]}", "strong")
        elif row.level == "all":
            title = Span("all", "strong")
        table.append([title, *(_detection(by_evaluator.get(evaluator)) for evaluator in evaluators)])
    return Table([KIND, *map(Column, evaluators)], table, "Detection rates by kind of error and evaluator")


def _detection(rates: ErrorRates | None) -> Cell:
    if rates is None:
        return NOTHING
    marks = ""
    if rates.blind_spot:
        marks += "*"
    if is_blind(rates.detection, BLIND_BELOW):
        marks += "!"
    if 0 < rates.images < FEW_IMAGES:
        marks += "~"
    cell = _share(rates.detection)
    if not marks:
        return cell
    return (*cell, Span(f" {marks}", "muted" if marks == "~" else "bad"))


def _share(measured: MeasuredShare | None) -> tuple[str | Span, ...]:
    if measured is None or measured.share is None:
        return (NOTHING,)
    return (measured_share(measured.share), Span(percent_bracketed(measured), "muted"))


def _signed_cell(difference: MeasuredDifference | None) -> Cell:
    if difference is None or difference.mean is None:
        return NOTHING
    return signed_text(difference.mean)


def _ways(passport: Passport) -> Table:
    rows: list[list[Cell]] = []
    for replies in passport.replies:
        way = replies.way
        neutral, retest = rates_of(way, passport.neutral), rates_of(way, passport.retests)
        places, binary = rates_of(way, passport.places), rates_of(way, passport.binary)
        own = rates_of(way, passport.own_answers)
        rows.append(
            [
                replies.evaluator,
                _share(neutral and neutral.false_alarms),
                _share(retest and retest.changed),
                _share(places.consistency) if places else NOTHING,
                _signed_cell(places and places.bias),
                _share(binary.sensitivity) if binary else NOTHING,
                _share(binary.specificity) if binary else NOTHING,
                _signed_cell(own and own.difference),
                counts({str(kind): number for kind, number in replies.failures.items()}),
                cost(replies.cost),
            ]
        )
    titles = ("false alarms", "unsteady", "consistency", "bias", "sensitivity", "specificity", "own answers")
    columns = [EVALUATOR, *map(Column, titles), Column("failed", numeric=False), Column("cost each")]
    return Table(columns, rows, "False alarms, steadiness, places, decisions and replies by evaluator")


def _lengths(passport: Passport) -> Iterator[Block]:
    """Yield the effect of padding on judgements, if answers were padded."""
    rows: list[list[Cell]] = []
    for length in passport.lengths:
        bias = length.bias
        points: Cell = NOTHING
        if bias.mean is not None:
            points = (signed_text(100 * bias.mean, 1), Span(percent_bracketed(bias), "muted"))
        scored = f"{length.n_scored} of {length.n}{thin_mark(length.images)}"
        rows.append([length.evaluator, _share(length.changed), points, scored])
    if rows:
        columns = [EVALUATOR, Column("changed"), Column("length bias, points"), Column("judged")]
        yield Table(columns, rows, "Answers behind sentences that say nothing, beside the same answers without them")


def _ceilings(passport: Passport) -> Iterator[Block]:
    """Yield the judge compared with people, if several people labelled the same items."""
    rows: dict[str, CeilingRow] = {}
    for ceiling in passport.human_ceiling:
        name = ceiling.evaluator if len(passport.data) == 1 else f"{ceiling.evaluator}, {ceiling.task}"
        rows[name] = CeilingRow(
            ceiling.comparisons,
            _interval(ceiling.among_people, ceiling.among_people.share),
            _interval(ceiling.judge, ceiling.judge.share),
            _interval(ceiling.difference, ceiling.difference.mean),
            ceiling.winning_rate,
            ceiling.passed,
        )
    yield from ceiling_tables(rows)
    if rows:
        people = max(ceiling.people for ceiling in passport.human_ceiling)
        warnings = sorted({ceiling.warning for ceiling in passport.human_ceiling if ceiling.warning})
        yield Paragraph(
            f"Labels of {several(people, 'person', 'people')}: whether an answer is worse than the right one. Each person, and "
            "the judge, against what all the others say of the same answers.",
            "note",
        )
        yield from (Paragraph(f"In a person's place: {warning}.", "note") for warning in warnings)


def _interval(measured: MeasuredShare | MeasuredDifference, mean: float | None) -> Interval | None:
    """Return a passport's mean with its interval; None without a mean."""
    if mean is None:
        return None
    return Interval(mean=mean, low=measured.low, high=measured.high, no_interval=measured.no_interval or None)


def _recommended(recommendations: Sequence[Recommendation]) -> Table:
    """Return the recommendations by kind of criterion; kinds without one share a row if they share the reason."""
    rows: list[list[Cell]] = []
    alike: dict[tuple[str, str], list[str]] = {}
    for recommended in recommendations:
        if not recommended.evaluator:
            alike.setdefault((recommended.task, recommended.reason), []).append(recommended.group or "all")
    for recommended in recommendations:
        kinds = [recommended.group or "all"]
        if not recommended.evaluator:
            kinds = alike.pop((recommended.task, recommended.reason), [])
        if not kinds:
            continue
        rates = recommended.estimated
        cells: list[Cell] = [NOTHING, NOTHING, NOTHING]
        if rates is not None:
            thin = Span(" ~" if rates.images < FEW_IMAGES else "", "muted")
            errors = f"{rates.n}{thin_mark(rates.images)}"
            cells = [(*_share(rates.detection), thin), _share(rates.false_alarms), errors]
        name = recommended.evaluator or Span(recommended.reason, "muted")
        rows.append([recommended.task, in_words(kinds), name, *cells])
    columns = [TASK, KIND, EVALUATOR, Column("detects"), Column("false alarms"), Column("errors")]
    return Table(columns, rows, "Recommended evaluators by kind of criterion")
