"""Instructions to edit a picture as simulated models write and understand them: a sentence for each dimension of error."""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.simulation.blindspots.spots import Spot, Spots
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.scenes.drawing import COLOUR_NAMES

FORMS: Mapping[str, str] = {
    "object_substitution": "Replace the {thing} by a {kind} of about the same size.",
    "object_addition_omission": "Remove the {thing}, and leave its place empty.",
    "attribute_manipulation": "Give the {thing} the colour {colour}.",
    "spatial_manipulation": "Let the {thing} and the {other} change places.",
    "scale_distortion": "Make the {thing} more than twice as large as it is, and nothing else.",
    "constraint_violation": "Although there is to be none, put a {kind} close to the {thing}.",
    "incomplete_scene": "Leave the right third of the picture unpainted.",
    "missing_context": "Take away all that is around the things, and set them before a plain grey ground.",
    "style_inconsistency": "Draw the left half of the picture as a sketch in black and white, and keep the other half.",
    "theme_conflict": "Put a space rocket that takes off into the middle of the picture.",
    "disorganized_composition": "Throw all things into one disorderly heap in the middle.",
    "overcrowding": "Crowd the picture with some forty more things, wherever there is room and where there is none.",
    "causal_violation": "Let thick smoke rise from the {thing}, though nothing burns.",
    "physics_manipulation": "Let the {thing} hang high in the air, where nothing holds it.",
    "state_transformation_failure": "Let the lower half of the {thing} melt and run down, and its upper half stay as it was.",
    "functional_absurdity": "Set the {thing} on two square wheels.",
    "literalized_idioms": "Let it rain cats, as the saying has it: small cats that fall from the sky.",
    "typographic_corruption": 'Misspell the {thing}, so that there stands "{words}".',
    "incomplete_rendering": "Let the {thing} break off in the middle, and leave the rest of the place empty.",
    "background_misrendering": "Take away what bears the {thing}, so that there is nothing behind them.",
    "mislabeled_symbols": 'Let the {thing} be "{words}" in the place of what is right.',
    NEUTRAL: "Let the light of the whole picture be a little warmer, and change nothing else.",
}
"""By dimension; `{thing}` and `{other}` are in the picture, the rest is what it is to be."""

_OF_WRITING = ("typographic_corruption", "incomplete_rendering", "background_misrendering", "mislabeled_symbols")

_ANOTHER = re.compile(r"make another image to the same text\b", re.IGNORECASE)
_SLOTS = {"kind": r"[a-z ]{1,40}", "colour": r"[a-z]{1,20}", "words": r'[^"\n]{1,80}'}
_THING = r'[^".\n]{1,140}?'


class Instruction(NamedTuple):
    """An instruction that was understood: the dimension of the error that it plants, and what stands in its places."""

    dimension: str
    fields: Mapping[str, str]


def write_instruction(dimension: str, spots: Spots, draws: Draws) -> Instruction | None:
    """Return an instruction for a picture with these spots; None where it has nothing that could be edited so."""
    if dimension not in FORMS:
        return None
    if dimension in _OF_WRITING:
        return _of_writing(dimension, spots)
    # What flies anyway does not show that nothing holds it.
    usable = [one for one in spots.things if dimension != "physics_manipulation" or one.kind not in ("balloon", "kite")]
    thing = draws.pick(usable or spots.things, "thing", dimension)
    others = [one for one in spots.things if one != thing and (one.kind != thing.kind or not thing.kind)]
    fields = {"thing": thing.name}
    if dimension == "spatial_manipulation":
        fields["other"] = draws.pick(others or spots.things, "other").name
    elif dimension in ("object_substitution", "constraint_violation"):
        fields["kind"] = draws.pick(spots.absent, "kind")
    elif dimension == "attribute_manipulation":
        taken = {one.colour for one in spots.things if one.kind == thing.kind} - {""}
        fields["colour"] = draws.pick([one for one in COLOUR_NAMES if one not in taken], "colour")
    used = {name: value for name, value in fields.items() if f"{{{name}}}" in FORMS[dimension]}
    return Instruction(dimension, used)


def _of_writing(dimension: str, spots: Spots) -> Instruction | None:
    if spots.board is None or spots.label is None:
        return None
    if dimension == "mislabeled_symbols":
        return Instruction(dimension, {"thing": spots.label.name, "words": spots.mislabel})
    words = {"words": misspelt(spots.board.words)} if dimension == "typographic_corruption" else {}
    return Instruction(dimension, {"thing": spots.board.name, **words})


def in_words(instruction: Instruction) -> str:
    """Return an instruction as a sentence."""
    return FORMS[instruction.dimension].format(**instruction.fields)


def read_instruction(text: str) -> Instruction | None:
    """Return the first instruction of a form that is known in a text, or None; another image has another light."""
    plain = " ".join(text.split())
    if _ANOTHER.match(plain):
        return Instruction(NEUTRAL, {})
    for dimension, pattern in _patterns().items():
        if found := pattern.search(plain):
            return Instruction(dimension, found.groupdict())
    return None


def misspelt(words: str) -> str:
    """Return words with a letter doubled, two exchanged and one left out, as far as they have letters for it."""
    letters = list(words)
    places = [at for at, letter in enumerate(letters) if letter.isalpha()]
    if len(places) > 3:
        first, second = places[1], places[2]
        letters[first], letters[second] = letters[second], letters[first]
        letters[places[-2]] = ""
    letters[places[-1] if places else 0] *= 2
    changed = "".join(letters)
    return changed if changed != words else f"{words}x"


def spot_of(spots: Spots, name: str) -> Spot | None:
    """Return what in the picture an instruction calls so, whatever its case."""
    return next((one for one in (*spots.written, *spots.things) if one.name.casefold() == name.casefold()), None)


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    found: dict[str, re.Pattern[str]] = {}
    for dimension, form in FORMS.items():
        pieces = re.split(r"\{(\w+)\}", form)
        pattern = "".join(
            re.escape(piece) if at % 2 == 0 else f"(?P<{piece}>{_SLOTS.get(piece, _THING)})"
            for at, piece in enumerate(pieces)
        )
        found[dimension] = re.compile(pattern, re.IGNORECASE)
    return found
