# pyright: standard
# networkx ships no types; values read from a tree are annotated at once.
"""The steps of a capability tree's growth that need no model: subsamples, merged proposals, pruning, and options."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from dokimasia.algorithms.taxonomy import Tree, add_all, assign, attributes_of, copy_of, deepest, fold, leaves, prune
from dokimasia.algorithms.trees.places import leaf_mapping, place_of
from dokimasia.domain.capability import DEEPEST, ROOT, CapabilityPath, EditKind, Proposal, TreeEdit
from dokimasia.domain.growth import Placement
from dokimasia.domain.identity import unit_interval

T = TypeVar("T")


class Grown(NamedTuple):
    """A tree after a step, its changes, and the refused proposals, each with its reason."""

    tree: Tree
    changes: list[TreeEdit]
    refused: list[tuple[str, str]]


def balanced(strata: Mapping[str, str], size: int, *, seed: int = 0) -> list[str]:
    """Return a subsample balanced over strata, in the order of its draw.

    Parameters
    ----------
    strata : mapping of str to str
        Sample to stratum (a category or a source). Its order does not matter.
    size : int
        The number of samples; 0, or more than exist, means all.
    seed : int
        Seed of the draw.

    Returns
    -------
    list of str
        Samples: the strata take turns until they are exhausted, so that every prefix of the list is balanced, too.

    References
    ----------
    ATOM, appendix E.1.

    Examples
    --------
    >>> sorted(balanced({"a": "x", "b": "x", "c": "x", "d": "y"}, 2))[-1]
    'd'
    """
    by_stratum: defaultdict[str, list[str]] = defaultdict(list)
    for sample in sorted(strata, key=lambda sample: (unit_interval("subsample", seed, sample), sample)):
        by_stratum[strata[sample]].append(sample)
    names = sorted(by_stratum, key=lambda stratum: (unit_interval("stratum", seed, stratum), stratum))
    longest = max(map(len, by_stratum.values()), default=0)
    turns = [by_stratum[name][turn] for turn in range(longest) for name in names if turn < len(by_stratum[name])]
    return turns[:size] if size else turns


def slice_of(samples: Sequence[str], number: int, rounds: int) -> Sequence[str]:
    """Return the part of a subsample that a round (from 1) proposes for.

    The first of several rounds takes a quarter, so that later rounds have a tree to reuse; the others share the rest.

    Examples
    --------
    >>> len(slice_of("abcdefgh", 1, 2)), len(slice_of("abcdefgh", 2, 2))
    (2, 6)
    """
    if rounds == 1:
        return samples
    first = -(-len(samples) // 4)
    if number == 1:
        return samples[:first]
    remaining = len(samples) - first
    start, end = (first + remaining * (number - step) // (rounds - 1) for step in (2, 1))
    return samples[start:end]


def spread(items: Sequence[T], size: int) -> Sequence[T]:
    """Return at most `size` items, evenly spaced.

    Examples
    --------
    >>> spread("abcdefgh", 3), spread("ab", 3)
    ('ace', 'ab')
    """
    return items[:: max(1, len(items) // size)][:size]


def reconcile(
    tree: Tree,
    placements: Mapping[str, str | Proposal],
    parents: Iterable[Proposal] = (),
    *,
    absorbed: Mapping[str, str] | None = None,
) -> tuple[Grown, dict[str, str]]:
    """Return the tree after merging the proposals of many replies, and the leaf of each criterion.

    Parameters
    ----------
    tree : networkx.DiGraph
        The version that all replies were based on.
    placements : mapping of str to (str or Proposal)
        Criterion to a leaf of the tree or a proposal, in any order.
    parents : iterable of Proposal
        New parents; those without a proposed capability are left out.
    absorbed : mapping of str to str, optional
        Nodes that this growth merged or renamed, to the nodes that now represent them: a proposal of the former means
        the latter. A leaf represented by an ancestor was dropped, and is not added again.

    Returns
    -------
    Grown
        Capabilities with the same name (ignoring case) become one leaf: the existing one, else the one with most
        proposed criteria, then the first by path. A proposal is refused if its category or its parent does not exist
        and was not proposed, if it has the name of a node above it or of a dropped leaf, or if a reused leaf does not
        exist. In a tree at the level of parents a proposed capability stands for its parent.
    dict of str to str
        Criterion to leaf, without the criteria of refused proposals.
    """
    bottom, known = deepest(tree), _known_nodes(tree, absorbed or {})
    if bottom < DEEPEST:
        placements = {criterion: _broader(placement) for criterion, placement in placements.items()}
        parents = ()
    refused: Counter[tuple[str, str]] = Counter()
    new_parents = _new_parents(parents, known.by_key, refused)
    nodes = {**known.by_key, **new_parents}
    placed: dict[str, str] = {}
    proposed: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for criterion, placement in sorted(placements.items()):
        if reason := _refusal(placement, known, nodes, bottom):
            refused[str(placement), reason] += 1
        elif isinstance(placement, str):
            placed[criterion] = placement
        else:
            path = f"{nodes[placement.under.key]}<{placement.name}>"
            proposed[placement.name.casefold()].append((criterion, path))
    added: list[_NewLeaf] = []
    for name, proposals in sorted(proposed.items()):
        leaf = known.leaf_by_name.get(name) or _commonest(path for _, path in proposals)
        supporters = tuple(criterion for criterion, _ in proposals)
        placed |= dict.fromkeys(supporters, leaf)
        if name not in known.leaf_by_name:
            others = sorted({path for _, path in proposals} - {leaf})
            added.append(_NewLeaf(leaf, supporters, others))
    grown = assign(add_all(tree, [leaf.path for leaf in added]), {**leaf_mapping(tree), **placed})
    refusals = [
        (subject, reason if n == 1 else f"{reason} ({n} times)") for (subject, reason), n in sorted(refused.items())
    ]
    return Grown(grown, _additions(added, new_parents.values()), refusals), placed


class _KnownNodes(NamedTuple):
    """What proposals can refer to: nodes by the key of their path, leaves by name, and the names of leaves that were dropped.

    What was merged or renamed stands for the node that holds it now.
    """

    by_key: Mapping[str, str]
    leaf_by_name: Mapping[str, str]
    dropped: frozenset[str]


class _NewLeaf(NamedTuple):
    """A leaf that is added: its path, the criteria that it was proposed for, and its other proposed paths."""

    path: str
    supporters: tuple[str, ...]
    others: Sequence[str]


def _known_nodes(tree: Tree, absorbed: Mapping[str, str]) -> _KnownNodes:
    bottom, redirects = deepest(tree), sorted(absorbed.items())
    by_key = {removed.casefold(): node for removed, node in redirects if removed.count("<") == node.count("<") < bottom}
    by_key |= {str(node).casefold(): str(node) for node in tree if node != ROOT}
    removed_leaves = {
        place_of(removed).name.casefold(): node for removed, node in redirects if removed.count("<") == bottom
    }
    leaf_by_name = {name: node for name, node in removed_leaves.items() if node.count("<") == bottom}
    leaf_by_name |= {place_of(leaf).name.casefold(): leaf for leaf in leaves(tree)}
    return _KnownNodes(by_key, leaf_by_name, frozenset(removed_leaves.keys() - leaf_by_name.keys()))


def _new_parents(
    parents: Iterable[Proposal], node_by_key: Mapping[str, str], refused: Counter[tuple[str, str]]
) -> dict[str, str]:
    """Return the paths of proposed parents that a tree does not have, by key; those that are refused are counted."""
    proposals: defaultdict[str, list[Proposal]] = defaultdict(list)
    for parent in sorted(parents, key=str):
        reason = _unfit(parent, node_by_key) if parent.under.layer == 1 else "it is no parent below a category"
        if reason:
            refused[str(parent), reason] += 1
        elif parent.path.key not in node_by_key:
            proposals[parent.path.key].append(parent)
    return {
        key: _commonest(f"{node_by_key[parent.under.key]}<{parent.name}>" for parent in spellings)
        for key, spellings in proposals.items()
    }


def _refusal(placement: str | Proposal, known: _KnownNodes, nodes: Mapping[str, str], bottom: int) -> str:
    """Return why a criterion cannot be placed so; empty if it can."""
    if isinstance(placement, str):
        is_leaf = known.by_key.get(placement.casefold()) == placement and placement.count("<") == bottom
        if is_leaf:
            return ""
        return "it is no leaf of the tree"
    if reason := _unfit(placement, nodes):
        return reason
    if placement.under.layer != bottom - 1:
        return "a criterion belongs to a capability below a parent"
    if placement.name.casefold() in known.dropped:
        return "a leaf of that name was dropped before"
    return ""


def _additions(added: Sequence[_NewLeaf], parents: Collection[str]) -> list[TreeEdit]:
    """Return the edits that add leaves, after those that add their new parents."""
    supporters_below: defaultdict[str, list[str]] = defaultdict(list)
    for leaf in added:
        supporters_below[leaf.path.rpartition("<")[0]] += leaf.supporters
    reason = "a parent for capabilities that no other parent covers"
    edits = [
        judged("add", parent, None, reason, supporters_below[parent])
        for parent in sorted({*parents} & supporters_below.keys())
    ]
    for leaf in added:
        reason = f"no capability covered {len(leaf.supporters)} criteria"
        if leaf.others:
            reason += f"; also proposed as {', '.join(leaf.others[:3])}"
        edits.append(judged("add", leaf.path, None, reason, leaf.supporters))
    return edits


def thin_out(tree: Tree, min_support: int, *, fixed: Collection[str] = ()) -> Grown:
    """Return the tree without leaves of insufficient support (see `prune`) and without parents that have no leaves.

    Parameters
    ----------
    tree : networkx.DiGraph
        A capability tree.
    min_support : int
        Minimum number of criteria of a leaf. If no leaf has as many, the data set is small and none is pruned.
    fixed : collection of str
        Nodes that are kept regardless of their support.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import add, new_tree
    >>> leaves(thin_out(assign(add(new_tree(["A"]), "<A><B><C>"), {"x": "<A><B><C>"}), 5).tree)
    ['<A><B><C>']
    """
    before = copy_of(tree)
    support = {leaf: attributes_of(before, leaf).support for leaf in leaves(before)}
    for leaf in support:
        if leaf in fixed:
            before.nodes[leaf].update(support=max(min_support, support[leaf]))
    enough = any(attributes_of(before, leaf).support >= min_support for leaf in support)
    thinned = prune(before, min_support) if enough else before
    into = {folded: str(node) for node in sorted(thinned) for folded in attributes_of(thinned, node).absorbed}
    changes = [
        TreeEdit(
            kind="prune",
            node=leaf,
            into=into[leaf],
            reason=f"{count} of at least {min_support} criteria",
            criteria=tuple(sorted(attributes_of(tree, leaf).members)),
        )
        for leaf, count in sorted(support.items())
        if leaf not in thinned
    ]
    for parent in sorted(str(node) for node in thinned if 1 < attributes_of(thinned, node).layer < deepest(thinned)):
        if parent in fixed or any(True for _ in thinned.successors(parent)):
            continue
        category = next(iter(thinned.predecessors(parent)))
        fold(thinned, category, parent)
        changes.append(TreeEdit(kind="prune", node=parent, into=category, reason="no capability is left below it"))
    for node in thinned:
        thinned.nodes[node].update(support=len(attributes_of(thinned, node).members))
    return Grown(thinned, changes, [])


def options_below(tree: Tree, node: str, *, shown: int) -> list[str]:
    """Return the possible paths of a criterion below a node: its leaves, or its children if there are many leaves.

    Examples
    --------
    >>> from dokimasia.algorithms.taxonomy import new_tree
    >>> tree = add_all(new_tree(["A", "B"]), ["<A><P><1>", "<A><P><2>"])
    >>> options_below(tree, "root", shown=5), options_below(tree, "root", shown=1)
    (['<A><P><1>', '<A><P><2>'], ['<A>'])
    """
    descendants = [leaf for leaf in leaves(tree) if node == ROOT or leaf.startswith(node)]
    if len(descendants) <= shown or node.count("<") == deepest(tree) - 1:
        return descendants
    depth = node.count("<") + 1
    return sorted({str(CapabilityPath(names=CapabilityPath.parse(leaf).names[:depth])) for leaf in descendants})


def count_unplaced(placements: Iterable[Placement]) -> dict[str, int]:
    """Return the number of criteria without a leaf, by kind of failure."""
    return dict(sorted(Counter(placement.failure for placement in placements if placement.leaf is None).items()))


def _unfit(proposal: Proposal, node_by_key: Mapping[str, str]) -> str:
    """Return why a proposal does not fit existing nodes, given by case-folded ids; empty if it does."""
    under = proposal.under
    if f"<{under.category}>".casefold() not in node_by_key:
        return f"<{under.category}> is none of the fixed categories"
    if under.key not in node_by_key:
        return f"there is no parent {under}"
    if proposal.name.casefold() in {name.casefold() for name in CapabilityPath.parse(node_by_key[under.key]).names}:
        return "a node cannot bear the name of one above it"
    return ""


def _broader(placement: str | Proposal) -> str | Proposal:
    """Return the parent that a proposed capability would have, as a proposal."""
    if isinstance(placement, str) or placement.under.parent is None:
        return placement
    return Proposal(under=placement.under.parent, name=placement.under.name)


def _commonest(names: Iterable[str]) -> str:
    counts = Counter(names)
    return min(counts, key=lambda name: (-counts[name], name))


def judged(kind: EditKind, node: str, into: str | None, reason: str, criteria: Iterable[str]) -> TreeEdit:
    """Return an edit by a judge."""
    return TreeEdit(kind=kind, node=node, into=into, reason=reason[:500], by="judge", criteria=tuple(sorted(criteria)))
