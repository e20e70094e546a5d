"""Pages of a run's samples: a filtered list, single samples with corrections, their calls, and thumbnails."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Annotated, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import JsonValue

from dokimasia.domain.criterion import Criterion
from dokimasia.domain.judgement import FinalAnswer
from dokimasia.errors import InputError, NotFound, StorageError
from dokimasia.operations.operation import RequestRefused
from dokimasia.operations.results import SearchSent, search
from dokimasia.report.drawing import HEAT_STEPS
from dokimasia.report.sample_view import AnswerView, SampleView
from dokimasia.report.thumbnails import thumbnail
from dokimasia.report.verdicts import NOT_STATED, addressed_scores
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import shown_name
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.reading.inspection import calls_of_sample
from dokimasia.runs.reading.reporting import redact_texts
from dokimasia.service.drawing import page
from dokimasia.service.filtering import (
    BY_HAND,
    LEFT_OUT,
    Filter,
    FilterableRun,
    bound_faults,
    choices,
    default_models,
    failure_label,
    filter_of,
    filterable_run,
)
from dokimasia.service.problems import status_of
from dokimasia.service.request_parsing import validate_json
from dokimasia.service.response_cache import keep
from dokimasia.service.routing import Starting
from dokimasia.service.sample_view import draw_sample, view_of
from dokimasia.service.state import Reader, Service, TheService, person_of
from dokimasia.storage.excerpts import rows_of, samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.comments import comments_on, views_of
from dokimasia.storage.people.corrections import correction_events
from dokimasia.storage.reading.browsing import Around, Order, SamplePage, find_samples, sample_around
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run, get_run


def correcting(
    service: Service, run: Run, sample_id: str, view: Mapping[str, JsonValue], rows: Sequence[ResultRow], part: int = 1
) -> dict[str, object]:
    """Return the values of a sample's page about corrections; no answers if the run cannot be corrected.

    Only the answers of one part are returned, as by `answers_of_part`.
    """
    if run.method != "evaluate" or "answers" not in view:
        return {"answers": [], "history": [], "seen_left_out": 0, "left_out": None, "marks": []}
    events = [event for event in correction_events(service.home, run.id) if event.sample == sample_id]
    correction_counts = {item: sum(event.item == item for event in events) for item in {event.item for event in events}}
    whole_view = SampleView.model_validate(redact_texts(view, service.redact))
    items = [row.item for row in rows if row.kind == "score"]
    all_by_item = dict(zip(items, whole_view.answers, strict=True))
    models = {item: answer.model for item, answer in all_by_item.items()}
    by_item = {item: answer for item, answer in all_by_item.items() if part_of(answer.repeat) == part}
    standing = [answer for answer in whole_view.answers if answer.corrected and answer.corrected.stands]
    deciders = _deciders(service.home, [*by_item.values()])
    return {
        "answers": [
            _answer(answer, whole_view.criteria, correction_counts.get(item, 0)) | {"decided_by": decided_by}
            for (item, answer), decided_by in zip(by_item.items(), deciders, strict=True)
        ],
        "history": redact_texts(
            [{**event.shown(), "whose": models.get(event.item, "") or event.item} for event in events], service.redact
        ),
        "seen_left_out": correction_counts.get("", 0),
        "left_out": whole_view.left_out,
        "marks": [*(["left out"] if whole_view.left_out else []), *(["corrected"] if standing else [])],
    }


def part_of(repeat: int) -> int:
    """Return the part of a sample's page, from 1, with the answers of a repeat."""
    return repeat // REPEATS + 1


def answers_of_part(view: Mapping[str, JsonValue], part: int) -> tuple[Mapping[str, JsonValue], int]:
    """Return a sample with the answers of one part of its page, at most `REPEATS` a model, and the number of repeats."""
    answers = view.get("answers")
    if not isinstance(answers, list):
        return view, 1
    repeats = [AnswerView.model_validate(answer).repeat for answer in answers]
    shown = [answer for answer, repeat in zip(answers, repeats, strict=True) if part_of(repeat) == part]
    return {**view, "answers": shown}, 1 + max(repeats, default=0)


def _deciders(home: Home, answers: Sequence[AnswerView]) -> list[str]:
    """Return who decided each final answer before people did: a rule or the judge."""
    ids = [answer.corrected and answer.corrected.as_judged.get("final_id") for answer in answers]
    finals = find_values(home, FinalAnswer, [id for id in ids if isinstance(id, str)])
    deciders: list[str] = []
    for answer, id in zip(answers, ids, strict=True):
        final = finals[id] if isinstance(id, str) else answer.final
        by_judge = final is None or final.rule in ("judge", "person")
        deciders.append("the judge" if by_judge else "the rule")
    return deciders


def correction_anchor(model: str, repeat: int) -> str:
    """Return the id of the part of a sample's page in which a model's answer is corrected."""
    return f"correct-{model}-{repeat}"


def _answer(answer: AnswerView, criteria: Sequence[Criterion], seen: int) -> dict[str, object]:
    """Return an answer with the judge's and the current score of each criterion, and the choices."""
    current_scores = addressed_scores(answer) if answer.score is not None else []
    changes = {point.what: point.before for point in answer.corrected.changes} if answer.corrected else {}
    may_be_unstated = bool(answer.judgement and answer.judgement.stated)
    points = [
        {
            "number": number,
            "question": criterion.question,
            "truth": criterion.ground_truth,
            "now": _score_in_words(score or 0),
            "judged": _score_in_words(changes[f"criterion {number}"]) if f"criterion {number}" in changes else "",
        }
        for number, (criterion, score) in enumerate(zip(criteria, current_scores, strict=False), 1)
    ]
    return {
        "anchor": correction_anchor(answer.model, answer.repeat),
        "model": answer.model,
        "repeat": answer.repeat,
        "score": answer.score,
        "verdict": answer.verdict,
        "failure": answer.failure,
        "points": points if current_scores else [],
        "scores": [("0", NOT_STATED)] * may_be_unstated + [(str(score), str(score)) for score in range(1, 6)],
        "judged": changes.get("answer", ""),
        "corrected": answer.corrected,
        "seen": seen,
    }


def _score_in_words(score: str | int | None) -> str:
    return str(score) if score else NOT_STATED


router = APIRouter()

PAGE = 50
"""Samples on a page of the list."""

MANY = 8
"""The number of answers beyond which the page of a sample has a filter for them."""

REPEATS = 50
"""The number of a model's answers on the page of a sample; further ones are on further parts."""

SIDE = 240
"""The longest side of a thumbnail, in pixels."""

BEGINNING = 160
"""Maximum number of characters of a question in the list."""

MARKED = {LEFT_OUT: "left out", BY_HAND: "corrected"}
"""Marks of samples that people corrected, in the list."""

SAVED = {
    "correct": "The correction is saved; the figures count it.",
    "undo": "Saved: the correction is taken back.",
    "leave_out": "Saved: the sample is left out of all figures.",
    "keep": "Saved: the sample counts again.",
}
"""The notice at the top of a sample's page after a correction, by the action of the form."""

NOTHING_GIVEN = {"model": None, "repeat": 0, "answer": "", "criteria": (), "reason": ""}
"""The initial values of a form for corrections."""

FOREVER = {"cache-control": "private, max-age=31536000, immutable"}
"""Headers of content named by its hash, which never changes."""


class SampleCell(NamedTuple):
    """The outcome of one model's answers to a sample: text, tint (None: no tint), tone, and explanation."""

    text: str
    heat: int | None = None
    tone: str = ""
    about: str = ""


class SampleColumn(NamedTuple):
    """A column of the list: its heading, the query string that sorts by it, and its present order (empty: none)."""

    name: str
    link: str
    way: str


class ListedSample(NamedTuple):
    """A sample of the list; `failures` are kinds with the number of failed items."""

    place: int
    id: str
    link: str
    by_hand: str
    question: str
    category: str
    image: str
    images: int
    cells: Sequence[SampleCell]
    failures: Sequence[str]
    comments: int
    similarity: float | None


@router.get("/runs/{run_id}/samples")
def samples(
    request: Request,
    service: TheService,
    person: Reader,
    run_id: str,
    number: Annotated[int, Query(alias="page", ge=1, le=1_000_000)] = 1,
) -> Response:
    """Return the filtered list of a run's samples; a score bound that is not a number filters nothing and is reported.

    htmx does not show responses with an error status, so the reason is part of the page.
    """
    home, run = service.home, service.run(run_id)
    filterable = filterable_run(home, run, service.settings)
    faults = bound_faults(request.query_params)
    status = HTTPStatus.OK
    if any(faults) and not request.headers.get("hx-request"):
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    readable = {name: value for name, value in request.query_params.items() if name not in faults}
    filter = filter_of(readable, filterable, show=request.query_params.getlist("show"))
    if filter.search is None:  # the ledger, from which others are answered, grows without a change of the home
        keep(request, run)
    listed_page = find_samples(
        home, run.id, filterable.kind, filter.sample_query, limit=PAGE, offset=(number - 1) * PAGE
    )
    if not listed_page.total and not filter.values and not filter.shown:
        raise NotFound(f"{filterable.method.title} has no samples to show: dokimasia show {run.id} shows it whole")
    names, rows = _table(service, run, filterable, filter, listed_page)
    models = [shown_name(*model) for model in filterable.facets.models]
    return page(
        request,
        "samples.html",
        status=status,
        faults=faults,
        typed={name: request.query_params.get(name, "") for name in ("low", "high")},
        run=run,
        called=name_of(home, run),
        title=filterable.method.title,
        choices=choices(filterable),
        asked=filter,
        by=filterable,
        name_column=_column("sample", filter, "name", "name-down"),
        columns=[
            _column(name, filter, "low", "high", by=name) if name else SampleColumn("items", "", "") for name in names
        ],
        failure_column=_column("failures", filter, "most-failures", "fewest-failures", first="descending"),
        models=models,
        shown=[name for name in names if name],
        default_models=default_models(filterable),
        views=views_of(home, run.id),
        person_name=person.name,
        may_delete_all=person.self_named,
        by_meaning=bool(service.settings.embedding),
        rows=rows,
        size=PAGE,
        found=listed_page,
        number=number,
        pages=max(1, -(-listed_page.total // PAGE)),
    )


@router.post("/runs/{run_id}/samples/meaning")
async def search_by_meaning(context: Starting, run_id: str) -> Response:
    """Embed the texts needed by the semantic search in the address, and show its results."""
    parameters = context.request.query_params
    sent = {"text": parameters.get("meaning", ""), "answers": bool(parameters.get("answers"))}
    await search(context, run_id, validate_json(SearchSent, sent))
    return RedirectResponse(f"/runs/{context.run(run_id).id}/samples?{context.request.url.query}", 303)


@router.get("/runs/{run_id}/samples/{sample_id:path}")
def sample(
    request: Request,
    service: TheService,
    person: Reader,
    run_id: str,
    sample_id: str,
    part: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Response:
    """Return the page of one sample, or a further part of it, with links to its neighbours in the filtered list."""
    return one_sample(request, service, service.run(run_id), sample_id, part=part)


def one_sample(
    request: Request,
    service: Service,
    run: Run,
    sample_id: str,
    *,
    part: int = 1,
    fault: InputError | None = None,
    given: Mapping[str, object] = NOTHING_GIVEN,
) -> Response:
    """Return a part of the page of a sample, after a refused correction with the reason and the form's values."""
    home = service.home
    filterable = filterable_run(home, run, service.settings)
    filter = filter_of(request.query_params, filterable, show=request.query_params.getlist("show"))
    if filter.search is None:
        keep(request, run)
    view = view_of(home, run, sample_id, person_of(request).name)
    value = samples_of(home, run.id, [sample_id])[sample_id]
    rows = rows_of(home, run.id, [sample_id]).get(sample_id, [])
    around = sample_around(home, run.id, filterable.kind, filter.sample_query, sample_id)
    neighbours = around or _around_place(home, run, filterable, filter, request.query_params.get("at", ""))
    shown_view, repeats = answers_of_part(view, part)
    pages = 1 if neighbours is None else max(1, -(-neighbours.place // PAGE))
    return page(
        request,
        "sample.html",
        correcting(service, run, sample_id, view, rows, part),
        status=HTTPStatus.OK if fault is None else status_of(fault),
        fault="" if fault is None else service.redact(str(fault)),
        given=given,
        saved=SAVED.get(request.query_params.get("saved", ""), ""),
        run=run,
        called=name_of(home, run),
        title=filterable.method.title,
        id=service.redact(value.id),
        sample_name=value.id,
        category=service.redact(value.category or ""),
        asked=filter,
        around=around,
        beside=neighbours,
        up=filter.query(page=pages) if pages > 1 else filter.query(),
        before=sample_link(run, neighbours.before, filter) if neighbours and neighbours.before is not None else "",
        after=sample_link(run, neighbours.after, filter) if neighbours and neighbours.after is not None else "",
        failures=sorted({failure_label(row.failure) for row in rows if row.failure}),
        body=draw_sample(service, run, value, shown_view),
        part=part,
        parts=[
            (
                f"{first + 1:,}–{min(first + REPEATS, repeats):,}",
                sample_link(run, sample_id, filter, part=part_of(first)),
            )
            for first in range(0, repeats, REPEATS)
        ],
        images=[image.sha256 for image in value.images],
        done=bool(rows),
        absence=absence_of(run),
        calls=len({key for row in rows for key in row.calls}),
        calls_link=f"/runs/{run.id}/calls/{quote(sample_id, safe='')}",
        comments=redact_texts([comment._asdict() for comment in comments_on(home, run.id, value.id)], service.redact),
        person_name=person_of(request).name,
        may_delete_all=person_of(request).self_named,
        models=len({(row.model, row.arm) for row in rows if row.model}),
        many=MANY,
    )


def _around_place(home: Home, run: Run, filterable: FilterableRun, filter: Filter, at: str) -> Around | None:
    """Return the neighbours of a sample at its former place in the filtered list, from which a
    correction removed it.
    """
    if not (at.isascii() and at.isdigit() and 0 < len(at) < 10 and int(at)):
        return None
    place = int(at)
    listed_samples = find_samples(home, run.id, filterable.kind, filter.sample_query, limit=2, offset=max(0, place - 2))
    ids = dict(listed_samples.samples)
    return Around(place, listed_samples.total, ids.get(place - 1), ids.get(place))


@router.get("/runs/{run_id}/calls/{sample_id:path}")
def calls(request: Request, service: TheService, person: Reader, run_id: str, sample_id: str) -> Response:
    """Return all calls of a sample as sent and answered; for htmx, only a part of a page."""
    home, run = service.home, service.run(run_id)
    if sample_id not in samples_of(home, run.id, [sample_id]):
        raise NotFound(f"run {run.id} has no sample {sample_id!r}")
    return page(
        request,
        "calls.html",
        run=run,
        id=service.redact(sample_id),
        link=sample_link(run, sample_id),
        calls=redact_texts(calls_of_sample(home, run, sample_id), service.redact),
        part=request.headers.get("hx-request") == "true",
    )


@router.get("/thumbnails/{sha256}")
def small_copy(service: TheService, person: Reader, sha256: Annotated[str, Path(pattern="^[0-9a-f]{64}$")]) -> Response:
    """Return a thumbnail of an image of the home."""
    try:
        return Response(_thumbnail(service.home, sha256), media_type="image/webp", headers=FOREVER)
    except (StorageError, ValueError) as error:
        raise RequestRefused(HTTPStatus.NOT_FOUND, f"image {sha256} cannot be shown: {error}") from error


@lru_cache(maxsize=1024)
def _thumbnail(home: Home, sha256: str) -> bytes:
    return thumbnail(home.blobs.get(sha256), SIDE)


def sample_link(
    run: Run, sample_id: str, filter: Filter | None = None, *, at: str = "", saved: str = "", part: int = 1
) -> str:
    """Return the address of a part of a sample's page.

    It also contains the filter that found the sample, its place in that list, and what is `SAVED`.
    """
    changes = {"at": at, "saved": saved, "part": part if part > 1 else ""}
    return f"/runs/{run.id}/samples/{quote(sample_id, safe='')}{filter.query(**changes) if filter else ''}"


def run_label(names: Mapping[str, Label], run: Run) -> str:
    """Return the label of a run: its name, or its data, its method and the beginning of its id.

    Args:
        names: `labels` of the home.
        run: the run.
    """
    about = f"{run.method} {run.id[:8]}"
    name = names.get(run.id, Label()).name
    return name or (f"{data_label(names, run)} ({about})" if run.data_name else about)


def name_of(home: Home, run: Run) -> str:
    """Return the label of one run of a home."""
    return run_label(labels(home), run)


def with_run_names(home: Home, text: str) -> str:
    """Return a sentence with the ids of runs replaced by their labels, in quotation marks."""

    def name(match: re.Match[str]) -> str:
        try:
            return f"“{name_of(home, get_run(home, match[0]))}”"
        except NotFound:
            return match[0]

    return _RUN_ID.sub(name, text)


_RUN_ID = re.compile(r"(?<=\brun )[0-9a-f]{16}\b|(?<=\bruns )[0-9a-f]{16}\b|(?<= and )[0-9a-f]{16}\b")


def data_label(names: Mapping[str, Label], run: Run) -> str:
    """Return the name of a run's data: its file, or the name of the run it continues from."""
    return names.get(run.data_name, Label()).name or run.data_name


def _table(
    service: Service, run: Run, filterable: FilterableRun, filter: Filter, sample_page: SamplePage
) -> tuple[Sequence[str], Sequence[ListedSample]]:
    """Return the columns, one for each model, and a row for each sample."""
    ids = [id for _, id in sample_page.samples]
    values, results = samples_of(service.home, run.id, ids), rows_of(service.home, run.id, ids)
    rows_by_sample = {id: _by_model(results.get(id, ()), filterable.kind) for id in ids}
    models = {name for by_model in rows_by_sample.values() for name in by_model}
    columns = list(filter.shown or default_models(filterable))
    if "model" in filter.values:
        columns = [filter.values["model"]]
    elif (sorted_by := filter.values.get("by")) and sorted_by not in columns:
        columns.insert(0, sorted_by)
    if "" in models or not columns:
        columns.append("")
    rows: list[ListedSample] = []
    for place, id in sample_page.samples:
        sample, own_rows = values[id], rows_by_sample[id]
        question = " ".join(service.redact(sample.prompt).split())
        rows.append(
            ListedSample(
                place=place,
                id=service.redact(id),
                link=sample_link(run, id, filter),
                by_hand=next((mark for name, mark in MARKED.items() if id in filterable.corrected.get(name, ())), ""),
                question=question if len(question) <= BEGINNING else f"{question[: BEGINNING - 1]}…",
                category=service.redact(sample.category or ""),
                image=sample.images[0].sha256 if sample.images else "",
                images=len(sample.images),
                cells=[_cell(own_rows.get(name, ()), filterable.method, absence_of(run)) for name in columns],
                failures=_failure_counts(results.get(id, ())),
                comments=filterable.commented.get(id, 0),
                similarity=(filter.sample_query.similarities or {}).get(id),
            )
        )
    return columns, rows


def _column(
    name: str, filter: Filter, up: Order, down: Order, *, by: str = "", first: str = "ascending"
) -> SampleColumn:
    """Return a column that is sorted first in the order `up`, which is `first`, and then in the order `down`."""
    ways: dict[Order, str] = {up: first, down: "descending" if first == "ascending" else "ascending"}
    way = next((way for order, way in ways.items() if filter.is_order(order, by)), "")
    return SampleColumn(name, filter.order_query(up, down, by), way)


def _failure_counts(rows: Sequence[ResultRow]) -> list[str]:
    """Return the kinds of failure of a sample, each with the number of failed items if there are several."""
    counts = Counter(row.failure for row in rows if row.failure)
    return [
        f"{count:,} × {failure_label(kind)}" if count > 1 else failure_label(kind)
        for kind, count in sorted(counts.items())
    ]


def _by_model(rows: Sequence[ResultRow], kind: str) -> dict[str, list[ResultRow]]:
    by_model: dict[str, list[ResultRow]] = {}
    for row in rows:
        if row.kind == kind:
            by_model.setdefault(shown_name(row.model, row.arm), []).append(row)
    return by_model


RIGHTS: Mapping[frozenset[str], tuple[str, str]] = {
    frozenset(): ("", ""),
    frozenset({"right"}): ("✓", "good"),
    frozenset({"wrong"}): ("✗", "bad"),
    frozenset({"right", "wrong"}): ("±", ""),
}
"""The sign and the tone of a cell, by the verdicts on its answers."""


def absence_of(run: Run) -> str:
    """Return what a model's missing result means: not yet made, or what the method says of a finished run."""
    missing = method_of(run).results.missing if run.status == "done" else ""
    return missing or "nothing yet"


def _cell(rows: Sequence[ResultRow], method: AnyMethod, absence: str) -> SampleCell:
    """Return the outcome of a model's answers to a sample: mean score, verdict, failures, their number or absence."""
    if not rows:
        return SampleCell("–", tone="muted", about=absence)
    failures = sorted({failure_label(row.failure) for row in rows if row.failure})
    scores = [row.score for row in rows if row.score is not None]
    verdicts = [row.verdict for row in rows if row.verdict in ("right", "wrong")]
    about = "; ".join([*dict.fromkeys(verdicts), *failures])
    right, tone = RIGHTS[frozenset(verdicts)]
    scale, factor = method.scores.scale, method.scores.factor
    if scores and scale is not None:
        lowest, highest = scale
        mean = sum(scores) / len(scores)
        heat = round(HEAT_STEPS * (mean - lowest) / (highest - lowest))
        digits = 2 if (highest - lowest) * factor <= 10 else 1
        return SampleCell(f"{mean * factor:.{digits}f} {right}".strip(), heat, about=about)
    if right:
        return SampleCell(right, tone=tone, about=about)
    if len(failures) == len(rows) or all(row.failure for row in rows):
        return SampleCell(", ".join(failures), tone="bad", about=about)
    made_count = sum(not row.failure for row in rows)
    return SampleCell(f"{made_count:,} made" if made_count > 1 or not scale else "made", about=about)
