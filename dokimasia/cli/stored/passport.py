"""`dokimasia passport`: make the passport of a judge from finished probes, or show one and check that it is unchanged."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.shared import FILE, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.domain.passport import Passport


@click.command()
@click.argument("judge", metavar="JUDGE|FILE")
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help="A probe to make it from; by default all finished ones that asked JUDGE.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the halves and intervals.")
@click.option("-o", "--output", type=FILE, help="Also write the passport to this file, for --passport.")
@json_option
@with_backend
def command(backend: Backend, judge: str, runs: tuple[str, ...], seed: int, output: Path | None, as_json: bool) -> None:
    """Make the passport of JUDGE: what probes measured of it, with the prompts, the data and a SHA-256 of it all.

    JUDGE is its name as the probes show it, such as J, J@low or J+tools. With a FILE in its place the passport in it is shown,
    and refused (exit code 2) where it is not as it was made. The hash shows an edit by hand and claims nothing about who
    made the file.
    """
    from dokimasia import operations
    from dokimasia.domain.passport import Passport
    from dokimasia.methods.passports import read_passport, write_passport

    path = Path(judge)
    if path.is_file() or path.suffix == ".json":
        if runs or output is not None:
            raise click.UsageError(f"{path} is a passport already: leave out --run and -o")
        _print(read_passport(path), as_json=as_json)
        return
    found = backend.call(operations.passports.one_passport, judge=judge, run=list(runs) or None, seed=seed)
    passport = Passport.model_validate(found)
    _print(passport, as_json=as_json)
    if output is not None:
        write_passport(passport, output)
        click.echo(f"wrote {output}. Use it: dokimasia evaluate DATA --judge {judge} --passport {output} …", err=True)


def _print(passport: "Passport", *, as_json: bool) -> None:
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.methods.passports.blocks import blocks_of

    if as_json:
        print_json(passport.model_dump(mode="json"))
    else:
        print_blocks(blocks_of(passport))
