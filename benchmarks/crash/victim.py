"""The program with a death planned in it: `python -m benchmarks.crash.victim FILE AT when|now ARGUMENTS...`.

With `now` the writes are counted from the start, with `when` from the signal SIGUSR1.
"""

import signal
import sys

from benchmarks.crash.torn_writes import TornWrites


def main() -> None:
    """Plan the death, then be the program."""
    file, at, when, *arguments = sys.argv[1:]
    torn = TornWrites(file, int(at), armed=when == "now")
    signal.signal(signal.SIGUSR1, lambda *_: torn.arm())
    from dokimasia.cli.main import run

    sys.exit(run(arguments))


if __name__ == "__main__":
    main()
