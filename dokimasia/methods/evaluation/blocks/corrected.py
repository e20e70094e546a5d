"""What people corrected by hand, beside the judge's own figures, and what that does not measure."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Column, Paragraph, Section, Span, Table
from dokimasia.report.data import ReportData

CHOSEN = (
    "The corrected answers were chosen by people and not drawn at random: how many there are does not say how often the judge "
    "errs. That is measured on a blind draw: dokimasia annotate draw RUN, then dokimasia correct RUN --human FILE."
)


def section(data: ReportData) -> Section | None:
    """Return what was corrected; None where nothing was."""
    found: Mapping[str, Any] | None = data.summary.get("corrections")
    if found is None:
        return None
    blocks: list[Block] = [Paragraph(notice(found), "warning")]
    if found["left_out"]:
        left = [(Span(one["sample"], "strong"), f": {one['reason']} ({one['who']})") for one in found["left_out"]]
        blocks.append(Bullets(left))
    columns = (
        Column("model", numeric=False),
        Column("samples", meaning="that count, and as judged"),
        Column("strict accuracy, corrected"),
        Column("strict accuracy, as judged"),
        Column("score, corrected"),
        Column("score, as judged"),
    )
    rows: list[list[Cell]] = []
    for name, judged in found["as_judged"].items():
        now = data.summary["models"].get(name, {"n": 0, "strict_accuracy": None, "score": None})
        each = [
            cell
            for part, read in (("strict_accuracy", figures.strict_of), ("score", partial(figures.measured, ends=2)))
            for cell in (read(one[part]) if one[part] else figures.NOTHING for one in (now, judged))
        ]
        rows.append([Span(name, "strong"), f"{now['n']:,}/{judged['n']:,}", *each])
    blocks += [Table(columns, rows, "With corrections, and as judged"), Paragraph(CHOSEN, "note")]
    return Section("corrected", "Corrected by hand", blocks, menu="Corrected")


def notice(found: Mapping[str, Any]) -> str:
    """Return in a sentence how much was corrected, and by whom."""
    by = ", ".join(f"{who} ({count:,})" for who, count in found["by"].items())
    left = len(found["left_out"])
    out = f", and left {figures.several(left, 'sample')} out of all figures" if left else ""
    return (
        f"People corrected {found['answers']:,} of {figures.several(found['of'], 'answer')}{out}: {by}. The figures count what "
        "they said in the place of the judge; the judge's own figures stand beside them."
    )
