"""Taxonomy growth: a capability tree is proposed, merged, pruned, and every criterion mapped to one leaf (ATOM, section 3.2).

    propose ─► merge ─► prune ─► map ─► end          (fit ─► propose where a tree is grown on;
       ▲                  │                           fit ─► map where everything has its place)
       └── next round ────┘

The state holds ids of tree versions. Every step is checkpointed; a step that was cut off is done again whole, its calls
answered by the ledger. Within a step all calls are made against one version of the tree and gathered in a fixed order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.algorithms.taxonomy import assign, leaves
from dokimasia.algorithms.trees.formats import from_version, to_version
from dokimasia.algorithms.trees.growth import (
    balanced,
    count_unplaced,
    reconcile,
    slice_of,
    spread,
    thin_out,
)
from dokimasia.algorithms.trees.merging import comparisons, parents, unite
from dokimasia.algorithms.trees.places import leaf_mapping, place_of
from dokimasia.domain.capability import TreeEdit, TreeVersion
from dokimasia.domain.growth import Phase, PhaseReport, Placement, TreeCriterion
from dokimasia.domain.judgement import Provenance
from dokimasia.graphs.tree.growth_calls import Tally, all_mappings, all_merges, all_proposals, vectors_of
from dokimasia.graphs.tree.growth_context import GrowthContext
from dokimasia.graphs.versions import VERSIONS

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

NAME = "taxonomy_growth"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True

PAIRED_CRITERIA = 100
"""Lists of leaves that are looked through for equals: one for so many criteria, and a few in any case."""


class State(TypedDict, total=False):
    """Ids of tree versions, and the round.

    `version` is the tree as it stands; `base` the version that is grown on (empty: the tree begins with its anchors);
    `fitted` the version in which new criteria were mapped to the leaves of `base`.
    """

    version: str
    base: str
    fitted: str
    round: int


async def fit(state: State, runtime: Runtime[GrowthContext]) -> State:
    """Map what has no place yet to the leaves that are there: nothing is proposed for what fits."""
    version = await _mapped(runtime.context, state, "fit", runtime.context.placed)
    return {"version": version, "fitted": version}


async def propose(state: State, runtime: Runtime[GrowthContext]) -> State:
    """Ask which capabilities a part of the sub-sample needs, and make the proposals one.

    In the first round one batch, spread over the whole part, is done alone, so that the others, which are done side by
    side, see its names; elsewhere all see one version.
    """
    context, number = runtime.context, state.get("round", 0) + 1
    tree = await _tree(context, state["version"])
    base = await _tree(context, state["base"]) if state.get("base") else None
    tally = Tally()
    todo = await _proposed_for(context, state, tree, number)
    first = spread(todo, context.growth.propose_batch) if number == 1 else ()
    alone = {one.key for one in first}
    edits: list[TreeEdit] = []
    placed = 0
    for part in (first, [one for one in todo if one.key not in alone]):
        places, added, by = await all_proposals(context, tree, part, tally)
        grown, where = reconcile(tree, places, added, absorbed=_absorbed(tree, base))
        for what, reason in grown.refused:
            tally.reject(what, reason)
        edits += _signed(grown.changes, by, by_criteria=True)
        tree, placed = grown.tree, placed + len(where)
    unplaced = {"unplaced": len(todo) - placed} if placed < len(todo) else {}
    later: State = {**state, "round": number}
    report = _report("propose", later, tally, added=len(edits), placed=placed, unplaced=unplaced)
    return {"version": await _keep(context, tree, state, report, edits), "round": number}


async def merge(state: State, runtime: Runtime[GrowthContext]) -> State:
    """Unite leaves that are the same: first among those that look alike, then among all that may be compared.

    Beside the latter, parents of one category are looked through for equals, too.
    """
    context = runtime.context
    tree = await _tree(context, state["version"])
    fixed = await _fixed(context, state)
    tally = Tally()
    edits: list[TreeEdit] = []
    for lists in (await _alike(context, tree, fixed, tally), None):
        if lists is None:
            limit = max(64, len(context.criteria) // PAIRED_CRITERIA)
            lists = [
                *comparisons(tree, limit=limit, new=set(leaves(tree)) - fixed),
                *comparisons(tree, nodes=parents(tree), limit=0, new=set(parents(tree)) - fixed),
            ]
        groups, vague, by = await all_merges(context, tree, lists, tally)
        grown = unite(tree, groups, vague, fixed=fixed)
        for what, reason in grown.refused:
            tally.reject(what, reason)
        edits += _signed(grown.changes, by)
        tree = grown.tree
    kinds = Counter(edit.kind for edit in edits)
    report = _report("merge", state, tally, merged=kinds["merge"], renamed=kinds["rename"], pruned=kinds["prune"])
    return {"version": await _keep(context, tree, state, report, edits)}


async def prune(state: State, runtime: Runtime[GrowthContext]) -> State:
    """Fold leaves of too little support into a sibling once all rounds have proposed; drop parents without a leaf."""
    context = runtime.context
    tree = await _tree(context, state["version"])
    last = state.get("round", 1) >= context.growth.rounds
    fixed = await _fixed(context, state)
    grown = thin_out(tree, context.growth.min_support if last else 1, fixed=fixed)
    report = _report("prune", state, Tally(), pruned=len(grown.changes))
    return {"version": await _keep(context, grown.tree, state, report, grown.changes)}


async def map_criteria(state: State, runtime: Runtime[GrowthContext]) -> State:
    """Map every criterion that has no place yet to exactly one leaf of the tree, which is fixed from now on."""
    context, known = runtime.context, dict(runtime.context.placed)
    if state.get("fitted"):
        known |= {one.criterion: one for one in context.placements(state["fitted"]) if one.leaf}
    return {"version": await _mapped(context, state, "map", known)}


async def first_step(state: State) -> Literal["fit", "propose"]:
    """A tree that is grown on is tried first."""
    return "fit" if state.get("base") else "propose"


async def after_fit(state: State, runtime: Runtime[GrowthContext]) -> Literal["propose", "map"]:
    """Propose only where something does not fit."""
    return "propose" if _without_place(runtime.context, state) else "map"


async def after_prune(state: State, runtime: Runtime[GrowthContext]) -> Literal["propose", "map"]:
    """Propose again as often as was asked for, then fix the tree and map."""
    return "propose" if state.get("round", 1) < runtime.context.growth.rounds else "map"


def build() -> StateGraph[State, GrowthContext]:
    """Return the graph, not compiled."""
    graph = StateGraph(State, context_schema=GrowthContext)
    graph.add_node("fit", fit)
    graph.add_node("propose", propose)
    graph.add_node("merge", merge)
    graph.add_node("prune", prune)
    graph.add_node("map", map_criteria)
    graph.add_conditional_edges(START, first_step)
    graph.add_conditional_edges("fit", after_fit)
    graph.add_edge("propose", "merge")
    graph.add_edge("merge", "prune")
    graph.add_conditional_edges("prune", after_prune)
    return graph


async def _proposed_for(context: GrowthContext, state: State, tree: "Tree", number: int) -> list[TreeCriterion]:
    """Return the criteria of the sub-sample that a round proposes for: its own part, and what earlier ones left."""
    pool = context.criteria
    if state.get("base"):
        waiting = _without_place(context, state)
        pool = [one for one in pool if one.key in waiting]
    strata = {one.sample_id: one.stratum for one in pool}
    drawn = balanced(strata, context.growth.subsample, seed=context.growth.seed)
    parts = [slice_of(drawn, part, context.growth.rounds) for part in range(1, number + 1)]
    order = {sample: place for place, sample in enumerate(sample for part in parts for sample in part)}
    held = leaf_mapping(tree)
    todo = [one for one in pool if one.sample_id in order and one.key not in held]
    return sorted(todo, key=lambda one: (order[one.sample_id], one.key))


async def _mapped(context: GrowthContext, state: State, phase: Phase, known: Mapping[str, Placement]) -> str:
    """Map all criteria but those that have a place already to the leaves of the tree, and keep it."""
    tree = await _tree(context, state["version"])
    tally = Tally()
    new = [one for one in context.criteria if one.key not in known]
    placements = await all_mappings(context, tree, new, tally, phase=phase)
    unplaced = count_unplaced(placements)
    whole = sorted([*known.values(), *placements])
    grown = assign(tree, {one.criterion: one.leaf for one in whole if one.leaf is not None})
    report = _report(phase, state, tally, placed=len(placements) - sum(unplaced.values()), unplaced=unplaced)
    return await _keep(context, grown, state, report, (), whole)


def _without_place(context: GrowthContext, state: State) -> set[str]:
    """Return the criteria that fit none of the leaves of the tree that is grown on."""
    return {one.criterion for one in context.placements(state["fitted"]) if one.failure == "unplaced"}


async def _alike(context: GrowthContext, tree: "Tree", fixed: set[str], tally: Tally) -> list[tuple[str, ...]]:
    """Return blocks of leaves whose names look alike, or whose embeddings do."""
    from dokimasia.algorithms.trees.synonyms import candidate_synonyms, synonym_blocks

    names = {leaf: place_of(leaf).name for leaf in leaves(tree)}
    vectors: Mapping[str, Sequence[float]] | None = None
    if context.growth.embedding and names:
        found = await vectors_of(context, sorted(set(names.values())), tally)
        vectors = None if found is None else {leaf: found[name] for leaf, name in names.items()}
    pairs = candidate_synonyms(names, vectors=vectors, seed=context.growth.seed)
    wanted = [pair for pair in pairs if pair.first not in fixed or pair.second not in fixed]
    return synonym_blocks(wanted)


async def _fixed(context: GrowthContext, state: State) -> set[str]:
    """Return the leaves and parents of the tree that is grown on, which stay as they are."""
    if not state.get("base"):
        return set()
    base = await _tree(context, state["base"])
    return {*leaves(base), *parents(base)}


def _absorbed(tree: "Tree", base: "Tree | None") -> dict[str, str]:
    """Return the nodes that this growth merged away, renamed or dropped, to what holds them."""
    before = {gone for node in base for gone in base.nodes[node]["absorbed"]} if base is not None else set[str]()
    return {
        gone: node for node in sorted(map(str, tree)) for gone in tree.nodes[node]["absorbed"] if gone not in before
    }


async def _tree(context: GrowthContext, id: str) -> "Tree":
    return from_version(await context.store.get(TreeVersion, id))


async def _keep(
    context: GrowthContext,
    tree: "Tree",
    state: State,
    report: PhaseReport,
    edits: Iterable[TreeEdit],
    placements: Sequence[Placement] = (),
) -> str:
    version = to_version(tree, before=state.get("version") or None, edits=edits)
    await context.keep(version, report, placements)
    return await context.store.put(version)


def _signed(edits: Iterable[TreeEdit], by: Mapping[str, Provenance], *, by_criteria: bool = False) -> list[TreeEdit]:
    """Return edits with the calls of the judge that said so; `by` goes by node, or by the criteria behind it."""
    signed: list[TreeEdit] = []
    for edit in edits:
        asked = edit.criteria if by_criteria else (edit.node, edit.node.rpartition("<")[0])
        whose = next((by[one] for one in asked if one in by), None)
        signed.append(edit.model_copy(update={"provenance": whose}))
    return signed


def _report(phase: Phase, state: State, tally: Tally, **counts: Any) -> PhaseReport:
    """Return what a phase came to: what became of its calls, and the counts that are its own."""
    return PhaseReport(
        phase=phase,
        round=state.get("round", 0),
        calls=tally.calls,
        asked=tally.asked,
        rejected=tally.rejected,
        rejections=tuple(tally.rejections),
        failures=tuple(tally.failures),
        **counts,
    )
