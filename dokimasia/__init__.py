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
    from dokimasia.runner.audit_plan import AuditRequest
    from dokimasia.runner.auditing import audit
    from dokimasia.runner.checking import decide, pending_checks
    from dokimasia.runner.embedding import memory_context, refine_one
    from dokimasia.runner.evaluation import EvaluationRequest, EvaluationResult, evaluate
    from dokimasia.runner.forking import ForkRequest, fork
    from dokimasia.runner.graph_run import GraphRequest, run_graph
    from dokimasia.runner.growing import GrowthRequest, grow_tree, grow_tree_sync
    from dokimasia.runner.refining import RefinementRequest, refine
    from dokimasia.runner.rubric_making import make_rubrics
    from dokimasia.runner.rubric_plan import RubricRequest
    from dokimasia.runner.sync import evaluate_sync
    from dokimasia.settings import Settings, load_settings
    from dokimasia.storage.memory import MemoryBlobs, MemoryLedger, MemoryStore

__version__ = "0.1.0"

_HOMES: dict[str, str] = {
    "AuditRequest": "dokimasia.runner.audit_plan",
    "Chat": "dokimasia.domain.call",
    "CheckpointScores": "dokimasia.domain.judgement",
    "Context": "dokimasia.graphs.context",
    "CriteriaSet": "dokimasia.domain.criterion",
    "Criterion": "dokimasia.domain.criterion",
    "DokimasiaError": "dokimasia.errors",
    "EvaluationRequest": "dokimasia.runner.evaluation",
    "EvaluationResult": "dokimasia.runner.evaluation",
    "Failed": "dokimasia.domain.judgement",
    "ForkRequest": "dokimasia.runner.forking",
    "FunctionGateway": "dokimasia.gateway.doubles",
    "GraphOptions": "dokimasia.domain.options",
    "GraphRequest": "dokimasia.runner.graph_run",
    "GrowthRequest": "dokimasia.runner.growing",
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
    "RefinementRequest": "dokimasia.runner.refining",
    "Response": "dokimasia.domain.judgement",
    "RubricRequest": "dokimasia.runner.rubric_plan",
    "Sample": "dokimasia.domain.sample",
    "Sampling": "dokimasia.domain.call",
    "Scored": "dokimasia.domain.judgement",
    "ScriptedGateway": "dokimasia.gateway.doubles",
    "Settings": "dokimasia.settings",
    "UnparsableReply": "dokimasia.errors",
    "as_runnable": "dokimasia.graphs.drive",
    "audit": "dokimasia.runner.auditing",
    "decide": "dokimasia.runner.checking",
    "evaluate": "dokimasia.runner.evaluation",
    "evaluate_sync": "dokimasia.runner.sync",
    "fork": "dokimasia.runner.forking",
    "grow_tree": "dokimasia.runner.growing",
    "grow_tree_sync": "dokimasia.runner.growing",
    "load_settings": "dokimasia.settings",
    "make_rubrics": "dokimasia.runner.rubric_making",
    "memory_context": "dokimasia.runner.embedding",
    "pending_checks": "dokimasia.runner.checking",
    "refine": "dokimasia.runner.refining",
    "refine_one": "dokimasia.runner.embedding",
    "refinement_runnable": "dokimasia.graphs.refinement.one_refinement",
    "run_graph": "dokimasia.runner.graph_run",
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
    "EvaluationResult",
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
