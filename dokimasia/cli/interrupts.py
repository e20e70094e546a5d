"""Ctrl-C in a process with nothing to save: the process ends at once, with one line and no traceback."""

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def end_interrupted(message: str) -> NoReturn:
    """End the process from a signal handler with a message, abandoning whatever it loads or waits for."""
    with suppress(OSError, RuntimeError, ValueError):  # closed, or interrupted during a write
        sys.stdout.flush()
    with suppress(OSError):
        os.write(2, f"{message}\n".encode())
    os._exit(INTERRUPTED)


def _end(*_: object) -> None:
    end_interrupted("interrupted")


def end_on_interrupt() -> None:
    """Let Ctrl-C end the process at once, unless the calling program handles or ignores it."""
    with suppress(ValueError):  # signals are handled in the main thread
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)


def raise_on_interrupt() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, after `end_on_interrupt`."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
