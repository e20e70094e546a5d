"""Instructions for image edits, and checks of edited images: one JSON object each."""

import re
from collections.abc import Collection
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.perturbation import EditCheck, EditInstruction
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.declared import AnySentence, JsonReply, Sentence, at_most, checked, read_object
from dokimasia.parsing.examples import FormExample
from dokimasia.parsing.reply import short

MAX_WORDS = 80
"""The maximum number of words of an instruction."""

MAX_SAID = 100
"""The maximum number of words of any other text in these replies."""

_PLACEHOLDER = re.compile(r"<[a-z][^<>]{3,}>", re.IGNORECASE)
_SIGNS = re.compile(r"[\W_]+")


def _without_places(text: str, _about: object) -> str:
    if _PLACEHOLDER.search(text):
        raise UnparsableReply(f"a text holds a placeholder of the form: {short(text)}")
    return text


def _without_kind(instruction: str, unnamed: Collection[str]) -> str:
    plain = _SIGNS.sub(" ", instruction).casefold()
    forbidden = [name for name in unnamed if _SIGNS.sub(" ", name).casefold().strip() in plain]
    if forbidden:
        raise UnparsableReply(
            f"the instruction names the kind of change ('{short(forbidden[0])}'): say what is to be shown instead"
        )
    return instruction


_Text = Annotated[Sentence, at_most(MAX_SAID), checked(_without_places)]
_AnyText = Annotated[AnySentence, at_most(MAX_SAID), checked(_without_places)]


class _EditReply(JsonReply):
    example: ClassVar[FormExample] = FormExample(
        """{"instruction": "Paint the boat on the left green instead of red.", "change": "The boat becomes green, while \
the prompt asks for a red one.", "rationale": "The boat is still there at its place, and a green boat looks just as natural."}
{"unsuited": "The image shows no lettering that could be misspelt."}"""
    )


class InstructionReply(_EditReply):
    """How an image is to be edited."""

    known_by: ClassVar[tuple[str, ...]] = ("instruction",)

    instruction: Annotated[Sentence, at_most(MAX_WORDS), checked(_without_places), checked(_without_kind)] = Field(
        description="the instruction"
    )
    change: _Text = Field(description="what will be changed, and what is wrong with it")
    rationale: _AnyText = Field(default="", description="why that is easy to miss")


class UnsuitedReply(_EditReply):
    """Why an image cannot be edited so."""

    known_by: ClassVar[tuple[str, ...]] = ("unsuited",)

    unsuited: _Text = Field(description="why")


class EditCheckReply(JsonReply):
    """What was seen of an edit."""

    known_by: ClassVar[tuple[str, ...]] = ("done", "alone")
    example: ClassVar[FormExample] = FormExample(
        '{"seen": "The boat on the left is green instead of red, and the flag on the jetty is gone.", "done": true, '
        '"alone": false}'
    )

    seen: _Text = Field(description="what differs between the two images, in a sentence")
    done: bool = Field(description="true or false: it was carried out")
    alone: bool = Field(description="true or false: nothing else was changed")


class GoldImageReply(JsonReply):
    """Whether a gold image is right, and what is wrong with it."""

    known_by: ClassVar[tuple[str, ...]] = ("right",)
    example: ClassVar[FormExample] = FormExample(
        """{"right": false, "why": "The image shows four boats, while the prompt asks for three."}
{"right": true, "why": ""}"""
    )

    right: bool = Field(description="true or false")
    why: _AnyText = Field(default="", description="what is wrong, in one sentence, or nothing")


def parse_gold_image_check(reply: str) -> str:
    """Return the fault of a gold image; empty if it is right.

    Raises:
        UnparsableReply: there is no object with `right`; or it is false without a reason, or true with one.
    """
    parsed = read_object(reply, GoldImageReply)
    if not parsed.right and not parsed.why:
        raise UnparsableReply("the field 'why' is missing or empty, and the image is said to be wrong")
    if parsed.right and parsed.why:
        raise UnparsableReply(
            "the image is said to be right, and 'why' says what is wrong: leave it empty, or say false"
        )
    return parsed.why


def parse_edit_instruction(reply: str, *, unnamed: Collection[str] = ()) -> EditInstruction:
    """Return an edit instruction with the change it makes, or the reason why the image is unsuited to it.

    Args:
        reply: the model's reply.
        unnamed: words that the instruction must not contain: the names of the kind of change.

    Raises:
        UnparsableReply: there is no such object, or several that differ; the instruction is too long or contains a
            forbidden word; or the object has both an instruction and a reason. The reason names all faults.
    """
    parsed = read_object(reply, InstructionReply, UnsuitedReply, about=unnamed)
    return EditInstruction(**parsed.model_dump())


def parse_edit_check(reply: str) -> EditCheck:
    """Return a model's check of an edited image.

    Raises:
        UnparsableReply: there is no such object, or several that differ, or a verdict is neither true nor false.
    """
    return EditCheck(**read_object(reply, EditCheckReply).model_dump())
