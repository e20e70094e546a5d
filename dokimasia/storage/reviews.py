"""Values made by a run's reviews, by type: golden captions, records, candidates, comparisons and votes."""

from typing import NamedTuple, TypeVar

from dokimasia.domain.identity import Value
from dokimasia.domain.review import GoldenCaption
from dokimasia.errors import StorageError
from dokimasia.storage.connection import Row
from dokimasia.storage.faults import in_brief
from dokimasia.storage.home import Home
from dokimasia.storage.values import read_value, table_of

V = TypeVar("V", bound=Value)


class GoldenRow(NamedTuple):
    """A golden caption of a run: its content id, its sample's name, value id and cluster, and the caption."""

    id: str
    sample_id: str
    sample: str
    cluster: str
    caption: GoldenCaption


class ReviewedValue(NamedTuple):
    """The origin of a value made by a run: its content id, and its sample's name, value id and cluster."""

    id: str
    sample_id: str
    sample: str
    cluster: str


def golden_captions(home: Home, run_id: str) -> list[GoldenRow]:
    """Return the golden captions of a run, in the order of its samples, without people's decisions on them.

    Raises:
        StorageError: a row is damaged.
    """
    return [GoldenRow(*row, caption) for row, caption in made_values(home, run_id, GoldenCaption)]


def made_values(home: Home, run_id: str, type_: type[V], *, id: str | None = None) -> list[tuple[ReviewedValue, V]]:
    """Return the values of a type that a run's results refer to, or the one with an id, by sample and in order.

    Raises:
        StorageError: a row is damaged.
    """
    if table_of(type_).name != "objects":
        raise ValueError(f"{type_.stored_name()} has a table of its own")
    rows = home.rows(
        "SELECT o.id, s.sample_id, s.sample, s.cluster, o.body FROM results r "
        "JOIN run_samples s ON s.run_id = r.run_id AND s.sample_id = r.sample_id "
        "JOIN json_each(r.value_ids) v JOIN objects o ON o.id = v.value "
        "WHERE r.run_id = ? AND o.type = ? AND (? IS NULL OR o.id = ?) ORDER BY s.position, r.item, v.key",
        (run_id, type_.stored_name(), id, id),
    )
    places = [ReviewedValue(*(row[name] for name in ReviewedValue._fields)) for row in rows]
    return [(place, _read(home, type_, row)) for place, row in zip(places, rows, strict=True)]


def _read(home: Home, type_: type[V], row: Row) -> V:
    try:
        return read_value(type_, row)
    except ValueError as error:
        raise StorageError(
            f"{home.database}, table objects, id {row['id']}: the row does not read as {type_.stored_name()} "
            f"({in_brief(error)}). Delete the row and run the same command with --fresh: the ledger makes it again."
        ) from error
