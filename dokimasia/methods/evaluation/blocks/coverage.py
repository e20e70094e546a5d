"""What was not measured: coverage, failures by kind with an example, and the bounds that they leave open."""

from collections.abc import Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Column, Paragraph, Section, Span, Table
from dokimasia.report.data import ReportData

MEANINGS = {
    "unparsable": "the judge's reply does not say what it was asked to say, also when asked again",
    "refused": "a model would not answer, or its answer was filtered",
    "truncated": "a reply was cut off before it said what was asked",
    "context_overflow": "the request was longer than the model takes",
    "api_error": "no reply could be had after all tries",
    "budget": "the limit on spending was reached; resume takes it up",
    "reference_contradicted": "the judge's own solution contradicts the reference answer",
}


def section(data: ReportData) -> Section:
    """Return coverage and failures."""
    models: Mapping[str, Any] = data.summary["models"]
    columns = (
        Column("model", numeric=False),
        Column("samples"),
        Column("scored"),
        Column("coverage"),
        Column("samples without a score", numeric=False, meaning="by the kind of their first failure"),
        Column("failed answers", numeric=False, meaning="all repeats"),
        Column("bounds of the mean", meaning="if every failed sample had scored 1, or 5"),
    )
    rows = []
    for name in data.ranked():
        model, place = models[name], figures.pointer("models", name)
        rows.append(
            [
                Span(name, "strong"),
                figures.count(model["n"], f"{place}/n"),
                figures.count(model["n_scored"], f"{place}/n_scored"),
                figures.share(model["coverage"], f"{place}/coverage"),
                figures.failures(model["failures"], f"{place}/failures"),
                figures.failures(model["failed_answers"], f"{place}/failed_answers"),
                figures.interval(model["bounds"], f"{place}/bounds"),
            ]
        )
    blocks: list[Block] = [Table(columns, rows, "Coverage and failures by model")]
    if data.reasons:
        kinds = [
            [Span(kind, "bad"), MEANINGS.get(kind, ""), Span(data.reasons[kind], "code")]
            for kind in sorted(data.reasons)
        ]
        titles = [Column(title, numeric=False) for title in ("kind", "what it means", "an example")]
        blocks.append(Table(titles, kinds, "Kinds of failure, with an example of each"))
        text = (
            "A failure is never a number: it leaves the mean, is counted under its kind, and opens bounds. The bounds "
            "are about what was not measured, the interval about what other samples would have brought."
        )
    else:
        text = "Nothing failed, so the bounds are the mean itself."
    blocks.append(Paragraph(text, "note"))
    return Section("coverage", "Coverage and failures", blocks, menu="Coverage")
