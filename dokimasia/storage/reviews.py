"""What the reviews of a run made: golden captions, records, candidates, comparisons and votes, by type."""

from typing import NamedTuple, TypeVar

from dokimasia.domain.identity import Value
from dokimasia.domain.review import GoldenCaption
from dokimasia.errors import StorageError
from dokimasia.storage.faults import in_brief
from dokimasia.storage.home import Home
from dokimasia.storage.values import read_value, table_of

V = TypeVar("V", bound=Value)


class GoldenRow(NamedTuple):
    """A golden caption of a run: its content id, the sample's name, value id and cluster, and the caption."""

    id: str
    sample_id: str
    sample: str
    cluster: str
    caption: GoldenCaption


class ReviewedValue(NamedTuple):
    """What is known of a value that a run made: its content id, the sample's name, value id and cluster."""

    id: str
    sample_id: str
    sample: str
    cluster: str


def golden_captions(home: Home, run_id: str) -> list[GoldenRow]:
    """Return the golden captions of a run, in the order of its samples; each is unverified until a person has decided.

    A person's decision is not in it: an edited text is the decision's.

    Raises:
        StorageError: a row is damaged.
    """
    return [GoldenRow(*row, caption) for row, caption in made_values(home, run_id, GoldenCaption)]


def made_values(home: Home, run_id: str, type_: type[V], *, id: str | None = None) -> list[tuple[ReviewedValue, V]]:
    """Return all values of a type that a run's results name, or the one of an id, by sample and in the order of their making.

    Raises:
        StorageError: a row is damaged.
    """
    if table_of(type_).table != "objects":
        raise ValueError(f"{type_.stored_name()} has a table of its own")
    rows = home.rows(
        "SELECT o.id, s.sample_id, s.sample, s.cluster, o.body FROM results r "
        "JOIN run_samples s ON s.run_id = r.run_id AND s.sample_id = r.sample_id "
        "JOIN json_each(r.value_ids) v JOIN objects o ON o.id = v.value "
        "WHERE r.run_id = ? AND o.type = ? AND (? IS NULL OR o.id = ?) ORDER BY s.position, r.item, v.key",
        (run_id, type_.stored_name(), id, id),
    )
    return [(ReviewedValue(*(row[name] for name in ReviewedValue._fields)), _read(home, type_, row)) for row in rows]


def _read(home: Home, type_: type[V], row: dict[str, str]) -> V:
    try:
        return read_value(type_, row)
    except ValueError as error:
        raise StorageError(
            f"{home.database}, table objects, id {row['id']}: the row does not read as a {type_.stored_name()} "
            f"({in_brief(error)}). Delete the row and run the same command with --fresh: the ledger makes it again."
        ) from error
