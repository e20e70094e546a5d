"""People's decisions on a run's results: listing open items, storing decisions, and resuming what waited for them."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from dokimasia.agents.readers import faults_of
from dokimasia.domain.decision import Action, ChangeReason, CheckItem, Decision, Standing, difference, without_sentences
from dokimasia.errors import ConfigError, HomeLocked, InputError, NotFound
from dokimasia.people.checks.standings import all_standings
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.lifecycle import HomeLike, RunLike, name_of_run, open_for_reading, place_of
from dokimasia.settings import Settings
from dokimasia.storage.decisions import (
    FiledDecision,
    clear_draft,
    file_decision,
    import_filed,
    insert_decision,
    standing,
)
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.people.questions import get_question
from dokimasia.storage.runs import Run, now
from dokimasia.storage.writer import WriteJob

T = TypeVar("T")

_ONE_AT_A_TIME = threading.Lock()
"""Held while a decision is stored and its thread resumed, since a graph's thread must not be resumed twice at once."""


def waits(run: Run) -> bool:
    """Return whether a run has captions, rubrics or perturbations to check, or questions for people."""
    try:
        return run.status == "waiting" or method_of(run).people.checked
    except NotFound:
        return False


def pending_checks(
    run: RunLike,
    *,
    settings: Settings | None = None,
    who: str | None = None,
    second: bool = False,
    home: HomeLike | None = None,
) -> list[Standing]:
    """Return the items of a run that wait for a decision, in the order of its samples.

    Args:
        run: its name, the beginning of its id, or `last`; or a `RunResult`.
        settings: home and configuration; read from the environment by default.
        who: the person who checks.
        second: with `who`, return instead the items that others have decided and this person has not.
        home: a folder, or an open home; by default that of the settings, or of a `RunResult`.

    Raises:
        NotFound: there is no such run.
        ConfigError: `second` without `who`.
    """
    if second and not who:
        raise ConfigError("a second opinion needs the name of who gives it: who=NAME")
    configuration, opened_home = place_of(settings, home, run)
    with open_for_reading(configuration, opened_home) as opened:
        every = all_standings(opened, resolve_run(opened, name_of_run(run), waits).id)
    if second and who:
        return [item for item in every if item.settled_by is not None and item.last_of(who) is None]
    return [item for item in every if item.state == "waiting"]


def decide(
    item: CheckItem | str,
    action: Action,
    *,
    who: str,
    text: str = "",
    delete: Sequence[int] = (),
    at: str = "",
    shown: str = "",
    seen: int | None = None,
    reasons: Sequence[ChangeReason] = (),
    settings: Settings | None = None,
    home: str | Path | None = None,
) -> Decision | None:
    """Store a person's decision durably, and resume what waited for it.

    Args:
        item: the item, or its id.
        action: accept, edit (with `text` or `delete`) or reject; for a perturbation one of `LABELS`; for a question
            `reply` and for a rating `rate` (with `text`); for all of them `undo`, unless another run depends on the
            decision.
        who: the person.
        text: the text after an edit, or the reply.
        delete: instead of a text, the numbers of sentences to omit, from 1.
        at: time of the decision, in UTC and ISO format; now by default.
        shown: when the question was first shown to the person, in the same format, if known.
        seen: the number of decisions on the item that the person knew of, as for `checked`.
        reasons: reasons for editing or rejecting a caption, if the person gives any.
        settings: home and configuration; read from the environment by default.
        home: the folder of the home; by default that of the settings.

    Returns:
        The decision; None if another process is writing to the home, in which case the decision is stored as a file
            that the next writing command imports.

    Raises:
        NotFound: there is no such item.
        InputError: the action does not apply to the item; an edit changes or leaves nothing, or deletes sentences that do
            not exist; a question is another person's, already answered or withdrawn, or the reply does not have the
            requested form; or somebody else has decided in the meantime (`DecidedMeanwhile`).
    """
    settings, _ = place_of(settings, home)
    with Home.open(settings.home, write=False) as reading:
        filing = checked(
            reading, item, action, who=who, text=text, delete=delete, at=at, shown=shown, seen=seen, reasons=reasons
        )
    return keep_or_file(settings.home, [filing], lambda connection: insert_decision(connection, filing))


def keep_or_file(folder: Path, filings: Sequence[FiledDecision], insert: WriteJob[T]) -> T | None:
    """Store decisions in a home as `keep_decisions`; where another process is writing to it, file them and return None."""
    try:
        home = Home.open(folder, write=True, create=False, command="dokimasia decide")
    except HomeLocked:
        for filing in filings:
            file_decision(folder, filing.model_copy(update={"seen": None}))
            clear_draft(folder, filing.item.id, filing.who)
        return None
    with home:
        return _finish(keep_decisions(home, filings, insert))


def checked(
    home: Home,
    item: CheckItem | str,
    action: Action,
    *,
    who: str,
    text: str = "",
    delete: Sequence[int] = (),
    at: str = "",
    shown: str = "",
    seen: int | None = None,
    reasons: Sequence[ChangeReason] = (),
) -> FiledDecision:
    """Return a valid decision without storing it; arguments and errors are those of `decide`.

    `seen` is the number of decisions on the item that the person knew of: if there are more by then, `keep_decision`
    refuses (`DecidedMeanwhile`), so that nobody overrides an unseen decision.
    """
    if isinstance(item, str):
        item = standing(home, item).item
    who = who.strip()[:100]
    if not who:
        raise InputError("a decision needs the name of who made it")
    if refusal := item.refusal(action) or item.told(who) or item.reason_refusal(action, reasons):
        raise InputError(refusal)
    if delete:
        try:
            text = without_sentences(item.text, delete)
        except ValueError as error:
            raise InputError(f"item {item.id}: {error}") from None
    if action == "edit" and not difference(item.text, text.strip()):
        raise InputError(f"item {item.id}: the edit changes nothing: accept the text instead")
    if action == "reply" and (faults := faults_of(get_question(home, item.id).aid, text)):
        raise InputError(f"question {item.id}: this reply cannot be used: {faults}")
    if action == "undo" and item.kind != "question":
        _refuse_undo(home, item, who)
    return FiledDecision(
        item=item, who=who, at=at or now(), action=action, text=text, shown=shown, seen=seen, reasons=tuple(reasons)
    )


def _refuse_undo(home: Home, item: CheckItem, who: str) -> None:
    """Raise if a run was made from this run's items after the person's decision."""
    from dokimasia.runs.persistence import dependent_runs

    standings = {standing.item.id: standing for standing in all_standings(home, item.run)}
    mine = standings[item.id].last_of(who) if item.id in standings else None
    if mine is None:
        return
    made = [run for run in dependent_runs(home, item.run) if run.created_at >= mine.at]
    if made:
        raise InputError(
            f"item {item.id}: run {made[-1].id} ({made[-1].method}) was made from run {item.run} after this was decided, "
            "and rests on it: decide anew instead of taking it back; what was made stays as it is"
        )


async def keep_decision(home: Home, left: FiledDecision) -> Decision:
    """Store a decision durably in a home that is open for writing, and resume what waited for it.

    Raises:
        InputError: as `decide`, if something has changed since the decision was checked.
    """
    return await keep_decisions(home, [left], lambda connection: insert_decision(connection, left))


async def keep_decisions(home: Home, filings: Sequence[FiledDecision], insert: WriteJob[T]) -> T:
    """Store decisions, durably and all or none, resume what waited for them, and return what `insert` returns.

    Args:
        home: a home that is open for writing.
        filings: the decisions.
        insert: inserts them by `insert_decision`, in one transaction.
    """
    from dokimasia.people.checks.threads import go_on
    from dokimasia.storage.checkpoints import open_saver

    await import_filed(home)
    while not _ONE_AT_A_TIME.acquire(blocking=False):  # noqa: ASYNC110 - an event loop must not stand still for another thread
        await asyncio.sleep(0.005)
    try:
        stored = await home.write(insert)
        async with open_saver(home) as saver:
            for item in dict.fromkeys(filing.item.id for filing in filings):
                await go_on(home, saver, standing(home, item))
    finally:
        _ONE_AT_A_TIME.release()
    for filing in filings:
        clear_draft(home.path, filing.item.id, filing.who)
    return stored


def open_for_people(settings: Settings, run: str) -> list[Standing]:
    """Store rows and threads for all open items of a run, import filed decisions, and return all items with decisions.

    If another process is writing to the home, nothing is stored, and the items are returned as they are.

    Raises:
        NotFound: there is no such run, or it has nothing to check.
    """
    try:
        home = Home.open(settings.home, write=True, create=False, command="dokimasia decide")
    except HomeLocked:
        home = Home.open(settings.home, write=False)
    with home:
        run_id = resolve_run(home, run, waits).id
        if home.is_writing:
            _finish(_open_run(home, run_id))
        every = all_standings(home, run_id)
    if not every:
        raise nothing_to_check(run_id)
    return every


def nothing_to_check(run_id: str) -> NotFound:
    """Return the error for a run without items for people."""
    return NotFound(
        f"run {run_id} has nothing to check: captions come from `dokimasia review`, rubrics from `dokimasia rubrics`, "
        "perturbations from `dokimasia perturb`, questions from a run that has human/NAME in the place of a model"
    )


def _finish(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, even inside a running event loop, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def _open_run(home: Home, run_id: str) -> None:
    from dokimasia.people.checks.threads import open_threads
    from dokimasia.storage.checkpoints import open_saver

    async with open_saver(home) as saver:
        await open_threads(home, saver, run_id)
