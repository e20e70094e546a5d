"""Duels: models' answers are compared with a baseline's, in both orders, with visual factuality (Creation-MMBench)."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.duel.elsewhere import BesideScores, beside_scores, means_of
from dokimasia.methods.duel.figures import (
    VERDICTS,
    DuelFigures,
    DuelPlaces,
    DuelRow,
    VerdictFigures,
    complete,
    place_figures,
    unasked,
    verdict_figures,
    whole_number,
)
from dokimasia.methods.duel.request import ANSWER_TOKENS, JUDGED_TOKENS, DuelPlan, DuelRequest, accept, previews
from dokimasia.methods.duel.results import (
    COLUMNS,
    cells,
    duel_items,
    duel_rows,
    figures_of_run,
    judged,
    judgements,
    pairs,
)
from dokimasia.runs.method import (
    ExportParts,
    Method,
    PeopleParts,
    ReportParts,
    ResultParts,
    ScoreParts,
    lazy_function,
    lazy_value,
)
from dokimasia.runs.verbs import verb

with_cases = lazy_function("dokimasia.methods.duel.report", "with_cases")
"""Adds the cases that a page shows to its data."""

decided_pairs = lazy_function("dokimasia.methods.duel.exporting", "decided_pairs")
"""Returns the pairs of answers that both orders decide alike: `decided_pairs(home, run)`."""

METHOD: Method[DuelRequest, DuelPlan] = Method(
    name="duel",
    title="a run of duels",
    request=DuelRequest,
    plan=DuelPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.duel.work", "stages"),
    figures=figures_of_run,
    shape=lambda: DuelFigures,
    graphs=versions_of("duel"),
    previews=previews,
    results=ResultParts(name="duels", items=duel_items, items_apart=True),
    scores=ScoreParts(scale=(-100.0, 100.0), name="reward", measures={"score": ("reward", "mean")}),
    report=ReportParts(drawing=lazy_value("dokimasia.methods.duel.report", "DRAWING"), extend=with_cases),
    export=ExportParts(
        columns=COLUMNS,
        cells=cells,
        forms={
            "vlmevalkit": lazy_function("dokimasia.methods.duel.exporting", "vlmevalkit_files"),
            "preferences": decided_pairs,
        },
    ),
    people=PeopleParts(judged=judged, pairs=pairs),
)

duel = verb(METHOD, "duel")
"""Compare models with a baseline: `await duel(DuelRequest(...), settings=..., observer=..., stop=...)`."""

compare_with = lazy_function("dokimasia.methods.duel.work", "compare_with")
"""Compares a sample's answers with another model's: `await compare_with(job, sample, items, opponent=name)`."""

case_section = lazy_function("dokimasia.methods.duel.report", "cases")
failed_verdicts = lazy_function("dokimasia.methods.duel.report", "failed_verdicts")
judged_in_one_order = lazy_function("dokimasia.methods.duel.report", "judged_in_one_order")
missing_columns = lazy_function("dokimasia.methods.duel.report", "missing_columns")
score_blocks = lazy_function("dokimasia.methods.duel.report", "score_blocks")
sample_blocks = lazy_function("dokimasia.methods.duel.report", "sample")
verdict_chart = lazy_function("dokimasia.methods.duel.report", "verdict_chart")

__all__ = [
    "ANSWER_TOKENS",
    "COLUMNS",
    "JUDGED_TOKENS",
    "METHOD",
    "VERDICTS",
    "BesideScores",
    "DuelPlaces",
    "DuelPlan",
    "DuelRequest",
    "DuelRow",
    "VerdictFigures",
    "accept",
    "beside_scores",
    "case_section",
    "cells",
    "compare_with",
    "complete",
    "decided_pairs",
    "duel",
    "duel_items",
    "duel_rows",
    "failed_verdicts",
    "judged_in_one_order",
    "judgements",
    "means_of",
    "missing_columns",
    "place_figures",
    "previews",
    "sample_blocks",
    "score_blocks",
    "unasked",
    "verdict_chart",
    "verdict_figures",
    "whole_number",
    "with_cases",
]
