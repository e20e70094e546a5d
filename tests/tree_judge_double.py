"""A judge of capability trees for tests: it answers the three prompts from words that stand in the criteria."""

import asyncio
import json
from collections.abc import Callable

from dokimasia.domain.call import Chat, ChatReply, EmbeddingReply, ModelCall, ModelReply, ModelSpec, Usage
from dokimasia.domain.ports import BlobStore
from dokimasia.gateway.doubles import Crash
from dokimasia.prompts import recognise

SKILLS = {
    "count": ("Perception", "Enumeration", ("Object Counting", "Tallying Things", "Counting of Objects")),
    "colour": ("Perception", "Attributes", ("Colour Naming", "Hue Recognition")),
    "read": ("Understanding", "Text", ("Text Reading", "Transcription")),
    "add": ("Reasoning", "Arithmetic", ("Addition", "Summing Up")),
}
"""The word that a criterion holds, and the category, the parent and the names under which it is proposed."""


def pairs(each: int, *, skills: tuple[str, ...] = tuple(SKILLS)) -> list[tuple[str, str, str]]:
    """Criteria (text, sample id, category): a sample a number, with one criterion a skill."""
    return [
        (f"What does the solution {skill} in case {number}?", f"s{number}", f"c{number % 3}")
        for number in range(each)
        for skill in skills
    ]


def skill_of(text: str) -> str | None:
    """The skill that a criterion's text names."""
    return next((skill for skill in SKILLS if f" {skill} " in f" {text} "), None)


def skill_of_path(path: str) -> str | None:
    """The skill that a leaf's name means."""
    name = path.rstrip(">").rpartition("<")[2]
    return next((skill for skill, (_, _, names) in SKILLS.items() if name in names), None)


def answer(prompt: str, inputs: dict[str, str]) -> str:
    """Return the judge's reply to one of the prompts."""
    if prompt == "tree_merge":
        rows = json.loads(inputs["capabilities"])
        groups: dict[str, list[str]] = {}
        for row in rows:
            groups.setdefault(skill_of_path(row["path"]) or row["path"], []).append(str(row["n"]))
        lines = [f"same: {', '.join(group)}" for group in groups.values() if len(group) > 1]
        return "\n".join(lines) or "none"
    criteria = json.loads(inputs["criteria"])
    if prompt == "tree_map":
        paths = inputs["paths"].splitlines()
        return "\n".join(f"{one['n']} | {_place(one['criterion'], paths) or 'none'}" for one in criteria)
    nodes = inputs["tree"].splitlines()
    leaves = [node for node in nodes if node.count("<") == 3]
    parents: dict[str, None] = {}
    lines = []
    for one in criteria:
        skill = skill_of(one["criterion"])
        found = _place(one["criterion"], leaves)
        if skill is None or found is not None:
            lines.append(f"{one['n']} | {found or 'none'}")
            continue
        category, parent, names = SKILLS[skill]
        if f"<{category}><{parent}>" not in nodes:
            parents[f"<ADD,<{category}>,{parent}>"] = None
        lines.append(f"{one['n']} | <ADD,<{category}><{parent}>,{names[_case(one['criterion']) % len(names)]}>")
    return "\n".join([*parents, *lines])


def _case(text: str) -> int:
    return sum(int(sign) for sign in text if sign.isdecimal())


def _place(text: str, paths: list[str]) -> str | None:
    skill = skill_of(text)
    if skill is None:
        return None
    category, parent, _ = SKILLS[skill]
    for path in paths:
        if skill_of_path(path) == skill or path in (f"<{category}>", f"<{category}><{parent}>"):
            return path
    return None


class Killed(Crash):
    """Stands for the death of the process in the middle of a call: nothing of ours expects it."""


class JudgeTransport:
    """A transport that answers by a function of prompt and inputs, and counts what it is asked."""

    def __init__(
        self,
        reply: Callable[[str, dict[str, str]], str] = answer,
        *,
        delay: Callable[[int], float] | None = None,
        die_at: int | None = None,
    ) -> None:
        self.reply, self.delay, self.die_at = reply, delay, die_at
        self.asked: list[str] = []

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        """Answer a call."""
        number = len(self.asked)
        if self.die_at is not None and number >= self.die_at:
            raise Killed
        if not isinstance(call, Chat):
            self.asked.append(call.kind)
            texts = getattr(call, "texts", ())
            vectors = tuple((1.0, float(len(text) % 7), float(text.count("o"))) for text in texts)
            return EmbeddingReply(vectors=vectors, usage=Usage(input_tokens=1, output_tokens=0))
        request = recognise(call.messages)
        assert request is not None, "a prompt that is none of the package's"
        self.asked.append(request.name)
        if self.delay is not None:
            await asyncio.sleep(self.delay(number))
        text = self.reply(request.name, request.inputs)
        return ChatReply(text=text, finish_reason="stop", usage=Usage(input_tokens=100, output_tokens=20))

    async def aclose(self) -> None:
        """Nothing is open."""
