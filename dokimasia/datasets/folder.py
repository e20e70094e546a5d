"""A folder of images as rows: one sample an image, named by its path in the folder, in the order of the paths."""

import os
from collections.abc import Iterator
from pathlib import Path

from dokimasia.datasets.images import EXTENSIONS, image_format
from dokimasia.datasets.lines import Problem, Row, place
from dokimasia.datasets.sources import OnDisk
from dokimasia.errors import DataError

SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini"})
"""What file managers leave behind; it is passed over, as everything is whose name begins with a dot."""


def read_folder(path: Path) -> Iterator[Row | Problem]:
    """Yield a row an image, in the order of the paths: `id` is the path in the folder, `category` the sub-folder.

    Every other file is a problem: a photograph in a format that models do not take must not go missing in silence.
    Links to folders are not followed.

    Raises:
        DataError: the folder, or one in it, cannot be read.
    """
    names = sorted(_files(path), key=lambda name: name.split("/"))
    for number, name in enumerate(names, start=1):
        where = place(path, number, "file")
        try:
            name.encode()
        except UnicodeEncodeError:
            yield Problem(number, None, f"{where} ({name!a}): the name is not UTF-8; rename the file", "id")
            continue
        file = path / name
        if file.suffix.lower() not in EXTENSIONS and not _is_image(file):
            yield Problem(
                number,
                name,
                f"{where} (id {name!r}): is no PNG, JPEG, WebP or GIF; convert it, or take it out of the folder",
                "image-format",
            )
            continue
        folder, _, _ = name.rpartition("/")
        fields = {"id": name, "images": [OnDisk(file, name)], "category": folder or None}
        yield Row(number, fields, "file")


def _files(path: Path) -> Iterator[str]:
    """Yield the paths of the files in a folder and below it, relative to it, with slashes; in no order."""

    def fail(error: OSError) -> None:
        raise DataError(f"{error.filename} cannot be read: {error.strerror or error}") from error

    for folder, below, files in os.walk(path, onerror=fail):
        below[:] = [name for name in below if not name.startswith(".")]
        inside = Path(folder).relative_to(path)
        for name in files:
            if not name.startswith(".") and name.lower() not in SYSTEM_FILES:
                yield (inside / name).as_posix()


def _is_image(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return image_format(opened.read(16)) is not None
    except OSError:
        return True  # to be named as unreadable by whoever reads it whole
