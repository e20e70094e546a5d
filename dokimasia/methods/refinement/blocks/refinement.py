"""What the models mended of their failures: the paper's table, gains over retry and again, what was said and let out."""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

from dokimasia.methods.refinement.blocks.cells import (
    gain_cells,
    gain_of,
    limits_cell,
    named,
    of,
    rate_cell,
    share_cell,
    sure,
)
from dokimasia.methods.refinement.blocks.headline import mended, options, taken
from dokimasia.methods.refinement.blocks.paper import paper
from dokimasia.methods.refinement.feedback import unlooked
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Bullets, Cell, Chart, Column, Fold, Only, Paragraph, Section, Span, Table
from dokimasia.report.charts import Point, interval_chart, intervals_said
from dokimasia.report.data import ReportData


def section(data: ReportData) -> Section:
    """Return the figures of a refinement."""
    summary = data.summary
    blocks: list[Block] = [Paragraph(_lead(summary), "lead")]
    if summary["failed"]:
        blocks += [*taken(summary), mended(summary), Paragraph(_TABLE, "note"), *_gains(summary), *options(summary)]
        blocks += [_arms(summary), Paragraph(_ARMS, "note"), *_apart(summary)]
        folds = (Fold("By category, in the form of ATOM's Table 4", tuple(paper(summary))), *_capabilities(summary))
        blocks.append(Only("page", folds))
        if data.planted is not None:
            blocks.append(planted(summary, data.planted))
        blocks.append(Bullets(_said(summary)))
    return Section("refinement", "What was mended", blocks, menu="Refinement")


_TABLE = (
    "Accuracy is the share of these answers that came out right; before it is 0 where answers were taken up because they "
    "were wrong. Atoms spoken to are those on which the answer says anything before and after, so that what a model only "
    "says more is no gain; their score, 1 to 5, is compared on the same atoms. Gains are paired: every arm took up the same "
    "answers, in the same words but for the feedback. 95 % intervals, clustered by samples that share an image; a gain "
    "in bold: adjusted p at most 0.05 (Benjamini and Hochberg, over all models and comparisons of a measure)."
)
_ARMS = (
    "Known: answers with a verdict. Solved: of the atoms that had failed, those that are now scored 4 or above, apart for "
    "those that a feedback may name and those that were withheld from it by chance. Spoilt: of the atoms that were solved, "
    "those that now fail. In the row of the original answer nothing but the judge's second look made the difference. Calls "
    "and dollars a repair: all that the arm used, judging included, by the answers that came out right."
)


def _lead(summary: Mapping[str, Any]) -> Cell:
    why = (
        "because their final answer is wrong"
        if summary["threshold"] is None
        else f"because they score below {summary['threshold']:g}, right or wrong"
    )
    if not summary["failed"]:
        return _nothing(summary)
    rounds = "one round" if summary["rounds"] == 1 else f"at most {summary['rounds']} rounds"
    seen = "without seeing them" if summary["hide_answer"] else "each model seeing its own"
    form = " Feedback has the published form." if summary["protocol"] == "published" else ""
    return (
        figures.count(summary["failed"], "/failed", tone="strong"),
        f" answers of run {summary['source']} were taken up {why}, in every arm the same ones, {seen}, in {rounds}; of two "
        f"failed atoms or more that can be fed back {summary['withhold']:.0%} were withheld from all feedback.{form}",
    )


def _nothing(summary: Mapping[str, Any]) -> str:
    """Say why no answer was taken up, and what would have taken some up."""
    models = summary["models"].values()
    count = figures.several(sum(model["answers"] for model in models), "answer")
    answered = sum((Counter(model["answered"]) for model in models), Counter[str]())
    final = f"of {count} {figures.counts(dict(sorted(answered.items())))} by the final answer"
    left = sum(model["left_out"]["answers"] for model in models)
    if not left:
        way = "" if summary["threshold"] is not None else ". --threshold 4 takes up answers by their score"
        return f"No answer failed: there was nothing to refine ({final}){way}."
    why = sum((Counter(model["left_out"]["atoms"]) for model in models), Counter[str]())
    reasons = f" (failed atoms by why not: {figures.counts(dict(sorted(why.items())))})" if why else " (no atom failed)"
    return (
        f"{figures.several(left, 'answer')} failed, and none had a point that may be fed back{reasons}: there was nothing to "
        f"refine ({final}). --strategy retry, which names no point, takes such answers up."
    )


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
                measured = (Span(shown(one[key]), "strong"), Span(f" {figures.bracketed(one, shown)}", "muted"))
            rows.append([Span(name, "strong"), label, measured, *figures.within(truth, *limits, shown(truth))])
    columns = (*named("model", "figure"), Column("accuracy, measured"), Column("planted"), Column("within"))
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
            accuracy = gain_cells(gain_of(found), "", percent=True)
            atoms = [
                gain_cells(gain_of(measures[measure]), f"{place}/{measure}/difference", percent=False)[0]
                for measure in ("spoken", "shown", "withheld")
            ]
            withheld = of(measures["withheld"]["n_paired"], measures["withheld"]["n"])
            pairs = of(found["n_paired"], found["n"])
            rows.append([Span(name, "strong"), gain, pairs, *accuracy, *atoms, withheld])
    if not rows:
        return []
    columns = [
        *named("model", "gain"),
        Column("pairs"),
        Column("accuracy"),
        Column("adjusted p", meaning="of accuracy"),
    ]
    columns += [Column(title) for title in ("atoms spoken to", "shown atoms", "withheld atoms")]
    columns.append(Column("pairs with withheld", meaning="of how many answers atoms are withheld"))
    table = Table(columns, rows, "Gains of every arm over its controls, with 95 % intervals")
    if not points:
        return [table]
    chart = interval_chart(points, title="gain in accuracy, percentage points", scale=None, zero=True)
    signs = f"dotted: what failures leave open; filled: adjusted p at most {figures.SURE}"
    about = f"Gains in accuracy {intervals_said(points)}; {signs}"
    return [Chart(chart, about), table]


def _arms(summary: Mapping[str, Any]) -> Table:
    columns = (
        *named("model", "strategy"),
        Column("known"),
        Column("accuracy bounds", meaning="if every answer without a verdict were wrong, or right", only="page"),
        Column("solved, shown"),
        Column("solved, withheld"),
        Column("spoilt"),
        Column("calls", only="page"),
        Column("calls a repair"),
        Column("cost a repair"),
        *named("failed"),
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
                    limits_cell(one["bounds"], f"{place}/bounds", percent=True),
                    share_cell(one["shown"]["solved"], f"{place}/shown/solved"),
                    share_cell(one["withheld"]["solved"], f"{place}/withheld/solved"),
                    share_cell(one["spoilt"], f"{place}/spoilt"),
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
            rate_cell(
                one["accuracy"], figures.pointer("models", name, "apart", before, "arms", arm, "accuracy", "share")
            ),
            limits_cell(one["accuracy"], "", percent=True),
        ]
        for name, model in summary["models"].items()
        for before, part in model.get("apart", {}).items()
        for arm, one in part["arms"].items()
    ]
    if not rows:
        return []
    columns = [*named("model", "before", "strategy"), *map(Column, ("known", "right after", "95 % interval"))]
    return [
        Paragraph(
            "Answers that were taken up for their score, apart by what their final answer was before; what was right is "
            "counted here alone:"
        ),
        Table(columns, rows, "Accuracy by what the final answer was before"),
    ]


def _capabilities(summary: Mapping[str, Any]) -> list[Block]:
    """The leaves of the tree that anything failed at, folded away since they are many."""
    rows: list[list[Cell]] = []
    for name, model in summary["models"].items():
        for leaf, part in model.get("by_capability", {}).items():
            place = figures.pointer("models", name, "by_capability", leaf)
            cells: list[Cell] = [
                share_cell(part["arms"][arm]["atoms"]["solved"], f"{place}/arms/{arm}/atoms/solved")
                for arm in summary["arms"][1:]
            ]
            gains: list[Cell] = []
            for arm in ("self", "peer"):
                gained = gain_of(part["gains"].get(f"{arm} over retry", {}).get("atoms"))
                gains += gain_cells(gained, f"{place}/gains/{arm} over retry/atoms/difference", percent=False)
            where = leaf.strip("<>").split("><")
            label = f"{where[-1]} ({where[0]})"
            rows.append([Span(name, "strong"), label, figures.count(part["n"], f"{place}/n"), *cells, *gains])
    if not rows:
        return []
    columns = [*named("model", "capability"), Column("answers")]
    columns += [Column(f"solved, {arm}") for arm in summary["arms"][1:]]
    for arm in ("self", "peer"):
        columns += [Column(f"{arm} over retry", meaning="with its 95 % interval"), Column("adjusted p")]
    title = f"By capability, on the tree {summary['tree']} ({figures.several(len(rows), 'row')})"
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
        lines.append((Span(arm, "strong"), f": {figures.several(one['points'], 'point')}{hinted}"))
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


def _point(label: str, found: Mapping[str, Any]) -> Point:
    gap, bounds = found["difference"], found["bounds"]
    open_ends = (100 * bounds["low"], 100 * bounds["high"]) if found["n_paired"] < found["n"] else None
    low, high = (None if gap[end] is None else 100 * gap[end] for end in ("low", "high"))
    return Point(label, 100 * gap["mean"], low, high, open_ends, hollow=not sure(found))
