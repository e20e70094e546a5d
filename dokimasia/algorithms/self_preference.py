"""Whether reviewers vote for their own texts beyond what others give those texts, and for places beyond their due."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.statistics.clusters import Floats
from dokimasia.algorithms.statistics.intervals import bootstrap_interval, jackknife_interval
from dokimasia.algorithms.statistics.refusal import NO_SPREAD
from dokimasia.algorithms.statistics.shares import ConfidenceInterval, clopper_pearson, rate_interval

_STEPS = 500
_NO_SPREAD = 1e-10


class Round(NamedTuple):
    """One vote of a panel: what each voter chose, and which texts are whose.

    `choices` maps a voter to the text it chose, `authors` a text to those who wrote it (several, where they wrote the
    same). `cluster` groups rounds that belong together, such as those of one image.
    """

    choices: Mapping[str, str]
    authors: Mapping[str, Sequence[str]]
    cluster: Hashable


class SelfPreference(NamedTuple):
    """A voter's rate of choosing its own text, the others' rate of choosing that text, and the difference.

    All are means over `n` rounds, 0 to 1 (the difference -1 to 1; above 0: the voter prefers itself); None where no
    round counts.
    """

    own: float | None
    others: float | None
    difference: float | None
    interval: ConfidenceInterval | None
    n: int


def self_preference(rounds: Sequence[Round], voter: str | None = None, *, seed: int) -> SelfPreference:
    """Return how much more often a voter chooses its own text than the other voters choose that text.

    Parameters
    ----------
    rounds : sequence of Round
        All votes of the panel.
    voter : str, optional
        Whose preference; without it, the mean over all voters, each round counted once for each.
    seed : int
        Of the interval's bootstrap, which resamples whole clusters.

    Returns
    -------
    SelfPreference
        With a 95 % interval.

    Notes
    -----
    A good text is chosen by its author and by others, so that quality cancels out; what is left is vanity. A round
    counts for a voter that chose, wrote a text of the round, and whose text somebody else could choose: one that did
    not write it too. Where all members are vain at one rate p, the difference is p over the panel; where the rates differ,
    the others' vanity makes this voter look vainer, and its own less: see `own_votes`, which tells them apart.

    References
    ----------
    Ours; PerceptionRubrics, section 3.3.1, names self-preference without measuring it.

    Examples
    --------
    >>> vain = Round({"A": "a", "B": "b", "C": "b"}, {"a": ["A"], "b": ["B"], "c": ["C"]}, 1)
    >>> self_preference([vain], "A", seed=0)[:3], self_preference([vain], "C", seed=0)[:3]
    ((1.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    """
    own: list[float] = []
    others: list[float] = []
    clusters: list[Hashable] = []
    for round in rounds:
        for name in round.choices if voter is None else [voter]:
            counted = _counted(round, name)
            if counted is not None:
                own.append(counted[0])
                others.append(counted[1])
                clusters.append(round.cluster)
    if not own:
        return SelfPreference(None, None, None, None, 0)
    n = len(own)
    differences = [mine - theirs for mine, theirs in zip(own, others, strict=True)]
    interval = bootstrap_interval(differences, clusters=clusters, seed=seed, bounds=(-1.0, 1.0))
    return SelfPreference(sum(own) / n, sum(others) / n, sum(differences) / n, interval, n)


class OwnVotes(NamedTuple):
    """The share of a voter's votes that go to its own text whatever it says, with its interval, over `n` rounds.

    -1 to 1: below 0 it shuns its own text. None where the votes do not determine it.
    """

    share: float | None
    interval: ConfidenceInterval | None
    n: int


def own_votes(rounds: Sequence[Round], voters: Sequence[str], *, level: float = 0.95) -> dict[str, OwnVotes]:
    """Return the share of votes that each voter gives its own text out of vanity, with all voters' vanity told apart.

    Parameters
    ----------
    rounds : sequence of Round
        All votes of the panel. A round in which two wrote the same text, or not all voted, is left out.
    voters : sequence of str
        The panel, at least three: two vain voters cannot be told from two that disagree honestly.
    level : float
        Nominal coverage of the intervals, strictly between 0 and 1.

    Returns
    -------
    dict of str to OwnVotes
        By voter; intervals from a jackknife that leaves out one cluster at a time.

    Notes
    -----
    The model: voter r votes for its own text with probability v(r), else as the text deserves, and texts deserve votes
    by round in any way that is the same for all voters. With q(r) the mean share of honest votes that r's text earns,
    r votes for itself at the rate v(r) + (1 - v(r)) q(r), and another voter o for r at the rate (1 - v(o)) q(r). Both
    kinds of rate are observed; v and q follow by iteration: q(r) is what the others give r, divided by the sum of
    their 1 - v(o). These are moments over rounds, so that honest votes may agree as much as they like in each.

    References
    ----------
    Ours.

    Examples
    --------
    >>> fair = [Round(dict.fromkeys("ABC", text), {"a": ["A"], "b": ["B"], "c": ["C"]}, text) for text in "abc"]
    >>> {voter: abs(round(one.share, 6)) for voter, one in own_votes(fair, "ABC").items()}
    {'A': 0.0, 'B': 0.0, 'C': 0.0}
    """
    usable = [round for round in rounds if _one_text_each(round, voters)]
    n = len(usable)
    if n == 0 or len(voters) < 3:
        return {voter: OwnVotes(None, None, n) for voter in voters}
    gave = np.array(
        [[[writer in one.authors[one.choices[voter]] for writer in voters] for voter in voters] for one in usable],
        dtype=np.float64,
    )
    clusters = [one.cluster for one in usable]
    found: dict[str, OwnVotes] = {}
    for place, voter in enumerate(voters):

        def share(positions: Sequence[int], place: int = place) -> float:
            return float(_vanity(gave[list(positions)].mean(axis=0))[place])

        try:
            value = share(range(n))
            interval = jackknife_interval(share, n, clusters=clusters, level=level, bounds=(-1.0, 1.0))
        except ValueError:
            found[voter] = OwnVotes(None, None, n)
            continue
        if interval.reason == NO_SPREAD or interval.high - interval.low < _NO_SPREAD:
            unseen = clopper_pearson(0, len(set(clusters)), level).high
            interval = ConfidenceInterval(max(-1.0, value - unseen), min(1.0, value + unseen))
        found[voter] = OwnVotes(value, interval, n)
    return found


def _one_text_each(one: Round, voters: Sequence[str]) -> bool:
    wrote = [name for authors in one.authors.values() for name in authors]
    return sorted(wrote) == sorted(voters) == sorted(one.choices) and len(one.authors) == len(voters)


def _vanity(rates: Floats) -> Floats:
    """Return each voter's vanity from the rates at which voters (rows) chose the texts of writers (columns).

    Raises ValueError where it is not determined: nobody votes honestly, or one text takes all honest votes.
    """
    own = np.diag(rates)
    given = rates.sum(axis=0) - own
    vanity = np.zeros_like(own)
    for _ in range(_STEPS):
        honest = 1 - vanity
        left = honest.sum() - honest
        if (left <= _NO_SPREAD).any():
            raise ValueError("nobody is left who votes honestly")
        earned = given / left
        if (1 - earned <= _NO_SPREAD).any():
            raise ValueError("one text takes all honest votes")
        new = (own - earned) / (1 - earned)
        if np.abs(new - vanity).max() < _NO_SPREAD:
            return new
        vanity = (new + vanity) / 2
    raise ValueError("the rates fit no vanity")


class PositionRate(NamedTuple):
    """How often the candidate shown at a place was chosen: a share, 0 to 1, beside what chance alone would give."""

    place: int
    chosen: float
    expected: float
    interval: ConfidenceInterval
    n: int


def place_rates(
    chosen: Sequence[int], sizes: Sequence[int], *, clusters: Sequence[Hashable] | None = None
) -> list[PositionRate]:
    """Return, for each place from 1 on, how often what was shown there was chosen.

    Parameters
    ----------
    chosen : sequence of int
        The place of each choice, from 1.
    sizes : sequence of int
        How many candidates were shown with each.
    clusters : sequence of hashable, optional
        The cluster of each choice.

    Returns
    -------
    list of PlaceRate
        `n` counts the choices in which there was such a place. Candidates are shuffled, so a rate off `expected` is a
        preference for the place.

    Raises
    ------
    ValueError
        A place is not among those shown, or the lengths differ.

    Examples
    --------
    >>> [(one.place, one.chosen, one.expected) for one in place_rates([1, 1, 1, 2], [2, 2, 2, 2])]
    [(1, 0.75, 0.5), (2, 0.25, 0.5)]
    """
    if any(not 1 <= place <= size for place, size in zip(chosen, sizes, strict=True)):
        raise ValueError("a chosen place is not among those shown")
    rates: list[PositionRate] = []
    for place in range(1, max(sizes, default=0) + 1):
        at = [index for index, size in enumerate(sizes) if size >= place]
        hits = [chosen[index] == place for index in at]
        groups = None if clusters is None else [clusters[index] for index in at]
        expected = sum(1 / sizes[index] for index in at) / len(at)
        rates.append(PositionRate(place, sum(hits) / len(at), expected, rate_interval(hits, clusters=groups), len(at)))
    return rates


def _counted(one: Round, voter: str) -> tuple[float, float] | None:
    """Return a voter's choice of its own text and the share of others that chose it, or None where a round says nothing."""
    mine = {text for text, authors in one.authors.items() if voter in authors}
    if voter not in one.choices or not mine:
        return None
    judges = [other for other in one.choices if other != voter and not any(other in one.authors[text] for text in mine)]
    if not judges:
        return None
    given = sum(one.choices[other] in mine for other in judges) / len(judges)
    return float(one.choices[voter] in mine), given
