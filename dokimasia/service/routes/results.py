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

from dokimasia.runs.reading.export_formats import Format, encode
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.runs.reading.inspection import items_of_run, sample_of_run
from dokimasia.runs.reading.reporting import SAMPLES, render, report_data, run_data
from dokimasia.runs.registry import method_of
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
    page_of,
)
from dokimasia.service.state import Reader, Service, TheService
from dokimasia.storage.results import counts_by_sample
from dokimasia.storage.runs import Run, run_samples

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
    """A sample of a run: its name, how many results it has, and how many of these failed."""

    sample: str
    results: int
    failed: int


class Samples(Listed):
    """A page of a run's samples, in the order of the data."""

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
    return Items(total=len(every), next=later, items=list(shown))


@router.get("/runs/{run}/samples")
def samples(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    failed: Annotated[bool, Query(description="Only samples of which something failed.")] = False,
    limit: Limit = 50,
    after: After = None,
) -> Samples:
    """List the samples of a run in the order of its data, with how many results each has."""
    found = service.run(run)
    keep(request, found)
    every = [place.sample_id for place in run_samples(service.home, found.id)]
    if failed:
        lost = {sample for sample, (_, count) in counts_by_sample(service.home, found.id).items() if count}
        every = [sample for sample in every if sample in lost]
    shown, later = page_of(every, str, limit=limit, after=after)
    counts = counts_by_sample(service.home, found.id, shown)
    rows = ((one, *counts.get(one, (0, 0))) for one in shown)
    return Samples(
        total=len(every),
        next=later,
        samples=[SampleShown(sample=one, results=results, failed=lost) for one, results, lost in rows],
    )


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
    return asyncio.run(sample_of_run(service.home, found, sample, raw=raw))


@router.get(
    "/runs/{run}/report", response_class=Response, responses=file_reply(HTML, MARKDOWN, PLAIN, description="the report")
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
