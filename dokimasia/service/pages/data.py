"""The pages of the uploaded data sets: which runs used each, their names and deletion, and a look at their samples."""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from dokimasia.operations.operation import RequestRefused
from dokimasia.runs.requests import DataRequest
from dokimasia.service.data_preview import IMAGES, OTHER_FILES, DataCheck, preview_data
from dokimasia.service.drawing import page
from dokimasia.service.forms import groups_of, labels_of
from dokimasia.service.pages.samples import run_label
from dokimasia.service.routes.uploads import check_of, uses_upload
from dokimasia.service.routes.uploads import delete as delete_upload
from dokimasia.service.state import IN_TURN, Reader, Starter, TheService
from dokimasia.service.uploads import MANY, UPLOAD, RequestFiles, Upload, Uploads
from dokimasia.service.wording import as_on_pages
from dokimasia.storage.naming import labels
from dokimasia.storage.runs import Run, list_runs

router = APIRouter(prefix="/data")

SHOWN_RUNS = 5
"""The number of a data set's runs listed above the fold."""

LOOKED_AT = 20
"""The number of samples on the page of a data set."""


class DataSet(NamedTuple):
    """An upload with the runs that used it, the newest first, each with its label."""

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
    return _page(request, service)


@router.get("/{id}", dependencies=[IN_TURN])
def look(
    request: Request,
    service: TheService,
    person: Reader,
    id: str,
    file: Annotated[str, Query(max_length=4000)] = "",
    prompt: Annotated[str, Query(max_length=10_000)] = "",
) -> Response:
    """Show the first samples of a data set with their images, and what is wrong with which line."""
    places = RequestFiles(service.home, service.data_root)
    upload = places.uploads.get(id)
    labels = _labels()
    chosen = file or upload.data or next(iter(upload.sets), "")
    name = f"{UPLOAD}{upload.id}{f'/{chosen}' if chosen else ''}"
    places.file(name, "file")
    data = preview_data(places, name, labels, prompt=prompt, most=LOOKED_AT)
    check = check_of(service, places, upload)
    if check is not None and not check.usable:  # which names the faults of these samples, too
        data.problem, data.faults, data.missing = "", [], 0
    return page(
        request,
        "data_look.html",
        upload=upload,
        chosen=chosen,
        data=data,
        prompt=prompt,
        check=check and _as_on_pages(check, labels),
        images=IMAGES,
        other_files=OTHER_FILES,
        sets=upload.sets[:MANY],
    )


@router.get("/{id}/check", dependencies=[IN_TURN])
def checked(request: Request, service: TheService, person: Reader, id: str) -> Response:
    """Return the part of the list on what is wrong with a data set; empty if nothing is."""
    places = RequestFiles(service.home, service.data_root)
    upload = places.uploads.get(id)
    check = check_of(service, places, upload)
    return page(
        request,
        "data_check.html",
        upload=upload,
        check=check and _as_on_pages(check, _labels()),
        images=IMAGES,
        other_files=OTHER_FILES,
    )


def _as_on_pages(check: DataCheck, labels: Mapping[str, str]) -> DataCheck:
    """Return a check in the words of pages."""
    return check.model_copy(update={"faults": [as_on_pages(fault, labels) for fault in check.faults]})


def _labels() -> Mapping[str, str]:
    """Return the labels of the fields of data in forms, in which the faults of data are worded."""
    return labels_of(groups_of(DataRequest))


@router.post("/{id}/rename")
def rename(
    request: Request, service: TheService, person: Starter, id: str, name: Annotated[str, Form(max_length=1000)] = ""
) -> Response:
    """Rename a data set; an unusable name is returned unchanged, with its fault."""
    uploads = _uploads(service)
    upload = uploads.get(id)
    try:
        uploads.rename(upload, name)
    except RequestRefused as refusal:
        return _page(request, service, wrong=upload.id, entered=name, problem=refusal.detail.removeprefix("name: "))
    return RedirectResponse(f"/data#data-{upload.id}", 303)


@router.post("/{id}/delete")
def delete(request: Request, service: TheService, person: Starter, id: str) -> Response:
    """Delete a data set, unless an unfinished run uses it."""
    try:
        delete_upload(service, person, id)
    except RequestRefused:
        problem = "An unfinished run uses this data set. Finish or delete that run first."
        return _page(request, service, wrong=id, problem=problem, status=409)
    return RedirectResponse("/data", 303)


def _page(
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
