"""The reader of a data set: the package's own, or a plug-in's that answers to the file's extension."""

from pathlib import Path
from typing import cast

from dokimasia.datasets import READERS, Reader, register_reader
from dokimasia.plugins import found, load


def bring_reader(path: Path) -> None:
    """Make a file readable by the plug-in of group `dokimasia.datasets` that is called as its extension, if there is one.

    A plug-in called `mine` reads files that end in `.mine`. The package's own readers stay where they are.

    Raises:
        ConfigError: there is such a plug-in and it cannot be used.
    """
    extension = path.suffix.lower()
    name = extension.removeprefix(".")
    if name and extension not in READERS and name in found("datasets"):
        register_reader(extension, cast("Reader", load("datasets", name)))
