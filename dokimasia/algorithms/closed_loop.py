"""Decisions of the closed loop: which atoms failed, which are withheld, which peer helps, and when to stop (ATOM, 3.5)."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from dokimasia.domain.identity import unit_interval
from dokimasia.domain.refinement import SOLVED, Stopped


class Split(NamedTuple):
    """Failed atoms by number: those that feedback may name, and those that it must not name."""

    shown: tuple[int, ...]
    withheld: tuple[int, ...]


class Need(NamedTuple):
    """One failed atom of one answer that needs a peer's hint: `key` names the answer, `atom` counts from 1."""

    key: str
    atom: int


def failed_atoms(scores: Sequence[float]) -> tuple[int, ...]:
    """Return the numbers, from 1, of the atoms that failed: those scored below 4 (ATOM, section 3.5).

    Examples
    --------
    >>> failed_atoms([5, 3, 4, 1])
    (2, 4)
    """
    return tuple(number for number, score in enumerate(scores, start=1) if score < SOLVED)


def withhold(failed: Collection[int], share: float, *parts: str | int) -> Split:
    """Split failed atoms into shown ones and a random share of withheld ones, by a reproducible draw.

    Parameters
    ----------
    failed : collection of int
        Atom numbers.
    share : float
        The share to withhold, 0 to 1, rounded down to whole atoms; at least one atom is shown.
    *parts : str or int
        What the draw depends on (seed, sample, model, repeat): equal parts give equal splits, whatever the order of the
        atoms.

    Returns
    -------
    Split
        Both in ascending order.

    Examples
    --------
    >>> split = withhold([1, 2, 4, 5], 0.5, 0, "sample")
    >>> len(split.shown), len(split.withheld), sorted(split.shown + split.withheld)
    (2, 2, [1, 2, 4, 5])
    >>> withhold([3], 0.5, 0, "sample")
    Split(shown=(3,), withheld=())
    """
    if not 0 <= share <= 1:
        raise ValueError(f"the share to withhold is {share}, not between 0 and 1")
    drawn = sorted(set(failed), key=lambda atom: (unit_interval("withhold", *parts, atom), atom))
    count = min(int(len(drawn) * share + 1e-9), max(0, len(drawn) - 1))
    return Split(tuple(sorted(drawn[count:])), tuple(sorted(drawn[:count])))


def assign_peers(
    needs: Iterable[Need], solved: Mapping[Need, Mapping[str, float]], *, seed: int, apart: bool = False
) -> dict[Need, tuple[str, ...]]:
    """Return the peers for failed atoms, as few as possible for one answer: who solved most of its atoms, then who did best.

    Parameters
    ----------
    needs : iterable of Need
        In an order that does not depend on timing, since requests to peers are counted in this order.
    solved : mapping
        For each need, the peers that solved the atom, with their scores on it (4 to 5); empty if none did.
    seed : int
        Seed of the draw that breaks ties.
    apart : bool
        Whether the peers of each atom are chosen from that atom alone, as published.

    Returns
    -------
    dict
        For each need the peers that solved it, in order of preference: the first gives the first hint, the next that of a
        later round. Among equals the one with the fewest requests comes first, then a seeded draw. Empty if no peer solved
        the atom.

    Examples
    --------
    >>> a, b = Need("x", 1), Need("x", 2)
    >>> assign_peers([a, b], {a: {"p": 5, "q": 4}, b: {"q": 5}}, seed=0)
    {Need(key='x', atom=1): ('q', 'p'), Need(key='x', atom=2): ('q',)}
    >>> assign_peers([a, b], {a: {"p": 5, "q": 4}, b: {"q": 5}}, seed=0, apart=True)
    {Need(key='x', atom=1): ('p', 'q'), Need(key='x', atom=2): ('q',)}
    """
    groups: dict[object, list[Need]] = {}
    for need in needs:
        groups.setdefault(need if apart else need.key, []).append(need)
    requests: Counter[str] = Counter()
    chosen: dict[Need, tuple[str, ...]] = {}
    for group in groups.values():
        scores: dict[str, list[float]] = {}
        for need in group:
            for peer, score in solved.get(need, {}).items():
                scores.setdefault(peer, []).append(score)
        first = group[0]
        rank = {
            peer: (
                -len(peer_scores),
                -sum(peer_scores),
                requests[peer],
                unit_interval("peer", seed, first.key, first.atom, peer),
            )
            for peer, peer_scores in scores.items()
        }
        for need in group:
            chosen[need] = tuple(sorted(solved.get(need, {}), key=rank.__getitem__))
        requests.update({peers[0] for need in group if (peers := chosen[need])})
    return chosen


def when_to_stop(
    before: Sequence[float], after: Sequence[float], shown: Sequence[int], *, round: int, rounds: int
) -> Stopped:
    """Return why an arm stops, by the shown atoms alone; empty if it continues. The final answer plays no part.

    Parameters
    ----------
    before, after : sequence of float
        All atoms' scores before and after the round.
    shown : sequence of int
        Numbers of the atoms that the feedback may name.
    round, rounds : int
        The finished round, from 1, and the maximum number of rounds.

    Returns
    -------
    str
        The reason; empty if the arm continues.

    Examples
    --------
    >>> when_to_stop([1, 5], [4, 5], [1], round=1, rounds=3)
    'all solved'
    >>> when_to_stop([2, 1], [2, 5], [1], round=1, rounds=3)
    'nothing improved'
    >>> when_to_stop([1, 1], [3, 1], [1], round=1, rounds=3)
    ''
    """
    if not shown:
        return "nothing to say"
    if all(after[atom - 1] >= SOLVED for atom in shown):
        return "all solved"
    if sum(after[atom - 1] for atom in shown) <= sum(before[atom - 1] for atom in shown):
        return "nothing improved"
    return "rounds" if round >= rounds else ""
