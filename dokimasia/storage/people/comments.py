"""Comments of people on samples of runs, and named views of a run's samples."""

import sqlite3
from typing import NamedTuple

from dokimasia.errors import InputError, NotFound
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import insert_row, next_number
from dokimasia.storage.values import now

MOST_COMMENTS, MOST_VIEWS = 10_000, 100
"""The maximum numbers of comments and of named views of one run."""


class Comment(NamedTuple):
    """A comment on a sample of a run; `id` is its number within the home, `at` the time in UTC."""

    id: int
    run: str
    sample: str
    who: str
    at: str
    text: str


class NamedView(NamedTuple):
    """A named view of a run's samples; `query` is the query string of its address."""

    run: str
    name: str
    query: str
    who: str
    at: str


_COMMENT, _VIEW = "id, run_id, sample_id, who, at, text", "run_id, name, query, who, at"


def comments_on(home: Home, run_id: str, sample_id: str | None = None) -> list[Comment]:
    """Return the comments on a run's samples, or on one sample, in the order of writing."""
    sql = f"SELECT {_COMMENT} FROM comments WHERE run_id = ? AND (? IS NULL OR sample_id = ?) ORDER BY id"
    return [Comment(*row) for row in home.all(sql, (run_id, sample_id, sample_id))]


def comment_counts(home: Home, run_id: str) -> dict[str, int]:
    """Return the number of comments by sample, without samples that have none."""
    sql = "SELECT sample_id, count(*) FROM comments WHERE run_id = ? GROUP BY sample_id ORDER BY sample_id"
    return dict(home.all(sql, (run_id,)))


async def keep_comment(home: Home, run_id: str, sample_id: str, text: str, *, who: str) -> Comment:
    """Store a comment on a sample, durably on return.

    Raises:
        NotFound: the run has no such sample.
        InputError: the run has the maximum number of comments.
        StorageError: it could not be written.
    """

    def insert(connection: sqlite3.Connection) -> Comment:
        known = connection.execute(
            "SELECT 1 FROM run_samples WHERE run_id = ? AND sample_id = ?", (run_id, sample_id)
        ).fetchone()
        if known is None:
            raise NotFound(f"run {run_id} has no sample {sample_id[:80]!r}")
        _refuse_more(connection, "comments", run_id, MOST_COMMENTS)
        comment = Comment(next_number(connection, "comments"), run_id, sample_id, who, now("seconds"), text)
        insert_row(connection, "comments", dict(zip(_COMMENT.split(", "), comment, strict=True)))
        return comment

    return await home.write(insert)


async def remove_comment(home: Home, run_id: str, id: int, *, who: str | None) -> Comment:
    """Delete a comment by anyone, or only if by `who`, and return it.

    Raises:
        NotFound: the run has no such comment.
        InputError: it is another person's.
        StorageError: it could not be written.
    """

    def remove(connection: sqlite3.Connection) -> Comment:
        sql = f"SELECT {_COMMENT} FROM comments WHERE run_id = ? AND id = ?"
        row = connection.execute(sql, (run_id, id)).fetchone()
        if row is None:
            raise NotFound(f"run {run_id} has no comment {id}")
        comment = Comment(*row)
        _refuse_other(comment.who, who, f"comment {id}")
        connection.execute("DELETE FROM comments WHERE id = ?", (id,))
        return comment

    return await home.write(remove)


def views_of(home: Home, run_id: str) -> list[NamedView]:
    """Return the named views of a run's samples, by name."""
    return [NamedView(*row) for row in home.all(f"SELECT {_VIEW} FROM views WHERE run_id = ? ORDER BY name", (run_id,))]


async def keep_view(home: Home, run_id: str, name: str, query: str, *, who: str) -> NamedView:
    """Name a view of a run's samples, durably on return.

    Raises:
        InputError: a view of the run has this name, or the run has the maximum number of views.
        StorageError: it could not be written.
    """

    def insert(connection: sqlite3.Connection) -> NamedView:
        _refuse_more(connection, "views", run_id, MOST_VIEWS)
        view = NamedView(run_id, name, query, who, now("seconds"))
        if not insert_row(connection, "views", dict(zip(_VIEW.split(", "), view, strict=True))):
            raise InputError(f"there is a view {name!r} of this run already: choose another name, or delete that view")
        return view

    return await home.write(insert)


async def remove_view(home: Home, run_id: str, name: str, *, who: str | None) -> NamedView:
    """Delete a named view by anyone, or only if by `who`, and return it.

    Raises:
        NotFound: the run has no view of that name.
        InputError: another person named it.
        StorageError: it could not be written.
    """

    def remove(connection: sqlite3.Connection) -> NamedView:
        row = connection.execute(f"SELECT {_VIEW} FROM views WHERE run_id = ? AND name = ?", (run_id, name)).fetchone()
        if row is None:
            raise NotFound(f"run {run_id} has no view {name[:80]!r}")
        view = NamedView(*row)
        _refuse_other(view.who, who, f"view {name!r}")
        connection.execute("DELETE FROM views WHERE run_id = ? AND name = ?", (run_id, name))
        return view

    return await home.write(remove)


def _refuse_more(connection: sqlite3.Connection, table: str, run_id: str, most: int) -> None:
    count = connection.execute(f"SELECT count(*) FROM {table} WHERE run_id = ?", (run_id,)).fetchone()[0]
    if count >= most:
        raise InputError(f"run {run_id} has {most:,} {table}, and takes no more: delete some first")


def _refuse_other(owner: str, who: str | None, what: str) -> None:
    if who is not None and owner != who:
        raise InputError(f"{what} is {owner}'s: only {owner}, or whoever runs this service, can delete it")
