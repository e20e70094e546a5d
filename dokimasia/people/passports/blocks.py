"""Report blocks of a passport: its judge, its data, rates by kind of error, and recommendations."""

from collections.abc import Iterator, Sequence

from dokimasia.domain.passport import ErrorRates, MeasuredDifference, MeasuredShare, Passport, Recommendation
from dokimasia.domain.wording import percentage
from dokimasia.people.judgements import CeilingRow, ceiling_tables
from dokimasia.people.passports.blindness import FEW_IMAGES, is_blind, thin_mark
from dokimasia.people.passports.options import BLIND_BELOW
from dokimasia.prompts.dimensions import error_groups
from dokimasia.report.blocks import Block, Bullets, Cell, Column, Facts, Paragraph, Span, Table
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import Interval
from dokimasia.report.figures import NOTHING, bracketed, cost, counts, in_words, several, share, signed_text

RULE = (
    "An error is detected where at least one relevant axis detects it, in pairs by preferring the answer without it; what is "
    "recommended, warned of and chosen goes by this rule, and the file has a majority of the axes and overall beside it."
)

ORDER = "groups, and kinds of error within them, by their mean detection rate over the evaluators, the most undetected first"

KIND, EVALUATOR, TASK = (Column(title, numeric=False) for title in ("kind of error", "evaluator", "task"))

UNMEASURED = 2.0
"""Stands behind every detection rate in an order, since nothing was measured."""

MARKS = (
    "* blind spot: a dimension missed more often than the judge's other errors under the same evaluator, adjusted over all "
    "dimensions and evaluators of the probes in this passport, so that a page of one probe alone may mark others. ! surely "
    f"detected less than {percentage(BLIND_BELOW)}: the whole interval lies below (the default of --blind-below). ~ "
    "thin: on fewer than "
    f"{FEW_IMAGES} images."
)
"""The legend of the marks beside rates."""


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
    for task in dict.fromkeys(one.task for one in passport.errors):
        yield Paragraph((Span(f"Errors detected, {task}", "strong"), f" (95 % intervals, clustered by image; {ORDER})"))
        yield _errors(passport, [one for one in passport.errors if one.task == task])
        yield Paragraph(MARKS, "note")
        yield Paragraph(RULE, "note")
    yield Paragraph(Span("What else was measured", "strong"))
    yield _ways(passport)
    yield from _lengths(passport)
    yield from _ceilings(passport)
    yield Paragraph(Span("Recommended", "strong"))
    yield _recommended(passport.recommended)
    yield Paragraph(
        "Each is chosen on one half of the images, and its rates are those of the other half. Rates of planted errors are no "
        "rates of the errors that models make; see docs/passports.md.",
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
    yield (
        "prompts",
        ", ".join(f"{name} {one.partition(':')[0]}" for name, one in passport.prompts.items()) or "not known",
    )


def _thin(passport: Passport) -> list[Cell]:
    """Return the groups that were measured on few images, by evaluator."""
    found: dict[str, list[str]] = {}
    for one in passport.errors:
        if one.level == "group" and one.images < FEW_IMAGES:
            found.setdefault(one.evaluator, []).append(f"{one.name} ({several(one.images, 'image')})")
    return [f"{evaluator}: {in_words(groups)}" for evaluator, groups in found.items()]


def _errors(passport: Passport, rates: Sequence[ErrorRates]) -> Table:
    """Return detection by evaluator and kind of error: all, then the groups, each before its dimensions.

    Groups, and the dimensions of a group, are in the order of their mean detection rate, the most undetected first.
    """
    evaluators = list(dict.fromkeys(one.evaluator for one in rates))
    titles = error_groups(rates[0].task)
    detected: dict[tuple[str, str], list[float]] = {}
    for one in rates:
        if one.detection.share is not None:
            detected.setdefault((one.level, one.name), []).append(one.detection.share)
    mean_detected = {kind: sum(shares) / len(shares) for kind, shares in detected.items()}

    def place(kind: tuple[str, str, str | None]) -> tuple[float, str, bool, float, str]:
        level, name, group = kind
        rate = mean_detected.get((level, name), UNMEASURED)
        if level == "all":
            return -1.0, "", False, 0.0, ""
        return mean_detected.get(("group", group or ""), UNMEASURED), group or "", level == "dimension", rate, name

    kinds = sorted(dict.fromkeys((one.level, one.name, one.group) for one in rates), key=place)
    by_place = {(one.evaluator, one.level, one.name): one for one in rates}
    rows: list[list[Cell]] = []
    for level, name, group in kinds:
        title = "all" if level == "all" else f"{group} {titles[group]}" if level == "group" else f"  {name}"
        cells = [by_place.get((evaluator, level, name)) for evaluator in evaluators]
        rows.append([Span(title, "strong" if level != "dimension" else ""), *map(_detection, cells)])
    return Table([KIND, *map(Column, evaluators)], rows, "Detection rates by kind of error and evaluator")


def _detection(one: ErrorRates | None) -> Cell:
    if one is None:
        return NOTHING
    marks = (
        ("*", "bad", one.blind_spot),
        ("!", "bad", is_blind(one, BLIND_BELOW)),
        ("~", "muted", 0 < one.images < FEW_IMAGES),
    )
    shown = "".join(mark for mark, _, holds in marks if holds)
    return (
        (*_share(one.detection), Span(f" {shown}", "muted" if shown == "~" else "bad"))
        if shown
        else _share(one.detection)
    )


def _share(one: MeasuredShare) -> tuple[str | Span, ...]:
    if one.share is None:
        return (NOTHING,)
    return (share(one.share), Span(bracketed(one, lambda end: f"{100 * end:.0f}"), "muted"))


def _ways(passport: Passport) -> Table:
    alarms = {(one.task, one.evaluator): one.false_alarms for one in passport.neutral}
    retests = {(one.task, one.evaluator): one.changed for one in passport.retests}
    places = {(one.task, one.evaluator): one for one in passport.places}
    decided = {(one.task, one.evaluator): one for one in passport.binary}
    own = {(one.task, one.evaluator): one.difference for one in passport.own_answers}
    rows: list[list[Cell]] = []
    for one in passport.replies:
        key = (one.task, one.evaluator)
        place, binary = places.get(key), decided.get(key)
        rows.append(
            [
                one.evaluator,
                _share(alarms.get(key, MeasuredShare())),
                _share(retests.get(key, MeasuredShare())),
                NOTHING if place is None else _share(place.consistency),
                NOTHING if place is None or place.bias.mean is None else signed_text(place.bias.mean),
                NOTHING if binary is None else _share(binary.sensitivity),
                NOTHING if binary is None else _share(binary.specificity),
                NOTHING if key not in own or own[key].mean is None else signed_text(own[key].mean or 0.0),
                counts({str(kind): number for kind, number in one.failures.items()}),
                cost(one.cost),
            ]
        )
    titles = ("false alarms", "unsteady", "consistency", "bias", "sensitivity", "specificity", "own answers")
    columns = [EVALUATOR, *map(Column, titles), Column("failed", numeric=False), Column("cost each")]
    return Table(columns, rows, "False alarms, steadiness, places, decisions and replies by evaluator")


def _lengths(passport: Passport) -> Iterator[Block]:
    """Yield what padding does to judgements, where answers were padded."""
    rows: list[list[Cell]] = []
    for length in passport.lengths:
        bias = length.bias
        points: Cell = NOTHING
        if bias.mean is not None:
            points = (signed_text(100 * bias.mean, 1), Span(bracketed(bias, _percent), "muted"))
        scored = f"{length.n_scored} of {length.n}{thin_mark(length.images)}"
        rows.append([length.evaluator, _share(length.changed), points, scored])
    if rows:
        columns = [EVALUATOR, Column("changed"), Column("length bias, points"), Column("judged")]
        yield Table(columns, rows, "Answers behind sentences that say nothing, beside the same answers without them")


def _percent(end: float) -> str:
    return f"{100 * end:.0f}".replace("-", "−")


def _ceilings(passport: Passport) -> Iterator[Block]:
    """Yield the judge beside people, where several labelled the same items."""
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
    """Return a mean of a passport with its interval; None without a mean."""
    if mean is None:
        return None
    return Interval(mean=mean, low=measured.low, high=measured.high, no_interval=measured.no_interval or None)


def _recommended(several: Sequence[Recommendation]) -> Table:
    """Return the recommendations by kind of criterion; kinds without one share a row if the reason is the same."""
    rows: list[list[Cell]] = []
    alike: dict[tuple[str, str], list[str]] = {}
    for one in several:
        if not one.evaluator:
            alike.setdefault((one.task, one.reason), []).append(one.group or "all")
    for one in several:
        kinds = [one.group or "all"] if one.evaluator else alike.pop((one.task, one.reason), [])
        if not kinds:
            continue
        rates = one.estimated
        told = (
            [NOTHING, NOTHING, NOTHING]
            if rates is None
            else [
                (*_share(rates.detection), Span(" ~" if rates.images < FEW_IMAGES else "", "muted")),
                _share(rates.false_alarms),
                f"{rates.n}{thin_mark(rates.images)}",
            ]
        )
        rows.append([one.task, in_words(kinds), one.evaluator or Span(one.reason, "muted"), *told])
    columns = [
        TASK,
        KIND,
        EVALUATOR,
        Column("detects"),
        Column("false alarms"),
        Column("errors"),
    ]
    return Table(columns, rows, "Recommended evaluators by kind of criterion")
