"""Dokimasia finds out what multimodal models can really do, says why they fail, and helps them correct themselves.

The names below are the front door; each is loaded when it is first used, so that importing the package costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dokimasia.domain.call import Chat, ModelRef, ModelSpec, Sampling
    from dokimasia.domain.criterion import CriteriaSet, Criterion, ReferenceChain
    from dokimasia.domain.judgement import CheckpointScores, Failed, Response, Scored
    from dokimasia.domain.options import GraphOptions
    from dokimasia.domain.refinement import Refined
    from dokimasia.domain.sample import ImageRef, Sample
    from dokimasia.errors import DokimasiaError, InputError, Interrupted, UnparsableReply
    from dokimasia.gateway.doubles import FunctionGateway, ScriptedGateway
    from dokimasia.graphs.context import Context
    from dokimasia.graphs.drive import as_runnable
    from dokimasia.graphs.refinement.one_refinement import refinement_runnable
    from dokimasia.methods.audit import AuditRequest, audit
    from dokimasia.methods.checks import decide, pending_checks
    from dokimasia.methods.evaluation import EvaluationRequest, evaluate, evaluate_sync
    from dokimasia.methods.graph import GraphRequest, run_graph
    from dokimasia.methods.refinement import RefinementRequest, refine
    from dokimasia.methods.refinement.embedding import memory_context, refine_one
    from dokimasia.methods.rubrics import RubricRequest, make_rubrics
    from dokimasia.methods.tree import GrowthRequest, grow_tree, grow_tree_sync
    from dokimasia.runs.forking import ForkRequest, fork
    from dokimasia.runs.lifecycle import RunResult
    from dokimasia.settings import Settings, load_settings
    from dokimasia.storage.memory import MemoryBlobs, MemoryLedger, MemoryStore

__version__ = "0.1.0"

_HOMES: dict[str, str] = {
    "AuditRequest": "dokimasia.methods.audit",
    "Chat": "dokimasia.domain.call",
    "CheckpointScores": "dokimasia.domain.judgement",
    "Context": "dokimasia.graphs.context",
    "CriteriaSet": "dokimasia.domain.criterion",
    "Criterion": "dokimasia.domain.criterion",
    "DokimasiaError": "dokimasia.errors",
    "EvaluationRequest": "dokimasia.methods.evaluation",
    "Failed": "dokimasia.domain.judgement",
    "ForkRequest": "dokimasia.runs.forking",
    "FunctionGateway": "dokimasia.gateway.doubles",
    "GraphOptions": "dokimasia.domain.options",
    "GraphRequest": "dokimasia.methods.graph",
    "GrowthRequest": "dokimasia.methods.tree",
    "ImageRef": "dokimasia.domain.sample",
    "InputError": "dokimasia.errors",
    "Interrupted": "dokimasia.errors",
    "MemoryBlobs": "dokimasia.storage.memory",
    "MemoryLedger": "dokimasia.storage.memory",
    "MemoryStore": "dokimasia.storage.memory",
    "ModelRef": "dokimasia.domain.call",
    "ModelSpec": "dokimasia.domain.call",
    "ReferenceChain": "dokimasia.domain.criterion",
    "Refined": "dokimasia.domain.refinement",
    "RefinementRequest": "dokimasia.methods.refinement",
    "RunResult": "dokimasia.runs.lifecycle",
    "Response": "dokimasia.domain.judgement",
    "RubricRequest": "dokimasia.methods.rubrics",
    "Sample": "dokimasia.domain.sample",
    "Sampling": "dokimasia.domain.call",
    "Scored": "dokimasia.domain.judgement",
    "ScriptedGateway": "dokimasia.gateway.doubles",
    "Settings": "dokimasia.settings",
    "UnparsableReply": "dokimasia.errors",
    "as_runnable": "dokimasia.graphs.drive",
    "audit": "dokimasia.methods.audit",
    "decide": "dokimasia.methods.checks",
    "evaluate": "dokimasia.methods.evaluation",
    "evaluate_sync": "dokimasia.methods.evaluation",
    "fork": "dokimasia.runs.forking",
    "grow_tree": "dokimasia.methods.tree",
    "grow_tree_sync": "dokimasia.methods.tree",
    "load_settings": "dokimasia.settings",
    "make_rubrics": "dokimasia.methods.rubrics",
    "memory_context": "dokimasia.methods.refinement.embedding",
    "pending_checks": "dokimasia.methods.checks",
    "refine": "dokimasia.methods.refinement",
    "refine_one": "dokimasia.methods.refinement.embedding",
    "refinement_runnable": "dokimasia.graphs.refinement.one_refinement",
    "run_graph": "dokimasia.methods.graph",
}

__all__ = [
    "AuditRequest",
    "Chat",
    "CheckpointScores",
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
    if name not in _HOMES:
        raise AttributeError(f"module 'dokimasia' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
