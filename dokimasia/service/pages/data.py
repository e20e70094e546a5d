"""The page of the uploaded data sets: which runs used each, and their names and deletion."""

import re
from itertools import islice
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from dokimasia.datasets import Problem, open_dataset
from dokimasia.errors import InputError
from dokimasia.operations.operation import RequestRefused
from dokimasia.runs.samples import bring_reader
from dokimasia.service.drawing import page
from dokimasia.service.pages.samples import run_label
from dokimasia.service.routes.uploads import delete as delete_upload
from dokimasia.service.routes.uploads import uses_upload
from dokimasia.service.state import IN_TURN, Reader, Starter, TheService
from dokimasia.service.uploads import UPLOAD, RequestFiles, Upload, Uploads
from dokimasia.storage.content.blobs import MemoryBlobs
from dokimasia.storage.naming import labels
from dokimasia.storage.runs import Run, list_runs

router = APIRouter(prefix="/data")

SHOWN_RUNS = 5
"""The number of a data set's runs listed above the fold."""

ROWS_READ = 500
"""The number of rows of a data set that are checked for missing images."""

IMAGES = (
    "Upload the data and these images together: choose all files at once, or a ZIP of them. Images are found by their path, "
    "or else by their file name."
)
"""The advice shown if images are missing."""


class MissingImages(NamedTuple):
    """How many of the checked rows name a missing image, and the names of these images."""

    samples: int
    rows: int
    names: list[str]


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
    return _listed(request, service)


@router.get("/{id}/missing", dependencies=[IN_TURN])
def missing(request: Request, service: TheService, person: Reader, id: str) -> Response:
    """Return the part of the list on a data set's missing images; empty if none is missing."""
    places = RequestFiles(service.home, service.data_root)
    upload = places.uploads.get(id)
    key = ("missing images", upload.id)
    images = service.cache.get(key, lambda: _missing_images(places, upload))
    return page(request, "data_missing.html", missing=images, rows_read=ROWS_READ, advice=IMAGES)


def _missing_images(places: RequestFiles, upload: Upload) -> MissingImages:
    """Return the images missing in the first rows of a data set; none if it cannot be read."""
    samples, rows = 0, 0
    names: dict[str, None] = {}
    try:
        path = places.file(f"{UPLOAD}{upload.id}", "data")
        bring_reader(path)
        for row in islice(open_dataset(path, blobs=MemoryBlobs(), need_prompt=False, prompt="–"), ROWS_READ):
            if isinstance(row, Problem) and not row.line:  # of the whole file
                continue
            rows += 1
            if isinstance(row, Problem) and row.kind == "image-missing":
                samples += 1
                names |= dict.fromkeys(_IMAGE_NAME.findall(row.message))
    except InputError:
        return MissingImages(0, 0, [])
    return MissingImages(samples, rows, list(names))


_IMAGE_NAME = re.compile(r"there is no image file '([^']+)'")


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
        return _listed(request, service, wrong=upload.id, entered=name, problem=refusal.detail.removeprefix("name: "))
    return RedirectResponse(f"/data#data-{upload.id}", 303)


@router.post("/{id}/delete")
def delete(request: Request, service: TheService, person: Starter, id: str) -> Response:
    """Delete a data set, unless an unfinished run uses it."""
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
