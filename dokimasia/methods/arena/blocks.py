"""An arena as it is drawn: ratings, ranks, the win matrix, pairs, places, scores elsewhere, one case whole."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dokimasia.methods.duel import case_blocks, case_section, verdict_chart
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Paragraph, Section, Span, Table
from dokimasia.report.charts import Point, interval_chart, intervals_said
from dokimasia.report.data import Cut, Drawing, ReportData, Views
from dokimasia.report.heat import heat_chart
from dokimasia.report.scatter import scatter_chart
from dokimasia.report.sections import provenance, skipped


def ratings(data: ReportData) -> Section:
    """Return all models, best first, with what cannot be compared said."""
    summary = data.summary
    models: Mapping[str, Any] = summary["models"]
    groups: Sequence[Mapping[str, Any]] = summary["groups"]
    blocks: list[Block] = [Paragraph(text, "warning") for text in _groups_said(summary)]
    points = [
        Point(name, one["mean"], one["low"], one["high"])
        for name, model in models.items()
        if (one := model["rating"]) is not None
    ]
    if points:
        chart = interval_chart(points, title="rating", scale=None)
        blocks.append(Chart(chart, f"Rating of each model {intervals_said(points)}, best first"))
    failing = any(one["verdicts"]["failed"] for one in models.values())
    waiting = any(one["verdicts"]["open"] for one in models.values())
    columns = [
        Column("model", numeric=False),
        *([Column("group", meaning="ratings of different groups cannot be compared")] if len(groups) > 1 else []),
        Column("rating", meaning="1000 on average; 400 more: odds of 10 to 1 of winning"),
        Column("reward", meaning="50 times the mean verdict over all whom it met, -100 to 100"),
        Column("win rate", meaning="percent of valid verdicts that are better or much better"),
        Column("met", meaning="models that it met"),
        Column("verdicts", meaning="of meetings that were judged in both orders"),
        Column("failed", meaning="verdicts that failed", only=None if failing else "page"),
        Column("open", meaning="verdicts that the budget did not reach", only=None if waiting else "page"),
        Column(
            "reward if", meaning="every failed verdict were the worst, or the best", only=None if failing else "page"
        ),
        Column("words", meaning="mean words of an answer", only="page"),
    ]
    rows = [_row(name, one, several=len(groups) > 1) for name, one in models.items()]
    blocks.append(Table(columns, rows, "Models by rating"))
    blocks += [Paragraph(text, "note") for text in _notes(summary)]
    return Section("ratings", "Ratings", blocks, menu="Ratings")


def ranks(data: ReportData) -> Section | None:
    """Return how often each model takes each rank when cases are drawn anew."""
    models: Mapping[str, Any] = data.summary["models"]
    ranked = {name: one["ranks"] for name, one in models.items() if one["ranks"] is not None}
    if not ranked or len(data.summary["groups"]) > 1:
        return None
    places = [str(place) for place in range(1, len(ranked) + 1)]
    chart = heat_chart(
        list(ranked), places, list(ranked.values()), hover="%{y}<br>rank %{x} in <b>%{z:.0f} %</b> of the resamples"
    )
    rows = [
        [Span(name, "strong"), *(Span(f"{share:.0f}", "" if share >= 0.5 else "muted") for share in shares)]
        for name, shares in ranked.items()
    ]
    columns = [Column("model", numeric=False), *(Column(place) for place in places)]
    about = "Rank distribution: in percent of the resamples of cases, how often a model takes a rank"
    return Section("ranks", "Ranks", (Chart(chart, about), Table(columns, rows, about)), menu="Ranks")


def wins(data: ReportData) -> Section:
    """Return who wins against whom, as a heat map, and every pair in numbers."""
    summary = data.summary
    matrix: Mapping[str, Mapping[str, float]] = summary["wins"]
    names = list(matrix)
    values = [[matrix[name].get(other) for other in names] for name in names]
    about = (
        "Win matrix: percent of verdicts that the model of the row wins against that of the column; ties are no wins"
    )
    cells: list[Sequence[Cell]] = [
        [Span(name, "strong"), *(figures.NOTHING if one is None else f"{one:.0f}" for one in row)]
        for name, row in zip(names, values, strict=True)
    ]
    pairs: Sequence[Mapping[str, Any]] = summary["pairs"]
    chart = heat_chart(
        names, names, values, hover="%{y} wins <b>%{z:.1f} %</b> of its verdicts against %{x}", diverging=True
    )
    met = {f"{one['first']} – {one['second']}": one["verdicts"] for one in pairs if one["n"]}
    blocks: list[Block] = [
        Paragraph(_apart_said(pairs), "lead"),
        Chart(chart, about),
        Table([Column("model", numeric=False), *map(Column, names)], cells, about),
    ]
    if met:
        bars = verdict_chart(met)
        blocks.append(
            Chart(bars, "Verdicts of each pair, for the first of the two: worse to the left, better to the right")
        )
    rows = [_pair(one, figures.pointer("pairs", str(at))) for at, one in enumerate(pairs)]
    blocks.append(Table(_PAIR, rows, "Pairs", sortable=True))
    return Section("wins", "Who wins against whom", blocks, menu="Pairs")


def places(data: ReportData) -> Section | None:
    """Return what the order of places does to the verdicts."""
    found: Mapping[str, Any] | None = data.summary["places"]
    if found is None:
        return None
    rows: list[Sequence[Cell]] = [
        [
            figures.count(found["n"], "/places/n"),
            figures.measured(found["consistency"], "/places/consistency"),
            _signed(found["bias"], "/places/bias"),
        ]
    ]
    columns = [
        Column("meetings"),
        Column("consistency", meaning="percent that both orders decide for the same side"),
        Column("bias", meaning="points of reward that the first place is worth; both orders together take it out"),
    ]
    return Section("places", "The order of places", (Table(columns, rows, "Both orders"),), menu="Places")


def elsewhere(data: ReportData) -> Section | None:
    """Return rewards and ratings beside the models' scores elsewhere."""
    found: Mapping[str, Any] | None = data.summary.get("elsewhere")
    if found is None:
        return None
    blocks: list[Block] = []
    rows: list[Sequence[Cell]] = []
    for name in ("reward", "rating"):
        one = found[name]
        points = {model: (float(x), float(y)) for model, (x, y) in one["points"].items()}
        if points:
            chart = scatter_chart(points, x="score elsewhere", y=name, line=one["r_squared"] is not None)
            blocks.append(Chart(chart, f"{name.capitalize()} beside the score elsewhere, one dot a model"))
        r_squared = figures.NOTHING if one["r_squared"] is None else f"{one['r_squared']:.3f}"
        rows.append([name, _correlation(one["spearman"]), r_squared, str(len(points))])
    columns = [Column("figure", numeric=False), Column("Spearman"), Column("R²"), Column("models")]
    table = Table(columns, rows, "Rewards and ratings beside scores elsewhere")
    return Section("elsewhere", "Beside scores elsewhere", (*blocks, table), menu="Elsewhere")


def sample(views: Views, cut: Cut) -> Iterator[Block]:
    """Yield one case whole: each pair of answers, and what the judge said in each order."""
    yield from case_blocks(views, cut, baseline=False)


_PAIR = [
    Column("first", numeric=False),
    Column("second", numeric=False),
    Column("cases"),
    Column("win rate", meaning="of the first, percent of valid verdicts"),
    Column("reward", meaning="of the first against the second"),
    Column("difference", meaning="of their ratings, with its 95 % interval"),
    Column("p"),
    Column("adjusted p", meaning="Benjamini and Hochberg, over all pairs"),
    *(
        Column(title, only="page")
        for title in ("much better", "better", "equal", "worse", "much worse", "failed", "open")
    ),
]
_COUNTS = ("much_better", "better", "tie", "worse", "much_worse")


def _pair(one: Mapping[str, Any], place: str) -> list[Cell]:
    return [
        Span(one["first"], "strong"),
        Span(one["second"], "strong"),
        figures.count(one["n"], f"{place}/n"),
        figures.measured(one["win_rate"], f"{place}/win_rate", digits=1, ends=1),
        _signed(one["reward"], f"{place}/reward"),
        _signed(one["difference"], f"{place}/difference", digits=0),
        figures.p_value(one["p"]),
        figures.p_value(one["adjusted"]),
        *(figures.count(one["verdicts"][key], f"{place}/verdicts/{key}") for key in _COUNTS),
        *figures.count_missing(one["verdicts"], place),
    ]


def _row(name: str, one: Mapping[str, Any], *, several: bool) -> list[Cell]:
    place, verdicts = figures.pointer("models", name), one["verdicts"]
    return [
        Span(name, "strong"),
        *([str(one["group"] + 1)] if several else []),
        figures.measured(one["rating"], f"{place}/rating", digits=0),
        _signed(one["reward"], f"{place}/reward"),
        figures.measured(one["win_rate"], f"{place}/win_rate", digits=1, ends=1),
        str(len(one["met"])),
        figures.count(verdicts["valid"], f"{place}/verdicts/valid"),
        *figures.count_missing(verdicts, place),
        figures.interval(
            (one["bounds"] or {"reward": None})["reward"], f"{place}/bounds/reward", signed=True, digits=1
        ),
        figures.NOTHING if one["words"] is None else f"{one['words']:.0f}",
    ]


def _signed(one: Mapping[str, Any] | None, place: str, *, digits: int = 2) -> Cell:
    if one is None:
        return figures.NOTHING
    mean = Span(figures.signed_text(one["mean"], digits), "strong", f"{place}/mean", one["mean"])
    return (mean, Span(figures.bracketed(one, lambda end: figures.signed_text(end, min(1, digits))), "muted"))


def _correlation(one: Mapping[str, Any] | None) -> Cell:
    if one is None:
        return figures.NOTHING
    return (
        f"{one['value']:.3f}".replace("-", figures.MINUS),
        Span(figures.bracketed(one, lambda end: f"{end:.2f}"), "muted"),
    )


def _groups_said(summary: Mapping[str, Any]) -> Iterator[str]:
    groups: Sequence[Mapping[str, Any]] = summary["groups"]
    done = summary["status"] == "done"
    if len(groups) > 1 and not done:
        yield (
            f"So far the models fall into {len(groups)} groups, whose ratings cannot be compared: the run is "
            f"{summary['status']}, and the meetings that are still open may join them."
        )
    elif len(groups) > 1:
        yield (
            f"The models fall into {len(groups)} groups, whose ratings cannot be compared: between them one side always won, or "
            "they never met, and no number says by how much they differ. More cases, or more rounds, may join them."
        )
    for group in groups:
        if group["reason"] and (done or len(group["models"]) > 1):
            yield f"{', '.join(group['models'])}: no finite rating, {group['reason']}."


def _apart_said(pairs: Sequence[Mapping[str, Any]]) -> str:
    tested = [one for one in pairs if one["adjusted"] is not None]
    if not tested:
        return "No pair could be tested for a difference of ratings."
    apart = [one for one in tested if one["adjusted"] <= figures.SURE]
    return f"{len(apart)} of {len(tested)} pairs are rated apart beyond chance (adjusted p at most {figures.SURE:g})."


def _notes(summary: Mapping[str, Any]) -> Iterator[str]:
    sees = "is shown the images" if summary["judge_sees"] == "image" else "is not shown the images"
    yield (
        "Ratings are of the Bradley-Terry model with ties in Davidson's form, from wins, ties and losses in both orders of "
        "places; a difference d means odds of 10^(d/400) to 1 of winning against losing. By how much a verdict prefers counts "
        f"in the reward alone. The judge {sees}. Intervals are 95 % intervals over cases, clustered where they share an image."
    )
    if summary["draw"] == "swiss":
        yield (
            f"Swiss draw of {len(summary['rounds'])} rounds: models of like results meet, each half of the cases drawn by the "
            "results of the other half. Rewards and win rates depend on whom a model met; ratings take that into account."
        )
    if lone := figures.judged_in_one_order(summary["models"], "Meetings"):
        yield lone
    if missing := figures.kinds_of_failures(summary["models"], "meetings"):
        yield missing
    yield f"{figures.used(summary)}."


DRAWING = Drawing(
    "arena",
    (ratings, ranks, wins, places, elsewhere, case_section, skipped.section, provenance.section),
    sample=sample,
    asks=True,
)
