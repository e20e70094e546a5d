"""What was not measured: coverage, failures by kind with an example, and the bounds that they leave open."""

from collections.abc import Mapping
from typing import Any

from dokimasia.methods.evaluation.blocks.scores import without_undecided
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Section, Span, Table
from dokimasia.report.data import ReportData

MEANINGS = {
    "unparsable": "the judge's reply does not say what it was asked to say, also when asked again",
    "refused": "a model would not answer, or its answer was filtered",
    "truncated": "a reply was cut off before it said what was asked",
    "context_overflow": "the request was longer than the model takes",
    "api_error": "no reply could be had after all tries",
    "budget": "the limit on spending was reached; resume takes it up",
    "waiting": "a person has not answered yet; resume takes it up",
    "reference_contradicted": "the judge's own solution contradicts the reference answer",
    "undecided": "no rule says whether the answer is right, and no judge was named; strict accuracy counts it as not right",
}


def section(data: ReportData) -> Section:
    """Return coverage and failures."""
    judged = data.judged
    blocks: list[Block] = _of_scores(data) if judged else [_of_verdicts(data)]
    if data.reasons:
        kinds = [
            [Span(kind, "bad"), MEANINGS.get(kind, ""), Span(data.reasons[kind], "code")]
            for kind in sorted(data.reasons)
        ]
        titles = [Column(title, numeric=False) for title in ("kind", "what it means", "an example")]
        about = "Kinds of failure" if judged else "Kinds of failure, and what is undecided"
        blocks.append(Table(titles, kinds, f"{about}, with an example of each"))
        figure, kept = "mean", ""
        if not judged:
            figure, kept = "strict accuracy", "An undecided answer stays in it, as not right. "
        text = (
            f"A failure is never a number: it leaves the {figure}, is counted under its kind, and opens bounds. {kept}The bounds "
            "are about what was not measured, the interval about what other samples would have brought."
        )
    else:
        text = f"Nothing failed, so the bounds are the {'mean' if judged else 'strict accuracy'} itself."
    blocks.append(Paragraph(text, "note"))
    if left := (data.summary.get("corrections") or {"left_out": ()})["left_out"]:
        names = ", ".join(one["sample"] for one in left)
        blocks.append(Paragraph(f"In none of these numbers, since people left them out: {names}.", "warning"))
    return Section("coverage", "Coverage and failures", blocks, menu="Coverage")


def _of_scores(data: ReportData) -> list[Block]:
    """Of how many answers there is a score, and, where samples have several, of how many samples."""
    models: Mapping[str, Any] = data.summary["models"]
    columns = (
        Column("model", numeric=False),
        Column("answers", meaning="scored, and all"),
        Column("coverage", meaning="share of answers that were scored"),
        Column("failed answers", numeric=False, meaning="by kind of failure"),
        Column("bounds of the mean", meaning="if every failed answer had scored 1, or 5"),
    )
    rows: list[list[Cell]] = []
    samples: list[list[Cell]] = []
    for name in data.ranked():
        model, place = models[name], figures.pointer("models", name)
        rows.append(
            [
                Span(name, "strong"),
                figures.scored_of(model, place),
                figures.share(model["coverage"], f"{place}/coverage"),
                figures.failures(model["failed_answers"], f"{place}/failed_answers"),
                figures.interval(model["bounds"], f"{place}/bounds"),
            ]
        )
        samples.append(
            [
                Span(name, "strong"),
                (figures.count(model["n_scored"], f"{place}/n_scored"), "/", figures.count(model["n"], f"{place}/n")),
                figures.failures(model["failures"], f"{place}/failures"),
            ]
        )
    found: list[Block] = [Table(columns, rows, "Coverage and failures by model, in answers")]
    if any(model["answers"] != model["n"] for model in models.values()):
        titles = (
            Column("model", numeric=False),
            Column("samples", meaning="with a scored answer, and all"),
            Column("samples without a score", numeric=False, meaning="by the kind of their first failure"),
        )
        found.append(Table(titles, samples, "The same in samples: one scored answer gives a sample its score"))
    return found


def _of_verdicts(data: ReportData) -> Table:
    """Where rules alone decide: of how many answers they did."""
    columns = (
        Column("model", numeric=False),
        Column("answers", meaning="to samples with a reference answer"),
        Column("decided", meaning="to be right or wrong"),
        Column("undecided", meaning="no rule says whether they are right"),
        Column("failed answers", numeric=False),
        Column("coverage", meaning="share of answers that did not fail"),
        Column(
            "bounds", meaning="of the share of right answers, if every undecided or failed one were wrong, or right"
        ),
    )
    rows: list[list[Cell]] = []
    for name in data.ranked():
        model = data.summary["models"][name]
        place, accuracy = figures.pointer("models", name), model["strict_accuracy"]
        failed = figures.failures(without_undecided(model["failed_answers"]), f"{place}/failed_answers")
        if accuracy is None:
            rows.append([Span(name, "strong"), *[figures.NOTHING] * 3, failed, *[figures.NOTHING] * 2])
            continue
        rows.append(
            [
                Span(name, "strong"),
                figures.count(accuracy["answers"], f"{place}/strict_accuracy/answers"),
                figures.count(accuracy["n"] - accuracy["n_undecided"]),
                figures.count(accuracy["n_undecided"], f"{place}/strict_accuracy/n_undecided"),
                failed,
                figures.share(accuracy["coverage"], f"{place}/strict_accuracy/coverage"),
                figures.percent_bounds(accuracy),
            ]
        )
    return Table(columns, rows, "Answers that were decided, by model")
