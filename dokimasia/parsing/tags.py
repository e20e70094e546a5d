"""Texts between tags, read without an XML parser, since a model may write anything between them."""

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
    """Return the text between each `<name>` and the next `</name>`, in order, ignoring case and space in tags.

    If a tag is opened again before it is closed, the text begins at the last opening. Unclosed tags are ignored.

    Raises:
        UnparsableReply: there are more than a thousand such tags.
    """
    texts: list[str] = []
    opened: int | None = None
    for tag in matches(_tags(name), text):
        if not tag[1]:
            opened = tag.end()
        elif opened is not None:
            texts.append(text[opened : tag.start()])
            opened = None
    return texts


def without(text: str, name: str) -> str:
    """Return the text without its blocks `<name>...</name>`.

    Raises:
        UnparsableReply: there are more than a thousand such tags.
    """
    pieces: list[str] = []
    start = 0
    opened: int | None = None
    for tag in matches(_tags(name), text):
        if not tag[1]:
            opened = tag.start() if opened is None else opened
        elif opened is not None:
            pieces.append(text[start:opened])
            start, opened = tag.end(), None
    return "\n".join([*pieces, text[start:]])


def nothing_beside(reply: str, *names: str, aside: Sequence[str] = ()) -> None:
    """Refuse words around a tagged statement that could change its meaning.

    Args:
        reply: the reply's own words.
        names: the tags of the statement. Before the first of them, in its sentence, and between and after them only
            other tags and filler words are allowed.
        aside: tags whose contents are reasons, which are ignored.

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
    """Return the one text of a tag, which a reply may repeat.

    Args:
        found: the texts between the tags.
        what: the tag, as a reason names it.

    Raises:
        UnparsableReply: there is no text, or there are several that differ.
    """
    if not found:
        raise UnparsableReply(f"{what} is missing or not closed")
    if len({text.strip() for text in found}) > 1:
        raise UnparsableReply(f"{what} stands there more than once, with different contents")
    return found[0]


def bare(stated: str) -> str:
    """Return a text without emphasis, a surrounding pair of square brackets, and white space around it."""
    plain = stated.translate(DECORATION)
    bracketed = _BRACKETED.fullmatch(plain)
    return (plain if bracketed is None else bracketed[1]).strip()


def written(stated: str) -> str:
    """Return a text without white space around it; empty if it is only a placeholder in square brackets."""
    if _BRACKETED.fullmatch(stated):
        return ""
    return stated.strip()


@cache
def _tags(name: str) -> re.Pattern[str]:
    return form(rf"<(/?){ROOM}{re.escape(name)}{ROOM}>")


def ratings(text: str, names: Iterable[str], lowest: int, highest: int) -> dict[str, int]:
    """Return the integers of `<name>...<score>7</score></name>`, by name.

    Inside a tag only `<reasoning>` is allowed besides the score, and outside the tags no words that could change it.

    Raises:
        UnparsableReply: a rating is missing, repeated with another value, or not an integer of the scale. The reason
            names all faults.
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
