"""An upload on its way into a home: its files are taken in under caps, whole or not at all, and kept by content."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from pydantic import Field

from dokimasia.datasets.formats import READERS
from dokimasia.datasets.images import EXTENSIONS, MAX_BYTES, image_format, read_image
from dokimasia.domain.identity import Value, digest
from dokimasia.errors import InputError
from dokimasia.operations.operation import Refused

UPLOAD = "upload:"
"""What stands before an upload's name or id where a request names a file."""

FOLDER, FILES, ABOUT, PART = "uploads", "files", "about.json", ".part-"
SHORT = 8
"""Of an id, the characters that stand beside a name."""

_DRIVE = re.compile(r"[A-Za-z]:")
PROMPT = ".md"
"""How files of prompts end, which are named by their folder."""

SYSTEM = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
"""What file managers leave behind, which is passed over."""


@dataclass(frozen=True, slots=True)
class Caps:
    """How much is taken.

    Attributes:
        file: bytes of one file.
        total: bytes of all files of one upload, unpacked.
        kept: bytes of all uploads of a home.
        files: how many files one upload has.
        name: bytes of a file's name, and of that of each folder.
        depth: how deep folders lie in each other.
        ratio: how many times as large as its archive an unpacked ZIP may be, beyond `small` bytes.
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
        """How a person reads it where a request names a file: by its name, and by so much of its id as tells it apart."""
        return f"{UPLOAD}{self.name}@{self.id[:SHORT]}"

    @property
    def sets(self) -> list[str]:
        """The files of it that can be read as data sets."""
        return [one.name for one in self.files if PurePosixPath(one.name).suffix.lower() in READERS]

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(one.bytes for one in self.files)


@dataclass(slots=True)
class Incoming:
    """An upload on its way: files are begun, written and closed one after another, then all are kept together.

    Attributes:
        part: the folder in which it is put together.
        caps: how much is taken.
        room: bytes that the home has room for.
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
        """The files that were taken, in their order."""
        return [self.part / FILES / name for name in self._names.values()]

    def begin(self, name: str) -> None:
        """Begin a file.

        Raises:
            Refused: there are too many, or the name cannot be one, or is that of another file.
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
        """Write on in the file that was begun last.

        Raises:
            Refused: it, or the whole upload, gets too large.
        """
        self._size += len(data)
        self._total += len(data)
        if self._size > self.caps.file:
            raise too_much(f"a file of more than {self.caps.file:,} bytes")
        if self._total > self.caps.total:
            raise too_much(f"more than {self.caps.total:,} bytes in all")
        if self._total > self.room:
            raise Refused(HTTPStatus.INSUFFICIENT_STORAGE, "the uploads of this home have no room left: delete some")
        if self._open is not None:
            self._open.write(data)

    def close(self) -> None:
        """End the file that was begun last."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def take_out(self, path: Path) -> Path:
        """Take a file out of the upload again, and return where it lies now."""
        name = path.relative_to(self.part / FILES).as_posix()
        del self._names[name.casefold()]
        self._total -= path.stat().st_size
        return path.rename(self.part / "taken")

    def keep(self, *, name: str, by: str) -> tuple[Upload, bool]:
        """Check the images, and keep all files; return the upload, and whether it is new.

        Raises:
            Refused: there is no file, or an image cannot be used.
        """
        self.close()
        if not self._names:
            raise refused("no file came with it")
        kept = tuple(self._checked(one) for one in sorted(self._names.values()))
        first = kept[0].name
        id = digest("upload", [[one.name, one.sha256] for one in kept])[:32]
        target = self.part.parent / id
        if (target / ABOUT).is_file():
            return Upload.model_validate_json((target / ABOUT).read_bytes()), False
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        upload = Upload(id=id, name="", created_at=now, by=by, files=kept)
        more = f" and {len(kept) - 1} more" if len(kept) > 1 else ""
        name = name[:200] or (upload.sets[0] if len(upload.sets) == 1 else first + more)
        alone = len(kept) == 1 and not _is_image(first) and not first.endswith(PROMPT)
        data = first if alone else upload.sets[0] if len(upload.sets) == 1 else ""
        folder = _folder(name) if not upload.sets and any(_is_image(one.name) for one in kept) else FILES
        upload = upload.model_copy(update={"name": name, "data": data, "folder": folder})
        (self.part / FILES).rename(self.part / folder)
        (self.part / ABOUT).write_bytes(upload.model_dump_json().encode())
        (self.part / "taken").unlink(missing_ok=True)
        self.part.rename(target)
        return upload, True

    def _checked(self, name: str) -> FileKept:
        path = self.part / FILES / name
        with path.open("rb") as file:
            head = file.read(16)
            if _is_image(name) or image_format(head):
                data = head + file.read(MAX_BYTES + 1)
                try:
                    found = read_image(data, name, name=PurePosixPath(name).name).sha256
                except InputError as problem:
                    raise refused(str(problem)) from None
                return FileKept(name=name, bytes=len(data), sha256=found)
            file.seek(0)
            return FileKept(
                name=name, bytes=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest()
            )


def plain_name(name: str, caps: Caps) -> str:
    """Return the name of an uploaded file with slashes, in composed characters.

    Raises:
        Refused: it leads out of the upload, cannot be a name, or is too long.
    """
    shown = name[:100]
    text = unicodedata.normalize("NFC", name.replace("\\", "/"))
    try:
        text.encode()
    except UnicodeEncodeError:
        raise refused(f"{shown!a} is no name of a file: it is no text") from None
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if text.startswith("/") or ".." in parts or _DRIVE.match(text):
        raise refused(f"{shown!r} leads out of the upload")
    if not parts or any(not part.isprintable() or part != part.strip() or part.endswith(".") for part in parts):
        raise refused(f"{shown!r} is no name of a file")
    if len(parts) > caps.depth or any(len(part.encode()) > caps.name for part in parts):
        raise refused(
            f"{shown!r} is too long: a name has at most {caps.name} bytes, and lies {caps.depth} folders deep"
        )
    return "/".join(parts)


def _folder(name: str) -> str:
    """Return what the folder of an upload is called, after the upload."""
    plain = re.sub(r"[^\w.-]+", "-", name.encode("ascii", "ignore").decode()).strip("-.")[:60]
    return FILES if plain.lower() in ("", ABOUT, "taken") else plain


def refused(why: str) -> Refused:
    """Return the refusal of an upload for what it is."""
    return Refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"the upload cannot be taken: {why}. Nothing of it was kept")


def too_much(what: str) -> Refused:
    """Return the refusal of an upload for its size."""
    return Refused(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"the upload has {what}, which is more than is taken. Nothing of it was kept",
    )


def _is_image(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in EXTENSIONS
