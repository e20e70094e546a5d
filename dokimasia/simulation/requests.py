"""Recognition of requests by simulated models: the prompt, its inputs, and text outside the fences."""

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import orjson
from pydantic import BaseModel, JsonValue, ValidationError

from dokimasia.domain.call import Message
from dokimasia.prompts import (
    Prompt,
    PromptLibrary,
    Recognised,
    default_library,
    recognise,
    without_form,
    without_looking,
    without_looks,
)
from dokimasia.prompts.fence import fenced_pieces, read_fences

Row = TypeVar("Row", bound=BaseModel)
_CHOICE = re.compile(r"^([A-Z])\. ", re.MULTILINE)


class Inputs(BaseModel, frozen=True):
    """The inputs of a prompt that simulated models read, empty where it has none; None where the lack says something."""

    answer: str = ""
    answers: str = ""
    candidates: str = ""
    capabilities: str = ""
    caption: str = ""
    chain: str = ""
    changed: str = ""
    choices: str = ""
    count: str | None = None
    criteria: str = ""
    criterion: str = ""
    descriptions: str = ""
    dimension: str = ""
    earlier_answer: str | None = None
    error: str | None = None
    errors: str = ""
    feedback: str = ""
    ground_truth: str = ""
    group_a: str = ""
    group_b: str = ""
    instruction: str = ""
    justification: str = ""
    modes: str = ""
    notes: str = ""
    paths: str = ""
    points: str = ""
    problems: str = ""
    question: str = ""
    reference: str | None = None
    reference_answer: str | None = None
    report_one: str = ""
    report_two: str = ""
    response: str = ""
    response_a: str = ""
    response_b: str = ""
    responses: str = ""
    rubrics: str = ""
    secrets: str = ""
    subject: str = ""
    tables: str = ""
    task: str = ""
    text: str = ""
    tree: str = ""
    where: str = ""


class UnderstoodPrompt(NamedTuple):
    """A recognised request, and text in it that is neither part of the prompt nor of a fenced input."""

    request: Recognised
    outside: str = ""

    @property
    def inputs(self) -> Inputs:
        """The inputs of the prompt."""
        return Inputs.model_validate(self.request.inputs)


def understand(messages: Sequence[Message], *, library: PromptLibrary | None = None) -> UnderstoodPrompt | None:
    """Return the recognised request; None if the messages are not a known prompt.

    An exactly rendered prompt has no text outside. A judge's prompt with text added outside the fences is still recognised,
    and the addition is returned separately. Instructions on output objects or tools do not count as additions, and earlier
    looks are ignored. `library` has the known prompts; by default the included ones.
    """
    prompts = library or default_library()
    messages = without_looks(messages)
    messages = without_looking(without_form(messages, library=prompts), library=prompts)
    exact = recognise(messages, library=prompts)
    if exact is not None:
        return UnderstoodPrompt(exact)
    if len(messages) >= 3 and messages[-2].role == "assistant":
        inner = understand(messages[:-2], library=prompts)
        if inner is None:
            return None
        return inner._replace(request=inner.request.model_copy(update={"problem": messages[-1].text}))
    system = "\n".join(message.text for message in messages if message.role == "system")
    user = "\n".join(message.text for message in messages if message.role == "user")
    for prompt in map(prompts.get, prompts.names()):
        if prompt.system and prompt.system in system:
            return _with_outside(prompt, system, user, messages)
    return None


def _with_outside(prompt: Prompt, system: str, user: str, messages: Sequence[Message]) -> UnderstoodPrompt | None:
    inputs = read_fences(user, prompt.name, prompt.version)
    if inputs is None:
        return None
    if not {name for name in prompt.inputs if not prompt.optional(name)} <= set(inputs) <= set(prompt.inputs):
        return None
    own = set(prompt.user.splitlines())
    outside = "".join(piece.text for piece in fenced_pieces(user) if not piece.name)
    added = [line for line in outside.splitlines() if line not in own]
    images = tuple(image for message in messages for image in message.images)
    request = Recognised(name=prompt.name, version=prompt.version, inputs=inputs, images=images)
    return UnderstoodPrompt(request, "\n".join([system.replace(prompt.system, "", 1), *added]).strip())


def read_json(text: str) -> JsonValue:
    """Return the content of a JSON text; None if it cannot be read."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def read_rows(text: str, model: type[Row]) -> list[Row]:
    """Return the rows of a JSON array; none if the text is not an array, or if a row does not fit the model."""
    rows = read_json(text)
    try:
        if isinstance(rows, list):
            return [model.model_validate(row) for row in rows]
        return []
    except ValidationError:
        return []


def read_choices(text: str) -> list[str]:
    """Return the options of a list `A. ...`, `B. ...`, in order; further lines belong to the previous option."""
    choices: list[str] = []
    for line in text.splitlines():
        letter = _CHOICE.match(line)
        if letter and letter[1] == chr(ord("A") + len(choices)):
            choices.append(line[letter.end() :])
        elif choices:
            choices[-1] += "\n" + line
    return choices
