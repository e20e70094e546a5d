"""Corrections by people in a finished run, read from its events and applied to results."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import orjson

from dokimasia.domain.identity import JsonObject
from dokimasia.storage.home import Home

CORRECTED = "corrected"
"""The kind of the events, all of which are kept; of several on the same thing the last counts."""


class JudgedColumns(NamedTuple):
    """The columns of a result that a correction may change."""

    final_id: str | None = None
    judgement_id: str | None = None
    score: float | None = None
    stated: float | None = None
    stated_score: float | None = None
    verdict: str | None = None


class Correction(NamedTuple):
    """A person's correction of an answer, or with an empty `item` the exclusion of a whole sample.

    `was` has the columns as judged, `now` those that count, each without values where no answer is corrected; `changes`
    lists the differences for people as `{what, from, to}`. `undo` takes the previous correction back; `number` counts
    corrections of the same thing, from 1.
    """

    sample: str
    item: str
    who: str
    at: str
    reason: str
    undo: bool
    was: JudgedColumns
    now: JudgedColumns
    changes: tuple[Mapping[str, str | int | None], ...]
    number: int

    def shown(self) -> JsonObject:
        """Return the fields that people see, ready for JSON: all but the columns."""
        fields = {"sample": self.sample, "item": self.item, "who": self.who, "at": self.at, "reason": self.reason}
        return {
            **fields,
            "undo": self.undo,
            "changes": [dict(change) for change in self.changes],
            "number": self.number,
        }


class Corrections(NamedTuple):
    """The corrections in effect: of answers, by item, and the excluded samples, by name."""

    answers: Mapping[str, Correction]
    left_out: Mapping[str, Correction]

    def __bool__(self) -> bool:
        """Whether there are any corrections."""
        return bool(self.answers or self.left_out)

    def of(self, item: str, judgement_id: str | None, final_id: str | None) -> Correction | None:
        """Return the correction of a result; None without one, or if the answer was judged again since."""
        correction = self.answers.get(item)
        if correction is None:
            return None
        was = correction.was
        if (was.judgement_id, was.final_id) == (judgement_id, final_id):
            return correction
        return None


def correction_events(home: Home, run_id: str) -> list[Correction]:
    """Return all corrections in a run, in the order they were made."""
    sql = "SELECT at, data FROM events WHERE run_id = ? AND kind = ? ORDER BY id"
    return _read_corrections(home.all(sql, (run_id, CORRECTED)))


def _read_corrections(rows: Iterable[tuple[str, str]]) -> list[Correction]:
    count: dict[tuple[str, str], int] = {}
    corrections: list[Correction] = []
    for at, data in rows:
        fields = orjson.loads(data)
        columns = {"was": JudgedColumns(**fields["was"]), "now": JudgedColumns(**fields["now"])}
        correction = Correction(**{**fields, **columns, "changes": tuple(fields["changes"])}, at=at, number=1)
        place = correction.sample, correction.item
        count[place] = count.get(place, 0) + 1
        corrections.append(correction._replace(number=count[place]))
    return corrections


def corrections_of(home: Home, run_id: str) -> Corrections:
    """Return the corrections in effect in a run; every figure is based on them."""
    last = {(event.sample, event.item): event for event in correction_events(home, run_id)}
    standing = [correction for correction in last.values() if not correction.undo]
    return Corrections(
        {correction.item: correction for correction in standing if correction.item},
        {correction.sample: correction for correction in standing if not correction.item},
    )


def standing_answers(home: Home, run_id: str, corrections: Corrections) -> list[Correction]:
    """Return the effective corrections of answers: without answers judged again since and without excluded samples."""
    sql = "SELECT item, judgement_id, final_id FROM results WHERE run_id = ? AND item IN ({marks})"
    rows = home.all_among(sql, corrections.answers, run_id)
    standing = {item for item, *judged in rows if corrections.of(item, *judged) is not None}
    return [
        answer
        for item, answer in corrections.answers.items()
        if item in standing and answer.sample not in corrections.left_out
    ]


def count_standing(home: Home, run_id: str, corrections: Corrections) -> Mapping[tuple[str, str], int]:
    """Return how many answers of each model and arm have a correction in effect."""
    items = [answer.item for answer in standing_answers(home, run_id, corrections)]
    sql = "SELECT item, model, arm FROM results WHERE run_id = ? AND item IN ({marks})"
    return Counter((model, arm) for _, model, arm in home.all_among(sql, items, run_id))


def count_corrections(home: Home) -> int:
    """Return the number of corrections in a home; when it changes, cached figures are out of date."""
    return home.all("SELECT count(*) FROM events WHERE kind = ?", (CORRECTED,))[0][0]
