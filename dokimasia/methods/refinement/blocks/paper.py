"""ATOM's Table 4 of a refinement as blocks: strategies by category, and what each gains there over its controls."""

from collections.abc import Iterator, Mapping
from typing import Any

from dokimasia.methods.refinement.blocks.cells import (
    beside,
    gain_cells,
    limits_cell,
    named,
    of,
    pieces_of,
    value_cell,
)
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table

_OVER_ORIGINAL = (
    "Gains over retry and again are paired, and none is shown for fewer than five answers. Over the original answer (ATOM, "
    "G.2) the atom score is compared with the one by which the answers were chosen, so that it rises by luck alone, too: "
    "read it beside the gain over again."
)


def paper(summary: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the paper's table for each model: strategies and measures down, categories across."""
    table: Mapping[str, Any] = summary["table"]
    columns = [
        *named("strategy"),
        Column("measure", numeric=False, meaning="accuracy, or the mean atom score from 1 to 5"),
        *(Column(name) for name in table["columns"]),
        Column("average", meaning="with its 95 % interval"),
        Column("n", meaning="answers; where some have no verdict or score, those that have one of all"),
        Column("gain over retry", meaning="on the same answers, with its 95 % interval"),
    ]
    for name, model in summary["models"].items():
        rows = [_strategy(number, one) for number, one in enumerate(table["rows"]) if one["model"] == name]
        if model["failed"]:
            yield Table(columns, rows, f"Correction of {name}'s initially failed answers by strategy and category")
            if gains := list(_by_column(name, table)):
                head = [*named("gain"), *columns[1:-2]]
                yield Table(head, gains, f"What {name}'s strategies gain by category, with 95 % intervals")
                yield Paragraph(_OVER_ORIGINAL, "note")


def _by_column(name: str, table: Mapping[str, Any]) -> Iterator[list[Cell]]:
    """Yield a line for each strategy, control and measure."""
    for number, one in enumerate(table["rows"]):
        percent = one["measure"] == "accuracy"
        for control, gains in one["gains"].items() if one["model"] == name else ():
            place = f"/table/rows/{number}/gains/{control}"
            cells = [
                gain_cells(gain, f"{place}/cells{figures.pointer(column)}", percent)[0]
                for column, gain in gains["cells"].items()
            ]
            average = gain_cells(gains["average"], f"{place}/average", percent)[0]
            yield [f"{one['strategy']} over {control}", one["measure"], *cells, average]


def _strategy(number: int, one: Mapping[str, Any]) -> list[Cell]:
    place, average = f"/table/rows/{number}", one["average"]
    percent = one["measure"] == "accuracy"
    return [
        one["strategy"] if percent else Span(one["strategy"], "muted"),
        "accuracy" if percent else Span("atoms", "muted"),
        *(
            value_cell(cell, f"{place}/cells{figures.pointer(name)}/value", percent)
            for name, cell in one["cells"].items()
        ),
        (
            *pieces_of(value_cell(average, f"{place}/average/value", percent)),
            *beside(limits_cell(average, f"{place}/average", percent)),
        ),
        figures.NOTHING if average is None else of(average["n_known"], average["n"]),
        gain_cells(one["gain"], f"{place}/gain", percent)[0],
    ]
