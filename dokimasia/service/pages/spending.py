"""The page of the spending of all runs: by run, model and token, and what is left of the limits of the service."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from dokimasia.report.figures import cost_text
from dokimasia.service.drawing import page
from dokimasia.service.pages.samples import run_label
from dokimasia.service.spending import spending_of, verdict_of
from dokimasia.service.state import IN_TURN, Reader, TheService
from dokimasia.storage.naming import labels
from dokimasia.storage.runs import list_runs

router = APIRouter()

SHOWN_RUNS = 50
"""The number of runs on the page, those that spent most."""


@router.get("/spending", dependencies=[IN_TURN])
def spending(request: Request, service: TheService, person: Reader) -> Response:
    """Show what all runs have spent together, and by run, model and token."""
    spent = spending_of(service)
    names, rows = labels(service.home), {run.id: run for run in list_runs(service.home)}
    runs = [(entry, run_label(names, rows[entry.run])) for entry in spent.runs[:SHOWN_RUNS] if entry.run in rows]
    known = None if spent.unknown_cost else spent.cost
    return page(
        request,
        "spending.html",
        spending=spent,
        verdict=verdict_of(spent, cost_text(known, spent.cost)),
        runs=runs,
    )
