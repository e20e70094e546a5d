"""`dokimasia rubrics`: rubrics from golden captions, and the rubric sets of a finished run as a file."""

from collections.abc import Mapping
from pathlib import Path

import click

from dokimasia.cli.backend import Backend, detachable, with_backend
from dokimasia.cli.method_verb import run_verb
from dokimasia.cli.requests import made, request_options
from dokimasia.cli.shared import dry_run_options, json_option, print_json, reading
from dokimasia.methods.rubrics import METHOD, RubricRequest, schema, write_sets
from dokimasia.storage.naming import of_method


def _print_schema(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        print_json(schema())
        ctx.exit()


@click.command(help=RubricRequest.__doc__)
@request_options(
    RubricRequest,
    leave_out=("min_score", "min_accuracy"),
    optional=("judge", "pool"),
    named=("data", "judge", "export"),
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON schema of a line of --export and exit.",
)
@dry_run_options
@json_option
@with_backend
@detachable
def command(
    backend: Backend,
    asked: Mapping[str, object],
    data: Path,
    judge: str | None,
    export: Path | None,
    dry_run: bool,
    show_prompts: bool,
    as_json: bool,
) -> int:
    """Make rubrics, continue that run, or with --export alone write the rubric sets of a finished one."""
    if judge is not None:
        request = made(RubricRequest, asked)
        return run_verb(METHOD, backend, request, dry_run=dry_run, show_prompts=show_prompts, as_json=as_json)
    if export is None:
        raise click.UsageError("name who writes the rubrics with --judge, and --pool; or --export FILE alone")
    backend.only_here("rubrics --export without --judge")
    with reading(backend.settings, str(data), of_method(METHOD.name)) as (home, run):
        click.echo(write_sets(home, run, export), err=True)
    return 0
