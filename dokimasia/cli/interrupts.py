"""Ctrl-C while a process has nothing to save: it ends at once, with one line and no traceback."""

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def end_interrupted(message: str) -> NoReturn:
    """End the process from a signal handler with a message; whatever it is loading or waiting for is abandoned."""
    with suppress(OSError, RuntimeError, ValueError):  # closed, or interrupted in the middle of writing to it
        sys.stdout.flush()
    with suppress(OSError):
        os.write(2, f"{message}\n".encode())
    os._exit(INTERRUPTED)


def _end(*_: object) -> None:
    end_interrupted("interrupted")


def end_on_interrupt() -> None:
    """Let Ctrl-C end the process at once, unless a program that calls this one handles it, or it is ignored."""
    with suppress(ValueError):  # signals are handled in the main thread
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)


def raise_on_interrupt() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, after `end_on_interrupt`."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
