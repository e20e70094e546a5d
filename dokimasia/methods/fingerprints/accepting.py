"""How a test of fingerprints is accepted: tables made of one half of the samples, trials drawn from the other."""

import asyncio

from dokimasia.domain.diagnosis.tables import Diagnosis
from dokimasia.domain.identity import digest, value_id
from dokimasia.errors import InputError
from dokimasia.methods.diagnosis import (
    PICK_TOKENS,
    REPORT_TOKENS,
    WRITING,
    diagnosis_of,
    gather,
    reports_asked,
    written_from,
)
from dokimasia.methods.fingerprints.request import FingerprintPlan, FingerprintRequest
from dokimasia.methods.fingerprints.tasks import TrialDraw, draw_tasks, halves, restricted, tasks_of, untested_of
from dokimasia.methods.tree import evaluation_of
from dokimasia.runs.estimate import Asking, added_up
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

MATCHING = ("fingerprint_match",)
ANSWER_TOKENS = 350


async def accept(request: FingerprintRequest, session: Session) -> Accepted[FingerprintPlan]:
    """Make the tables and draw the trials, or take those of the test that is forked, and find the judge.

    Raises:
        InputError: the run has one model, no scores, or too few samples, or the judge is not known.
    """
    home, asked = session.opened, request.model_copy(update={"by_hand": False})
    if session.forked is not None:
        origin = session.forked
        diagnosis = written_from(home, origin)
        drawn = TrialDraw([task for _, task in tasks_of(home, origin)], untested_of(origin))
    else:
        origin, own = evaluation_of(home, request.run)
        asked = asked.model_copy(update={"run": origin.id, "tree": request.tree or own})
        diagnosis, drawn = await asyncio.to_thread(_halved, home, origin, asked)
    ids = [value_id(task) for task in drawn.tasks]
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
    sent = 2 * plan.responses * ANSWER_TOKENS + 2 * REPORT_TOKENS
    reports = len(diagnosis.models) + (len(diagnosis.models) > 1)
    matched = Asking(plan.judge, plan.tasks, sent, PICK_TOKENS)
    return Accepted(
        plan=plan,
        estimate=added_up(
            [*reports_asked(plan.judge, len(diagnosis.models)), matched], plan.tasks, items=plan.tasks + reports
        ),
        data_name=origin.data_name,
        data_hash=plan.diagnosis,
        values=(diagnosis, *drawn.tasks),
        notes={"tasks": ids, "untested": drawn.untested},
        request=asked,
    )


def _halved(home: Home, source: Run, request: FingerprintRequest) -> tuple[Diagnosis, TrialDraw]:
    """Return the tables of one half, and the trials of the other."""
    gathered = gather(home, source, tree=request.tree, seed=request.seed)
    seed, models = gathered.material.seed, gathered.material.models
    if len(models) < 2:
        raise InputError(f"run {source.id} has one model, {', '.join(models)}: fingerprints tell two or more apart")
    parts = halves(home, source, seed)
    drawn = draw_tasks(
        home, source, models, parts.answers, responses=request.responses, trials=request.trials, seed=seed
    )
    half = gathered._replace(material=restricted(gathered.material, parts.reports))
    return diagnosis_of(source, half), drawn
