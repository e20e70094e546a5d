"""A reference chain: the reasoning and the final answer that a judge wrote between tags."""

import re

from dokimasia.domain.criterion import ReferenceChain
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import ROOM, form
from dokimasia.parsing.own import END_TOKEN, is_empty_talk
from dokimasia.parsing.reply import short, spoken

_TAG = form(rf"<(/?)(reasoning|answer){ROOM}>")
_NEGATION = re.compile(
    r"\b(?:no|not|never|neither|nor|\w{2,9}n['\u2019]t|wrong|incorrect|false|except|unlike|instead|rather)\b",
    re.IGNORECASE,
)
"""Words directly before an answer that may negate it."""
_CHANGE = re.compile(
    r"\b(?:answer|correct|corrected|correction|final|should be|updated?|recheck(?:ed|ing)?|instead|wait|hold on|actually|"
    r"(?:is|was|be) (?:right|better|best|true)|sorry|oops|scratch that|i meant?|on second thoughts?|rather|revised?|wrong|"
    r"incorrect|mistaken)\b"
    r"|[=-]>|[\u2190-\u21ff\u27f0-\u27ff]"
    r"|(?:\A|[.!?\n])[ \t*_>#]{0,9}no\b[ \t*_]{0,9}(?:[,.:;!\u2013\u2014-]|$)"
    r"|\b(?:no|not|never|nope|false|but|however|hmm{0,9}|\w{2,9}n['\u2019]t)[ \t*_]{0,9}[,:]"
    r"|(?:^|\b(?:is|be|it['\u2019]s|option|choice|but|not)\b)[^\w\n]{0,20}(?:[a-z]|[0-9][0-9.,]{0,20})[^\w\n]{0,20}$",
    re.IGNORECASE | re.MULTILINE,
)
"""Words after an answer that may change it, or be another answer."""
_ORDER = ["reasoning", "/reasoning", "answer", "/answer"]


def parse_chain(text: str) -> ReferenceChain:
    """Return the chain from `<reasoning>...</reasoning><answer>...</answer>`, ignoring any text before it.

    Words between the two parts are ignored unless they negate, and words after them unless they name another answer.

    Raises:
        UnparsableReply: a tag is missing, repeated or out of order, one of the two parts is empty, or words beside the
            answer could change it.
    """
    reply = spoken(text)
    tags: list[re.Match[str]] = []
    for tag in _TAG.finditer(reply):
        tags.append(tag)
        if len(tags) > len(_ORDER):
            raise UnparsableReply("the tags <reasoning> and <answer> stand more than once")
    names = [tag[1] + tag[2].casefold() for tag in tags]
    if names != _ORDER:
        missing = [f"<{tag}>" for tag in _ORDER if tag not in names]
        fault = f"{', '.join(missing)} is missing" if missing else "the tags stand more than once or out of order"
        raise UnparsableReply(f"{fault}: write <reasoning>...</reasoning><answer>...</answer>")
    reasoning = reply[tags[0].end() : tags[1].start()].strip()
    answer = reply[tags[2].end() : tags[3].start()].strip()
    if not reasoning or not answer:
        raise UnparsableReply(f"the {'answer' if reasoning else 'reasoning'} is empty")
    between = reply[tags[1].end() : tags[2].start()]
    if _NEGATION.search(between):
        raise UnparsableReply(f"beside <answer> stands '{short(between)}': write nothing between the two parts")
    after = END_TOKEN.sub("", reply[tags[3].end() :])
    if not is_empty_talk(after) and (change := _CHANGE.search(after)) is not None:
        words = short(after[max(0, change.start() - 20) : change.end() + 20])
        raise UnparsableReply(f"beside <answer> stands '{words}': end with </answer>, and write nothing behind it")
    return ReferenceChain(reasoning=reasoning, answer=answer)
