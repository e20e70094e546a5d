"""The demo's diagnosis: leaves that are marked beside the planted skill, and what of a careless writer is not verified."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dokimasia.cli.demo_tree import planted_capabilities
from dokimasia.cli.shared import console

if TYPE_CHECKING:
    from dokimasia.domain.diagnosis import Diagnosis
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
    home: str,
    as_json: bool,
) -> dict[str, Any]:
    """Diagnose the run, have a writer that is planted to err put it into words, print both, and return the figures.

    Beside each leaf where a model is surely worse than the others stand its mean planted skill there, and theirs.
    """
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.diagnosis.plan import WordsRequest
    from dokimasia.methods.diagnosis.words import write_diagnosis
    from dokimasia.simulation.profiles import as_judge, find_profile

    request = WordsRequest(run=run, judge=WRITER)
    result = run_to_end(
        lambda observer, stop: write_diagnosis(request, settings=settings, observer=observer, stop=stop), settings
    )
    marked = _marked(settings, run, pairs, models)
    profile = as_judge(find_profile(WRITER))
    planted = profile.misreports + profile.untested + profile.invents
    if not as_json:
        _print_marked(marked)
        _print_words(result.summary, planted)
        console().print(f"look closer: dokimasia diagnose {run} --home {home}\n", soft_wrap=True)
    return {"words": result.summary, "marked": marked, "planted_share_of_wrong_sentences": planted}


def _marked(
    settings: "Settings", run: str, pairs: "Sequence[tuple[Scene, Question]]", models: Sequence[str]
) -> list[dict[str, Any]]:
    """Return every leaf at which a model is surely better or worse than the others, with the planted skills there."""
    from dokimasia.methods.diagnosis.diagnosing import kept
    from dokimasia.methods.tree.reading.trees import load_tree
    from dokimasia.methods.tree.reading.view import members_below
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    with Home.open(settings.home, write=False) as home:
        diagnosis = kept(home, get_run(home, run))
        if diagnosis is None or not diagnosis.tree:
            return []
        loaded = load_tree(home, f"{diagnosis.tree}@{diagnosis.position}")
    capability = planted_capabilities(pairs)
    below = members_below(loaded.tree)
    steps = {key: capability.get((one.sample_id, one.text)) for key, one in loaded.criteria.items()}
    found: list[dict[str, Any]] = []
    for row in _rows(diagnosis):
        skills = {name: _skill(name, below[row["node"]], steps) for name in models}
        others = [skill for name, skill in skills.items() if name != row["model"]]
        found.append({**row, "planted": {"here": skills[row["model"]], "others": round(sum(others) / len(others), 4)}})
    return found


def _rows(diagnosis: "Diagnosis") -> list[dict[str, Any]]:
    contrasts = diagnosis.asset("contrasts")
    rows = contrasts.rows if contrasts else ()
    return [
        {
            "model": row.model,
            "node": row.node,
            "leaf": row.cells[1].value,
            "mark": row.mark,
            "difference": row.cells[2].value,
            "low": row.cells[2].low,
            "high": row.cells[2].high,
        }
        for row in rows
        if row.mark in ("better", "worse")
    ]


def _skill(name: str, keys: Sequence[str], steps: Mapping[str, tuple[str, Any] | None]) -> float:
    """Return a model's mean planted skill, 0 to 1, at criteria."""
    from dokimasia.simulation.profiles import as_candidate, find_profile

    profile = as_candidate(find_profile(name))
    known = [profile.skill(*step) for key in keys if (step := steps.get(key)) is not None]
    return round(sum(known) / len(known), 4) if known else 0.0


def _print_marked(marked: Sequence[Mapping[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    out = console()
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title="leaves where a model is surely worse than the others",
        title_justify="left",
    )
    for name in ("model", "leaf"):
        table.add_column(name)
    for name in ("against the others", "95 %", "planted skill: its own, the others'"):
        table.add_column(name, justify="right")
    worse = [one for one in marked if one["mark"] == "worse"]
    for one in worse:
        table.add_row(
            one["model"],
            one["leaf"],
            f"{one['difference']:+.0f}",
            f"{one['low']:+.0f} to {one['high']:+.0f}",
            f"{one['planted']['here']:.2f}, {one['planted']['others']:.2f}",
        )
    out.print(table if worse else "no model is surely worse than the others at any leaf: the sample is small")
    right = sum((one["planted"]["here"] < one["planted"]["others"]) == (one["mark"] == "worse") for one in marked)
    out.print(
        f"[dim]points of 100; of {len(marked)} leaves marked better or worse, {right} go the way that is planted.[/dim]"
    )


def _print_words(summary: Mapping[str, Any], planted: float) -> None:
    from rich.markup import escape

    out = console()
    totals = summary["totals"]
    out.print(
        f"[bold]In words[/bold], by {summary['judge']}, which is planted to get {planted:.0%} of its sentences wrong: "
        f"{totals['unverified_at_first']} were unverified at first; sent back once, {totals['unverified']} of "
        f"{totals['sentences']} still are. Figures and comparisons are printed by the program."
    )
    sentences = [one for report in summary["reports"] for one in report["sentences"]]
    for one in [one for one in sentences if not one["faults"]][:1]:
        out.print(f"[green]verified[/green]    {escape(one['text'])}", soft_wrap=True)
    for one in [one for one in sentences if one["faults"]][:1]:
        reason = one["faults"][0]["reason"][:SIGNS]
        out.print(f"[red]unverified[/red]  {escape(one['text'])} [dim]({escape(reason)})[/dim]", soft_wrap=True)
