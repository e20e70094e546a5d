"""What joins trees and runs: which trees know a run's criteria, and how many criteria each of its samples has."""

from dokimasia.storage.home import Home

__all__ = ["KEY_LENGTH", "criteria_counts", "criterion_key", "knows_run"]

KEY_LENGTH = 16
"""Digits of a criteria set's id in the keys by which a tree knows criteria."""


def criterion_key(criteria_id: str, number: int) -> str:
    """Return how a tree knows a criterion of a set: the set's id, shortened, and the criterion's number from 1."""
    return f"{criteria_id[:KEY_LENGTH]}:{number}"


def criteria_counts(home: Home, run_id: str) -> dict[str, int]:
    """Return the sizes of the sets of criteria that a run's answers were scored by, by the set's id."""
    sql = (
        "SELECT DISTINCT c.id, c.criteria_count FROM results r JOIN criteria_sets c ON c.id = r.criteria_id "
        "WHERE r.run_id = ? ORDER BY c.id"
    )
    return dict(home.all(sql, (run_id,)))


def knows_run(home: Home, tree: str, run_id: str) -> bool:
    """Return whether a tree knows any criterion of a run."""
    sql = (
        "SELECT 1 FROM tree_criteria c WHERE c.tree = ? AND substr(c.criterion, 1, ?) IN "
        "(SELECT substr(r.criteria_id, 1, ?) FROM results r WHERE r.run_id = ? AND r.criteria_id IS NOT NULL) LIMIT 1"
    )
    return home.one(sql, (tree, KEY_LENGTH, KEY_LENGTH, run_id)) is not None
