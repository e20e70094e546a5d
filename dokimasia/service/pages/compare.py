"""Pages that compare two runs, or two models of one run, with both answers as texts, or several runs side by side."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from itertools import chain, combinations
from threading import Lock
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from markupsafe import Markup, escape

from dokimasia.algorithms.text.word_difference import DifferencePiece, word_difference
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.identity import JsonObject
from dokimasia.domain.judgement import CheckpointScores
from dokimasia.domain.judgement import Response as CandidateResponse
from dokimasia.domain.sample import Sample
from dokimasia.domain.wording import percentage
from dokimasia.errors import InputError, NotFound
from dokimasia.operations.operation import RequestRefused
from dokimasia.report import figures
from dokimasia.report.blocks import Cell, Column, Paragraph, Span, Table
from dokimasia.report.comparison import (
    PartComparison,
    RunComparison,
    comparison_blocks,
    difference_cells,
    interval_and_test,
)
from dokimasia.report.drawing import Charts
from dokimasia.report.fields import Interval, StrictShare
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import shown_name
from dokimasia.runs.reading.comparison import (
    ComparisonSide,
    CriterionApart,
    MatchedSample,
    SamplePart,
    category_parts,
    compare_parts,
    compare_runs,
    criteria_apart,
    match_samples,
    sides_of,
)
from dokimasia.runs.reading.exporting import exported_rows
from dokimasia.runs.reading.reporting import Redact
from dokimasia.service.drawing import drawn, page
from dokimasia.service.filtering import facets_of, groupings_of, home_version
from dokimasia.service.pages.samples import (
    BEGINNING,
    absence_of,
    data_label,
    name_of,
    run_label,
    sample_link,
    with_run_names,
)
from dokimasia.service.response_cache import keep
from dokimasia.service.results import figures_of
from dokimasia.service.sample_view import draw_sample, view_of
from dokimasia.service.state import IN_TURN, Reader, Service, TheService
from dokimasia.storage.excerpts import rows_of, samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.naming import labels
from dokimasia.storage.reading.browsing import count_results
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run, get_run, list_runs, load_samples

Changes = tuple[object, ...]

LONGEST = 12_000
"""The number of characters up to which the words of answers are compared."""

TOP = 15
"""Number of criteria in the list."""

KINDS: Mapping[str, str] = {
    "": "all",
    "right-wrong": "first right, second wrong",
    "wrong-right": "first wrong, second right",
    "higher": "second higher",
    "lower": "second lower",
    "failed": "failed in one of them",
}
"""The kinds of samples that a comparison can list."""


def kinds_of(models: tuple[str, str] | None) -> Mapping[str, str]:
    """Return `KINDS` with their labels; for two models of one run, with the names of the models."""
    sides: tuple[str, str] = ("first", "second")
    names: dict[str, str] = dict(zip(sides, models or sides, strict=True))
    return {kind: " ".join(names.get(word, word) for word in text.split()) for kind, text in KINDS.items()}


class ComparedPair(NamedTuple):
    """A model of one run and a model of the same or another run, to be compared."""

    first: Run
    second: Run
    models: tuple[str, str]

    @property
    def own(self) -> bool:
        """Whether both belong to one run."""
        return self.first.id == self.second.id

    @property
    def sides(self) -> tuple[str, str]:
        """The labels of both sides: for one run, the models."""
        if self.own:
            return self.models
        return ("first", "second")


def state_of(home: Home, *runs: Run) -> Changes:
    """Return a cache key that changes with anything in these runs."""
    unfinished_ids = [run.id for run in runs if run.status != "done"]
    return (*home_version(home), count_results(home, unfinished_ids) if unfinished_ids else 0)


def compared(home: Home, first: Run, second: Run, models: tuple[str, str] | None) -> RunComparison:
    """Return the comparison of two runs, as `dokimasia diff` computes it; cached until any run changes.

    Raises:
        InputError: they cannot be compared; the message is that of the command line.
    """
    return _compared(home, first.id, second.id, models, state_of(home, first, second))


@lru_cache(maxsize=32)
def _compared(home: Home, first: str, second: str, models: tuple[str, str] | None, changes: Changes) -> RunComparison:
    def read(home: Home, run: Run) -> Mapping[str, ComparisonSide]:
        return _sides(home, run.id, changes)

    return compare_runs(home, get_run(home, first), get_run(home, second), models=models, read=read)


def _sides(home: Home, run: str, changes: Changes) -> Mapping[str, ComparisonSide]:
    with _READ_LOCK:  # parts of a page load in parallel, and should read only once
        return _read(home, run, changes)


@lru_cache(maxsize=4)
def _read(home: Home, run: str, changes: Changes) -> Mapping[str, ComparisonSide]:
    return sides_of(home, get_run(home, run))


_READ_LOCK = Lock()


def models_of(home: Home, run: Run) -> list[str]:
    """Return the models of a run by their shown names, in alphabetical order."""
    return [shown_name(*model) for model in facets_of(home, run).models]


def models_compared(home: Home, run: Run) -> list[str]:
    """Return the models of a run that can be compared with each other; none if there are fewer than two."""
    models = models_of(home, run) if method_of(run).scores.no_diff is None else []
    return models if len(models) > 1 else []


def both_sides(home: Home, pair: ComparedPair) -> tuple[ComparisonSide, ComparisonSide]:
    """Return the answers of both sides."""
    changes = state_of(home, pair.first, pair.second)
    first, second = (
        _sides(home, run.id, changes)[model] for run, model in zip((pair.first, pair.second), pair.models, strict=True)
    )
    return first, second


def listed(home: Home, pair: ComparedPair, kind: str) -> list[MatchedSample]:
    """Return the samples on both sides of one of `KINDS`, the largest differences first."""
    samples = [sample for sample in match_samples(*both_sides(home, pair)) if _is_of_kind(sample, kind)]
    return sorted(samples, key=lambda sample: (sample.gap is None, -abs(sample.gap or 0.0)))


def _is_of_kind(sample: MatchedSample, kind: str) -> bool:
    """Return whether a sample is of one of `KINDS`; several repeats are right if more than half of them are."""
    right = [None if share is None else share > 1 / 2 for share in sample.right]
    if kind == "right-wrong":
        return right == [True, False]
    if kind == "wrong-right":
        return right == [False, True]
    if kind in ("higher", "lower"):
        return sample.gap is not None and (sample.gap > 0 if kind == "higher" else sample.gap < 0)
    if kind == "failed":
        return any(sample.failures)
    return True


def apart(home: Home, pair: ComparedPair) -> list[tuple[str, list[PartComparison]]]:
    """Return how two sides differ by category, and by other methods' groups of the first run's samples."""
    return _parts_apart(home, pair.first.id, pair.second.id, pair.models, state_of(home, pair.first, pair.second))


@lru_cache(maxsize=32)
def _parts_apart(
    home: Home, first: str, second: str, models: tuple[str, str], changes: Changes
) -> list[tuple[str, list[PartComparison]]]:
    pair = ComparedPair(get_run(home, first), get_run(home, second), models)
    sides, scale = both_sides(home, pair), method_of(pair.first).scores.shown_scale
    assert scale is not None
    categories = category_parts((sample.id, sample.category or "") for sample in load_samples(home, first))
    groupings = [("category", categories)] if len(categories) > 1 else []
    for grouping in groupings_of(home, pair.first):
        parts = [
            SamplePart(group.title, group.depth, frozenset(sample for sample, _ in group.members), group.criteria)
            for group in grouping.groups.values()
        ]
        groupings.append((grouping.called, parts))
    differences = [(kind, compare_parts(*sides, parts, seed=pair.first.seed, scale=scale)) for kind, parts in groupings]
    return [grouped for grouped in differences if grouped[1]]


def criteria_listed(home: Home, pair: ComparedPair) -> list[tuple[CriterionApart, str]]:
    """Return the criteria that differ most between two sides, each with its question."""
    criteria = criteria_apart(*both_sides(home, pair), top=TOP) if method_of(pair.first).scores.rubrics is None else []
    sets = find_values(home, CriteriaSet, [criterion.criteria for criterion in criteria])
    return [(criterion, sets[criterion.criteria].criteria[criterion.number - 1].question) for criterion in criteria]


class SideAnswer(NamedTuple):
    """One side's answer: model, score, verdict, failure, and its text, with words missing from the other marked."""

    model: str
    score: float | None
    verdict: str
    failure: str
    pieces: Sequence[DifferencePiece]


class AnswerPair(NamedTuple):
    """Two answers to one sample, and the criteria with both scores if both sides share them."""

    first: SideAnswer
    second: SideAnswer
    criteria: Sequence[tuple[Criterion, int, int]]
    repeat: int


def answers_of(home: Home, pair: ComparedPair, sample: str, other: str, redact: Redact) -> list[AnswerPair]:
    """Return both sides' answers to a sample, by repeat; empty if the rows have no answers."""
    first_rows, second_rows = (
        {row.repeat: row for row in _rows(home, run, name, model)}
        for run, name, model in zip((pair.first, pair.second), (sample, other), pair.models, strict=True)
    )
    answers = [
        _answer_pair(home, pair, (first_rows.get(repeat), second_rows.get(repeat)), repeat, redact)
        for repeat in sorted({*first_rows, *second_rows})
    ]
    return [answer for answer in answers if answer.first.pieces or answer.second.pieces]


def _rows(home: Home, run: Run, sample: str, model: str) -> list[ResultRow]:
    rows = exported_rows(method_of(run), rows_of(home, run.id, [sample]).get(sample, []))
    return [row for row in rows if shown_name(row.model, row.arm) == model]


def _answer_pair(
    home: Home, pair: ComparedPair, rows: tuple[ResultRow | None, ResultRow | None], repeat: int, redact: Redact
) -> AnswerPair:
    texts = [redact(_text(home, row)) for row in rows]
    pieces: Sequence[DifferencePiece] = ()
    if all(texts) and sum(map(len, texts)) <= 2 * LONGEST:
        pieces = word_difference(*texts)
    factor = method_of(pair.first).scores.factor
    sides: list[SideAnswer] = []
    runs = (pair.first, pair.second)
    for run, model, row, text, absent_kind in zip(runs, pair.models, rows, texts, ("added", "removed"), strict=True):
        written = list(_as_written(text, [piece for piece in pieces if piece.kind != absent_kind]))
        if row is None:
            sides.append(SideAnswer(model, None, "", absence_of(run), written))
            continue
        score = None if row.score is None else row.score * factor
        failure = redact(f"{row.failure}: {row.reason or ''}") if row.failure else ""
        sides.append(SideAnswer(model, score, row.verdict or "", failure, written))
    return AnswerPair(sides[0], sides[1], list(_criteria(home, *rows)), repeat)


def _as_written(text: str, pieces: Sequence[DifferencePiece]) -> Iterator[DifferencePiece]:
    """Yield a text split like its pieces, with its own white space; without pieces, the whole text."""
    position = 0
    for piece in pieces:
        start, remaining = position, sum(not character.isspace() for character in piece.text)
        while position < len(text) and (remaining or text[position].isspace()):
            remaining -= not text[position].isspace()
            position += 1
        yield DifferencePiece(piece.kind, text[start:position])
    if position < len(text):
        yield DifferencePiece("same", text[position:])


def _text(home: Home, row: ResultRow | None) -> str:
    if row is None or row.response_id is None:
        return ""
    return find_values(home, CandidateResponse, [row.response_id])[row.response_id].text


def _criteria(home: Home, first: ResultRow | None, second: ResultRow | None) -> Iterator[tuple[Criterion, int, int]]:
    if first is None or second is None or not first.criteria_id or first.criteria_id != second.criteria_id:
        return
    ids = [row.judgement_id for row in (first, second) if row.judgement_id is not None]
    if len(ids) == 2:
        judgements = find_values(home, CheckpointScores, ids)
        criteria = find_values(home, CriteriaSet, [first.criteria_id])[first.criteria_id].criteria
        yield from zip(criteria, judgements[ids[0]].scores, judgements[ids[1]].scores, strict=True)


def samples_shown(home: Home, pair: ComparedPair, matched_samples: Sequence[MatchedSample]) -> Mapping[str, Sample]:
    """Return the samples of a list by their names in the first run."""
    return samples_of(home, pair.first.id, [sample.first for sample in matched_samples])


router = APIRouter()

PAGE = 25
"""Samples on a page of the list."""

MOST = 12
"""The maximum number of runs shown side by side."""

OFFERED = 100
"""The number of newest runs offered for choice."""

SHOWN = 10
"""The rows of a table of differences shown above its fold."""

UNFOLDED = 16
"""The rows up to which such a table has no fold."""

AT_ONCE = 20_000
"""The results of both runs up to which a page is complete at once; beyond it, its parts load one after another."""


class ComparisonQuery(NamedTuple):
    """The query of an address: runs, and two models if they are named."""

    runs: Sequence[Run]
    models: tuple[str, str] | None

    @property
    def swapped(self) -> "ComparisonQuery":
        """The same query with first and second exchanged."""
        models = (self.models[1], self.models[0]) if self.models else None
        return ComparisonQuery(self.runs[::-1], models)

    def query(self, **changes: object) -> str:
        """Return the query string of a link with the same query and changes."""
        parameters = {"runs": ",".join(run.id for run in self.runs), "models": ",".join(self.models or ()), **changes}
        return "?" + urlencode({name: value for name, value in parameters.items() if value not in ("", None)})


def _query(service: Service, runs: Sequence[str], models: str) -> ComparisonQuery:
    """Return the runs and the models that an address names.

    Runs ticked in a list, each with its own parameter, are ordered from the oldest to the newest.

    Raises:
        NotFound: there is no such run.
        RequestRefused: the number of models is not two, or there are more runs than can be shown.
    """
    run_names = [name.strip() for text in runs for name in text.split(",") if name.strip()]
    named_runs = list({run.id: run for run in map(service.run, run_names)}.values())
    if len(runs) > 1:  # ticked: a list has the newest first
        named_runs = sorted(named_runs, key=lambda run: run.created_at)
    if len(named_runs) > MOST:
        raise RequestRefused(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"runs: {len(named_runs)} are named, and {MOST} are shown at most"
        )
    model_names = [name.strip() for name in models.split(",") if name.strip()]
    if len(model_names) not in (0, 2):
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "models takes two names: A,B")
    return ComparisonQuery(named_runs, (model_names[0], model_names[1]) if model_names else None)


Runs = Annotated[list[str], Query(default_factory=list)]


@router.get("/compare", dependencies=[IN_TURN])
def compare(
    request: Request,
    service: TheService,
    person: Reader,
    runs: Runs,
    models: str = "",
    one: Annotated[str, Query(alias="models-first")] = "",
    other: Annotated[str, Query(alias="models-second")] = "",
    show: str = "",
    number: Annotated[int, Query(alias="page", ge=1, le=1_000_000)] = 1,
    part: str = "",
) -> Response:
    """Return the comparison of two runs, or two models of one; without runs, the choices."""
    home, query = service.home, _query(service, runs, models or (f"{one},{other}" if one or other else ""))
    keep(request, *query.runs)
    if show not in KINDS:
        raise RequestRefused(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"show: there is no {show!r}; there are {', '.join(KINDS)}"
        )
    labels_by_run = labels(home)
    names = [run_label(labels_by_run, run) for run in query.runs]
    context: dict[str, object] = {
        "asked": query,
        "names": names,
        "offered": _offered(home),
        "fault": "",
        "chosen": {run.id for run in query.runs},
    }
    if len(query.runs) > 2:
        return _several(request, service, query, names, context)
    if not query.runs:
        return page(request, "compare_choose.html", context, models=[])
    first, second = query.runs[0], query.runs[-1]
    own_models = models_compared(home, first) if first.id == second.id else []
    choice = _choice(home, first, second)
    if query.models is None and (choice or first.id == second.id):
        fault = "No model is in both runs. Choose one of each to compare them." if first.id != second.id else ""
        return page(request, "compare_choose.html", context, models=choice, fault=fault)
    try:
        later = not part and count_results(home, list({first.id, second.id})) > AT_ONCE
        parts = ComparisonParts() if later else _parts(service, query, part or "all", show, number)
    except (InputError, NotFound) as error:
        return page(
            request,
            "compare_choose.html",
            context,
            status=HTTPStatus.UNPROCESSABLE_ENTITY,
            models=choice,
            fault=service.redact(with_run_names(home, str(error))),
        )
    return page(
        request,
        "compare_part.html" if part else "compare.html",
        {**context, **vars(parts)},
        later=later,
        show=show,
        kinds=kinds_of(query.models if first.id == second.id else None),
        number=number,
        size=PAGE,
        own=own_models,
        sides=query.models if first.id == second.id and query.models else ("first", "second"),
    )


@router.get("/compare/sample")
def both(
    request: Request, service: TheService, person: Reader, runs: Runs, sample: str, models: str = "", other: str = ""
) -> Response:
    """Return both answers to a sample side by side, with different words marked."""
    home, query = service.home, _query(service, runs, models)
    if not query.runs or query.models is None:
        raise RequestRefused(
            HTTPStatus.UNPROCESSABLE_ENTITY, "name one run or two with runs, and two models with models"
        )
    pair, labels_by_run = ComparedPair(query.runs[0], query.runs[-1], query.models), labels(home)
    names = (sample, other or sample)
    values = [
        samples_of(home, run.id, [name]).get(name) for run, name in zip((pair.first, pair.second), names, strict=True)
    ]
    for run, name, value in zip((pair.first, pair.second), names, values, strict=True):
        if value is None:
            raise NotFound(f"run {run.id} has no sample {name!r}")
    answers = answers_of(home, pair, *names, service.redact)
    bodies = []
    if not answers:
        bodies = [
            draw_sample(service, run, value, view_of(home, run, value.id, person.name))
            for run, value in zip((pair.first, pair.second), values, strict=True)
            if value is not None
        ]
    return page(
        request,
        "compare_sample.html",
        asked=query,
        part=request.headers.get("hx-request") == "true",
        sample=values[0],
        answers=answers,
        bodies=bodies,
        links=[sample_link(run, name) for run, name in zip((pair.first, pair.second), names, strict=True)],
        models=query.models,
        names=[run_label(labels_by_run, run) for run in (pair.first, pair.second)],
        same=pair.first.id == pair.second.id,
        redact=service.redact,
    )


def _choice(home: Home, first: Run, second: Run) -> list[list[str]]:
    """Return the models to choose from on each side; empty if there is no choice, or no comparison."""
    if first.id == second.id:
        models = models_compared(home, first)
        return [models, models] if models else []
    if first.method != second.method or not _comparable(first):
        return []
    first_models, second_models = models_of(home, first), models_of(home, second)
    if first_models and second_models and not set(first_models) & set(second_models):
        return [first_models, second_models]
    return []


class ComparedSample(NamedTuple):
    """A sample in the list: its names in both runs, its question and image, both outcomes, and the difference."""

    id: str
    other: str
    question: str
    image: str
    sides: tuple[str, str]
    gap: float | None
    link: str


@dataclass
class ComparisonParts:
    """The parts of a comparison's page; None and empty lists are not loaded yet.

    Attributes:
        pairs: the compared pairs of models.
        pair: the pair of the following parts.
        figures: the figures of both sides.
        apart: the groups in which the sides differ, as `_shown_first` returns them.
        criteria: the criteria that differ most, each with its question and the link to a sample.
        rows: a page of samples.
        total: the number of samples.
        pages: the number of pages of samples.
    """

    pairs: Sequence[tuple[str, str]] = ()
    pair: tuple[str, str] | None = None
    figures: Markup | None = None
    apart: Sequence[tuple[str, int, Markup, Markup]] | None = None
    criteria: Sequence[tuple[CriterionApart, str, str]] = ()
    rows: Sequence[ComparedSample] | None = None
    total: int = 0
    pages: int = 1


def _parts(service: Service, query: ComparisonQuery, part: str, show: str, number: int) -> ComparisonParts:
    """Return the page, or one of its parts."""
    home, first, second = service.home, query.runs[0], query.runs[-1]
    second_models = models_of(home, second)
    pairs = (
        [query.models] if query.models else [(name, name) for name in models_of(home, first) if name in second_models]
    )
    parts = ComparisonParts(pairs)
    if part in ("all", "figures"):
        comparison = compared(home, first, second, query.models)
        blocks = list(comparison_blocks(comparison, changed=comparison.scale is None))
        parts.figures = _with_names(drawn(blocks, Charts()), {run.id: name_of(home, run) for run in query.runs})
    if method_of(first).scores.scale is None or not pairs:
        return parts
    pair = ComparedPair(first, second, pairs[0])
    parts.pair = pair.models
    if part in ("all", "apart"):
        parts.apart = [_shown_first(name, rows, pair) for name, rows in apart(home, pair)]
        parts.criteria = [
            (criterion, service.redact(question), _both_link(pair, criterion.sample, ""))
            for criterion, question in criteria_listed(home, pair)
        ]
    if part in ("all", "samples"):
        matched_samples = listed(home, pair, show)
        page_samples = matched_samples[(number - 1) * PAGE : number * PAGE]
        shown_samples = samples_shown(home, pair, page_samples)
        parts.total, parts.pages = len(matched_samples), max(1, -(-len(matched_samples) // PAGE))
        parts.rows = [_compared_sample(service, pair, sample, shown_samples[sample.first]) for sample in page_samples]
    return parts


_P_VALUE = re.compile(r"\((?:adjusted )?p (?:=|&lt;) [0-9.]+\)")
"""A p-value in a sentence, which no line break may part."""


def _with_names(figures: Markup, names: Mapping[str, str]) -> Markup:
    """Return the figures of a comparison, with names of runs in place of ids, and p-values unbroken."""
    for id, name in names.items():
        figures = figures.replace(f"run {id}", escape(name))
    return Markup(_P_VALUE.sub(lambda text: text[0].replace(" ", "\N{NO-BREAK SPACE}"), figures))


def _shown_first(name: str, rows: Sequence[PartComparison], pair: ComparedPair) -> tuple[str, int, Markup, Markup]:
    """Return the name of a grouping, its number of folded rows, a table of the first rows, and a table of the folded ones."""
    first, rest = (rows, []) if len(rows) <= UNFOLDED else (rows[:SHOWN], rows[SHOWN:])
    tables = [drawn([_table(name, part, pair), *_noted(part)] if part else [], Charts()) for part in (first, rest)]
    return name, len(rest), tables[0], tables[1]


def _compared_sample(service: Service, pair: ComparedPair, matched: MatchedSample, sample: Sample) -> ComparedSample:
    """Return the row of a sample of both sides."""
    return ComparedSample(
        id=service.redact(matched.first),
        other="" if matched.first == matched.second else service.redact(matched.second),
        question=service.redact(" ".join(sample.prompt.split()))[:BEGINNING],
        image=next((image.sha256 for image in sample.images), ""),
        sides=(_side(matched, 0), _side(matched, 1)),
        gap=matched.gap,
        link=_both_link(pair, matched.first, matched.second),
    )


def _side(sample: MatchedSample, side: int) -> str:
    """Return the outcome of one side of a sample, abbreviated."""
    score, right = sample.scores[side], sample.right[side]
    parts = [f"{score:.2f}"] if score is not None else []
    if right == 1:
        parts.append("✓")
    elif right == 0:
        parts.append("✗")
    elif right is not None:
        parts.append(f"✓ {percentage(right)}")
    return " ".join(parts) or sample.failures[side].replace("_", " ") or "–"


def _both_link(pair: ComparedPair, sample: str, other: str) -> str:
    query = ComparisonQuery([pair.first, pair.second] if pair.first.id != pair.second.id else [pair.first], pair.models)
    return f"/compare/sample{query.query(sample=sample, other='' if other == sample else other)}"


def _table(kind: str, rows: Sequence[PartComparison], pair: ComparedPair) -> Table:
    """Return the parts of one kind as a table, the largest differences first unless parts are nested."""
    percent = rows[0].measure == "strict_accuracy"
    flat = not any(row.depth for row in rows)
    ordered = sorted(rows, key=_size) if flat else rows
    columns = [
        Column(kind, numeric=False),
        Column("paired", meaning="samples with a value on both sides, of those that both have"),
        *map(Column, (*pair.sides, "difference", "95 % interval", "p")),
        Column("adjusted p", meaning="Benjamini and Hochberg, over all rows of this table"),
    ]
    drawn_rows: list[list[Cell]] = [
        [
            Span(f"{'– ' * row.depth}{row.title}", "strong" if not row.depth else ""),
            f"{row.n:,}" if row.n == row.n_shared else f"{row.n:,}/{row.n_shared:,}",
            *difference_cells(row, percent, adjusted=row.adjusted),
            figures.p_value(row.adjusted),
        ]
        for row in ordered
    ]
    measure = "Strict accuracy" if percent else "Scores"
    direction = " minus ".join(reversed(pair.sides))
    return Table(columns, drawn_rows, f"{measure} by {kind}, {direction}")


def _size(part: PartComparison) -> float:
    """Return the negated size of a part's difference, which sorts large ones to the top."""
    if part.difference is None:
        return 0.0
    return -abs(part.difference.mean)


def _noted(rows: Sequence[PartComparison]) -> list[Paragraph]:
    return [Paragraph(note, "note") for note in interval_and_test((row.title, row) for row in rows)]


def _offered(home: Home) -> list[tuple[Run, str]]:
    """Return the newest runs that can be compared, each with its label."""
    comparable_runs = [run for run in list_runs(home) if _comparable(run)][:OFFERED]
    names = labels(home)
    return [(run, run_label(names, run)) for run in comparable_runs]


def _comparable(run: Run) -> bool:
    try:
        return method_of(run).scores.no_diff is None
    except NotFound:
        return False


def _several(
    request: Request, service: Service, query: ComparisonQuery, names: Sequence[str], context: Mapping[str, object]
) -> Response:
    """Return the headline figures of several runs side by side, with a link for each comparable pair."""
    summaries = [figures_of(service, run) for run in query.runs]
    columns = [Column("model", numeric=False), Column("figure", numeric=False), *map(Column, names)]
    table = Table(columns, list(_headlines(query.runs, summaries)), "Headline figures of the runs")
    links = [
        (
            f"{first_name} and {second_name}",
            ComparisonQuery([first, second], None).query(),
        )
        for (first, first_name), (second, second_name) in combinations(zip(query.runs, names, strict=True), 2)
        if first.method == second.method and _comparable(first)
    ]
    return page(
        request,
        "compare_several.html",
        context,
        titles=[method_of(run).title for run in query.runs],
        data=[data_label(labels(service.home), run).rsplit("/", 1)[-1] for run in query.runs],
        judges=[service.redact(str(summary.get("judge") or "")) for summary in summaries],
        table=drawn([table], Charts()) if table.rows else None,
        links=links,
    )


def _headlines(runs: Sequence[Run], summaries: Sequence[JsonObject]) -> Iterator[list[Cell]]:
    """Yield a row for each model and figure of any run, with figures on the same scale in one row."""
    scores = [method_of(run).scores for run in runs]
    per_run = [summary["models"] if own.measures else {} for own, summary in zip(scores, summaries, strict=True)]
    paths_by_measure = [{own.measure_called(name): path for name, path in own.measures.items()} for own in scores]
    measures = {
        measure: [paths.get(measure, ()) for paths in paths_by_measure]
        for measure in dict.fromkeys(chain.from_iterable(paths_by_measure))
    }
    for model in sorted({model for models in per_run for model in models}):
        for measure, paths in measures.items():
            cells = [_headline(models.get(model, {}), path) for models, path in zip(per_run, paths, strict=True)]
            if any(cell != figures.NOTHING for cell in cells):
                yield [Span(model, "strong"), ", ".join(filter(None, measure)), *cells]


def _headline(model: JsonObject, path: Sequence[str]) -> Cell:
    """Return a model's headline figure with its interval."""
    value = model.get(path[0]) if path else None
    if not isinstance(value, Mapping):
        return figures.NOTHING
    if "share" in value:
        return figures.strict_of(StrictShare.model_construct(**value))
    return figures.measured(Interval.model_construct(**value), ends=2)
