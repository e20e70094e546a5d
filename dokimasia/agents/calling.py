"""Calls to a model as an answer or a failure: messages, messages with looks through tools, texts to embed."""

from collections.abc import Sequence

from pydantic import JsonValue

from dokimasia.agents.looking import MAX_CALLS, Looking, as_shown, take_looks
from dokimasia.domain.call import CallResult, Chat, ChatReply, Embedding, EmbeddingReply, ModelCall, ModelSpec
from dokimasia.domain.judgement import Failed, FailureKind
from dokimasia.domain.look import Look
from dokimasia.domain.ports import Gateway
from dokimasia.domain.question import Aid
from dokimasia.errors import CallFailed
from dokimasia.prompts import Rendered

REASON_LIMIT = 500


def failure(kind: FailureKind, reason: str) -> Failed:
    """Return a failure with its reason cut to the length that is stored."""
    return Failed(kind=kind, reason=reason[:REASON_LIMIT])


async def embed(texts: Sequence[str], *, gateway: Gateway, model: ModelSpec) -> list[tuple[float, ...]] | Failed:
    """Return a vector for each text, in order, or the failure of the call."""
    answer = await _answer(gateway, Embedding(model=model.ref, texts=tuple(texts)), "embedding")
    if isinstance(answer, Failed):
        return answer
    if not isinstance(answer.reply, EmbeddingReply) or len(answer.reply.vectors) != len(texts):
        return failure("api_error", "the endpoint did not answer with one vector a text")
    return list(answer.reply.vectors)


async def look_and_reply(
    rendered: Rendered,
    *,
    gateway: Gateway,
    spec: ModelSpec,
    repeat: int,
    output_schema: dict[str, JsonValue] | None,
    looking: Looking | None,
    aid: Aid | None = None,
) -> tuple[CallResult | Failed, tuple[str, ...], tuple[Look, ...]]:
    """Ask, and carry out what the model asks of its tools, until it replies.

    `aid` goes along to a person who is asked.

    Returns the last answer, the keys of the calls before it, and what was looked at in between.

    Every round is an ordinary call. A model that has used all its looks is told so; what it says after that is its
    reply, whatever it is, so that an ask takes at most two calls more than it has looks.
    """
    call = Chat(
        model=spec.ref,
        messages=rendered.messages,
        sampling=spec.sampling,
        output_schema=output_schema,
        tools=() if looking is None else looking.specs,
        repeat=repeat,
    )
    earlier: list[str] = []
    looks: list[Look] = []
    images = as_shown(rendered.messages)
    refused = False
    while True:
        answer = await _answer(gateway, call, rendered.name, aid)
        asking = _asking_to_look(answer)
        if looking is None or refused or isinstance(answer, Failed) or asking is None:
            return answer, tuple(earlier), tuple(looks)
        left = looking.limit - len(looks)
        messages, images, looked = await take_looks(
            call.messages, asking, images, looking, left=left, call=answer.key, prompt=rendered.name
        )
        call = call.model_copy(update={"messages": messages})
        earlier.append(answer.key)
        looks += looked
        refused = len(asking.tool_calls[:MAX_CALLS]) > left


async def _answer(gateway: Gateway, call: ModelCall, label: str, aid: Aid | None = None) -> CallResult | Failed:
    """Return a call's answer; a call without one comes back as the failure that it is."""
    try:
        return await (gateway.ask(call, label=label) if aid is None else gateway.ask(call, label=label, aid=aid))
    except CallFailed as failed:
        return failure(failed.kind, failed.reason)


def _asking_to_look(answer: CallResult | Failed) -> ChatReply | None:
    """Return the reply if it asks for tools, and is not refused or filtered."""
    reply = None if isinstance(answer, Failed) else answer.reply
    if not isinstance(reply, ChatReply) or not reply.tool_calls:
        return None
    return reply if reply.refusal is None and reply.finish_reason != "content_filter" else None
