"""Where a sample's image comes from: a data URI, a file beside the data, base64, or, if that is allowed, the web."""

import base64
import binascii
from collections.abc import Callable
from pathlib import Path

from dokimasia.datasets.fetch import fetch_image
from dokimasia.datasets.images import MAX_BYTES, MAX_PIXELS, image_format, media_format, read_image
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import DataError

_LONGEST_PATH = 4096


class ImageSource:
    """Reads the images of one data file and keeps their bytes; a file or address that stands in many samples is read once.

    Args:
        folder: what relative paths are relative to.
        blobs: where the bytes are kept; None only checks them.
        allow_fetch: whether a URL may be fetched (HTTPS, public addresses only).
        max_pixels: width times height that is allowed.
        fetch: how a URL is fetched.
    """

    def __init__(
        self,
        folder: Path,
        *,
        blobs: BlobStore | None = None,
        allow_fetch: bool = False,
        max_pixels: int = MAX_PIXELS,
        fetch: Callable[[str, str], bytes] = fetch_image,
    ) -> None:
        self._folder = folder
        self._blobs = blobs
        self._allow_fetch = allow_fetch
        self._max_pixels = max_pixels
        self._fetch = fetch
        self._known: dict[str, ImageRef] = {}

    def read(self, value: str, where: str) -> ImageRef:
        """Return the image that a field's text names or holds.

        Raises:
            DataError: there is none, or it cannot be used; the message begins with `where`.
        """
        if value[:5].lower() == "data:":
            data, declared = _data_uri(value, where)
            return self._keep(data, where, declared=declared)
        scheme = value[:8].lower()
        if scheme.startswith(("http://", "https://")):
            return self._once(value, lambda: self._from_web(value, where))
        if path := self._file(value):
            return self._once(str(path), lambda: self._from_file(path, value, where))
        data = _base64(value, where)
        if data is None:
            raise DataError(f"{where}: there is no image file {_shown(value)} in {self._folder}")
        return self._keep(data, where)

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
            raise DataError(f"{where}: image {_shown(value)} cannot be read: {error.strerror or error}") from error
        return self._keep(data, where, name=value)

    def _from_web(self, url: str, where: str) -> ImageRef:
        if not self._allow_fetch:
            raise DataError(
                f"{where}: image {_shown(url)} is a URL and is not fetched; save the image beside the data file, "
                "or allow it with --allow-fetch"
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
        raise DataError(f"{where}: the image's data URI is not of the form data:image/png;base64,...")
    declared = media_format(media_type)
    if declared is None:
        shown = media_type.strip()[:60] or "nothing"
        raise DataError(f"{where}: the image's data URI declares {shown}; use PNG, JPEG, WebP, or a GIF of one frame")
    try:
        return _decoded(payload), declared
    except (binascii.Error, ValueError) as error:
        raise DataError(f"{where}: the image's data URI is not valid base64") from error


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
        raise DataError(f"{where}: the image begins as a base64 {begins} but is not valid base64 to its end") from error


def _decoded(payload: str) -> bytes:
    plain = "".join(payload.split())
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def _shown(value: str) -> str:
    return repr(value if len(value) <= 100 else value[:99] + "\u2026")
