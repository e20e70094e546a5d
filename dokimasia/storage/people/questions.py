"""Questions to people as rows: stored, shown, answered, used by their run, or withdrawn."""

import sqlite3
from collections.abc import Collection, Iterable
from typing import NamedTuple

import orjson

from dokimasia.domain.call import Chat, Message, canonical_request
from dokimasia.domain.decision import Action, CheckItem, Decision
from dokimasia.domain.identity import canonical_json
from dokimasia.domain.question import Aid, PendingQuestion
from dokimasia.errors import NotFound, StorageError
from dokimasia.storage.connection import rows_of
from dokimasia.storage.content.envelope import fold, read_call, unfold
from dokimasia.storage.content.packing import pack, unpack
from dokimasia.storage.faults import in_brief
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import change_row, insert_row
from dokimasia.storage.values import now

_OPEN = "i.state = 'waiting' AND q.used_at IS NULL AND q.withdrawn_at IS NULL"
_JOINED = "FROM check_items i JOIN questions q ON q.id = i.id WHERE i.kind = 'question'"
_REPLY = "(SELECT d.text FROM decisions d WHERE d.item = i.id AND i.state = 'answered' ORDER BY d.number DESC LIMIT 1) AS reply"


class OpenQuestion(NamedTuple):
    """A question without an answer: its item, run, person, prompt, position in the run, and the time it was asked."""

    item: str
    run: str
    person: str
    prompt: str
    position: int
    asked_at: str


class Answering(NamedTuple):
    """A person's progress with the questions of a run: answers that the run has not used yet, and open questions."""

    answered: int
    open: int


def item_row(item: CheckItem) -> dict[str, object]:
    """Return the row of an undecided item."""
    return {
        "id": item.id,
        "run_id": item.run,
        **item.model_dump(mode="json", exclude={"run"}),
        "state": "waiting",
        "opened_at": now(),
    }


def question_item(run: str, key: str, call: Chat, prompt: str) -> CheckItem:
    """Return the check item for a call to a person."""
    return CheckItem(
        run=run,
        kind="question",
        sample_id="",
        subject=key,
        text="\n\n".join(_labelled_text(message) for message in call.messages),
        detail=prompt,
        person=call.model.person,
    )


async def keep_question(home: Home, item: CheckItem, call: Chat, aid: Aid) -> None:
    """Store a question, durably; a withdrawn question is reopened.

    Raises:
        StorageError: it could not be written, or there is no such run.
    """
    texts: dict[str, str] = {}
    request = fold(canonical_request(call), texts)
    row = {
        "id": item.id,
        "call_key": item.subject,
        "model_name": call.model.name,
        "request": canonical_json(request).decode(),
        **aid.model_dump(),
        "asked_at": now("milliseconds"),
    }
    text_rows = [(name, pack(text)) for name, text in texts.items()]

    def insert(connection: sqlite3.Connection) -> None:
        sql = "SELECT coalesce(max(position), -1) + 1 FROM check_items WHERE run_id = ? AND kind = 'question'"
        place = connection.execute(sql, (item.run,)).fetchone()[0]
        insert_row(connection, "check_items", item_row(item.model_copy(update={"position": place})))
        if not insert_row(connection, "questions", row):
            change_row(connection, "questions", item.id, {"withdrawn_at": None})
        connection.executemany("INSERT INTO texts (hash, text) VALUES (?, ?) ON CONFLICT DO NOTHING", text_rows)

    await home.write(insert)


def open_questions(home: Home, *, run: str | None = None, person: str | None = None) -> list[OpenQuestion]:
    """Return open questions of all runs or one, to all people or one, by run and position."""
    sql = (
        f"SELECT i.id, i.run_id, i.person, i.detail, i.position, q.asked_at {_JOINED} AND {_OPEN} "
        "AND (? IS NULL OR i.run_id = ?) AND (? IS NULL OR i.person = ?) "
        "ORDER BY (SELECT created_at FROM runs WHERE id = i.run_id), i.run_id, i.position"
    )
    return [OpenQuestion(*row) for row in home.all(sql, (run, run, person, person))]


def count_questions(home: Home) -> int:
    """Return the number of open questions."""
    return home.all(f"SELECT count(*) {_JOINED} AND {_OPEN}")[0][0]


def get_question(home: Home, item: str) -> PendingQuestion:
    """Return a complete question.

    Raises:
        NotFound: there is none; its run may have been deleted.
        StorageError: its row is damaged.
    """
    sql = (
        "SELECT i.run_id, i.person, i.subject, i.detail, i.position, q.request, q.model_name, q.form, q.reader, q.asked_at, "
        f"coalesce(q.shown_at, ''), coalesce(q.used_at, ''), coalesce(q.withdrawn_at, ''), {_REPLY} {_JOINED} AND i.id = ?"
    )
    row = home.one(sql, (item,))
    if row is None:
        raise NotFound(f"{home.path} has no question {item}: the run that asked it may have been deleted")
    (
        run,
        person,
        key,
        prompt,
        position,
        request,
        model,
        form,
        reader,
        asked_at,
        shown_at,
        used_at,
        withdrawn_at,
        reply,
    ) = row
    try:
        call = read_call(unfold(orjson.loads(request), lambda name: _text(home, name)), model_name=model)
        if not isinstance(call, Chat):
            raise ValueError("it is no chat")
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(
            f"{home.database}, question {item}: its request does not read as a call ({in_brief(error)}). Delete its row from "
            "`questions` and resume: the run asks it again"
        ) from error
    return PendingQuestion(
        item=item,
        run=run,
        person=person,
        key=key,
        call=call,
        prompt=prompt,
        aid=Aid(form=form, reader=reader),
        position=position,
        asked_at=asked_at,
        shown_at=shown_at,
        used_at=used_at,
        withdrawn_at=withdrawn_at,
        reply=reply,
    )


def answered_item(home: Home, key: str) -> str | None:
    """Return the item of an answered question with that key, in any run; None if there is none."""
    row = home.one(f"SELECT i.id {_JOINED} AND i.subject = ? AND i.state = 'answered' ORDER BY i.id LIMIT 1", (key,))
    return None if row is None else row[0]


def has_answers(home: Home, run: str) -> bool:
    """Return whether a run has answered questions that it has not used."""
    sql = (
        f"SELECT 1 {_JOINED} AND i.run_id = ? AND i.state = 'answered' AND q.used_at IS NULL AND q.withdrawn_at IS NULL"
    )
    return home.one(f"{sql} LIMIT 1", (run,)) is not None


def answering(home: Home, run: str) -> dict[str, Answering]:
    """Return each person's progress with the questions of a run, by name."""
    sql = (
        f"SELECT i.person, sum(i.state = 'answered'), sum(i.state = 'waiting') {_JOINED} AND i.run_id = ? "
        "AND q.used_at IS NULL AND q.withdrawn_at IS NULL GROUP BY i.person"
    )
    return {person: Answering(answered, n_open) for person, answered, n_open in home.all(sql, (run,))}


def withdrawn_items(home: Home, run: str) -> set[str]:
    """Return the items of withdrawn questions of a run."""
    sql = "SELECT q.id FROM questions q JOIN check_items i ON i.id = q.id WHERE i.run_id = ? AND q.withdrawn_at IS NOT NULL"
    return {id for (id,) in home.all(sql, (run,))}


async def mark_shown(home: Home, items: Iterable[str]) -> None:
    """Record that questions were shown to their person; only the first time counts."""
    ids = list(items)
    await home.write(lambda connection: note_shown(connection, ids))


async def mark_used(home: Home, item: str) -> None:
    """Record that a run has used the reply to its question, which makes it final."""
    if home.one("SELECT 1 FROM questions WHERE id = ? AND used_at IS NULL", (item,)) is not None:
        await home.write(lambda connection: change_row(connection, "questions", item, {"used_at": now("milliseconds")}))


async def withdraw_others(home: Home, run: str, open_items: Collection[str]) -> None:
    """Withdraw the unused questions of a run that are not among its open items, once the run has finished without them."""
    sql = f"SELECT i.id {_JOINED} AND i.run_id = ? AND q.used_at IS NULL AND q.withdrawn_at IS NULL"
    withdrawn = [id for (id,) in home.all(sql, (run,)) if id not in open_items]

    def withdraw(connection: sqlite3.Connection) -> None:
        for id in withdrawn:
            change_row(connection, "questions", id, {"withdrawn_at": now("milliseconds")})

    if withdrawn:
        await home.write(withdraw)


def note_shown(connection: sqlite3.Connection, items: Iterable[str], at: str | None = "") -> None:
    """Record, inside a writing job, the time at which questions were first shown, by default now; None records nothing."""
    for item in items if at is not None else ():
        row = connection.execute("SELECT 1 FROM questions WHERE id = ? AND shown_at IS NULL", (item,)).fetchone()
        if row is not None:
            change_row(connection, "questions", item, {"shown_at": at or now("milliseconds")})


def same_questions(connection: sqlite3.Connection, item: CheckItem, action: Action) -> list[CheckItem]:
    """Return, inside a writing job, a question and the same questions of other runs, which the action
    also applies to.
    """
    state = "waiting" if action == "reply" else "answered"
    sql = (
        f"SELECT i.id, i.run_id AS run, i.kind, i.sample_id, i.subject, i.text, i.detail, i.position, i.person {_JOINED} "
        "AND i.subject = ? AND i.id <> ? AND i.state = ? AND q.used_at IS NULL AND q.withdrawn_at IS NULL ORDER BY i.id"
    )
    rows = rows_of(connection.execute(sql, (item.subject, item.id, state)))
    return [
        item,
        *(CheckItem.model_validate({name: value for name, value in row.items() if name != "id"}) for row in rows),
    ]


def refusal_of(connection: sqlite3.Connection, item: CheckItem, action: Action, last: Decision | None) -> str:
    """Return, inside a writing job, why an action on a question is impossible; empty if it is possible.

    Args:
        connection: the writing connection.
        item: the question.
        action: the action, an answer or its withdrawal.
        last: the person's last decision on the question.
    """
    row = connection.execute("SELECT used_at, withdrawn_at FROM questions WHERE id = ?", (item.id,)).fetchone()
    if row is None:
        return f"question {item.id} is not there any more: run {item.run}, which asked it, was deleted"
    paid = connection.execute("SELECT 1 FROM calls WHERE key = ?", (item.subject,)).fetchone()
    used_at, withdrawn_at = row
    has_reply = last is not None and last.action == "reply"
    if used_at or paid:
        return f"question {item.id} is answered, and a run rests on the answer already"
    if withdrawn_at:
        return f"question {item.id} was withdrawn: run {item.run} does not ask it any more"
    if action == "reply" and has_reply:
        return f"question {item.id} was answered at {last.at if last else ''}: take that back first to answer otherwise"
    if action == "undo" and not has_reply:
        return f"question {item.id} has no answer that could be taken back"
    return ""


def _labelled_text(message: Message) -> str:
    if message.role == "assistant":
        return f"Your earlier reply:\n{message.text}"
    return message.text


def _text(home: Home, name: str) -> str:
    row = home.one("SELECT text FROM texts WHERE hash = ?", (name,))
    if row is None:
        raise KeyError(f"text {name} is missing")
    return unpack(row[0])
