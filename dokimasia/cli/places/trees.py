"""Capability trees in a home of this machine, and in a service."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from dokimasia.cli.shared import refuse_remote
from dokimasia.storage.home import Home

if TYPE_CHECKING:
    from dokimasia.cli.places.here import Here
    from dokimasia.client import Client


class Trees(Protocol):
    """What verbs ask of trees; everything is what `--json` prints."""

    def all(self) -> dict[str, Any]: ...
    def versions(self, tree: str) -> dict[str, Any]: ...
    def show(self, tree: str, **how: Any) -> dict[str, Any]: ...
    def compare(self, first: str, second: str) -> dict[str, Any]: ...
    def export(self, tree: str, version: str | None, format: Any) -> tuple[str, bytes]: ...
    def take_in(self, file: Path, tree: str | None, *, new: bool) -> dict[str, Any]: ...
    def restore(self, version: str) -> dict[str, Any]: ...
    def size(self, tree: str) -> tuple[str, int]: ...
    def delete(self, tree: str) -> dict[str, Any]: ...
    def weaknesses(self, run: str, model: str, **how: Any) -> dict[str, Any]: ...
    def validity(self, run: str, **how: Any) -> dict[str, Any]: ...


class TreesHere:
    """The trees of a home; what changes them goes through the service that holds it, where one does."""

    def __init__(self, place: "Here") -> None:
        self._place = place
        self._home = place.settings.home

    def all(self) -> dict[str, Any]:
        """Return all trees."""
        from dokimasia.methods.tree.stored_trees import list_of_trees

        with Home.open(self._home, write=False) as home:
            return {"trees": list_of_trees(home)}

    def versions(self, tree: str) -> dict[str, Any]:
        """Return the versions of a tree."""
        from dokimasia.methods.tree.stored_trees import list_of_versions

        with Home.open(self._home, write=False) as home:
            return list_of_versions(home, tree)

    def show(self, tree: str, *, depth: int, **how: Any) -> dict[str, Any]:
        """Return a tree with models' scores."""
        from dokimasia.methods.tree.node_scores import tree_figures

        with Home.open(self._home, write=False) as home:
            found = tree_figures(home, tree, **how)
        return {**found, "nodes": [node for node in found["nodes"] if node["layer"] <= depth]}

    def compare(self, first: str, second: str) -> dict[str, Any]:
        """Return what changed from a version to another."""
        from dokimasia.methods.tree.stored_trees import compare_versions

        with Home.open(self._home, write=False) as home:
            return compare_versions(home, first, second)

    def export(self, tree: str, version: str | None, format: Any) -> tuple[str, bytes]:
        """Return a tree's name with its version, and the tree in a format."""
        from dokimasia.methods.tree.editing import export_tree
        from dokimasia.methods.tree.stored_trees import load_tree

        with Home.open(self._home, write=False) as home:
            loaded = load_tree(home, tree, version=version)
        return loaded.name, export_tree(loaded, format).encode()

    def take_in(self, file: Path, tree: str | None, *, new: bool) -> dict[str, Any]:
        """Take a file in as a tree's newest version, or as a new tree."""
        from dokimasia.methods.tree.editing import import_tree

        if there := self._place.holder():
            return there.trees.take_in(file, tree, new=new)
        with Home.open(self._home, write=True) as home:
            return asyncio.run(import_tree(home, file, tree=tree, new=new))

    def restore(self, version: str) -> dict[str, Any]:
        """Make an earlier version the newest."""
        from dokimasia.methods.tree.editing import restore_version

        if there := self._place.holder():
            return there.trees.restore(version)
        with Home.open(self._home, write=True, create=False) as home:
            return asyncio.run(restore_version(home, version))

    def size(self, tree: str) -> tuple[str, int]:
        """Return a tree's name, and how many versions it has."""
        from dokimasia.storage.trees.versions import resolve_tree, versions

        with Home.open(self._home, write=False) as home:
            name = resolve_tree(home, tree).tree
            return name, len(versions(home, name))

    def delete(self, tree: str) -> dict[str, Any]:
        """Delete a tree with its versions and the growths that made them."""
        from dokimasia.methods.tree.deleting import delete_whole_tree

        if there := self._place.holder():
            return there.trees.delete(tree)
        with Home.open(self._home, write=True, create=False) as home:
            return asyncio.run(delete_whole_tree(home, tree))

    def weaknesses(self, run: str, model: str, *, tree: str | None, **how: Any) -> dict[str, Any]:
        """Return where a model is weak and strong."""
        from dokimasia.methods.tree.node_scores import weaknesses_of
        from dokimasia.methods.tree.stored_trees import evaluation_of

        with Home.open(self._home, write=False) as home:
            evaluation, own = evaluation_of(home, run)
            return weaknesses_of(home, evaluation, model, tree=tree or own, **how)

    def validity(self, run: str, *, tree: str | None, against: Mapping[str, Path], **how: Any) -> dict[str, Any]:
        """Return how well a tree's leaves predict scores."""
        from dokimasia.methods.tree.stored_trees import evaluation_of
        from dokimasia.methods.tree.validity import validity_of

        with Home.open(self._home, write=False) as home:
            evaluation, own = evaluation_of(home, run)
            return validity_of(home, evaluation, tree=tree or own, against=against, **how)


class TreesThere:
    """The trees of a service."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._asked = client.connection

    def all(self) -> dict[str, Any]:
        """Return all trees."""
        return {"trees": self._client.trees()}

    def versions(self, tree: str) -> dict[str, Any]:
        """Return the versions of a tree."""
        return self._asked.get(f"{_at(tree)}/versions")

    def show(self, tree: str, *, models: tuple[str, ...] = (), **how: Any) -> dict[str, Any]:
        """Return a tree with models' scores."""
        return self._client.tree(tree, model=list(models) or None, **how)

    def compare(self, first: str, second: str) -> dict[str, Any]:
        """Return what changed from a version to another."""
        named = second if first.isdecimal() else first
        return self._asked.get(f"{_at(named)}/diff", first=first, second=second)

    def export(self, tree: str, version: str | None, format: Any) -> tuple[str, bytes]:
        """Return a tree's name, and the tree in a format."""
        query = {"version": version, "format": format}
        return tree, self._asked.request("GET", f"{_at(tree)}/export", query=query).content

    def take_in(self, file: Path, tree: str | None, *, new: bool) -> dict[str, Any]:
        """Take a file in as a tree's newest version, or as a new tree."""
        body = {"file": self._client.upload(file), "tree": tree, "new": new}
        return self._asked.send("POST", "/api/trees", body)

    def restore(self, version: str) -> dict[str, Any]:
        """Make an earlier version the newest."""
        name, at, position = version.rpartition("@")
        return self._asked.send(
            "POST", f"{_at(name if at else version)}/restore", {"version": position if at else version}
        )

    def size(self, tree: str) -> tuple[str, int]:
        """Return a tree's name, and how many versions it has."""
        found = self.versions(tree)
        return found["tree"], len(found["versions"])

    def delete(self, tree: str) -> dict[str, Any]:
        """Delete a tree with its versions and the growths that made them."""
        return self._asked.send("DELETE", _at(tree))

    def weaknesses(self, run: str, model: str, **how: Any) -> dict[str, Any]:
        """Return where a model is weak and strong."""
        return self._asked.get(f"/api/runs/{quote(run, safe='')}/weaknesses", model=model, **how)

    def validity(
        self, run: str, *, models: tuple[str, ...] = (), against: Mapping[str, Path], **how: Any
    ) -> dict[str, Any]:
        """Return how well a tree's leaves predict scores."""
        if against:
            refuse_remote("dokimasia tree validity --against")
        return self._asked.get(f"/api/runs/{quote(run, safe='')}/validity", model=list(models) or None, **how)


def _at(tree: str) -> str:
    return f"/api/trees/{quote(tree, safe='')}"
