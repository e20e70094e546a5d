"""Perturbed answers, checked against the gold answer; and the replies of a checking model."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Annotated, ClassVar, NamedTuple, TypeVar

from pydantic import Field

from dokimasia.domain.perturbation import Rewritten, TextChange, changed
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.declared import AnySentence, JsonReply, Sentence, Words, checked, read_object
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.perturbation import ChangeReply, made_changes
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.parsing.reply import refuse, short, spoken, tried

MOST_CHANGED = 0.5
"""The largest share of a gold answer's words that changed passages may remove, or add."""
FREE_WORDS = 3
"""The number of words that may always be changed, even in a short answer."""
SHORTEST, LONGEST = 0.25, 3.0
"""The allowed length of a rewritten answer, relative to the gold answer's words."""
LEAST_KEPT, KEPT_FROM = 0.1, 10
"""The minimum share of the gold answer's distinct words in its rewriting, for gold answers of at
least this many words.
"""
MOST_DESCRIBED = 80
"""The maximum number of words of a description, which is one sentence."""

NOTHING, EVERYTHING = "it changes nothing", "it changes nearly everything"
"""The beginnings of reasons for rejecting a perturbed answer."""
_SORTS = {
    "nothing": (NOTHING, "is changed into itself", "came back as it was", "was not carried out"),
    "all": (EVERYTHING, "is a rewriting"),
}

_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


T = TypeVar("T")


class GoldText(NamedTuple):
    """A gold answer to perturb; with `neutral` its numbers must not change."""

    text: str
    neutral: bool = False


def _not_too_much(gold: str, changes: Sequence[TextChange]) -> None:
    if _words(changed(gold, changes)) == _words(gold):
        raise UnparsableReply(f"{NOTHING}: the changed answer has the same words as the old one")
    removed = added = 0
    for change in changes:
        before, after = Counter(_words(change.original)), Counter(_words(change.new))
        removed += (before - after).total()
        added += (after - before).total()
    count = len(_words(gold))
    if max(removed, added) > max(FREE_WORDS, MOST_CHANGED * count):
        raise UnparsableReply(
            f"{EVERYTHING}: {max(removed, added)} words for an answer of {count}; at least half of it stays as it is"
        )


def _still_the_answer(text: str, gold: str) -> None:
    before, after = _words(gold), _words(text)
    if before == after:
        raise UnparsableReply(f"{NOTHING}: the new answer has the same words as the old one")
    if "<<<" in text:
        raise UnparsableReply("the new answer holds marks of the material (<<<)")
    if not SHORTEST * len(before) <= len(after) <= max(LONGEST * len(before), len(before) + FREE_WORDS):
        raise UnparsableReply(f"{EVERYTHING}: the new answer is {len(after)} words long, the old one {len(before)}")
    share_kept = len(set(before) & set(after)) / len(set(before)) if before else 1.0
    if len(before) >= KEPT_FROM and share_kept < LEAST_KEPT:
        raise UnparsableReply(f"{EVERYTHING}: the new answer has hardly a word of the old one")


def _same_numbers(text: str, gold: str) -> None:
    before, after = (set(_DIGITS.findall(words)) for words in (gold, text))
    if before != after:
        differ = ", ".join(sorted(before ^ after)[:5])
        raise UnparsableReply(f"the new answer has not the same numbers as the old one: {differ}")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _described(description: str, gold: GoldText) -> str:
    if len(description.split()) > MOST_DESCRIBED:
        raise UnparsableReply(f"the description has {len(description.split())} words; one sentence was asked for")
    if description.casefold() == " ".join(gold.text.split()).casefold():
        raise UnparsableReply("the description is the answer itself")
    return description


def _limited_changes(changes: list[ChangeReply], gold: GoldText) -> list[ChangeReply]:
    _not_too_much(gold.text, made_changes(changes, gold.text))
    return changes


def _answered(text: str, gold: GoldText) -> str:
    faults: list[str] = []
    for check in (_still_the_answer, _same_numbers) if gold.neutral else (_still_the_answer,):
        tried(faults, check, text, gold.text)
    refuse(faults)
    return text.strip()


Description = Annotated[Sentence, checked(_described)]
Rationale = Annotated[AnySentence, checked(_described)]


class PassagesReply(JsonReply):
    """Changes of passages of an answer."""

    known_by: ClassVar[tuple[str, ...]] = ("changes",)
    last: ClassVar[tuple[str, ...]] = ("description",)
    example: ClassVar[FormExample] = FormExample(
        """{"changes": [{"original": "three boats lie at the jetty", "new": "four boats lie at the jetty"}], \
"description": "The answer counts four boats at the jetty, where it counted three.", "rationale": "Nobody counts boats \
that lie close together, and the sentence reads as before."}
{"none": "The answer describes no steps whose order could be wrong."}"""
    )

    changes: Annotated[list[ChangeReply], checked(_limited_changes)] = Field(description="")
    description: Description = Field(description="one sentence on exactly these changes")
    rationale: Rationale = Field(default="", description="one sentence on why the error is easy to miss")


class RewriteReply(JsonReply):
    """An answer that is written anew, with a fault that runs through it."""

    known_by: ClassVar[tuple[str, ...]] = ("answer",)
    last: ClassVar[tuple[str, ...]] = ("description",)
    example: ClassVar[FormExample] = FormExample(
        """{"answer": "Three boats lie at the jetty. The red one is on the left, and nobody is on board.", "description": \
"The mood of the early morning, which the answer described, is left out.", "rationale": "All that can be seen is still \
told, in good sentences."}
{"none": "The answer describes no steps whose order could be wrong."}"""
    )

    answer: Annotated[Words, checked(_answered)] = Field(description="the new answer, whole")
    description: Description = Field(description="one sentence on exactly what differs")


class ErrorReply(RewriteReply):
    """An answer that is written anew with a fault."""

    rationale: Rationale = Field(default="", description="one sentence on why the fault is easy to miss")


class HarmlessReply(RewriteReply):
    """An answer that is put otherwise without harm."""

    example: ClassVar[FormExample] = FormExample(
        """{"answer": "At the jetty lie three boats; on the left is the red one.", "description": "The place is named \
first, and the second sentence has become a clause."}
{"none": "The answer is a single number."}"""
    )


class NoneReply(JsonReply):
    """Why an answer cannot be perturbed so."""

    known_by: ClassVar[tuple[str, ...]] = ("none",)
    example: ClassVar[FormExample] = FormExample(
        """{"none": "The answer describes no steps whose order could be wrong."}
{"none": "The answer is a single number."}"""
    )

    none: Sentence = Field(description="why there is none, in one sentence")


class GoldCheckReply(JsonReply):
    """Whether a gold answer is right."""

    known_by: ClassVar[tuple[str, ...]] = ("right",)
    quoted: ClassVar[tuple[str, ...]] = ("words",)
    example: ClassVar[FormExample] = FormExample(
        """{"right": false, "words": "four boats lie at the jetty", "why": "The image shows three boats at the jetty."}
{"right": true, "words": "", "why": ""}"""
    )

    right: bool = Field(description="true or false")


def _quoted(words: str, gold: str) -> str:
    if " ".join(words.split()).casefold() not in " ".join(gold.split()).casefold():
        raise UnparsableReply(f"'{short(words)}' does not stand in the answer")
    return words.strip()


class RightGoldReply(GoldCheckReply):
    """Nothing is wrong with a gold answer, so nothing else is said of it."""

    words: AnySentence = ""
    why: AnySentence = ""


class WrongGoldReply(GoldCheckReply):
    """Which words of a gold answer are wrong, and what is so instead."""

    words: Annotated[Words, checked(_quoted)] = Field(description="the wrong words, as they stand in the answer")
    why: Sentence = Field(description="what is so instead, in one sentence")


def _on_the_list(name: str, names: Collection[str]) -> str:
    if name not in names:
        raise UnparsableReply(f"{short(repr(name))} is no name of the list")
    return name


def _on_the_list_or_none(name: str, names: Collection[str]) -> str:
    if name == "none":
        return name
    return _on_the_list(name, names)


class ChangeCheckReply(JsonReply):
    """What kind of change somebody takes a change for, who was not told what it was meant as."""

    known_by: ClassVar[tuple[str, ...]] = ("also",)
    example: ClassVar[FormExample] = FormExample(
        """{"kind": "entity_substitution", "also": ["detail_omission"], "worse": true, "why": "The boat has become a raft, \
and the colour of its sail is no longer mentioned."}"""
    )

    kind: Annotated[str, checked(_on_the_list_or_none)] = Field(description="name of a kind, or none")
    also: list[Annotated[str, checked(_on_the_list)]] = Field(
        description="names of kinds in quotation marks, or nothing"
    )
    worse: bool = Field(description="true or false")
    why: Sentence = Field(description="one sentence")


def parse_passages(reply: str, gold: str) -> Rewritten:
    """Return the gold answer with its passages changed; or the reason why there are no changes.

    Raises:
        UnparsableReply: there is no such object; or original words are not in the answer exactly once, or the changes
            overlap, change nothing, or change more than half of the answer. The reason names all faults.
    """
    parsed = read_object(reply, PassagesReply, NoneReply, about=GoldText(gold))
    if isinstance(parsed, NoneReply):
        return Rewritten(none=parsed.none)
    text = changed(gold, made_changes(parsed.changes, gold)).strip()
    return Rewritten(text, parsed.description, parsed.rationale)


def parse_rewrite(reply: str, gold: str, *, neutral: bool = False) -> Rewritten:
    """Return a rewriting of the gold answer; or the reason why there is none.

    With `neutral` it must have the same numbers.

    Raises:
        UnparsableReply: there is no such object; or the answer equals the gold answer, has hardly a word of it, or is much
            shorter or longer. The reason names all faults.
    """
    declared = HarmlessReply if neutral else ErrorReply
    parsed = read_object(reply, declared, NoneReply, about=GoldText(gold, neutral))
    if isinstance(parsed, NoneReply):
        return Rewritten(none=parsed.none)
    rationale = parsed.rationale if isinstance(parsed, ErrorReply) else ""
    return Rewritten(parsed.answer, parsed.description, rationale)


def reason_kind(reason: str) -> str:
    """Return `nothing` or `all` for the reason of a reply refused for the extent of its changes; else an empty text."""
    return next((kind for kind, phrases in _SORTS.items() if any(phrase in reason for phrase in phrases)), "")


def parse_gold(reply: str) -> str:
    """Return a gold answer, which is the whole reply.

    Raises:
        UnparsableReply: it is empty, or a refusal.
    """
    answer = spoken(reply).strip()
    if not answer:
        raise UnparsableReply("the reply is empty")
    if looks_like_refusal(answer):
        raise UnparsableReply("the reply is no answer to the request")
    return answer


def parse_gold_check(reply: str, gold: str) -> tuple[str, str]:
    """Return the wrong words of a gold answer and what is true instead; both empty if it is right.

    Raises:
        UnparsableReply: there is no object with `right`; or it is false and the words are not in the answer, or true
            and something is marked as wrong.
    """
    if read_object(reply, GoldCheckReply).right:
        right = read_object(reply, RightGoldReply)
        if right.words or right.why:
            raise UnparsableReply(
                "the answer is said to be right, and 'words' or 'why' says what is wrong: leave them empty, or say false"
            )
        return "", ""
    wrong = read_object(reply, WrongGoldReply, about=gold)
    return wrong.words, wrong.why


def parse_change_check(reply: str, names: Collection[str]) -> tuple[str, tuple[str, ...], bool, str]:
    """Return the kind of a change (empty: none), the kinds of further faults, whether it is worse, and why.

    Raises:
        UnparsableReply: there is no object with `also`, or a name is none of the list's.
    """
    parsed = read_object(reply, ChangeCheckReply, about=names)
    others = tuple(dict.fromkeys(name for name in parsed.also if name != parsed.kind))
    return "" if parsed.kind == "none" else parsed.kind, others, parsed.worse, parsed.why
