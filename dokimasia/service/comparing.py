"""Two sides of a comparison as the pages show them: read once, listed by what sets them apart, and both answers in words."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

from dokimasia.algorithms.text.word_difference import DifferencePiece, word_difference
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.judgement import CheckpointScores, Response
from dokimasia.domain.sample import Sample
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import shown_name
from dokimasia.runs.reading.comparison import (
    ComparisonSide,
    MatchedSample,
    SamplePart,
    compare_parts,
    compare_runs,
    criteria_apart,
    matched,
    parts_of,
    sides_of,
)
from dokimasia.runs.reading.exporting import exported
from dokimasia.runs.reading.reporting import Redact
from dokimasia.service.filtering import changes_of, facets_of, groupings_of
from dokimasia.storage.excerpts import rows_of, samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.reading.browsing import counted
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run, get_run, load_samples

Changes = tuple[Any, ...]

LONGEST = 12_000
"""Characters of an answer up to which its words are held against another's."""

TOP = 15
"""Criteria that are listed."""

KINDS: Mapping[str, str] = {
    "": "all",
    "right-wrong": "first right, second wrong",
    "wrong-right": "first wrong, second right",
    "higher": "second higher",
    "lower": "second lower",
    "failed": "failed on a side",
}
"""Which samples of a comparison are listed."""


def kinds_of(models: tuple[str, str] | None) -> Mapping[str, str]:
    """Return `KINDS` as they are called; of two models of one run by these."""
    sides: tuple[str, str] = ("first", "second")
    names: dict[str, str] = dict(zip(sides, models or sides, strict=True))
    return {kind: " ".join(names.get(word, word) for word in text.split()) for kind, text in KINDS.items()}


class Pair(NamedTuple):
    """What is compared: a model of one run and a model of another, or of the same."""

    first: Run
    second: Run
    models: tuple[str, str]

    @property
    def own(self) -> bool:
        """Whether both are of one run: then differences are first minus second, as on the run's page."""
        return self.first.id == self.second.id

    @property
    def sides(self) -> tuple[str, str]:
        """What both sides are called: of one run by their models."""
        return self.models if self.own else ("first", "second")


def state_of(home: Home, *runs: Run) -> Changes:
    """Return what is another one when anything of these runs changes."""
    going_on = [run.id for run in runs if run.status != "done"]
    return (*changes_of(home), counted(home, going_on) if going_on else 0)


def compared(home: Home, first: Run, second: Run, models: tuple[str, str] | None) -> dict[str, Any]:
    """Return what `diff` computes of two runs; what was computed is kept until any run changes.

    Raises:
        InputError: they cannot be compared; the message is the command line's.
    """
    return _compared(home, first.id, second.id, models, state_of(home, first, second))


@lru_cache(maxsize=32)
def _compared(home: Home, first: str, second: str, models: tuple[str, str] | None, changes: Changes) -> dict[str, Any]:
    def read(home: Home, run: Run) -> Mapping[str, ComparisonSide]:
        return _sides(home, run.id, changes)

    return compare_runs(home, get_run(home, first), get_run(home, second), models=models, read=read)


def _sides(home: Home, run: str, changes: Changes) -> Mapping[str, ComparisonSide]:
    with _READING:  # several parts of one page ask at once, and the second finds what the first has read
        return _read(home, run, changes)


@lru_cache(maxsize=4)
def _read(home: Home, run: str, changes: Changes) -> Mapping[str, ComparisonSide]:
    return sides_of(home, get_run(home, run))


_READING = Lock()


def models_of(home: Home, run: Run) -> list[str]:
    """Return the models of a run by their shown names, in alphabetical order."""
    return [shown_name(*one) for one in facets_of(home, run).models]


def models_compared(home: Home, run: Run) -> list[str]:
    """Return the models of a run of which two can be held against each other; none where there are not two."""
    found = models_of(home, run) if method_of(run).diff is None else []
    return found if len(found) > 1 else []


def both_sides(home: Home, pair: Pair) -> tuple[ComparisonSide, ComparisonSide]:
    """Return the answers of both sides."""
    changes = state_of(home, pair.first, pair.second)
    one, other = (
        _sides(home, run.id, changes)[model] for run, model in zip((pair.first, pair.second), pair.models, strict=True)
    )
    return one, other


def listed(home: Home, pair: Pair, kind: str) -> list[MatchedSample]:
    """Return the samples that both sides have, of one of `KINDS`, the largest differences first."""
    found = [one for one in matched(*both_sides(home, pair)) if _is(one, kind)]
    return sorted(found, key=lambda one: (one.gap is None, -abs(one.gap or 0.0)))


def _is(one: MatchedSample, kind: str) -> bool:
    """Whether a sample is of one of `KINDS`; an answer of several repeats is right where more than half of them are."""
    right = [None if share is None else share > 1 / 2 for share in one.right]
    if kind == "right-wrong":
        return right == [True, False]
    if kind == "wrong-right":
        return right == [False, True]
    if kind in ("higher", "lower"):
        return one.gap is not None and (one.gap > 0 if kind == "higher" else one.gap < 0)
    return any(one.failures) if kind == "failed" else True


def apart(home: Home, pair: Pair) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return where two sides differ by category and by what other methods sort the samples of the first run into."""
    return _apart(home, pair.first.id, pair.second.id, pair.models, state_of(home, pair.first, pair.second))


@lru_cache(maxsize=32)
def _apart(
    home: Home, first: str, second: str, models: tuple[str, str], changes: Changes
) -> list[tuple[str, list[dict[str, Any]]]]:
    pair = Pair(get_run(home, first), get_run(home, second), models)
    sides, scale = both_sides(home, pair), method_of(pair.first).scale
    assert scale is not None
    unit = method_of(pair.first).shown
    categories = parts_of((one.id, one.category or "") for one in load_samples(home, first))
    ways = [("category", categories)] if len(categories) > 1 else []
    for way in groupings_of(home, pair.first):
        parts = [
            SamplePart(group.title, group.depth, frozenset(sample for sample, _ in group.members), group.criteria)
            for group in way.groups.values()
        ]
        ways.append((way.called, parts))
    bounds = (scale[0] * unit, scale[1] * unit)
    found = [(called, compare_parts(*sides, parts, seed=pair.first.seed, scale=bounds)) for called, parts in ways]
    return [one for one in found if one[1]]


def criteria_listed(home: Home, pair: Pair) -> list[dict[str, Any]]:
    """Return the criteria that set two sides apart most, each with its question."""
    found = criteria_apart(*both_sides(home, pair), top=TOP) if method_of(pair.first).rubrics is None else []
    sets = find_values(home, CriteriaSet, [one["criteria"] for one in found])
    return [{**one, "question": sets[one["criteria"]].criteria[one["number"] - 1].question} for one in found]


class Said(NamedTuple):
    """One side's answer: the model, its score, verdict, failure, and its words, those that the other lacks marked."""

    model: str
    score: float | None
    verdict: str
    failure: str
    pieces: Sequence[DifferencePiece]


class Both(NamedTuple):
    """Two answers to one sample, and the criteria with both scores where these are the same on both sides."""

    first: Said
    second: Said
    criteria: Sequence[tuple[Criterion, int, int]]
    repeat: int


def answers_of(home: Home, pair: Pair, sample: str, other: str, redact: Redact) -> list[Both]:
    """Return both sides' answers to a sample, repeat by repeat; nothing where the rows hold no answers."""
    ours, theirs = (
        {row.repeat: row for row in _rows(home, run, name, model)}
        for run, name, model in zip((pair.first, pair.second), (sample, other), pair.models, strict=True)
    )
    found = [
        _both(home, pair, (ours.get(repeat), theirs.get(repeat)), repeat, redact) for repeat in sorted({*ours, *theirs})
    ]
    return [one for one in found if one.first.pieces or one.second.pieces]


def _rows(home: Home, run: Run, sample: str, model: str) -> list[ResultRow]:
    rows = exported(method_of(run), rows_of(home, run.id, [sample]).get(sample, []))
    return [row for row in rows if shown_name(row.model, row.arm) == model]


def _both(home: Home, pair: Pair, rows: tuple[ResultRow | None, ResultRow | None], repeat: int, redact: Redact) -> Both:
    texts = [redact(_text(home, row)) for row in rows]
    pieces: Sequence[DifferencePiece] = ()
    if all(texts) and sum(map(len, texts)) <= 2 * LONGEST:
        pieces = word_difference(*texts)
    sides = [
        Said(
            model,
            None if row is None or row.score is None else row.score * method_of(pair.first).shown,
            (row and row.verdict) or "",
            "nothing yet" if row is None else redact(f"{row.failure}: {row.reason or ''}") if row.failure else "",
            list(_as_written(text, [piece for piece in pieces if piece.kind != gone])),
        )
        for model, row, text, gone in zip(pair.models, rows, texts, ("added", "removed"), strict=True)
    ]
    return Both(sides[0], sides[1], list(_criteria(home, *rows)), repeat)


def _as_written(text: str, pieces: Sequence[DifferencePiece]) -> Iterator[DifferencePiece]:
    """Yield a text in the pieces that hold its words, with the space that it has itself; without pieces as one."""
    at = 0
    for piece in pieces:
        begun, left = at, sum(not sign.isspace() for sign in piece.text)
        while at < len(text) and (left or text[at].isspace()):
            left -= not text[at].isspace()
            at += 1
        yield DifferencePiece(piece.kind, text[begun:at])
    if at < len(text):
        yield DifferencePiece("same", text[at:])


def _text(home: Home, row: ResultRow | None) -> str:
    if row is None or row.response_id is None:
        return ""
    return find_values(home, Response, [row.response_id])[row.response_id].text


def _criteria(home: Home, one: ResultRow | None, other: ResultRow | None) -> Iterator[tuple[Criterion, int, int]]:
    if one is None or other is None or not one.criteria_id or one.criteria_id != other.criteria_id:
        return
    ids = [row.judgement_id for row in (one, other) if row.judgement_id is not None]
    if len(ids) == 2:
        judged = find_values(home, CheckpointScores, ids)
        criteria = find_values(home, CriteriaSet, [one.criteria_id])[one.criteria_id].criteria
        yield from zip(criteria, judged[ids[0]].scores, judged[ids[1]].scores, strict=True)


def samples_shown(home: Home, pair: Pair, found: Sequence[MatchedSample]) -> Mapping[str, Sample]:
    """Return the samples of a list by the name that the first run has for them."""
    return samples_of(home, pair.first.id, [one.first for one in found])
