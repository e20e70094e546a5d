"""Corrections by hand: a person overrules the judge on an answer, or excludes a sample from the figures.

Every correction is an event of the run: it is never deleted, and a later one can undo it.
"""

import asyncio
import sqlite3
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from dokimasia.algorithms.scoring import addressed_score, weighted_score
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer
from dokimasia.errors import DecidedMeanwhile, InputError, NotFound
from dokimasia.runs.figures import shown_name
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import CORRECTED, Correction, JudgedColumns, correction_events
from dokimasia.storage.results import ResultRow, columns_of, insert_event, results
from dokimasia.storage.runs import Run, SqliteValueStore, run_samples

NOT_STATED = 0
"""Mark of a criterion that the answer does not address; it counts as 1."""

Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]


class CorrectionTarget(Value):
    """A correction by a person: of one model's answer to a sample, or with `leave_out` of the sample itself.

    Fields that are not named stay unchanged: corrections of one answer add up until `undo` takes all of them back.
    """

    sample: str = Field(min_length=1, max_length=4000, examples=["photo-17"])
    model: str = Field(default="", max_length=400, description="as it is shown; NAME#blind for the arm without images")
    repeat: int = Field(default=0, ge=0, lt=2**31)
    answer: Literal["right", "wrong"] | None = Field(default=None, description="what the final answer is")
    criteria: dict[Annotated[int, Field(ge=1, lt=10_000)], Annotated[int, Field(ge=0, le=5)]] = Field(
        default_factory=dict[int, int], description="score by criterion, from 1: 1 to 5, or 0 for not stated"
    )
    leave_out: bool = Field(default=False, description="its question or its reference is wrong")
    undo: bool = Field(default=False, description="what the judge said counts again, or the sample does")
    reason: Reason = Field(default="", description="needed but for `undo`")
    seen: Annotated[int, Field(ge=0, lt=2**31)] | None = Field(
        default=None, description="how many corrections of the same thing were seen; where there are more by now, 409"
    )

    @model_validator(mode="after")
    def _says_one_thing(self) -> "CorrectionTarget":
        faults: list[str] = []
        if self.leave_out and (self.model or self.answer or self.criteria or self.repeat):
            faults.append("leave_out is of the whole sample: name no model, answer or criterion with it")
        if not self.leave_out and not self.model:
            faults.append("name the model whose answer is corrected, or leave the sample out")
        if self.undo and (self.answer or self.criteria):
            faults.append("undo takes back all that was corrected of it: name no answer or criterion with it")
        if not self.leave_out and not self.undo and not (self.answer or self.criteria):
            faults.append("you have not changed anything: change the verdict or a criterion score first")
        if not self.undo and not self.reason:
            faults.append("a reason is needed: it stands beside the correction for whoever reads the figures")
        if faults:
            raise ValueError("; ".join(faults))
        return self


async def correct(home: Home, run: Run, target: CorrectionTarget, *, person: str) -> Correction:
    """Store a person's correction and return it; the judge's reply and verdict stay as they are.

    Raises:
        NotFound: the run has no such sample, or no answer of that model to it.
        InputError: the run is not a finished evaluation, the answer has no such verdict, or the correction changes
            nothing.
        DecidedMeanwhile: somebody else has made a correction that the person has not seen.
        StorageError: the correction could not be written.
    """
    check_correctable(run)
    if target.sample not in {sample.sample_id for sample in run_samples(home, run.id)}:
        raise NotFound(f"run {run.id} has no sample {target.sample[:80]!r}")
    row = None if target.leave_out else _answer_row(home, run, target)
    item = "" if row is None else row.item
    earlier = _corrections(home, run, target.sample, item)
    last = earlier[-1] if earlier and not earlier[-1].undo else None
    if row is not None and last is not None:
        judged_ids = last.was.judgement_id, last.was.final_id
        if judged_ids != (row.judgement_id, row.final_id):
            last = None  # The answer was judged again since then.
    if target.undo and last is None:
        raise InputError(f"sample {target.sample}: there is nothing to take back{_of(target)}")
    event: dict[str, Any] = {
        "sample": target.sample,
        "item": item,
        "who": person,
        "reason": target.reason,
        "undo": target.undo,
        "was": {},
        "now": {},
        "changes": [],
    }
    if row is not None and not target.undo:
        was, now, changes = await _change(SqliteValueStore(home, run.id), row, target, last, person)
        event |= {"was": was._asdict(), "now": now._asdict(), "changes": changes, "undo": not changes}
    elif row is None and last is not None and not target.undo and last.reason == target.reason:
        return last
    await home.write(lambda connection: _insert(connection, run.id, item, event, target, len(earlier)))
    return _corrections(home, run, target.sample, item)[-1]


def correct_now(home: Home, run: Run, target: CorrectionTarget, *, person: str) -> Correction:
    """Store a person's correction as `correct` does, for callers without an event loop."""
    return asyncio.run(correct(home, run, target, person=person))


def check_correctable(run: Run) -> None:
    """Check that a run's answers can be corrected by hand.

    Raises:
        InputError: the run is not an evaluation, or not finished.
    """
    if run.method != "evaluate":
        raise InputError(f"run {run.id} is of kind {run.method!r}: by hand only answers of an evaluation are corrected")
    if run.status != "done":
        raise InputError(
            f"run {run.id} is not finished ({run.status}): what its judge says is corrected once it is done"
        )


def _corrections(home: Home, run: Run, sample: str, item: str) -> list[Correction]:
    """Return all corrections of an answer in order; for an empty item, those of the sample itself."""
    events = correction_events(home, run.id)
    return [event for event in events if event.sample == sample and event.item == item]


def _answer_row(home: Home, run: Run, target: CorrectionTarget) -> ResultRow:
    models: set[str] = set()
    for row in results(home, run.id, as_judged=True):
        if row.kind == "score" and row.sample_id == target.sample:
            model = shown_name(row.model, row.arm)
            if (model, row.repeat) == (target.model, target.repeat):
                return row
            models.add(model)
    raise NotFound(
        f"sample {target.sample} has no answer{_of(target)}; there are those of {', '.join(sorted(models)) or 'nobody'}"
    )


def _of(target: CorrectionTarget) -> str:
    if not target.model:
        return ""
    repeat = f", repeat {target.repeat}" if target.repeat else ""
    return f" of {target.model[:80]}{repeat}"


async def _change(
    store: SqliteValueStore, row: ResultRow, target: CorrectionTarget, last: Correction | None, person: str
) -> tuple[JudgedColumns, JudgedColumns, list[dict[str, Any]]]:
    """Return the judge's columns, the corrected columns, and a readable list of the changes."""
    was = columns_of(row)
    now = before = was if last is None else last.now
    if target.answer is not None:
        now = await _corrected_answer(store, row, target, now)
    if target.criteria:
        now = await _corrected_scores(store, row, target, now, person)
    if now == before and (last is None or last.reason == target.reason):
        raise InputError(f"sample {target.sample}: the correction{_of(target)} changes nothing")
    changes: list[dict[str, Any]] = []
    if now.verdict != was.verdict:
        changes.append({"what": "answer", "from": was.verdict, "to": now.verdict})
    if was.judgement_id is not None and now.judgement_id not in (None, was.judgement_id):
        old = criterion_scores(await store.get(CheckpointScores, was.judgement_id))
        new = criterion_scores(await store.get(CheckpointScores, now.judgement_id))
        for number, (old_score, new_score) in enumerate(zip(old, new, strict=True), 1):
            if old_score != new_score:
                changes.append({"what": f"criterion {number}", "from": old_score, "to": new_score})
    return was, now, changes


def criterion_scores(judgement: CheckpointScores) -> list[int]:
    """Return a judgement's scores, with `NOT_STATED` for criteria that the answer does not address."""
    pairs = zip(judgement.scores, judgement.addressed, strict=True)
    return [score if addressed else NOT_STATED for score, addressed in pairs]


async def _corrected_answer(
    store: SqliteValueStore, row: ResultRow, target: CorrectionTarget, now: JudgedColumns
) -> JudgedColumns:
    if row.final_id is None or row.verdict is None:
        raise InputError(
            f"sample {target.sample}: whether the answer{_of(target)} is right was not to be decided: the sample has no "
            "reference answer, or there is no response"
        )
    if target.answer == row.verdict:
        return now._replace(final_id=row.final_id, verdict=row.verdict)
    answer = await store.get(FinalAnswer, row.final_id)
    corrected = answer.model_copy(update={"verdict": target.answer, "rule": "person", "failure": None})
    return now._replace(final_id=await store.put(corrected), verdict=target.answer)


async def _corrected_scores(
    store: SqliteValueStore, row: ResultRow, target: CorrectionTarget, now: JudgedColumns, person: str
) -> JudgedColumns:
    if row.judgement_id is None or row.criteria_id is None or now.judgement_id is None:
        retry = f" ({row.failure}): resume --retry-failed asks the judge anew" if row.failure else ""
        raise InputError(
            f"sample {target.sample}: the answer{_of(target)} has no scores that could be corrected{retry}"
        )
    original = await store.get(CheckpointScores, row.judgement_id)
    weights = (await store.get(CriteriaSet, row.criteria_id)).weights
    corrected = criterion_scores(await store.get(CheckpointScores, now.judgement_id))
    for number, score in target.criteria.items():
        if number > len(corrected):
            raise InputError(f"sample {target.sample}: there are criteria 1 to {len(corrected)}, not {number}")
        if score == NOT_STATED and not original.stated:
            raise InputError(
                f"sample {target.sample}, criterion {number}: the judge was not asked what is stated: give 1 to 5"
            )
        corrected[number - 1] = score
    if corrected == criterion_scores(original):
        return columns_of(row)._replace(final_id=now.final_id, verdict=now.verdict)
    scores = tuple(score or 1 for score in corrected)
    was = criterion_scores(original)
    reasons = [reason if corrected[place] == was[place] else None for place, reason in enumerate(original.reasons)]
    judgement = CheckpointScores.model_validate(
        {
            **original.model_dump(),
            "scores": scores,
            "stated": tuple(score != NOT_STATED for score in corrected) if original.stated else (),
            "reasons": tuple(reasons),
            "score": weighted_score(scores, weights),
            "provenance": original.provenance.model_copy(update={"model": f"corrected by hand: {person}"}),
        }
    )
    share, stated_score = None, None
    if original.stated:
        share, stated_score = addressed_score(scores, judgement.addressed, weights)
    id = await store.put(judgement)
    return now._replace(judgement_id=id, score=judgement.score, stated=share, stated_score=stated_score)


def _insert(
    connection: sqlite3.Connection,
    run_id: str,
    item: str,
    event: dict[str, Any],
    target: CorrectionTarget,
    earlier: int,
) -> None:
    """Insert the event, unless the answer was corrected or the run changed in the meantime."""
    sql = (
        "SELECT count(*), max(id), (SELECT status FROM runs WHERE id = :run) FROM events WHERE run_id = :run "
        "AND kind = :kind AND json_extract(data, '$.sample') = :sample AND json_extract(data, '$.item') = :item"
    )
    values = {"run": run_id, "kind": CORRECTED, "sample": target.sample, "item": item}
    count, last, status = connection.execute(sql, values).fetchone()
    if status is None:
        raise NotFound(f"run {run_id} was deleted")
    if status != "done":
        raise InputError(f"run {run_id} is at work again ({status}): correct it once it is done")
    if count != (earlier if target.seen is None else target.seen):
        author = "SELECT json_extract(data, '$.who'), replace(substr(at, 1, 16), 'T', ' ') FROM events WHERE id = ?"
        by = ""
        if row := connection.execute(author, (last,)).fetchone():
            by = f" by {row[0]} ({row[1]} UTC)"
        raise DecidedMeanwhile(
            f"sample {target.sample}: meanwhile it was corrected otherwise{by}; nothing was written over"
        )
    insert_event(connection, run_id, CORRECTED, event)
