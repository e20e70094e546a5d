"""From the judgements of duels to their tables: rewards, win rates, visual factuality, places, one order, lengths."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dokimasia.algorithms.pairwise import (
    count_verdicts,
    position_bias,
    position_bias_interval,
    position_consistency,
    position_consistency_interval,
    reward_interval,
    win_rate_interval,
)
from dokimasia.algorithms.statistics import Interval
from dokimasia.algorithms.statistics.paired import sign_flip_test
from dokimasia.domain.duel import HIGHEST, LOWEST, PLACES, REWARD, Place
from dokimasia.domain.judgement import OPEN_KINDS
from dokimasia.runs.figures import counted
from dokimasia.runs.reading.correlations import adjust, length_and_score
from dokimasia.runs.reading.rates import bounds, limits, mean, mean_interval, rounded

SCALE = (LOWEST, HIGHEST)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DuelRow:
    """One answer held against the baseline's: what the judge said in each order, None where that failed.

    `model` is the shown name with its arm; `verdicts` are +2 to -2 for it, `factuality` are its score and the baseline's, 0
    to 10, empty for a case to which visual factuality does not apply. `words` and `tokens` are the answer's (None where
    unknown), `longer` how many words it has more than the baseline's, `same` says that the two are the same text.
    """

    sample_id: str
    cluster: str
    model: str
    repeat: int
    category: str
    task: str
    verdicts: Mapping[Place, int | None]
    factuality: Mapping[Place, tuple[float, float] | None]
    failure: str | None = None
    words: int | None = None
    tokens: int | None = None
    longer: int | None = None
    same: bool = False

    @property
    def both(self) -> tuple[int, int] | None:
        """The verdicts of the first and of the second place; None unless both are there."""
        first, second = (self.verdicts.get(place) for place in PLACES)
        return None if first is None or second is None else (first, second)

    @property
    def reward(self) -> float | None:
        """The mean reward of all orders that were asked; None unless each of them has a verdict."""
        values = complete(self.verdicts.values())
        return REWARD * sum(values) / len(values) if values else None


def complete(judgements: Iterable[T | None]) -> tuple[T, ...]:
    """Return what the judge said of an answer in all orders that were asked; nothing where an order has failed.

    One order alone would count the place beside the answer.
    """
    said = tuple(judgements)
    valid = tuple(one for one in said if one is not None)
    return valid if len(valid) == len(said) else ()


def duel_figures(rows: Iterable[DuelRow], *, seed: int, compared: Callable[[str], bool] = bool) -> dict[str, Any]:
    """Return the figures of duels, ready for JSON: `models`, `places` and `length_bias` of `shape.DuelFigures`.

    Args:
        rows: the answers that were held against the baseline's, in the run's order.
        seed: of the bootstrap and of the tests.
        compared: which models' length bias is adjusted to each other; by default all.
    """
    every = list(rows)
    models: dict[str, list[DuelRow]] = {}
    for row in every:
        models.setdefault(row.model, []).append(row)
    lengths = {name: one for name, own in models.items() if (one := _length(own, seed=seed)) is not None}
    adjust(lengths, [name for name in lengths if compared(name)])
    return {
        "models": {name: model_figures(own, seed=seed) for name, own in models.items()},
        "places": places(every, seed=seed),
        "length_bias": lengths,
    }


def model_figures(rows: Sequence[DuelRow], *, seed: int) -> dict[str, Any]:
    """Return the figures of one model, as `shape.DuelledModel` describes them."""
    tokens = [row.tokens for row in rows if row.tokens is not None]
    words = [row.words for row in rows if row.words is not None]
    return {
        **part_figures(rows, seed=seed),
        "places": places(rows, seed=seed),
        "single": {place: one_order(rows, place, seed=seed) for place in PLACES},
        "words": mean(words),
        "tokens": mean(tokens) if len(tokens) == len(words) else None,
        "same_text": sum(row.same for row in rows),
        "failures": counted(row.failure for row in rows if row.failure),
        "by_category": _by([(row.category, row) for row in rows], seed=seed),
        "by_task": _by([(row.task, row) for row in rows], seed=seed),
    }


def part_figures(rows: Sequence[DuelRow], *, seed: int) -> dict[str, Any]:
    """Return the figures of a model over some cases: reward, win rate, the verdicts' counts, visual factuality."""
    return {
        "n": len({row.sample_id for row in rows}),
        **verdict_figures(
            [(tuple(row.verdicts.values()), row.cluster) for row in rows], seed=seed, unasked=unasked(rows)
        ),
        "factuality": _factuality(rows, seed=seed),
    }


def unasked(rows: Iterable[DuelRow]) -> int:
    """Return how many verdicts are missing for want of budget: a resume asks for them."""
    return sum(one is None for row in rows if row.failure in OPEN_KINDS for one in row.verdicts.values())


def verdict_figures(
    answers: Sequence[tuple[Sequence[int | None], str]], *, seed: int, unasked: int = 0
) -> dict[str, Any]:
    """Return reward and win rate with intervals, the counts, and what failures leave open.

    Reward, win rate and counts are over the answers judged in every order that was asked, so that each place counts once
    for each of them, whichever verdicts failed. Bounds are over all answers.

    Args:
        answers: the verdicts on each answer, one an order that was asked, None where it failed; and the answer's cluster.
        seed: of the bootstrap.
        unasked: how many of the verdicts that are missing were not asked for, for want of budget.
    """
    judged = [(value, cluster) for verdicts, cluster in answers for value in complete(verdicts)]
    values, clusters = [value for value, _ in judged], [cluster for _, cluster in judged]
    every = [value for verdicts, _ in answers for value in verdicts]
    valid = [value for value in every if value is not None]
    found, whole = count_verdicts(values), count_verdicts(valid, failed=len(every) - len(valid))
    known: dict[str, Any] = {"reward": None, "win_rate": None}
    if judged:
        known = {
            "reward": _measured(found.reward, reward_interval(values, clusters=clusters, seed=seed)),
            "win_rate": _measured(found.win_rate, win_rate_interval(values, clusters=clusters)),
        }
    ends = {"reward": whole.reward_bounds, "win_rate": whole.win_rate_bounds}
    return {
        **known,
        "verdicts": {
            **found._asdict(),
            "failed": whole.failed,
            "valid": found.n_valid,
            "one_order": whole.n_valid - found.n_valid,
            "open": unasked,
        },
        "bounds": {name: {"low": rounded(one.low), "high": rounded(one.high)} for name, one in ends.items()}
        if every
        else None,
    }


def places(rows: Sequence[DuelRow], *, seed: int) -> dict[str, Any] | None:
    """Return how the order of places bears on verdicts, over answers with a valid one in both; None without any.

    `consistency` is the share, in percent, that both orders decide for the same side. `bias` is what the first place is
    worth in points of reward: half of what a model gains by being shown first instead of second. `p` is that of
    a bias as large by chance (sign flips of whole cases).
    """
    pairs = [(both, row.cluster) for row in rows if (both := row.both) is not None]
    if not pairs:
        return None
    clusters = [cluster for _, cluster in pairs]
    first, second = ([both[side] for both, _ in pairs] for side in (0, 1))
    agreeing = position_consistency_interval(first, second, clusters=clusters)
    return {
        "n": len(pairs),
        "consistency": _measured(100 * position_consistency(first, second), agreeing, unit=100),
        "bias": _measured(
            position_bias(first, second), position_bias_interval(first, second, clusters=clusters, seed=seed)
        ),
        "p": rounded(
            sign_flip_test(
                [one - other for one, other in zip(first, second, strict=True)], clusters=clusters, seed=seed
            ).p_value
        ),
    }


def one_order(rows: Sequence[DuelRow], place: Place, *, seed: int) -> dict[str, Any] | None:
    """Return what one order alone says: the figures of its verdicts; None where it was not asked."""
    verdicts = [((row.verdicts[place],), row.cluster) for row in rows if place in row.verdicts]
    open_ = sum(row.verdicts[place] is None for row in rows if place in row.verdicts and row.failure in OPEN_KINDS)
    return verdict_figures(verdicts, seed=seed, unasked=open_) if verdicts else None


def _by(named: Sequence[tuple[str, DuelRow]], *, seed: int) -> dict[str, Any]:
    names = sorted({name for name, _ in named if name})
    return {name: part_figures([row for one, row in named if one == name], seed=seed) for name in names}


def _factuality(rows: Sequence[DuelRow], *, seed: int) -> dict[str, Any] | None:
    """Return the visual factuality scores of a model and of the baseline, 0 to 10; None where no case has any."""
    applicable = [row for row in rows if row.factuality]
    if not applicable:
        return None
    judged = [(scores, row.cluster) for row in applicable for scores in complete(row.factuality.values())]
    own, other = ([scores[side] for scores, _ in judged] for side in (0, 1))
    clusters = [cluster for _, cluster in judged]
    every = [scores for row in applicable for scores in row.factuality.values()]
    valid = [scores[0] for scores in every if scores is not None]
    failed = len(every) - len(valid)
    return {
        "n": len({row.sample_id for row in applicable}),
        "not_applicable": len({row.sample_id for row in rows}) - len({row.sample_id for row in applicable}),
        "judged": len(judged),
        "one_order": len(valid) - len(judged),
        "failed": failed,
        "model": mean_interval(own, clusters, seed=seed, bounds=SCALE),
        "baseline": mean_interval(other, clusters, seed=seed, bounds=SCALE),
        "bounds": bounds(sum(valid), sum(valid) + HIGHEST * failed, len(every)),
    }


def _length(rows: Sequence[DuelRow], *, seed: int) -> dict[str, Any] | None:
    """Return how reward goes with how many words more than the baseline's an answer has; None without a judged answer."""
    triples = [
        (float(row.longer), row.reward, row.cluster)
        for row in rows
        if row.longer is not None and row.reward is not None
    ]
    return length_and_score(triples, seed=seed) if triples else None


def _measured(value: float | None, interval: Interval, *, unit: float = 1.0) -> dict[str, Any]:
    return {"mean": rounded(value or 0.0), **limits(interval, unit=unit)}
