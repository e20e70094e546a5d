"""Ratings are the maximum of Davidson's likelihood, exist where it has one, and say how sure they are."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dokimasia.algorithms.pairwise import PairOutcome, rate_models

NAMES = "abcd"
games = st.lists(
    st.tuples(st.sampled_from(list(combinations(NAMES, 2))), st.sampled_from([1, 0, -1])), min_size=1, max_size=14
)


def _comparisons(drawn: Sequence[tuple[tuple[str, str], int]]) -> list[PairOutcome]:
    return [PairOutcome(one, other, outcome) for (one, other), outcome in drawn]


def _planted(
    strengths: Sequence[float], *, cases: int, seed: int, tie: float = 0.5
) -> tuple[list[PairOutcome], list[int]]:
    generator = np.random.default_rng(seed)
    found: list[PairOutcome] = []
    clusters: list[int] = []
    for case in range(cases):
        for one, other in combinations(range(len(strengths)), 2):
            half = (strengths[one] - strengths[other]) / 2
            weights = np.array([math.exp(half), tie, math.exp(-half)])
            for _ in range(2):
                outcome = int(generator.choice([1, 0, -1], p=weights / weights.sum()))
                found.append(PairOutcome(NAMES[one], NAMES[other], outcome))
                clusters.append(case)
    return found, clusters


def test_ratings_maximise_the_likelihood() -> None:
    """A general optimiser finds no likelier strengths and tie parameter, and the same ones, on the scale as documented."""
    comparisons, clusters = _planted([0.8, 0.1, -0.2, -0.7], cases=30, seed=1)

    def unlikely(parameters: Sequence[float]) -> float:
        strengths, t = dict(zip(NAMES, parameters, strict=False)), parameters[-1]
        total = 0.0
        for one, other, outcome in comparisons:
            half = (strengths[one] - strengths[other]) / 2
            total += math.log(math.exp(half) + math.exp(t) + math.exp(-half)) - (half * outcome if outcome else t)
        return total + sum(strengths.values()) ** 2

    best = optimize.minimize(unlikely, np.zeros(5), method="BFGS").x
    (group,) = rate_models(comparisons, clusters=clusters, seed=0)
    for place, name in enumerate(NAMES):
        assert group.ratings[name] == pytest.approx(1000 + 400 * best[place] / math.log(10), abs=0.05)
    assert group.tie_rate == pytest.approx(math.exp(best[4]) / (2 + math.exp(best[4])), abs=1e-4)
    difference = group.differences["a", "b"].value
    assert difference == pytest.approx(group.ratings["b"] - group.ratings["a"]), "second minus first"


@settings(max_examples=150, deadline=None)
@given(games)
def test_a_rating_is_printed_if_and_only_if_the_likelihood_has_a_maximum(
    drawn: list[tuple[tuple[str, str], int]],
) -> None:
    """Linear programming finds a direction in which nothing observed becomes less likely exactly where a group has none."""
    comparisons = _comparisons(drawn)
    for group in rate_models(comparisons, seed=0):
        inside = [one for one in comparisons if one.first in group.models and one.second in group.models]
        assert bool(group.ratings) == (len(group.models) > 1 and not _can_run_away(inside, group.models))
        assert bool(group.reason) != bool(group.ratings)


def _can_run_away(comparisons: Sequence[PairOutcome], models: Sequence[str]) -> bool:
    """Say whether strengths, or they with the tie parameter, can be moved without end; without ties there is none."""
    place = {name: at for at, name in enumerate(models)}
    rows: list[list[float]] = []
    for one, other, outcome in comparisons:
        half = [0.0] * (len(models) + 1)
        half[place[one]], half[place[other]] = 0.5, -0.5
        tie = [0.0] * len(models) + [1.0]
        kinds = {1: half, 0: tie, -1: [-value for value in half]}
        seen = kinds.pop(outcome)
        rows += [[a - b for a, b in zip(other_kind, seen, strict=True)] for other_kind in kinds.values()]
    n = len(models)
    ties = any(one.outcome == 0 for one in comparisons)
    for at in range(n):
        for direction in (1.0, -1.0):
            cost = [0.0] * (n + 1)
            cost[at] = direction
            found = optimize.linprog(
                cost,
                A_ub=rows,
                b_ub=[0.0] * len(rows),
                A_eq=[[1.0] * n + [0.0]],
                b_eq=[0.0],
                bounds=[(-1, 1)] * n + [(-1, 1) if ties else (-1, 0)],
            )
            if found.fun < -1e-6:
                return True
    return not any(one.outcome for one in comparisons)


def test_models_that_never_lost_or_never_met_are_groups_of_their_own() -> None:
    """No finite number says how much stronger they are: it is said, and those that can be compared are rated."""
    comparisons = _comparisons([(("b", "c"), 1), (("b", "c"), -1), (("a", "b"), 1), (("a", "c"), 1)] * 4)
    comparisons += [PairOutcome("x", "y", 1), PairOutcome("x", "y", -1)] * 4
    found = rate_models(comparisons, models=("a", "b", "c", "x", "y", "z"), seed=0)
    assert [group.models for group in found] == [("a",), ("b", "c"), ("x", "y"), ("z",)]
    assert found[0].reason == "always won or always lost against all others"
    assert found[1].ratings == found[2].ratings | {} or found[1].ratings["b"] == pytest.approx(1000)
    assert found[3].reason.startswith("never met")
    order = {group.models: at for at, group in enumerate(found)}
    assert order["a",] < order["b", "c"]


def test_ties_and_wins_alone_bound_nothing() -> None:
    """A model that wins or ties, and never loses, has no finite rating; nor have two that only tie."""
    for drawn in ([1] * 5 + [0] * 5, [0] * 10):
        (group,) = rate_models([PairOutcome("a", "b", outcome) for outcome in drawn], seed=0)
        assert group.models == ("a", "b")
        assert not group.ratings
        assert "ties" in group.reason


def test_ratings_do_not_depend_on_order_and_equal_the_points_where_all_meet() -> None:
    """Turned round, shuffled and renamed cases give the same bytes; models stand in the order of their points."""
    comparisons, clusters = _planted([0.5, 0.0, 0.3, -0.8], cases=20, seed=3)
    (group,) = rate_models(comparisons, clusters=clusters, seed=0)
    turned = [PairOutcome(other, one, -outcome) for one, other, outcome in reversed(comparisons)]
    (again,) = rate_models(turned, clusters=[f"case {100 - case}" for case in reversed(clusters)], seed=0)
    assert group == again
    points = dict.fromkeys(NAMES, 0)
    for one, other, outcome in comparisons:
        points[one] += outcome
        points[other] -= outcome
    assert sorted(NAMES, key=lambda name: points[name]) == sorted(NAMES, key=lambda name: group.ratings[name])


def test_intervals_and_ranks_come_from_whole_cases() -> None:
    """Both orders and all pairs of a case are one cluster: repeated verdicts make no interval narrower."""
    comparisons, clusters = _planted([0.5, 0.0, 0.3, -0.8], cases=24, seed=4)
    (group,) = rate_models(comparisons, clusters=clusters, seed=0)
    (doubled,) = rate_models(comparisons * 2, clusters=clusters * 2, seed=0)
    for name in NAMES:
        low, high = group.intervals[name]
        assert low < group.ratings[name] < high
        assert doubled.intervals[name] == pytest.approx((low, high), abs=1e-6)
        assert sum(group.ranks[name]) == pytest.approx(1)
    assert group.ranks["d"][3] > 0.9
    far = group.differences["a", "d"]
    assert far.interval.high < 0
    assert far.p_value is not None
    assert far.p_value < 0.01


def test_models_that_tie_share_ranks() -> None:
    """Three models of the same verdicts have each rank equally often, whatever their names, and any rank is open to them."""
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    comparisons = [PairOutcome(*pair, outcome) for outcome in (1, -1) * 6 for pair in pairs]
    clusters = [case for case in range(12) for _ in pairs]
    comparisons += [PairOutcome(first, second, -outcome) for first, second, outcome in comparisons]
    (group,) = rate_models(comparisons, clusters=clusters * 2, seed=0)
    for name in "abc":
        assert group.ranks[name] == pytest.approx((1 / 3, 1 / 3, 1 / 3))
        assert group.rank_intervals[name] == (1, 3)


def test_rank_intervals_hold_for_all_models_at_once() -> None:
    """A model far behind has the last rank alone; p-values are multiplied by the number of pairs."""
    comparisons, clusters = _planted([0.3, 0.3, 0.3, -1.5], cases=40, seed=6)
    (group,) = rate_models(comparisons, clusters=clusters, seed=0)
    assert group.rank_intervals["d"] == (4, 4)
    for name, (best, worst) in group.rank_intervals.items():
        own = [
            (pair, one) for pair, one in group.differences.items() if name in pair and (one.p_value or 1) * 6 <= 0.05
        ]
        higher = sum((pair[0] == name) == (one.value > 0) for pair, one in own)
        assert (best, worst) == (1 + higher, 4 - (len(own) - higher))


def test_few_cases_have_ratings_and_no_intervals() -> None:
    """Below six cases, or where resamples leave no finite ratings, the interval is refused with its reason."""
    comparisons, clusters = _planted([0.2, 0.0, 0.0, 0.0], cases=4, seed=2)
    (group,) = rate_models(comparisons, clusters=clusters, seed=0)
    assert group.intervals["a"].reason == "4 cases, and an interval of ratings needs 6"
    assert group.differences["a", "b"].p_value is None
    thin = [PairOutcome("a", "b", 1)] * 9 + [PairOutcome("a", "b", -1)]
    (group,) = rate_models(thin, seed=0)
    assert group.ratings["a"] == pytest.approx(1000 + 200 * math.log10(9))
    assert "resamples have no finite ratings" in group.intervals["a"].reason
    assert not group.ranks


def test_bad_comparisons_are_refused() -> None:
    """A model is not compared with itself, and outcomes are 1, 0 and -1."""
    for wrong in (PairOutcome("a", "a", 1), PairOutcome("a", "b", 2)):
        with pytest.raises(ValueError, match="two models"):
            rate_models([wrong], seed=0)
