"""A refinement's figures on the terminal: the paper's table, gains over retry and again, and what each arm did and cost."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from dokimasia.methods.refinement.feedback import unlooked
from dokimasia.cli.tables import cost_text

NOTHING = "–"
SURE = 0.05
MINUS = "\N{MINUS SIGN}"
WIDTH = 6

Planted = Mapping[str, Mapping[str, float]]
"""The planted accuracy by model and arm, 0 to 1."""


def category_tables(summary: Mapping[str, Any]) -> list[Table]:
    """Return a table a model: strategies by category, accuracy in percent above, mean atom score (1 to 5) below."""
    columns: Sequence[str] = summary["table"]["columns"]
    rows: Sequence[Mapping[str, Any]] = summary["table"]["rows"]
    tables: list[Table] = []
    for name, model in summary["models"].items():
        if not model["failed"]:
            continue
        table = _table(f"{name}: {model['failed']} of {model['answers']} answers taken up")
        mine = [row for row in rows if row["model"] == name]
        table.add_column("strategy\n\nn", no_wrap=True)
        for column in columns:
            cell = mine[0]["cells"][column]
            table.add_column(f"{_header(column)}\n{cell['n'] if cell else 0}", justify="right", no_wrap=True)
        table.add_column(f"average\n\n{model['failed']}", no_wrap=True)
        table.add_column("gain over retry", no_wrap=True)
        for above, below in zip(mine[::2], mine[1::2], strict=True):
            table.add_row(
                above["strategy"],
                *(_both(above["cells"][column], below["cells"][column]) for column in columns),
                _lines(_percent(above["average"], interval=True), _score(below["average"], interval=True)),
                _lines(_gain(above["gain"], 100, 1), _gain(below["gain"], 1, 2)) if above["gain"] else NOTHING,
            )
        tables.append(table)
    return tables


def gains_tables(summary: Mapping[str, Any]) -> list[Table]:
    """Return a table a model with the gains of every arm over its controls: accuracy, shown and withheld atoms."""
    tables: list[Table] = []
    for name, model in summary["models"].items():
        if not model["gains"] or not model["failed"]:
            continue
        table = _table(f"{name}: gains on the same answers, 95 % intervals; * adjusted p at most {SURE}")
        table.add_column("gain", no_wrap=True)
        table.add_column("pairs", justify="right", no_wrap=True)
        for column in ("accuracy, points", "shown atoms", "withheld atoms"):
            table.add_column(column, no_wrap=True)
        for gain, one in model["gains"].items():
            accuracy = one["accuracy"]
            table.add_row(
                gain,
                f"{accuracy['n_paired']}/{accuracy['n']}",
                _difference(accuracy, 100, 1),
                _difference(one["shown"], 1, 2),
                _difference(one["withheld"], 1, 2),
            )
        tables.append(table)
    return tables


def arms_table(summary: Mapping[str, Any]) -> Table:
    """Return what each arm mended, spoilt and cost."""
    table = _table("what each arm did; original: the same answer, judged a second time")
    table.add_column("model", overflow="fold")
    table.add_column("strategy", no_wrap=True)
    for column in ("known", "solved shown", "solved withheld", "spoilt", "calls a repair", "$ a repair"):
        table.add_column(column, justify="right")
    table.add_column("failed", overflow="fold")
    for name, model in summary["models"].items():
        for number, (arm, one) in enumerate(model["arms"].items()):
            each: Mapping[str, Any] = one.get("per_repaired") or {"calls": None, "cost": None}
            failures = ", ".join(f"{count} {kind}" for kind, count in one["failures"].items())
            table.add_row(
                name if not number else "",
                arm,
                f"{one['n_known']}/{one['n']}",
                _share(one["shown"]["solved"]),
                _share(one["withheld"]["solved"]),
                _share(one["spoilt"]),
                NOTHING if each["calls"] is None else f"{each['calls']['mean']:.1f}",
                NOTHING if each["cost"] is None else cost_text(each["cost"]["mean"]),
                Text(failures, style="red") if failures else NOTHING,
            )
    return table


def apart_table(summary: Mapping[str, Any]) -> Table | None:
    """Return the arms' accuracies apart by what the final answer was before; None where all were wrong."""
    table = _table("taken up for a low score, by whether the final answer was right before")
    for column in ("model", "before", "strategy"):
        table.add_column(column, overflow="fold")
    table.add_column("known", justify="right")
    table.add_column("right after", no_wrap=True)
    for name, model in summary["models"].items():
        for before, part in model.get("apart", {}).items():
            for number, (arm, one) in enumerate(part["arms"].items()):
                first = number == 0
                shown = _percent(
                    {**(one["accuracy"] or {}), "value": (one["accuracy"] or {}).get("share")}, interval=True
                )
                table.add_row(
                    name if first else "", before if first else "", arm, f"{one['n_known']}/{one['n']}", shown
                )
    return table if table.row_count else None


def planted_table(summary: Mapping[str, Any], planted: Planted) -> Table:
    """Return accuracies and gains beside what the planted parameters make expected, and whether the interval has it."""
    table = _table("accuracy on failed answers, measured and planted")
    table.add_column("model", overflow="fold")
    for column in ("figure", "measured", "95 % interval"):
        table.add_column(column, no_wrap=True)
    table.add_column("planted", justify="right", no_wrap=True)
    table.add_column("within", justify="center", no_wrap=True)
    for name, expected in planted.items():
        model = summary["models"].get(name)
        if model is None or not model["failed"]:
            continue
        rows = [
            (arm, model["arms"][arm]["accuracy"], "share", expected[arm]) for arm in expected if arm in model["arms"]
        ]
        for gain, one in model["gains"].items():
            arm, _, control = gain.partition(" over ")
            rows.append((gain, one["accuracy"]["difference"], "mean", expected[arm] - expected[control]))
        for number, (label, found, key, truth) in enumerate(rows):
            signed = key == "mean"
            cells: tuple[Text | str, ...] = (NOTHING, NOTHING, _rate(truth, signed=signed), NOTHING)
            if found is not None:
                inside = found["low"] <= truth <= found["high"]
                cells = (
                    _rate(found[key], signed=signed),
                    f"[{_rate(found['low'], signed=signed)}, {_rate(found['high'], signed=signed)}]",
                    _rate(truth, signed=signed),
                    Text("yes", style="green") if inside else Text("NO", style="bold red"),
                )
            table.add_row(name if not number else "", label, *cells)
    return table


def notes(summary: Mapping[str, Any]) -> list[str]:
    """Return sentences on hints, leaks and the judge."""
    lines: list[str] = []
    for name, model in summary["models"].items():
        if "placed" in model:
            placed = model["placed"]
            lines.append(
                f"{name}: the tree {summary['tree']} has a place for {placed['on_the_tree']} of "
                f"{placed['failed_atoms']} failed atoms; its categories speak of these"
            )
    for arm, one in summary["hints"].items():
        fallbacks = "".join(f", {count} without ({kind})" for kind, count in one["fallbacks"].items())
        lines.append(
            f"{arm}: {one['points']} points, {one['hinted']} with a hint, {one['leaking']} found to leak, "
            f"{one['rewritten']} rewritten, {one['dropped']} left out{fallbacks}"
        )
    for kind, one in summary["leaks"].items():
        if isinstance(one, dict) and one.get("n"):
            lines.append(
                f"{kind} found to leak: {one['k']} of {one['n']}, {one['share']:.1%}, at most {one['high']:.1%} "
                f"(95 %: {one['low']:.1%} to {one['high']:.1%})"
            )
    lines += unlooked(summary["leaks"])
    steady = summary["judge_steadiness"]
    if steady["share"] is not None:
        share = steady["share"]
        lines.append(
            f"the judge, asked again about the same answer, turned {steady['turned']} of {steady['n']} atoms between "
            f"solved and failed: {share['share']:.1%} [{share['low']:.1%}, {share['high']:.1%}]"
        )
    return lines


def _table(title: str) -> Table:
    return Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title=title, title_justify="left", title_style="bold"
    )


def _header(name: str) -> str:
    """A column's name on two lines, so that seven columns fit."""
    if len(name) <= WIDTH:
        return f"{name}\n"
    rest = name[WIDTH - 1 :]
    return f"{name[: WIDTH - 1]}-\n{rest if len(rest) <= WIDTH else rest[: WIDTH - 1] + '.'}"


def _both(above: Mapping[str, Any] | None, below: Mapping[str, Any] | None) -> Text | str:
    return NOTHING if above is None and below is None else _lines(_percent(above), _score(below))


def _lines(above: str, below: str) -> Text:
    return Text(above).append(f"\n{below}", style="dim")


def _percent(cell: Mapping[str, Any] | None, *, interval: bool = False) -> str:
    if cell is None or cell["value"] is None:
        return NOTHING
    limits = f" [{100 * cell['low']:.0f}, {100 * cell['high']:.0f}]" if interval else ""
    return f"{cell['value']:.1%}{limits}"


def _score(cell: Mapping[str, Any] | None, *, interval: bool = False) -> str:
    if cell is None or cell["value"] is None:
        return NOTHING
    limits = f" [{cell['low']:.1f}, {cell['high']:.1f}]" if interval else ""
    return f"{cell['value']:.2f}{limits}"


def _gain(gain: Mapping[str, Any] | None, unit: float, digits: int) -> str:
    if gain is None:
        return NOTHING
    mean = _signed(gain["mean"] * unit, digits)
    low, high = (_signed(gain[name] * unit, max(0, digits - 1)) for name in ("low", "high"))
    mark = " *" if gain["adjusted"] is not None and gain["adjusted"] <= SURE else ""
    return f"{mean} [{low}, {high}]{mark}"


def _difference(one: Mapping[str, Any], unit: float, digits: int) -> str:
    if one["difference"] is None:
        return NOTHING
    return _gain({**one["difference"], "adjusted": one["adjusted"]}, unit, digits)


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", MINUS)


def _rate(value: float, *, signed: bool) -> str:
    return f"{_signed(100 * value, 1)}%" if signed else f"{value:.1%}"


def _share(one: Mapping[str, Any]) -> str:
    return NOTHING if one["share"] is None else f"{one['share']:.0%} of {one['n']}"
