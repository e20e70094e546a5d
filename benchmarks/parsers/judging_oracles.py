"""What rankings, compared criteria and aspect scores have to keep: they stand in the text, whole, and unopposed."""

import json
import re

from benchmarks.parsers.oracles import Refuted, stated

RANKED = 3
_DECODER = json.JSONDecoder(strict=False)
_HIDDEN = re.compile(r"[*`\u200b\ufeff]")


def check_ranking(text: str, places: tuple[int, ...]) -> None:
    """The places are a ranking of all, and every bracket with signs between numbers that the text states says the same."""
    _require(len(places) == RANKED and set(places) == set(range(1, max(places) + 1)), "no ranking of all responses")
    own = stated(re.sub(r"<(/?)\s+(?=\w)", r"<\1", text))
    found = [_ranking(inner) for inner in re.findall(r"\[\[([^\[\]\n]*)\]\]", own) if re.match(r"\s*[0-9]", inner)]
    _require(places in found, "no bracket states this ranking")
    _require(all(one == places for one in found), "another bracket states another ranking")


def check_compared(text: str, criteria: tuple[tuple[str, int], ...]) -> None:
    """Each criterion stands in the text as a JSON text, with a whole weight, and none stands there twice."""
    _require(2 <= len(criteria) <= 8, "too few criteria, or too many")
    _require(
        len({criterion.casefold() for criterion, _ in criteria}) == len(criteria), "a criterion stands there twice"
    )
    texts = [" ".join(_text(text, match.start()).split()) for match in re.finditer('"', text)]
    for criterion, weight in criteria:
        _require(bool(criterion.strip()) and criterion in texts, "a criterion that the text does not state")
        _require(type(weight) is int and 1 <= weight <= 10, "a weight off the scale")
        _require(
            re.search(rf"(?<![0-9.\-]){weight}(?![0-9.])", text) is not None, "a weight that the text does not state"
        )


def check_aspects(text: str, aspects: tuple[tuple[str, int], ...]) -> None:
    """Each aspect stands on a line with its score in brackets, and no other line gives it another."""
    _require(3 <= len(aspects) <= 5, "too few aspects, or too many")
    lines = [" ".join(_HIDDEN.sub("", line).split()) for line in stated(text).split("\n")]
    for aspect, score in aspects:
        _require(1 <= score <= 5, "a score off the scale")
        own = [line for line in lines if aspect.casefold() in line.casefold() and "score" in line.casefold()]
        _require(any(re.search(rf"\[\s*{score}\s*\]", line) for line in own), f"no line gives {aspect!r} a {score}")


def _ranking(inner: str) -> tuple[int, ...] | None:
    """Return the places that a bracket states, read sign by sign; None where it is no ranking of three."""
    place, places = 1, dict[int, int]()
    for sign in re.findall(r"[0-9]+|\S", inner):
        if sign == ">":
            place += 1
        elif sign.isdecimal() and sign.isascii():
            places[int(sign)] = place
        elif sign != "=":
            return None
    return tuple(places[one] for one in sorted(places)) if sorted(places) == [1, 2, 3] else None


def _text(text: str, at: int) -> str:
    """Return the JSON text that begins at a quotation mark; empty where none does."""
    try:
        return str(_DECODER.raw_decode(text, at)[0])
    except ValueError:
        return ""


def _require(kept: bool, problem: str) -> None:
    if not kept:
        raise Refuted(problem)
