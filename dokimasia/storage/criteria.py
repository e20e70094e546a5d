"""Collections of criteria: one set for each sample of a data set, imported or to be exported, and reused for ever."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import insert_rows


class CollectedCriteria(NamedTuple):
    """One sample's place in a collection: the ids of its criteria and, where known, of the chain they were drawn from.

    `sample_digest` tells by content what the criteria belong to, should a name be given anew.
    """

    sample_id: str
    sample_digest: str
    criteria_id: str
    chain_id: str | None = None


async def save_collection(home: Home, collection_id: str, entries: Iterable[CollectedCriteria]) -> int:
    """Keep a collection whole or not at all and return its size; a collection of that id is replaced.

    Raises:
        StorageError: it could not be written, or refers to criteria or a chain that were not put into the store.
    """
    rows = [{"collection_id": collection_id, **entry._asdict()} for entry in entries]

    def replace(connection: sqlite3.Connection) -> int:
        connection.execute("DELETE FROM criteria_collections WHERE collection_id = ?", (collection_id,))
        return insert_rows(connection, "criteria_collections", rows)

    return await home.write(replace)


def load_collection(home: Home, collection_id: str) -> list[CollectedCriteria]:
    """Return a collection's entries by sample id; an unknown collection has none."""
    sql = (
        "SELECT sample_id, sample_digest, criteria_id, chain_id FROM criteria_collections "
        "WHERE collection_id = ? ORDER BY sample_id"
    )
    return [CollectedCriteria(*row) for row in home.all(sql, (collection_id,))]
