"""`dokimasia verify`: check everything in a home against its hashes, and show what is damaged and how to repair it."""

from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.shared import common, console, grid, json_option, print_json
from dokimasia.domain.wording import shortened

if TYPE_CHECKING:
    from dokimasia.report.console import PrintableConsole
    from dokimasia.runs.reading.verification import HomeVerification
    from dokimasia.settings import Settings

SHOWN, FEW = 20, 3


@click.command()
@json_option
@common
def command(settings: "Settings", as_json: bool) -> int:
    """Re-hash every image, text, call, value and row of the home, and check that every result finds what it names.

    Nothing is changed. Rows that were taken away whole, and steps of unfinished items, are not checked. The exit code is 1
    if anything is not as it was written.
    """
    from dokimasia.runs.reading.verification import verify
    from dokimasia.storage.home import Home

    with Home.open(settings.home, write=False) as home:
        verification = verify(home)
    if as_json:
        print_json(verification.model_dump(mode="json"))
    else:
        _print(verification, console())
    return 0 if verification.ok else 1


def _print(verification: "HomeVerification", out: "PrintableConsole") -> None:
    table = grid()
    table.add_column("part")
    table.add_column("checked", justify="right")
    table.add_column("wrong", justify="right")
    for part in verification.parts:
        wrong = f"[bold red]{len(part.wrong)}[/bold red]" if part.wrong else "[green]0[/green]"
        table.add_row(part.name, f"{part.checked:,}", wrong)
    out.print(table)
    if verification.ok:
        out.print("[green]everything that was checked is as it was written[/green]")
        out.print("[dim]not checked: rows taken away that nothing else names, steps of unfinished items[/dim]")
        return
    for part in verification.parts:
        keys_by_problem: dict[tuple[object, ...], list[str]] = {}
        for problem in part.wrong:
            keys_by_problem.setdefault(
                (problem.where, problem.what.replace(problem.key, "…"), problem.runs, problem.way_out), []
            ).append(problem.key)
        problems_by_key = {problem.key: problem for problem in reversed(part.wrong)}
        for keys in list(keys_by_problem.values())[:SHOWN]:
            problem = problems_by_key[keys[0]]
            out.print(f"[bold red]{escape(problem.where)} {escape(problem.key)}[/bold red]: {escape(problem.what)}")
            if len(keys) > 1:
                examples = escape(shortened(keys[1:], FEW - 1))
                out.print(f"  so are {len(keys) - 1} more: {examples} (--json lists all)")
            out.print(f"  runs: {', '.join(problem.runs) or 'none'}")
            out.print(f"  way out: {escape(problem.way_out)}")
        if len(keys_by_problem) > SHOWN:
            out.print(f"[red]… and {len(keys_by_problem) - SHOWN} more kinds in {part.name} (--json lists all)[/red]")
    runs = ", ".join(verification.runs) or "none"
    out.print(f"[bold red]damaged.[/bold red] Runs that it touches: {runs}. Other runs can be used as they are.")
