"""Write the command reference from the program itself: every verb with its usage, arguments and options."""

import inspect
from collections.abc import Iterator

import click

from dokimasia.cli.main import VERBS, group

COMMON = ("--home", "--config", "--verbose", "--log-file")
"""Options that most verbs take, all together; they are told once."""


def reference() -> str:
    """Return the page's Markdown: a list of all verbs, then each of them, in the order of use."""
    context = click.Context(group, info_name="dokimasia", max_content_width=100)
    lines = ["| command | |", "|---|---|"]
    for name, (_, line) in VERBS.items():
        lines.append(f"| [`dokimasia {name}`](#{name}) | {cell(line)} |")
    lines += ["", "## Common options", ""]
    lines += _options(_common(group.get_command(context, "runs")))
    lines += [
        "Most commands take these four, and say so below. `dokimasia --version` says which version this is, and `-h` or "
        "`--help` after any command prints what stands here.",
        "",
    ]
    for name in VERBS:
        command = group.get_command(context, name)
        if command is not None:
            lines += _command(command, name, context, 2)
    return "\n".join(lines)


def _command(command: click.Command, name: str, parent: click.Context, depth: int) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent, max_content_width=100)
    path = context.command_path
    anchor = path.removeprefix("dokimasia ").replace(" ", "-")
    yield from (f"{'#' * depth} {path.removeprefix('dokimasia ')} {{ #{anchor} }}", "")
    formatter = click.HelpFormatter(width=100)
    formatter.write_usage(path, " ".join(command.collect_usage_pieces(context)), prefix="")
    yield from ("```text", formatter.getvalue().strip(), "```", "")
    yield from (inspect.cleandoc(command.help or ""), "")
    common = _common(command)
    own = [one for one in command.params if isinstance(one, click.Option) and not one.hidden and one not in common]
    yield from _options(own)
    if common:
        yield from ("Also the [common options](#common-options).", "")
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from _command(found, child, context, depth + 1)


def _options(options: list[click.Option]) -> Iterator[str]:
    if not options:
        return
    yield from ("| option | | default |", "|---|---|---|")
    for option in options:
        names = ", ".join((*option.opts, *option.secondary_opts))
        value = _value(option)
        shown = f"`{option.default}`" if option.show_default and option.default is not None else ""
        default = "**required**" if option.required else shown
        yield f"| `{names}{f' {value}' if value else ''}` | {cell(option.help or '')} | {default} |"
    yield ""


def _value(option: click.Option) -> str:
    """Return what stands after the option's name: nothing for a flag, the choices, or the kind of value."""
    if option.is_flag or option.count:
        return ""
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "/".join(str(choice) for choice in option.type.choices)
    if isinstance(option.type, click.IntRange | click.FloatRange):
        return "N" if option.type.min is None else f"N ≥ {option.type.min}"
    return option.type.name.upper()


def _common(command: click.Command | None) -> list[click.Option]:
    """Return a command's common options, or none where it does not take all of them."""
    params = command.params if command is not None else []
    found = [one for one in params if isinstance(one, click.Option) and set(one.opts) & set(COMMON)]
    return found if len(found) == len(COMMON) else []


def cell(text: str) -> str:
    """Return a text as it stands in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
