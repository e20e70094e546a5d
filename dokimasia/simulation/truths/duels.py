"""The truth that duels are compared with: rewards and what places do, from the planted parameters alone.

Nothing here draws, writes or reads an answer, or averages verdicts. The vivid lines of two answers are binomial; an
impartial verdict follows from their difference, and each planted habit of a judge moves it by the definition in
`JudgeProfile`. It holds for answers that are whole and no longer than one another, unless `longer` says otherwise.
"""

from collections.abc import Mapping
from itertools import product
from math import comb
from typing import NamedTuple

from dokimasia.simulation.creating import LINES
from dokimasia.simulation.judging.duels import MUCH
from dokimasia.simulation.planting import JudgeProfile

REWARD = 50.0
LAST = 2


class Longer(NamedTuple):
    """How likely the evaluated model's answer is longer than the baseline's, and shorter, whatever they are worth."""

    more: float = 0.0
    less: float = 0.0


EVEN = Longer()


class Expected(NamedTuple):
    """What is expected of a model's verdicts: `reward` by both orders, `impartial` by a judge without any habit.

    `first` and `second` are the rewards by one order alone, the model shown in that place; `bias` is what the first place
    is worth. Win rates, by both orders and by the first alone, and `consistency` are in percent.
    """

    reward: float
    impartial: float
    first: float
    second: float
    win_rate: float
    win_rate_first: float
    bias: float
    consistency: float


def expected(judge: JudgeProfile, model: float, baseline: float, *, longer: Longer = EVEN) -> Expected:
    """Return what is expected of a writer against a baseline, whose skills are the rates of vivid lines."""
    impartial = first = second = wins = wins_first = same = 0.0
    for ahead, of_writing in _lead(model, baseline).items():
        fair = _fair(ahead)
        for step, of_length in ((1, longer.more), (-1, longer.less), (0, 1 - longer.more - longer.less)):
            shown_first = _verdicts(judge, fair, step, place=1)
            shown_second = _verdicts(judge, fair, step, place=-1)
            weight = of_writing * of_length
            impartial += weight * REWARD * fair
            first += weight * REWARD * _mean(shown_first)
            second += weight * REWARD * _mean(shown_second)
            sides = [_sides(one) for one in (shown_first, shown_second)]
            wins += weight * 100 * sum(one[1] for one in sides) / 2
            wins_first += weight * 100 * sides[0][1]
            same += weight * 100 * sum(sides[0][side] * sides[1][side] for side in (-1, 0, 1))
    return Expected((first + second) / 2, impartial, first, second, wins, wins_first, (first - second) / 2, same)


def _lead(model: float, baseline: float) -> dict[int, float]:
    """Return how likely each difference of vivid lines is."""
    found: dict[int, float] = {}
    for mine, theirs in product(range(LINES + 1), repeat=2):
        found[mine - theirs] = found.get(mine - theirs, 0.0) + _binomial(mine, model) * _binomial(theirs, baseline)
    return found


def _binomial(count: int, rate: float) -> float:
    return comb(LINES, count) * rate**count * (1 - rate) ** (LINES - count)


def _fair(ahead: int) -> int:
    return (ahead > 0) - (ahead < 0) + (ahead >= MUCH) - (ahead <= -MUCH)


def _verdicts(judge: JudgeProfile, fair: int, step: int, *, place: int) -> dict[int, float]:
    """Return how likely each verdict for the model is, in one order; `place` is 1 where it is shown first, else -1."""
    moves = (
        ((place, judge.favours_first), (0, 1 - judge.favours_first)),
        ((step, judge.favours_longer), (0, 1 - judge.favours_longer)),
        ((1, judge.jitter / 2), (-1, judge.jitter / 2), (0, 1 - judge.jitter)),
    )
    found: dict[int, float] = {}
    for taken in product(*moves):
        value = max(-LAST, min(LAST, fair + sum(move for move, _ in taken)))
        weight = 1.0
        for _, rate in taken:
            weight *= rate
        found[value] = found.get(value, 0.0) + weight
    return found


def _mean(verdicts: Mapping[int, float]) -> float:
    return sum(value * rate for value, rate in verdicts.items())


def _sides(verdicts: Mapping[int, float]) -> dict[int, float]:
    sides = {-1: 0.0, 0: 0.0, 1: 0.0}
    for value, rate in verdicts.items():
        sides[(value > 0) - (value < 0)] += rate
    return sides
