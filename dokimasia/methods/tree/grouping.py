"""Groups for drawing criteria evenly: the data's categories, or the categories or leaves of a capability tree."""

from typing import Literal

from dokimasia.algorithms.trees.places import mapping_of
from dokimasia.domain.capability import CapabilityPath
from dokimasia.errors import NotFound
from dokimasia.methods.tree.stored_trees import find_tree_of_run, load_stored, load_tree
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

Grouping = Literal["category", "capability", "leaf"]
"""By the data's own category, by the tree's category of the criterion, or by its leaf."""


def criteria_groups(home: Home, run: Run, by: Grouping, tree: str | None = None) -> dict[str, str] | None:
    """Return each criterion's group in a tree, by key; None to group by the data's categories.

    Raises:
        NotFound: no tree holds the run's criteria, or no tree has that name.
    """
    if by == "category":
        return None
    if tree is not None:
        loaded = load_tree(home, tree)
    else:
        stored = find_tree_of_run(home, run)
        if stored is None:
            raise NotFound(
                f"no tree holds the criteria of run {run.id}: grow one with dokimasia tree grow {run.id}, name one with "
                "--tree, or draw by the data's own categories"
            )
        loaded = load_stored(home, stored)
    places = mapping_of(loaded.tree)
    return places if by == "leaf" else {key: CapabilityPath.parse(leaf).category for key, leaf in places.items()}
