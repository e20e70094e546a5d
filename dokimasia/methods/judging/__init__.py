"""Judging methods compared with human rankings: which way of judging orders responses as people do (ATOM, 4.1)."""

from functools import partial

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.judging.accepting import accept, resumable
from dokimasia.methods.judging.request import METHODS, JudgingPlan, JudgingRequest
from dokimasia.methods.judging.results import COLUMNS, cells, judging_items, judging_summary
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import Method, later, lazily

METHOD: Method[JudgingRequest, JudgingPlan] = Method(
    name="judging",
    title="a comparison of judging methods",
    request=JudgingRequest,
    plan=JudgingPlan,
    accept=accept,
    stages=lazily("dokimasia.methods.judging.work", "stages"),
    drawing=later("dokimasia.methods.judging.blocks", "DRAWING"),
    previews=lazily("dokimasia.methods.judging.previews", "previews"),
    figures=judging_summary,
    shape=later("dokimasia.methods.judging.shape", "JudgingFigures"),
    graphs=versions_of(
        "batch_ranking", "checkpoint_scoring", "cognitive_replay", "criteria_making", "response_judging"
    ),
    resumable=resumable,
    items=judging_items,
    items_shown=False,
    row_name="judgements",
    columns=COLUMNS,
    cells=cells,
    diff="its judges and methods are compared within one run, pair by pair, with tests (see the gaps that it prints)",
)

compare_judging = partial(run_method, METHOD)
"""Compare judging methods: `await compare_judging(JudgingRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "METHODS", "JudgingPlan", "JudgingRequest", "compare_judging"]
