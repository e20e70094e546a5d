"""Audits: models describe images and a judge checks each description against gated rubrics (PerceptionRubrics, 3.4)."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.audit.figures import (
    COLUMNS,
    AuditFigures,
    audit_items,
    audit_rows,
    cells,
    figures_of_run,
    reason_of,
    rubrics_used,
)
from dokimasia.methods.audit.request import AuditPlan, AuditRequest, accept, models_to_ask, resumable
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
from dokimasia.runs.verbs import verb

METHOD: Method[AuditRequest, AuditPlan] = Method(
    name="audit",
    title="an audit",
    request=AuditRequest,
    plan=AuditPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.audit.work", "stages"),
    figures=figures_of_run,
    shape=lambda: AuditFigures,
    graphs=versions_of("rubric_audit"),
    results=ResultParts(name="responses", items=audit_items, items_apart=True),
    scores=ScoreParts(scale=(0.0, 1.0), factor=100.0, measures={"score": ("overall", "mean")}, rubrics=rubrics_used),
    report=ReportParts(
        drawing=lazy_value("dokimasia.methods.audit.report", "DRAWING"),
        figures=lazy_function("dokimasia.methods.audit.analyses", "analyse"),
    ),
    export=ExportParts(columns=COLUMNS, cells=cells, reason=reason_of),
    people=PeopleParts(decisions=lazy_function("dokimasia.methods.audit.decisions", "decisions")),
    reruns=RerunParts(check=resumable, reaches=models_to_ask),
)

audit = verb(METHOD, "audit")
"""Audit models: `await audit(AuditRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "AuditPlan", "AuditRequest", "audit", "audit_rows"]
