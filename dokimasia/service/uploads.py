"""Files that requests can name: uploads, stored by content hash within limits, and paths below the data root."""

import hashlib
import os
import re
import secrets
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import BinaryIO, get_args
from urllib.parse import quote, unquote

from pydantic import Field, ValidationError

from dokimasia.datasets.formats import READERS
from dokimasia.datasets.images import EXTENSIONS, MAX_BYTES, image_format, read_image
from dokimasia.domain.hub import SCHEME
from dokimasia.domain.identity import Value, digest
from dokimasia.errors import InputError, NotFound
from dokimasia.operations.operation import RequestRefused
from dokimasia.plugins import entry_points_of, prompt_folder
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.requests import Option, kind_of, prompt_folders, run_or_file
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run
from dokimasia.storage.runs import Run, get_run

UPLOAD = "upload:"
"""The prefix of a reference to an upload in a request, before its name or id."""

FOLDER, FILES, ABOUT, PART = "uploads", "files", "about.json", ".part-"
SHORT = 8
"""The number of characters of an upload's id after its name."""

_DRIVE = re.compile(r"[A-Za-z]:")
PROMPT = ".md"
"""The extension of prompt files, which are named by their folder."""

SYSTEM = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
"""Names of files created by file managers, which are skipped."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits on uploads.

    Attributes:
        file: bytes of one file.
        total: bytes of all files of one upload, unpacked.
        kept: bytes of all uploads of a home.
        files: the number of files of one upload.
        name: bytes of a file's name, and of that of each folder.
        depth: the number of folders in a path.
        ratio: the largest expansion of a ZIP archive of more than `small` unpacked bytes.
    """

    file: int = 1_000_000_000
    total: int = 2_000_000_000
    kept: int = 100_000_000_000
    files: int = 20_000
    name: int = 200
    depth: int = 16
    ratio: int = 100
    small: int = 20_000_000


class FileKept(Value):
    """A file of an upload: its name with slashes, its size in bytes, and the SHA-256 of its content."""

    name: str
    bytes: int = Field(ge=0)
    sha256: str


class Upload(Value):
    """An upload: its id by content, what it is called, when it came (UTC, ISO form), whose it is, and its files by name.

    `data` is the name of the one file of it that is a data set, empty where it is a folder or none is alone. `folder` is what
    the folder of its files is called; of images alone after the upload, since a run over them is called after it.
    """

    id: str
    name: str
    created_at: str
    by: str
    data: str = ""
    files: tuple[FileKept, ...]
    folder: str = FILES

    @property
    def called(self) -> str:
        """Its readable name in a request: its name and the beginning of its id."""
        return f"{UPLOAD}{self.name}@{self.id[:SHORT]}"

    @property
    def sets(self) -> list[str]:
        """Its files that can be read as data sets."""
        return [file.name for file in self.files if PurePosixPath(file.name).suffix.lower() in READERS]

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for file in self.files)


@dataclass(slots=True)
class Incoming:
    """An upload in progress: its files are written one after another, then all are stored together.

    Attributes:
        part: its temporary folder.
        caps: its limits.
        room: bytes that the home has left for uploads.
    """

    part: Path
    caps: Caps
    room: int
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _open: BinaryIO | None = None
    _size: int = 0
    _total: int = 0

    @property
    def files(self) -> list[Path]:
        """The received files, in order."""
        return [self.part / FILES / name for name in self._names.values()]

    def check_room(self, files: int, size: int) -> None:
        """Check that there is room for this many more files and bytes, before any is written.

        Raises:
            RequestRefused: there is not.
        """
        if len(self._names) + files > self.caps.files:
            raise too_much(f"more than {self.caps.files:,} files")
        if self._total + size > self.caps.total:
            raise too_much(f"more than {self.caps.total:,} bytes in all")

    def begin(self, name: str) -> None:
        """Start a new file.

        Raises:
            RequestRefused: there are too many files, or the name is invalid or that of another file.
        """
        self.close()
        name = plain_name(name, self.caps)
        if len(self._names) >= self.caps.files:
            raise too_much(f"more than {self.caps.files:,} files")
        if name.casefold() in self._names:
            raise refused(f"two files are called {name!r}")
        self._names[name.casefold()] = name
        path = self.part / FILES / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open = path.open("xb")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise refused(f"{name!r} is a file and a folder at once") from None
        self._size = 0

    def write(self, data: bytes) -> None:
        """Append to the current file.

        Raises:
            RequestRefused: the file or the upload becomes too large.
        """
        self._size += len(data)
        self._total += len(data)
        if self._size > self.caps.file:
            raise too_much(f"a file of more than {self.caps.file:,} bytes")
        if self._total > self.caps.total:
            raise too_much(f"more than {self.caps.total:,} bytes in all")
        if self._total > self.room:
            raise RequestRefused(
                HTTPStatus.INSUFFICIENT_STORAGE, "the uploads of this home have no room left: delete some"
            )
        if self._open is not None:
            self._open.write(data)

    def close(self) -> None:
        """Close the current file."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def take_out(self, path: Path) -> Path:
        """Remove a file from the upload, and return its new path."""
        name = path.relative_to(self.part / FILES).as_posix()
        del self._names[name.casefold()]
        self._total -= path.stat().st_size
        return path.rename(self.part / "taken")

    def keep(self, *, name: str, by: str, default: str = "") -> tuple[Upload, bool]:
        """Check the images and store all files; return the upload, and whether it is new.

        Without a name it gets the default. If these files are stored already, their upload keeps its name unless
        another one is given.

        Raises:
            RequestRefused: there is no file, or an image cannot be used.
        """
        self.close()
        if not self._names:
            raise refused("no file came with it")
        files = tuple(self._checked_file(name) for name in sorted(self._names.values()))
        first = files[0].name
        id = digest("upload", [[file.name, file.sha256] for file in files])[:32]
        target = self.part.parent / id
        if (target / ABOUT).is_file():
            upload = Upload.model_validate_json((target / ABOUT).read_bytes())
            renames = name and name != upload.name
            return (Uploads(self.part.parent.parent).rename(upload, name) if renames else upload), False
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        upload = Upload(id=id, name="", created_at=now, by=by, files=files)
        suffix = f" and {len(files) - 1} more" if len(files) > 1 else ""
        title = next(iter(upload.sets), first) + suffix
        name = (name or default)[:200] or (upload.sets[0] if len(upload.sets) == 1 else title)
        alone = len(files) == 1 and not _has_image_ending(first) and not first.endswith(PROMPT)
        data = upload.sets[0] if len(upload.sets) == 1 else ""
        if alone:
            data = first
        folder = _folder(name) if not upload.sets and any(_has_image_ending(file.name) for file in files) else FILES
        upload = upload.model_copy(update={"name": name, "data": data, "folder": folder})
        (self.part / FILES).rename(self.part / folder)
        (self.part / ABOUT).write_bytes(upload.model_dump_json().encode())
        (self.part / "taken").unlink(missing_ok=True)
        self.part.rename(target)
        return upload, True

    def _checked_file(self, name: str) -> FileKept:
        path = self.part / FILES / name
        with path.open("rb") as file:
            head = file.read(16)
            if _has_image_ending(name) or image_format(head):
                data = head + file.read(MAX_BYTES + 1)
                try:
                    sha256 = read_image(data, name, name=PurePosixPath(name).name).sha256
                except InputError as problem:
                    raise refused(str(problem)) from None
                return FileKept(name=name, bytes=len(data), sha256=sha256)
            file.seek(0)
            return FileKept(
                name=name, bytes=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest()
            )


def plain_name(name: str, caps: Caps) -> str:
    """Return the name of an uploaded file with forward slashes, in Unicode normal form NFC.

    Raises:
        RequestRefused: it leads out of the upload, is not a valid name, or is too long.
    """
    excerpt = name[:100]
    text = unicodedata.normalize("NFC", name.replace("\\", "/"))
    try:
        text.encode()
    except UnicodeEncodeError:
        raise refused(f"{excerpt!a} is not a file name: it is not text") from None
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if text.startswith("/") or ".." in parts or _DRIVE.match(text):
        raise refused(f"{excerpt!r} leads out of the upload")
    if not parts or any(not part.isprintable() or part != part.strip() or part.endswith(".") for part in parts):
        raise refused(f"{excerpt!r} is not a file name")
    if len(parts) > caps.depth or any(len(part.encode()) > caps.name for part in parts):
        raise refused(
            f"{excerpt!r} is too long: a name has at most {caps.name} bytes, and lies {caps.depth} folders deep"
        )
    return "/".join(parts)


def _folder(name: str) -> str:
    """Return the name of an upload's folder, made from the upload's name."""
    plain = re.sub(r"[^\w.-]+", "-", name.encode("ascii", "ignore").decode()).strip("-.")[:60]
    if plain.lower() in ("", ABOUT, "taken"):
        return FILES
    return plain


LONGEST_NAME = 200
"""Maximum number of characters of an upload's name."""


def refused_name(why: str) -> RequestRefused:
    """Return the refusal of an upload's new name."""
    return RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, f"name: {why}")


def refused(why: str) -> RequestRefused:
    """Return the refusal of an invalid upload."""
    return RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, f"the upload cannot be taken: {why}. Nothing of it was kept")


def too_much(what: str) -> RequestRefused:
    """Return the refusal of an upload that is too large."""
    return RequestRefused(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"the upload has {what}, which is more than is taken. Nothing of it was kept",
    )


def _has_image_ending(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in EXTENSIONS


ARCHIVES = frozenset({".zip", ".jar", ".7z", ".rar", ".gz", ".bz2", ".xz", ".zst", ".tar", ".tgz"})
WORKBOOK = ".xlsx"
"""The extension of a data file whose format is an archive."""

_SIGNATURE = b"PK\x03\x04"
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
_ENTRY = 46
"""Minimum number of bytes of an entry in the central directory of a ZIP archive."""

_CHUNK = 256 * 1024


def is_archive(path: Path) -> bool:
    """Return whether a file is a ZIP archive by its name."""
    return path.suffix.lower() == ".zip"


def unpack(incoming: Incoming, archive: Path) -> None:
    """Replace a ZIP archive in an upload by its files.

    Raises:
        RequestRefused: it is not a ZIP archive, is damaged or encrypted, unpacks to too much, or contains links,
            archives, or names that lead out of it.
    """
    path = incoming.take_out(archive)
    most = max(incoming.caps.small, incoming.caps.ratio * path.stat().st_size)
    with path.open("rb") as file:
        _check_list(file, incoming.caps.files, incoming.caps.name * incoming.caps.depth)
        try:
            with zipfile.ZipFile(file) as zip_file:
                entries = [
                    entry for entry in zip_file.infolist() if not (entry.is_dir() or _is_ignored(entry.filename))
                ]
                incoming.check_room(len(entries), sum(entry.file_size for entry in entries))
                for entry in entries:
                    most -= _unpack_one(incoming, zip_file, entry, most)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
            ValueError,
            OverflowError,
        ) as error:
            raise refused(f"{archive.name} is not a ZIP archive, or is damaged ({str(error)[:100]})") from None


def _unpack_one(incoming: Incoming, zip_file: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> int:
    """Unpack one file of an archive into the upload, and return its size."""
    name = entry.filename
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise refused(f"{name[:100]!r} is a link or another special file")
    if entry.flag_bits & 0x1:
        raise refused(f"{name[:100]!r} is locked with a password")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise refused(f"{name[:100]!r} is packed in a way that is not read: pack with deflate")
    extension = PurePosixPath(name).suffix.lower()
    incoming.begin(name)
    size = 0
    with zip_file.open(entry) as source:
        while chunk := source.read(_CHUNK):
            if not size and (extension in ARCHIVES or (chunk.startswith(_SIGNATURE) and extension != WORKBOOK)):
                raise refused(f"{name[:100]!r} is an archive within the archive: unpack it first")
            size += len(chunk)
            if size > most:
                raise too_much(f"a ZIP archive that unpacks to more than {incoming.caps.ratio} times its size")
            incoming.write(chunk)
    incoming.close()
    return size


def _check_list(file: BinaryIO, files: int, name: int) -> None:
    """Refuse a ZIP archive that claims too many files, by every record in its tail that may end its central directory."""
    file.seek(0, 2)
    size = file.tell()
    start = max(0, size - 22 - 2**16 - 20)
    file.seek(start)
    tail = file.read()
    file.seek(0)
    if _END_64 in tail:
        raise too_much(f"more than {files:,} files")
    position = tail.find(_END)
    while position >= 0:
        if len(tail) >= position + 22:
            count, length = struct.unpack("<HL", tail[position + 10 : position + 16])
            if count > 2 * files or length > 2 * files * (_ENTRY + name):
                raise too_much(f"more than {files:,} files")
        position = tail.find(_END, position + 1)


def _is_ignored(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.parts[:1] == ("__MACOSX",) or path.name.lower() in SYSTEM


_ID = re.compile(r"[0-9a-f]{32}")
_AT = re.compile(rf"@([0-9a-f]{{{SHORT}}})(?=/|$)")

MANY = 50
"""The maximum number of an upload's data files named in a message."""


@dataclass(frozen=True, slots=True)
class Uploads:
    """The uploads of a home.

    Attributes:
        home: the home's folder.
        caps: the limits.
    """

    home: Path
    caps: Caps = field(default_factory=Caps)

    @property
    def folder(self) -> Path:
        """The folder of all uploads."""
        return self.home.resolve() / FOLDER

    def all(self) -> list[Upload]:
        """Return all readable uploads, the newest first."""
        uploads: list[Upload] = []
        for path in self.folder.glob(f"*/{ABOUT}") if self.folder.is_dir() else ():
            with suppress(OSError, ValidationError):
                uploads.append(Upload.model_validate_json(path.read_bytes()))
        return sorted(uploads, key=lambda upload: (upload.created_at, upload.id), reverse=True)

    def get(self, id: str) -> Upload:
        """Return an upload by its id, or the newest with a name.

        Raises:
            NotFound: there is none.
        """
        if _ID.fullmatch(id):
            with suppress(OSError, ValidationError):
                return Upload.model_validate_json((self.folder / id / ABOUT).read_bytes())
        newest = next((upload for upload in self.all() if upload.name == id), None)
        if newest is None:
            raise NotFound(f"there is no upload {id[:80]!r}: GET /api/uploads lists them")
        return newest

    def path(self, text: str, where: str) -> Path:
        """Return the path of `upload:ID`, `upload:NAME` or either with `/FILE`: the data set, or the folder.

        Raises:
            InputError: there is no such upload, or no such file in it.
        """
        upload, inside = self._upload_and_file(text.removeprefix(UPLOAD), where)
        member = inside or upload.data
        files = self.folder / upload.id / upload.folder
        if not member and where == "data" and len(upload.sets) > 1:
            candidates = ", ".join(f"{upload.called}/{name}" for name in upload.sets[:MANY])
            raise InputError(
                f"{where}: the upload {upload.name!r} holds {len(upload.sets)} data files: name one of {candidates}"
            )
        names = {file.name for file in upload.files}
        if not member or (member not in names and any(name.startswith(f"{member}/") for name in names)):
            return files / member
        if member not in names:
            raise InputError(f"{where}: the upload {upload.name!r} has no file {inside[:200]!r}")
        return files / member

    def choices(self, text: str) -> list[str]:
        """Return the data files to choose from, if a text names an upload with several of them but no file."""
        with suppress(InputError):
            upload, inside = self._upload_and_file(text.removeprefix(UPLOAD), "data")
            if text.startswith(UPLOAD) and not (inside or upload.data) and len(upload.sets) > 1:
                return [f"{upload.called}/{name}" for name in upload.sets[:MANY]]
        return []

    def _upload_and_file(self, text: str, where: str) -> tuple[Upload, str]:
        """Return the upload that a text names, and the file in it."""
        for match in _AT.finditer(text):
            for upload in self.all():
                if upload.id.startswith(match[1]) and upload.name == text[: match.start()]:
                    return upload, text[match.end() + 1 :]
        try:
            return self.get(text), ""
        except NotFound:
            name, _, inside = text.partition("/")
            try:
                return self.get(name), inside
            except NotFound as problem:
                raise InputError(f"{where}: {problem}") from None

    def holds(self, path: Path) -> bool:
        """Return whether a path is inside an upload."""
        parts = path.relative_to(self.folder).parts if path.is_relative_to(self.folder) else ()
        return len(parts) > 1 and parts[1] != ABOUT and bool(_ID.fullmatch(parts[0]))

    def shortened(self, text: str) -> str:
        """Return a text with the paths of uploaded files replaced by their names."""
        return self._path_pattern.sub(lambda match: "" if match[2] else self._name(match[1]), text)

    def request_name(self, text: str) -> str:
        """Return the name of an uploaded file in requests."""
        match = self._path_pattern.match(text)
        if match is None:
            return text
        with suppress(NotFound):
            upload, inside = self.get(match[1]), text[match.end() :]
            if inside in ("", upload.data):
                return upload.called
            return f"{upload.called}/{inside}"
        return text

    @property
    def _path_pattern(self) -> re.Pattern[str]:
        return re.compile(rf"{re.escape(str(self.folder))}/([0-9a-f]{{32}})/[\w.-]*\w(/(?=[^\s;,]))?")

    def _name(self, id: str) -> str:
        try:
            return f"the upload {self.get(id).name}"
        except NotFound:
            return "the upload"

    def rename(self, upload: Upload, name: str) -> Upload:
        """Store an upload under another name, and return it; requests that name it by its id are unaffected.

        Raises:
            RequestRefused: the name is empty, too long or not printable, or another upload has it.
        """
        name = name.strip()
        if not name or len(name) > LONGEST_NAME or not name.isprintable() or "/" in name:
            raise refused_name(f"a name has 1 to {LONGEST_NAME} printable characters and no slash")
        if any(other.name == name and other.id != upload.id for other in self.all()):
            raise refused_name(f"another data set is called {name!r}")
        renamed = upload.model_copy(update={"name": name})
        target = self.folder / upload.id / ABOUT
        part = target.with_name(f"{PART}{secrets.token_hex(4)}")
        part.write_bytes(renamed.model_dump_json().encode())
        part.replace(target)
        return renamed

    def delete(self, upload: Upload) -> None:
        """Delete an upload."""
        trash = self.folder / f"{PART}{os.getpid()}-{secrets.token_hex(4)}"
        (self.folder / upload.id).rename(trash)
        shutil.rmtree(trash, ignore_errors=True)

    @contextmanager
    def incoming(self) -> Iterator["Incoming"]:
        """Yield a new upload, which is removed at the end unless stored; first remove those of dead processes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for leftover in self.folder.glob(f"{PART}*"):
            if not leftover.name.startswith(f"{PART}{os.getpid()}-"):
                shutil.rmtree(leftover, ignore_errors=True)
        part = self.folder / f"{PART}{os.getpid()}-{secrets.token_hex(8)}"
        (part / FILES).mkdir(parents=True)
        incoming = Incoming(part, self.caps, room=self.caps.kept - sum(upload.bytes for upload in self.all()))
        try:
            yield incoming
        except OSError as error:
            raise RequestRefused(
                HTTPStatus.INSUFFICIENT_STORAGE, f"the upload cannot be kept: {error.strerror or type(error).__name__}"
            ) from error
        finally:
            incoming.close()
            shutil.rmtree(part, ignore_errors=True)


RUN = "run:"
"""The prefix of a file of a run in requests: `run:ID/NAME`."""


def files_of_run(run: Run) -> dict[str, Path]:
    """Return the files named by a run's stored request in fields that accept only files, by their names."""
    files: dict[str, Path] = {}
    for name, info in method_of(run).request.model_fields.items():
        kind = kind_of(info)
        if kind is not Path and get_args(kind)[:1] != (Path,):
            continue
        value = run.request.get(name)
        for text in [value] if not isinstance(value, list) else value:
            path = Path(str(text))
            if path.is_absolute():
                files[path.name] = path
    return files


LONGEST_PATH = 1_000
"""Maximum number of characters of a path."""


class OutsidePath(InputError):
    """A path that may not be read; the message does not reveal whether it exists."""


@dataclass(frozen=True, slots=True)
class RequestFiles:
    """The permitted locations of files in requests.

    Attributes:
        home: the home, in which only uploads may be named.
        root: the folder that contains other permitted files; None: uploads only.
    """

    home: Home
    root: Path | None = None
    _runs_files: dict[str, str] = field(default_factory=dict[str, str], init=False, compare=False)
    """The paths of runs' files that were named, with their names."""

    @property
    def uploads(self) -> Uploads:
        """The uploads of the home."""
        return Uploads(self.home.path)

    def resolve(self, text: str, where: str, option: Option) -> Path:
        """Return the absolute path, without links, named by a field of a request.

        Args:
            text: the value of the field.
            where: the field, for messages.
            option: its option: a run or a file, NAME=FILE, the name of a plug-in's prompts, or a plain file.

        Raises:
            InputError: it may not be read, or is missing.
        """
        if option.written:
            raise InputError(f"{where}: the service writes no file; what the run made is had from its export")
        if not text or not _encodable(text):
            raise InputError(f"{where}: {text!a} names no file")
        if option.read is prompt_folders and text in entry_points_of("prompts"):
            return prompt_folder(text)
        if option.read is run_or_file:
            return self._run_or_file(text, where)
        if "NAME=" in (option.metavar or ""):
            return self._with_name(text, where)
        return self.file(text, where)

    def file(self, text: str, where: str) -> Path:
        """Return a file or a folder by `upload:ID`, `upload:ID/NAME`, `upload:NAME`, `run:ID/NAME`, or below the data
        root.

        Raises:
            OutsidePath: it is none of these.
            InputError: there is no such upload, or nothing of that name below the data root.
        """
        if text.startswith(UPLOAD):
            return self.uploads.path(text, where)
        if text.startswith(RUN):
            return self._of_run(text, where)
        if text.startswith(SCHEME):
            raise InputError(
                f"{where}: a service reads no data set of the Hub by name, since that would be by the network and the token "
                "of whoever runs it: save it as Parquet, and upload the file with POST /api/uploads, or name the data set "
                "in a command on a home of your own"
            )
        path = self._below_root(text)
        if path is None:
            hint = "" if self.root is None else ", nor a path below the folder of --data-root"
            raise OutsidePath(
                f"{where}: {text[:LONGEST_PATH]!r} is no upload (upload:NAME){hint}: upload it with POST /api/uploads"
                + (", or start the service with --data-root" if self.root is None else "")
            )
        if not (os.path.isfile(path) or os.path.isdir(path)):  # for any name, even one that the system does not allow
            raise InputError(f"{where}: there is no {text!r} below the folder of --data-root")
        return path

    def allows(self, path: Path) -> bool:
        """Return whether a resolved path is in one of these places."""
        return self.uploads.holds(path) or self._below_root(str(path)) is not None

    @contextmanager
    def named_as_sent(self) -> Iterator["RequestFiles"]:
        """Yield, and let errors inside the block name files as the caller did."""
        try:
            yield self
        except InputError as problem:
            problem.args = (self.shortened(str(problem)),)
            raise

    def shortened(self, text: str) -> str:
        """Return a text with paths shortened to the names that the caller knows."""
        text = self.uploads.shortened(text)
        for path, name in self._runs_files.items():
            text = text.replace(path, name)
        if self.root is None:
            return text
        return text.replace(f"{_resolved(self.root)}{os.sep}", "")

    def request_name(self, text: str, run: Run | None = None) -> str:
        """Return the name of a file in requests; `run` is the run whose request names it."""
        if run is not None and self._outside(text) and (name := Path(text).name) in files_of_run(run):
            return f"{RUN}{run.id}/{name}"
        text = self.uploads.request_name(text)
        if self.root is None:
            return text
        return text.replace(f"{_resolved(self.root)}{os.sep}", "")

    def _outside(self, text: str) -> bool:
        """Return whether a text is the path of a file that a request cannot name directly."""
        return os.path.isabs(text) and self.uploads.request_name(text) == text and self._below_root(text) is None

    def _of_run(self, text: str, where: str) -> Path:
        """Return a file that belongs to a run of the home.

        Raises:
            InputError: there is no such run, it has no such file, or the file is gone.
        """
        id, _, name = text.removeprefix(RUN).partition("/")
        path = files_of_run(get_run(self.home, id)).get(name)
        if path is None:
            raise InputError(f"{where}: run {id[:80]!r} was given no file {name[:80]!r}")
        if not os.path.exists(path):
            raise InputError(f"{where}: the file {name!r} of run {id} is not there any more: upload it again")
        self._runs_files[str(path)] = text
        return path

    def _below_root(self, text: str) -> Path | None:
        """Return a path below the data root with links resolved, or None if it is outside, whether it exists or not."""
        if self.root is None or not text or len(text) > LONGEST_PATH or "\0" in text or not _encodable(text):
            return None
        root = _resolved(self.root)
        relative = Path(text)
        if ".." in relative.parts:
            return None
        for base in (root, self.root):
            if relative.is_absolute() and relative.is_relative_to(base):
                relative = relative.relative_to(base)
        if relative.is_absolute():
            return None
        path, home = _resolved(root / relative), _resolved(self.home.path)
        if not _is_within(path, root) or _is_within(path, home) or _is_within(home, path):
            return None
        if os.path.isdir(path) and any(not _is_within(link, root) for link in _links_of(path)):
            return None
        return path

    def _run_or_file(self, text: str, where: str) -> Path:
        """Return a file, or a run's id as a path."""
        try:
            return self.file(text, where)
        except InputError as problem:
            if text.startswith(UPLOAD) or "/" in text:
                raise
            try:
                return Path(resolve_run(self.home, text).id)
            except InputError as run_problem:
                raise InputError(f"{problem}; and {run_problem}") from None

    def _with_name(self, text: str, where: str) -> Path:
        """Return a file that may follow a model's name, as written by `datasets.named_file`."""
        try:
            return self.file(text, where)
        except InputError:
            name, equals, file = text.partition("=")
            if not (equals and name and file) or text.startswith((UPLOAD, "/")):
                raise
            path = self.file(file, where)
            with_model = path.with_name(f"{quote(unquote(name), safe=' ()+,@')}={path.name}")
            if os.path.lexists(with_model):  # it would be read instead of the checked file
                raise
            return with_model


def _resolved(path: Path) -> Path:
    """Return a path without links; the null device if it cannot be resolved, as in a loop of links."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return Path(os.devnull)


def _is_within(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder)


def _encodable(text: str) -> bool:
    try:
        return bool(os.fsencode(text))
    except UnicodeEncodeError:
        return False


def _links_of(folder: Path) -> Iterator[Path]:
    """Yield the targets of links in a folder and its subfolders."""
    for inside, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(inside, name)
            if path.is_symlink():
                yield _resolved(path)
