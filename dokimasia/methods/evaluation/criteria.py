"""Export and import of criteria files, and how much of the reference answers a run's criteria cover.

A criteria file allows scoring any model later by exactly the same criteria.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import islice
from pathlib import Path

import orjson
from pydantic import JsonValue, ValidationError

from dokimasia.algorithms.criteria import check_criteria, with_final
from dokimasia.algorithms.text.similarity import uncovered_sentences
from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.identity import Value, digest, value_id
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError, NotFound, list_faults
from dokimasia.storage.criteria import CollectedCriteria, save_collection
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, SqliteValueStore, load_samples

FORMAT = "dokimasia-criteria/2"
EARLIER = "dokimasia-criteria/1"
"""Older format that can still be read; it marks no final answer and has no results of the review."""

ID_LENGTH = 16

PAGE = 500
"""Lines to store at once."""


async def _criteria_of(home: Home, run: Run) -> AsyncIterator[tuple[Sample, CriteriaSet, str | None]]:
    """Yield each sample that has criteria, with its criteria and the id of its chain, in the run's order.

    Raises:
        NotFound: the run has no criteria yet.
    """
    rows: dict[str, ResultRow] = {}
    for row in results(home, run.id, as_judged=True):
        if row.kind == "replay" and row.criteria_id:
            rows[row.sample_id] = row
    if not rows:
        raise NotFound(f"run {run.id} has no criteria: resume it if it is not finished; without a judge none are made")
    store = SqliteValueStore(home, run.id)
    for sample in load_samples(home, run.id):
        row = rows.get(sample.id)
        if row is not None:
            yield sample, await store.get(CriteriaSet, str(row.criteria_id)), row.chain_id


async def export_criteria(home: Home, run: Run) -> Iterator[bytes]:
    """Return the run's criteria as JSON lines, in the order of its samples.

    The keys of a line are `format`, `sample`, `sample_digest`, `prompt`, `chain` and `criteria`.

    Raises:
        NotFound: the run has no criteria yet.
    """
    store = SqliteValueStore(home, run.id)
    lines: list[bytes] = []
    async for sample, criteria, chain_id in _criteria_of(home, run):
        chain = await store.get(ReferenceChain, chain_id) if chain_id else None
        line = {
            "format": FORMAT,
            "sample": sample.id,
            "sample_digest": sample.digest,
            "prompt": sample.prompt,
            "chain": chain and chain.model_dump(mode="json"),
            "criteria": criteria.model_dump(mode="json"),
        }
        lines.append(orjson.dumps(line, option=orjson.OPT_SORT_KEYS) + b"\n")
    return iter(lines)


async def import_criteria(home: Home, path: Path) -> tuple[str, int]:
    """Store a file of criteria and return the collection's id (a hash of its content) and its size.

    The whole file is checked before anything is stored. It is read twice, so that it need not fit in memory.

    Raises:
        DataError: a line is unusable (the message says which), or the file changed while it was read.
    """
    entries = _check_file(path)
    store = SqliteValueStore(home)
    lines = _lines(path)
    for start in range(0, len(entries), PAGE):
        page = entries[start : start + PAGE]
        ids = {id for entry in page for id in (entry.criteria_id, entry.chain_id)}
        values: list[CriteriaSet | ReferenceChain] = []
        for _, line in islice(lines, len(page)):
            criteria, chain = _values(orjson.loads(line))
            values.append(criteria)
            if chain is not None:
                values.append(chain)
        if not ids.issuperset(map(value_id, values)):
            raise DataError(f"{path} changed while it was read; import it again")
        await asyncio.gather(*map(store.put, values))
    content = sorted([entry.sample_digest, entry.criteria_id] for entry in entries)
    collection = digest("criteria", content)[:ID_LENGTH]
    return collection, await save_collection(home, collection, entries)


def _check_file(path: Path) -> list[CollectedCriteria]:
    entries: list[CollectedCriteria] = []
    first_lines: dict[str, int] = {}
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        entry = _read_line(line, where)
        earlier = first_lines.setdefault(entry.sample_digest, number)
        if earlier != number:
            raise DataError(f"{where}: the same sample as in line {earlier}; each sample has one set of criteria")
        entries.append(entry)
    if not entries:
        raise DataError(f"{path}: no criteria in it; `dokimasia criteria export RUN` writes such a file")
    return entries


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the non-empty lines with their numbers."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line


def _values(entry: dict[str, JsonValue]) -> tuple[CriteriaSet, ReferenceChain | None]:
    """Return the criteria and the chain of a line; if the line marks no final answer, a rule marks its criterion."""
    criteria = CriteriaSet.model_validate(entry.get("criteria"))
    written_chain = entry.get("chain")
    if written_chain is None:
        return criteria, None
    chain = ReferenceChain.model_validate(written_chain)
    return criteria.model_copy(update={"criteria": with_final(criteria.criteria, chain.answer)}), chain


def _read_line(line: bytes, where: str) -> CollectedCriteria:
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON ({error})") from None
    if not isinstance(entry, dict) or entry.get("format") not in (FORMAT, EARLIER):
        raise DataError(f'{where}: not a line of criteria; it needs "format": "{FORMAT}"')
    texts: list[str] = []
    for field in ("sample", "sample_digest", "prompt"):
        text = entry.get(field)
        if not isinstance(text, str):
            raise DataError(f"{where}: {field} is missing or not a text")
        texts.append(text)
    sample, sample_digest, prompt = texts
    try:
        criteria, chain = _values(entry)
    except ValidationError as error:
        first = list_faults(error)[0]
        raise DataError(f"{where}: {first.field or 'criteria'}: {first.message}") from None
    violations = check_criteria(criteria.criteria, prompt, wording=False)
    if violations:
        rules = "; ".join(rule.text for rule in violations)
        raise DataError(f"{where}: the criteria of sample {sample} break the rules: {rules}")
    chain_id = None if chain is None else value_id(chain)
    return CollectedCriteria(sample, sample_digest, value_id(criteria), chain_id)


class SampleCoverage(Value):
    """How much of a sample's reference answer its criteria cover.

    `sentences` counts the reference's sentences that have content words; `uncovered` lists, in order, those that share
    no word with any criterion. This is a hint where to look, not a verdict.
    """

    sample: str
    criteria: int
    sentences: int
    uncovered: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of sentences that at least one criterion covers, 0 to 1."""
        return 1 - len(self.uncovered) / self.sentences


def sample_coverage(sample: Sample, criteria: CriteriaSet) -> SampleCoverage | None:
    """Return how much of a sample's reference its criteria cover; None if the reference has no content words."""
    reference = sample.reference_text or ""
    sentences = uncovered_sentences(reference, ())
    if not sentences:
        return None
    texts = [f"{criterion.question} {criterion.ground_truth}" for criterion in criteria.criteria]
    return SampleCoverage(
        sample=sample.id,
        criteria=len(texts),
        sentences=len(sentences),
        uncovered=tuple(uncovered_sentences(reference, texts)),
    )


async def coverage_of(home: Home, run: Run) -> list[SampleCoverage]:
    """Return the coverage of every sample with criteria and a reference, in the run's order.

    Raises:
        NotFound: the run has no criteria yet.
    """
    coverages: list[SampleCoverage] = []
    async for sample, criteria, _ in _criteria_of(home, run):
        coverage = sample_coverage(sample, criteria)
        if coverage is not None:
            coverages.append(coverage)
    return coverages


def covered_share(coverages: Sequence[SampleCoverage]) -> float | None:
    """Return the share of all reference sentences that a criterion covers; None if there are no sentences."""
    sentences = sum(coverage.sentences for coverage in coverages)
    if not sentences:
        return None
    return 1 - sum(len(coverage.uncovered) for coverage in coverages) / sentences
