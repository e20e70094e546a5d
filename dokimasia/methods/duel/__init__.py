"""Duels: models' answers are held against a baseline's, in both orders of places, with visual factuality (Creation-MMBench)."""

from functools import partial

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.duel.accepting import accept
from dokimasia.methods.duel.request import DuelPlan, DuelRequest
from dokimasia.methods.duel.results import COLUMNS, cells, duel_items, duel_rows, duel_summary
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Method, later, lazily

METHOD: Method[DuelRequest, DuelPlan] = Method(
    name="duel",
    title="a run of duels",
    request=DuelRequest,
    plan=DuelPlan,
    accept=accept,
    stages=lazily("dokimasia.methods.duel.work", "stages"),
    drawing=later("dokimasia.methods.duel.blocks", "DRAWING"),
    report=lazily("dokimasia.methods.duel.report", "with_cases"),
    figures=duel_summary,
    shape=later("dokimasia.methods.duel.shape", "DuelFigures"),
    graphs=versions_of("duel"),
    items=duel_items,
    items_shown=False,
    row_name="duels",
    columns=COLUMNS,
    cells=cells,
    forms={"vlmevalkit": lazily("dokimasia.methods.duel.vlmevalkit", "files")},
    scale=(-100.0, 100.0),
    measures={"score": ("reward", "mean")},
)

duel = partial(run_method, METHOD)
"""Hold models against a baseline: `await duel(DuelRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "DuelPlan", "DuelRequest", "duel", "duel_rows"]
