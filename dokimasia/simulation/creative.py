"""Creative cases of the planted world: requests over one to nine pictures, and answers of planted quality.

An answer has a fixed number of lines, each vivid with the writer's skill as probability, else flat; padding adds length
without content. Then it states one fact of each displayed picture, right with the same probability. So quality,
factuality and length can be read from a text, and are planted independently.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from dokimasia.domain.call import ChatReply
from dokimasia.domain.identity import unit_interval
from dokimasia.simulation.candidates import deliver_reply
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.picture_content import PictureContent, PictureFact, content_of_scene
from dokimasia.simulation.profiles import CandidateProfile
from dokimasia.simulation.scene import DOMAINS, Scene
from dokimasia.simulation.scenes import make_scene

LINES = 6
"""Number of lines of an answer, without padding."""

MOST_PICTURES = 9
REFERENCE_SKILL = 0.8
"""Skill of the writer of a case's reference answer."""

WITHOUT_FACTUALITY = 0.2
"""Share of cases without criteria of visual factuality."""

_SCENES_A_SEED, _CREATIVE_SEED = 1_000_000, 2_000

WRITING_FORMS: tuple[tuple[str, str, str], ...] = (
    ("story", "story continuation", "Literary Writing"),
    ("poem", "landscape poem", "Literary Writing"),
    ("letter", "travel letter", "Common Functional Writing"),
    ("post", "social media post", "Common Functional Writing"),
    ("report", "inspection report", "Professional Functional Writing"),
    ("lesson plan", "lesson plan", "Professional Functional Writing"),
    ("caption", "humorous caption", "Creative Multimodal Understanding"),
)
"""Form of the text, task, and category."""

READERS = ("a child of ten", "a colleague", "a stranger on a train", "the editor of a small paper", "an old friend")

VIVID = (
    "The light lies there as if somebody forgot to fold it.",
    "Nothing moves here, and yet all of it holds its breath.",
    "You could set an old station clock by the quiet here.",
    "It has the look of a promise that nobody ever broke.",
    "Even the far edges of it appear to be listening closely.",
    "I would trade a week of sleep for one such afternoon.",
    "It is an order that only a cat dares to disturb.",
    "Somewhere behind all of this a small kettle starts to sing.",
)
FLAT = (
    "It is, on the whole, something very nice to look at.",
    "There are many interesting things in it for everyone to see.",
    "This is something that people in general often seem to like.",
    "It is always important to look at it with some care.",
    "All in all it makes quite a good impression on people.",
    "There is a lot that could still be said about it.",
    "It shows what it shows in a clear and simple way.",
    "Everyone will surely find something or other in it for themselves.",
)
"""Lines as long as the vivid ones, so that quality does not affect the length of an answer."""

PADDING = (
    "And it may be added that there would be more to say on this at another time.",
    "That being said, it is of course also possible to put it in quite a few other words.",
    "To return to the matter at hand, one thing follows upon another in its own good time.",
)
_REQUEST = re.compile(
    r"You are writing for [^\n.]+\. Write a [a-z ]+ about what the (?:picture shows|[2-9] pictures show)\."
)
_HEADED = re.compile(r"Image \d+:")
_SENTENCE = re.compile(r"[^.]+(?:\.(?!\s|$)[^.]+)*\.")
_OF_PICTURE = re.compile(r"^Of picture [1-9]: (.+)$", re.MULTILINE)

SUBJECTIVE = (
    "1. It is vivid: its lines say something that is not said everywhere.\n2. It is written for whom it is meant."
)


class PlantedCase(NamedTuple):
    """A creative case: id, scenes of its pictures, request, task and category."""

    id: str
    scenes: tuple[Scene, ...]
    request: str
    task: str
    category: str
    factual: bool


def make_creative(n_cases: int, seed: int) -> Iterator[PlantedCase]:
    """Yield cases of one to nine pictures, tasks in turn. A shorter world is the beginning of a longer one."""
    scene_count = 0
    for number in range(n_cases):
        id = f"creative-{seed}-{number:04d}"
        form, task, category = WRITING_FORMS[number % len(WRITING_FORMS)]
        count = 1 + int(MOST_PICTURES * unit_interval("pictures", seed, number))
        first = (seed + _CREATIVE_SEED) * _SCENES_A_SEED + scene_count
        scenes = tuple(make_scene(DOMAINS[(first + offset) % len(DOMAINS)], first + offset) for offset in range(count))
        scene_count += count
        reader = READERS[int(len(READERS) * unit_interval("reader", seed, number))]
        subject = "picture shows" if count == 1 else f"{count} pictures show"
        request = f"You are writing for {reader}. Write a {form} about what the {subject}."
        factual = unit_interval("factual", seed, number) >= WITHOUT_FACTUALITY
        yield PlantedCase(id, scenes, request, task, category, factual)


def to_creative_row(case: PlantedCase) -> dict[str, JsonValue]:
    """Return a case as a row of a data file; images are relative to the data file."""
    truths = [point.sentence() for point in map(chief_fact, map(content_of_scene, case.scenes))]
    criteria: dict[str, JsonValue] = {"subjective": SUBJECTIVE}
    if case.factual:
        points = [f"{n}. What it says of picture {n}:\n   {n}.1 {truth}" for n, truth in enumerate(truths, 1)]
        criteria |= {"factuality": "\n".join(points)}
    draws = Draws(f"reference/{case.id}")
    return {
        "id": case.id,
        "images": [f"images/{scene.id}.png" for scene in case.scenes],
        "prompt": case.request,
        "reference_answer": write_creative_text(
            REFERENCE_SKILL, 0.0, [content_of_scene(scene) for scene in case.scenes], draws
        ),
        "category": case.category,
        "meta": {
            "task_name": case.task,
            "criteria": criteria,
            **({"ground_truth": "\n".join(truths)} if case.factual else {}),
            "planted": True,
        },
    }


def is_creative(question: str) -> bool:
    """Return whether a request asks for a creative answer."""
    return _REQUEST.fullmatch(question.strip()) is not None


def write_creative_answer(profile: CandidateProfile, pictures: Sequence[PictureContent], draws: Draws) -> ChatReply:
    """Return a candidate's answer to a creative request, with its planted faults."""
    text = write_creative_text(profile.base, profile.padding, pictures, draws)
    return deliver_reply(profile, draws, text)


OBSERVE = "What each picture holds, with every number, text and position that can be made out."
"""The observation request of a simulated describer, whatever the original request."""


def write_from_descriptions(profile: CandidateProfile, descriptions: str, draws: Draws) -> ChatReply:
    """Return an answer based on descriptions: it repeats each of their sentences at the rate of the writer's skill."""
    headed = _HEADED.search(descriptions)
    texts = descriptions[headed.end() :] if headed else descriptions
    lines = [line for line in texts.splitlines() if line.strip() and not _HEADED.fullmatch(line.strip())]
    paragraphs = [
        f"Of picture {number}: "
        + " ".join(
            sentence
            for position, sentence in enumerate(_SENTENCE.findall(line))
            if draws.chance(profile.base, "true", number, position)
        )
        for number, line in enumerate(lines, 1)
    ]
    text = "\n".join([write_creative_text(profile.base, profile.padding, (), draws), *paragraphs])
    return deliver_reply(profile, draws, text)


def write_creative_text(skill: float, padding: float, pictures: Sequence[PictureContent], draws: Draws) -> str:
    """Return an answer by a writer of a skill; each line is followed by padding at the given rate."""
    lines: list[str] = []
    first = int(draws.unit("first") * len(VIVID))
    for number in range(LINES):
        kind = VIVID if draws.chance(skill, "vivid", number) else FLAT
        lines.append(kind[(first + number) % len(kind)])
        if draws.chance(padding, "padding", number):
            lines.append(draws.pick(PADDING, "padded", number))
    paragraphs = [
        f"Of picture {number}: {_fact_sentence(chief_fact(picture), skill, number, draws)}"
        for number, picture in enumerate(pictures, 1)
    ]
    return "\n".join([" ".join(lines), *paragraphs])


def chief_fact(picture: PictureContent) -> PictureFact:
    """Return the fact that answers state of a picture; always the same one."""
    certain = [point for point in picture.points if not point.readings]
    return certain[int(unit_interval("told", picture.id) * len(certain))]


def count_vivid_lines(text: str) -> int | None:
    """Return the number of vivid lines of an answer; None for a text that is not of this world."""
    vivid = sum(line in text for line in VIVID)
    if vivid or any(line in text for line in FLAT):
        return vivid
    return None


def count_true_statements(criteria: str, text: str) -> tuple[int, int] | None:
    """Return how many criteria of visual factuality a text meets, and their number; None for criteria of another form."""
    wanted = re.findall(r"^\s*\d+\.\d+ (.+)$", criteria, re.MULTILINE)
    paragraphs = _OF_PICTURE.findall(text)
    if wanted:
        return (sum(any(fact in each for each in paragraphs) for fact in wanted), len(wanted))
    return None


def _fact_sentence(point: PictureFact, skill: float, number: int, draws: Draws) -> str:
    if draws.chance(skill, "true", number):
        return point.sentence()
    return point.sentence(draws.pick(point.false, "false", number))
