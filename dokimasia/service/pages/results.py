"""A run's page: how it stands, what can be done with it, its results as its report draws them, or its live part."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from dokimasia.errors import ConfigError
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.runs.catalogue import OWN, method_named, method_of, plugin_methods
from dokimasia.runs.figures import forked_from, limits_of
from dokimasia.runs.forking import ForkRequest
from dokimasia.runs.method import Method
from dokimasia.runs.outcome import RETRYABLE, describe_limits
from dokimasia.runs.persistence import dependent_runs
from dokimasia.runs.reading.inspection import end_reasons
from dokimasia.runs.requests import LIMITS, option_of
from dokimasia.service.drawing import page
from dokimasia.service.forms import change_groups
from dokimasia.service.pages.compare import models_compared
from dokimasia.service.response_cache import keep
from dokimasia.service.results import results_of
from dokimasia.service.routes.starting import GoneOn
from dokimasia.service.state import IN_TURN, Reader, Service, TheService
from dokimasia.service.suggestions import SIMULATED_SIGHT, suggestions_of
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.counts import check_counts
from dokimasia.storage.results import result_failures
from dokimasia.storage.runs import AT_WORK, Run
from dokimasia.storage.trees.versions import list_trees
from dokimasia.storage.usage import ReachedCounts, reached_counts

router = APIRouter()

LIMITED: Mapping[str, str] = dict(zip(LIMITS, ("cost", "requests", "tokens"), strict=True))
"""What each limit on spending limits."""

EXPORTS = ("jsonl", "csv", "parquet")


@router.get("/runs/{run}")
def one_run(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    wait: Annotated[bool, Query(description="Answer only once everything is drawn.")] = False,
) -> Response:
    """Show a run: at work its live part, else its results, or, while these are worked out, that they are."""
    found = service.run(run)
    if found.id != run:
        return RedirectResponse(f"/runs/{found.id}", 303)
    keep(request, found)
    at_work = found.status in AT_WORK
    drawn = None if at_work else results_of(service, found, wait=wait)
    return page(
        request,
        "results.html",
        charts=drawn.charts if drawn else None,
        drawn=drawn,
        at_work=at_work,
        simulated=f"{SIMULATED_NOTE} {SIMULATED_SIGHT}" if drawn and drawn.simulated else "",
        may_run="run" in person.scopes,
        faults={},
        data_root=service.data_root is not None,
        change={
            "retry": change_groups(GoneOn, form="retry"),
            "resume": change_groups(GoneOn, form="resume"),
            "fork": change_groups(ForkRequest, form="fork", named=True),
        },
        offers={name: ones for name, ones in suggestions_of(service).items() if name in ("models", "files")},
        **standing(service, found),
    )


@router.get("/runs/{run}/drawn", dependencies=[IN_TURN])
def drawn(service: TheService, person: Reader, run: str) -> Response:
    """Answer once a run's results are drawn, so that its page is asked for anew."""
    results_of(service, service.run(run), wait=True)
    return Response(headers={"hx-refresh": "true"})


def standing(service: Service, run: Run) -> dict[str, Any]:
    """Return how a run stands and what can be done with it."""
    method = method_of(run)
    known = labels(service.home)
    failures = {kind: count for kind, count in result_failures(service.home, run.id).items() if kind in RETRYABLE}
    origin = forked_from(run)
    return {
        "run": run,
        "why": end_reasons(service.home, [run]).get(run.id, ""),
        "label": known.get(run.id, Label()),
        "method": method,
        "far": reached_counts(service.home, [run.id]).get(run.id, ReachedCounts()),
        "estimate": run.options.get("estimate") or {},
        "failures": failures,
        "no_retry": method.retry,
        "no_fork": method.fork if isinstance(method.fork, str) else None,
        "has_steps": callable(method.fork),
        "models": models_of(method, run),
        "compared": models_compared(service.home, run),
        "origin": origin,
        "resting": [(one, known.get(one.id, Label())) for one in dependent_runs(service.home, run.id)],
        "trees": [tree.name for tree in list_trees(service.home) if run.id in (tree.run_id, tree.source)],
        "steps": list(next_steps(run)),
        "limits": describe_limits(service.home, run),
        "lifts": [(name, LIMITED[name]) for name, most in limits_of(run).items() if most is not None],
        "waits": sum(count.items for count in check_counts(service.home) if count.run == run.id and count.waiting),
        "exports": (*EXPORTS, *method.forms),
    }


def next_steps(run: Run) -> Iterator[tuple[str, str]]:
    """Yield where a finished run can be taken further: the address of the form, filled with it, and what is done there.

    A method takes a run further if a field of its request says so (`Option.continues`).
    """
    for name in (*OWN, *plugin_methods()) if run.status == "done" else ():
        with suppress(ConfigError):
            request = method_named(name).request
            fields = request.model_fields.items()
            about = OWN[name].help if name in OWN else (request.__doc__ or name).strip().splitlines()[0]
            for field in [field for field, one in fields if option_of(one).continues == run.method][:1]:
                yield f"/new/{quote(name)}?{urlencode({field: run.id})}", about


def models_of(method: Method[Any, Any], run: Run) -> Mapping[str, tuple[str, ...]]:
    """Return the models that a run's request names, by field: those that a fork may put others in the place of."""
    request: Any = run.options.get("request") or {}
    found: dict[str, tuple[str, ...]] = {}
    for name, field in method.request.model_fields.items():
        value = request.get(name)
        if option_of(field).models and value:
            found[name] = (value,) if isinstance(value, str) else tuple(value)
    return found
