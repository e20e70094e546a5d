"""The uploads of a home, and what a request means that names one."""

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from pydantic import ValidationError

from dokimasia.errors import InputError, NotFound
from dokimasia.operations.operation import Refused
from dokimasia.service.incoming import ABOUT, FILES, FOLDER, PART, SHORT, UPLOAD, Caps, Incoming, Upload

_ID = re.compile(r"[0-9a-f]{32}")
_AT = re.compile(rf"@([0-9a-f]{{{SHORT}}})(?=/|$)")

MANY = 50
"""Data files of an upload that are named at most."""


@dataclass(frozen=True, slots=True)
class Uploads:
    """The uploads of a home.

    Attributes:
        home: the home's folder.
        caps: how much is taken.
    """

    home: Path
    caps: Caps = field(default_factory=Caps)

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self.home.resolve() / FOLDER

    def all(self) -> list[Upload]:
        """Return all uploads, the newest first; what cannot be read is none."""
        found: list[Upload] = []
        for path in self.folder.glob(f"*/{ABOUT}") if self.folder.is_dir() else ():
            with suppress(OSError, ValidationError):
                found.append(Upload.model_validate_json(path.read_bytes()))
        return sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)

    def get(self, id: str) -> Upload:
        """Return an upload by its id, or the newest of a name.

        Raises:
            NotFound: there is none.
        """
        if _ID.fullmatch(id):
            with suppress(OSError, ValidationError):
                return Upload.model_validate_json((self.folder / id / ABOUT).read_bytes())
        named = next((one for one in self.all() if one.name == id), None)
        if named is None:
            raise NotFound(f"there is no upload {id[:80]!r}: GET /api/uploads lists them")
        return named

    def path(self, text: str, where: str) -> Path:
        """Return what `upload:ID`, `upload:NAME` or either with `/FILE` means: its data set, or its folder.

        Raises:
            InputError: there is no such upload, or no such file in it.
        """
        upload, inside = self._meant(text.removeprefix(UPLOAD), where)
        wanted = inside or upload.data
        files = self.folder / upload.id / upload.folder
        if not wanted and where == "data" and len(upload.sets) > 1:
            shown = ", ".join(f"{upload.called}/{name}" for name in upload.sets[:MANY])
            raise InputError(
                f"{where}: the upload {upload.name!r} holds {len(upload.sets)} data files: name one of {shown}"
            )
        known = {one.name for one in upload.files}
        if not wanted or (wanted not in known and any(name.startswith(f"{wanted}/") for name in known)):
            return files / wanted
        if wanted not in known:
            raise InputError(f"{where}: the upload {upload.name!r} has no file {inside[:200]!r}")
        return files / wanted

    def choices(self, text: str) -> list[str]:
        """Return the data files of an upload that holds several and of which a text names none, as a request names them."""
        with suppress(InputError):
            upload, inside = self._meant(text.removeprefix(UPLOAD), "data")
            if text.startswith(UPLOAD) and not (inside or upload.data) and len(upload.sets) > 1:
                return [f"{upload.called}/{name}" for name in upload.sets[:MANY]]
        return []

    def _meant(self, named: str, where: str) -> tuple[Upload, str]:
        """Return the upload that a text means, and the file in it."""
        for at in _AT.finditer(named):
            for one in self.all():
                if one.id.startswith(at[1]) and one.name == named[: at.start()]:
                    return one, named[at.end() + 1 :]
        try:
            return self.get(named), ""
        except NotFound:
            name, _, inside = named.partition("/")
            try:
                return self.get(name), inside
            except NotFound as problem:
                raise InputError(f"{where}: {problem}") from None

    def holds(self, path: Path) -> bool:
        """Whether a path lies in the files of an upload."""
        parts = path.relative_to(self.folder).parts if path.is_relative_to(self.folder) else ()
        return len(parts) > 1 and parts[1] != ABOUT and bool(_ID.fullmatch(parts[0]))

    def shortened(self, text: str) -> str:
        """Return a text in which files of uploads are called by their names there, and their folders by the upload's name."""
        return self._found.sub(lambda at: "" if at[2] else self._name(at[1]), text)

    def asked(self, text: str) -> str:
        """Return a text in which files of uploads are named as a request names them."""
        at = self._found.match(text)
        if at is None:
            return text
        with suppress(NotFound):
            upload, inside = self.get(at[1]), text[at.end() :]
            return upload.called if inside in ("", upload.data) else f"{upload.called}/{inside}"
        return text

    @property
    def _found(self) -> re.Pattern[str]:
        return re.compile(rf"{re.escape(str(self.folder))}/([0-9a-f]{{32}})/[\w.-]*\w(/(?=[^\s;,]))?")

    def _name(self, id: str) -> str:
        try:
            return f"the upload {self.get(id).name}"
        except NotFound:
            return "the upload"

    def delete(self, upload: Upload) -> None:
        """Delete an upload."""
        gone = self.folder / f"{PART}{os.getpid()}-{secrets.token_hex(4)}"
        (self.folder / upload.id).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    @contextmanager
    def incoming(self) -> Iterator["Incoming"]:
        """Take an upload in; what is not kept at the end, or was left behind by a process that died, is removed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.glob(f"{PART}*"):
            if not left.name.startswith(f"{PART}{os.getpid()}-"):
                shutil.rmtree(left, ignore_errors=True)
        part = self.folder / f"{PART}{os.getpid()}-{secrets.token_hex(8)}"
        (part / FILES).mkdir(parents=True)
        taking = Incoming(part, self.caps, room=self.caps.kept - sum(one.bytes for one in self.all()))
        try:
            yield taking
        except OSError as error:
            raise Refused(
                HTTPStatus.INSUFFICIENT_STORAGE, f"the upload cannot be kept: {error.strerror or type(error).__name__}"
            ) from error
        finally:
            taking.close()
            shutil.rmtree(part, ignore_errors=True)
