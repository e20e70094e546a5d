"""The ledger keeps each text once, reads quickly, and finds what was changed behind its back."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from dokimasia.domain.call import Chat, ChatReply, ModelRef, call_key
from dokimasia.errors import StorageError
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import LedgerDamage, SqliteLedger

pytestmark = pytest.mark.quick

LONG = "The rubric has many lines. " * 200


async def fill(home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply]) -> list[str]:
    """Commit three calls that share a long system message and return their keys."""
    ledger = SqliteLedger(home)
    keys: list[str] = []
    for number in range(3):
        call = chat(f"item {number}", system=LONG)
        keys.append(call_key(call))
        await ledger.commit(keys[-1], call, reply(f"answer {number}"), cost=0.125, label="judge")
    return keys


def change(home: Home, sql: str, *parameters: object) -> None:
    """Change the database as another program would."""
    with closing(sqlite3.connect(home.database)) as connection, connection:
        assert connection.execute(sql, parameters).rowcount == 1


async def test_a_text_is_stored_once(home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply]) -> None:
    """A system message that three calls share lies once in `texts`, and in no request."""
    await fill(home, chat, reply)
    assert home.one("SELECT count(*) FROM texts WHERE unpack(text) = ?", (LONG,)) == (1,)
    assert home.one("SELECT count(*) FROM texts") == (1 + 3 + 3,)
    assert home.all("SELECT key FROM calls WHERE request LIKE '%rubric%' OR reply LIKE '%answer%'") == []


async def test_an_ignored_reply_leaves_no_text(
    home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply]
) -> None:
    """A second reply to a committed key leaves nothing behind."""
    await fill(home, chat, reply)
    call = chat("item 0", system=LONG)
    await SqliteLedger(home).commit(call_key(call), call, reply("late"), cost=None, label="judge")
    assert home.one("SELECT count(*) FROM texts WHERE text = 'late'") == (0,)


async def test_the_columns_say_what_the_call_was(
    home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply]
) -> None:
    """Model, endpoint, alias, label, finish reason, tokens and cost are columns; attempts have theirs."""
    keys = await fill(home, chat, reply)
    call = chat("item 0", system=LONG)
    await SqliteLedger(home).attempt(keys[0], call, kind="timeout", status=None, message="m" * 5000, label="judge")
    columns = "kind, model, endpoint, model_name, label, finish_reason, input_tokens, output_tokens, cost"
    assert home.one(f"SELECT {columns} FROM calls WHERE key = ?", (keys[0],)) == (
        *("chat", "sim/judge", "sim", "judge", "judge", "stop"),
        *(11, 7, 0.125),
    )
    attempt = home.one("SELECT call_key, model, endpoint, label, kind, status, length(message) FROM attempts")
    assert attempt == (keys[0], "sim/judge", "sim", "judge", "timeout", None, 1000)


async def test_the_alias_of_the_first_asker_is_kept(
    home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply]
) -> None:
    """A model's alias is no part of the key, and is rebuilt as it was when the call was first asked."""
    ledger = SqliteLedger(home)
    first, second = chat("same", name="alpha"), chat("same", name="beta")
    assert call_key(first) == call_key(second)
    for call in (first, second):
        await ledger.commit(call_key(call), call, reply("yes"), cost=None, label="")
    rebuilt, _ = ledger.rebuild(call_key(second))
    assert rebuilt.model == ModelRef(name="alpha", model="sim/judge", endpoint="sim")


async def test_many_figures_come_in_one_answer(
    home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply]
) -> None:
    """More keys than one query takes are answered in the order in which they were asked."""
    keys = await fill(home, chat, reply)
    absent = [f"absent {number}" for number in range(1200)]
    assert list(SqliteLedger(home).calls_for([keys[2], *absent, keys[0]])) == [keys[2], keys[0]]


@pytest.mark.parametrize(
    ("sql", "table", "what"),
    [
        ("UPDATE calls SET request = replace(request, 'user', 'assistant') WHERE key = ?", "calls", "the key"),
        ("UPDATE calls SET reply = replace(reply, 'stop', 'length') WHERE key = ?", "calls", "reply was changed"),
        ("UPDATE calls SET reply = 'not json' WHERE key = ?", "calls", "reply cannot be read"),
        ("UPDATE calls SET request = '{}' WHERE key = ?", "calls", "request"),
        ("UPDATE calls SET model = 'other' WHERE key = ?", "calls", "kind, model and endpoint"),
        ("UPDATE calls SET output_tokens = 0 WHERE key = ?", "calls", "output_tokens"),
        ("UPDATE texts SET text = 'forged' WHERE text = 'answer 1' AND ? != ''", "texts", "no longer has the hash"),
        ("DELETE FROM texts WHERE text = 'answer 1' AND ? != ''", "calls", "missing"),
    ],
)
async def test_verify_finds_what_was_changed(
    home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply], sql: str, table: str, what: str
) -> None:
    """Every change of a request, reply, figure or text shows, and names the row; an untouched ledger has no problem."""
    keys = await fill(home, chat, reply)
    ledger = SqliteLedger(home)
    assert list(ledger.verify()) == []
    change(home, sql, keys[1])
    problems = list(ledger.verify())
    assert any(problem.where == table and what in problem.what for problem in problems)
    if table == "calls":
        assert {problem.key for problem in problems} == {keys[1]}


async def test_verify_reads_past_its_first_page(
    home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply]
) -> None:
    """A change in a ledger of many pages is found, once."""
    ledger = SqliteLedger(home)
    calls = [chat(f"item {number}") for number in range(1100)]
    for call in calls[:-1]:
        await ledger.commit(call_key(call), call, reply("same"), cost=None, label="")
    last = max(call_key(call) for call in calls[:-1])
    change(home, "UPDATE calls SET input_tokens = 12 WHERE key = ?", last)
    assert [(problem.where, problem.key) for problem in ledger.verify()] == [("calls", last)]
    assert isinstance(next(ledger.verify()), LedgerDamage)


async def test_a_missing_text_is_an_error_that_names_the_call(
    home: Home, chat: Callable[..., Chat], reply: Callable[..., ChatReply]
) -> None:
    """A reply whose text is gone is never served as something else."""
    keys = await fill(home, chat, reply)
    change(home, "DELETE FROM texts WHERE text = 'answer 1'")
    with pytest.raises(StorageError, match=keys[1]):
        await SqliteLedger(home).get(keys[1])
    with pytest.raises(StorageError, match=keys[1]):
        SqliteLedger(home).rebuild(keys[1])
