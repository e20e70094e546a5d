# pyright: standard
# PyYAML has no types, so its results are annotated at once.
"""YAML written by people, read within limits, so that no file blocks the process or hides part of its content."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dokimasia.errors import DataError

if TYPE_CHECKING:
    import yaml

DEEPEST_NESTING = 20
_LONG_NUMBER = re.compile(r"[-+0-9_:.]{40,}")
"""A text that YAML may parse as a number (base 60, with colons) in time quadratic in its length."""


def read_user_yaml(text: str, called: str) -> object:
    """Return the value of a YAML text.

    Args:
        text: the text.
        called: its name in messages, such as "the tree".

    Raises:
        DataError: it is not YAML, repeats a name in one place, refers to itself, or has a number of more than 40 signs
            or more than `DEEPEST_NESTING` levels. The message names the line.
    """
    import yaml

    reader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_events(yaml.parse(text, Loader=reader), called)
        return yaml.load(text, Loader=reader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{called} is not valid YAML: {' '.join(str(error).split())}") from error


def _check_events(events: "Iterable[yaml.Event]", called: str) -> None:
    """Raise DataError for duplicate names, which parsing would overwrite, aliases, and excessive nesting or numbers."""
    import yaml

    open_names: list[set[str] | None] = []
    expects_name: list[bool] = []
    for event in events:
        line = f"line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise DataError(f"{line}: the YAML of {called} may not refer to itself (&, *)")
        if isinstance(event, yaml.CollectionEndEvent):
            open_names.pop()
            expects_name.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and _LONG_NUMBER.fullmatch(event.value):
            raise DataError(f"{line}: a number of {len(event.value):,} signs; a text needs quotation marks")
        names = open_names[-1] if open_names else None
        if names is not None:
            if expects_name[-1]:
                if not isinstance(event, yaml.ScalarEvent):
                    raise DataError(f"{line}: a list or mapping stands where a name belongs")
                if event.value in names:
                    raise DataError(f"{line}: the name '{event.value}' stands twice in one place")
                names.add(event.value)
            expects_name[-1] = not expects_name[-1]
        if isinstance(event, yaml.CollectionStartEvent):
            open_names.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
            expects_name.append(True)
        if len(open_names) > DEEPEST_NESTING:
            raise DataError(f"{line}: {called} is nested more deeply than {DEEPEST_NESTING} levels")
