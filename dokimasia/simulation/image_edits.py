"""Edits of pictures: instructions, drawing, and the simulated image models that carry them out.

The edits of a picture are stored in its metadata and read from there. A judge that receives a picture finds the
dimensions of its faults with `faults_in_image`. Harmless edits leave a picture without a fault.
"""

import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

import orjson
from PIL import Image
from pydantic import BaseModel, Field, JsonValue, ValidationError

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.call import ChatReply, ImageEdit, Usage
from dokimasia.domain.criterion import Box
from dokimasia.domain.identity import Value
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import NotFound
from dokimasia.simulation.candidates import REFUSED
from dokimasia.simulation.data_files import read_data
from dokimasia.simulation.draws import IMAGE_TOKENS, Draws, bare_name, count_tokens, request_hash, text_reply
from dokimasia.simulation.panel import CHATTER, judge_slip
from dokimasia.simulation.picture import draw_scene, read_metadata, read_scene, with_metadata
from dokimasia.simulation.picture_content import PictureFact, content_of_scene
from dokimasia.simulation.profiles import JudgeProfile, Profile, as_judge
from dokimasia.simulation.prompted import scene_by_prompt
from dokimasia.simulation.requests import Inputs, read_rows
from dokimasia.simulation.scene import Scene
from dokimasia.simulation.scenes.drawing import COLOUR_NAMES, COLOURS, INK, Canvas, Rgb, ink_on, union

_MOST_SPOTS = 8
_LARGEST, _SMALLEST = 0.12, 0.005
"""The shares of a picture's area between which the region of a fact counts as a thing."""

_THIRDS = ("left", "middle", "right")
_LEVELS = ("upper", "central", "lower")


class Spot(NamedTuple):
    """A thing in a picture: name, box, kind and colour if known, and its text."""

    name: str
    box: Box
    kind: str = ""
    colour: str = ""
    words: str = ""


class Spots(NamedTuple):
    """All things that edits can change, and the text in the picture.

    `board` and `label` carry text, and `mislabel` would be wrong on the label; None if the picture has no known text. `absent`
    are kinds of things that are not in the picture.
    """

    things: tuple[Spot, ...]
    absent: tuple[str, ...] = ("bench", "balloon", "lamp")
    board: Spot | None = None
    label: Spot | None = None
    mislabel: str = ""

    @property
    def written(self) -> tuple[Spot, ...]:
        """The things that carry text."""
        return tuple(spot for spot in (self.board, self.label) if spot is not None)


def spots_of(picture: bytes) -> Spots:
    """Return what edits of a picture can change: the things of a planted scene, or nine parts of any other picture."""
    sighting = read_scene(picture)
    if sighting is None or sighting[1] != (0.0, 0.0, 1.0, 1.0):
        return Spots(_nine_parts())
    scene = sighting[0]
    if is_natural(scene):
        return spots_of_scene(scene)
    return _spots_of_facts(scene) or Spots(_nine_parts())


def is_natural(scene: Scene) -> bool:
    """Return whether a scene consists of separate things, so that a prompt can describe it."""
    return scene.domain == "natural"


def spots_of_scene(scene: Scene) -> Spots:
    """Return what edits of a natural scene can change."""
    facts = {fact.id: fact for fact in scene.facts}
    things = tuple(
        Spot(
            f"{facts[id.replace('.kind', '.colour')].value} {fact.value}",
            fact.box,
            fact.value,
            facts[id.replace(".kind", ".colour")].value,
        )
        for id, fact in facts.items()
        if id.endswith(".kind")
    )
    sign, number = facts["sign.text"], facts["sign.number"]
    kinds = {spot.kind for spot in things}
    absent = tuple(kind for kind in ("bench", "lamp", "balloon", "mug", "kite", "bus") if kind not in kinds)
    return Spots(
        things,
        absent[:3],
        Spot(f"words on the {sign.subject}", sign.box, words=sign.value),
        Spot(f"number on the {sign.subject}", number.box, words=number.value),
        str((int(number.value) + 37) % 90 + 10),
    )


def _spots_of_facts(scene: Scene) -> Spots | None:
    """Return facts of a scene whose regions have the size of a thing and do not overlap, named as in descriptions.

    The first two whose values begin with letters count as text.
    """
    facts = {(point.value, point.subject): point for point in content_of_scene(scene).points}
    spots: dict[Spot, PictureFact] = {}
    for fact in scene.facts:
        point = facts.get((fact.value, fact.subject))
        area = (fact.box.x1 - fact.box.x0) * (fact.box.y1 - fact.box.y0)
        if point is None or not _SMALLEST <= area <= _LARGEST or any(_overlap(fact.box, spot.box) for spot in spots):
            continue
        spots[Spot(f"{point.attribute} of the {point.subject}", fact.box)] = point
    things = tuple(spots)[:_MOST_SPOTS]
    if len(things) < 2:
        return None
    words = [spot._replace(words=spots[spot].value) for spot in things if spots[spot].value[:3].isalpha()]
    if len(words) < 2:
        return Spots(things)
    board, label = words[:2]
    mislabel = next(point.false[0] for spot, point in spots.items() if spot.name == label.name)
    return Spots(things, board=board, label=label, mislabel=mislabel)


def _nine_parts() -> tuple[Spot, ...]:
    return tuple(
        Spot(
            f"{level} {side} part",
            Box(x0=column / 3 + 0.08, y0=row / 3 + 0.08, x1=(column + 1) / 3 - 0.08, y1=(row + 1) / 3 - 0.08),
        )
        for row, level in enumerate(_LEVELS)
        for column, side in enumerate(_THIRDS)
    )


def _overlap(box: Box, other: Box) -> bool:
    return box.x0 < other.x1 and other.x0 < box.x1 and box.y0 < other.y1 and other.y0 < box.y1


class EditForm(NamedTuple):
    """An edit of a dimension: the instruction, the place, and the note that is drawn there.

    In `ask`, `{thing}` and `{other}` are in the picture, the other fields are new. An edit of the whole picture covers it with
    a haze.
    """

    ask: str
    where: Literal["thing", "both", "larger", "right third", "left half", "middle", "everywhere"] = "thing"
    shows: str = ""


EDIT_FORMS = read_data("image_edits.yaml", dict[str, EditForm])
"""The edit of each dimension."""

_OF_WRITING = ("typographic_corruption", "incomplete_rendering", "background_misrendering", "mislabeled_symbols")

_ANOTHER = re.compile(r"make another image to the same text\b", re.IGNORECASE)
_SLOTS = {"kind": r"[a-z ]{1,40}", "colour": r"[a-z]{1,20}", "words": r'[^"\n]{1,80}'}
_THING = r'[^".\n]{1,140}?'


class PlantedInstruction(NamedTuple):
    """A recognised instruction: the dimension of the error, and the values of its fields."""

    dimension: str
    fields: Mapping[str, str]


def write_instruction(dimension: str, spots: Spots, draws: Draws) -> PlantedInstruction | None:
    """Return an instruction for an edit of a picture; None if the picture has nothing that fits the dimension."""
    if dimension not in EDIT_FORMS:
        return None
    if dimension in _OF_WRITING:
        return _instruction_for_writing(dimension, spots)
    # In flying things, the absence of support does not show.
    usable = [
        spot for spot in spots.things if dimension != "physics_manipulation" or spot.kind not in ("balloon", "kite")
    ]
    thing = draws.pick(usable or spots.things, "thing", dimension)
    others = [spot for spot in spots.things if spot != thing and (spot.kind != thing.kind or not thing.kind)]
    fields = {"thing": thing.name}
    if dimension == "spatial_manipulation":
        fields["other"] = draws.pick(others or spots.things, "other").name
    elif dimension in ("object_substitution", "constraint_violation"):
        fields["kind"] = draws.pick(spots.absent, "kind")
    elif dimension == "attribute_manipulation":
        colours = {spot.colour for spot in spots.things if spot.kind == thing.kind} - {""}
        fields["colour"] = draws.pick([name for name in COLOUR_NAMES if name not in colours], "colour")
    used = {name: value for name, value in fields.items() if f"{{{name}}}" in EDIT_FORMS[dimension].ask}
    return PlantedInstruction(dimension, used)


def _instruction_for_writing(dimension: str, spots: Spots) -> PlantedInstruction | None:
    if spots.board is None or spots.label is None:
        return None
    if dimension == "mislabeled_symbols":
        return PlantedInstruction(dimension, {"thing": spots.label.name, "words": spots.mislabel})
    words = {"words": misspell(spots.board.words)} if dimension == "typographic_corruption" else {}
    return PlantedInstruction(dimension, {"thing": spots.board.name, **words})


def instruction_text(instruction: PlantedInstruction) -> str:
    """Return an instruction as a sentence."""
    return EDIT_FORMS[instruction.dimension].ask.format(**instruction.fields)


def read_instruction(text: str) -> PlantedInstruction | None:
    """Return the first known instruction in a text, or None; a request for another image counts as an edit of the light."""
    plain = " ".join(text.split())
    if _ANOTHER.match(plain):
        return PlantedInstruction(NEUTRAL, {})
    for dimension, pattern in _patterns().items():
        if match := pattern.search(plain):
            return PlantedInstruction(dimension, match.groupdict())
    return None


def misspell(words: str) -> str:
    """Return words with one letter doubled, two swapped and one left out, as far as there are enough letters."""
    letters = list(words)
    places = [at for at, letter in enumerate(letters) if letter.isalpha()]
    if len(places) > 3:
        first, second = places[1], places[2]
        letters[first], letters[second] = letters[second], letters[first]
        letters[places[-2]] = ""
    letters[places[-1] if places else 0] *= 2
    changed = "".join(letters)
    if changed != words:
        return changed
    return f"{words}x"


def find_spot(spots: Spots, name: str) -> Spot | None:
    """Return the thing that an instruction names, ignoring case."""
    return next((spot for spot in (*spots.written, *spots.things) if spot.name.casefold() == name.casefold()), None)


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    patterns: dict[str, re.Pattern[str]] = {}
    for dimension, form in EDIT_FORMS.items():
        pieces = re.split(r"\{(\w+)\}", form.ask)
        pattern = "".join(
            re.escape(piece) if at % 2 == 0 else f"(?P<{piece}>{_SLOTS.get(piece, _THING)})"
            for at, piece in enumerate(pieces)
        )
        patterns[dimension] = re.compile(pattern, re.IGNORECASE)
    return patterns


_HAZE = 0.35
_NOTE: Rgb = (250, 226, 120)


class Painted(NamedTuple):
    """An edited image, and the box of the edit; None for the whole image."""

    image: Image.Image
    box: Box | None


def paint(image: Image.Image, instruction: PlantedInstruction, spots: Spots) -> Painted | None:
    """Return an image edited as instructed: a note at the place of the edit states what is now there.

    None if the instruction names something that is not in the image.

    Args:
        image: the image, in RGB.
        instruction: the edit.
        spots: the things in the image.
    """
    named = {
        name: find_spot(spots, instruction.fields[name]) for name in ("thing", "other") if name in instruction.fields
    }
    if None in named.values():
        return None
    thing = named.get("thing") or spots.things[0]
    other = named.get("other") or thing
    form = EDIT_FORMS[instruction.dimension]
    fill = COLOURS.get(instruction.fields.get("colour", ""), _NOTE)
    words = {"beginning": thing.words[: (len(thing.words) + 1) // 2], "writing": thing.words, **instruction.fields}
    if form.where == "everywhere":
        haze = Image.blend(image, Image.new("RGB", image.size, fill), _HAZE)
        _write_note(haze, _MIDDLE, form.shows, None)
        return Painted(haze, None)
    edited = image.copy()
    box = _edited_box(form, thing)
    _write_note(edited, box, form.shows.format(**words), fill)
    if form.where == "both":
        _write_note(edited, other.box, thing.name, fill)
        box = union([thing.box, other.box])
    return Painted(edited, box)


_MIDDLE = Box(x0=0.3, y0=0.35, x1=0.7, y1=0.65)
_PARTS = {
    "right third": Box(x0=0.6667, y0=0, x1=1, y1=1),
    "left half": Box(x0=0, y0=0, x1=0.5, y1=1),
    "middle": _MIDDLE,
}


def _edited_box(form: EditForm, thing: Spot) -> Box:
    if form.where != "larger":
        return _PARTS.get(form.where, thing.box)
    box = thing.box
    more_x, more_y = 0.65 * (box.x1 - box.x0), 0.65 * (box.y1 - box.y0)
    return Box(
        x0=max(0, box.x0 - more_x), y0=max(0, box.y0 - more_y), x1=min(1, box.x1 + more_x), y1=min(1, box.y1 + more_y)
    )


def _write_note(image: Image.Image, box: Box, words: str, fill: Rgb | None) -> None:
    """Draw words in a box of an image, on a coloured ground if there is one."""
    wide, high = image.size
    at = (box.x0 * wide, box.y0 * high, box.x1 * wide, box.y1 * high)
    canvas = Canvas(on=image)
    if fill is not None:
        canvas.rect(at, fill, line=INK)
    canvas.text(at, words, size=26, line=ink_on(fill or _NOTE), align="centre")


_MOST_EDITS = 50
_WHOLE_IMAGE: Mapping[str, JsonValue] = {"box": [0.0, 0.0, 1.0, 1.0]}


class PlantedEdit(NamedTuple):
    """An edit of a picture: dimension of the planted error, box in the whole scene, and instruction.

    `box` is None if the whole picture was edited.
    """

    dimension: str
    box: Box | None = None
    words: str = ""


def faults_in_image(picture: bytes) -> tuple[str, ...]:
    """Return the dimensions of a picture's faults, each once, in order; none for an unedited picture.

    Never raises, whatever the bytes are.
    """
    return tuple(dict.fromkeys(edit.dimension for edit in read_edits(picture) if edit.dimension != NEUTRAL))


def read_edits(picture: bytes) -> tuple[PlantedEdit, ...]:
    """Return the edits of a picture, in order, including harmless ones. Never raises."""
    edits = (read_metadata(picture) or {}).get("edits")
    if not isinstance(edits, list):
        return ()
    return tuple(edit for row in edits[:_MOST_EDITS] if (edit := _read_edit(row)) is not None)


def edit_image(picture: bytes, instruction: PlantedInstruction) -> bytes | None:
    """Return a picture edited as instructed, as a PNG; None if the instruction names something that is not in it.

    Equal pictures and instructions give equal bytes. The scene and earlier edits are kept in the metadata.
    """
    spots = spots_of(picture)
    with Image.open(io.BytesIO(picture)) as opened:
        image = opened.convert("RGB")
    done = paint(image, instruction, spots)
    if done is None:
        return None
    return save_with_edits(
        done.image, picture, [PlantedEdit(instruction.dimension, done.box, instruction_text(instruction))]
    )


def save_with_edits(image: Image.Image, picture: bytes, edits: list[PlantedEdit]) -> bytes:
    """Return an image as PNG bytes with the metadata of the original picture and the added edits."""
    body = {**_WHOLE_IMAGE, **(read_metadata(picture) or {})}
    rows: list[JsonValue] = [_edit_row(edit).model_dump() for edit in (*read_edits(picture), *edits)]
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=4)
    return with_metadata(written.getvalue(), {**body, "edits": rows} if rows else body)


def image_reference(png: bytes) -> ImageRef:
    """Return a reference to a PNG."""
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        width, height = image.size
    return ImageRef(sha256=hashlib.sha256(png).hexdigest(), media_type="image/png", width=width, height=height)


class EditRow(BaseModel):
    """An edit in the metadata of a picture; its box has left, top, right and bottom."""

    dimension: str
    box: tuple[float, float, float, float] | None = None
    words: str = ""


def _edit_row(edit: PlantedEdit) -> EditRow:
    box = None if edit.box is None else (edit.box.x0, edit.box.y0, edit.box.x1, edit.box.y1)
    return EditRow(dimension=edit.dimension, box=box, words=edit.words)


def _read_edit(row: object) -> PlantedEdit | None:
    try:
        edit = EditRow.model_validate(row)
        if edit.box is None:
            return PlantedEdit(edit.dimension, None, edit.words)
        x0, y0, x1, y1 = edit.box
        return PlantedEdit(edit.dimension, Box(x0=x0, y0=y0, x1=x1, y1=y1), edit.words)
    except ValidationError:
        return None


EDITING_PROMPTS = ("edit_instruction", "edit_check", "gold_image_check")
"""The prompts that this module answers."""

_STRAY = ("incomplete_scene", "overcrowding", "style_inconsistency")
"""Dimensions of additional edits by a careless image model."""


class EditorProfile(Value):
    """A simulated image model; the events of its rates exclude each other.

    It returns the image unchanged with probability `idles`, makes another edit as well with probability `strays`, and
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
"""The included image models, by name. They only edit and generate images."""


def edit_by_model(call: ImageEdit, image: bytes | None) -> tuple[bytes | None, Usage]:
    """Return the edited image, or, without one, a new image, as PNG bytes (None for a refusal), and the token usage.

    An instruction that it does not understand, or that names nothing in the image, leaves the image unchanged. A new
    image follows its prompt; a model that strays adds an unrequested edit to it.

    Raises:
        NotFound: no simulated image model has that name.
    """
    name = bare_name(call.model.model)
    if name not in EDITORS:
        raise NotFound(f"no simulated image model is called {name!r}; there are: {', '.join(EDITORS)}")
    profile, draws = EDITORS[name], Draws(request_hash(call))
    shown = 0 if image is None else IMAGE_TOKENS
    usage = Usage(input_tokens=shown + count_tokens(call.instruction), output_tokens=IMAGE_TOKENS)
    fate = draws.unit("fate")
    if fate < profile.refuses:
        return None, usage.model_copy(update={"output_tokens": 0})
    if image is None:
        scene_png = draw_scene(scene_by_prompt(call.instruction))
        strays = fate >= 1 - profile.strays
        return (_with_stray(scene_png, draws) if strays else scene_png), usage
    instruction = read_instruction(call.instruction)
    if instruction is None or fate < profile.refuses + profile.idles:
        return image, usage
    result = edit_image(image, instruction) or image
    if result is not image and fate < profile.refuses + profile.idles + profile.strays:
        result = _with_stray(result, draws, instruction.dimension)
    return result, usage


def _with_stray(image: bytes, draws: Draws, other_than: str = "") -> bytes:
    """Return an image with an unrequested edit, of another dimension than the named one."""
    dimension = draws.pick([name for name in _STRAY if name != other_than], "stray")
    stray = write_instruction(dimension, spots_of(image), draws)
    return (edit_image(image, stray) if stray else None) or image


class DescribedEdit(BaseModel):
    """A kind of edit as a model is told of it."""

    kind: str


def editing_reply(profile: Profile, prompt: str, inputs: Inputs, images: Sequence[bytes], draws: Draws) -> ChatReply:
    """Return the reply of a model that writes an instruction for an image, or checks an edited one."""
    judge = as_judge(profile)
    slip = judge_slip(judge, draws)
    if slip == "refuses":
        return REFUSED
    fields = None
    if slip is None and images and not draws.chance(judge.format_noise, "noise"):
        if prompt == "edit_instruction":
            fields = _instruction_reply(inputs, images[0], draws)
        elif prompt == "edit_check":
            fields = _edit_check(judge, inputs, images, draws)
        else:
            fields = _gold_image_check(judge, images[0], draws)
    text = CHATTER if fields is None else orjson.dumps(fields).decode()
    return text_reply(text)


def _instruction_reply(inputs: Inputs, image: bytes, draws: Draws) -> dict[str, str] | None:
    described = read_rows(inputs.dimension, DescribedEdit)
    kind = described[0].kind if described else ""
    if kind not in EDIT_FORMS:
        return None
    instruction = write_instruction(kind, spots_of(image), draws)
    if instruction is None:
        return {"unsuited": "No words stand in the picture."}
    return {
        "instruction": instruction_text(instruction),
        "change": f"What was asked for is shown otherwise: {_named_fields(instruction.fields)}.",
        "rationale": "The rest of the picture is as it was.",
    }


def _gold_image_check(judge: JudgeProfile, image: bytes, draws: Draws) -> dict[str, object]:
    """Return whether a gold image is right: without a faulty edit, as far as the metadata show it."""
    faults = faults_in_image(image)
    if faults and draws.chance(judge.detects_missing, "sees"):
        return {"right": False, "why": f"The picture is not as the prompt wants it: {faults[0]}."}
    if not faults and draws.chance(judge.false_alarm, "false-alarm"):
        return {"right": False, "why": "This cannot be made out."}
    return {"right": True, "why": ""}


def _named_fields(fields: Mapping[str, str]) -> str:
    return ", ".join(fields.values()) or "the whole picture"


def _edit_check(judge: JudgeProfile, inputs: Inputs, images: Sequence[bytes], draws: Draws) -> dict[str, object]:
    """Return the result of checking an edit, as far as the metadata show it; other pictures count as edited correctly."""
    done, unspoiled = True, True
    instruction = read_instruction(inputs.instruction)
    if len(images) > 1 and instruction is not None:
        new = [edit.dimension for edit in read_edits(images[1])][len(read_edits(images[0])) :]
        done, unspoiled = instruction.dimension in new, set(new) <= {instruction.dimension}
    if not (done and unspoiled) and not draws.chance(judge.detects_missing, "sees"):
        done = unspoiled = True
    elif done and unspoiled and draws.chance(judge.false_alarm, "false-alarm"):
        unspoiled = False
    return {"seen": "The two pictures were compared part by part.", "done": done, "alone": unspoiled}
