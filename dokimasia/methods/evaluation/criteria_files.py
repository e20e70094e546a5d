"""Criteria as files: export what a run made, import it elsewhere, and score any model by it for ever."""

import asyncio
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from dokimasia.algorithms.criteria import check_criteria, with_final
from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.identity import digest, value_id
from dokimasia.errors import DataError, NotFound
from dokimasia.storage.criteria import CollectedCriteria, save_collection
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, SqliteRunStore, load_samples

FORMAT = "dokimasia-criteria/2"
EARLIER = "dokimasia-criteria/1"
"""Files of this form are read, too: they say neither which criterion is the final answer nor what a second look found."""

ID_LENGTH = 16

PAGE = 500
"""Lines that are kept at once."""


async def export_criteria(home: Home, run: Run) -> Iterator[bytes]:
    """Return the run's criteria as JSON lines in the order of its samples: `format`, `sample`, `sample_digest`,
    `prompt`, `chain`, `criteria`.

    Raises:
        NotFound: the run has no criteria yet.
    """
    store = SqliteRunStore(home, run.id)
    made = {
        row.sample_id: row for row in results(home, run.id, as_judged=True) if row.kind == "replay" and row.criteria_id
    }
    if not made:
        raise NotFound(f"run {run.id} has no criteria: resume it if it is not finished; without a judge none are made")
    lines: list[bytes] = []
    for sample in load_samples(home, run.id):
        row = made.get(sample.id)
        if row is None or row.criteria_id is None:
            continue
        chain = (await store.get(ReferenceChain, row.chain_id)).model_dump(mode="json") if row.chain_id else None
        criteria = await store.get(CriteriaSet, row.criteria_id)
        line = {
            "format": FORMAT,
            "sample": sample.id,
            "sample_digest": sample.digest,
            "prompt": sample.prompt,
            "chain": chain,
            "criteria": criteria.model_dump(mode="json"),
        }
        lines.append(orjson.dumps(line, option=orjson.OPT_SORT_KEYS) + b"\n")
    return iter(lines)


async def import_criteria(home: Home, path: Path) -> tuple[str, int]:
    """Keep a file of criteria and return the collection's id (a hash of its content) and its size.

    The whole file is checked before anything is kept; it is read twice, and never held as a whole.

    Raises:
        DataError: naming the line that cannot be used, or that the file changed while it was read.
    """
    entries = _check_file(path)
    store = SqliteRunStore(home)
    read = _lines(path)
    for start in range(0, len(entries), PAGE):
        checked = entries[start : start + PAGE]
        values = [value for _, line in islice(read, len(checked)) for value in _values(orjson.loads(line))]
        known = {id for entry in checked for id in (entry.criteria_id, entry.chain_id)}
        if not known >= {value_id(value) for value in values}:
            raise DataError(f"{path} changed while it was read; import it again")
        await asyncio.gather(*map(store.put, values))
    content = sorted([entry.sample_digest, entry.criteria_id] for entry in entries)
    collection = digest("criteria", content)[:ID_LENGTH]
    return collection, await save_collection(home, collection, entries)


def _check_file(path: Path) -> list[CollectedCriteria]:
    entries: list[CollectedCriteria] = []
    seen: dict[str, int] = {}
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        entry, criteria, chain = _read_line(line, where)
        earlier = seen.setdefault(entry["sample_digest"], number)
        if earlier != number:
            raise DataError(f"{where}: the same sample as in line {earlier}; each sample has one set of criteria")
        chain_id = None if chain is None else value_id(chain)
        entries.append(CollectedCriteria(entry["sample"], entry["sample_digest"], value_id(criteria), chain_id))
    if not entries:
        raise DataError(f"{path}: no criteria in it; `dokimasia criteria export RUN` writes such a file")
    return entries


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, with their numbers."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line


def _values(entry: dict[str, Any]) -> tuple[CriteriaSet | ReferenceChain, ...]:
    criteria, chain = _made(entry)
    return (criteria,) if chain is None else (criteria, chain)


def _made(entry: dict[str, Any]) -> tuple[CriteriaSet, ReferenceChain | None]:
    """Return the criteria and the chain of a line; which criterion is the final answer is seen by rule if it is not said."""
    criteria = CriteriaSet.model_validate(entry.get("criteria"))
    if entry.get("chain") is None:
        return criteria, None
    chain = ReferenceChain.model_validate(entry["chain"])
    return criteria.model_copy(update={"criteria": with_final(criteria.criteria, chain.answer)}), chain


def _read_line(line: bytes, where: str) -> tuple[dict[str, Any], CriteriaSet, ReferenceChain | None]:
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON ({error})") from None
    if not isinstance(entry, dict) or entry.get("format") not in (FORMAT, EARLIER):
        raise DataError(f'{where}: not a line of criteria; it needs "format": "{FORMAT}"')
    for field in ("sample", "sample_digest", "prompt"):
        if not isinstance(entry.get(field), str):
            raise DataError(f"{where}: {field} is missing or not a text")
    try:
        criteria, chain = _made(entry)
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{where}: {'.'.join(map(str, first['loc'])) or 'criteria'}: {first['msg']}") from None
    broken = check_criteria(criteria.criteria, entry["prompt"], wording=False)
    if broken:
        named = "; ".join(one.text for one in broken)
        raise DataError(f"{where}: the criteria of sample {entry['sample']} break the rules: {named}")
    return entry, criteria, chain
