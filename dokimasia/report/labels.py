"""Names in charts: whole as categories, shortened where they are drawn, and never two shortened alike."""

import html
from collections.abc import Sequence
from typing import Any

from dokimasia.report.figures import MINUS

TICK = 40
"""Characters of a name beside an axis."""

LESS = f" {MINUS} "
"""What stands between two names of which one is held against the other."""

TAILS = (1 / 2, 2 / 3, 1 / 3, 5 / 6, 1)
"""Shares of a shortened name that its end takes, as they are tried."""


def label(text: str) -> str:
    """Return text as Plotly draws it literally: its own markup is taken from it."""
    return html.escape(text, quote=False)


def shortened_names(names: Sequence[str], most: int = TICK) -> list[str]:
    """Return names with the middle of long ones left out; different names stay different, and are longer where they must.

    Of a difference of two names each is shortened, to half of the room.

    Args:
        names: of one chart, picture or table, where each has to be told from all others.
        most: characters of a name.
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
    """Return shortened names as Plotly draws them literally."""
    return [label(name) for name in shortened_names(names, most)]


def ticks(names: Sequence[str], most: int = TICK) -> dict[str, Any]:
    """Return the properties of an axis whose categories are whole names (`label`), with shortened names beside it."""
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
