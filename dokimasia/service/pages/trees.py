"""Pages of capability trees: their list, a sunburst with scores and weaknesses, edits, and version comparison."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from math import cos, pi, sin
from typing import Annotated, NamedTuple
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from dokimasia.algorithms.taxonomy import attributes_of, holder
from dokimasia.domain.capability import LAYERS, ROOT
from dokimasia.errors import InputError, list_faults
from dokimasia.methods.tree import in_order, load_tree, tree_figures, weaknesses_of
from dokimasia.methods.tree.editing import TreeChange, check_tree_change, edit_tree, restore_version
from dokimasia.methods.tree.node_scores import ModelWeaknesses, NodeScore, TreeNode, measured_of
from dokimasia.methods.tree.report import NOT_SCORED, colour, ink
from dokimasia.methods.tree.stored_trees import (
    EditShown,
    ListedVersion,
    LoadedTree,
    TreeComparison,
    compare_versions,
    edit_shown,
    list_of_trees,
    list_of_versions,
    source_run,
)
from dokimasia.service.drawing import page
from dokimasia.service.pages.samples import name_of
from dokimasia.service.problems import status_of
from dokimasia.service.state import IN_TURN, Reader, Reviewer, Service, TheService
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import count_corrections
from dokimasia.storage.trees.versions import get_version

RINGS = ((105.0, 225.0), (228.0, 345.0), (348.0, 490.0))
"""Inner and outer radius of the ring of each layer, in a drawing of 1,000 units."""

LETTER = 7.7
"""Units that a letter of a label needs along its ring."""

NARROW = 17.0
"""Units that a line of a label needs across its arc."""

DIGITS = 40.0
"""Units that a category's number needs along its ring."""


class Arc(NamedTuple):
    """A drawn node: path, colours, and label with its position (no lines if there is no room).

    A category has a `number`, which replaces labels in a small drawing (0 if there is no room).
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


def arcs(nodes: Sequence[TreeNode], model: str) -> list[Arc]:
    """Return the arcs of the nodes of a tree that have criteria, without the root.

    Args:
        nodes: the nodes as in `tree_figures`, each before its children.
        model: the model whose scores colour them; nodes without a score are grey.
    """
    total = next((node.below for node in nodes if node.layer == 0), 0)
    if not total:
        return []
    begins: dict[str | None, float] = {"root": 0.0}
    found_arcs: list[Arc] = []
    labels, number = _labels(nodes, total), 0
    for node in nodes:
        number += node.layer == 1
        if node.layer == 0 or not node.below:
            continue
        start = begins[node.parent]
        end = start + node.below / total
        begins[node.parent] = end
        begins[node.id] = start
        arc = _arc(node, start, end, node.scores.get(model), labels.get(node.id, ()))
        wide = node.layer == 1 and (end - start) * 2 * pi * sum(RINGS[0]) / 2 >= DIGITS
        found_arcs.append(arc._replace(number=number if wide else 0))
    return found_arcs


def _labels(nodes: Sequence[TreeNode], total: int) -> dict[str, tuple[str, ...]]:
    """Return the labels that fit into the arcs, by node, in one or two lines; different names have different labels.

    A longer name is cut at its end, else in its middle; if both are ambiguous, it has no label.
    """
    room = [int((outer - inner - 10) / LETTER) for inner, outer in RINGS]
    across = [pi * (inner + outer) / total for inner, outer in RINGS]
    labelled_nodes = [
        (node.id, node.name, room[node.layer - 1], node.below * across[node.layer - 1] >= 2 * NARROW)
        for node in nodes
        if node.layer
    ]
    labels_by_node: dict[str, tuple[str, ...]] = {}
    for cut in (_end_cut, _middle_cut):
        labels = {id: _lines(name, letters, cut, two=two) for id, name, letters, two in labelled_nodes}
        names: dict[tuple[str, ...], set[str]] = {}
        for id, name, _, _ in labelled_nodes:
            names.setdefault(labels[id], set()).add(name)
        for id, label in labels.items():
            if len(names[label]) == 1:
                labels_by_node.setdefault(id, label)
    return labels_by_node


def _lines(name: str, letters: int, cut: Callable[[str, int], str], *, two: bool) -> tuple[str, ...]:
    """Return a name in one line, in two if there is room and a space to break at, else cut."""
    if _width(name) <= letters:
        return (name,)
    words = name.split()
    halves = (
        [(" ".join(words[:position]), " ".join(words[position:])) for position in range(1, len(words))] if two else []
    )
    if not halves:
        return (cut(name, letters),)
    best = min(halves, key=lambda half: max(map(_width, half)))
    return tuple(line if _width(line) <= letters else cut(line, letters) for line in best)


def _width(text: str) -> float:
    """Return the width of a text in average letters."""
    return sum(0.6 if letter in "fijlrtI ,.'-" else 1.05 for letter in text)


def _end_cut(name: str, letters: int) -> str:
    return f"{name[: letters - 1].rstrip()}…"


def _middle_cut(name: str, letters: int) -> str:
    end = 2 * (letters - 1) // 3
    return f"{name[: letters - 1 - end].rstrip()}…{name[-end:].lstrip()}"


def _arc(node: TreeNode, start: float, end: float, score: NodeScore | None, name: tuple[str, ...]) -> Arc:
    inner, outer = RINGS[node.layer - 1]
    mean = None if score is None else score.mean
    fill = NOT_SCORED if mean is None else colour(mean)
    score_text = "no score" if mean is None else f"{mean:.0f} of 100"
    title = f"{node.name}: {score_text}, {node.below} criteria"
    middle = (inner + outer) / 2
    across = (end - start) * 2 * pi * middle
    label = () if across < NARROW else name
    angle = ((start + end) / 2) * 360 - 90
    flip = 90 < angle % 360 < 270
    turn = f"rotate({angle:.2f}) translate({middle:.1f} 0)" + (" rotate(180)" if flip else "")
    return Arc(
        node.id,
        _ring_path(start, end, inner, outer),
        fill,
        ink(fill),
        title,
        label,
        turn,
        _point((start + end) / 2, middle),
    )


def _ring_path(start: float, end: float, inner: float, outer: float) -> str:
    """Return the path of a piece of a ring; shares of the full circle start at the top and go clockwise."""
    last = min(end, start + 0.99999)
    large_arc = int(last - start > 0.5)
    (x0, y0), (x1, y1) = _point(start, outer), _point(last, outer)
    (x2, y2), (x3, y3) = _point(last, inner), _point(start, inner)
    return (
        f"M{x0:.2f} {y0:.2f}A{outer:g} {outer:g} 0 {large_arc} 1 {x1:.2f} {y1:.2f}"
        f"L{x2:.2f} {y2:.2f}A{inner:g} {inner:g} 0 {large_arc} 0 {x3:.2f} {y3:.2f}Z"
    )


def _point(share: float, radius: float) -> tuple[float, float]:
    angle = 2 * pi * share - pi / 2
    return radius * cos(angle), radius * sin(angle)


class NodeEdit(EditShown):
    """An edit of a node: the version that it made, and who made it."""

    position: int
    who: str


class NodeHistory(NamedTuple):
    """The edits of a node with their reasons, and its former ids, both newest first."""

    edits: Sequence[NodeEdit]
    former: Sequence[str]


def history_of_node(home: Home, node: str, history: Sequence[ListedVersion]) -> NodeHistory:
    """Return the past of a node of the newest version, across renames and moves of it and its ancestors."""
    edits: list[NodeEdit] = []
    former: list[str] = []
    current_id = node
    for version_row in reversed(history):
        if not version_row.edits:
            continue
        version = get_version(home, version_row.id)
        node_ids = {other.id for other in version.nodes}
        renames = [
            edit
            for edit in version.edits
            if edit.kind in ("rename", "move")
            and edit.into
            and current_id.startswith(edit.into)
            and edit.node not in node_ids
        ]
        closest = max(renames, key=lambda edit: len(edit.into or ""), default=None)
        for edit in version.edits:
            if edit is closest or current_id in (edit.node, edit.into):
                edit_view = edit_shown(edit)
                edits.append(
                    NodeEdit(**dict(edit_view), position=version_row.position, who=edit_view.model or version_row.by)
                )
        if closest is not None:
            current_id = closest.node + current_id.removeprefix(closest.into or "")
            former.append(current_id)
    return NodeHistory(edits, [id for id in dict.fromkeys(former) if id != node])


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
    older, newer = (load_tree(home, tree, version=str(version_number)) for version_number in (first, second))
    comparison = compare_versions(home, older.name, newer.name)
    return page(
        request,
        "tree_diff.html",
        tree=older.stored.tree,
        found=comparison,
        rows=_outline_of_changes(older, newer, comparison),
        moves=_moves(comparison)[:MOST_MOVES],
        versions=list_of_versions(home, tree).versions,
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
    """Edit a tree and show the new version; if the edit is refused, show why, with the form still filled in."""
    form = {"kind": kind, "into": into, "reason": reason, "criteria": criteria or []}
    faults = _empty_fields(kind, into, reason, criteria or ())
    try:
        if faults:
            if faults.keys() == {"reason"}:  # the rest can be checked
                change = _change(kind, node, into, "–", criteria or ())
                check_tree_change(service.home, tree, change, version=version)
            return _tree(request, service, tree, model=model, node=node, faults=faults, given=form)
        change = _change(kind, node, into, reason, criteria or ())
        stored = asyncio.run(edit_tree(service.home, tree, change, version=version, person=person.name))
    except InputError as problem:
        return _tree(request, service, tree, model=model, node=node, fault=problem, faults=faults, given=form)
    current_node = next((change.into for change in stored.edits if change.node == node and change.into), node)
    exists = current_node in load_tree(service.home, tree).tree
    return RedirectResponse(
        _tree_address(stored.tree, node=current_node if exists else "", model=model), HTTPStatus.SEE_OTHER
    )


@router.post("/trees/{tree}/restore")
def restore(
    request: Request, service: TheService, person: Reviewer, tree: str, version: Annotated[int, Form(ge=1)]
) -> Response:
    """Make an earlier version the newest again."""
    try:
        stored = asyncio.run(restore_version(service.home, f"{tree}@{version}", person=person.name))
    except InputError as problem:
        return _tree(request, service, tree, fault=problem)
    return RedirectResponse(_tree_address(stored.tree), HTTPStatus.SEE_OTHER)


def _empty_fields(kind: str, into: str, reason: str, criteria: Sequence[str]) -> dict[str, str]:
    """Return the faults of the fields of a change that are empty and must not be."""
    faults: dict[str, str] = {}
    if kind == "split" and not criteria:
        faults["criteria"] = "select the criteria that are split off"
    if kind != "prune" and not into.strip():
        faults["into"] = "fill in this field"
    if not reason.strip():
        faults["reason"] = "a change of a tree needs a reason, which stays with it"
    return faults


def _change(kind: str, node: str, into: str, reason: str, criteria: Sequence[str]) -> TreeChange:
    fields = {"kind": kind, "node": node, "into": into.strip(), "criteria": criteria, "reason": reason.strip()}
    try:
        return TreeChange.model_validate(fields)
    except ValidationError as problem:
        faults = "; ".join(map(str, list_faults(problem)))
        raise InputError(f"{faults}. Nothing was changed.") from None


def _tree(
    request: Request,
    service: Service,
    name: str,
    *,
    version: str | None = None,
    model: str = "",
    node: str = "",
    fault: InputError | None = None,
    faults: Mapping[str, str] = {},
    given: Mapping[str, object] = {},
) -> Response:
    home = service.home
    loaded = load_tree(home, name, version=version or None)
    run = source_run(home, loaded.stored.tree)
    models: list[str] = []
    if run is not None:
        key = ("tree models", run.id, run.updated_at, count_corrections(home))
        models = service.cache.get(key, lambda: sorted(measured_of(home, run).scores))
    chosen_model = model if model in models else next(iter(models), "")
    state = (
        loaded.stored.id,
        "" if run is None else f"{run.id} {run.updated_at}",
        chosen_model,
        count_corrections(home),
    )
    view = service.cache.get(
        ("tree", *state), lambda: tree_figures(home, loaded.name, models=[chosen_model] if chosen_model else [])
    )
    weak: ModelWeaknesses | None = None
    if run is not None and chosen_model:
        weak = service.cache.get(
            ("weaknesses", *state), lambda: weaknesses_of(home, run, chosen_model, tree=loaded.name)
        )
    history = list_of_versions(home, loaded.stored.tree).versions
    node_id = holder(loaded.tree, node) if node else None
    return page(
        request,
        "tree.html",
        status=_status(fault, faults),
        tree=loaded.stored.tree,
        stored=loaded.stored,
        newest=history[-1].position == loaded.stored.position,
        history=history,
        run=run,
        called=name_of(service.home, run) if run else "",
        model=chosen_model,
        models=models,
        nodes=view.nodes,
        counts=view.counts,
        simulated=view.simulated,
        unplaced=loaded.unplaced,
        arcs=arcs(view.nodes, chosen_model),
        weak=weak,
        node=None if node_id is None else _node(home, loaded, node_id, view.nodes, history),
        asked=node,
        fault="" if fault is None else str(fault),
        faults=faults,
        given=given,
        layers=LAYERS,
    )


def _status(fault: InputError | None, faults: Mapping[str, str]) -> int:
    if fault is not None:
        return status_of(fault)
    if faults:
        return HTTPStatus.UNPROCESSABLE_ENTITY
    return HTTPStatus.OK


def _node(
    home: Home, loaded: LoadedTree, id: str, nodes: Sequence[TreeNode], history: Sequence[ListedVersion]
) -> dict[str, object]:
    """Return the values of the panel of a node: its criteria, its past, and where it can be moved."""
    row = next(node for node in nodes if node.id == id)
    criterion_keys = sorted(
        key
        for node_id in in_order(loaded.tree)
        if node_id == id or id == ROOT or str(node_id).startswith(id)
        for key in attributes_of(loaded.tree, node_id).members
    )
    layer = row.layer
    others = [node for node in nodes if node.id != id]
    past = history_of_node(home, id, [version for version in history if version.position <= loaded.stored.position])
    return {
        **dict(row),
        "layer_name": LAYERS[layer],
        "criteria": [(key, loaded.criteria.get(key)) for key in criterion_keys[:MOST_CRITERIA]],
        "former": past.former,
        "absorbs": [absorbed for absorbed in attributes_of(loaded.tree, id).absorbed if absorbed not in past.former],
        "edits": past.edits[:MOST_EDITS],
        "alike": [node.id for node in others if node.layer == layer],
        "above": [node.id for node in others if node.layer == layer - 1 and node.id != row.parent],
        "holds": bool(row.support) and layer > 1,
        "changes": layer > 1,
        "grows": 0 < layer < 3,
    }


def _outline_of_changes(older: LoadedTree, newer: LoadedTree, comparison: TreeComparison) -> list[dict[str, object]]:
    """Return the nodes of two versions as one outline, each with its change."""
    targets = {
        edit.node: (edit.kind, edit.into)
        for edit in comparison.edits or ()
        if edit.into and edit.kind in {"rename", "move", "merge"} and edit.node in older.tree
    }
    origins = {into: (kind, node) for node, (kind, into) in targets.items() if into in newer.tree and kind != "merge"}
    losses, gains = Counter[str](), Counter[str]()
    for old, new in comparison.moved.values():
        losses[old or ""] += 1
        gains[new or ""] += 1
    rows: list[dict[str, object]] = []
    places = {str(node_id): index for index, node_id in enumerate(in_order(newer.tree))}
    removed = [str(node_id) for node_id in in_order(older.tree) if str(node_id) not in newer.tree]
    order = sorted(
        [*places, *removed], key=lambda node_id: node_id.replace(">", "\x00").casefold() if node_id != ROOT else ""
    )
    for id in order:
        if id == ROOT:
            continue
        state = "same" if id in older.tree else "added"
        kind, other = origins.get(id, ("", ""))
        if id not in newer.tree:
            state = "removed"
            kind, other = targets.get(id, ("", ""))
            if not kind and id in comparison.merged:
                kind, other = "merge", comparison.merged[id]
        rows.append(
            {
                "id": id,
                "name": id.strip("<>").split("><")[-1],
                "layer": id.count("<"),
                "state": state,
                "kind": kind,
                "other": other,
                "left": losses[id],
                "arrived": gains[id],
            }
        )
    return rows


def _moves(comparison: TreeComparison) -> list[tuple[int, str, str]]:
    counts = Counter((old or "(none)", new or "(none)") for old, new in comparison.moved.values())
    return [(count, old, new) for (old, new), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def _tree_address(tree: str, **query: str) -> str:
    parameters = {name: value for name, value in query.items() if value}
    return f"/trees/{quote(tree, safe='')}" + (f"?{urlencode(parameters)}" if parameters else "")
