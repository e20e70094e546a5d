"""The work of an error analysis: making modes (one item), coding answers, and coding a part of them again."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, cast

from dokimasia.algorithms.modes import second_sample
from dokimasia.domain.failure_modes import AnswerAtoms, ModeList, NoteBook
from dokimasia.domain.identity import value_id
from dokimasia.graphs.context import services_of
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.modes import mode_coding, mode_making
from dokimasia.methods.modes.coded import BOOK, SECOND, drawn_of, item_of, list_id
from dokimasia.methods.modes.request import NAME, ModesPlan, image_mark
from dokimasia.runs.work import Job, Stage, outcome_fields
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow


async def stages(job: Job[ModesPlan]) -> AsyncIterator[Stage[Any]]:
    """Yield the stages: making modes (unless given), coding, and second coding of a part."""
    split = await asyncio.to_thread(drawn_of, job.home, job.plan)
    if not job.plan.given:
        yield Stage(units=(BOOK,), do=lambda _: _make(job, split.making), items=1)
    id = list_id(job.home, job.run)
    if id is None or not find_values(job.home, ModeList, [id])[id].modes:
        return
    yield _coding(job, split.counting, id, NAME)
    yield _coding(job, second_sample(split.counting, seed=job.plan.seed), id, SECOND)


async def _make(job: Job[ModesPlan], answers: Sequence[AnswerAtoms]) -> None:
    """Make the modes, resuming after the last finished step, and store them.

    Raises:
        CallFailed: the budget is used up; finished work is stored.
    """
    if job.stored_row(BOOK) is not None:
        return
    services = services_of(job.context)
    made_on = tuple(sorted({image_mark(answer.cluster) for answer in answers}))
    attempt = job.attempt(BOOK)
    context = mode_making.MakingContext(**services, answers=answers, made_on=made_on).at_attempt(attempt)
    thread = f"{BOOK}/{attempt}" if attempt else BOOK
    state = await job.walk(cast("GraphFile", mode_making), {}, thread, context=context)
    ids: tuple[str, ...] = tuple(state.get("result") or ())
    calls: tuple[str, ...] = ()
    if ids:
        _, book = ids
        calls = find_values(job.home, NoteBook, [book])[book].calls
    await job.commit(job.row(None, BOOK, kind=BOOK, value_ids=ids, calls=calls, **outcome_fields(state)))
    await job.close(thread)


def _coding(job: Job[ModesPlan], answers: Sequence[AnswerAtoms], modes: str, kind: str) -> Stage[AnswerAtoms]:
    job.progress.samples = len(answers)
    coder = job.plan.judge if kind == NAME else job.plan.coder

    async def code(answer: AnswerAtoms) -> None:
        numbers = [number for number in answer.numbers if job.stored_row(item_of(kind, answer, number)) is None]
        if numbers:
            attempt = max(job.attempt(item_of(kind, answer, number)) for number in numbers)
            inputs = {
                "answer": value_id(answer),
                "modes": modes,
                "numbers": numbers,
                "coder": coder.ref.name,
                "second": kind == SECOND,
            }
            thread = f"{kind}/{answer.key}"
            context = job.context.at_attempt(attempt)
            state = await job.walk(cast("GraphFile", mode_coding), inputs, thread, context=context)
            await job.commit(*(_row(job, kind, answer, number, state) for number in numbers))
            await job.close(thread)
        job.progress.samples_done += 1

    return Stage(answers, code, items=sum(len(answer.numbers) for answer in answers))


def _row(job: Job[ModesPlan], kind: str, answer: AnswerAtoms, number: int, state: Mapping[str, Any]) -> ResultRow:
    """Return the row of an atom: its coding or its failure."""
    coding = state.get("codings", {}).get(str(number))
    unread = state.get("unread", {}).get(str(number))
    if unread:
        state = {**state, "failed": "unparsable", "reason": unread}
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
        **outcome_fields(state),
    )
