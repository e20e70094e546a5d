"""What of a stored run is a yes or no about an answer: right or wrong, a gate passed, a must-right rubric that holds."""

from collections.abc import Mapping
from typing import NamedTuple

from dokimasia.algorithms.correction import DecidedLabel
from dokimasia.algorithms.gating import gate
from dokimasia.domain.annotation import HOLDS, SCORE, AnnotationUnit
from dokimasia.domain.blindspots import Evaluator
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Correctness, FinalAnswer, correctness_of
from dokimasia.errors import InputError
from dokimasia.methods.audit import METHOD as AUDIT
from dokimasia.methods.audit import audit_rows
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.runs.figures import shown_name, simulated
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, load_samples

CORRECTED = (EVALUATION.name, AUDIT.name)
"""The methods whose runs have rates to correct."""


class DecidedAnswer(NamedTuple):
    """One answer of a model, or one rubric of one, and what was decided of it; None where the decision failed.

    An `undecided` answer, of which no rule says whether it is right and no judge was asked, counts as decided not to be right.
    `unit` is what people label; `place` tells the answer from others of its model: its sample, the number of the rubric from 1
    (0 for the answer as a whole), and the repeat.
    """

    unit: AnnotationUnit
    repeat: int
    cluster: str
    decision: DecidedLabel | None
    undecided: bool = False

    @property
    def correctness(self) -> Correctness:
        """What is known of it, as strict accuracy counts it."""
        if self.undecided or self.decision is None:
            return "undecided" if self.undecided else "failed"
        return "right" if self.decision.right else "wrong"

    @property
    def place(self) -> tuple[str, int, int]:
        """What it is compared with another model's by."""
        return self.unit.id, self.unit.criterion, self.repeat


class Measure(NamedTuple):
    """One thing that was decided of all answers of a run.

    Attributes:
        name: its key in the figures.
        what: a share of what, in words.
        evaluator: what stands for the decision in a passport; None where no passport measures it.
        without: why no passport speaks of it; empty where one may.
        caveat: what is to be known where a passport corrects it; empty where nothing is.
        models: each model's answers, in the run's order.
    """

    name: str
    what: str
    evaluator: Evaluator | None
    without: str
    caveat: str
    models: Mapping[str, list[DecidedAnswer]]


class DecidedRun(NamedTuple):
    """A run by what was decided in it.

    `judge` is who decided, None where rules alone did; `prompts` are the run's, `categories` each sample's, `clusters` what
    shares an image with it.
    """

    measures: tuple[Measure, ...]
    judge: ModelSpec | None
    prompts: Mapping[str, str]
    tools: bool
    simulated: tuple[str, ...]
    categories: Mapping[str, str]


def judged_run(home: Home, run: Run) -> DecidedRun:
    """Return what was decided in a run of `evaluate` or `audit`.

    Raises:
        InputError: the run is of another kind, or decided nothing.
    """
    samples = {one.id: one for one in load_samples(home, run.id)}
    categories = {id: one.category or "" for id, one in samples.items()}
    if run.method == EVALUATION.name:
        plan, _ = EVALUATION.read(run)
        referenced = {id: one.cluster for id, one in samples.items() if one.accepted}
        measures = (_right(home, run, referenced),)
        judge, tools = None if plan.judge is None else plan.judge_of("score"), bool(plan.tools)
    elif run.method == AUDIT.name:
        plan, _ = AUDIT.read(run)
        measures, judge, tools = _rubrics(home, run), plan.judge, False
    else:
        raise InputError(
            f"run {run.id} is of kind {run.method!r}: rates are corrected of runs of evaluate, whose answers are right or "
            "wrong, and of audit, whose rubrics hold or do not"
        )
    if not any(one.decision for measure in measures for several in measure.models.values() for one in several):
        raise InputError(
            f"run {run.id} has decided of no answer whether it is right: its samples need reference answers"
        )
    return DecidedRun(measures, judge, plan.prompts, tools, tuple(simulated(plan.models.values())), categories)


def _right(home: Home, run: Run, clusters: Mapping[str, str]) -> Measure:
    """Return whether final answers are right, of samples with a reference answer."""
    every = results(home, run.id, as_judged=True)  # its judge is measured against people drawn at random
    rows = [row for row in every if row.kind == EVALUATION.row_kind and row.sample_id in clusters]
    finals = find_values(home, FinalAnswer, [row.final_id for row in rows if row.final_id is not None])
    models: dict[str, list[DecidedAnswer]] = {}
    for row in rows:
        final, known = finals.get(row.final_id or ""), correctness_of(row.verdict, row.failure)
        decision = None
        if final is not None and known != "failed":
            decision = DecidedLabel(known == "right", final.rule == "judge")
        name = shown_name(row.model, row.arm)
        unit, cluster = AnnotationUnit(row.sample_id, SCORE, name), clusters[row.sample_id]
        models.setdefault(name, []).append(DecidedAnswer(unit, row.repeat, cluster, decision, known == "undecided"))
    return Measure("right", "answers that are right", "right-or-wrong", "", "", models)


def _rubrics(home: Home, run: Run) -> tuple[Measure, Measure]:
    """Return which gates are passed, and which must-right rubrics hold."""
    gates: dict[str, list[DecidedAnswer]] = {}
    rubrics: dict[str, list[DecidedAnswer]] = {}
    for row in audit_rows(home, run):
        must_right = None if row.judged is None else row.judged[0]
        passed = None if must_right is None else DecidedLabel(bool(gate(must_right)))
        unit = AnnotationUnit(row.sample_id, SCORE, row.model)
        gates.setdefault(row.model, []).append(DecidedAnswer(unit, row.repeat, row.cluster, passed))
        for number in range(1, row.rubrics[0] + 1):
            holds = None if must_right is None else DecidedLabel(must_right[number - 1])
            unit = AnnotationUnit(row.sample_id, HOLDS, row.model, criterion=number)
            rubrics.setdefault(row.model, []).append(DecidedAnswer(unit, row.repeat, row.cluster, holds))
    caveat = (
        "of gated judging a passport knows how often a planted error changes the judgement of any rubric, so that it speaks of "
        "descriptions without an error rather than of gates"
    )
    without = "a passport speaks of whole descriptions and not of single rubrics: label some with --human"
    return (
        Measure("gate_pass", "descriptions that pass the gate", "gated", "", caveat, gates),
        Measure("must_right", "must-right rubrics that hold", None, without, "", rubrics),
    )
