"""Capability trees: listed, shown with scores, compared, edited with a reason, taken in, restored, deleted."""

import asyncio
from http import HTTPStatus
from typing import Annotated, Any, Literal, cast

from fastapi import Query, Response
from pydantic import Field

from dokimasia.errors import InputError, NotFound
from dokimasia.methods.tree.deleting import delete_whole_tree
from dokimasia.methods.tree.editing import Format, TreeChange, edit_tree, export_tree, import_tree, restore_version
from dokimasia.methods.tree.node_scores import tree_figures, weaknesses_of
from dokimasia.methods.tree.stored_trees import (
    compare_versions,
    evaluation_of,
    list_of_trees,
    list_of_versions,
    load_tree,
)
from dokimasia.methods.tree.validity import validity_of
from dokimasia.runs.requests import PLAIN
from dokimasia.service.describing import takes
from dokimasia.service.paths import Places
from dokimasia.service.problems import Refused
from dokimasia.service.routes.answering import (
    After,
    Body,
    Limit,
    Listed,
    file_answer,
    file_reply,
    json_router,
    page_of,
    sent_as,
)
from dokimasia.service.state import IN_TURN, Reader, Reviewer, Starter, TheService
from dokimasia.storage.trees.versions import resolve_tree

router = json_router("trees")

MEDIA_TYPES: dict[str, str] = {
    "yaml": "application/yaml",
    "json": "application/json",
    "csv": "text/csv",
    "graphml": "application/graphml+xml",
    "mermaid": "text/plain",
}
Seed = Annotated[int | None, Query(ge=0, lt=2**63, description="Of intervals and tests; by default that of the run.")]
Tree = Annotated[str | None, Query(max_length=500, description="Another tree or version than the run's own.")]


class Trees(Listed):
    """A page of the trees, the newest first."""

    trees: list[dict[str, Any]]


class TreeEditSent(TreeChange):
    """One change of a tree with its reason, made to the version that was looked at."""

    version: int = Field(ge=1, lt=2**63, description="the position of that version; where there is a newer one, 409")


class Restored(Body):
    """Which version is to be the newest again: its position, or the beginning of its id."""

    version: str = Field(min_length=1, max_length=100)


class Imported(Body):
    """A tree that a person wrote or edited: YAML, JSON, CSV or GraphML, by the file's ending."""

    file: str = Field(min_length=1, max_length=1000, examples=["upload:tree.yaml"])
    tree: str | None = Field(
        default=None, min_length=1, max_length=200, description="by default the one that the file names"
    )
    new: bool = Field(default=False, description="begin a new tree with it")


@router.get("/trees")
def trees(service: TheService, person: Reader, limit: Limit = 50, after: After = None) -> Trees:
    """List the trees; `dokimasia tree list --json` prints the same."""
    every = list_of_trees(service.home)
    shown, later = page_of(every, lambda one: one["tree"], limit=limit, after=after)
    return Trees(total=len(every), next=later, trees=list(shown))


@router.post("/trees", openapi_extra=takes(Imported))
def take_in(service: TheService, person: Starter, body: Annotated[Imported, sent_as(Imported)]) -> dict[str, Any]:
    """Take in an edited tree from an upload as the newest version of a tree, or as a new one; what changed becomes edits."""
    places = Places(service.home, service.data_root)
    path = places.named(body.file, "file", PLAIN)
    try:
        return asyncio.run(import_tree(service.home, path, tree=body.tree, new=body.new))
    except InputError as problem:
        problem.args = (places.shortened(str(problem)),)
        raise


@router.get("/trees/{tree}", dependencies=[IN_TURN])
def one_tree(
    service: TheService,
    person: Reader,
    tree: str,
    version: Annotated[
        str | None, Query(max_length=100, description="Its position, or the beginning of its id.")
    ] = None,
    run: Annotated[
        str | None, Query(max_length=200, description="Whose scores; by default the run it was grown from.")
    ] = None,
    model: Annotated[list[str] | None, Query(max_length=50, description="Only these models' scores.")] = None,
    depth: Annotated[int, Query(ge=1, le=3)] = 3,
) -> dict[str, Any]:
    """Show a tree, by default its newest version, with models' scores; `dokimasia tree show --json` prints the same."""
    found = tree_figures(service.home, tree, version=version, run=run, models=tuple(model or ()))
    return {**found, "nodes": [node for node in found["nodes"] if node["layer"] <= depth]}


@router.get("/trees/{tree}/versions")
def versions(service: TheService, person: Reader, tree: str) -> dict[str, Any]:
    """List the versions of a tree in the order in which they came about; `dokimasia tree list TREE --json` prints the same."""
    return list_of_versions(service.home, tree)


@router.get("/trees/{tree}/diff")
def diff(
    service: TheService,
    person: Reader,
    tree: str,
    first: Annotated[str, Query(max_length=200, description="A version: its position, NAME@POSITION, or its id.")],
    second: Annotated[str, Query(max_length=200)],
) -> dict[str, Any]:
    """Compare two versions; `dokimasia tree diff --json` prints the same."""
    name = resolve_tree(service.home, tree).tree
    one, other = (f"{name}@{text}" if text.isdecimal() else text for text in (first, second))
    return compare_versions(service.home, one, other)


@router.get(
    "/trees/{tree}/export", response_class=Response, responses=file_reply(*MEDIA_TYPES.values(), description="the tree")
)
def export(
    service: TheService,
    person: Reader,
    tree: str,
    version: Annotated[str | None, Query(max_length=100)] = None,
    format: Literal["yaml", "json", "csv", "graphml", "mermaid"] = "yaml",
) -> Response:
    """Return a tree as a file, to be edited and taken in, or for other programs."""
    loaded = load_tree(service.home, tree, version=version)
    endings = {"mermaid": "mmd"}
    data = export_tree(loaded, cast("Format", format)).encode()
    return file_answer(data, MEDIA_TYPES[format], f"tree-{loaded.stored.position}.{endings.get(format, format)}")


@router.post("/trees/{tree}/edits", status_code=HTTPStatus.CREATED, openapi_extra=takes(TreeEditSent))
def edit(
    service: TheService, person: Reviewer, tree: str, body: Annotated[TreeEditSent, sent_as(TreeEditSent)]
) -> dict[str, Any]:
    """Change a tree and keep it as its newest version, with who did it and why."""
    change = TreeChange.model_validate(body.model_dump(exclude={"version"}))
    return asyncio.run(edit_tree(service.home, tree, change, version=body.version, who=person.name))


@router.post("/trees/{tree}/restore", status_code=HTTPStatus.CREATED, openapi_extra=takes(Restored))
def restore(
    service: TheService, person: Reviewer, tree: str, body: Annotated[Restored, sent_as(Restored)]
) -> dict[str, Any]:
    """Make an earlier version the newest again; what lies between stays in the history."""
    stored = load_tree(service.home, tree, version=body.version).stored
    return asyncio.run(restore_version(service.home, f"{stored.tree}@{stored.position}", who=person.name))


@router.delete("/trees/{tree}")
async def delete(service: TheService, person: Starter, tree: str) -> dict[str, Any]:
    """Delete a tree with its versions and the growths that made them."""
    try:
        return await delete_whole_tree(service.home, tree)
    except NotFound:
        raise
    except InputError as needed:
        raise Refused(HTTPStatus.CONFLICT, str(needed)) from None


@router.get("/runs/{run}/weaknesses", dependencies=[IN_TURN])
def weaknesses(
    service: TheService,
    person: Reader,
    run: str,
    model: Annotated[str, Query(max_length=200, description="Whose scores (NAME#blind: without the image).")],
    tree: Tree = None,
    method: Literal["fdr", "evaltree"] = "fdr",
    threshold: Annotated[float | None, Query(ge=0, le=1)] = None,
    min_support: Annotated[int, Query(ge=1, lt=2**63)] = 5,
    limit: Annotated[float, Query(ge=0, le=1, description="Share of false findings.")] = 0.05,
    examples: Annotated[int, Query(ge=0, le=100)] = 3,
    seed: Seed = None,
) -> dict[str, Any]:
    """Say where a model is weak and strong on the run's tree; `dokimasia tree weaknesses --json` prints the same."""
    evaluation, own = evaluation_of(service.home, run)
    return weaknesses_of(
        service.home,
        evaluation,
        model,
        tree=tree or own,
        method=method,
        threshold=threshold,
        min_support=min_support,
        limit=limit,
        examples=examples,
        seed=seed,
    )


@router.get("/runs/{run}/validity", dependencies=[IN_TURN])
def validity(
    service: TheService,
    person: Reader,
    run: str,
    model: Annotated[list[str] | None, Query(max_length=50, description="Pool only these models' scores.")] = None,
    tree: Tree = None,
    baselines: Annotated[bool, Query(description="Compare with groupings that need no model.")] = True,
    permutations: Annotated[int, Query(ge=1, le=2000)] = 200,
    resamples: Annotated[int, Query(ge=0, le=1000)] = 100,
    seed: Seed = None,
) -> dict[str, Any]:
    """Say how well the leaves of the run's tree predict scores; `dokimasia tree validity --json` prints the same."""
    evaluation, own = evaluation_of(service.home, run)
    return validity_of(
        service.home,
        evaluation,
        tree=tree or own,
        models=tuple(model or ()),
        baselines=baselines,
        permutations=permutations,
        resamples=resamples,
        seed=seed,
    )
