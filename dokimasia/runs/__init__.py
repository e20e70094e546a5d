"""The life-cycle of a run, once for every method: accept, estimate, carry out, interrupt, resume, retry, fork, show.

The names below are what a method of one's own is made from; each is loaded when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dokimasia.runs.estimate import Asking, Estimate, added_up
    from dokimasia.runs.figures import failures, paid, simulated
    from dokimasia.runs.method import Addition, Method, lazy_function, lazy_value
    from dokimasia.runs.plans import AnyOrder, DataPlan, JudgedPlan, OutsideIdentity, RunPlan, prompts_used
    from dokimasia.runs.requests import DataRequest, Judge, Models, Option, RunRequest
    from dokimasia.runs.session import Accepted, Session
    from dokimasia.runs.work import Item, Job, Stage

_MODULES: dict[str, str] = {
    **dict.fromkeys(("Asking", "Estimate", "added_up"), "estimate"),
    **dict.fromkeys(("failures", "paid", "simulated"), "figures"),
    **dict.fromkeys(("Addition", "Method", "lazy_value", "lazy_function"), "method"),
    **dict.fromkeys(("AnyOrder", "DataPlan", "JudgedPlan", "OutsideIdentity", "RunPlan", "prompts_used"), "plans"),
    **dict.fromkeys(("DataRequest", "Judge", "Models", "Option", "RunRequest"), "requests"),
    **dict.fromkeys(("Accepted", "Session"), "session"),
    **dict.fromkeys(("Item", "Job", "Stage"), "work"),
}

__all__ = [
    "Accepted",
    "Addition",
    "AnyOrder",
    "Asking",
    "DataPlan",
    "DataRequest",
    "Estimate",
    "Item",
    "Job",
    "Judge",
    "JudgedPlan",
    "Method",
    "Models",
    "Option",
    "OutsideIdentity",
    "RunPlan",
    "RunRequest",
    "Session",
    "Stage",
    "added_up",
    "failures",
    "lazy_function",
    "lazy_value",
    "paid",
    "prompts_used",
    "simulated",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'dokimasia.runs' has no attribute {name!r}")
    return getattr(importlib.import_module(f"dokimasia.runs.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
