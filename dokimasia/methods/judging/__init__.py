"""Comparison of judging methods with human rankings: which method orders responses as people do (ATOM, 4.1)."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.judging.figures import COLUMNS, JudgingFigures, cells, figures_of_run, judging_items
from dokimasia.methods.judging.request import METHODS, JudgingPlan, JudgingRequest, accept, previews, resumable
from dokimasia.runs.method import (
    ExportParts,
    Method,
    ReportParts,
    RerunParts,
    ResultParts,
    ScoreParts,
    lazy_function,
    lazy_value,
)
from dokimasia.runs.verbs import verb

METHOD: Method[JudgingRequest, JudgingPlan] = Method(
    name="judging",
    title="a comparison of judging methods",
    request=JudgingRequest,
    plan=JudgingPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.judging.work", "stages"),
    figures=figures_of_run,
    shape=lambda: JudgingFigures,
    graphs=versions_of(
        "batch_ranking", "checkpoint_scoring", "cognitive_replay", "criteria_making", "response_judging"
    ),
    previews=previews,
    results=ResultParts(name="judgements", items=judging_items, items_apart=True),
    scores=ScoreParts(
        no_diff="its judges and methods are compared within one run, pair by pair, with tests (see the gaps that it prints)"
    ),
    report=ReportParts(drawing=lazy_value("dokimasia.methods.judging.report", "DRAWING")),
    export=ExportParts(columns=COLUMNS, cells=cells),
    reruns=RerunParts(check=resumable),
)

compare_judging = verb(METHOD, "compare_judging")
"""Compare judging methods: `await compare_judging(JudgingRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "METHODS", "JudgingPlan", "JudgingRequest", "compare_judging"]
