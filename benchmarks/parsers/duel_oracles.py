"""What a verdict of two responses, or their factuality scores, have to keep: each stands in the text, and stands unopposed."""

import re
from itertools import pairwise

from benchmarks.parsers.oracles import Refuted, said, stated

_PLAIN = str.maketrans(dict.fromkeys("*`_|~\u200b\ufeff\ufffc", " "))


def check_verdict(text: str, verdict: int) -> None:
    """Hold a verdict against every pair of letters with a sign between them in double brackets."""
    _require(verdict in range(-2, 3), "no such verdict")
    _require(verdict in set(map(_value, _pairs(said(text)))), "a verdict that is not there")
    others = {_value(pair) for pair in _pairs(stated(unshown(text))) if set(pair[0] + pair[2]) == {"A", "B"}}
    _require(others <= {verdict}, "another verdict is there, too")


def check_scores(text: str, scores: tuple[float, float]) -> None:
    """Hold two scores against the first number behind each `score` that a response's letter stands before."""
    for name, score in zip("AB", scores, strict=True):
        _require(0 <= score <= 10, "a score outside of the scale")
        numbers = _numbers(said(text), name)
        _require(score in numbers, f"no score of {score:g} for response {name}")
        canonical = rf"^Response {name} Visual Factuality Score: ([0-9]+(?:\.[0-9]+)?)(?:/10)?$"
        others = {float(one) for one in re.findall(canonical, stated(unshown(text)), re.MULTILINE)}
        _require(others <= {score}, f"another score for response {name} is there, too")


def unshown(text: str) -> str:
    """Return a text without what it strikes out, and without material of a prompt that it repeats."""
    text = re.sub(r"<(/?)\s{1,9}(?=[a-z])", r"<\1", text, flags=re.IGNORECASE)
    text = re.sub(r"(?ms)^<<<(?!END )([A-Z0-9_ ]+) ([0-9a-f]{16})>>>$.*?<<<END \1 \2>>>", "", text)
    return re.sub(r"(?s)~~(?:(?!\n\s*\n).)+?~~", " ", text)


def _pairs(text: str) -> list[tuple[str, str, str]]:
    """Return what stands in double brackets as letter, sign, letter."""
    for entity, sign in (("&gt;", ">"), ("&lt;", "<"), ("\u226b", ">>"), ("\u226a", "<<")):
        text = re.sub(entity, sign, text, flags=re.IGNORECASE)
    found: list[tuple[str, str, str]] = []
    for inside in (part.partition("]]")[0] for part in text.split("[[")[1:]):
        parts = re.split("([<>=]+)", "".join(inside.split()).upper())
        if len(parts) == 3 and parts[1] in ("<", "<<", "=", ">", ">>"):
            found.append((parts[0], parts[1], parts[2]))
    return found


def _value(pair: tuple[str, str, str]) -> int | None:
    first, sign, second = pair
    if {first, second} != {"A", "B"}:
        return None
    worth = 0 if sign == "=" else len(sign) if sign[0] == ">" else -len(sign)
    return worth if first == "A" else -worth


def _numbers(text: str, name: str) -> set[float]:
    """Return the first number behind each `score` before which, on its line, the response is named last."""
    found: set[float] = set()
    for line in re.split("[\n\r]", text.translate(_PLAIN)):
        parts = re.split("score", line, flags=re.IGNORECASE)
        for before, after in pairwise(parts):
            named = re.findall(r"(?:response|assistant)\s*([a-z0-9]+)", before, re.IGNORECASE)
            digits = re.match(r"[^0-9.+-]*([0-9]*\.?[0-9]+)", after)
            if named and named[-1].upper() == name and digits:
                found.add(float(digits[1]))
    return found


def _require(kept: bool, problem: str) -> None:
    if not kept:
        raise Refuted(problem)
