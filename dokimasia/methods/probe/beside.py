"""Judges, paradigms and ways of asking side by side, drawn: comparisons, budgets, tools, new references."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.domain.blindspots import EVALUATORS
from dokimasia.methods.probe.charts import budgets_chart
from dokimasia.methods.probe.tables import (
    DIFFERING,
    HIGHER,
    LOWER,
    PARADIGMS,
    differing,
    dimension,
    percent,
    short,
    tasks,
    titled,
)
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Chart, Column, Fold, Paragraph, Section, Span, Table
from dokimasia.report.data import ReportData

WITHIN = {
    "judges": ("Judges under the same evaluator", "evaluator"),
    "paradigms": ("Paradigms of the same judge", "judge"),
    "strategies": ("Strategies of the same judge and paradigm", "judge and paradigm"),
}


def comparisons(data: ReportData) -> Section | None:
    """Return how much more often errors go undetected here than there, over the same items."""
    blocks: list[Block] = []
    for task, found, place in tasks(data):
        for kind, (about, of) in WITHIN.items():
            several: Sequence[Mapping[str, Any]] = found["comparisons"][kind]
            rows = [
                [
                    _of(one["of"]),
                    f"{_of(one['second'])} − {_of(one['first'])}",
                    *differing(one, f"{place}/comparisons/{kind}/{at}"),
                ]
                for at, one in enumerate(several)
            ]
            columns = [Column(of, numeric=False), Column("second less first", numeric=False), *DIFFERING]
            if rows:
                table = Table(columns, rows, titled(about, task, data), sortable=True)
                many = f"{titled(about, task, data)}: {figures.several(len(rows), 'difference')}"
                blocks.append(Fold(many, [table], f"comparisons-{kind}-{task}") if kind == "strategies" else table)
    if not blocks:
        return None
    text = (
        "Above 0 the second misses more. An item counts where both sides judged it; a paradigm's value is the mean over its "
        "strategies."
    )
    return Section("comparisons", "Who misses more", (*blocks, Paragraph(text, "note")), menu="Comparisons")


def budgets(data: ReportData) -> Section | None:
    """Return what reasoning efforts do: the form of the paper's figure 4, with the differences."""
    blocks: list[Block] = []
    for task, found, place in tasks(data):
        several: Sequence[Mapping[str, Any]] = found["budgets"]
        if not several:
            continue
        efforts = list(dict.fromkeys(name for one in several for name in one["arms"]))
        rows: list[Sequence[Cell]] = []
        changes: list[Sequence[Cell]] = []
        for at, one in enumerate(several):
            where = f"{place}/budgets/{at}"
            row: list[Cell] = [Span(one["model"], "strong"), short(one["evaluator"])]
            for name in efforts:
                arm = one["arms"].get(name)
                row += [
                    percent(arm and arm[key], f"{where}/arms{figures.pointer(name)}/{key}")
                    for key in ("undetected", "equal")
                ]
            rows.append(row)
            changes += [
                [
                    one["model"],
                    short(one["evaluator"]),
                    f"{_effort(each['second'])} − {_effort(each['first'])}",
                    *differing(each, f"{where}/differences/{number}"),
                ]
                for number, each in enumerate(one["differences"])
            ]
        columns = [Column("judge", numeric=False), Column("evaluator", numeric=False)]
        for name in efforts:
            columns += [
                Column(f"{_effort(name)} undetected", meaning=LOWER),
                Column(f"{_effort(name)} score-invariant", meaning=HIGHER),
            ]
        lines = {
            f"{one['model']}, {short(one['evaluator'])}": {
                _effort(name): arm["undetected"] for name, arm in one["arms"].items()
            }
            for one in several
        }
        about = titled("Undetected errors by reasoning effort, in percent", task, data)
        named = (Column("judge", numeric=False), Column("evaluator", numeric=False), Column("efforts", numeric=False))
        blocks += [
            Chart(budgets_chart(lines, title="undetected, percent"), f"{about}; {LOWER}"),
            Table(columns, rows, about),
            Table((*named, *DIFFERING), changes, titled("Differences between efforts", task, data), sortable=True),
        ]
    return Section("budgets", "Reasoning efforts", blocks, menu="Efforts") if blocks else None


def tools(data: ReportData) -> Section | None:
    """Return what judges miss without tools and with them, on the whole and by dimension."""
    blocks: list[Block] = []
    for task, found, place in tasks(data):
        several: Sequence[Mapping[str, Any]] = found["tools"]
        if not several:
            continue
        blocks.append(
            _pairs(
                several,
                f"{place}/tools",
                ("without", "with"),
                titled("Undetected errors without tools and with them, in percent", task, data),
            )
        )
        rows = [
            [
                one["model"],
                short(one["evaluator"]),
                dimension(task, name),
                *differing(each, f"{place}/tools/{at}/dimensions{figures.pointer(name)}"),
            ]
            for at, one in enumerate(several)
            for name, each in one["dimensions"].items()
        ]
        named = [Column(title, numeric=False) for title in ("judge", "evaluator", "dimension")]
        table = Table(
            (*named, *DIFFERING), rows, titled("With tools less without, by dimension", task, data), sortable=True
        )
        blocks.append(table)
    text = "Below 0, errors are found with tools that are missed without."
    return (
        Section("tools", "With tools and without", (*blocks, Paragraph(text, "note")), menu="Tools") if blocks else None
    )


def references(data: ReportData) -> Section | None:
    """Return the form of the paper's table 4: undetected by the original reference and by a new one."""
    blocks: list[Block] = [
        _pairs(
            found["references"],
            f"{place}/references",
            ("original", "new"),
            titled("Undetected errors by the original reference and by a new one, in percent", task, data),
        )
        for task, found, place in tasks(data)
        if found["references"]
    ]
    if not blocks:
        return None
    text = (
        "A new reference is another right answer, drawn anew: it differs from the judged answer by more than the error."
    )
    return Section("references", "New references", (*blocks, Paragraph(text, "note")), menu="References")


def _pairs(several: Sequence[Mapping[str, Any]], place: str, names: tuple[str, str], about: str) -> Table:
    rows: list[Sequence[Cell]] = []
    for at, one in enumerate(several):
        where = f"{place}/{at}"
        sides = [percent(one["arms"][name]["undetected"], f"{where}/arms/{name}/undetected") for name in names]
        kept = [percent(one["arms"][name]["equal"], f"{where}/arms/{name}/equal", tone="") for name in names]
        difference = differing(one["differences"][0], f"{where}/differences/0")[2:]
        rows.append([Span(one["model"], "strong"), short(one["evaluator"]), *sides, *difference, *kept])
    columns = [
        Column("judge", numeric=False),
        Column("evaluator", numeric=False),
        *(Column(name, meaning=f"undetected; {LOWER}") for name in names),
        *DIFFERING[2:],
        *(Column(f"score-invariant, {name}", meaning=HIGHER) for name in names),
    ]
    return Table(columns, rows, about)


def _of(name: str) -> str:
    """Return a name that stands for an evaluator or a paradigm as the tables have it."""
    known: Mapping[str, str] = {**{one: short(one) for one in EVALUATORS}, **PARADIGMS}
    return known.get(name, name)


def _effort(name: str) -> str:
    return name or "default"
