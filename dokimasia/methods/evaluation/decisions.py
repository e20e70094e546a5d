"""An evaluation's decisions on which answers are right, as rates to be corrected."""

from collections.abc import Mapping

from dokimasia.algorithms.correction import DecidedLabel
from dokimasia.domain.annotation import SCORE, AnnotationUnit
from dokimasia.domain.judgement import FinalAnswer, correctness_of
from dokimasia.methods.evaluation.plan import EvaluationPlan
from dokimasia.runs.decisions import AnswerScore, DecidedAnswer, DecidedRun, Measure
from dokimasia.runs.figures import shown_name, simulated_names
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, samples_by_id


def decisions(home: Home, run: Run) -> DecidedRun:
    """Return an evaluation's decisions on whether answers are right, for correction by the judge's error rates."""
    plan = run.plan_as(EvaluationPlan)
    samples = samples_by_id(home, run.id)
    clusters = {id: sample.cluster for id, sample in samples.items() if sample.accepted}
    return DecidedRun(
        measures=(_right(home, run, clusters),),
        judge=None if plan.judge is None else plan.judge_of("score"),
        prompts=plan.prompts,
        tools=bool(plan.tools),
        simulated=tuple(simulated_names(plan.models.values())),
        categories={id: sample.category or "" for id, sample in samples.items()},
        scores=_scores(home, run, {id: sample.cluster for id, sample in samples.items()}),
    )


def _scores(home: Home, run: Run, clusters: Mapping[str, str]) -> dict[str, list[AnswerScore]]:
    """Return the judge's original scores of each model's answers."""
    models: dict[str, list[AnswerScore]] = {}
    for row in results(home, run.id, as_judged=True):
        if row.kind == "score" and row.score is not None:
            name = shown_name(row.model, row.arm)
            unit = AnnotationUnit(row.sample_id, SCORE, name)
            models.setdefault(name, []).append(AnswerScore(unit, row.repeat, clusters[row.sample_id], row.score))
    return models


def _right(home: Home, run: Run, clusters: Mapping[str, str]) -> Measure:
    """Return the measure `right`: each model's decided answers to samples with a reference answer."""
    # As judged: error rates are measured on answers drawn at random, and hand-corrected answers are not.
    all_rows = results(home, run.id, as_judged=True)
    rows = [row for row in all_rows if row.kind == "score" and row.sample_id in clusters]
    finals = find_values(home, FinalAnswer, [row.final_id for row in rows])
    models: dict[str, list[DecidedAnswer]] = {}
    for row in rows:
        final, correctness = finals.get(row.final_id or ""), correctness_of(row.verdict, row.failure)
        decision = None
        if final is not None and correctness != "failed":
            decision = DecidedLabel(correctness == "right", final.rule == "judge")
        name = shown_name(row.model, row.arm)
        unit, cluster = AnnotationUnit(row.sample_id, SCORE, name), clusters[row.sample_id]
        models.setdefault(name, []).append(
            DecidedAnswer(unit, row.repeat, cluster, decision, correctness == "undecided")
        )
    return Measure("right", "answers that are right", "right-or-wrong", "", "", models)
