"""What a fork takes over from the run that it branched off: for each work item, its outcome or where it begins."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import digest
from dokimasia.domain.judgement import FailureKind
from dokimasia.errors import InputError
from dokimasia.methods.evaluation.plan import EvaluationPlan, replay_item
from dokimasia.methods.evaluation.retrying import judge_agreed
from dokimasia.methods.evaluation.steps import NAMES, STEPS
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.retries import retries
from dokimasia.storage.runs import Run, run_samples


class ResumePoint(NamedTuple):
    """Where an item of a fork begins: with an outcome that is taken over whole, or in its graph with what was there.

    `inputs` are the graph's: ids of a chain or an answer, and the ledger keys of the calls that made it.
    """

    row: ResultRow | None = None
    inputs: Mapping[str, Any] = {}


def taken_over(home: Home, run_id: str, redone: Collection[str]) -> dict[str, ResumePoint]:
    """Return, by item, what is taken over from a run when some steps are done again; an item begun anew is not there.

    What failed before the first step that is done again stays failed: it is taken over as it was, and not asked again.

    Raises:
        InputError: the criteria were imported without their chains, and a chain is needed.
    """
    rows = results(home, run_id, as_judged=True)
    replays = {row.sample_id: row for row in rows if row.kind == "replay"}
    ledger = SqliteLedger(home)
    kept = {prompt for step in STEPS if step.name not in redone for prompt in step.prompts}
    answering = {prompt for step in STEPS if step.name == "answer" for prompt in step.prompts}
    labels = {key: used.label for key, used in ledger.calls_for(key for row in rows for key in row.calls).items()}

    def calls(row: ResultRow) -> list[str]:
        """The calls of the steps that are not done again; of an answer, those that brought it."""
        of_steps = kept & answering if row.kind == "score" else kept
        return [key for key in row.calls if labels.get(key) in of_steps]

    found: dict[str, ResumePoint] = {}
    for row in rows:
        beginning = None
        if row.kind == "replay":
            beginning = _replay(row, redone, calls(row), ledger)
        elif row.kind == "score" and "answer" not in redone:
            beginning = _answer(row, replays.get(row.sample_id), calls(row))
        if beginning is not None:
            found[row.item] = beginning
    return found


def taken_digest(taken: Mapping[str, ResumePoint]) -> str:
    """Return a hash of what is taken over: outcomes by their values' ids, never by when they came."""
    return digest(
        "taken/1",
        [
            [item, dict(one.inputs), None if one.row is None else one.row.model_dump(mode="json", exclude={"run_id"})]
            for item, one in sorted(taken.items())
        ],
    )


def may_ask(items: Iterable[str], taken: Mapping[str, ResumePoint]) -> set[str]:
    """Return the steps that the items may have to ask a model in, given where they begin."""
    steps: set[str] = set()
    for item in items:
        begun = taken.get(item, ResumePoint())
        if begun.row is not None:
            continue
        if item.startswith("score/"):
            steps |= {"score"} if "response" in begun.inputs else {"answer", "score"}
        else:
            steps |= {"judge_criteria"} if "criteria" in begun.inputs else {"extract_criteria", "judge_criteria"}
            if "agreed" not in begun.inputs:
                steps |= {"write_chain", "judge_chain"}
    return steps


def taken_by(home: Home, run_id: str, plan: EvaluationPlan) -> dict[str, ResumePoint]:
    """Return what a forked run takes over, checked to be what it took over when it was accepted; else nothing.

    Raises:
        InputError: the run that it branched off has changed or is gone.
    """
    fork = plan.fork
    if fork is None:
        return {}
    taken = taken_over(home, fork.parent, fork.redone)
    if taken_digest(taken) != fork.taken:
        raise InputError(
            f"run {run_id} was forked from run {fork.parent}, which has changed since or was deleted, so that what "
            "was to be taken over is not there as it was; fork anew"
        )
    return taken


def reached(home: Home, run: Run, plan: EvaluationPlan, retry: Collection[FailureKind] = ()) -> Mapping[str, ModelSpec]:
    """Return the models that a run may have to ask: in a fork, a model whose steps are all taken over needs no key.

    A retry may go back to any step, also to one whose failure was taken over.
    """
    if plan.fork is None:
        return plan.models_for(plan.asks)
    taken = taken_by(home, run.id, plan)
    samples = [place.sample_id for place in run_samples(home, run.id)]
    items = [item.name for sample in samples for item in plan.items(sample)]
    steps = may_ask([*map(replay_item, samples), *items], taken)
    if retry or retries(home, run.id):
        failures = any(one.row is not None and one.row.outcome == "failed" for one in taken.values())
        steps |= set(NAMES) if failures or "extract_criteria" in plan.asks else plan.asks
    return plan.models_for(steps)


def _replay(row: ResultRow, redone: Collection[str], calls: list[str], ledger: SqliteLedger) -> ResumePoint | None:
    if "judge_criteria" not in redone:
        return ResumePoint(row=row)
    if "write_chain" in redone:
        return None
    if row.chain_id is None:
        if row.outcome == "made":
            raise InputError(
                f"the criteria of run {row.run_id} were imported without their chains (such as that of sample "
                f"{row.sample_id!r}), so there is nothing to go on from; fork from write_chain, answer or score"
            )
        return ResumePoint(row=row)
    if "extract_criteria" not in redone and row.criteria_id is None:
        return ResumePoint(row=row)
    chain: dict[str, Any] = {"chain": row.chain_id, "calls": calls}
    if row.value_ids:
        chain["looks"] = list(row.value_ids)
    if "extract_criteria" not in redone:
        return ResumePoint(inputs={**chain, "agreed": "before", "criteria": row.criteria_id})
    if "judge_chain" in redone:
        return ResumePoint(inputs=chain)
    if row.failure == "reference_contradicted":
        return ResumePoint(row=row)
    agreed = row.outcome == "made" or judge_agreed(row.calls, ledger)
    return ResumePoint(inputs={**chain, "agreed": "before"} if agreed else chain)


def _answer(row: ResultRow, replay: ResultRow | None, calls: list[str]) -> ResumePoint | None:
    if row.response_id is not None:
        return ResumePoint(inputs={"response": row.response_id, "calls": calls})
    never_asked = replay is None or replay.outcome == "failed"
    return None if never_asked else ResumePoint(row=row)
