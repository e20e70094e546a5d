"""What the models mended of their failures: the paper's table, gains over retry and again, what was said and let out."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from dokimasia.methods.refinement.feedback import unlooked
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Chart, Column, Fold, Only, Paragraph, Section, Span, Table
from dokimasia.report.charts import Point, interval_chart
from dokimasia.report.data import ReportData


def section(data: ReportData) -> Section:
    """Return the figures of a refinement."""
    summary = data.summary
    blocks: list[Block] = [Paragraph(_lead(summary), "lead")]
    if summary["failed"]:
        blocks += [*paper(summary), Paragraph(_TABLE, "note"), *_gains(summary), _arms(summary)]
        blocks += [Only("page", (Paragraph(_ARMS, "note"),)), *_apart(summary), *_capabilities(summary)]
        if data.planted is not None:
            blocks.append(planted(summary, data.planted))
        blocks.append(Bullets(_said(summary)))
    return Section("refinement", "What was mended", blocks, menu="Refinement")


_TABLE = (
    "Accuracy is the share of these answers that came out right, the atom score the mean score of their criteria, 1 to 5. "
    "Before, accuracy is 0 where answers were taken up because they were wrong. Gains are paired: every arm took up the "
    "same answers. 95 % intervals, clustered by samples that share an image; bold: adjusted p at most 0.05 (Benjamini and "
    "Hochberg, over all models and comparisons of a measure)."
)
_ARMS = (
    "Known: answers with a verdict. Solved: of the atoms that had failed, those that are now scored 4 or above, apart for "
    "those that a feedback may name and those that were withheld from it. Spoilt: of the atoms that were solved, those that "
    "now fail. In the row of the original answer nothing but the judge's second look made the difference. Calls and "
    "dollars a repair: all that the arm used, judging included, by the answers that came out right."
)


def _lead(summary: Mapping[str, Any]) -> Cell:
    why = (
        "because their final answer is wrong"
        if summary["threshold"] is None
        else f"because they score below {summary['threshold']:g}, right or wrong"
    )
    if not summary["failed"]:
        return "No answer failed: there was nothing to refine."
    rounds = "one round" if summary["rounds"] == 1 else f"at most {summary['rounds']} rounds"
    return (
        figures.count(summary["failed"], "/failed", tone="strong"),
        f" answers of run {summary['source']} were taken up {why}, in every arm the same ones, in {rounds}; "
        f"{summary['withhold']:.0%} of the failed atoms were withheld from all feedback.",
    )


def paper(summary: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the paper's table for each model: strategies and measures down, categories across."""
    table: Mapping[str, Any] = summary["table"]
    columns = [
        *_named("strategy"),
        Column("measure", numeric=False, meaning="accuracy, or the mean atom score from 1 to 5"),
        *(Column(name) for name in table["columns"]),
        Column("average", meaning="with its 95 % interval"),
        Column("n", meaning="answers; where some have no verdict or score, those that have one of all"),
        Column("gain over retry", meaning="on the same answers, with its 95 % interval"),
    ]
    for name, model in summary["models"].items():
        rows = [_strategy(number, one) for number, one in enumerate(table["rows"]) if one["model"] == name]
        if model["failed"]:
            final = figures.counts(model["answered"])
            taken = f": {model['failed']:,} of {model['answers']:,} answers taken up (final answers: {final})"
            yield Paragraph((Span(name, "strong"), taken))
            yield Table(columns, rows, f"Correction of {name}'s initially failed answers by strategy and category")


def _strategy(number: int, one: Mapping[str, Any]) -> list[Cell]:
    place, average = f"/table/rows/{number}", one["average"]
    percent = one["measure"] == "accuracy"
    return [
        one["strategy"] if percent else Span(one["strategy"], "muted"),
        "accuracy" if percent else Span("atoms", "muted"),
        *(_value(cell, f"{place}/cells{figures.pointer(name)}/value", percent) for name, cell in one["cells"].items()),
        (
            *_pieces(_value(average, f"{place}/average/value", percent)),
            *_beside(_limits(average, f"{place}/average", percent)),
        ),
        figures.NOTHING if average is None else _of(average["n_known"], average["n"]),
        _gain_cells(one["gain"], f"{place}/gain", percent)[0],
    ]


def planted(summary: Mapping[str, Any], expected: Mapping[str, Mapping[str, float]]) -> Table:
    """Return accuracies and gains beside what planted parameters make expected, and whether the interval has it."""
    rows: list[list[Cell]] = []
    for name, rates in expected.items():
        model = summary["models"].get(name)
        if model is None or not model["failed"]:
            continue
        found = [(arm, model["arms"][arm]["accuracy"], "share", rates[arm]) for arm in rates if arm in model["arms"]]
        for gain, one in model["gains"].items():
            arm, _, control = gain.partition(" over ")
            found.append((gain, one["accuracy"]["difference"], "mean", rates[arm] - rates[control]))
        for label, one, key, truth in found:
            shown = partial(_percent, signed=key == "mean")
            limits, measured = (None, None), figures.NOTHING
            if one:
                limits = (one["low"], one["high"])
                low, high = map(shown, limits)
                measured = (Span(shown(one[key]), "strong"), Span(f"  [{low}, {high}]", "muted"))
            rows.append([Span(name, "strong"), label, measured, *figures.within(truth, *limits, shown(truth))])
    columns = (*_named("model", "figure"), Column("accuracy, measured"), Column("planted"), Column("within"))
    return Table(columns, rows, "Accuracy on failed answers, measured and planted")


def _percent(value: float, *, signed: bool) -> str:
    return f"{figures.signed_text(100 * value, 1)} %" if signed else f"{100 * value:.1f} %"


def _gains(summary: Mapping[str, Any]) -> list[Block]:
    rows: list[list[Cell]] = []
    points: list[Point] = []
    for name, model in summary["models"].items():
        for gain, measures in model["gains"].items():
            found = measures["accuracy"]
            if found["difference"] is not None:
                points.append(_point(f"{name}: {gain}", found))
            place = figures.pointer("models", name, "gains", gain)
            cells: list[Cell] = []
            for measure in ("accuracy", "shown", "withheld"):
                gained = _gained(measures[measure])
                cells += _gain_cells(gained, f"{place}/{measure}/difference", percent=measure == "accuracy")
            rows.append([Span(name, "strong"), gain, f"{found['n_paired']}/{found['n']}", *cells])
    if not rows:
        return []
    columns = [*_named("model", "gain"), Column("pairs")]
    for title in ("accuracy", "shown atoms", "withheld atoms"):
        columns += [Column(title, meaning="with its 95 % interval"), Column("adjusted p")]
    table = Table(columns, rows, "Gains of every arm over its controls")
    if not points:
        return [table]
    chart = interval_chart(points, title="gain in accuracy, percentage points", scale=None, zero=True)
    about = f"Gains in accuracy with 95 % intervals; dotted: what failures leave open; filled: adjusted p at most {figures.SURE}"
    return [Chart(chart, about), table]


def _arms(summary: Mapping[str, Any]) -> Table:
    columns = (
        *_named("model", "strategy"),
        Column("known"),
        Column("accuracy bounds", meaning="if every answer without a verdict were wrong, or right", only="page"),
        Column("solved, shown"),
        Column("solved, withheld"),
        Column("spoilt"),
        Column("calls", only="page"),
        Column("calls a repair"),
        Column("cost a repair"),
        *_named("failed"),
    )
    rows: list[list[Cell]] = []
    for name, model in summary["models"].items():
        for arm, one in model["arms"].items():
            place = figures.pointer("models", name, "arms", arm)
            each: Mapping[str, Any] = one.get("per_repaired") or {"calls": None, "cost": None}
            rows.append(
                [
                    Span(name, "strong"),
                    arm,
                    (figures.count(one["n_known"], f"{place}/n_known"), "/", figures.count(one["n"], f"{place}/n")),
                    _limits(one["bounds"], f"{place}/bounds", percent=True),
                    _share(one["shown"]["solved"], f"{place}/shown/solved"),
                    _share(one["withheld"]["solved"], f"{place}/withheld/solved"),
                    _share(one["spoilt"], f"{place}/spoilt"),
                    figures.count(one["calls"], f"{place}/calls") if "calls" in one else figures.NOTHING,
                    figures.NOTHING if each["calls"] is None else f"{each['calls']['mean']:.1f}",
                    figures.NOTHING if each["cost"] is None else figures.cost(each["cost"]["mean"]),
                    figures.failures(one["failures"], f"{place}/failures"),
                ]
            )
    return Table(columns, rows, "What each arm mended, spoilt and used")


def _apart(summary: Mapping[str, Any]) -> list[Block]:
    rows: list[list[Cell]] = [
        [
            Span(name, "strong"),
            before,
            arm,
            f"{one['n_known']}/{one['n']}",
            figures.share(
                one["accuracy"] and one["accuracy"]["share"],
                figures.pointer("models", name, "apart", before, "arms", arm, "accuracy", "share"),
            ),
            _limits(one["accuracy"], "", percent=True),
        ]
        for name, model in summary["models"].items()
        for before, part in model.get("apart", {}).items()
        for arm, one in part["arms"].items()
    ]
    if not rows:
        return []
    columns = [*_named("model", "before", "strategy"), *map(Column, ("known", "right after", "95 % interval"))]
    return [
        Paragraph("Answers that were taken up for their score, apart by what their final answer was before:"),
        Table(columns, rows, "Accuracy by what the final answer was before"),
    ]


def _capabilities(summary: Mapping[str, Any]) -> list[Block]:
    """The leaves of the tree that anything failed at, folded away since they are many."""
    rows: list[list[Cell]] = []
    for name, model in summary["models"].items():
        for leaf, part in model.get("by_capability", {}).items():
            place = figures.pointer("models", name, "by_capability", leaf)
            cells: list[Cell] = [
                _share(part["arms"][arm]["atoms"]["solved"], f"{place}/arms/{arm}/atoms/solved")
                for arm in summary["arms"][1:]
            ]
            gains: list[Cell] = []
            for arm in ("self", "peer"):
                gained = _gained(part["gains"].get(f"{arm} over retry", {}).get("atoms"))
                gains += _gain_cells(gained, f"{place}/gains/{arm} over retry/atoms/difference", percent=False)
            where = leaf.strip("<>").split("><")
            label = f"{where[-1]} ({where[0]})"
            rows.append([Span(name, "strong"), label, figures.count(part["n"], f"{place}/n"), *cells, *gains])
    if not rows:
        return []
    columns = [*_named("model", "capability"), Column("answers")]
    columns += [Column(f"solved, {arm}") for arm in summary["arms"][1:]]
    for arm in ("self", "peer"):
        columns += [Column(f"{arm} over retry", meaning="with its 95 % interval"), Column("adjusted p")]
    title = f"By capability, on the tree {summary['tree']} ({len(rows)} rows)"
    placed = [model["placed"] for model in summary["models"].values()]
    note = (
        f"The tree has a place for {sum(one['on_the_tree'] for one in placed)} of the "
        f"{sum(one['failed_atoms'] for one in placed)} atoms that had failed; its categories, in the table above, speak of "
        "these. Solved: of those at the node. Gains are of the mean atom score there, in points."
    )
    return [Fold(title, (Paragraph(note, "note"), Table(columns, rows, "Atoms mended by capability")))]


def _said(summary: Mapping[str, Any]) -> list[Cell]:
    lines: list[Cell] = []
    for arm, one in summary["hints"].items():
        fallbacks = "".join(f", {count} without a hint ({kind})" for kind, count in one["fallbacks"].items())
        hinted = f", {one['hinted']} with a hint{fallbacks}" if arm == "peer" else ""
        lines.append((Span(arm, "strong"), f": {one['points']} points{hinted}; {one['dropped']} left out"))
    leaks: Mapping[str, Any] = summary["leaks"]
    for kind in ("questions", "hints", "rewritings"):
        one = leaks[kind]
        if one["n"]:
            place = figures.pointer("leaks", kind)
            lines.append(
                (
                    f"{kind.capitalize()} found to leak before they were sent: ",
                    figures.count(one["k"], f"{place}/k"),
                    " of ",
                    figures.count(one["n"], f"{place}/n"),
                    ", ",
                    figures.share(one["share"], f"{place}/share"),
                    "; at most ",
                    figures.share(one["high"], f"{place}/high"),
                    " (95 %, Clopper and Pearson).",
                )
            )
    lines += unlooked(leaks)
    steady = summary["judge_steadiness"]
    if steady["share"] is not None:
        lines.append(
            (
                "Asked again about the same answer, the judge turned ",
                figures.count(steady["turned"], "/judge_steadiness/turned"),
                " of ",
                figures.count(steady["n"], "/judge_steadiness/n"),
                " atoms between solved and failed, ",
                figures.share(steady["share"]["share"], "/judge_steadiness/share/share"),
                f" ({steady['share']['low']:.1%} to {steady['share']['high']:.1%}): "
                "so much of what moves is the judge's own doing.",
            )
        )
    return lines


def _named(*titles: str) -> list[Column]:
    return [Column(title, numeric=False) for title in titles]


def _of(known: int, n: int) -> str:
    return str(n) if known == n else f"{known}/{n}"


def _point(label: str, found: Mapping[str, Any]) -> Point:
    gap, bounds = found["difference"], found["bounds"]
    open_ends = (100 * bounds["low"], 100 * bounds["high"]) if found["n_paired"] < found["n"] else None
    return Point(label, 100 * gap["mean"], 100 * gap["low"], 100 * gap["high"], open_ends, hollow=not _sure(found))


def _sure(gain: Mapping[str, Any]) -> bool:
    return gain["adjusted"] is not None and gain["adjusted"] <= figures.SURE


def _gained(one: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return {**one["difference"], "adjusted": one["adjusted"]} if one and one["difference"] else None


def _value(cell: Mapping[str, Any] | None, place: str, percent: bool) -> Cell:
    if cell is None or cell["value"] is None:
        return figures.NOTHING
    value = cell["value"]
    return (
        Span(f"{100 * value:.1f} %", "", place, value) if percent else figures.score(value, place, tone="", tinted=True)
    )


def _limits(found: Mapping[str, Any] | None, place: str, percent: bool) -> Cell:
    if found is None or found["low"] is None:
        return figures.NOTHING
    if not percent:
        return figures.interval(found, place)
    return f"{100 * found['low']:.0f} – {100 * found['high']:.0f} %"


def _gain_cells(gain: Mapping[str, Any] | None, place: str, percent: bool) -> list[Cell]:
    if gain is None:
        return [figures.NOTHING] * 2
    unit, digits = (100, 1) if percent else (1, 2)
    mean, low, high = (
        Span(
            figures.signed_text(unit * gain[name], digits),
            "strong" if name == "mean" and _sure(gain) else "",
            "" if percent else f"{place}/{name}",
            gain[name],
        )
        for name in ("mean", "low", "high")
    )
    return [(mean, *_beside((low, ", ", high))), figures.p_value(gain["adjusted"])]


def _beside(limits: Cell) -> tuple[str | Span, ...]:
    """An interval in brackets after the figure that it belongs to; nothing where there is none."""
    if limits is figures.NOTHING:
        return ()
    pieces = (piece if isinstance(piece, Span) else Span(piece) for piece in _pieces(limits))
    return (Span("  [", "muted"), *(replace(piece, tone="muted") for piece in pieces), Span("]", "muted"))


def _pieces(cell: Cell) -> tuple[str | Span, ...]:
    return cell if isinstance(cell, tuple) else (cell,)


def _share(one: Mapping[str, Any], place: str) -> Cell:
    if one["share"] is None:
        return figures.NOTHING
    return (figures.share(one["share"], f"{place}/share"), Span(f" of {one['n']}", "muted"))
