"""Names in charts: full names as categories, shortened names as labels, and no two shortened alike."""

import html
from collections.abc import Sequence

from dokimasia.domain.identity import JsonObject
from dokimasia.report.figures import MINUS

TICK = 40
"""The maximum number of characters of a name next to an axis."""

LESS = f" {MINUS} "
"""Separator of two names in a difference."""

TAILS = (1 / 2, 2 / 3, 1 / 3, 5 / 6, 1)
"""The shares of a shortened name taken from its end, in the order of trying."""


def label(text: str) -> str:
    """Return text escaped so that Plotly draws it literally."""
    return html.escape(text, quote=False)


def shortened_names(names: Sequence[str], most: int = TICK) -> list[str]:
    """Return names with the middle of long ones left out; different names stay different, and are longer if necessary.

    In a difference of two names, each is shortened to half the length.

    Args:
        names: all names of a chart, picture or table.
        most: maximum number of characters of a name.
    """
    sides = [name.split(LESS) for name in names]
    if any(len(group) > 1 for group in sides) and max(map(len, names)) > most:
        all_sides = [side for group in sides for side in group]
        short = dict(zip(all_sides, shortened_names(all_sides, most // 2), strict=True))
        return [LESS.join(short[side] for side in group) for group in sides]
    different = list(dict.fromkeys(names))
    longest = max(map(len, different), default=0)
    for width in range(most, longest):
        for tail in TAILS:
            short = {name: _without_middle(name, width, tail) for name in different}
            if len(set(short.values())) == len(different):
                return [short[name] for name in names]
    return list(names)


def short_labels(names: Sequence[str], most: int = TICK) -> list[str]:
    """Return shortened names, escaped so that Plotly draws them literally."""
    return [label(name) for name in shortened_names(names, most)]


def ticks(names: Sequence[str], most: int = TICK) -> JsonObject:
    """Return the properties of an axis whose categories are full names (`label`), labelled by shortened names."""
    different = list(dict.fromkeys(names))
    return {
        "tickmode": "array",
        "tickvals": [label(name) for name in different],
        "ticktext": short_labels(different, most),
    }


def _without_middle(name: str, most: int, tail: float) -> str:
    if len(name) <= most:
        return name
    end = round((most - 1) * tail)
    return f"{name[: most - 1 - end]}…{name[len(name) - end :]}"
