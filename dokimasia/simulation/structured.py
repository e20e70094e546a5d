"""Structured replies of simulated models: values by JSON schema, judge replies as objects, and checks of abilities."""

import io
import re
from collections.abc import Mapping

import orjson
from PIL import Image
from pydantic import JsonValue

from dokimasia.domain.call import Chat, ChatReply, ToolCall
from dokimasia.simulation.draws import Draws, text_reply, tool_reply

_NUMBER = re.compile(r"\d+")
_SCORE = re.compile(r"^(\d+) \| score: \[(\d+|not stated)\](?: \| reason: (.*))?$", re.MULTILINE)
_CHECKED = re.compile(r"^(\d+) \| (needed: .*?) \| ([^|\n]*)$", re.MULTILINE)
_WORD = re.compile(r"(\w+): (YES|NO)")
_VERDICT = re.compile(r"\s*Verdict: \[\[(\w+)\]\]\s*$")


def fit_schema(schema: JsonValue, task: str) -> JsonValue:
    """Return a value that fits a JSON schema; whole numbers are taken from the task's text if it has any.

    Supported are types, `enum`, `const`, `anyOf` and `oneOf` (the first option), objects with all their properties, and
    arrays of one item. Anything else gives an empty text.
    """
    if not isinstance(schema, dict):
        return ""
    if "const" in schema:
        return schema["const"]
    values, options = schema.get("enum"), schema.get("anyOf") or schema.get("oneOf")
    if isinstance(values, list) and values:
        return values[0]
    if isinstance(options, list) and options:
        return fit_schema(options[0], task)
    kind, properties = schema.get("type"), schema.get("properties", {})
    if isinstance(properties, dict) and (kind == "object" or properties):
        return {name: fit_schema(property_schema, task) for name, property_schema in properties.items()}
    if kind == "array":
        return [fit_schema(schema.get("items", {}), task)]
    if kind in ("integer", "number"):
        number = _NUMBER.search(task)
        return int(number[0]) if number else 0
    return {"boolean": True, "null": None}.get(str(kind), "")


def judge_reply_as_object(prompt: str, text: str) -> str:
    """Return a judge's reply to a prompt as the JSON object of its output schema; other text is unchanged."""
    if prompt in ("criteria", "criteria_published", "criteria_no_chain"):
        return orjson.dumps({"criteria": [_with_anchor_object(criterion) for criterion in orjson.loads(text)]}).decode()
    if prompt == "criteria_check":
        looked = [_check_row(*line) for line in _CHECKED.findall(text)]
        if looked:
            return orjson.dumps({"criteria": looked, "missing": ""}).decode()
        return text
    if prompt == "checkpoints_published":
        rows = [{"n": int(number), "score": int(score)} for number, score, _ in _SCORE.findall(text)]
        if rows:
            return orjson.dumps({"scores": rows}).decode()
        return text
    if prompt in ("checkpoints", "checkpoints_reasons"):
        rows = [_score_row(int(number), score, reason) for number, score, reason in _SCORE.findall(text)]
        if rows:
            return orjson.dumps({"scores": rows}).decode()
        return text
    verdict = _VERDICT.search(text) if prompt == "equivalence" else None
    if verdict:
        return orjson.dumps({"reasoning": text[: verdict.start()], "verdict": verdict[1]}).decode()
    return text


def _check_row(number: str, verdicts: str, reason: str) -> dict[str, JsonValue]:
    verdict_by_name = {name: word == "YES" for name, word in _WORD.findall(verdicts)}
    return {"n": int(number), **verdict_by_name, "reason": "" if reason == "-" else reason}


def _score_row(number: int, score: str, reason: str) -> dict[str, JsonValue]:
    is_stated = score != "not stated"
    row = {"n": number, "stated": is_stated, "score": int(score) if is_stated else 1}
    if reason:
        return {**row, "reason": reason}
    return row


def _with_anchor_object(criterion: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return a criterion whose anchor is an object, including for the whole image."""
    if isinstance(criterion.get("anchor"), dict):
        return criterion
    return {**criterion, "anchor": {"image": 0, "box": None}}


_BANDS = 3
_COLOUR_VALUES = {
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "grey": (128, 128, 128),
    "orange": (255, 165, 0),
    "purple": (128, 0, 128),
}


def answer_probe(call: Chat, task: str, images: Mapping[str, bytes], draws: Draws) -> ChatReply:
    """Return the reply to a check: a call of the first tool if tools are offered; a value that fits the schema if there is one;
    else the colours of the picture from left to right.

    Args:
        call: the request.
        task: the task, from which numbers are taken.
        images: bytes of the request's images, by SHA-256.
        draws: the request's draws.
    """
    if call.tools:
        tool = call.tools[0]
        arguments = orjson.dumps(fit_schema(tool.parameters, task)).decode()
        tool_call = ToolCall(id=f"call_{draws.key[:12]}", name=tool.name, arguments=arguments)
        return tool_reply([tool_call])
    if call.output_schema is not None:
        return text_reply(orjson.dumps(fit_schema(call.output_schema, task)).decode())
    pictures = call.images
    if not pictures:
        return text_reply("I cannot see any picture here.")
    return text_reply(f"From left to right: {', '.join(main_colours(images[pictures[0].sha256]))}.")


def main_colours(data: bytes) -> list[str]:
    """Return the names of the main colours of the left, the middle and the right third of a picture."""
    with Image.open(io.BytesIO(data)) as opened:
        picture = opened.convert("RGB")
    width, height = picture.size
    thirds = [(width * number // _BANDS, -(-width * (number + 1) // _BANDS)) for number in range(_BANDS)]
    return [_main_colour(picture.crop((left, 0, right, height))) for left, right in thirds]


def _main_colour(part: Image.Image) -> str:
    """Return the name of the colour nearest to the most frequent one of a picture."""
    counted = part.getcolors(part.width * part.height) or []
    _, pixel = max(counted, key=lambda pair: pair[0])
    assert isinstance(pixel, tuple)
    return min(
        _COLOUR_VALUES, key=lambda name: sum((a - b) ** 2 for a, b in zip(_COLOUR_VALUES[name], pixel, strict=True))
    )
