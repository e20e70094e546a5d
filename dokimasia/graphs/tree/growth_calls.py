"""The calls of a growth's phases: batches to the judge side by side, gathered so that the order of arrival cannot matter."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from dokimasia.agents import Ask, AskResult
from dokimasia.agents.asking import embed
from dokimasia.agents.tree import Mapped, MergeRow, judge_merges, map_criteria, propose_capabilities
from dokimasia.algorithms.taxonomy import deepest, leaves
from dokimasia.algorithms.trees.growth import options_below
from dokimasia.algorithms.trees.places import members_below, place_of
from dokimasia.domain.capability import ROOT, Proposal
from dokimasia.domain.growth import FailedBatch, Phase, Placement, Rejection, TreeCriterion
from dokimasia.domain.judgement import Failed, Provenance
from dokimasia.graphs.reasking import raise_open, within_budget
from dokimasia.graphs.tree.growth_context import A, B, GrowthContext

LISTED = 200
"""Rejections that a report holds; all are counted."""

SHOWN_LEAVES = 400
"""Leaves of a tree that a proposer is shown; of more, those with most support."""

EXAMPLES, BELOW = 3, 10
"""Criteria of a node, of several samples where it has any, and capabilities below a parent, that a merger is shown."""

EMBEDDED = 128
"""Texts that one embedding call takes."""

DEEP = ("unparsable", "truncated", "context_overflow")
"""Kinds of failure that a smaller batch may not have."""


@dataclass(slots=True)
class Tally:
    """What a phase's calls came to, beside their results."""

    calls: int = 0
    asked: int = 0
    rejected: int = 0
    rejections: list[Rejection] = field(default_factory=list[Rejection])
    failures: list[FailedBatch] = field(default_factory=list[FailedBatch])

    def reject(self, what: str, reason: str, call: str | None = "") -> None:
        """Count and record something that was not taken up."""
        self.rejected += 1
        if len(self.rejections) < LISTED:
            self.rejections.append(Rejection(what=what[:300], reason=reason[:500], call=call or ""))

    def hear(self, heard: AskResult[Any], size: int) -> None:
        """Take in what became of one batch."""
        self.calls += heard.asks
        self.asked += size
        if heard.sent_back is not None:
            self.reject("a reply that was sent back", heard.sent_back.problem, heard.sent_back.call)
        for problem in heard.value.problems if heard.value else ():
            self.reject("a line of the second reply", problem, heard.call)
        if heard.failed is not None:
            self.failures.append(FailedBatch(kind=heard.failed.kind, reason=heard.failed.reason, size=size))


async def _all(
    context: GrowthContext,
    phase: Phase,
    parts: Sequence[Sequence[A]],
    what: Callable[[Sequence[A]], Ask[B]],
    tally: Tally,
) -> list[tuple[Sequence[A], B, Provenance]]:
    """Ask about all parts side by side; return those that brought something, each with that and whose word it is."""

    async def one(part: Sequence[A]) -> AskResult[B]:
        return within_budget(await context.ask(what(part)))

    brought: list[tuple[Sequence[A], B, Provenance]] = []
    for part, heard in zip(parts, await context.each(phase, parts, one), strict=True):
        tally.hear(heard, len(part))
        if heard.value is not None and heard.provenance is not None:
            brought.append((part, heard.value, heard.provenance))
    return brought


async def all_proposals(
    context: GrowthContext, tree: Any, criteria: Sequence[TreeCriterion], tally: Tally
) -> tuple[dict[str, str | Proposal], list[Proposal], dict[str, Provenance]]:
    """Ask for each criterion which capability of the tree it probes, or which is missing; all against one version.

    Returns:
        where replies would put criteria, the parents that they propose, and whose word each criterion's place is.
    """
    nodes, batches = _shown_nodes(tree), _batches(criteria, context.growth.propose_batch)
    places: dict[str, str | Proposal] = {}
    parents: list[Proposal] = []
    by: dict[str, Provenance] = {}
    bottom = deepest(tree)
    asked = await _all(
        context, "propose", batches, lambda batch: propose_capabilities(batch, nodes, deepest=bottom), tally
    )
    for batch, said, whose in asked:
        parents += said.parents
        placed = {one.key: place for one, place in zip(batch, said.places, strict=True) if place is not None}
        places |= placed
        by |= dict.fromkeys(placed, whose)
    return places, parents, by


async def all_merges(
    context: GrowthContext, tree: Any, lists: Sequence[Sequence[str]], tally: Tally
) -> tuple[list[tuple[str, ...]], dict[str, str], dict[str, Provenance]]:
    """Have each list of leaves, or of parents, looked through for equals.

    Returns:
        groups that are said to be the same, those said to be vague with the better name that was given most often (or
        none), and whose word that is of each.
    """
    known, held = {criterion.key: criterion for criterion in context.criteria}, members_below(tree)

    def row(node: str) -> MergeRow:
        members = [known[key] for key in held[node] if key in known]
        first = {one.sample_id: one for one in reversed(members)}
        members.sort(key=lambda one: first[one.sample_id] is not one)
        return MergeRow(
            node,
            max(len(held[node]), int(tree.nodes[node]["support"])),
            [one.text for one in members[:EXAMPLES]],
            [place_of(child).name for child in sorted(tree.successors(node))[:BELOW]],
        )

    groups: list[tuple[str, ...]] = []
    names: dict[str, Counter[str]] = {}
    by: dict[str, Provenance] = {}
    asked = await _all(context, "merge", lists, lambda block: judge_merges([row(node) for node in block]), tally)
    for block, said, whose in asked:
        groups += [tuple(block[number - 1] for number in group) for group in said.merges.same]
        for number in said.merges.vague:
            names.setdefault(block[number - 1], Counter())
        for number, name in said.merges.names:
            names[block[number - 1]][name] += 1
        for number in [*chain.from_iterable(said.merges.same), *said.merges.vague]:
            by.setdefault(block[number - 1], whose)
    vague = {node: min(given, key=lambda name: (-given[name], name), default="") for node, given in names.items()}
    return groups, vague, by


async def vectors_of(context: GrowthContext, names: Sequence[str], tally: Tally) -> dict[str, tuple[float, ...]] | None:
    """Return an embedding of each name, or None where a call brought none (which the tally then says).

    Raises:
        CallFailed: the budget is used up, or a person has not answered yet.
    """
    model = context.options.spec(context.growth.embedding)
    chunks = _batches(names, EMBEDDED)

    async def one(chunk: Sequence[str]) -> list[tuple[float, ...]] | Failed:
        return await embed(chunk, gateway=context.gateway, model=model)

    found: dict[str, tuple[float, ...]] = {}
    for chunk, vectors in zip(chunks, await context.each("merge", chunks, one), strict=True):
        tally.calls += 1
        if isinstance(vectors, Failed):
            raise_open(vectors)
            tally.failures.append(FailedBatch(kind=vectors.kind, reason=vectors.reason, size=len(chunk)))
            continue
        found.update(zip(chunk, vectors, strict=True))
    if len(found) < len(names):
        return None
    if len({len(vector) for vector in found.values()}) == 1:
        return found
    reason = "the endpoint's vectors differ in length"
    tally.failures.append(FailedBatch(kind="api_error", reason=reason, size=len(names)))
    return None


async def all_mappings(
    context: GrowthContext, tree: Any, criteria: Sequence[TreeCriterion], tally: Tally, *, phase: str
) -> list[Placement]:
    """Place each criterion in exactly one leaf of the fixed tree, or say why it has none; sorted by criterion.

    Where leaves are too many for one list, a criterion is first placed among categories, then among parents.
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
                placements += [Placement(one.key, None, "unplaced", "the tree has no leaf") for one in waiting[node]]

        async def one(
            job: tuple[list[str], Sequence[TreeCriterion]],
        ) -> list[tuple[Sequence[TreeCriterion], AskResult[Mapped]]]:
            return await _mapped(context, *job)

        waiting = defaultdict(list)
        for parts in await context.each(phase, work, one):
            for batch, heard in parts:
                tally.hear(heard, len(batch))
                for criterion, placement in zip(batch, _placements(batch, heard), strict=True):
                    if placement.leaf is None or placement.leaf.count("<") == deepest(tree):
                        placements.append(placement)
                    else:
                        waiting[placement.leaf].append(criterion)
    return sorted(placements)


async def _mapped(
    context: GrowthContext, paths: list[str], batch: Sequence[TreeCriterion], *, whole: bool = True
) -> list[tuple[Sequence[TreeCriterion], AskResult[Mapped]]]:
    """Map a batch; one whose reply is of no use is asked for again in halves, once.

    On a retry the batch is not drawn anew where halves took its place: those that were good stay.
    """
    what = map_criteria(batch, paths)
    whole = whole and len(batch) > 1
    heard = within_budget(await context.ask(what, attempt=0 if whole else None))
    if whole and heard.failed is not None and heard.failed.kind in DEEP:
        middle = len(batch) // 2
        return [
            ((), heard),
            *await _mapped(context, paths, batch[:middle], whole=False),
            *await _mapped(context, paths, batch[middle:], whole=False),
        ]
    if whole and heard.failed is not None and context.attempt:
        heard = within_budget(await context.ask(what))
    return [(batch, heard)]


def _placements(batch: Sequence[TreeCriterion], heard: AskResult[Mapped]) -> list[Placement]:
    """Return what a reply says of each criterion of its batch."""
    if heard.value is None or heard.provenance is None:
        failed = heard.failure
        return [Placement(one.key, None, failed.kind, failed.reason, heard.call or "") for one in batch]
    whose = heard.provenance
    source = (whose.call, whose.model, whose.prompt, whose.prompt_version)
    placements: list[Placement] = []
    for number, (criterion, path) in enumerate(zip(batch, heard.value.paths, strict=True), start=1):
        kind, reason = "", ""
        if path is None and number in heard.value.none:
            kind, reason = "unplaced", "the judge says that no leaf fits"
        elif path is None:
            named = [one for one in heard.value.problems if one.startswith(f"criterion {number}:")]
            reason = "; ".join(named)[:500] or "the judge's second reply has no line for it that can be used"
            kind = "unparsable"
        placements.append(Placement(criterion.key, path, kind, reason, *source))
    return placements


def _batches(items: Sequence[A], size: int) -> list[Sequence[A]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def _shown_nodes(tree: Any) -> list[str]:
    """Return the ids of the nodes that a proposer sees: the anchors in their order, each with what is below it."""
    ranked = sorted(leaves(tree), key=lambda node: (-int(tree.nodes[node]["support"]), node))
    kept = {*ranked[:SHOWN_LEAVES], *(node for node in tree if 0 < tree.nodes[node]["layer"] < deepest(tree))}
    anchors = [f"<{name}>" for name in tree.graph["categories"]]
    return [node for anchor in anchors for node in sorted(kept) if node == anchor or node.startswith(anchor)]
