"""Diagnosis: tables of where models are weak and why, and reports in words (ATOM, 3.4 and H)."""

from functools import partial

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.diagnosis.accepting import PICK_TOKENS, REPORT_TOKENS, accept, reports_asked
from dokimasia.methods.diagnosis.diagnosing import diagnosis_of
from dokimasia.methods.diagnosis.files import write_tables
from dokimasia.methods.diagnosis.material import gather
from dokimasia.methods.diagnosis.measured import DiagnosisMaterial
from dokimasia.methods.diagnosis.request import NAME, WRITING, WordsPlan, WordsRequest
from dokimasia.methods.diagnosis.results import COLUMNS, REPORT, cells, reports_of, runs_on, words_summary, written_from
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Addition, Method, later, lazily

METHOD: Method[WordsRequest, WordsPlan] = Method(
    name=NAME,
    title="a diagnosis in words",
    request=WordsRequest,
    plan=WordsPlan,
    accept=accept,
    stages=lazily("dokimasia.methods.diagnosis.work", "stages"),
    drawing=later("dokimasia.methods.diagnosis.blocks", "DRAWING"),
    adds=Addition(
        lazily("dokimasia.methods.diagnosis.report", "report_diagnosis"),
        later("dokimasia.methods.diagnosis.blocks.tables", "section"),
    ),
    figures=words_summary,
    shape=later("dokimasia.methods.diagnosis.shape", "DiagnosisFigures"),
    graphs=versions_of("diagnosis"),
    row_kind=REPORT,
    row_name="reports",
    columns=COLUMNS,
    cells=cells,
)

reports_stage = lazily("dokimasia.methods.diagnosis.work", "reports_stage")
"""Returns the stage in which the reports of a run are written from its tables, given the job."""

heat_map = lazily("dokimasia.methods.diagnosis.blocks.charts", "heat_map")
"""Returns a table of leaves by models as a heat map (see `blocks.charts.heat_map`)."""

write_diagnosis = partial(run_method, METHOD)
"""Have a run's tables put into words: `await write_diagnosis(WordsRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = [
    "METHOD",
    "PICK_TOKENS",
    "REPORT",
    "REPORT_TOKENS",
    "WRITING",
    "DiagnosisMaterial",
    "WordsPlan",
    "WordsRequest",
    "diagnosis_of",
    "gather",
    "reports_asked",
    "reports_of",
    "reports_stage",
    "runs_on",
    "write_diagnosis",
    "write_tables",
    "written_from",
]
