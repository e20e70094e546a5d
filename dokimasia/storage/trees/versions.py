"""Capability trees of a home: by name, each with its versions, criteria and mappings."""

import sqlite3
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import orjson

from dokimasia.domain.capability import TreeVersion
from dokimasia.domain.growth import Phase, Placement, TreeCriterion
from dokimasia.domain.identity import JsonObject, canonical_json, value_id
from dokimasia.domain.wording import nearest
from dokimasia.errors import ConfigError, DecidedMeanwhile, NotFound, StorageError
from dokimasia.storage.connection import Row
from dokimasia.storage.faults import in_brief
from dokimasia.storage.home import Home
from dokimasia.storage.schema.rows import insert_row, insert_rows, insert_statement, next_number
from dokimasia.storage.values import now, read_value, row_of

__all__ = [
    "StoredVersion",
    "TreeInfo",
    "create_tree",
    "delete_tree",
    "get_version",
    "keep_criteria",
    "list_trees",
    "mappings",
    "put_version",
    "resolve_tree",
    "tree_criteria",
    "versions",
    "versions_of_run",
]

LATEST = "last"
_CHUNK = 10_000
_SHOWN = 8


class TreeInfo(NamedTuple):
    """A tree by name: the run that started its growth, the origin of its first criteria, and its number of versions."""

    name: str
    run_id: str
    source: str
    versions: int
    created_at: str


class StoredVersion(NamedTuple):
    """A version of a tree, with its position from 1.

    `id` is the `TreeVersion`'s content id, `phase` the phase that made it, `run_id` the run of that growth (empty for a
    person's version), `made_by` a judge's name or `person`, and `report` the phase's `PhaseReport` as JSON (empty for a
    person's version).
    """

    tree: str
    position: int
    id: str
    phase: Phase
    run_id: str
    made_by: str
    report: JsonObject
    created_at: str


async def create_tree(home: Home, name: str, *, run_id: str = "", source: str = "") -> TreeInfo:
    """Create a tree without versions, or return the tree that this run created before.

    Raises:
        ConfigError: another run created a tree with that name.
    """

    def insert(connection: sqlite3.Connection) -> None:
        row = {"name": name, "run_id": run_id, "source": source, "created_at": now()}
        insert_row(connection, "trees", row)

    await home.write(insert)
    info = next(tree for tree in list_trees(home) if tree.name == name)
    if info.run_id != run_id:
        raise ConfigError(
            f"there is a tree {name!r} already, grown by run {info.run_id or '(none)'}: take another --name, or "
            f"grow it on with --onto {name}"
        )
    return info


async def keep_criteria(home: Home, tree: str, criteria: Iterable[TreeCriterion]) -> None:
    """Store a tree's criteria with text, sample and stratum; existing criteria stay as they are."""
    stream = iter(criteria)
    while chunk := [_criterion_row(tree, criterion) for criterion in islice(stream, _CHUNK)]:
        await home.write(lambda connection, chunk=chunk: insert_rows(connection, "tree_criteria", chunk))


async def put_version(
    home: Home,
    tree: str,
    version: TreeVersion,
    *,
    phase: Phase,
    run_id: str = "",
    made_by: str = "person",
    report: JsonObject | None = None,
    placements: Iterable[Placement] = (),
    after: int | None = None,
) -> StoredVersion:
    """Store a version as the tree's newest, with its mappings, atomically.

    Storing an existing version changes nothing, so that a phase can be repeated after a crash.

    Raises:
        DecidedMeanwhile: `after` is given, and the tree has a newer version than that.
        StorageError: it could not be written, or there is no such tree.
    """
    body, id = row_of(version), value_id(version)
    details = canonical_json(report or {}).decode()
    rows = [_placement_row(tree, id, placement) for placement in placements]

    def insert(connection: sqlite3.Connection) -> None:
        existing = connection.execute("SELECT 1 FROM tree_versions WHERE tree = ? AND version_id = ?", (tree, id))
        if existing.fetchone() is not None:
            return
        connection.execute(insert_statement("objects", body), tuple(body.values()))
        position = next_number(connection, "tree_versions", "position", tree=tree)
        if after is not None and position != after + 1:
            raise DecidedMeanwhile(
                f"the tree {tree!r} has got version {position - 1} meanwhile, which would be undone: look at that and "
                "edit it. Nothing was changed."
            )
        place = {"tree": tree, "position": position, "version_id": id, "phase": phase, "run_id": run_id}
        row = {**place, "made_by": made_by, "report": details, "created_at": now()}
        insert_row(connection, "tree_versions", row)
        insert_rows(connection, "tree_mappings", rows)

    await home.write(insert)
    return next(version for version in versions(home, tree) if version.id == id)


async def delete_tree(home: Home, tree: str) -> None:
    """Remove a tree with its versions, criteria and mappings, atomically; the versions' values stay, as all values do.

    Raises:
        StorageError: it could not be written; nothing is removed.
    """

    def remove(connection: sqlite3.Connection) -> None:
        for table in ("tree_mappings", "tree_criteria", "tree_versions"):
            connection.execute(f"DELETE FROM {table} WHERE tree = ?", (tree,))
        connection.execute("DELETE FROM trees WHERE name = ?", (tree,))

    await home.write(remove)


def list_trees(home: Home) -> list[TreeInfo]:
    """Return all trees, the newest first."""
    sql = (
        "SELECT t.name, t.run_id, t.source, (SELECT count(*) FROM tree_versions v WHERE v.tree = t.name), t.created_at "
        "FROM trees t ORDER BY t.created_at DESC, t.name"
    )
    return [TreeInfo(*row) for row in home.all(sql)]


def versions(home: Home, tree: str) -> list[StoredVersion]:
    """Return the versions of a tree in order; empty for an unknown tree."""
    return _versions(home, "tree = ?", (tree,))


def versions_of_run(home: Home, run_id: str) -> list[StoredVersion]:
    """Return the versions of a growth run, in order."""
    return _versions(home, "run_id = ?", (run_id,))


def get_version(home: Home, id: str) -> TreeVersion:
    """Return a version by its full id.

    Raises:
        NotFound: there is none.
        StorageError: its row is damaged.
    """
    rows = home.rows("SELECT * FROM objects WHERE id = ? AND type = ?", (id, TreeVersion.stored_name()))
    if not rows:
        raise NotFound(f"{home.path} has no version {id} of a tree.")
    try:
        return read_value(TreeVersion, rows[0])
    except ValueError as error:
        raise StorageError(
            f"{home.database}, table objects, id {id}: no tree reads from it ({in_brief(error)})."
        ) from error


def resolve_tree(home: Home, text: str) -> StoredVersion:
    """Return the version that a text refers to.

    The text is a tree's name (for its newest version), `NAME@POSITION`, the beginning of a version's id, the beginning of
    the id of a run that grew a tree or gave it criteria (for the newest version of the newest such tree), or `last` (for
    the newest tree).

    Raises:
        NotFound: no version matches, or more than one; the message lists candidates.
    """
    trees = list_trees(home)
    tree_names = {tree.name for tree in trees}
    name, _, number = text.rpartition("@")
    if name in tree_names and number.isdecimal():
        at_position = _versions(home, "tree = ? AND position = ?", (name, int(number))) if len(number) < 19 else []
        if not at_position:
            raise NotFound(f"the tree {name!r} has no version {number[:40]}; it has {len(versions(home, name))}")
        return at_position[0]
    if text == LATEST and trees:
        text = trees[0].name
    if text in tree_names:
        return _newest(home, text)
    for tree in trees:
        if text and (tree.run_id.startswith(text) or tree.source.startswith(text)):
            return _newest(home, tree.name)
    by_run = _versions(home, "run_id != '' AND substr(run_id, 1, ?) = ?", (len(text), text)) if text else []
    if by_run:
        return by_run[-1]
    matches = _versions(home, "substr(version_id, 1, ?) = ?", (len(text), text)) if text else []
    if len({version.id for version in matches}) == 1:
        return matches[0]
    if matches:
        ids = ", ".join(dict.fromkeys(version.id for version in matches[:_SHOWN]))
        raise NotFound(f"{text!r} is the beginning of {len(matches)} versions: {ids}. Write more of its letters.")
    if not trees:
        raise NotFound(f"{home.path} has no tree yet: grow one with dokimasia tree grow RUN --judge NAME")
    names = ", ".join(tree.name for tree in trees[:_SHOWN])
    hint = nearest(text, tree_names) or f"; the newest trees are: {names}"
    raise NotFound(f"no tree, version or run with a tree is called {text!r}{hint}")


def named_tree(home: Home, text: str) -> StoredVersion:
    """Return the version that the option `--tree` of a request names; see `resolve_tree`.

    Raises:
        NotFound: there is none; the message names the option.
    """
    try:
        return resolve_tree(home, text)
    except NotFound as problem:
        raise NotFound(f"--tree: {problem}") from None


def mappings(home: Home, version_id: str, *, tree: str | None = None) -> list[Placement]:
    """Return a version's mappings, by criterion; empty for a version before the mapping.

    Args:
        home: the home.
        version_id: the full id.
        tree: the tree, if several have that version; by default the first by name.
    """
    if tree is None:
        row = home.one("SELECT min(tree) FROM tree_mappings WHERE version_id = ?", (version_id,))
        tree = "" if row is None or row[0] is None else str(row[0])
    sql = (
        "SELECT criterion, leaf, failure, reason, call_key, model, prompt, prompt_version FROM tree_mappings "
        "WHERE tree = ? AND version_id = ? ORDER BY criterion"
    )
    return [Placement(*row) for row in home.all(sql, (tree, version_id))]


def tree_criteria(home: Home, tree: str) -> list[TreeCriterion]:
    """Return a tree's criteria, by key."""
    sql = (
        "SELECT criterion, text, sample_id, stratum, ground_truth, question, cluster FROM tree_criteria "
        "WHERE tree = ? ORDER BY criterion"
    )
    return [TreeCriterion(*row) for row in home.all(sql, (tree,))]


def _criterion_row(tree: str, criterion: TreeCriterion) -> Row:
    fields = criterion._asdict()
    return {"tree": tree, "criterion": fields.pop("key"), **fields}


def _placement_row(tree: str, version_id: str, placement: Placement) -> Row:
    fields = placement._asdict()
    return {"tree": tree, "version_id": version_id, "call_key": fields.pop("call"), **fields}


def _newest(home: Home, tree: str) -> StoredVersion:
    every = versions(home, tree)
    if not every:
        raise NotFound(f"the tree {tree!r} has no version yet: its growth was stopped before its first phase ended")
    return every[-1]


def _versions(home: Home, where: str, parameters: tuple[object, ...]) -> list[StoredVersion]:
    sql = (
        "SELECT tree, position, version_id, phase, run_id, made_by, report, created_at FROM tree_versions "
        f"WHERE {where} ORDER BY tree, position"
    )
    return [
        StoredVersion(tree, position, id, phase, run_id, made_by, orjson.loads(report), created_at)
        for tree, position, id, phase, run_id, made_by, report, created_at in home.all(sql, parameters)
    ]
