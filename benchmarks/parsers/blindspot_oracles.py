"""What scores and choices by axis, and a reader's notice, have to keep: they stand in the text, whole, and unopposed."""

import json
import re

from benchmarks.parsers.duel_oracles import unshown
from benchmarks.parsers.oracles import Refuted, said, stated
from dokimasia.domain.blindspots import Choice
from dokimasia.parsing.blindspots.judged import ReadByAxis, ReadNotice

AXES = ("clarity", "overall")
JUSTIFICATION = "The jetty is called red, but it is grey. All else fits."
_HIDDEN = re.compile(r"[*`\u200b\ufeff]")
_PLACES = {"a": "first", "b": "second", "tie": "tie"}
_DECODER = json.JSONDecoder(strict=False)

_LINES = "It is right.\nclarity | score: [9]\noverall | score: [4]"
_PAIR = "A is right.\nclarity | better: [tie]\noverall | better: [A]"
LIES: dict[str, tuple[str, object]] = {
    "parse_axis_scores": (_LINES, ReadByAxis({"clarity": 9, "overall": 5}, "It is right.")),
    "parse_structured_axis_scores": (
        '{"justification": "It is right.", "scores": {"clarity": 9, "overall": 4}}',
        ReadByAxis({"clarity": 9, "overall": 9}, "It is right."),
    ),
    "parse_axis_choices": (_PAIR, ReadByAxis({"clarity": "tie", "overall": "second"}, "A is right.")),
    "parse_structured_axis_choices": (_PAIR, ReadByAxis({"clarity": "tie", "overall": "first"}, "...")),
    "parse_notice": ('Words: "it is grey"\nVerdict: [[yes]]', ReadNotice(False, "")),
}
"""Values that a text does not state, by parser."""


def check_scores(text: str, read: ReadByAxis[int]) -> None:
    """Each axis has a whole number of the scale that its line, or an object, gives it, and no line gives it another."""
    _by_axis(text, read, "score", "scores")
    _require(all(type(one) is int and 1 <= one <= 10 for one in read.values.values()), "a score off the scale")


def check_choices(text: str, read: ReadByAxis[Choice]) -> None:
    """The same of choices, which are first, second or tie."""
    _by_axis(text, read, "better", "better")
    _require(set(read.values.values()) <= {"first", "second", "tie"}, "no such choice")


def check_notice(text: str, read: ReadNotice) -> None:
    """What names an error quotes words of the justification, which the text repeats; what names none quotes none."""
    _require(read.named == bool(read.words), "words without a verdict, or a verdict without words")
    _require(read.words in JUSTIFICATION, "words that the justification does not say")
    verdicts = {one.casefold() for one in re.findall(r"\[\[\s*(yes|no)\s*\]\]", said(text), re.IGNORECASE | re.ASCII)}
    _require(("yes" if read.named else "no") in verdicts, "a verdict that is not there")


def _by_axis(text: str, read: ReadByAxis[int] | ReadByAxis[Choice], word: str, field: str) -> None:
    _require(tuple(read.values) == AXES, "other axes than were asked for")
    _require(any(map(str.isalpha, read.justification)), "a justification without a word")
    lines = [_HIDDEN.sub("", line) for line in stated(unshown(text)).split("\n")]
    objects = list(_objects(said(text), field))
    for axis, value in read.values.items():
        pattern = rf"^\W*{axis}\W+{word}[^\[\]]*\[{{1,2}}\s*([^\[\]]*?)\s*\]{{1,2}}[\W]*(?:(?:/|out of)\s*10\W*)?$"
        bare = rf"^\W*{axis}\W+{word}\W*(\w[^\[\]]*?)\W*$"
        found = (re.search(one, line, re.IGNORECASE | re.ASCII) for line in lines for one in (pattern, bare))
        own = [one[1] for one in found if one]
        theirs = [str(one) for held in objects for key, one in held.items() if key.strip().casefold() == axis]
        _require(value in map(_value, [*own, *theirs]), f"nothing gives {axis} a {value}")
        _require(not own or {_value(one) for one in own} <= {value, None}, f"another line gives {axis} another value")


def _value(written: str) -> object:
    plain = re.sub(r"\s*(?:/|out of)\s*10$|^(?:response|image|answer)\s", "", written.strip().casefold())
    return int(plain) if plain.isdecimal() else _PLACES.get(plain)


def _objects(text: str, field: str) -> list[dict[str, object]]:
    """The objects that some object of the text holds in a field, read from every bracket on."""
    found: list[dict[str, object]] = []
    for match in re.finditer(r"\{", text):
        try:
            held = _DECODER.raw_decode(re.sub(r",(\s*[\]}])", r"\1", text[match.start() :]))[0]
        except (ValueError, RecursionError):
            continue
        if isinstance(held, dict) and isinstance(held.get(field), dict):
            found.append(held[field])
    return found


def _require(kept: bool, problem: str) -> None:
    if not kept:
        raise Refuted(problem)
