"""A simulated judge under test: it scores and compares answers, justifies itself, and reads others' justifications.
 Its findings follow only from the text and the picture, or from an edited picture's metadata. Each fault of an answer,
by dimension, is permanently missed or noticed: the draw depends on judge, evaluator and the fault. So equal calls
agree, both orders of a pair agree, and over many items the share equals the planted rate. `JudgeProfile` describes the
planted habits and their order.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import orjson

from dokimasia.domain.blindspots import AXES, NEUTRAL, OVERALL, PAIRWISE_ONLY, Task
from dokimasia.domain.call import ChatReply, ToolCall, ToolSpec
from dokimasia.domain.criterion import MAX_CRITERIA, WEIGHT_TOTAL, Box
from dokimasia.domain.identity import unit_interval
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.simulation.candidates import REFUSAL, REFUSED
from dokimasia.simulation.draws import Draws, text_reply, tool_reply
from dokimasia.simulation.gold_answers import faults_in_text, gold_answer, reworded, stated_facts
from dokimasia.simulation.image_edits import PlantedEdit
from dokimasia.simulation.panel import CHATTER, judge_slip
from dokimasia.simulation.picture_content import PictureContent, PictureFact, Statement, read_statements, sort_of
from dokimasia.simulation.profiles import JudgeProfile, Profile, Slip, as_judge
from dokimasia.simulation.requests import Inputs
from dokimasia.simulation.scene import WrittenCriterion
from dokimasia.simulation.unknown_inputs import sentences
from dokimasia.simulation.visibility import ImagePart, ask_to_enlarge, makes_out

BEST, FULL = 9, 10
"""The score of a faultless answer alone, and next to a reference."""

ROUND = 1_000_000
"""The draws of one attempt: an answer is judged once more if the draw, apart from attempts, is not the first."""

LONG = 1.25
"""The factor by which a long answer exceeds the words of the other answer, or of the gold answer."""

MOST_LOOKS = 6
MOST_MENTIONED = 10
IMAGINED = "A fault{}: something about the light is not quite as it should be."
_FAULT = re.compile(r"^A fault(?: of (?P<place>[AB]))?: (?P<what>.+)$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_PROMPT = re.compile(r"(single|pairwise|reference)_(text|image)(?:_([a-z_]+))?")
_TASKS: dict[str, Task] = {"text": "image-to-text", "image": "text-to-image"}
_TASTE: dict[Task, str] = {"image-to-text": "clarity", "text-to-image": "image_quality"}
"""The axis on which a judge faults matters of taste."""


class JudgedImage(NamedTuple):
    """An image of a request: its content, the displayed part, and its edits."""

    content: PictureContent
    part: ImagePart
    edits: tuple[PlantedEdit, ...]


class Flaw(NamedTuple):
    """A fault of an answer: the dimension, its group and axes, the words that show it, and where it is visible."""

    dimension: str
    group: str
    axes: tuple[str, ...]
    words: str
    box: Box | None


class ProbeSetting(NamedTuple):
    """How a judge is asked: task and evaluator, whether the reference differs from the gold answer,
    effort, and draw.
    """

    task: Task
    evaluator: str
    new_reference: bool
    effort: str
    draw: int

    @property
    def paradigm(self) -> str:
        """The paradigm of the evaluator."""
        return self.evaluator.partition("-")[0]

    @property
    def axes(self) -> tuple[str, ...]:
        """The requested axes."""
        if "axes" not in self.evaluator:
            return (OVERALL,)
        return tuple(axis for axis in AXES[self.task] if self.paradigm == "pairwise" or axis not in PAIRWISE_ONLY)


class Assessment(NamedTuple):
    """A judge's assessment of one answer: points lost by axis (negative: gained), and the faults it states."""

    lost: Mapping[str, int]
    named: tuple[str, ...]
    blameless: bool


def answers_probe_prompt(prompt: str) -> bool:
    """Return whether this module answers a prompt."""
    return prompt in ("justification", "new_reference") or _PROMPT.fullmatch(prompt) is not None


def probe_reply(
    profile: Profile,
    prompt: str,
    inputs: Inputs,
    images: Sequence[JudgedImage],
    draws: Draws,
    *,
    effort: str = "",
    draw: int = 0,
    as_object: bool = False,
    tools: Sequence[ToolSpec] = (),
) -> ChatReply:
    """Return the reply to a prompt that probes judges.

    Args:
        profile: the model.
        prompt: the prompt's name.
        inputs: its inputs.
        images: the images of the request, in order, with those made by tools last.
        draws: the draws of the request.
        effort: the requested reasoning effort; empty for none.
        draw: the number of the independent draw.
        as_object: whether an output schema asks for an object.
        tools: the tools that it may still use.
    """
    judge = as_judge(profile)
    slip = judge_slip(judge, draws)
    if slip == "refuses":
        return REFUSED
    match = _PROMPT.fullmatch(prompt)
    if match is not None and tools and judge.sight > 0:
        looking = _looks(judge, inputs, images, tools, draws, count=_judged_count(match[1], match[2]))
        if looking is not None:
            return looking
    if slip == "unparsable" or (not as_object and draws.chance(judge.format_noise, "noise")):
        text = CHATTER
    elif prompt == "justification":
        text = _justification_reply(judge, inputs, draws)
    elif match is None:
        text = _answered_anew(images)
    else:
        evaluator = "-".join(filter(None, (match[1], (match[3] or "").replace("_", "-"))))
        setting = ProbeSetting(_TASKS[match[2]], evaluator, _has_new_reference(inputs, images), effort, draw % ROUND)
        if setting.paradigm == "pairwise":
            text = _comparison_reply(judge, setting, inputs, images, draws, slip, as_object=as_object)
        else:
            text = _score_reply(judge, setting, inputs, images, slip, as_object=as_object)
    return text_reply(text)


def miss_rate(
    judge: JudgeProfile, dimension: str, group: str, evaluator: str, *, new: bool = False, effort: str = ""
) -> float:
    """Return the rate at which a judge misses an error: its most specific planted rate in `misses`,
    plus the effort's.
    """
    evaluators = ["new-reference"] if new and evaluator == "reference" else []
    evaluators += [evaluator, evaluator.partition("-")[0]]
    keys = [f"{kind}{suffix}" for kind in (dimension, group) for suffix in (*(f"/{name}" for name in evaluators), "")]
    rate = next((judge.misses[key] for key in (*keys, *evaluators) if key in judge.misses), 1 - judge.detects_missing)
    return min(1.0, max(0.0, rate + judge.misses_more.get(effort, 0.0)))


def _judged_count(paradigm: str, answer: str) -> int:
    """Return how many of the first images are to be examined closely."""
    if answer == "image" and paradigm != "single":
        return 2
    return 1


def _has_new_reference(inputs: Inputs, images: Sequence[JudgedImage]) -> bool:
    """Return whether the reference of a request differs from the gold answer of the planted world."""
    if inputs.reference is not None:
        return not images or inputs.reference != gold_answer(images[0].content)
    return bool(images) and bool(images[0].edits)


def _find_flaws(task: Task, text: str, image: JudgedImage | None) -> list[Flaw]:
    """Return the faults of an answer: of a text on the picture, or of the picture itself."""
    dimensions = error_dimensions(task)
    flaws: list[Flaw] = []
    if image is None:
        return flaws
    if task == "text-to-image":
        rows = [(edit.dimension, edit.words, edit.box) for edit in image.edits]
    else:
        boxes = {point.key: point.box for point in image.content.points}
        rows = [
            (fault.dimension, fault.words or " ".join(fault.key or ()), boxes.get(fault.key) if fault.key else None)
            for fault in faults_in_text(text, image.content)
        ]
    for name, words, box in rows:
        if name in dimensions and name != NEUTRAL:
            flaws.append(Flaw(name, dimensions[name].group, dimensions[name].axes, words, box))
    return flaws


def _assess(
    judge: JudgeProfile, setting: ProbeSetting, text: str, image: JudgedImage | None, parts: Sequence[ImagePart]
) -> Assessment:
    """Return the judge's assessment of one answer; see `JudgeProfile`."""
    flaws = _find_flaws(setting.task, text, image)
    lost: dict[str, int] = {}
    named: list[str] = []
    about = image.content.id if image else ""
    for dimension, group in groupby(sorted(flaws, key=lambda flaw: flaw.dimension), key=lambda flaw: flaw.dimension):
        visible = [flaw for flaw in group if makes_out(judge.sight, flaw.box, parts)]
        if not visible:
            continue
        first = visible[0]
        key = (judge.name, setting.evaluator, about, dimension, first.words)
        rate = miss_rate(
            judge, dimension, first.group, setting.evaluator, new=setting.new_reference, effort=setting.effort
        )
        if unit_interval("missed", *key) < rate:
            continue
        named += [
            f'"{flaw.words}" is not as it should be ({_dimension_title(setting.task, dimension)}).' for flaw in visible
        ]
        fate = unit_interval("fate", *key)
        change = judge.points * len(visible)
        if fate < judge.names_only:
            continue
        if fate < judge.names_only + judge.prefers_perturbed:
            change = -1
        for axis in first.axes:
            lost[axis] = lost.get(axis, 0) + change
    return Assessment(lost, tuple(named), not flaws)


def _dimension_title(task: Task, dimension: str) -> str:
    return error_dimensions(task)[dimension].title.lower()


def _quibbles(judge: JudgeProfile, setting: ProbeSetting, text: str, image: JudgedImage | None) -> bool:
    """Return whether the judge changes the score of a faultless answer, after a harmless change or when repeated."""
    if image is None:
        return False
    if setting.task == "image-to-text":
        changed, about = text != gold_answer(image.content), text
    else:
        changed, about = bool(image.edits), repr([edit.words for edit in image.edits])
    key = (judge.name, setting.evaluator, image.content.id, about)
    if changed and unit_interval("nitpicks", *key) < judge.nitpicks:
        return True
    return setting.draw > 0 and unit_interval("wavers", *key, setting.draw) < judge.wavers


def _score_reply(
    judge: JudgeProfile,
    setting: ProbeSetting,
    inputs: Inputs,
    images: Sequence[JudgedImage],
    slip: Slip | None,
    *,
    as_object: bool,
) -> str:
    judged = _judged_count(setting.paradigm, "image" if setting.task == "text-to-image" else "text") - 1
    image = images[judged] if len(images) > judged else None
    text = inputs.response
    verdict = _assess(judge, setting, text, image, _shown_parts(images, image))
    lost = dict(verdict.lost)
    reasons = [f"A fault: {reason}" for reason in verdict.named]
    if verdict.blameless and _quibbles(judge, setting, text, image):
        lost = {OVERALL: 1, _TASTE[setting.task]: 1}
        reasons.append("It could be put more to my taste.")
    if verdict.blameless and _imagines(judge, setting, text, image):
        reasons.append(IMAGINED.format(""))
    best = FULL if setting.paradigm == "reference" else BEST
    if (
        image
        and setting.task == "image-to-text"
        and _favours(judge, setting.evaluator, text, gold_answer(image.content))
    ):
        lost[OVERALL] = lost.get(OVERALL, 0) - 1
    points = {axis: min(10, max(1, best - lost.get(axis, 0))) for axis in setting.axes}
    if slip == "out_of_range":
        points[OVERALL] = 11
    if slip == "one_short":
        points.popitem()
    if not verdict.named:
        reasons.append(
            f"All of it was gone through, and all of it fits, such as: {_mentioned_words(judge, setting, text, image)}."
        )
    return _as_text(reasons, "scores", "score", points, as_object=as_object)


def _comparison_reply(
    judge: JudgeProfile,
    setting: ProbeSetting,
    inputs: Inputs,
    shown_images: Sequence[JudgedImage],
    draws: Draws,
    slip: Slip | None,
    *,
    as_object: bool,
) -> str:
    texts = [inputs.response_a, inputs.response_b]
    of_texts = setting.task == "image-to-text"
    images = [*shown_images[:1]] * 2 if of_texts else [*shown_images[:2]]
    if len(images) < 2:
        return CHATTER
    verdicts = [
        _assess(judge, setting, text, image, _shown_parts(shown_images, image))
        for text, image in zip(texts, images, strict=True)
    ]
    reasons = [
        f"A fault of {'AB'[position]}: {reason}"
        for position, verdict in enumerate(verdicts)
        for reason in verdict.named
    ]
    ahead = {axis: _sign(verdicts[1].lost.get(axis, 0) - verdicts[0].lost.get(axis, 0)) for axis in setting.axes}
    step = int(draws.chance(judge.favours_first, "first"))
    if all(assessment.blameless for assessment in verdicts) and (taste := _preference(judge, setting, texts, images)):
        step = 0
        ahead = {axis: taste if axis in (OVERALL, _TASTE[setting.task]) else 0 for axis in setting.axes}
        reasons.append("One of them is more to my taste.")
    for position, verdict in enumerate(verdicts):
        if verdict.blameless and _imagines(judge, setting, texts[position], images[position]):
            reasons.append(IMAGINED.format(f" of {'AB'[position]}"))
    for sign, answer, other in ((1, *texts), (-1, *reversed(texts))):
        step += sign * (of_texts and _favours(judge, setting.evaluator, answer, other))
    words = {axis: {1: "A", 0: "tie", -1: "B"}[max(-1, min(1, value + step))] for axis, value in ahead.items()}
    if slip == "out_of_range":
        words[OVERALL] = "C"
    if slip == "one_short":
        words.popitem()
    if not any(assessment.named for assessment in verdicts):
        mentioned = _mentioned_words(judge, setting, texts[0], images[0])
        reasons.append(f"The two differ in nothing that matters, and both were held against: {mentioned}.")
    return _as_text(reasons, "better", "better", words, as_object=as_object)


def _mentioned_words(judge: JudgeProfile, setting: ProbeSetting, text: str, image: JudgedImage | None) -> str:
    """Return a few words of an answer, or of an image's content, so that justifications of faultless answers differ."""
    sentences_of_answer = (
        [fact.sentence() for fact in image.content.points]
        if image and setting.task == "text-to-image"
        else text.split(".")
    )
    sentences = [words for sentence in sentences_of_answer if (words := _WORD.findall(sentence))] or [["nothing"]]
    draw = unit_interval(
        "mentions", judge.name, setting.evaluator, image.content.id if image else "", text, setting.draw
    )
    return " ".join(sentences[int(draw * len(sentences))][:MOST_MENTIONED])


def _preference(judge: JudgeProfile, setting: ProbeSetting, texts: Sequence[str], images: Sequence[JudgedImage]) -> int:
    """Return the judge's preference between two faultless answers: +1 for the first, -1, or 0 for neither."""
    quibbles = [_quibbles(judge, setting, text, image) for text, image in zip(texts, images, strict=True)]
    if not any(quibbles):
        return 0
    marks = [f"{text}{[edit.words for edit in image.edits]}" for text, image in zip(texts, images, strict=True)]
    worse = int(unit_interval("taste", judge.name, *sorted(marks)) * 2)
    if marks[0] == sorted(marks)[worse]:
        return 1
    return -1


def _favours(judge: JudgeProfile, evaluator: str, text: str, other: str) -> bool:
    """Return whether the judge favours an answer for being much longer than another."""
    if len(text.split()) < LONG * len(other.split()):
        return False
    return unit_interval("longer", judge.name, evaluator, text, other) < judge.favours_longer


def _imagines(judge: JudgeProfile, setting: ProbeSetting, text: str, image: JudgedImage | None) -> bool:
    about = (image.content.id, repr([edit.words for edit in image.edits])) if image else ("", "")
    return unit_interval("imagines", judge.name, setting.evaluator, *about, text) < judge.imagines


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _shown_parts(images: Sequence[JudgedImage], image: JudgedImage | None) -> list[ImagePart]:
    """Return the parts of a picture shown by the images of the request, including enlarged ones."""
    if image is None:
        return []
    return [
        shown_image.part
        for shown_image in images
        if shown_image.content.id == image.content.id and shown_image.edits == image.edits
    ]


def _looks(
    judge: JudgeProfile,
    inputs: Inputs,
    images: Sequence[JudgedImage],
    tools: Sequence[ToolSpec],
    draws: Draws,
    *,
    count: int,
) -> ChatReply | None:
    """Return a request to enlarge unrecognisable regions: those the answers mention, or all of generated images."""
    calls: list[ToolCall] = []
    for number, image in enumerate(images[:count]):
        texts = [text for text in (inputs.response, inputs.response_a, inputs.response_b) if text]
        boxes = _needed(judge, texts, image, _shown_parts(images, image))
        look = ask_to_enlarge(tools, boxes[: MOST_LOOKS // count], number, image.part, f"{draws.key[:10]}{number}")
        calls += look.tool_calls if look else ()
    return tool_reply(calls) if calls else None


def _needed(judge: JudgeProfile, texts: Sequence[str], image: JudgedImage, parts: Sequence[ImagePart]) -> list[Box]:
    """Return the regions that are too small to recognise, faulty ones first."""
    if texts:
        wrong = [flaw.box for text in texts for flaw in _find_flaws("image-to-text", text, image)]
        spoken = {statement.key for text in texts for statement in read_statements(text)}
        rest = [point.box for point in image.content.points if point.key in spoken]
    else:
        wrong = [edit.box for edit in image.edits]
        rest = [point.box for point in image.content.points]
    boxes = dict.fromkeys(box for box in (*wrong, *rest) if box is not None)
    return [box for box in boxes if not makes_out(judge.sight, box, parts)]


def _justification_reply(judge: JudgeProfile, inputs: Inputs, draws: Draws) -> str:
    """Return whether a justification names the described error, or any: what simulated judges call a fault."""
    letter = inputs.where[-1:]
    wanted = [
        fault for fault in _FAULT.finditer(inputs.justification) if not letter or fault["place"] in (None, letter)
    ]
    if inputs.error is not None:
        wanted = [
            fault for fault in wanted if fault[0] != IMAGINED.format(f" of {fault['place']}" if fault["place"] else "")
        ]
    words = wanted[0]["what"] if wanted else ""
    if draws.chance(judge.misreads, "misreads"):
        words = "" if words else inputs.justification.split("\n")[0][:200]
    if words:
        return f'Words: "{words}"\nVerdict: [[yes]]'
    return "Words: none\nVerdict: [[no]]"


def _answered_anew(images: Sequence[JudgedImage]) -> str:
    """Return the gold answer to a picture in other words."""
    if not images:
        return REFUSAL
    picture = images[0].content
    return reworded(picture, [point.sentence() for point in stated_facts(picture)])


def _as_text(reasons: Iterable[str], field: str, word: str, values: Mapping[str, int | str], *, as_object: bool) -> str:
    justification = "\n".join(reasons)
    if as_object:
        return orjson.dumps({"justification": justification, field: dict(values)}).decode()
    lines = "\n".join(f"{axis} | {word}: [{value}]" for axis, value in values.items())
    return f"{justification}\n\n{lines}"


DESCRIBING = re.compile(r"\b(?:describe|description|caption)\b", re.IGNORECASE)
DECISION = "right-or-wrong"
"""The evaluator that asks whether two answers are equivalent."""

_PLACEMENT = re.compile(
    r"In the picture the ([^.]{1,80}?) is (to the left of|to the right of|above|below) the ([^.]{1,80}?)\."
)
_OTHER_SIDE = {"to the left of": "to the right of", "above": "below"}
_LEAST_STATED = 3


def solution_of_description(picture: PictureContent) -> str:
    """Return the model solution to a request to describe a picture: its gold answer, step by step."""
    gold = gold_answer(picture)
    steps = "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(sentences(gold), 1))
    return f"<reasoning>\n{steps}\n</reasoning>\n<answer>\n{gold}\n</answer>"


def criteria_of_description(picture: PictureContent, *, final: bool) -> list[WrittenCriterion]:
    """Return criteria on the statements of a picture's gold answer, of different sorts as far as possible."""
    by_sort = sorted(stated_facts(picture), key=lambda point: (_rank_in_sort(picture, point), point.sort))[
        :MAX_CRITERIA
    ]
    weights = [WEIGHT_TOTAL // len(by_sort) + (number < WEIGHT_TOTAL % len(by_sort)) for number in range(len(by_sort))]
    return [
        WrittenCriterion(
            question=f"What is the {point.attribute} of the {point.subject}?",
            ground_truth=point.sentence(),
            weight=weight,
            final=False if final else None,
        )
        for point, weight in zip(by_sort, weights, strict=True)
    ]


def says_the_same(judge: JudgeProfile, answer: str, reference: str) -> bool | None:
    """Return whether a judge considers a description equivalent to a reference; None if the two are not descriptions.

    Errors in it are missed at the rates of `misses` for the evaluator `right-or-wrong`, and excused in a much longer
    description at the rate `favours_longer`; harmless changes are mistaken for errors at the rate `nitpicks`.
    """
    if min(len(read_statements(answer)), len(read_statements(reference))) < _LEAST_STATED:
        return None
    differences = _differences(answer, reference)
    if differences and _favours(judge, DECISION, answer, reference):
        return True
    if not differences:
        return answer == reference or unit_interval("nitpicks", judge.name, DECISION, answer) >= judge.nitpicks
    groups = error_dimensions("image-to-text")
    for dimension, words in differences:
        rate = miss_rate(judge, dimension, groups[dimension].group, DECISION)
        if unit_interval("missed", judge.name, DECISION, reference, dimension, words) >= rate:
            return False
    return True


def _differences(answer: str, reference: str) -> list[tuple[str, str]]:
    """Return the dimensions in which a description departs from a correct one, each once, with the
    words that show it.
    """
    points = tuple(_as_written(statement, reference) for statement in read_statements(reference))
    differences = sorted(
        (fault.dimension, fault.words or repr(fault.key))
        for fault in faults_in_text(answer, PictureContent("", "natural", points))
    )
    if _placements(answer) != _placements(reference):
        differences.append(("spatial_relation_swap", repr(_placements(answer))))
    return [next(rows) for _, rows in groupby(differences, key=lambda row: row[0])]


def _as_written(statement: Statement, text: str) -> PictureFact:
    """Return a statement of a text as a fact, in the text's own capitalisation."""
    attribute, subject = statement.key
    match = re.search(rf"\b({re.escape(attribute)}) of the ({re.escape(subject)}) is ", text, re.IGNORECASE)
    attribute, subject = match.groups() if match else statement.key
    return PictureFact(attribute, subject, statement.value, (), sort=sort_of(statement.key[0], statement.value))


def _placements(text: str) -> set[Sequence[str]]:
    """Return the statements of where things are, whichever thing they begin with."""
    return {
        (first, side, second) if side in _OTHER_SIDE else (second, _mirrored(side), first)
        for first, side, second in _PLACEMENT.findall(text)
    }


def _mirrored(side: str) -> str:
    return next(mirrored for mirrored, plain in _OTHER_SIDE.items() if plain == side)


def _rank_in_sort(picture: PictureContent, point: PictureFact) -> int:
    return [fact.key for fact in stated_facts(picture) if fact.sort == point.sort].index(point.key)
