"""The page of a run: its status, its actions, and its results as in a report, or its live part."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from dokimasia.errors import ConfigError, NotFound
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.runs.catalogue import OWN, method_named, method_of, plugin_methods
from dokimasia.runs.figures import forked_from, limits_of
from dokimasia.runs.method import AnyMethod
from dokimasia.runs.outcome import RETRYABLE, describe_limits, why_ended
from dokimasia.runs.persistence import dependent_runs
from dokimasia.runs.reading.exporting import FORMATS, file_stem
from dokimasia.runs.requests import LIMITS, option_of
from dokimasia.service.drawing import page
from dokimasia.service.forms import change_groups
from dokimasia.service.pages.compare import models_compared
from dokimasia.service.pages.samples import data_label, run_label
from dokimasia.service.response_cache import keep
from dokimasia.service.results import results_of
from dokimasia.service.routes.starting import GoneOn
from dokimasia.service.routes.uploads import uses_upload
from dokimasia.service.state import IN_TURN, Reader, Service, TheService
from dokimasia.service.suggestions import SIMULATED_SIGHT, suggestions_of
from dokimasia.service.uploads import RequestFiles
from dokimasia.service.wording import as_on_pages
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.people.counts import check_counts
from dokimasia.storage.results import result_failures
from dokimasia.storage.runs import AT_WORK, Run, get_run
from dokimasia.storage.trees.versions import list_trees
from dokimasia.storage.usage import ReachedCounts, reached_counts

router = APIRouter()

NO_PYARROW = "not available: it needs pyarrow where the service runs (pip install 'dokimasia[parquet]')"
"""Why the export format that needs an extra package cannot be downloaded."""

LIMITED: Mapping[str, str] = dict(zip(LIMITS, ("cost", "requests", "tokens"), strict=True))
"""The quantity bounded by each spending limit."""


EXPORTS: Mapping[str, tuple[str, str]] = {
    "jsonl": ("JSON lines", "all fields of each row, an object a line, for programs"),
    "csv": (
        "CSV",
        "the same rows as a table, for scripts and statistics programs; a text that a spreadsheet would compute has an "
        "apostrophe before it",
    ),
    "excel": ("CSV for Excel", "that table in UTF-8 with a byte-order mark, so Excel shows accents correctly"),
    "xlsx": ("Workbook", "that table as a sheet for Excel and LibreOffice: texts as texts, numbers as numbers"),
    "parquet": ("Parquet", "that table with typed columns, for pandas and databases"),
    "preferences": ("Preferences", "pairs of a better and a worse answer to one question, for training"),
    "perturbations": ("Perturbations", "the planted errors with their images, which a probe takes as data"),
    "vlmevalkit": ("VLMEvalKit", "the files that VLMEvalKit writes of such a comparison"),
}
"""The label and contents of each export format; other formats have only their name."""


@router.get("/runs/{run}")
def one_run(
    request: Request,
    service: TheService,
    person: Reader,
    run: str,
    wait: Annotated[bool, Query(description="Answer only once everything is drawn.")] = False,
) -> Response:
    """Show a run: its live part while it is at work, else its results, or a note while these are computed."""
    row = service.run(run)
    if row.id != run:
        return RedirectResponse(f"/runs/{row.id}", 303)
    keep(request, row)
    at_work = row.status in AT_WORK
    report = None if at_work else results_of(service, row, wait=wait)
    unmeasured = method_of(row).scores.unmeasured
    return page(
        request,
        "results.html",
        standing(service, row),
        charts=report.charts if report else None,
        drawn=report,
        at_work=at_work,
        simulated=f"{SIMULATED_NOTE} {SIMULATED_SIGHT}" if report and report.simulated else "",
        may_run="run" in person.scopes,
        faults={},
        data_root=service.data_root is not None,
        change={
            "retry": change_groups(GoneOn, form="retry", leave_out=unmeasured),
            "resume": change_groups(GoneOn, form="resume", leave_out=unmeasured),
        },
        offers={
            name: suggestions for name, suggestions in suggestions_of(service).items() if name in ("models", "files")
        },
    )


@router.get("/runs/{run}/drawn", dependencies=[IN_TURN])
def drawn(service: TheService, person: Reader, run: str) -> Response:
    """Answer once a run's results are drawn, so that its page reloads."""
    results_of(service, service.run(run), wait=True)
    return Response(headers={"hx-trigger": "dokimasia-reload"})


def standing(service: Service, run: Run) -> dict[str, object]:
    """Return the status of a run and its possible actions."""
    method = method_of(run)
    labels_by_run = labels(service.home)
    failures = {kind: count for kind, count in result_failures(service.home, run.id).items() if kind in RETRYABLE}
    origin = forked_from(run)
    return {
        "run": run,
        "why": "" if run.status == "waiting" else as_on_pages(_as_sentence(why_ended(service.home, run))),
        "stem": file_stem(service.home, run),
        "label": labels_by_run.get(run.id, Label()),
        "called": run_label(labels_by_run, run),
        "data_page": _data_page(service, run),
        "data_name": data_label(labels_by_run, run),
        "method": method,
        "far": reached_counts(service.home, [run.id]).get(run.id, ReachedCounts()),
        "estimate": run.options.get("estimate") or {},
        "failures": failures,
        "no_retry": method.reruns.no_retry and as_on_pages(method.reruns.no_retry),
        "no_fork": method.reruns.no_fork,
        "compared": models_compared(service.home, run),
        "origin": origin,
        "origin_called": labels_by_run.get(str(origin["run"]), Label()).name if origin else "",
        "resting": [
            (dependent, run_label(labels_by_run, dependent)) for dependent in dependent_runs(service.home, run.id)
        ],
        "trees": [tree.name for tree in list_trees(service.home) if run.id in (tree.run_id, tree.source)],
        "steps": list(next_steps(run)),
        "limits": describe_limits(service.home, run),
        "lifts": [(name, LIMITED[name]) for name, limit in limits_of(run).items() if limit is not None],
        "waits": sum(count.items for count in check_counts(service.home) if count.run == run.id and count.waiting),
        "exports": [(name, *EXPORTS.get(name, (name.capitalize(), ""))) for name in (*FORMATS, *method.export.forms)],
        "lacking": {} if find_spec("pyarrow") else {"parquet": NO_PYARROW},
    }


def _as_sentence(reason: str) -> str:
    """Return a reason with a capital, unless it begins with a name."""
    if reason.startswith("the "):
        return f"The{reason[3:]}"
    return reason


def _data_page(service: Service, run: Run) -> str:
    """Return the address of the page with a run's data: that of its upload, or of the run it continues from."""
    uploads = RequestFiles(service.home, service.data_root).uploads.all()
    upload = next((upload for upload in uploads if uses_upload(run, upload.id)), None)
    if upload is not None:
        return f"/data#data-{upload.id}"
    with suppress(NotFound):
        return f"/runs/{get_run(service.home, run.data_name).id}"
    return ""


def next_steps(run: Run) -> Iterator[tuple[str, str]]:
    """Yield the methods that can continue a finished run: the address of the form, filled in with it, and a
    description.

    A method continues a run if a field of its request is marked so (`Option.continues`).
    """
    for name in (*OWN, *plugin_methods()) if run.status == "done" else ():
        with suppress(ConfigError):
            request = method_named(name).request
            fields = request.model_fields.items()
            about = OWN[name].help if name in OWN else (request.__doc__ or name).strip().splitlines()[0]
            for field in [field for field, info in fields if option_of(info).continues == run.method][:1]:
                yield f"/new/{quote(name)}?{urlencode({field: run.id})}", about


def models_of(method: AnyMethod, run: Run) -> Mapping[str, tuple[str, ...]]:
    """Return the models that a run's request names, by field; a fork may replace them."""
    models: dict[str, tuple[str, ...]] = {}
    for name, field in method.request.model_fields.items():
        value = run.request.get(name)
        if option_of(field).models and isinstance(value, str | list | dict) and value:
            models[name] = (value,) if isinstance(value, str) else tuple(map(str, value))
    return models
