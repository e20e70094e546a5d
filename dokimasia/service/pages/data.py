"""The page of the uploaded data sets: which runs used each, and their names and deletion."""

from typing import Annotated, NamedTuple

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from dokimasia.operations.operation import RequestRefused
from dokimasia.service.drawing import page
from dokimasia.service.pages.samples import run_label
from dokimasia.service.routes.uploads import delete as delete_upload
from dokimasia.service.routes.uploads import uses_upload
from dokimasia.service.state import Reader, Starter, TheService
from dokimasia.service.uploads import RequestFiles, Upload, Uploads
from dokimasia.storage.naming import labels
from dokimasia.storage.runs import Run, list_runs

router = APIRouter(prefix="/data")

SHOWN_RUNS = 5
"""How many of a data set's runs are listed before the others are folded."""


class DataSet(NamedTuple):
    """An upload with the runs that were given it, the newest first, each with what it is called."""

    upload: Upload
    runs: list[tuple[Run, str]]

    @property
    def samples(self) -> str:
        """The address of its samples in the newest run; empty without a run."""
        if not self.runs:
            return ""
        newest, _ = self.runs[0]
        return f"/runs/{newest.id}/samples"


@router.get("")
def data_sets(request: Request, service: TheService, person: Reader) -> Response:
    """List the uploaded data sets, the newest first."""
    return _listed(request, service)


@router.post("/{id}/rename")
def rename(
    request: Request, service: TheService, person: Starter, id: str, name: Annotated[str, Form(max_length=1000)] = ""
) -> Response:
    """Rename a data set; a name that cannot be used comes back as it was, with what is wrong with it."""
    uploads = _uploads(service)
    upload = uploads.get(id)
    try:
        uploads.rename(upload, name)
    except RequestRefused as refusal:
        return _listed(request, service, wrong=upload.id, entered=name, problem=refusal.detail.removeprefix("name: "))
    return RedirectResponse(f"/data#data-{upload.id}", 303)


@router.post("/{id}/delete")
def delete(request: Request, service: TheService, person: Starter, id: str) -> Response:
    """Delete a data set, unless an unfinished run was given it."""
    try:
        delete_upload(service, person, id)
    except RequestRefused:
        problem = "An unfinished run uses this data set. Finish or delete that run first."
        return _listed(request, service, wrong=id, problem=problem, status=409)
    return RedirectResponse("/data", 303)


def _listed(
    request: Request, service: TheService, *, wrong: str = "", entered: str = "", problem: str = "", status: int = 422
) -> Response:
    """Return the list, with a problem at the upload `wrong`, whose new name was `entered`."""
    runs, names = list_runs(service.home), labels(service.home)
    sets = [
        DataSet(upload, [(run, run_label(names, run)) for run in runs if uses_upload(run, upload.id)])
        for upload in _uploads(service).all()
    ]
    return page(
        request,
        "data.html",
        sets=sets,
        shown=SHOWN_RUNS,
        wrong=wrong,
        entered=entered,
        problem=problem,
        status=status if problem else 200,
    )


def _uploads(service: TheService) -> Uploads:
    return RequestFiles(service.home, service.data_root).uploads
