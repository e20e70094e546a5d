"""Duels as they are drawn: the table of models, verdicts as bars, categories and tasks, places, lengths."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dokimasia.agents.candidate import BLIND
from dokimasia.domain.duel import AGAIN, TEXT
from dokimasia.methods.duel.cases import cases, sample
from dokimasia.methods.duel.charts import VERDICTS, verdict_chart
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Only, Paragraph, Section, Span, Table
from dokimasia.report.charts import Point, interval_chart, intervals_said
from dokimasia.report.data import Drawing, ReportData
from dokimasia.report.sections import provenance, skipped
from dokimasia.runs.reading.correlations import directions, untested

SHOWN = {BLIND: "nothing", TEXT: "a description"}
"""What a model is shown in place of the images, by arm."""

REWARDS = (-100.0, 100.0)
ONE_ORDER = "Judged in one order alone, verdicts may follow the place as much as the answer, and nobody can tell."


def duels(data: ReportData) -> Section:
    """Return all models against the baseline, best reward first."""
    summary = data.summary
    models: Mapping[str, Any] = summary["models"]
    ranked = sorted(models, key=lambda name: (-(models[name]["reward"] or {"mean": -101})["mean"], name))
    failing = any(one["verdicts"]["failed"] for one in models.values())
    waiting = any(one["verdicts"]["open"] for one in models.values())
    columns = [
        Column("model", numeric=False),
        Column("VFS", meaning="visual factuality score of the model, 0 to 10, with its 95 % interval"),
        Column("baseline's", meaning="visual factuality score of the baseline in the same judgements"),
        Column("reward", meaning="50 times the mean verdict, -100 to 100, with its 95 % interval"),
        Column("win rate", meaning="percent of valid verdicts that are better or much better"),
        *(Column(title, meaning=f"verdicts in both orders: {title}") for title in VERDICTS.values()),
        Column("failed", meaning="verdicts that failed", only=None if failing else "page"),
        Column("open", meaning="verdicts that the budget did not reach", only=None if waiting else "page"),
        Column(
            "reward if", meaning="every failed verdict were the worst, or the best", only=None if failing else "page"
        ),
        Column("words", only="page"),
        Column("tokens", meaning="mean output tokens of an answer"),
    ]
    rows = [_row(name, models[name], figures.pointer("models", name)) for name in ranked]
    points = [
        Point(name, one["mean"], one["low"], one["high"], None, hollow="#" in name)
        for name in ranked
        if (one := models[name]["reward"]) is not None
    ]
    blocks: list[Block] = []
    if points:
        chart = interval_chart(points, title="reward against the baseline", scale=REWARDS, zero=True)
        blocks.append(Chart(chart, f"Reward of each model {intervals_said(points)}, best first; 0 is the baseline"))
        bars = verdict_chart({name: models[name]["verdicts"] for name in ranked})
        blocks.append(
            Chart(bars, "Verdicts of each model in percent of the valid ones: worse to the left, better to the right")
        )
    blocks.append(Table(columns, rows, f"Models against {summary['baseline']}"))
    blocks += [Paragraph(text, "note") for text in _notes(summary)]
    return Section("duels", f"Duels with {summary['baseline']}", blocks, menu="Duels")


def categories(data: ReportData) -> Section | None:
    """Return rewards and visual factuality by category, a row a model, and on the page by task, a row a task."""
    models: Mapping[str, Any] = data.summary["models"]
    blocks: list[Block] = []
    for part, title in (("by_category", "category"), ("by_task", "task")):
        names = sorted({name for one in models.values() for name in one[part]})
        cases = [str(max(one[part][name]["n"] for one in models.values() if name in one[part])) for name in names]
        for measure in ("reward", "factuality") if names else ():
            cells = {(name, model): _part(models, model, part, name, measure) for name in names for model in models}
            if all(cell is figures.NOTHING for cell in cells.values()):
                continue
            called = "Reward" if measure == "reward" else "Visual factuality score"
            if part == "by_category":
                columns = [Column("model", numeric=False), *map(Column, names)]
                rows = [
                    ["cases", *cases],
                    *([Span(model, "strong"), *(cells[name, model] for name in names)] for model in models),
                ]
                blocks.append(Table(columns, rows, f"{called} by {title}"))
            else:
                columns = [Column(title, numeric=False), Column("cases"), *map(Column, models)]
                rows = [
                    [name, n, *(cells[name, model] for model in models)] for name, n in zip(names, cases, strict=True)
                ]
                blocks.append(Only("page", (Table(columns, rows, f"{called} by {title}", sortable=True),)))
    unknown = [
        f"{none:,} of {figures.several(data.summary['samples'], 'case')} {'has' if none == 1 else 'have'} no {title}."
        for title in ("category", "task")
        if (none := data.summary["cases"][f"without_{title}"])
    ]
    blocks += [Paragraph(" ".join(unknown), "note")] if blocks and unknown else []
    return Section("categories", "Categories and tasks", blocks, menu="Categories") if blocks else None


def _part(models: Mapping[str, Any], model: str, part: str, name: str, measure: str) -> Cell:
    found = models[model][part].get(name)
    place = figures.pointer("models", model, part, name)
    if found is None:
        return figures.NOTHING
    if measure == "reward":
        return _signed(found["reward"], f"{place}/reward")
    seen = found["factuality"]
    return figures.NOTHING if seen is None else figures.measured(seen["model"], f"{place}/factuality/model", ends=2)


def places(data: ReportData) -> Section | None:
    """Return what the order of places does to the verdicts, and what one order alone would have said."""
    summary = data.summary
    every: Mapping[str, Any] | None = summary["places"]
    models: Mapping[str, Any] = summary["models"]
    rows: list[Sequence[Cell]] = []
    for name, one in models.items():
        place = figures.pointer("models", name)
        found = one["places"] or {"consistency": None, "bias": None, "p": None}
        alone = [(one["single"][order] or {"reward": None})["reward"] for order in ("first", "second")]
        rows.append(
            [
                Span(name, "strong"),
                figures.measured(found["consistency"], f"{place}/places/consistency"),
                _signed(found["bias"], f"{place}/places/bias"),
                figures.p_value(found["p"]),
                *(
                    _signed(reward, f"{place}/single/{order}/reward")
                    for order, reward in zip(("first", "second"), alone, strict=True)
                ),
                _signed(one["reward"], f"{place}/reward"),
            ]
        )
    columns = [
        Column("model", numeric=False),
        Column("consistency", meaning="percent of answers that both orders decide for the same side"),
        Column("bias", meaning="points of reward that the first place is worth"),
        Column("p", meaning="of a bias as large by chance: sign flips of whole cases; not adjusted over models"),
        Column("shown first", meaning="reward by the order alone in which the model's answer comes first"),
        Column("shown second", meaning="reward by the other order alone"),
        Column("dual", meaning="reward by the answers that were judged in both orders")
        if summary["orders"] == 2
        else Column("all", meaning="reward by all verdicts"),
    ]
    blocks: list[Block] = []
    if every is None:
        said = ONE_ORDER if summary["orders"] == 1 else "No answer has a verdict in both orders yet."
        blocks.append(Paragraph(said, "warning"))
    else:
        blocks.append(Paragraph(_bias_said(summary["judge"], every), "lead"))
    return Section(
        "places", "The order of places", (*blocks, Table(columns, rows, "One order and both")), menu="Places"
    )


def sight(data: ReportData) -> Section | None:
    """Return what the images are worth: answers without them, and by a description of them, beside those by them."""
    summary = data.summary
    models: Mapping[str, Any] = summary["models"]
    arms = [name for name in models if name.endswith((f"#{BLIND}", f"#{TEXT}"))]
    if not arms:
        return None
    blocks: list[Block] = [
        _with_and_without(summary, arms, "reward", "reward", _signed),
        _with_and_without(summary, arms, "factuality", "VFS", _scored),
    ]
    if summary["describer"] is not None:
        told = (
            " with an eye to each request" if summary["descriptions"] == "specific" else ", the same for every request"
        )
        blocks.append(Paragraph(f"{summary['describer']} described the images{told}.", "note"))
    blocks.append(
        Paragraph("A model that loses nothing without the images shows that the cases do not need them.", "note")
    )
    return Section("sight", "Without the images", blocks, menu="Images")


def _with_and_without(
    summary: Mapping[str, Any], arms: Sequence[str], measure: str, head: str, draw: Callable[[Any, str], Cell]
) -> Table:
    """Return one measure by the images and in the arms without them, and how far these are apart."""
    models: Mapping[str, Any] = summary["models"]
    rows: list[Sequence[Cell]] = []
    for name in arms:
        model, _, arm = name.rpartition("#")
        found = summary["without_images"].get(name, {}).get(measure, {"difference": None, "adjusted": None})
        place = figures.pointer("without_images", name, measure, "difference")
        rows.append(
            [
                Span(model, "strong"),
                SHOWN[arm],
                draw(models.get(model, {measure: None})[measure], figures.pointer("models", model, measure)),
                draw(models[name][measure], figures.pointer("models", name, measure)),
                _signed(found["difference"], place),
                figures.p_value(found["adjusted"]),
            ]
        )
    columns = [
        Column("model", numeric=False),
        Column("shown instead", numeric=False),
        Column(f"{head} by the images", meaning="answers to the same cases with the images shown"),
        Column(f"{head} without", meaning="answers without the images"),
        Column("difference", meaning="without less with, over cases judged in both, with its 95 % interval"),
        Column("adjusted p", meaning="sign flips of whole cases; Benjamini and Hochberg over both tables"),
    ]
    return Table(columns, rows, f"{head.capitalize() if head != 'VFS' else head} with the images and without")


def _scored(one: Mapping[str, Any] | None, place: str) -> Cell:
    return figures.measured(None if one is None else one["model"], f"{place}/model", ends=2)


def lengths(data: ReportData) -> Section | None:
    """Return how rewards go with the difference of lengths."""
    found: Mapping[str, Any] = data.summary["length_bias"]
    reasons = {name: one["reason"] for name, one in found.items() if one["r"] is not None}
    rows = [
        [
            Span(name, "strong"),
            f"{one['n']:,}",
            figures.signed_text(one["words"], 0),
            figures.NOTHING if one["r"] is None else figures.signed_text(one["r"], 3),
            figures.interval(one, signed=True),
            figures.p_value(one["p"]),
            figures.p_value(one["adjusted"]),
        ]
        for name, one in found.items()
    ]
    if not rows:
        return None
    columns = [Column("model", numeric=False), Column("answers")]
    columns += [
        Column("longer by", meaning="mean words more than the baseline's answer"),
        Column("r"),
        Column("95 % interval"),
    ]
    columns += [Column("p", meaning="exchange of whole cases"), Column("adjusted p", meaning="Benjamini and Hochberg")]
    tested = {name: one for name, one in found.items() if one["adjusted"] is not None}
    marked = [name for name, one in tested.items() if one["adjusted"] <= figures.SURE]
    if marked:
        said = directions(found, marked, "reward")
    elif tested:
        said = (
            f"Tested for {figures.several(len(tested), 'model')}: reward goes with how much longer an answer is than the "
            "baseline's for none."
        )
    else:
        said = "Whether reward goes with how much longer an answer is than the baseline's could be tested for no model."
    note = "A correlation is no proof of bias: a longer answer may be the better one."
    blocks = (
        Paragraph(said, "lead"),
        Table(columns, rows, "Reward and difference of lengths"),
        *(Paragraph(one, "note") for one in untested(reasons)),
        Paragraph(note, "note"),
    )
    return Section("lengths", "Length", blocks, menu="Length")


def _row(name: str, one: Mapping[str, Any], place: str) -> list[Cell]:
    verdicts = one["verdicts"]
    return [
        Span(name, "strong"),
        *_measures(one, place),
        *(figures.count(verdicts[key], f"{place}/verdicts/{key}") for key in VERDICTS),
        *figures.count_missing(verdicts, place),
        figures.interval(
            (one["bounds"] or {"reward": None})["reward"], f"{place}/bounds/reward", signed=True, digits=1
        ),
        figures.NOTHING if one["words"] is None else f"{one['words']:.0f}",
        figures.NOTHING if one["tokens"] is None else f"{one['tokens']:.0f}",
    ]


def _measures(one: Mapping[str, Any], place: str) -> list[Cell]:
    seen = one["factuality"] or {"model": None, "baseline": None}
    return [
        figures.measured(seen["model"], f"{place}/factuality/model", ends=2),
        figures.measured(seen["baseline"], f"{place}/factuality/baseline", ends=2),
        _signed(one["reward"], f"{place}/reward"),
        figures.measured(one["win_rate"], f"{place}/win_rate", digits=1, ends=1),
    ]


def _signed(one: Mapping[str, Any] | None, place: str) -> Cell:
    if one is None:
        return figures.NOTHING
    mean = Span(figures.signed_text(one["mean"]), "strong", f"{place}/mean", one["mean"])
    return (mean, Span(figures.bracketed(one, lambda end: figures.signed_text(end, 1)), "muted"))


def _bias_said(judge: str, every: Mapping[str, Any]) -> str:
    bias, same = every["bias"], every["consistency"]["mean"]
    said = f"In {same:.1f} % of {every['n']:,} answers {judge} decides for the same side in both orders."
    if every["p"] > figures.SURE:
        return f"{said} That a place is favoured could not be shown (p = {figures.p_value(every['p']).text})."
    favoured = "first" if bias["mean"] > 0 else "second"
    worth = f"The {favoured} place is worth {abs(bias['mean']):.1f} points of reward"
    p = figures.p_value(every["p"]).text
    return f"{said} {worth} (p {p if p.startswith('<') else f'= {p}'}), which both orders together take out."


def _notes(summary: Mapping[str, Any]) -> Iterator[str]:
    sees = "is shown the images" if summary["judge_sees"] == "image" else "is not shown the images"
    yield (
        f"Reward and win rate are the evaluated model's against {summary['baseline']}; equal answers are no wins. The judge "
        f"{sees}. Failed verdicts leave the denominators. Intervals are 95 % intervals clustered by cases that share an image."
    )
    if lone := figures.judged_in_one_order(summary["models"], "Answers"):
        yield lone
    cases = summary["cases"]
    if cases["general_criteria"]:
        yield (
            f"{cases['general_criteria']:,} of {summary['samples']:,} cases have no subjective criteria of their own: they are "
            "judged by general ones of this program."
        )
    if summary["factuality"] != "none":
        yield _describe_factuality(summary["factuality"], cases, summary["samples"])
    name = f"{summary['baseline']}#{AGAIN}"
    if name in summary["models"]:
        same = summary["models"][name]["same_text"]
        yield (
            f"{name} is the noise floor: a second answer of the baseline against its first"
            + (f"; {same:,} of them are the same text." if same else ".")
        )
    if missing := figures.kinds_of_failures(summary["models"], "answers"):
        yield missing
    yield f"{figures.used(summary)}."


def _describe_factuality(chosen: str, cases: Mapping[str, int], samples: int) -> str:
    """Return what visual factuality is judged by, and to how many cases it does not apply."""
    by = "the ground truth alone" if chosen == "text" else "ground truth and images"
    said = f"Visual factuality is judged by {by}"
    if seen := cases["factuality_by_image"]:
        said += f", and by the images in {figures.several(seen, 'case')} without a ground truth"
    without, unknown = samples - cases["factuality_criteria"], cases["factuality_unknown"]
    said += f"; it does not apply to {figures.several(without, 'case')} without criteria of it"
    if unknown:
        said += f" and to {unknown:,} whose judge is shown neither a ground truth nor an image"
    return f"{said}, which are no failures."


DRAWING = Drawing(
    "duels",
    (duels, categories, places, sight, lengths, cases, skipped.section, provenance.section),
    sample=sample,
    asks=True,
)
