"""`dokimasia schema`: print the JSON schema of the figures that a method's runs print with --json."""

import click

from dokimasia.cli.shared import print_json


@click.command()
@click.argument("method", required=False)
def command(method: str | None) -> None:
    """Print the JSON schema of what --json prints of a run of METHOD; without METHOD, list the methods that have one.

    A field that is not required is left out where there is nothing to say.
    """
    from dokimasia.runs.registry import method_named
    from dokimasia.runs.shapes import described, published

    if method is not None:
        print_json(published(method_named(method)))
        return
    for one in described():
        click.echo(f"{one.name:<12} {one.title}")
