"""One unit a row: what is scored and what failed are both counted in answers, and together they are all answers."""

import re
from collections.abc import Iterator

from dokimasia.methods.evaluation.report import coverage, scores
from dokimasia.report.blocks import Chart, Section, Table, plain
from tests.report.conftest import Finished


def rows_of(section: Section, about: str) -> Iterator[dict[str, str]]:
    """The rows of a section's table, by title."""
    table = next(one for one in section.blocks if isinstance(one, Table) and one.about.startswith(about))
    titles = [column.title for column in table.columns]
    return (dict(zip(titles, map(plain, row), strict=True)) for row in table.rows)


def added(cell: str) -> int:
    """All that is counted in a cell."""
    return sum(map(int, re.findall(r"\d+", cell)))


def test_with_repeats_scored_and_failed_answers_are_all_answers(full: Finished) -> None:
    """The table of scores and that of coverage count failures in answers, as they count what was scored."""
    data = full.data(samples=0)
    models = data.summary["models"]
    assert any(sum(one["failures"].values()) != sum(one["failed_answers"].values()) for one in models.values())
    for row in rows_of(scores(data), "Answers and scores"):
        scored, answers = map(int, row["scored"].split("/"))
        assert answers == models[row["model"]]["answers"]
        assert scored + added(row["failed"]) == answers
    for row in rows_of(coverage(data), "Coverage and failures"):
        scored, answers = map(int, row["answers"].split("/"))
        assert scored + added(row["failed answers"]) == answers
    for row in rows_of(coverage(data), "The same in samples"):
        scored, samples = map(int, row["samples"].split("/"))
        assert scored + added(row["samples without a score"]) == samples == models[row["model"]]["n"]


def test_the_first_chart_has_the_models_in_the_order_of_the_table(full: Finished) -> None:
    """Chart and table go by strict accuracy, then by mean score, the best first."""
    data = full.data(samples=0)
    section = scores(data)
    chart = next(block for block in section.blocks if isinstance(block, Chart))
    in_table = [row["model"] for row in rows_of(section, "Answers and scores")]
    in_chart = chart.figure["layout"]["yaxis"]["categoryarray"]
    assert in_chart == [name for name in in_table if name in in_chart]
    models = data.summary["models"]
    ranks = [(models[name]["strict_accuracy"]["share"], models[name]["score"]["mean"]) for name in in_chart]
    assert ranks == sorted(ranks, reverse=True)
