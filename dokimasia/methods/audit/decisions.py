"""An audit's decisions on gates and must-right rubrics, as rates to be corrected."""

from dokimasia.algorithms.correction import DecidedLabel
from dokimasia.algorithms.gating import gate
from dokimasia.domain.annotation import HOLDS, SCORE, AnnotationUnit
from dokimasia.methods.audit.figures import audit_rows
from dokimasia.methods.audit.request import AuditPlan
from dokimasia.runs.decisions import DecidedAnswer, DecidedRun, Measure
from dokimasia.runs.figures import simulated_names
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, load_samples


def decisions(home: Home, run: Run) -> DecidedRun:
    """Return an audit's decisions on gates and must-right rubrics, for correction by the judge's error rates."""
    plan = run.plan_as(AuditPlan)
    return DecidedRun(
        measures=_rubrics(home, run),
        judge=plan.judge,
        prompts=plan.prompts,
        tools=False,
        simulated=tuple(simulated_names(plan.models.values())),
        categories={sample.id: sample.category or "" for sample in load_samples(home, run.id)},
    )


def _rubrics(home: Home, run: Run) -> tuple[Measure, Measure]:
    """Return the measures `gate_pass` and `must_right`, with the decided answers of each model."""
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
    no_passport = "a passport speaks of whole descriptions and not of single rubrics: label some with --human"
    return (
        Measure("gate_pass", "descriptions that pass the gate", "gated", "", caveat, gates),
        Measure("must_right", "must-right rubrics that hold", None, no_passport, "", rubrics),
    )
