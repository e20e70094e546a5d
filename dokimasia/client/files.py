"""Uploads of the files named by a request, identified by content, so that no file is uploaded twice."""

import hashlib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, TypeVar

from dokimasia.client.connection import Connection
from dokimasia.datasets import format_of, name_and_file
from dokimasia.datasets.images import EXTENSIONS, OnDisk
from dokimasia.domain.identity import JsonObject, digest
from dokimasia.errors import ConfigError, DokimasiaError, InputError
from dokimasia.runs.requests import Invocation, option_of
from dokimasia.runs.samples import bring_reader

R = TypeVar("R", bound=Invocation)

IMAGE_FIELDS = frozenset({"image", "images", "image_path"})
_LONGEST = 1024


class UploadPart(NamedTuple):
    """A file of an upload: its name, with forward slashes, and its local path."""

    name: str
    path: Path


def sent(connection: Connection, path: Path) -> str:
    """Upload a file with the images it names, or a folder, unless the service has it; return its name for requests.

    Raises:
        InputError: there is nothing to upload, or the service refuses it.
    """
    if not path.exists():
        raise InputError(f"there is no file {path}")
    parts = list(parts_of(path))
    if not parts:
        raise InputError(f"{path} is an empty folder: there is nothing to send")
    hashes = [[unicodedata.normalize("NFC", part.name), _sha256(part.path)] for part in parts]
    id = digest("upload", sorted(hashes))[:32]
    if not _is_there(connection, id):
        with ExitStack() as stack:
            files = [("file", (part.name, stack.enter_context(part.path.open("rb")))) for part in parts]
            reply = connection.request("POST", "/api/uploads", files=files, data={"name": path.name[:200]})
            id = str(reply.json()["id"])
    return f"upload:{id}/{path.name}"


def parts_of(path: Path) -> Iterator[UploadPart]:
    """Yield a file and the images it names in its own folder, or all files of a folder, under the folder's name."""
    if path.is_dir():
        for entry in sorted(path.rglob("*")):
            if entry.is_file() and not any(part.startswith(".") for part in entry.relative_to(path).parts):
                yield UploadPart(f"{path.name}/{entry.relative_to(path).as_posix()}", entry)
        return
    yield UploadPart(path.name, path)
    names = {path.name}
    for image in _images(path):
        name = image.relative_to(path.parent).as_posix()
        if name not in names:
            names.add(name)
            yield UploadPart(name, image)


def request_sent(connection: Connection, request: Invocation) -> JsonObject:
    """Return a request as JSON, after uploading the files it names.

    Raises:
        ConfigError: it names an output file, which a service does not write.
    """
    values = request.model_dump(mode="json", exclude_defaults=True)
    for name, field in type(request).model_fields.items():
        value = getattr(request, name)
        if name not in values or not _holds_path(value):
            continue
        option = option_of(field)
        if option.written:
            flag = option.flags[0] if option.flags else f"--{name.replace('_', '-')}"
            raise ConfigError(f"{flag}: a service writes no file here; get it from the run with export or show")
        values[name] = _replace_paths(value, lambda path: named(connection, path))
    return values


def paths_of(request: Invocation) -> list[Path]:
    """Return the files that a request names, alone or in a list."""
    values = [getattr(request, name) for name in type(request).model_fields]
    paths = [path for value in values for path in (value if isinstance(value, tuple) else (value,))]
    return [path for path in paths if isinstance(path, Path)]


def without_written(request: R) -> R:
    """Return a request without its output files, which the caller writes afterwards."""
    fields = type(request).model_fields.items()
    defaults = {
        name: field.get_default(call_default_factory=True) for name, field in fields if option_of(field).written
    }
    if defaults:
        return request.model_copy(update=defaults)
    return request


def named(connection: Connection, path: Path) -> str:
    """Upload a path if it exists, and return its name in a request; other paths, such as a run's id, are unchanged."""
    model, file = name_and_file(path)
    if file != path and file.is_file():
        return f"{model}={sent(connection, file)}"
    if path.exists():
        return sent(connection, path)
    return str(path)


def _holds_path(value: object) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_holds_path, value))
    if isinstance(value, Mapping):
        return any(map(_holds_path, value.values()))
    return isinstance(value, Path)


def _replace_paths(value: object, put: Callable[[Path], str]) -> object:
    if isinstance(value, tuple | list):
        return [_replace_paths(element, put) for element in value]
    if isinstance(value, Mapping):
        return {name: _replace_paths(element, put) for name, element in value.items()}
    if isinstance(value, Path):
        return put(value)
    return value


def _is_there(connection: Connection, id: str) -> bool:
    return any(upload["id"] == id for page in connection.pages("/api/uploads") for upload in page["uploads"])


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _images(path: Path) -> Iterator[Path]:
    """Yield the images in a data file's folder that its rows name; none if unreadable, which the service reports."""
    try:
        bring_reader(path)
        for row in format_of(path).reader(path):
            fields: Mapping[str, object] = getattr(row, "fields", {})
            for name, value in fields.items():
                yield from _files_in(value, path.parent, images=name in IMAGE_FIELDS)
    except DokimasiaError:
        return


def _files_in(value: object, folder: Path, *, images: bool) -> Iterator[Path]:
    if isinstance(value, list):
        for element in value:
            yield from _files_in(element, folder, images=images)
        return
    if isinstance(value, OnDisk):
        path = value.path
    elif isinstance(value, str) and 0 < len(value) <= _LONGEST and "\n" not in value and "\0" not in value:
        path = folder / value
        if not images and path.suffix.lower() not in EXTENSIONS:
            return
    else:
        return
    try:
        if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            yield path
    except (OSError, ValueError):
        return
