"""The report of duels: models, verdict bars, categories and tasks, places, images, lengths, and cases."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dokimasia.agents.candidate import BLIND
from dokimasia.domain.duel import AGAIN, TEXT
from dokimasia.domain.ports import Spending
from dokimasia.domain.wording import has_or_have, is_or_are
from dokimasia.methods.duel.elsewhere import OC_SCORE, BesideScores, Elsewhere, ScoreCorrelation
from dokimasia.methods.duel.figures import (
    VERDICTS,
    Cases,
    DuelFigures,
    DuelledModel,
    DuelPlaces,
    LengthBias,
    VerdictFigures,
    Verdicts,
    signed_reward,
)
from dokimasia.methods.duel.results import DuelItem, JudgementItem, duel_items
from dokimasia.report import figures
from dokimasia.report.blocks import (
    Block,
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
    Tone,
    spans,
)
from dokimasia.report.charts import (
    BAR_HEIGHT,
    FRAME,
    KEYED,
    Figure,
    Point,
    interval_chart,
    intervals_said,
    names_axis,
    scatter_chart,
    titled_axis,
)
from dokimasia.report.conclusions import highest, joined, lead_sentences, strong, used_sentence
from dokimasia.report.data import Cut, Drawing, ReportData, Views, cut_text
from dokimasia.report.fields import Interval, TableRow, numbered_rows, pointer, rows_of
from dokimasia.report.footnotes import disagreement
from dokimasia.report.labels import label
from dokimasia.report.sections import provenance, skipped
from dokimasia.report.tables import TableColumn, cell, column, computed_column, name_column, origin_columns, table
from dokimasia.runs.figures import grouped
from dokimasia.runs.reading.correlations import directions, untested
from dokimasia.runs.reading.reporting import pictures_of, select_samples
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run

SHOWN_INSTEAD = {BLIND: "nothing", TEXT: "a description"}
"""What a model sees instead of the images, by arm."""

MEASURES = ((("reward",), "reward", "Reward"), (("factuality", "model"), "VFS", "VFS"))
"""The two measures of a model: path, name within a title, and name at the start of a title."""

REWARDS = (-100.0, 100.0)
ONE_ORDER = "Judged in one order alone, verdicts may follow the place as much as the answer, and nobody can tell."

VERDICT_NAMES = {2: "much better", 1: "better", 0: "equal", -1: "worse", -2: "much worse"}

COLOURS = {
    "much_better": "#1b7f4d",
    "better": "#8ccfa8",
    "tie": "#c9c9c9",
    "worse": "#f0a58f",
    "much_worse": "#b53a2b",
}
OUTWARD = (("tie", 0.5), ("better", 1.0), ("much_better", 1.0), ("tie", -0.5), ("worse", -1.0), ("much_worse", -1.0))
"""The parts of a bar from the middle outwards, to the right and to the left; ties are split between both sides."""

LONGEST_TEXT = 6_000
"""Characters of a case's text on a page."""
LONGEST_REASONING = 600
"""Characters of a judgement's reasoning on a page."""


def duels(data: ReportData) -> Section:
    """Return the section that compares all models with the baseline, highest reward first."""
    run = data.figures_as(DuelFigures)
    models = run.models
    rewards = {name: model.reward for name, model in models.items() if model.reward is not None}
    ranked = sorted(rewards, key=lambda name: (-rewards[name].mean, name))
    ranked += sorted(models.keys() - rewards.keys())
    rows = rows_of(models, "models", order=ranked)
    blocks: list[Block] = []
    points: list[Point] = []
    for name in ranked[: len(rewards)]:
        reward = rewards[name]
        points.append(Point(name, reward.mean, reward.low, reward.high, hollow="#" in name))
    if points:
        chart = interval_chart(points, title="reward against the baseline", scale=REWARDS, zero=True)
        blocks.append(Chart(chart, f"Reward of each model {intervals_said(points)}, best first; 0 is the baseline"))
        bars = verdict_chart({name: models[name].verdicts for name in ranked})
        blocks.append(
            Chart(bars, "Verdicts of each model in percent of the valid ones: worse to the left, better to the right")
        )
    columns = [
        name_column("model"),
        *origin_columns(DuelledModel, data.stored),
        column("factuality", "model"),
        column("factuality", "baseline"),
        column("reward"),
        column("win_rate"),
        *(
            column("verdicts", key, title=title, meaning=f"verdicts in both orders: {title}", detail=True)
            for key, title in VERDICTS.items()
        ),
        *missing_columns(models),
        column("words", meaning="", only="page"),
        column("tokens"),
    ]
    blocks.append(Only("terminal", (Paragraph(_columns_explained(run)),)))
    blocks.append(table(DuelledModel, rows, columns, f"Models against {run.baseline}"))
    blocks += [Paragraph(text, "note") for text in _notes(run, data.paid)]
    return Section("duels", f"Duels with {run.baseline}", blocks, menu="Duels")


def _columns_explained(run: DuelFigures) -> str:
    """Return explanations of the first table's columns, for terminals, which do not show column meanings."""
    factuality = ""
    if run.factuality != "none":
        factuality = "VFS: visual factuality score, 0 to 10, of the model, and the baseline's in the same judgements; "
    return (
        f"{factuality}reward: 50 times the mean verdict, −100 to 100; win rate: better or much better verdicts; tokens: mean "
        "length of an answer. Intervals count images and not verdicts, so that of a win rate near 0 or 100 % on few images is "
        "wide."
    )


def conclusion(data: ReportData) -> list[Cell]:
    """Return which model does best against the baseline, how certain that is, what failed, and the usage."""
    run = data.figures_as(DuelFigures)
    rewards = {name: model.reward for name, model in run.models.items() if model.reward is not None and "#" not in name}
    if not rewards:
        return ["No answer was judged in both orders: there is no reward."]
    best = highest(rewards)
    results: list[Cell] = []
    for name in best:
        against = _against(rewards[name])
        start = f"{against} {run.baseline}: "
        if len(best) == 1 and len(rewards) > 1:
            link = "but" if against.startswith("is not") else "and"
            start = f"has the highest reward {link} {start}"
        reward = signed_reward(rewards[name], f"{pointer('models', name)}/reward")
        end = f" on {figures.several(run.models[name].n, 'case')}"
        results.append((Span(name, "strong"), f" {start}", *spans(reward), end))
    sentences: list[Cell] = []
    if len(best) > 1:
        sentences.append((*strong(best), " have the highest reward."))
    sentences += [
        (*spans(joined(results)), "."),
        *lead_sentences(run.lead, unit="points of reward", measure="mean reward", things="cases"),
    ]
    failures = sum(model.verdicts.failed for model in run.models.values())
    if failures:
        sentences.append(
            f"{figures.several(failures, 'verdict')} failed and {is_or_are(failures)} not counted in these rates."
        )
    if run.cases.general_criteria:
        sentences.append(
            f"{run.cases.general_criteria:,} of {figures.several(run.samples, 'case')} had no criteria of their own and were "
            "judged by this program's general ones: the result says whose answers the judge prefers, not whose are right."
        )
    return [*sentences, used_sentence(run, data.paid)]


def _against(reward: Interval) -> str:
    """Return how a model does against the baseline."""
    if reward.low is not None and reward.low > 0:
        return "is better than"
    if reward.high is not None and reward.high < 0:
        return "is worse than"
    if reward.mean == 0:
        return "cannot be told apart from"
    return f"is not significantly {'better' if reward.mean > 0 else 'worse'} than"


def missing_columns(models: Mapping[str, VerdictFigures]) -> list[TableColumn[Any]]:
    """Return the columns of failed and open verdicts and their bounds; without any, only the page shows them."""
    failing = any(model.verdicts.failed for model in models.values())
    waiting = any(model.verdicts.open for model in models.values())
    return [
        computed_column("failed", failed_verdicts, meaning="verdicts that failed", only=None if failing else "page"),
        column("verdicts", "open", only=None if waiting else "page"),
        column("bounds", "reward", only=None if failing else "page"),
    ]


def failed_verdicts(row: TableRow[Any]) -> Cell:  # any subclass of VerdictFigures
    """Return the number of failed verdicts, without open ones."""
    verdicts: Verdicts = row.figures.verdicts
    failures = verdicts.failed - verdicts.open
    path = "" if verdicts.open else f"{row.pointer}/verdicts/failed"
    return figures.count(failures, path, tone="bad" if failures else "")


def verdict_chart(models: Mapping[str, Verdicts]) -> Figure:
    """Return a bar chart of each model's valid verdicts in percent: worse to the left, better to the right."""
    model_names = [name for name, verdicts in models.items() if verdicts.valid]
    names = [label(name) for name in model_names]
    traces: list[Figure] = []
    for key, side in OUTWARD:
        counts: list[int] = []
        shares: list[float] = []
        for name in model_names:
            count: int = getattr(models[name], key)
            counts.append(count)
            shares.append(100 * count / models[name].valid)
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": VERDICTS[key],
                "legendgroup": key,
                "showlegend": not (key == "tie" and side < 0),
                "y": names,
                "text": names,
                "textposition": "none",
                "x": [round(side * share, 3) for share in shares],
                "customdata": [[count, round(share, 1)] for count, share in zip(counts, shares, strict=True)],
                "hovertemplate": (
                    f"%{{text}}: {VERDICTS[key]} <b>%{{customdata[0]}}</b> (%{{customdata[1]}} %)<extra></extra>"
                ),
                "marker": {"color": COLOURS[key]},
                "legendrank": 1000 - list(VERDICTS).index(key),
            }
        )
    return {
        "data": traces,
        "layout": {
            "barmode": "relative",
            "height": FRAME + BAR_HEIGHT * max(1, len(names)) + 40,
            "margin": {"t": 40, "r": 24, "b": 48, "l": 8},
            "showlegend": True,
            "legend": {**KEYED["legend"], "traceorder": "normal"},
            "hovermode": "closest",
            "xaxis": {
                **titled_axis("percent of valid verdicts, from the middle of the equal ones"),
                "range": [-100, 100],
                "zeroline": True,
                "tickvals": [-100, -50, 0, 50, 100],
                "ticktext": ["100", "50", "0", "50", "100"],
            },
            "yaxis": names_axis(model_names),
        },
    }


def _notes(run: DuelFigures, paid: Spending | None) -> Iterator[str]:
    sees = "is shown the images" if run.judge_sees == "image" else "is not shown the images"
    yield (
        f"Reward and win rate are the evaluated model's against {run.baseline}; equal answers are no wins. The judge "
        f"{sees}. Failed verdicts are not counted in these rates. Intervals are 95 %, clustered by cases that share an image."
    )
    one_order: dict[str, tuple[int, int]] = {}
    for name, model in run.models.items():
        scores = 0 if model.factuality is None else model.factuality.one_order
        one_order[name] = (model.verdicts.one_order, scores)
    yield from judged_in_one_order(one_order, "Answers")
    if run.factuality != "none":
        yield _describe_factuality(run.factuality, run.cases, run.samples)
    second_name = f"{run.baseline}#{AGAIN}"
    if second_name in run.models:
        n_same = run.models[second_name].same_text
        same_text = f"; {n_same:,} of them are the same text." if n_same else "."
        yield f"{second_name} is the noise floor: a second answer of the baseline against its first{same_text}"
    failures = figures.kinds_of_failures(
        {name: {**model.failures, **model.left_open} for name, model in run.models.items()}, "answers"
    )
    if failures:
        yield failures
    yield f"{figures.used(run, paid)}."


def judged_in_one_order(models: Mapping[str, tuple[int, int]], subject: str) -> Iterator[str]:
    """Yield a sentence on answers judged in only one order, if any.

    Args:
        models: numbers of such verdicts and visual factuality scores, by model.
        subject: first word of the sentence, the thing judged.
    """
    counts: list[str] = []
    for name, (verdicts, scores) in models.items():
        kinds: list[str] = []
        if verdicts:
            kinds.append(figures.several(verdicts, "verdict"))
        if scores:
            kinds.append(figures.several(scores, "visual factuality score"))
        if kinds:
            counts.append(f"{name} {', '.join(kinds)}")
    if counts:
        yield (
            f"{subject} judged in one order alone, since the other order has no judgement: {'; '.join(counts)}. The bounds "
            "take them in; rewards, win rates and mean scores leave them out, since the place would count beside the answer."
        )


def _describe_factuality(factuality_by: str, cases: Cases, samples: int) -> str:
    """Return a sentence on the evidence for visual factuality, and the number of cases without it."""
    evidence = "the ground truth alone" if factuality_by == "text" else "ground truth and images"
    sentence = f"Visual factuality is judged by {evidence}"
    if cases.factuality_by_image:
        by_image = figures.several(cases.factuality_by_image, "case")
        sentence += f", and by the images in {by_image} without a ground truth"
    n_without = figures.several(samples - cases.factuality_criteria, "case")
    sentence += f"; it does not apply to {n_without} without criteria of it"
    if cases.factuality_unknown:
        sentence += f" and to {cases.factuality_unknown:,} whose judge is shown neither a ground truth nor an image"
    return f"{sentence}, which are no failures."


def categories(data: ReportData) -> Section | None:
    """Return the section on rewards and visual factuality by category (a row per model) and by task (a row per task)."""
    run = data.figures_as(DuelFigures)
    blocks = [
        *_part_tables(run, "by_category", "category", ("reward",), "Reward"),
        *_part_tables(run, "by_category", "category", ("factuality", "model"), "Visual factuality score"),
        *_part_tables(run, "by_task", "task", ("reward",), "Reward"),
        *_part_tables(run, "by_task", "task", ("factuality", "model"), "Visual factuality score"),
    ]
    if not blocks:
        return None
    unknown: list[str] = []
    for title, count in (("category", run.cases.without_category), ("task", run.cases.without_task)):
        if count:
            unknown.append(f"{count:,} of {figures.several(run.samples, 'case')} {has_or_have(count)} no {title}.")
    if unknown:
        blocks.append(Paragraph(" ".join(unknown), "note"))
    return Section("categories", "Categories and tasks", blocks, menu="Categories")


def _part_tables(
    run: DuelFigures, part: str, title: str, measure: tuple[str, ...], measure_title: str
) -> Iterator[Block]:
    """Yield the table of a measure by category or task, if any part has the measure."""
    rows = rows_of(run.models, "models")
    cases: dict[str, int] = {}
    for model in run.models.values():
        for name, figures_of_part in (model.by_category if part == "by_category" else model.by_task).items():
            cases[name] = max(cases.get(name, 0), figures_of_part.n)
    names = sorted(cases)
    cells = {name: [cell(row, part, name, *measure) for row in rows] for name in names}
    if all(entry is figures.NOTHING for column in cells.values() for entry in column):
        return
    about = f"{measure_title} by {title}"
    if part == "by_category":
        columns = [Column("model", numeric=False), *map(Column, names)]
        body: list[Sequence[Cell]] = [["cases", *(str(cases[name]) for name in names)]]
        for number, row in enumerate(rows):
            body.append([Span(row.name, "strong"), *(cells[name][number] for name in names)])
        yield Table(columns, body, about)
    else:
        columns = [Column(title, numeric=False), Column("cases"), *map(Column, run.models)]
        body = [[name, str(cases[name]), *cells[name]] for name in names]
        yield Only("page", (Table(columns, body, about, sortable=True),))


def places(data: ReportData) -> Section | None:
    """Return the section on the effect of the order on verdicts, with the figures of each order."""
    run = data.figures_as(DuelFigures)
    if run.orders == 2:
        all_orders = column("reward", title="dual", meaning="reward by the answers that were judged in both orders")
    else:
        all_orders = column("reward", title="all", meaning="reward by all verdicts")
    columns = [
        name_column("model"),
        column("places", "consistency"),
        column("places", "bias"),
        column("places", "p", linked=False),
        column(
            "single",
            "first",
            "reward",
            title="shown first",
            meaning="reward by the order alone in which the model's answer comes first",
        ),
        column("single", "second", "reward", title="shown second", meaning="reward by the other order alone"),
        all_orders,
    ]
    if run.places is not None:
        lead = Paragraph(_bias_sentence(run.judge, run.places), "lead")
    elif run.orders == 1:
        lead = Paragraph(ONE_ORDER, "warning")
    else:
        lead = Paragraph("No answer has a verdict in both orders yet.", "warning")
    by_model = table(DuelledModel, rows_of(run.models, "models"), columns, "One order and both")
    return Section("places", "The order of places", (lead, by_model), menu="Places")


def _bias_sentence(judge: str, places: DuelPlaces) -> str:
    sentence = (
        f"In {places.consistency.mean:.1f} % of {places.n:,} answers {judge} decides for the same side in both orders."
    )
    p = figures.p_text(places.p)
    if places.p > figures.SURE:
        return f"{sentence} That a place is favoured could not be shown ({p})."
    favoured = "first" if places.bias.mean > 0 else "second"
    effect = f"The {favoured} place is worth {abs(places.bias.mean):.1f} points of reward"
    return f"{sentence} {effect} ({p}), which both orders together take out."


def images(data: ReportData) -> Section | None:
    """Return the section on answers without images or from descriptions, compared with answers from images."""
    run = data.figures_as(DuelFigures)
    arms = [name for name in run.models if name.endswith((f"#{BLIND}", f"#{TEXT}"))]
    if not arms:
        return None
    blocks: list[Block] = [_ablation_table(run, arms, *measure) for measure in MEASURES]
    if run.describer is not None:
        instruction = ", the same for every request"
        if run.descriptions == "specific":
            instruction = " with an eye to each request"
        blocks.append(Paragraph(f"{run.describer} described the images{instruction}.", "note"))
    if run.language_models:
        blocks += [_language_table(run, *measure) for measure in MEASURES]
    gaps = (*run.without_images.values(), *run.language_models)
    blocks += disagreement(measure for gap in gaps for measure in (gap.reward, gap.factuality))
    blocks.append(
        Paragraph("A model that loses nothing without the images shows that the cases do not need them.", "note")
    )
    return Section("sight", "Without the images", blocks, menu="Images")


def _ablation_table(run: DuelFigures, arms: Sequence[str], measure: tuple[str, ...], title: str, about: str) -> Table:
    """Return the table of a measure with images and in the arms without, with the differences."""
    table_row = TableRow("", run, "")
    rows: list[Sequence[Cell]] = []
    for name in arms:
        model, _, arm = name.rpartition("#")
        rows.append(
            [
                Span(model, "strong"),
                SHOWN_INSTEAD[arm],
                cell(table_row, "models", model, *measure),
                cell(table_row, "models", name, *measure),
                cell(table_row, "without_images", name, measure[0], "difference"),
                cell(table_row, "without_images", name, measure[0], "adjusted", write=_unlinked_p),
            ]
        )
    columns = [
        Column("model", numeric=False),
        Column("shown instead", numeric=False),
        Column(f"{title} by the images", meaning="answers to the same cases with the images shown"),
        Column(f"{title} without", meaning="answers without the images"),
        Column("difference", meaning="without minus with, over cases judged in both, with its 95 % interval"),
        Column("adjusted p", meaning="sign flips of whole cases; Benjamini and Hochberg over both tables"),
    ]
    return Table(columns, rows, f"{about} with the images and without")


def _language_table(run: DuelFigures, measure: tuple[str, ...], title: str, about: str) -> Table:
    """Return the table of a measure of language models and vision models that answer from the same descriptions."""
    table_row = TableRow("", run, "")
    rows: list[Sequence[Cell]] = []
    for pair_row in numbered_rows(run.language_models, "/language_models"):
        pair = pair_row.figures
        rows.append(
            [
                Span(pair.language_model, "strong"),
                Span(pair.model, "strong"),
                cell(table_row, "models", f"{pair.language_model}#{TEXT}", *measure),
                cell(table_row, "models", f"{pair.model}#{TEXT}", *measure),
                cell(table_row, "models", pair.model, *measure),
                cell(pair_row, measure[0], "difference"),
                cell(pair_row, measure[0], "adjusted", write=_unlinked_p),
            ]
        )
    columns = [
        Column("language model", numeric=False),
        Column("model that sees", numeric=False),
        Column(f"{title} of the first", meaning="by descriptions"),
        Column(f"{title} of the second", meaning="by the same descriptions"),
        Column("by the images", meaning="of the second, with the images shown"),
        Column("difference", meaning="second minus first, by the same descriptions, with its 95 % interval"),
        Column("adjusted p", meaning="sign flips of whole cases; Benjamini and Hochberg over both tables"),
    ]
    return Table(columns, rows, f"{about} of language models and of models that see, by the same descriptions")


def score_blocks(by_figure: Mapping[str, BesideScores], score: str, about: str) -> list[Block]:
    """Return a chart of each figure against a benchmark's score, and the table of their correlations."""
    blocks: list[Block] = []
    for name, comparison in by_figure.items():
        if comparison.points:
            points = {
                model: (benchmark_score, figure) for model, (benchmark_score, figure) in comparison.points.items()
            }
            chart = scatter_chart(points, x=score, y=name, line=comparison.r_squared is not None)
            blocks.append(Chart(chart, f"{name.capitalize()} beside the {score}, one dot a model"))
    columns: list[TableColumn[BesideScores]] = [
        computed_column("figure", lambda row: row.name, numeric=False),
        column("spearman", title="Spearman", write=score_correlation),
        column("r_squared", title="R²", linked=False, write=partial(figures.number, digits=3)),
        computed_column("models", lambda row: str(len(row.figures.points))),
    ]
    return [*blocks, table(BesideScores, rows_of(by_figure), columns, about)]


def elsewhere(data: ReportData) -> Section | None:
    """Return the section that compares the run's measures with other benchmarks, and benchmarks with each other."""
    comparison = data.figures_as(DuelFigures).elsewhere
    if comparison is None:
        return None
    by_figure = {"reward": comparison.reward, "visual factuality": comparison.factuality}
    by_figure = {name: own_comparison for name, own_comparison in by_figure.items() if own_comparison.points}
    blocks = score_blocks(by_figure, OC_SCORE, "Figures beside the OC score")
    blocks += _redundancy(comparison)
    note = "A benchmark is redundant with another where both rank the models alike; few models show little of that."
    blocks.append(Paragraph(note, "note"))
    return Section("elsewhere", "Beside scores elsewhere", blocks, menu="Elsewhere")


def _redundancy(comparison: Elsewhere) -> Iterator[Block]:
    """Yield the matrix of all pairs of measures: Spearman's correlation above the diagonal, R² below."""
    values: dict[tuple[str, str], float | None] = {}
    for pair in comparison.redundancy:
        values |= {(pair.first, pair.second): pair.spearman, (pair.second, pair.first): pair.r_squared}
    names = list(dict.fromkeys(name for pair in comparison.redundancy for name in (pair.first, pair.second)))
    rows: list[Sequence[Cell]] = []
    for row in names:
        correlations = [values.get((row, column)) for column in names]
        rows.append(
            [
                Span(row, "strong"),
                *(figures.NOTHING if value is None else figures.number(value, digits=3) for value in correlations),
            ]
        )
    about = "Redundancy: Spearman's correlation over models above the diagonal, R² below"
    yield Table([Column("measure", numeric=False), *map(Column, names)], rows, about)


def score_correlation(correlation: ScoreCorrelation | None, pointer: str) -> Cell:
    """Return a correlation with its interval."""
    if correlation is None:
        return figures.NOTHING
    return (
        f"{correlation.value:.3f}".replace("-", figures.MINUS),
        Span(figures.bracketed(correlation, lambda end: f"{end:.2f}"), "muted"),
    )


def _unlinked_p(value: float | None, pointer: str) -> Cell:
    return figures.p_value(value)


def lengths(data: ReportData) -> Section | None:
    """Return the section on the correlation between reward and the difference in length."""
    biases = data.figures_as(DuelFigures).length_bias
    if not biases:
        return None
    columns: list[TableColumn[LengthBias]] = [
        name_column("model"),
        column("n"),
        column("words"),
        column("r"),
        computed_column("95 % interval", lambda row: figures.interval(row.figures, signed=True)),
        column("p", linked=False),
        column("adjusted", linked=False),
    ]
    reasons = {name: bias.reason for name, bias in biases.items() if bias.r is not None}
    blocks = (
        Paragraph(_length_sentence(biases), "lead"),
        table(LengthBias, rows_of(biases), columns, "Reward and difference of lengths"),
        *(Paragraph(sentence, "note") for sentence in untested(reasons)),
        Paragraph("A correlation is no proof of bias: a longer answer may be the better one.", "note"),
    )
    return Section("lengths", "Length", blocks, menu="Length")


def _length_sentence(biases: Mapping[str, LengthBias]) -> str:
    tested = 0
    correlations: dict[str, float] = {}
    for name, bias in biases.items():
        tested += bias.adjusted is not None
        if figures.is_sure(bias.adjusted) and bias.r is not None:
            correlations[name] = bias.r
    if correlations:
        return directions(correlations, "reward")
    if tested:
        return f"No model's reward correlates with answer length (tested for {figures.several(tested, 'model')})."
    return "For no model could it be tested whether reward correlates with answer length."


async def with_cases(home: Home, run: Run, data: ReportData, samples: int) -> ReportData:
    """Return the report data with the cases that the page displays, failed ones first."""
    rows = results(home, run.id)
    ids = list(dict.fromkeys(row.sample_id for row in rows if row.sample_id))
    failed_ids = {row.sample_id for row in rows if row.failure}
    shown_ids, selection = select_samples(run, ids, failed_ids, samples)
    items = [item for id in shown_ids for item in duel_items(home, run, id)]
    page_samples = samples_of(home, run.id, shown_ids)
    images = {image.sha256: image for sample in page_samples.values() for image in sample.images}
    return replace(data, selection=selection, samples=items, pictures=pictures_of(home, images))


def cases(data: ReportData) -> Section | None:
    """Return the section of cases, each with its images, both answers, and the judgement in each order."""
    with_baseline = "baseline" in data.summary
    items = grouped(map(DuelItem.model_validate, data.samples), lambda item: item.sample)
    cut = partial(cut_text, most=LONGEST_TEXT)
    folds: list[Block] = []
    for id, case_items in items.items():
        pictures: list[Block] = []
        for image in case_items[0].images:
            if image.sha256 in data.pictures:
                picture = data.pictures[image.sha256]
                problem = f": {picture.problem}" if picture.problem else ""
                pictures.append(Image(picture.uri, f"image {len(pictures) + 1}{problem}"))
        has_failure = any(item.failure for item in case_items)
        title = f"{id} · with a failure" if has_failure else id
        folds.append(Fold(title, (*pictures, *case_blocks(case_items, cut, baseline=with_baseline)), f"case-{id}"))
    if not folds:
        return None
    return Section("cases", "Cases", (Paragraph(data.selection.text, "note"), *folds), menu="Cases", only="page")


def sample(views: Views, cut: Cut, *, baseline: bool = True) -> Iterator[Block]:
    """Yield the blocks of a case: request, each pair of answers, and the judgement in each order."""
    return case_blocks([DuelItem.model_validate(view) for view in views], cut, baseline=baseline)


def case_blocks(items: Sequence[DuelItem], cut: Cut, *, baseline: bool) -> Iterator[Block]:
    """Yield the blocks of a case; an answer that is compared with several others is shown only once.

    Args:
        items: the duels of the case.
        cut: shortens long texts.
        baseline: whether to call the opponent the baseline; an arena has none.
    """
    shown_texts: set[tuple[str, int, str]] = set()
    for number, item in enumerate(items):
        if number == 0:
            yield from _question(item, cut)
        repeat = f" · repeat {item.repeat + 1}" if item.repeat else ""
        answers = [(f"{item.model}{repeat}", item.model, item.response or "")]
        opponent = (item.baseline, item.baseline_response or "")
        if baseline:
            answers.insert(0, (f"{item.baseline}{repeat} (the baseline)", *opponent))
        else:
            answers.append((f"{item.baseline}{repeat}", *opponent))
        texts: list[tuple[Cell, str]] = []
        if item.descriptions:
            texts.append((Span("description", "strong"), cut(item.descriptions)))
        for title, model, text in answers:
            if (model, item.repeat, text) not in shown_texts:
                texts.append((Span(title, "strong"), cut(text)))
                shown_texts.add((model, item.repeat, text))
        if texts:
            yield Texts(texts, prose=True)
        judgement_texts = [_judgement(judgement, item, cut) for judgement in item.judgements]
        if not judgement_texts:
            reason = Span(f"{item.failure}: {item.reason}", "bad")
            judgement_texts = [((f"{item.model}{repeat} against {item.baseline}: ", reason), "")]
        yield Texts(judgement_texts)


def _question(item: DuelItem, cut: Cut) -> Iterator[Block]:
    """Yield the request of a case, with its criteria and ground truth."""
    facts: list[tuple[str, Cell]] = []
    for number, image in enumerate(item.images, start=1):
        facts.append((f"image {number}", Span(f"{image.width} × {image.height}, {image.sha256[:12]}", "muted")))
    task = " · ".join(filter(None, (item.category, item.task)))
    yield Facts([*facts, ("task", task or figures.NOTHING)])
    general = " (general: the case has none)" if item.general_criteria else ""
    texts = {
        "request": item.prompt,
        f"criteria{general}": item.criteria,
        "criteria of visual factuality": _factuality_criteria(item),
    }
    if item.ground_truth:
        texts["ground truth"] = item.ground_truth
    yield Texts([(Span(name, "muted"), cut(text)) for name, text in texts.items()])


def _factuality_criteria(item: DuelItem) -> str:
    """Return the criteria of visual factuality, or the reason why it does not apply."""
    reason = ""
    if item.factuality_not_applicable:
        reason = f"not applicable: {item.factuality_not_applicable}"
    return "\n".join(filter(None, (item.factuality_criteria, reason)))


def _judgement(judgement: JudgementItem, item: DuelItem, cut: Cut) -> tuple[Cell, str]:
    """Return the judgement in one order, with its shortened reasoning."""
    other_place = "second" if judgement.place == "first" else "first"
    order = f"{item.model} shown {judgement.place}, {item.baseline} {other_place}: "
    if judgement.failure:
        reason = f"{judgement.asked} failed, {judgement.failure}: {judgement.reason}"
        return (order, Span(reason, "bad")), ""
    reasoning = judgement.said or ""
    if len(reasoning) > LONGEST_REASONING:
        n_cut = len(reasoning) - LONGEST_REASONING
        reasoning = f"{reasoning[:LONGEST_REASONING]} … ({n_cut:,} characters more; --raw shows all)"
    if judgement.verdict is None:
        scores = f"visual factuality {judgement.score:g}, of {item.baseline} {judgement.baseline_score:g}"
        return (order, Span(scores, "strong")), cut(reasoning)
    tone: Tone = "strong"
    if judgement.verdict:
        tone = "good" if judgement.verdict > 0 else "bad"
    return (order, Span(f"{item.model} is {VERDICT_NAMES[judgement.verdict]}", tone)), cut(reasoning)


DRAWING = Drawing(
    "duels",
    (duels, categories, places, images, elsewhere, lengths, cases, skipped.section, provenance.section),
    sample=sample,
    asks=True,
    figures=DuelFigures,
    conclusion=conclusion,
)
