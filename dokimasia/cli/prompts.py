"""`dokimasia prompts`: the prompts of the package, listed, shown, and copied to be edited."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dokimasia.cli.shared import console, grid, json_option, print_json
from dokimasia.errors import InputError

if TYPE_CHECKING:
    from dokimasia.prompts.library import Prompt


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the shipped prompts; with show, print one; with copy, write some to a folder for --prompts."""
    if context.invoked_subcommand is not None:
        return
    from rich.markup import escape

    prompts = [_prompt(name) for name in _names()]
    if as_json:
        print_json(
            [prompt.model_dump(include={"name", "version", "output", "inputs", "source", "hash"}) for prompt in prompts]
        )
        return
    table = grid("prompt", "version", "gives", "source")
    for prompt in prompts:
        table.add_row(prompt.name, str(prompt.version), escape(prompt.output), escape(prompt.source))
    console().print(table)


@command.command()
@click.argument("name")
def show(name: str) -> None:
    """Print the prompt NAME as its file holds it."""
    click.echo(_text(name), nl=False)


@command.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace files that are already there.")
def copy(names: tuple[str, ...], folder: Path, force: bool) -> None:
    """Write each prompt NAME to FOLDER, to be changed and named with --prompts FOLDER."""
    files = {folder / f"{name}.md": _text(name).encode() for name in names}
    existing = [str(path) for path in files if path.exists()]
    if existing and not force:
        raise InputError(f"{', '.join(existing)}: already there; replace with --force, or name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_bytes(text)
            click.echo(path)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}; name another folder") from error
    click.echo(f"change them, raise their version, and run: dokimasia evaluate DATA ... --prompts {folder}", err=True)


def _names() -> list[str]:
    from dokimasia.prompts import default_library

    return default_library().names()


def _prompt(name: str) -> "Prompt":
    from dokimasia.prompts import default_library

    return default_library().get(name)


def _text(name: str) -> str:
    from dokimasia.prompts.library import shipped_text

    return shipped_text(name)
