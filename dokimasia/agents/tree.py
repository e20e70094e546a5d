"""The roles that grow a capability tree: a judge proposes capabilities, merges equal ones, and maps criteria (ATOM, 3.2).

Each first reply is parsed strictly; the reply to a repair request is parsed leniently: its faults are listed in
`problems`, and the rest is used.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

from dokimasia.agents.asking import Ask
from dokimasia.domain.capability import DEEPEST, Proposal
from dokimasia.domain.growth import TreeCriterion
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.reply import refuse, short
from dokimasia.parsing.trees.merges import Merges, parse_merges
from dokimasia.parsing.trees.proposals import parse_mapping, parse_placements, parse_proposals, said_to_fit_nowhere
from dokimasia.prompts import lines_text

T = TypeVar("T")

SHOWN_EXAMPLE = 160
"""Maximum number of shown characters of an example; criteria, ground truths and questions are shown in full."""


class MergeRow(NamedTuple):
    """A capability, or a parent of capabilities, as a judge of merges sees it.

    Attributes:
        path: its id.
        support: number of criteria it was proposed for.
        examples: some of these criteria.
        below: the names of a parent's capabilities.
    """

    path: str
    support: int
    examples: Sequence[str] = ()
    below: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Proposed:
    """A reply's entry for each criterion, in order (a leaf, a proposal, or None), and what was not used of it.

    `parents` are the proposed parents; `problems` are the faults of a leniently parsed reply, in words.
    """

    places: tuple[str | Proposal | None, ...]
    parents: tuple[Proposal, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupingReply:
    """A reply's groups and vague entries of a list, by number from 1, and what was not used of it."""

    merges: Merges
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mapped:
    """The path of each criterion, in order, or None; `none` are the numbers (from 1) that fit nowhere.

    A criterion that is neither placed nor among `none` had no usable line; `problems` say why.
    """

    paths: tuple[str | None, ...]
    none: frozenset[int]
    problems: tuple[str, ...] = ()


def propose_capabilities(
    criteria: Sequence[TreeCriterion], nodes: Sequence[str], *, deepest: int = DEEPEST
) -> Ask[Proposed]:
    """Ask a judge to reuse a capability of the tree for each criterion, or to propose a new one (ATOM, E.3).

    Args:
        criteria: at least one.
        nodes: the ids of the shown nodes of the tree (categories, parents and capabilities), in order.
        deepest: the layer of reusable nodes.
    """
    return Ask(
        "tree_propose",
        {"tree": "\n".join(nodes), "criteria": criteria_lines(criteria)},
        shown=("tree", "criteria"),
        parse=partial(read_proposed, expected=len(criteria), nodes=nodes, deepest=deepest, strict=True),
        parse_again=partial(read_proposed, expected=len(criteria), nodes=nodes, deepest=deepest, strict=False),
    )


def judge_merges(rows: Sequence[MergeRow]) -> Ask[GroupingReply]:
    """Ask a judge which capabilities, or parents of capabilities, are the same, and which are vague."""
    return Ask(
        "tree_merge",
        {"capabilities": capability_lines(rows)},
        shown=("capabilities",),
        parse=partial(_read_merges, expected=len(rows), strict=True),
        parse_again=partial(_read_merges, expected=len(rows), strict=False),
        form="same: <number>, <number>\nvague: <number> | <better name>\nvague: <number>",
    )


def map_criteria(criteria: Sequence[TreeCriterion], paths: Sequence[str]) -> Ask[Mapped]:
    """Ask a judge to assign each criterion to one path of a fixed list, or to none.

    Args:
        criteria: at least one.
        paths: leaves or, in a big tree, first categories or parents, one of which is then descended into.
    """
    return Ask(
        "tree_map",
        {"paths": "\n".join(paths), "criteria": criteria_lines(criteria)},
        shown=("paths", "criteria"),
        parse=partial(_read_mapping, expected=len(criteria), paths=paths, strict=True),
        parse_again=partial(_read_mapping, expected=len(criteria), paths=paths, strict=False),
    )


def criteria_lines(criteria: Sequence[TreeCriterion]) -> str:
    """Return criteria as a JSON array, one object per line, numbered from 1: `n`, `criterion`, and other known fields.

    `ground_truth` is omitted if there is none, and `question` (the sample's) if it is the same as in the previous row.
    All are shown in full.
    """
    rows: list[dict[str, object]] = []
    before = ""
    for number, criterion in enumerate(criteria, start=1):
        row: dict[str, object] = {"n": number, "criterion": criterion.text}
        if criterion.ground_truth:
            row["ground_truth"] = criterion.ground_truth
        if criterion.question != before:
            row["question"] = before = criterion.question
        rows.append(row)
    return lines_text(rows)


def capability_lines(rows: Iterable[MergeRow]) -> str:
    """Return capabilities as a JSON array, one object per line, numbered from 1: `n`, and non-empty fields of `Row`."""
    shown: list[dict[str, object]] = []
    for number, merge_row in enumerate(rows, start=1):
        row: dict[str, object] = {"n": number, "path": merge_row.path, "support": merge_row.support}
        if merge_row.below:
            row["below"] = list(merge_row.below)
        if merge_row.examples:
            row["examples"] = [short(each, SHOWN_EXAMPLE) for each in merge_row.examples]
        shown.append(row)
    return lines_text(shown)


def read_proposed(
    text: str, expected: int, nodes: Collection[str], *, deepest: int = DEEPEST, strict: bool
) -> Proposed:
    """Return a reply's entries for the criteria; see `propose_capabilities`.

    Raises:
        UnparsableReply: nothing in it is usable, or (if strict) it has any fault.
    """
    leaves = [node for node in nodes if node.count("<") == deepest]
    places, wrongs = _read(partial(parse_placements, text, expected, leaves), strict=False)
    problems = dict.fromkeys(wrongs)
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
    entries: list[str | Proposal | None] = []
    for position in places:
        wrong = _wrong(position, known) if isinstance(position, Proposal) else None
        if wrong:
            problems[wrong] = None
        entries.append(None if wrong else position)
    if strict:
        refuse(problems)
    return Proposed(tuple(entries), tuple(parents.values()), tuple(problems))


def _wrong(proposal: Proposal, known: Collection[str]) -> str | None:
    """Return why a proposal is unusable, whatever else the tree contains; None if it is usable."""
    under = proposal.under
    if f"<{under.category}>".casefold() not in known:
        return f"{proposal}: <{under.category}> is none of the fixed categories"
    if under.key not in known:
        return f"{proposal}: there is no parent {under}, it has to be proposed first"
    if proposal.name.casefold() in {name.casefold() for name in under.names}:
        return f"{proposal}: a node cannot bear the name of one above it"
    return None


def _read_merges(text: str, expected: int, *, strict: bool) -> GroupingReply:
    return GroupingReply(*_read(partial(parse_merges, text, expected), strict=strict))


def _read_mapping(text: str, expected: int, paths: Sequence[str], *, strict: bool) -> Mapped:
    mapping, problems = _read(partial(parse_mapping, text, expected, paths), strict=strict)
    none = said_to_fit_nowhere(text, expected) if None in mapping else frozenset[int]()
    return Mapped(mapping, none, problems)


def _read(parse: Callable[..., T], *, strict: bool) -> tuple[T, tuple[str, ...]]:
    """Return a parser's value and its faults, for which a strict reading raises."""
    try:
        return parse(strict=True), ()
    except UnparsableReply as problem:
        if strict:
            raise
        return parse(strict=False), tuple(problem.reason.split("; "))
