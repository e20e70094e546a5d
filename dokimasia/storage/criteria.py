"""Collections of criteria, a set for each sample of a data set, which are imported, exported and reused by later runs."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import insert_rows


class CollectedCriteria(NamedTuple):
    """A sample's entry in a collection: the ids of its criteria and, if known, of the chain they were drawn from.

    `sample_digest` identifies the sample by content, in case a name is reused.
    """

    sample_id: str
    sample_digest: str
    criteria_id: str
    chain_id: str | None = None


async def save_collection(home: Home, collection_id: str, entries: Iterable[CollectedCriteria]) -> int:
    """Store a collection atomically, replacing one with the same id, and return its size.

    Raises:
        StorageError: it could not be written, or refers to criteria or a chain that are not in the store.
    """
    rows = [{"collection_id": collection_id, **entry._asdict()} for entry in entries]

    def replace(connection: sqlite3.Connection) -> int:
        connection.execute("DELETE FROM criteria_collections WHERE collection_id = ?", (collection_id,))
        return insert_rows(connection, "criteria_collections", rows)

    return await home.write(replace)


def load_collection(home: Home, collection_id: str) -> list[CollectedCriteria]:
    """Return a collection's entries by sample id; empty for an unknown collection."""
    sql = (
        "SELECT sample_id, sample_digest, criteria_id, chain_id FROM criteria_collections "
        "WHERE collection_id = ? ORDER BY sample_id"
    )
    return [CollectedCriteria(*row) for row in home.all(sql, (collection_id,))]
