"""Two runs, or two models of one, held against each other, with both answers in words; several runs side by side."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from itertools import chain, combinations
from threading import Lock
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from markupsafe import Markup

from dokimasia.algorithms.text.word_difference import DifferencePiece, word_difference
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.judgement import CheckpointScores
from dokimasia.domain.judgement import Response as CandidateResponse
from dokimasia.domain.sample import Sample
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
    turned,
)
from dokimasia.report.drawing import Charts
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import shown_name
from dokimasia.runs.reading.comparison import (
    ComparisonSide,
    CriterionApart,
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
from dokimasia.service.drawing import drawn, page
from dokimasia.service.filtering import changes_of, facets_of, groupings_of
from dokimasia.service.pages.samples import BEGINNING, called, link
from dokimasia.service.response_cache import keep
from dokimasia.service.sample_view import draw_sample, view_of
from dokimasia.service.state import IN_TURN, Reader, Service, TheService
from dokimasia.storage.excerpts import rows_of, samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.reading.browsing import counted
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run, get_run, list_runs, load_samples

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


class ComparedPair(NamedTuple):
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


def compared(home: Home, first: Run, second: Run, models: tuple[str, str] | None) -> RunComparison:
    """Return what `diff` computes of two runs; what was computed is kept until any run changes.

    Raises:
        InputError: they cannot be compared; the message is the command line's.
    """
    return _compared(home, first.id, second.id, models, state_of(home, first, second))


@lru_cache(maxsize=32)
def _compared(home: Home, first: str, second: str, models: tuple[str, str] | None, changes: Changes) -> RunComparison:
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
    return [shown_name(*model) for model in facets_of(home, run).models]


def models_compared(home: Home, run: Run) -> list[str]:
    """Return the models of a run of which two can be held against each other; none where there are not two."""
    found = models_of(home, run) if method_of(run).diff is None else []
    return found if len(found) > 1 else []


def both_sides(home: Home, pair: ComparedPair) -> tuple[ComparisonSide, ComparisonSide]:
    """Return the answers of both sides."""
    changes = state_of(home, pair.first, pair.second)
    one, other = (
        _sides(home, run.id, changes)[model] for run, model in zip((pair.first, pair.second), pair.models, strict=True)
    )
    return one, other


def listed(home: Home, pair: ComparedPair, kind: str) -> list[MatchedSample]:
    """Return the samples that both sides have, of one of `KINDS`, the largest differences first."""
    found = [one for one in matched(*both_sides(home, pair)) if _is(one, kind)]
    return sorted(found, key=lambda sample: (sample.gap is None, -abs(sample.gap or 0.0)))


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


def apart(home: Home, pair: ComparedPair) -> list[tuple[str, list[PartComparison]]]:
    """Return where two sides differ by category and by what other methods sort the samples of the first run into."""
    return _apart(home, pair.first.id, pair.second.id, pair.models, state_of(home, pair.first, pair.second))


@lru_cache(maxsize=32)
def _apart(
    home: Home, first: str, second: str, models: tuple[str, str], changes: Changes
) -> list[tuple[str, list[PartComparison]]]:
    pair = ComparedPair(get_run(home, first), get_run(home, second), models)
    sides, scale = both_sides(home, pair), method_of(pair.first).scale
    assert scale is not None
    unit = method_of(pair.first).shown
    categories = parts_of((sample.id, sample.category or "") for sample in load_samples(home, first))
    ways = [("category", categories)] if len(categories) > 1 else []
    for way in groupings_of(home, pair.first):
        parts = [
            SamplePart(group.title, group.depth, frozenset(sample for sample, _ in group.members), group.criteria)
            for group in way.groups.values()
        ]
        ways.append((way.called, parts))
    bounds = (scale[0] * unit, scale[1] * unit)
    found = [(called, compare_parts(*sides, parts, seed=pair.first.seed, scale=bounds)) for called, parts in ways]
    return [way for way in found if way[1]]


def criteria_listed(home: Home, pair: ComparedPair) -> list[tuple[CriterionApart, str]]:
    """Return the criteria that set two sides apart most, each with its question."""
    found = criteria_apart(*both_sides(home, pair), top=TOP) if method_of(pair.first).rubrics is None else []
    sets = find_values(home, CriteriaSet, [criterion.criteria for criterion in found])
    return [(criterion, sets[criterion.criteria].criteria[criterion.number - 1].question) for criterion in found]


class SideAnswer(NamedTuple):
    """One side's answer: the model, its score, verdict, failure, and its words, those that the other lacks marked."""

    model: str
    score: float | None
    verdict: str
    failure: str
    pieces: Sequence[DifferencePiece]


class Both(NamedTuple):
    """Two answers to one sample, and the criteria with both scores where these are the same on both sides."""

    first: SideAnswer
    second: SideAnswer
    criteria: Sequence[tuple[Criterion, int, int]]
    repeat: int


def answers_of(home: Home, pair: ComparedPair, sample: str, other: str, redact: Redact) -> list[Both]:
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


def _both(
    home: Home, pair: ComparedPair, rows: tuple[ResultRow | None, ResultRow | None], repeat: int, redact: Redact
) -> Both:
    texts = [redact(_text(home, row)) for row in rows]
    pieces: Sequence[DifferencePiece] = ()
    if all(texts) and sum(map(len, texts)) <= 2 * LONGEST:
        pieces = word_difference(*texts)
    sides = [
        SideAnswer(
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
    return find_values(home, CandidateResponse, [row.response_id])[row.response_id].text


def _criteria(home: Home, one: ResultRow | None, other: ResultRow | None) -> Iterator[tuple[Criterion, int, int]]:
    if one is None or other is None or not one.criteria_id or one.criteria_id != other.criteria_id:
        return
    ids = [row.judgement_id for row in (one, other) if row.judgement_id is not None]
    if len(ids) == 2:
        judged = find_values(home, CheckpointScores, ids)
        criteria = find_values(home, CriteriaSet, [one.criteria_id])[one.criteria_id].criteria
        yield from zip(criteria, judged[ids[0]].scores, judged[ids[1]].scores, strict=True)


def samples_shown(home: Home, pair: ComparedPair, found: Sequence[MatchedSample]) -> Mapping[str, Sample]:
    """Return the samples of a list by the name that the first run has for them."""
    return samples_of(home, pair.first.id, [sample.first for sample in found])


router = APIRouter()

PAGE = 25
"""Samples of a list."""

MOST = 12
"""Runs that are shown side by side."""

OFFERED = 100
"""Runs to choose from, the newest first."""

SHOWN = 10
"""Rows of a table of differences by category, capability or mode that stand above its fold."""

UNFOLDED = 16
"""Rows up to which such a table has no fold."""

AT_ONCE = 20_000
"""Results of both runs together up to which a page is made at once; of more its parts are loaded one after the other."""


class ComparisonQuery(NamedTuple):
    """What an address asks for: runs, and models where two are named."""

    runs: Sequence[Run]
    models: tuple[str, str] | None

    def query(self, **more: Any) -> str:
        """Return the end of a link that asks for the same, and more."""
        given = {"runs": ",".join(run.id for run in self.runs), "models": ",".join(self.models or ()), **more}
        return "?" + urlencode({name: value for name, value in given.items() if value not in ("", None)})


def _asked(service: Service, runs: Sequence[str], models: str) -> ComparisonQuery:
    """Return the runs and the models that an address names.

    Raises:
        NotFound: there is no such run.
        Refused: models are named that are not two, or more runs than can be shown.
    """
    names = [name.strip() for text in runs for name in text.split(",") if name.strip()]
    found = list({run.id: run for run in map(service.run, names)}.values())
    if len(found) > MOST:
        raise RequestRefused(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"runs: {len(found)} are named, and {MOST} are shown at most"
        )
    chosen = [name.strip() for name in models.split(",") if name.strip()]
    if len(chosen) not in (0, 2):
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "models takes two names: A,B")
    return ComparisonQuery(found, (chosen[0], chosen[1]) if chosen else None)


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
    """Return what sets two runs, or two models of one, apart; without any, what there is to choose from."""
    home, asked = service.home, _asked(service, runs, models or (f"{one},{other}" if one or other else ""))
    keep(request, *asked.runs)
    if show not in KINDS:
        raise RequestRefused(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"show: there is no {show!r}; there are {', '.join(KINDS)}"
        )
    shared: dict[str, Any] = {
        "asked": asked,
        "names": [called(home, run) for run in asked.runs],
        "offered": _offered(home),
        "fault": "",
        "chosen": {run.id for run in asked.runs},
    }
    if len(asked.runs) > 2:
        return _several(request, service, asked, shared)
    if not asked.runs:
        return page(request, "compare_choose.html", **shared, models=[])
    first, second = asked.runs[0], asked.runs[-1]
    own = models_compared(home, first) if first.id == second.id else []
    choice = _choice(home, first, second)
    if asked.models is None and (choice or first.id == second.id):
        if first.id != second.id:
            shared["fault"] = "No model is in both runs. Choose one of each to compare them."
        return page(request, "compare_choose.html", **shared, models=choice)
    try:
        later = not part and counted(home, [run.id for run in {first.id: first, second.id: second}.values()]) > AT_ONCE
        values = {} if later else _parts(service, asked, part or "all", show, number)
    except (InputError, NotFound) as error:
        shared["fault"] = service.redact(str(error))
        return page(request, "compare_choose.html", status=HTTPStatus.UNPROCESSABLE_ENTITY, **shared, models=choice)
    blank = {"figures": None, "pairs": [], "pair": None, "apart": None, "criteria": [], "rows": None}
    return page(
        request,
        "compare_part.html" if part else "compare.html",
        **shared,
        **{**blank, **values},
        later=later,
        show=show,
        kinds=kinds_of(asked.models if first.id == second.id else None),
        number=number,
        size=PAGE,
        own=own,
        minus=first.id == second.id,
        sides=asked.models if first.id == second.id and asked.models else ("first", "second"),
    )


@router.get("/compare/sample")
def both(
    request: Request, service: TheService, person: Reader, runs: Runs, sample: str, models: str = "", other: str = ""
) -> Response:
    """Return both answers to a sample beside each other, the words that one of them lacks marked."""
    home, asked = service.home, _asked(service, runs, models)
    if not asked.runs or asked.models is None:
        raise RequestRefused(
            HTTPStatus.UNPROCESSABLE_ENTITY, "name one run or two with runs, and two models with models"
        )
    pair = ComparedPair(asked.runs[0], asked.runs[-1], asked.models)
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
        asked=asked,
        part=request.headers.get("hx-request") == "true",
        sample=values[0],
        answers=answers,
        bodies=bodies,
        links=[link(run, name) for run, name in zip((pair.first, pair.second), names, strict=True)],
        models=asked.models,
        names=[called(home, run) for run in (pair.first, pair.second)],
        same=pair.first.id == pair.second.id,
        redact=service.redact,
    )


def _choice(home: Home, first: Run, second: Run) -> list[list[str]]:
    """Return the models to choose from on each side; nothing where the runs are compared without a choice, or cannot be."""
    if first.id == second.id:
        own = models_compared(home, first)
        return [own, own] if own else []
    if first.method != second.method or not _comparable(first):
        return []
    ours, theirs = models_of(home, first), models_of(home, second)
    return [ours, theirs] if ours and theirs and not set(ours) & set(theirs) else []


def _parts(service: Service, asked: ComparisonQuery, part: str, show: str, number: int) -> dict[str, Any]:
    """Return what the page, or the part of it that is asked for, shows."""
    home, first, second = service.home, asked.runs[0], asked.runs[-1]
    theirs = models_of(home, second)
    pairs = [asked.models] if asked.models else [(name, name) for name in models_of(home, first) if name in theirs]
    values: dict[str, Any] = {"pairs": pairs, "pair": None}
    if part in ("all", "figures"):
        found = compared(home, first, second, asked.models)
        values["figures"] = drawn(list(comparison_blocks(found, changed=found.scale is None)), Charts())
    if method_of(first).scale is None or not pairs:
        return values
    pair = ComparedPair(first, second, pairs[0])
    values["pair"] = pair.models
    if part in ("all", "apart"):
        values["apart"] = [_shown_first(name, rows, pair) for name, rows in apart(home, pair)]
        values["criteria"] = [
            {
                **criterion._asdict(),
                "question": service.redact(question),
                "link": _both_link(pair, criterion.sample, ""),
            }
            for criterion, question in criteria_listed(home, pair)
        ]
    if part in ("all", "samples"):
        every = listed(home, pair, show)
        here = every[(number - 1) * PAGE : number * PAGE]
        samples = samples_shown(home, pair, here)
        values |= {"total": len(every), "pages": max(1, -(-len(every) // PAGE))}
        values["rows"] = [
            {
                "id": service.redact(one.first),
                "other": "" if one.first == one.second else service.redact(one.second),
                "question": service.redact(" ".join(samples[one.first].prompt.split()))[:BEGINNING],
                "image": next((image.sha256 for image in samples[one.first].images), ""),
                "sides": [_side(one, at) for at in (0, 1)],
                "gap": -one.gap if pair.own and one.gap else one.gap,
                "link": _both_link(pair, one.first, one.second),
            }
            for one in here
        ]
    return values


def _shown_first(name: str, rows: Sequence[PartComparison], pair: ComparedPair) -> tuple[str, int, Markup, Markup]:
    """Return a table of the first rows, and how many the table of the others has, empty where all have room."""
    first, rest = (rows, []) if len(rows) <= UNFOLDED else (rows[:SHOWN], rows[SHOWN:])
    tables = [drawn([_table(name, part, pair), *_noted(part)] if part else [], Charts()) for part in (first, rest)]
    return name, len(rest), tables[0], tables[1]


def _side(one: Any, at: int) -> str:
    """Return what came of one side of a sample in a few signs."""
    score, right = one.scores[at], one.right[at]
    parts = [f"{score:.2f}"] if score is not None else []
    if right is not None:
        parts.append("✓" if right == 1 else "✗" if right == 0 else f"✓ {100 * right:.0f} %")
    return " ".join(parts) or one.failures[at].replace("_", " ") or "–"


def _both_link(pair: ComparedPair, sample: str, other: str) -> str:
    asked = ComparisonQuery([pair.first, pair.second] if pair.first.id != pair.second.id else [pair.first], pair.models)
    return f"/compare/sample{asked.query(sample=sample, other='' if other == sample else other)}"


def _table(called: str, rows: Sequence[PartComparison], pair: ComparedPair) -> Table:
    """Return the parts of one kind, those with the largest differences on top where none lies within another."""
    percent = rows[0].measure == "strict_accuracy"
    flat = not any(row.depth for row in rows)
    ordered = sorted(rows, key=_size) if flat else rows
    columns = [
        Column(called, numeric=False),
        Column("paired", meaning="samples with a value on both sides, of those that both have"),
        *map(Column, (*pair.sides, "difference", "95 % interval", "p")),
        Column("adjusted p", meaning="Benjamini and Hochberg, over all rows of this table"),
    ]
    drawn_rows: list[list[Cell]] = [
        [
            Span(f"{'– ' * one.depth}{one.title}", "strong" if not one.depth else ""),
            f"{one.n:,}" if one.n == one.n_shared else f"{one.n:,}/{one.n_shared:,}",
            *difference_cells(turned(one) if pair.own else one, percent),
            figures.p_value(one.adjusted),
        ]
        for one in ordered
    ]
    what = "Strict accuracy" if percent else "Scores"
    way = " minus ".join(pair.sides if pair.own else reversed(pair.sides))
    return Table(columns, drawn_rows, f"{what} by {called}, {way}")


def _size(part: PartComparison) -> float:
    """Return minus the size of a part's difference, so that large ones are sorted to the top."""
    return 0.0 if part.difference is None else -abs(part.difference.mean)


def _noted(rows: Sequence[PartComparison]) -> list[Paragraph]:
    return [Paragraph(said, "note") for said in interval_and_test(rows)]


def _offered(home: Home) -> list[tuple[Run, str]]:
    """Return the newest runs that can be compared, each with what it is called."""
    found = [run for run in list_runs(home) if _comparable(run)][:OFFERED]
    return [(run, called(home, run)) for run in found]


def _comparable(run: Run) -> bool:
    try:
        return method_of(run).diff is None
    except NotFound:
        return False


@lru_cache(maxsize=32)
def _figures(home: Home, run: str, changes: tuple[Any, ...]) -> dict[str, Any]:
    found = get_run(home, run)
    return method_of(found).json_figures(home, found)


def _several(request: Request, service: Service, asked: ComparisonQuery, shared: Mapping[str, Any]) -> Response:
    """Return the headline figures of several runs side by side, with a link for every two of one kind."""
    home = service.home
    found = [_figures(home, run.id, state_of(home, run)) for run in asked.runs]
    columns = [Column("model", numeric=False), Column("figure", numeric=False), *map(Column, shared["names"])]
    table = Table(columns, list(_headlines(asked.runs, found)), "Headline figures of the runs")
    links = [
        (
            f"{shared['names'][one]} and {shared['names'][other]}",
            ComparisonQuery([asked.runs[one], asked.runs[other]], None).query(),
        )
        for one, other in combinations(range(len(asked.runs)), 2)
        if asked.runs[one].method == asked.runs[other].method and _comparable(asked.runs[one])
    ]
    return page(
        request,
        "compare_several.html",
        **shared,
        titles=[method_of(run).title for run in asked.runs],
        judges=[service.redact(str(summary.get("judge") or "")) for summary in found],
        table=drawn([table], Charts()) if table.rows else None,
        links=links,
    )


def _headlines(runs: Sequence[Run], found: Sequence[Mapping[str, Any]]) -> Iterator[list[Cell]]:
    """Yield a row for each model and figure that any of the runs has, figures on one scale in one row."""
    methods = [method_of(run) for run in runs]
    per_run = [one["models"] if method.measures else {} for method, one in zip(methods, found, strict=True)]
    own = [{method.measure_called(name): path for name, path in method.measures.items()} for method in methods]
    measures = {measure: [one.get(measure, ()) for one in own] for measure in dict.fromkeys(chain.from_iterable(own))}
    for model in sorted({name for models in per_run for name in models}):
        for measure, paths in measures.items():
            cells = [_headline(models.get(model, {}), path) for models, path in zip(per_run, paths, strict=True)]
            if any(cell != figures.NOTHING for cell in cells):
                yield [Span(model, "strong"), ", ".join(filter(None, measure)), *cells]


def _headline(model: Mapping[str, Any], path: Sequence[str]) -> Cell:
    """Return a figure that a method is measured by, with its interval."""
    value: Any = model.get(path[0]) if path else None
    if not isinstance(value, Mapping):
        return figures.NOTHING
    return figures.strict_of(value) if "share" in value else figures.measured(value, ends=2)
