"""What a text states, found by slow and simple means that share nothing with the parsers, and compared with what they say."""

import json
import re
from collections.abc import Iterator
from typing import Any

from dokimasia.domain.criterion import CriteriaCheck, Criterion, ReferenceChain
from dokimasia.domain.judgement import CriterionScore

_HIDDEN = re.compile(r"(?<!\w)[*`]+|[*`]+(?!\w)|[\u200b\ufeff]")
_CANONICAL = re.compile(r"([0-9]{1,6}) \| score: \[([0-9]{1,6}|not stated)\]")
_BRACKET = re.compile(r"[\s:=]*\[+\s*([0-9]+|not[\s_-]*stated)\s*\]", re.IGNORECASE)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DECODER = json.JSONDecoder(strict=False)


class Refuted(AssertionError):
    """A parser returned what the text does not state, or raised what it must not."""


def said(text: str) -> str:
    """Return the text without the thought that it opens with."""
    opening = re.match(r"\s*<(think|thinking)>", text, re.IGNORECASE | re.ASCII)
    if opening is None:
        return text
    return re.split(f"</{opening[1]}>", text[opening.end() :], maxsplit=1, flags=re.IGNORECASE | re.ASCII)[-1]


def stated(text: str) -> str:
    """Return the text without what it only thinks, comments, strikes out, quotes or fences, found one after the other.

    What is fenced or quoted stays where nothing else in the text could state anything.
    """
    rest = said(text)
    for name in (
        "think",
        "thinking",
        "thoughts?",
        "scratchpad",
        "reflection",
        "draft",
        "blockquote",
        "quote",
        "del",
        "s",
    ):
        rest = re.sub(rf"<{name}\s*>.*?</{name}\s*>", "\n", rest, flags=re.IGNORECASE | re.ASCII | re.DOTALL)
    rest = re.sub(r"<!--.*?-->", " ", rest, flags=re.DOTALL)
    kept: list[str] = []
    fenced = ""
    for line in rest.split("\n"):
        mark = re.match(r" {0,3}(```+|~~~+)[^`]*$", line)
        if fenced:
            fenced = "" if mark and line.strip().startswith(fenced) and not line.strip(" `~\r") else fenced
        elif mark:
            fenced = mark[1]
        elif not re.match(r" {0,3}>", line):
            kept.append(line)
    own = "\n".join(kept)
    return re.sub(r"~~.+?~~", " ", own, flags=re.DOTALL) if re.search(r"[\[{<0-9]", own) else rest


def check_scores(text: str, scores: list[CriterionScore], *, expected: int, paths: tuple[str, ...] = ()) -> None:
    """Compare scores with the lines of the text: each stands in one for its criterion, and none says otherwise."""
    _require(len(scores) == expected and all(map(_is_score, scores)), "scores of another number or size")
    lines = [_HIDDEN.sub("", line) for line in said(text).split("\n")]
    for number, score in enumerate(scores, start=1):
        path = paths[number - 1] if paths else None
        _require(
            any(_states(line, number, path, score) for line in lines), f"no line gives criterion {number} a {score}"
        )
    for line in (_HIDDEN.sub("", line) for line in stated(text).split("\n")):
        plain = _CANONICAL.fullmatch(line.strip(" \t\r"))
        if plain:
            number = int(plain[1])
            _require(1 <= number <= expected, f"criterion {number} was not asked for")
            _require(scores[number - 1] == _told(plain[2]), f"a line gives criterion {number} another score")


def check_plain_scores(text: str, scores: list[int], *, expected: int, paths: tuple[str, ...] = ()) -> None:
    """Compare scores that do not tell silence from an error with the lines of the text, where either may stand for a 1."""
    lines = [_HIDDEN.sub("", line) for line in said(text).split("\n")]
    told: list[CriterionScore] = []
    for number, score in enumerate(scores, start=1):
        path = paths[number - 1] if paths else None
        silent = score == 1 and any(_states(line, number, path, CriterionScore(1, stated=False)) for line in lines)
        told.append(CriterionScore(score, stated=not silent))
    check_scores(text, told, expected=expected, paths=paths)


def check_reasoned_scores(text: str, scores: list[CriterionScore], *, expected: int, objects: bool = False) -> None:
    """Compare scores with what stands before the reasons of lines and, with `objects`, with the objects of the text."""
    _require(len(scores) == expected and all(map(_is_score, scores)), "scores of another number or size")
    rows = [(one.get("n"), one.get("score")) for one in _objects(said(text))] if objects else []
    lines = [re.split(r"(?i)\|?[\s*_]*reason", _HIDDEN.sub("", line))[0] for line in said(text).split("\n")]
    for number, score in enumerate(scores, start=1):
        plain = score._replace(reason=None)
        stated_here = (number, score.score) in rows or any(_states(line, number, None, plain) for line in lines)
        _require(stated_here or not score.stated, f"nothing gives criterion {number} a {score}")


def check_structured_scores(text: str, scores: list[CriterionScore], *, expected: int) -> None:
    """Compare scores with the text's objects with `n` and `score`, and, where it has none of them, its lines."""
    rows = [(one.get("n"), one.get("score"), one.get("stated", True)) for one in _objects(said(text))]
    if all(
        any((number, value, one.stated) in rows for value in (one.score, *(() if one.stated else (None,))))
        for number, one in enumerate(scores, start=1)
    ):
        _require(len(scores) == expected and all(map(_is_score, scores)), "scores of another size")
    else:
        check_scores(text, scores, expected=expected)


def check_rating(text: str, rating: float, *, low: float, high: float) -> None:
    """Hold a rating against the numbers in double brackets: it stands there, and no other does."""
    _require(low <= rating <= high, "a rating outside of its scale")
    others = {float(one) for one in re.findall(r"\[\[([0-9]{1,9}(?:\.[0-9]{1,9})?)\]\]", stated(text))}
    loose = re.findall(r"\[\[\s*([+-]?[0-9.]+)\s*\]\]", said(text))
    _require(
        any(float(one) == rating for one in loose if re.fullmatch(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)", one)),
        "a rating that is not there",
    )
    _require(others <= {rating}, "another rating is there, too")


def check_equivalence(text: str, same: bool, *, objects: bool = False) -> None:
    """Hold a verdict against the words in double brackets and, with `objects`, the field `verdict` of objects."""
    pattern = re.compile(r"\[\[\s*(same|different)\s*\]\]", re.IGNORECASE | re.ASCII)
    words = pattern.findall(stated(text))
    if len({word.casefold() for word in words}) > 1:
        words = pattern.findall(re.sub(r'"[^"\n]+"|\u201c[^\u201c\u201d\n]+\u201d|`[^`\n]+`', " ", stated(text)))
    if objects:
        found = (one.get("verdict") for one in _objects(said(text)))
        words += [word.strip() for word in found if isinstance(word, str)]
    lowered = {word.casefold() for word in words}
    _require(("same" if same else "different") in lowered, "a verdict that is not there")
    if not objects:
        _require(len(lowered) == 1, "both verdicts are there")


def check_match(text: str, model: str) -> None:
    """Hold a match against the letters in double brackets behind the word report: they say this and nothing else."""
    _require(model in ("A", "B"), "neither of the two models")
    letters = re.findall(r"\[\[\s*([AB])\s*\]\]", said(text), re.IGNORECASE | re.ASCII)
    _require(bool(letters) and "report" in said(text).casefold(), "no report is matched there")
    plain = re.findall(r"^report (1|2): \[\[([AB])\]\]$", stated(text), re.IGNORECASE | re.ASCII | re.MULTILINE)
    for number, letter in plain:
        same = letter.upper() == model
        _require(same if number == "1" else not same, "a line says another model")


def check_chain(text: str, chain: ReferenceChain) -> None:
    """Hold a chain against the tags: each part stands, but for white space, whole between its two tags, in order."""
    position = 0
    for name, part in (("reasoning", chain.reasoning), ("answer", chain.answer)):
        _require(part == part.strip() != "", f"the {name} is empty or padded")
        whole = re.compile(
            rf"<{name}\s*>\s*{re.escape(part)}\s*</{name}\s*>".replace(r"\ ", " "), re.IGNORECASE | re.DOTALL
        )
        found = whole.search(said(text), position)
        _require(found is not None, f"the {name} does not stand between its tags")
        position = found.end() if found else position


def check_criteria(text: str, criteria: tuple[Criterion, ...], *, image_count: int) -> None:
    """Compare criteria with the strings and numbers that stand in the text as JSON."""
    reply = said(text)
    strings, numbers = set(_strings(reply)), {float(one) for one in _NUMBER.findall(reply)}
    digits = set(re.findall(r"-?[0-9]+", reply))
    _require(0 < len(criteria) <= reply.count("{"), "more criteria than objects")
    for number, one in enumerate(criteria, start=1):
        for field in (one.question, one.ground_truth):
            _require(field in strings or field in digits, f"criterion {number}: {field[:40]!r} is not there")
        _require(one.weight in numbers, f"criterion {number}: a weight of {one.weight} is not there")
        _require(0 <= one.anchor.image < image_count, f"criterion {number}: an image that there is not")
        _require(one.anchor.image in numbers | {0.0}, f"criterion {number}: an image that was not named")
        if one.anchor.box is not None:
            corners = (one.anchor.box.x0, one.anchor.box.y0, one.anchor.box.x1, one.anchor.box.y1)
            _require(set(corners) <= numbers, f"criterion {number}: a box that is not there")


def check_look(text: str, look: CriteriaCheck, *, expected: int) -> None:
    """Hold a second look against the text: a verdict of its kind, and each word of a reason, stands in it."""
    reply = said(text).casefold()
    _require(len(look.criteria) == expected, "not as many criteria as were asked for")
    words = {"needed": ("yes", "no"), "single": ("yes", "no"), "open": ("yes", "no")}
    for number, one in enumerate(look.criteria, start=1):
        for name, (yes, no) in words.items():
            wanted = (yes, "true") if getattr(one, name) else (no, "false")
            stated = re.search(rf"{name}\W{{0,9}}(?:{'|'.join(wanted)})", reply) is not None
            _require(stated, f"criterion {number}: a verdict on '{name}' that is not there")
    for told in (look.missing, *(one.reason for one in look.criteria)):
        plain = re.sub(r"[*`\s\\]", "", reply)
        _require(all(re.sub(r"[*`\\]", "", word) in plain for word in told.casefold().split()), "a reason not given")


def check_final_answer(text: str, answer: str | None) -> None:
    """Hold a final answer against the text: it stands in it after those two words, on one line."""
    if answer is None:
        return
    place = text.casefold().find("final answer")
    _require(place >= 0 and answer in text[place:], "an answer that is not there")
    _require("\n" not in answer and answer.strip() == answer != "", "an answer that is empty, padded or broken")


def _is_score(one: CriterionScore) -> bool:
    return 1 <= one.score <= 5 if one.stated else one.score == 1


def _told(written: str) -> CriterionScore:
    """Return what stands in a line's brackets."""
    return CriterionScore(int(written), stated=True) if written.isdecimal() else CriterionScore(1, stated=False)


def _states(line: str, number: int, path: str | None, score: CriterionScore) -> bool:
    """Whether a line names the criterion, by number or path, then says `score`, then has the score in brackets."""
    folded = line.casefold()
    for found in re.finditer("score", folded):
        before, after = folded[: found.start()], folded[found.end() :]
        named = any(int(one) == number for one in re.findall(r"[0-9]+", before)[:1])
        by_path = path is not None and path.casefold() in re.sub(r"\s", "", before)
        bracket = _BRACKET.match(after)
        if (named or by_path) and bracket is not None and _told(bracket[1]) == score:
            return True
    return False


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield every JSON object that begins anywhere in the text, inside others too; trailing commas may be there."""
    for reading in {text, re.sub(r",(?=\s*[\]}])", "", text)}:
        for place in re.finditer(r"\{", reading):
            value = _decoded(reading, place.start())
            if isinstance(value, dict):
                yield {name: one for name, one in value.items() if type(one) is not bool or name == "stated"}


def _strings(text: str) -> Iterator[str]:
    """Yield what stands in the text as a JSON string, from every quotation mark on, without white space around it."""
    for place in re.finditer('"', text):
        value = _decoded(text, place.start())
        if isinstance(value, str):
            yield value.strip()


def _decoded(text: str, start: int) -> object:
    try:
        return _DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def _require(kept: bool, problem: str) -> None:
    if not kept:
        raise Refuted(problem)
