"""Simulated image models, and how simulated models write instructions for them and look at what came of these."""

from collections.abc import Mapping, Sequence

import orjson
from pydantic import Field

from dokimasia.domain.call import ChatReply, ImageEdit, Usage
from dokimasia.domain.identity import Value
from dokimasia.errors import NotFound
from dokimasia.simulation.blindspots.images import edited, edits_of
from dokimasia.simulation.blindspots.instructions import (
    FORMS,
    in_words,
    read_instruction,
    write_instruction,
)
from dokimasia.simulation.blindspots.spots import spots_of
from dokimasia.simulation.candidates import REFUSAL
from dokimasia.simulation.draws import IMAGE_TOKENS, Draws, bare_name, count_tokens, request_hash
from dokimasia.simulation.panel import CHATTER, slip_of
from dokimasia.simulation.profiles import JudgeProfile, Profile, as_judge
from dokimasia.simulation.reading import read_json

PROMPTS = ("edit_instruction", "edit_check")
"""The prompts that are answered here."""

_STRAY = ("incomplete_scene", "overcrowding", "style_inconsistency")
"""What a careless image model does to an image without being told."""


class EditorProfile(Value):
    """A simulated image model; of its rates at most one thing happens to an edit.

    It gives the image back as it was with probability `idles`, does something else as well with probability `strays`, and
    refuses with probability `refuses`.
    """

    name: str = Field(pattern=r"^sim/[a-z0-9-]+$")
    idles: float = Field(default=0.0, ge=0, le=1)
    strays: float = Field(default=0.0, ge=0, le=1)
    refuses: float = Field(default=0.0, ge=0, le=1)


EDITORS: Mapping[str, EditorProfile] = {
    profile.name: profile
    for profile in (
        EditorProfile(name="sim/editor"),
        EditorProfile(name="sim/editor-careless", idles=0.2, strays=0.25, refuses=0.05),
    )
}
"""The image models that ship, by name. They edit images and answer nothing else."""


def edit(call: ImageEdit, image: bytes) -> tuple[bytes | None, Usage]:
    """Return the edited image as PNG bytes, or None where the model refuses, and the tokens of both.

    What it does not understand, and what names nothing in the image, it leaves as it is.

    Raises:
        NotFound: no simulated image model has that name.
    """
    name = bare_name(call.model.model)
    if name not in EDITORS:
        raise NotFound(f"no simulated image model is called {name!r}; there are: {', '.join(EDITORS)}")
    profile, draws = EDITORS[name], Draws(request_hash(call))
    usage = Usage(input_tokens=IMAGE_TOKENS + count_tokens(call.instruction), output_tokens=IMAGE_TOKENS)
    fate = draws.unit("fate")
    if fate < profile.refuses:
        return None, usage.model_copy(update={"output_tokens": 0})
    instruction = read_instruction(call.instruction)
    if instruction is None or fate < profile.refuses + profile.idles:
        return image, usage
    made = edited(image, instruction, seed=int(draws.unit("seed") * 2**31)) or image
    if made is not image and fate < profile.refuses + profile.idles + profile.strays:
        stray = write_instruction(
            draws.pick([one for one in _STRAY if one != instruction.dimension], "stray"), spots_of(made), draws
        )
        made = (edited(made, stray) if stray else None) or made
    return made, usage


def reply(profile: Profile, prompt: str, inputs: Mapping[str, str], images: Sequence[bytes], draws: Draws) -> ChatReply:
    """Return the reply of a model that is to write an instruction for an image, or to look at what came of one."""
    judge = as_judge(profile)
    slip = slip_of(judge, draws)
    if slip == "refuses" or draws.chance(judge.refusal, "refusal"):
        return ChatReply(text=REFUSAL, refusal=REFUSAL, finish_reason="stop", native_finish_reason="stop")
    said = None
    if slip is None and images and not draws.chance(judge.format_noise, "noise"):
        said = (
            _instruction(inputs, images[0], draws)
            if prompt == "edit_instruction"
            else _seen(judge, inputs, images, draws)
        )
    text = CHATTER if said is None else orjson.dumps(said).decode()
    return ChatReply(text=text, finish_reason="stop", native_finish_reason="stop")


def _instruction(inputs: Mapping[str, str], image: bytes, draws: Draws) -> dict[str, str] | None:
    described = read_json(inputs["dimension"])
    kind = described[0].get("kind") if isinstance(described, list) and described else None
    if kind not in FORMS:
        return None
    instruction = write_instruction(kind, spots_of(image), draws)
    if instruction is None:
        return {"unsuited": "No words stand in the picture."}
    return {
        "instruction": in_words(instruction),
        "change": f"What was asked for is shown otherwise: {_about(instruction.fields)}.",
    }


def _about(fields: Mapping[str, str]) -> str:
    return ", ".join(fields.values()) or "the whole picture"


def _seen(judge: JudgeProfile, inputs: Mapping[str, str], images: Sequence[bytes], draws: Draws) -> dict[str, object]:
    """What is seen of an edit: of a picture that says what was done to it that, of any other that it was done."""
    done, alone = True, True
    told = read_instruction(inputs["instruction"])
    if len(images) > 1 and told is not None:
        new = [edit.dimension for edit in edits_of(images[1])][len(edits_of(images[0])) :]
        done, alone = told.dimension in new, set(new) <= {told.dimension}
    if not (done and alone) and not draws.chance(judge.detects_missing, "sees"):
        done = alone = True
    elif done and alone and draws.chance(judge.false_alarm, "false-alarm"):
        alone = False
    return {"seen": "The two pictures were compared part by part.", "done": done, "alone": alone}
