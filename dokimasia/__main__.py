"""The program: runs the command line and turns errors into one line and an exit code."""

import atexit
import gc
import sys
from collections.abc import Sequence

COLLECT_EVERY = 50_000
"""How many new objects call for a look at the garbage: what a command loads stays, so that looking often finds nothing."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with what it returns; docs/commands.md has the table of exit codes."""
    gc.set_threshold(COLLECT_EVERY)
    atexit.register(gc.freeze)  # else the end of a process with LiteLLM and LangGraph looks for garbage for seconds
    from dokimasia.cli.main import run

    sys.exit(run(arguments))


if __name__ == "__main__":
    main()
