"""Check items and decisions as rows, and decisions filed while another process writes to the home."""

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import orjson
from pydantic import Field, ValidationError

from dokimasia.domain.decision import (
    STATES,
    Action,
    ChangeReason,
    CheckItem,
    Decision,
    Kind,
    Standing,
    difference,
    ordered_reasons,
)
from dokimasia.domain.identity import Value, digest
from dokimasia.errors import DecidedMeanwhile, InputError, NotFound
from dokimasia.log import logger
from dokimasia.storage.connection import rows_of
from dokimasia.storage.faults import wrap_sqlite_errors
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import item_row, note_shown, refusal_of, same_questions
from dokimasia.storage.schema.rows import change_row, insert_row, insert_rows

_LEFT = "decisions"
_DRAFTS = "drafts"
_ITEM = "run_id AS run, kind, sample_id, subject, text, detail, position, person"
_DECISION = "d.item, d.number, d.who, d.at, d.action, d.text, d.difference, d.reasons"


class FiledDecision(Value):
    """A person's decision before it is numbered among the others on its item; `text` is that of an edit or a reply.

    `shown` is the time at which the person was first shown a question, if it is known and not stored with the question.
    `reasons` say why a caption is edited or rejected. `seen` is the number of decisions on the item that the person knew of; if
    there are more by then, nothing is stored.
    """

    item: CheckItem
    who: str = Field(min_length=1, max_length=100)
    at: str
    action: Action
    text: str = ""
    shown: str = ""
    seen: int | None = None
    reasons: tuple[ChangeReason, ...] = ()


async def keep_items(home: Home, items: Iterable[CheckItem]) -> int:
    """Store items for decision, durably; return the number of new ones.

    Raises:
        StorageError: they could not be written, or there is no such run.
    """
    rows = [item_row(item) for item in items]

    def insert(connection: sqlite3.Connection) -> int:
        return insert_rows(connection, "check_items", rows)

    return await home.write(insert) if rows else 0


async def record_decision(home: Home, filing: FiledDecision) -> Decision:
    """Store a decision, durably on return; repeating a person's last decision changes nothing.

    Raises:
        InputError: as `insert_decision`.
        StorageError: it could not be written.
    """
    return await home.write(lambda connection: insert_decision(connection, filing))


def insert_decision(connection: sqlite3.Connection, filing: FiledDecision) -> Decision:
    """Insert a decision within a transaction, and return it; one that repeats a person's last decision changes nothing.

    Raises:
        InputError: the item does not allow the action or its reasons, the edit changes nothing or leaves nothing, or the
            question belongs to another person, is answered already, or was withdrawn.
        DecidedMeanwhile: there are decisions that the person has not seen.
    """
    item = filing.item
    if refusal := (
        item.refusal(filing.action) or item.told(filing.who) or item.reason_refusal(filing.action, filing.reasons)
    ):
        raise InputError(refusal)
    text = filing.text.strip() if filing.action in ("edit", "reply", "rate") else item.text
    edit = difference(item.text, text) if filing.action == "edit" else ""
    if filing.action == "edit" and not text:
        raise InputError(f"item {item.id}: an edit to nothing: reject the text instead")
    if filing.action == "reply" and not text:
        raise InputError(f"item {item.id}: the reply is empty")
    if filing.action == "edit" and not edit:
        raise InputError(f"item {item.id}: the edit changes nothing: accept the text instead")
    if item.kind != "question":
        insert_row(connection, "check_items", item_row(item))
        return _recorded(connection, filing, text, edit)
    questions = same_questions(connection, item, filing.action)
    decisions = [
        _recorded(connection, filing.model_copy(update={"item": question}), text, "") for question in questions
    ]
    return decisions[0]


def _recorded(connection: sqlite3.Connection, filing: FiledDecision, text: str, edit: str) -> Decision:
    """Insert a decision after the others on its item, unless it repeats the person's last one; return the stored decision."""
    item = filing.item
    sql = f"SELECT {_DECISION} FROM decisions d WHERE item = ? ORDER BY number"
    earlier = [Decision.model_validate(row) for row in rows_of(connection.execute(sql, (item.id,)))]
    mine = next((decision for decision in reversed(earlier) if decision.who == filing.who), None)
    reasons = ordered_reasons(filing.reasons)
    if mine is not None and (mine.action, mine.text, mine.reasons) == (filing.action, text, reasons):
        return mine
    if filing.seen is not None and (newer := earlier[filing.seen :]):
        raise _conflict(item, newer[-1], filing.who)
    if filing.action == "undo" and (mine is None or mine.action == "undo"):
        raise InputError(f"item {item.id}: there is no decision of {filing.who} that could be taken back")
    if item.kind == "question":
        if refusal := refusal_of(connection, item, filing.action, mine):
            raise InputError(refusal)
        note_shown(connection, [item.id], filing.shown or None)
    fields = filing.model_dump(include={"who", "at", "action"})
    decision = Decision(item=item.id, number=len(earlier) + 1, text=text, difference=edit, reasons=reasons, **fields)
    row = {"id": decision.id, **decision.model_dump(mode="json"), "reasons": ",".join(reasons) or None}
    insert_row(connection, "decisions", row)
    latest = Standing(item=item, decisions=(*earlier, decision)).settled_by or decision
    change_row(connection, "check_items", item.id, {"state": STATES[latest.action]})
    return decision


def _conflict(item: CheckItem, newer: Decision, who: str) -> DecidedMeanwhile:
    whose = "you, in another place," if newer.who == who else newer.who
    event = "took a decision back" if newer.action == "undo" else "decided on it"
    return DecidedMeanwhile(f"item {item.id}: meanwhile {whose} {event} (at {newer.at}); nothing was written over")


def standings(home: Home, run_id: str, *, kind: Kind | None = None) -> list[Standing]:
    """Return the items of a run with their decisions, in order."""
    return _standings(home, "i.run_id = ? AND (? IS NULL OR i.kind = ?)", (run_id, kind, kind))


def standing(home: Home, item_id: str) -> Standing:
    """Return an item with its decisions.

    Raises:
        NotFound: there is no such item.
    """
    standings = _standings(home, "i.id = ?", (item_id,))
    if not standings:
        raise NotFound(f"{home.path} has no item {item_id} to be checked")
    return standings[0]


def _standings(home: Home, condition: str, parameters: tuple[str | None, ...]) -> list[Standing]:
    sql = f"SELECT {_ITEM} FROM check_items i WHERE {condition} ORDER BY position, kind, id"
    items = [CheckItem.model_validate(row) for row in home.rows(sql, parameters)]
    sql = f"SELECT {_DECISION} FROM decisions d JOIN check_items i ON i.id = d.item WHERE {condition} ORDER BY item, number"
    decisions: defaultdict[str, list[Decision]] = defaultdict(list)
    for row in home.rows(sql, parameters):
        decision = Decision.model_validate(row)
        decisions[decision.item].append(decision)
    return [Standing(item=item, decisions=tuple(decisions[item.id])) for item in items]


def file_decision(folder: Path, filing: FiledDecision) -> Path:
    """Write a decision to a file, durably, in a home that another process writes to; that process imports it later.

    Raises:
        StorageError: the file cannot be written.
    """
    body = orjson.dumps(filing.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)
    stamp = "".join(letter for letter in filing.at if letter.isdigit())[:20]
    target = folder / _LEFT / f"{stamp}-{digest('left', filing.model_dump(mode='json'))[:12]}.json"
    part = target.with_suffix(f".{os.getpid()}.part")
    with wrap_sqlite_errors(target, "leaving a decision"):
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    return target


def filed_decisions(folder: Path) -> Iterator[tuple[Path, FiledDecision]]:
    """Yield filed decisions in chronological order; unreadable files are skipped."""
    for path in sorted((folder / _LEFT).glob("*.json")):
        try:
            yield path, FiledDecision.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            continue  # another run has imported it
        except (OSError, ValidationError) as error:
            logger(__name__).warning(
                "a decision that was left cannot be read", file=path.name, problem=str(error)[:200]
            )


async def import_filed(home: Home) -> int:
    """Store filed decisions as rows, and remove the files; return their number.

    A file is removed once its row is durable. A file of a deleted run, or with an invalid decision, is set aside.

    Raises:
        StorageError: they could not be written.
    """
    count = 0
    for path, filing in list(filed_decisions(home.path)):
        run_exists = home.one("SELECT 1 FROM runs WHERE id = ?", (filing.item.run,)) is not None
        try:
            if not run_exists:
                raise InputError(f"there is no run {filing.item.run}")
            await record_decision(home, filing)
        except InputError as error:
            logger(__name__).warning("a decision that was left is set aside", file=path.name, problem=str(error))
            with suppress(FileNotFoundError):  # another run has set it aside
                path.replace(path.with_suffix(".refused"))
            continue
        path.unlink(missing_ok=True)
        count += 1
    return count


def draft_file(folder: Path, item_id: str, who: str) -> Path:
    """Return the path of a person's draft on an item, which exists while the editor is open."""
    return folder / _DRAFTS / f"{item_id}-{digest('who', who)[:8]}.txt"


def clear_draft(folder: Path, item_id: str, who: str) -> None:
    """Remove a person's draft after the decision; a missing one is not an error."""
    draft_file(folder, item_id, who).unlink(missing_ok=True)
