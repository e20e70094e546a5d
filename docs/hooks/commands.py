"""Write the command reference from the program itself: every verb with its usage, arguments and options."""

import inspect
from collections.abc import Iterator

import click

from dokimasia.cli.main import VERBS, group

COMMON = ("--home", "--config", "--verbose", "--log-file")
"""Options that nearly every verb takes; they are told once."""


def reference() -> str:
    """Return the page's Markdown: a list of all verbs, then each of them, in the order of use."""
    context = click.Context(group, info_name="dokimasia", max_content_width=100)
    lines = ["| command | |", "|---|---|"]
    for name, (_, line) in VERBS.items():
        lines.append(f"| [`dokimasia {name}`](#{name}) | {_cell(line)} |")
    lines += ["", "## Options of all commands", ""]
    lines += _options([option for option in _any_common(context)])
    lines += [
        "A command that does not list one of these does not take it. `dokimasia --version` says which version this is, "
        "and `-h` or `--help` after any command prints what stands here.",
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
    mine = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    common = [option for option in mine if _is_common(option)]
    yield from _options([option for option in mine if option not in common])
    if common and len(common) < len(COMMON):
        yield from (f"Also: {', '.join(f'`{option.opts[-1]}`' for option in common)}, as above.", "")
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
        names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
        value = _value(option)
        shown = f"`{option.default}`" if option.show_default and option.default is not None else ""
        default = "**required**" if option.required else shown
        yield f"| {names}{f' `{value}`' if value else ''} | {_cell(option.help or '')} | {default} |"
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


def _any_common(context: click.Context) -> Iterator[click.Option]:
    """Yield the common options, as the verb `runs` has them all."""
    command = group.get_command(context, "runs")
    for option in command.params if command is not None else ():
        if isinstance(option, click.Option) and _is_common(option):
            yield option


def _is_common(option: click.Option) -> bool:
    return any(name in COMMON for name in option.opts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
