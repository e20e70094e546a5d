"""How a simulated model keeps to a JSON schema: a value that fits it, and a judge's products in the object it asks for."""

import re
from typing import Any, cast

import orjson

_NUMBER = re.compile(r"\d+")
_SCORE = re.compile(r"^(\d+) \| score: \[(\d+|not stated)\]$", re.MULTILINE)
_LOOKED = re.compile(r"^(\d+) \| (needed: .*?) \| ([^|\n]*)$", re.MULTILINE)
_WORD = re.compile(r"(\w+): (YES|NO)")
_VERDICT = re.compile(r"\s*Verdict: \[\[(\w+)\]\]\s*$")


def fitting(schema: Any, task: str) -> Any:
    """Return a value that fits a JSON schema; whole numbers are taken from the task's text where it has any.

    Knows types, `enum`, `const`, `anyOf` and `oneOf` (the first), objects with all their properties, and arrays of one
    item. Anything else is an empty text.
    """
    if not isinstance(schema, dict):
        return ""
    known = cast("dict[str, Any]", schema)
    if "const" in known:
        return known["const"]
    if known.get("enum"):
        return known["enum"][0]
    for word in ("anyOf", "oneOf"):
        if known.get(word):
            return fitting(known[word][0], task)
    kind = known.get("type")
    if kind == "object" or "properties" in known:
        return {name: fitting(one, task) for name, one in known.get("properties", {}).items()}
    if kind == "array":
        return [fitting(known.get("items", {}), task)]
    if kind in ("integer", "number"):
        found = _NUMBER.search(task)
        return int(found[0]) if found else 0
    return {"boolean": True, "null": None}.get(str(kind), "")


def in_object(prompt: str, text: str) -> str:
    """Return a judge's reply to a prompt as the JSON object of its output schema; another text stays as it is."""
    if prompt in ("criteria", "criteria_published", "criteria_no_chain"):
        return orjson.dumps({"criteria": [_anchored(one) for one in orjson.loads(text)]}).decode()
    if prompt == "criteria_check":
        looked = [_looked(*line) for line in _LOOKED.findall(text)]
        return orjson.dumps({"criteria": looked, "missing": ""}).decode() if looked else text
    if prompt == "checkpoints_published":
        rows = [{"n": int(number), "score": int(score)} for number, score in _SCORE.findall(text)]
        return orjson.dumps({"scores": rows}).decode() if rows else text
    if prompt == "checkpoints":
        rows = [_told(int(number), score) for number, score in _SCORE.findall(text)]
        return orjson.dumps({"scores": rows}).decode() if rows else text
    verdict = _VERDICT.search(text) if prompt == "equivalence" else None
    if verdict:
        return orjson.dumps({"reasoning": text[: verdict.start()], "verdict": verdict[1]}).decode()
    return text


def _looked(number: str, verdicts: str, reason: str) -> dict[str, Any]:
    said = {name: word == "YES" for name, word in _WORD.findall(verdicts)}
    return {"n": int(number), **said, "reason": "" if reason == "-" else reason}


def _told(number: int, score: str) -> dict[str, Any]:
    told = score != "not stated"
    return {"n": number, "stated": told, "score": int(score) if told else 1}


def _anchored(criterion: dict[str, Any]) -> dict[str, Any]:
    """Return a criterion whose anchor is an object, also where it is the whole image."""
    anchor = criterion["anchor"]
    return criterion if isinstance(anchor, dict) else {**criterion, "anchor": {"image": 0, "box": None}}
