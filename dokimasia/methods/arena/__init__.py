"""Arenas: models are compared pairwise on the same cases and rated from the verdicts."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.arena.figures import ArenaFigures, figures_of_run
from dokimasia.methods.arena.request import ArenaPlan, ArenaRequest, accept
from dokimasia.methods.duel import COLUMNS, cells, decided_pairs, duel_items, previews, with_cases
from dokimasia.runs.method import Method, lazy_function, lazy_value
from dokimasia.runs.verbs import verb

METHOD: Method[ArenaRequest, ArenaPlan] = Method(
    name="arena",
    title="an arena",
    request=ArenaRequest,
    plan=ArenaPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.arena.work", "stages"),
    drawing=lazy_value("dokimasia.methods.arena.report", "DRAWING"),
    report=with_cases,
    previews=previews,
    figures=figures_of_run,
    shape=lambda: ArenaFigures,
    graphs=versions_of("duel"),
    items=duel_items,
    items_shown=False,
    row_name="meetings",
    columns=COLUMNS,
    cells=cells,
    forms={"preferences": decided_pairs},
    rates_battles=True,
    scale=(-100.0, 100.0),
    measures={"score": ("reward", "mean")},
    score_called="reward",
)

arena = verb(METHOD, "arena")
"""Rate models: `await arena(ArenaRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "ArenaPlan", "ArenaRequest", "arena"]
