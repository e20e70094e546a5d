"""Duels: models' answers are held against a baseline's, in both orders of places, with visual factuality (Creation-MMBench)."""

from functools import partial

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.duel.accepting import ANSWER_TOKENS, JUDGED_TOKENS, accept
from dokimasia.methods.duel.figures import DuelRow, complete, places, unasked, verdict_figures
from dokimasia.methods.duel.people import judged, pairs
from dokimasia.methods.duel.request import DuelPlan, DuelRequest
from dokimasia.methods.duel.results import COLUMNS, cells, duel_items, duel_rows, duel_summary, judgements
from dokimasia.methods.duel.shape import DuelPlaces, VerdictFigures
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Method, later, lazily

with_cases = lazily("dokimasia.methods.duel.report", "with_cases")
"""Adds the cases that a page shows whole to its data."""

METHOD: Method[DuelRequest, DuelPlan] = Method(
    name="duel",
    title="a run of duels",
    request=DuelRequest,
    plan=DuelPlan,
    accept=accept,
    stages=lazily("dokimasia.methods.duel.work", "stages"),
    drawing=later("dokimasia.methods.duel.blocks", "DRAWING"),
    report=with_cases,
    previews=lazily("dokimasia.methods.duel.previews", "previews"),
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
    judged=judged,
    pairs=pairs,
    measures={"score": ("reward", "mean")},
    score_called="reward",
)

duel = partial(run_method, METHOD)
"""Hold models against a baseline: `await duel(DuelRequest(...), settings=..., observer=..., stop=...)`."""

hold_against = lazily("dokimasia.methods.duel.work", "finish")
"""Hold a sample's answers against a model's: `await hold_against(job, sample, items, against=name)`."""

verdict_chart = lazily("dokimasia.methods.duel.charts", "verdict_chart")
case_blocks = lazily("dokimasia.methods.duel.cases", "sample")
case_section = lazily("dokimasia.methods.duel.cases", "cases")

__all__ = [
    "ANSWER_TOKENS",
    "COLUMNS",
    "JUDGED_TOKENS",
    "METHOD",
    "DuelPlaces",
    "DuelPlan",
    "DuelRequest",
    "DuelRow",
    "VerdictFigures",
    "case_blocks",
    "case_section",
    "cells",
    "complete",
    "duel",
    "duel_items",
    "duel_rows",
    "hold_against",
    "judgements",
    "places",
    "unasked",
    "verdict_chart",
    "verdict_figures",
    "with_cases",
]
