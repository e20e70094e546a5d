"""What the run used: calls, tokens and US dollars by model and for the criteria; unknown is said to be unknown."""

from collections.abc import Iterable, Mapping
from typing import Any

from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Paragraph, Section, Span, Table
from dokimasia.report.charts import cost_chart
from dokimasia.report.data import ReportData

COLUMNS = (
    Column("used for", numeric=False),
    Column("calls", meaning="entries of the ledger, each counted once; the candidate's and the judge's"),
    Column("tokens in"),
    Column("tokens out"),
    Column("calls of unknown usage"),
    Column("cost", meaning="US dollars"),
    Column("a scored sample", meaning="US dollars"),
)

SHARED = (
    "A call that several models rest on, such as the judge's on two answers in the same words, counts with each of them "
    "and was made and paid once. "
)


def section(data: ReportData) -> Section:
    """Return calls, tokens and cost."""
    models: Mapping[str, Any] = data.summary["models"]
    made = data.summary["preparation"]
    ranked = data.ranked()
    judged = data.judged
    rows = [
        *([["chains and criteria", *_usage(made, "/preparation"), figures.NOTHING]] if judged else []),
        *(
            [
                Span(name, "strong"),
                *_usage(models[name], figures.pointer("models", name)),
                _dollars(_each(models[name])),
            ]
            for name in ranked
        ),
        _total([made, *(models[name] for name in ranked)]),
    ]
    blocks: list[Block] = []
    points = {
        name: (each, models[name]["score"]["mean"])
        for name in ranked
        if name not in data.blind_arms and (each := _each(models[name])) and models[name]["score"] is not None
    }
    columns = COLUMNS if judged else COLUMNS[:-1]
    blocks.append(Table(columns, [row[: len(columns)] for row in rows], "Calls, tokens and cost"))
    if len(points) > 1:
        chart = cost_chart(points, title="US dollars a scored sample, answering and judging")
        blocks.append(Chart(chart, "Mean score over the cost of a scored sample, by model"))
    whose = (
        "A model's calls are those that answered and those that judged its answers. Chains and criteria belong to the data "
        "and are made once: another candidate does not pay for them again. "
    )
    known = "Of a sum that holds an unknown cost, the known part is said."
    blocks.append(Paragraph((whose if judged else "") + shared(data) + known, "note"))
    return Section("cost", "Cost and calls", blocks, menu="Cost")


def shared(data: ReportData) -> str:
    """Say why the calls of several models may add up to more than were made; nothing where there is one model."""
    return SHARED if len(data.summary["models"]) > 1 else ""


def _usage(used: Mapping[str, Any], place: str) -> list[Cell]:
    tokens = used["tokens"]
    return [
        figures.count(used["calls"], f"{place}/calls"),
        figures.count(tokens["input"], f"{place}/tokens/input"),
        figures.count(tokens["output"], f"{place}/tokens/output"),
        figures.count(tokens["unknown"], f"{place}/tokens/unknown"),
        figures.cost_of(used, place),
    ]


def _each(model: Mapping[str, Any]) -> float | None:
    """The cost of a scored sample; None where it is unknown or nothing was scored."""
    return None if model["cost"] is None or not model["n_scored"] else model["cost"] / model["n_scored"]


def _dollars(value: float | None) -> Span:
    return figures.NOTHING if value is None else Span(f"${value:,.4f}" if value else "$0.00")


def together(used: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what several used, as one: calls and cost, and the known part of one that is unknown."""
    every = list(used)
    known = sum(one["cost"] or one.get("cost_known") or 0.0 for one in every)
    cost = None if any(one["cost"] is None for one in every) else known
    return {"calls": sum(one["calls"] for one in every), "cost": cost, "cost_known": known}


def _total(used: list[Mapping[str, Any]]) -> list[Cell]:
    def total(values: list[Any]) -> Any:
        return None if any(value is None for value in values) else sum(values)

    return [
        Span("together", "strong"),
        figures.count(sum(one["calls"] for one in used), tone="strong"),
        figures.count(total([one["tokens"]["input"] for one in used]), tone="strong"),
        figures.count(total([one["tokens"]["output"] for one in used]), tone="strong"),
        figures.count(sum(one["tokens"]["unknown"] for one in used), tone="strong"),
        figures.cost_of(together(used)),
        figures.NOTHING,
    ]
