"""Arenas over planted strengths: ratings and their differences in all pairs and in a Swiss draw, rewards, places.

Each case shifts every model's strength by an amount of its own, and the place shown first by a fixed one, so that verdicts on
a case belong together and no single verdict follows the model that rates. The truth is what the figures come to in the
population of cases, from the probabilities by numpy and a general optimiser alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.trials import Seed, Trial, tested, trial
from dokimasia.algorithms.pairwise import swiss_round
from dokimasia.methods.arena.figures import Meeting, arena_tables
from dokimasia.methods.duel.figures import DuelRow
from dokimasia.report.fields import as_json

Floats = NDArray[np.float64]

STRENGTHS = {"a": 0.9, "b": 0.4, "c": 0.0, "d": 0.0, "e": -0.5, "f": -0.8}
"""Logarithms; c and d are equal."""

EQUAL = dict.fromkeys(STRENGTHS, 0.0)
CASES, SWISS_ROUNDS = 24, 3
PARTS = {"all": 1, "swiss": 2}
OF_CASE, OF_PLACE, TIE = 0.5, 0.3, 0.7
FAILS = {"first": 0.02, "second": 0.3}
"""How often a verdict fails in each order where they fail mostly in one, which shows the pair's first model second."""

MUCH = 0.3
"""How many of the verdicts that are no ties are strong ones."""

POPULATION = 40_000


def arenas(seed: int) -> Seed:
    """Return the intervals of an arena in all pairs and of one in a Swiss draw, and p-values where models are equal."""
    generator = np.random.default_rng([seed, 17])
    truth = planted()
    intervals: dict[str, Trial] = {}
    for draw in ("all", "swiss"):
        found = as_json(
            arena_tables(
                _meetings(generator, STRENGTHS, swiss=draw == "swiss"), list(STRENGTHS), parts=PARTS[draw], seed=seed
            )
        )
        for name in ("a", "c"):
            one = found["models"][name]["rating"] or {"low": None, "high": None}
            intervals[f"rating of {name}, {draw}"] = trial(one, truth[f"rating of {name}"])
        for pair in (("a", "b"), ("c", "d")):
            intervals[f"difference of ratings, {' and '.join(pair)}, {draw}"] = _difference(found, pair, truth)
        if draw == "all":
            intervals["reward of a"] = trial(found["models"]["a"]["reward"], truth["reward of a"])
            intervals["win rate of a"] = trial(found["models"]["a"]["win_rate"], truth["win rate of a"])
            intervals["position consistency"] = trial(found["places"]["consistency"], truth["position consistency"])
            intervals["position bias"] = trial(found["places"]["bias"], truth["position bias"])
    other = np.random.default_rng([seed, 18])
    lopsided = _failing(other, _meetings(other, STRENGTHS, swiss=False))
    failing = as_json(arena_tables(lopsided, list(STRENGTHS), seed=seed))
    world = "verdicts failing in one order"
    intervals |= {
        f"{figure}, {world}": trial(failing["models"]["a"][name], truth[figure])
        for figure, name in (("reward of a", "reward"), ("win rate of a", "win_rate"), ("rating of a", "rating"))
    }
    intervals[f"difference of ratings, c and d, {world}"] = _difference(failing, ("c", "d"), truth)
    p_values: dict[str, float] = {}
    for draw in ("all", "swiss"):
        null = as_json(
            arena_tables(_meetings(generator, EQUAL, swiss=draw == "swiss"), list(EQUAL), parts=PARTS[draw], seed=seed)
        )
        of_two = next(one for one in null["pairs"] if {one["first"], one["second"]} == {"a", "b"})
        p_values[f"equal models, one pair, {draw}"] = tested(of_two["p"])
        p_values[f"equal models, {draw}, any pair"] = min(tested(one["adjusted"]) for one in null["pairs"])
    return Seed(intervals, p_values)


def _difference(found: Mapping[str, Any], pair: tuple[str, str], truth: Mapping[str, float]) -> Trial:
    """Return the interval of the rating of a pair's second minus its first's, whichever stands first in the figures."""
    one = next(one for one in found["pairs"] if {one["first"], one["second"]} == {*pair})
    known, planted_value = one["difference"], truth[f"rating of {pair[1]}"] - truth[f"rating of {pair[0]}"]
    if known is None or known["low"] is None:
        return Trial(None, None, planted_value)
    if one["first"] == pair[0]:
        return trial(known, planted_value)
    return Trial(-known["high"], -known["low"], planted_value)


def _meetings(generator: np.random.Generator, strengths: Mapping[str, float], *, swiss: bool) -> list[Meeting]:
    names = list(strengths)
    qualities = np.array(list(strengths.values())) + generator.normal(size=(CASES, len(names))) * OF_CASE
    halves = generator.permutation(CASES) % 2
    if not swiss:
        return [one for pair in combinations(names, 2) for one in _met(generator, names, pair, qualities, range(CASES))]
    found: tuple[list[Meeting], list[Meeting]] = ([], [])
    met: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
    for _ in range(SWISS_ROUNDS):
        drawn = [
            swiss_round(names, _points(names, found[1 - half]), met[half], seed=int(generator.integers(2**31)))
            for half in (0, 1)
        ]
        for half in (0, 1):
            met[half].extend(drawn[half])
            cases = np.flatnonzero(halves == half).tolist()
            found[half].extend(one for pair in drawn[half] for one in _met(generator, names, pair, qualities, cases))
    return [*found[0], *found[1]]


def _failing(generator: np.random.Generator, meetings: Sequence[Meeting]) -> list[Meeting]:
    """Return meetings of which verdicts have failed, more in the one order than in the other."""
    return [
        Meeting(
            replace(
                row,
                verdicts={
                    place: None if generator.random() < FAILS[place] else verdict
                    for place, verdict in row.verdicts.items()
                },
            ),
            other,
        )
        for row, other in meetings
    ]


def _points(names: Sequence[str], meetings: Sequence[Meeting]) -> dict[str, float]:
    points: dict[str, list[float]] = {}
    for row, other in meetings:
        for verdict in row.verdict_pair or ():
            points.setdefault(row.model, []).append(((verdict > 0) - (verdict < 0)) / 2)
            points.setdefault(other, []).append(((verdict < 0) - (verdict > 0)) / 2)
    return {name: 0.5 + float(np.mean(points[name])) for name in names if name in points}


def _met(
    generator: np.random.Generator,
    names: Sequence[str],
    pair: tuple[str, str],
    qualities: Floats,
    cases: Sequence[int] | range,
) -> list[Meeting]:
    """Return a meeting a case, judged in both orders."""
    first, second = (qualities[list(cases), names.index(name)] for name in pair)
    said: dict[str, NDArray[np.int64]] = {}
    for place, shift in (("first", OF_PLACE), ("second", -OF_PLACE)):
        win, tie, _ = _chances(first - second, shift)
        drawn = generator.random(len(first))
        sign = np.where(drawn < win, 1, np.where(drawn < win + tie, 0, -1))
        said[place] = sign * np.where(generator.random(len(first)) < MUCH, 2, 1)
    return [
        Meeting(
            DuelRow(
                sample_id=f"s{case}",
                cluster=f"c{case}",
                model=pair[0],
                repeat=0,
                category="",
                task="",
                verdicts={"first": int(said["first"][at]), "second": int(said["second"][at])},
                factuality={},
            ),
            pair[1],
        )
        for at, case in enumerate(cases)
    ]


def _chances(ahead: Floats, shift: float) -> Floats:
    """Return how likely win, tie and loss are for one that is so far ahead, the place being worth `shift`."""
    half = ahead / 2 + shift
    weights = np.stack([np.exp(half), np.full_like(half, TIE), np.exp(-half)])
    return weights / weights.sum(axis=0)


@cache
def planted() -> Mapping[str, float]:
    """Return what the figures are in the population of cases."""
    from scipy import optimize

    generator = np.random.default_rng(11)
    names = list(STRENGTHS)
    qualities = np.array(list(STRENGTHS.values())) + generator.normal(size=(POPULATION, len(names))) * OF_CASE
    pairs = list(combinations(range(len(names)), 2))
    chances = {
        (one, other, shift): _chances(qualities[:, one] - qualities[:, other], shift)
        for one, other in pairs
        for shift in (OF_PLACE, -OF_PLACE)
    }
    shares = np.array(
        [np.mean([chances[*pair, s].mean(axis=1) for s in (OF_PLACE, -OF_PLACE)], axis=0) for pair in pairs]
    )

    def unlikely(parameters: Floats) -> float:
        strengths, t = parameters[:-1], parameters[-1]
        half = np.array([strengths[one] - strengths[other] for one, other in pairs]) / 2
        total = np.log(np.exp(half) + np.exp(t) + np.exp(-half))
        return float((total - (shares[:, 0] - shares[:, 2]) * half - shares[:, 1] * t).sum()) + float(
            np.square(strengths.sum())
        )

    best = optimize.minimize(unlikely, np.zeros(len(names) + 1), method="BFGS", options={"gtol": 1e-9}).x
    of_a = shares[[at for at, pair in enumerate(pairs) if pair[0] == 0]].mean(axis=0)
    same = np.mean([(chances[*pair, OF_PLACE] * chances[*pair, -OF_PLACE]).sum(axis=0).mean() for pair in pairs])
    leads = [
        float((chances[*pair, OF_PLACE][0] - chances[*pair, OF_PLACE][2]).mean())
        - float((chances[*pair, -OF_PLACE][0] - chances[*pair, -OF_PLACE][2]).mean())
        for pair in pairs
    ]
    return {
        **{f"rating of {name}": 1000 + 400 * float(best[at]) / float(np.log(10)) for at, name in enumerate(names)},
        "reward of a": 50 * (1 + MUCH) * float(of_a[0] - of_a[2]),
        "win rate of a": 100 * float(of_a[0]),
        "position consistency": 100 * float(same),
        "position bias": 25 * (1 + MUCH) * float(np.mean(leads)),
    }
