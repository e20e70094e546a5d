"""Standard output and error while a command runs: what is written to them as text controls no terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast


class Guarded:
    """A text stream that escapes control characters in all that is written to it; bytes go to its `buffer` as they are.

    Whoever writes escapes of its own, having escaped the texts between them, writes to `unguarded`.
    """

    def __init__(self, stream: TextIO) -> None:
        self.unguarded = stream

    def write(self, text: str) -> int:
        """Write the text escaped; a character that the stream's encoding lacks is escaped, too."""
        encoding = self.unguarded.encoding or "utf-8"
        if not text.replace("\n", "").isprintable():
            from dokimasia.log import printable  # loaded when needed: it brings structlog along

            text = printable(text)
        return self.unguarded.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def writelines(self, lines: Any) -> None:
        """Write each of the texts."""
        for line in lines:
            self.write(line)

    @property
    def encoding(self) -> str:
        """UTF-8, since every character can be written."""
        return "utf-8"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Guard standard output and error for the time inside."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", Guarded(stream)) for stream in streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
