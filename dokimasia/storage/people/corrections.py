"""Corrections by people in a finished run, read from its events and applied to results."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from dokimasia.storage.home import Home

CORRECTED = "corrected"
"""The kind of the events. Each is kept for good; of those on the same thing the last one counts."""

COUNTED = ("score", "verdict", "stated", "stated_score", "judgement_id", "final_id")
"""The columns of a result that a correction may change."""


class Correction(NamedTuple):
    """What a person said of one answer, or with an empty `item` of a whole sample: to leave it out.

    `was` and `now` are the columns of the judge and those that count; `changes` says it for people: [{what, from, to}].
    `undo` takes back what stood before; `number` counts what was said of the same thing, from 1.
    """

    sample: str
    item: str
    who: str
    at: str
    reason: str
    undo: bool
    was: Mapping[str, Any]
    now: Mapping[str, Any]
    changes: tuple[Mapping[str, Any], ...]
    number: int

    def shown(self) -> dict[str, Any]:
        """Return what is shown of it: `answers` without columns of the home."""
        fields = {"sample": self.sample, "item": self.item, "who": self.who, "at": self.at, "reason": self.reason}
        return {
            **fields,
            "undo": self.undo,
            "changes": [dict(change) for change in self.changes],
            "number": self.number,
        }


class Corrections(NamedTuple):
    """What stands: the last word on each answer, by its item, and on each sample that is left out, by its name."""

    answers: Mapping[str, Correction]
    left_out: Mapping[str, Correction]

    def __bool__(self) -> bool:
        """Whether there are any corrections."""
        return bool(self.answers or self.left_out)

    def of(self, row: Mapping[str, Any]) -> Correction | None:
        """Return the correction of a result; None without one, or if the answer was judged again since."""
        correction = self.answers.get(row["item"])
        same = correction is not None and all(
            row[name] == correction.was[name] for name in ("judgement_id", "final_id")
        )
        return correction if same else None

    def counted(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a result's columns with its correction applied."""
        correction = self.of(row)
        return row if correction is None else {**row, **{name: correction.now[name] for name in COUNTED if name in row}}


def correction_events(home: Home, run_id: str) -> list[Correction]:
    """Return all corrections in a run, in the order they were made."""
    sql = "SELECT at, data FROM events WHERE run_id = ? AND kind = ? ORDER BY id"
    return _numbered(home.all(sql, (run_id, CORRECTED)))


def _numbered(rows: Iterable[tuple[str, str]]) -> list[Correction]:
    count: dict[tuple[str, str], int] = {}
    corrections: list[Correction] = []
    for at, data in rows:
        fields = orjson.loads(data)
        place = fields["sample"], fields["item"]
        count[place] = count.get(place, 0) + 1
        changes = tuple(fields.pop("changes"))
        corrections.append(Correction(**fields, at=at, changes=changes, number=count[place]))
    return corrections


def corrections_of(home: Home, run_id: str) -> Corrections:
    """Return the corrections in effect in a run; all figures get them from this function."""
    last = {(event.sample, event.item): event for event in correction_events(home, run_id)}
    standing = [correction for correction in last.values() if not correction.undo]
    return Corrections(
        {correction.item: correction for correction in standing if correction.item},
        {correction.sample: correction for correction in standing if not correction.item},
    )


def standing_answers(home: Home, run_id: str, corrections: Corrections) -> list[Correction]:
    """Return the effective corrections of answers: without answers judged again since and without excluded samples."""
    sql = "SELECT item, judgement_id, final_id FROM results WHERE run_id = ? AND item IN ({marks})"
    rows = home.rows_among(sql, corrections.answers, run_id)
    by_item = {row["item"]: correction for row in rows if (correction := corrections.of(row)) is not None}
    return [
        answer
        for item, answer in corrections.answers.items()
        if item in by_item and answer.sample not in corrections.left_out
    ]


def count_corrections(home: Home) -> int:
    """Return the number of corrections in a home; a different number invalidates cached figures."""
    return home.all("SELECT count(*) FROM events WHERE kind = ?", (CORRECTED,))[0][0]
