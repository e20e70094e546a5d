"""Kills the program in the middle of a run, and checks that no call that was committed before is ever sent again."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dokimasia.simulation.draws import request_hash
from dokimasia.simulation.serving import server
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from tests.processes import PATIENCE, Started


def committed(home: Path) -> int:
    """How many calls the ledger holds; 0 before there is one."""
    if not (home / "dokimasia.db").exists():
        return 0
    connection = sqlite3.connect(f"file:{home / 'dokimasia.db'}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT count(*) FROM calls").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def requests_of(home: Path) -> set[str]:
    """The committed calls as the server names them: the hash of each canonical request, computed from the ledger."""
    with Home.open(home, write=False) as opened:
        ledger = SqliteLedger(opened)
        calls = [ledger.rebuild(key)[0] for (key,) in opened.all("SELECT key FROM calls")]
    return {request_hash(call) for call in calls if call.kind == "chat"}


def sent_requests(log: Path) -> list[str]:
    """What the server's log says was asked and left whole, in order; a line that is being written is none yet."""
    lines = log.read_text().rpartition("\n")[0].splitlines()
    return [line["request"] for line in map(json.loads, lines) if line["sent"] and line["status"] == 200]


MORE = 2
"""So many replies more than a test waits for leave before the others are held back."""


@contextmanager
def held_back(home: Path, *, at: int, seconds: float = PATIENCE) -> Iterator[None]:
    """Once a home has about so many calls, hold each reply of this process's servers back: for a while, or until the end.

    A run is in its middle then for as long as a test needs to notice it, however busy the machine is.
    """
    deliver, left, over = server.send_delivery, committed(home), False

    async def held(request: Any, delivery: Any) -> Any:
        nonlocal left
        left += delivery.whole
        if left > at + MORE:
            began = time.monotonic()
            while not over and time.monotonic() - began < seconds:
                await asyncio.sleep(0.01)
                if time.monotonic() - began > 10 and committed(home) < at:  # of those that left, some never came
                    break
        return await deliver(request, delivery)

    server.send_delivery = held
    try:
        yield
    finally:
        over, server.send_delivery = True, deliver


class Witness:
    """Watches a home and the log of the server that its calls go to."""

    def __init__(self, home: Path, log: Path) -> None:
        """Begin with what the home has now; the log is emptied."""
        self._home, self._log = home, log
        self._before = requests_of(home) if (home / "dokimasia.db").exists() else set[str]()
        self._done, self._seen = self._before, 0
        self.deaths = 0
        log.write_text("")

    def kill(self, process: Started, *, at: int, pause: float = 0.0) -> None:
        """Kill the process so many seconds after the home has so many calls, and check what was sent until then."""
        with held_back(self._home, at=at):
            if process.until(lambda: committed(self._home) >= at):
                time.sleep(pause)
            self.deaths += process.alive
            process.kill()
        self.check()
        self._done = requests_of(self._home)
        patience = time.monotonic() + PATIENCE
        while missing := self._done - self._before - set(sent := sent_requests(self._log)):
            assert time.monotonic() < patience, f"{len(missing)} committed calls never came into the server's log"
            time.sleep(0.005)
        self._seen = len(sent)

    def check(self) -> None:
        """Fail if a call was sent since the last death that was committed at it."""
        again = self._done & set(sent_requests(self._log)[self._seen :])
        assert not again, "a call that was committed at an earlier death was sent again"
