"""A reference chain: the reasoning and the final answer that a judge wrote between tags."""

import re

from dokimasia.domain.criterion import ReferenceChain
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import ROOM, form
from dokimasia.parsing.reply import spoken

_TAG = form(rf"<(/?)(reasoning|answer){ROOM}>")
_ORDER = ["reasoning", "/reasoning", "answer", "/answer"]


def parse_chain(text: str) -> ReferenceChain:
    """Return the chain from `<reasoning>...</reasoning><answer>...</answer>`, ignoring any text around it.

    Raises:
        UnparsableReply: a tag is missing, repeated or out of order, or one of the two parts is empty.
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
    return ReferenceChain(reasoning=reasoning, answer=answer)
