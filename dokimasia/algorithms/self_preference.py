"""Whether reviewers prefer their own texts more than others do, and prefer certain positions."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dokimasia.algorithms.statistics.clusters import ClusterNames, Floats
from dokimasia.algorithms.statistics.intervals import bootstrap_interval, jackknife_interval, rate_interval
from dokimasia.algorithms.statistics.refusal import NO_SPREAD
from dokimasia.algorithms.statistics.shares import ConfidenceInterval, clopper_pearson

_STEPS = 500
_NO_SPREAD = 1e-10


class Round(NamedTuple):
    """One vote of a panel: each voter's choice, and the authors of the texts.

    `choices` maps a voter to the chosen text, `authors` a text to its authors (several if they wrote the same text).
    `cluster` groups rounds that belong together, such as those of one image.
    """

    choices: Mapping[str, str]
    authors: Mapping[str, Sequence[str]]
    cluster: Hashable


class SelfPreference(NamedTuple):
    """A voter's rate of choosing its own text, the others' rate of choosing that text, and the difference.

    All are means over `n` rounds, 0 to 1 (the difference -1 to 1; above 0: the voter prefers itself); None if no round
    counts.
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
        The voter; without it, the mean over all voters, each round counted once for each.
    seed : int
        Seed of the interval's bootstrap, which resamples whole clusters.

    Returns
    -------
    SelfPreference
        With a 95 % interval.

    Notes
    -----
    A good text is chosen by its author and by others, so that quality cancels out and vanity remains. A round counts
    for a voter that chose, wrote a text of the round, and whose text could be chosen by a non-author. If all members
    are vain at one rate p, the difference is p over the panel; if the rates differ, the others' vanity distorts this
    voter's figure: see `own_votes`, which separates them.

    References
    ----------
    This project's; PerceptionRubrics, section 3.3.1, mentions self-preference without measuring it.

    Examples
    --------
    >>> vain = Round({"A": "a", "B": "b", "C": "b"}, {"a": ["A"], "b": ["B"], "c": ["C"]}, 1)
    >>> self_preference([vain], "A", seed=0)[:3], self_preference([vain], "C", seed=0)[:3]
    ((1.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    """
    own_choices: list[float] = []
    other_shares: list[float] = []
    clusters: list[Hashable] = []
    for round in rounds:
        for name in round.choices if voter is None else [voter]:
            outcome = _own_choice(round, name)
            if outcome is not None:
                own_choice, other_share = outcome
                own_choices.append(own_choice)
                other_shares.append(other_share)
                clusters.append(round.cluster)
    if not own_choices:
        return SelfPreference(None, None, None, None, 0)
    n = len(own_choices)
    differences = [choice - share for choice, share in zip(own_choices, other_shares, strict=True)]
    interval = bootstrap_interval(differences, clusters=clusters, seed=seed, bounds=(-1.0, 1.0))
    return SelfPreference(sum(own_choices) / n, sum(other_shares) / n, sum(differences) / n, interval, n)


class OwnVotes(NamedTuple):
    """The share of a voter's votes for its own text regardless of quality, with its interval, over `n` rounds.

    -1 to 1: below 0 it avoids its own text. None if the votes do not determine it.
    """

    share: float | None
    interval: ConfidenceInterval | None
    n: int


def own_votes(rounds: Sequence[Round], voters: Sequence[str]) -> dict[str, OwnVotes]:
    """Return the share of votes that each voter gives its own text out of vanity, estimated for all voters together.

    Parameters
    ----------
    rounds : sequence of Round
        All votes of the panel. Rounds in which two members wrote the same text, or not all voted, are left out.
    voters : sequence of str
        The panel, at least three: two vain voters cannot be distinguished from two that disagree honestly.

    Returns
    -------
    dict of str to OwnVotes
        By voter; intervals from a jackknife that leaves out one cluster at a time.

    Notes
    -----
    The model: voter r votes for its own text with probability v(r), and otherwise by merit; merit may vary by round in
    any way that is the same for all voters. With q(r) the mean share of honest votes that r's text earns, r votes for
    itself at the rate v(r) + (1 - v(r)) q(r), and another voter o for r at the rate (1 - v(o)) q(r). Both kinds of rate
    are observed; v and q follow by iteration: q(r) is the others' votes for r, divided by the sum of their 1 - v(o).
    These are moments over rounds, so that honest votes may agree to any degree in each.

    References
    ----------
    This project's.

    Examples
    --------
    >>> fair = [Round(dict.fromkeys("ABC", text), {"a": ["A"], "b": ["B"], "c": ["C"]}, text) for text in "abc"]
    >>> {voter: abs(round(votes.share, 6)) for voter, votes in own_votes(fair, "ABC").items()}
    {'A': 0.0, 'B': 0.0, 'C': 0.0}
    """
    usable = [round for round in rounds if _one_text_each(round, voters)]
    n = len(usable)
    if n == 0 or len(voters) < 3:
        return {voter: OwnVotes(None, None, n) for voter in voters}
    given_votes = np.array(
        [
            [[writer in ballot.authors[ballot.choices[voter]] for writer in voters] for voter in voters]
            for ballot in usable
        ],
        dtype=np.float64,
    )
    clusters = [ballot.cluster for ballot in usable]
    votes: dict[str, OwnVotes] = {}
    for place, voter in enumerate(voters):

        def share(positions: Sequence[int], place: int = place) -> float:
            return float(_vanity(given_votes[list(positions)].mean(axis=0))[place])

        try:
            value = share(range(n))
            interval = jackknife_interval(share, n, clusters=clusters, bounds=(-1.0, 1.0))
        except ValueError:
            votes[voter] = OwnVotes(None, None, n)
            continue
        if interval.reason == NO_SPREAD or interval.high - interval.low < _NO_SPREAD:
            unseen = clopper_pearson(0, len(set(clusters))).high
            interval = ConfidenceInterval(max(-1.0, value - unseen), min(1.0, value + unseen))
        votes[voter] = OwnVotes(value, interval, n)
    return votes


def _one_text_each(ballot: Round, voters: Sequence[str]) -> bool:
    wrote = [name for authors in ballot.authors.values() for name in authors]
    return sorted(wrote) == sorted(voters) == sorted(ballot.choices) and len(ballot.authors) == len(voters)


def _vanity(rates: Floats) -> Floats:
    """Return each voter's vanity from the rates at which voters (rows) chose the texts of writers (columns).

    Raises ValueError if it is not determined: no voter is honest, or one text takes all honest votes.
    """
    own_rates = np.diag(rates)
    received = rates.sum(axis=0) - own_rates
    vanity = np.zeros_like(own_rates)
    for _ in range(_STEPS):
        honest = 1 - vanity
        other_honest = honest.sum() - honest
        if (other_honest <= _NO_SPREAD).any():
            raise ValueError("nobody is left who votes honestly")
        earned = received / other_honest
        if (1 - earned <= _NO_SPREAD).any():
            raise ValueError("one text takes all honest votes")
        new = (own_rates - earned) / (1 - earned)
        if np.abs(new - vanity).max() < _NO_SPREAD:
            return new
        vanity = (new + vanity) / 2
    raise ValueError("the rates fit no vanity")


class PositionRate(NamedTuple):
    """How often the candidate shown at a position was chosen: a share, 0 to 1, with the share expected by chance."""

    place: int
    chosen: float
    expected: float
    interval: ConfidenceInterval
    n: int


def place_rates(
    chosen: Sequence[int], sizes: Sequence[int], *, clusters: ClusterNames | None = None
) -> list[PositionRate]:
    """Return, for each place from 1, how often the candidate shown there was chosen.

    Parameters
    ----------
    chosen : sequence of int
        The place of each choice, from 1.
    sizes : sequence of int
        The number of candidates shown for each choice.
    clusters : sequence of hashable, optional
        The cluster of each choice.

    Returns
    -------
    list of PositionRate
        `n` counts the choices that had such a place. Candidates are shuffled, so a rate that differs from `expected` is a
        preference for the place.

    Raises
    ------
    ValueError
        A place is not among those shown, or the lengths differ.

    Examples
    --------
    >>> [(rate.place, rate.chosen, rate.expected) for rate in place_rates([1, 1, 1, 2], [2, 2, 2, 2])]
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


def _own_choice(ballot: Round, voter: str) -> tuple[float, float] | None:
    """Return whether a voter chose its own text and the share of others that did, or None if the round does not count."""
    own_texts = {text for text, authors in ballot.authors.items() if voter in authors}
    if voter not in ballot.choices or not own_texts:
        return None
    judges = [
        other
        for other in ballot.choices
        if other != voter and not any(other in ballot.authors[text] for text in own_texts)
    ]
    if not judges:
        return None
    share = sum(ballot.choices[other] in own_texts for other in judges) / len(judges)
    return float(ballot.choices[voter] in own_texts), share
