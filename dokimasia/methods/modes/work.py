"""An error analysis at work: modes are made in one walk, then answers coded, then a part of them coded again."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import fields
from typing import Any, cast

from dokimasia.algorithms.modes import second_sample
from dokimasia.domain.failure_modes import AnswerAtoms, ModeList
from dokimasia.domain.identity import value_id
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.modes import mode_coding, mode_making
from dokimasia.methods.modes.coded import BOOK, SECOND, drawn_of, item_of, list_id
from dokimasia.methods.modes.reading import marks_of
from dokimasia.methods.modes.request import NAME, ModesPlan
from dokimasia.runs.work import Job, Stage, ending
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow

STEPS = 2
"""What of the making is counted as progress where all is read: answers noted, and the list made."""


async def stages(job: Job[ModesPlan]) -> AsyncIterator[Stage[Any]]:
    """Yield the making of the modes, unless they are given, then the coding, then the coding of a part once more."""
    drawn = await asyncio.to_thread(drawn_of, job.home, job.plan)
    if not job.plan.given:
        yield Stage(units=(BOOK,), do=lambda _: _make(job, drawn.making), items=1)
    id = list_id(job.home, job.run)
    if id is None or not find_values(job.home, ModeList, [id])[id].modes:
        return
    yield _coding(job, drawn.counting, id, NAME)
    yield _coding(job, second_sample(drawn.counting, seed=job.plan.seed), id, SECOND)


async def _make(job: Job[ModesPlan], answers: Sequence[AnswerAtoms]) -> None:
    """Walk through the making, from the last step that was finished on, and keep what it came to.

    Raises:
        CallFailed: the budget is used up; what is finished is kept.
    """
    if job.finished(BOOK) is not None:
        return
    services = {one.name: getattr(job.context, one.name) for one in fields(Context)}
    attempt = job.attempt(BOOK)
    context = mode_making.MakingContext(**services, answers=answers, made_on=marks_of(answers)).at_attempt(attempt)
    thread = f"{BOOK}/{attempt}" if attempt else BOOK
    state = await job.walk(cast("GraphFile", mode_making), {}, thread, context=context)
    made = tuple(state.get("result") or ())
    book = () if not made else find_values(job.home, mode_making.NoteBook, [made[1]])[made[1]].calls
    await job.finish(job.row(None, BOOK, kind=BOOK, value_ids=made, calls=book, **ending(state)))
    await job.close(thread)


def _coding(job: Job[ModesPlan], answers: Sequence[AnswerAtoms], modes: str, kind: str) -> Stage[AnswerAtoms]:
    job.progress.samples = len(answers)
    coder = (job.plan.judge if kind == NAME else job.plan.coder).ref.name

    async def do(answer: AnswerAtoms) -> None:
        waiting = [number for number in answer.numbers if job.finished(item_of(kind, answer, number)) is None]
        if waiting:
            attempt = max(job.attempt(item_of(kind, answer, number)) for number in waiting)
            inputs = {
                "answer": value_id(answer),
                "modes": modes,
                "numbers": waiting,
                "coder": coder,
                "second": kind == SECOND,
            }
            walk = f"{kind}/{answer.key}"
            state = await job.walk(mode_coding, inputs, walk, context=job.context.at_attempt(attempt))
            await job.finish(*(_row(job, kind, answer, number, state) for number in waiting))
            await job.close(walk)
        job.progress.samples_done += 1

    return Stage(answers, do, items=sum(len(one.numbers) for one in answers))


def _row(job: Job[ModesPlan], kind: str, answer: AnswerAtoms, number: int, state: dict[str, Any]) -> ResultRow:
    """Return the row of an atom: its coding, or why there is none."""
    coding = state.get("codings", {}).get(str(number))
    unread = state.get("unread", {}).get(str(number))
    ended = {"failed": "unparsable", "reason": unread} if unread else state
    return ResultRow(
        run_id=job.run.id,
        item=item_of(kind, answer, number),
        kind=kind,
        sample_id=answer.sample_id,
        sample_digest=answer.sample_digest,
        model=answer.model,
        repeat=answer.repeat,
        criteria_id=answer.criteria,
        response_id=answer.response,
        value_ids=(coding,) if coding else (),
        calls=tuple(state.get("calls") or ()),
        **ending(ended),
    )
