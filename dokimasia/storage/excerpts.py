"""Excerpts of a run for reports: some samples with all their results, and the run's failures."""

from collections.abc import Iterable

from dokimasia.domain.sample import Sample
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of
from dokimasia.storage.results import ResultRow, corrected, read_result
from dokimasia.storage.values import read_value


def failed_samples(home: Home, run_id: str) -> set[str]:
    """Return the names of a run's samples whose criteria, or any answer, failed."""
    sql = "SELECT DISTINCT sample_id FROM results WHERE run_id = ? AND outcome = 'failed'"
    return {id for (id,) in home.all(sql, (run_id,))}


def failure_reasons(home: Home, run_id: str) -> dict[str, str]:
    """Return the most frequent reason of each kind of failure; ties go to the first in alphabetical order.

    Answers that were not requested, because their sample has no criteria, count only if there is no other reason.
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
    samples = [read_value(Sample, row) for row in home.rows_among(sql, ids, run_id)]
    return {sample.id: sample for sample in samples}


def rows_of(home: Home, run_id: str, ids: Iterable[str]) -> dict[str, list[ResultRow]]:
    """Return the results of some of a run's samples, by name, in the order of `results`.

    Corrections by people apply; samples they excluded are included.
    """
    sql = (
        "SELECT * FROM results WHERE run_id = ? AND sample_id IN ({marks}) "
        "ORDER BY sample_id, kind, model, arm, repeat, item"
    )
    by_sample: dict[str, list[ResultRow]] = {}
    corrections = corrections_of(home, run_id)
    for row in home.rows_among(sql, ids, run_id):
        result = corrected(read_result(row), corrections)
        by_sample.setdefault(result.sample_id, []).append(result)
    return by_sample
