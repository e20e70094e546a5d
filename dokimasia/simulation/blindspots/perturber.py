"""How a simulated model writes gold answers, perturbs them in a named dimension, and checks what others wrote."""

from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

import orjson

from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.call import ChatReply
from dokimasia.simulation.blindspots.gold import gold_answer, told
from dokimasia.simulation.blindspots.texts import Fault, Planted, faults, plant
from dokimasia.simulation.candidates import REFUSAL
from dokimasia.simulation.depicted import Depicted
from dokimasia.simulation.describing import wrong_rate
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.panel import CHATTER, slip_of
from dokimasia.simulation.profiles import JudgeProfile, Profile, as_judge, as_member
from dokimasia.simulation.reading import read_json

REWRITES = ("error_throughout", "harmless_rewrite")
PERTURBS = ("error_in_passages", *REWRITES)
PROMPTS = ("gold_answer", "gold_check", "change_check", *PERTURBS)
"""The prompts that are answered here."""

SPILLS = ("phantom_details", "ungrounded_assumptions", "tone_mismatch")
"""What a model that worsens more than it is told to worsens beside."""

AROUND = 8
"""Words on either side of a change that are quoted with it at most."""

ELSE = "Something quite different could be said here, of the weather, of the sea, and of what was had for breakfast."


def reply(
    profile: Profile, prompt: str, inputs: Mapping[str, str], picture: Depicted | None, draws: Draws
) -> ChatReply:
    """Return the reply of a model to one of the prompts that are answered here."""
    judge = as_judge(profile)
    slip = slip_of(judge, draws)
    if slip == "refuses" or draws.chance(judge.refusal, "refusal"):
        return ChatReply(text=REFUSAL, refusal=REFUSAL, finish_reason="stop", native_finish_reason="stop")
    if picture is None or slip is not None or draws.chance(judge.format_noise, "noise"):
        text = CHATTER if prompt != "gold_answer" else REFUSAL
    elif prompt == "gold_answer":
        text = _written(profile, picture, draws)
    elif prompt == "gold_check":
        text = _gold_checked(judge, inputs["answer"], picture, draws)
    elif prompt == "change_check":
        text = _change_checked(judge, inputs["answer"], inputs["changed"], picture, draws)
    else:
        text = _perturbed(judge, prompt, inputs, picture, draws)
    return ChatReply(text=text, finish_reason="stop", native_finish_reason="stop")


def _written(profile: Profile, picture: Depicted, draws: Draws) -> str:
    """The gold answer to a picture, in which facts are told wrong as the model tells them in a description."""
    member = as_member(profile, picture.domain)
    text = gold_answer(picture)
    for number, point in enumerate(told(picture)):
        if draws.chance(wrong_rate(member, point), "wrong", number):
            text = text.replace(point.sentence(), point.sentence(draws.pick(point.false, "false", number)), 1)
    return text


def _gold_checked(judge: JudgeProfile, answer: str, picture: Depicted, draws: Draws) -> str:
    seen = [one for one in _noticed(judge, answer, picture, draws) if one.words]
    if seen:
        return _said(right=False, words=seen[0].words, why=f"The picture shows otherwise: {seen[0].dimension}.")
    if draws.chance(judge.false_alarm, "false-alarm"):
        return _said(right=False, words=answer.split(". ")[0], why="This cannot be made out.")
    return _said(right=True, words="", why="")


def _change_checked(judge: JudgeProfile, before: str, after: str, picture: Depicted, draws: Draws) -> str:
    """What the second text is at fault in beyond the first, as far as it is noticed; else a change without harm."""
    had = set(faults(before, picture))
    seen = list(dict.fromkeys(one.dimension for one in _noticed(judge, after, picture, draws) if one not in had))
    if not seen and draws.chance(judge.false_alarm, "false-alarm"):
        seen = [draws.pick(SPILLS, "false-kind")]
    kind = seen[0] if seen else NEUTRAL
    return _said(kind=kind, also=seen[1:], worse=bool(seen), why="This is what differs between the two.")


def _noticed(judge: JudgeProfile, text: str, picture: Depicted, draws: Draws) -> list[Fault]:
    found = faults(text, picture)
    return [one for number, one in enumerate(found) if draws.chance(judge.detects_missing, "notices", number)]


def _perturbed(judge: JudgeProfile, prompt: str, inputs: Mapping[str, str], picture: Depicted, draws: Draws) -> str:
    asked: Any = read_json(inputs["dimension"])
    text = inputs["answer"]
    dimension = str(asked[0]["dimension"]) if asked else ""
    planted = plant(dimension, text, picture, draws)
    if planted is None:
        return _said(none="The answer has nothing in it that could be changed so.")
    fate = draws.unit("fate")
    if fate < judge.perturbs_nothing:
        planted = Planted(text, "A small thing was changed.")
    elif fate < judge.perturbs_nothing + judge.perturbs_all:
        planted = Planted(" ".join([ELSE] * max(1, len(text.split()) // 10)), "Much was changed.")
    elif draws.chance(judge.perturbs_more, "more"):
        for other in (one for one in SPILLS if one != dimension):
            more = plant(other, planted.text, picture, draws)
            if more is not None:
                planted = more._replace(description=planted.description)
                break
    if prompt in REWRITES:
        return _said(answer=planted.text, description=planted.description)
    return _said(changes=_changes(text, planted.text), description=planted.description)


def _changes(before: str, after: str) -> list[dict[str, str]]:
    """The changes that make the second text of the first: what differs, each with words around it until it stands there once."""
    old, new = before.split(), after.split()
    parts: list[list[int]] = []
    for tag, *place in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if parts and place[0] - parts[-1][1] <= 2 * AROUND:
            parts[-1][1], parts[-1][3] = place[1], place[3]
        else:
            parts.append(place)
    changes: list[dict[str, str]] = []
    for start, end, new_start, new_end in parts or [[0, AROUND, 0, AROUND]]:
        original, left, right = "", 0, 0
        for more in range(2, AROUND + 1):
            left, right = min(more, start), min(more, len(old) - end)
            original = " ".join(old[start - left : end + right])
            if original and before.count(original) == 1:
                break
        changes.append({"original": original, "new": " ".join(new[new_start - left : new_end + right])})
    return changes


def _said(**fields: Any) -> str:
    return orjson.dumps(fields).decode()
