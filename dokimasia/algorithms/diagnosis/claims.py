"""Hold a sentence against the tables that it cites: numbers, units, subjects, directions, and differences (ATOM, 3.4)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dokimasia.algorithms.diagnosis.claim_numbers import check_numbers
from dokimasia.algorithms.diagnosis.comparisons import check_comparisons, claims, says_less
from dokimasia.algorithms.diagnosis.evidence import FILLER, Evidence, Fact, Missing
from dokimasia.domain.diagnosis_report import Checked, Sentence, Strike, StrikeKind

REASON_LIMIT = 500
LAST_LATIN = "\u024f"
_AFTER_VERB = re.compile(
    r"\b(?:is|are|was|were|be|looks?|seems?|remains?|surely|clearly|particularly|especially|relatively|not|a|an|its|most"
    r"|very|as)\s$",
    re.IGNORECASE,
)
_BEFORE_NOUN = re.compile(
    r"\s(?:leaf|leaves|capabilit|nodes?\b|categor|areas?\b|points?\b|spots?\b|sides?\b)", re.IGNORECASE
)
_BEHIND = re.compile(r"\s(?:at|for|on|in|of|by)\s(?:the\s)?", re.IGNORECASE)
_GLUE = re.compile(r"[\s,;/&]*(?:and)?[\s,;/&]*")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a sentence: the text before a reference, and what the reference (or several at one place) leads to."""

    start: int
    end: int
    facts: tuple[Fact, ...]


def check_sentence(sentence: Sentence, evidence: Evidence) -> Strike | None:
    """Return why a sentence does not hold, or None where nothing in it is wrong.

    Every number stands before the reference to its cell and is that cell's value, rounded to the digits that are
    written, in its unit; a range, or two numbers behind the value, are its interval; what a stretch of text names
    (models, leaves, categories) is what the reference behind it is about; a comparison goes the way it says, and where
    figures have intervals it is more than these leave open; a superlative is the end of its column. Words such as
    *weak* need the mark of the rule that their table was marked by.

    Parameters
    ----------
    sentence : Sentence
        As it was written, with its references.
    evidence : Evidence
        The tables.

    Returns
    -------
    Strike or None
        The first thing that is wrong, in the order of `StrikeKind`.

    References
    ----------
    ATOM, section 3.4; which claims are checked and how is ours.
    """
    try:
        stretches = _stretches(sentence, evidence)
    except Missing as missing:
        return strike("no_such_asset" if missing.asset else "no_such_cell", str(missing))
    text = _masked(sentence.text, [(one.start, one.end) for one in sentence.citations])
    plain = mask_names(text, evidence)
    for problem in (
        check_numbers(plain, stretches),
        _check_script(plain),
        _check_subjects(text, stretches, evidence),
        _check_all_cited(text, stretches, evidence),
        _check_winners(text, stretches),
        check_comparisons(plain, stretches, named=plain != text),
    ):
        if problem is not None:
            return strike(*problem)
    return None


def check_report(sentences: Sequence[Sentence], evidence: Evidence) -> list[Checked]:
    """Return every sentence with why it is struck, where it is."""
    return [Checked(sentence=one, strike=check_sentence(one, evidence)) for one in sentences]


def strike(kind: StrikeKind, reason: str) -> Strike:
    """Return a strike, its reason cut to what is stored."""
    return Strike(kind=kind, reason=reason[:REASON_LIMIT])


def mask_names(text: str, evidence: Evidence) -> str:
    """Return the text with every known name blanked, the longest first: digits and words in names claim nothing."""
    for name in sorted((*evidence.models, *evidence.nodes), key=len, reverse=True):
        text = _masked(text, name_places(name, text))
    return text


def name_places(name: str, text: str) -> list[tuple[int, int]]:
    """Return where a text speaks of something by its name; a model called *weak* is not named by "is weak at"."""
    found = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    if not claims(name):
        return found
    return [
        (start, end)
        for start, end in found
        if not _AFTER_VERB.search(text[:start]) and not _BEFORE_NOUN.match(text, end)
    ]


def _masked(text: str, places: Sequence[tuple[int, int]]) -> str:
    for start, end in places:
        text = text[:start] + FILLER * (end - start) + text[end:]
    return text


def _stretches(sentence: Sentence, evidence: Evidence) -> list[Stretch]:
    """Return the sentence in pieces, each ending before its references; those that stand side by side are one place."""
    places: list[list[int]] = []
    facts: list[list[Fact]] = []
    for one in sentence.citations:
        fact = evidence.find(one.ref)
        if fact.pair:
            fact = _as_told(fact, sentence.text[places[-1][1] if places else 0 : one.start])
        beside = places and _GLUE.fullmatch(sentence.text[places[-1][1] : one.start])
        if places and (one.start < places[-1][1] or beside):
            places[-1][1] = max(places[-1][1], one.end)
            facts[-1].append(fact)
        else:
            places.append([one.start, one.end])
            facts.append([fact])
    found: list[Stretch] = []
    start = 0
    for (begin, end), held in zip(places, facts, strict=True):
        found.append(Stretch(start, begin, tuple(held)))
        start = end
    return [*found, Stretch(start, len(sentence.text), ())]


def _as_told(fact: Fact, said: str) -> Fact:
    """Return what compares two models seen from the one that is named first."""
    first, second = (name_places(name, said) for name in fact.pair)
    return fact.mirrored() if first and second and second[0] < first[0] else fact


def _check_subjects(text: str, stretches: Sequence[Stretch], evidence: Evidence) -> tuple[StrikeKind, str] | None:
    """Find a reference that is about another model, or another leaf, than the text before it names."""
    before: Stretch | None = None
    for one in stretches:
        said = text[one.start : one.end]
        named = _named_behind(said, evidence) if before is not None else ""
        if before is not None and named:
            problem = _other_subject(named, before, evidence)
            if problem is not None:
                return problem
            said = said.replace(named, FILLER * len(named), 1)
        problem = _other_subject(said, one, evidence)
        if problem is not None:
            return problem
        before = one
    return None


def _check_all_cited(text: str, stretches: Sequence[Stretch], evidence: Evidence) -> tuple[StrikeKind, str] | None:
    """Find a model, or beside a leaf that is cited another leaf, that a sentence with references names and cites nothing of.

    A reference to a table or a row of several models is about all of them, as a node is about what lies above it. Names
    without a capital letter may be ordinary words ("count", "read") and count for no leaf.
    """
    facts = [fact for one in stretches for fact in one.facts]
    if not facts:
        return None
    models = {name for fact in facts for name in (fact.model, *fact.pair) if name}
    if all(fact.model or fact.pair for fact in facts):
        alone = _found(text, evidence.models) - models
        if alone:
            return "wrong_subject", f"it names {_list(alone)} and cites {_list(models)}"
    nodes = {fact.node for fact in facts if fact.node}
    if not nodes or not all(fact.node for fact in facts):
        return None
    known = tuple(name for name in evidence.nodes if not name.islower())
    for name in sorted(_found(text, known)):
        if not any(node.startswith(other) for node in nodes for other in evidence.nodes[name]):
            return "wrong_subject", f"it names {name[:100]} and cites {_list(nodes)}"
    return None


def _check_winners(text: str, stretches: Sequence[Stretch]) -> tuple[StrikeKind, str] | None:
    """Find a share of samples on which one of two models is the higher that is said of the other one."""
    for at, one in enumerate(stretches):
        for fact in one.facts:
            if not fact.winner:
                continue
            said = text[one.start : one.end]
            if not any(name_places(name, said) for name in fact.pair) and at + 1 < len(stretches):
                said = text[one.end : stretches[at + 1].end]
            places = sorted((where[0], name) for name in fact.pair if (where := name_places(name, said)))
            if not places:
                continue
            first = places[0][1]
            less = says_less(_masked(said, [where for where, _ in places]))
            if (first == fact.winner) == less:
                return (
                    "wrong_subject",
                    f"{fact.ref} counts where {fact.winner} is the higher, and it is said of the other",
                )
    return None


def _check_script(plain: str) -> tuple[StrikeKind, str] | None:
    """Find a sentence that is mostly in letters other than Latin, whose words cannot be checked."""
    letters = [sign for sign in plain if sign.isalpha()]
    foreign = sum(sign > LAST_LATIN for sign in letters)
    if foreign * 2 <= len(letters):
        return None
    return "uncited_claim", "it is written in letters whose words are not checked; write it in English"


def _named_behind(said: str, evidence: Evidence) -> str:
    """Return the name that follows a reference with no more than a preposition between, as in `31.2 [...] at Counting`."""
    lead = _BEHIND.match(said)
    if lead is None:
        return ""
    names = (*evidence.models, *evidence.nodes)
    behind = [name for name in names if (lead.end(), lead.end() + len(name)) in name_places(name, said)]
    return max(behind, key=len, default="")


def _other_subject(said: str, one: Stretch, evidence: Evidence) -> tuple[StrikeKind, str] | None:
    """Return what is wrong where the references of a stretch are about another model, or leaf, than it names."""
    models = _found(said, evidence.models)
    nodes = {node for name in _found(said, tuple(evidence.nodes)) for node in evidence.nodes[name]}
    cited_models = {fact.model for fact in one.facts if fact.model}
    cited_nodes = {fact.node for fact in one.facts if fact.node}
    paired = {name for fact in one.facts for name in fact.pair}
    if models and paired and not models <= paired:
        return "wrong_subject", f"it names {_list(models)} and cites {_list(paired)}"
    if models and cited_models and not cited_models <= models:
        return "wrong_subject", f"it names {_list(models)} and cites {_list(cited_models)}"
    if nodes and cited_nodes and not cited_nodes <= nodes:
        return "wrong_subject", f"it names {_list(nodes)} and cites {_list(cited_nodes)}"
    return None


def _found(text: str, names: Sequence[str]) -> set[str]:
    """Return the names in a text, the longest first; a name inside of another one is not named."""
    found: set[str] = set()
    for name in sorted(names, key=len, reverse=True):
        places = name_places(name, text)
        if places:
            found.add(name)
            text = _masked(text, places)
    return found


def _list(names: set[str]) -> str:
    return " and ".join(sorted(names))[:200]
