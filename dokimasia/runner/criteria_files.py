"""Criteria as files: export what a run made, import it elsewhere, and score any model by it for ever."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from dokimasia.algorithms.criteria import check_criteria
from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.identity import digest, value_id
from dokimasia.errors import DataError, NotFound
from dokimasia.storage.criteria import CollectedCriteria, save_collection
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, SqliteRunStore, load_samples

FORMAT = "dokimasia-criteria/1"
ID_LENGTH = 16


async def export_criteria(home: Home, run: Run) -> Iterator[bytes]:
    """Return the run's criteria as JSON lines in the order of its samples: `format`, `sample`, `sample_digest`,
    `prompt`, `chain`, `criteria`.

    Raises:
        NotFound: the run has no criteria yet.
    """
    store = SqliteRunStore(home, run.id)
    made = {row.sample_id: row for row in results(home, run.id) if row.kind == "replay" and row.criteria_id}
    if not made:
        raise NotFound(f"run {run.id} has no criteria yet; resume it first")
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

    The whole file is checked before anything is kept.

    Raises:
        DataError: naming the line that cannot be used.
    """
    read = _read_file(path)
    store = SqliteRunStore(home)
    entries = [
        CollectedCriteria(
            entry["sample"],
            entry["sample_digest"],
            await store.put(criteria),
            await store.put(chain) if chain is not None else None,
        )
        for entry, criteria, chain in read
    ]
    content = sorted([entry["sample_digest"], value_id(criteria)] for entry, criteria, _ in read)
    collection = digest("criteria", content)[:ID_LENGTH]
    return collection, await save_collection(home, collection, entries)


def _read_file(path: Path) -> list[tuple[dict[str, Any], CriteriaSet, ReferenceChain | None]]:
    read: list[tuple[dict[str, Any], CriteriaSet, ReferenceChain | None]] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        entry, criteria, chain = _read_line(line, where)
        earlier = seen.setdefault(entry["sample_digest"], number)
        if earlier != number:
            raise DataError(f"{where}: the same sample as in line {earlier}; each sample has one set of criteria")
        read.append((entry, criteria, chain))
    if not read:
        raise DataError(f"{path}: no criteria in it; `dokimasia criteria export RUN` writes such a file")
    return read


def _read_line(line: bytes, where: str) -> tuple[dict[str, Any], CriteriaSet, ReferenceChain | None]:
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON ({error})") from None
    if not isinstance(entry, dict) or entry.get("format") != FORMAT:
        raise DataError(f'{where}: not a line of criteria; it needs "format": "{FORMAT}"')
    for field in ("sample", "sample_digest", "prompt"):
        if not isinstance(entry.get(field), str):
            raise DataError(f"{where}: {field} is missing or not a text")
    try:
        criteria = CriteriaSet.model_validate(entry.get("criteria"))
        chain = None if entry.get("chain") is None else ReferenceChain.model_validate(entry["chain"])
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{where}: {'.'.join(map(str, first['loc'])) or 'criteria'}: {first['msg']}") from None
    problems = check_criteria(criteria.criteria, entry["prompt"])
    if problems:
        raise DataError(f"{where}: the criteria of sample {entry['sample']} break the rules: {'; '.join(problems)}")
    return entry, criteria, chain
