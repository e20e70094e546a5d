"""Audits: models describe images and a judge checks each description against gated rubrics (PerceptionRubrics, 3.4)."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.audit.figures import (
    COLUMNS,
    AuditFigures,
    audit_items,
    audit_rows,
    cells,
    figures_of_run,
    rubrics_used,
)
from dokimasia.methods.audit.request import AuditPlan, AuditRequest, accept, models_to_ask, resumable
from dokimasia.runs.method import Method, lazy_function, lazy_value
from dokimasia.runs.verbs import verb

METHOD: Method[AuditRequest, AuditPlan] = Method(
    name="audit",
    title="an audit",
    request=AuditRequest,
    plan=AuditPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.audit.work", "stages"),
    drawing=lazy_value("dokimasia.methods.audit.report", "DRAWING"),
    figures=figures_of_run,
    shape=lambda: AuditFigures,
    report_figures=lazy_function("dokimasia.methods.audit.analyses", "analyse"),
    graphs=versions_of("rubric_audit"),
    reaches=models_to_ask,
    resumable=resumable,
    items=audit_items,
    items_shown=False,
    row_name="responses",
    columns=COLUMNS,
    cells=cells,
    decisions=lazy_function("dokimasia.methods.audit.decisions", "decisions"),
    scale=(0.0, 1.0),
    shown=100.0,
    rubrics=rubrics_used,
    measures={"score": ("overall", "mean")},
)

audit = verb(METHOD, "audit")
"""Audit models: `await audit(AuditRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "AuditPlan", "AuditRequest", "audit", "audit_rows"]
