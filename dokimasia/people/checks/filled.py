"""Import decisions from filled-in files of items; all lines are checked before any decision is stored."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from dokimasia.agents.readers import faults_of
from dokimasia.domain.blindspots import Label
from dokimasia.domain.decision import Action, ChangeReason, CheckItem, Decision, Standing, ordered_reasons
from dokimasia.errors import DataError, DokimasiaError, InputError, list_faults
from dokimasia.people.checks.checking import checked, keep_decisions, keep_or_file, nothing_to_check, open_for_people
from dokimasia.people.checks.standings import all_standings
from dokimasia.settings import Settings
from dokimasia.storage.decisions import FiledDecision, insert_decision
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import get_question
from dokimasia.storage.writer import WriteJob

MAX_LINE = 1 << 20

SentenceNumber = Annotated[int, Field(ge=0, lt=2**31)]


class ImportResult(NamedTuple):
    """The counts of an import: new and known decisions, those filed for the process that writes, and undecided lines."""

    decided: int
    known: int
    left: int
    empty: int


class LineDecision(BaseModel):
    """A decision in a line: the arguments of `decide` other than the item."""

    who: str
    action: Action
    text: str = ""
    at: str = ""
    reasons: tuple[ChangeReason, ...] = ()
    delete: tuple[SentenceNumber, ...] = ()

    def key(self, item: CheckItem) -> tuple[str, ...]:
        """Return the key that distinguishes decisions on items."""
        return (item.id, self.who, self.action, self.text, self.at, *ordered_reasons(self.reasons))


class SheetLine(BaseModel):
    """A line of a file, without fields that are only for display; `number` is the line number, from 1."""

    number: int = Field(default=0, ge=0, lt=2**31)
    item: str
    subject: str = ""
    action: Action | Literal["delete", ""] | None = None
    label: Label | Literal[""] | None = None
    new_text: str | None = None
    reply: str | None = None
    delete: list[SentenceNumber] = []
    reasons: list[ChangeReason] = []
    who: str = ""
    decisions: list[LineDecision] = []

    @property
    def asked(self) -> Action | None:
        """The action on the item, if any; a label and a non-empty reply are actions, and deleting counts as an edit."""
        if self.label:
            return self.label
        if (self.reply or "").strip():
            return "reply"
        if self.action == "delete":
            return "edit"
        return self.action or None

    def all_decisions(self, who: str) -> list[LineDecision]:
        """Return the decisions of the line; `who` is the person for lines without a name."""
        if self.asked is None:
            return self.decisions
        delete = self.delete if self.action == "delete" else ()
        text = self.reply or self.new_text or ""
        own = LineDecision(
            who=self.who or who, action=self.asked, text=text, reasons=tuple(self.reasons), delete=tuple(delete)
        )
        return [*self.decisions, own]


def import_checks(settings: Settings, run: str, path: Path, *, who: str) -> ImportResult:
    """Import the decisions of a file; a line's own `who` takes precedence. Importing again changes nothing.

    The whole file is checked before anything is stored. A line of another run applies to the item with the same content in
    this run, so that decisions can be reused when a run is repeated with more samples.

    Raises:
        DataError: a line is unusable; the message names it, and nothing was stored.
        NotFound: there is no such run.
    """
    lines = read_checks(path)
    standings = open_for_people(settings, run)
    with Home.open(settings.home, write=False) as home:
        decisions = _read_decisions(home, standings, lines, str(path), who)
        new = _new_decisions(home, decisions, standings, str(path))
    stored = keep_or_file(settings.home, [filing for _, filing in new], _insertion(new, str(path))) if new else []
    return _result(decisions, standings, new, stored)


def take_in_lines(
    home: Home, run_id: str, lines: Sequence[SheetLine], name: str, *, who: str, others: bool
) -> ImportResult:
    """Import the lines of a file like `import_checks`, into a home that is open for writing.

    Without `others`, a line with another person's decision is refused, unless the home already has that decision.

    Raises:
        DataError: a line is unusable; the message names it, and nothing was stored.
        NotFound: the run has nothing to check.
    """
    standings = all_standings(home, run_id)
    if not standings:
        raise nothing_to_check(run_id)
    decisions = _read_decisions(home, standings, lines, name, who)
    stored_keys = _decision_keys(standings)
    for number, item, decision in decisions:
        if decision is not None and decision.who != who and not others and decision.key(item) not in stored_keys:
            raise DataError(f"{name}, line {number}: {decision.who} decided this, and this is {who}'s token")

    new = _new_decisions(home, decisions, standings, name)
    stored: Sequence[Decision] = []
    if new:
        stored = asyncio.run(keep_decisions(home, [filing for _, filing in new], _insertion(new, name)))
    return _result(decisions, standings, new, stored)


LineEntry = tuple[int, CheckItem, LineDecision | None]
"""The number of a line, its item, and a decision on it; None without one."""

NumberedFiling = tuple[int, FiledDecision]
"""The number of a line, and a decision from it that can be stored."""


def _read_decisions(
    home: Home, standings: Sequence[Standing], lines: Sequence[SheetLine], name: str, who: str
) -> list[LineEntry]:
    """Return the decisions of lines, in order.

    Raises:
        DataError: one of them is unusable; the message names it.
    """
    items_by_id = {standing.item.id: standing.item for standing in standings}
    items_by_subject = {standing.item.subject: standing.item for standing in standings}
    entries: list[LineEntry] = []
    faults: list[str] = []
    for line in lines:
        at = f"{name}, line {line.number}"
        item = items_by_id.get(line.item) or items_by_subject.get(line.subject)
        if item is None:
            raise DataError(f"{at}: the run has no item {line.item!r}")
        if line.action and line.label:
            raise DataError(f"{at}: both action and label are given; keep one")
        decisions = line.all_decisions(who)
        for decision in decisions:
            if refusal := item.refusal(decision.action):
                raise DataError(f"{at}: {refusal}")
        if line.reasons and line.asked is None:
            raise DataError(f"{at}: reasons are given without an action: edit, delete or reject")
        if line.asked is not None and (refusal := item.reason_refusal(line.asked, line.reasons)):
            raise DataError(f"{at}: {refusal}")
        if line.asked == "reply" and (fault := _fault(home, item, line, who)):
            faults.append(f"{at}: {fault}")
        if line.action == "edit" and not (line.new_text or "").strip():
            raise DataError(f"{at}: an edit needs new_text")
        if line.action == "delete" and not line.delete:
            raise DataError(f"{at}: delete needs the numbers of sentences, such as [2]")
        entries += [(line.number, item, decision) for decision in decisions or [None]]
    if faults:
        raise DataError("\n".join(faults))
    return entries


def _new_decisions(
    home: Home, entries: Sequence[LineEntry], standings: Sequence[Standing], name: str
) -> list[NumberedFiling]:
    """Return the decisions that the home does not have yet.

    Raises:
        DataError: one of them cannot be stored; the message names its line.
    """
    stored_keys = _decision_keys(standings)
    new: list[NumberedFiling] = []
    for number, item, decision in entries:
        if decision is None or decision.key(item) in stored_keys:
            continue
        try:
            new.append((number, checked(home, item, **dict(decision))))
        except DokimasiaError as error:
            raise DataError(f"{name}, line {number}: {error}") from error
    return new


def _insertion(new: Sequence[NumberedFiling], name: str) -> WriteJob[list[Decision]]:
    """Return a function that inserts all decisions, or none; its `DataError` names the line that cannot be stored."""

    def insert(connection: sqlite3.Connection) -> list[Decision]:
        decisions: list[Decision] = []
        for number, filing in new:
            try:
                decisions.append(insert_decision(connection, filing))
            except InputError as error:
                raise DataError(f"{name}, line {number}: {error}") from error
        return decisions

    return insert


def _result(
    entries: Sequence[LineEntry],
    standings: Sequence[Standing],
    new: Sequence[NumberedFiling],
    stored: Sequence[Decision] | None,
) -> ImportResult:
    """Return the counts of an import; `stored` is None if the decisions are filed for the process that writes to the home."""
    empty = sum(decision is None for _, _, decision in entries)
    known = len(entries) - empty - len(new)
    if stored is None:
        return ImportResult(decided=0, known=known, left=len(new), empty=empty)
    ids = {decision.id for standing in standings for decision in standing.decisions}
    decided = len({decision.id for decision in stored} - ids)
    return ImportResult(decided=decided, known=known + len(stored) - decided, left=0, empty=empty)


def _decision_keys(standings: Sequence[Standing]) -> set[tuple[str, ...]]:
    """Return the keys of the decisions on items, in the form of `LineDecision.key`."""
    keys: set[tuple[str, ...]] = set()
    for standing in standings:
        for decision in standing.decisions:
            keys.add((decision.item, decision.who, decision.action, decision.text, decision.at, *decision.reasons))
    return keys


def _fault(home: Home, item: CheckItem, line: SheetLine, who: str) -> str:
    """Return why a line's reply cannot be stored; empty if it can or is already stored."""
    if fault := item.told(line.who or who):
        return fault
    question = get_question(home, item.id)
    reply = line.reply or ""
    if question.reply == reply.strip():
        return ""
    return faults_of(question.aid, reply)


def read_checks(path: Path) -> list[SheetLine]:
    """Return the lines of a filled-in file.

    Raises:
        DataError: the file cannot be read, or a line is invalid; the message names it.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    lines: list[SheetLine] = []
    for number, raw in enumerate(data.splitlines(), 1):
        if not raw.strip():
            continue
        if len(raw) > MAX_LINE:
            raise DataError(f"{path}, line {number}: longer than {MAX_LINE} bytes")
        try:
            lines.append(SheetLine.model_validate_json(raw).model_copy(update={"number": number}))
        except ValidationError as error:
            first = list_faults(error)[0]
            raise DataError(f"{path}, line {number}: {first.field or 'the line'}: {first.message}") from None
    return lines
