"""The criteria of a run as a tree grows from them: each set with the sample that it belongs to."""

from collections.abc import Iterator
from typing import NamedTuple

from dokimasia.storage.home import Home

__all__ = ["CriteriaOfSample", "criteria_of_samples"]

_PAGE = 2_000


class CriteriaOfSample(NamedTuple):
    """One sample's criteria: the set's id and its body as JSON, and of the sample what a tree's growth needs."""

    sample_id: str
    category: str
    source: str
    prompt: str
    cluster: str
    criteria_id: str
    body: str


def criteria_of_samples(home: Home, run_id: str) -> Iterator[CriteriaOfSample]:
    """Yield the criteria of each sample of a run that has some, a page at a time, in the order of the samples' names.

    `source` is the field of that name in what the data file said beside the question, empty where it is no text.
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
