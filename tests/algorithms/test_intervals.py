"""Intervals of means: what their bounds do with values at the ends of a scale."""

import pytest

from dokimasia.algorithms.statistics import bootstrap_interval, rate_interval


def test_a_value_that_rounding_puts_outside_the_scale_lies_at_its_end() -> None:
    """A mean of hundreds may be 100.00000000000001; a value that is truly outside is refused."""
    values = [100.00000000000001, 0.0, 50.0, 100.0]
    rounded = bootstrap_interval(values, seed=0, bounds=(0.0, 100.0))
    assert rounded == bootstrap_interval([100.0, *values[1:]], seed=0, bounds=(0.0, 100.0))
    with pytest.raises(ValueError, match="not within the bounds"):
        bootstrap_interval([100.1, *values[1:]], seed=0, bounds=(0.0, 100.0))


@pytest.mark.parametrize("trials", [10, 60, 1500])
@pytest.mark.parametrize("hits", [(1, 0, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0)])
def test_repeated_trials_of_few_clusters_do_not_narrow_a_rate(hits: tuple[int, ...], trials: int) -> None:
    """However often six images are asked, one unseen image may differ: as much as if no trial had been a hit."""
    outcomes = [trial < number for number in hits for trial in range(trials)]
    clusters = [cluster for cluster in range(len(hits)) for _ in range(trials)]
    interval = rate_interval(outcomes, clusters=clusters)
    unseen = rate_interval([False] * len(outcomes), clusters=clusters)
    assert interval.method == "gaffke"
    assert interval.low < sum(outcomes) / len(outcomes) < unseen.high <= interval.high


def test_a_rate_of_few_trials_a_cluster_goes_by_its_trials() -> None:
    """With two trials an image, images whose rates look alike may do so by chance, and effective trials stay the measure."""
    outcomes = [True, False, *([False, False] * 5)]
    clusters = [cluster for cluster in range(6) for _ in range(2)]
    interval = rate_interval(outcomes, clusters=clusters)
    assert not interval.method
    assert interval.low < 1 / 12 < interval.high
