"""What came of a run: its items, its samples with every call as it was sent, its report, its rows for other programs."""

import asyncio
import io
import zipfile
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Literal, cast, get_args

from fastapi import Query, Request, Response
from pydantic import BaseModel
from rich.console import Console

from dokimasia.errors import InputError
from dokimasia.methods.checks import without_others
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.reading.exporting import Format, encode, export_rows
from dokimasia.runs.reading.inspection import items_of_run, sample_of_run
from dokimasia.runs.reading.reporting import SAMPLES, render, report_data, run_data
from dokimasia.service.filtering import filter_of, sorted_by
from dokimasia.service.guarding.answers import keep
from dokimasia.service.problems import Refused
from dokimasia.service.routes.answering import (
    After,
    Limit,
    Listed,
    counted_page,
    file_answer,
    file_reply,
    json_router,
)
from dokimasia.service.state import IN_TURN, Reader, Service, TheService
from dokimasia.storage.reading.browsing import ANY, Order, find_samples, sample_around
from dokimasia.storage.results import counts_by_sample
from dokimasia.storage.runs import Run

router = json_router("results")

PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
)
"""A report brings its own scripts, by their hashes in its own policy; here it is kept from the service and its cookies."""

MEDIA_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
ZIP, ZIP_DATE = "application/zip", (1980, 1, 1, 0, 0, 0)
HTML, MARKDOWN, PLAIN = "text/html", "text/markdown", "text/plain"


class Items(Listed):
    """A page of a run's items, each as the method of the run shows it."""

    items: list[dict[str, Any]]


class SampleShown(BaseModel):
    """A sample of a run: its name, how many results it has, how many of these failed, and how many items wait for people."""

    sample: str
    results: int
    failed: int
    waiting: int


class Samples(Listed):
    """A page of a run's samples, in the order that was asked for."""

    samples: list[SampleShown]


@router.get("/runs/{run}/items")
def items(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    sample: Annotated[str | None, Query(max_length=4000, description="Only this sample's.")] = None,
    limit: Limit = 50,
    after: After = None,
) -> Items:
    """List the items of a run that have a result, in the order of its data."""
    found = service.run(run)
    keep(request, found)
    every = list(items_of_run(service.home, found, sample))
    shown, later = counted_page(every, limit=limit, after=after)
    known = without_others(service.home, found, {"items": list(shown)}, person.name)
    return Items(total=len(every), next=later, items=known["items"])


Word = Annotated[str, Query(max_length=500)]


@router.get("/runs/{run}/samples")
def samples(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    failed: Annotated[bool, Query(description="Only samples of which something failed.")] = False,
    q: Annotated[
        Word, Query(description="Only those with all these words in the name, category, question or reference.")
    ] = "",
    answers: Annotated[bool, Query(description="The words of `q` stand in an answer instead.")] = False,
    model: Annotated[
        Word, Query(description="Scores, failures, verdicts and groups are those of this model alone.")
    ] = "",
    answer: Annotated[Word, Query(description="Only those with such a final answer, as `right` or `wrong`.")] = "",
    failure: Annotated[Word, Query(description="Only those with a failure of this kind; `any`: of every kind.")] = "",
    category: Annotated[Word, Query(description="Only those of this category.")] = "",
    low: Annotated[Word, Query(description="Only those whose mean score is at least this number.")] = "",
    high: Annotated[Word, Query(description="Only those whose mean score is at most this number.")] = "",
    order: Annotated[
        Order, Query(description="As in the data; lowest or highest score first; farthest apart first.")
    ] = "data",
    limit: Limit = 50,
    after: After = None,
) -> Samples:
    """List the samples of a run that are asked for, with how many results each has.

    The filters are those of the page `/runs/RUN/samples`, and hold together. Its groups can be asked for, too: `group-METHOD=ID`,
    such as `group-tree` with the id of a node of the capability tree.
    """
    home, found = service.home, service.run(run)
    keep(request, found)
    by = sorted_by(home, found)
    given = {name: value for name, value in request.query_params.items() if name != "answers" or answers}
    wanted = filter_of({**given, **({"failure": failure or ANY} if failed else {})}, by).wanted
    offset = 0
    if after is not None:
        before = sample_around(home, found.id, by.kind, wanted, after)
        if before is None:
            raise InputError(f"after: the list has no entry {after[:80]!r} (any more): begin again without `after`")
        offset = before.place
    listed = find_samples(home, found.id, by.kind, wanted, limit=limit, offset=offset)
    counts = counts_by_sample(home, found.id, [id for _, id in listed.samples])
    shown = [
        SampleShown(sample=id, results=results, failed=lost, waiting=waiting)
        for _, id in listed.samples
        for results, lost, waiting in (counts.get(id, (0, 0, 0)),)
    ]
    later = shown[-1].sample if shown and offset + len(shown) < listed.total else None
    return Samples(total=listed.total, next=later, samples=shown)


@router.get("/runs/{run}/samples/{sample:path}")
def one_sample(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    sample: str,
    raw: Annotated[bool, Query(description="Also every request and reply as it was sent.")] = False,
) -> dict[str, Any]:
    """Show a sample whole; `dokimasia show RUN --sample ID --json` prints the same."""
    found = service.run(run)
    keep(request, found)
    view = asyncio.run(sample_of_run(service.home, found, sample, raw=raw))
    return without_others(service.home, found, view, person.name)


@router.get(
    "/runs/{run}/report",
    response_class=Response,
    responses=file_reply(HTML, MARKDOWN, PLAIN, description="the report"),
    dependencies=[IN_TURN],
)
def report(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    format: Literal["html", "md", "terminal"] = "html",
    samples: Annotated[int, Query(ge=0, le=10_000, description="Show so many samples, failures first.")] = SAMPLES,
    width: Annotated[int, Query(ge=40, le=500, description="Of a terminal, in characters.")] = 120,
    colour: Annotated[bool, Query(description="Of a terminal.")] = False,
) -> Response:
    """Return a run's report: one page that needs no network, Markdown, or what `dokimasia show RUN` prints."""
    found = service.run(run)
    keep(request, found)
    if format == "terminal":
        return Response(_printed(service, found, width=width, colour=colour), media_type=PLAIN)
    data = asyncio.run(report_data(service.home, found, samples=samples, redact=service.redact))
    counted = {"dokimasia-shown": str(data.selection.shown), "dokimasia-samples": str(data.selection.total)}
    body = render(data, format)
    if format == "md":
        return Response(body, media_type=MARKDOWN, headers=counted)
    return Response(body, media_type=HTML, headers={"content-security-policy": PAGE_POLICY, **counted})


@router.get(
    "/runs/{run}/export",
    response_class=Response,
    dependencies=[IN_TURN],
    responses=file_reply(*MEDIA_TYPES.values(), ZIP, description="the rows, or for another form a ZIP of its files"),
)
def export(
    service: TheService,
    person: Reader,
    run: str,
    format: Annotated[
        str, Query(max_length=100, description="jsonl, csv, parquet, or a form of the method, such as vlmevalkit.")
    ] = "jsonl",
) -> Response:
    """Return one row an item, as `dokimasia export` writes them; or the files of another program's form."""
    found = service.run(run)
    if format in get_args(Format):
        rows = asyncio.run(export_rows(service.home, found))
        counted = {"dokimasia-rows": str(len(rows.rows))}
        data = encode(rows, cast("Format", format))
        return file_answer(data, MEDIA_TYPES[format], f"{found.id}.{format}", headers=counted)
    forms = method_of(found).forms
    if format not in forms:
        known = ", ".join((*get_args(Format), *forms))
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"format: run {found.id} is exported as one of {known}")
    return file_answer(zipped(forms[format](service.home, found)), ZIP, f"{found.id}-{format}.zip")


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return files as a ZIP archive; the same files, the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, ZIP_DATE), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _printed(service: Service, run: Run, *, width: int, colour: bool) -> str:
    """Return what a terminal of a width shows of a run."""
    from dokimasia.report.console import PrintableConsole
    from dokimasia.report.terminal import draw_run

    out = io.StringIO()
    console: Console = PrintableConsole(
        file=out,
        width=width,
        highlight=False,
        soft_wrap=False,
        force_terminal=colour,
        color_system="standard" if colour else None,
    )
    draw_run(console, run_data(service.home, run), redact=service.redact)
    return out.getvalue()
