"""A run's samples by capability: those with a criterion at or below a node of the tree that its criteria are mapped to."""

from collections.abc import Mapping

from dokimasia.algorithms.trees.places import in_order, members_below, place_of
from dokimasia.domain.capability import ROOT
from dokimasia.methods.tree.reading.trees import find_tree_of_run, load_stored
from dokimasia.runs.method import SampleGroup
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run
from dokimasia.storage.trees.lookup import criteria_by_sample


def capabilities(home: Home, run: Run) -> Mapping[str, SampleGroup]:
    """Return the nodes that hold criteria of a run, from the top down, by their id; nothing where no tree knows the run."""
    stored = find_tree_of_run(home, run)
    if stored is None:
        return {}
    tree = load_stored(home, stored).tree
    below, samples_of = members_below(tree), criteria_by_sample(home, run.id)
    found: dict[str, SampleGroup] = {}
    for node in in_order(tree):
        keys = frozenset(one for one in below[node] if one in samples_of)
        if node == ROOT or not keys:
            continue
        place = place_of(node)
        members = frozenset((sample, "") for key in keys for sample in samples_of[key])
        found[node] = SampleGroup(place.name, place.layer - 1, members, keys)
    return found
