"""Simulated models that write gold answers, plant errors in texts, and check others' texts."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

import orjson
from pydantic import BaseModel, JsonValue

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.call import ChatReply
from dokimasia.simulation.candidates import REFUSAL, REFUSED
from dokimasia.simulation.draws import Draws, text_reply
from dokimasia.simulation.gold_answers import (
    ErrorInText,
    TextFault,
    faults_in_text,
    gold_answer,
    plant_error,
    stated_facts,
)
from dokimasia.simulation.judging.rubrics import demand_of, is_forbidding
from dokimasia.simulation.panel import CHATTER, judge_slip, wrong_rate
from dokimasia.simulation.picture_content import PictureContent, Statement, read_statements, same_value, sort_of
from dokimasia.simulation.profiles import JudgeProfile, Profile, as_judge, as_member
from dokimasia.simulation.requests import Inputs, read_rows

PERTURBATION_PROMPT = "perturbation"
"""The prompt that `perturbation_reply` answers."""

_NUMBER = re.compile(r"\d+")


class StatedError(BaseModel):
    """An error to plant: its dimension, and the fact it is about."""

    n: int
    dimension: str
    about: str = ""


def perturbation_reply(profile: Profile, inputs: Inputs, draws: Draws) -> ChatReply:
    """Return the reply of a model asked to plant errors in a text."""
    judge = as_judge(profile)
    slip = judge_slip(judge, draws)
    if slip == "refuses":
        return REFUSED
    errors = read_rows(inputs.errors, StatedError)
    if not errors or slip == "unparsable" or draws.chance(judge.format_noise, "noise"):
        return text_reply(CHATTER)
    rows = [plant_stated_error(inputs.text, error, draws) for error in errors]
    text = orjson.dumps(rows[:-1] if slip == "one_short" else rows).decode()
    return text_reply(text)


def plant_stated_error(text: str, error: StatedError, draws: Draws) -> dict[str, JsonValue]:
    """Return a planted error as reported: in the named fact, else in a statement of the dimension; none without either."""
    number, dimension, about = error.n, error.dimension, error.about
    statements_of_text = read_statements(text)
    demanded = demand_of(about) if about else None
    usable = [
        statement
        for statement in statements_of_text
        if sort_of(statement.key[0], statement.value) == dimension
        and (demanded is None or statement.key == demanded.key)
    ]
    if not usable:
        return {"n": number, "none": True}
    statement = draws.pick(tuple(usable), "statement", number)
    new = (
        demanded.value if demanded is not None and is_forbidding(about) else _other_value(statement, statements_of_text)
    )
    original = _words_in_text(text, statement)
    if not original or same_value(statement.value, new):
        return {"n": number, "none": True}
    changed = original.replace(f'"{statement.value}"', f'"{new}"')
    return {"n": number, "changes": [{"original": original, "new": changed}]}


def _other_value(statement: Statement, statements_of_text: Sequence[Statement]) -> str:
    """Return another value of the same form: the next number, or a value from another statement of the same sort."""
    number = _NUMBER.search(statement.value)
    if number:
        return f"{statement.value[: number.start()]}{int(number[0]) + 1}{statement.value[number.end() :]}"
    sort = sort_of(statement.key[0], statement.value)
    others = [other.value for other in statements_of_text if sort_of(other.key[0], other.value) == sort]
    return next((value for value in others if not same_value(value, statement.value)), "something else")


def _words_in_text(text: str, statement: Statement) -> str:
    """Return the exact words of a statement in the text if they occur once; else an empty text."""
    attribute, subject = (re.escape(part) for part in statement.key)
    matches = re.findall(rf'\b{attribute} of the {subject} is "{re.escape(statement.value)}"', text, re.IGNORECASE)
    if len(matches) == 1 and text.count(matches[0]) == 1:
        return matches[0]
    return ""


REWRITES = ("error_throughout", "harmless_rewrite")
PERTURBS = ("error_in_passages", *REWRITES)
PERTURBER_PROMPTS = ("gold_answer", "gold_check", "change_check", *PERTURBS)
"""The prompts that `perturber_reply` answers."""

SPILLS = ("phantom_details", "ungrounded_assumptions", "tone_mismatch")
"""The dimensions of additional errors by a model that changes more than requested."""

AROUND = 8
"""Maximum number of quoted words on either side of a change."""

ELSE = "Something quite different could be said here, of the weather, of the sea, and of what was had for breakfast."


class DescribedDimension(BaseModel):
    """A dimension of errors as a model is told of it."""

    dimension: str


def perturber_reply(
    profile: Profile, prompt: str, inputs: Inputs, picture: PictureContent | None, draws: Draws
) -> ChatReply:
    """Return the reply of a model to one of `PERTURBER_PROMPTS`."""
    judge = as_judge(profile)
    slip = judge_slip(judge, draws)
    if slip == "refuses":
        return REFUSED
    if picture is None or slip is not None or draws.chance(judge.format_noise, "noise"):
        text = CHATTER if prompt != "gold_answer" else REFUSAL
    elif prompt == "gold_answer":
        text = _written_gold_answer(profile, picture, draws)
    elif prompt == "gold_check":
        text = _gold_check(judge, inputs.answer, picture, draws)
    elif prompt == "change_check":
        text = _change_check(judge, inputs.answer, inputs.changed, picture, draws)
    else:
        text = _perturbed_answer(judge, prompt, inputs, picture, draws)
    return text_reply(text)


def _written_gold_answer(profile: Profile, picture: PictureContent, draws: Draws) -> str:
    """Return the gold answer to a picture, with facts wrong at the rate of the model's descriptions."""
    member = as_member(profile, picture.domain)
    text = gold_answer(picture)
    for number, point in enumerate(stated_facts(picture)):
        if draws.chance(wrong_rate(member, point), "wrong", number):
            text = text.replace(point.sentence(), point.sentence(draws.pick(point.false, "false", number)), 1)
    return text


def _gold_check(judge: JudgeProfile, answer: str, picture: PictureContent, draws: Draws) -> str:
    faults = [fault for fault in _noticed_faults(judge, answer, picture, draws) if fault.words]
    if faults:
        return _object_text(
            right=False, words=faults[0].words, why=f"The picture shows otherwise: {faults[0].dimension}."
        )
    if draws.chance(judge.false_alarm, "false-alarm"):
        return _object_text(right=False, words=answer.split(". ")[0], why="This cannot be made out.")
    return _object_text(right=True, words="", why="")


def _change_check(judge: JudgeProfile, before: str, after: str, picture: PictureContent, draws: Draws) -> str:
    """Return the noticed faults of the second text that the first does not have; without any, a harmless change."""
    had = set(faults_in_text(before, picture))
    dimensions = list(
        dict.fromkeys(fault.dimension for fault in _noticed_faults(judge, after, picture, draws) if fault not in had)
    )
    if not dimensions and draws.chance(judge.false_alarm, "false-alarm"):
        dimensions = [draws.pick(SPILLS, "false-kind")]
    kind = dimensions[0] if dimensions else NEUTRAL
    return _object_text(
        kind=kind, also=dimensions[1:], worse=bool(dimensions), why="This is what differs between the two."
    )


def _noticed_faults(judge: JudgeProfile, text: str, picture: PictureContent, draws: Draws) -> list[TextFault]:
    faults = faults_in_text(text, picture)
    return [fault for number, fault in enumerate(faults) if draws.chance(judge.detects_missing, "notices", number)]


def _perturbed_answer(judge: JudgeProfile, prompt: str, inputs: Inputs, picture: PictureContent, draws: Draws) -> str:
    described = read_rows(inputs.dimension, DescribedDimension)
    text = inputs.answer
    dimension = described[0].dimension if described else ""
    planted = plant_error(dimension, text, picture, draws)
    if planted is None:
        return _object_text(none="The answer has nothing in it that could be changed so.")
    fate = draws.unit("fate")
    if fate < judge.perturbs_nothing:
        planted = ErrorInText(text, "A small thing was changed.")
    elif fate < judge.perturbs_nothing + judge.perturbs_all:
        planted = ErrorInText(" ".join([ELSE] * max(1, len(text.split()) // 10)), "Much was changed.")
    elif draws.chance(judge.perturbs_more, "more"):
        for other in (spill for spill in SPILLS if spill != dimension):
            more = plant_error(other, planted.text, picture, draws)
            if more is not None:
                planted = more._replace(description=planted.description)
                break
    fields: dict[str, object] = {"changes": _changes(text, planted.text)}
    if prompt in REWRITES:
        fields = {"answer": planted.text}
    fields["description"] = planted.description
    if prompt != "harmless_rewrite":
        fields["rationale"] = "The words around it are as they were, and it is as likely as what stood there."
    return _object_text(**fields)


def _changes(before: str, after: str) -> list[dict[str, str]]:
    """Return the changes between two texts, each with enough surrounding words to be unique in the first."""
    old, new = before.split(), after.split()
    parts: list[list[int]] = []
    for tag, *span in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if parts and span[0] - parts[-1][1] <= 2 * AROUND:
            parts[-1][1], parts[-1][3] = span[1], span[3]
        else:
            parts.append(span)
    changes: list[dict[str, str]] = []
    for start, end, new_start, new_end in parts or [[0, AROUND, 0, AROUND]]:
        original, prefix, right = "", 0, 0
        for more in range(2, AROUND + 1):
            prefix, right = min(more, start), min(more, len(old) - end)
            original = " ".join(old[start - prefix : end + right])
            if original and before.count(original) == 1:
                break
        changes.append({"original": original, "new": " ".join(new[new_start - prefix : new_end + right])})
    return changes


def _object_text(**fields: object) -> str:
    return orjson.dumps(fields).decode()
