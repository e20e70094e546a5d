"""Clarity of questions: a judge rates how clearly each question of a data set is put."""

from dokimasia.methods.clarity.figures import ClarityFigures, clarity_figures
from dokimasia.methods.clarity.request import ClarityPlan, ClarityRequest, accept
from dokimasia.runs.method import Method, ReportParts, ResultParts, ScoreParts, graph_stages, lazy_value

METHOD: Method[ClarityRequest, ClarityPlan] = Method(
    name="clarity",
    title="a rating of questions",
    request=ClarityRequest,
    plan=ClarityPlan,
    accept=accept,
    stages=graph_stages("clarity"),
    figures=clarity_figures,
    shape=lambda: ClarityFigures,
    graphs={"clarity": 1},
    results=ResultParts(name="ratings"),
    scores=ScoreParts(scale=(1.0, 5.0)),
    report=ReportParts(drawing=lazy_value("dokimasia.methods.clarity.report", "DRAWING")),
)

__all__ = ["METHOD", "ClarityPlan", "ClarityRequest"]
