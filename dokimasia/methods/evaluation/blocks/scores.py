"""Strict accuracy, mean scores with their intervals, what answers speak to, and the bounds that failures leave open."""

from collections.abc import Mapping
from typing import Any

from dokimasia.methods.evaluation.blocks.cost import shared, together
from dokimasia.methods.evaluation.blocks.overview import strict_accuracy
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Fold, Only, Paragraph, Section, Span, Table
from dokimasia.report.charts import SCALE, Point, interval_chart, intervals_said
from dokimasia.report.data import ReportData

TITLE = "mean score, 1 to 5"
INTERVALS = (
    "Intervals are 95 % intervals clustered by samples that share an image: they speak of other samples from where these "
    "came from, not of another judge, prompt or set of criteria."
)


def section(data: ReportData) -> Section:
    """Return what all models got right and how they scored, best first."""
    models: Mapping[str, Any] = data.summary["models"]
    judged = data.judged
    ranked = data.ranked()
    if not models:
        return Section("scores", "Scores" if judged else "Strict accuracy", _nothing_yet(data.summary), menu="Scores")
    blind = data.blind_arms
    points = [_point(name, models[name], hollow=name in blind) for name in ranked if models[name]["score"] is not None]
    failing = any(without_undecided(model["failed_answers"]) for model in models.values())
    verdict = [Paragraph(text) for text in strict_accuracy(data)]
    blocks: list[Block] = [Only("terminal", verdict)] if verdict else []
    blocks += [Paragraph(text, "warning") for text in (_silence(data.summary),) if judged and text]
    if points:
        blocks.append(
            Chart(
                interval_chart(points, title=TITLE, scale=SCALE),
                f"Mean scores {intervals_said(points)} of {figures.several(len(points), 'model')}, best first"
                + ("; dotted: what failures leave open" if failing else ""),
            )
        )
    open_ones = not judged or any(_undecided(model) for model in models.values())
    columns = _columns(data, judged=judged, failing=failing, undecided=open_ones)
    rows = [_row(data, name, judged=judged, failing=failing, undecided=open_ones) for name in ranked]
    blocks.append(Table(columns, rows, "Answers and scores by model" if judged else "Strict accuracy by model"))
    blocks += _notes(data, judged=judged)
    return Section("scores", "Scores" if judged else "Strict accuracy", blocks, menu="Scores" if judged else "Accuracy")


def _nothing_yet(summary: Mapping[str, Any]) -> list[Block]:
    """Say that no answer has a result yet, and what is there."""
    made, samples = summary.get("criteria"), figures.several(summary["samples"], "sample")
    there = f" to {samples}" if made is None else f"; criteria of {made['sets']:,} of {samples} are there"
    went = f"dokimasia resume {summary['run']} goes on, and asks for no answer again that the ledger has."
    return [Paragraph(f"Nothing is scored yet: 0 answers have a result{there}. {went}")]


def _undecided(model: Mapping[str, Any]) -> int:
    """Return how many answers of a model are undecided."""
    return (model["strict_accuracy"] or {"n_undecided": 0})["n_undecided"]


def _columns(data: ReportData, *, judged: bool, failing: bool, undecided: bool) -> list[Column]:
    scored = [
        Column("score", meaning="mean over scored samples, 1 to 5, higher is better; silence on a criterion counts 1"),
        Column("95 % interval", meaning="bootstrap, clustered by samples that share an image"),
        figures.BAR,
        *(figures.PLANTED if data.planted is not None else ()),
        Column("of 100", meaning="(score − 1) / 4 × 100", only="page"),
        Column("spoken to", meaning="share of the criteria's weight that the answers speak to, mean over samples"),
        Column("score of that", meaning="mean score of what is spoken to; each model chooses what", only="page"),
        Column("scored", meaning="answers that were scored, and all answers"),
        *([Column("bounds", meaning="if every failed answer had scored 1, or 5", only="page")] if failing else []),
    ]
    return [
        Column("model", numeric=False),
        Column(
            "strict accuracy",
            meaning="share of final answers that agree with the reference, undecided ones counted as not right; 95 % interval",
        ),
        Column(
            "right",
            meaning="right answers, and all that did not fail",
            only="page" if judged and data.facts.status == "done" else None,
        ),
        *(
            [
                Column(
                    "undecided",
                    meaning="answers of which no rule and no judge says whether they are right, and the strict accuracy if "
                    "all of them were; no sampling error",
                )
            ]
            if undecided
            else []
        ),
        *(scored if judged else []),
        *([Column("failed", numeric=False, meaning="answers", only="terminal")] if failing else []),
        Column("calls", only="terminal"),
        Column("cost", only="terminal"),
    ]


def _row(data: ReportData, name: str, *, judged: bool, failing: bool, undecided: bool) -> list[Cell]:
    model, place = data.summary["models"][name], figures.pointer("models", name)
    score = model["score"]
    scored: list[Cell] = [
        figures.score(score and score["mean"], f"{place}/score/mean"),
        figures.interval(score, f"{place}/score"),
        figures.bar(score),
        *(_planted(data.planted.get(name), score) if data.planted is not None else ()),
        figures.NOTHING if score is None else f"{(score['mean'] - 1) * 25:.1f}",
        figures.spoken(model["stated"]["mean"], f"{place}/stated/mean"),
        figures.measured(
            model["stated_score"] if model["stated_score"]["n"] else None, f"{place}/stated_score", ends=2
        ),
        figures.scored_of(model, place),
        *([figures.interval(model["bounds"], f"{place}/bounds")] if failing else []),
    ]
    return [
        Span(name, "strong"),
        *_right(model["strict_accuracy"], f"{place}/strict_accuracy", undecided=undecided),
        *(scored if judged else []),
        *([figures.failures(without_undecided(model["failed_answers"]), f"{place}/failed_answers")] if failing else []),
        figures.count(model["calls"], f"{place}/calls"),
        figures.cost_of(model, place),
    ]


def without_undecided(failures: Mapping[str, int]) -> dict[str, int]:
    """Return failures by kind without answers that are undecided: these are counted apart."""
    return {kind: number for kind, number in failures.items() if kind != "undecided"}


def _right(accuracy: Mapping[str, Any] | None, place: str, *, undecided: bool) -> list[Cell]:
    """The strict accuracy with its interval, of how many answers, and how many of these are undecided."""
    if accuracy is None:
        return [figures.NOTHING] * (3 if undecided else 2)
    counts = (figures.count(accuracy["k"], f"{place}/k"), "/", figures.count(accuracy["n"], f"{place}/n"))
    cells = [figures.right_of(accuracy, place), counts]
    return [*cells, figures.undecided_of(accuracy, place)] if undecided else cells


def _notes(data: ReportData, *, judged: bool) -> list[Block]:
    summary = data.summary
    used = figures.used(together([summary["preparation"], *summary["models"].values()]))
    right = "Right are final answers that agree with the reference answer, by rule"
    right += " or, where no rule can say, by the judge's word. " if judged else "; what no rule can say is undecided. "
    if any(map(_undecided, summary["models"].values())):
        right += (
            "Strict accuracy counts undecided answers as not right, as benchmarks by exact match do; the figure after “up to” "
            "counts them as right. That range has no sampling error in it, and comes beside the interval. "
        )
        if not judged:
            right += "To decide them, give the command again with --judge. "
    bare = ""
    if summary.get("ask") == "plain":
        bare = (
            "The models were sent the bare question and not asked to show what their answers rest on: what an answer "
            "does not speak of says nothing of what the model can do. "
        )
    if not judged:
        return [
            Paragraph(right + bare + INTERVALS, "note"),
            Only("terminal", (Paragraph(f"All together: {used}. {shared(data)}".rstrip(), "note"),)),
        ]
    how = (
        "A judge scores each criterion of a sample from 1 to 5; an answer's score is their mean by weight, a sample's the "
        "mean over its scored repeats, a model's the mean over its scored samples. What an answer does not speak of "
        "counts 1, as published; how much it speaks to, and how it scores on that, stands beside it. "
    )
    made = (
        "Scores 1 to 5, higher is better; silence on a criterion counts 1, and spoken to is the share of the criteria's "
        f"weight that answers speak to. {summary['preparation']['calls']:,} calls of {_made(data)}. "
        f"Their cost: {figures.cost_of(summary['preparation']).text}. All together: {used}. {shared(data)}"
    )
    return [
        Only("page", (Paragraph(right + bare + how + INTERVALS, "note"), *_lengths(summary))),
        Only("terminal", (Paragraph(right + bare + made + INTERVALS, "note"),)),
    ]


def _made(data: ReportData) -> str:
    """Return who made the criteria: in a fork that took them over, the judge of the run that they are from."""
    other = next((one.name for one in data.facts.models if "extract_criteria" in one.steps), "")
    if not other:
        return "the judge made the criteria"
    return f"{other} made the criteria, which were taken over from run {data.summary['forked_from']['run']}"


def _silence(summary: Mapping[str, Any]) -> str:
    """Say which models leave so much unsaid that their scores speak of how much they say."""
    models: Mapping[str, Any] = summary["models"]
    little = [name for name, one in models.items() if one["stated"]["n"] and one["stated"]["mean"] < figures.SPEAKING]
    if not little:
        return ""
    names = ", ".join(f"{name} ({figures.spoken(models[name]['stated']['mean']).text})" for name in little)
    both = (
        ", and on the criteria that both models speak to (dokimasia diff RUN RUN --models A,B)"
        if len(models) > 1
        else ""
    )
    return (
        f"These speak to less than {figures.share(figures.SPEAKING).text} of the criteria's weight: {names}. Their scores "
        f"fall for what they do not say, right or wrong: compare them by strict accuracy{both}."
    )


def _lengths(summary: Mapping[str, Any]) -> list[Block]:
    """Say how far longer answers score higher, over all models and by model."""
    models: Mapping[str, Any] = summary["models"]
    named = {"all models": summary["length"], **{name: one["length"] for name, one in models.items()}}
    rows = [
        [
            Span(name, "strong"),
            figures.count(one["n"]),
            "–" if one["characters"] is None else f"{one['characters']:,.0f}",
            figures.NOTHING if one["correlation"] is None else figures.signed_text(one["correlation"]),
            figures.interval(one, signed=True),
        ]
        for name, one in named.items()
    ]
    columns = (
        Column("model", numeric=False),
        Column("scored answers"),
        Column("characters", meaning="mean length of an answer"),
        Column("correlation", meaning="Pearson's, of the logarithm of the length with the score"),
        Column("95 % interval", meaning="jackknife over samples that share an image"),
    )
    return [Fold("Length of answers against their score", (Table(columns, rows, "Length of answers and score"),))]


def _point(name: str, model: Mapping[str, Any], *, hollow: bool) -> Point:
    score, bounds = model["score"], model["bounds"]
    open_ends = (bounds["low"], bounds["high"]) if model["answers_scored"] < model["answers"] else None
    return Point(name, score["mean"], score["low"], score["high"], open_ends, hollow=hollow)


def _planted(expected: float | None, score: Mapping[str, float] | None) -> list[Cell]:
    return figures.within(expected, *((score["low"], score["high"]) if score else (None, None)))
