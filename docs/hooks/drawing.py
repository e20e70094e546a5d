"""Draw a graph as a small SVG: steps in one column, ways forward on the right, ways back on the left; same graph, same bytes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

ROW = 82
"""Pixels from one step to the next."""
BOX = 44
"""Height of a step's box in pixels."""
LANE = 18
"""Pixels from one lane to the next, beside the boxes."""
CORNER = 8
"""Radius of a line's corners in pixels."""
HEAD = 7
"""Length of an arrow's head in pixels."""


@dataclass(frozen=True, slots=True)
class Lane:
    """All edges of one side into one step: they run in one line, which is drawn `number` lanes away from the boxes."""

    target: int
    sources: tuple[int, ...]
    number: int


def draw(steps: Sequence[str], edges: Iterable[tuple[str, str]], *, title: str) -> str:
    """Return an SVG of the graph, in the order in which its steps are given; it takes its colours from the page.

    Raises:
        ValueError: an edge names a step that is not there.
    """
    place = {step: row for row, step in enumerate(steps)}
    strange = sorted({end for edge in edges for end in edge} - set(place))
    if strange:
        raise ValueError(f"no such step: {', '.join(strange)}")
    pairs = sorted((place[source], place[target]) for source, target in edges)
    width = max(len(label(step)) for step in steps) * 9 + 36
    forward = _lanes([pair for pair in pairs if pair[1] > pair[0] + 1])
    back = _lanes([pair for pair in pairs if pair[1] <= pair[0]])
    left, right = _margin(back), _margin(forward)
    lines = [_down(row, left + width / 2) for row, target in pairs if target == row + 1]
    lines += [_beside(lane, forward, left + width, 1) for lane in forward]
    lines += [_beside(lane, back, left, -1) for lane in back]
    boxes = [_box(row, step, left, width) for row, step in enumerate(steps)]
    size = (left + width + right, len(steps) * ROW - ROW + BOX + 4)
    return (
        f'<svg class="graph" role="img" viewBox="0 0 {size[0]:g} {size[1]:g}" width="{size[0]:g}" height="{size[1]:g}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>{"".join(lines)}{"".join(boxes)}</svg>'
    )


def label(step: str) -> str:
    """Return how a step is called in the picture; the two ends lose their underscores."""
    return step.strip("_").replace("_", " ")


def _lanes(pairs: Sequence[tuple[int, int]]) -> list[Lane]:
    """Give the edges of one side their lanes: short ones inside, and none where another one runs already."""
    sources: dict[int, list[int]] = {}
    for source, target in pairs:
        sources.setdefault(target, []).append(source)
    taken: list[list[tuple[int, int]]] = []
    lanes: list[Lane] = []
    for target in sorted(sources, key=lambda row: (max(abs(row - one) for one in sources[row]), row)):
        low, high = min(target, *sources[target]), max(target, *sources[target])
        number = next(
            (n for n, spans in enumerate(taken) if all(high < a or b < low for a, b in spans)),
            len(taken),
        )
        taken[number:] = [[*(taken[number] if number < len(taken) else []), (low, high)], *taken[number + 1 :]]
        lanes.append(Lane(target, tuple(sources[target]), number))
    return lanes


def _margin(lanes: Sequence[Lane]) -> float:
    return 2 if not lanes else 20 + LANE * (1 + max(lane.number for lane in lanes))


def _middle(row: int) -> float:
    return row * ROW + BOX / 2 + 2


def _down(row: int, x: float) -> str:
    top, end = _middle(row) + BOX / 2, _middle(row + 1) - BOX / 2
    head = f"{x:g},{end:g} {x - 4:g},{end - HEAD:g} {x + 4:g},{end - HEAD:g}"
    return f'<g class="on"><path d="M{x:g} {top:g}V{end - HEAD:g}"/><polygon points="{head}"/></g>'


def _beside(lane: Lane, lanes: Sequence[Lane], edge: float, side: int) -> str:
    """Draw one lane: from the side of each source out to the lane, along it, and in to the target.

    Ways forward leave a box in its lower half and enter in the upper one, ways back the other way round; where several
    leave one box, their order keeps them from crossing.
    """
    x = edge + side * (20 + LANE * lane.number)
    end = _middle(lane.target) - side * 12
    paths: list[str] = []
    for source in lane.sources:
        leaving = sorted((one.number for one in lanes if source in one.sources), reverse=side > 0)
        start = _middle(source) + (2 if side > 0 else -16) + 7 * leaving.index(lane.number)
        turn = CORNER if end > start else -CORNER
        paths.append(
            f"M{edge:g} {start:g}H{x - side * CORNER:g}Q{x:g} {start:g} {x:g} {start + turn:g}"
            f"V{end - turn:g}Q{x:g} {end:g} {x - side * CORNER:g} {end:g}H{edge + side * HEAD:g}"
        )
    head = f"{edge:g},{end:g} {edge + side * HEAD:g},{end - 4:g} {edge + side * HEAD:g},{end + 4:g}"
    kind = "on" if side > 0 else "back"
    return f'<g class="{kind}"><path d="{"".join(paths)}"/><polygon points="{head}"/></g>'


def _box(row: int, step: str, left: float, width: float) -> str:
    ends = step.startswith("__")
    y = _middle(row) - BOX / 2
    return (
        f'<g class="{"end" if ends else "step"}">'
        f'<rect x="{left:g}" y="{y:g}" width="{width:g}" height="{BOX}" rx="{BOX / 2 if ends else 6:g}"/>'
        f'<text x="{left + width / 2:g}" y="{_middle(row) + 5:g}" text-anchor="middle">{escape(label(step))}</text></g>'
    )
