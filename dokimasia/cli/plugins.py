"""`dokimasia plugins`: list what other distributions bring: graphs, prompts, data readers, transports."""

import click
from rich.markup import escape

from dokimasia.cli.shared import console, grid, json_option, print_json


@click.command()
@json_option
def command(as_json: bool) -> None:
    """List the plug-ins that are installed, each with its distribution, and say which cannot be used and why."""
    from dokimasia.plugins import GROUPS, listing

    plugins = listing()
    if as_json:
        print_json([plugin._asdict() for plugin in plugins])
        return
    out = console()
    if not plugins:
        out.print(f"no plug-ins are installed; a distribution announces them in {', '.join(GROUPS.values())}")
        return
    table = grid("kind", "name", "distribution", "what")
    for plugin in plugins:
        state = "[green]" if plugin.problem is None else "[red]"
        owner = f"{plugin.distribution} {plugin.version}".strip()
        table.add_row(plugin.kind, f"{state}{escape(plugin.name)}[/]", escape(owner), escape(plugin.value))
    out.print(table)
    for plugin in plugins:
        if plugin.problem is not None:
            out.print(escape(plugin.problem), style="red")
