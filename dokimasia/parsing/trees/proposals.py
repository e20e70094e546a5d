"""Proposals for a capability tree, `<ADD,path,name>`, and the leaf of each criterion (ATOM, E.3)."""

import re
from collections.abc import Collection, Iterator

from dokimasia.domain.capability import CapabilityPath, Proposal, plain_name
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.grammar import form
from dokimasia.parsing.own import own
from dokimasia.parsing.reply import DECORATION, NAMED, lines_with, listed, matches, path_key, refuse, short
from dokimasia.parsing.tags import without

EXAMPLE = FormExample(
    """<analysis>
Criterion 41 asks to read a tide gauge. No parent of the tree covers instruments at sea, so a new one is needed, and 42 \
belongs to the same capability. Counting covers 43. Criterion 44 only repeats the question.
</analysis>
<ADD,<Perception>,Nautical Instruments>
41 | <ADD,<Perception><Nautical Instruments>,Reading Tide Gauges>
42 | <ADD,<Perception><Nautical Instruments>,Reading Tide Gauges>
43 | <Perception><Counting><Counting Moored Boats>
44 | none"""
)
"""The reply shown by the prompt, whose proposals are never accepted."""

_EXAMPLE_PARENT = "<perception><nautical instruments>"

MAX_PROPOSALS = 50
"""The maximum number of different proposals in one reply."""

MAX_WORDS = 8
"""The maximum number of words of a proposed name; a longer one is a sentence."""

_PLACEHOLDERS = frozenset(
    f"{new}{word}" for new in ("", "new ", "better ") for word in ("name", "parent", "capability")
)
"""Placeholders for a name in the forms of the prompts."""


_PATH = r"(?:<[^<>\n]{1,200}>\s{0,4}){1,9}"
_ADD = form(r"<~ADD~,")
_ADDITION = form(
    rf"<~ADD~,~\[?~({_PATH}|[^<,\n\]]{{1,400}})~\]?~,"
    r"~([^<>\n]{0,400}|<[^<>\n]{0,400}>)~>"
)
_BULLETS = " \t\r|#\u2022\u00b7\u2013\u2014-+"
_NUMBERED = form(r"[0-9][^\n<]{0,12}<|[0-9][^\n]{0,12}\bnone\b")
_LINE = form(r"(?:(?:criterion|no\.?)~)?\(?([0-9]{1,6})\)?(?![0-9])[\s|:.)\-=\u2013\u2014>]{0,12}(.*)")
_LEAF = re.compile(rf"({_PATH})(.*)", re.ASCII)
_NONE = form(r"<?~none~>?[.\s]{0,4}")


def parse_proposals(text: str, *, strict: bool = True) -> tuple[Proposal, ...]:
    """Return the proposals of a reply, each once, in order; there may be none.

    A path is written in angle brackets (`<ADD,<Perception><Counting>,Selective Counting>`) or as names with `>` between
    them, with or without the root. Square brackets around path and name are ignored. Proposals count anywhere in the reply
    except in a block of thought or `<analysis>`.

    Args:
        text: the judge's reply.
        strict: whether one invalid proposal makes the reply unusable; otherwise it is left out.

    Raises:
        UnparsableReply: more than 1,000 places look like proposals, more than 50 differ, or (strict) one is malformed,
            too deep, or has a sentence for a name. The reason names the faults.
    """
    reply = without(own(text), "analysis")
    proposals: dict[Proposal, None] = {}
    problems: dict[str, None] = {}
    for start in matches(_ADD, reply):
        try:
            proposal = _proposal(reply, start.start())
        except ValueError as problem:
            problems[str(problem)] = None
            continue
        if proposal.path.key.startswith(_EXAMPLE_PARENT):
            problems[f"{short(str(proposal), 120)} is that of the example, which is about another matter"] = None
        else:
            proposals[proposal] = None
    if len(proposals) > MAX_PROPOSALS:
        raise UnparsableReply(f"there are {len(proposals)} different proposals, more than {MAX_PROPOSALS}")
    if strict:
        refuse(problems)
    return tuple(proposals)


def parse_mapping(text: str, expected: int, leaves: Collection[str], *, strict: bool = True) -> tuple[str | None, ...]:
    """Return the leaf of each criterion, in the order of the criteria; None if no leaf fits according to the judge.

    A line `N | <A><B><C>` places the criterion with the number N, counted from 1; `N | none` leaves it unplaced. Case
    and white space in paths are ignored.

    Args:
        text: the judge's reply.
        expected: the number of criteria.
        leaves: the ids of the fixed set of leaves.
        strict: whether one invalid line makes the reply unusable; otherwise its criterion is unplaced.

    Returns:
        Ids in the spelling of `leaves`.

    Raises:
        UnparsableReply: there is no line for any criterion, or (strict) a criterion is missing, placed in two leaves, or in
            a leaf outside the set. The reason names all faults, so that it can be sent back.
        ValueError: `expected` is less than 1.
    """
    placed = _placed(text, expected, leaves, additions=False, strict=strict)
    return tuple(None if isinstance(place, Proposal) else place for place in placed)


def parse_placements(
    text: str, expected: int, leaves: Collection[str], *, strict: bool = True
) -> tuple[str | Proposal | None, ...]:
    """Return for each criterion the leaf that it reuses, the node that is proposed for it, or None.

    As `parse_mapping`, with a third kind of line: `N | <ADD,path,name>`. A line may also name a leaf that the same
    reply proposes for another criterion; the result is then that proposal.

    Raises:
        UnparsableReply: as `parse_mapping` and `parse_proposals`.
        ValueError: no criterion is expected.
    """
    return _placed(text, expected, leaves, additions=True, strict=strict)


def capability_name(text: str) -> str:
    """Return the canonical spelling of a node's name in a reply.

    Raises:
        ValueError: it is empty, a sentence, or a placeholder of the form.
    """
    name = plain_name(text.strip(" \t\"'<>[].\u201c\u201d"))
    if name.casefold() in _PLACEHOLDERS:
        raise ValueError(f"'{short(name)}' only stands for a name in the form: put the name itself there")
    if len(name.split()) > MAX_WORDS:
        raise ValueError(f"'{short(name)}' is a sentence: a capability's name has at most {MAX_WORDS} words")
    return name


def said_to_fit_nowhere(text: str, expected: int) -> frozenset[int]:
    """Return the numbers of the criteria, from 1, for which a reply says only `none`.

    This distinguishes criteria that a judge cannot place from those whose line is unusable, which lenient parsing does not.

    Raises:
        UnparsableReply: the text is too long, or more than 1,000 of its lines look like placements.
    """
    none: set[int] = set()
    other: set[int] = set()
    for number, rest in _numbered(without(own(text), "analysis")):
        (none if _NONE.fullmatch(rest) else other).add(number)
    return frozenset(number for number in none - other if 1 <= number <= expected)


def _placed(
    text: str, expected: int, leaves: Collection[str], *, additions: bool, strict: bool
) -> tuple[str | Proposal | None, ...]:
    if expected < 1:
        raise ValueError("at least one criterion is expected")
    reply = without(own(text), "analysis")
    known: dict[str, str | Proposal] = {path_key(leaf): leaf for leaf in leaves}
    if additions:
        for proposal in parse_proposals(text, strict=strict):
            if proposal.under.layer == 2:
                known.setdefault(proposal.path.key, proposal)
    places: dict[int, str | Proposal | None] = {}
    problems: dict[str, None] = {}
    mentioned: set[int] = set()
    for number, rest in _numbered(reply):
        mentioned.add(number)
        try:
            if not 1 <= number <= expected:
                raise ValueError(f"there is a line for criterion {number}, but the criteria are 1 to {expected}")
            place = _place(rest, number, known, additions=additions)
            if number in places and places[number] != place:
                places[number] = None
                raise ValueError(f"criterion {number} is placed more than once, differently")
            places[number] = place
        except ValueError as problem:
            problems[str(problem)] = None
    if not places:
        no_line = "no line of the form 'N | <category><parent><capability>' places a criterion"
        raise UnparsableReply("; ".join([no_line, *list(problems)[:NAMED]]))
    missing = [number for number in range(1, expected + 1) if number not in mentioned]
    if missing:
        problems[f"there is no line for criterion {listed(missing)}"] = None
    if strict:
        refuse(problems)
    return tuple(places.get(number) for number in range(1, expected + 1))


def _numbered(reply: str) -> Iterator[tuple[int, str]]:
    for line in lines_with(_NUMBERED, reply):
        match = _LINE.fullmatch(line.translate(DECORATION).strip(_BULLETS))
        if match is not None:
            yield int(match[1]), match[2]


def _place(rest: str, number: int, known: dict[str, str | Proposal], *, additions: bool) -> str | Proposal | None:
    """Return the place that a line gives after its number."""
    if _NONE.fullmatch(rest):
        return None
    if _ADD.match(rest):
        if not additions:
            raise ValueError(f"criterion {number}: the set of leaves is fixed, nothing can be added")
        proposal = _proposal(rest, 0)
        if proposal.under.layer != 2:
            raise ValueError(f"criterion {number}: a criterion belongs to a capability, not to a parent: {proposal}")
        known_place = known.get(proposal.path.key)
        if known_place is None:
            return proposal
        return known_place
    match = _LEAF.match(rest)
    if match is None:
        raise ValueError(f"criterion {number}: '{short(rest)}' is no path of a leaf")
    path, after = match.groups()
    if _LEAF.search(after):
        raise ValueError(f"criterion {number}: more than one leaf stands on its line")
    leaf = known.get(path_key(path))
    if leaf is None:
        raise ValueError(f"criterion {number}: {short(path, 90)} is no leaf of the tree")
    return leaf


def _proposal(text: str, at: int) -> Proposal:
    """Return the proposal that begins at a place of the text."""
    match = _ADDITION.match(text, at)
    if match is None:
        raise ValueError(f"'{short(text[at : at + 200])}' is no proposal of the form <ADD,path,name>")
    written, name = match.groups()
    written = written.strip()
    if not written.startswith("<"):
        names = [name.strip() for name in written.split(">")]
        names = names[1:] if len(names) > 1 and names[0].casefold() == "root" else names
        written = "".join(f"<{name}>" for name in names)
    elif path_key(written).startswith("<root>"):
        written = written[written.index(">") + 1 :].strip()
    proposal = Proposal(under=CapabilityPath.parse(written), name=capability_name(name))
    if proposal.under.is_leaf:
        raise ValueError(f"{short(str(proposal), 120)} lies a layer too deep: capabilities have no children")
    return proposal
