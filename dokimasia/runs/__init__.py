"""The life cycle of a run, shared by all methods: accept, estimate, carry out, interrupt, resume, retry, fork, show.

The names below are those that a method of a plug-in needs. Each is imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dokimasia.runs.estimate import Estimate, ExpectedCalls, total_estimate
    from dokimasia.runs.figures import calls_and_costs, failure_counts, simulated_names
    from dokimasia.runs.lifecycle import run_sync
    from dokimasia.runs.method import (
        Addition,
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
    from dokimasia.runs.plans import AnyOrder, DataPlan, JudgedPlan, OutsideIdentity, RunPlan, prompts_used
    from dokimasia.runs.requests import DataRequest, Judge, Models, Option, RunRequest
    from dokimasia.runs.session import Accepted, Session
    from dokimasia.runs.work import Item, Job, Stage

_MODULES: dict[str, str] = {
    **dict.fromkeys(("ExpectedCalls", "Estimate", "total_estimate"), "estimate"),
    **dict.fromkeys(("failure_counts", "calls_and_costs", "simulated_names"), "figures"),
    "run_sync": "lifecycle",
    **dict.fromkeys(("Addition", "Method", "lazy_value", "lazy_function"), "method"),
    **dict.fromkeys(("ExportParts", "PeopleParts", "ReportParts", "RerunParts", "ResultParts", "ScoreParts"), "method"),
    **dict.fromkeys(("AnyOrder", "DataPlan", "JudgedPlan", "OutsideIdentity", "RunPlan", "prompts_used"), "plans"),
    **dict.fromkeys(("DataRequest", "Judge", "Models", "Option", "RunRequest"), "requests"),
    **dict.fromkeys(("Accepted", "Session"), "session"),
    **dict.fromkeys(("Item", "Job", "Stage"), "work"),
}

__all__ = [
    "Accepted",
    "Addition",
    "AnyOrder",
    "DataPlan",
    "DataRequest",
    "Estimate",
    "ExpectedCalls",
    "ExportParts",
    "Item",
    "Job",
    "Judge",
    "JudgedPlan",
    "Method",
    "Models",
    "Option",
    "OutsideIdentity",
    "PeopleParts",
    "ReportParts",
    "RerunParts",
    "ResultParts",
    "RunPlan",
    "RunRequest",
    "ScoreParts",
    "Session",
    "Stage",
    "calls_and_costs",
    "failure_counts",
    "lazy_function",
    "lazy_value",
    "prompts_used",
    "run_sync",
    "simulated_names",
    "total_estimate",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'dokimasia.runs' has no attribute {name!r}")
    return getattr(importlib.import_module(f"dokimasia.runs.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
