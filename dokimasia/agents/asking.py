"""How roles ask models: one `Ask`, one repair of an unusable reply, and a fresh draw on a retry; also embeddings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from pydantic import JsonValue

from dokimasia.agents.looking import MAX_CALLS, Looking, as_shown, take_looks
from dokimasia.agents.readers import aid_of
from dokimasia.agents.schemas import Structured, takes_schema
from dokimasia.domain.call import CallResult, Chat, ChatReply, Embedding, EmbeddingReply, ModelSpec
from dokimasia.domain.judgement import Failed, FailureKind, Provenance, Rejected
from dokimasia.domain.look import Look
from dokimasia.domain.ports import Gateway
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import CallFailed, UnparsableReply
from dokimasia.parsing.refusals import looks_like_refusal
from dokimasia.prompts import PromptLibrary, Rendered, render, with_form, with_looking, with_repair

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

REASON_LIMIT = 500
"""Maximum number of stored characters of a failure's reason."""

RETRY_STRIDE = 1_000_000
"""Number of draws between two attempts; it exceeds the number of repeats, so that a retry never takes a repeat's
draw."""


def draw(repeat: int, attempt: int) -> int:
    """Return the repeat index for the nth attempt of a repeat: 0 is the first attempt, each retry adds one."""
    return repeat + attempt * RETRY_STRIDE


def failure(kind: FailureKind, reason: str) -> Failed:
    """Return a failure with its reason cut to the stored length."""
    return Failed(kind=kind, reason=reason[:REASON_LIMIT])


@dataclass(frozen=True, slots=True)
class Ask(Generic[T_co]):
    """A role's request: its prompt, the inputs, what the model sees, and how the reply is read.

    A role is a function that returns an `Ask`, such as `score_criteria(sample, criteria, response)`; `ask` sends it.

    Attributes:
        prompt: the prompt's name.
        inputs: the prompt's inputs.
        shown: names of what the model sees, stored with the value.
        parse: reads the reply's text, or raises UnparsableReply with a reason that the model can act on.
        parse_again: reads the reply to a repair request, if that is read differently.
        structured: the same reply as a JSON object, used instead of the text if the model's endpoint accepts a JSON
            schema.
        take: in place of `parse`, for a reply that is used unchanged and never sent back: returns a value or a failure.
        images: what the model sees.
        tools: whether the model may use tools to look closer at an image.
        count: the number of items that the reply has a line for.
        repeat: the number of the independent draw.
        form: the empty form for a person, if the prompt has none.
    """

    prompt: str
    inputs: Mapping[str, str]
    shown: Sequence[str]
    parse: Callable[[str], T_co] | None = None
    parse_again: Callable[[str], T_co] | None = None
    structured: Structured[T_co] | None = None
    take: Callable[[ChatReply, Provenance], T_co | Failed] | None = None
    images: Sequence[ImageRef] = ()
    tools: bool = False
    count: int = 1
    repeat: int = 0
    form: str = ""


def rendered_asks(asks: Iterable[Ask[object]], library: PromptLibrary) -> list[Rendered]:
    """Return the messages of asks, rendered with a library's prompts."""
    return [render(ask.prompt, ask.inputs, images=ask.images, count=ask.count, library=library) for ask in asks]


@dataclass(frozen=True, slots=True)
class AskResult(Generic[T]):
    """The result of an ask: a value with its provenance (`source`), or a failure; never both.

    `rejected` is set if the last reply was complete but unusable; `sent_back`, if the reply answers one that was sent
    back. `call` is the ledger key of the last call, even if its reply was unusable; None without a reply. `earlier` are
    the keys of the calls before it, `looks` the uses of tools in them. `asks` is the number of requests without looks.
    """

    value: T | None
    failed: Failed | None
    call: str | None
    source: Provenance | None = None
    rejected: Rejected | None = None
    earlier: tuple[str, ...] = ()
    looks: tuple[Look, ...] = ()
    sent_back: Rejected | None = None
    asks: int = 1

    @property
    def calls(self) -> list[str]:
        """The ledger keys of all its calls, in order."""
        if self.call:
            return [*self.earlier, self.call]
        return [*self.earlier]

    @property
    def failure(self) -> Failed:
        """The failure of an ask without a value.

        Raises:
            ValueError: the ask has a value.
        """
        if self.failed is None:
            raise ValueError("this ask brought a value, not a failure")
        return self.failed

    @property
    def provenance(self) -> Provenance:
        """The provenance of the value.

        Raises:
            ValueError: the ask has none.
        """
        if self.source is None:
            raise ValueError("this ask brought a failure, not a value")
        return self.source

    def then(self, later: "AskResult[T]", *, sent_back: Rejected | None = None) -> "AskResult[T]":
        """Return the later result, with the calls and looks of both; `sent_back` is the reply that it answers, if any."""
        return replace(
            later,
            earlier=(*self.calls, *later.earlier),
            looks=(*self.looks, *later.looks),
            sent_back=sent_back or later.sent_back,
            asks=self.asks + later.asks,
        )


async def ask(
    what: Ask[T],
    *,
    gateway: Gateway,
    model: ModelSpec,
    attempts: Sequence[int] = (0,),
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
    looking: Looking | None = None,
) -> AskResult[T]:
    """Ask a model, send an unusable reply back once with all its faults, and return the value or the failure.

    Args:
        what: the role's request.
        gateway: the gateway.
        model: the model with its sampling.
        attempts: the attempts (see `draw`) to make, in order, until one has a value. An earlier attempt is answered by
            the ledger, or sent now if it has no reply.
        rejected: an earlier reply to send back; the new reply is not sent back again.
        library: prompts that replace the package's own.
        looking: tools with which a model that sees an image can look closer.

    Returns:
        The value, or the last failure: `refused`, `truncated`, `unparsable`, or the kind of a call without an answer.
            An exhausted budget, or a person who has not answered yet, ends the attempts immediately.
    """
    total: AskResult[T] | None = None
    for attempt in attempts:
        request = what if attempt == 0 else replace(what, repeat=draw(what.repeat, attempt))
        asking = partial(ask_once, request, gateway=gateway, model=model, library=library, looking=looking)
        result = await asking(rejected=rejected)
        if result.rejected is not None and rejected is None:
            result = result.then(await asking(rejected=result.rejected), sent_back=result.rejected)
        total = result if total is None else total.then(result)
        if total.failed is None or total.failed.open:
            break
    if total is None:
        raise ValueError("there is no attempt to make")
    return total


async def ask_once(
    what: Ask[T],
    *,
    gateway: Gateway,
    model: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
    looking: Looking | None = None,
) -> AskResult[T]:
    """Make one request as `ask` does, executing the model's tool calls until it replies.

    With `rejected`, the request quotes that reply and its faults. Every round of looks is an ordinary call. A model
    that has used all its looks is told so, and its next message counts as its reply, so that a request takes at most
    two calls more than it has looks.
    """
    looking = looking if what.images and what.tools and not model.ref.person else None
    rendered, schema, parse = _rendered(what, model, rejected, library, looking)
    aid = aid_of(rendered, parse, what.count, form=what.form) if model.ref.person else None
    call = Chat(
        model=model.ref,
        messages=rendered.messages,
        sampling=model.sampling,
        output_schema=schema,
        tools=() if looking is None else looking.specs,
        repeat=what.repeat,
    )
    images = as_shown(rendered.messages)
    earlier: list[str] = []
    looks: list[Look] = []
    out_of_looks = False
    while True:
        try:
            if aid is None:
                answer = await gateway.ask(call, label=rendered.name)
            else:
                answer = await gateway.ask(call, label=rendered.name, aid=aid)
        except CallFailed as failed:
            result: AskResult[T] = AskResult(None, failure(failed.kind, failed.reason), None)
            break
        request = _request_for_tools(answer)
        if looking is None or request is None or out_of_looks:
            shown = tuple(what.shown) if looking is None else (*what.shown, "tools")
            result = _read(what, parse, answer, rendered, model, shown)
            break
        remaining = looking.limit - len(looks)
        messages, images, new_looks = await take_looks(
            call.messages, request, images, looking, left=remaining, call=answer.key, prompt=rendered.name
        )
        call = call.model_copy(update={"messages": messages})
        earlier.append(answer.key)
        looks += new_looks
        out_of_looks = len(request.tool_calls[:MAX_CALLS]) > remaining
    if earlier:
        return replace(result, earlier=tuple(earlier), looks=tuple(looks))
    return result


def _rendered(
    what: Ask[T],
    model: ModelSpec,
    rejected: Rejected | None,
    library: PromptLibrary | None,
    looking: Looking | None,
) -> tuple[Rendered, dict[str, JsonValue] | None, Callable[[str], T] | None]:
    """Return the rendered prompt, the reply's JSON schema if the endpoint accepts one, and the reply's reader."""
    rendered = render(what.prompt, what.inputs, images=what.images, count=what.count, library=library)
    if looking is not None:
        rendered = with_looking(rendered, looking.limit, library=library)
    schema, parse = None, what.parse
    if rejected is not None and what.parse_again is not None:
        parse = what.parse_again
    if what.structured is not None and takes_schema(model):
        rendered = with_form(rendered, what.structured.form, library=library)
        schema, parse = what.structured.schema, what.structured.parse
    if rejected is not None:
        rendered = with_repair(rendered, rejected.text, rejected.problem, library=library)
    return rendered, schema, parse


def _request_for_tools(answer: CallResult) -> ChatReply | None:
    """Return the reply if it calls tools, and is neither refused nor filtered."""
    reply = answer.reply
    if not isinstance(reply, ChatReply) or not reply.tool_calls or reply.refusal is not None:
        return None
    if reply.finish_reason == "content_filter":
        return None
    return reply


def _read(
    what: Ask[T],
    parse: Callable[[str], T] | None,
    answer: CallResult,
    rendered: Rendered,
    model: ModelSpec,
    shown: tuple[str, ...],
) -> AskResult[T]:
    call, reply = answer.key, answer.reply
    if not isinstance(reply, ChatReply):
        return AskResult(None, failure("api_error", "the endpoint answered a chat with another kind of reply"), call)
    provenance = Provenance(
        call=call,
        model=model.ref.name,
        prompt=rendered.name,
        prompt_version=rendered.version,
        prompt_hash=rendered.hash,
        shown=shown,
    )
    if what.take is not None:
        value = what.take(reply, provenance)
        if isinstance(value, Failed):
            return AskResult(None, value, call)
        return AskResult(value, None, call, provenance)
    if parse is None:
        raise ValueError(f"what is asked by the prompt {what.prompt} says neither how to parse nor to take the reply")
    if reply.refusal is not None or reply.finish_reason == "content_filter":
        return AskResult(
            None,
            failure("refused", f"{model.ref.name} refused: {reply.refusal or 'the provider filtered its reply'}"),
            call,
        )
    try:
        if reply.tool_calls and not reply.text.strip():
            raise UnparsableReply("it asks for tools instead of giving the reply that it was asked for")
        return AskResult(parse(reply.text), None, call, provenance)
    except UnparsableReply as problem:
        if reply.finish_reason == "length":
            return AskResult(None, failure("truncated", f"cut at the token limit: {problem.reason}"), call)
        kind: FailureKind = "refused" if looks_like_refusal(reply.text) else "unparsable"
        who = f"{model.ref.name} refused: " if kind == "refused" else ""
        return AskResult(
            None,
            failure(kind, f"{who}{problem.reason}"),
            call,
            rejected=Rejected(text=reply.text[:20_000], problem=problem.reason, call=call),
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
