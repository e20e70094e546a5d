"""The demo's diagnosis: leaves that are marked beside the planted skill, and what of a careless writer is not verified."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dokimasia.cli.demo.tree import planted_skill, planted_steps
from dokimasia.cli.shared import shown_path

if TYPE_CHECKING:
    from dokimasia.report.blocks import Block
    from dokimasia.settings import Settings
    from dokimasia.simulation.scene import Question, Scene

WRITER = "sim/judge-fabulist"
SIGNS = 110


def diagnosis_step(
    settings: "Settings",
    run: str,
    pairs: "Sequence[tuple[Scene, Question]]",
    *,
    models: Sequence[str],
    as_json: bool,
) -> dict[str, Any]:
    """Diagnose the run, have a writer that is planted to err put it into words, print both, and return the figures.

    Beside each leaf where a model is significantly worse than the others stand its mean planted skill there, and theirs.
    """
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.diagnosis import WordsRequest, write_diagnosis
    from dokimasia.report.blocks import Paragraph, Span
    from dokimasia.simulation.profiles import as_judge, find_profile

    request = WordsRequest(run=run, judge=WRITER)
    result = run_to_end(partial(write_diagnosis, request), settings, method="diagnosis")
    marked = _marked(settings, run, pairs, models)
    profile = as_judge(find_profile(WRITER))
    planted = profile.misreports + profile.untested + profile.invents
    if not as_json:
        closer = Paragraph(
            ("look closer: ", Span(f"dokimasia diagnose {run} --home {shown_path(settings.home)}\n", "code"))
        )
        print_blocks([*_marked_blocks(marked), *_words(result.summary, planted), closer])
    return {"words": result.summary, "marked": marked, "planted_share_of_wrong_sentences": planted}


def _marked(
    settings: "Settings", run: str, pairs: "Sequence[tuple[Scene, Question]]", models: Sequence[str]
) -> list[dict[str, Any]]:
    """Return every leaf at which a model is significantly better or worse than the others, with the planted skills there."""
    from dokimasia.methods.diagnosis.tables import stored_diagnosis
    from dokimasia.methods.tree import load_tree, members_below
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    with Home.open(settings.home, write=False) as home:
        diagnosis = stored_diagnosis(home, get_run(home, run))
        if diagnosis is None or not diagnosis.tree:
            return []
        loaded = load_tree(home, f"{diagnosis.tree}@{diagnosis.position}")
    below = members_below(loaded.tree)
    steps = planted_steps(pairs, loaded.criteria)
    found: list[dict[str, Any]] = []
    contrasts = diagnosis.asset("contrasts")
    for row in contrasts.rows if contrasts else ():
        if row.mark not in ("better", "worse"):
            continue
        skills = {name: planted_skill(name, below[row.node], steps) for name in models}
        others = [skill for name, skill in skills.items() if name != row.model]
        _, leaf, gap = row.cells[:3]
        found.append(
            {
                "model": row.model,
                "node": row.node,
                "leaf": leaf.value,
                "mark": row.mark,
                "difference": gap.value,
                "low": gap.low,
                "high": gap.high,
                "no_interval": gap.no_interval,
                "planted": {"here": skills[row.model], "others": round(sum(others) / len(others), 4)},
            }
        )
    return found


def _marked_blocks(marked: Sequence[Mapping[str, Any]]) -> "Iterator[Block]":
    """Yield the leaves where a model is worse than the others, with the planted skills."""
    from dokimasia.report import figures
    from dokimasia.report.blocks import Cell, Column, Paragraph, Span, Table

    worse = [one for one in marked if one["mark"] == "worse"]
    rows: list[list[Cell]] = [
        [
            one["model"],
            one["leaf"],
            Span(figures.signed_text(one["difference"], 0), "strong"),
            figures.interval(one, signed=True, digits=0),
            f"{one['planted']['here']:.2f}, {one['planted']['others']:.2f}",
        ]
        for one in worse
    ]
    titles = ("against the others", "95 %", "planted skill: its own, the others'")
    columns = [Column(title, numeric=False) for title in ("model", "leaf")] + [Column(title) for title in titles]
    if worse:
        yield Paragraph(Span("leaves where a model is significantly worse than the others", "strong"))
        yield Table(columns, rows, "Leaves where a model is significantly worse than the others")
    else:
        yield Paragraph("no model is significantly worse than the others at any leaf: the sample is small")
    right = sum((one["planted"]["here"] < one["planted"]["others"]) == (one["mark"] == "worse") for one in marked)
    marks = f"of {len(marked)} leaves marked better or worse, {right} go the way that is planted"
    yield Paragraph(f"points of 100; {marks}.", "note")


def _words(summary: Mapping[str, Any], planted: float) -> "Iterator[Block]":
    """Yield what a writer that is planted to err got wrong, with a sentence that stands and one that is struck."""
    from dokimasia.report.blocks import Paragraph, Span

    totals = summary["totals"]
    yield Paragraph(
        (
            Span("In words", "strong"),
            f", by {summary['judge']}, which is planted to get {planted:.0%} of its sentences wrong: "
            f"{totals['unverified_at_first']} were unverified at first; sent back once, {totals['unverified']} of "
            f"{totals['sentences']} still are. Figures and comparisons are printed by the program.",
        )
    )
    sentences = [one for report in summary["reports"] for one in report["sentences"]]
    for one in [one for one in sentences if not one["faults"]][:1]:
        yield Paragraph((Span("verified", "good"), f"  {one['text']}"))
    for one in [one for one in sentences if one["faults"]][:1]:
        reason = one["faults"][0]["reason"][:SIGNS]
        yield Paragraph((Span("unverified", "bad"), f"  {one['text']} ", Span(f"({reason})", "muted")))
