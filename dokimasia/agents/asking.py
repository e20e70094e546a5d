"""The one way in which every agent asks: render, ask the gateway, read the reply into a value or a named failure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pydantic import JsonValue

from dokimasia.agents.looking import Looking, as_shown, carry_out
from dokimasia.agents.schemas import Structured, takes_schema
from dokimasia.domain.call import Answer, Chat, ChatReply, ModelSpec, ToolSpec
from dokimasia.domain.judgement import Failed, FailureKind, Provenance, Rejected
from dokimasia.domain.look import Look
from dokimasia.domain.ports import Gateway
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import CallFailed, UnparsableReply
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.prompts import PromptLibrary, Rendered, render, with_form, with_looking, with_repair

T = TypeVar("T")

REASON_LIMIT = 500

RETRY_STRIDE = 1_000_000
"""Draws between one attempt and the next: more than there are repeats, so that a retry never takes a repeat's place."""


def draw(repeat: int, attempt: int) -> int:
    """Return the repeat index under which the nth attempt of a repeat is asked: 0 is the first, each retry one more."""
    return repeat + attempt * RETRY_STRIDE


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What came of asking once: a value with its provenance, or a failure; never both.

    `rejected` is set when the reply was complete but unusable, so that the caller may send it back once.
    `call` is the ledger key of the call, also of one whose reply was unusable; None where no reply came. `looks` are
    what tools were used for before that, in calls whose keys are in `earlier`.
    """

    value: T | None
    failed: Failed | None
    call: str | None
    provenance: Provenance | None = None
    rejected: Rejected | None = None
    earlier: tuple[str, ...] = ()
    looks: tuple[Look, ...] = ()

    @property
    def calls(self) -> list[str]:
        """The ledger keys of all its calls, in order."""
        return [*self.earlier, self.call] if self.call else [*self.earlier]

    @property
    def failure(self) -> Failed:
        """The failure of an ask that brought no value.

        Raises:
            ValueError: if it brought one.
        """
        if self.failed is None:
            raise ValueError("this ask brought a value, not a failure")
        return self.failed


def failure(kind: FailureKind, reason: str) -> Failed:
    """Return a failure with its reason cut to the length that is stored."""
    return Failed(kind=kind, reason=reason[:REASON_LIMIT])


async def chat(
    rendered: Rendered,
    *,
    gateway: Gateway,
    spec: ModelSpec,
    repeat: int = 0,
    output_schema: dict[str, JsonValue] | None = None,
    tools: tuple[ToolSpec, ...] = (),
) -> Answer | Failed:
    """Send rendered messages to a model; a call without an answer comes back as the failure that it is."""
    call = Chat(
        model=spec.ref,
        messages=rendered.messages,
        sampling=spec.sampling,
        output_schema=output_schema,
        tools=tools,
        repeat=repeat,
    )
    try:
        return await gateway.ask(call, label=rendered.name)
    except CallFailed as failed:
        return failure(failed.kind, failed.reason)


async def ask_judge(
    prompt: str,
    inputs: Mapping[str, str],
    *,
    parse: Callable[[str], T],
    structured: Structured[T] | None = None,
    shown: Sequence[str],
    gateway: Gateway,
    judge: ModelSpec,
    images: Sequence[ImageRef] = (),
    repeat: int = 0,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
    looking: Looking | None = None,
) -> Asked[T]:
    """Ask a judge and read its reply.

    Args:
        prompt: the prompt's name.
        inputs: its inputs.
        parse: reads the reply's text, or raises UnparsableReply with a reason that the judge can act on.
        structured: the same reply as a JSON object, asked for and read in place of the text where the judge's
            capabilities say that its endpoint takes a JSON schema.
        shown: what the judge is shown, stored beside the value.
        gateway: the way to the model.
        judge: the judge and how it is sampled.
        images: what it sees.
        repeat: which independent draw.
        rejected: the earlier reply to send back; the request then quotes it and names what is wrong.
        library: prompts that replace the package's own.
        looking: tools that the judge is offered to look closer with, where it is shown an image.

    Returns:
        The value, or the failure: `refused`, `truncated`, `unparsable`, or the kind of a call without an answer.
    """
    looking = looking if images else None
    rendered = render(prompt, inputs, images=images, library=library)
    if looking is not None:
        rendered = with_looking(rendered, looking.limit, library=library)
    schema = None
    if structured is not None and takes_schema(judge):
        rendered = with_form(rendered, structured.form, library=library)
        schema, parse = structured.schema, structured.parse
    if rejected is not None:
        rendered = with_repair(rendered, rejected.text, rejected.problem, library=library)
    looked = await _look_and_reply(
        rendered, gateway=gateway, spec=judge, repeat=repeat, output_schema=schema, looking=looking
    )
    shown = (*shown, "tools") if looking is not None else tuple(shown)
    asked = _read(looked.answer, parse, rendered, judge, shown)
    return replace(asked, earlier=looked.earlier, looks=looked.looks)


@dataclass(frozen=True, slots=True)
class _Looked:
    """The last answer of an ask, the keys of the calls before it, and what was looked at in between."""

    answer: Answer | Failed
    earlier: tuple[str, ...] = ()
    looks: tuple[Look, ...] = ()


async def _look_and_reply(
    rendered: Rendered,
    *,
    gateway: Gateway,
    spec: ModelSpec,
    repeat: int,
    output_schema: dict[str, JsonValue] | None,
    looking: Looking | None,
) -> _Looked:
    """Ask, and carry out what the model asks of its tools, until it replies.

    Every round is an ordinary call. A model that has used all its looks is told so; what it says after that is its
    reply, whatever it is, so that an ask takes at most two calls more than it has looks.
    """
    tools = () if looking is None else looking.specs
    earlier: list[str] = []
    looks: list[Look] = []
    images = as_shown(rendered.messages)
    refused = False
    while True:
        answer = await chat(
            rendered, gateway=gateway, spec=spec, repeat=repeat, output_schema=output_schema, tools=tools
        )
        asking = _asking_to_look(answer)
        if looking is None or refused or isinstance(answer, Failed) or asking is None:
            return _Looked(answer, tuple(earlier), tuple(looks))
        done = await carry_out(
            rendered.messages,
            asking,
            images,
            looking,
            left=looking.limit - len(looks),
            call=answer.key,
            prompt=rendered.name,
        )
        rendered = rendered.model_copy(update={"messages": done.messages})
        earlier.append(answer.key)
        looks += done.looks
        images = done.images
        refused = done.refused


def _asking_to_look(answer: Answer | Failed) -> ChatReply | None:
    """Return the reply if it asks for tools, and is not refused or filtered."""
    reply = None if isinstance(answer, Failed) else answer.reply
    if not isinstance(reply, ChatReply) or not reply.tool_calls:
        return None
    return reply if reply.refusal is None and reply.finish_reason != "content_filter" else None


def _read(
    answer: Answer | Failed, parse: Callable[[str], T], rendered: Rendered, judge: ModelSpec, shown: Sequence[str]
) -> Asked[T]:
    if isinstance(answer, Failed):
        return Asked(None, answer, None)
    provenance = Provenance(
        call=answer.key,
        model=judge.ref.name,
        prompt=rendered.name,
        prompt_version=rendered.version,
        prompt_hash=rendered.hash,
        shown=tuple(shown),
    )
    reply = answer.reply
    if not isinstance(reply, ChatReply):
        return Asked(None, failure("api_error", "the endpoint answered a chat with another kind of reply"), answer.key)
    if reply.refusal is not None or reply.finish_reason == "content_filter":
        return Asked(None, failure("refused", reply.refusal or "the provider filtered the reply"), answer.key)
    try:
        if reply.tool_calls and not reply.text.strip():
            raise UnparsableReply("it asks for tools instead of giving the reply that it was asked for")
        return Asked(parse(reply.text), None, answer.key, provenance)
    except UnparsableReply as problem:
        if reply.finish_reason == "length":
            return Asked(None, failure("truncated", f"cut at the token limit: {problem.reason}"), answer.key)
        kind: FailureKind = "refused" if looks_like_refusal(reply.text) else "unparsable"
        return Asked(
            None,
            failure(kind, problem.reason),
            answer.key,
            rejected=Rejected(text=reply.text[:20_000], problem=problem.reason, call=answer.key),
        )
