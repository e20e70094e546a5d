"""A ZIP archive unpacked into an upload: its size is counted while it is unpacked, whatever the archive says of itself."""

import stat
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from dokimasia.service.incoming import SYSTEM, Incoming, refused, too_much

ARCHIVES = frozenset({".zip", ".jar", ".7z", ".rar", ".gz", ".bz2", ".xz", ".zst", ".tar", ".tgz"})
WORKBOOK = ".xlsx"
"""A file of data that is an archive by its format."""

_SIGNATURE = b"PK\x03\x04"
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
_ENTRY = 46
"""Bytes that an entry of an archive's list has at least."""

_CHUNK = 256 * 1024


def is_archive(path: Path) -> bool:
    """Whether a file is called a ZIP archive."""
    return path.suffix.lower() == ".zip"


def unpack(taking: Incoming, archive: Path) -> None:
    """Put what a ZIP archive holds into the upload in the archive's place.

    Raises:
        Refused: it is none, is damaged or locked, holds links, other archives or names that lead out of it, or unpacks to
            too much; naming what.
    """
    path = taking.take_out(archive)
    most = max(taking.caps.small, taking.caps.ratio * path.stat().st_size)
    with path.open("rb") as file:
        _check_list(file, taking.caps.files, taking.caps.name * taking.caps.depth)
        try:
            with zipfile.ZipFile(file) as opened:
                for entry in opened.infolist():
                    if not (entry.is_dir() or _passed_over(entry.filename)):
                        most -= _unpack_one(taking, opened, entry, most)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
            ValueError,
            OverflowError,
        ) as error:
            raise refused(f"{archive.name} is no ZIP archive, or is damaged ({str(error)[:100]})") from None


def _unpack_one(taking: Incoming, opened: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> int:
    """Put one file of an archive into the upload, and return its size."""
    name = entry.filename
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise refused(f"{name[:100]!r} is a link or another special file")
    if entry.flag_bits & 0x1:
        raise refused(f"{name[:100]!r} is locked with a password")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise refused(f"{name[:100]!r} is packed in a way that is not read: pack with deflate")
    ending = PurePosixPath(name).suffix.lower()
    taking.begin(name)
    size = 0
    with opened.open(entry) as source:
        while chunk := source.read(_CHUNK):
            if not size and (ending in ARCHIVES or (chunk.startswith(_SIGNATURE) and ending != WORKBOOK)):
                raise refused(f"{name[:100]!r} is an archive within the archive: unpack it first")
            size += len(chunk)
            if size > most:
                raise too_much(f"a ZIP archive that unpacks to more than {taking.caps.ratio} times its size")
            taking.write(chunk)
    taking.close()
    return size


def _check_list(file: BinaryIO, files: int, name: int) -> None:
    """Refuse an archive whose list of files is too long to be read at all; wherever the list may be said to lie."""
    file.seek(0, 2)
    size = file.tell()
    begin = max(0, size - 22 - 2**16 - 20)
    file.seek(begin)
    tail = file.read()
    file.seek(0)
    if _END_64 in tail:
        raise too_much(f"more than {files:,} files")
    at = tail.find(_END)
    while at >= 0:
        if len(tail) >= at + 22:
            count, length = struct.unpack("<HL", tail[at + 10 : at + 16])
            if count > 2 * files or length > 2 * files * (_ENTRY + name):
                raise too_much(f"more than {files:,} files")
        at = tail.find(_END, at + 1)


def _passed_over(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.parts[:1] == ("__MACOSX",) or path.name.lower() in SYSTEM
