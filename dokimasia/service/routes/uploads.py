"""Routes for uploaded data sets and images: received as a stream, listed, previewed, deleted; no URL is fetched."""

from collections.abc import Callable
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import BaseModel, Field
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool

from dokimasia.datasets import READERS, Problem, check, format_of, open_dataset, plain_report
from dokimasia.domain.identity import JsonObject
from dokimasia.errors import InputError
from dokimasia.operations.operation import ListPage, RequestRefused, page_of
from dokimasia.runs.reading.reporting import redact_texts
from dokimasia.runs.samples import bring_reader
from dokimasia.service.data_preview import SECONDS_CHECKED, DataCheck, check_upload
from dokimasia.service.problems import may_answer
from dokimasia.service.request_parsing import json_body, leaves
from dokimasia.service.routing import After, Limit, body_of, json_router
from dokimasia.service.state import IN_TURN, Reader, Service, Starter, TheService
from dokimasia.service.uploads import (
    LONGEST_NAME as LONGEST,
)
from dokimasia.service.uploads import (
    UPLOAD,
    FileKept,
    Incoming,
    RequestFiles,
    Upload,
    Uploads,
    is_archive,
    refused,
    unpack,
)
from dokimasia.storage.runs import Run, list_runs

router = json_router("uploads")

MULTIPART = "multipart/form-data"
NAME = "name"
MANY = 200
"""The maximum number of listed problems, and of listed warnings, of a data set."""

SENT = {
    "requestBody": {
        "required": True,
        "description": "A data file; several files with relative names; an image; or a ZIP of these, which is unpacked. "
        "The field `name` says what to call it.",
        "content": {
            MULTIPART: {
                "schema": {
                    "type": "object",
                    "properties": {
                        NAME: {"type": "string", "maxLength": LONGEST},
                        "file": {"type": "array", "items": {"type": "string", "format": "binary"}, "minItems": 1},
                    },
                    "required": ["file"],
                }
            }
        },
    }
}


MOST_PREVIEW = 2_000_000
"""Characters of the samples of a preview, at most: while a reply is redacted, others wait."""


class UploadShown(BaseModel):
    """An upload: its content id, its name, its owner, and its path in a request."""

    id: str
    name: str
    created_at: str
    by: str
    files: int = Field(ge=1)
    bytes: int
    path: str = Field(
        description="what stands for it where a request names a file", examples=["upload:questions.jsonl"]
    )
    called: str = Field(description="the same as a person reads it: by its name and the beginning of its id")


class UploadStored(UploadShown):
    """An upload as it arrived, with the check of its data files."""

    check: DataCheck | None = Field(description="null while the check is still at work")


class UploadsListed(ListPage):
    """A page of the uploads, the newest first."""

    uploads: list[UploadShown]


class Preview(BaseModel):
    """A checked data set: what `dokimasia data check --json` prints, and its first samples."""

    report: JsonObject | None = Field(description="null where it is no data set")
    problem: str = Field(description="why it is none; else empty")
    samples: list[JsonObject] = Field(description=f"the first samples, of at most {MOST_PREVIEW:,} characters in all")


class UploadDetail(UploadShown):
    """An upload with its files and, if one of them or their folder is a data set, a preview."""

    listed: list[FileKept]
    preview: Preview


@router.post(
    "/uploads",
    status_code=HTTPStatus.CREATED,
    openapi_extra=SENT,
    responses={200: {"model": UploadStored, "description": "it was there already"}, **may_answer(507)},
)
async def upload(service: TheService, person: Starter, request: Request, response: Response) -> UploadStored:
    """Upload a data set or images, and check its first rows; the same files again are the same upload."""
    with _uploads(service).incoming() as incoming:
        receiving = _Receiving(incoming)
        await receiving.read(request)
        stored, new = await run_in_threadpool(_store, incoming, receiving.name, person.name)
    response.status_code = HTTPStatus.CREATED if new else HTTPStatus.OK
    places = RequestFiles(service.home, service.data_root)
    check = await run_in_threadpool(check_of, service, places, stored)
    return UploadStored(**_shown_upload(stored).model_dump(), check=check)


def check_of(service: Service, places: RequestFiles, upload: Upload) -> DataCheck | None:
    """Return the check of an upload's data files, made once; None while it takes longer than a reply may."""
    key = ("data check", upload.id, upload.name)
    return service.cache.get(key, lambda: check_upload(places, upload), seconds=2 * SECONDS_CHECKED)


@router.get("/uploads")
def uploads(service: TheService, person: Reader, limit: Limit = 50, after: After = None) -> UploadsListed:
    """List the uploads, the newest first."""
    all_uploads = _uploads(service).all()
    entries, next_key = page_of(all_uploads, lambda upload: upload.id, limit=limit, after=after)
    return UploadsListed(total=len(all_uploads), next=next_key, uploads=[_shown_upload(upload) for upload in entries])


@router.get("/uploads/{id}", dependencies=[IN_TURN])
def one_upload(
    service: TheService,
    person: Reader,
    id: str,
    file: Annotated[
        str, Query(max_length=4000, description="The file that is looked through; by default the data set.")
    ] = "",
    prompt: Annotated[
        str | None, Query(max_length=10_000, description="The question of samples that have none of their own.")
    ] = None,
    samples: Annotated[int, Query(ge=0, le=100, description="How many samples are shown.")] = 5,
) -> UploadDetail:
    """Show an upload's files, and check its data set: every fault by its line, and the first samples."""
    places = RequestFiles(service.home, service.data_root)
    upload_row = places.uploads.get(id)
    path = places.file(f"{UPLOAD}{upload_row.id}{f'/{file}' if file else ''}", "file")
    preview = _preview(path, places, prompt=prompt, samples=samples)
    return UploadDetail(**_shown_upload(upload_row).model_dump(), listed=list(upload_row.files), preview=preview)


@router.delete("/uploads/{id}")
def delete(
    service: TheService,
    person: Starter,
    id: str,
    force: Annotated[bool, Query(description="Also where an unfinished run was given it.")] = False,
) -> UploadShown:
    """Delete an upload; runs keep the samples and images that they were accepted with."""
    uploads_of_home = _uploads(service)
    target = uploads_of_home.get(id)
    using = [run.id for run in list_runs(service.home) if run.status != "done" and uses_upload(run, target.id)]
    if using and not force:
        raise RequestRefused(
            HTTPStatus.CONFLICT,
            f"the run {', '.join(using)} is not finished and was given it: delete it all the same with ?force=true",
        )
    uploads_of_home.delete(target)
    return _shown_upload(target)


class UploadRename(BaseModel):
    """A new name of an upload."""

    name: str = Field(min_length=1, max_length=LONGEST)


@router.patch("/uploads/{id}", openapi_extra=json_body(UploadRename))
def rename(
    service: TheService, person: Starter, id: str, change: Annotated[UploadRename, body_of(UploadRename)]
) -> UploadShown:
    """Rename an upload; runs that use it are unaffected."""
    uploads_of_home = _uploads(service)
    return _shown_upload(uploads_of_home.rename(uploads_of_home.get(id), change.name))


class _Receiving:
    """Reads a form with files as it arrives, and writes each piece of a file to disk."""

    def __init__(self, incoming: Incoming) -> None:
        self.name = ""
        self._incoming = incoming
        self._pending: list[Callable[[], None]] = []
        self._header = b""
        self._value = b""
        self._disposition = b""
        self._field: bytearray | None = None
        self._done = False

    async def read(self, request: Request) -> None:
        """Read a request's body to its end.

        Raises:
            RequestRefused: it is not a form with files, is incomplete, or its files are refused.
        """
        kind, options = parse_options_header(request.headers.get("content-type", ""))
        boundary = options.get(b"boundary", b"")
        if kind != MULTIPART.encode() or not boundary:
            raise RequestRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"an upload is sent as {MULTIPART} with a boundary")
        try:
            parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": lambda data, start, end: self._add_header_name(data[start:end]),
                    "on_header_value": lambda data, start, end: self._add_header_value(data[start:end]),
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._start_part,
                    "on_part_data": lambda data, start, end: self._data(data[start:end]),
                    "on_part_end": self._end,
                    "on_end": self._finish,
                },
            )
            async for chunk in request.stream():
                parser.write(chunk)
                if self._pending:
                    await run_in_threadpool(self._run_pending)
            parser.finalize()
        except (FormParserError, KeyError, ValueError) as error:
            raise refused(f"the form is broken ({str(error)[:100]})") from None
        if not self._done:
            raise refused("the form is broken off")

    def _run_pending(self) -> None:
        todo, self._pending = self._pending, []
        for task in todo:
            task()

    def _begin(self) -> None:
        self._disposition, self._field = b"", None

    def _add_header_name(self, data: bytes) -> None:
        self._header += data

    def _add_header_value(self, data: bytes) -> None:
        self._value += data

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header = self._value = b""

    def _start_part(self) -> None:
        _, options = parse_options_header(self._disposition)
        file, field = options.get(b"filename"), options.get(b"name", b"")
        if file is not None:
            name = file.decode("utf-8", "surrogateescape")
            self._pending.append(lambda: self._incoming.begin(name))
        elif field == NAME.encode():
            self._field = bytearray()
        else:
            raise refused(f"there is no field {field.decode('utf-8', 'replace')[:80]!r}: send files, and {NAME!r}")

    def _data(self, data: bytes) -> None:
        if self._field is None:
            self._pending.append(lambda: self._incoming.write(data))
        elif len(self._field) + len(data) > 4 * LONGEST:
            raise refused(f"{NAME} has more than {LONGEST} characters")
        else:
            self._field += data

    def _end(self) -> None:
        if self._field is None:
            self._pending.append(self._incoming.close)
            return
        self.name = self._field.decode("utf-8", "replace").strip()
        if len(self.name) > LONGEST or not self.name.isprintable():
            raise refused(f"{NAME} has at most {LONGEST} characters, all of which can be printed")

    def _finish(self) -> None:
        self._done = True


def _store(incoming: Incoming, name: str, by: str) -> tuple[Upload, bool]:
    """Store an upload, with a ZIP archive unpacked; without a name, it gets that of its only file, archive or folder."""
    default, files = "", incoming.files
    if len(files) == 1 and is_archive(files[0]):
        default = files[0].stem
        unpack(incoming, files[0])
    elif any(map(is_archive, files)):
        raise refused("a ZIP archive comes alone")
    for file in incoming.files:
        if file.suffix.lower() in READERS and not file.stat().st_size:
            raise refused(f"{file.name} is empty")
    top_names = {file.relative_to(incoming.part).parts[1] for file in incoming.files}
    return incoming.keep(name=name, by=by, default=default or (top_names.pop() if len(top_names) == 1 else ""))


def _preview(path: Path, places: RequestFiles, *, prompt: str | None, samples: int) -> Preview:
    try:
        bring_reader(path)
        name = format_of(path).name
        report = plain_report(path, name, check(path, prompt=prompt))
        rows = islice(open_dataset(path, prompt=prompt, limit=max(1, samples)), MANY)
        sample_rows: list[JsonObject] = []
        size = 0
        for row in rows:
            if not isinstance(row, Problem) and len(sample_rows) < samples:
                size += len(row.model_dump_json())
                if size > MOST_PREVIEW:
                    break
                sample_rows.append(row.model_dump(mode="json"))
    except InputError as problem:
        return Preview(report=None, problem=places.shortened(str(problem)), samples=[])
    report |= {part: report[part][:MANY] for part in ("problems", "warnings")}
    return Preview(report=redact_texts(report, places.shortened), problem="", samples=sample_rows)


def uses_upload(run: Run, id: str) -> bool:
    """Return whether the options of a run mention an upload anywhere."""
    return any(f"/{id}/" in leaf for leaf in leaves(run.options) if isinstance(leaf, str))


def _uploads(service: Service) -> Uploads:
    return RequestFiles(service.home, service.data_root).uploads


def _shown_upload(upload_row: Upload) -> UploadShown:
    fields = upload_row.model_dump(include={"id", "name", "created_at", "by"})
    return UploadShown(
        **fields,
        files=len(upload_row.files),
        bytes=upload_row.bytes,
        path=f"{UPLOAD}{upload_row.id}",
        called=upload_row.called,
    )
