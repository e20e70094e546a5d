"""A probe of simulated judges beside what is planted in them: every share with the one that follows from the plan."""

from collections.abc import Mapping
from typing import Any

from dokimasia.methods.probe.tables import dimension, percent, short
from dokimasia.report import figures
from dokimasia.report.blocks import Cell, Column, Span, Table

ALL = ""
"""Stands for all dimensions together, and for harmless changes, among what is planted."""


def planted(task: str, found: Mapping[str, Any], expected: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Table:
    """Return what went undetected by dimension beside what is planted, and whether the interval contains it.

    Args:
        task: the task.
        found: its figures.
        expected: by judge, evaluator and dimension the share that is expected to go undetected; all together have no name.
    """
    rows: list[list[Cell]] = []
    for judge, evaluators in expected.items():
        for evaluator, shares in evaluators.items():
            one = found["judges"][judge]["evaluators"][evaluator]
            for name, truth in shares.items():
                measured = one["undetected"] if name == ALL else one["dimensions"][name]["undetected"]
                what = Span("all errors", "strong") if name == ALL else dimension(task, name)
                within = figures.within(truth, measured["low"], measured["high"], f"{100 * truth:.1f}")
                rows.append([Span(judge, "strong"), short(evaluator), what, percent(measured), *within])
    columns = [Column(title, numeric=False) for title in ("judge", "evaluator", "dimension")]
    columns += [Column("undetected, measured"), Column("planted"), Column("within")]
    return Table(columns, rows, "Undetected errors, measured and planted, in percent")
