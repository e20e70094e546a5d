"""Run a method from the command line: Ctrl-C once finishes the calls in flight, twice stops at once."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from dokimasia.cli.outcomes import RunOutcome
from dokimasia.cli.progress import ProgressLine
from dokimasia.cli.shared import home_options, say, say_error
from dokimasia.errors import Interrupted
from dokimasia.runs.ending import End
from dokimasia.runs.reaching import Stop
from dokimasia.settings import Settings

EXIT_CODES: dict[End, int] = {"complete": 0, "failures": 3, "spending": 4, "below": 5, "waiting": 6}
"""By how a run ended; errors bring their own: 1 ours, 2 the user's, 130 interrupted."""

STARTS = "stopping once Ray has started or let this process in, in some 10 seconds; Ctrl-C again does not shorten that"
"""What Ctrl-C does while workers are started."""

Work = Callable[..., Awaitable[Any]]
"""What starts a run, given `settings`, `observer` and `stop`; returns a `RunResult`."""


def run_to_end(work: Work, settings: Settings, *, method: str = "run", worker_flags: str = "") -> RunOutcome:
    """Run the work under signals and a progress line, which names the method, and say what was paid.

    `worker_flags` are the flags to repeat in the resume command.

    Raises:
        Interrupted: after Ctrl-C or SIGTERM; the message is the command that goes on.
    """
    stop = Stop()
    times = 0

    def interrupt() -> None:
        nonlocal times
        times += 1
        if times == 1:
            stop.ask()
            say(f"\n{STARTS if line.starts else 'finishing the calls in flight; Ctrl-C again stops at once'}")
        else:
            stop.ask(at_once=True)
            task.cancel()

    with ProgressLine(method) as line:
        try:
            with asyncio.Runner() as runner:
                loop = runner.get_loop()
                task = asyncio.ensure_future(work(settings=settings, observer=line, stop=stop), loop=loop)
                for number in (signal.SIGINT, signal.SIGTERM):
                    with suppress(NotImplementedError, RuntimeError, ValueError):
                        loop.add_signal_handler(number, interrupt)
                result = loop.run_until_complete(task)
        except (Interrupted, KeyboardInterrupt, asyncio.CancelledError) as interruption:
            if isinstance(interruption, asyncio.CancelledError) and not times:
                raise
            if not line.run_id:
                raise Interrupted(
                    "interrupted before anything was sent; the same command begins with it again"
                ) from None
            raise Interrupted(
                f"interrupted; everything finished is kept. "
                f"Go on with: dokimasia resume {line.run_id}{home_options(settings)}{worker_flags}"
            ) from None
    say(line.paid())
    return RunOutcome(result.run, result.end, result.why, result.summary)


def exit_code(outcome: RunOutcome, where: str) -> int:
    """Say why a run did not end as it was wanted, once what came of it is printed, and return the exit code.

    `where` are the options by which another command finds the same place.
    """
    if outcome.end == "spending":
        say(f"{outcome.why}. Go on with: dokimasia resume {outcome.run}{where} (with a larger limit, or none)")
    elif outcome.end == "waiting":
        check = f"dokimasia check {outcome.run}"
        say(f"run {outcome.run}: {outcome.why.replace(check, check + where)}")
    elif outcome.why:
        again = f"dokimasia resume {outcome.run}"
        say_error(f"run {outcome.run}: {outcome.why.replace(again, again + where)}")
    return EXIT_CODES[outcome.end]
