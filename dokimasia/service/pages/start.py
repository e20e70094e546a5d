"""The first page: the list of runs with their headlines, which can be filtered and ticked for comparison."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from dokimasia.report.figures import cost_text, in_words, measured_share, number
from dokimasia.runs.catalogue import OWN, method_of, plugin_methods
from dokimasia.runs.estimate import Estimate
from dokimasia.runs.reading.inspection import labelled_runs
from dokimasia.service.drawing import page
from dokimasia.service.pages.samples import data_label, run_label
from dokimasia.service.response_cache import keep
from dokimasia.service.state import IN_TURN, Reader, Service, TheService
from dokimasia.storage.home import Home
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.corrections import count_corrections
from dokimasia.storage.runs import AT_WORK, Run, RunStatus
from dokimasia.storage.usage import ReachedCounts, reached_counts, total_usage

MOST_RESULTS = 20_000
"""Runs with more results have no headline."""

MOST_NAMED = 3
"""Models that share the highest value are counted instead of named if there are more of them."""


class Headline(NamedTuple):
    """A run's best model by the measures of its method, empty without such measures; and its cost."""

    text: str
    cost: str


def headline(home: Home, run: Run, far: ReachedCounts) -> Headline:
    """Return a run's headline."""
    if far.results > MOST_RESULTS:
        return Headline("", "")
    used = total_usage(home, run.id)
    cost = cost_text(used.cost, used.known) if far.results or far.waiting else ""
    return Headline(_best(home, run), cost)


def _best(home: Home, run: Run) -> str:
    """Return the best model by each measure of a finished run's method, with models that share the highest value
    together.

    A share is shown with its upper bound, if all undecided answers are right.
    """
    method = method_of(run)
    if run.status != "done" or not method.scores.measures:
        return ""
    models = method.json_figures(home, run).get("models") or {}
    parts: dict[str, list[str]] = {}
    for name, path in method.scores.measures.items():
        values = {model: value for model, figures in models.items() if (value := _figure(figures, path)) is not None}
        if not values:
            continue
        highest = max(values.values())
        best = sorted(model for model, value in values.items() if value == highest)
        label, scale = method.scores.measure_called(name)
        note = f" ({scale})" if scale else ""
        is_share = _number_at(models[best[0]], (path[0], "share")) is not None
        write = measured_share if is_share else number
        upper = max(_number_at(models[model], (path[0], "upper")) or 0.0 for model in best)
        if upper > highest:
            note = f", up to {write(upper).text}"
        if name == "accuracy" and not highest:
            parts.setdefault("", []).append(f"{label}: none right{note}")
        else:
            figure = f"{label} {write(highest).text}{note}"
            parts.setdefault(_leader_names(best), []).append(figure)
    return "; ".join(f"{names}: {', '.join(leads)}" if names else ", ".join(leads) for names, leads in parts.items())


def _leader_names(best: Sequence[str]) -> str:
    """Return the models with the highest value as the beginning of a headline."""
    if len(best) == 1:
        return best[0]
    return f"{in_words(best) if len(best) <= MOST_NAMED else f'{len(best)} models'} share the highest"


def _figure(model: object, path: tuple[str, ...]) -> float | None:
    """Return a model's figure: for a share, the share itself, not the bound that thresholds use."""
    share = _number_at(model, (path[0], "share"))
    if share is None:
        return _number_at(model, path)
    return share


def _number_at(value: object, path: tuple[str, ...]) -> float | None:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, int | float):
        return float(value)
    return None


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
    """List the filtered runs, one page at a time; with ticked runs, redirect to their comparison."""
    if compare:
        return RedirectResponse(f"/compare?{urlencode({'runs': compare}, doseq=True)}", 303)
    tags = tuple(filter(None, tag or ()))
    all_runs = labelled_runs(service.home, tags=tags, text=q)
    matching_runs = [
        run for run, _ in all_runs if (not status or run.status == status) and (not method or run.method == method)
    ]
    page_runs = matching_runs[(number - 1) * PER_PAGE : number * PER_PAGE]
    keep(request, *page_runs)
    return page(
        request,
        "start.html",
        rows=_rows(service, page_runs),
        found=len(matching_runs),
        any_run=bool(all_runs or tags or q),
        number=number,
        pages=max(1, -(-len(matching_runs) // PER_PAGE)),
        sought={"status": status, "method": method, "tag": tags, "q": q},
        statuses=get_args(RunStatus),
        methods=(*OWN, *plugin_methods()),
        tags=sorted({tag for label in labels(service.home).values() for tag in label.tags}),
        ticked=compare is not None,
    )


@router.get("/runs")
def runs(request: Request, person: Reader) -> Response:
    """Redirect to the list of runs, with its filter."""
    return RedirectResponse(str(request.url.replace(scheme="", netloc="", path="/")), 303)


@router.get("/runs/{run}/row", dependencies=[IN_TURN])
def row(request: Request, service: TheService, person: Reader, run: str) -> Response:
    """Return a run's row, complete with its headline."""
    row = service.run(run)
    (row_values,) = _rows(service, [row], wait=True)
    return page(request, "run_row.html", row=row_values)


def _rows(service: Service, runs: Sequence[Run], *, wait: bool = False) -> list[dict[str, object]]:
    """Return the rows of runs; with `wait`, also headlines that must be computed first."""
    names, counts = labels(service.home), reached_counts(service.home, [run.id for run in runs])
    return [_row(service, run, names, counts.get(run.id, ReachedCounts()), wait=wait) for run in runs]


def _most_items(run: Run) -> int:
    """Return the largest possible number of a run's items; 0 if its method does not count them."""
    if "estimate" in run.options:
        return Estimate.of_run(run).items
    return 0


def _models_under_test(run: Run) -> Sequence[str]:
    """Return the models under test in a run's request, without its judge; all models if the method tells none apart."""
    named = run.request.get("models")
    models = [name for name in run.model_names if name in named] if isinstance(named, list) else []
    return models or run.model_names


def _row(
    service: Service, run: Run, names: Mapping[str, Label], reached: ReachedCounts, *, wait: bool
) -> dict[str, object]:
    key = ("headline", run.id, run.status, run.updated_at, reached, count_corrections(service.home))
    headline_shown = service.cache.peek(key)
    if headline_shown is None and wait:
        headline_shown = service.cache.get(key, lambda: headline(service.home, run, reached))
    return {
        "run": run,
        "label": names.get(run.id, Label()),
        "called": run_label(names, run),
        "data": data_label(names, run),
        "far": reached,
        "most_items": _most_items(run),
        "asked": _models_under_test(run),
        "headline": headline_shown,
        "at_work": run.status in AT_WORK,
        "later": headline_shown is None,
        "started": run.created_at[:16].replace("T", " "),
    }
