"""Quality of criteria: a second judge rates accuracy and necessity of sampled criteria (ATOM, appendix C)."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.quality.figures import COLUMNS, QualityFigures, cells, items, judged, quality_figures
from dokimasia.methods.quality.request import QualityPlan, QualityRequest, accept
from dokimasia.runs.method import ExportParts, Method, PeopleParts, ReportParts, ResultParts, lazy_function, lazy_value
from dokimasia.runs.verbs import verb

METHOD: Method[QualityRequest, QualityPlan] = Method(
    name="quality",
    title="a rating of criteria",
    request=QualityRequest,
    plan=QualityPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.quality.work", "stages"),
    figures=quality_figures,
    shape=lambda: QualityFigures,
    graphs=versions_of("criterion_quality"),
    results=ResultParts(name="ratings", items=items),
    report=ReportParts(drawing=lazy_value("dokimasia.methods.quality.report", "DRAWING")),
    export=ExportParts(columns=COLUMNS, cells=cells),
    people=PeopleParts(judged=judged),
)

rate_criteria = verb(METHOD, "rate_criteria")
"""Rate criteria: `await rate_criteria(QualityRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "QualityPlan", "QualityRequest", "rate_criteria"]
