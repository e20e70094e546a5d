"""Capability trees: all of a home, one with a model's scores and weaknesses, edited by single changes, its versions compared."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any
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
from dokimasia.methods.tree.stored_trees import (
    LoadedTree,
    compare_versions,
    list_of_trees,
    list_of_versions,
    source_run,
)
from dokimasia.service.drawing import page
from dokimasia.service.pages.node_history import past_of
from dokimasia.service.pages.sunburst import arcs
from dokimasia.service.problems import status_of
from dokimasia.service.state import IN_TURN, Reader, Reviewer, Service, TheService
from dokimasia.storage.home import Home
from dokimasia.storage.people.corrections import count_corrections

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
        kept = asyncio.run(edit_tree(service.home, tree, change, version=version, who=person.name))
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
        kept = asyncio.run(restore_version(service.home, f"{tree}@{version}", who=person.name))
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
        models = service.remembered.of(key, lambda: sorted(measured_of(home, run).scores))
    chosen = model if model in models else next(iter(models), "")
    state = (loaded.stored.id, "" if run is None else f"{run.id} {run.updated_at}", chosen, count_corrections(home))
    shown = service.remembered.of(
        ("tree", *state), lambda: tree_figures(home, loaded.name, models=[chosen] if chosen else [])
    )
    weak: dict[str, Any] = {}
    if run is not None and chosen:
        weak = service.remembered.of(("weaknesses", *state), lambda: weaknesses_of(home, run, chosen, tree=loaded.name))
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
    row = next(one for one in nodes if one["id"] == id)
    below = sorted(
        key
        for one in in_order(loaded.tree)
        if one == id or id == ROOT or str(one).startswith(id)
        for key in loaded.tree.nodes[one]["members"]
    )
    layer = row["layer"]
    others = [one for one in nodes if one["id"] != id]
    past = past_of(home, id, [one for one in history if one["position"] <= loaded.stored.position])
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
    return [(count, old, new) for (old, new), count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]


def _path(tree: str, **query: str) -> str:
    kept = {name: value for name, value in query.items() if value}
    return f"/trees/{quote(tree, safe='')}" + (f"?{urlencode(kept)}" if kept else "")
