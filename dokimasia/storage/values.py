"""Tables of domain types, and the conversion between values and rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson

from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.identity import JsonObject, Value, canonical_json, digest
from dokimasia.domain.judgement import CheckpointScores, Provenance, Response
from dokimasia.domain.sample import Sample
from dokimasia.storage.connection import Row
from dokimasia.storage.content.packing import packed, unpack

V = TypeVar("V", bound=Value)


@dataclass(frozen=True)
class ValueTable:
    """The table of a domain type.

    Attributes:
        name: the table's name.
        lifted: fields stored in separate columns, not in `body`, so that long text is stored once.
        extract: returns further columns of a value, which repeat parts of the body for queries by people.
        packed: lifted fields that are packed if long.
    """

    name: str
    lifted: tuple[str, ...]
    extract: Callable[[Any], Row]
    packed: tuple[str, ...] = ()


def _text(value: object) -> str:
    return canonical_json(value).decode()


def _provenance(provenance: Provenance | None) -> Row:
    if provenance is None:
        return dict.fromkeys(("call_key", "prompt", "prompt_version", "prompt_hash", "shown"))
    return {
        "call_key": provenance.call,
        "prompt": provenance.prompt,
        "prompt_version": provenance.prompt_version,
        "prompt_hash": provenance.prompt_hash,
        "shown": _text(list(provenance.shown)),
    }


def _sample(sample: Sample) -> Row:
    return {
        "sample_id": sample.id,
        "sample_digest": sample.digest,
        "cluster": sample.cluster,
        "category": sample.category,
        "image_count": len(sample.images),
    }


def _criteria(criteria: CriteriaSet) -> Row:
    return {
        "criteria_count": len(criteria.criteria),
        "weights": _text(list(criteria.weights)),
        "repaired": int(criteria.repaired),
    }


def _response(response: Response) -> Row:
    return {
        "sample": response.sample,
        "model": response.model,
        "arm": response.arm,
        "repeat": response.repeat,
        "flags": _text(list(response.flags)),
        **_provenance(response.provenance),
    }


def _judgement(judgement: CheckpointScores) -> Row:
    return {
        "response_id": judgement.response,
        "criteria_id": judgement.criteria,
        "judge": judgement.provenance.model,
        "scores": _text(list(judgement.scores)),
        "stated": _text(list(map(int, judgement.addressed))),
        "score": judgement.score,
        **_provenance(judgement.provenance),
    }


VALUE_TABLES: dict[type[Value], ValueTable] = {
    Sample: ValueTable("samples", ("prompt", "reference_answer"), _sample, packed=("prompt",)),
    ReferenceChain: ValueTable("chains", ("reasoning", "answer"), lambda chain: {}, packed=("reasoning",)),
    CriteriaSet: ValueTable("criteria_sets", (), _criteria),
    Response: ValueTable("responses", ("text",), _response),
    CheckpointScores: ValueTable("judgements", (), _judgement),
}


def table_of(type_: type[Value]) -> ValueTable:
    """Return the table of a type; types without their own table are stored in `objects` with their names."""
    return VALUE_TABLES.get(type_) or ValueTable("objects", (), lambda value: {"type": type_.stored_name()})


def row_of(value: Value) -> Row:
    """Return the row of a value, column by column; its `id` is `value_id(value)`."""
    table = table_of(type(value))
    body = value.model_dump(mode="json")
    id = digest(value.stored_name(), body)
    lifted = {field: getattr(value, field) for field in table.lifted}
    for field in table.lifted:
        del body[field]
    return {"id": id, **lifted, **table.extract(value), "body": _text(body)}


def packed_row(type_: type[Value], row: Mapping[str, Any]) -> Row:
    """Return a row of `row_of` in its stored form; a row already in this form is returned unchanged."""
    return {**row, **{field: packed(row[field]) for field in table_of(type_).packed}}


def lifted_fields(type_: type[Value], row: Row) -> Row:
    """Return the unpacked lifted fields of a row.

    Raises:
        ValueError: one is damaged.
    """
    table = table_of(type_)
    return {field: unpack(row[field]) if field in table.packed else row[field] for field in table.lifted}


def stored_fields(type_: type[Value], row: Row) -> JsonObject:
    """Return the fields of a value from its row.

    Raises:
        ValueError: the body or a lifted field is damaged.
    """
    return orjson.loads(row["body"]) | lifted_fields(type_, row)


def read_value(type_: type[V], row: Row) -> V:
    """Return the value of a row that has at least `body` and the lifted columns.

    Raises:
        ValueError: the row is not a valid value of that type.
    """
    return type_.model_validate(stored_fields(type_, row))


def now(precision: str = "microseconds") -> str:
    """Return the current time in UTC and ISO format, as it is stored."""
    return datetime.now(UTC).isoformat(timespec=precision)
