"""Conversion of a prompt and its inputs to messages, and back: `recognise` is the tested inverse of `render`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from dokimasia.domain.call import Message, ToolCall
from dokimasia.domain.identity import Value, canonical_json
from dokimasia.domain.sample import ImageRef, Part, TextPart
from dokimasia.errors import ConfigError
from dokimasia.prompts.fence import fence, nonces, read_fences
from dokimasia.prompts.library import Prompt, PromptLibrary, default_library

_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")
QUOTE_LIMIT = 20_000
"""The maximum number of quoted characters of an unusable reply that is sent for repair."""


class Rendered(Value):
    """Messages ready to send, with the prompt's name, version and hash to store beside whatever comes of them.

    `form` is the empty form that the reply is asked for in, where the prompt has one.
    """

    messages: tuple[Message, ...]
    name: str
    version: int
    hash: str
    form: str = ""


class Recognised(Value):
    """What a request asks: the prompt's name and version, its inputs, its images, and, in a repair, the problem named."""

    name: str
    version: int
    inputs: dict[str, str]
    images: tuple[ImageRef, ...] = ()
    problem: str | None = None


_KEPT = 100_000
"""The maximum number of characters of inputs for which the rendering is cached."""


def render(
    name: str,
    inputs: Mapping[str, str],
    *,
    images: Sequence[ImageRef] = (),
    count: int = 1,
    library: PromptLibrary | None = None,
) -> Rendered:
    """Return the messages of a prompt: trusted instructions as system, images and fenced inputs as user.

    Args:
        name: the prompt's name.
        inputs: its inputs.
        images: the shown images.
        count: the number of numbered things in the reply's form.
        library: prompts that replace the package's own.

    Raises:
        ConfigError: an input is unknown, or a required one is missing.
    """
    make = _rendered if sum(map(len, inputs.values())) <= _KEPT else _rendered.__wrapped__
    return make(library or default_library(), name, tuple(inputs.items()), tuple(images), count)


@lru_cache(maxsize=64)  # all candidates receive the same prompt for a sample, one after another
def _rendered(
    library: PromptLibrary,
    name: str,
    input_items: tuple[tuple[str, str], ...],
    images: tuple[ImageRef, ...],
    count: int,
) -> Rendered:
    prompt, inputs = library.get(name), dict(input_items)
    unknown = set(inputs) - set(prompt.inputs)
    missing = {key for key in prompt.inputs if not prompt.optional(key)} - set(inputs)
    if unknown or missing:
        raise ConfigError(f"prompt {name}: unknown inputs {sorted(unknown)}, missing inputs {sorted(missing)}")
    parts: tuple[Part, ...] = (*images, TextPart(text=_user_text(prompt, inputs)))
    messages = (Message(role="user", parts=parts),)
    instructions = prompt.instructions(count)
    if instructions:
        messages = (_system(instructions), *messages)
    form = prompt.form_for(count)
    return Rendered(messages=messages, name=prompt.name, version=prompt.version, hash=prompt.hash, form=form)


def with_repair(rendered: Rendered, bad_reply: str, problem: str, *, library: PromptLibrary | None = None) -> Rendered:
    """Return the messages that send an unusable reply back once: the prompt, the reply, the problem, and the empty
    form.

    At most `QUOTE_LIMIT` characters of the reply are quoted.
    """
    quoted = bad_reply[:QUOTE_LIMIT] or "(empty reply)"
    form = {"form": rendered.form} if rendered.form else {}
    repair = render("repair", {"problem": problem, **form}, library=library)
    messages = (
        *rendered.messages,
        Message(role="assistant", parts=(TextPart(text=quoted),)),
        *repair.messages,
    )
    return rendered.model_copy(update={"messages": messages})


def with_form(rendered: Rendered, form: str, *, library: PromptLibrary | None = None) -> Rendered:
    """Return the messages with a sentence in the instructions that asks for the reply as one JSON object.

    It accompanies a native output schema, which many servers enforce without showing it to the model.

    Args:
        rendered: a judge's prompt.
        form: the object, as an example with a value or a few words in each field.
        library: prompts that replace the package's own.
    """
    return _with_instructions(rendered, render("structured", {"form": form}, library=library))


def with_looking(rendered: Rendered, limit: int, *, library: PromptLibrary | None = None) -> Rendered:
    """Return the messages with a paragraph in the instructions on using tools for closer looks.

    It accompanies the offered tools; `limit` is the maximum number of uses.
    """
    return _with_instructions(rendered, render("looking", {"limit": str(limit)}, library=library))


def without_looking(messages: Sequence[Message], *, library: PromptLibrary | None = None) -> tuple[Message, ...]:
    """Return the messages as they were before `with_looking`; others unchanged."""
    return _without_instructions(messages, "looking", library or default_library())


def without_form(messages: Sequence[Message], *, library: PromptLibrary | None = None) -> tuple[Message, ...]:
    """Return the messages as they were before `with_form`; others unchanged."""
    return _without_instructions(messages, "structured", library or default_library())


def with_looks(
    messages: Sequence[Message],
    text: str,
    calls: Sequence[tuple[ToolCall, str]],
    images: Sequence[tuple[int, ImageRef]],
) -> tuple[Message, ...]:
    """Return the messages with one round of looks appended.

    A tool's message contains only text, since many endpoints accept nothing else there; the images follow in one user
    message.

    Args:
        messages: the earlier messages.
        text: the model's text with its calls.
        calls: its calls, each with the reply to it.
        images: the resulting images, with their numbers.
    """
    parts: tuple[Part, ...] = (TextPart(text=text),) if text else ()
    added = [Message(role="assistant", parts=parts, tool_calls=tuple(call for call, _ in calls))]
    added += [Message(role="tool", parts=(TextPart(text=answer),), tool_call_id=call.id) for call, answer in calls]
    if images:
        image_parts: list[Part] = []
        for number, image in images:
            image_parts += [TextPart(text=f"Image {number}:"), image]
        added.append(Message(role="user", parts=tuple(image_parts)))
    return (*messages, *added)


def without_looks(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages without any round of looks; the inverse of `with_looks`."""
    remaining: list[Message] = []
    inside = False
    for message in messages:
        if message.role == "assistant":
            inside = bool(message.tool_calls)
        elif inside and message.role == "user" and not message.images:
            inside = False
        if not inside:
            remaining.append(message)
    return tuple(remaining)


def recognise(messages: Sequence[Message], *, library: PromptLibrary | None = None) -> Recognised | None:
    """Return the prompt of messages, with its inputs, or None if it is none of the library's.

    A prompt is recognised with and without `with_form`, `with_looking` and later looks.

    The nonces are checked against the inputs, so that a forged block is not recognised. A prompt whose inputs are all
    plain (a candidate's question) is recognised by having no system message and no fence.
    """
    prompts = library or default_library()
    messages = without_looks(messages)
    problem: str | None = None
    if len(messages) >= 3 and messages[-2].role == "assistant":
        repair = _match(prompts.get("repair"), messages[-1:])
        if repair is None:
            return None
        problem = repair["problem"]
        messages = messages[:-2]
    messages = without_looking(without_form(messages, library=prompts), library=prompts)
    for prompt in prompts.with_system(_instructions(messages)[0]):
        inputs = _match(prompt, messages)
        if inputs is not None:
            images = tuple(image for message in messages for image in message.images)
            return Recognised(name=prompt.name, version=prompt.version, inputs=inputs, images=images, problem=problem)
    return None


def _user_text(prompt: Prompt, inputs: Mapping[str, str]) -> str:
    paragraphs = [pieces for pieces in _paragraphs(prompt.user) if all(slot in inputs for slot in pieces[1::2])]
    filled = {slot: inputs[slot] for pieces in paragraphs for slot in pieces[1::2]}
    if prompt.has_fence:
        marks = nonces(prompt.name, prompt.version, filled)
        filled |= {name: fence(name, filled[name], mark) for name, mark in marks.items() if prompt.fenced(name)}
    return "\n\n".join(
        "".join(filled[piece] if at % 2 else piece for at, piece in enumerate(pieces)) for pieces in paragraphs
    )


@lru_cache(maxsize=256)  # a run uses the same few prompts all the time
def _paragraphs(user: str) -> tuple[tuple[str, ...], ...]:
    """Return each paragraph of a prompt's user part in pieces, alternating between text and names of inputs."""
    return tuple(tuple(_SLOT.split(paragraph)) for paragraph in user.split("\n\n"))


def _with_instructions(rendered: Rendered, more: Rendered) -> Rendered:
    """Return the messages with another prompt's text appended to their instructions."""
    added = more.messages[0].text
    head, rest = _instructions(rendered.messages)
    text = f"{head}\n\n{added}" if head else added
    return rendered.model_copy(update={"messages": (_system(text), *rest)})


def _without_instructions(messages: Sequence[Message], name: str, prompts: PromptLibrary) -> tuple[Message, ...]:
    """Return the messages without a prompt's text at the end of their instructions; others unchanged."""
    head, rest = _instructions(messages)
    if not head or name not in prompts.names() or _SLOT.split(prompts.get(name).user)[0] not in head:
        return tuple(messages)
    match = re.fullmatch(r"(?s:(?P<before>.*?)(?:\n\n)?)" + _plain_pattern(prompts.get(name), ()), head, re.DOTALL)
    if match is None:
        return tuple(messages)
    if match["before"]:
        return (_system(match["before"]), *rest)
    return rest


def _instructions(messages: Sequence[Message]) -> tuple[str, tuple[Message, ...]]:
    """Return the text of the leading system message, empty without one, and the other messages."""
    if messages and messages[0].role == "system":
        return messages[0].text, tuple(messages[1:])
    return "", tuple(messages)


@lru_cache(maxsize=64)  # thousands of calls have the same instructions
def _system(text: str) -> Message:
    return Message(role="system", parts=(TextPart(text=text),))


def _match(prompt: Prompt, messages: Sequence[Message]) -> dict[str, str] | None:
    head, rest = _instructions(messages)
    if not prompt.instructed_by(head) or len(rest) != 1 or rest[0].role != "user":
        return None
    text = messages[-1].text
    if not prompt.has_fence:
        return _match_plain(prompt, text)
    if all(map(prompt.optional, prompt.inputs)) and text == _user_text(prompt, {}):
        return {}
    inputs = read_fences(text, prompt.name, prompt.version)
    if inputs is None or not set(inputs) <= set(prompt.inputs) or _user_text(prompt, inputs) != text:
        return None
    return inputs


def _match_plain(prompt: Prompt, text: str) -> dict[str, str] | None:
    """Return the inputs of a prompt without fences, by its literal parts; the reading with most inputs wins."""
    optional = [name for name in prompt.inputs if prompt.optional(name)]
    for absent in ((), tuple(optional)):
        pattern = _plain_pattern(prompt, absent)
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match is not None:
            return {key: value for key, value in match.groupdict().items() if value is not None}
    return None


def _plain_pattern(prompt: Prompt, absent: Sequence[str]) -> str:
    patterns: list[str] = []
    for paragraph in prompt.user.split("\n\n"):
        if any(slot in absent for slot in _SLOT.findall(paragraph)):
            continue
        pieces = _SLOT.split(paragraph)
        patterns.append("".join(re.escape(p) if i % 2 == 0 else f"(?P<{p}>.*)" for i, p in enumerate(pieces)))
    return "\n\n".join(patterns)


def lines_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as shown to a model: a JSON array, with one object a line.

    Inside a JSON string, untrusted text cannot pass for the beginning of another row.
    """
    return "[\n" + ",\n".join(canonical_json(row).decode() for row in rows) + "\n]"


def choices_text(choices: Sequence[str]) -> str:
    """Return the options of a multiple-choice question as lines `A. ...`; empty without options."""
    return "\n".join(f"{chr(ord('A') + number)}. {choice}" for number, choice in enumerate(choices))
