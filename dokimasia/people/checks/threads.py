"""Threads of the verification graph in which a run's results wait for people's decisions."""

from dokimasia.domain.decision import RATED, CheckItem, Kind, Standing
from dokimasia.graphs.review import verification
from dokimasia.people.checks.standings import found_items
from dokimasia.storage.checkpoints import Saver, delete_thread
from dokimasia.storage.decisions import import_filed, keep_items, standings
from dokimasia.storage.home import Home
from dokimasia.storage.threads import Thread, close_thread, open_thread

WITHOUT_THREAD: tuple[Kind, ...] = ("question", *RATED)
"""Kinds of items without a thread: answers resume the run itself, and nothing depends on ratings."""


async def open_threads(home: Home, saver: Saver, run_id: str) -> None:
    """Store all results of a run for people to check, as rows and waiting threads.

    Decisions stored as files are imported first, and threads with a decision are resumed.
    """
    await import_filed(home)
    await keep_items(home, found_items(home, run_id))
    graph = verification.compiled(saver)
    threads = {id for (id,) in home.all("SELECT thread_id FROM threads WHERE run_id = ?", (run_id,))}
    for standing in standings(home, run_id):
        if standing.item.kind in WITHOUT_THREAD:
            continue
        if standing.settled_by is None:
            await verification.hold(graph, standing.item.id, await _open_thread(home, standing.item))
        elif _name(standing.item) in threads:
            await go_on(home, saver, standing)


async def go_on(home: Home, saver: Saver, standing: Standing) -> None:
    """Resume an item's thread with the effective decision, then delete the thread; a lost thread is restarted.

    An item whose decision was withdrawn waits again in a new thread.
    """
    if standing.item.kind in WITHOUT_THREAD:
        return
    settled, thread = standing.settled_by, await _open_thread(home, standing.item)
    if settled is None:
        await verification.hold(verification.compiled(saver), standing.item.id, thread)
        return
    await verification.go_on(verification.compiled(saver), standing.item.id, settled, thread)
    await delete_thread(saver, thread)
    await close_thread(home, thread)


async def _open_thread(home: Home, item: CheckItem) -> str:
    """Store an item's thread and return its id."""
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
