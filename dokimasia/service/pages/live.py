"""The live page of a run at work: progress, failures, spending, and its graphs with counts at each node."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from dokimasia.graphs.steps import END, START, GraphOutline
from dokimasia.runs.catalogue import method_of
from dokimasia.service.drawing import page, templates
from dokimasia.service.pages.samples import name_of
from dokimasia.service.state import Reader, TheService

WIDTH, HEIGHT = 148, 44
"""Width and height of a node, in pixels."""

ACROSS, DOWN = 24, 34
"""Pixels between two nodes of a layer, and between two layers."""

SIDE = 16
"""Pixels for each edge that goes around the others."""

PILL = 22
"""The height of start and end."""


class Node(NamedTuple):
    """A node's name and box; `ending` marks start and end."""

    name: str
    x: float
    y: float
    width: float
    height: float
    ending: bool


class EdgePath(NamedTuple):
    """An edge as an SVG path; `perhaps` if a router decides."""

    path: str
    perhaps: bool


class GraphLayout(NamedTuple):
    """The layout of a graph, and its size."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    ways: tuple[EdgePath, ...]


def lay_out(picture: GraphOutline) -> GraphLayout:
    """Return the layout of a graph, with each node below all earlier nodes that lead to it.

    Edges back to an earlier node are routed around the left, edges that skip a layer around the right. Early exits are
    drawn only for nodes without other edges.
    """
    names = picture.nodes
    order = {name: place for place, name in enumerate(names)}
    edges = _drawn_edges([(edge.source, edge.target, edge.taken_if) for edge in picture.edges], order)
    down = [(source, target) for source, target, _ in edges if order[source] < order[target]]
    layer = _layers(names, down)
    rows = _ordered(names, down, layer)
    back = sum(order[source] >= order[target] for source, target, _ in edges)
    over = sum(layer[target] - layer[source] > 1 for source, target in down)
    left_margin = SIDE * (back + 1)
    inner = max(len(row) for row in rows) * (WIDTH + ACROSS) - ACROSS
    nodes: dict[str, Node] = {}
    for depth, row in enumerate(rows):
        begin = left_margin + (inner - len(row) * (WIDTH + ACROSS) + ACROSS) / 2
        for place, name in enumerate(row):
            nodes[name] = _node(name, begin + place * (WIDTH + ACROSS), depth * (HEIGHT + DOWN) + 4)
    paths: list[EdgePath] = []
    at_left = at_right = 0
    for source, target, perhaps in edges:
        begin, end = nodes[source], nodes[target]
        if order[source] >= order[target]:
            at_left += 1
            paths.append(EdgePath(_round(begin, end, left_margin - SIDE * at_left), perhaps))
        elif layer[target] - layer[source] > 1:
            at_right += 1
            paths.append(EdgePath(_round(begin, end, left_margin + inner + SIDE * at_right), perhaps))
        else:
            paths.append(EdgePath(_down(begin, end), perhaps))
    height = (len(rows) - 1) * (HEIGHT + DOWN) + HEIGHT + 8
    return GraphLayout(
        left_margin + inner + SIDE * (over + 1), height, tuple(nodes[name] for name in names), tuple(paths)
    )


def _drawn_edges(edges: Sequence[tuple[str, str, bool]], order: Mapping[str, int]) -> list[tuple[str, str, bool]]:
    leading = {source for source, target, _ in edges if target != END and order[target] > order[source]}
    return [edge for edge in edges if edge[1] != END or edge[0] not in leading]


def _layers(names: Sequence[str], down: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the depth of each node: the longest path to it; the end is below all others."""
    layer = dict.fromkeys(names, 0)
    for name in names:  # in the order of the names, so that each depth is final before it is used
        for source, target in down:
            if source == name:
                layer[target] = max(layer[target], layer[source] + 1)
    if END in layer:
        layer[END] = max((depth + 1 for name, depth in layer.items() if name != END), default=0)
    return layer


def _ordered(names: Sequence[str], down: Sequence[tuple[str, str]], layer: Mapping[str, int]) -> list[list[str]]:
    """Return the layers, each node near those above that lead to it."""
    rows = [[name for name in names if layer[name] == depth] for depth in range(max(layer.values()) + 1)]
    rows = [row for row in rows if row]
    place: dict[str, float] = {}
    for row in rows:
        above = {name: [place[source] for source, target in down if target == name] for name in row}
        row.sort(key=lambda name: sum(above[name]) / len(above[name]) if above[name] else 0.5)
        place |= {name: (index + 0.5) / len(row) for index, name in enumerate(row)}
    return rows


def _node(name: str, x: float, y: float) -> Node:
    if name in (START, END):
        return Node(name, x + WIDTH / 4, y + (HEIGHT - PILL) / 2, WIDTH / 2, PILL, ending=True)
    return Node(name, x, y, WIDTH, HEIGHT, ending=False)


def _down(begin: Node, end: Node) -> str:
    x1, y1, x2, y2 = begin.x + begin.width / 2, begin.y + begin.height, end.x + end.width / 2, end.y - 2
    bend = (y2 - y1) / 2
    return f"M{x1:g} {y1:g}C{x1:g} {y1 + bend:g} {x2:g} {y2 - bend:g} {x2:g} {y2:g}"


def _round(begin: Node, end: Node, side: float) -> str:
    """Return the path of an edge around the others along a side, also for an edge from a node to itself."""
    at_left = side < min(begin.x, end.x)
    x1, x2 = (begin.x, end.x - 2) if at_left else (begin.x + begin.width, end.x + end.width + 2)
    y1, y2 = begin.y + begin.height * 0.65, end.y + end.height * 0.35
    return f"M{x1:g} {y1:g}C{side:g} {y1:g} {side:g} {y1:g} {side:g} {(y1 + y2) / 2:g}S{side:g} {y2:g} {x2:g} {y2:g}"


router = APIRouter()


@router.get("/runs/{run}/live")
async def live(request: Request, service: TheService, person: Reader, run: str) -> Response:
    """Show a run at work; for htmx, only the part that other pages include."""
    row = await run_in_threadpool(service.run, run)
    part = "hx-request" in request.headers
    if row.id != run:
        return RedirectResponse(f"/runs/{row.id}/live", 303)
    log = await service.events.log(row)

    def draw() -> HTMLResponse:
        method = method_of(row)
        return page(
            request,
            "live_part.html" if part else "live.html",
            run=row,
            called=name_of(service.home, row),
            retries=method.reruns.no_retry is None,
            may_run="run" in person.scopes,
            own=not part,
            workers=service.workers,
            standing=log.picture,
        )

    return await run_in_threadpool(draw)


@router.get("/runs/{run}/live/graph")
async def graph(service: TheService, person: Reader, run: str, name: Annotated[str, Query(max_length=200)]) -> Response:
    """Return the drawing of one graph of a run, once it is known."""
    row = await run_in_threadpool(service.run, run)
    picture = (await service.events.log(row)).picture.graphs.get(name)
    if picture is None:
        return HTMLResponse("", 404)
    return HTMLResponse(templates().get_template("live_graph.html").render(name=name, layout=lay_out(picture)))
