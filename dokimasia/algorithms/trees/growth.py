# pyright: standard
# networkx ships no types; what is read from a tree here is given its type at once.
"""A capability tree's growth without its models: sub-samples, proposals made one, merges, pruning, and what to ask."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from dokimasia.algorithms.taxonomy import add_all, assign, copy_of, fold, leaves, merge_all, prune
from dokimasia.algorithms.trees.places import leaf_mapping, place_of
from dokimasia.domain.capability import DEEPEST, ROOT, CapabilityPath, EditKind, Proposal, TreeEdit
from dokimasia.domain.growth import Placement
from dokimasia.domain.identity import unit_interval

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree


class Grown(NamedTuple):
    """A tree after a step, the changes that were made, and what was refused, each with its reason."""

    tree: "Tree"
    changes: list[TreeEdit]
    refused: list[tuple[str, str]]


def balanced(strata: Mapping[str, str], size: int, *, seed: int = 0) -> list[str]:
    """Return a sub-sample that takes evenly from every stratum, in the order of its draw.

    Parameters
    ----------
    strata : mapping of str to str
        Sample to stratum (a category or a source). Its order does not matter.
    size : int
        How many samples; 0 or more than there are takes all.
    seed : int
        Of the draw.

    Returns
    -------
    list of str
        Samples: the strata take turns until one is used up, and every beginning of the list is balanced, too.

    References
    ----------
    ATOM, appendix E.1.

    Examples
    --------
    >>> sorted(balanced({"a": "x", "b": "x", "c": "x", "d": "y"}, 2))[-1]
    'd'
    """
    drawn: defaultdict[str, list[str]] = defaultdict(list)
    for sample in sorted(strata, key=lambda one: (unit_interval("subsample", seed, one), one)):
        drawn[strata[sample]].append(sample)
    names = sorted(drawn, key=lambda one: (unit_interval("stratum", seed, one), one))
    longest = max(map(len, drawn.values()), default=0)
    turns = [drawn[name][turn] for turn in range(longest) for name in names if turn < len(drawn[name])]
    return turns[:size] if size else turns


def slice_of(drawn: Sequence[str], number: int, rounds: int) -> Sequence[str]:
    """Return the part of a sub-sample that a round (from 1) proposes for.

    The first of several rounds takes a quarter, so that those after it have a tree to reuse; the others share the rest.

    Examples
    --------
    >>> len(slice_of("abcdefgh", 1, 2)), len(slice_of("abcdefgh", 2, 2))
    (2, 6)
    """
    if rounds == 1:
        return drawn
    first = -(-len(drawn) // 4)
    if number == 1:
        return drawn[:first]
    rest = len(drawn) - first
    start, end = (first + rest * (number - step) // (rounds - 1) for step in (2, 1))
    return drawn[start:end]


def reconcile(
    tree: "Tree",
    places: Mapping[str, str | Proposal],
    parents: Iterable[Proposal] = (),
    *,
    absorbed: Mapping[str, str] | None = None,
) -> tuple[Grown, dict[str, str]]:
    """Return the tree with the proposals of many replies made one, and where each criterion is then.

    Parameters
    ----------
    tree : networkx.DiGraph
        The version that all replies were shown.
    places : mapping of str to (str or Proposal)
        Criterion to a leaf of the tree or a proposal. The order does not matter.
    parents : iterable of Proposal
        New parents; one that no capability is proposed below is left out.
    absorbed : mapping of str to str, optional
        Leaves that were merged away in this growth, to what holds them: who proposes one of them means the other.

    Returns
    -------
    Grown
        A capability of one name (but for case) is one leaf: where the tree has it already, or where most criteria were
        proposed, then the first by path. A proposal is refused if its category or its parent does not exist and was not
        proposed, if it bears the name of a node above it, or if a leaf that is reused is not there.
    dict of str to str
        Criterion to leaf; without the criteria of what was refused.
    """
    known = {str(node).casefold(): str(node) for node in tree if node != ROOT}
    names = {place_of(gone).name.casefold(): leaf for gone, leaf in sorted((absorbed or {}).items())}
    names |= {place_of(leaf).name.casefold(): leaf for leaf in leaves(tree)}
    refused: Counter[tuple[str, str]] = Counter()
    wanted: defaultdict[str, list[Proposal]] = defaultdict(list)
    for parent in sorted(parents, key=str):
        reason = _unfit(parent, known) if parent.under.layer == 1 else "it is no parent below a category"
        if reason:
            refused[str(parent), reason] += 1
        elif parent.path.key not in known:
            wanted[parent.path.key].append(parent)
    spelled = {key: _commonest(f"{known[one.under.key]}<{one.name}>" for one in same) for key, same in wanted.items()}
    nodes = {**known, **spelled}
    placed: dict[str, str] = {}
    proposed: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for criterion in sorted(places):
        place = places[criterion]
        if isinstance(place, str):
            if known.get(place.casefold()) == place and place.count("<") == DEEPEST:
                placed[criterion] = place
            else:
                refused[place, "it is no leaf of the tree"] += 1
            continue
        reason = _unfit(place, nodes)
        if not reason and place.under.layer != DEEPEST - 1:
            reason = "a criterion belongs to a capability below a parent"
        if reason:
            refused[str(place), reason] += 1
            continue
        proposed[place.name.casefold()].append((criterion, f"{nodes[place.under.key]}<{place.name}>"))
    added: list[tuple[str, tuple[str, ...], list[str]]] = []
    for name in sorted(proposed):
        asked = proposed[name]
        leaf = names.get(name) or _commonest(path for _, path in asked)
        behind = tuple(criterion for criterion, _ in asked)
        placed |= dict.fromkeys(behind, leaf)
        if name not in names:
            others = sorted({path for _, path in asked} - {leaf})
            added.append((leaf, behind, others))
    changes: list[TreeEdit] = []
    below: defaultdict[str, list[str]] = defaultdict(list)
    for leaf, behind, _ in added:
        below[leaf.rpartition("<")[0]] += behind
    for path in sorted(set(spelled.values()) & below.keys()):
        reason = "a parent for capabilities that no other parent covers"
        changes.append(_judged("add", path, None, reason, below[path]))
    for leaf, behind, others in added:
        reason = f"no capability covered {len(behind)} criteria"
        if others:
            reason += f"; also proposed as {', '.join(others[:3])}"
        changes.append(_judged("add", leaf, None, reason, behind))
    grown = add_all(tree, [leaf for leaf, _, _ in added])
    counted = [(what, reason if n == 1 else f"{reason} ({n} times)") for (what, reason), n in sorted(refused.items())]
    return Grown(assign(grown, {**leaf_mapping(tree), **placed}), changes, counted), placed


def comparisons(
    tree: "Tree", *, half: int = 30, limit: int = 64, new: Collection[str] | None = None
) -> list[tuple[str, ...]]:
    """Return lists of leaves to be looked through for equals, so that any two of a category stand in one list together.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    half : int
        Lists have at most twice as many leaves.
    limit : int
        If so many lists are enough for any two leaves of the whole tree, they are what is returned.
    new : collection of str, optional
        Leaves of which each list has at least one; others were compared before.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import new_tree
    >>> tree = add_all(new_tree(["A", "B"]), ["<A><P><1>", "<A><P><2>", "<B><Q><3>"])
    >>> comparisons(tree, half=1, limit=1)
    [('<A><P><1>', '<A><P><2>')]
    """
    whole = leaves(tree)
    lists = _pairs_of_halves(whole, half)
    if len(lists) > limit:
        below: defaultdict[str, list[str]] = defaultdict(list)
        for leaf in whole:
            below[CapabilityPath.parse(leaf).category].append(leaf)
        lists = [one for category in sorted(below) for one in _pairs_of_halves(below[category], half)]
    wanted = set(whole if new is None else new)
    return [one for one in lists if len(one) > 1 and wanted.intersection(one)]


def unite(
    tree: "Tree", groups: Iterable[Sequence[str]], vague: Iterable[str] = (), *, fixed: Collection[str] = ()
) -> Grown:
    """Return the tree with leaves merged that are said to be the same, and vague ones folded into a sibling.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    groups : iterable of sequence of str
        Leaves that are the same, the one whose name is kept first. Groups with a common leaf become one.
    vague : iterable of str
        Leaves whose name does not tell what belongs there: each is folded into its best-supported sibling, unless it is
        that itself, or has none.
    fixed : collection of str
        Leaves that must stay as they are: they take others in, and are never merged away.

    Returns
    -------
    Grown
        Of a group is kept what was named first most often, then has most criteria, then is the first by id.
    """
    import networkx as nx

    stay = set(fixed)
    support = {leaf: int(tree.nodes[leaf]["support"]) for leaf in leaves(tree)}
    first: Counter[str] = Counter()
    alike = nx.Graph()
    for group in groups:
        members = [leaf for leaf in group if leaf in support]
        first.update(members[:1])
        nx.add_path(alike, members)
    refused: list[tuple[str, str]] = []
    pairs: list[tuple[str, str]] = []
    changes: list[TreeEdit] = []
    for group in sorted(sorted(part) for part in nx.connected_components(alike)):
        old = [leaf for leaf in group if leaf in stay]
        keep = min(old or group, key=lambda leaf: (-first[leaf], -support[leaf], leaf))
        for leaf in group:
            if leaf == keep:
                continue
            if leaf in stay:
                refused.append((leaf, f"it is said to be the same as {keep}, but both were in the tree before"))
                continue
            pairs.append((keep, leaf))
            changes.append(_judged("merge", leaf, keep, f"the same capability as {keep}", tree.nodes[leaf]["members"]))
    united = merge_all(tree, pairs)
    for leaf in sorted({leaf for leaf in vague if leaf in united and leaf not in stay}):
        parent = leaf.rpartition("<")[0]
        siblings = sorted(united.successors(parent), key=lambda one: (-int(united.nodes[one]["support"]), one))
        if len(siblings) < 2 or siblings[0] == leaf:
            refused.append((leaf, "it is said to be vague, but is the best that its parent has"))
            continue
        changes.append(_judged("prune", leaf, siblings[0], "its name is vague", united.nodes[leaf]["members"]))
        united = merge_all(united, [(siblings[0], leaf)])
    return Grown(united, changes, refused)


def thin_out(tree: "Tree", min_support: int, *, fixed: Collection[str] = ()) -> Grown:
    """Return the tree without leaves of too little support (see `prune`), and without parents that have no leaf.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    min_support : int
        The fewest criteria of a leaf. Where no leaf at all has as many, none is pruned: small data are no outliers.
    fixed : collection of str
        Nodes that stay whatever their support.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add, new_tree
    >>> leaves(thin_out(assign(add(new_tree(["A"]), "<A><B><C>"), {"x": "<A><B><C>"}), 5).tree)
    ['<A><B><C>']
    """
    before = copy_of(tree)
    support = {leaf: int(before.nodes[leaf]["support"]) for leaf in leaves(before)}
    for leaf in support:
        if leaf in fixed:
            before.nodes[leaf]["support"] = max(min_support, support[leaf])
    enough = any(int(before.nodes[leaf]["support"]) >= min_support for leaf in support)
    thinned = prune(before, min_support) if enough else before
    into = {gone: str(node) for node in sorted(thinned) for gone in thinned.nodes[node]["absorbed"]}
    changes = [
        TreeEdit(
            kind="prune",
            node=leaf,
            into=into[leaf],
            reason=f"{count} of at least {min_support} criteria",
            criteria=tuple(sorted(tree.nodes[leaf]["members"])),
        )
        for leaf, count in sorted(support.items())
        if leaf not in thinned
    ]
    for parent in sorted(str(node) for node in thinned if thinned.nodes[node]["layer"] == DEEPEST - 1):
        if parent in fixed or any(True for _ in thinned.successors(parent)):
            continue
        above = next(iter(thinned.predecessors(parent)))
        fold(thinned, above, parent)
        changes.append(TreeEdit(kind="prune", node=parent, into=above, reason="no capability is left below it"))
    for node in thinned:
        thinned.nodes[node]["support"] = len(thinned.nodes[node]["members"])
    return Grown(thinned, changes, [])


def options_below(tree: "Tree", node: str, *, shown: int) -> list[str]:
    """Return the paths among which a criterion below a node is placed: its leaves, or its children where leaves are many.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import new_tree
    >>> tree = add_all(new_tree(["A", "B"]), ["<A><P><1>", "<A><P><2>"])
    >>> options_below(tree, "root", shown=5), options_below(tree, "root", shown=1)
    (['<A><P><1>', '<A><P><2>'], ['<A>'])
    """
    below = [leaf for leaf in leaves(tree) if node == ROOT or leaf.startswith(node)]
    if len(below) <= shown or node.count("<") == DEEPEST - 1:
        return below
    depth = node.count("<") + 1
    return sorted({str(CapabilityPath(names=CapabilityPath.parse(leaf).names[:depth])) for leaf in below})


def count_unplaced(placements: Iterable[Placement]) -> dict[str, int]:
    """Return how many criteria have no leaf, by kind of failure."""
    return dict(sorted(Counter(one.failure for one in placements if one.leaf is None).items()))


def _unfit(proposal: Proposal, known: Collection[str]) -> str:
    """Say why a proposal does not fit under nodes given in folded case; empty if it does."""
    under = proposal.under
    if f"<{under.category}>".casefold() not in known:
        return f"<{under.category}> is none of the fixed categories"
    if under.key not in known:
        return f"there is no parent {under}"
    if proposal.name.casefold() in {name.casefold() for name in under.names}:
        return "a node cannot bear the name of one above it"
    return ""


def _commonest(names: Iterable[str]) -> str:
    counts = Counter(names)
    return min(counts, key=lambda name: (-counts[name], name))


def _pairs_of_halves(whole: Sequence[str], half: int) -> list[tuple[str, ...]]:
    parts = [tuple(whole[at : at + half]) for at in range(0, len(whole), half)]
    if len(parts) < 2:
        return parts
    return [(*one, *other) for one, other in combinations(parts, 2)]


def _judged(kind: EditKind, node: str, into: str | None, reason: str, criteria: Iterable[str]) -> TreeEdit:
    return TreeEdit(kind=kind, node=node, into=into, reason=reason[:500], by="judge", criteria=tuple(sorted(criteria)))
