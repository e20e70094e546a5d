"""Splitting samples into two halves: samples that share an image stay together, and categories are spread evenly."""

from collections.abc import Mapping

from dokimasia.domain.identity import unit_interval


def halves(
    clusters: Mapping[str, str], categories: Mapping[str, str], *, seed: int
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the two halves of a set of samples.

    Parameters
    ----------
    clusters : mapping of str to str
        Each sample's cluster, in a fixed order; a cluster goes to one half as a whole.
    categories : mapping of str to str
        Each sample's category; a cluster has the category of its first sample.
    seed : int
        Seed of the order in which clusters are taken.

    Returns
    -------
    tuple of frozenset
        The first and the second half; within each category the smaller half takes the next cluster.

    Examples
    --------
    >>> clusters = {"a": "1", "b": "1", "c": "2", "d": "3"}
    >>> first, second = halves(clusters, {}, seed=0)
    >>> len(first | second), first & second, len({"a", "b"} & first)
    (4, frozenset(), 2)
    """
    samples: dict[str, list[str]] = {}
    for sample, cluster in clusters.items():
        samples.setdefault(cluster, []).append(sample)
    by_category: dict[str, list[str]] = {}
    for cluster, members in samples.items():
        by_category.setdefault(categories.get(members[0], ""), []).append(cluster)
    sides: tuple[list[str], list[str]] = ([], [])
    for name in sorted(by_category):
        for cluster in sorted(
            by_category[name], key=lambda candidate: (unit_interval("halves", seed, candidate), candidate)
        ):
            smaller = sides[0] if len(sides[0]) <= len(sides[1]) else sides[1]
            smaller.extend(samples[cluster])
    return frozenset(sides[0]), frozenset(sides[1])
