"""Which domain type lies in which table, and how a value becomes a row and a row the value again."""

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
class Shelf:
    """A table for one type.

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
        "stated": _text(list(map(int, judgement.spoken_to))),
        "score": judgement.score,
        **_provenance(judgement.provenance),
    }


SHELVES: dict[type[Value], Shelf] = {
    Sample: Shelf("samples", ("prompt", "reference_answer"), _sample, packed=("prompt",)),
    ReferenceChain: Shelf("chains", ("reasoning", "answer"), lambda chain: {}, packed=("reasoning",)),
    CriteriaSet: Shelf("criteria_sets", (), _criteria),
    Response: Shelf("responses", ("text",), _response),
    CheckpointScores: Shelf("judgements", (), _judgement),
}


def shelf_of(type_: type[Value]) -> Shelf:
    """Return where values of a type lie; a type without a table of its own lies in `objects`, with its name."""
    return SHELVES.get(type_) or Shelf("objects", (), lambda value: {"type": type_.stored_name()})


def row_of(value: Value) -> dict[str, Any]:
    """Return the row of a value, column by column; its `id` is `value_id(value)`."""
    shelf = shelf_of(type(value))
    body = value.model_dump(mode="json")
    row: dict[str, Any] = {"id": digest(value.stored_name(), body)}
    for field in shelf.lifted:
        row[field] = getattr(value, field)
        del body[field]
    row |= shelf.extract(value)
    row["body"] = _text(body)
    return row


def as_stored(type_: type[Value], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of `row_of` as it is written; one that is so already stays as it is."""
    return {**row, **{field: packed(row[field]) for field in shelf_of(type_).packed}}


def lifted_of(type_: type[Value], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lifted fields of a row as they were before it was written.

    Raises:
        ValueError: one is damaged.
    """
    shelf = shelf_of(type_)
    return {field: unpack(row[field]) if field in shelf.packed else row[field] for field in shelf.lifted}


def read_value(type_: type[V], row: Mapping[str, Any]) -> V:
    """Return the value of a row that has at least `body` and the lifted columns.

    Raises:
        ValueError: the row does not read as that type.
    """
    fields = orjson.loads(row["body"])
    fields |= lifted_of(type_, row)
    return type_.model_validate(fields)


def now(precision: str = "microseconds") -> str:
    """Return the present time as it is stored: UTC, in ISO form."""
    return datetime.now(UTC).isoformat(timespec=precision)
