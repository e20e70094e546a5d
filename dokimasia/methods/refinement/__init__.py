"""Closed-loop self-correction (ATOM, section 3.5)."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.refinement.acceptance import NAME, accept, resumable
from dokimasia.methods.refinement.figures import RefinementFigures, figures_of_run
from dokimasia.methods.refinement.request import RefinementPlan, RefinementRequest
from dokimasia.methods.refinement.rows import COLUMNS, cells, refined_sample, refinement_rows
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
from dokimasia.runs.reading.comparison import ATOMS
from dokimasia.runs.verbs import verb

METHOD: Method[RefinementRequest, RefinementPlan] = Method(
    name=NAME,
    title="a refinement",
    request=RefinementRequest,
    plan=RefinementPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.refinement.work", "stages"),
    figures=figures_of_run,
    shape=lambda: RefinementFigures,
    graphs=versions_of("refinement"),
    results=ResultParts(name="arms of answers", sample=refined_sample, missing="not taken up"),
    scores=ScoreParts(scale=ATOMS),
    report=ReportParts(
        drawing=lazy_value("dokimasia.methods.refinement.report", "DRAWING"),
        extend=lazy_function("dokimasia.methods.refinement.report", "with_refined"),
    ),
    export=ExportParts(columns=COLUMNS, cells=cells),
    reruns=RerunParts(
        check=resumable,
        no_fork=(
            "it takes its judge and models from the run that it refines: fork that run, then refine the fork (other prompts "
            "are given to refine itself: --prompts DIR)"
        ),
    ),
)

refine = verb(METHOD, "refine")
"""Have models correct their wrong answers: `await refine(RefinementRequest(run=...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "RefinementPlan", "RefinementRequest", "refine", "refinement_rows"]
