"""The folder of a Ray that is started here: held as long as its driver lives, removed by a later one where that was killed."""

import fcntl
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

PREFIX = "dokimasia-ray-"
_HELD = "held"


class Folder:
    """A new folder that this process holds."""

    def __init__(self) -> None:
        remove_left()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        new = self.path / f"{_HELD}.new"
        self._file: IO[bytes] = new.open("wb")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        new.rename(self.path / _HELD)  # now that it is locked others may look at it

    def remove(self) -> None:
        """Remove it, once Ray has ended; an agent of Ray's that was just starting then is ended, too."""
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if f"-dir={self.path}".encode() in process.read_bytes():
                    os.kill(int(process.parent.name), signal.SIGKILL)
        shutil.rmtree(self.path, ignore_errors=True)
        self._file.close()


def remove_left() -> None:
    """Remove folders whose drivers are gone; what is somebody else's stays."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), (folder / _HELD).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
