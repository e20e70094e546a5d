"""What a perturbing came to, by dimension and group: asked, made, not applicable, failed and why, and what checks doubt."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dokimasia.agents.perturbation import error_dimensions
from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.methods.checks import label_figures, labelled
from dokimasia.methods.perturb.request import PerturbPlan
from dokimasia.methods.perturb.results import GOLD, ItemValues, item_of, kept_of
from dokimasia.parsing.blindspots.perturbed import reason_kind
from dokimasia.prompts.dimensions import error_groups
from dokimasia.runs.figures import failures, heading, paid
from dokimasia.runs.reading.rates import rounded, share
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, run_samples

DOUBTS = ("kind", "also", "worse")


def perturb_figures(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a run, ready for JSON; the same stored rows give the same bytes."""
    plan = PerturbPlan.model_validate(run.options["plan"])
    rows, kept = results(home, run.id), kept_of(home, run)
    of_item = {row.item: row for row in rows}
    clusters = {place.sample_id: place.cluster for place in run_samples(home, run.id)}
    golds, blocked = _golds(plan, kept, of_item)
    asked = [
        (name, id)
        for name in plan.dimensions
        for id, names in plan.asked.items()
        if name in names and id not in blocked
    ]
    known = error_dimensions(plan.task)

    def measured(names: Iterable[str]) -> dict[str, Any]:
        among = set(names)
        pairs = [one for one in asked if one[0] in among]
        return _measured(pairs, {name: plan.too_short.get(name, 0) for name in among}, kept, of_item, clusters)

    groups = {**error_groups(plan.task), "": "Score-neutral"}
    by_group = {group: [name for name in plan.dimensions if known[name].group == group] for group in groups}
    checker = "" if plan.checker is None else plan.checker.ref.name
    return {
        **heading(run, plan),
        "task": plan.task,
        "perturber": plan.judge_name or None,
        "checker": checker or None,
        "own_work": plan.checker is not None
        and plan.perturber is not None
        and plan.checker.ref.model == plan.perturber.ref.model,
        "gold_writer": plan.gold_writer and plan.gold_writer.ref.name,
        "editor": plan.editor and plan.editor.ref.name,
        "brought": plan.edited is not None,
        "per": plan.per,
        "n": len(clusters),
        "golds": golds,
        **measured(plan.dimensions),
        "open_items": sum(item_of(id, name) not in of_item for name, id in asked) + golds["open"],
        "groups": {
            group or NEUTRAL: {"title": groups[group], **measured(names)} for group, names in by_group.items() if names
        },
        "dimensions": {
            name: {"title": known[name].title, "group": known[name].group or None, **measured([name])}
            for name in plan.dimensions
        },
        "labels": label_figures(labelled(home, run.id)),
        **paid(home, rows),
    }


def _golds(plan: PerturbPlan, kept: ItemValues, rows: Mapping[str, ResultRow]) -> tuple[dict[str, Any], set[str]]:
    """Return what came of the gold answers, and the samples that none can be perturbed of."""
    counts = {"given": len(plan.golds), "written": 0, "wrong": 0, "failed": 0, "open": 0}
    blocked: set[str] = set()
    if plan.gold_writer is None:
        return counts, blocked
    for id in (id for id, names in plan.asked.items() if names and id not in plan.golds):
        row, (_, gold) = rows.get(f"{GOLD}{id}"), kept.golds.get(id, ("", None))
        state = "open" if row is None else "failed" if gold is None else "written" if gold.right else "wrong"
        counts[state] += 1
        blocked |= set() if state == "written" else {id}
    return counts, blocked


def _measured(
    pairs: Sequence[tuple[str, str]],
    too_short: Mapping[str, int],
    kept: ItemValues,
    rows: Mapping[str, ResultRow],
    clusters: Mapping[str, str],
) -> dict[str, Any]:
    names = {item_of(id, name): id for name, id in pairs}
    short = [one for one in names if one in kept.none and kept.none[one].too_short]
    put = {one: id for one, id in names.items() if one not in short}
    made = [one for one in put if one in kept.made]
    none = [one for one in put if one in kept.none]
    failed = [rows[one] for one in put if one in rows and rows[one].outcome == "failed"]
    sorts = Counter(reason_kind(row.reason or "") for row in failed)
    checked = [kept.made[one] for one in made if kept.made[one].checked]
    doubts = Counter(doubt for one in checked for doubt in one.doubts)
    decided = [*made, *none]
    return {
        "asked": len(put),
        "made": len(made),
        "not_applicable": len(none),
        "too_short": len(short) + sum(too_short.values()),
        "failed": len(failed),
        "failures": failures(failed),
        "changed_nothing": sorts["nothing"],
        "changed_all": sorts["all"],
        "coverage": rounded(len(decided) / len(put)) if put else None,
        "applies": share(
            [one in kept.made for one in decided],
            [clusters[put[one]] for one in decided],
            unknown=len(put) - len(decided),
        ),
        "checked": len(checked),
        "agreed": share([not one.doubts for one in checked], [one.cluster for one in checked]),
        "doubts": {name: doubts[name] for name in DOUBTS},
    }
