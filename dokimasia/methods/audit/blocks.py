"""An audit by gated rubrics: the two tables, and each analysis as a chart, its numbers and one sentence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.domain.call import WEIGHTS
from dokimasia.methods.audit.charts import share_chart, violins_chart
from dokimasia.methods.audit.figures import BLIND_MARK
from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Paragraph,
    Section,
    Span,
    Table,
    Texts,
    Tone,
)
from dokimasia.report.charts import Point, interval_chart, intervals_said
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.scatter import scatter_chart
from dokimasia.report.sections import provenance, skipped
from dokimasia.runs.reading.lengths import untested

PERCENT = [0.0, 100.0]
MOST_NAMED = 5
CHOSE = "†"
"""Marks models whose answers had a hand in choosing the rubrics."""

STREAMS = (("must_right", "gate"), ("easy_wrong", "fine"))
HOLDS: Mapping[bool | None, tuple[str, Tone]] = {None: ("·", "muted"), True: ("✓", "good"), False: ("✗", "bad")}
"""How a rubric's verdict is marked; None is one that the judge did not answer."""

COLUMNS = (
    ("overall", "overall", "mean gated score"),
    ("must_right_item", "must-right item", "share of all must-right rubrics that hold"),
    ("easy_wrong_item", "easy-wrong item", "share of all easy-wrong rubrics that hold"),
    ("gate_pass", "gate pass", "share of responses that keep every must-right rubric"),
    ("easy_wrong_mean", "easy-wrong mean", "mean over samples of the share of easy-wrong rubrics that hold"),
    ("reliability_gap", "gap", "must-right item less gate pass"),
)


_TOLD = {"weights": "open or proprietary, by the configuration", "parameters": "by the configuration"}
_GROUPS: tuple[str | None, ...] = (*WEIGHTS, None)
"""The order of groups where the configuration says whether weights are open; best first within each."""


def scores(data: ReportData) -> Section:
    """Return the gated scores of all models, best first, whole and by domain."""
    models: Mapping[str, Any] = data.summary["models"]
    ranked = _ranked(models)
    told = _told(models)
    listed = sorted(ranked, key=lambda name: _GROUPS.index(models[name]["weights"])) if "weights" in told else ranked
    points = [
        Point(name, one["mean"], one["low"], one["high"], _open_ends(models[name]), hollow="#" in name)
        for name in ranked
        if (one := models[name]["overall"]) is not None
    ]
    heading = [Column("model", numeric=False), *(Column(title, numeric=False, meaning=_TOLD[title]) for title in told)]
    columns = [*heading, *(Column(title, meaning=meaning) for _, title, meaning in COLUMNS)]
    failing = any(one["answers_scored"] < one["answers"] for one in models.values())
    columns += [
        Column("judged", meaning="responses that were judged, and all"),
        Column("bounds", only="page"),
        Column("failed", numeric=False, meaning="responses", only=None if failing else "page"),
    ]
    chose: Sequence[str] = data.summary["in_pool"]
    heads: dict[str, list[Cell]] = {
        name: [_named(name, chose), *(models[name][title] or figures.NOTHING for title in told)] for name in listed
    }
    rows = [[*heads[name], *_cells(models[name], figures.pointer("models", name))] for name in listed]
    domains: Sequence[str] = list(data.summary["domains"])
    by_domain: list[Sequence[Cell]] = []
    for name in listed:
        cells: list[Cell] = [*heads[name]]
        for domain in domains:
            place = figures.pointer("models", name, "by_domain", domain)
            cells.append(figures.measured(models[name]["by_domain"].get(domain, {}).get("overall"), f"{place}/overall"))
        cells.append(figures.measured(models[name]["overall"], f"{figures.pointer('models', name)}/overall"))
        by_domain.append(cells)
    blocks: list[Block] = []
    missing: Sequence[str] = data.summary["without_rubrics"]
    if missing:
        named = ", ".join(missing[:MOST_NAMED]) + (", …" if len(missing) > MOST_NAMED else "")
        text = f"{len(missing)} samples of the data have no rubrics and are no part of this: {named}."
        blocks.append(Paragraph(text, "warning"))
    if chose:
        blocks.append(
            Paragraph(
                f"{CHOSE} {', '.join(chose)}: other answers of this very model had a hand in choosing these rubrics. Easy-wrong "
                "rubrics were mined from its errors, and rubrics that it passed may have been replaced, which tells against it.",
                "warning",
            )
        )
    if points:
        chart = interval_chart(points, title="mean gated score, percent", scale=PERCENT)
        blocks.append(
            Chart(chart, f"Mean gated scores {intervals_said(points)}, best first; dotted: what failures leave open")
        )
    blocks += [
        Table(columns, rows, "Gated scores by model"),
        Table(
            [*heading, *(Column(domain) for domain in domains), Column("overall")],
            by_domain,
            "Mean gated score by domain, with its interval",
        ),
        Paragraph(
            "All figures but counts are in percent. Intervals are 95 % intervals clustered by samples that share an image: "
            "they speak of other images, not of other rubrics or another judge. A rubric that the judge did not answer is a "
            "failure of the judgement: such responses have no score, and the bounds say what they could have changed.",
            "note",
        ),
    ]
    blocks += _blind(data.summary)
    rubrics = data.summary["rubrics"]
    asked = (
        f"{rubrics['must_right']:,} must-right and {rubrics['easy_wrong']:,} easy-wrong rubrics, {rubrics['checked']:,} sets "
        f"checked by a person; {figures.used(data.summary)}."
    )
    return Section("scores", "Gated scores", (*blocks, Paragraph(asked, "note")), menu="Scores")


def _told(models: Mapping[str, Any]) -> list[str]:
    """Return what the configuration says of any of the models."""
    return [title for title in _TOLD if any(one[title] for one in models.values())]


def _named(name: str, chose: Sequence[str]) -> Cell:
    """Return a model's name, marked where its answers had a hand in choosing the rubrics."""
    marked = name.removesuffix(BLIND_MARK) in chose
    return (Span(name, "strong"), f" {CHOSE}") if marked else Span(name, "strong")


def _blind(summary: Mapping[str, Any]) -> list[Block]:
    lines: list[Cell] = []
    for name, one in summary.get("blind", {}).items():
        kept = "nothing to compare" if one["share"] is None else f"{one['share']:.0%} of its score survives"
        lines.append((Span(name, "strong"), f": {kept} without the image ({figures.several(one['n'], 'sample')})"))
    return [Bullets(lines)] if lines else []


def sample(*items: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the responses to one sample, each with its rubrics and whether they hold."""
    for item in items:
        repeat = f" · repeat {item['repeat']}" if item["repeat"] else ""
        failed = f"{item['failure']}: {item['reason']}" if item["failure"] else ""
        end = Span(failed, "bad") if failed else Span(f"{item['score']:.2f}", "strong")
        yield Texts([((Span(f"{item['model']}{repeat} · ", "strong"), end), item["response"] or "")])
        yield Bullets([_held(mark, one) for stream, mark in STREAMS for one in item[stream]])


def _held(mark: str, one: Mapping[str, Any]) -> Cell:
    sign, tone = HOLDS[one["holds"]]
    return Span(f"{sign} {mark}  {one['statement']}", tone)


def analyses(data: ReportData) -> Section | None:
    """Return the analyses that were made, each as a sentence, a chart and a table."""
    found: Mapping[str, Any] = data.summary.get("analyses", {})
    blocks: list[Block] = []
    for name, make in _ANALYSES.items():
        if name in found:
            blocks += [
                Paragraph(Span(name.replace("_", " ").capitalize(), "strong")),
                Paragraph(found[name]["says"], "lead"),
            ]
            blocks += make(found[name])
    return Section("analyses", "What the figures say", blocks, menu="Analyses") if blocks else None


def _drawn(chart: Any, caption: str, table: Table) -> list[Block]:
    """Return a table under its chart, where there is something to draw."""
    return [Chart(chart, caption), table] if chart else [table]


def _gap(found: Mapping[str, Any]) -> list[Block]:
    models: Mapping[str, Any] = found["models"]
    if not models:
        return []
    ordered = sorted(models, key=lambda name: (models[name]["gap"]["mean"], name))
    points = [Point(name, *(models[name]["gap"][end] for end in ("mean", "low", "high"))) for name in ordered]
    rows = [
        [Span(name, "strong"), f"{one['item']:.2f}", f"{one['gate']:.2f}", figures.measured(one["gap"])]
        for name in ordered
        for one in (models[name],)
    ]
    columns = [Column("model", numeric=False), Column("must-right item"), Column("gate pass"), Column("gap")]
    chart = interval_chart(points, title="reliability gap, points", scale=None, zero=True)
    return _drawn(chart, "Reliability gap by model", Table(columns, rows, "Reliability gap by model"))


def _failures(found: Mapping[str, Any]) -> list[Block]:
    shares = {
        name: {domain: one["share"] for domain, one in domains.items() if one["share"] is not None}
        for name, domains in found["models"].items()
    }
    shares = {name: parts for name, parts in shares.items() if parts}
    rows = [
        [domain, f"{one['n']:,}", f"{one['failed']:,}", figures.measured(one["rate"]), figures.share(one["share"])]
        for domain, one in found["all"].items()
    ]
    columns = [Column("domain", numeric=False), *map(Column, ("responses", "gates failed", "rate", "share"))]
    table = Table(columns, rows, "Failed gates by domain, all models together")
    chart = shares and share_chart(shares, title="share of the model's failed gates, percent")
    return _drawn(chart, "Where each model's gates fail", table)


def _consistency(found: Mapping[str, Any]) -> list[Block]:
    points = {name: (one[0], one[1]) for name, one in found["points"].items()}
    if found["r_squared"] is None or not points:
        return []
    chart = scatter_chart(points, x="gate pass, percent", y="easy-wrong mean, percent", line=True)
    interval = figures.interval(found, digits=3)
    apart = found["disjoint"]
    other = figures.NOTHING if apart is None else f"{apart['r_squared']:.3f} ({apart['low']:.3f} – {apart['high']:.3f})"
    rows: list[Sequence[Cell]] = [[f"{found['r_squared']:.6f}", interval, other, str(found["n"])]]
    return [
        Chart(chart, "Gate pass rate and easy-wrong mean, one dot a model, with the line of least squares"),
        Table(
            [
                Column("R²", meaning="as published: both from the same responses"),
                Column("95 % interval"),
                Column("R², different images", meaning="mean over halvings of the images, and their middle 90 %"),
                Column("models"),
            ],
            rows,
            "Consistency of the two streams",
        ),
    ]


def _agreement(found: Mapping[str, Any]) -> list[Block]:
    names = ("pearson", "spearman", "kendall")
    titles = {"gated": "with the gate", "ungated": "without the gate", "plain": "share of all rubrics"}
    points = [
        Point(f"{titles[key]}, {name}", one["value"], one["low"], one["high"])
        for key in titles
        for name in names
        if (one := found[key][name]) is not None and one["low"] is not None
    ]
    rows = [[title, *(_correlation(found[key][name]) for name in names)] for key, title in titles.items()]
    columns = [Column("score", numeric=False), *(Column(name.capitalize()) for name in names)]
    table = Table(
        columns,
        rows,
        f"Correlation with outside ratings, {figures.several(found['n'], 'pair')}, {found['unmatched']} unmatched",
    )
    chart = points and interval_chart(points, title="correlation with the ratings", scale=None)
    return _drawn(chart, "Agreement with ratings", table)


def _benchmarks(found: Mapping[str, Any]) -> list[Block]:
    names = ("pearson", "spearman", "kendall")
    scores: Mapping[str, Any] = found["scores"]
    charts = [
        Chart(
            scatter_chart({model: (one[1], one[0]) for model, one in each["points"].items()}, x="rating", y=name),
            f"{name.capitalize()} and rating, one dot a model",
        )
        for name, each in scores.items()
    ]
    rows = [[name, *(_correlation(each[method]) for method in names)] for name, each in scores.items()]
    columns = [Column("benchmark", numeric=False), *(Column(name.capitalize()) for name in names)]
    return [*charts, Table(columns, rows, f"Correlation with the ratings over the same {len(found['models'])} models")]


def _length(found: Mapping[str, Any]) -> list[Block]:
    models: Mapping[str, Any] = found["models"]
    points = [Point(name, one["r"], one["low"], one["high"]) for name, one in models.items() if one["low"] is not None]
    rows = [
        [
            Span(name, "strong"),
            f"{one['n']:,}",
            f"{one['words']:.0f}",
            figures.NOTHING if one["r"] is None else figures.signed_text(one["r"], 3),
            figures.interval(one, signed=True),
            figures.p_value(one["p"]),
            figures.p_value(one["adjusted"]),
            figures.p_value(one["p_published"]),
        ]
        for name, one in models.items()
    ]
    titles = ("responses", "mean words", "r", "95 % interval")
    columns = [
        Column("model", numeric=False),
        *map(Column, titles),
        Column("p", meaning="exchange of whole images' responses"),
        Column("adjusted p", meaning="Benjamini and Hochberg, over the models that see the image"),
        Column("p as published", meaning="responses taken for independent", only="page"),
    ]
    table = Table(columns, rows, "Correlation of a response's length with its gated score")
    chart = points and interval_chart(points, title="r of length and score", scale=None, zero=True)
    return [*_drawn(chart, "Length and score by model", table), *(Paragraph(one, "note") for one in untested(models))]


def _judges(found: Mapping[str, Any]) -> list[Block]:
    models: Mapping[str, Any] = found["models"]
    first, second = found["judges"]
    if not models:
        return []
    rows = [
        [
            Span(name, "strong"),
            *(f"{value:.2f}" for value in models[name]["means"]),
            figures.signed_text(models[name]["shift"]["mean"]),
            figures.interval(models[name]["shift"], signed=True),
            " / ".join("–" if value is None else f"{value:.2f}" for value in models[name]["spread"]),
            *([figures.measured(models[name]["together"])] if "weights" in found else []),
        ]
        for name in found["order"][0]
    ]
    columns = [Column("model", numeric=False), Column(first), Column(second), Column("shift"), Column("95 % interval")]
    both: list[Column] = []
    if "weights" in found:
        counted = ", ".join(
            f"{name} {weight:.2f}" for name, weight in zip(found["judges"], found["weights"], strict=True)
        )
        both = [Column("both, by passport", meaning=f"weighted: {counted}")]
    points = {name: (models[name]["means"][0], models[name]["means"][1]) for name in found["order"][0]}
    return [
        Chart(scatter_chart(points, x=f"score by {first}", y=f"score by {second}"), "Mean gated scores by both judges"),
        Table([*columns, Column("spread over repeats"), *both], rows, "Two judges on the same rubrics"),
    ]


def _coverage(found: Mapping[str, Any]) -> list[Block]:
    shares = {int(share): one for share, one in found["shares"].items() if one["deviation"] is not None}
    if not shares:
        return []
    values = {
        float(share): {name: model["deviation"] for name, model in one["models"].items()}
        for share, one in shares.items()
    }
    rows = [
        [f"{share} %", f"{one['deviation']:.2f}", figures.signed_text(one["shift"])] for share, one in shares.items()
    ]
    columns = [
        Column("rubrics used"),
        Column("deviation over draws"),
        Column("mean shift", meaning="against all rubrics"),
    ]
    return [
        Chart(
            violins_chart(values, x="rubrics used, percent", y="deviation over draws, points"),
            "Standard deviation of scores over three draws of rubrics, by share of rubrics: each model, their median and "
            "quartiles, and, from five models on, their distribution; dashed: the mean",
        ),
        Table(columns, rows, "Stability with fewer rubrics"),
    ]


_ANALYSES = {
    "reliability_gap": _gap,
    "failures_by_domain": _failures,
    "consistency": _consistency,
    "agreement": _agreement,
    "other_benchmarks": _benchmarks,
    "length_bias": _length,
    "two_judges": _judges,
    "coverage": _coverage,
}


def _ranked(models: Mapping[str, Any]) -> list[str]:
    return sorted(models, key=lambda name: (-(models[name]["overall"] or {"mean": -1})["mean"], name))


def _cells(model: Mapping[str, Any], place: str) -> list[Cell]:
    return [
        *(figures.measured(model[key], f"{place}/{key}") for key, _, _ in COLUMNS),
        figures.scored_of(model, place),
        figures.interval(model["bounds"]["overall"], f"{place}/bounds/overall", digits=1),
        figures.failures(model["failed_answers"], f"{place}/failed_answers"),
    ]


def _correlation(one: Mapping[str, float] | None) -> Cell:
    if one is None:
        return figures.NOTHING
    return (
        Span(f"{one['value']:.3f}".replace("-", figures.MINUS), "strong"),
        Span(figures.bracketed(one, "{:.2f}".format), "muted"),
    )


def _open_ends(model: Mapping[str, Any]) -> tuple[float, float] | None:
    bounds = model["bounds"]["overall"]
    return (bounds["low"], bounds["high"]) if bounds and model["answers_scored"] < model["answers"] else None


DRAWING = Drawing(
    "audit",
    (scores, analyses, skipped.section, provenance.section),
    sample=lambda views, cut: sample(*views),
)
