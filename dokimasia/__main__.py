"""The program: runs the command line and turns errors into one line and an exit code."""

import atexit
import gc
import sys
from collections.abc import Sequence

from dokimasia.cli.interrupts import end_on_interrupt

COLLECT_EVERY = 50_000
"""The number of new objects before a garbage collection: a command's imports stay, so frequent collections find
nothing.
"""

LACKING = (
    "error: {name} is not installed for this Python, nor perhaps what else Dokimasia needs: install all of it with "
    "`python -m pip install .` in Dokimasia's folder, or run `.venv/bin/dokimasia` there, which `make demo` makes\n"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code; docs/commands.md has the table of exit codes."""
    end_on_interrupt()
    gc.set_threshold(COLLECT_EVERY)
    atexit.register(gc.freeze)  # otherwise LiteLLM and LangGraph cost seconds of garbage collection at exit
    try:
        from dokimasia.cli.main import run

        code = run(arguments)
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if name in ("", "dokimasia"):
            raise
        sys.stderr.write(LACKING.format(name=name))
        code = 2
    end_on_interrupt()
    sys.exit(code)


if __name__ == "__main__":
    main()
