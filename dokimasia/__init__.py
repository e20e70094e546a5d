"""Dokimasia finds out what multimodal models can really do, says why they fail, and helps them correct themselves.

The names below are the front door; each is loaded when it is first used, so that importing the package costs nothing. A
verb is an asynchronous function; `VERB_sync` does the same for callers without an event loop.
"""

import importlib
from typing import TYPE_CHECKING, Any

from dokimasia.version import __version__ as __version__

if TYPE_CHECKING:
    from pathlib import Path

    from dokimasia.client import Client, ClientRun
    from dokimasia.domain.call import Chat, ModelRef, ModelSpec, Sampling
    from dokimasia.domain.criterion import CriteriaSet, Criterion, ReferenceChain
    from dokimasia.domain.diagnosis.tables import Diagnosis
    from dokimasia.domain.judgement import CheckpointScores, Failed, Response, Scored
    from dokimasia.domain.options import GraphOptions
    from dokimasia.domain.passport import Passport
    from dokimasia.domain.refinement import Refined
    from dokimasia.domain.sample import ImageRef, Sample
    from dokimasia.errors import (
        CallFailed,
        ConfigError,
        DataError,
        DecidedMeanwhile,
        DokimasiaError,
        HomeLocked,
        ImpossibleHome,
        InputError,
        Interrupted,
        LoopRunning,
        NewerHome,
        NotFound,
        OlderHome,
        StorageError,
        ToolFailure,
        TransportError,
        UnparsableReply,
        Unreachable,
    )
    from dokimasia.gateway.doubles import FunctionGateway, ScriptedGateway
    from dokimasia.graphs.context import Context
    from dokimasia.graphs.refinement.one_refinement import refinement_runnable
    from dokimasia.graphs.runnable import GraphRunnable
    from dokimasia.methods.arena import ArenaRequest, arena
    from dokimasia.methods.audit import AuditRequest, audit
    from dokimasia.methods.audit.analyses import AnalysedAudit
    from dokimasia.methods.density import FilterRequest
    from dokimasia.methods.density import filter_images as filter
    from dokimasia.methods.diagnosis import WordsRequest, write_diagnosis
    from dokimasia.methods.duel import DuelRequest, duel
    from dokimasia.methods.evaluation import EvaluationRequest, evaluate
    from dokimasia.methods.fingerprints import FingerprintRequest, match_fingerprints
    from dokimasia.methods.graph import GraphRequest, run_graph
    from dokimasia.methods.judging import JudgingRequest, compare_judging
    from dokimasia.methods.modes import ModesRequest
    from dokimasia.methods.modes import find_modes as modes
    from dokimasia.methods.perturb import PerturbRequest, perturb
    from dokimasia.methods.probe import ProbeRequest, probe
    from dokimasia.methods.quality import QualityRequest, rate_criteria
    from dokimasia.methods.refinement import RefinementRequest, refine
    from dokimasia.methods.refinement.embedding import refine_one
    from dokimasia.methods.review import ReviewRequest, review
    from dokimasia.methods.rubrics import RubricRequest, make_rubrics
    from dokimasia.methods.tree import GrowthRequest, grow_tree
    from dokimasia.operations.judge_checks import JudgeCheckRequest, check_judge
    from dokimasia.operations.runs import RunDetail, RunShown
    from dokimasia.operations.verbs import (
        analyse,
        board,
        bundle,
        compare_judgements,
        correct,
        diagnose,
        diff,
        export,
        fork,
        gate,
        list_runs,
        make_passport,
        open_bundle,
        resume,
        show,
        write_report,
        wrong_answers,
    )
    from dokimasia.people.checks import decide, pending_checks
    from dokimasia.people.correction.shape import CorrectionFigures
    from dokimasia.people.judgements.shape import JudgementFigures
    from dokimasia.people.passports import JudgeCheck
    from dokimasia.report.board import Board
    from dokimasia.report.comparison import RunComparison
    from dokimasia.report.gate import Gate
    from dokimasia.report.wrong import WrongAnswers
    from dokimasia.runs.embedding import as_runnable, memory_context
    from dokimasia.runs.forking import ForkRequest
    from dokimasia.runs.lifecycle import RunResult
    from dokimasia.runs.method import Export
    from dokimasia.runs.verbs import SyncVerb
    from dokimasia.settings import Settings, load_settings
    from dokimasia.storage.bundles import Opened
    from dokimasia.storage.home import Home
    from dokimasia.storage.memory import MemoryBlobs, MemoryLedger, MemoryStore

    analyse_sync: SyncVerb[AnalysedAudit]
    arena_sync: SyncVerb[RunResult]
    audit_sync: SyncVerb[RunResult]
    board_sync: SyncVerb[Board]
    bundle_sync: SyncVerb[Path]
    check_judge_sync: SyncVerb[JudgeCheck]
    compare_judgements_sync: SyncVerb[JudgementFigures]
    compare_judging_sync: SyncVerb[RunResult]
    correct_sync: SyncVerb[CorrectionFigures]
    diagnose_sync: SyncVerb[Diagnosis]
    diff_sync: SyncVerb[RunComparison]
    duel_sync: SyncVerb[RunResult]
    evaluate_sync: SyncVerb[RunResult]
    export_sync: SyncVerb[Export]
    filter_sync: SyncVerb[RunResult]
    fork_sync: SyncVerb[RunResult]
    gate_sync: SyncVerb[Gate]
    grow_tree_sync: SyncVerb[RunResult]
    list_runs_sync: SyncVerb[list[RunShown]]
    make_passport_sync: SyncVerb[Passport]
    make_rubrics_sync: SyncVerb[RunResult]
    match_fingerprints_sync: SyncVerb[RunResult]
    modes_sync: SyncVerb[RunResult]
    open_bundle_sync: SyncVerb[Opened]
    perturb_sync: SyncVerb[RunResult]
    probe_sync: SyncVerb[RunResult]
    rate_criteria_sync: SyncVerb[RunResult]
    refine_sync: SyncVerb[RunResult]
    resume_sync: SyncVerb[RunResult]
    review_sync: SyncVerb[RunResult]
    run_graph_sync: SyncVerb[RunResult]
    show_sync: SyncVerb[RunDetail]
    write_diagnosis_sync: SyncVerb[RunResult]
    write_report_sync: SyncVerb[Path]
    wrong_answers_sync: SyncVerb[WrongAnswers]

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
        "errors": (
            "CallFailed",
            "ConfigError",
            "DataError",
            "DecidedMeanwhile",
            "DokimasiaError",
            "HomeLocked",
            "ImpossibleHome",
            "InputError",
            "Interrupted",
            "LoopRunning",
            "NewerHome",
            "NotFound",
            "OlderHome",
            "StorageError",
            "ToolFailure",
            "TransportError",
            "UnparsableReply",
            "Unreachable",
        ),
        "gateway.doubles": ("FunctionGateway", "ScriptedGateway"),
        "graphs.context": ("Context",),
        "graphs.refinement.one_refinement": ("refinement_runnable",),
        "graphs.runnable": ("GraphRunnable",),
        "methods.arena": ("ArenaRequest", "arena"),
        "methods.audit": ("AuditRequest", "audit"),
        "methods.density": ("FilterRequest", "filter"),
        "methods.diagnosis": ("WordsRequest", "write_diagnosis"),
        "methods.duel": ("DuelRequest", "duel"),
        "methods.evaluation": ("EvaluationRequest", "evaluate"),
        "methods.fingerprints": ("FingerprintRequest", "match_fingerprints"),
        "methods.graph": ("GraphRequest", "run_graph"),
        "methods.judging": ("JudgingRequest", "compare_judging"),
        "methods.modes": ("ModesRequest", "modes"),
        "methods.perturb": ("PerturbRequest", "perturb"),
        "methods.probe": ("ProbeRequest", "probe"),
        "methods.quality": ("QualityRequest", "rate_criteria"),
        "methods.refinement": ("RefinementRequest", "refine"),
        "methods.refinement.embedding": ("refine_one",),
        "methods.review": ("ReviewRequest", "review"),
        "methods.rubrics": ("RubricRequest", "make_rubrics"),
        "methods.tree": ("GrowthRequest", "grow_tree"),
        "operations.judge_checks": ("JudgeCheckRequest", "check_judge"),
        "operations.verbs": (
            "analyse",
            "board",
            "bundle",
            "compare_judgements",
            "correct",
            "diagnose",
            "diff",
            "export",
            "fork",
            "gate",
            "list_runs",
            "make_passport",
            "open_bundle",
            "resume",
            "show",
            "write_report",
            "wrong_answers",
        ),
        "people.checks": ("decide", "pending_checks"),
        "runs.embedding": ("as_runnable", "memory_context"),
        "runs.forking": ("ForkRequest",),
        "runs.lifecycle": ("RunResult",),
        "settings": ("Settings", "load_settings"),
        "storage.home": ("Home",),
        "storage.memory": ("MemoryBlobs", "MemoryLedger", "MemoryStore"),
    }.items()
    for name in names
}
"""The module of each public name."""

_CALLED = {"filter": "filter_images", "modes": "find_modes"}
"""The name in its module, for public names that differ."""

_SYNC = "_sync"

__all__ = [
    "ArenaRequest",
    "AuditRequest",
    "CallFailed",
    "Chat",
    "CheckpointScores",
    "Client",
    "ClientRun",
    "ConfigError",
    "Context",
    "CriteriaSet",
    "Criterion",
    "DataError",
    "DecidedMeanwhile",
    "DokimasiaError",
    "DuelRequest",
    "EvaluationRequest",
    "Failed",
    "FilterRequest",
    "FingerprintRequest",
    "ForkRequest",
    "FunctionGateway",
    "GraphOptions",
    "GraphRequest",
    "GraphRunnable",
    "GrowthRequest",
    "Home",
    "HomeLocked",
    "ImageRef",
    "ImpossibleHome",
    "InputError",
    "Interrupted",
    "JudgeCheckRequest",
    "JudgingRequest",
    "LoopRunning",
    "MemoryBlobs",
    "MemoryLedger",
    "MemoryStore",
    "ModelRef",
    "ModelSpec",
    "ModesRequest",
    "NewerHome",
    "NotFound",
    "OlderHome",
    "PerturbRequest",
    "ProbeRequest",
    "QualityRequest",
    "ReferenceChain",
    "Refined",
    "RefinementRequest",
    "Response",
    "ReviewRequest",
    "RubricRequest",
    "RunResult",
    "Sample",
    "Sampling",
    "Scored",
    "ScriptedGateway",
    "Settings",
    "StorageError",
    "ToolFailure",
    "TransportError",
    "UnparsableReply",
    "Unreachable",
    "WordsRequest",
    "__version__",
    "analyse",
    "analyse_sync",
    "arena",
    "arena_sync",
    "as_runnable",
    "audit",
    "audit_sync",
    "board",
    "board_sync",
    "bundle",
    "bundle_sync",
    "check_judge",
    "check_judge_sync",
    "compare_judgements",
    "compare_judgements_sync",
    "compare_judging",
    "compare_judging_sync",
    "correct",
    "correct_sync",
    "decide",
    "diagnose",
    "diagnose_sync",
    "diff",
    "diff_sync",
    "duel",
    "duel_sync",
    "evaluate",
    "evaluate_sync",
    "export",
    "export_sync",
    "filter",
    "filter_sync",
    "fork",
    "fork_sync",
    "gate",
    "gate_sync",
    "grow_tree",
    "grow_tree_sync",
    "list_runs",
    "list_runs_sync",
    "load_settings",
    "make_passport",
    "make_passport_sync",
    "make_rubrics",
    "make_rubrics_sync",
    "match_fingerprints",
    "match_fingerprints_sync",
    "memory_context",
    "modes",
    "modes_sync",
    "open_bundle",
    "open_bundle_sync",
    "pending_checks",
    "perturb",
    "perturb_sync",
    "probe",
    "probe_sync",
    "rate_criteria",
    "rate_criteria_sync",
    "refine",
    "refine_one",
    "refine_sync",
    "refinement_runnable",
    "resume",
    "resume_sync",
    "review",
    "review_sync",
    "run_graph",
    "run_graph_sync",
    "show",
    "show_sync",
    "write_diagnosis",
    "write_diagnosis_sync",
    "write_report",
    "write_report_sync",
    "wrong_answers",
    "wrong_answers_sync",
]


def __getattr__(name: str) -> Any:
    base = name.removesuffix(_SYNC)
    if name not in __all__ or base not in _MODULES:
        raise AttributeError(f"module 'dokimasia' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[base]), _CALLED.get(base, base))
    if name == base:
        return value
    from dokimasia.runs.verbs import sync

    return sync(value)


def __dir__() -> list[str]:
    return __all__
