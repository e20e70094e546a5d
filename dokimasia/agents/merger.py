"""The merger: a judge that says which capabilities of a list are one and the same, and which are vague (ATOM, section 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from dokimasia.agents.asking import Asked, ask_judge, failure
from dokimasia.agents.tree_texts import capability_lines
from dokimasia.domain.call import Embedding, EmbeddingReply, ModelSpec
from dokimasia.domain.judgement import Failed, Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.errors import CallFailed, UnparsableReply
from dokimasia.parsing.merges import Merges, parse_merges
from dokimasia.prompts import PromptLibrary

PROMPT = "tree_merge"


@dataclass(frozen=True, slots=True)
class Judged:
    """What a reply says of a list: its groups and vague ones by number from 1, and what of it was not taken up."""

    merges: Merges
    problems: tuple[str, ...] = ()


async def judge_merges(
    rows: Sequence[tuple[str, int, str]],
    *,
    gateway: Gateway,
    judge: ModelSpec,
    repeat: int = 0,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Judged]:
    """Return which capabilities the judge holds for the same.

    Args:
        rows: each capability's path, its support, and one of its criteria (may be empty).
        gateway: the way to the model.
        judge: the judge and how it is sampled.
        repeat: which independent draw.
        rejected: the earlier reply to send back; what answers it is read leniently.
        library: prompts that replace the package's own.
    """
    return await ask_judge(
        PROMPT,
        {"capabilities": capability_lines(rows)},
        parse=lambda text: _read(text, len(rows), strict=rejected is None),
        shown=("capabilities",),
        gateway=gateway,
        judge=judge,
        repeat=repeat,
        rejected=rejected,
        library=library,
    )


async def embed(texts: Sequence[str], *, gateway: Gateway, model: ModelSpec) -> list[tuple[float, ...]] | Failed:
    """Return a vector for each text, in order, or the failure of the call."""
    try:
        answer = await gateway.ask(Embedding(model=model.ref, texts=tuple(texts)), label="embedding")
    except CallFailed as failed:
        return failure(failed.kind, failed.reason)
    if not isinstance(answer.reply, EmbeddingReply) or len(answer.reply.vectors) != len(texts):
        return failure("api_error", "the endpoint did not answer with one vector a text")
    return list(answer.reply.vectors)


def _read(text: str, expected: int, *, strict: bool) -> Judged:
    try:
        return Judged(parse_merges(text, expected))
    except UnparsableReply as problem:
        if strict:
            raise
        return Judged(parse_merges(text, expected, strict=False), tuple(problem.reason.split("; ")))
