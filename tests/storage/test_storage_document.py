"""The document on storage names every table and column, and its queries work."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from dokimasia.domain.call import Chat, ChatReply, call_key
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.judgement import CheckpointScores, Provenance, Response
from dokimasia.storage.content.packing import unpack
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow, record_results
from dokimasia.storage.runs import Run, SqliteValueStore, create_run

DOCUMENT = Path(__file__).parents[2] / "docs" / "storage.md"


async def fill(home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply], criteria: CriteriaSet) -> None:
    """Put one scored and one failed result into a home, with all that belongs to them."""
    ledger, store = SqliteLedger(home), SqliteValueStore(home)
    call = chat("Score this.")
    key = call_key(call)
    await ledger.attempt(key, call, kind="rate_limit", status=429, message="slow down", label="judge")
    await ledger.commit(key, call, reply("1 | score: [4]"), cost=None, label="judge")
    provenance = Provenance(call=key, model="judge", prompt="score", prompt_version=1, prompt_hash="ab")
    response = await store.put(Response(sample="s", model="m", text="An answer."))
    criteria_id = await store.put(criteria)
    judgement = await store.put(
        CheckpointScores(
            response=response,
            criteria=criteria_id,
            scores=(4, 2, 1),
            stated=(True, True, False),
            score=2.8,
            provenance=provenance,
        )
    )
    await create_run(home, Run(id="run1", method="evaluate"))
    shared = {"run_id": "run1", "kind": "score", "sample_id": "s", "model": "m", "criteria_id": criteria_id}
    scored = {"item": "a", "outcome": "scored", "score": 2.8, "judgement_id": judgement, "calls": [key]}
    failed = {"item": "b", "outcome": "failed", "failure": "refused", "reason": "said no", "verdict": "wrong"}
    scored["verdict"] = "right"
    for fields in (scored, failed):
        await record_results(home, [ResultRow.model_validate(shared | fields)])


async def test_every_documented_query_finds_something(
    home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply], criteria: CriteriaSet
) -> None:
    """Each query of the document runs as it stands on a filled home and returns rows."""
    await fill(home, chat, reply, criteria)
    queries = re.findall(r"```sql\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    assert len(queries) >= 8
    found = []
    with closing(sqlite3.connect(home.database)) as connection:
        connection.create_function("unpack", 1, unpack)
        for query in queries:
            cursor = connection.execute(query)
            names = [column[0] for column in cursor.description]
            found.append([dict(zip(names, row, strict=True)) for row in cursor])
    assert all(found)
    means, right, failures, scores, calls, messages, replies, attempts = found
    assert (means[0]["n"], means[0]["n_scored"], means[0]["mean_score"]) == (2, 1, 2.8)
    assert failures[0]["failure"] == "refused"
    assert [right[0][name] for name in ("n_right", "n_undecided", "n", "n_with_reference")] == [1, 0, 2, 2]
    by_criterion = [(row["criterion"], row["weight"], row["score"], row["stated"]) for row in scores]
    assert by_criterion == [(1, 5, 4, 1), (2, 3, 2, 1), (3, 2, 1, 0)]
    assert (calls[0]["cost"], calls[0]["calls_of_unknown_cost"]) == (None, 1)
    assert [(row["role"], row["text"]) for row in messages] == [("system", "You are a judge."), ("user", "Score this.")]
    assert replies[0]["text"] == "1 | score: [4]"
    assert attempts[0]["status"] == 429


def test_every_table_and_column_is_documented(home: Home) -> None:
    """No table or column is missing from the document."""
    words = set(re.findall(r"[\w.]+", DOCUMENT.read_text()))
    for table in home.tables().tables:
        assert table.name in words
        assert {column.name for column in table.columns} <= words
