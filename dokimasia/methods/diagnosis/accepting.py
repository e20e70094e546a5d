"""How a diagnosis in words is accepted: the tables of its run made, and the judge found."""

import asyncio

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import value_id
from dokimasia.methods.diagnosis.diagnosing import diagnose, keep
from dokimasia.methods.diagnosis.request import WRITING, WordsPlan, WordsRequest
from dokimasia.methods.diagnosis.results import written_from
from dokimasia.methods.tree import evaluation_of
from dokimasia.runs.estimate import Asking, added_up
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, run_samples

TABLE_TOKENS, REPORT_TOKENS, PICK_TOKENS = 4_000, 700, 120


async def accept(request: WordsRequest, session: Session) -> Accepted[WordsPlan]:
    """Make the tables of the run, or take those of the diagnosis that is forked, and find the judge.

    Raises:
        InputError: the run is no evaluation or has no scores, there is no such tree, or the judge is not known.
    """
    home, asked = session.opened, request
    if session.forked is not None:
        origin, diagnosis = session.forked, written_from(home, session.forked)
    else:
        origin, own = evaluation_of(home, request.run)
        asked = request.model_copy(update={"run": origin.id, "tree": request.tree or own})
        diagnosis = await asyncio.to_thread(diagnose, home, origin, tree=asked.tree, seed=asked.seed)
    plan = WordsPlan(
        seed=diagnosis.seed,
        prompts=prompts_used(session.library, WRITING),
        source=diagnosis.run,
        diagnosis=value_id(diagnosis),
        judge=session.model(request.judge),
    )
    models = len(diagnosis.models)

    async def keep_with_source(home: Home, _: Run) -> None:
        if session.forked is None:
            await keep(home, origin, diagnosis)

    return Accepted(
        plan=plan,
        estimate=added_up(reports_asked(plan.judge, models), len(run_samples(home, plan.source)) or models),
        data_name=origin.data_name,
        data_hash=plan.diagnosis,
        values=(diagnosis,),
        keep=keep_with_source,
        request=asked,
    )


def reports_asked(judge: ModelSpec, models: int) -> list[Asking]:
    """Return the calls of the reports on so many models and across them: rows picked, a report written, and sent back."""
    reports = models + (models > 1)
    return [
        Asking(judge, reports, TABLE_TOKENS, PICK_TOKENS),
        Asking(judge, reports, TABLE_TOKENS // 2, REPORT_TOKENS),
        Asking(judge, reports, TABLE_TOKENS // 2 + REPORT_TOKENS, REPORT_TOKENS),
    ]
