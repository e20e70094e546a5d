"""A fingerprint test: request, plan, and acceptance (tables of one half of the samples, trials from the other)."""

import asyncio
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.diagnosis.tables import Diagnosis
from dokimasia.domain.identity import digest, value_id
from dokimasia.errors import InputError
from dokimasia.methods.diagnosis import (
    PICK_TOKENS,
    REPORT_TOKENS,
    WRITING,
    WordsPlan,
    WordsRequest,
    diagnosis_of,
    gather,
    report_calls,
    written_from,
)
from dokimasia.methods.fingerprints.trials import TrialDraw, draw_tasks, halves, restricted, tasks_of, untested_of
from dokimasia.methods.tree import evaluation_of
from dokimasia.runs.estimate import ExpectedCalls, total_estimate
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.requests import Option
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

NAME = "fingerprint"
"""The method's name."""

MATCH = "match"
"""The kind of the result row of the judge's match; its `model` and `arm` are the trial's two models."""

MATCHING = ("fingerprint_match",)
ANSWER_TOKENS = 350


class FingerprintRequest(WordsRequest):
    """Test whether reports on the models of RUN can be matched, without names, to answers that they were not written from.

    The trials of a pair share no sample, so small data sets have fewer trials. The same command continues an
    interrupted test, or prints its results.
    """

    VERB: ClassVar[str] = "diagnose --fingerprint"

    responses: int = Field(
        default=30, ge=2, le=50, description="Answers of each model that a trial of --fingerprint shows."
    )
    trials: int = Field(
        default=10, ge=1, le=100, description="Trials a pair of --fingerprint, at most; they share no sample."
    )
    by_hand: bool = Field(
        default=False, description="--fingerprint: the judge only writes; a person matches what --export wrote."
    )
    export: Annotated[Path | None, Option(metavar="DIR", written=True)] = Field(
        default=None, description="Write all as CSV and PNG, and of --fingerprint the trials for a person."
    )


class FingerprintPlan(WordsPlan):
    """The plan of a fingerprint test: the tables of one half, and the number and hash of the drawn trials."""

    responses: int
    tasks: int
    drawn: str


async def accept(request: FingerprintRequest, session: Session) -> Accepted[FingerprintPlan]:
    """Validate a request, draw the trials (a fork uses its parent's), and return plan and estimate.

    Raises:
        InputError: the run has one model, no scores, or too few samples, or the judge is unknown.
    """
    home = session.opened
    request = request.model_copy(update={"by_hand": False})
    if session.source_run is not None:
        origin = session.source_run
        diagnosis = written_from(home, origin)
        draw = TrialDraw([task for _, task in tasks_of(home, origin)], untested_of(origin))
    else:
        origin, own_tree = evaluation_of(home, request.run)
        request = request.model_copy(update={"run": origin.id, "tree": request.tree or own_tree})
        diagnosis, draw = await asyncio.to_thread(_tables_and_trials, home, origin, request)
    ids = [value_id(task) for task in draw.tasks]
    plan = FingerprintPlan(
        seed=diagnosis.seed,
        prompts=prompts_used(session.library, (*WRITING, *MATCHING)),
        source=diagnosis.run,
        diagnosis=value_id(diagnosis),
        judge=session.model(request.judge),
        responses=request.responses,
        tasks=len(ids),
        drawn=digest("tasks", ids),
    )
    models = len(diagnosis.models)
    reports = models + (models > 1)
    trial_tokens = 2 * plan.responses * ANSWER_TOKENS + 2 * REPORT_TOKENS
    calls = [*report_calls(plan.judge, models), ExpectedCalls(plan.judge, plan.tasks, trial_tokens, PICK_TOKENS)]
    return Accepted(
        plan=plan,
        estimate=total_estimate(calls, plan.tasks, items=plan.tasks + reports),
        data_name=origin.data_name,
        data_hash=plan.diagnosis,
        values=(diagnosis, *draw.tasks),
        notes={"tasks": ids, "untested": draw.untested},
        request=request,
    )


def _tables_and_trials(home: Home, source: Run, request: FingerprintRequest) -> tuple[Diagnosis, TrialDraw]:
    """Return the tables of one half of the samples, and the trials from the other."""
    gathered = gather(home, source, tree=request.tree, seed=request.seed)
    seed, models = gathered.material.seed, gathered.material.models
    if len(models) < 2:
        raise InputError(f"run {source.id} has one model, {', '.join(models)}: fingerprints tell two or more apart")
    parts = halves(home, source, seed)
    draw = draw_tasks(
        home, source, models, parts.answers, responses=request.responses, trials=request.trials, seed=seed
    )
    half = gathered._replace(material=restricted(gathered.material, parts.reports))
    return diagnosis_of(source, half), draw
