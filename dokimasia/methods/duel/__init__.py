"""Duels: models' answers are held against a baseline's, in both orders of places, with visual factuality (Creation-MMBench)."""

from functools import partial

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.duel.figures import DuelFigures
from dokimasia.methods.duel.request import DuelPlan, DuelRequest, accept, previews
from dokimasia.methods.duel.results import COLUMNS, cells, duel_items, figures_of_run, judged, pairs
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Method, later, lazily

METHOD: Method[DuelRequest, DuelPlan] = Method(
    name="duel",
    title="a run of duels",
    request=DuelRequest,
    plan=DuelPlan,
    accept=accept,
    stages=lazily("dokimasia.methods.duel.work", "stages"),
    drawing=later("dokimasia.methods.duel.report", "DRAWING"),
    report=lazily("dokimasia.methods.duel.report", "with_cases"),
    previews=previews,
    figures=figures_of_run,
    shape=lambda: DuelFigures,
    graphs=versions_of("duel"),
    items=duel_items,
    items_shown=False,
    row_name="duels",
    columns=COLUMNS,
    cells=cells,
    forms={"vlmevalkit": lazily("dokimasia.methods.duel.vlmevalkit", "files")},
    scale=(-100.0, 100.0),
    judged=judged,
    pairs=pairs,
    measures={"score": ("reward", "mean")},
    score_called="reward",
)

duel = partial(run_method, METHOD)
"""Hold models against a baseline: `await duel(DuelRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "DuelPlan", "DuelRequest", "duel"]
