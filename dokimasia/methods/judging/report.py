"""The report of a comparison of judging methods: accuracy as heat map and table, gaps, order, and cost."""

from collections.abc import Iterator, Mapping, Sequence

from dokimasia.domain.wording import percentage
from dokimasia.methods.judging.figures import (
    Gap,
    JudgedMethod,
    JudgingFigures,
    JudgingItem,
    OrderEffect,
    percent_share,
)
from dokimasia.people.judgements import CeilingRow, ceiling_rows, ceiling_tables
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Fold, Paragraph, Section, Span, Table, spans
from dokimasia.report.charts import AXIS, KEYED, PALETTE, Figure, heat_trace, names_axis, plain_layout
from dokimasia.report.conclusions import inconclusive_sentence, joined, of_each, used_sentence
from dokimasia.report.data import Cut, Drawing, ReportData, Views
from dokimasia.report.fields import Share, TableRow, numbered_rows, pointer, rows_of
from dokimasia.report.footnotes import disagreement
from dokimasia.report.labels import label, short_labels, ticks
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import TableColumn, column, computed_column, table

COLOURS = [[0, "#d9782d"], [0.5, "#f4f1e8"], [1, "#6ba0ea"]]
"""Colours of accuracy from 0 to 1; guessing among three outcomes yields about a third."""

MARGIN = {"t": 36, "r": 40, "b": 48, "l": 8}

MethodRow = TableRow[JudgedMethod]


def _rows(comparison: JudgingFigures) -> list[tuple[str, MethodRow]]:
    """Return the rows of all judges and methods."""
    rows: list[tuple[str, MethodRow]] = []
    for judge in comparison.judges:
        for row in rows_of(comparison.results[judge], "results", judge, order=comparison.methods):
            rows.append((judge, row))
    return rows


def _method_table(
    comparison: JudgingFigures, columns: Sequence[TableColumn[JudgedMethod]], about: str, *, sortable: bool = False
) -> Table:
    """Return a table with a row per judge and method, which fill the first two columns."""
    rows = _rows(comparison)
    judges = iter([judge for judge, _ in rows])
    heading: list[TableColumn[JudgedMethod]] = [
        computed_column("judge", lambda row: next(judges), numeric=False),
        computed_column("method", lambda row: row.name, numeric=False),
    ]
    return table(JudgedMethod, [row for _, row in rows], [*heading, *columns], about, sortable=sortable)


def accuracy(data: ReportData) -> Section:
    """Return the section on pairwise accuracy by judge, method and category, as in the paper's tables 1 and 2."""
    comparison = data.figures_as(JudgingFigures)
    rankings = comparison.rankings
    people = "person" if rankings.annotators == 1 else "people"
    shares: dict[str, dict[str, float | None]] = {}
    for judge in comparison.judges:
        methods = comparison.results[judge]
        shares[judge] = {method: methods[method].accuracy.share for method in comparison.methods}
    blocks: list[Block] = [
        Chart(accuracy_map(shares), "Pairwise accuracy against people, by judge and method, in percent"),
        _accuracy_table(comparison),
        Paragraph(
            f"Win, tie or loss of {rankings.comparisons:,} comparisons ({rankings.pairs:,} pairs of responses to "
            f"{rankings.samples:,} samples, {rankings.annotators} {people}; "
            f"{figures.share(rankings.ties).text} are ties). A pair that several people ranked counts once for each of "
            "them. Intervals know that the pairs of a sample, and the samples of an image, belong together.",
            "note",
        ),
        Paragraph(_people_sentence(comparison), "note"),
        *ceiling_tables(_beside_people(comparison)),
    ]
    if comparison.tree is not None:
        text = (
            "Categories are those of the capability tree: a sample counts in each category that one of its criteria is in, so "
            "that the numbers of pairs add up to more than all."
        )
        blocks.append(Paragraph(text, "note"))
    if rankings.without:
        text = f"{rankings.without:,} samples of the data were ranked by nobody and are no part of this."
        blocks.append(Paragraph(text, "warning"))
    failures = [
        f"{judge}, {row.name}: {figures.counts(row.figures.failures)}"
        for judge, row in _rows(comparison)
        if row.figures.failures
    ]
    if failures:
        blocks.append(Paragraph(f"Failed judgements, which are no numbers: {'; '.join(failures)}.", "warning"))
    return Section("accuracy", "Agreement with people", blocks, menu="Accuracy")


def _beside_people(comparison: JudgingFigures) -> dict[str, CeilingRow]:
    """Return each judge and method in comparison with people."""
    return ceiling_rows(
        {f"{judge}, {row.name}": (row.figures.ceiling, row.figures.replacement) for judge, row in _rows(comparison)}
    )


def _accuracy_table(comparison: JudgingFigures) -> Table:
    first = comparison.results[comparison.judges[0]][comparison.methods[0]]
    categories = sorted(first.by_category)
    columns = [
        Column("judge", numeric=False),
        Column("method", numeric=False),
        *(Column(name, detail=True) for name in categories),
    ]
    columns += [Column("all", meaning="with its 95 % interval, clustered by images"), Column("pairs"), Column("judged")]
    columns += [Column("bounds", only="page", meaning="were all failed judgements wrong, or right")]
    rows: list[Sequence[Cell]] = []
    for judge, row in _rows(comparison):
        method = row.figures
        best = max(figures_of_method.accuracy.share or 0 for figures_of_method in comparison.results[judge].values())
        rows.append(
            [
                judge,
                Span(row.name, "strong" if method.accuracy.share == best else ""),
                *_by_category(categories, method.by_category, row.pointer or ""),
                percent_share(method.accuracy, f"{row.pointer}/accuracy"),
                str(method.accuracy.n),
                figures.share(method.coverage, f"{row.pointer}/coverage"),
                figures.percent_bounds(method.accuracy),
            ]
        )
    people = comparison.people
    if people is not None:
        by_category = _by_category(categories, people.by_category, "/people")
        overall = percent_share(people.accuracy, "/people/accuracy")
        rows.append(
            [Span("people", "strong"), "one with another", *by_category, overall, str(people.accuracy.n), "", ""]
        )
    by = "category" if comparison.tree is None else "capability"
    return Table(columns, rows, f"Pairwise accuracy by judge, method and {by}", sortable=True)


def conclusion(data: ReportData) -> list[Cell]:
    """Return which method agrees best with people, its lead, how much people agree, and the usage."""
    comparison = data.figures_as(JudgingFigures)
    shares: dict[tuple[str, str], float] = {}
    for judge, row in _rows(comparison):
        if row.figures.accuracy.share is not None:
            shares[judge, row.name] = row.figures.accuracy.share
    if not shares:
        return ["Nothing was judged: there is no accuracy."]
    most = max(shares.values())
    best = sorted(key for key, share in shares.items() if share == most)
    names: list[Cell] = []
    accuracies: list[Cell] = []
    for judge, method in best:
        accuracy = comparison.results[judge][method].accuracy
        percent = percent_share(accuracy, f"{pointer('results', judge, method)}/accuracy")
        names.append((Span(method, "strong"), f" of {judge}"))
        accuracies.append((*spans(percent), f" % of {accuracy.n:,} comparisons"))
    if len(best) > 1:
        equal = (*spans(joined(names)), " agree best with people: ", *spans(of_each(accuracies)), ".")
        return [equal, _people_sentence(comparison), used_sentence(comparison, data.paid)]
    judge, method = best[0]
    sentences: list[Cell] = [(*spans(names[0]), " agrees best with people: ", *spans(accuracies[0]), ".")]
    rivals = sorted((-share, other) for (name, other), share in shares.items() if name == judge and other != method)
    for _, other in rivals[:1]:
        for gap in comparison.gaps:
            if gap.category is None and gap.judge == judge and {gap.first, gap.second} == {method, other}:
                sentences.append(_relation(gap, method, other))
    sentences += [_people_sentence(comparison), *_place_sentence(comparison.results[judge][method])]
    return [*sentences, used_sentence(comparison, data.paid)]


def _relation(gap: Gap, method: str, other: str) -> Cell:
    """Return whether a method is better than the other method of a gap, or that the gap is inconclusive."""
    p_text = f"adjusted {figures.p_text(gap.adjusted)}"
    name = Span(other, "strong")
    if figures.disagree(gap.difference, gap.adjusted):
        return ("It is not clear whether it is better than ", name, f". {inconclusive_sentence(p_text)}")
    relation = "better than" if _is_better(gap, method) else "not better beyond chance than"
    return (f"It is {relation} ", name, f" ({p_text}).")


def _is_better(gap: Gap, method: str) -> bool:
    """Return whether a method is significantly better than the other method of a gap, where both judged."""
    if gap.difference is None or not figures.is_sure(gap.adjusted):
        return False
    return (gap.difference.mean > 0) == (gap.second == method)


def _place_sentence(method: JudgedMethod) -> list[Cell]:
    """Return the sentence that compares the best method with people; empty if no two people ranked the same pair."""
    ceiling, test = method.ceiling, method.replacement
    if ceiling is None or test is None:
        return []
    if test.winning_rate is None:
        outcome = "whether it can take a person's place is not tested: fewer than 30 pairs in common"
    elif test.passed:
        outcome = "it can take a person's place, by the alternative-annotator test"
    else:
        outcome = "that it can take a person's place is not shown by the alternative-annotator test"
    return [
        f"Against the same other people it agrees in {percentage(ceiling.judge.mean, 1)}, a person in "
        f"{percentage(ceiling.people.mean, 1)}; {outcome}."
    ]


def _by_category(categories: Sequence[str], shares: Mapping[str, Share], place: str) -> list[Cell]:
    """Return the tinted percentages of all categories."""
    cells: list[Cell] = []
    for name in categories:
        share = shares[name].share
        if share is None:
            cells.append(figures.NOTHING)
        else:
            path = f"{place}/by_category{pointer(name)}/share"
            cells.append(Span(f"{100 * share:.1f}", "", path, share, share))
    return cells


def _people_sentence(comparison: JudgingFigures) -> str:
    if comparison.people is None or comparison.people.accuracy.share is None:
        return "No two people ranked the same pair, so there is no figure of how far people agree among themselves."
    return (
        f"Two people agree on {percentage(comparison.people.accuracy.share, 1)} of the pairs that both ranked. A method is held "
        "against one person at a time, too; one that knows what most of them think can do better than one person does."
    )


def margins(data: ReportData) -> Section:
    """Return the section on ties: the margins of each fold, and accuracy without margins."""
    comparison = data.figures_as(JudgingFigures)
    columns = [column("margins"), column("ties"), column("accuracy"), column("unfitted")]
    if comparison.rankings.folds > 1:
        text = (
            "Scores that lie no further apart than a margin are a tie. "
            f"The images are drawn into {comparison.rankings.folds} folds, and the margin of each is the one that agrees best "
            "with people on all others, so that no margin is reported on what it was fitted on."
        )
    else:
        text = "Only equal scores are a tie: with one image there is nothing else that a margin could be fitted on."
    blocks = (_method_table(comparison, columns, "Margins of ties"), Paragraph(text, "note"))
    return Section("ties", "Ties", blocks, menu="Ties")


def gaps(data: ReportData) -> Section | None:
    """Return the section on paired differences between methods."""
    all_gaps = data.figures_as(JudgingFigures).gaps
    if not all_gaps:
        return None
    rows = numbered_rows(all_gaps, "/gaps")
    in_category = [row for row in rows if row.figures.category is not None]
    judge: TableColumn[Gap] = computed_column("judge", lambda row: row.figures.judge, numeric=False)
    columns: list[TableColumn[Gap]] = [
        computed_column("second minus first", lambda row: f"{row.figures.second} − {row.figures.first}", numeric=False),
        computed_column("points", _points, meaning="with the 95 % interval"),
        computed_column("pairs", lambda row: str(row.figures.n)),
        column("adjusted", linked=False),
    ]
    overall = [row for row in rows if row.figures.category is None]
    text = (
        f"Two-sided sign flips of whole images; adjusted after Benjamini and Hochberg over all {len(all_gaps):,} differences of "
        "methods, categories and judges together."
    )
    blocks: list[Block] = [
        table(Gap, overall, [judge, *columns], "Differences between methods", sortable=True),
        Paragraph(text, "note"),
        *disagreement(all_gaps),
    ]
    if in_category:
        category: TableColumn[Gap] = computed_column("category", lambda row: row.figures.category or "", numeric=False)
        by_category = table(
            Gap,
            in_category,
            [judge, category, *columns],
            "Differences between methods by category",
            sortable=True,
        )
        title = f"By category: {len(in_category):,} differences"
        blocks.append(Fold(title, [by_category], "gaps-by-category"))
    return Section("gaps", "Differences between methods", blocks, menu="Differences")


def _points(row: TableRow[Gap]) -> Cell:
    """Return a difference in points, marked if it is significant."""
    gap = row.figures
    difference = gap.difference
    if difference is None:
        return figures.NOTHING
    tone = "strong" if figures.is_sure(gap.adjusted) else ""
    mean = Span(figures.signed_text(difference.mean, 1), tone, f"{row.pointer}/difference/mean", difference.mean)
    return (mean, Span(figures.bracketed(difference, lambda end: figures.signed_text(end, 1)), "muted"))


def order(data: ReportData) -> Section | None:
    """Return the section on the effect of the displayed order on batch rankings."""
    effects = data.figures_as(JudgingFigures).order
    if not effects:
        return None
    columns: list[TableColumn[OrderEffect]] = [
        computed_column("judge", lambda row: row.name, numeric=False),
        column("orders"),
        column("consistent"),
        column("earlier"),
        column("p_value", linked=False),
    ]
    text = (
        "Each second order is the one before it backwards, so that every two responses are seen both ways; a response's "
        "score is the mean share of the others that it is ranked above."
    )
    by_judge = table(OrderEffect, rows_of(effects, "order"), columns, "What the order does to batch rankings")
    return Section("order", "The order of a batch", (by_judge, Paragraph(text, "note")), menu="Order")


def cost(data: ReportData) -> Section:
    """Return the section on usage by method, and per point of accuracy."""
    comparison = data.figures_as(JudgingFigures)
    columns: list[TableColumn[JudgedMethod]] = [
        column("calls", title="calls"),
        column("input_tokens"),
        column("output_tokens"),
        computed_column("cost", lambda row: figures.cost_of(row.figures, row.pointer or "")),
        column("per_point", "calls"),
        column("per_point", "cost"),
    ]
    rows = _rows(comparison)
    unit = "US dollars" if comparison.cost else "calls"
    points: list[tuple[str, str, float, float]] = []
    for judge, row in rows:
        method = row.figures
        if method.accuracy.share is not None and method.cost is not None:
            usage = method.cost if comparison.cost else method.calls
            points.append((judge, row.name, usage, method.accuracy.share))
    blocks: list[Block] = []
    if points:
        blocks.append(Chart(cost_and_accuracy(points, unit=unit), f"Accuracy over what a method used, in {unit}"))
    text = (
        "Each method is charged with all that it rests on, such as the chain that several share. "
        f"All together: {figures.used(comparison, data.paid)}."
    )
    shared = sum(row.figures.calls for _, row in rows) - comparison.calls
    if shared:
        text += (
            f" The methods' calls add up to {shared:,} more: a call that several methods rest on is charged to each of "
            "them, and was made once."
        )
    blocks += [_method_table(comparison, columns, "What each method used", sortable=True), Paragraph(text, "note")]
    return Section("cost", "Cost", blocks, menu="Cost")


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield the table of a sample's judgements."""
    columns = [Column(title, numeric=False) for title in ("judge", "method", "model", "draw", "judgement")]
    rows: list[Sequence[Cell]] = []
    for view in views:
        item = JudgingItem.model_validate(view)
        if item.failure:
            judgement: Cell = Span(cut(f"{item.failure}: {item.reason}"), "bad")
        elif item.ranks:
            judgement = ", ".join(item.ranks)
        else:
            judgement = f"{item.score:.2f}"
        rows.append([item.judge, item.method, item.model, str(item.draw + 1), judgement])
    yield Table(columns, rows, "Judgements")


def accuracy_map(shares: Mapping[str, Mapping[str, float | None]]) -> Figure:
    """Return the heat map of accuracy in percent: a row per judge, a column per method.

    Args:
        shares: accuracy by judge and method, 0 to 1; None without judgements.
    """
    methods = list(dict.fromkeys(method for by_method in shares.values() for method in by_method))
    values: list[list[float | None]] = []
    for by_method in shares.values():
        percents: list[float | None] = []
        for method in methods:
            share = by_method.get(method)
            percents.append(None if share is None else round(100 * share, 1))
        values.append(percents)
    trace = heat_trace(list(shares), methods, values, COLOURS) | {
        "texttemplate": "%{z:.1f}",
        "hovertemplate": "%{y}<br>%{x}: <b>%{z:.1f} %</b><extra></extra>",
    }
    layout: Figure = {
        "height": 110 + 34 * len(shares),
        "margin": MARGIN,
        "showlegend": False,
        "hovermode": "closest",
        "xaxis": {**AXIS, "side": "top", "type": "category", **ticks(methods, 28)},
    }
    layout["yaxis"] = AXIS | names_axis(list(shares), 28)
    return {"data": [trace], "layout": layout}


def cost_and_accuracy(points: Sequence[tuple[str, str, float, float]], *, unit: str) -> Figure:
    """Return the chart of accuracy over usage: a labelled dot per method, in the judge's colour.

    Args:
        points: judge, method, usage, and accuracy from 0 to 1.
        unit: unit of the usage.
    """
    judges = list(dict.fromkeys(judge for judge, *_ in points))
    keys = short_labels(judges)
    methods = [method for _, method, *_ in points]
    short = dict(zip(methods, short_labels(methods, 24), strict=True))
    traces: list[Figure] = []
    for number, judge in enumerate(judges):
        judge_points = sorted((usage, share, method) for name, method, usage, share in points if name == judge)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers+text",
                "name": keys[number],
                "x": [usage for usage, _, _ in judge_points],
                "y": [round(100 * share, 2) for _, share, _ in judge_points],
                "text": [short[method] for _, _, method in judge_points],
                "hovertext": [label(method) for _, _, method in judge_points],
                "textposition": [
                    "top center" if position % 2 else "bottom center" for position in range(len(judge_points))
                ],
                "cliponaxis": False,
                "marker": {"size": 10, "color": PALETTE[number % len(PALETTE)]},
                "hovertemplate": f"%{{hovertext}}<br>%{{x:,.6g}} {unit}, <b>%{{y:.1f}} %</b><extra>{label(judge)}</extra>",
            }
        )
    layout = plain_layout(unit, "pairwise accuracy, percent") | KEYED
    layout |= {"height": 360, "margin": MARGIN, "showlegend": len(judges) > 1}
    layout["xaxis"]["rangemode"] = "tozero"
    return {"data": traces, "layout": layout}


DRAWING = Drawing(
    "comparison of judging methods",
    (accuracy, gaps, margins, order, cost, skipped.section, provenance.section),
    sample=sample,
    figures=JudgingFigures,
    conclusion=conclusion,
)
