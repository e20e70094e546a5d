"""Numbers of check items per run, counted without reading the items."""

from typing import NamedTuple

from dokimasia.domain.decision import Kind
from dokimasia.storage.home import Home


class CheckCount(NamedTuple):
    """The items of a run with the same kind, person (empty: anybody) and state: their number, and the time of the oldest."""

    run: str
    kind: Kind
    person: str
    waiting: bool
    items: int
    oldest: str


def count_decisions(home: Home) -> int:
    """Return the number of decisions by people in the home, including undone ones."""
    ((count,),) = home.all("SELECT count(*) FROM decisions")
    return int(count)


def check_counts(home: Home) -> list[CheckCount]:
    """Return the numbers of items by run, kind, person and whether they wait; withdrawn items are left out."""
    sql = (
        "SELECT i.run_id, i.kind, coalesce(i.person, ''), i.state = 'waiting', count(*), min(i.opened_at) FROM check_items i "
        "LEFT JOIN questions q ON q.id = i.id WHERE q.withdrawn_at IS NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
    )
    rows = home.all(sql)
    return [CheckCount(run, kind, person, bool(waits), n, since) for run, kind, person, waits, n, since in rows]
