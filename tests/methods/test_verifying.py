"""A sound home has nothing wrong; each kind of damage is found, with its runs and the way out."""

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dokimasia
from dokimasia.domain.call import Chat, Message, ModelRef
from dokimasia.domain.capability import TreeVersion
from dokimasia.domain.growth import Placement, TreeCriterion
from dokimasia.domain.sample import TextPart
from dokimasia.errors import StorageError
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs.persistence import delete_whole_run
from dokimasia.runs.reading.verification import HomeVerification, Wrong, verify
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import record_event
from dokimasia.storage.runs import get_run, set_status
from dokimasia.storage.trees.versions import create_tree, keep_criteria, put_version

Requests = Callable[..., EvaluationRequest]


@pytest.fixture
async def run(settings: Settings, request_of: Requests) -> str:
    """A home with two runs, of which the first is named."""
    first = await evaluate(request_of(models=("sim/strong",), limit=4), settings=settings)
    await evaluate(request_of(judge="sim/judge", models=("sim/weak",), limit=1), settings=settings)
    return first.run


def checked(settings: Settings) -> HomeVerification:
    with Home.open(settings.home, write=False) as home:
        return verify(home)


def wrong(settings: Settings) -> list[Wrong]:
    found = checked(settings)
    assert not found.ok
    return [one for part in found.parts for one in part.wrong]


def change(settings: Settings, sql: str, *parameters: Any) -> None:
    connection = sqlite3.connect(settings.home / "dokimasia.db", isolation_level=None)
    assert connection.execute(sql, parameters).rowcount == 1
    connection.close()


def one(settings: Settings, sql: str, *parameters: Any) -> str:
    connection = sqlite3.connect(settings.home / "dokimasia.db")
    value = connection.execute(sql, parameters).fetchone()[0]
    connection.close()
    return value


async def test_a_sound_home_has_nothing_wrong(settings: Settings, run: str) -> None:
    """Everything that is there is counted as checked, and a retry, a deletion and a new run leave the home sound."""
    found = checked(settings)
    assert found.ok
    counts = {part.name: part.checked for part in found.parts}
    assert counts["results"] == 4 * 2 + 2
    assert all(counts[name] > 0 for name in ("database", "foreign keys", "images", "texts and calls", "values"))
    with Home.open(settings.home, write=True) as home:
        await delete_whole_run(home, run)
    assert checked(settings).ok


async def test_damaged_images_are_found(settings: Settings, run: str) -> None:
    """Changed, missing and misplaced images are named, with the runs whose samples show them."""
    files = sorted(path for path in (settings.home / "blobs").glob("??/*"))
    files[0].write_bytes(b"x" + files[0].read_bytes()[1:])
    (files[0].parent / "notes.txt").write_text("mine")
    found = {item.key: item for item in wrong(settings)}
    assert found[files[0].name].what == "its bytes have another hash than its name"
    assert run in found[files[0].name].runs
    assert f"delete blobs/{files[0].name[:2]}/{files[0].name}" in found[files[0].name].way_out
    assert found[f"{files[0].parent.name}/notes.txt"].runs == ()
    files[0].unlink()
    missing = {item.key: item for item in wrong(settings)}[files[0].name]
    assert missing.what == "a sample names it, and it is missing"
    assert "with the same data file" in missing.way_out


async def test_a_damaged_ledger_is_found(settings: Settings, run: str) -> None:
    """A changed text and a changed reply are named with the runs that used them."""
    key = one(settings, "SELECT c.value FROM results r, json_each(r.calls) c WHERE r.run_id = ? AND r.model <> ''", run)
    change(settings, "UPDATE calls SET reply = replace(reply, '\"stop\"', '\"length\"') WHERE key = ?", key)
    (found,) = {item.key: item for item in wrong(settings)}.values()
    assert (found.where, found.key, found.runs) == ("calls", key, (run,))
    assert f"DELETE FROM calls WHERE key = '{key}'" in found.way_out
    name = one(settings, "SELECT json_extract(reply, '$.text.text_ref') FROM calls WHERE key = ?", key)
    change(settings, "UPDATE texts SET text = 'forged' WHERE hash = ?", name)
    assert run in next(item for item in wrong(settings) if item.where == "texts").runs


@pytest.mark.parametrize(
    ("table", "column", "what"),
    [
        ("judgements", "score = 5.0 - score / 2", "its columns differ from its body: score"),
        ("judgements", "body = replace(body, '\"scores\":[', '\"scores\":[1,')", "no longer has the id"),
        ("responses", "text = 'forged'", "no longer has the id"),
        ("criteria_sets", "body = '{'", "cannot be read"),
    ],
)
async def test_a_changed_value_is_found(settings: Settings, run: str, table: str, column: str, what: str) -> None:
    """A value whose content or columns were changed is named, whatever was done to it."""
    link = {"judgements": "judgement_id", "responses": "response_id", "criteria_sets": "criteria_id"}[table]
    id = one(settings, f"SELECT {link} FROM results WHERE run_id = ? AND {link} IS NOT NULL AND model <> ''", run)
    change(settings, f"UPDATE {table} SET {column} WHERE id = ?", id)
    found = [item for item in wrong(settings) if item.where == table]
    assert [(item.key, item.runs[0]) for item in found] == [(id, run)]
    assert what in found[0].what
    assert "dokimasia runs delete" in found[0].way_out


async def test_results_that_lost_something_are_found(settings: Settings, run: str) -> None:
    """A result whose value, call or sample is gone, or whose score was changed, is named with its run."""
    item = one(settings, "SELECT item FROM results WHERE run_id = ? AND outcome = 'scored'", run)
    judgement = one(settings, "SELECT judgement_id FROM results WHERE run_id = ? AND item = ?", run, item)
    where = "WHERE run_id = ? AND item = ?"
    change(settings, f"UPDATE results SET score = 1.0625 {where}", run, item)
    assert "is not that of its judgement" in wrong(settings)[0].what
    change(settings, "DELETE FROM judgements WHERE id = ?", judgement)
    (found,) = wrong(settings)
    assert (found.where, found.key, found.runs) == ("results", f"{run}/{item}", (run,))
    assert found.what == f"its judgement_id {judgement} is not in judgements"
    change(settings, f"UPDATE results SET sample_digest = 'x', calls = '[\"gone\"]' {where}", run, item)
    said = [one.what for one in wrong(settings)]
    assert any("is not one of the run's" in text for text in said)
    assert any("1 of its calls are not in the ledger, such as gone" in text for text in said)
    change(settings, f"UPDATE results SET outcome = 'failed' {where}", run, item)
    assert "cannot be read" in wrong(settings)[0].what


async def test_a_broken_reference_and_a_damaged_page_are_found(settings: Settings, run: str) -> None:
    """A row that refers to nothing, and a page of the file that was overwritten, are found by SQLite's own checks."""
    change(settings, "DELETE FROM samples WHERE id = (SELECT sample FROM run_samples WHERE run_id = ? LIMIT 1)", run)
    assert any("refers to a row of samples that is not there" in item.what for item in wrong(settings))
    path: Path = settings.home / "dokimasia.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    page, size = connection.execute(
        "SELECT (SELECT rootpage FROM sqlite_master WHERE name = 'texts'), (SELECT page_size FROM pragma_page_size)"
    ).fetchone()
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    found = checked(settings)
    assert any(item.where == "database" for item in found.parts[0].wrong)
    broken = next(part for part in found.parts if part.name == "texts and calls")
    assert "the check broke off" in broken.wrong[0].what


EDITS = (
    (
        "results",
        "UPDATE results SET model = 'sim/other' WHERE rowid = (SELECT min(rowid) FROM results WHERE model <> '')",
    ),
    (
        "results",
        "UPDATE results SET outcome = 'failed', failure = 'refused', score = NULL, judgement_id = NULL "
        "WHERE rowid = (SELECT min(rowid) FROM results WHERE outcome = 'scored')",
    ),
    ("calls", "UPDATE calls SET cost = 9.5 WHERE rowid = 1"),
    ("calls", "UPDATE calls SET label = 'nobody' WHERE rowid = 1"),
    ("run_samples", "UPDATE run_samples SET cluster = 'one' WHERE rowid = 1"),
    ("runs", "UPDATE runs SET seed = seed + 1 WHERE rowid = 1"),
    ("runs", "UPDATE runs SET options = replace(options, 'strong', 'strung') WHERE rowid = 1"),
    ("runs", "UPDATE runs SET status = 'interrupted' WHERE rowid = 1"),
    ("runs", "UPDATE runs SET options = '{' WHERE rowid = 1"),
    ("events", "UPDATE events SET data = '{}' WHERE id = 1"),
    ("attempts", "UPDATE attempts SET status = 200 WHERE id = 1"),
    ("trees", "UPDATE trees SET source = 'elsewhere'"),
    ("tree_criteria", "UPDATE tree_criteria SET text = 'forged'"),
    ("tree_versions", "UPDATE tree_versions SET report = '{\"calls\": 9}'"),
    ("tree_mappings", "UPDATE tree_mappings SET leaf = NULL"),
)


async def one_row_of_everything(settings: Settings, run: str) -> None:
    """Add an event, a try that failed and a tree of one mapped criterion to the home."""
    chat = Chat(
        model=ModelRef(name="m", model="m", endpoint="e"),
        messages=(Message(role="user", parts=(TextPart(text="hello"),)),),
    )
    version = TreeVersion(categories=("Perception",), nodes=())
    with Home.open(settings.home, write=True) as home:
        await record_event(home, run, "noted", {"why": "for the record"})
        await SqliteLedger(home).attempt("k", chat, kind="rate_limit", status=429, message="slow down", label="judge")
        await create_tree(home, "t", source="file")
        await keep_criteria(home, "t", [TreeCriterion("c:1", "Names the sign.", "s")])
        await put_version(home, "t", version, phase="import", placements=[Placement("c:1", "leaf")])


@pytest.mark.parametrize(("table", "sql"), EDITS)
async def test_an_edited_row_is_found(settings: Settings, run: str, table: str, sql: str) -> None:
    """An edit of any column of a row is one finding at that row, and no later change by the program hides it."""
    await one_row_of_everything(settings, run)
    assert checked(settings).ok
    change(settings, sql)
    (found,) = wrong(settings)
    assert found.where == table
    if table == "runs":
        with Home.open(settings.home, write=True) as home:
            await set_status(home, found.key, "interrupted")
        assert [one.key for one in wrong(settings)] == [found.key] == list(found.runs)


async def test_a_run_whose_row_does_not_read_is_named(settings: Settings, run: str) -> None:
    """Options that are no JSON are an error that names the file, the run and the way out."""
    change(settings, "UPDATE runs SET options = '{' WHERE id = ?", run)
    with Home.open(settings.home, write=False) as home, pytest.raises(StorageError, match=f"run {run} does not read"):
        get_run(home, run)


def test_rows_are_written_in_one_place() -> None:
    """No statement of the program inserts or updates rows past the module that seals them, but for texts by their hash."""
    writing = re.compile(r"INSERT (?:OR \w+ )?INTO (?!texts|_migrations)\w+|UPDATE \w+ SET")
    package = Path(dokimasia.__file__).parent
    assert [str(path) for path in package.rglob("*.py") if writing.search(path.read_text())] == []
