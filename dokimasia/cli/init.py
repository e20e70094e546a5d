"""`dokimasia init`: write a commented configuration to start from."""

from pathlib import Path

import click

from dokimasia.cli.shared import FILE
from dokimasia.errors import ConfigError


@click.command()
@click.option(
    "--config", "path", type=FILE, default=Path("dokimasia.toml"), show_default=True, help="Where to write it."
)
@click.option("--force", is_flag=True, help="Replace a file that is already there.")
def command(path: Path, force: bool) -> None:
    """Write a commented dokimasia.toml: one table a model, keys by the name of their environment variable."""
    from dokimasia.settings import TEMPLATE

    if path.exists() and not force:
        raise ConfigError(
            f"{path} is already there; edit it, name another file with --config, or replace it with --force"
        )
    path.write_text(TEMPLATE, encoding="utf-8")
    click.echo(f"wrote {path}. Uncomment a model, export its key, then: dokimasia evaluate DATA --judge J --models A,B")
