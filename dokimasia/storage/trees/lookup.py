"""Queries between trees and runs: the criteria from which a tree grows, and whether a tree contains those of a run."""

from collections.abc import Iterator
from typing import NamedTuple

from dokimasia.storage.home import Home

__all__ = [
    "KEY_LENGTH",
    "CriteriaOfSample",
    "criteria_by_sample",
    "criteria_counts",
    "criteria_of_samples",
    "criterion_key",
    "knows_run",
]

KEY_LENGTH = 16
"""The number of digits of a criteria set's id in the key of a criterion."""

_PAGE = 2_000


class CriteriaOfSample(NamedTuple):
    """The criteria of a sample: the set's id, its body as JSON, and the fields of the sample that growing a tree needs."""

    sample_id: str
    category: str
    source: str
    prompt: str
    cluster: str
    criteria_id: str
    body: str


def criterion_key(criteria_id: str, number: int) -> str:
    """Return a tree's key for a criterion: the set's id, shortened, and the criterion's number from 1."""
    return f"{criteria_id[:KEY_LENGTH]}:{number}"


def criteria_counts(home: Home, run_id: str) -> dict[str, int]:
    """Return the sizes of a run's criteria sets, by set id."""
    sql = (
        "SELECT DISTINCT c.id, c.criteria_count FROM results r JOIN criteria_sets c ON c.id = r.criteria_id "
        "WHERE r.run_id = ? ORDER BY c.id"
    )
    return dict(home.all(sql, (run_id,)))


def criteria_by_sample(home: Home, run_id: str) -> dict[str, list[str]]:
    """Return the names of a run's samples by criterion key; several samples may share criteria."""
    sql = (
        "SELECT DISTINCT r.sample_id, c.id, c.criteria_count FROM results r JOIN criteria_sets c ON c.id = r.criteria_id "
        "WHERE r.run_id = ? ORDER BY r.sample_id"
    )
    by_sample: dict[str, list[str]] = {}
    for sample, id, count in home.all(sql, (run_id,)):
        for number in range(1, count + 1):
            by_sample.setdefault(criterion_key(id, number), []).append(sample)
    return by_sample


def knows_run(home: Home, tree: str, run_id: str) -> bool:
    """Return whether a tree contains any criterion of a run."""
    sql = (
        "SELECT 1 FROM tree_criteria c WHERE c.tree = ? AND substr(c.criterion, 1, ?) IN "
        "(SELECT substr(r.criteria_id, 1, ?) FROM results r WHERE r.run_id = ? AND r.criteria_id IS NOT NULL) LIMIT 1"
    )
    return home.one(sql, (tree, KEY_LENGTH, KEY_LENGTH, run_id)) is not None


def criteria_of_samples(home: Home, run_id: str) -> Iterator[CriteriaOfSample]:
    """Yield the criteria of each sample of a run by the samples' names, read page by page.

    `source` is the field of that name in the sample's `meta`; empty if it is not a text.
    """
    sql = (
        "SELECT r.sample_id, coalesce(s.category, ''), "
        "CASE WHEN json_type(s.body, '$.meta.source') = 'text' THEN json_extract(s.body, '$.meta.source') ELSE '' END, "
        "unpack(s.prompt), p.cluster, c.id, c.body FROM results r "
        "JOIN criteria_sets c ON c.id = r.criteria_id "
        "JOIN run_samples p ON p.run_id = r.run_id AND p.sample_id = r.sample_id "
        "JOIN samples s ON s.id = p.sample "
        "WHERE r.run_id = ? AND r.kind = 'replay' AND r.outcome = 'made' AND r.sample_id > ? "
        "ORDER BY r.sample_id LIMIT ?"
    )
    last = ""
    while page := home.all(sql, (run_id, last, _PAGE)):
        yield from (CriteriaOfSample(*row) for row in page)
        last = page[-1][0]
