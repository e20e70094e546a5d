"""What a person checks of a run: golden captions and rubrics that wait, decisions on them, and how they are taken in."""

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from dokimasia.domain.decision import (
    Action,
    CheckItem,
    Decision,
    Standing,
    difference,
    rubric_subject,
    without_sentences,
)
from dokimasia.domain.rubric import RubricSet
from dokimasia.errors import ConfigError, HomeLocked, InputError, NotFound
from dokimasia.graphs.review import verification
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.checkpoints import Saver, delete_thread, open_saver
from dokimasia.storage.decisions import (
    Left,
    clear_draft,
    keep_items,
    leave,
    left_decisions,
    record_decision,
    standing,
    standings,
    take_in,
)
from dokimasia.storage.home import Home
from dokimasia.storage.reviews import golden_captions, made_values
from dokimasia.storage.runs import now, resolve_run
from dokimasia.storage.threads import Thread, close_thread, open_thread

T = TypeVar("T")


def pending_checks(
    run: str, *, settings: Settings | None = None, who: str | None = None, second: bool = False
) -> list[Standing]:
    """Return what waits for a person in a run, in the order of its samples.

    Args:
        run: a run's id or its beginning, or `last`.
        settings: home and configuration; read from the environment by default.
        who: the person who checks.
        second: with `who`, what others have decided and this person has not, for a second opinion.

    Raises:
        NotFound: there is no such run.
        ConfigError: a second opinion is asked for and nobody is named.
    """
    if second and not who:
        raise ConfigError("a second opinion needs the name of who gives it: --who NAME")
    settings = settings or load_settings()
    with Home.open(settings.home, write=False) as home:
        every = all_standings(home, resolve_run(home, run).id)
    if second and who:
        return [one for one in every if one.decisions and one.last_of(who) is None]
    return [one for one in every if one.state == "waiting"]


def decide(
    item: CheckItem | str,
    action: Action,
    *,
    who: str,
    text: str = "",
    delete: Sequence[int] = (),
    at: str = "",
    settings: Settings | None = None,
) -> Decision | None:
    """Keep a person's decision, durably on return, and let what waited for it go on.

    Args:
        item: what is decided on, or its id.
        action: accept, edit (with `text` or `delete`) or reject.
        who: the person.
        text: the text after an edit.
        delete: instead of a text, the numbers of sentences to leave out, from 1.
        at: when it was decided, in UTC and ISO form; now by default.
        settings: home and configuration; read from the environment by default.

    Returns:
        The decision; None where another process writes to the home: then the decision is left as a file there, and
        the next command that writes takes it in.

    Raises:
        NotFound: there is no such item.
        InputError: an edit that changes nothing or leaves nothing, or deletes what is not there.
    """
    settings = settings or load_settings()
    checked = _item_of(settings, item) if isinstance(item, str) else item
    who = who.strip()[:100]
    if not who:
        raise InputError("a decision needs the name of who made it")
    if delete:
        try:
            text = without_sentences(checked.text, delete)
        except ValueError as error:
            raise InputError(f"item {checked.id}: {error}") from None
    left = Left(item=checked, who=who, at=at or now(), action=action, text=text)
    if action == "edit" and not difference(checked.text, text.strip()):
        raise InputError(f"item {checked.id}: the edit changes nothing: accept the text instead")
    try:
        home = Home.open(settings.home, write=True, create=False, command="dokimasia check")
    except HomeLocked:
        leave(settings.home, left)
        clear_draft(settings.home, checked.id, who)
        return None
    with home:
        decision = _finish(_decided(home, left))
    clear_draft(settings.home, checked.id, who)
    return decision


def open_for_people(settings: Settings, run: str) -> list[Standing]:
    """Make rows and threads of all that waits in a run, take in what was left as files, and return how all items stand.

    Where another process writes to the home nothing is made, and what stands is returned all the same.

    Raises:
        NotFound: there is no such run, or it has nothing to check.
    """
    try:
        home = Home.open(settings.home, write=True, create=False, command="dokimasia check")
    except HomeLocked:
        home = Home.open(settings.home, write=False)
    with home:
        found = resolve_run(home, run).id
        if home.is_writing:
            _finish(_opened(home, found))
        every = all_standings(home, found)
    if not every:
        raise NotFound(
            f"run {found} has nothing to check: captions come from `dokimasia review`, rubrics from `dokimasia rubrics`"
        )
    return every


async def open_checks(home: Home, saver: Saver, run_id: str) -> int:
    """Hold all that a run made for a person, as rows and as threads that wait; return how many items wait.

    Decisions that were left as files are taken in first, and threads that are decided go on.
    """
    await take_in(home)
    items = found_items(home, run_id)
    await keep_items(home, items)
    graph = verification.compiled(saver)
    threads = {id for (id,) in home.all("SELECT thread_id FROM threads WHERE run_id = ?", (run_id,))}
    waiting = 0
    for one in standings(home, run_id):
        thread = verification.thread_id(run_id, one.item.id)
        if one.settled_by is None:
            waiting += 1
            await _open_thread(home, one.item, thread)
            await verification.hold(graph, one.item.id, thread)
        elif thread in threads:
            await _go_on(home, saver, one, thread)
    return waiting


def all_standings(home: Home, run_id: str) -> list[Standing]:
    """Return how all items of a run stand: those with rows, those the run made since, and decisions left as files."""
    known = {one.item.id: one for one in standings(home, run_id)}
    for item in found_items(home, run_id):
        known.setdefault(item.id, Standing(item=item))
    for _, left in left_decisions(home.path):
        here = known.get(left.item.id)
        if here is not None:
            known[left.item.id] = _with(here, left)
    return sorted(known.values(), key=lambda one: (one.item.position, one.item.id))


def found_items(home: Home, run_id: str) -> list[CheckItem]:
    """Return what a run made that a person should check, in the order of its samples: captions, then rubrics."""
    found: list[dict[str, Any]] = [
        {"kind": "caption", "sample_id": row.sample_id, "subject": row.id, "text": row.caption.text}
        for row in golden_captions(home, run_id)
    ]
    for made, rubrics in made_values(home, run_id, RubricSet):
        for number, rubric in enumerate(rubrics.rubrics, 1):
            evidence = f'; the caption: "{rubric.evidence}"' if rubric.evidence else ""
            found.append(
                {
                    "kind": "rubric",
                    "sample_id": made.sample_id,
                    "subject": rubric_subject(made.id, number),
                    "text": rubric.statement,
                    "detail": f"{rubric.stream.replace('_', '-')}, {rubric.polarity}{evidence}",
                }
            )
    return [CheckItem(run=run_id, position=position, **fields) for position, fields in enumerate(found)]


def checked_texts(home: Home, run_id: str) -> dict[str, Standing]:
    """Return how a run's items stand by what they are about: a caption's content id, or `rubric_subject` of a rubric."""
    return {one.item.subject: one for one in all_standings(home, run_id)}


def _finish(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, from plain code and from inside an event loop alike, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def _decided(home: Home, left: Left) -> Decision:
    await take_in(home)
    decision = await record_decision(home, left)
    async with open_saver(home) as saver:
        await _go_on(home, saver, standing(home, left.item.id), verification.thread_id(left.item.run, left.item.id))
    return decision


async def _opened(home: Home, run_id: str) -> None:
    async with open_saver(home) as saver:
        await open_checks(home, saver, run_id)


async def _go_on(home: Home, saver: Saver, one: Standing, thread: str) -> None:
    """Resume an item's thread with the decision that settles it, and forget the thread; a lost one is begun anew."""
    settled = one.settled_by
    if settled is None:
        return
    await _open_thread(home, one.item, thread)
    await verification.go_on(verification.compiled(saver), one.item.id, settled, thread)
    await delete_thread(saver, thread)
    await close_thread(home, thread)


async def _open_thread(home: Home, item: CheckItem, thread: str) -> None:
    row = Thread(
        thread_id=thread,
        run_id=item.run,
        item=f"check/{item.id}",
        graph=verification.NAME,
        graph_version=str(verification.VERSION),
    )
    await open_thread(home, row)


def _item_of(settings: Settings, id: str) -> CheckItem:
    with Home.open(settings.home, write=False) as home:
        return standing(home, id).item


def _with(here: Standing, left: Left) -> Standing:
    """An item with a decision that is not yet a row."""
    text = left.text.strip() if left.action == "edit" else here.item.text
    changed = difference(here.item.text, text) if left.action == "edit" else ""
    if left.action == "edit" and not changed:
        return here
    decision = Decision(
        item=here.item.id,
        number=len(here.decisions) + 1,
        who=left.who,
        at=left.at,
        action=left.action,
        text=text,
        difference=changed,
    )
    return here.model_copy(update={"decisions": (*here.decisions, decision)})
