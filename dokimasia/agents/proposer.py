"""The proposer: a judge that reuses a capability of the tree for each criterion, or proposes a new one (ATOM, E.3)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.agents.tree_texts import criteria_lines
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.capability import Proposal
from dokimasia.domain.growth import TreeCriterion
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.proposals import parse_placements, parse_proposals
from dokimasia.prompts import PromptLibrary

PROMPT = "tree_propose"


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a reply says of each criterion, in order: a leaf, a proposal, or None; and what of it was not taken up.

    `parents` are the parents that it proposes; `problems` are in words, of a reply that was read leniently.
    """

    places: tuple[str | Proposal | None, ...]
    parents: tuple[Proposal, ...] = ()
    problems: tuple[str, ...] = ()


async def propose_capabilities(
    criteria: Sequence[TreeCriterion],
    *,
    nodes: Sequence[str],
    gateway: Gateway,
    judge: ModelSpec,
    repeat: int = 0,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Proposed]:
    """Return where the judge would put each criterion in a tree.

    The first reply is read strictly and comes back as `rejected` if anything is wrong with it; the one that answers the
    re-ask is read leniently: what is wrong in it is named in `problems`, and the rest is taken.

    Args:
        criteria: at least one.
        nodes: the ids of the tree's nodes that are shown (categories, parents and capabilities), in order.
        gateway: the way to the model.
        judge: the judge and how it is sampled.
        repeat: which independent draw.
        rejected: the earlier reply to send back.
        library: prompts that replace the package's own.
    """
    return await ask_judge(
        PROMPT,
        {"tree": "\n".join(nodes), "criteria": criteria_lines(criteria)},
        parse=lambda text: read_proposed(text, len(criteria), nodes, strict=rejected is None),
        shown=("tree", "criteria"),
        gateway=gateway,
        judge=judge,
        repeat=repeat,
        rejected=rejected,
        library=library,
    )


def read_proposed(text: str, expected: int, nodes: Collection[str], *, strict: bool) -> Proposed:
    """Return what a reply says of each criterion; see `propose_capabilities`.

    Raises:
        UnparsableReply: nothing can be taken from it, or (strict) anything is wrong with it.
    """
    leaves = [node for node in nodes if node.count("<") == 3]
    problems: dict[str, None] = {}
    try:
        places = parse_placements(text, expected, leaves)
    except UnparsableReply as problem:
        if strict:
            raise
        problems = dict.fromkeys(problem.reason.split("; "))
        places = parse_placements(text, expected, leaves, strict=False)
    known = {node.casefold() for node in nodes}
    parents: dict[str, Proposal] = {}
    for proposal in parse_proposals(text, strict=False):
        if proposal.under.layer != 1:
            continue
        wrong = _wrong(proposal, known)
        if wrong:
            problems[wrong] = None
        else:
            parents.setdefault(proposal.path.key, proposal)
    known |= set(parents)
    kept: list[str | Proposal | None] = []
    for place in places:
        wrong = _wrong(place, known) if isinstance(place, Proposal) else None
        if wrong:
            problems[wrong] = None
        kept.append(None if wrong else place)
    if strict and problems:
        raise UnparsableReply("; ".join(list(problems)[:10]))
    return Proposed(tuple(kept), tuple(parents.values()), tuple(problems))


def _wrong(proposal: Proposal, known: Collection[str]) -> str | None:
    """Say why a proposal cannot be taken up, whatever else the tree holds; None if it can."""
    under = proposal.under
    if f"<{under.category}>".casefold() not in known:
        return f"{proposal}: <{under.category}> is none of the fixed categories"
    if under.key not in known:
        return f"{proposal}: there is no parent {under}, it has to be proposed first"
    if proposal.name.casefold() in {name.casefold() for name in under.names}:
        return f"{proposal}: a node cannot bear the name of one above it"
    return None
