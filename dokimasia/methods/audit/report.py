"""The report of an audit: tables of scores, and each analysis as a sentence, a chart and a table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import exp
from statistics import quantiles, stdev
from typing import TypeVar

from dokimasia.domain.call import WEIGHTS
from dokimasia.domain.ports import Spending
from dokimasia.domain.wording import percentage, shortened
from dokimasia.methods.audit.analyses import (
    MOST_POINTS,
    Agreement,
    AnalysedAudit,
    BenchmarkScores,
    Consistency,
    Correlation,
    Correlations,
    DomainFailures,
    FailuresByDomain,
    JudgedTwice,
    LengthAnalysis,
    LengthCorrelation,
    ModelGap,
    OpenAndProprietary,
    OtherBenchmarks,
    ReliabilityGap,
    RubricCoverage,
    RubricShare,
    TwoJudges,
    WeightsGap,
)
from dokimasia.methods.audit.figures import (
    BLIND_MARK,
    AuditedModel,
    AuditFigures,
    AuditItem,
    BlindScore,
    RubricResult,
)
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Chart, Paragraph, Section, Span, Texts, Tone, spans
from dokimasia.report.charts import (
    AXIS,
    PALETTE,
    Figure,
    Point,
    cloud_chart,
    interval_chart,
    intervals_said,
    paired_chart,
    plain_layout,
    scatter_chart,
)
from dokimasia.report.conclusions import highest, lead_sentences, of_each, strong, used_sentence
from dokimasia.report.data import Cut, Drawing, ReportData, Views
from dokimasia.report.fields import TableRow, pointer, rows_of
from dokimasia.report.labels import label, short_labels, ticks
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import (
    TableColumn,
    column,
    computed_column,
    field_columns,
    name_column,
    origin_columns,
    part_column,
    points_of,
    table,
)
from dokimasia.runs.reading.correlations import untested

A = TypeVar(
    "A",
    ReliabilityGap,
    FailuresByDomain,
    Consistency,
    Agreement,
    OtherBenchmarks,
    LengthAnalysis,
    OpenAndProprietary,
    TwoJudges,
    RubricCoverage,
)

PERCENT = [0.0, 100.0]
MOST_NAMED = 5
CHOSE = "†"
"""Mark of models whose answers were used to choose the rubrics."""

HOLDS: Mapping[bool | None, tuple[str, Tone]] = {None: ("·", "muted"), True: ("✓", "good"), False: ("✗", "bad")}
"""Mark and tone of a rubric's verdict; None is a rubric that the judge did not answer."""

GROUPS: tuple[str | None, ...] = (*WEIGHTS, None)
"""The order of groups by open or closed weights, if configured; best first within each group."""


def scores(data: ReportData) -> Section:
    """Return the section of gated scores, overall and by domain, best model first."""
    audit = data.figures_as(AuditFigures)
    models = audit.models
    ranked = sorted(models, key=lambda name: (-_overall(models[name]), name))
    heading: list[TableColumn[AuditedModel]] = [
        computed_column("model", partial(_marked_name, audit.in_pool), numeric=False),
        *origin_columns(AuditedModel, data.stored),
    ]
    order = ranked
    if any(model.weights for model in models.values()):
        heading.append(column("weights"))
        order = sorted(ranked, key=lambda name: GROUPS.index(models[name].weights))
    if any(model.parameters for model in models.values()):
        heading.append(column("parameters"))
    rows = rows_of(models, "models", order=order)
    failing = any(model.answers_scored < model.answers for model in models.values())
    by_model = table(
        AuditedModel,
        rows,
        [
            *heading,
            *field_columns(
                "overall", "must_right_item", "easy_wrong_item", "gate_pass", "easy_wrong_mean", "reliability_gap"
            ),
            column("atomic_accuracy", only="page"),
            column("atomic_gap", only="page"),
            part_column("judged", "answers_scored", "answers", meaning="responses that were judged, and all"),
            column("bounds", "overall", only=None if failing else "page", write=partial(figures.interval, digits=1)),
            column("failed_answers", only=None if failing else "page"),
        ],
        "Gated scores by model",
    )
    domains = [column("by_domain", domain, "overall", title=domain) for domain in audit.domains]
    by_domain = table(
        AuditedModel,
        rows,
        [*heading, *domains, column("overall", meaning="")],
        "Mean gated score by domain, with its interval",
    )
    return Section(
        "scores",
        "Gated scores",
        [*_warnings(audit), *_scores_chart(models, ranked), by_model, by_domain, *_notes(audit, data.paid)],
        menu="Scores",
    )


def conclusion(data: ReportData) -> list[Cell]:
    """Return which model has the highest gated score, how certain that is, what failed, and the usage."""
    audit = data.figures_as(AuditFigures)
    scores = {
        name: model.overall for name, model in audit.models.items() if model.overall is not None and "#" not in name
    }
    if not scores:
        return ["Nothing was judged: there is no gated score."]
    best = highest(scores)
    verb = " has the highest gated score: "
    if len(best) > 1:
        verb = " have the highest gated score: "
    elif len(scores) == 1:
        verb = ": gated score "
    results: list[Cell] = []
    for name in best:
        score = figures.measured(scores[name], f"{pointer('models', name)}/overall", digits=1)
        results.append((*spans(score), f" of 100 on {figures.several(audit.models[name].n_scored, 'sample')}"))
    sentences: list[Cell] = [
        (*strong(best), verb, *spans(of_each(results)), "."),
        *lead_sentences(audit.lead, unit="points", measure="mean score"),
    ]
    failures = sum(sum(model.failed_answers.values()) for name, model in audit.models.items() if "#" not in name)
    if failures:
        sentences.append(
            f"{figures.several(failures, 'response')} failed or could not be judged; the bounds say what they leave open."
        )
    return [*sentences, used_sentence(audit, data.paid)]


def _overall(model: AuditedModel) -> float:
    if model.overall is None:
        return -1.0
    return model.overall.mean


def _marked_name(chose: Sequence[str], row: TableRow[AuditedModel]) -> Cell:
    """Return a model's name, marked if its answers were used to choose the rubrics."""
    name = Span(row.name, "strong")
    if row.name.removesuffix(BLIND_MARK) in chose:
        return (name, f" {CHOSE}")
    return name


def _warnings(audit: AuditFigures) -> Iterator[Block]:
    sample_names = audit.without_rubrics
    if sample_names:
        names = shortened(sample_names, MOST_NAMED)
        text = f"{len(sample_names)} samples of the data have no rubrics and are no part of this: {names}."
        yield Paragraph(text, "warning")
    if audit.in_pool:
        yield Paragraph(
            f"{CHOSE} {', '.join(audit.in_pool)}: other answers of this very model had a hand in choosing these rubrics. "
            "Easy-wrong rubrics were mined from its errors, and rubrics that it passed may have been replaced, which tells "
            "against it.",
            "warning",
        )


def _scores_chart(models: Mapping[str, AuditedModel], ranked: Sequence[str]) -> Iterator[Block]:
    points: list[Point] = []
    for name in ranked:
        overall, bounds = models[name].overall, models[name].bounds.overall
        if overall is None:
            continue
        open_ends = None
        if bounds is not None and models[name].answers_scored < models[name].answers:
            open_ends = (bounds.low, bounds.high)
        points.append(Point(name, overall.mean, overall.low, overall.high, open_ends, hollow="#" in name))
    if points:
        chart = interval_chart(points, title="mean gated score, percent", scale=PERCENT)
        about = f"Mean gated scores {intervals_said(points)}, best first; dotted: what failures leave open"
        yield Chart(chart, about)


def _notes(audit: AuditFigures, paid: Spending | None) -> Iterator[Block]:
    yield Paragraph(
        "All figures but counts are in percent. Intervals are 95 % intervals clustered by samples that share an image: "
        "they speak of other images, not of other rubrics or another judge. A rubric that the judge did not answer is a "
        "failure of the judgement: such responses have no score, and the bounds say what they could have changed.",
        "note",
    )
    if audit.blind:
        yield Bullets([_blind_line(name, score) for name, score in audit.blind.items()])
    rubrics = audit.rubrics
    yield Paragraph(
        f"{rubrics.must_right:,} must-right and {rubrics.easy_wrong:,} easy-wrong rubrics, {rubrics.checked:,} sets "
        f"checked by a person; {figures.used(audit, paid)}.",
        "note",
    )


def _blind_line(name: str, score: BlindScore) -> Cell:
    surviving = "nothing to compare" if score.share is None else f"{percentage(score.share)} of its score survives"
    return (Span(name, "strong"), f": {surviving} without the image ({figures.several(score.n, 'sample')})")


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield the responses to a sample, each with its rubrics' results."""
    for view in views:
        item = AuditItem.model_validate(view)
        repeat = f" · repeat {item.repeat}" if item.repeat else ""
        end = Span("", "strong")
        if item.failure:
            end = Span(f"{item.failure}: {item.reason}", "bad")
        elif item.score is not None:
            end = Span(f"{item.score:.2f}", "strong")
        yield Texts([((Span(f"{item.model}{repeat} · ", "strong"), end), item.response or "")], prose=True)
        lines = [_rubric_line("gate", rubric) for rubric in item.must_right]
        lines += [_rubric_line("fine", rubric) for rubric in item.easy_wrong]
        yield Bullets(lines)


def _rubric_line(mark: str, rubric: RubricResult) -> Cell:
    symbol, tone = HOLDS[rubric.holds]
    line = Span(f"{symbol} {mark}  {rubric.statement}", tone)
    if rubric.reason:
        return (line, Span(f" – {rubric.reason}", "muted"))
    return line


def analyses(data: ReportData) -> Section | None:
    """Return the section of analyses, each as a sentence, a chart and a table."""
    if not isinstance(data.figures, AnalysedAudit):
        return None
    audit_analyses = data.figures.analyses
    blocks = [
        *_analysis("Reliability gap", audit_analyses.reliability_gap, _gap),
        *_analysis("Open and proprietary models", audit_analyses.open_and_proprietary, _by_weights),
        *_analysis("Failures by domain", audit_analyses.failures_by_domain, _failures),
        *_analysis("Consistency", audit_analyses.consistency, _consistency),
        *_analysis("Agreement", audit_analyses.agreement, _agreement),
        *_analysis("Other benchmarks", audit_analyses.other_benchmarks, _benchmarks),
        *_analysis("Length bias", audit_analyses.length_bias, _length),
        *_analysis("Two judges", audit_analyses.two_judges, _judges),
        *_analysis("Coverage", audit_analyses.coverage, _coverage),
    ]
    return Section("analyses", "What the figures say", blocks, menu="Analyses")


def _analysis(title: str, analysis: A | None, draw: Callable[[A], list[Block]]) -> list[Block]:
    """Return the blocks of an analysis under its title; nothing without the analysis."""
    if analysis is None:
        return []
    return [Paragraph(Span(title, "strong")), Paragraph(analysis.says, "lead"), *draw(analysis)]


def _gap(analysis: ReliabilityGap) -> list[Block]:
    models = analysis.models
    if not models:
        return []
    rows = rows_of(models, order=sorted(models, key=lambda name: (models[name].gap.mean, name)))
    chart = interval_chart(points_of(rows, "gap"), title="reliability gap, points", scale=None, zero=True)
    columns = [
        name_column("model"),
        *field_columns("item", "gate", "gap", "atomic", "atomic_gap"),
    ]
    pairs = {row.name: (row.figures.atomic, row.figures.gate) for row in rows}
    published = paired_chart(pairs, ("atomic accuracy", "gate pass"), title="percent", scale=PERCENT)
    return [
        Chart(chart, "Reliability gap by model"),
        Chart(published, "Atomic accuracy over all rubrics, and gate pass rate, by model"),
        table(ModelGap, rows, columns, "Reliability gap by model"),
    ]


def _by_weights(analysis: OpenAndProprietary) -> list[Block]:
    columns = [
        name_column("of each group", ""),
        *field_columns("open", "proprietary", "gap", "p", "n"),
    ]
    about = "Mean gated score of open and proprietary models on the same images"
    return [table(WeightsGap, rows_of(analysis.gaps), columns, about)]


def _failures(analysis: FailuresByDomain) -> list[Block]:
    shares: dict[str, dict[str, float]] = {}
    for name, domains in analysis.models.items():
        parts = {domain: failures.share for domain, failures in domains.items() if failures.share is not None}
        if parts:
            shares[name] = parts
    columns = [name_column("domain", ""), *field_columns("n", "failed", "rate", "share")]
    about = "Failed gates by domain, all models together"
    blocks: list[Block] = [table(DomainFailures, rows_of(analysis.all), columns, about)]
    if shares:
        chart = share_chart(shares, title="share of the model's failed gates, percent")
        blocks.insert(0, Chart(chart, "Where each model's gates fail"))
    return blocks


def _consistency(analysis: Consistency) -> list[Block]:
    if analysis.r_squared is None or not analysis.points:
        return []
    chart = scatter_chart(analysis.points, x="gate pass, percent", y="easy-wrong mean, percent", line=True)
    columns: list[TableColumn[Consistency]] = [
        column("r_squared", write=partial(figures.number, digits=6)),
        computed_column("95 % interval", lambda row: figures.interval(row.figures, digits=3)),
        computed_column(
            "R², different images", _disjoint, meaning="mean over halvings of the images, and their middle 90 %"
        ),
        computed_column("models", lambda row: str(row.figures.n)),
    ]
    return [
        Chart(chart, "Gate pass rate and easy-wrong mean, one dot a model, with the line of least squares"),
        table(Consistency, [TableRow("", analysis)], columns, "Consistency of the two streams"),
    ]


def _disjoint(row: TableRow[Consistency]) -> Cell:
    disjoint = row.figures.disjoint
    if disjoint is None:
        return figures.NOTHING
    return f"{disjoint.r_squared:.3f} ({disjoint.low:.3f} – {disjoint.high:.3f})"


def _correlation(correlation: Correlation | None, place: str = "") -> Cell:
    if correlation is None:
        return figures.NOTHING
    text = f"{correlation.value:.3f}".replace("-", figures.MINUS)
    return (Span(text, "strong"), Span(figures.bracketed(correlation, "{:.2f}".format), "muted"))


CORRELATIONS = [
    column("pearson", title="Pearson", write=_correlation),
    column("spearman", title="Spearman", write=_correlation),
    column("kendall", title="Kendall", write=_correlation),
]


def _agreement(analysis: Agreement) -> list[Block]:
    by_score = {
        "with the gate": analysis.gated,
        "without the gate": analysis.ungated,
        "share of all rubrics": analysis.plain,
    }
    points: list[Point] = []
    for title, score in by_score.items():
        for name, correlation in score:
            if correlation is not None and correlation.low is not None:
                points.append(Point(f"{title}, {name}", correlation.value, correlation.low, correlation.high))
    blocks: list[Block] = []
    if points:
        chart = interval_chart(points, title="correlation with the ratings", scale=None)
        blocks.append(Chart(chart, "Agreement with ratings"))
    about = f"Correlation with outside ratings, {figures.several(analysis.n, 'pair')}, {analysis.unmatched} unmatched"
    columns = [name_column("score", ""), *CORRELATIONS]
    return [*blocks, table(Correlations, rows_of(by_score), columns, about)]


def _benchmarks(analysis: OtherBenchmarks) -> list[Block]:
    blocks: list[Block] = []
    for name, benchmark in analysis.scores.items():
        points = {model: (rating, score) for model, (score, rating) in benchmark.points.items()}
        chart = scatter_chart(points, x="rating", y=name)
        blocks.append(Chart(chart, f"{name.capitalize()} and rating, one dot a model"))
    about = f"Correlation with the ratings over the same {len(analysis.models)} models"
    columns = [name_column("benchmark", ""), *CORRELATIONS]
    return [*blocks, table(BenchmarkScores, rows_of(analysis.scores), columns, about)]


def _length(analysis: LengthAnalysis) -> list[Block]:
    rows = rows_of(analysis.models)
    points: list[Point] = []
    for name, model in analysis.models.items():
        if model.r is not None and model.low is not None:
            points.append(Point(name, model.r, model.low, model.high))
    columns: list[TableColumn[LengthCorrelation]] = [
        name_column("model"),
        *field_columns("n", "words", "r"),
        computed_column("95 % interval", lambda row: figures.interval(row.figures, signed=True)),
        *field_columns("p", "adjusted"),
        column("p_published", only="page"),
    ]
    blocks: list[Block] = []
    if points:
        chart = interval_chart(points, title="r of length and score", scale=None, zero=True)
        blocks.append(Chart(chart, "Length and score by model"))
    clouds = {name: model.points for name, model in analysis.models.items() if model.points}
    if clouds:
        chart = cloud_chart(clouds, x="words of the response", y="gated score, 0 to 1")
        blocks.append(Chart(chart, f"Length and gated score of responses, at most {MOST_POINTS} of each model"))
    blocks.append(table(LengthCorrelation, rows, columns, "Correlation of a response's length with its gated score"))
    reasons = {name: model.reason for name, model in analysis.models.items() if model.r is not None}
    return [*blocks, *(Paragraph(sentence, "note") for sentence in untested(reasons))]


def _judges(analysis: TwoJudges) -> list[Block]:
    models = analysis.models
    if not models:
        return []
    first, second = analysis.judges
    columns: list[TableColumn[JudgedTwice]] = [
        name_column("model"),
        computed_column(first, lambda row: f"{row.figures.means[0]:.2f}"),
        computed_column(second, lambda row: f"{row.figures.means[1]:.2f}"),
        computed_column("shift", lambda row: figures.signed_text(row.figures.shift.mean)),
        column("shift"),
        computed_column("spread over repeats", lambda row: " / ".join(map(_spread_text, row.figures.spread))),
    ]
    if analysis.weights is not None:
        weights = ", ".join(
            f"{name} {weight:.2f}" for name, weight in zip(analysis.judges, analysis.weights, strict=True)
        )
        columns.append(column("together", title="both, by passport", meaning=f"weighted: {weights}"))
    points = {name: models[name].means for name in analysis.order[0]}
    chart = scatter_chart(points, x=f"score by {first}", y=f"score by {second}")
    return [
        Chart(chart, "Mean gated scores by both judges"),
        table(JudgedTwice, rows_of(models, order=analysis.order[0]), columns, "Two judges on the same rubrics"),
    ]


def _spread_text(spread: float | None) -> str:
    if spread is None:
        return "–"
    return f"{spread:.2f}"


def _coverage(analysis: RubricCoverage) -> list[Block]:
    shares = {share: mean for share, mean in analysis.shares.items() if mean.deviation is not None}
    if not shares:
        return []
    values: dict[float, dict[str, float]] = {}
    for share, stability in shares.items():
        values[float(share)] = {name: model.deviation for name, model in stability.models.items()}
    columns: list[TableColumn[RubricShare]] = [
        computed_column("rubrics used", lambda row: f"{row.name} %"),
        *field_columns("deviation", "shift"),
    ]
    return [
        Chart(
            violins_chart(values, x="rubrics used, percent", y="deviation over draws, points"),
            "Standard deviation of scores over three draws of rubrics, by share of rubrics: each model, their median and "
            "quartiles, and, from five models on, their distribution; dashed: the mean",
        ),
        table(RubricShare, rows_of(shares), columns, "Stability with fewer rubrics"),
    ]


FEWEST_FOR_SHAPE = 5
"""With fewer models, only dots are drawn, since an outline would only show the bandwidth."""

HALF_WIDTH, STEPS = 8.0, 48
"""Half width of a violin in units of the axis, and number of segments of its sides."""

_LEGEND: Figure = {"showlegend": True, "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0}}


def violins_chart(values: Mapping[float, Mapping[str, float]], *, x: str, y: str) -> Figure:
    """Return a violin chart of models' values: outlines, quartiles, each model as a dot, and a line of means.

    Fewer than five models, or equal values, have dots but no outline. Values are 0 or more.

    Args:
        values: each model's value, by position on the horizontal axis.
        x: title of the horizontal axis.
        y: title of the vertical axis.
    """
    traces: list[Figure] = []
    for position, models in values.items():
        outline = _outline(list(models.values()))
        if outline:
            sides = [(position + width, place) for place, width in outline]
            sides += [(position - width, place) for place, width in reversed(outline)]
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": [round(across, 4) for across, _ in sides],
                    "y": [round(place, 4) for _, place in sides],
                    "name": "models",
                    "fill": "toself",
                    "opacity": 0.35,
                    "line": {"width": 1, "color": PALETTE[0]},
                    "hoverinfo": "skip",
                }
            )
    points = [(position, name, value) for position, models in values.items() for name, value in models.items()]
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "each model",
            "x": [position for position, _, _ in points],
            "y": [value for _, _, value in points],
            "text": [label(name) for _, name, _ in points],
            "marker": {"size": 5, "color": PALETTE[0], "opacity": 0.6},
            "hovertemplate": "%{text}, %{x:g}: <b>%{y:.2f}</b><extra></extra>",
        }
    )
    measured = {position: list(models.values()) for position, models in values.items() if models}
    boxes: dict[float, tuple[float, float, float]] = {}
    for position, shares in measured.items():
        low, middle, high = quantiles(shares, n=4, method="inclusive") if len(shares) > 1 else shares * 3
        boxes[position] = (low, middle, high)
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "median and quartiles",
            "x": list(boxes),
            "y": [box[1] for box in boxes.values()],
            "error_y": {
                "type": "data",
                "symmetric": False,
                "array": [round(box[2] - box[1], 6) for box in boxes.values()],
                "arrayminus": [round(box[1] - box[0], 6) for box in boxes.values()],
                "thickness": 5,
                "width": 0,
                "color": PALETTE[1],
            },
            "marker": {"size": 9, "color": PALETTE[1]},
            "hovertemplate": "%{x:g}: median <b>%{y:.2f}</b><extra></extra>",
        }
    )
    traces.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "mean",
            "x": list(measured),
            "y": [sum(shares) / len(shares) for shares in measured.values()],
            "line": {"width": 2, "dash": "dash", "color": PALETTE[2]},
            "hovertemplate": "%{x:g}: mean <b>%{y:.2f}</b><extra></extra>",
        }
    )
    for trace in traces:
        trace.setdefault("showlegend", trace["name"] != "models")
    return {"data": traces, "layout": plain_layout(x, y) | _LEGEND}


def share_chart(shares: Mapping[str, Mapping[str, float]], *, title: str) -> Figure:
    """Return a chart with a bar per model, divided among domains, in percent.

    Args:
        shares: each domain's share from 0 to 1, by model.
        title: title of the axis.
    """
    domains = sorted({domain for parts in shares.values() for domain in parts})
    names = [label(name) for name in shares]
    keys = short_labels(domains)
    traces: list[Figure] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": keys[number],
            "y": names,
            "text": names,
            "textposition": "none",
            "x": [100 * parts.get(domain, 0.0) for parts in shares.values()],
            "marker": {"color": PALETTE[number % len(PALETTE)]},
            "hovertemplate": "%{text}: <b>%{x:.0f} %</b>" + f"<extra>{label(domain)}</extra>",
        }
        for number, domain in enumerate(domains)
    ]
    layout = plain_layout(title, "") | {
        **_LEGEND,
        "barmode": "stack",
        "height": 120 + 34 * len(names),
    }
    layout["yaxis"] = {**AXIS, "type": "category", "autorange": "reversed", "ticksuffix": "  ", **ticks(list(shares))}
    return {"data": traces, "layout": layout}


def _outline(values: Sequence[float]) -> list[tuple[float, float]]:
    """Return half the width of a violin by height: a kernel density with Silverman's bandwidth."""
    if len(values) < FEWEST_FOR_SHAPE or not (spread := stdev(values)):
        return []
    width = 1.06 * spread * len(values) ** -0.2
    low, high = max(0.0, min(values) - 2 * width), max(values) + 2 * width
    places = [low + (high - low) * step / STEPS for step in range(STEPS + 1)]
    heights = [sum(exp(-(((place - value) / width) ** 2) / 2) for value in values) for place in places]
    return [(place, HALF_WIDTH * height / max(heights)) for place, height in zip(places, heights, strict=True)]


DRAWING = Drawing(
    "audit",
    (scores, analyses, skipped.section, provenance.section),
    sample=sample,
    figures=AuditFigures,
    conclusion=conclusion,
)
