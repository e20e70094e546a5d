"""The threads in which what a run made waits for a person: begun from rows, and gone on with by decisions."""

from dokimasia.domain.decision import RATED, CheckItem, Kind, Standing
from dokimasia.graphs.review import verification
from dokimasia.people.checks.standings import found_items
from dokimasia.storage.checkpoints import Saver, delete_thread
from dokimasia.storage.decisions import import_filed, keep_items, standings
from dokimasia.storage.home import Home
from dokimasia.storage.threads import Thread, close_thread, open_thread

WITHOUT_THREAD: tuple[Kind, ...] = ("question", *RATED)
"""What no thread waits for: a run goes on with answers to its questions, and nothing rests on ratings."""


async def open_threads(home: Home, saver: Saver, run_id: str) -> None:
    """Hold all that a run made for a person, as rows and as threads that wait.

    Decisions that were left as files are taken in first, and threads that are decided go on.
    """
    await import_filed(home)
    await keep_items(home, found_items(home, run_id))
    graph = verification.compiled(saver)
    threads = {id for (id,) in home.all("SELECT thread_id FROM threads WHERE run_id = ?", (run_id,))}
    for one in standings(home, run_id):
        if one.item.kind in WITHOUT_THREAD:
            continue
        if one.settled_by is None:
            await verification.hold(graph, one.item.id, await _opened(home, one.item))
        elif _name(one.item) in threads:
            await go_on(home, saver, one)


async def go_on(home: Home, saver: Saver, one: Standing) -> None:
    """Resume an item's thread with the decision that settles it, and forget the thread; a lost one is begun anew.

    An item whose decision was taken back waits again, in a new thread.
    """
    if one.item.kind in WITHOUT_THREAD:
        return
    settled, thread = one.settled_by, await _opened(home, one.item)
    if settled is None:
        await verification.hold(verification.compiled(saver), one.item.id, thread)
        return
    await verification.go_on(verification.compiled(saver), one.item.id, settled, thread)
    await delete_thread(saver, thread)
    await close_thread(home, thread)


async def _opened(home: Home, item: CheckItem) -> str:
    """Note an item's thread and return its name."""
    row = Thread(
        thread_id=_name(item),
        run_id=item.run,
        item=f"check/{item.id}",
        graph=verification.NAME,
        graph_version=str(verification.VERSION),
    )
    await open_thread(home, row)
    return row.thread_id


def _name(item: CheckItem) -> str:
    return verification.thread_id(item.run, item.id)
