"""The report of an arena: ratings, ranks, win matrix, pairs, places, scores elsewhere, and cases."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from dokimasia.domain.ports import Spending
from dokimasia.methods.arena.figures import ArenaFigures, ArenaModel, ArenaPair
from dokimasia.methods.duel import (
    VERDICTS,
    DuelPlaces,
    case_section,
    failed_verdicts,
    judged_in_one_order,
    missing_columns,
    sample_blocks,
    score_blocks,
    verdict_chart,
)
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Paragraph, Section, Span, Table, spans
from dokimasia.report.charts import heat_chart, interval_chart, intervals_said
from dokimasia.report.conclusions import MOST_SENTENCES, highest, inconclusive_sentence, of_each, strong, used_sentence
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.fields import Interval, TableRow, numbered_rows, pointer, rows_of
from dokimasia.report.footnotes import disagreement
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import (
    TableColumn,
    cell,
    column,
    computed_column,
    name_column,
    origin_columns,
    points_of,
    table,
)


def ratings(data: ReportData) -> Section:
    """Return the section of ratings, best first, with a note on models that cannot be compared."""
    run = data.figures_as(ArenaFigures)
    rows = rows_of(run.models, "models")
    blocks: list[Block] = [Paragraph(text, "warning") for text in _group_warnings(run)]
    points = points_of(rows, "rating")
    if points:
        chart = interval_chart(points, title="rating", scale=None)
        blocks.append(Chart(chart, f"Rating of each model {intervals_said(points)}, best first"))
    columns: list[TableColumn[ArenaModel]] = [name_column("model"), *origin_columns(ArenaModel, data.stored)]
    if len(run.groups) > 1:
        columns.append(column("group"))
    columns += [
        column("rating"),
        column("rank_interval"),
        column("reward", meaning="50 times the mean verdict over all whom it met, -100 to 100"),
        column("win_rate"),
        column("met"),
        column("verdicts", "valid", meaning="of meetings that were judged in both orders"),
        *missing_columns(run.models),
        column("words", only="page"),
    ]
    blocks.append(table(ArenaModel, rows, columns, "Models by rating"))
    blocks += [Paragraph(text, "note") for text in _notes(run, data.paid)]
    return Section("ratings", "Ratings", blocks, menu="Ratings")


def conclusion(data: ReportData) -> list[Cell]:
    """Return which model is rated highest, whether its lead over the next is significant, and the usage."""
    run = data.figures_as(ArenaFigures)
    rating_of = {name: model.rating for name, model in run.models.items() if model.rating is not None}
    if not rating_of:
        return ["No model has a rating."]
    if len(run.groups) > 1:
        return [*_highest_of_groups(run, rating_of), used_sentence(run, data.paid)]
    if len(rating_of) > 1 and (untestable := _untestable(run, rating_of)):
        return [untestable, used_sentence(run, data.paid)]
    sentences: list[Cell] = [_highest_sentence(rating_of)]
    if len(highest(rating_of)) == 1:
        best, *others = sorted(rating_of, key=lambda name: (-rating_of[name].mean, name))
        for pair in run.pairs:
            if pair.second == best and pair.first in others[:1] and pair.difference is not None:
                gap = figures.measured(pair.difference, digits=0, signed=True)
                end = ", which is beyond chance." if figures.is_sure(pair.adjusted) else ", which may be chance."
                if figures.disagree(pair.difference, pair.adjusted):
                    end = f". {inconclusive_sentence(f'adjusted {figures.p_text(pair.adjusted)}')}"
                sentences.append(("Its lead over ", Span(pair.first, "strong"), " is ", *spans(gap), end))
    return [*sentences, _apart_sentence(run.pairs), used_sentence(run, data.paid)]


def _highest_sentence(rated: Mapping[str, Interval]) -> Cell:
    """Return which model, or models, are rated highest."""
    best = highest(rated)
    verb = " is rated highest: " if len(best) == 1 else " are rated highest: "
    ratings = [figures.measured(rated[name], f"{pointer('models', name)}/rating", digits=0) for name in best]
    return (*strong(best), verb, *spans(of_each(ratings)), ".")


def _untestable(run: ArenaFigures, rated: Mapping[str, Interval]) -> str:
    """Return a sentence on models whose ratings cannot be tested, hence no ranking; empty if any two were tested."""
    if any(pair.p is not None for pair in run.pairs if {pair.first, pair.second} <= rated.keys()):
        return ""
    reason = next((rating.no_interval for rating in rated.values() if rating.no_interval), "")
    names = figures.in_words(sorted(rated))
    return (
        f"The ratings of {names} cannot be tested{f' ({reason})' if reason else ''}, so none is ranked above another."
    )


def _highest_of_groups(run: ArenaFigures, rated: Mapping[str, Interval]) -> Iterator[Cell]:
    """Yield the highest-rated model of each group, or that the ratings cannot be tested; groups are not comparable."""
    for group in run.groups[: MOST_SENTENCES - 1]:
        names = sorted(rated.keys() & set(group.models))
        if len(names) > 1 and (untestable := _untestable(run, {name: rated[name] for name in names})):
            yield untestable
        elif len(names) > 1:
            among = f"Among {figures.in_words(names)}, "
            yield (among, *spans(_highest_sentence({name: rated[name] for name in names})))


def _group_warnings(run: ArenaFigures) -> Iterator[str]:
    is_done = run.status == "done"
    if len(run.groups) > 1 and not is_done:
        yield (
            f"So far the models fall into {len(run.groups)} groups, whose ratings cannot be compared: the run is "
            f"{run.status}, and the meetings that are still open may join them."
        )
    elif len(run.groups) > 1:
        yield (
            f"The models fall into {len(run.groups)} groups, whose ratings cannot be compared: between them one side always "
            "won, or they never met, and no number says by how much they differ. More cases, or more rounds, may join them."
        )
    for group in run.groups:
        if group.reason and (is_done or len(group.models) > 1):
            yield f"{', '.join(group.models)}: no finite rating, {group.reason}."


def _notes(run: ArenaFigures, paid: Spending | None) -> Iterator[str]:
    sees = "is shown the images" if run.judge_sees == "image" else "is not shown the images"
    yield (
        "Ratings are of the Bradley-Terry model with ties in Davidson's form, from wins, ties and losses in both orders of "
        "places; a difference d means odds of 10^(d/400) to 1 of winning against losing. By how much a verdict prefers counts "
        f"in the reward alone. The judge {sees}. Intervals are 95 % intervals over cases, clustered where they share an image."
    )
    if run.draw == "swiss":
        yield (
            f"Swiss draw of {len(run.rounds)} rounds: models of like results meet, each half of the cases drawn by the "
            "results of the other half. Rewards and win rates depend on whom a model met; ratings take that into account."
        )
    one_order = {name: (model.verdicts.one_order, 0) for name, model in run.models.items()}
    yield from judged_in_one_order(one_order, "Meetings")
    failures = figures.kinds_of_failures(
        {name: {**model.failures, **model.left_open} for name, model in run.models.items()}, "meetings"
    )
    if failures:
        yield failures
    yield f"{figures.used(run, paid)}."


def ranks(data: ReportData) -> Section | None:
    """Return the section on how often each model has each rank in bootstrap samples of cases."""
    run = data.figures_as(ArenaFigures)
    ranked = {name: model.ranks for name, model in run.models.items() if model.ranks is not None}
    if not ranked or len(run.groups) > 1:
        return None
    ranks = [str(number) for number in range(1, len(ranked) + 1)]
    chart = heat_chart(
        list(ranked), ranks, list(ranked.values()), hover="%{y}<br>rank %{x} in <b>%{z:.0f} %</b> of the resamples"
    )
    rows: list[Sequence[Cell]] = []
    for name, shares in ranked.items():
        interval = cell(TableRow(name, run.models[name], pointer("models", name)), "rank_interval")
        percents = (Span(f"{share:.0f}", "" if share >= 0.5 else "muted") for share in shares)
        rows.append([Span(name, "strong"), interval, *percents])
    columns = [Column("model", numeric=False), Column("95 %"), *map(Column, ranks)]
    about = (
        "Rank distribution: in percent of the resamples of cases, how often a model takes a rank, ties sharing theirs; "
        "beside it the 95 % interval of its rank, of all models at once"
    )
    return Section("ranks", "Ranks", (Chart(chart, about), Table(columns, rows, about)), menu="Ranks")


def wins(data: ReportData) -> Section:
    """Return the section with the heat map of win rates and the table of pairs."""
    run = data.figures_as(ArenaFigures)
    names = list(run.wins)
    values = [[run.wins[name].get(opponent) for opponent in names] for name in names]
    about = (
        "Win matrix: percent of verdicts that the model of the row wins against that of the column; ties are no wins"
    )
    rows: list[Sequence[Cell]] = []
    for name, shares in zip(names, values, strict=True):
        rows.append([Span(name, "strong"), *(figures.NOTHING if share is None else f"{share:.0f}" for share in shares)])
    chart = heat_chart(
        names, names, values, hover="%{y} wins <b>%{z:.1f} %</b> of its verdicts against %{x}", diverging=True
    )
    blocks: list[Block] = [
        Paragraph(_apart_sentence(run.pairs), "lead"),
        Chart(chart, about),
        Table([Column("model", numeric=False), *map(Column, names)], rows, about),
    ]
    verdicts_by_pair = {f"{pair.second} – {pair.first}": pair.verdicts for pair in run.pairs if pair.n}
    if verdicts_by_pair:
        blocks.append(
            Chart(
                verdict_chart(verdicts_by_pair),
                "Verdicts of each pair, for the model that is named first: worse to the left, better to the right",
            )
        )
    columns: list[TableColumn[ArenaPair]] = [
        computed_column("first", lambda row: Span(row.figures.first, "strong"), numeric=False),
        computed_column("second", lambda row: Span(row.figures.second, "strong"), numeric=False),
        column("n"),
        column("win_rate", meaning="of the second, percent of valid verdicts"),
        column("reward", meaning="of the second against the first"),
        column("difference"),
        column("p", linked=False),
        column("adjusted", linked=False),
        *(column("verdicts", key, title=title, only="page") for key, title in VERDICTS.items()),
        computed_column("failed", failed_verdicts, only="page"),
        column("verdicts", "open", meaning="", only="page"),
    ]
    blocks.append(table(ArenaPair, numbered_rows(run.pairs, "/pairs"), columns, "Pairs", sortable=True))
    blocks += disagreement(run.pairs)
    return Section("wins", "Who wins against whom", blocks, menu="Pairs")


def _apart_sentence(pairs: Sequence[ArenaPair]) -> str:
    tested = [pair for pair in pairs if pair.adjusted is not None]
    if not tested:
        return "No pair could be tested for a difference of ratings."
    distinct = sum(figures.is_clear(pair.difference, pair.adjusted) for pair in tested)
    return (
        f"{distinct} of {len(tested)} pairs are rated apart beyond chance (adjusted p at most {figures.SURE:g}, and an "
        "interval without 0)."
    )


def places(data: ReportData) -> Section | None:
    """Return the section on the effect of the order on verdicts."""
    effect = data.figures_as(ArenaFigures).places
    if effect is None:
        return None
    columns = [
        column("n", title="meetings"),
        column("consistency", meaning="percent that both orders decide for the same side"),
        column("bias", meaning="points of reward that the first place is worth; both orders together take it out"),
    ]
    rows = [TableRow("", effect, "/places")]
    return Section("places", "The order of places", (table(DuelPlaces, rows, columns, "Both orders"),), menu="Places")


def elsewhere(data: ReportData) -> Section | None:
    """Return the section that compares rewards and ratings with scores elsewhere."""
    comparison = data.figures_as(ArenaFigures).elsewhere
    if comparison is None:
        return None
    by_figure = {"reward": comparison.reward, "rating": comparison.rating}
    blocks = score_blocks(by_figure, "score elsewhere", "Rewards and ratings beside scores elsewhere")
    return Section("elsewhere", "Beside scores elsewhere", blocks, menu="Elsewhere")


DRAWING = Drawing(
    "arena",
    (ratings, ranks, wins, places, elsewhere, case_section, skipped.section, provenance.section),
    sample=partial(sample_blocks, baseline=False),
    asks=True,
    figures=ArenaFigures,
    conclusion=conclusion,
)
