"""Excerpts of a run for reports: some samples with all their results, and the run's failures."""

from collections.abc import Iterable

from dokimasia.domain.sample import Sample
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of
from dokimasia.storage.results import ResultRow, read_result
from dokimasia.storage.values import read_value


def failed_samples(home: Home, run_id: str) -> set[str]:
    """Return the names of a run's samples with a failure: of their criteria, or of any answer."""
    sql = "SELECT DISTINCT sample_id FROM results WHERE run_id = ? AND outcome = 'failed'"
    return {id for (id,) in home.all(sql, (run_id,))}


def failure_reasons(home: Home, run_id: str) -> dict[str, str]:
    """Return the most frequent reason of each kind of failure; ties go to the first in alphabetical order.

    Answers that were not requested, because their sample has no criteria, count only where there is no other reason.
    """
    sql = (
        "SELECT failure, reason, count(*) AS n FROM results WHERE run_id = ? AND outcome = 'failed' "
        "GROUP BY failure, reason, kind = 'score' AND criteria_id IS NULL "
        "ORDER BY failure, kind = 'score' AND criteria_id IS NULL, n DESC, reason"
    )
    reasons: dict[str, str] = {}
    for kind, reason, _ in home.all(sql, (run_id,)):
        reasons.setdefault(kind, reason or "")
    return reasons


def samples_of(home: Home, run_id: str, ids: Iterable[str]) -> dict[str, Sample]:
    """Return some of a run's samples, by name."""
    sql = "SELECT s.* FROM run_samples r JOIN samples s ON s.id = r.sample WHERE r.run_id = ? AND r.sample_id IN ({marks})"
    return {row["sample_id"]: read_value(Sample, row) for row in home.rows_among(sql, ids, run_id)}


def rows_of(home: Home, run_id: str, ids: Iterable[str]) -> dict[str, list[ResultRow]]:
    """Return the results of some of a run's samples, by name, in the order of `results`.

    Corrections by people apply; samples they excluded are included.
    """
    sql = (
        "SELECT * FROM results WHERE run_id = ? AND sample_id IN ({marks}) "
        "ORDER BY sample_id, kind, model, arm, repeat, item"
    )
    rows: dict[str, list[ResultRow]] = {}
    corrected = corrections_of(home, run_id)
    for row in home.rows_among(sql, ids, run_id):
        rows.setdefault(row["sample_id"], []).append(read_result(corrected.counted(row)))
    return rows
