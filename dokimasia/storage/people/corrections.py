"""What people corrected by hand in a finished run, as its events say it; and results as they count with that."""

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
        said = {"sample": self.sample, "item": self.item, "who": self.who, "at": self.at, "reason": self.reason}
        return {**said, "undo": self.undo, "changes": [dict(change) for change in self.changes], "number": self.number}


class Corrections(NamedTuple):
    """What stands: the last word on each answer, by its item, and on each sample that is left out, by its name."""

    answers: Mapping[str, Correction]
    left_out: Mapping[str, Correction]

    def __bool__(self) -> bool:
        """Whether anything does."""
        return bool(self.answers or self.left_out)

    def of(self, row: Mapping[str, Any]) -> Correction | None:
        """Return the correction of a result; None without one, or where the answer was judged anew since."""
        found = self.answers.get(row["item"])
        same = found is not None and all(row[name] == found.was[name] for name in ("judgement_id", "final_id"))
        return found if same else None

    def counted(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a result's columns as they count."""
        found = self.of(row)
        return row if found is None else {**row, **{name: found.now[name] for name in COUNTED if name in row}}


def correction_events(home: Home, run_id: str) -> list[Correction]:
    """Return all that people corrected in a run, in the order in which they did."""
    sql = "SELECT at, data FROM events WHERE run_id = ? AND kind = ? ORDER BY id"
    return _numbered(home.all(sql, (run_id, CORRECTED)))


def _numbered(rows: Iterable[tuple[str, str]]) -> list[Correction]:
    count: dict[tuple[str, str], int] = {}
    found: list[Correction] = []
    for at, data in rows:
        said = orjson.loads(data)
        place = said["sample"], said["item"]
        count[place] = count.get(place, 0) + 1
        changes = tuple(said.pop("changes"))
        found.append(Correction(**said, at=at, changes=changes, number=count[place]))
    return found


def corrections_of(home: Home, run_id: str) -> Corrections:
    """Return what stands corrected in a run: the one place from which figures know of it."""
    last = {(event.sample, event.item): event for event in correction_events(home, run_id)}
    standing = [one for one in last.values() if not one.undo]
    return Corrections(
        {one.item: one for one in standing if one.item}, {one.sample: one for one in standing if not one.item}
    )


def standing_answers(home: Home, run_id: str, stands: Corrections) -> list[Correction]:
    """Return the corrections of answers that count: not those judged anew since, nor of samples that are left out."""
    sql = "SELECT item, judgement_id, final_id FROM results WHERE run_id = ? AND item IN ({marks})"
    rows = home.rows_among(sql, stands.answers, run_id)
    found = {row["item"]: one for row in rows if (one := stands.of(row)) is not None}
    return [answer for item, answer in stands.answers.items() if item in found and answer.sample not in stands.left_out]


def count_corrections(home: Home) -> int:
    """Return how often people corrected anything in a home: another number where what was worked out may not hold any more."""
    return home.all("SELECT count(*) FROM events WHERE kind = ?", (CORRECTED,))[0][0]
