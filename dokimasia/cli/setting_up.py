"""What there is before any run: `dokimasia init` writes a configuration, `schema` and `plugins` say what is at hand."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.shared import FILE, configured, console, grid, json_option, print_json
from dokimasia.errors import ConfigError

if TYPE_CHECKING:
    from dokimasia.settings import Settings


PASSPORT = "passport"


@click.command()
@click.option(
    "--config", "path", type=FILE, default=Path("dokimasia.toml"), show_default=True, help="Where to write it."
)
@click.option("--force", is_flag=True, help="Replace a file that is already there.")
def init(path: Path, force: bool) -> None:
    """Write a commented dokimasia.toml: one table a model, keys by the name of their environment variable."""
    from dokimasia.cli.template import TEMPLATE

    if path.exists() and not force:
        raise ConfigError(
            f"{path} is already there; edit it, name another file with --config, or replace it with --force"
        )
    path.write_text(TEMPLATE, encoding="utf-8")
    click.echo(f"wrote {path}. Uncomment a model, export its key, then: dokimasia evaluate DATA --judge J --models A,B")


@click.command()
@click.argument("method", required=False)
def schema(method: str | None) -> None:
    """Print the JSON schema of what --json prints of a run of METHOD; without METHOD, list the methods that have one.

    `passport` stands for the files that `dokimasia passport` writes.

    A field that is not required is left out where there is nothing to say.
    """
    from dokimasia.methods.passports import schema as passport_schema
    from dokimasia.runs.catalogue import method_named
    from dokimasia.runs.figure_models import described, published

    if method == PASSPORT:
        print_json(passport_schema())
        return
    if method is not None:
        near = next((one.name for one in described() if method in (one.drawing().name, one.title)), None)
        if near is not None and near != method:
            raise ConfigError(
                f"no method {method!r}, which is what runs of {near!r} are called: `dokimasia schema {near}`"
            )
        print_json(published(method_named(method)))
        return
    for one in described():
        click.echo(f"{one.name:<12} {one.title}")
    click.echo(f"{PASSPORT:<12} the passport of a judge, which is a file")


@click.command()
@json_option
@configured
def plugins(settings: "Settings", as_json: bool) -> None:
    """List the plug-ins that are installed, each with its distribution, and say which cannot be used and why."""
    from dokimasia.plugins import GROUPS, listing

    found = listing()
    if as_json:
        print_json([plugin._asdict() for plugin in found])
        return
    out = console()
    if not found:
        out.print(f"no plug-ins are installed; a distribution announces them in {', '.join(GROUPS.values())}")
        return
    table = grid("kind", "name", "distribution", "what")
    for plugin in found:
        state = "[green]" if plugin.problem is None else "[red]"
        owner = f"{plugin.distribution} {plugin.version}".strip()
        table.add_row(plugin.kind, f"{state}{escape(plugin.name)}[/]", escape(owner), escape(plugin.value))
    out.print(table)
    for plugin in found:
        if plugin.problem is not None:
            out.print(escape(plugin.problem), style="red")
