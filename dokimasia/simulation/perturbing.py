"""How a simulated model plants errors in a text: it tells one thing that the text says with another value of the same sort."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from dokimasia.domain.call import ChatReply
from dokimasia.simulation.candidates import REFUSAL
from dokimasia.simulation.depicted import Stated, same_value, sort_of, statements
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.rubrics import demand_of, forbids
from dokimasia.simulation.panel import CHATTER, slip_of
from dokimasia.simulation.profiles import Profile, as_judge
from dokimasia.simulation.reading import read_json

PROMPT = "perturbation"
"""The prompt that is answered here."""

_NUMBER = re.compile(r"\d+")


def reply(profile: Profile, inputs: Mapping[str, str], draws: Draws) -> ChatReply:
    """Return the reply of a model that is asked to plant errors in a text."""
    judge = as_judge(profile)
    slip = slip_of(judge, draws)
    if slip == "refuses" or draws.chance(judge.refusal, "refusal"):
        return ChatReply(text=REFUSAL, refusal=REFUSAL, finish_reason="stop", native_finish_reason="stop")
    errors = read_json(inputs["errors"])
    if not isinstance(errors, list) or slip == "unparsable" or draws.chance(judge.format_noise, "noise"):
        return ChatReply(text=CHATTER, finish_reason="stop", native_finish_reason="stop")
    rows = [planted(inputs["text"], error, draws) for error in errors]
    text = orjson.dumps(rows[:-1] if slip == "one_short" else rows).decode()
    return ChatReply(text=text, finish_reason="stop", native_finish_reason="stop")


def planted(text: str, error: Mapping[str, Any], draws: Draws) -> dict[str, Any]:
    """Return one error as it is reported: in what it is about, else in a statement of the dimension, else none."""
    number, dimension, about = error["n"], error["dimension"], error.get("about", "")
    told = statements(text)
    demanded = demand_of(about) if about else None
    usable = [
        one
        for one in told
        if sort_of(one.key[0], one.value) == dimension and (demanded is None or one.key == demanded.key)
    ]
    if not usable:
        return {"n": number, "none": True}
    stated = draws.pick(tuple(usable), "statement", number)
    new = demanded.value if demanded is not None and forbids(about) else _false_value(stated, told)
    original = _words(text, stated)
    if not original or same_value(stated.value, new):
        return {"n": number, "none": True}
    changed = original.replace(f'"{stated.value}"', f'"{new}"')
    return {"n": number, "changes": [{"original": original, "new": changed}]}


def _false_value(stated: Stated, told: Sequence[Stated]) -> str:
    """Another value of the same form: the next number, or what the text gives to something else of the sort."""
    number = _NUMBER.search(stated.value)
    if number:
        return f"{stated.value[: number.start()]}{int(number[0]) + 1}{stated.value[number.end() :]}"
    sort = sort_of(stated.key[0], stated.value)
    others = [one.value for one in told if sort_of(one.key[0], one.value) == sort]
    return next((value for value in others if not same_value(value, stated.value)), "something else")


def _words(text: str, stated: Stated) -> str:
    """The words of a statement as the text has them, if they stand in it once; else nothing."""
    attribute, subject = (re.escape(part) for part in stated.key)
    found = re.findall(rf'\b{attribute} of the {subject} is "{re.escape(stated.value)}"', text, re.IGNORECASE)
    return found[0] if len(found) == 1 and text.count(found[0]) == 1 else ""
