"""Texts between tags, read without a parser of XML: what a model wrote between them may be anything."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import ROOM, form
from dokimasia.parsing.own import is_doubtful, is_empty_talk, own, sentence_before
from dokimasia.parsing.reply import DECORATION, matches, refuse, short, tried

_WHOLE = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
_ANY = re.compile(r"</?[A-Za-z][^<>\n]{0,100}>", re.ASCII)
_BRACKETED = re.compile(r"\s*\[([^\[\]]*)\]\s*")


def tagged(text: str, name: str) -> list[str]:
    """Return what stands between each `<name>` and the next `</name>`, in order; case and space in tags are overlooked.

    A tag that is opened again before it is closed begins anew. What is not closed is left out.

    Raises:
        UnparsableReply: there are more than a thousand such tags.
    """
    found: list[str] = []
    opened: int | None = None
    for tag in matches(_tags(name), text):
        if not tag[1]:
            opened = tag.end()
        elif opened is not None:
            found.append(text[opened : tag.start()])
            opened = None
    return found


def without(text: str, name: str) -> str:
    """Return the text without its blocks `<name>...</name>`: what is only weighed or quoted there is not stated.

    Raises:
        UnparsableReply: there are more than a thousand such tags.
    """
    kept: list[str] = []
    start = 0
    opened: int | None = None
    for tag in matches(_tags(name), text):
        if not tag[1]:
            opened = tag.start() if opened is None else opened
        elif opened is not None:
            kept.append(text[start:opened])
            start, opened = tag.end(), None
    return "\n".join([*kept, text[start:]])


def nothing_beside(reply: str, *names: str, aside: Sequence[str] = ()) -> None:
    """Refuse words beside what stands between tags that could change it.

    Args:
        reply: the reply's own words.
        names: the tags that hold the statement. Before the first of them, in its sentence, may stand what introduces it;
            between them and after them nothing but other tags and words that say nothing.
        aside: tags whose contents are reasons.

    Raises:
        UnparsableReply: there are such words.
    """
    for name in aside:
        reply = without(reply, name)
    openings = [tag.start() for name in names for tag in matches(_tags(name), reply)[:1]]
    if not openings:
        return
    first = min(openings)
    before = sentence_before(_ANY.sub("\n", reply[max(0, first - 2_000) : first]))
    if is_doubtful(before):
        raise UnparsableReply(
            f"before <{names[0]}> stands '{short(before)}': reply in the form, and with nothing around it"
        )
    rest = reply[first:]
    for name in names:
        rest = without(rest, name)
    rest = _ANY.sub("\n", rest)
    if not is_empty_talk(rest):
        raise UnparsableReply(
            f"beside <{names[0]}> stands '{short(rest)}': reply in the form, and with nothing around it"
        )


def only(found: list[str], what: str) -> str:
    """Return the one text that was found, which may stand there several times.

    Args:
        found: what stands between tags.
        what: the tag, as a reason names it.

    Raises:
        UnparsableReply: there is none, or there are different ones.
    """
    if not found:
        raise UnparsableReply(f"{what} is missing or not closed")
    if len({text.strip() for text in found}) > 1:
        raise UnparsableReply(f"{what} stands there more than once, with different contents")
    return found[0]


def bare(stated: str) -> str:
    """Return what is stated without emphasis, a pair of square brackets, and space around it."""
    plain = stated.translate(DECORATION)
    bracketed = _BRACKETED.fullmatch(plain)
    return (plain if bracketed is None else bracketed[1]).strip()


def written(stated: str) -> str:
    """Return a text without space around it; empty if it is nothing but a form's placeholder in square brackets."""
    return "" if _BRACKETED.fullmatch(stated) else stated.strip()


@cache
def _tags(name: str) -> re.Pattern[str]:
    return form(rf"<(/?){ROOM}{re.escape(name)}{ROOM}>")


def ratings(text: str, names: Iterable[str], lowest: int, highest: int) -> dict[str, int]:
    """Return the whole numbers that stand as `<name>...<score>7</score></name>`, by name.

    Nothing but the reasoning stands in a tag beside its score, and nothing that could change them beside the tags.

    Raises:
        UnparsableReply: a rating is missing, stands more than once with different values, or is no whole number of the
            scale. The reason names all that is wrong.
    """
    reply = own(text)
    faults: list[str] = []
    stated = {name: tried(faults, _rating, reply, name, lowest, highest) for name in names}
    refuse(faults)
    nothing_beside(reply, *stated)
    return {name: score for name, score in stated.items() if score is not None}


def _rating(reply: str, name: str, lowest: int, highest: int) -> int:
    sections = tagged(reply, name)
    if not sections:
        raise UnparsableReply(f"<{name}> is missing or not closed")
    for section in sections:
        nothing_beside(section, "score", aside=("reasoning",))
    scores = [score for section in sections for score in tagged(without(section, "reasoning"), "score")]
    stated = bare(only(scores, f"<score> in <{name}>"))
    if _WHOLE.fullmatch(stated) is None or not lowest <= int(stated) <= highest:
        raise UnparsableReply(
            f"the score in <{name}> is '{short(stated)}', not a whole number from {lowest} to {highest}"
        )
    return int(stated)
