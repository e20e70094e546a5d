# pyright: standard
# scikit-learn ships no types; its results are converted to floats at once.
"""Agreement of two groupings of the same criteria: two trees, two judges, a judge and a person."""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from dokimasia.algorithms.statistics.agreement import cohen_kappa


class ClusterAgreement(NamedTuple):
    """Agreement of two groupings, regardless of their groups' names; higher is better throughout.

    `n` criteria are in both. `adjusted_rand` and `adjusted_mutual_information` are 1 for equal groupings and 0 by chance;
    `homogeneity` is 1 if each group of the second lies within one of the first, `completeness` if each group of the first
    lies within one of the second.
    """

    n: int
    adjusted_rand: float
    adjusted_mutual_information: float
    homogeneity: float
    completeness: float


class MappingAgreement(NamedTuple):
    """Agreement of two mappings to the same leaves: the share of equal ones, and Cohen's kappa (None if undefined)."""

    n: int
    hit_rate: float
    kappa: float | None


def adjusted_rand(first: Mapping[str, Hashable], second: Mapping[str, Hashable]) -> float:
    """Return the adjusted Rand index of two groupings of the same criteria.

    Parameters
    ----------
    first, second : mapping of str to hashable
        Criterion to group. Criteria in only one of them are ignored.

    Returns
    -------
    float
        1 for equal groupings, regardless of names, 0 on average for independent ones.

    Raises
    ------
    ValueError
        If they have no criterion in common.

    References
    ----------
    Hubert and Arabie, Comparing partitions, 1985.

    Examples
    --------
    >>> adjusted_rand({"a": 1, "b": 1, "c": 2}, {"a": "x", "b": "x", "c": "y"})
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*_labels(first, second)))


def cluster_agreement(first: Mapping[str, Hashable], second: Mapping[str, Hashable]) -> ClusterAgreement:
    """Return several measures of the agreement of two groupings of the same criteria.

    Parameters
    ----------
    first, second : mapping of str to hashable
        Criterion to group; the first is taken as true. Criteria in only one of them are ignored.

    Returns
    -------
    ClusterAgreement

    Raises
    ------
    ValueError
        If they have no criterion in common.

    References
    ----------
    Rosenberg and Hirschberg, V-measure, 2007; Vinh, Epps and Bailey, Information theoretic measures for clusterings
    comparison, 2010.

    Examples
    --------
    >>> split = cluster_agreement({"a": 1, "b": 1, "c": 2, "d": 2}, {"a": "x", "b": "y", "c": "z", "d": "z"})
    >>> round(split.homogeneity, 6), round(split.completeness, 6), round(split.adjusted_rand, 3)
    (1.0, 0.666667, 0.571)
    """
    from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, homogeneity_completeness_v_measure

    first_labels, second_labels = _labels(first, second)
    homogeneity, completeness, _ = homogeneity_completeness_v_measure(first_labels, second_labels)
    return ClusterAgreement(
        n=len(first_labels),
        adjusted_rand=float(adjusted_rand_score(first_labels, second_labels)),
        adjusted_mutual_information=float(adjusted_mutual_info_score(first_labels, second_labels)),
        homogeneity=float(homogeneity),
        completeness=float(completeness),
    )


def mapping_agreement(first: Mapping[str, Hashable | None], second: Mapping[str, Hashable | None]) -> MappingAgreement:
    """Return how often two judges, or a judge and a person, place a criterion in the same leaf.

    Parameters
    ----------
    first, second : mapping of str to hashable or None
        Criterion to leaf, None for unplaced, which counts like any other leaf. Criteria in only one of them are
        ignored.

    Returns
    -------
    MappingAgreement

    Raises
    ------
    ValueError
        If they have no criterion in common.

    Examples
    --------
    >>> mapping_agreement({"a": "x", "b": "x", "c": "y", "d": "y"}, {"a": "x", "b": "y", "c": "y", "d": "y"})
    MappingAgreement(n=4, hit_rate=0.75, kappa=0.5)
    """
    common = _common(first, second)
    first_labels, second_labels = [first[name] for name in common], [second[name] for name in common]
    alike = len({*first_labels, *second_labels}) == 1
    hits = sum(mine == yours for mine, yours in zip(first_labels, second_labels, strict=True))
    return MappingAgreement(
        len(common), hits / len(common), None if alike else cohen_kappa(first_labels, second_labels)
    )


def _common(first: Mapping[str, object], second: Mapping[str, object]) -> list[str]:
    common = sorted(first.keys() & second.keys())
    if not common:
        raise ValueError("the two groupings have no criterion in common")
    return common


def _labels(first: Mapping[str, Hashable], second: Mapping[str, Hashable]) -> tuple[list[int], list[int]]:
    """Return both groupings of the common criteria as numbers."""
    common = _common(first, second)
    labels: list[list[int]] = []
    for grouping in (first, second):
        numbers: dict[Hashable, int] = {}
        labels.append([numbers.setdefault(grouping[name], len(numbers)) for name in common])
    return labels[0], labels[1]
