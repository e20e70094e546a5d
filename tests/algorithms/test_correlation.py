"""Correlations are right, and their intervals stay where correlations can be."""

import math
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from dokimasia.algorithms.statistics import correlation_interval, kendall, pearson, r_squared, spearman
from dokimasia.algorithms.statistics.correlation_significance import correlation_exchange_test


def test_correlations() -> None:
    """Pearson, Spearman and Kendall with ties, and r squared against values worked out by hand."""
    assert pearson([1, 2, 3, 4], [2, 1, 4, 3]) == pytest.approx(0.6)
    assert r_squared([1, 2, 3, 4], [2, 1, 4, 3]) == pytest.approx(0.36)
    assert spearman([1, 2, 2, 4], [10, 20, 30, 40]) == pytest.approx(0.9486832980505138)
    assert pearson([1e-200, 2e-200], [1e200, 2e200]) == pytest.approx(1)
    x, y = [1, 2, 2, 4, 5], [2, 1, 3, 3, 5]
    pairs = [(a, b) for a, b in combinations(range(5), 2)]
    signs = [(np.sign(x[a] - x[b]), np.sign(y[a] - y[b])) for a, b in pairs]
    tau_b = sum(p * q for p, q in signs) / math.sqrt(sum(p != 0 for p, _ in signs) * sum(q != 0 for _, q in signs))
    assert kendall(x, y) == pytest.approx(tau_b)


@pytest.mark.parametrize(("x", "y"), [([1], [1]), ([1, 2], [1]), ([1, 1], [1, 2]), ([1, float("inf")], [1, 2])])
def test_correlations_refuse_what_has_none(x: list[float], y: list[float]) -> None:
    """Too few pairs, unequal lengths, a constant side and infinite values raise."""
    for correlate in (pearson, spearman, kendall, r_squared, correlation_interval):
        with pytest.raises(ValueError, match=r"pairs|vary|finite"):
            correlate(x, y)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_interval_contains_the_correlation_and_stays_within_one(method) -> None:
    """An interval lies around its correlation, wider with clusters; a perfect line shows no spread, and has none."""
    generator = np.random.default_rng(0)
    x = np.repeat(generator.normal(size=15), 3)
    y = np.repeat(generator.normal(size=15), 3) + x
    value = {"pearson": pearson, "spearman": spearman, "kendall": kendall}[method](x.tolist(), y.tolist())
    alone = correlation_interval(x.tolist(), y.tolist(), method=method)
    images = np.repeat(np.arange(15), 3).tolist()
    together = correlation_interval(x.tolist(), y.tolist(), method=method, clusters=images)
    assert -1 <= together.low < alone.low < value < alone.high < together.high <= 1
    line = correlation_interval(range(12), range(0, 24, 2), method=method)
    assert line == (-1, 1)
    assert "the same whichever" in line.reason


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("n", [5, 8, 9])
def test_interval_below_ten_pairs_is_not_given(method, n: int) -> None:
    """Below ten pairs no correlation has an interval that holds its level, so it has a reason in its place."""
    found = correlation_interval(range(n), range(n), method=method)
    assert found == (-1, 1)
    assert f"{n} clusters" in found.reason


@pytest.mark.parametrize(("sizes", "given"), [((*[1] * 6, *[2] * 4, 40, 60), False), ((*[1] * 6, *[20] * 10), True)])
def test_images_of_unequal_size_count_for_what_they_are_worth(sizes: tuple[int, ...], given: bool) -> None:
    """Images worth fewer than ten of equal size have no interval; of those that have one, 366 of 400 cover."""
    image = np.repeat(np.arange(len(sizes)), sizes)
    covered = printed = 0
    for seed in range(400):
        generator = np.random.default_rng(seed)
        x, other = generator.normal(size=(2, len(sizes)))
        own, beside = generator.normal(size=(2, len(image)))
        y = 0.95 * x + np.sqrt(1 - 0.95**2) * other
        first, second = (np.sqrt(0.7) * a[image] + np.sqrt(0.3) * b for a, b in ((x, own), (y, beside)))
        found = correlation_interval(first.tolist(), second.tolist(), clusters=image.tolist())
        printed += not found.reason
        covered += not found.reason and found.low <= 0.7 * 0.95 <= found.high
        assert given or "12 clusters of unequal size are worth 2.5 equal ones" in found.reason
    assert printed == (400 if given else 0)
    assert covered >= (366 if given else 0)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_interval_is_not_given_where_one_side_hardly_varies(method) -> None:
    """Scores that are the highest on nearly all images tell no correlation, and its place says so; equal images may vary."""
    generator = np.random.default_rng(1)
    lengths = generator.normal(size=120).tolist()
    images = np.repeat(np.arange(20), 6).tolist()
    top = [4.0, *[5.0] * 118, 1.0]
    found = correlation_interval(lengths, top, method=method, clusters=images)
    assert found == (-1, 1)
    assert "one side hardly varies over 20 clusters: the effective number" in found.reason
    alike = [1.0, 3.0, 5.0] * 40
    assert not correlation_interval(lengths, alike, method=method, clusters=images).reason


def test_interval_refuses_too_few_clusters() -> None:
    """Four clusters bound no correlation."""
    with pytest.raises(ValueError, match="at least 5"):
        correlation_interval([1, 2, 3, 4, 5], [1, 3, 2, 4, 5], clusters="aabcd")


def test_an_exchanged_correlation_counts_the_draws_that_come_as_far() -> None:
    """Where no draw does, p is one of all draws and the data; in the null world it is a share of them, evenly spread."""
    up = [float(value) for value in range(10)]
    for values in (up, up[::-1]):
        assert correlation_exchange_test(values, up, clusters=up, seed=0, permutations=999).p_value == 1 / 1000
    generator = np.random.default_rng(1)
    found: list[float] = []
    for seed in range(60):
        pairs = generator.random((2, 10)).tolist()
        p_value = correlation_exchange_test(*pairs, clusters=up, seed=seed, permutations=99).p_value
        assert p_value is not None
        assert round(100 * p_value) == pytest.approx(100 * p_value)
        found.append(p_value)
    assert 0 < min(found) < 0.1
    assert 0.9 < max(found) <= 1
    assert sum(found) / len(found) == pytest.approx(0.5, abs=0.12)


def test_published_gate_consistency(shared_data: Path) -> None:
    """The 25 models of a published table give the published R squared of gate pass with easy-wrong mean, and its gap."""
    paper = shared_data.parent / "papers" / "perception-rubrics.txt"
    if not paper.is_file():
        pytest.skip(f"the paper is not at {paper}")
    text = paper.read_text()
    table = text[text.index("Model\tOverall\tM-R Item") :]
    rows = re.findall(r"^\S[^\t\n]*((?:\t\d+\.\d+){5})$", table, re.MULTILINE)[:25]
    figures = [[float(value) for value in row.split()] for row in rows]
    assert len(figures) == 25
    gate_pass, easy_wrong_mean = [row[3] for row in figures], [row[4] for row in figures]
    assert r_squared(gate_pass, easy_wrong_mean) == pytest.approx(0.979485, abs=5e-7)
    gaps = [row[1] - row[3] for row in figures]
    assert round(sum(gaps) / len(gaps), 2) == 20.55
