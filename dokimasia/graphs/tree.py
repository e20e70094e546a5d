"""Taxonomy growth: propose, merge and prune a capability tree, then map every criterion to one leaf (ATOM, section 3.2).

    propose ─► merge ─► prune ─► map ─► end          (fit ─► propose where a tree is grown on;
       ▲                  │                           fit ─► map where everything has its place)
       └── next round ────┘

The state holds ids of tree versions. Every step is checkpointed; an interrupted step is repeated as a whole, with its
calls answered by the ledger. Within a step, all calls see one version of the tree, and their results are gathered in a
fixed order.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from dokimasia.agents import Ask, AskResult
from dokimasia.agents.asking import embed
from dokimasia.agents.tree import Mapped, MergeRow, judge_merges, map_criteria, propose_capabilities
from dokimasia.algorithms.taxonomy import assign, deepest, leaves
from dokimasia.algorithms.trees.formats import from_version, to_version
from dokimasia.algorithms.trees.growth import (
    balanced,
    count_unplaced,
    options_below,
    reconcile,
    slice_of,
    spread,
    thin_out,
)
from dokimasia.algorithms.trees.merging import comparisons, parents, unite
from dokimasia.algorithms.trees.places import leaf_mapping, members_below, place_of
from dokimasia.domain.capability import ROOT, Proposal, TreeEdit, TreeVersion
from dokimasia.domain.growth import (
    FailedBatch,
    GrowthOptions,
    Phase,
    PhaseReport,
    Placement,
    Rejection,
    TreeCriterion,
)
from dokimasia.domain.judgement import Failed, Provenance
from dokimasia.errors import Interrupted
from dokimasia.graphs.context import Context
from dokimasia.graphs.reasking import raise_open, within_budget
from dokimasia.graphs.versions import VERSIONS

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

A = TypeVar("A")
B = TypeVar("B")

NAME = "taxonomy_growth"
VERSION = VERSIONS[NAME]
CHECKPOINTED = True

PAIRED_CRITERIA = 100
"""Number of criteria per list of leaves to search for duplicates; the number of lists is at least 64."""

WIDTH = (8, 256)
"""Minimum and maximum number of concurrent calls of a phase; the gateway limits those that are really sent."""

LISTED = 200
"""Maximum number of rejections that a report lists; all are counted."""

SHOWN_LEAVES = 400
"""Maximum number of leaves that a proposer sees, those with the most support."""

EXAMPLES, CHILDREN = 3, 10
"""Numbers of criteria of a node (from different samples, if possible) and of capabilities below a parent that a judge
of merges sees."""

EMBEDDED = 128
"""Maximum number of texts in one embedding call."""

TOO_LARGE = ("unparsable", "truncated", "context_overflow")
"""Kinds of failure that a smaller batch may avoid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthContext(Context):
    """The services of a growth.

    `criteria` are all criteria to be placed, sorted by key; `placed` are those with a place in the extended tree, which
    is kept. `keep` stores a version as the tree's newest, with the report of its phase and the placements of its
    criteria (storing an existing version again changes nothing); `placements` returns the placements of a version.
    `on_progress` is called with a phase, the number of its finished calls, and the total number of its calls.
    """

    criteria: Sequence[TreeCriterion]
    growth: GrowthOptions
    placed: Mapping[str, Placement]
    keep: Callable[[TreeVersion, PhaseReport, Sequence[Placement]], Awaitable[None]]
    placements: Callable[[str], list[Placement]]
    on_progress: Callable[[str, int, int], None]

    async def map_items(self, phase: str, items: Sequence[A], do: Callable[[A], Awaitable[B]]) -> list[B]:
        """Return the result of a function for each item, in order, with bounded concurrency.

        Raises:
            Interrupted: one was interrupted; raised once all that had started have ended.
        """
        results: dict[int, B] = {}
        problems: list[BaseException] = []
        waiting = iter(range(len(items)))

        async def worker() -> None:
            for number in waiting:
                if problems:
                    return
                try:
                    results[number] = await do(items[number])
                except BaseException as problem:
                    problems.append(problem)
                    if isinstance(problem, asyncio.CancelledError):
                        raise
                    return
                self.on_progress(phase, len(results), len(items))

        width = min(max(2 * self.judge.max_concurrency, WIDTH[0]), WIDTH[1], max(1, len(items)))
        self.on_progress(phase, 0, len(items))
        await asyncio.gather(*(worker() for _ in range(width)))
        if problems:
            raise next((problem for problem in problems if not isinstance(problem, Interrupted)), problems[0])
        return [results[number] for number in range(len(items))]


@dataclass(slots=True)
class Tally:
    """Counts of a phase's calls: rejections and failures."""

    calls: int = 0
    n_asked: int = 0
    rejected: int = 0
    rejections: list[Rejection] = field(default_factory=list[Rejection])
    failures: list[FailedBatch] = field(default_factory=list[FailedBatch])

    def reject(self, subject: str, reason: str, call: str | None = "") -> None:
        """Count and record a rejection."""
        self.rejected += 1
        if len(self.rejections) < LISTED:
            self.rejections.append(Rejection(what=subject[:300], reason=reason[:500], call=call or ""))

    def count(self, result: AskResult[Any], size: int) -> None:
        """Count the calls, rejections and failure of one batch."""
        self.calls += result.asks
        self.n_asked += size
        if result.sent_back is not None:
            self.reject("a reply that was sent back", result.sent_back.problem, result.sent_back.call)
        for problem in result.value.problems if result.value else ():
            self.reject("a line of the second reply", problem, result.call)
        if result.failed is not None:
            self.failures.append(FailedBatch(kind=result.failed.kind, reason=result.failed.reason, size=size))


class State(TypedDict, total=False):
    """Ids of tree versions, and the round.

    `version` is the current tree; `base` the version that is extended (empty: the tree starts from its anchors);
    `fitted` the version with new criteria mapped to the leaves of `base`.
    """

    version: str
    base: str
    fitted: str
    round: int


async def fit(state: State, runtime: Runtime[GrowthContext]) -> State:
    """Map unplaced criteria to existing leaves, so that capabilities are proposed only for those that do not fit."""
    version = await _map_to_leaves(runtime.context, state, "fit", runtime.context.placed)
    return {"version": version, "fitted": version}


async def propose(state: State, runtime: Runtime[GrowthContext]) -> State:
    """Ask which capabilities a part of the subsample requires, and merge the proposals.

    In the first round, one batch spread over the whole part is proposed first, so that the others, which run
    concurrently, see its names. In later rounds, all batches see one version.
    """
    context, number = runtime.context, state.get("round", 0) + 1
    tree = await _tree(context, state["version"])
    base = await _tree(context, state["base"]) if state.get("base") else None
    tally = Tally()
    remaining = await _criteria_of_round(context, state, tree, number)
    first = spread(remaining, context.growth.propose_batch) if number == 1 else ()
    first_keys = {criterion.key for criterion in first}
    edits: list[TreeEdit] = []
    placed_count = 0
    for part in (first, [criterion for criterion in remaining if criterion.key not in first_keys]):
        places, new_nodes, by = await all_proposals(context, tree, part, tally)
        reconciled, new_places = reconcile(tree, places, new_nodes, absorbed=_replacements(tree, base))
        for subject, reason in reconciled.refused:
            tally.reject(subject, reason)
        edits += _sign_edits(reconciled.changes, by, by_criteria=True)
        tree, placed_count = reconciled.tree, placed_count + len(new_places)
    unplaced = {"unplaced": len(remaining) - placed_count} if placed_count < len(remaining) else {}
    later: State = {**state, "round": number}
    report = _report("propose", later, tally, added=len(edits), placed=placed_count, unplaced=unplaced)
    return {"version": await _keep(context, tree, state, report, edits), "round": number}


async def merge(state: State, runtime: Runtime[GrowthContext]) -> State:
    """Merge duplicate leaves: first among similar ones, then among all that may be compared.

    The second pass also searches the parents of each category for duplicates.
    """
    context = runtime.context
    tree = await _tree(context, state["version"])
    fixed = await _fixed_nodes(context, state)
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
        merged = unite(tree, groups, vague, fixed=fixed)
        for subject, reason in merged.refused:
            tally.reject(subject, reason)
        edits += _sign_edits(merged.changes, by)
        tree = merged.tree
    kinds = Counter(edit.kind for edit in edits)
    report = _report("merge", state, tally, merged=kinds["merge"], renamed=kinds["rename"], pruned=kinds["prune"])
    return {"version": await _keep(context, tree, state, report, edits)}


async def prune(state: State, runtime: Runtime[GrowthContext]) -> State:
    """Merge leaves with too little support into a sibling (after the last round), and drop parents without leaves."""
    context = runtime.context
    tree = await _tree(context, state["version"])
    last = state.get("round", 1) >= context.growth.rounds
    fixed = await _fixed_nodes(context, state)
    pruned = thin_out(tree, context.growth.min_support if last else 1, fixed=fixed)
    report = _report("prune", state, Tally(), pruned=len(pruned.changes))
    return {"version": await _keep(context, pruned.tree, state, report, pruned.changes)}


async def map_all(state: State, runtime: Runtime[GrowthContext]) -> State:
    """Map every unplaced criterion to exactly one leaf of the final tree."""
    context, placements = runtime.context, dict(runtime.context.placed)
    if state.get("fitted"):
        placements |= {
            placement.criterion: placement for placement in context.placements(state["fitted"]) if placement.leaf
        }
    return {"version": await _map_to_leaves(context, state, "map", placements)}


async def first_step(state: State) -> Literal["fit", "propose"]:
    """Return `fit` if an existing tree is extended, else `propose`."""
    if state.get("base"):
        return "fit"
    return "propose"


async def after_fit(state: State, runtime: Runtime[GrowthContext]) -> Literal["propose", "map"]:
    """Return `propose` if some criteria do not fit, else `map`."""
    if _without_place(runtime.context, state):
        return "propose"
    return "map"


async def after_prune(state: State, runtime: Runtime[GrowthContext]) -> Literal["propose", "map"]:
    """Return `propose` for the remaining rounds, then `map`."""
    if state.get("round", 1) < runtime.context.growth.rounds:
        return "propose"
    return "map"


def build() -> StateGraph[State, GrowthContext]:
    """Return the uncompiled graph."""
    graph = StateGraph(State, context_schema=GrowthContext)
    graph.add_node("fit", fit)
    graph.add_node("propose", propose)
    graph.add_node("merge", merge)
    graph.add_node("prune", prune)
    graph.add_node("map", map_all)
    graph.add_conditional_edges(START, first_step)
    graph.add_conditional_edges("fit", after_fit)
    graph.add_edge("propose", "merge")
    graph.add_edge("merge", "prune")
    graph.add_conditional_edges("prune", after_prune)
    return graph


async def _criteria_of_round(context: GrowthContext, state: State, tree: "Tree", number: int) -> list[TreeCriterion]:
    """Return the unplaced criteria of a round: those in its part of the subsample, and those left by earlier rounds."""
    pool = context.criteria
    if state.get("base"):
        waiting = _without_place(context, state)
        pool = [criterion for criterion in pool if criterion.key in waiting]
    strata = {criterion.sample_id: criterion.stratum for criterion in pool}
    selection = balanced(strata, context.growth.subsample, seed=context.growth.seed)
    parts = [slice_of(selection, part, context.growth.rounds) for part in range(1, number + 1)]
    order = {sample: position for position, sample in enumerate(chain.from_iterable(parts))}
    mapping = leaf_mapping(tree)
    remaining = [criterion for criterion in pool if criterion.sample_id in order and criterion.key not in mapping]
    return sorted(remaining, key=lambda criterion: (order[criterion.sample_id], criterion.key))


async def _map_to_leaves(context: GrowthContext, state: State, phase: Phase, placed: Mapping[str, Placement]) -> str:
    """Map all unplaced criteria to the leaves of the tree, store it, and return its version."""
    tree = await _tree(context, state["version"])
    tally = Tally()
    new = [criterion for criterion in context.criteria if criterion.key not in placed]
    placements = await all_mappings(context, tree, new, tally, phase=phase)
    unplaced = count_unplaced(placements)
    all_placements = sorted([*placed.values(), *placements])
    mapped_tree = assign(
        tree, {placement.criterion: placement.leaf for placement in all_placements if placement.leaf is not None}
    )
    report = _report(phase, state, tally, placed=len(placements) - sum(unplaced.values()), unplaced=unplaced)
    return await _keep(context, mapped_tree, state, report, (), all_placements)


def _without_place(context: GrowthContext, state: State) -> set[str]:
    """Return the criteria that fit no leaf of the extended tree."""
    placements = context.placements(state["fitted"])
    return {placement.criterion for placement in placements if placement.failure == "unplaced"}


async def _alike(context: GrowthContext, tree: "Tree", fixed: set[str], tally: Tally) -> list[tuple[str, ...]]:
    """Return blocks of leaves with similar names or embeddings."""
    from dokimasia.algorithms.trees.synonyms import candidate_synonyms, synonym_blocks

    names = {leaf: place_of(leaf).name for leaf in leaves(tree)}
    vectors: Mapping[str, Sequence[float]] | None = None
    if context.growth.embedding and names:
        by_name = await vectors_of(context, sorted(set(names.values())), tally)
        vectors = None if by_name is None else {leaf: by_name[name] for leaf, name in names.items()}
    pairs = candidate_synonyms(names, vectors=vectors, seed=context.growth.seed)
    return synonym_blocks([pair for pair in pairs if pair.first not in fixed or pair.second not in fixed])


async def _fixed_nodes(context: GrowthContext, state: State) -> set[str]:
    """Return the leaves and parents of the extended tree, which do not change."""
    if not state.get("base"):
        return set()
    base = await _tree(context, state["base"])
    return {*leaves(base), *parents(base)}


def _replacements(tree: "Tree", base: "Tree | None") -> dict[str, str]:
    """Return, for each node that this growth merged, renamed or dropped, the node that replaced it."""
    earlier: set[str] = set()
    if base is not None:
        for node in base:
            earlier.update(base.nodes[node]["absorbed"])
    absorbed: dict[str, str] = {}
    for node in sorted(map(str, tree)):
        absorbed.update((name, node) for name in tree.nodes[node]["absorbed"] if name not in earlier)
    return absorbed


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


def _sign_edits(
    edits: Iterable[TreeEdit], by: Mapping[str, Provenance], *, by_criteria: bool = False
) -> list[TreeEdit]:
    """Return edits with the judge calls behind them; `by` is keyed by node or by criterion."""
    signed: list[TreeEdit] = []
    for edit in edits:
        keys = edit.criteria if by_criteria else (edit.node, edit.node.rpartition("<")[0])
        provenance = next((by[key] for key in keys if key in by), None)
        signed.append(edit.model_copy(update={"provenance": provenance}))
    return signed


def _report(phase: Phase, state: State, tally: Tally, **counts: Any) -> PhaseReport:
    """Return the report of a phase: its calls, rejections and failures, and its own counts."""
    return PhaseReport(
        phase=phase,
        round=state.get("round", 0),
        calls=tally.calls,
        asked=tally.n_asked,
        rejected=tally.rejected,
        rejections=tuple(tally.rejections),
        failures=tuple(tally.failures),
        **counts,
    )


async def _ask_all(
    context: GrowthContext,
    phase: Phase,
    parts: Sequence[Sequence[A]],
    request_for: Callable[[Sequence[A]], Ask[B]],
    tally: Tally,
) -> list[tuple[Sequence[A], B, Provenance]]:
    """Ask about all parts concurrently; return each part that has a usable reply, with value and provenance."""

    async def ask(part: Sequence[A]) -> AskResult[B]:
        return within_budget(await context.ask(request_for(part)))

    usable: list[tuple[Sequence[A], B, Provenance]] = []
    for part, result in zip(parts, await context.map_items(phase, parts, ask), strict=True):
        tally.count(result, len(part))
        if result.value is not None:
            usable.append((part, result.value, result.provenance))
    return usable


async def all_proposals(
    context: GrowthContext, tree: Any, criteria: Sequence[TreeCriterion], tally: Tally
) -> tuple[dict[str, str | Proposal], list[Proposal], dict[str, Provenance]]:
    """Ask for each criterion which capability of the tree it probes, or which is missing; all calls see one version.

    Returns:
        the proposed place of each criterion, the proposed parents, and the provenance of each criterion's place.
    """
    nodes, batches = _shown_nodes(tree), _batches(criteria, context.growth.propose_batch)
    places: dict[str, str | Proposal] = {}
    new_parents: list[Proposal] = []
    by: dict[str, Provenance] = {}
    bottom = deepest(tree)
    replies = await _ask_all(
        context, "propose", batches, lambda batch: propose_capabilities(batch, nodes, deepest=bottom), tally
    )
    for batch, proposed, provenance in replies:
        new_parents += proposed.parents
        for criterion, place in zip(batch, proposed.places, strict=True):
            if place is not None:
                places[criterion.key] = place
                by[criterion.key] = provenance
    return places, new_parents, by


async def all_merges(
    context: GrowthContext, tree: Any, lists: Sequence[Sequence[str]], tally: Tally
) -> tuple[list[tuple[str, ...]], dict[str, str], dict[str, Provenance]]:
    """Have the judge search each list of leaves, or of parents, for duplicates.

    Returns:
        groups of duplicates, vague nodes with the better name that was proposed most often (or an empty name), and the
        provenance of each.
    """
    criteria, criteria_below = {criterion.key: criterion for criterion in context.criteria}, members_below(tree)

    def row(node: str) -> MergeRow:
        members = [criteria[key] for key in criteria_below[node] if key in criteria]
        first_of_sample = {criterion.sample_id: criterion for criterion in reversed(members)}
        members.sort(key=lambda criterion: first_of_sample[criterion.sample_id] is not criterion)
        return MergeRow(
            node,
            max(len(criteria_below[node]), int(tree.nodes[node]["support"])),
            [criterion.text for criterion in members[:EXAMPLES]],
            [place_of(child).name for child in sorted(tree.successors(node))[:CHILDREN]],
        )

    groups: list[tuple[str, ...]] = []
    names: dict[str, Counter[str]] = {}
    by: dict[str, Provenance] = {}
    replies = await _ask_all(context, "merge", lists, lambda block: judge_merges([row(node) for node in block]), tally)
    for block, verdict, provenance in replies:
        merges = verdict.merges
        groups += [tuple(block[number - 1] for number in group) for group in merges.same]
        for number in merges.vague:
            names.setdefault(block[number - 1], Counter())
        for number, name in merges.names:
            names[block[number - 1]][name] += 1
        for number in [*chain.from_iterable(merges.same), *merges.vague]:
            by.setdefault(block[number - 1], provenance)
    vague: dict[str, str] = {}
    for node, counts in names.items():
        ranked = sorted(counts, key=lambda name: (-counts[name], name))
        vague[node] = ranked[0] if ranked else ""
    return groups, vague, by


async def vectors_of(context: GrowthContext, names: Sequence[str], tally: Tally) -> dict[str, tuple[float, ...]] | None:
    """Return an embedding of each name, or None if a call failed (which the tally records).

    Raises:
        CallFailed: the budget is exhausted, or a person has not answered yet.
    """
    model = context.options.spec(context.growth.embedding)
    chunks = _batches(names, EMBEDDED)

    async def embed_chunk(chunk: Sequence[str]) -> list[tuple[float, ...]] | Failed:
        return await embed(chunk, gateway=context.gateway, model=model)

    by_name: dict[str, tuple[float, ...]] = {}
    for chunk, vectors in zip(chunks, await context.map_items("merge", chunks, embed_chunk), strict=True):
        tally.calls += 1
        if isinstance(vectors, Failed):
            raise_open(vectors)
            tally.failures.append(FailedBatch(kind=vectors.kind, reason=vectors.reason, size=len(chunk)))
            continue
        by_name.update(zip(chunk, vectors, strict=True))
    if len(by_name) < len(names):
        return None
    if len({len(vector) for vector in by_name.values()}) == 1:
        return by_name
    reason = "the endpoint's vectors differ in length"
    tally.failures.append(FailedBatch(kind="api_error", reason=reason, size=len(names)))
    return None


async def all_mappings(
    context: GrowthContext, tree: Any, criteria: Sequence[TreeCriterion], tally: Tally, *, phase: str
) -> list[Placement]:
    """Return the placement of each criterion in one leaf of the final tree, or why it has none; sorted by criterion.

    If there are too many leaves for one list, a criterion is mapped to a category first, then to a parent.
    """
    placements: list[Placement] = []
    waiting: dict[str, list[TreeCriterion]] = {ROOT: list(criteria)}
    while waiting:
        work: list[tuple[list[str], Sequence[TreeCriterion]]] = []
        for node in sorted(waiting):
            paths = options_below(tree, node, shown=context.growth.shown)
            if paths:
                work += [(paths, batch) for batch in _batches(waiting[node], context.growth.batch)]
            else:
                for criterion in waiting[node]:
                    placements.append(Placement(criterion.key, None, "unplaced", "the tree has no leaf"))

        async def map_job(
            job: tuple[list[str], Sequence[TreeCriterion]],
        ) -> list[tuple[Sequence[TreeCriterion], AskResult[Mapped]]]:
            return await _map_batch(context, *job)

        waiting = defaultdict(list)
        for parts in await context.map_items(phase, work, map_job):
            for batch, result in parts:
                tally.count(result, len(batch))
                for criterion, placement in zip(batch, _placements(batch, result), strict=True):
                    if placement.leaf is None or placement.leaf.count("<") == deepest(tree):
                        placements.append(placement)
                    else:
                        waiting[placement.leaf].append(criterion)
    return sorted(placements)


async def _map_batch(
    context: GrowthContext, paths: list[str], batch: Sequence[TreeCriterion], *, may_split: bool = True
) -> list[tuple[Sequence[TreeCriterion], AskResult[Mapped]]]:
    """Return the replies for a batch; a batch too large for a usable reply is repeated once, in halves.

    On a retry, a split batch is not sent again, so that the usable replies to its halves are kept.
    """
    request = map_criteria(batch, paths)
    may_split = may_split and len(batch) > 1
    result = within_budget(await context.ask(request, attempt=0 if may_split else None))
    if may_split and result.failed is not None:
        if result.failed.kind in TOO_LARGE:
            middle = len(batch) // 2
            first = await _map_batch(context, paths, batch[:middle], may_split=False)
            second = await _map_batch(context, paths, batch[middle:], may_split=False)
            return [((), result), *first, *second]
        if context.attempt:
            result = within_budget(await context.ask(request))
    return [(batch, result)]


def _placements(batch: Sequence[TreeCriterion], result: AskResult[Mapped]) -> list[Placement]:
    """Return the placement of each criterion of a batch, or why it has none."""
    reply = result.value
    if reply is None:
        failure = result.failure
        call = result.call or ""
        return [Placement(criterion.key, None, failure.kind, failure.reason, call) for criterion in batch]
    provenance = result.provenance
    source = (provenance.call, provenance.model, provenance.prompt, provenance.prompt_version)
    placements: list[Placement] = []
    for number, (criterion, path) in enumerate(zip(batch, reply.paths, strict=True), start=1):
        kind, reason = "", ""
        if path is None and number in reply.none:
            kind, reason = "unplaced", "the judge says that no leaf fits"
        elif path is None:
            problems = [problem for problem in reply.problems if problem.startswith(f"criterion {number}:")]
            reason = "; ".join(problems)[:500] or "the judge's second reply has no line for it that can be used"
            kind = "unparsable"
        placements.append(Placement(criterion.key, path, kind, reason, *source))
    return placements


def _batches(items: Sequence[A], size: int) -> list[Sequence[A]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _shown_nodes(tree: Any) -> list[str]:
    """Return the ids of the nodes that a proposer sees: the anchors in order, each followed by the nodes below it."""
    ranked = sorted(leaves(tree), key=lambda node: (-int(tree.nodes[node]["support"]), node))
    nodes = {*ranked[:SHOWN_LEAVES], *(node for node in tree if 0 < tree.nodes[node]["layer"] < deepest(tree))}
    node_list: list[str] = []
    for category in tree.graph["categories"]:
        anchor = f"<{category}>"
        node_list += [node for node in sorted(nodes) if node == anchor or node.startswith(anchor)]
    return node_list
