"""The writing thread: jobs are queued, committed in groups, and acknowledged once durable."""

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dokimasia.errors import StorageError
from dokimasia.storage.connection import transaction
from dokimasia.storage.faults import storage_error

T = TypeVar("T")
WriteJob = Callable[[sqlite3.Connection], T]
"""Runs statements inside the group's transaction, without beginning or committing one; its result
goes to the caller.
"""

MAX_GROUP = 512
"""The maximum number of jobs in one transaction, so that the first of a long queue does not wait for the last."""

BUSY_JOBS, GATHER_SECONDS = 4, 0.004
"""After a group of `BUSY_JOBS` or more, jobs are gathered for `GATHER_SECONDS` before the next: fewer commits a call."""


@dataclass(slots=True)
class _QueuedJob:
    """A job with its waiter and its result."""

    job: WriteJob[Any]
    future: "asyncio.Future[Any] | Future[Any]"
    loop: asyncio.AbstractEventLoop | None
    routine: bool
    result: Any = None
    error: Exception | None = None


class Writer:
    """Owns the writing connection, in its own thread.

    Jobs queued within one turn of an event loop are handed over together at its end, so that the thread is woken once.
    The thread takes all waiting jobs into one transaction, and the next group gathers while one is committed, and for
    `GATHER_SECONDS` after a group of several. So a lone job is committed at once, and two thousand simultaneous jobs
    cost a handful of commits. A group with a failing job is rolled back and run again with a savepoint for each job:
    only the failing one is undone, and the others are committed. A job may therefore run twice, and must change nothing
    but the database. An acknowledged job survives the death of the process.

    A `routine` job adds to a run at work the rows that are added continually (calls, values, results), and changes
    nothing that existed before; any other job may change the data of every run.

    Attributes:
        changes: the number of groups committed with a job that is not routine.
        additions: the number of groups committed without one.
    """

    def __init__(self, connection: sqlite3.Connection, *, path: Path) -> None:
        """Start the thread; it closes the connection when it ends. `path` is named in errors."""
        self._connection = connection
        self._path = path
        self._queue: queue.SimpleQueue[list[_QueuedJob] | None] = queue.SimpleQueue()
        self._gathered: list[_QueuedJob] = []
        self._gate = threading.Lock()
        self._closed = False
        self.changes = self.additions = 0
        self._thread = threading.Thread(target=self._work, name="dokimasia-writer", daemon=True)
        self._thread.start()

    def submit(self, job: WriteJob[T], *, routine: bool = False) -> "Future[T]":
        """Queue a job from synchronous code; the future's result comes after the commit.

        Raises:
            StorageError: the writer is closed.
        """
        future: Future[T] = Future()
        self._gather(_QueuedJob(job, future, None, routine))
        self._hand_over()
        return future

    async def run(self, job: WriteJob[T], *, routine: bool = False) -> T:
        """Queue a job and return its result once it is committed. Cancelling the caller does not undo the job.

        Raises:
            StorageError: the job, or the commit of its group, failed; nothing of the job is kept.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        last = self._gather(_QueuedJob(job, future, loop, routine))
        if last is None or last.loop is not loop:
            loop.call_soon(self._hand_over)
        return await future

    def close(self) -> None:
        """Commit queued jobs, then end the thread and close the connection; closing twice is harmless."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._queue.put(self._gathered)
                self._queue.put(None)
        self._thread.join()

    def _gather(self, queued: _QueuedJob) -> _QueuedJob | None:
        """Add a job to those to be handed over; return the previous one."""
        with self._gate:
            if self._closed:
                raise StorageError(f"{self._path} is closed: nothing can be written after the home was closed.")
            last = self._gathered[-1] if self._gathered else None
            self._gathered.append(queued)
        return last

    def _hand_over(self) -> None:
        with self._gate:
            if self._gathered and not self._closed:
                self._queue.put(self._gathered)
                self._gathered = []

    def _work(self) -> None:
        running = True
        group: list[_QueuedJob] = []
        while running:
            batch = self._queue.get()
            if batch is not None and len(group) >= BUSY_JOBS:
                time.sleep(GATHER_SECONDS)
            group = []
            while batch is not None:
                group += batch
                if len(group) >= MAX_GROUP:
                    break
                try:
                    batch = self._queue.get_nowait()
                except queue.Empty:
                    break
            running = batch is not None
            for start in range(0, len(group), MAX_GROUP):
                jobs = group[start : start + MAX_GROUP]
                self._commit(jobs)
                if all(queued.routine for queued in jobs):
                    self.additions += 1
                else:
                    self.changes += 1
                _acknowledge(jobs)
        self._connection.close()

    def _commit(self, group: list[_QueuedJob]) -> None:
        if self._committed_at_once(group):
            return
        try:
            with transaction(self._connection):
                for queued in group:
                    self._run_one(queued)
        except Exception as error:  # whatever the error, no waiter may wait forever
            for queued in group:
                # One exception object per waiter: a traceback grows with each raise.
                queued.error = queued.error or self._translate(error)

    def _committed_at_once(self, group: list[_QueuedJob]) -> bool:
        """Commit the group without savepoints, which cost as much as the jobs; roll back if anything fails."""
        try:
            with transaction(self._connection):
                for queued in group:
                    queued.result = queued.job(self._connection)
        except Exception:  # any error: the jobs run again, each with a savepoint, to find the failing one
            return False
        return True

    def _run_one(self, queued: _QueuedJob) -> None:
        connection = self._connection
        connection.execute("SAVEPOINT job")
        try:
            queued.result = queued.job(connection)
        except Exception as error:  # an error of a job concerns only its waiter, never its neighbours
            queued.error = self._translate(error)
            if not connection.in_transaction:
                raise  # SQLite rolled back the whole transaction (a full disk): nothing of the group is stored
            connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")

    def _translate(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.Error):
            return error
        translated = storage_error(error, path=self._path, doing="writing")
        translated.__cause__ = error
        return translated


def _acknowledge(group: list[_QueuedJob]) -> None:
    """Notify every waiter, with one wake-up for each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_QueuedJob]] = {}
    for queued in group:
        if queued.loop is None:
            _resolve([queued])
        else:
            by_loop.setdefault(queued.loop, []).append(queued)
    for loop, waiters in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, waiters)
        except RuntimeError:  # the loop is closed and nobody waits; the jobs are committed all the same
            continue


def _resolve(waiters: list[_QueuedJob]) -> None:
    for queued in waiters:
        future = queued.future
        if future.done():
            continue  # cancelled by its caller
        try:
            if queued.error is not None:
                future.set_exception(queued.error)
            else:
                future.set_result(queued.result)
        except (InvalidStateError, asyncio.InvalidStateError):
            continue  # cancelled between the question and the answer
