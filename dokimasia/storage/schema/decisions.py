"""The tables of what people check: items that wait, and decisions on them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

__all__ = ["decisions"]


def decisions(db: "Database") -> None:
    """Make the tables of items to be checked by people, and of their decisions."""
    db.execute(
        "CREATE TABLE check_items (id TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs(id), kind TEXT NOT NULL, "
        "sample_id TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL, detail TEXT NOT NULL, "
        "position INTEGER NOT NULL, state TEXT NOT NULL, opened_at TEXT NOT NULL)"
    )
    db.execute("CREATE INDEX idx_check_items_run_id ON check_items (run_id)")
    db.execute(
        "CREATE TABLE decisions (id TEXT PRIMARY KEY, item TEXT NOT NULL REFERENCES check_items(id), "
        "number INTEGER NOT NULL, who TEXT NOT NULL, at TEXT NOT NULL, action TEXT NOT NULL, text TEXT NOT NULL, "
        "difference TEXT NOT NULL, UNIQUE (item, number))"
    )
