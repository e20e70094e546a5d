"""Capability trees: all of a home, one as a sunburst with scores and weaknesses, edited by single changes, versions compared."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from math import cos, pi, sin
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from dokimasia.algorithms.taxonomy import holder
from dokimasia.domain.capability import LAYERS, ROOT
from dokimasia.errors import InputError
from dokimasia.methods.tree import in_order, load_tree, tree_figures, weaknesses_of
from dokimasia.methods.tree.editing import TreeChange, edit_tree, restore_version
from dokimasia.methods.tree.node_scores import measured_of
from dokimasia.methods.tree.report import NOT_SCORED, colour, ink
from dokimasia.methods.tree.stored_trees import (
    LoadedTree,
    compare_versions,
    edit_row,
    list_of_trees,
    list_of_versions,
    source_run,
)
from dokimasia.service.drawing import page
from dokimasia.service.problems import status_of
from dokimasia.service.state import IN_TURN, Reader, Reviewer, Service, TheService
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import count_corrections
from dokimasia.storage.trees.versions import get_version

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
        node["id"],
        _ring_path(start, end, inner, outer),
        fill,
        ink(fill),
        title,
        label,
        turn,
        _at((start + end) / 2, middle),
    )


def _ring_path(start: float, end: float, inner: float, outer: float) -> str:
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


class Past(NamedTuple):
    """What was done to a node, the newest first, with the reasons; and the ids that it had before, the newest first."""

    edits: Sequence[Mapping[str, Any]]
    former: Sequence[str]


def past_of(home: Home, node: str, history: Sequence[Mapping[str, Any]]) -> Past:
    """Return the past of a node of the last of some versions, over renames and moves of it and of what it hangs below."""
    edits: list[dict[str, Any]] = []
    former: list[str] = []
    named = node
    for one in reversed(history):
        if not one["edits"]:
            continue
        version = get_version(home, one["id"])
        there = {other.id for other in version.nodes}
        called = [
            edit
            for edit in version.edits
            if edit.kind in ("rename", "move") and edit.into and named.startswith(edit.into) and edit.node not in there
        ]
        own = max(called, key=lambda edit: len(edit.into or ""), default=None)
        edits += [
            {"position": one["position"], "who": row["model"] or one["by"], **row}
            for edit in version.edits
            if edit is own or named in (edit.node, edit.into)
            for row in [edit_row(edit)]
        ]
        if own is not None:
            named = own.node + named.removeprefix(own.into or "")
            former.append(named)
    return Past(edits, [id for id in dict.fromkeys(former) if id != node])


router = APIRouter()

MOST_CRITERIA, MOST_EDITS, MOST_MOVES = 200, 40, 200


@router.get("/trees")
def trees(request: Request, service: TheService, person: Reader) -> Response:
    """List all trees of the home."""
    return page(request, "trees.html", trees=list_of_trees(service.home))


@router.get("/trees/{tree}", dependencies=[IN_TURN])
def tree(
    request: Request,
    service: TheService,
    person: Reader,
    tree: str,
    version: Annotated[str | None, Query(max_length=100)] = None,
    model: Annotated[str, Query(max_length=500)] = "",
    node: Annotated[str, Query(max_length=1000)] = "",
) -> Response:
    """Show a version of a tree with a model's scores, and one of its nodes."""
    return _tree(request, service, tree, version=version, model=model, node=node)


@router.get("/trees/{tree}/diff")
def diff(
    request: Request,
    service: TheService,
    person: Reader,
    tree: str,
    first: Annotated[int, Query(ge=1)],
    second: Annotated[int, Query(ge=1)],
) -> Response:
    """Show what changed from one version of a tree to another."""
    home = service.home
    older, newer = (load_tree(home, tree, version=str(one)) for one in (first, second))
    found = compare_versions(home, older.name, newer.name)
    return page(
        request,
        "tree_diff.html",
        tree=older.stored.tree,
        found=found,
        rows=_both(older, newer, found),
        moves=_moves(found)[:MOST_MOVES],
        versions=list_of_versions(home, tree)["versions"],
    )


@router.post("/trees/{tree}/edit")
def edit(
    request: Request,
    service: TheService,
    person: Reviewer,
    tree: str,
    kind: Annotated[str, Form(max_length=20)],
    node: Annotated[str, Form(max_length=1000)],
    version: Annotated[int, Form(ge=1)],
    into: Annotated[str, Form(max_length=1000)] = "",
    reason: Annotated[str, Form()] = "",
    criteria: Annotated[list[str] | None, Form()] = None,
    model: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Change a tree and show the new version; where it cannot be, say why, with what was asked still there."""
    try:
        change = _change(kind, node, into, reason, criteria or ())
        kept = asyncio.run(edit_tree(service.home, tree, change, version=version, person=person.name))
    except InputError as problem:
        given = {"kind": kind, "into": into, "reason": reason, "criteria": criteria or []}
        return _tree(request, service, tree, model=model, node=node, fault=problem, given=given)
    now = next((one["into"] for one in kept["edits"] if one["node"] == node and one["into"]), node)
    there = now in load_tree(service.home, tree).tree
    return RedirectResponse(_path(kept["tree"], node=now if there else "", model=model), HTTPStatus.SEE_OTHER)


@router.post("/trees/{tree}/restore")
def restore(
    request: Request, service: TheService, person: Reviewer, tree: str, version: Annotated[int, Form(ge=1)]
) -> Response:
    """Make an earlier version the newest again."""
    try:
        kept = asyncio.run(restore_version(service.home, f"{tree}@{version}", person=person.name))
    except InputError as problem:
        return _tree(request, service, tree, fault=problem)
    return RedirectResponse(_path(kept["tree"]), HTTPStatus.SEE_OTHER)


def _change(kind: str, node: str, into: str, reason: str, criteria: Sequence[str]) -> TreeChange:
    if not reason.strip():
        raise InputError("a change of a tree needs a reason, which stays with it. Nothing was changed.")
    asked = {"kind": kind, "node": node, "into": into.strip(), "criteria": criteria, "reason": reason.strip()}
    try:
        return TreeChange.model_validate(asked)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{where}: {first['msg']}. Nothing was changed.") from None


def _tree(
    request: Request,
    service: Service,
    name: str,
    *,
    version: str | None = None,
    model: str = "",
    node: str = "",
    fault: InputError | None = None,
    given: Mapping[str, Any] | None = None,
) -> Response:
    home = service.home
    loaded = load_tree(home, name, version=version or None)
    run = source_run(home, loaded.stored.tree)
    models: list[str] = []
    if run is not None:
        key = ("tree models", run.id, run.updated_at, count_corrections(home))
        models = service.cache.get(key, lambda: sorted(measured_of(home, run).scores))
    chosen = model if model in models else next(iter(models), "")
    state = (loaded.stored.id, "" if run is None else f"{run.id} {run.updated_at}", chosen, count_corrections(home))
    shown = service.cache.get(
        ("tree", *state), lambda: tree_figures(home, loaded.name, models=[chosen] if chosen else [])
    )
    weak: dict[str, Any] = {}
    if run is not None and chosen:
        weak = service.cache.get(("weaknesses", *state), lambda: weaknesses_of(home, run, chosen, tree=loaded.name))
    history = list_of_versions(home, loaded.stored.tree)["versions"]
    there = holder(loaded.tree, node) if node else None
    return page(
        request,
        "tree.html",
        status=HTTPStatus.OK if fault is None else status_of(fault),
        tree=loaded.stored.tree,
        stored=loaded.stored,
        newest=history[-1]["position"] == loaded.stored.position,
        history=history,
        run=run,
        model=chosen,
        models=models,
        nodes=shown["nodes"],
        counts=shown["counts"],
        simulated=shown["simulated"],
        unplaced=loaded.unplaced,
        arcs=arcs(shown["nodes"], chosen),
        weak=weak,
        node=None if there is None else _node(home, loaded, there, shown["nodes"], history),
        asked=node,
        fault="" if fault is None else str(fault),
        given=given or {},
        layers=LAYERS,
    )


def _node(
    home: Home, loaded: LoadedTree, id: str, nodes: Sequence[Mapping[str, Any]], history: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what the panel of a node says: what it holds, how it came about, and where it can go."""
    row = next(node for node in nodes if node["id"] == id)
    below = sorted(
        key
        for one in in_order(loaded.tree)
        if one == id or id == ROOT or str(one).startswith(id)
        for key in loaded.tree.nodes[one]["members"]
    )
    layer = row["layer"]
    others = [node for node in nodes if node["id"] != id]
    past = past_of(home, id, [version for version in history if version["position"] <= loaded.stored.position])
    return {
        **row,
        "layer_name": LAYERS[layer],
        "criteria": [(key, loaded.criteria.get(key)) for key in below[:MOST_CRITERIA]],
        "former": past.former,
        "absorbs": [one for one in loaded.tree.nodes[id].get("absorbed", ()) if one not in past.former],
        "edits": past.edits[:MOST_EDITS],
        "alike": [one["id"] for one in others if one["layer"] == layer],
        "above": [one["id"] for one in others if one["layer"] == layer - 1 and one["id"] != row["parent"]],
        "holds": bool(row["support"]) and layer > 1,
        "changes": layer > 1,
        "grows": 0 < layer < 3,
    }


def _both(older: LoadedTree, newer: LoadedTree, found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of two versions as one outline, each with what became of it."""
    became = {
        edit["node"]: (edit["kind"], edit["into"])
        for edit in found["edits"] or ()
        if edit["into"] and edit["kind"] in {"rename", "move", "merge"} and edit["node"] in older.tree
    }
    came = {into: (kind, node) for node, (kind, into) in became.items() if into in newer.tree and kind != "merge"}
    left, arrived = Counter[str](), Counter[str]()
    for old, new in found["moved"].values():
        left[old or ""] += 1
        arrived[new or ""] += 1
    rows: list[dict[str, Any]] = []
    places = {str(one): at for at, one in enumerate(in_order(newer.tree))}
    gone = [str(one) for one in in_order(older.tree) if str(one) not in newer.tree]
    order = sorted([*places, *gone], key=lambda one: one.replace(">", "\x00").casefold() if one != ROOT else "")
    for id in order:
        if id == ROOT:
            continue
        state = "removed" if id not in newer.tree else "added" if id not in older.tree else "same"
        kind, other = became.get(id, ("", "")) if state == "removed" else came.get(id, ("", ""))
        if state == "removed" and not kind and id in found["merged"]:
            kind, other = "merge", found["merged"][id]
        rows.append(
            {
                "id": id,
                "name": id.strip("<>").split("><")[-1],
                "layer": id.count("<"),
                "state": state,
                "kind": kind,
                "other": other,
                "left": left[id],
                "arrived": arrived[id],
            }
        )
    return rows


def _moves(found: Mapping[str, Any]) -> list[tuple[int, str, str]]:
    counts = Counter((old or "(none)", new or "(none)") for old, new in found["moved"].values())
    return [(count, old, new) for (old, new), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def _path(tree: str, **query: str) -> str:
    kept = {name: value for name, value in query.items() if value}
    return f"/trees/{quote(tree, safe='')}" + (f"?{urlencode(kept)}" if kept else "")
