"""The planted ways of failing: what a step that came out wrong, hedged or missing is called, defined and noted, in many words."""

from functools import cache
from typing import Literal, NamedTuple

Kind = Literal["commission", "omission"]


class PlantedMode(NamedTuple):
    """A planted mode: its kind, the names that it goes by, a definition, and what a note on it says, in several wordings."""

    kind: Kind
    names: tuple[str, ...]
    definition: str
    notes: tuple[str, ...]


MODES: dict[str, PlantedMode] = {
    "counting": PlantedMode(
        "commission",
        ("states another number of things", "counts more or fewer things than are shown"),
        "The answer gives a number of things of a sort, and the image shows more or fewer of them; a number that is read or "
        "computed is not meant.",
        ("gives another number than there are things", "the things were counted to another total"),
    ),
    "appearance": PlantedMode(
        "commission",
        ("names another look of a thing", "takes a thing for another sort or colour"),
        "The answer calls a thing, its colour, shape or state something that the image does not show there; where it stands or "
        "how often is not meant.",
        ("calls the thing something else than it looks like", "takes its sort, colour or state for another"),
    ),
    "reading": PlantedMode(
        "commission",
        ("reads other signs than stand there", "copies a printed word or number differently"),
        "The answer quotes a word or number that is printed in the image, and other letters or digits stand there; a value off "
        "a scale is not meant.",
        ("the printed signs are copied differently", "reads other letters or digits than are printed"),
    ),
    "scale": PlantedMode(
        "commission",
        ("reads a scale at another mark",),
        "The answer takes a value off a scale, axis or level, and the mark stands at another value; printed numbers are not "
        "meant.",
        ("takes the value at another mark of the scale",),
    ),
    "linking": PlantedMode(
        "commission",
        ("links a thing to another place", "ties a value or name to its neighbour"),
        "The answer says where a thing stands, or what a label, row or mark belongs to, and names another place or owner than "
        "the image shows.",
        ("puts it in another place than it has", "ties it to what stands beside it"),
    ),
    "deriving": PlantedMode(
        "commission",
        ("draws another result from values", "computes or compares to another outcome"),
        "The answer computes, compares or concludes from what the image shows, and comes to another result than follows; what "
        "was read off is not meant.",
        ("comes to another result than follows", "the step of reasoning ends elsewhere"),
    ),
    "meaning": PlantedMode(
        "commission",
        ("applies another rule or meaning",),
        "The answer states a rule, law, custom or meaning that holds elsewhere and not for what the image shows.",
        ("takes another rule or meaning than holds here",),
    ),
    "inventing": PlantedMode(
        "commission",
        ("states something the picture lacks",),
        "The answer says that something is in the image which is not there at all; a thing that is there and taken for another "
        "is not meant.",
        ("says that something is there which is not",),
    ),
    "hedging": PlantedMode(
        "commission",
        ("holds a statement open by a hedge",),
        "The answer says what holds, and puts before it that it is not sure; a statement that does not hold is not meant.",
        ("says it only with a hedge before it",),
    ),
    "unseen": PlantedMode(
        "omission",
        ("passes over what the picture shows", "leaves a visible thing unmentioned"),
        "The answer says nothing of a thing, place or text that the image shows and the point asks for; a wrong statement on "
        "it is not meant.",
        ("nothing is said of what is to be seen there", "the visible thing is not mentioned"),
    ),
    "unreasoned": PlantedMode(
        "omission",
        ("leaves out a step of reasoning",),
        "The answer goes on without the rule, comparison or calculation that the point asks for; a step that is taken and ends "
        "elsewhere is not meant.",
        ("the step between is not taken", "no word on how one follows from the other"),
    ),
}
"""By key: every planted mode."""

_OF_PARENT = {
    "Enumeration": "counting",
    "Object Perception": "appearance",
    "Attribute Perception": "appearance",
    "Character Perception": "reading",
    "Measurement Perception": "scale",
}
_OF_CATEGORY = {
    "Understanding": "linking",
    "Reasoning": "deriving",
    "Knowledge": "meaning",
    "Trustworthiness": "inventing",
}
_SEEN = frozenset({"Perception", "Understanding", "Trustworthiness"})


def planted_mode(capability: str, outcome: Literal["wrong", "hedged", "omitted"]) -> str:
    """Return the key of the mode by which a step of a capability fails when it comes out so."""
    category, parent, _ = capability.strip("<>").split("><")
    if outcome == "hedged":
        return "hedging"
    if outcome == "omitted":
        return "unseen" if category in _SEEN else "unreasoned"
    return _OF_PARENT.get(parent) or _OF_CATEGORY.get(category, "deriving")


@cache
def key_of_name(name: str) -> str | None:
    """Return the key of the planted mode that goes by a name; None for a stranger's."""
    wanted = " ".join(name.split()).casefold()
    return next((key for key, one in MODES.items() if wanted in one.names), None)


@cache
def key_of_note(note: str) -> str | None:
    """Return the key of the planted mode that a note tells of; None where it tells of none."""
    return next((key for key, one in MODES.items() if any(words in note for words in one.notes)), None)
