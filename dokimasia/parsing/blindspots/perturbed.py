"""Perturbed answers as a perturbing model reports them, checked against the gold answer; and what a checking model says."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, cast

from dokimasia.domain.perturbation import Rewritten, TextChange, changed
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.json_finder import find_json
from dokimasia.parsing.perturbation import parse_changes
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.parsing.reply import field_text, short, spoken, tried

MOST_CHANGED = 0.5
"""The largest share of a gold answer's words that changed passages may take, or put in."""
FREE_WORDS = 3
"""Words that may be changed in any answer, however short."""
SHORTEST, LONGEST = 0.25, 3.0
"""The length of an answer that is written anew, in words of the gold one's."""
LEAST_KEPT, KEPT_FROM = 0.1, 10
"""The share of its different words that a gold answer of at least so many words keeps where it is written anew."""
MOST_DESCRIBED = 80
"""Words of a description, which is one sentence."""

NOTHING, EVERYTHING = "it changes nothing", "it changes nearly everything"
"""How reasons begin for which a perturbed answer is sent back."""
_SORTS = {
    "nothing": (NOTHING, "is changed into itself", "came back as it was", "was not carried out"),
    "all": (EVERYTHING, "is a rewriting"),
}

_PLACEHOLDER = re.compile(r"\s*<[^<>]*>\s*")
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


def parse_passages(reply: str, gold: str) -> Rewritten:
    """Return the answer that changes of passages make of a gold answer; or why there are none.

    The form is an object with `changes`, each with `original` and `new`, and `description`; or with `none`.

    Raises:
        UnparsableReply: there is no such object; or original words do not stand in the answer exactly once, changes
            overlap, change nothing, or change more than half of the answer. The reason names all that is wrong.
    """
    row = _object(reply, ("changes", "none"))
    if "changes" not in row:
        return _none(row)
    faults: list[str] = []
    description = tried(faults, _description, row, gold)
    changes = tried(faults, parse_changes, row, gold)
    if changes is not None:
        tried(faults, _not_too_much, gold, changes)
    if faults or changes is None or description is None:
        raise UnparsableReply("; ".join(faults))
    return Rewritten(changed(gold, changes).strip(), description)


def parse_rewrite(reply: str, gold: str, *, neutral: bool = False) -> Rewritten:
    """Return the answer that was written anew in place of a gold answer; or why there is none.

    The form is an object with `answer` and `description`, or with `none`. With `neutral` the numbers have to be the same.

    Raises:
        UnparsableReply: there is no such object; or the answer is the gold one, has hardly anything of it, or is much
            shorter or longer. The reason names all that is wrong.
    """
    row = _object(reply, ("answer", "none"))
    if "answer" not in row:
        return _none(row)
    faults: list[str] = []
    description = tried(faults, _description, row, gold)
    text = tried(faults, _filled, row, "answer")
    if text is not None:
        tried(faults, _still_the_answer, gold, text)
        if neutral:
            tried(faults, _same_numbers, gold, text)
    if faults or text is None or description is None:
        raise UnparsableReply("; ".join(faults))
    return Rewritten(text.strip(), description)


def reason_kind(reason: str) -> str:
    """Return whether a reply was refused for changing `nothing`, or `all`; empty where it was for something else."""
    return next((kind for kind, said in _SORTS.items() if any(one in reason for one in said)), "")


def parse_gold(reply: str) -> str:
    """Return a gold answer, which is the whole reply.

    Raises:
        UnparsableReply: it is empty, or a refusal.
    """
    said = spoken(reply).strip()
    if not said:
        raise UnparsableReply("the reply is empty")
    if looks_like_refusal(said):
        raise UnparsableReply("the reply is no answer to the request")
    return said


def parse_gold_check(reply: str, gold: str) -> tuple[str, str]:
    """Return the wrong words of a gold answer and what is so instead; both empty where it is right.

    Raises:
        UnparsableReply: there is no object with `right`; or it is false and the words do not stand in the answer.
    """
    row = _object(reply, ("right",))
    right = row["right"]
    if right is True:
        return "", ""
    if right is not False:
        raise UnparsableReply('"right" is neither true nor false')
    faults: list[str] = []
    words = tried(faults, _filled, row, "words")
    why = tried(faults, _filled, row, "why")
    if words is not None and " ".join(words.split()).casefold() not in " ".join(gold.split()).casefold():
        faults.append(f"'{short(words)}' does not stand in the answer")
    if faults or words is None or why is None:
        raise UnparsableReply("; ".join(faults))
    return words.strip(), " ".join(why.split())


def parse_change_check(reply: str, names: Collection[str]) -> tuple[str, tuple[str, ...], bool, str]:
    """Return the kind that a change is taken for (empty: none), kinds of what else is worse, whether it is worse, and why.

    Raises:
        UnparsableReply: there is no object with `kind`, `also` and `worse`, or a name is none of the list's.
    """
    row = _object(reply, ("kind", "also", "worse"))
    kind, also, worse = row["kind"], row["also"], row["worse"]
    faults: list[str] = []
    if not isinstance(kind, str) or (kind != "none" and kind not in names):
        faults.append(f"'kind' is {short(repr(kind))}, and no name of the list")
    if not isinstance(also, list):
        faults.append("'also' is no list")
        also = list[str]()
    others = cast("Sequence[object]", also)
    faults += [f"'also' holds {short(repr(other))}, no name of the list" for other in others if other not in names]
    if type(worse) is not bool:
        faults.append("'worse' is neither true nor false")
    why = tried(faults, _filled, row, "why")
    if faults or why is None:
        raise UnparsableReply("; ".join(faults))
    beside = tuple(dict.fromkeys(cast("list[str]", [other for other in others if other != kind])))
    return "" if kind == "none" else str(kind), beside, bool(worse), " ".join(why.split())


def _object(reply: str, fields: Sequence[str]) -> dict[str, Any]:
    """The one object of a reply that has one of these fields, or all of them where they are `kind` and those beside it."""
    every = fields[0] == "kind"

    def wanted(value: Any) -> bool:
        return isinstance(value, dict) and (all if every else any)(field in value for field in fields)

    found = find_json(spoken(reply), wanted)
    if not found:
        listed = (
            " and ".join(f'"{field}"' for field in fields) if every else " or ".join(f'"{field}"' for field in fields)
        )
        raise UnparsableReply(f"there is no complete JSON object with {listed}")
    if any(other != found[0] for other in found[1:]):
        raise UnparsableReply("there is more than one such JSON object, and they differ")
    return found[0]


def _none(row: dict[str, Any]) -> Rewritten:
    return Rewritten(none=" ".join(_filled(row, "none").split()))


def _filled(row: dict[str, Any], name: str) -> str:
    """A field's text, which is not what the form has in its place."""
    said = field_text(row.get(name), name, "the reply")
    if _PLACEHOLDER.fullmatch(said):
        raise UnparsableReply(f"the field '{name}' holds a placeholder of the form: {short(said)}")
    return said


def _description(row: dict[str, Any], gold: str) -> str:
    said = " ".join(_filled(row, "description").split())
    if len(said.split()) > MOST_DESCRIBED:
        raise UnparsableReply(f"the description has {len(said.split())} words; one sentence was asked for")
    if said.casefold() == " ".join(gold.split()).casefold():
        raise UnparsableReply("the description is the answer itself")
    if list(row).index("description") < min(list(row).index(one) for one in ("changes", "answer") if one in row):
        raise UnparsableReply("the description stands before what it describes; it comes last")
    return said


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


def _still_the_answer(gold: str, text: str) -> None:
    before, after = _words(gold), _words(text)
    if before == after:
        raise UnparsableReply(f"{NOTHING}: the new answer has the same words as the old one")
    if "<<<" in text:
        raise UnparsableReply("the new answer holds marks of the material (<<<)")
    if not SHORTEST * len(before) <= len(after) <= max(LONGEST * len(before), len(before) + FREE_WORDS):
        raise UnparsableReply(f"{EVERYTHING}: the new answer is {len(after)} words long, the old one {len(before)}")
    kept = len(set(before) & set(after)) / len(set(before)) if before else 1.0
    if len(before) >= KEPT_FROM and kept < LEAST_KEPT:
        raise UnparsableReply(f"{EVERYTHING}: the new answer has hardly a word of the old one")


def _same_numbers(gold: str, text: str) -> None:
    before, after = (set(_DIGITS.findall(one)) for one in (gold, text))
    if before != after:
        differ = ", ".join(sorted(before ^ after)[:5])
        raise UnparsableReply(f"the new answer has not the same numbers as the old one: {differ}")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
