"""From the judgements of duels to their tables: rewards, win rates, visual factuality, places, one order, lengths."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dokimasia.algorithms.pairwise import VerdictCounts, same_side
from dokimasia.algorithms.statistics import rate_interval
from dokimasia.domain.duel import HIGHEST, LOWEST, PLACES, REWARD, Place
from dokimasia.runs.figures import counted
from dokimasia.runs.reading.lengths import adjust, length_and_score
from dokimasia.runs.reading.rates import bounds, limits, mean, mean_interval, rounded

WIDEST = (-100.0, 100.0)
NAMES = ("much_worse", "worse", "tie", "better", "much_better")
"""The verdicts from -2 to +2."""

SCALE = (LOWEST, HIGHEST)


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
        """The reward over the valid verdicts; None without any."""
        valid = [one for one in self.verdicts.values() if one is not None]
        return REWARD * sum(valid) / len(valid) if valid else None


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
        **verdict_figures([(one, row.cluster) for row in rows for one in row.verdicts.values()], seed=seed),
        "factuality": _factuality(rows, seed=seed),
    }


def verdict_figures(verdicts: Sequence[tuple[int | None, str]], *, seed: int) -> dict[str, Any]:
    """Return reward and win rate with intervals, the counts, and what failures leave open, of verdicts with their clusters."""
    valid = [(one, cluster) for one, cluster in verdicts if one is not None]
    found = counts([one for one, _ in verdicts])
    clusters = [cluster for _, cluster in valid]
    wins = [one > 0 for one, _ in valid]
    known = len(verdicts)
    return {
        "reward": mean_interval([REWARD * one for one, _ in valid], clusters, seed=seed, bounds=WIDEST),
        "win_rate": _rate(wins, clusters),
        "verdicts": {**found._asdict(), "valid": found.n_valid},
        "bounds": None
        if not known
        else {
            "reward": {name: rounded(one) for name, one in found.reward_bounds._asdict().items()},
            "win_rate": bounds(100 * sum(wins), 100 * (sum(wins) + found.failed), known),
        },
    }


def counts(verdicts: Iterable[int | None]) -> VerdictCounts:
    """Return how verdicts fell; None is a failed one."""
    found = counted("failed" if one is None else NAMES[one + 2] for one in verdicts)
    return VerdictCounts(**{name: found.get(name, 0) for name in VerdictCounts._fields})


def places(rows: Sequence[DuelRow], *, seed: int) -> dict[str, Any] | None:
    """Return how the order of places bears on verdicts, over answers with a valid one in both; None without any.

    `consistency` is the share, in percent, that both orders decide for the same side. `bias` is what the first place is
    worth in points of reward: half of what a model gains by being shown first instead of second.
    """
    pairs = [(both, row.cluster) for row in rows if (both := row.both) is not None]
    if not pairs:
        return None
    clusters = [cluster for _, cluster in pairs]
    gained = [REWARD * (first - second) / 2 for (first, second), _ in pairs]
    return {
        "n": len(pairs),
        "consistency": _rate([same_side(*both) for both, _ in pairs], clusters),
        "bias": mean_interval(gained, clusters, seed=seed, bounds=WIDEST),
    }


def one_order(rows: Sequence[DuelRow], place: Place, *, seed: int) -> dict[str, Any] | None:
    """Return what one order alone says: the figures of its verdicts; None where it was not asked."""
    verdicts = [(row.verdicts[place], row.cluster) for row in rows if place in row.verdicts]
    return verdict_figures(verdicts, seed=seed) if verdicts else None


def _by(named: Sequence[tuple[str, DuelRow]], *, seed: int) -> dict[str, Any]:
    names = sorted({name for name, _ in named if name})
    return {name: part_figures([row for one, row in named if one == name], seed=seed) for name in names}


def _factuality(rows: Sequence[DuelRow], *, seed: int) -> dict[str, Any] | None:
    """Return the visual factuality scores of a model and of the baseline, 0 to 10; None where no case has any."""
    applicable = [row for row in rows if row.factuality]
    if not applicable:
        return None
    judged = [(one, row.cluster) for row in applicable for one in row.factuality.values()]
    valid = [(one, cluster) for one, cluster in judged if one is not None]
    own, other = ([one[side] for one, _ in valid] for side in (0, 1))
    clusters = [cluster for _, cluster in valid]
    failed = len(judged) - len(valid)
    return {
        "n": len({row.sample_id for row in applicable}),
        "not_applicable": len({row.sample_id for row in rows}) - len({row.sample_id for row in applicable}),
        "judged": len(valid),
        "failed": failed,
        "model": mean_interval(own, clusters, seed=seed, bounds=SCALE),
        "baseline": mean_interval(other, clusters, seed=seed, bounds=SCALE),
        "bounds": bounds(sum(own), sum(own) + HIGHEST * failed, len(judged)),
    }


def _length(rows: Sequence[DuelRow], *, seed: int) -> dict[str, Any] | None:
    """Return how reward goes with how many words more than the baseline's an answer has; None without a judged answer."""
    triples = [
        (float(row.longer), row.reward, row.cluster)
        for row in rows
        if row.longer is not None and row.reward is not None
    ]
    return length_and_score(triples, seed=seed) if triples else None


def _rate(hits: Sequence[bool], clusters: Sequence[str]) -> dict[str, Any] | None:
    if not hits:
        return None
    return {"mean": rounded(100 * sum(hits) / len(hits)), **limits(rate_interval(hits, clusters=clusters), unit=100)}
