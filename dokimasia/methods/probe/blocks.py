"""A probe of judges as it is drawn: the table of failures, groups, dimensions with their blind spots, and what lies behind."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.domain.blindspots import Evaluator
from dokimasia.methods.probe.beside import budgets, comparisons, references, tools
from dokimasia.methods.probe.charts import groups_chart
from dokimasia.methods.probe.headline import apart, headline, none_told, not_entered, tested_on, without_neutral
from dokimasia.methods.probe.overall import BY_OVERALL, of_spots, overall
from dokimasia.methods.probe.tables import (
    HIGHER,
    LOWER,
    MEANING_OF_STRATEGIES,
    PARADIGMS,
    dimension,
    each,
    evaluators_of,
    group,
    mean_percent,
    paradigm,
    percent,
    points,
    scored,
    short,
    strategy,
    tasks,
    tinted,
    titled,
)
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Fold, Only, Paragraph, Section, Span, Table
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.heat import heat_chart
from dokimasia.report.sections import provenance

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


def failures(data: ReportData) -> Section:
    """Return the form of the paper's table 3: undetected and score-invariant by paradigm, strategy and judge."""
    blocks: list[Block] = []
    for task, found, place in tasks(data):
        if found["shown"]:
            blocks.append(Paragraph(headline(task, found), "lead"))
        blocks.append(
            _table(titled("Undetected errors and harmless changes judged equal, in percent", task, data), found, place)
        )
        blocks += [Paragraph(text, "note") for text in (apart(found), without_neutral(found)) if text]
    blocks.append(
        Paragraph(
            f"Undetected (lower is better): the share of errors that leave the judgement as it was. Score-invariant "
            f"({HIGHER}): the share of harmless changes judged equal, on all axes; by reference, with the full score. "
            f"{MEANING_OF_STRATEGIES}. 95 % intervals, clustered by image.",
            "note",
        )
    )
    for task, found, place in tasks(data):
        blocks.append(Only("page", (_forms(titled("Other forms, and what they rest on", task, data), found, place),)))
    blocks += [*overall(data), *_failed(data)]
    return Section("failures", "What the judges miss", blocks, menu="Failures")


def groups(data: ReportData) -> Section | None:
    """Return the form of the paper's figure 2: undetected errors by group and paradigm, over judges and strategies."""
    blocks: list[Block] = []
    for task, found, place in tasks(data):
        cells: Mapping[str, Any] = found["groups"]
        if not cells:
            continue
        named = {group(task, name): {PARADIGMS[kind]: one for kind, one in own.items()} for name, own in cells.items()}
        kinds = [kind for kind in PARADIGMS if any(kind in own for own in cells.values())]
        rows = [
            [
                group(task, name),
                *(mean_percent(own.get(kind), f"{place}/groups{figures.pointer(name, kind)}") for kind in kinds),
            ]
            for name, own in cells.items()
        ]
        columns = [Column("group", numeric=False), *(Column(PARADIGMS[kind]) for kind in kinds)]
        about = titled("Undetected errors by group and paradigm, in percent", task, data)
        chart = groups_chart(named, title="undetected, percent")
        blocks += [Chart(chart, f"{about}; {LOWER}"), Table(columns, rows, about)]
    if not blocks:
        return None
    text = f"Mean over the judges of the table above and over the strategies of a paradigm; {LOWER}."
    return Section("groups", "Kinds of error by paradigm", (*blocks, Paragraph(text, "note")), menu="Groups")


def dimensions(data: ReportData) -> Section | None:
    """Return what is missed by dimension and evaluator, a heat map a judge, and which dimensions are blind spots."""
    blocks: list[Block] = []
    for task, found, place in tasks(data):
        if not found["dimensions"]:
            continue
        blocks += [_spots(task, found, place, data), Paragraph(tested_on(task, found), "note")]
        for judge in found["judges"]:
            drawn = list(_map(task, found, judge, place, data))
            if judge in found["shown"]:
                blocks += [Paragraph(Span(titled(judge, task, data), "strong")), *drawn]
            else:
                blocks.append(Fold(f"{titled(judge, task, data)}, by dimension", drawn, f"dimensions-{judge}-{task}"))
    if not blocks:
        return None
    text = "Undetected errors in percent; * marks a blind spot."
    ending = (Paragraph(text, "note"), Paragraph(RULE, "note"), *of_spots(data))
    return Section("dimensions", "Blind spots", (*blocks, *ending), menu="Blind spots")


def justifications(data: ReportData) -> Section | None:
    """Return which errors are named in justifications although the scores do not show them."""
    blocks: list[Block] = []
    for task, found, place in tasks(data):
        rows: list[Sequence[Cell]] = []
        for judge, evaluator, one, at in each(found, place):
            if one["unnoticed"]["n"]:
                rows.append(
                    [
                        Span(judge, "strong"),
                        short(evaluator),
                        percent(one["undetected"], f"{at}/undetected", tone=""),
                        percent(one["named"], f"{at}/named"),
                        figures.count(one["named"]["n"], f"{at}/named/n"),
                        percent(one["unnoticed"], f"{at}/unnoticed"),
                        percent(one["false_alarms"], f"{at}/false_alarms"),
                    ]
                )
        columns = [
            Column("judge", numeric=False),
            Column("evaluator", numeric=False),
            Column("undetected", meaning=f"by the scores alone; {LOWER}"),
            Column(
                "named although undetected", meaning=f"of the undetected errors whose justification was read; {HIGHER}"
            ),
            Column("of"),
            Column("unnoticed", meaning=f"neither scored nor named, of errors whose justification was read; {LOWER}"),
            Column(
                "reader's false alarms",
                meaning="justifications of gold answers and harmless changes said to name an error",
            ),
        ]
        if rows:
            about = titled("Errors that the justification names and the score ignores, in percent", task, data)
            blocks.append(Table(columns, rows, about))
    if not blocks:
        return None
    text = (
        "A reader, a separate model, says of each justification whether it names the error. What it finds where there is "
        "none stands beside: a share named that is no higher says nothing of the judge."
    )
    return Section("justifications", "Named and not scored", (*blocks, Paragraph(text, "note")), menu="Justifications")


def places(data: ReportData) -> Section | None:
    """Return what the order of places does to pairwise judgements."""
    blocks: list[Block] = []
    for task, found, place in tasks(data):
        rows: list[Sequence[Cell]] = []
        for judge, evaluator, one, at in each(found, place):
            if (pairs := one["places"]) is not None:
                bias = points(pairs["bias"], f"{at}/places/bias", sure=pairs["adjusted"] <= figures.SURE)
                rows.append(
                    [
                        Span(judge, "strong"),
                        strategy(evaluator),
                        figures.count(pairs["n"], f"{at}/places/n"),
                        mean_percent(pairs["consistency"], f"{at}/places/consistency"),
                        bias,
                        figures.p_value(pairs["adjusted"]),
                        percent(one["undetected"], f"{at}/undetected", tone=""),
                        percent(one["either"], f"{at}/either", tone=""),
                        percent(one["both"], f"{at}/both", tone=""),
                    ]
                )
        columns = [
            Column("judge", numeric=False),
            Column("strategy", numeric=False),
            Column("pairs", meaning="judged in both orders, errors and harmless changes"),
            Column("consistency", meaning=f"percent that both orders decide alike; {HIGHER}"),
            Column("bias", meaning="percentage points by which the first place is chosen more often than the second"),
            Column("adjusted p", meaning="sign flips of whole images; Benjamini and Hochberg over the table"),
            Column("undetected", meaning="mean of both orders"),
            Column("in either", meaning="undetected in at least one order"),
            Column("in both", meaning="undetected in both orders"),
        ]
        if rows:
            blocks.append(Table(columns, rows, titled("Pairwise judgements in both orders", task, data)))
    return Section("places", "The order of places", blocks, menu="Places") if blocks else None


def _table(about: str, found: Mapping[str, Any], place: str) -> Table:
    columns = [Column("paradigm", numeric=False), Column("strategy", numeric=False, meaning=MEANING_OF_STRATEGIES)]
    for judge in found["shown"]:
        columns.append(Column(f"{judge} undetected", meaning=LOWER))
        columns.append(Column(f"{judge} score-invariant", meaning=f"harmless changes judged equal; {HIGHER}"))
    rows: list[Sequence[Cell]] = []
    for evaluator in evaluators_of(found):
        row: list[Cell] = [paradigm(evaluator), strategy(evaluator)]
        for judge in found["shown"]:
            one = found["judges"][judge]["evaluators"].get(evaluator)
            at = f"{place}{figures.pointer('judges', judge, 'evaluators', evaluator)}"
            row += [percent(one and one[name], f"{at}/{name}") for name in ("undetected", "equal")]
        if any(cell is not figures.NOTHING for cell in row[2:]):
            rows.append(row)
    return Table(columns, rows, about)


def _forms(about: str, found: Mapping[str, Any], place: str) -> Table:
    columns = [
        Column("judge", numeric=False),
        Column("evaluator", numeric=False),
        Column("errors", meaning="judged, of all"),
        Column("undetected"),
        Column("bounds", meaning="of undetected, were none or all of the failed ones undetected"),
        Column("strict", meaning="no relevant axis lower; of pairs, not detected in both orders"),
        Column("judged better", meaning=f"errors with which the answer was judged better; {LOWER}"),
        Column("harmless", meaning="changes judged, of all"),
        Column("harmless preferred", meaning="harmless changes judged better than the gold answer"),
        Column("noise floor", meaning=f"unchanged answers not judged as before, or not as good as themselves; {LOWER}"),
    ]
    rows = [
        [
            Span(judge, "strong"),
            short(evaluator),
            scored(one["undetected"], f"{at}/undetected"),
            percent(one["undetected"], f"{at}/undetected"),
            figures.percent_bounds(one["undetected"]),
            *(percent(one[name], f"{at}/{name}", tone="") for name in ("strict", "worse")),
            scored(one["equal"], f"{at}/equal"),
            *(percent(one[name], f"{at}/{name}", tone="") for name in ("preferred", "flickers")),
        ]
        for judge, evaluator, one, at in each(found, place)
    ]
    return Table(columns, rows, about, sortable=True)


def _spots(task: str, found: Mapping[str, Any], place: str, data: ReportData) -> Block:
    """Return the blind spots of all judges of a task, or a sentence that there is none."""
    rows: list[Sequence[Cell]] = []
    for judge, evaluator, one, at in each(found, place):
        for name, own in one["dimensions"].items():
            if own["spot"] is not None and own["spot"]["blind"]:
                where = f"{at}{figures.pointer('dimensions', name)}"
                rows.append(
                    [
                        Span(judge, "strong"),
                        short(evaluator),
                        dimension(task, name),
                        percent(own["undetected"], f"{where}/undetected"),
                        percent(own["overall"], f"{where}/overall", tone=""),
                        figures.count(own["undetected"]["n_scored"], f"{where}/undetected/n_scored"),
                        percent(one["undetected"], f"{at}/undetected", tone=""),
                        figures.p_value(own["spot"]["adjusted"]),
                    ]
                )
    if not rows:
        return Paragraph(f"{titled(none_told(found), task, data)}.", "lead")
    columns = [
        *(Column(name, numeric=False) for name in ("judge", "evaluator", "blind spot")),
        Column("undetected", meaning="errors of this dimension, in percent, with its 95 % interval"),
        Column("by overall", meaning=BY_OVERALL),
        Column("errors", meaning="judged"),
        Column("all its errors", meaning="undetected of all errors under the evaluator"),
        Column("adjusted p"),
    ]
    return Table(columns, rows, titled("Blind spots", task, data), sortable=True)


def _map(task: str, found: Mapping[str, Any], judge: str, place: str, data: ReportData) -> Iterator[Block]:
    """Yield a judge's heat map and the same as a table."""
    asked: Mapping[Evaluator, Any] = found["judges"][judge]["evaluators"]
    evaluators: list[Evaluator] = [name for name in evaluators_of(found) if name in asked]
    names = list(found["dimensions"])
    cells = {(name, evaluator): asked[evaluator]["dimensions"].get(name) for name in names for evaluator in evaluators}

    def value(one: Mapping[str, Any] | None) -> float | None:
        share = None if one is None else one["undetected"]["share"]
        return None if share is None else round(100 * share, 1)

    chart = heat_chart(
        [dimension(task, name) for name in names],
        [short(evaluator) for evaluator in evaluators],
        [[value(cells[name, evaluator]) for evaluator in evaluators] for name in names],
        hover="%{y}<br>%{x}: <b>%{z:.1f} %</b> undetected",
        failures=True,
    )
    rows: list[Sequence[Cell]] = []
    for name in names:
        judged = [one["undetected"]["n_scored"] for evaluator in evaluators if (one := cells[name, evaluator])]
        row: list[Cell] = [dimension(task, name), found["dimensions"][name], figures.count(max(judged, default=0))]
        for evaluator in evaluators:
            one, at = (
                cells[name, evaluator],
                figures.pointer("judges", judge, "evaluators", evaluator, "dimensions", name),
            )
            blind = one is not None and one["spot"] is not None and one["spot"]["blind"]
            row.append(tinted(one and one["undetected"], f"{place}{at}/undetected", marked=blind))
        rows.append(row)
    columns = [
        Column("dimension", numeric=False),
        Column("group", numeric=False),
        Column("errors", meaning="judged, under the evaluator with most"),
        *(Column(short(evaluator)) for evaluator in evaluators),
    ]
    about = titled(f"Undetected by {judge}, by dimension and evaluator, in percent", task, data)
    yield Chart(chart, f"{about}; {LOWER}")
    yield Table(columns, rows, about)


def _failed(data: ReportData) -> Iterator[Block]:
    kinds: dict[str, Counter[str]] = {}
    for _, found, place in tasks(data):
        for judge, _, one, _ in each(found, place):
            kinds.setdefault(judge, Counter()).update(one["failures"])
    lines = [f"{judge} {figures.counts(dict(sorted(own.items())))}" for judge, own in kinds.items() if own]
    if lines:
        refused = f" {WAY_OUT}" if any("api_error" in own for own in kinds.values()) else ""
        yield Paragraph(f"Failed judgements, which are no numbers: {'; '.join(lines)}.{refused}", "warning")


SECTIONS = (
    failures,
    groups,
    dimensions,
    justifications,
    places,
    comparisons,
    budgets,
    tools,
    references,
)

DRAWING = Drawing("probe of judges", (*SECTIONS, not_entered, provenance.section))
