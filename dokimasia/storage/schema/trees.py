"""The tables of capability trees: names, versions in order, the criteria that a tree knows, and where each is mapped."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

__all__ = ["trees"]


def trees(db: "Database") -> None:
    """Make the tables of capability trees."""
    db.execute(
        "CREATE TABLE trees (name TEXT PRIMARY KEY, run_id TEXT NOT NULL, source TEXT NOT NULL, created_at TEXT NOT NULL)"
    )
    db.execute(
        "CREATE TABLE tree_versions (tree TEXT NOT NULL REFERENCES trees(name), position INTEGER NOT NULL, "
        "version_id TEXT NOT NULL, phase TEXT NOT NULL, run_id TEXT NOT NULL, made_by TEXT NOT NULL, "
        "report TEXT NOT NULL, created_at TEXT NOT NULL, PRIMARY KEY (tree, position), UNIQUE (tree, version_id))"
    )
    db.execute("CREATE INDEX idx_tree_versions_version_id ON tree_versions (version_id)")
    db.execute("CREATE INDEX idx_tree_versions_run_id ON tree_versions (run_id)")
    db.execute(
        "CREATE TABLE tree_criteria (tree TEXT NOT NULL REFERENCES trees(name), criterion TEXT NOT NULL, "
        "text TEXT NOT NULL, sample_id TEXT NOT NULL, stratum TEXT NOT NULL, ground_truth TEXT NOT NULL, "
        "question TEXT NOT NULL, cluster TEXT NOT NULL, PRIMARY KEY (tree, criterion)) WITHOUT ROWID"
    )
    db.execute(
        "CREATE TABLE tree_mappings (tree TEXT NOT NULL REFERENCES trees(name), version_id TEXT NOT NULL, "
        "criterion TEXT NOT NULL, leaf TEXT, failure TEXT NOT NULL, reason TEXT NOT NULL, call_key TEXT NOT NULL, "
        "model TEXT NOT NULL, prompt TEXT NOT NULL, prompt_version INTEGER NOT NULL, "
        "PRIMARY KEY (tree, version_id, criterion)) WITHOUT ROWID"
    )
