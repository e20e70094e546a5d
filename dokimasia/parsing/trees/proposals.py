"""A judge's words on the tree: proposals `<ADD,path,name>`, and which leaf each criterion belongs to (ATOM, E.3)."""

import re
from collections.abc import Collection, Iterator

from dokimasia.domain.capability import CapabilityPath, Proposal, plain_name
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import form
from dokimasia.parsing.own import own
from dokimasia.parsing.reply import DECORATION, NAMED, lines_with, listed, matches, path_key, refuse, short
from dokimasia.parsing.tags import without

MAX_PROPOSALS = 50
"""Different proposals in one reply; a judge that makes more has lost its way."""

MAX_WORDS = 8
"""Words of a proposed name; a longer one is a sentence."""

_PLACEHOLDERS = frozenset(
    f"{new}{word}" for new in ("", "new ", "better ") for word in ("name", "parent", "capability")
)
"""Words that stand for a name in the forms of the prompts."""


_PATH = r"(?:<[^<>\n]{1,200}>\s{0,4}){1,9}"
_ADD = form(r"<~ADD~,")
_ADDITION = form(
    rf"<~ADD~,~\[?~(?P<path>{_PATH}|[^<,\n\]]{{1,400}})~\]?~,"
    r"~(?P<name>[^<>\n]{0,400}|<[^<>\n]{0,400}>)~>"
)
_BULLETS = " \t\r|#\u2022\u00b7\u2013\u2014-+"
_NUMBERED = form(r"[0-9][^\n<]{0,12}<|[0-9][^\n]{0,12}\bnone\b")
_LINE = form(
    r"(?:(?:criterion|no\.?)~)?\(?(?P<number>[0-9]{1,6})\)?(?![0-9])[\s|:.)\-=\u2013\u2014>]{0,12}(?P<rest>.*)"
)
_LEAF = re.compile(rf"(?P<path>{_PATH})(?P<after>.*)", re.ASCII)
_NONE = form(r"<?~none~>?[.\s]{0,4}")


def parse_proposals(text: str, *, strict: bool = True) -> tuple[Proposal, ...]:
    """Return the proposals of a reply, each once, in order; a reply without any proposes nothing.

    The path stands in angle brackets (`<ADD,<Perception><Counting>,Selective Counting>`) or as names with `>` between
    them, with or without the root. Square brackets around path and name are overlooked. A proposal is one wherever it
    stands, but not in a block of thought or of `<analysis>`.

    Args:
        text: the judge's reply.
        strict: whether one wrong proposal spoils the reply; else it is left out.

    Raises:
        UnparsableReply: more than 1,000 places look like proposals, more than 50 differ, or (strict) one is malformed,
            lies too deep, or has a sentence for a name. The reason names what is wrong.
    """
    reply = without(own(text), "analysis")
    found: dict[Proposal, None] = {}
    problems: dict[str, None] = {}
    for start in matches(_ADD, reply):
        try:
            found[_proposal(reply, start.start())] = None
        except ValueError as problem:
            problems[str(problem)] = None
    if len(found) > MAX_PROPOSALS:
        raise UnparsableReply(f"there are {len(found)} different proposals, more than {MAX_PROPOSALS}")
    if strict:
        refuse(problems)
    return tuple(found)


def parse_mapping(text: str, expected: int, leaves: Collection[str], *, strict: bool = True) -> tuple[str | None, ...]:
    """Return the leaf of each criterion, in the order of the criteria; None where the judge says that none fits.

    A line `N | <A><B><C>` places the criterion with the number N, counted from 1; `N | none` leaves it unplaced. Case
    and spaces do not tell leaves apart.

    Args:
        text: the judge's reply.
        expected: how many criteria were asked for.
        leaves: the ids of the fixed set of leaves.
        strict: whether one wrong line spoils the reply; else its criterion is unplaced.

    Returns:
        Ids as they stand in `leaves`.

    Raises:
        UnparsableReply: no criterion is placed or said to fit nowhere, or (strict) one is missing, placed twice
            differently, or in no leaf of the set. The reason names all that is wrong, so that it can be sent back.
        ValueError: no criterion is expected.
    """
    placed = _placed(text, expected, leaves, additions=False, strict=strict)
    return tuple(None if isinstance(place, Proposal) else place for place in placed)


def parse_placements(
    text: str, expected: int, leaves: Collection[str], *, strict: bool = True
) -> tuple[str | Proposal | None, ...]:
    """Return for each criterion the leaf that it reuses, the node that is proposed for it, or None.

    As `parse_mapping`, with a third kind of line: `N | <ADD,path,name>`. A line may also name a leaf that the same
    reply proposes for another criterion; it comes back as that proposal.

    Raises:
        UnparsableReply: as `parse_mapping` and `parse_proposals`.
        ValueError: no criterion is expected.
    """
    return _placed(text, expected, leaves, additions=True, strict=strict)


def capability_name(text: str) -> str:
    """Return a name that a reply gives to a node, in its one spelling.

    Raises:
        ValueError: it is empty, a sentence, or the word that stands for a name in the form.
    """
    name = plain_name(text.strip(" \t\"'<>[].\u201c\u201d"))
    if name.casefold() in _PLACEHOLDERS:
        raise ValueError(f"'{short(name)}' only stands for a name in the form: put the name itself there")
    if len(name.split()) > MAX_WORDS:
        raise ValueError(f"'{short(name)}' is a sentence: a capability's name has at most {MAX_WORDS} words")
    return name


def said_to_fit_nowhere(text: str, expected: int) -> frozenset[int]:
    """Return the numbers of the criteria, from 1, of which a reply says `none` and nothing else.

    It tells those that a judge cannot place from those whose line cannot be used, which lenient reading does not.

    Raises:
        UnparsableReply: the text is too long, or more than 1,000 of its lines could be meant.
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
    found: dict[int, str | Proposal | None] = {}
    problems: dict[str, None] = {}
    tried: set[int] = set()
    for number, rest in _numbered(reply):
        tried.add(number)
        try:
            if not 1 <= number <= expected:
                raise ValueError(f"there is a line for criterion {number}, but the criteria are 1 to {expected}")
            place = _place(rest, number, known, additions=additions)
            if number in found and found[number] != place:
                found[number] = None
                raise ValueError(f"criterion {number} is placed more than once, differently")
            found[number] = place
        except ValueError as problem:
            problems[str(problem)] = None
    if not found:
        nothing = "no line of the form 'N | <category><parent><capability>' places a criterion"
        raise UnparsableReply("; ".join([nothing, *list(problems)[:NAMED]]))
    missing = [number for number in range(1, expected + 1) if number not in tried]
    if missing:
        problems[f"there is no line for criterion {listed(missing)}"] = None
    if strict:
        refuse(problems)
    return tuple(found.get(number) for number in range(1, expected + 1))


def _numbered(reply: str) -> Iterator[tuple[int, str]]:
    for line in lines_with(_NUMBERED, reply):
        match = _LINE.fullmatch(line.translate(DECORATION).strip(_BULLETS))
        if match is not None:
            yield int(match["number"]), match["rest"]


def _place(rest: str, number: int, known: dict[str, str | Proposal], *, additions: bool) -> str | Proposal | None:
    """Return what a line says after its number."""
    if _NONE.fullmatch(rest):
        return None
    if _ADD.match(rest):
        if not additions:
            raise ValueError(f"criterion {number}: the set of leaves is fixed, nothing can be added")
        proposal = _proposal(rest, 0)
        if proposal.under.layer != 2:
            raise ValueError(f"criterion {number}: a criterion belongs to a capability, not to a parent: {proposal}")
        same = known.get(proposal.path.key)
        return proposal if same is None else same
    match = _LEAF.match(rest)
    if match is None:
        raise ValueError(f"criterion {number}: '{short(rest)}' is no path of a leaf")
    if _LEAF.search(match["after"]):
        raise ValueError(f"criterion {number}: more than one leaf stands on its line")
    leaf = known.get(path_key(match["path"]))
    if leaf is None:
        raise ValueError(f"criterion {number}: {short(match['path'], 90)} is no leaf of the tree")
    return leaf


def _proposal(text: str, at: int) -> Proposal:
    """Return the proposal that begins at a place of the text."""
    match = _ADDITION.match(text, at)
    if match is None:
        raise ValueError(f"'{short(text[at : at + 200])}' is no proposal of the form <ADD,path,name>")
    written = match["path"].strip()
    if not written.startswith("<"):
        names = [name.strip() for name in written.split(">")]
        names = names[1:] if len(names) > 1 and names[0].casefold() == "root" else names
        written = "".join(f"<{name}>" for name in names)
    elif path_key(written).startswith("<root>"):
        written = written[written.index(">") + 1 :].strip()
    proposal = Proposal(under=CapabilityPath.parse(written), name=capability_name(match["name"]))
    if proposal.under.is_leaf:
        raise ValueError(f"{short(str(proposal), 120)} lies a layer too deep: capabilities have no children")
    return proposal
