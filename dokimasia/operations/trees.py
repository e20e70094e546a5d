"""Operations on capability trees: list, show with scores, compare, edit, import, restore and delete."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from dokimasia.domain.identity import JsonObject
from dokimasia.errors import InputError
from dokimasia.methods.tree.editing import (
    DeletedTree,
    RestoredTree,
    StoredTree,
    TreeChange,
    delete_whole_tree,
    edit_tree,
    export_tree,
    import_tree,
    restore_version,
)
from dokimasia.methods.tree.node_scores import (
    EvidentFinding,
    EvidentWeaknesses,
    ModelWeaknesses,
    NodeScore,
    ScoredTree,
    TreeNode,
    WeaknessFinding,
    evident_weaknesses_of,
    tree_figures,
    weaknesses_of,
)
from dokimasia.methods.tree.stored_trees import (
    TreeComparison,
    TreeHistory,
    compare_versions,
    evaluation_of,
    list_of_trees,
    list_of_versions,
    load_tree,
)
from dokimasia.methods.tree.validity import GroupingValidity, PredictionErrors, TreeValidity, validity_of
from dokimasia.operations.operation import (
    After,
    Body,
    FileReply,
    Limit,
    ListPage,
    OperationContext,
    Parameter,
    operation,
    page_of,
)
from dokimasia.report.fields import as_json
from dokimasia.storage.trees.versions import resolve_tree

__all__ = [
    "EvidentFinding",
    "EvidentWeaknesses",
    "GroupingValidity",
    "ModelWeaknesses",
    "NodeScore",
    "PredictionErrors",
    "ScoredTree",
    "TreeNode",
    "TreeValidity",
    "WeaknessFinding",
]
"""The return types of the operations on trees, along with the operations."""

MEDIA_TYPES: dict[str, str] = {
    "yaml": "application/yaml",
    "json": "application/json",
    "csv": "text/csv",
    "graphml": "application/graphml+xml",
    "mermaid": "text/plain",
}
Seed = Annotated[
    int | None, Parameter(ge=0, lt=2**63, description="Of intervals and tests; by default that of the run.")
]
Tree = Annotated[str | None, Parameter(max_length=500, description="Another tree or version than the run's own.")]


class Trees(ListPage):
    """A page of the trees, the newest first."""

    trees: list[JsonObject]


class TreeEditSent(TreeChange):
    """A change of a tree with its reason, and the version to which it applies."""

    version: int = Field(ge=1, lt=2**63, description="the position of that version; where there is a newer one, 409")


class Restored(Body):
    """The version to restore as the newest: its position, or the beginning of its id."""

    version: str = Field(min_length=1, max_length=100)


class Imported(Body):
    """A tree that a person wrote or edited: YAML, JSON, CSV or GraphML, by the file's ending."""

    file: str = Field(min_length=1, max_length=1000, examples=["upload:tree.yaml"])
    tree: str | None = Field(
        default=None, min_length=1, max_length=200, description="by default the one that the file names"
    )
    new: bool = Field(default=False, description="begin a new tree with it")


@operation("GET", "/trees", tag="trees")
def trees(context: OperationContext, limit: Limit = 50, after: After = None) -> Trees:
    """List the trees; `dokimasia tree list --json` prints the same."""
    all_trees = list_of_trees(context.home)
    page, next_key = page_of(all_trees, lambda tree: tree.tree, limit=limit, after=after)
    return Trees(total=len(all_trees), next=next_key, trees=[as_json(tree) for tree in page])


@operation("POST", "/trees", tag="trees", right="run", creates=True, figures=True)
def take_in(context: OperationContext, body: Imported) -> StoredTree:
    """Import an edited tree from an upload as the newest version of a tree, or as a new tree; changes are stored as edits."""
    with context.files() as path_of:
        return asyncio.run(import_tree(context.home, path_of(body.file, "file"), tree=body.tree, new=body.new))


@operation("GET", "/trees/{tree}", tag="trees", slow=True, figures=True)
def one_tree(
    context: OperationContext,
    tree: str,
    version: Annotated[
        str | None, Parameter(max_length=100, description="Its position, or the beginning of its id.")
    ] = None,
    run: Annotated[
        str | None, Parameter(max_length=200, description="Whose scores; by default the run it was grown from.")
    ] = None,
    model: Annotated[list[str] | None, Parameter(max_length=50, description="Only these models' scores.")] = None,
    depth: Annotated[int, Parameter(ge=1, le=3)] = 3,
) -> ScoredTree:
    """Show a tree, by default its newest version, with models' scores; `dokimasia tree show --json` prints the same."""
    figures = tree_figures(context.home, tree, version=version, run=run, models=tuple(model or ()))
    return figures.model_copy(update={"nodes": tuple(node for node in figures.nodes if node.layer <= depth)})


@operation("GET", "/trees/{tree}/versions", tag="trees", figures=True)
def versions(context: OperationContext, tree: str) -> TreeHistory:
    """List the versions of a tree in order of creation; `dokimasia tree list TREE --json` prints the same."""
    return list_of_versions(context.home, tree)


@operation("GET", "/trees/{tree}/diff", tag="trees", figures=True)
def diff(
    context: OperationContext,
    tree: str,
    first: Annotated[str, Parameter(max_length=200, description="A version: its position, NAME@POSITION, or its id.")],
    second: Annotated[str, Parameter(max_length=200)],
) -> TreeComparison:
    """Compare two versions; `dokimasia tree diff --json` prints the same."""
    name = resolve_tree(context.home, tree).tree
    older, newer = (f"{name}@{text}" if text.isdecimal() else text for text in (first, second))
    return compare_versions(context.home, older, newer)


@operation("GET", "/trees/{tree}/export", tag="trees", files=tuple(MEDIA_TYPES.values()), file="the tree")
def export(
    context: OperationContext,
    tree: str,
    version: Annotated[str | None, Parameter(max_length=100)] = None,
    format: Literal["yaml", "json", "csv", "graphml", "mermaid"] = "yaml",
) -> FileReply:
    """Return a tree as a file, to edit and import again, or for other programs."""
    loaded = load_tree(context.home, tree, version=version)
    extension = "mmd" if format == "mermaid" else format
    data = export_tree(loaded, format).encode()
    return FileReply(data, MEDIA_TYPES[format], f"tree-{loaded.stored.position}.{extension}", title=loaded.name)


@operation("POST", "/trees/{tree}/edits", tag="trees", right="review", status=201, figures=True)
def edit(context: OperationContext, tree: str, body: TreeEditSent) -> StoredTree:
    """Edit a tree and store it as its newest version, with the author and the reason."""
    change = TreeChange.model_validate(body.model_dump(exclude={"version"}))
    return asyncio.run(edit_tree(context.home, tree, change, version=body.version, person=context.person))


@operation("POST", "/trees/{tree}/restore", tag="trees", right="review", status=201, figures=True)
def restore(context: OperationContext, tree: str, body: Restored) -> RestoredTree:
    """Restore an earlier version as the newest; the versions in between stay in the history."""
    stored = load_tree(context.home, tree, version=body.version).stored
    return asyncio.run(
        restore_version(context.home, f"{stored.tree}@{stored.position}", person=context.person or "person")
    )


@operation("DELETE", "/trees/{tree}", tag="trees", right="run", conflict=True, figures=True)
async def delete(context: OperationContext, tree: str) -> DeletedTree:
    """Delete a tree with its versions and the growths that made them."""
    return await delete_whole_tree(context.home, tree)


@operation("GET", "/runs/{run}/weaknesses", tag="trees", slow=True, figures=True)
def weaknesses(
    context: OperationContext,
    run: str,
    model: Annotated[str, Parameter(max_length=200, description="Whose scores (NAME#blind: without the image).")],
    tree: Tree = None,
    method: Literal["fdr", "evaltree"] = "fdr",
    threshold: Annotated[float | None, Parameter(ge=0, le=1)] = None,
    min_support: Annotated[int, Parameter(ge=1, lt=2**63)] = 5,
    limit: Annotated[float, Parameter(ge=0, le=1, description="Share of false findings.")] = 0.05,
    examples: Annotated[int, Parameter(ge=0, le=100)] = 3,
    seed: Seed = None,
) -> ModelWeaknesses | EvidentWeaknesses:
    """Return where a model is weak and strong on the run's tree; `dokimasia tree weaknesses --json` prints the same."""
    evaluation, own_tree = evaluation_of(context.home, run)
    if method == "evaltree":
        return evident_weaknesses_of(
            context.home,
            evaluation,
            model,
            tree=tree or own_tree,
            threshold=threshold,
            examples=examples,
            seed=seed,
        )
    if threshold is not None:
        raise InputError(
            "--threshold belongs to --method evaltree; --method fdr compares with the model's other criteria"
        )
    return weaknesses_of(
        context.home,
        evaluation,
        model,
        tree=tree or own_tree,
        min_support=min_support,
        limit=limit,
        examples=examples,
        seed=seed,
    )


@operation("GET", "/runs/{run}/validity", tag="trees", slow=True, figures=True, local=("against",))
def validity(
    context: OperationContext,
    run: str,
    model: Annotated[list[str] | None, Parameter(max_length=50, description="Pool only these models' scores.")] = None,
    tree: Tree = None,
    baselines: Annotated[bool, Parameter(description="Compare with groupings that need no model.")] = True,
    permutations: Annotated[int, Parameter(ge=1, le=2000)] = 200,
    resamples: Annotated[int, Parameter(ge=0, le=1000)] = 100,
    seed: Seed = None,
    against: Mapping[str, Path] | None = None,
) -> TreeValidity:
    """Return how well the leaves of the run's tree predict scores; `dokimasia tree validity --json` prints the same."""
    evaluation, own_tree = evaluation_of(context.home, run)
    return validity_of(
        context.home,
        evaluation,
        tree=tree or own_tree,
        models=tuple(model or ()),
        against=against,
        baselines=baselines,
        permutations=permutations,
        resamples=resamples,
        seed=seed,
    )
