"""The criteria that answers were scored by: how many, what a second look found, where the final answer is all there is."""

from collections.abc import Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Column, Facts, Paragraph, Section, Span, Table
from dokimasia.report.data import ReportData

MEANINGS = {
    "unnecessary": "the answer does not rest on it",
    "compound": "it asks for more than one thing",
    "suggestive": "its question gives its answer away",
    "missing": "something that the answer rests on, and no criterion asked for",
    "rule": "it still broke a rule when it had been sent back, such as speaking of a solution",
}


def section(data: ReportData) -> Section | None:
    """Return what is known of the criteria; None where there are none."""
    found: Mapping[str, Any] | None = data.summary.get("criteria")
    if not found or not found["sets"]:
        return None
    place = "/criteria"
    blocks: list[Block] = [
        Facts(
            [
                ("Samples with criteria", figures.count(found["sets"], f"{place}/sets")),
                ("Criteria a sample", figures.score(found["points"], f"{place}/points", tone="")),
                ("Only the final answer", figures.share_of(found["only_final"], f"{place}/only_final")),
                ("Looked at again", figures.count(found["checked"], f"{place}/checked")),
            ]
        )
    ]
    if found["faults"]:
        columns = [Column("found", numeric=False), Column("what it means", numeric=False)]
        columns += [Column(became) for became in ("mended", "dropped", "left")]
        rows = [
            [
                Span(defect, "strong"),
                MEANINGS[defect],
                *(figures.count(count, f"{place}/faults/{defect}/{became}") for became, count in one.items()),
            ]
            for defect, one in found["faults"].items()
        ]
        blocks.append(Table(columns, rows, "What was found to be wrong with criteria, and what became of it"))
    blocks.append(
        Paragraph(
            "Before answers are scored by them the judge takes a second look at the criteria of each sample: whether the "
            "answer rests on each, whether it asks for one thing, whether its question keeps its answer to itself. What is "
            "wrong is sent back once and mended, or left out. A sample of which the final answer is the only criterion "
            "says nothing of how an answer was come by.",
            "note",
        )
    )
    return Section("criteria", "Criteria", blocks)
