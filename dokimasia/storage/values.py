"""Tables of domain types, and the conversion between values and rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson

from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.identity import Value, canonical_json, digest
from dokimasia.domain.judgement import CheckpointScores, Provenance, Response
from dokimasia.domain.sample import Sample
from dokimasia.storage.content.packing import packed, unpack

V = TypeVar("V", bound=Value)


@dataclass(frozen=True)
class ValueTable:
    """The table of a domain type.

    Attributes:
        table: its name.
        lifted: fields that are columns of their own and left out of `body`, so that long text is stored once.
        extract: further columns, which repeat parts of the body for people who query.
        packed: lifted fields that are packed where they are long, since other texts of a run hold them, too.
    """

    table: str
    lifted: tuple[str, ...]
    extract: Callable[[Any], dict[str, Any]]
    packed: tuple[str, ...] = ()


def _text(value: Any) -> str:
    return canonical_json(value).decode()


def _provenance(provenance: Provenance | None) -> dict[str, Any]:
    if provenance is None:
        return dict.fromkeys(("call_key", "prompt", "prompt_version", "prompt_hash", "shown"))
    return {
        "call_key": provenance.call,
        "prompt": provenance.prompt,
        "prompt_version": provenance.prompt_version,
        "prompt_hash": provenance.prompt_hash,
        "shown": _text(list(provenance.shown)),
    }


def _sample(sample: Sample) -> dict[str, Any]:
    return {
        "sample_id": sample.id,
        "sample_digest": sample.digest,
        "cluster": sample.cluster,
        "category": sample.category,
        "image_count": len(sample.images),
    }


def _criteria(criteria: CriteriaSet) -> dict[str, Any]:
    return {
        "criteria_count": len(criteria.criteria),
        "weights": _text(list(criteria.weights)),
        "repaired": int(criteria.repaired),
    }


def _response(response: Response) -> dict[str, Any]:
    return {
        "sample": response.sample,
        "model": response.model,
        "arm": response.arm,
        "repeat": response.repeat,
        "flags": _text(list(response.flags)),
        **_provenance(response.provenance),
    }


def _judgement(judgement: CheckpointScores) -> dict[str, Any]:
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
    """Return the table of a type; types without their own table are stored in `objects`, with their name."""
    return VALUE_TABLES.get(type_) or ValueTable("objects", (), lambda value: {"type": type_.stored_name()})


def row_of(value: Value) -> dict[str, Any]:
    """Return the row of a value, column by column; its `id` is `value_id(value)`."""
    shelf = table_of(type(value))
    body = value.model_dump(mode="json")
    row: dict[str, Any] = {"id": digest(value.stored_name(), body)}
    for field in shelf.lifted:
        row[field] = getattr(value, field)
        del body[field]
    row |= shelf.extract(value)
    row["body"] = _text(body)
    return row


def packed_row(type_: type[Value], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of `row_of` in its stored form; a row in that form stays as it is."""
    return {**row, **{field: packed(row[field]) for field in table_of(type_).packed}}


def lifted_fields(type_: type[Value], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the unpacked lifted fields of a row.

    Raises:
        ValueError: one is damaged.
    """
    shelf = table_of(type_)
    return {field: unpack(row[field]) if field in shelf.packed else row[field] for field in shelf.lifted}


def read_value(type_: type[V], row: Mapping[str, Any]) -> V:
    """Return the value of a row that has at least `body` and the lifted columns.

    Raises:
        ValueError: the row is not a valid value of that type.
    """
    fields = orjson.loads(row["body"])
    fields |= lifted_fields(type_, row)
    return type_.model_validate(fields)


def now(precision: str = "microseconds") -> str:
    """Return the current time in its stored form: UTC, ISO format."""
    return datetime.now(UTC).isoformat(timespec=precision)
