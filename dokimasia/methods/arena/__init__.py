"""Arenas: models are compared pairwise on the same cases and rated from the verdicts."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.arena.figures import ArenaFigures, figures_of_run
from dokimasia.methods.arena.request import ArenaPlan, ArenaRequest, accept
from dokimasia.methods.duel import COLUMNS, cells, decided_pairs, duel_items, previews, with_cases
from dokimasia.runs.method import ExportParts, Method, ReportParts, ResultParts, ScoreParts, lazy_function, lazy_value
from dokimasia.runs.verbs import verb

METHOD: Method[ArenaRequest, ArenaPlan] = Method(
    name="arena",
    title="an arena",
    request=ArenaRequest,
    plan=ArenaPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.arena.work", "stages"),
    figures=figures_of_run,
    shape=lambda: ArenaFigures,
    graphs=versions_of("duel"),
    previews=previews,
    rates_battles=True,
    results=ResultParts(name="meetings", items=duel_items, items_apart=True),
    scores=ScoreParts(scale=(-100.0, 100.0), name="reward", measures={"score": ("reward", "mean")}),
    report=ReportParts(drawing=lazy_value("dokimasia.methods.arena.report", "DRAWING"), extend=with_cases),
    export=ExportParts(columns=COLUMNS, cells=cells, forms={"preferences": decided_pairs}),
)

arena = verb(METHOD, "arena")
"""Rate models: `await arena(ArenaRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "ArenaPlan", "ArenaRequest", "arena"]
