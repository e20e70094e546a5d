"""The first page: the runs with their headlines, newest first, found by status, method, tag and text, and ticked to compare."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, cast, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from dokimasia.report.figures import MINUS, cost_text
from dokimasia.runs.catalogue import OWN, method_of, plugin_methods
from dokimasia.runs.figures import costs
from dokimasia.runs.reading.inspection import listed
from dokimasia.service.drawing import page
from dokimasia.service.response_cache import keep
from dokimasia.service.state import IN_TURN, Reader, Service, TheService
from dokimasia.storage.home import Home
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.corrections import count_corrections
from dokimasia.storage.runs import AT_WORK, Run, RunStatus
from dokimasia.storage.usage import ReachedCounts, reached_counts, usage_of

MOST_RESULTS = 20_000
"""Figures of runs with more results are not worked out for a list."""


class Headline(NamedTuple):
    """A run's best model by what its method measures, empty where it measures nothing of models; and its cost."""

    text: str
    cost: str


def headline(home: Home, run: Run, far: ReachedCounts) -> Headline:
    """Return a run's headline."""
    if far.results > MOST_RESULTS:
        return Headline("", "")
    used = usage_of(home, run.id).values()
    spent = costs((one.cost for one in used), (one.known for one in used))
    cost = cost_text(spent["cost"], spent.get("cost_known") or 0.0) if far.results or far.waiting else ""
    return Headline(_best(home, run), cost)


def _best(home: Home, run: Run) -> str:
    """Return the best model by each measure of a finished run's method, a model named once.

    Of a share it is said up to what it comes if all undecided answers are right.
    """
    method = method_of(run)
    if run.status != "done" or not method.measures:
        return ""
    models: Mapping[str, Any] = method.json_figures(home, run).get("models") or {}
    parts: dict[str, list[str]] = {}
    for name, path in method.measures.items():
        values = {model: value for model, one in models.items() if (value := _figure(one, path)) is not None}
        if values:
            best = max(sorted(values), key=lambda model: values[model])
            called, scale = method.measure_called(name)
            of = f" ({scale})" if scale else ""
            if (upper := _at(models[best], (path[0], "upper")) or 0.0) > values[best]:
                of = f", up to {upper:.2f}"
            parts.setdefault(best, []).append(f"{called} {f'{values[best]:.2f}'.replace('-', MINUS)}{of}")
    return "; ".join(f"{model}: {', '.join(said)}" for model, said in parts.items())


def _figure(model: Mapping[str, Any], path: tuple[str, ...]) -> float | None:
    """Return a model's figure: a share itself, and not the end of its bounds that a threshold goes by."""
    share = _at(model, (path[0], "share"))
    return _at(model, path) if share is None else share


def _at(value: Any, path: tuple[str, ...]) -> float | None:
    for name in path:
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


router = APIRouter()

PER_PAGE = 25


@router.get("/")
def start(
    request: Request,
    service: TheService,
    person: Reader,
    status: str = "",
    method: str = "",
    tag: Annotated[list[str] | None, Query()] = None,
    q: Annotated[str, Query(max_length=500)] = "",
    number: Annotated[int, Query(ge=1, alias="page")] = 1,
    compare: Annotated[list[str] | None, Query()] = None,
) -> Response:
    """List the runs that were asked for, a page of them at a time; with ticked ones, lead to their comparison."""
    if compare:
        return RedirectResponse(f"/compare?runs={','.join(compare)}", 303)
    tags = tuple(filter(None, tag or ()))
    every = listed(service.home, tags=tags, text=q)
    found = [
        one for one in every if (not status or one[0].status == status) and (not method or one[0].method == method)
    ]
    shown = found[(number - 1) * PER_PAGE : number * PER_PAGE]
    keep(request, *(run for run, _ in shown))
    return page(
        request,
        "start.html",
        rows=_rows(service, shown),
        found=len(found),
        any_run=bool(every or tags or q),
        number=number,
        pages=max(1, -(-len(found) // PER_PAGE)),
        sought={"status": status, "method": method, "tag": tags, "q": q},
        statuses=get_args(RunStatus),
        methods=(*OWN, *plugin_methods()),
        tags=sorted({one for label in labels(service.home).values() for one in label.tags}),
        ticked=compare is not None,
    )


@router.get("/runs")
def runs(request: Request, person: Reader) -> Response:
    """Lead to the list of runs, with what was asked for."""
    return RedirectResponse(str(request.url.replace(scheme="", netloc="", path="/")), 303)


@router.get("/runs/{run}/row", dependencies=[IN_TURN])
def row(request: Request, service: TheService, person: Reader, run: str) -> Response:
    """Return a run's row anew, with what takes a moment to work out."""
    found = service.run(run)
    label = labels(service.home).get(found.id, Label())
    (shown,) = _rows(service, [(found, label)], wait=True)
    return page(request, "run_row.html", row=shown)


def _rows(service: Service, runs: Sequence[tuple[Run, Label]], *, wait: bool = False) -> list[dict[str, Any]]:
    """Return what the list says of runs; with `wait` also figures that have to be worked out first."""
    far = reached_counts(service.home, [run.id for run, _ in runs])
    return [_row(service, run, label, far.get(run.id, ReachedCounts()), wait=wait) for run, label in runs]


def _row(service: Service, run: Run, label: Label, far: ReachedCounts, *, wait: bool) -> dict[str, Any]:
    key = ("headline", run.id, run.status, run.updated_at, far, count_corrections(service.home))
    shown = service.cache.peek(key)
    if shown is None and wait:
        shown = service.cache.get(key, lambda: headline(service.home, run, far))
    return {
        "run": run,
        "label": label,
        "far": far,
        "asked": _asked(run),
        "headline": shown,
        "at_work": run.status in AT_WORK,
        "later": shown is None,
        "started": run.created_at[:16].replace("T", " "),
    }


def _asked(run: Run) -> list[str]:
    """Return the models of a run and the people in the place of one, by the names of its estimate, its judge last."""
    estimate: Any = run.options.get("estimate") or {}
    request: Any = run.options.get("request") or {}
    judge = request.get("judge")
    return sorted([*estimate.get("models", {}), *estimate.get("people", {})], key=lambda name: (name == judge, name))
