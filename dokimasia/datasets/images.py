"""A sample's images: data URIs, files next to the data, base64, or, if allowed, URLs; each is
decoded and checked once.
"""

import base64
import binascii
import hashlib
import io
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from typing import NamedTuple, cast

from PIL import Image, UnidentifiedImageError

from dokimasia.datasets.fetch import fetch_image
from dokimasia.datasets.lines import RowError
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import ImageRef, MediaType

MAX_PIXELS = 50_000_000
"""Pixels (width times height) above which an image is refused before it is decoded."""

MAX_BYTES = 64 * 2**20
"""Bytes above which an image is refused."""

_FORMATS: dict[str, MediaType] = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
}
EXTENSIONS = {
    ".png": "PNG",
    ".apng": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".jpe": "JPEG",
    ".jfif": "JPEG",
    ".webp": "WEBP",
    ".gif": "GIF",
}
_OTHER_FORMATS = (
    (b"BM", "BMP"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"%PDF", "PDF"),
    (b"\0\0\1\0", "ICO"),
    (b"8BPS", "Photoshop"),
    (b"\xff\x0a", "JPEG XL"),
    (b"\0\0\0\x0cJXL", "JPEG XL"),
)
_LONGEST_PATH = 4096
_WAY_OUT = "use PNG, JPEG, WebP, or a GIF of one frame"


class Embedded(NamedTuple):
    """An image's bytes as embedded in the data file, with its file name, if any."""

    data: bytes
    name: str = ""


class OnDisk(NamedTuple):
    """An image file by its path, and its name in messages and ids."""

    path: Path
    name: str


class Earlier(NamedTuple):
    """A text that is the id of an earlier sample with the same images, or else a path, data URI, base64 or URL."""

    text: str


ImageValue = str | Embedded | OnDisk | Earlier
"""An image in a row; a text is a data URI, a path relative to the data file, base64 or a URL."""


def image_format(data: bytes) -> str | None:
    """Return the format of the first bytes (PNG, JPEG, WEBP, GIF), or None."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WEBP"
    return None


def media_format(media_type: str) -> str | None:
    """Return the format of a media type, or None if it is not allowed."""
    plain = media_type.strip().lower().replace("image/jpg", "image/jpeg")
    return next((name for name, allowed in _FORMATS.items() if allowed == plain), None)


def read_image(
    data: bytes, where: str, *, name: str = "", declared: str | None = None, max_pixels: int = MAX_PIXELS
) -> ImageRef:
    """Return the reference of an image after checking that its bytes are a whole image of an allowed format.

    The bytes are not changed: CMYK and EXIF-rotated JPEGs pass, with width and height as stored.

    Args:
        data: the image file's bytes.
        where: file and line or id, for messages.
        name: the image's file name, if any; its extension must not name another format.
        declared: the format that a data URI declares, which must not differ either.
        max_pixels: width times height, at most; Pillow's own limit (89 million) also applies.

    Raises:
        DataError: the image is empty, too large, animated, truncated, damaged, or in another format than allowed or
            declared.
    """
    subject = f"{where}: image {name}" if name else f"{where}: the image"
    if not data:
        raise RowError("image-empty", f"{subject} is empty")
    if len(data) > MAX_BYTES:
        raise RowError(
            "image-size", f"{subject} has {len(data):,} bytes, more than the {MAX_BYTES:,} allowed; make it smaller"
        )
    actual = image_format(data)
    if actual is None:
        raise RowError("image-format", f"{subject} is {_what_else(data)}; {_WAY_OUT}")
    by_name = EXTENSIONS.get(PurePath(name).suffix.lower())
    for claim, how in ((by_name, "is named"), (declared, "is declared as")):
        if claim is not None and claim != actual:
            raise RowError(
                "image-disguised", f"{subject} {how} {claim} but its content is {actual}; rename or convert it"
            )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on metadata, which is not read here
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            width, height = _check_whole(data, actual, subject, max_pixels)
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise RowError(
                "image-size", f"{subject} has too many pixels to be decoded safely; make it smaller"
            ) from error
        except UnidentifiedImageError as error:
            raise RowError(
                "image-damaged", f"{subject} begins as {actual} but cannot be read; it is damaged or cut off"
            ) from error
        except (OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError, KeyError, MemoryError) as error:
            # Pillow's decoder errors on damaged bytes; their messages describe the decoder rather than the file.
            raise RowError(
                "image-damaged", f"{subject} is damaged or cut off ({actual}: {str(error)[:120]})"
            ) from error
    sha256 = hashlib.sha256(data).hexdigest()
    return ImageRef(sha256=sha256, media_type=_FORMATS[actual], width=width, height=height)


def _check_whole(data: bytes, actual: str, subject: str, max_pixels: int) -> tuple[int, int]:
    """Return width and height in pixels, after decoding the whole image."""
    with Image.open(io.BytesIO(data), formats=[actual]) as image:
        width, height = image.size
        if width < 1 or height < 1:
            raise RowError("image-damaged", f"{subject} has no pixels")
        if width * height > max_pixels:
            raise RowError(
                "image-size",
                f"{subject} has {width} x {height} pixels, more than the {max_pixels:,} allowed; make it smaller",
            )
        # A JPEG with several frames is a photograph with a preview; in other formats only one of many would be shown.
        frames = 1 if actual == "JPEG" else cast("int", getattr(image, "n_frames", 1))
        if frames > 1:
            raise RowError(
                "image-animated", f"{subject} is animated ({frames} frames); save the frame that is meant as PNG"
            )
        image.load()
    if actual == "PNG":
        with Image.open(io.BytesIO(data), formats=[actual]) as image:
            image.verify()
    return width, height


def _what_else(data: bytes) -> str:
    """Describe, for a message, bytes that are not an allowed image."""
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith(b"<svg") or (head.startswith((b"<?xml", b"<!doctype svg")) and b"<svg" in head):
        return "an SVG drawing, which models do not take: render it to PNG"
    if head.startswith((b"<!doctype html", b"<html")):
        return "a web page and no image (the server's error page?)"
    if data[4:8] == b"ftyp":
        return f"in the format {data[8:12].decode('ascii', 'replace').upper()} (HEIC, AVIF or a film)"
    for signature, name in _OTHER_FORMATS:
        if data.startswith(signature):
            return f"in the format {name}"
    return "no image: its content is of no known format"


MOST_LISTED = 20_000
"""The maximum number of files below a folder that are searched for an image by its base name."""

DEEPEST = 4
"""The levels of folders below the data's that are searched for an image by its base name."""


def _images_below(folder: Path) -> Iterator[Path]:
    """Yield the image files in a folder and up to `DEEPEST` levels below it; hidden folders are skipped."""
    count = 0
    for inside, folders, files in os.walk(folder):
        deep = len(Path(inside).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if deep < DEEPEST else []
        for name in sorted(files):
            count += 1
            if count > MOST_LISTED:
                return
            if Path(name).suffix.lower() in EXTENSIONS:
                yield Path(inside, name)


class ImageSource:
    """Reads the images of one data file and stores their bytes; a file or URL shared by samples is read once.

    Args:
        folder: the base of relative paths.
        blobs: the store for the bytes; None only checks them.
        allow_fetch: whether a URL may be fetched (HTTPS, public addresses only).
        allow_outside: whether a path may lead out of the folder, by `..`, as an absolute path, or by a link.
        max_pixels: the maximum width times height.
        fetch: returns the bytes of a URL.
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
        self._folder, self._root = folder, folder.resolve()
        self._blobs = blobs
        self._allow_fetch = allow_fetch
        self._allow_outside = allow_outside
        self._max_pixels = max_pixels
        self._fetch = fetch
        self._known: dict[str, ImageRef] = {}
        self._names: dict[str, Path | None] | None = None

    def read(self, value: ImageValue, where: str) -> ImageRef:
        """Return the image contained in or referred to by a value.

        Raises:
            DataError: there is no image, or it cannot be used; the message begins with `where`.
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
            raise RowError(
                "image-missing", f"{where}: there is no image file {_shortened(value)} in {self._folder.absolute()}"
            )
        return self._keep(data, where)

    def _check_inside(self, path: Path, value: str, where: str) -> None:
        if not self._allow_outside and not path.resolve().is_relative_to(self._root):
            raise RowError(
                "image-outside",
                f"{where}: image {_shortened(value)} lies outside of {self._folder.absolute()}, the folder of the data, and is "
                "not read; copy it into the folder, or allow it with --allow-outside",
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
            if path.is_file():
                return path
            return self._by_base_name(value)
        except (OSError, ValueError):  # a name that no file can have
            return None

    def _by_base_name(self, value: str) -> Path | None:
        """Return the only image below the folder with the base name of a path; None if there is none, or several.

        This way data and images uploaded from different folders still match. If the path names a folder, only an image
        in a folder of that name or next to the data counts: `val/1.png` is never taken for `train/1.png`.
        """
        folder, _, name = value.replace("\\", "/").casefold().rpartition("/")
        if Path(name).suffix not in EXTENSIONS:
            return None
        if self._names is None:
            self._names = {}
            for path in _images_below(self._folder):
                key = path.name.casefold()
                self._names[key] = None if key in self._names else path
        path = self._names.get(name)
        if path is None or not folder or path.parent == self._folder:
            return path
        if path.parent.name.casefold() == folder.rpartition("/")[2]:
            return path
        return None

    def _from_file(self, path: Path, value: str, where: str) -> ImageRef:
        try:
            with path.open("rb") as file:
                # Memory as long as the file is, not as it may become; content written to it meanwhile is read, too.
                data = file.read(min(os.fstat(file.fileno()).st_size, MAX_BYTES) + 1)
                data += file.read(MAX_BYTES + 1 - len(data))
        except OSError as error:
            raise RowError(
                "image-missing", f"{where}: image {_shortened(value)} cannot be read: {error.strerror or error}"
            ) from error
        return self._keep(data, where, name=value)

    def _from_web(self, url: str, where: str) -> ImageRef:
        if not self._allow_fetch:
            raise RowError(
                "image-url",
                f"{where}: image {_shortened(url)} is a URL and is not fetched; save the image beside the data file, "
                "or allow it with --allow-fetch",
            )
        return self._keep(self._fetch(url, where), where)

    def _keep(self, data: bytes, where: str, *, name: str = "", declared: str | None = None) -> ImageRef:
        ref = read_image(data, where, name=name, declared=declared, max_pixels=self._max_pixels)
        if self._blobs is not None:
            self._blobs.put_image(data, ref)
        return ref


def _data_uri(value: str, where: str) -> tuple[bytes, str | None]:
    """Return the bytes of a data URI and its declared format."""
    header, comma, payload = value.partition(",")
    media_type, *parameters = header[5:].split(";")
    if not comma or "base64" not in [parameter.strip().lower() for parameter in parameters]:
        raise RowError("image-encoding", f"{where}: the image's data URI is not of the form data:image/png;base64,...")
    declared = media_format(media_type)
    if declared is None:
        media_name = media_type.strip()[:60] or "nothing"
        raise RowError(
            "image-format",
            f"{where}: the image's data URI declares {media_name}; {_WAY_OUT}",
        )
    try:
        return _decoded(payload), declared
    except (binascii.Error, ValueError) as error:
        raise RowError("image-encoding", f"{where}: the image's data URI is not valid base64") from error


def _base64(value: str, where: str) -> bytes | None:
    """Return the bytes of a base64 image, or None if the text does not begin like one."""
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
        raise RowError(
            "image-encoding", f"{where}: the image begins as a base64 {begins} but is not valid base64 to its end"
        ) from error


def _decoded(payload: str) -> bytes:
    plain = "".join(payload.split())
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def _shortened(value: str) -> str:
    return repr(value if len(value) <= 100 else value[:99] + "\u2026")
