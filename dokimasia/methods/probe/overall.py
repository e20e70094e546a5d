"""What judges that are asked for axes say on `overall` alone, drawn beside the published form."""

from collections.abc import Iterator, Sequence

from dokimasia.domain.blindspots import Evaluator, by_axes, paradigm_of
from dokimasia.methods.probe.tables import LOWER, each, percent, scored, short, tasks, titled
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table
from dokimasia.report.data import ReportData

BY_OVERALL = f"undetected by the axis overall alone, where several axes are asked for; {LOWER}"

WHY = (
    "As published, an error is undetected where all relevant axes are unchanged, or of pairs where no majority of them "
    "prefers the gold answer; by overall alone, where overall is unchanged, or the gold answer alone is not preferred on it."
)

TIES = (
    "missed by majority in pairs and not by overall is one where half or more of the relevant axes do not prefer the gold "
    "answer, most often since they are honestly ties: the judge sees it."
)


def of_spots(data: ReportData) -> Iterator[Block]:
    """Yield how both forms are read together where pairs are compared by axes."""
    asked: set[Evaluator] = {evaluator for _, found, place in tasks(data) for _, evaluator, _, _ in each(found, place)}
    if any(by_axes(one) and paradigm_of(one) == "pairwise" for one in asked):
        yield Paragraph(f"A dimension that is {TIES}", "note")


def overall(data: ReportData) -> Iterator[Block]:
    """Yield a table a task of what goes undetected as published and by `overall` alone; nothing where no axes are asked for."""
    drawn = False
    for task, found, place in tasks(data):
        rows: list[Sequence[Cell]] = [
            [
                Span(judge, "strong"),
                short(evaluator),
                scored(one["overall"], f"{at}/overall"),
                percent(one["undetected"], f"{at}/undetected", tone=""),
                percent(one["overall"], f"{at}/overall"),
            ]
            for judge, evaluator, one, at in each(found, place)
            if one["overall"] is not None
        ]
        columns = [
            Column("judge", numeric=False),
            Column("evaluator", numeric=False),
            Column("errors", meaning="judged, of all"),
            Column("undetected", meaning=f"as published; {LOWER}"),
            Column("by overall", meaning=BY_OVERALL),
        ]
        if rows:
            drawn = True
            yield Table(columns, rows, titled("By overall alone, in percent", task, data))
    if drawn:
        yield Paragraph(f"{WHY} An error that is {TIES}", "note")
