"""Operations on the results of a run: its items, a sample with all calls, its report, and its rows for other programs."""

import asyncio
import io
import tempfile
import zipfile
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from typing import Annotated, Literal, cast, get_args

from pydantic import BaseModel, Field, StringConstraints

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import NotFound
from dokimasia.gateway.budget import Budget
from dokimasia.operations.operation import (
    MOST,
    After,
    Body,
    FileReply,
    Limit,
    ListPage,
    OperationContext,
    Parameter,
    RequestRefused,
    counted_page,
    operation,
)
from dokimasia.people.checks import without_others
from dokimasia.report.wrong import WrongAnswers
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.reading.exporting import SUFFIXES, Format, file_stem, form_of, write_export
from dokimasia.runs.reading.inspection import items_of_run, sample_of_run
from dokimasia.runs.reading.reporting import SAMPLES, render, report_data, run_data
from dokimasia.runs.reading.workbook import MEDIA as WORKBOOK
from dokimasia.runs.reading.wrong import LISTED, wrong_answers
from dokimasia.storage.runs import Run

PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
)
"""The content security policy of a report, which runs its own scripts, by their hashes, without access to the service
and its cookies.
"""

MEDIA_TYPES = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv",
    "excel": "text/csv",
    "xlsx": WORKBOOK,
    "parquet": "application/vnd.apache.parquet",
}
IN_MEMORY = 8 * 2**20
"""The size in bytes above which an export is written to a temporary file."""

ZIP, ZIP_DATE = "application/zip", (1980, 1, 1, 0, 0, 0)
HTML, MARKDOWN, PLAIN = "text/html", "text/markdown", "text/plain"


class Items(ListPage):
    """A page of a run's items, each in the form of the run's method."""

    items: list[JsonObject]


@operation("GET", "/runs/{run}/items", tag="results")
def items(
    context: OperationContext,
    run: str,
    sample: Annotated[str | None, Parameter(max_length=4000, description="Only this sample's.")] = None,
    limit: Limit = 50,
    after: After = None,
) -> Items:
    """List the items of a run that have a result, in the order of its data."""
    row = context.run(run)
    context.cache(row)
    all_items = list(items_of_run(context.home, row, sample))
    entries, next_key = counted_page(all_items, limit=limit, after=after)
    visible = _for_person(context, row, {"items": list(entries)})
    return Items(total=len(all_items), next=next_key, items=visible["items"])


@operation("GET", "/runs/{run}/samples/{sample:path}", tag="results")
def one_sample(
    context: OperationContext,
    run: str,
    sample: str,
    raw: Annotated[bool, Parameter(description="Also every request and reply as it was sent.")] = False,
) -> JsonObject:
    """Show a sample with all details; `dokimasia show RUN --sample ID --json` prints the same."""
    row = context.run(run)
    context.cache(row)
    return _for_person(context, row, asyncio.run(sample_of_run(context.home, row, sample, raw=raw)))


@operation("GET", "/runs/{run}/wrong", tag="results")
def wrong(
    context: OperationContext,
    run: str,
    model: Annotated[list[str] | None, Parameter(description="Only answers of these models.", max_length=500)] = None,
    limit: Annotated[
        int | None, Parameter(ge=1, le=MOST, description=f"So many answers, at most (default: {LISTED}).")
    ] = None,
) -> WrongAnswers:
    """List the answers that were judged wrong, or without verdicts the lowest scores, as `dokimasia show RUN --wrong`."""
    row = context.run(run)
    context.cache(row)
    return asyncio.run(wrong_answers(context.home, row, models=model or (), limit=limit or LISTED))


class SearchSent(Body):
    """A search of a run's samples by meaning."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)] = Field(
        examples=["questions that need counting"]
    )
    answers: bool = Field(
        default=False, description="search the answers instead of the questions with their references"
    )
    limit: int = Field(default=10, ge=1, le=MOST, description="how many samples, at most")
    max_cost: float | None = Field(
        default=None, ge=0, le=1_000_000_000, allow_inf_nan=False, description="US dollars to spend at most"
    )
    estimate: bool = Field(default=False, description="send nothing: say what the search would embed and cost")


class NearSample(BaseModel):
    """A sample, and how near it is to the text: the cosine similarity of their vectors, from -1 to 1."""

    sample: str
    similarity: float


class SamplesNear(BaseModel):
    """The samples nearest to a text, the nearest first, and the cost of embedding or, with `estimate`, its expected cost."""

    model: str = Field(description="the model that embeds")
    texts: int = Field(ge=0, description="texts that the ledger did not have, the searched text among them")
    calls: int = Field(ge=0)
    cost: float | None = Field(description="US dollars; null where the price is unknown")
    samples: list[NearSample] = Field(description="empty with `estimate`")


@operation("POST", "/runs/{run}/search", tag="results", right="run", replies=(502,))
async def search(context: OperationContext, run: str, body: SearchSent) -> SamplesNear:
    """List the samples nearest to a text by meaning. Texts that the ledger lacks are embedded once, and paid for.

    The configuration names the model: `embedding = "MODEL"` in `dokimasia.toml`.
    """
    from dokimasia.runs.reading.meaning import search_by_meaning

    def budget(spec: ModelSpec) -> Budget:
        return Budget(body.max_cost, above=context.budgets_for({spec.ref.name: spec}))

    meaning_search = await search_by_meaning(
        context.home,
        context.run(run).id,
        body.text,
        settings=context.settings,
        answers=body.answers,
        estimate=body.estimate,
        budget=budget,
    )
    if body.estimate:
        return SamplesNear(model=meaning_search.model, **meaning_search.price._asdict(), samples=[])
    nearest = sorted((meaning_search.similarities or {}).items(), key=lambda entry: -entry[1])[: body.limit]
    samples = [NearSample(sample=sample, similarity=similarity) for sample, similarity in nearest]
    return SamplesNear(model=meaning_search.model, **meaning_search.price._asdict(), samples=samples)


@operation("GET", "/runs/{run}/report", tag="results", slow=True, files=(HTML, MARKDOWN, PLAIN), file="the report")
def report(
    context: OperationContext,
    run: str,
    format: Literal["html", "md", "terminal", "latex"] = "html",
    samples: Annotated[int, Parameter(ge=0, le=10_000, description="Show so many samples, failures first.")] = SAMPLES,
    width: Annotated[int, Parameter(ge=40, le=500, description="Of a terminal, in characters.")] = 120,
    colour: Annotated[bool, Parameter(description="Of a terminal.")] = False,
    full: Annotated[bool, Parameter(description="For a terminal and LaTeX: all tables with all columns.")] = False,
    model: Annotated[
        list[str] | None,
        Parameter(description="For a terminal and LaTeX: only rows about these models.", max_length=500),
    ] = None,
) -> FileReply:
    """Return a run's report: one page that needs no network, Markdown, or what `dokimasia show RUN` prints, also as LaTeX."""
    row = context.run(run)
    context.cache(row)
    if format == "terminal":
        text = _terminal_text(context, row, width=width, colour=colour, full=full, models=model or ())
        return FileReply(text.encode(), PLAIN)
    if format == "latex":
        return FileReply(context.redact(_latex_text(context, row, full=full, models=model or ())).encode(), PLAIN)
    data = asyncio.run(report_data(context.home, row, samples=samples, redact=context.redact))
    counts = {"dokimasia-shown": str(data.selection.shown), "dokimasia-samples": str(data.selection.total)}
    body = render(data, format)
    if format == "md":
        return FileReply(body, MARKDOWN, headers=counts)
    return FileReply(body, HTML, headers={"content-security-policy": PAGE_POLICY, **counts})


@operation(
    "GET",
    "/runs/{run}/export",
    tag="results",
    slow=True,
    files=(*dict.fromkeys(MEDIA_TYPES.values()), ZIP),
    file="the rows, or for another form a ZIP of its files",
)
def export(
    context: OperationContext,
    run: str,
    format: Annotated[
        str,
        Parameter(
            max_length=100,
            description="jsonl, csv, excel (CSV that Excel opens), xlsx (a workbook), parquet, or a form of the method, such as "
            "vlmevalkit.",
        ),
    ] = "jsonl",
) -> FileReply:
    """Return one row per item, as `dokimasia export` writes them, or the files of another program's format."""
    row = context.run(run)
    stem = file_stem(context.home, row)
    if format in get_args(Format):
        rows_format = cast("Format", format)
        with ExitStack() as unsent:
            # Read completely before the first byte is sent, since reading may fail; the reply closes it.
            content = unsent.enter_context(tempfile.SpooledTemporaryFile(IN_MEMORY))
            count = asyncio.run(write_export(context.home, row, rows_format, content))
            unsent.pop_all()
        counts = {"dokimasia-rows": str(count)}
        return FileReply(content, MEDIA_TYPES[format], f"{stem}.{SUFFIXES[rows_format]}", headers=counts)
    forms = method_of(row).export.forms
    if context.served and format not in forms:
        formats = ", ".join((*get_args(Format), *forms))
        raise RequestRefused(422, f"format: run {row.id} is exported as one of {formats}")
    return FileReply(zipped(form_of(context.home, row, format)), ZIP, f"{stem}-{format}.zip")


@operation("GET", "/runs/{run}/charts", tag="results", slow=True, files=(ZIP,), file="a ZIP of the charts")
def charts(context: OperationContext, run: str, format: Literal["svg", "pdf", "png"] = "svg") -> FileReply:
    """Return the charts of a run's report as files, as `dokimasia charts` writes them."""
    from dokimasia.report.chart_files import chart_files
    from dokimasia.report.sections import sections_of

    row = context.run(run)
    context.cache(row)
    data = asyncio.run(report_data(context.home, row, samples=0, redact=context.redact))
    files, left_out = chart_files(sections_of(data), format)
    if not files:
        raise NotFound(f"the report of run {row.id} has no chart that can be drawn as a file")
    name = f"{file_stem(context.home, row)}-charts.zip"
    return FileReply(zipped(files), ZIP, name, headers={"dokimasia-left-out": str(len(left_out))})


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return files as a ZIP archive; the same files give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, ZIP_DATE), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    """Return the files of a ZIP archive by their names."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _for_person(context: OperationContext, run: Run, view: Mapping[str, object]) -> JsonObject:
    """Return a view of a run without others' decisions on items that the caller has not decided."""
    if not context.person:
        return dict(view)
    return without_others(context.home, run, view, context.person)


def _latex_text(context: OperationContext, run: Run, *, full: bool, models: Collection[str]) -> str:
    """Return, as LaTeX, the first table of a run as in a terminal, or with `full` all tables of its sections."""
    from dokimasia.report.latex import latex_tables
    from dokimasia.report.sections import about_models, sections_of
    from dokimasia.report.terminal import in_brief

    sections = about_models(sections_of(run_data(context.home, run), "terminal"), models, run.id)
    return latex_tables(block for section in (sections if full else in_brief(sections)) for block in section.blocks)


def _terminal_text(
    context: OperationContext, run: Run, *, width: int, colour: bool, full: bool, models: Collection[str]
) -> str:
    """Return the results of a run as a terminal of this width shows them."""
    from dokimasia.report.console import PrintableConsole
    from dokimasia.report.terminal import draw_run

    out = io.StringIO()
    console = PrintableConsole(
        file=out,
        width=width,
        highlight=False,
        soft_wrap=False,
        force_terminal=colour,
        color_system="standard" if colour else None,
    )
    draw_run(console, run_data(context.home, run), redact=context.redact, full=full, models=models)
    return out.getvalue()
