"""What a benchmark found: figures with their targets, and the machine that they were measured on."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

Rule = Literal["at least", "at most", "exactly"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure; without a target it is only reported.

    `must` marks a rule that has nothing to do with speed, such as that no call is sent twice: a benchmark that breaks
    one has failed.
    """

    what: str
    value: float
    unit: str = ""
    target: float | None = None
    rule: Rule = "at least"
    must: bool = False

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None where there is none."""
        if self.target is None:
            return None
        if self.rule == "at least":
            return self.value >= self.target
        return self.value <= self.target if self.rule == "at most" else self.value == self.target

    def as_json(self) -> dict[str, Any]:
        """Return the figure for JSON."""
        return {
            "what": self.what,
            "value": self.value,
            "unit": self.unit,
            "target": self.target,
            "rule": self.rule if self.target is not None else None,
            "reached": self.reached,
            "must": self.must,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """A benchmark's figures, and the rows behind them as they were measured."""

    name: str
    figures: tuple[Figure, ...]
    rows: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    machine: Mapping[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether a rule that must hold was broken."""
        return any(figure.must and figure.reached is False for figure in self.figures)

    def as_json(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {
            "benchmark": self.name,
            "figures": [figure.as_json() for figure in self.figures],
            "rows": [dict(row) for row in self.rows],
            "notes": list(self.notes),
            "seconds": round(self.seconds, 1),
            "machine": dict(self.machine),
        }


def figure_of(read: Mapping[str, Any]) -> Figure:
    """Return a figure as it was before it became JSON."""
    return Figure(
        what=read["what"],
        value=read["value"],
        unit=read["unit"],
        target=read["target"],
        rule=read["rule"] or "at least",
        must=read["must"],
    )


def machine() -> dict[str, Any]:
    """Return what the figures depend on: processor, cores, memory, system, Python, and how busy the machine is."""
    with open("/proc/cpuinfo") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def machine_line(found: Mapping[str, Any]) -> str:
    """Return the machine in one line."""
    return (
        f"{found['processor']}, {found['cores']} cores, {found['memory_gib']} GiB, {found['system']}, "
        f"Python {found['python']}; load before: {found['load_before']}"
    )


def number(value: float) -> str:
    """Return a figure with as many digits as say something."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    for limit, digits in ((100, 0), (10, 1), (1, 2)):
        if abs(value) >= limit:
            return f"{value:,.{digits}f}"
    return f"{value:.3g}"


def print_report(report: Report, *, console: Console | None = None) -> None:
    """Print a report: the rows as they were measured, then the figures with their targets."""
    console = console or Console()
    if report.rows:
        console.print(_rows_table(report.rows))
    console.print(figures_table([(report.name, figure) for figure in report.figures]))
    for note in report.notes:
        console.print(f"  {note}", style="dim", highlight=False)
    console.print(f"  {machine_line(report.machine)}; took {report.seconds:.0f} s", style="dim", highlight=False)


def figures_table(figures: Sequence[tuple[str, Figure]]) -> Table:
    """Return a table of benchmark, figure, target, measured value and whether it is reached."""
    table = Table(box=SIMPLE, pad_edge=False)
    for name in ("benchmark", "what"):
        table.add_column(name)
    for name in ("target", "measured"):
        table.add_column(name, justify="right")
    table.add_column("reached")
    said = {None: "", True: "yes", False: "[red]no[/red]"}
    signs = {"at least": "≥ ", "at most": "≤ ", "exactly": ""}
    for name, figure in figures:
        unit = f" {figure.unit}" if figure.unit else ""
        target = "" if figure.target is None else f"{signs[figure.rule]}{number(figure.target)}{unit}"
        table.add_row(name, figure.what, target, f"{number(figure.value)}{unit}", said[figure.reached])
    return table


def rss_mb() -> float:
    """Return this process's resident memory in MB (10⁶ bytes)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak_rss_mb() -> float:
    """Return the most resident memory that this process has had, in MB (10⁶ bytes)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError("/proc/self/status says nothing of VmHWM")


def _rows_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        numeric = all(isinstance(row.get(name, 0), int | float) for row in rows)
        table.add_column(name.replace("_", " "), justify="right" if numeric else "left")
    for row in rows:
        cells = [row.get(name, "") for name in names]
        table.add_row(*(number(cell) if isinstance(cell, int | float) else str(cell) for cell in cells))
    return table
