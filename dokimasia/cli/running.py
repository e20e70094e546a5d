"""Run an evaluation from the command line: Ctrl-C once finishes the calls in flight, twice stops at once."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import click
from rich.markup import escape

from dokimasia.cli.progress import ProgressLine
from dokimasia.cli.shared import console, print_json
from dokimasia.cli.tables import blind_lines, category_table, evaluation_table
from dokimasia.errors import Interrupted
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.runs.observer import Observer
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings


class Ended(Protocol):
    """What every kind of run returns: its id, and whether it is complete."""

    @property
    def run(self) -> str: ...
    @property
    def complete(self) -> bool: ...


R = TypeVar("R", bound=Ended)
Work = Callable[[Observer, Stop], Awaitable[R]]


def run_to_end(work: Work[R], settings: Settings, *, quiet: bool = False) -> R:
    """Run the work under signals and a progress line, and say what was paid.

    Raises:
        Interrupted: after Ctrl-C or SIGTERM; the message is the command that goes on.
    """
    with ProgressLine(quiet=quiet) as line:
        try:
            result = asyncio.run(_supervised(work, line))
        except (Interrupted, KeyboardInterrupt):
            home = f" --home {settings.home}"
            raise Interrupted(
                f"interrupted; everything finished is kept. Go on with: dokimasia resume {line.run_id}{home}"
            ) from None
    click.echo(line.paid(), err=True)
    if not result.complete:
        click.echo(
            f"the budget is used up and some items are open. Go on with: dokimasia resume {result.run} "
            f"--home {settings.home} (with a larger --max-cost, --max-calls or --max-tokens, or none)",
            err=True,
        )
    return result


async def _supervised(work: Work[R], line: ProgressLine) -> R:
    stop = Stop()
    task = asyncio.ensure_future(work(line, stop))
    loop = asyncio.get_running_loop()
    asked = 0

    def interrupt() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            click.echo("\nfinishing the calls in flight; Ctrl-C again stops at once", err=True)
            stop.ask()
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


def print_result(
    summary: Mapping[str, Any], *, as_json: bool, planted: Mapping[str, float] | None = None, title: str = ""
) -> None:
    """Print an evaluation's figures: JSON for machines, tables for people; simulated models are named first."""
    if as_json:
        print_json({**summary, "planted": dict(planted)} if planted is not None else summary)
        return
    out = console()
    if summary["simulated"]:
        out.print(f"[yellow]{SIMULATED_NOTE}[/yellow]")
    heading = title or f"run {summary['run']} · {summary['samples']} samples · judge {summary['judge']}"
    state = "" if summary["status"] == "done" else f" · [bold red]{summary['status']}[/bold red]"
    out.print(f"[bold]{heading}[/bold]{state}")
    if summary["open_items"]:
        out.print(
            f"[red]{summary['open_items']} items have no result yet: the figures speak of a part of the data[/red]"
        )
    origin = summary.get("forked_from")
    if origin:
        out.print(f"forked from run {origin['run']} at {origin['node']}: what comes before was taken over")
    if summary["skipped"]:
        out.print(f"[red]{len(summary['skipped'])} samples of the data file were left out:[/red]")
        for message in summary["skipped"][:20]:
            out.print(f"  {escape(message)}", style="dim")
    out.print(evaluation_table(summary, planted))
    by_category = category_table(summary)
    if by_category is not None:
        out.print(by_category)
    for line in blind_lines(summary):
        out.print(line)
    made = summary["preparation"]
    out.print(
        f"[dim]criteria: {made['calls']} calls of the judge. Scores 1 to 5, higher is better; 95 % bootstrap intervals, "
        "clustered by samples that share an image.[/dim]"
    )
