"""The page of a board: models over the data sets of several runs, with ranks, to sort and download."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from dokimasia.errors import InputError
from dokimasia.operations.operation import OperationContext
from dokimasia.operations.runs import board as board_operation
from dokimasia.report.board import Measure, as_csv, as_latex, board_blocks
from dokimasia.report.drawing import Charts
from dokimasia.runs.reading.board import has_board
from dokimasia.service.drawing import drawn, page
from dokimasia.service.pages.samples import run_label, with_run_names
from dokimasia.service.response_cache import keep
from dokimasia.service.state import IN_TURN, Reader, TheService
from dokimasia.storage.naming import labels
from dokimasia.storage.runs import list_runs

router = APIRouter()

OFFERED = 100
"""The number of newest runs offered for choice."""


@router.get("/board", dependencies=[IN_TURN])
def board(
    request: Request,
    service: TheService,
    person: Reader,
    runs: Annotated[list[str], Query(default_factory=list, max_length=OFFERED)],
    tag: Annotated[str, Query(max_length=200)] = "",
    measure: Measure | None = None,
    format: Annotated[str, Query(pattern="^(page|csv|latex)$")] = "page",
) -> Response:
    """Return the board of the named runs, or of all finished runs; as CSV and LaTeX, return a file."""
    home = service.home
    names = [name.strip() for text in runs for name in text.split(",") if name.strip()]
    chosen = [service.run(name) for name in names]
    keep(request, *chosen)
    context = OperationContext(settings=service.settings, home=home)
    fault, body, ranked_by = "", None, measure
    charts = Charts()
    try:
        figures = board_operation(context, ",".join(names), [tag] if tag else None, measure)
    except InputError as error:
        fault = service.redact(with_run_names(home, str(error)))
    else:
        if format != "page":
            text, suffix = (as_csv(figures), "csv") if format == "csv" else (as_latex(figures), "tex")
            headers = {"content-disposition": f'attachment; filename="board.{suffix}"'}
            return Response(service.redact(text), media_type="text/plain; charset=utf-8", headers=headers)
        ranked_by = figures.measure
        chosen = [service.run(run.run) for data in figures.data for run in data.runs]
        body = drawn(list(board_blocks(figures)), charts)
    labels_by_run = labels(home)
    offered = [run for run in list_runs(home) if has_board(run)][:OFFERED]
    query = {"runs": ",".join(names), "tag": tag, "measure": measure or ""}
    return page(
        request,
        "board.html",
        charts=charts,
        body=body,
        fault=fault,
        offered=[(run, run_label(labels_by_run, run)) for run in offered],
        chosen={run.id for run in chosen},
        measure=ranked_by or "",
        tag=tag,
        tags=sorted({name for label in labels_by_run.values() for name in label.tags}),
        query=urlencode({name: value for name, value in query.items() if value}),
    )
