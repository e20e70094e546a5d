"""Diagnosis: tables of where models are weak and why, and reports in words (ATOM, 3.4 and H)."""

from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.diagnosis.accepting import PICK_TOKENS, REPORT_TOKENS, accept, reports_asked
from dokimasia.methods.diagnosis.diagnosing import diagnosis_of
from dokimasia.methods.diagnosis.files import make_folder, write_tables
from dokimasia.methods.diagnosis.material import gather
from dokimasia.methods.diagnosis.measured import Material
from dokimasia.methods.diagnosis.request import NAME, WRITING, WordsPlan, WordsRequest
from dokimasia.methods.diagnosis.results import COLUMNS, REPORT, cells, reports_of, words_summary, written_from
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Method

if TYPE_CHECKING:
    from dokimasia.runs.work import Job, Stage


def reports_stage(job: "Job[Any]") -> "Stage[Any]":
    """Return the stage in which the reports of a run are written from its tables."""
    from dokimasia.methods.diagnosis import work

    return work.reports_stage(job)


async def _stages(job: "Job[WordsPlan]") -> "AsyncIterator[Stage[Any]]":
    yield reports_stage(job)


METHOD: Method[WordsRequest, WordsPlan] = Method(
    name=NAME,
    title="a diagnosis in words",
    request=WordsRequest,
    plan=WordsPlan,
    accept=accept,
    stages=_stages,
    figures=words_summary,
    graphs=versions_of("diagnosis"),
    row_kind=REPORT,
    row_name="reports",
    columns=COLUMNS,
    cells=cells,
)

write_diagnosis = partial(run_method, METHOD)
"""Have a run's tables put into words: `await write_diagnosis(WordsRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = [
    "METHOD",
    "PICK_TOKENS",
    "REPORT",
    "REPORT_TOKENS",
    "WRITING",
    "Material",
    "WordsPlan",
    "WordsRequest",
    "diagnosis_of",
    "gather",
    "make_folder",
    "reports_asked",
    "reports_of",
    "reports_stage",
    "write_diagnosis",
    "write_tables",
    "written_from",
]
