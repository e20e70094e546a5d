"""Probes of judges: answers with inserted errors show what a judge misses under which way of judging (FOCUS)."""

from dokimasia.methods.probe.acceptance import accept, previews
from dokimasia.methods.probe.detections import detections_of
from dokimasia.methods.probe.figures import COLUMNS, ProbeFigures, cells, figures_of_run, probe_items
from dokimasia.methods.probe.perturbations import Probes, probes_of
from dokimasia.methods.probe.request import Arm, ProbePlan, ProbeRequest, graphs_of
from dokimasia.methods.probe.units import stored_probes
from dokimasia.runs.method import ExportParts, Method, ReportParts, ResultParts, ScoreParts, lazy_function, lazy_value
from dokimasia.runs.verbs import verb

METHOD: Method[ProbeRequest, ProbePlan] = Method(
    name="probe",
    title="a probe of judges",
    request=ProbeRequest,
    plan=ProbePlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.probe.work", "stages"),
    figures=figures_of_run,
    shape=lambda: ProbeFigures,
    graphs=graphs_of,
    previews=previews,
    results=ResultParts(name="judgements", items=probe_items, items_apart=True),
    scores=ScoreParts(scale=(0.0, 1.0), factor=100.0),
    report=ReportParts(
        drawing=lazy_value("dokimasia.methods.probe.report", "DRAWING"),
        opening=lazy_function("dokimasia.methods.probe.passports", "suitability_of"),
        extend=lazy_function("dokimasia.methods.probe.report", "with_samples"),
    ),
    export=ExportParts(columns=COLUMNS, cells=cells),
)

probe = verb(METHOD, "probe")
"""Probe judges: `await probe(ProbeRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = [
    "METHOD",
    "Arm",
    "ProbePlan",
    "ProbeRequest",
    "Probes",
    "detections_of",
    "probe",
    "probes_of",
    "stored_probes",
]
