"""How a simulated judge works when it is probed: it scores and compares answers, says why, and reads what others said.

What it finds follows from the text and the picture alone, or from what an edited picture says of itself. Each thing that
an answer is at fault in, by dimension, is missed or noticed once and for all: the draw hangs on judge, evaluator and that
fault, so that equal calls agree, both orders of a pair agree, and over many items the share is what was planted. `JudgeProfile`
says what is planted and in which order it applies.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import orjson

from dokimasia.domain.blindspots import AXES, NEUTRAL, OVERALL, PAIRWISE_ONLY, Task
from dokimasia.domain.call import ChatReply, ToolCall, ToolSpec
from dokimasia.domain.criterion import Box
from dokimasia.domain.identity import unit_interval
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.simulation.blindspots.gold import gold_answer, reworded, told
from dokimasia.simulation.blindspots.images import Edit
from dokimasia.simulation.blindspots.texts import faults
from dokimasia.simulation.candidates import REFUSAL
from dokimasia.simulation.depicted import Depicted, statements
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.panel import CHATTER, slip_of
from dokimasia.simulation.planting import JudgeProfile, Slip
from dokimasia.simulation.profiles import Profile, as_judge
from dokimasia.simulation.sight import Part, looks_closer, sees

BEST, FULL = 9, 10
"""What an answer without a fault is given by itself, and beside a reference."""

ROUND = 1_000_000
"""Draws of one attempt: an answer is judged once more where the draw, but for attempts, is not the first."""

MOST_LOOKS = 6
MOST_MENTIONED = 10
IMAGINED = "A fault{}: something about the light is not quite as it should be."
_FAULT = re.compile(r"^A fault(?: of (?P<place>[AB]))?: (?P<what>.+)$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_PROMPT = re.compile(r"(single|pairwise|reference)_(text|image)(?:_([a-z_]+))?")
_TASKS: dict[str, Task] = {"text": "image-to-text", "image": "text-to-image"}
_TASTE: dict[Task, str] = {"image-to-text": "clarity", "text-to-image": "image_quality"}
"""The axis on which a judge finds fault with what is a matter of taste."""


class Shown(NamedTuple):
    """An image of a request: what it depicts, which part of it, and the edits that were made in it."""

    depicted: Depicted
    part: Part
    edits: tuple[Edit, ...]


class Flaw(NamedTuple):
    """What an answer is at fault in: the dimension, its group and axes, the words that show it, and where it is to be seen."""

    dimension: str
    group: str
    axes: tuple[str, ...]
    words: str
    box: Box | None


class Way(NamedTuple):
    """How a judge is asked: task and evaluator, whether the reference is another than the gold answer, effort, and draw."""

    task: Task
    evaluator: str
    new_reference: bool
    effort: str
    draw: int

    @property
    def paradigm(self) -> str:
        """The paradigm that the evaluator belongs to."""
        return self.evaluator.partition("-")[0]

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that are asked for."""
        if "axes" not in self.evaluator:
            return (OVERALL,)
        return tuple(one for one in AXES[self.task] if self.paradigm == "pairwise" or one not in PAIRWISE_ONLY)


class Verdict(NamedTuple):
    """What a judge makes of one answer: points lost by axis (negative: gained), and what it says is wrong."""

    lost: Mapping[str, int]
    named: tuple[str, ...]
    blameless: bool


def answers(prompt: str) -> bool:
    """Return whether a prompt is answered here."""
    return prompt in ("justification", "new_reference") or _PROMPT.fullmatch(prompt) is not None


def reply(
    profile: Profile,
    prompt: str,
    inputs: Mapping[str, str],
    shown: Sequence[Shown],
    draws: Draws,
    *,
    effort: str = "",
    draw: int = 0,
    held: bool = False,
    tools: Sequence[ToolSpec] = (),
) -> ChatReply:
    """Return the reply to a prompt by which judges are probed.

    Args:
        profile: the model.
        prompt: the prompt's name.
        inputs: its inputs.
        shown: the images of the request, in order, those that tools made last.
        draws: the draws of the request.
        effort: the reasoning effort that it is asked under; empty for none.
        draw: which independent draw is asked for.
        held: whether it is held to an output schema.
        tools: what it may still look closer with.
    """
    judge = as_judge(profile)
    slip = slip_of(judge, draws)
    if slip == "refuses" or draws.chance(judge.refusal, "refusal"):
        return ChatReply(text=REFUSAL, refusal=REFUSAL, finish_reason="stop", native_finish_reason="stop")
    found = _PROMPT.fullmatch(prompt)
    if found is not None and tools and judge.sight > 0:
        looking = _looks(judge, inputs, shown, tools, draws, count=_judged(found[1], found[2]))
        if looking is not None:
            return looking
    if slip == "unparsable" or (not held and draws.chance(judge.format_noise, "noise")):
        text = CHATTER
    elif prompt == "justification":
        text = _read(judge, inputs, draws)
    elif found is None:
        text = _answered_anew(shown)
    else:
        evaluator = "-".join(filter(None, (found[1], (found[3] or "").replace("_", "-"))))
        way = Way(_TASKS[found[2]], evaluator, _is_new(inputs, shown), effort, draw % ROUND)
        if way.paradigm == "pairwise":
            text = _compared(judge, way, inputs, shown, draws, slip, held=held)
        else:
            text = _scored(judge, way, inputs, shown, slip, held=held)
    return ChatReply(text=text, finish_reason="stop", native_finish_reason="stop")


def miss_rate(
    judge: JudgeProfile, dimension: str, group: str, evaluator: str, *, new: bool = False, effort: str = ""
) -> float:
    """Return the rate at which a judge misses an error: the most specific of its planted `misses`, and what the effort adds."""
    ways = [*(["new-reference"] if new and evaluator == "reference" else []), evaluator, evaluator.partition("-")[0]]
    keys = [*(f"{kind}{way}" for kind in (dimension, group) for way in (*(f"/{one}" for one in ways), "")), *ways]
    rate = next((judge.misses[key] for key in keys if key in judge.misses), 1 - judge.detects_missing)
    return min(1.0, max(0.0, rate + judge.misses_more.get(effort, 0.0)))


def _judged(paradigm: str, answer: str) -> int:
    """How many of the images that are shown first are to be looked at closely."""
    return 2 if answer == "image" and paradigm != "single" else 1


def _is_new(inputs: Mapping[str, str], shown: Sequence[Shown]) -> bool:
    """Whether the reference of a request is another one than the gold answer of the planted world."""
    if "reference" in inputs:
        return not shown or inputs["reference"] != gold_answer(shown[0].depicted)
    return bool(shown) and bool(shown[0].edits)


def _flaws(task: Task, text: str, image: Shown | None) -> list[Flaw]:
    """What an answer is at fault in: a text on the picture, or the picture itself."""
    known = error_dimensions(task)
    found: list[Flaw] = []
    if image is None:
        return found
    if task == "text-to-image":
        rows = [(one.dimension, one.words, one.box) for one in image.edits]
    else:
        boxes = {point.key: point.box for point in image.depicted.points}
        rows = [
            (one.dimension, one.words or " ".join(one.key or ()), boxes.get(one.key) if one.key else None)
            for one in faults(text, image.depicted)
        ]
    for name, words, box in rows:
        if name in known and name != NEUTRAL:
            found.append(Flaw(name, known[name].group, known[name].axes, words, box))
    return found


def _verdict(judge: JudgeProfile, way: Way, text: str, image: Shown | None, parts: Sequence[Part]) -> Verdict:
    """What the judge makes of one answer; see `JudgeProfile`."""
    flaws = _flaws(way.task, text, image)
    lost: dict[str, int] = {}
    named: list[str] = []
    about = image.depicted.id if image else ""
    for dimension, several in groupby(sorted(flaws, key=lambda one: one.dimension), key=lambda one: one.dimension):
        ones = [one for one in several if sees(judge.sight, one.box, parts)]
        if not ones:
            continue
        first = ones[0]
        key = (judge.name, way.evaluator, about, dimension, first.words)
        rate = miss_rate(judge, dimension, first.group, way.evaluator, new=way.new_reference, effort=way.effort)
        if unit_interval("missed", *key) < rate:
            continue
        named += [f'"{one.words}" is not as it should be ({_title(way.task, dimension)}).' for one in ones]
        fate = unit_interval("fate", *key)
        change = judge.points * len(ones)
        if fate < judge.names_only:
            continue
        if fate < judge.names_only + judge.prefers_perturbed:
            change = -1
        for axis in first.axes:
            lost[axis] = lost.get(axis, 0) + change
    return Verdict(lost, tuple(named), not flaws)


def _title(task: Task, dimension: str) -> str:
    return error_dimensions(task)[dimension].title.lower()


def _quibbles(judge: JudgeProfile, way: Way, text: str, image: Shown | None) -> bool:
    """Whether the judge scores an answer without a fault otherwise: a harmless change, or the gold answer once more."""
    if image is None:
        return False
    if way.task == "image-to-text":
        changed, about = text != gold_answer(image.depicted), text
    else:
        changed, about = bool(image.edits), repr([one.words for one in image.edits])
    key = (judge.name, way.evaluator, image.depicted.id, about)
    if changed and unit_interval("nitpicks", *key) < judge.nitpicks:
        return True
    return way.draw > 0 and unit_interval("wavers", *key, way.draw) < judge.wavers


def _scored(
    judge: JudgeProfile, way: Way, inputs: Mapping[str, str], shown: Sequence[Shown], slip: Slip | None, *, held: bool
) -> str:
    judged = _judged(way.paradigm, "image" if way.task == "text-to-image" else "text") - 1
    image = shown[judged] if len(shown) > judged else None
    text = inputs.get("response", "")
    verdict = _verdict(judge, way, text, image, _parts(shown, image))
    lost = dict(verdict.lost)
    told = [f"A fault: {one}" for one in verdict.named]
    if verdict.blameless and _quibbles(judge, way, text, image):
        lost = {OVERALL: 1, _TASTE[way.task]: 1}
        told.append("It could be put more to my taste.")
    if verdict.blameless and _imagines(judge, way, text, image):
        told.append(IMAGINED.format(""))
    best = FULL if way.paradigm == "reference" else BEST
    points = {axis: min(10, max(1, best - lost.get(axis, 0))) for axis in way.axes}
    if slip == "out_of_range":
        points[OVERALL] = 11
    if slip == "one_short":
        points.popitem()
    if not verdict.named:
        told.append(f"All of it was gone through, and all of it fits, such as: {_mentioned(judge, way, text, image)}.")
    return _written(told, "scores", "score", points, held=held)


def _compared(
    judge: JudgeProfile,
    way: Way,
    inputs: Mapping[str, str],
    shown: Sequence[Shown],
    draws: Draws,
    slip: Slip | None,
    *,
    held: bool,
) -> str:
    texts = [inputs.get("response_a", ""), inputs.get("response_b", "")]
    of_texts = way.task == "image-to-text"
    images = [*shown[:1]] * 2 if of_texts else [*shown[:2]]
    if len(images) < 2:
        return CHATTER
    verdicts = [_verdict(judge, way, text, one, _parts(shown, one)) for text, one in zip(texts, images, strict=True)]
    told = [f"A fault of {'AB'[place]}: {one}" for place, verdict in enumerate(verdicts) for one in verdict.named]
    ahead = {axis: _sign(verdicts[1].lost.get(axis, 0) - verdicts[0].lost.get(axis, 0)) for axis in way.axes}
    step = int(draws.chance(judge.favours_first, "first"))
    if all(one.blameless for one in verdicts) and (taste := _taste(judge, way, texts, images)):
        step = 0
        ahead = {axis: taste if axis in (OVERALL, _TASTE[way.task]) else 0 for axis in way.axes}
        told.append("One of them is more to my taste.")
    for place, verdict in enumerate(verdicts):
        if verdict.blameless and _imagines(judge, way, texts[place], images[place]):
            told.append(IMAGINED.format(f" of {'AB'[place]}"))
    words = {axis: {1: "A", 0: "tie", -1: "B"}[min(1, value + step)] for axis, value in ahead.items()}
    if slip == "out_of_range":
        words[OVERALL] = "C"
    if slip == "one_short":
        words.popitem()
    if not any(one.named for one in verdicts):
        seen = _mentioned(judge, way, texts[0], images[0])
        told.append(f"The two differ in nothing that matters, and both were held against: {seen}.")
    return _written(told, "better", "better", words, held=held)


def _mentioned(judge: JudgeProfile, way: Way, text: str, image: Shown | None) -> str:
    """A few words of an answer, or of what an image shows, so that no two justifications of clean answers need be alike."""
    said = (
        [one.sentence() for one in image.depicted.points] if image and way.task == "text-to-image" else text.split(".")
    )
    sentences = [words for one in said if (words := _WORD.findall(one))] or [["nothing"]]
    drawn = unit_interval("mentions", judge.name, way.evaluator, image.depicted.id if image else "", text, way.draw)
    return " ".join(sentences[int(drawn * len(sentences))][:MOST_MENTIONED])


def _taste(judge: JudgeProfile, way: Way, texts: Sequence[str], images: Sequence[Shown]) -> int:
    """Which of two answers without a fault the judge prefers all the same: +1 for the first, -1, or 0 for neither."""
    quibbles = [_quibbles(judge, way, text, image) for text, image in zip(texts, images, strict=True)]
    if not any(quibbles):
        return 0
    marks = [f"{text}{[one.words for one in image.edits]}" for text, image in zip(texts, images, strict=True)]
    worse = int(unit_interval("taste", judge.name, *sorted(marks)) * 2)
    return 1 if marks[0] == sorted(marks)[worse] else -1


def _imagines(judge: JudgeProfile, way: Way, text: str, image: Shown | None) -> bool:
    about = (image.depicted.id, repr([one.words for one in image.edits])) if image else ("", "")
    return unit_interval("imagines", judge.name, way.evaluator, *about, text) < judge.imagines


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _parts(shown: Sequence[Shown], image: Shown | None) -> list[Part]:
    """The parts of a picture that any image of the request shows, those that were enlarged among them."""
    if image is None:
        return []
    return [one.part for one in shown if one.depicted.id == image.depicted.id and one.edits == image.edits]


def _looks(
    judge: JudgeProfile,
    inputs: Mapping[str, str],
    shown: Sequence[Shown],
    tools: Sequence[ToolSpec],
    draws: Draws,
    *,
    count: int,
) -> ChatReply | None:
    """Ask to enlarge what cannot be made out: of what the answers speak of, or of all that generated images show."""
    calls: list[ToolCall] = []
    for number, image in enumerate(shown[:count]):
        texts = [inputs[name] for name in ("response", "response_a", "response_b") if name in inputs]
        boxes = _needed(judge, texts, image, _parts(shown, image))
        asked = looks_closer(tools, boxes[: MOST_LOOKS // count], number, image.part, f"{draws.key[:10]}{number}")
        calls += asked.tool_calls if asked else ()
    if not calls:
        return None
    return ChatReply(text="", finish_reason="tool_calls", native_finish_reason="tool_calls", tool_calls=tuple(calls))


def _needed(judge: JudgeProfile, texts: Sequence[str], image: Shown, parts: Sequence[Part]) -> list[Box]:
    """The regions that are too small to be made out, those that are at fault first."""
    if texts:
        wrong = [flaw.box for text in texts for flaw in _flaws("image-to-text", text, image)]
        spoken = {one.key for text in texts for one in statements(text)}
        rest = [point.box for point in image.depicted.points if point.key in spoken]
    else:
        wrong = [edit.box for edit in image.edits]
        rest = [point.box for point in image.depicted.points]
    boxes = dict.fromkeys(box for box in (*wrong, *rest) if box is not None)
    return [box for box in boxes if not sees(judge.sight, box, parts)]


def _read(judge: JudgeProfile, inputs: Mapping[str, str], draws: Draws) -> str:
    """Whether a justification names the error that is described, or any: what simulated judges call a fault."""
    place = inputs.get("where", "")[-1:]
    wanted = [one for one in _FAULT.finditer(inputs["justification"]) if not place or one["place"] in (None, place)]
    if "error" in inputs:
        wanted = [one for one in wanted if one[0] != IMAGINED.format(f" of {one['place']}" if one["place"] else "")]
    words = wanted[0]["what"] if wanted else ""
    if draws.chance(judge.misreads, "misreads"):
        words = "" if words else inputs["justification"].split("\n")[0][:200]
    return f'Words: "{words}"\nVerdict: [[yes]]' if words else "Words: none\nVerdict: [[no]]"


def _answered_anew(shown: Sequence[Shown]) -> str:
    """The gold answer to a picture in other words."""
    if not shown:
        return REFUSAL
    picture = shown[0].depicted
    return reworded(picture, [point.sentence() for point in told(picture)])


def _written(told: Iterable[str], field: str, word: str, values: Mapping[str, int | str], *, held: bool) -> str:
    justification = "\n".join(told)
    if held:
        return orjson.dumps({"justification": justification, field: dict(values)}).decode()
    lines = "\n".join(f"{axis} | {word}: [{value}]" for axis, value in values.items())
    return f"{justification}\n\n{lines}"
