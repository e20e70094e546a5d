"""A reference chain: the reasoning and the final answer that a judge wrote between tags."""

import re

from dokimasia.domain.criterion import ReferenceChain
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import ROOM, form
from dokimasia.parsing.own import END_TOKEN, is_empty_talk
from dokimasia.parsing.reply import short, spoken

_TAG = form(rf"<(/?)(reasoning|answer){ROOM}>")
_ANSWER = re.compile(r"\banswer\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:no|not|never|neither|\w{2,9}n['\u2019]t|instead|rather|wrong|incorrect|false|however|but|wait|hold on|actually|"
    r"correction|sorry|oops|scratch that|i mean|on second thoughts?|revised?|corrected|better)\b",
    re.IGNORECASE,
)
"""What may take an answer back in the words beside it."""
_BESIDE = 1_000
"""Characters at either end of the words beside an answer in which a denial is looked for."""
_ORDER = ["reasoning", "/reasoning", "answer", "/answer"]


def parse_chain(text: str) -> ReferenceChain:
    """Return the chain from `<reasoning>...</reasoning><answer>...</answer>`, ignoring any text before it.

    Raises:
        UnparsableReply: a tag is missing, repeated or out of order, one of the two parts is empty, or words beside the answer
            could change it.
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
    between, after = reply[tags[1].end() : tags[2].start()], reply[tags[3].end() :]
    for beside in (between, after):
        talk = _ANSWER.sub("", END_TOKEN.sub("", f"{beside[:_BESIDE]} {beside[-_BESIDE:]}"))
        if not is_empty_talk(talk) and _DENIAL.search(talk):
            raise UnparsableReply(
                f"beside <answer> stands '{short(beside)}': end with </answer>, and write nothing behind it"
            )
    return ReferenceChain(reasoning=reasoning, answer=answer)
