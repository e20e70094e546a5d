"""Options that may be given once only are refused where they are given twice, for every verb alike."""

from collections import Counter
from collections.abc import Sequence

import click


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
