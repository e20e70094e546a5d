"""Where an interval cannot hold its level there is none, by one rule and with its reason."""

import copy
import pickle

import numpy as np
import pytest

from dokimasia.algorithms.statistics import ConfidenceInterval, bootstrap_interval, jackknife_interval
from dokimasia.algorithms.statistics.clusters import Clusters
from dokimasia.algorithms.statistics.refusal import NO_SPREAD, ONE_CLUSTER, refusal

UNEQUAL = [1, 2, 4, 5, 7, 9, 10, 12, 14, 16, 18, 20]


def mean_of(
    cluster_means: list[float], sizes: list[int], bounds: tuple[float, float] = (1.0, 5.0)
) -> ConfidenceInterval:
    """Return the interval of the mean where all samples of a cluster have its mean."""
    values = [mean for mean, size in zip(cluster_means, sizes, strict=True) for _ in range(size)]
    clusters = [at for at, size in enumerate(sizes) for _ in range(size)]
    return bootstrap_interval(values, clusters=clusters, seed=0, bounds=bounds)


@pytest.mark.parametrize(("end", "step"), [(5.0, -1.0), (1.0, 1.0)])
def test_few_unequal_clusters_near_an_end_have_gaffkes_interval(end: float, step: float) -> None:
    """Of 12 clusters of 1 to 20 samples, one apart from the end has Gaffke's interval; in mid-scale they have the usual one."""
    found = mean_of([end] * 5 + [end + step] + [end] * 6, UNEQUAL)
    assert (found.method, found.reason) == ("gaffke", "")
    assert 1.7 < found.high - found.low < 1.9
    middle = mean_of([2.0, 4.0, 3.0, 2.5, 3.5, 3.0, 2.0, 4.0, 3.0, 2.5, 3.5, 3.0], UNEQUAL)
    assert (middle.method, middle.reason) == ("", "")
    assert 1 < middle.low < middle.high < 5


def test_two_nearly_equal_clusters_have_the_whole_scale() -> None:
    """Two images that hardly differ say nothing of others; three have an interval."""
    whole = mean_of([5.0, 4.9], [1, 1])
    assert (whole, whole.method, whole.reason) == ((1, 5), "", "")
    assert mean_of([5.0, 4.9, 5.0], [1, 1, 1]).method == "gaffke"


def test_all_at_the_end_keep_the_interval_of_what_was_never_seen() -> None:
    """Clusters that are all alike have an interval that holds, from how many others could have been missed."""
    found = mean_of([5.0] * 12, UNEQUAL)
    assert not found.reason
    assert found == (pytest.approx(5 - 4 * 0.2646, abs=1e-3), 5)


def test_one_cluster_has_the_whole_scale() -> None:
    """One image says nothing of others: its interval is the scale, and where that has no ends there is none."""
    whole = bootstrap_interval([3.0, 4.0], clusters="aa", seed=0, bounds=(1.0, 5.0))
    assert (whole, whole.reason) == ((1, 5), "")
    assert bootstrap_interval([3.0, 4.0], clusters="aa", seed=0).reason == ONE_CLUSTER
    assert jackknife_interval(lambda use: float(len(use)), 3, clusters="aaa").reason == ONE_CLUSTER


def test_a_figure_without_spread_has_no_interval() -> None:
    """A figure that is the same without any of the clusters, such as full agreement, has no interval of no width."""
    found = jackknife_interval(lambda _: 1.0, 6, bounds=(-1.0, 1.0))
    assert found == (-1, 1)
    assert found.reason == NO_SPREAD


def test_figures_near_an_end_have_no_interval_either() -> None:
    """The same rule holds for what the jackknife is used for: a difference of rates that hardly any cluster makes."""
    gaps = [0.0] * 11 + [20.0]
    found = jackknife_interval(lambda use: sum(gaps[at] for at in use) / len(use), 12, bounds=(-100.0, 100.0))
    assert found == (-100, 100)
    assert (
        found.reason
        == "12 clusters nearly alike: the effective number that differ from the median is 0.8, at least 1.5 are needed"
    )


def test_a_figure_that_adds_up_has_gaffkes_interval() -> None:
    """A difference of means by the jackknife has the interval of its clusters' parts, as the mean of these has."""
    gaps = [0.0] * 11 + [20.0]
    found = jackknife_interval(
        lambda use: sum(gaps[at] for at in use) / len(use), 12, bounds=(-100.0, 100.0), additive=True
    )
    assert found.method == "gaffke"
    assert found == pytest.approx(bootstrap_interval(gaps, seed=0, bounds=(-100.0, 100.0)))
    alike = jackknife_interval(lambda _: 0.0, 12, bounds=(-100.0, 100.0), additive=True)
    assert alike == pytest.approx(bootstrap_interval([0.0] * 12, seed=0, bounds=(-100.0, 100.0)))


def test_the_rule_counts_by_size() -> None:
    """Equal clusters count as many as they are; where one holds nearly all samples, they count as one."""
    means = np.array([5.0, 5.0, 1.0, 1.0])
    assert not refusal(Clusters(means, np.ones(4)), (1.0, 5.0))
    sizes = np.array([1.0, 1.0, 97.0, 1.0])
    assert "differ from the median is 0.0, at least 1.5 are needed" in refusal(
        Clusters(means * sizes, sizes), (1.0, 5.0)
    )


def test_a_reason_travels_with_its_interval() -> None:
    """An interval is its two limits, and keeps its reason through copies and processes."""
    one = ConfidenceInterval(1.0, 5.0, "too few")
    low, high = one
    assert (low, high) == one == (1.0, 5.0)
    assert repr(one) == "ConfidenceInterval(low=1.0, high=5.0)"
    assert copy.copy(one).reason == pickle.loads(pickle.dumps(one)).reason == "too few"
    assert ConfidenceInterval(1.0, 2.0).reason == ""
