"""The program: runs the command line and turns errors into one line and an exit code."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 the user's mistake, 1 ours, 130 interrupted."""
    from dokimasia.cli.main import run

    sys.exit(run(arguments))


if __name__ == "__main__":
    main()
