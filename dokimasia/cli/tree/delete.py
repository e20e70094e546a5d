"""`dokimasia tree delete`: a capability tree removed, with its versions and the runs that grew it."""

import sys

import click

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.shared import json_option, print_json
from dokimasia.report.figures import several


@click.command("delete")
@click.argument("tree")
@click.option("--yes", is_flag=True, help="Do not ask; needed where there is no terminal to ask on.")
@json_option
@with_backend
def delete(backend: Backend, tree: str, yes: bool, as_json: bool) -> None:
    """Delete TREE with all its versions and the growths that made them.

    The ledger stays, so that the same growth asks its judge nothing anew. A tree that an unfinished run needs stays, too.
    """
    from dokimasia import operations

    if not yes:
        known = backend.call(operations.trees.versions, tree=tree)
        name, count = known["tree"], len(known["versions"])
        if not sys.stdin.isatty():
            raise click.UsageError(f"nobody is there to ask: add --yes to delete the tree {name!r}")
        click.echo(f"tree {name}: {several(count, 'version')}", err=True)
        click.confirm("delete it?", abort=True, err=True)
    deleted = backend.call(operations.trees.delete, tree=tree)
    if as_json:
        print_json(deleted)
        return
    runs = f", and its growth {', '.join(deleted['runs'])}" if deleted["runs"] else ""
    click.echo(f"deleted the tree {deleted['tree']}: {deleted['versions']} versions{runs}")
