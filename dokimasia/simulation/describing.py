"""How a simulated model describes a picture: which facts it tells, which of them wrong, and in whose manner."""

from dokimasia.domain.call import ChatReply
from dokimasia.domain.identity import unit_interval
from dokimasia.simulation.candidates import deliver
from dokimasia.simulation.depicted import Depicted, Point
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.profiles import CandidateProfile, PanelProfile, Profile, as_member

HARDER, EASIER = 2.5, 0.5
"""How many times as often as on average a hard fact, and any other one, is told wrong."""

MOST_WRONG = 0.95
LURE_SHARE = 0.8
"""How often a hard fact that is told wrong is told as its lure; others fall on each false value alike."""

_FIRST = (
    "Going over the picture",
    "Taking the whole picture",
    "Looking closely",
    "At a first look and a second",
    "As the picture has it",
    "For whoever cannot see it",
    "With care",
    "In plain words",
)
_SECOND = (
    "from the left to the right",
    "from the top down",
    "part by part",
    "from the middle outwards",
    "from the large to the small",
    "corner by corner",
    "one thing after the other",
)
_PACE = ("slowly", "in order", "without haste", "as plainly as I can", "as it comes", "thing for thing")
_THIRD = (
    "this is what it shows.",
    "these things are there.",
    "here is what can be made out.",
    "it holds the following.",
    "so much can be seen.",
    "the following is in it.",
    "I can tell this of it.",
)


def describe(profile: Profile, picture: Depicted, draws: Draws) -> ChatReply:
    """Return the model's description of a picture, one sentence a fact, with what is planted in it."""
    member = as_member(profile, picture.domain)
    sentences = [
        point.sentence(value)
        for number, point in enumerate(picture.points)
        if (value := told(member, point, number, draws)) is not None
    ]
    whole = in_manner(profile.name, sentences)
    if isinstance(profile, CandidateProfile):
        return deliver(profile, draws, whole, in_manner(profile.name, sentences[: len(sentences) // 2]) + " The")
    return ChatReply(text=whole, finish_reason="stop", native_finish_reason="stop")


def told(member: PanelProfile, point: Point, number: int, draws: Draws) -> str | None:
    """Return the value that a draft gives a fact, or None where it leaves it out; a disputed one is always told."""
    if point.readings:
        return reading_of(member, point)
    if not draws.chance(member.telling, "telling", number):
        return None
    if not draws.chance(wrong_rate(member, point), "wrong", number):
        return point.value
    if point.hard and draws.chance(LURE_SHARE, "lure", number):
        return point.false[0]
    return draws.pick(point.false, "false", number)


def wrong_rate(member: PanelProfile, point: Point) -> float:
    """Return the probability that a fact which the member tells is told wrong."""
    return min(MOST_WRONG, member.false_facts * (HARDER if point.hard else EASIER))


def reading_of(member: PanelProfile, point: Point) -> str:
    """Return the reading of a disputed fact that a member holds whenever it writes."""
    return point.readings[stance_of(member) % len(point.readings)]


def stance_of(member: PanelProfile) -> int:
    """Return the number of the reading that a member holds."""
    if member.stance is not None:
        return member.stance
    return int(unit_interval("stance", member.name) * 6)


def manner_of(name: str) -> str:
    """Return the words with which a model begins every description, by which it knows its own again."""
    words = (
        among[int(unit_interval("manner", name, place) * len(among))]
        for place, among in enumerate((_FIRST, _SECOND, _PACE, _THIRD))
    )
    return ", ".join(words)


def in_manner(name: str, sentences: list[str]) -> str:
    """Return a description of these sentences as the model of that name puts it."""
    return " ".join([manner_of(name), *sentences])
