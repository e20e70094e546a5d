"""What holds for the options of every verb alike: given once only, and those that name a service also before the verb."""

from collections import Counter
from collections.abc import Sequence

import click

from dokimasia.cli.shared import refuse_remote


def check_once(command: click.Command, parent: click.Context, name: str, arguments: Sequence[str]) -> None:
    """Check what a command is given, and what the verbs under it are.

    Click itself takes the last of an option's values, so that what stood before it would be lost in silence.

    Raises:
        click.UsageError: an option that takes one value is there several times.
    """
    context = command.context_class(command, info_name=name, parent=parent)
    try:
        _, rest, given = command.make_parser(context).parse_args(list(arguments))
    except click.UsageError:
        return  # the command says it when it reads them
    times = Counter(one for one in given if isinstance(one, click.Option) and not (one.multiple or one.count))
    twice = [option.opts[0] for option, count in times.items() if count > 1 and not option.is_flag]
    if twice:
        raise click.UsageError(f"{' and '.join(twice)} can be given once only, and is given more than once", context)
    if isinstance(command, click.Group) and rest:
        below = command.get_command(context, rest[0])
        if below is not None:
            check_once(below, context, rest[0], rest[1:])


def with_service(command: click.Command, parent: click.Context, name: str, arguments: Sequence[str]) -> list[str]:
    """Return what a command is given, with the options that name a service handed on where they stand before the verb.

    Raises:
        click.UsageError: they do, and the verb asks no service.
    """
    given = [
        (f"--{option.replace('_', '-')}", value)
        for option in ("server", "server_token_file")
        if (value := parent.params.get(option))
    ]
    words, at = [name], 0
    while given and isinstance(command, click.Group) and at < len(arguments):
        below = command.get_command(parent, arguments[at])
        if below is None:
            break
        command, at = below, at + 1
        words.append(arguments[at - 1])
    if not given or (isinstance(command, click.Group) and not command.invoke_without_command):
        return list(arguments)
    taken = {one for option in command.params for one in option.opts}
    if not {option for option, _ in given} <= taken:
        refuse_remote(f"dokimasia {' '.join(words)}")
    return [*arguments[:at], *(word for option in given for word in option), *arguments[at:]]
