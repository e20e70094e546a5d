"""Where a sample's image comes from: a data URI, a file beside the data, base64, or, if that is allowed, the web."""

import base64
import binascii
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dokimasia.datasets.fetch import fetch_image
from dokimasia.datasets.images import MAX_BYTES, MAX_PIXELS, image_format, media_format, read_image
from dokimasia.datasets.lines import Fault
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef

_LONGEST_PATH = 4096


class Embedded(NamedTuple):
    """An image's bytes as they stand in the data file, with its file name where there is one."""

    data: bytes
    name: str = ""


class OnDisk(NamedTuple):
    """An image file by its path, and the name by which messages and ids know it."""

    path: Path
    name: str


class Earlier(NamedTuple):
    """A text that is the id of an earlier sample, whose images these are, or else names or holds an image itself."""

    text: str


Image = str | Embedded | OnDisk | Earlier
"""What a reader may give as an image; a text is a data URI, a path relative to the data file, base64 or a URL."""


class ImageSource:
    """Reads the images of one data file and keeps their bytes; a file or address that stands in many samples is read once.

    Args:
        folder: what relative paths are relative to.
        blobs: where the bytes are kept; None only checks them.
        allow_fetch: whether a URL may be fetched (HTTPS, public addresses only).
        allow_outside: whether a path may lead out of the folder, be it by `..`, from the root, or by a link.
        max_pixels: width times height that is allowed.
        fetch: how a URL is fetched.
    """

    def __init__(
        self,
        folder: Path,
        *,
        blobs: BlobStore | None = None,
        allow_fetch: bool = False,
        allow_outside: bool = False,
        max_pixels: int = MAX_PIXELS,
        fetch: Callable[[str, str], bytes] = fetch_image,
    ) -> None:
        self._folder = folder
        self._blobs = blobs
        self._allow_fetch = allow_fetch
        self._allow_outside = allow_outside
        self._max_pixels = max_pixels
        self._fetch = fetch
        self._known: dict[str, ImageRef] = {}

    def read(self, value: Image, where: str) -> ImageRef:
        """Return the image that a field names or holds.

        Raises:
            DataError: there is none, or it cannot be used; the message begins with `where`.
        """
        if isinstance(value, Embedded):
            return self._keep(value.data, where, name=value.name)
        if isinstance(value, OnDisk):
            self._check_inside(value.path, value.name, where)
            return self._once(str(value.path), lambda: self._from_file(value.path, value.name, where))
        return self._read_text(value.text if isinstance(value, Earlier) else value, where)

    def _read_text(self, value: str, where: str) -> ImageRef:
        if value[:5].lower() == "data:":
            data, declared = _data_uri(value, where)
            return self._keep(data, where, declared=declared)
        if value[:8].lower().startswith(("http://", "https://")):
            return self._once(value, lambda: self._from_web(value, where))
        if path := self._file(value):
            self._check_inside(path, value, where)
            return self._once(str(path), lambda: self._from_file(path, value, where))
        data = _base64(value, where)
        if data is None:
            raise Fault("image-missing", f"{where}: there is no image file {_shown(value)} in {self._folder}")
        return self._keep(data, where)

    def _check_inside(self, path: Path, value: str, where: str) -> None:
        if not self._allow_outside and not path.resolve().is_relative_to(self._folder.resolve()):
            raise Fault(
                "image-outside",
                f"{where}: image {_shown(value)} lies outside of {self._folder}, the folder of the data, and is not "
                "read; copy it into the folder, or allow it with --allow-outside",
            )

    def _once(self, key: str, read: Callable[[], ImageRef]) -> ImageRef:
        if key not in self._known:
            self._known[key] = read()
        return self._known[key]

    def _file(self, value: str) -> Path | None:
        if not value or len(value) > _LONGEST_PATH:
            return None
        try:
            path = self._folder / value
            return path if path.is_file() else None
        except (OSError, ValueError):  # a name that no file can have
            return None

    def _from_file(self, path: Path, value: str, where: str) -> ImageRef:
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise Fault(
                "image-missing", f"{where}: image {_shown(value)} cannot be read: {error.strerror or error}"
            ) from error
        return self._keep(data, where, name=value)

    def _from_web(self, url: str, where: str) -> ImageRef:
        if not self._allow_fetch:
            raise Fault(
                "image-url",
                f"{where}: image {_shown(url)} is a URL and is not fetched; save the image beside the data file, "
                "or allow it with --allow-fetch",
            )
        return self._keep(self._fetch(url, where), where)

    def _keep(self, data: bytes, where: str, *, name: str = "", declared: str | None = None) -> ImageRef:
        ref = read_image(data, where, name=name, declared=declared, max_pixels=self._max_pixels)
        if self._blobs is not None:
            self._blobs.put_image(data, ref)
        return ref


def _data_uri(value: str, where: str) -> tuple[bytes, str | None]:
    """Return the bytes of a data URI and the format that it declares."""
    header, comma, payload = value.partition(",")
    media_type, *parameters = header[5:].split(";")
    if not comma or "base64" not in [parameter.strip().lower() for parameter in parameters]:
        raise Fault("image-encoding", f"{where}: the image's data URI is not of the form data:image/png;base64,...")
    declared = media_format(media_type)
    if declared is None:
        shown = media_type.strip()[:60] or "nothing"
        raise Fault(
            "image-format",
            f"{where}: the image's data URI declares {shown}; use PNG, JPEG, WebP, or a GIF of one frame",
        )
    try:
        return _decoded(payload), declared
    except (binascii.Error, ValueError) as error:
        raise Fault("image-encoding", f"{where}: the image's data URI is not valid base64") from error


def _base64(value: str, where: str) -> bytes | None:
    """Return the bytes of a text that begins as a base64 image does; None if it does not."""
    head = "".join(value[:64].split())[:24]
    try:
        begins = image_format(base64.b64decode(head[: len(head) // 4 * 4], validate=True))
    except (binascii.Error, ValueError):
        return None
    if begins is None:
        return None
    try:
        return _decoded(value)
    except (binascii.Error, ValueError) as error:
        raise Fault(
            "image-encoding", f"{where}: the image begins as a base64 {begins} but is not valid base64 to its end"
        ) from error


def _decoded(payload: str) -> bytes:
    plain = "".join(payload.split())
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def _shown(value: str) -> str:
    return repr(value if len(value) <= 100 else value[:99] + "\u2026")
