"""The planted capabilities: the true leaves of the tree, one for each step of each planted question."""

from pydantic import BaseModel

from dokimasia.simulation.data_files import read_data


class _PlantedLeaf(BaseModel):
    """A leaf of the planted tree: its description, and its other names."""

    about: str
    also: tuple[str, ...]


class _PlantedTree(BaseModel):
    """The planted leaves by path, grouped by category, and other names of their parents."""

    parents: dict[str, str]
    leaves: dict[str, _PlantedLeaf]


_TREE = read_data("capabilities.yaml", _PlantedTree)

DESCRIPTIONS: dict[str, str] = {path: leaf.about for path, leaf in _TREE.leaves.items()}
"""Description of each leaf, by path `<Category><Parent><Leaf>`."""

CAPABILITIES: tuple[str, ...] = tuple(DESCRIPTIONS)
"""Paths of all planted leaves, grouped by category."""

LEAF_PATHS: dict[str, str] = {path.rpartition("<")[2].rstrip(">"): path for path in CAPABILITIES}
"""Path of each leaf, by its name."""

OTHER_NAMES: dict[str, tuple[str, ...]] = {path: leaf.also for path, leaf in _TREE.leaves.items()}
"""Synonyms of each leaf, by path."""

OTHER_PARENT_NAMES = _TREE.parents
"""A synonym of each parent."""
