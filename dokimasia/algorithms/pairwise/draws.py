"""Which models meet: all pairs, or rounds of a Swiss draw, which pairs models of similar standing."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from random import Random

Pair = tuple[str, str]


def all_pairs(models: Sequence[str]) -> list[Pair]:
    """Return every pair of models once, in the order of the models.

    Examples
    --------
    >>> all_pairs(["a", "b", "c"])
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    return list(combinations(models, 2))


def most_rounds(models: int) -> int:
    """Return the maximum number of rounds of a Swiss draw of this many models without a repeated pair.

    Examples
    --------
    >>> most_rounds(6), most_rounds(7)
    (5, 7)
    """
    if models % 2 == 0:
        return models - 1
    return models


def swiss_round(models: Sequence[str], points: Mapping[str, float], met: Collection[Pair], *, seed: int) -> list[Pair]:
    """Return the pairs of the next round of a Swiss draw: as many as possible, none repeated, of models with similar points.

    Parameters
    ----------
    models : sequence of str
        All participating models.
    points : mapping
        The points of each model, such as its mean of 1 for a win, 1/2 for a tie, 0 for a loss; a model without points is
        left out and ranks in the middle.
    met : collection of pairs
        The pairs of earlier rounds, in either order. With an odd number of models, one rests, each at most once while
        another can.
    seed : int
        Decides the first round and the order among equals. Equal arguments give equal pairs.

    Returns
    -------
    list of pairs
        Highest ranks first; each pair is in the order of `models`. Empty if all have met.

    Notes
    -----
    Of all ways to pair as many models as possible, this is the one in which the ranks of opponents are closest: a
    matching of minimum weight, where the weight of a pair is the square of the distance of its ranks, so that no choice
    at the top leaves only repeated pairs at the bottom.

    Examples
    --------
    >>> swiss_round(["a", "b", "c", "d"], {"a": 1.0, "b": 0.0, "c": 1.0, "d": 0.0}, [("a", "b"), ("c", "d")], seed=0)
    [('a', 'c'), ('b', 'd')]
    """
    import networkx as nx

    shuffled = sorted(models)
    Random(seed).shuffle(shuffled)
    ranking = sorted(shuffled, key=lambda name: -points.get(name, 0.5))
    place = {name: at for at, name in enumerate(ranking)}
    met_pairs = {frozenset(pair) for pair in met}
    games = {name: sum(name in pair for pair in met_pairs) for name in models}
    most = max(games.values(), default=0)
    graph: nx.Graph[str] = nx.Graph()
    for first, second in combinations(ranking, 2):
        if frozenset((first, second)) not in met_pairs:
            rested = len(models) ** 3 * sum(games[name] < most for name in (first, second))
            graph.add_edge(first, second, weight=rested - (place[second] - place[first]) ** 2)
    matched = {frozenset(pair) for pair in nx.max_weight_matching(graph, maxcardinality=True)}
    pairs = [pair for pair in all_pairs(models) if frozenset(pair) in matched]
    return sorted(pairs, key=lambda pair: min(place[name] for name in pair))
