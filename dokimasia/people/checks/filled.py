"""Import of decisions from filled-in files of items; all lines are checked before any decision is stored."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from dokimasia.agents.readers import faults_of
from dokimasia.domain.blindspots import Label
from dokimasia.domain.decision import Action, ChangeReason, CheckItem, Decision, Standing, ordered_reasons
from dokimasia.errors import DataError, DokimasiaError
from dokimasia.people.checks import all_standings, checked, decide, keep_decision, nothing_to_check, open_for_people
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import get_question

MAX_LINE = 1 << 20


class ImportResult(NamedTuple):
    """The counts of an import: new decisions, known ones, ones left as files for a writing process, lines without a decision."""

    decided: int
    known: int
    left: int
    empty: int


class _Made(BaseModel):
    who: str
    action: Action
    text: str = ""
    at: str = ""
    reasons: tuple[ChangeReason, ...] = ()


class SheetLine(BaseModel):
    """What a line of a file says, without what it only shows; `number` is its place in the file, from 1."""

    number: int = Field(default=0, ge=0, lt=2**31)
    item: str
    subject: str = ""
    action: Action | Literal["delete", ""] | None = None
    label: Label | Literal[""] | None = None
    new_text: str | None = None
    reply: str | None = None
    delete: list[Annotated[int, Field(ge=0, lt=2**31)]] = []
    reasons: list[ChangeReason] = []
    who: str = ""
    decisions: list[_Made] = []

    @property
    def asked(self) -> Action | None:
        """What is decided on the item; deleting is an edit, and a reply that is there is given."""
        if self.label:
            return self.label
        if (self.reply or "").strip():
            return "reply"
        return "edit" if self.action == "delete" else self.action or None


def import_checks(settings: Settings, run: str, path: Path, *, who: str) -> ImportResult:
    """Import the decisions of a file; a line's own `who` takes precedence. Importing again changes nothing.

    The whole file is checked before anything is stored. A line of another run applies to the item with the same content in
    this run, so that decisions can be reused when a run is repeated with more samples.

    Raises:
        DataError: a line cannot be used; the message names it, and nothing was decided.
        NotFound: there is no such run.
    """
    lines = read_checks(path)
    standings = open_for_people(settings, run)
    with Home.open(settings.home, write=False) as home:
        wanted = _wanted(home, standings, lines, str(path), who)
    return _taken(wanted, standings, str(path), partial(decide, settings=settings))


def take_in_lines(
    home: Home, run_id: str, lines: Sequence[SheetLine], name: str, *, who: str, others: bool
) -> ImportResult:
    """Import the lines of a file, as `import_checks`, in a home that is open for writing.

    Without `others`, a line with another person's decision is refused, unless the home has that decision already.

    Raises:
        DataError: a line cannot be used; the message names it, and nothing was decided.
        NotFound: the run has nothing to check.
    """
    standings = all_standings(home, run_id)
    if not standings:
        raise nothing_to_check(run_id)
    wanted = _wanted(home, standings, lines, name, who)
    known = _known(standings)
    for number, item, made in wanted:
        if made and made["who"] != who and not others and _named(item, made) not in known:
            raise DataError(f"{name}, line {number}: {made['who']} decided this, and this is {who}'s token")

    def keep(item: CheckItem, action: Action, **made: Any) -> Decision:
        return asyncio.run(keep_decision(home, checked(home, item, action, **made)))

    return _taken(wanted, standings, name, keep)


Wanted = tuple[int, CheckItem, dict[str, Any]]
"""The number of a line, its item, and the arguments of its decision; empty without one."""


def _wanted(home: Home, standings: Sequence[Standing], lines: Sequence[SheetLine], name: str, who: str) -> list[Wanted]:
    """Return the decisions of lines, in order.

    Raises:
        DataError: one of them cannot be used; the message names it.
    """
    known = {one.item.id: one.item for one in standings}
    same = {one.item.subject: one.item for one in standings}
    wanted: list[Wanted] = []
    faults: list[str] = []
    for line in lines:
        at = f"{name}, line {line.number}"
        item = known.get(line.item) or same.get(line.subject)
        if item is None:
            raise DataError(f"{at}: the run has no item {line.item!r}")
        if line.action and line.label:
            raise DataError(f"{at}: both action and label are given; keep one")
        asked: list[Action | None] = [line.asked, *(one.action for one in line.decisions)]
        for action in asked:
            if action is not None and (refusal := item.refusal(action)):
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
        made = [one.model_dump() for one in line.decisions]
        if line.asked is not None:
            decided = {"who": line.who or who, "action": line.asked, "text": line.reply or line.new_text or ""}
            decided |= {"reasons": tuple(line.reasons)}
            made.append(decided | ({"delete": line.delete} if line.action == "delete" else {}))
        wanted += [(line.number, item, one) for one in made or [{}]]
    if faults:
        raise DataError("\n".join(faults))
    return wanted


def _taken(
    wanted: Sequence[Wanted], standings: Sequence[Standing], name: str, keep: Callable[..., Decision | None]
) -> ImportResult:
    counts = dict.fromkeys(ImportResult._fields, 0)
    known = _known(standings)
    ids = {made.id for one in standings for made in one.decisions}
    for number, item, made in wanted:
        if not made:
            counts["empty"] += 1
            continue
        if _named(item, made) in known:
            counts["known"] += 1
            continue
        try:
            decision = keep(item, **made)
        except DokimasiaError as error:
            raise DataError(f"{name}, line {number}: {error}") from error
        if decision is None:
            counts["left"] += 1
        else:
            counts["known" if decision.id in ids else "decided"] += 1
            ids.add(decision.id)
    return ImportResult(**counts)


def _known(standings: Sequence[Standing]) -> set[tuple[str, ...]]:
    return {
        (made.item, made.who, made.action, made.text, made.at, *made.reasons)
        for one in standings
        for made in one.decisions
    }


def _named(item: CheckItem, made: Mapping[str, Any]) -> tuple[str, ...]:
    reasons = ordered_reasons(made.get("reasons", ()))
    return (item.id, made["who"], made["action"], made["text"], made.get("at", ""), *reasons)


def _fault(home: Home, item: CheckItem, line: SheetLine, who: str) -> str:
    """Return why a line's reply cannot be stored; empty if it can, or is stored already."""
    if told := item.told(line.who or who):
        return told
    question = get_question(home, item.id)
    reply = line.reply or ""
    return "" if question.reply == reply.strip() else faults_of(question.aid, reply)


def read_checks(path: Path) -> list[SheetLine]:
    """Return the lines of a file that somebody filled in.

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
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            raise DataError(f"{path}, line {number}: {where}: {first['msg']}") from None
    return lines
