"""Runs, their samples in order, and the store of values that graphs use."""

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Literal, NamedTuple, Protocol, TypeVar, cast

import orjson
from pydantic import BaseModel, Field, JsonValue

from dokimasia.domain.identity import Value, canonical_json
from dokimasia.domain.sample import Sample
from dokimasia.errors import NotFound, StorageError
from dokimasia.storage.connection import Row
from dokimasia.storage.faults import in_brief
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import corrections_of
from dokimasia.storage.schema.rows import SEAL, change_row, insert_row, insert_rows, insert_statement, without_seal
from dokimasia.storage.values import now, packed_row, read_value, row_of, table_of

M = TypeVar("M", bound=BaseModel)
V = TypeVar("V", bound=Value)
RunStatus = Literal["queued", "running", "waiting", "done", "interrupted", "failed"]
"""`queued`: in the service's queue; `waiting`: only answers of people are missing; `failed`: ended in an error, such as a model
that cannot be reached. Runs of every status but `done` can be resumed."""

AT_WORK = frozenset({"running", "queued"})
"""Statuses of runs that the queue works on."""

READ_RUNS = 5_000
"""The maximum number of cached runs, keyed by id, status, time of update and the hash of the row."""

_READ: dict[tuple[str, ...], "Run"] = {}
_READING = threading.Lock()

RECENT_VALUES = 1024
_CHUNK = 500
NEWEST_FIRST = "ORDER BY created_at DESC, rowid DESC"


def _models_in(value: JsonValue) -> Iterator[dict[str, JsonValue]]:
    """Yield the models in a stored plan, in order."""
    if isinstance(value, list):
        for part in value:
            yield from _models_in(part)
    elif isinstance(value, dict):
        ref = value.get("ref")
        if isinstance(ref, dict) and "endpoint" in ref:
            yield value
        else:
            yield from _models_in(list(value.values()))


def _name_of(model: dict[str, JsonValue]) -> str:
    ref = model["ref"]
    if isinstance(ref, dict):
        return str(ref["name"])
    return ""


class Run(Value):
    """A run as accepted: its method, command, data and options, and its status.

    `fresh` counts how often the same command was asked to start anew. `created_at` and `updated_at` are UTC times in ISO
    form, set by the store, and no part of the run's id.
    """

    id: str = Field(min_length=1)
    method: str
    command: str = ""
    data_name: str = ""
    data_hash: str = ""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    seed: int = Field(default=0, ge=-(2**63), lt=2**63)
    fresh: int = Field(default=0, ge=0)
    version: str = ""
    status: RunStatus = "interrupted"
    created_at: str = ""
    updated_at: str = ""

    def plan_as(self, plan: type[M]) -> M:
        """Return the stored plan as the plan model of the run's method."""
        return plan.model_validate(self.options["plan"])

    def texts(self, option: str) -> list[str]:
        """Return an option that is a list of texts; empty if the run has no such option."""
        values = self.options.get(option)
        if isinstance(values, list):
            return [str(value) for value in values]
        return []

    @property
    def request(self) -> dict[str, JsonValue]:
        """The request that the run was accepted with, as JSON; empty if unknown."""
        request = self.options.get("request")
        if isinstance(request, dict):
            return request
        return {}

    @property
    def model_names(self) -> list[str]:
        """The shown names of all models of its plan, asked or with stored responses; the judge last."""
        plan = self.options.get("plan")
        names = dict.fromkeys(map(_name_of, _models_in(plan)))
        judges = [_name_of(model) for model in _models_in(plan.get("judge"))] if isinstance(plan, dict) else []
        return [*(name for name in names if name not in judges), *judges]

    def model_of(self, name: str) -> dict[str, JsonValue] | None:
        """The model of its plan with a shown name, as JSON of a `ModelSpec`; None if it has none."""
        return next((model for model in _models_in(self.options.get("plan")) if _name_of(model) == name), None)

    @property
    def versions(self) -> dict[str, JsonValue]:
        """The versions of the method and its graphs that the run was accepted with, by name; empty if unknown."""
        versions = self.options.get("versions")
        if isinstance(versions, dict):
            return versions
        return {}


class RunSample(NamedTuple):
    """A sample's place in a run.

    Attributes:
        position: counted from 0.
        value_id: the id of the stored sample.
        sample_id: the sample's name in the data file.
        digest: the hash of the sample's content.
        cluster: a name shared by samples that share an image.
    """

    position: int
    value_id: str
    sample_id: str
    digest: str
    cluster: str


async def create_run(home: Home, run: Run) -> tuple[Run, bool]:
    """Store an accepted run, durably; return it, and whether it is new. An existing run of that id is unchanged."""
    created_at = now()
    columns = {"options": canonical_json(run.options).decode(), "created_at": created_at, "updated_at": created_at}
    row = run.model_dump(mode="json") | columns

    def insert(connection: sqlite3.Connection) -> bool:
        return insert_row(connection, "runs", row) > 0

    new = await home.write(insert)
    return get_run(home, run.id), new


async def set_status(home: Home, run_id: str, status: RunStatus) -> None:
    """Set the status of a run.

    Raises:
        NotFound: there is no such run.
    """

    def update(connection: sqlite3.Connection) -> int:
        return change_row(connection, "runs", run_id, {"status": status, "updated_at": now()})

    if not await home.write(update):
        raise NotFound(f"{home.path} has no run {run_id}.")


async def note_run(home: Home, run: Run, notes: Mapping[str, object]) -> None:
    """Add notes to a run's options, replacing options with the same names.

    Raises:
        StorageError: they could not be written.
    """
    changes = {"options": canonical_json({**run.options, **notes}).decode(), "updated_at": now()}
    await home.write(lambda connection: change_row(connection, "runs", run.id, changes))


def get_run(home: Home, run_id: str) -> Run:
    """Return a run by its full id.

    Raises:
        NotFound: there is no such run.
    """
    rows = home.rows("SELECT * FROM runs WHERE id = ?", (run_id,))
    if not rows:
        raise NotFound(f"{home.path} has no run {run_id}.")
    return _with_true_status(home, _run(home, rows[0]))


def list_runs(home: Home) -> list[Run]:
    """Return all runs, the newest first; unchanged rows come from a cache."""
    keys = home.all(f"SELECT id, status, updated_at, row_digest FROM runs {NEWEST_FIRST}")
    with _READING:
        runs = {key[0]: _READ[key] for key in keys if key in _READ}
    new = (id for id, *_ in keys if id not in runs)
    for row in home.rows_among("SELECT * FROM runs WHERE id IN ({marks})", new):
        run = _run(home, row)
        runs[run.id] = run
        with _READING:
            _READ[run.id, run.status, run.updated_at, row[SEAL]] = run
            if len(_READ) > READ_RUNS:
                del _READ[next(iter(_READ))]
    return [_with_true_status(home, runs[id]) for id, *_ in keys if id in runs]  # some may have been deleted meanwhile


def count_runs(home: Home) -> dict[RunStatus, int]:
    """Return the numbers of runs by status, without statuses that no run has."""
    return dict(home.all("SELECT status, count(*) FROM runs GROUP BY status"))


async def add_samples(home: Home, run_id: str, samples: Iterable[Sample]) -> list[str]:
    """Store a run's samples in order and return their value ids; adding the same samples again changes nothing.

    Raises:
        StorageError: the run does not exist, or two samples have the same name.
    """
    ids: list[str] = []
    stream = iter(samples)
    while chunk := list(islice(stream, _CHUNK)):
        rows = [row_of(sample) for sample in chunk]
        places = _places(rows, first=len(ids))
        await home.write(lambda connection, rows=rows, places=places: _insert_samples(connection, run_id, rows, places))
        ids.extend(place.value_id for place in places)
    return ids


def keep_samples(home: Home, samples: Sequence[Sample]) -> list[RunSample]:
    """Store samples without a run, durably, and return their places, with positions from 0.

    It allows reading a large data file in a separate thread; `place_samples` adds the samples to a run.

    Raises:
        StorageError: they could not be written.
    """
    rows = [row_of(sample) for sample in samples]
    home.writer.submit(lambda connection: _insert_samples(connection, "", rows, [])).result()
    return _places(rows)


async def place_samples(home: Home, run_id: str, places: Iterable[RunSample]) -> None:
    """Add stored samples to a run in these places; doing it again changes nothing.

    Raises:
        StorageError: the run does not exist, or two samples have the same name.
    """
    stream = iter(places)
    while chunk := list(islice(stream, _CHUNK)):
        await home.write(lambda connection, chunk=chunk: _insert_samples(connection, run_id, [], chunk))


def _places(rows: list[Row], *, first: int = 0) -> list[RunSample]:
    columns = ("id", "sample_id", "sample_digest", "cluster")
    return [RunSample(position, *(row[name] for name in columns)) for position, row in enumerate(rows, first)]


def _insert_samples(connection: sqlite3.Connection, run_id: str, rows: list[Row], places: list[RunSample]) -> None:
    if rows:
        # A reread file brings no new samples, and packing takes time.
        exists = "SELECT 1 FROM samples WHERE id = :id"
        new = [packed_row(Sample, row) for row in rows if connection.execute(exists, row).fetchone() is None]
        connection.executemany(insert_statement("samples", rows[0]), [tuple(row.values()) for row in new])
    columns = ("position", "sample", "sample_id", "sample_digest", "cluster")
    place_rows = ({"run_id": run_id, **dict(zip(columns, place, strict=True))} for place in places)
    insert_rows(connection, "run_samples", place_rows, known_by="run_id, position")


def run_samples(home: Home, run_id: str) -> list[RunSample]:
    """Return the places of a run's samples, in order."""
    sql = (
        "SELECT position, sample, sample_id, sample_digest, cluster FROM run_samples WHERE run_id = ? ORDER BY position"
    )
    return [RunSample(*row) for row in home.all(sql, (run_id,))]


def count_samples(home: Home, run_id: str) -> int:
    """Return the number of a run's samples."""
    return home.all("SELECT count(*) FROM run_samples WHERE run_id = ?", (run_id,))[0][0]


def load_samples(home: Home, run_id: str) -> Iterator[Sample]:
    """Yield a run's samples in order, read page by page."""
    sql = (
        "SELECT s.*, r.position FROM run_samples r JOIN samples s ON s.id = r.sample "
        "WHERE r.run_id = ? AND r.position > ? ORDER BY r.position LIMIT ?"
    )
    last = -1
    while page := home.rows(sql, (run_id, last, _CHUNK)):
        yield from (read_value(Sample, row) for row in page)
        last = page[-1]["position"]


def samples_by_id(home: Home, run_id: str) -> dict[str, Sample]:
    """Return a run's samples by id, in order."""
    return {sample.id: sample for sample in load_samples(home, run_id)}


def clusters_by_sample(home: Home, run_id: str) -> dict[str, str]:
    """Return the cluster of each sample of a run, by the sample's id, in order."""
    return {sample.sample_id: sample.cluster for sample in run_samples(home, run_id)}


class JudgedCriteria(NamedTuple):
    """The scores of a judgement's criteria, in their order, and which of them the response addresses."""

    scores: tuple[int, ...] = ()
    stated: tuple[bool, ...] = ()


NOT_JUDGED = JudgedCriteria()


def judged_criteria(home: Home, run_id: str) -> dict[str, JudgedCriteria]:
    """Return the criteria as judged in each judgement of a run, by the judgement's id."""
    sql = "SELECT j.id, j.scores, j.stated FROM results r JOIN judgements j ON j.id = r.judgement_id WHERE r.run_id = ?"
    answers = corrections_of(home, run_id).answers.values()
    judgement_ids = [answer.now.judgement_id for answer in answers if answer.now.judgement_id]
    by_people = home.all_among("SELECT id, scores, stated FROM judgements WHERE id IN ({marks})", judgement_ids)

    @cache  # many judgements are alike
    def read(scores: str, stated: str) -> JudgedCriteria:
        return JudgedCriteria(tuple(orjson.loads(scores)), tuple(map(bool, orjson.loads(stated))))

    return {id: read(scores, stated) for id, scores, stated in (*home.all(sql, (run_id,)), *by_people)}


def judgement_scores(home: Home, run_id: str) -> dict[str, tuple[int, ...]]:
    """Return the scores of the criteria in each judgement of a run, by the judgement's id, in the order of the criteria."""
    return {id: judged.scores for id, judged in judged_criteria(home, run_id).items()}


def criteria_weights(home: Home, run_id: str) -> dict[str, tuple[int, ...]]:
    """Return the weights of each criteria set that answers of a run were scored by, by the set's id."""
    sql = (
        "SELECT DISTINCT c.id, c.weights FROM results r JOIN criteria_sets c ON c.id = r.criteria_id WHERE r.run_id = ?"
    )
    return {id: tuple(orjson.loads(weights)) for id, weights in home.all(sql, (run_id,))}


def response_texts(home: Home, run_id: str) -> Iterator[tuple[str, str]]:
    """Yield the id and text of each response of a run."""
    yield from home.all(
        "SELECT DISTINCT s.id, s.text FROM results r JOIN responses s ON s.id = r.response_id WHERE r.run_id = ?",
        (run_id,),
    )


class ValueRows(Protocol):
    """The rows of values, by type and id."""

    @property
    def place(self) -> str:
        """The place of the rows, named in errors."""
        ...

    async def put(self, type_: type[Value], row: Row) -> None:
        """Store a row of `row_of`, durably; an existing row is unchanged."""
        ...

    async def get(self, type_: type[Value], id: str) -> Row | None:
        """Return a row, or None if there is none."""
        ...


class HomeRows:
    """The rows of values in a home; a home that is open for reading can be read."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.place = str(home.database)

    async def put(self, type_: type[Value], row: Row) -> None:
        """Store a row, durably.

        Raises:
            StorageError: it could not be written.
        """
        statement = insert_statement(table_of(type_).name, row)
        await self._home.write(
            lambda connection: connection.execute(statement, tuple(packed_row(type_, row).values())).rowcount,
            routine=True,
        )

    async def get(self, type_: type[Value], id: str) -> Row | None:
        """Return a row, or None if there is none."""
        rows = self._home.rows(f"SELECT * FROM {table_of(type_).name} WHERE id = ?", (id,))
        return rows[0] if rows else None


class SqliteValueStore:
    """The `ValueStore` of a home: every domain value under its content id, once.

    Recent values stay in memory, so that no query is needed for a value that was just stored. A home that is open for
    reading can be read.
    """

    def __init__(self, home: "Home | ValueRows", run_id: str | None = None) -> None:
        """Use a home, or rows that another process reads and writes; `run_id` is named in errors."""
        self._rows: ValueRows = HomeRows(home) if isinstance(home, Home) else home
        self._for_run = f" (run {run_id})" if run_id else ""
        self._recent: OrderedDict[str, Value] = OrderedDict()

    async def put(self, value: Value) -> str:
        """Store a value, durably, and return its id; equal values are stored once.

        Raises:
            StorageError: it could not be written.
        """
        row = row_of(value)
        id: str = row["id"]
        if id in self._recent:
            return id
        await self._rows.put(type(value), row)
        self._remember(id, value)
        return id

    async def get(self, type_: type[V], id: str) -> V:
        """Return the value with that type and id.

        Raises:
            StorageError: there is none, or its row is damaged.
        """
        recent = self._recent.get(id)
        if type(recent) is type_:
            self._recent.move_to_end(id)
            return cast("V", recent)
        table = table_of(type_).name
        row = await self._rows.get(type_, id)
        if row is None or row.get("type", type_.stored_name()) != type_.stored_name():
            raise StorageError(f"{self._rows.place} has no {type_.stored_name()} {id}{self._for_run}.")
        try:
            value = read_value(type_, row)
        except ValueError as error:
            raise StorageError(
                f"{self._rows.place}, table {table}, id {id}{self._for_run}: the row does not read as "
                f"{type_.stored_name()} ({in_brief(error)}). Delete the row and resume: the run makes it again from the ledger."
            ) from error
        self._remember(id, value)
        return value

    def _remember(self, id: str, value: Value) -> None:
        self._recent[id] = value
        if len(self._recent) > RECENT_VALUES:
            self._recent.popitem(last=False)


def _with_true_status(home: Home, run: Run) -> Run:
    """Return a run, with status `interrupted` if its row is `running` but the process that worked on it has died."""
    if run.status != "running" or home.held_since(run.updated_at):
        return run
    return run.model_copy(update={"status": "interrupted"})


def _run(home: Home, row: Row) -> Run:
    try:
        return Run.model_validate(without_seal(row) | {"options": orjson.loads(row["options"])})
    except (ValueError, TypeError) as error:
        raise StorageError(
            f"{home.database}: the row of run {row['id']} does not read ({in_brief(error)}). Restore the home from a copy, "
            "or use another one with --home."
        ) from error
