"""Tables created by the migrations; `docs/storage.md` describes every column."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlite_utils import Database

_OF_A_RUN = {"foreign_keys": [("run_id", "runs", "id")]}
_PROVENANCE = "call_key:str prompt:str prompt_version:int prompt_hash:str shown:str"
_MAY_BE_EMPTY = {"str": str, "int": int, "float": float}


def first_tables(db: "Database") -> None:
    """Create the tables of runs and results, values, the ledger, profiles, trees and decisions."""
    _make_runs(db)
    _make_values(db)
    _make_ledger(db)
    _make_results(db)
    _make(
        db,
        "profiles",
        "model endpoint name transport findings usage:INTEGER finish_reasons latency:float checked_at row_digest",
        pk=("model", "endpoint"),
    )
    _make_trees(db)
    _make_checks(db)


def questions(db: "Database") -> None:
    """Create the table of questions to people, and add the person to check items."""
    db.execute("ALTER TABLE check_items ADD COLUMN person TEXT")
    db.execute(
        "CREATE TABLE questions (id TEXT PRIMARY KEY REFERENCES check_items(id), call_key TEXT NOT NULL, "
        "model_name TEXT NOT NULL, request TEXT NOT NULL, form TEXT NOT NULL, reader TEXT NOT NULL, asked_at TEXT NOT NULL, "
        "shown_at TEXT, used_at TEXT, withdrawn_at TEXT, row_digest TEXT NOT NULL)"
    )
    db.execute("CREATE INDEX idx_questions_call_key ON questions (call_key)")


def queue(db: "Database") -> None:
    """Create the table of the service's queue."""
    db.execute(
        "CREATE TABLE queue (id TEXT PRIMARY KEY REFERENCES runs(id), number INTEGER NOT NULL, before TEXT NOT NULL, "
        "changes TEXT NOT NULL, retry TEXT NOT NULL, cost REAL NOT NULL, calls INTEGER NOT NULL, "
        "tokens INTEGER NOT NULL, queued_at TEXT NOT NULL, row_digest TEXT NOT NULL)"
    )


def deaths(db: "Database") -> None:
    """Add columns to the queue: whether a run is at work, and in how many deaths of the service it was."""
    db.execute("ALTER TABLE queue ADD COLUMN at_work INTEGER")
    db.execute("ALTER TABLE queue ADD COLUMN deaths INTEGER")


def spending(db: "Database") -> None:
    """Create the table of runs' spending."""
    db.execute(
        "CREATE TABLE spending (id TEXT PRIMARY KEY REFERENCES runs(id), calls INTEGER NOT NULL, "
        "tokens INTEGER NOT NULL, cost REAL NOT NULL, row_digest TEXT NOT NULL)"
    )


def payers(db: "Database") -> None:
    """Create the table of a service's spending by payer, and add the payer to the queue."""
    db.execute(
        "CREATE TABLE payers (id TEXT PRIMARY KEY, calls INTEGER NOT NULL, tokens INTEGER NOT NULL, "
        "cost REAL NOT NULL, row_digest TEXT NOT NULL)"
    )
    db.execute("ALTER TABLE queue ADD COLUMN payer TEXT")


def reasons(db: "Database") -> None:
    """Add the reasons for changing a caption to decisions; NULL without any."""
    db.execute("ALTER TABLE decisions ADD COLUMN reasons TEXT")


def cached_tokens(db: "Database") -> None:
    """Add to calls the input tokens that the provider read from its cache; NULL if unreported."""
    db.execute("ALTER TABLE calls ADD COLUMN cached_tokens INTEGER")


def comments(db: "Database") -> None:
    """Create the tables of comments on samples and of named views of a run's samples."""
    db.execute(
        "CREATE TABLE comments (id INTEGER PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs(id), sample_id TEXT NOT NULL, "
        "who TEXT NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL, row_digest TEXT NOT NULL)"
    )
    db.execute("CREATE INDEX idx_comments_run_id ON comments (run_id, sample_id)")
    db.execute(
        "CREATE TABLE views (run_id TEXT NOT NULL REFERENCES runs(id), name TEXT NOT NULL, query TEXT NOT NULL, "
        "who TEXT NOT NULL, at TEXT NOT NULL, row_digest TEXT NOT NULL, PRIMARY KEY (run_id, name))"
    )


def embeddings(db: "Database") -> None:
    """Create the index that finds the texts embedded by a model."""
    db.execute("CREATE INDEX IF NOT EXISTS idx_calls_embedding ON calls (model, endpoint) WHERE kind = 'embedding'")


def cut_off_calls(db: "Database") -> None:
    """Add to spending the number of requests that were cut off; NULL if an older version wrote the row."""
    for table in ("spending", "payers"):
        db.execute(f"ALTER TABLE {table} ADD COLUMN cut_off INTEGER")


def _make(db: "Database", name: str, columns: str, **options: Any) -> None:
    """Create a table with columns written as `name:type`; a column without a type is text.

    A column whose type is in capitals, or missing, must hold a value.
    """
    pairs = [column.partition(":")[::2] for column in columns.split()]
    types = {column: _MAY_BE_EMPTY.get(type_, type_ or "TEXT") for column, type_ in pairs}
    not_null = {column for column, type_ in types.items() if isinstance(type_, str)}
    db.table(name).create(types, not_null=not_null, **options)


def _index(db: "Database", table: str, *columns: str, unique: bool = False) -> None:
    db.table(table).create_index(columns, unique=unique)


def _make_runs(db: "Database") -> None:
    _make(
        db,
        "runs",
        "id method command data_name data_hash options seed:INTEGER fresh:INTEGER version status "
        "created_at updated_at row_digest",
        pk="id",
    )
    _make(db, "events", "id:int run_id at kind data row_digest", pk="id", **_OF_A_RUN)
    _index(db, "events", "run_id")
    _make(db, "threads", "thread_id run_id item graph graph_version created_at row_digest", pk="thread_id", **_OF_A_RUN)
    _index(db, "threads", "run_id")


def _make_values(db: "Database") -> None:
    _make(
        db,
        "samples",
        "id sample_id sample_digest cluster category:str prompt reference_answer:str image_count:INTEGER body",
        pk="id",
    )
    _index(db, "samples", "sample_digest")
    _make(
        db,
        "run_samples",
        "run_id position:INTEGER sample sample_id sample_digest cluster row_digest",
        pk=("run_id", "position"),
        foreign_keys=[("run_id", "runs", "id"), ("sample", "samples", "id")],
    )
    _index(db, "run_samples", "run_id", "sample_id", unique=True)
    _make(db, "chains", "id reasoning answer body", pk="id")
    _make(db, "criteria_sets", "id criteria_count:INTEGER weights repaired:INTEGER body", pk="id")
    _make(db, "responses", f"id sample model arm repeat:INTEGER text flags {_PROVENANCE} body", pk="id")
    _index(db, "responses", "sample", "model")
    _make(db, "judgements", f"id response_id criteria_id judge scores stated score:REAL {_PROVENANCE} body", pk="id")
    _index(db, "judgements", "response_id")
    _make(db, "objects", "id type body", pk="id")
    _index(db, "objects", "type")


def _make_ledger(db: "Database") -> None:
    _make(db, "texts", "hash text", pk="hash")
    _make(
        db,
        "calls",
        "key kind model endpoint model_name label request reply reply_digest "
        "finish_reason:str input_tokens:int output_tokens:int cost:float latency:float created_at row_digest",
        pk="key",
    )
    _make(db, "attempts", "id:int call_key model endpoint label kind status:int message at row_digest", pk="id")
    _index(db, "attempts", "call_key")
    _make(
        db,
        "reduced_images",
        "original side:INTEGER sha256 media_type width:INTEGER height:INTEGER bytes:INTEGER created_at row_digest",
        pk=("original", "side"),
    )
    _index(db, "reduced_images", "sha256")


def _make_results(db: "Database") -> None:
    _make(
        db,
        "results",
        "run_id item kind sample_id sample_digest model arm repeat:INTEGER status outcome failure:str reason:str "
        "score:float chain_id:str criteria_id:str response_id:str judgement_id:str final_id:str verdict:str stated:float "
        "stated_score:float length:int calls value_ids row_digest",
        pk=("run_id", "item"),
        **_OF_A_RUN,
    )
    _index(db, "results", "run_id", "sample_id")
    _make(
        db,
        "criteria_collections",
        "collection_id sample_id sample_digest criteria_id chain_id:str row_digest",
        pk=("collection_id", "sample_id"),
        foreign_keys=[("criteria_id", "criteria_sets", "id"), ("chain_id", "chains", "id")],
    )
    _index(db, "criteria_collections", "collection_id", "sample_digest")


def _make_trees(db: "Database") -> None:
    db.execute(
        "CREATE TABLE trees (name TEXT PRIMARY KEY, run_id TEXT NOT NULL, source TEXT NOT NULL, created_at TEXT NOT NULL, "
        "row_digest TEXT NOT NULL)"
    )
    db.execute(
        "CREATE TABLE tree_versions (tree TEXT NOT NULL REFERENCES trees(name), position INTEGER NOT NULL, "
        "version_id TEXT NOT NULL, phase TEXT NOT NULL, run_id TEXT NOT NULL, made_by TEXT NOT NULL, "
        "report TEXT NOT NULL, created_at TEXT NOT NULL, row_digest TEXT NOT NULL, "
        "PRIMARY KEY (tree, position), UNIQUE (tree, version_id))"
    )
    db.execute("CREATE INDEX idx_tree_versions_version_id ON tree_versions (version_id)")
    db.execute("CREATE INDEX idx_tree_versions_run_id ON tree_versions (run_id)")
    db.execute(
        "CREATE TABLE tree_criteria (tree TEXT NOT NULL REFERENCES trees(name), criterion TEXT NOT NULL, "
        "text TEXT NOT NULL, sample_id TEXT NOT NULL, stratum TEXT NOT NULL, ground_truth TEXT NOT NULL, "
        "question TEXT NOT NULL, cluster TEXT NOT NULL, row_digest TEXT NOT NULL, PRIMARY KEY (tree, criterion)) WITHOUT ROWID"
    )
    db.execute(
        "CREATE TABLE tree_mappings (tree TEXT NOT NULL REFERENCES trees(name), version_id TEXT NOT NULL, "
        "criterion TEXT NOT NULL, leaf TEXT, failure TEXT NOT NULL, reason TEXT NOT NULL, call_key TEXT NOT NULL, "
        "model TEXT NOT NULL, prompt TEXT NOT NULL, prompt_version INTEGER NOT NULL, row_digest TEXT NOT NULL, "
        "PRIMARY KEY (tree, version_id, criterion)) WITHOUT ROWID"
    )


def _make_checks(db: "Database") -> None:
    db.execute(
        "CREATE TABLE check_items (id TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs(id), kind TEXT NOT NULL, "
        "sample_id TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL, detail TEXT NOT NULL, "
        "position INTEGER NOT NULL, state TEXT NOT NULL, opened_at TEXT NOT NULL, row_digest TEXT NOT NULL)"
    )
    db.execute("CREATE INDEX idx_check_items_run_id ON check_items (run_id)")
    db.execute(
        "CREATE TABLE decisions (id TEXT PRIMARY KEY, item TEXT NOT NULL REFERENCES check_items(id), "
        "number INTEGER NOT NULL, who TEXT NOT NULL, at TEXT NOT NULL, action TEXT NOT NULL, text TEXT NOT NULL, "
        "difference TEXT NOT NULL, row_digest TEXT NOT NULL, UNIQUE (item, number))"
    )
