"""Evaluation by atomic criteria: cognitive replay, answers and checkpoint scores (ATOM, sections 3.1 and 3.3)."""

from dokimasia.methods.evaluation.figures import COLUMNS, EvaluationFigures, cells, figures_of_run, reason_of
from dokimasia.methods.evaluation.forking import models_to_ask
from dokimasia.methods.evaluation.plan import STEPS, EvaluationPlan, graphs_of
from dokimasia.methods.evaluation.request import (
    ANSWER_TOKENS,
    VERDICT_TOKENS,
    EvaluationRequest,
    accept,
    resumable,
    scoring,
)
from dokimasia.runs.lifecycle import RunResult
from dokimasia.runs.method import (
    ExportParts,
    Method,
    PeopleParts,
    ReportParts,
    RerunParts,
    ResultParts,
    ScoreParts,
    lazy_function,
    lazy_value,
)
from dokimasia.runs.reading.comparison import ATOMS
from dokimasia.runs.verbs import sync, verb

METHOD: Method[EvaluationRequest, EvaluationPlan] = Method(
    name="evaluate",
    title="an evaluation",
    request=EvaluationRequest,
    plan=EvaluationPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.evaluation.work", "stages"),
    figures=figures_of_run,
    shape=lambda: EvaluationFigures,
    graphs=graphs_of,
    previews=lazy_function("dokimasia.methods.evaluation.previews", "previews"),
    results=ResultParts(
        kind="score", name="answers", sample=lazy_function("dokimasia.methods.evaluation.samples", "sample_view")
    ),
    scores=ScoreParts(
        scale=ATOMS, measures={"score": ("score", "mean"), "accuracy": ("strict_accuracy", "bounds", "low")}
    ),
    report=ReportParts(
        drawing=lazy_value("dokimasia.methods.evaluation.report", "DRAWING"),
        extend=lazy_function("dokimasia.methods.evaluation.report", "with_samples"),
    ),
    export=ExportParts(
        columns=COLUMNS,
        cells=cells,
        paged=True,
        reason=reason_of,
        forms={"preferences": lazy_function("dokimasia.methods.evaluation.preferences", "files")},
    ),
    people=PeopleParts(decisions=lazy_function("dokimasia.methods.evaluation.decisions", "decisions")),
    reruns=RerunParts(
        check=resumable,
        reaches=models_to_ask,
        fork=lazy_function("dokimasia.methods.evaluation.forking", "fork"),
        fork_steps=lambda: {step.name: step.does for step in STEPS},
    ),
)

evaluate = verb(METHOD, "evaluate")
"""Evaluate models on a data set: `await evaluate(EvaluationRequest(...), settings=..., observer=..., stop=...)`."""

evaluate_sync = sync(evaluate)
"""Like `evaluate`, for scripts and notebooks without an event loop."""

__all__ = [
    "ANSWER_TOKENS",
    "METHOD",
    "VERDICT_TOKENS",
    "EvaluationPlan",
    "EvaluationRequest",
    "RunResult",
    "evaluate",
    "evaluate_sync",
    "scoring",
]
