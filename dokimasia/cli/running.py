"""Run an evaluation from the command line: Ctrl-C once finishes the calls in flight, twice stops at once."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol, TypeVar

from dokimasia.cli.progress import ProgressLine
from dokimasia.cli.shared import home_options, say, say_error
from dokimasia.errors import Interrupted
from dokimasia.runs.outcome import End
from dokimasia.runs.reachability import Stop
from dokimasia.settings import Settings

EXIT_CODES: dict[End, int] = {"complete": 0, "failures": 3, "spending": 4, "below": 5, "waiting": 6}
"""By how a run ended; errors bring their own: 1 ours, 2 the user's, 130 interrupted."""

STARTS = "stopping once Ray has started or let this process in, in some 10 seconds; Ctrl-C again does not shorten that"
"""What Ctrl-C does while workers are started."""


class Ended(Protocol):
    """What every kind of run returns: its id, how it ended, and why it did not end as it was wanted."""

    @property
    def run(self) -> str: ...
    @property
    def end(self) -> End: ...
    @property
    def why(self) -> str: ...


R = TypeVar("R", bound=Ended)
Work = Callable[..., Awaitable[R]]
"""What starts a run, given `settings`, `observer` and `stop`."""


def run_to_end(work: Work[R], settings: Settings, *, method: str = "run", far: str = "") -> R:
    """Run the work under signals and a progress line, which names the method, and say what was paid.

    `far` are the options that say by how many processes it is done.

    Raises:
        Interrupted: after Ctrl-C or SIGTERM; the message is the command that goes on.
    """
    with ProgressLine(method) as line:
        try:
            result = asyncio.run(_supervised(work, settings, line))
        except (Interrupted, KeyboardInterrupt):
            if not line.run_id:
                raise Interrupted(
                    "interrupted before anything was sent; the same command begins with it again"
                ) from None
            raise Interrupted(
                f"interrupted; everything finished is kept. "
                f"Go on with: dokimasia resume {line.run_id}{home_options(settings)}{far}"
            ) from None
    say(line.paid())
    return result


def exit_code(result: Ended, where: str) -> int:
    """Say why a run did not end as it was wanted, once what came of it is printed, and return the exit code.

    `where` are the options by which another command finds the same place.
    """
    if result.end == "spending":
        say(f"{result.why}. Go on with: dokimasia resume {result.run}{where} (with a larger limit, or none)")
    elif result.end == "waiting":
        check = f"dokimasia check {result.run}"
        say(f"run {result.run}: {result.why.replace(check, check + where)}")
    elif result.why:
        again = f"dokimasia resume {result.run}"
        say_error(f"run {result.run}: {result.why.replace(again, again + where)}")
    return EXIT_CODES[result.end]


async def _supervised(work: Work[R], settings: Settings, line: ProgressLine) -> R:
    stop = Stop()
    task = asyncio.ensure_future(work(settings=settings, observer=line, stop=stop))
    loop = asyncio.get_running_loop()
    asked = 0

    def interrupt() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            stop.ask()
            say(f"\n{STARTS if line.starts else 'finishing the calls in flight; Ctrl-C again stops at once'}")
        else:
            stop.ask(at_once=True)
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, interrupt)
    try:
        return await task
    except asyncio.CancelledError:
        if asked:
            raise Interrupted("stopped at once") from None
        raise
