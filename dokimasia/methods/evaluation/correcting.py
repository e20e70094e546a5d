"""A person has the last word on an answer of a finished evaluation, or leaves a sample out: kept for good, and undone at will."""

import asyncio
import sqlite3
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from dokimasia.algorithms.scoring import spoken_to, weighted_score
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer
from dokimasia.errors import DecidedMeanwhile, InputError, NotFound
from dokimasia.runs.figures import shown_name
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import CORRECTED, COUNTED, Correction, correction_events
from dokimasia.storage.results import ResultRow, insert_event, results
from dokimasia.storage.runs import Run, SqliteRunStore, run_samples

NOT_STATED = 0
"""Stands for a criterion of which the answer does not speak; it counts 1."""

Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]


class CorrectionTarget(Value):
    """What a person corrects: one model's answer to a sample, or with `leave_out` the sample itself.

    What is not named stays as it stands: corrections of one answer add up until `undo` takes all of them back.
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
            faults.append("nothing is corrected: say what the final answer is, or the score of a criterion")
        if not self.undo and not self.reason:
            faults.append("a reason is needed: it stands beside the correction for whoever reads the figures")
        if faults:
            raise ValueError("; ".join(faults))
        return self


async def correct(home: Home, run: Run, wanted: CorrectionTarget, *, who: str) -> Correction:
    """Keep what a person corrected, durably on return; the judge's reply and verdict stay as they are.

    Raises:
        NotFound: the run has no such sample, or no answer of that model to it.
        InputError: the run is no finished evaluation, the answer has no such verdict, or nothing would change.
        DecidedMeanwhile: there are corrections of which the person did not know.
        StorageError: it could not be written.
    """
    check_correctable(run)
    if wanted.sample not in {one.sample_id for one in run_samples(home, run.id)}:
        raise NotFound(f"run {run.id} has no sample {wanted.sample[:80]!r}")
    item, row = "", None
    if not wanted.leave_out:
        row = _answer(home, run, wanted)
        item = row.item
    before = [one for one in correction_events(home, run.id) if (one.sample, one.item) == (wanted.sample, item)]
    last = before[-1] if before and not before[-1].undo else None
    if row is not None and last is not None and any(getattr(row, name) != last.was[name] for name in _JUDGED):
        last = None  # the answer was judged anew since
    if wanted.undo and last is None:
        raise InputError(f"sample {wanted.sample}: there is nothing to take back{_of(wanted)}")
    said = {"sample": wanted.sample, "item": item, "who": who, "reason": wanted.reason, "undo": wanted.undo}
    told: dict[str, Any] = {"was": {}, "now": {}, "changes": []}
    if row is not None and not wanted.undo:
        told = await _told(SqliteRunStore(home, run.id), row, wanted, last, who)
        said["undo"] = not told["changes"]
    elif row is None and last is not None and not wanted.undo and last.reason == wanted.reason:
        return last
    await home.write(lambda connection: _insert(connection, run.id, {**said, **told}, wanted, len(before)))
    return [one for one in correction_events(home, run.id) if (one.sample, one.item) == (wanted.sample, item)][-1]


def correct_now(home: Home, run: Run, wanted: CorrectionTarget, *, who: str) -> Correction:
    """Keep what a person corrected, as `correct` does, where there is no event loop."""
    return asyncio.run(correct(home, run, wanted, who=who))


def check_correctable(run: Run) -> None:
    """Refuse a run of which nothing is corrected by hand.

    Raises:
        InputError: it is no evaluation, or not finished.
    """
    if run.method != "evaluate":
        raise InputError(f"run {run.id} is of kind {run.method!r}: by hand only answers of an evaluation are corrected")
    if run.status != "done":
        raise InputError(
            f"run {run.id} is not finished ({run.status}): what its judge says is corrected once it is done"
        )


_JUDGED = ("judgement_id", "final_id")


def _answer(home: Home, run: Run, wanted: CorrectionTarget) -> ResultRow:
    rows = [row for row in results(home, run.id, as_judged=True) if row.kind == "score"]
    for row in rows:
        if (row.sample_id, shown_name(row.model, row.arm), row.repeat) == (wanted.sample, wanted.model, wanted.repeat):
            return row
    known = sorted({shown_name(row.model, row.arm) for row in rows if row.sample_id == wanted.sample})
    raise NotFound(
        f"sample {wanted.sample} has no answer{_of(wanted)}; there are those of {', '.join(known) or 'nobody'}"
    )


def _of(wanted: CorrectionTarget) -> str:
    repeat = f", repeat {wanted.repeat}" if wanted.repeat else ""
    return f" of {wanted.model[:80]}{repeat}" if wanted.model else ""


async def _told(
    store: SqliteRunStore, row: ResultRow, wanted: CorrectionTarget, last: Correction | None, who: str
) -> dict[str, Any]:
    """Return the columns that the judge left, those that count from now on, and what that changes, for people."""
    was = {name: getattr(row, name) for name in COUNTED}
    now: dict[str, Any] = dict(last.now) if last is not None else dict(was)
    if wanted.answer is not None:
        now |= await _final(store, row, wanted)
    if wanted.criteria:
        now |= await _judgement(store, row, now["judgement_id"], wanted, who)
    if now == (was if last is None else last.now) and (last is None or last.reason == wanted.reason):
        raise InputError(f"sample {wanted.sample}: the correction{_of(wanted)} changes nothing")
    changes: list[dict[str, Any]] = []
    if now["verdict"] != was["verdict"]:
        changes.append({"what": "answer", "from": was["verdict"], "to": now["verdict"]})
    if now["judgement_id"] != was["judgement_id"]:
        both = [await store.get(CheckpointScores, one["judgement_id"]) for one in (was, now)]
        pairs = zip(*(told_scores(one) for one in both), strict=True)
        changes += [
            {"what": f"criterion {number}", "from": one, "to": other}
            for number, (one, other) in enumerate(pairs, 1)
            if one != other
        ]
    return {"was": was, "now": now, "changes": changes}


def told_scores(judgement: CheckpointScores) -> list[int]:
    """Return the scores of a judgement, `NOT_STATED` for what the answer does not speak of."""
    told = zip(judgement.scores, judgement.spoken_to, strict=True)
    return [score if said else NOT_STATED for score, said in told]


async def _final(store: SqliteRunStore, row: ResultRow, wanted: CorrectionTarget) -> dict[str, Any]:
    if row.final_id is None or row.verdict is None:
        raise InputError(
            f"sample {wanted.sample}: whether the answer{_of(wanted)} is right was not to be decided: the sample has no "
            "reference answer, or there is no response"
        )
    if wanted.answer == row.verdict:
        return {"final_id": row.final_id, "verdict": row.verdict}
    judged = await store.get(FinalAnswer, row.final_id)
    made = judged.model_copy(update={"verdict": wanted.answer, "rule": "person", "failure": None})
    return {"final_id": await store.put(made), "verdict": wanted.answer}


async def _judgement(
    store: SqliteRunStore, row: ResultRow, standing: str | None, wanted: CorrectionTarget, who: str
) -> dict[str, Any]:
    if row.judgement_id is None or row.criteria_id is None or standing is None:
        raise InputError(
            f"sample {wanted.sample}: the answer{_of(wanted)} has no scores that could be corrected"
            + (f" ({row.failure}): resume --retry-failed asks the judge anew" if row.failure else "")
        )
    judged, criteria = (
        await store.get(CheckpointScores, row.judgement_id),
        await store.get(CriteriaSet, row.criteria_id),
    )
    given = told_scores(await store.get(CheckpointScores, standing))
    for number, score in wanted.criteria.items():
        if number > len(given):
            raise InputError(f"sample {wanted.sample}: there are criteria 1 to {len(given)}, not {number}")
        if score == NOT_STATED and not judged.stated:
            raise InputError(
                f"sample {wanted.sample}, criterion {number}: the judge was not asked what is stated: give 1 to 5"
            )
        given[number - 1] = score
    if given == told_scores(judged):
        return {name: getattr(row, name) for name in ("judgement_id", "score", "stated", "stated_score")}
    scores, stated = tuple(one or 1 for one in given), tuple(one != NOT_STATED for one in given)
    made = CheckpointScores.model_validate(
        {
            **judged.model_dump(),
            "scores": scores,
            "stated": stated if judged.stated else (),
            "score": weighted_score(scores, criteria.weights),
            "provenance": judged.provenance.model_copy(update={"model": f"corrected by hand: {who}"}),
        }
    )
    share, spoken = spoken_to(scores, made.spoken_to, criteria.weights)
    told = {"stated": share, "stated_score": spoken} if judged.stated else {"stated": None, "stated_score": None}
    return {"judgement_id": await store.put(made), "score": made.score, **told}


def _insert(
    connection: sqlite3.Connection, run_id: str, data: dict[str, Any], wanted: CorrectionTarget, known: int
) -> None:
    """Keep the event, unless somebody corrected the same meanwhile, or the run is not what it was."""
    sql = (
        "SELECT count(*), max(id), (SELECT status FROM runs WHERE id = :run) FROM events WHERE run_id = :run "
        "AND kind = :kind AND json_extract(data, '$.sample') = :sample AND json_extract(data, '$.item') = :item"
    )
    which = {"run": run_id, "kind": CORRECTED, "sample": data["sample"], "item": data["item"]}
    count, last, status = connection.execute(sql, which).fetchone()
    if status is None:
        raise NotFound(f"run {run_id} was deleted")
    if status != "done":
        raise InputError(f"run {run_id} is at work again ({status}): correct it once it is done")
    if count != (known if wanted.seen is None else wanted.seen):
        named = "SELECT json_extract(data, '$.who'), replace(substr(at, 1, 16), 'T', ' ') FROM events WHERE id = ?"
        found = connection.execute(named, (last,)).fetchone()
        by = f" by {found[0]} ({found[1]} UTC)" if found else ""
        raise DecidedMeanwhile(
            f"sample {data['sample']}: meanwhile it was corrected otherwise{by}; nothing was written over"
        )
    insert_event(connection, run_id, CORRECTED, data)
