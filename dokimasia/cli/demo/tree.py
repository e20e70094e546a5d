"""The demo's capability tree: grown from the evaluation's criteria, with each model's weakest capabilities beside the plan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dokimasia.cli.shared import shown_path

if TYPE_CHECKING:
    from dokimasia.domain.growth import TreeCriterion
    from dokimasia.report.blocks import Block
    from dokimasia.settings import Settings
    from dokimasia.simulation.scene import Scene, SceneQuestion


def tree_step(
    settings: "Settings",
    run: str,
    pairs: "Sequence[tuple[Scene, SceneQuestion]]",
    seed: int,
    *,
    judge: str,
    models: Sequence[str],
    as_json: bool,
) -> dict[str, Any]:
    """Grow a tree from a run's criteria, print it and where each model is significantly weak, and return the figures.

    Beside each weak node stands the mean planted skill at its criteria and at all others, from the models' profiles.
    """
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.cli.running import run_to_end
    from dokimasia.cli.tree.show import print_tree
    from dokimasia.methods.tree import METHOD, GrowthRequest, load_tree, members_below, tree_figures, weaknesses_of
    from dokimasia.runs.lifecycle import run as run_method
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    request = GrowthRequest(judge=judge, run=run, seed=seed)
    grown = run_to_end(partial(run_method, METHOD, request), settings, method=METHOD.name)
    tree = str(grown.summary["tree"])
    with Home.open(settings.home, write=False) as home:
        figures = tree_figures(home, tree)
        loaded = load_tree(home, tree)
        found = {name: weaknesses_of(home, get_run(home, run), name, tree=tree, examples=0) for name in models}
    below, steps = members_below(loaded.tree), planted_steps(pairs, loaded.criteria)
    for name, one in found.items():
        for row in (*one["weak"], *one["strong"]):
            here = below[row["node"]]
            elsewhere = [key for key in below["root"] if key not in set(here)]
            row["planted"] = {
                "here": planted_skill(name, here, steps),
                "elsewhere": planted_skill(name, elsewhere, steps),
            }
    if not as_json:
        print_tree(figures, where=f" --home {shown_path(settings.home)}")
        print_blocks(_weak(found))
    return {**figures, "weaknesses": found}


def planted_steps(
    pairs: "Sequence[tuple[Scene, SceneQuestion]]", criteria: "Mapping[str, TreeCriterion]"
) -> dict[str, tuple[str, Any]]:
    """Return the capability and the domain of the planted step that each criterion asks for; other criteria have none."""
    planted = {
        (question.id, step.question): (step.capability, scene.domain)
        for scene, question in pairs
        for step in question.steps
    }
    asked = {key: (one.sample_id, one.text) for key, one in criteria.items()}
    return {key: planted[step] for key, step in asked.items() if step in planted}


def planted_skill(name: str, keys: Iterable[str], steps: Mapping[str, tuple[str, Any]]) -> float:
    """Return a model's mean planted skill, 0 to 1, at criteria; 0 where none of them has a planted step."""
    from dokimasia.simulation.profiles import as_candidate, find_profile

    profile = as_candidate(find_profile(name))
    known = [profile.skill(*steps[key]) for key in keys if key in steps]
    return round(sum(known) / len(known), 4) if known else 0.0


def _weak(found: Mapping[str, Mapping[str, Any]]) -> "Iterator[Block]":
    """Yield each model's weak nodes with the planted skill there and elsewhere."""
    from dokimasia.report import figures
    from dokimasia.report.blocks import Cell, Column, Paragraph, Span, Table

    rows: list[list[Cell]] = []
    for name, one in found.items():
        for row in one["weak"]:
            measured = figures.measured(row, digits=0)
            here, elsewhere = row["planted"]["here"], row["planted"]["elsewhere"]
            difference = figures.signed_text(row["difference"], 0)
            rows.append([name, row["name"], measured, str(row["n"]), difference, f"{here:.2f}, {elsewhere:.2f}"])
        if not one["weak"]:
            none = Span(one["reason"] or f"none is significant among {one['looked_at']}", "muted")
            rows.append([Span(name, "muted"), none, *[figures.NOTHING] * 4])
    titles = ("score", "criteria", "against the rest", "planted skill: here, elsewhere")
    columns = [Column(title, numeric=False) for title in ("model", "capability")] + [Column(title) for title in titles]
    yield Paragraph(Span("where each model is significantly weak", "strong"))
    yield Table(columns, rows, "Where each model is significantly weak")
    yield Paragraph(
        "Scores of 0 to 100 with 95 % intervals; weak: lower than at the model's other criteria by more than chance brings, "
        "corrected for all nodes looked at; what is not listed may be weak, too: the sample is small.\n",
        "note",
    )
