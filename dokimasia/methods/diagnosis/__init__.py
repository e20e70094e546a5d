"""Diagnosis: tables of where models are weak and why, and reports in words (ATOM, sections 3.4 and H)."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.diagnosis.cells import MODEL, PAIR, cells_of, count_column, score_column, share_column
from dokimasia.methods.diagnosis.evidence_data import DiagnosisMaterial, gather
from dokimasia.methods.diagnosis.figures import COLUMNS, DiagnosisFigures, cells, reports_of, words_figures
from dokimasia.methods.diagnosis.request import (
    NAME,
    PICK_TOKENS,
    REPORT,
    REPORT_TOKENS,
    WRITING,
    WordsPlan,
    WordsRequest,
    accept,
    report_calls,
    runs_on,
    written_from,
)
from dokimasia.methods.diagnosis.tables import diagnosis_of
from dokimasia.runs.method import Addition, ExportParts, Method, ReportParts, ResultParts, lazy_function, lazy_value
from dokimasia.runs.verbs import verb

METHOD: Method[WordsRequest, WordsPlan] = Method(
    name=NAME,
    title="a diagnosis in words",
    request=WordsRequest,
    plan=WordsPlan,
    accept=accept,
    stages=lazy_function("dokimasia.methods.diagnosis.work", "stages"),
    figures=words_figures,
    shape=lambda: DiagnosisFigures,
    graphs=versions_of("diagnosis"),
    results=ResultParts(kind=REPORT, name="reports"),
    report=ReportParts(
        drawing=lazy_value("dokimasia.methods.diagnosis.report", "DRAWING"),
        adds=Addition(
            lazy_function("dokimasia.methods.diagnosis.evidence", "report_diagnosis"),
            lazy_value("dokimasia.methods.diagnosis.report", "section"),
        ),
    ),
    export=ExportParts(columns=COLUMNS, cells=cells),
)

reports_stage = lazy_function("dokimasia.methods.diagnosis.work", "reports_stage")
"""Returns the stage that writes the reports of a run from its tables; takes the job."""

heat_map = lazy_function("dokimasia.methods.diagnosis.charts", "heat_map")
"""Returns a table of leaves by models as a heat map (see `charts.heat_map`)."""

write_tables = lazy_function("dokimasia.methods.diagnosis.files", "write_tables")
"""Writes tables as CSV, PNG and JSON into a folder (see `files.write_tables`)."""

write_diagnosis = verb(METHOD, "write_diagnosis")
"""Put a run's tables into words: `await write_diagnosis(WordsRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = [
    "METHOD",
    "MODEL",
    "PAIR",
    "PICK_TOKENS",
    "REPORT",
    "REPORT_TOKENS",
    "WRITING",
    "DiagnosisMaterial",
    "WordsPlan",
    "WordsRequest",
    "cells_of",
    "count_column",
    "diagnosis_of",
    "gather",
    "report_calls",
    "reports_of",
    "reports_stage",
    "runs_on",
    "score_column",
    "share_column",
    "write_diagnosis",
    "write_tables",
    "written_from",
]
