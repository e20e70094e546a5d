"""A capability tree as a sunburst: rings from the categories outwards, angles by criteria, colours by a model's score."""

from collections.abc import Callable, Mapping, Sequence
from math import cos, pi, sin
from typing import Any, NamedTuple

from dokimasia.methods.tree.report import NOT_SCORED, colour, ink

RINGS = ((105.0, 225.0), (228.0, 345.0), (348.0, 490.0))
"""Where the ring of each layer begins and ends, in a drawing of 1,000 units."""

LETTER = 7.7
"""Units that a letter of a label takes along its ring."""

NARROW = 17.0
"""Units that a line of a label needs across."""

DIGITS = 40.0
"""Units that a category's number needs along its ring."""


class Arc(NamedTuple):
    """A node as it is drawn: its path, its colours, and its label with where it stands (no line: there is no room).

    A category has its `number`, which stands in the place of labels where the drawing is small (0: there is no room).
    """

    id: str
    path: str
    fill: str
    ink: str
    title: str
    label: tuple[str, ...]
    turn: str
    at: tuple[float, float] = (0.0, 0.0)
    number: int = 0


def arcs(nodes: Sequence[Mapping[str, Any]], model: str) -> list[Arc]:
    """Return the nodes of a tree below its root, as far as they hold criteria.

    Args:
        nodes: as `tree_view` has them, each node before its children.
        model: whose scores colour them; nodes without a score are grey.
    """
    whole = next((node["below"] for node in nodes if node["layer"] == 0), 0)
    if not whole:
        return []
    begins: dict[str, float] = {"root": 0.0}
    found: list[Arc] = []
    labels, number = _labels(nodes, whole), 0
    for node in nodes:
        number += node["layer"] == 1
        if node["layer"] == 0 or not node["below"]:
            continue
        start = begins[node["parent"]]
        end = start + node["below"] / whole
        begins[node["parent"]] = end
        begins[node["id"]] = start
        arc = _arc(node, start, end, node["scores"].get(model), labels.get(node["id"], ()))
        wide = node["layer"] == 1 and (end - start) * 2 * pi * sum(RINGS[0]) / 2 >= DIGITS
        found.append(arc._replace(number=number if wide else 0))
    return found


def _labels(nodes: Sequence[Mapping[str, Any]], whole: int) -> dict[str, tuple[str, ...]]:
    """Return by node the label that its arc has room for, in one line or in two; no two names are cut alike.

    A name that needs more is cut at its end, else in its middle, and where neither tells it from another one, it is
    left out.
    """
    room = [int((outer - inner - 10) / LETTER) for inner, outer in RINGS]
    across = [pi * (inner + outer) / whole for inner, outer in RINGS]
    drawn = [
        (node["id"], node["name"], room[node["layer"] - 1], node["below"] * across[node["layer"] - 1] >= 2 * NARROW)
        for node in nodes
        if node["layer"]
    ]
    found: dict[str, tuple[str, ...]] = {}
    for cut in (_end_cut, _middle_cut):
        labels = {id: _lines(name, letters, cut, two=two) for id, name, letters, two in drawn}
        names: dict[tuple[str, ...], set[str]] = {}
        for id, name, _, _ in drawn:
            names.setdefault(labels[id], set()).add(name)
        for id, label in labels.items():
            if len(names[label]) == 1:
                found.setdefault(id, label)
    return found


def _lines(name: str, letters: int, cut: Callable[[str, int], str], *, two: bool) -> tuple[str, ...]:
    """Return a name in one line, or in two where there is room for `two` and a space to break it at, else cut."""
    if _long(name) <= letters:
        return (name,)
    words = name.split()
    halves = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))] if two else []
    if not halves:
        return (cut(name, letters),)
    best = min(halves, key=lambda half: max(map(_long, half)))
    return tuple(line if _long(line) <= letters else cut(line, letters) for line in best)


def _long(text: str) -> float:
    """Return how many letters of a usual width a text is long."""
    return sum(0.6 if letter in "fijlrtI ,.'-" else 1.05 for letter in text)


def _end_cut(name: str, letters: int) -> str:
    return f"{name[: letters - 1].rstrip()}…"


def _middle_cut(name: str, letters: int) -> str:
    end = 2 * (letters - 1) // 3
    return f"{name[: letters - 1 - end].rstrip()}…{name[-end:].lstrip()}"


def _arc(
    node: Mapping[str, Any], start: float, end: float, score: Mapping[str, Any] | None, name: tuple[str, ...]
) -> Arc:
    inner, outer = RINGS[node["layer"] - 1]
    mean = None if score is None else score["mean"]
    fill = NOT_SCORED if mean is None else colour(mean)
    said = "no score" if mean is None else f"{mean:.0f} of 100"
    title = f"{node['name']}: {said}, {node['below']} criteria"
    middle = (inner + outer) / 2
    across = (end - start) * 2 * pi * middle
    label = () if across < NARROW else name
    angle = ((start + end) / 2) * 360 - 90
    flip = 90 < angle % 360 < 270
    turn = f"rotate({angle:.2f}) translate({middle:.1f} 0)" + (" rotate(180)" if flip else "")
    return Arc(
        node["id"], _path(start, end, inner, outer), fill, ink(fill), title, label, turn, _at((start + end) / 2, middle)
    )


def _path(start: float, end: float, inner: float, outer: float) -> str:
    """Return a piece of a ring; shares of the whole turn begin at the top and go clockwise."""
    last = min(end, start + 0.99999)
    far = int(last - start > 0.5)
    (x0, y0), (x1, y1) = _at(start, outer), _at(last, outer)
    (x2, y2), (x3, y3) = _at(last, inner), _at(start, inner)
    return (
        f"M{x0:.2f} {y0:.2f}A{outer:g} {outer:g} 0 {far} 1 {x1:.2f} {y1:.2f}"
        f"L{x2:.2f} {y2:.2f}A{inner:g} {inner:g} 0 {far} 0 {x3:.2f} {y3:.2f}Z"
    )


def _at(share: float, radius: float) -> tuple[float, float]:
    angle = 2 * pi * share - pi / 2
    return radius * cos(angle), radius * sin(angle)
