"""Dokimasia finds out what multimodal models can really do, says why they fail, and helps them correct themselves.

The names below are the front door; each is loaded when it is first used, so that importing the package costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

from dokimasia.version import __version__ as __version__

if TYPE_CHECKING:
    from dokimasia.client import Client, ClientRun
    from dokimasia.domain.call import Chat, ModelRef, ModelSpec, Sampling
    from dokimasia.domain.criterion import CriteriaSet, Criterion, ReferenceChain
    from dokimasia.domain.judgement import CheckpointScores, Failed, Response, Scored
    from dokimasia.domain.options import GraphOptions
    from dokimasia.domain.refinement import Refined
    from dokimasia.domain.sample import ImageRef, Sample
    from dokimasia.errors import DokimasiaError, InputError, Interrupted, UnparsableReply
    from dokimasia.gateway.doubles import FunctionGateway, ScriptedGateway
    from dokimasia.graphs.context import Context
    from dokimasia.graphs.refinement.one_refinement import refinement_runnable
    from dokimasia.methods.audit import AuditRequest, audit
    from dokimasia.methods.evaluation import EvaluationRequest, evaluate, evaluate_sync
    from dokimasia.methods.graph import GraphRequest, run_graph
    from dokimasia.methods.judging import JudgingRequest, compare_judging
    from dokimasia.methods.refinement import RefinementRequest, refine
    from dokimasia.methods.refinement.embedding import refine_one
    from dokimasia.methods.rubrics import RubricRequest, make_rubrics
    from dokimasia.methods.tree import GrowthRequest, grow_tree, grow_tree_sync
    from dokimasia.people.checks import decide, pending_checks
    from dokimasia.runs.embedding import as_runnable, memory_context
    from dokimasia.runs.forking import ForkRequest, fork
    from dokimasia.runs.lifecycle import RunResult
    from dokimasia.settings import Settings, load_settings
    from dokimasia.storage.memory import MemoryBlobs, MemoryLedger, MemoryStore

_MODULES = {
    name: f"dokimasia.{module}"
    for module, names in {
        "client": ("Client", "ClientRun"),
        "domain.call": ("Chat", "ModelRef", "ModelSpec", "Sampling"),
        "domain.criterion": ("CriteriaSet", "Criterion", "ReferenceChain"),
        "domain.judgement": ("CheckpointScores", "Failed", "Response", "Scored"),
        "domain.options": ("GraphOptions",),
        "domain.refinement": ("Refined",),
        "domain.sample": ("ImageRef", "Sample"),
        "errors": ("DokimasiaError", "InputError", "Interrupted", "UnparsableReply"),
        "gateway.doubles": ("FunctionGateway", "ScriptedGateway"),
        "graphs.context": ("Context",),
        "runs.embedding": ("as_runnable", "memory_context"),
        "graphs.refinement.one_refinement": ("refinement_runnable",),
        "methods.audit": ("AuditRequest", "audit"),
        "methods.evaluation": ("EvaluationRequest", "evaluate", "evaluate_sync"),
        "methods.graph": ("GraphRequest", "run_graph"),
        "methods.judging": ("JudgingRequest", "compare_judging"),
        "methods.refinement": ("RefinementRequest", "refine"),
        "methods.refinement.embedding": ("refine_one",),
        "methods.rubrics": ("RubricRequest", "make_rubrics"),
        "methods.tree": ("GrowthRequest", "grow_tree", "grow_tree_sync"),
        "people.checks": ("decide", "pending_checks"),
        "runs.forking": ("ForkRequest", "fork"),
        "runs.lifecycle": ("RunResult",),
        "settings": ("Settings", "load_settings"),
        "storage.memory": ("MemoryBlobs", "MemoryLedger", "MemoryStore"),
    }.items()
    for name in names
}
"""By name of the front door: the module that it comes from."""

__all__ = [
    "AuditRequest",
    "Chat",
    "CheckpointScores",
    "Client",
    "ClientRun",
    "Context",
    "CriteriaSet",
    "Criterion",
    "DokimasiaError",
    "EvaluationRequest",
    "Failed",
    "ForkRequest",
    "FunctionGateway",
    "GraphOptions",
    "GraphRequest",
    "GrowthRequest",
    "ImageRef",
    "InputError",
    "Interrupted",
    "JudgingRequest",
    "MemoryBlobs",
    "MemoryLedger",
    "MemoryStore",
    "ModelRef",
    "ModelSpec",
    "ReferenceChain",
    "Refined",
    "RefinementRequest",
    "Response",
    "RubricRequest",
    "RunResult",
    "Sample",
    "Sampling",
    "Scored",
    "ScriptedGateway",
    "Settings",
    "UnparsableReply",
    "__version__",
    "as_runnable",
    "audit",
    "compare_judging",
    "decide",
    "evaluate",
    "evaluate_sync",
    "fork",
    "grow_tree",
    "grow_tree_sync",
    "load_settings",
    "make_rubrics",
    "memory_context",
    "pending_checks",
    "refine",
    "refine_one",
    "refinement_runnable",
    "run_graph",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'dokimasia' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
