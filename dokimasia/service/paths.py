"""Files that a request over HTTP names: an upload, or a path below the data root; nothing else on the disk is ever reached."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from dokimasia.errors import InputError
from dokimasia.plugins import found, prompt_folder
from dokimasia.runs.requests import Option, prompt_folders, run_or_file
from dokimasia.service.incoming import UPLOAD
from dokimasia.service.uploads import Uploads
from dokimasia.storage.home import Home
from dokimasia.storage.naming import resolve_run

LONGEST = 1_000
"""Characters of a path."""


class Outside(InputError):
    """A path that may not be read; the sentence is the same whether anything is there or not."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where files of requests may lie.

    Attributes:
        home: the home, in whose uploads they may lie, and nowhere else in it.
        root: the folder below which they may lie beside that; None: uploads only.
    """

    home: Home
    root: Path | None = None

    @property
    def uploads(self) -> Uploads:
        """What was uploaded to the home."""
        return Uploads(self.home.path)

    def named(self, text: str, where: str, how: Option) -> Path:
        """Return what a field of a request names, absolute and without links.

        Args:
            text: as it was given.
            where: the field, for messages.
            how: how the field is given: as a run or a file, as NAME=FILE, as the name of a plug-in's prompts, or plainly.

        Raises:
            InputError: it is nothing that may be read.
        """
        if how.written:
            raise InputError(f"{where}: the service writes no file; what the run made is had from its export")
        if not text or not _encodable(text):
            raise InputError(f"{where}: {text!a} names no file")
        if how.read is prompt_folders and text in found("prompts"):
            return prompt_folder(text)
        if how.read is run_or_file:
            return self._run_or_file(text, where)
        if "NAME=" in (how.metavar or ""):
            return self._with_name(text, where)
        return self.file(text, where)

    def file(self, text: str, where: str) -> Path:
        """Return a file or a folder by `upload:ID`, `upload:ID/NAME`, `upload:NAME`, or a path below the data root.

        Raises:
            Outside: it is neither.
            InputError: there is no such upload, or nothing of that name below the data root.
        """
        if text.startswith(UPLOAD):
            return self.uploads.path(text, where)
        path = self._below_root(text)
        if path is None:
            below = "" if self.root is None else ", nor a path below the folder of --data-root"
            raise Outside(
                f"{where}: {text[:LONGEST]!r} is no upload (upload:NAME){below}: upload it with POST /api/uploads"
                + (", or start the service with --data-root" if self.root is None else "")
            )
        if not (os.path.isfile(path) or os.path.isdir(path)):  # whatever the name is, which some systems cannot have
            raise InputError(f"{where}: there is no {text!r} below the folder of --data-root")
        return path

    def allows(self, path: Path) -> bool:
        """Whether a path that was resolved lies where files may lie."""
        return self.uploads.holds(path) or self._below_root(str(path)) is not None

    def shortened(self, text: str) -> str:
        """Return a text in which files are called as whoever uploaded them knows them."""
        text = self.uploads.shortened(text)
        return text if self.root is None else text.replace(f"{_resolved(self.root)}{os.sep}", "")

    def asked(self, text: str) -> str:
        """Return a file's path as a request names it."""
        text = self.uploads.asked(text)
        return text if self.root is None else text.replace(f"{_resolved(self.root)}{os.sep}", "")

    def _below_root(self, text: str) -> Path | None:
        """Return a path below the data root, with all links resolved; None where it is none, whatever lies there."""
        if self.root is None or not text or len(text) > LONGEST or "\0" in text or not _encodable(text):
            return None
        root = _resolved(self.root)
        given = Path(text)
        if ".." in given.parts:
            return None
        for begin in (root, self.root):
            if given.is_absolute() and given.is_relative_to(begin):
                given = given.relative_to(begin)
        if given.is_absolute():
            return None
        path, home = _resolved(root / given), _resolved(self.home.path)
        if not _within(path, root) or _within(path, home) or _within(home, path):
            return None
        if os.path.isdir(path) and any(not _within(one, root) for one in _links_of(path)):
            return None
        return path

    def _run_or_file(self, text: str, where: str) -> Path:
        """Return a file, or a run by its id, as the path that stands for it."""
        try:
            return self.file(text, where)
        except InputError as problem:
            if text.startswith(UPLOAD) or "/" in text:
                raise
            try:
                return Path(resolve_run(self.home, text).id)
            except InputError as unknown:
                raise InputError(f"{problem}; and {unknown}") from None

    def _with_name(self, text: str, where: str) -> Path:
        """Return a file before whose own name a model's name may stand, as `datasets.named_file` writes it."""
        try:
            return self.file(text, where)
        except InputError:
            name, equals, file = text.partition("=")
            if not (equals and name and file) or text.startswith((UPLOAD, "/")):
                raise
            path = self.file(file, where)
            named = path.with_name(f"{quote(unquote(name), safe=' ()+,@')}={path.name}")
            if os.path.lexists(named):  # it would be read in the place of the file that was checked
                raise
            return named


def _resolved(path: Path) -> Path:
    """Return a path without links; where it cannot be resolved, such as in a circle of links, one that lies nowhere."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return Path(os.devnull)


def _within(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder)


def _encodable(text: str) -> bool:
    try:
        return bool(os.fsencode(text))
    except UnicodeEncodeError:
        return False


def _links_of(folder: Path) -> Iterator[Path]:
    """Yield where the links in a folder, and in those below it, lead."""
    for inside, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(inside, name)
            if path.is_symlink():
                yield _resolved(path)
