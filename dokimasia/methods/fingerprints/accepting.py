"""How a test of fingerprints is accepted: tables made of one half of the samples, trials drawn from the other."""

import asyncio
from typing import NamedTuple

from dokimasia.domain.diagnosis import Diagnosis
from dokimasia.domain.fingerprint import FingerprintTask
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
from dokimasia.methods.fingerprints.tasks import draw_tasks, halves, restricted, tasks_of, untested_of
from dokimasia.methods.tree import evaluation_of
from dokimasia.runs.estimate import Asking, added_up
from dokimasia.runs.method import Accepted
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Session
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

MATCHING = ("fingerprint_match",)
ANSWER_TOKENS = 350


class Halved(NamedTuple):
    """What a test is made of: the tables of one half, the trials of the other, and the pairs that have none."""

    diagnosis: Diagnosis
    tasks: list[FingerprintTask]
    untested: list[list[str | int]]


async def accept(request: FingerprintRequest, session: Session) -> Accepted[FingerprintPlan]:
    """Make the tables and draw the trials, or take those of the test that is forked, and find the judge.

    Raises:
        InputError: the run has one model, no scores, or too few samples, or the judge is not known.
    """
    home, asked = session.opened, request.model_copy(update={"by_hand": False})
    if session.forked is not None:
        origin = session.forked
        tasks = [task for _, task in tasks_of(home, origin)]
        found = Halved(written_from(home, origin), tasks, untested_of(origin))
    else:
        origin, own = evaluation_of(home, request.run)
        asked = asked.model_copy(update={"run": origin.id, "tree": request.tree or own})
        found = await asyncio.to_thread(_halved, home, origin, asked)
    drawn = [value_id(task) for task in found.tasks]
    plan = FingerprintPlan(
        seed=found.diagnosis.seed,
        prompts=prompts_used(session.library, (*WRITING, *MATCHING)),
        source=found.diagnosis.run,
        diagnosis=value_id(found.diagnosis),
        judge=session.model(request.judge),
        responses=request.responses,
        tasks=len(drawn),
        drawn=digest("tasks", drawn),
    )
    sent = 2 * plan.responses * ANSWER_TOKENS + 2 * REPORT_TOKENS
    matched = Asking(plan.judge, plan.tasks, sent, PICK_TOKENS)
    return Accepted(
        plan=plan,
        estimate=added_up([*reports_asked(plan.judge, len(found.diagnosis.models)), matched], plan.tasks),
        data_name=origin.data_name,
        data_hash=plan.diagnosis,
        values=(found.diagnosis, *found.tasks),
        notes={"tasks": drawn, "untested": found.untested},
        request=asked,
    )


def _halved(home: Home, source: Run, request: FingerprintRequest) -> Halved:
    gathered = gather(home, source, tree=request.tree, seed=request.seed)
    seed, models = gathered.material.seed, gathered.material.models
    if len(models) < 2:
        raise InputError(f"run {source.id} has one model, {', '.join(models)}: fingerprints tell two or more apart")
    parts = halves(home, source, seed)
    material = restricted(gathered.material, parts.reports)
    tasks, untested = draw_tasks(
        home, source, models, parts.answers, responses=request.responses, trials=request.trials, seed=seed
    )
    return Halved(
        diagnosis_of(source, gathered._replace(material=material)),
        tasks,
        [[*pair, count] for pair, count in untested.items()],
    )
