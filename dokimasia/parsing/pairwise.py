"""Pairwise verdicts on two responses, and scores of their visual factuality (Creation-MMBench, E)."""

import re

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import double, form
from dokimasia.parsing.own import LEFT_OUT, is_empty_talk, outside, own, plainly
from dokimasia.parsing.reply import matches, short

FLAGS = re.IGNORECASE | re.ASCII

_SIGNS = {"&gt;": ">", "&#62;": ">", "&lt;": "<", "&#60;": "<", "\u226b": ">>", "\u226a": "<<"}
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)), re.IGNORECASE)
_ORDER = r"([AB])\s{0,9}(>>?|<<?|=)\s{0,9}([AB])"
_VERDICT = form(double(_ORDER))
_MEANT = form(
    r"\[\[(?:[^\[\]<>=]{0,60}[<>=][^\[\]]{0,60}|\s{0,9}(?:(?:assistant|response|model)\s{1,9})?[A-Z]\s{0,9}"
    r"|[^\[\]\nC-Z0-9]{0,60}|\s{0,9}(?:tie|draw|equal|both|neither|none|no verdict)\s{0,9})\]\]"
)
"""Text in double brackets that was meant as a verdict, whether or not it is valid."""
_LOOSE = form(rf"(?:\[\s{{0,9}}|\bverdict\b[^\n\[\]<>=]{{0,40}}?\b){_ORDER}(?![A-Za-z0-9<>=])")
"""A verdict without double brackets, which must not differ from the one in brackets."""
_SIDE = r"(?:(?:assistant|response|model|output|answer)[ \t]{1,3})?\(?(?P<who>[AB])\)?"
_BETTER = (
    rf"{_SIDE}(?:['\u2019]s[ \t]{{1,3}}[a-z]{{1,20}}(?:[ \t]{{1,3}}[a-z]{{1,20}})?)?[ \t]{{1,3}}is[ \t]{{1,3}}"
    r"(?:(?P<grade>significantly|much|far|considerably|slightly|somewhat|marginally|clearly|a bit)[ \t]{1,3})?"
    r"(?:better|superior)"
)
_EQUAL = (
    r"(?:(?P<tie>(?:a[ \t]{1,3})?tie|draw|equal(?:ly good)?)"
    r"|both(?:[ \t]{1,3}(?:assistants|responses|models|answers|outputs))?[ \t]{1,3}are[ \t]{1,3}"
    r"(?P<equal>equally good|equal|tied|of equal quality|of the same quality))"
)
_CHOICE = r"(?P<choice>choice|decision|conclusion|pick|preference)"
_ANNOUNCED = re.compile(
    rf"(?<![A-Za-z0-9'\u2019-])(?:{_BETTER}|{_EQUAL}|{_CHOICE})[ \t*_]{{0,5}}:[ \t*_`]{{0,9}}(?:\n\s{{0,9}})?"
    r"(?=(?:[*_`]{0,3})\[\[[^\[\]\n]{1,20}\]\])",
    FLAGS,
)
"""Words that repeat the verdict after them: `Assistant A is significantly better: [[A>>B]]`, `Tie: [[A=B]]`."""
_EXPLAINED = re.compile(
    r"[ \t*_`.]{0,9}(?:\n\s{0,9}|(?<=[.*_`])[ \t]{1,3})[*_]{0,3}"
    rf"(?:{_BETTER}|{_EQUAL})(?P<why>[^\n]{{0,600}})\s{{0,9}}\Z",
    FLAGS,
)
"""The last sentence of a reply, after the verdict, that repeats it: `Assistant A is better for its colours.`"""
_TURNS = re.compile(
    r"[\[\]<>=?!%~]|[.;:](?=\s{0,3}\S)|n['\u2019]t\b|\bin[ \t]{1,3}[0-9]|\b(?:not|no|nor|never|neither|none|nothing|without|but"
    r"|however|although|though|yet|while|whereas|despite|if|unless|except|only|or|else|perhaps|maybe|might|may|could|would"
    r"|should|seems?|actually|wait|correct\w*|instead|rather|otherwise|still|equal\w*|ti(?:e|ed|es)|draw|same|worse|better"
    r"|superior|prefer\w*|w[io]n\w*|verdicts?|wrong\w*|false|mistak\w*|reflection|second thought|claims?|says?|said|just"
    r"|almost|hardly|barely)\b",
    re.IGNORECASE,
)
"""Words that could turn a sentence against the verdict, or make it one of several."""
_GRADES = {
    "significantly": 2,
    "much": 2,
    "far": 2,
    "considerably": 2,
    "slightly": 1,
    "somewhat": 1,
    "marginally": 1,
    "a bit": 1,
}
VALUES = {">>": 2, ">": 1, "=": 0, "<": -1, "<<": -2}

_GAP = rf"[ \t*_`{LEFT_OUT}]{{0,9}}"
_SCORE = re.compile(
    rf"(?:^[ \t]{{0,9}}(?:[-+*]|[0-9]{{1,2}}[.)])[ \t]{{1,3}}[*_`]{{0,3}})?"
    rf"\b(?:response|assistant){_GAP}\b(?P<name>[A-Z]|[0-9]{{1,3}})(?:['\u2019]s)?{_GAP}(?:\bvisual{_GAP})?"
    rf"\bfactuality{_GAP}score{_GAP}(?:[:=|]|\bis\b:?){_GAP}(?P<angle><)?\[{{0,2}}{_GAP}"
    r"(?P<score>[0-9]{1,9}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})(?(angle)>)(?:[ \t*_`]{0,9}\]{1,2})?"
    r"(?:[ \t*_`]{0,9}(?:/|out of)[ \t]{0,3}10)?",
    FLAGS | re.MULTILINE,
)
_SCORED = re.compile(r"\bfactuality[^\n0-9]{0,9}\bscores?\b[^\n]{0,99}?\d", re.IGNORECASE)
"""A line with a number that could be meant as a score."""
_NAMED = re.compile("factuality", re.IGNORECASE)
"""The word on every line with a score: a reply without it is not searched for scores."""
LOWEST, HIGHEST = 0, 10


def parse_pairwise_verdict(text: str) -> int:
    """Return a judge's verdict on a pair: how much better response A is, from 2 (much better) to -2 (much worse).

    The form is `Final Verdict is: [[A>>B]]`, with `>>`, `>` or `=`. Mirrored forms (`[[B<<A]]`), lower case, and HTML
    entities or single characters for the signs are equivalent. The reply may repeat the verdict.

    Raises:
        UnparsableReply: there is no verdict, or several that differ; one compares other responses than A and B, or a
            response with itself; or one is not the judge's own statement (see `dokimasia.parsing.own`).
    """
    reply = _with_signs(own(text))
    for match in matches(_MEANT, reply):
        if _VERDICT.fullmatch(match[0]) is None:
            raise UnparsableReply(
                f"{short(match[0])} is no verdict: write [[A>>B]], [[A>B]], [[A=B]], [[B>A]] or [[B>>A]]"
            )
    verdicts = matches(_VERDICT, reply)
    if not verdicts:
        where = outside(_with_signs(text), reply, lambda part: len(_VERDICT.findall(part)))
        raise UnparsableReply(f"there is no verdict such as [[A>B]], in double brackets{where}")
    stated = {_value(match): match for match in (*matches(_LOOSE, reply), *verdicts)}
    if len(stated) > 1:
        first, second = sorted((match.start(), short(_written(match))) for match in stated.values())[:2]
        raise UnparsableReply(f"there are different verdicts: {first[1]} and {second[1]}")
    value = next(iter(stated))
    rest = _without_repetition(reply, value)
    plainly(matches(_VERDICT, rest), rest)
    return value


def parse_factuality_scores(text: str) -> tuple[float, float]:
    """Return the visual factuality scores, 0 to 10, that a judge gives responses A and B.

    The form is a line for each at the end of the reply: `Response A Visual Factuality Score: 8.5/10`. `Assistant A`, a
    missing scale, brackets around the number and bold type are accepted. The text before the first of the lines is the
    judge's analysis; scores of single aspects in it are not read.

    Raises:
        UnparsableReply: a response has no score, several that differ, or one outside the scale; there is a score of
            another response; a number that could be meant as a score has another form (`8,5`, `8/10 - 9/10`); or words
            around the scores could change them. The reason names all faulty scores.
    """
    reply = own(text)
    mentions_scores = _NAMED.search(reply) is not None
    lines = matches(_SCORE, reply) if mentions_scores else []
    faults: dict[str, None] = {}
    scores: dict[str, set[float]] = {"A": set(), "B": set()}
    for match in lines:
        letter, number = match.group("name", "score")
        name, score = letter.upper(), float(number)
        if name not in scores:
            faults[f"there is a score of response {name}, but the responses are A and B"] = None
        elif not LOWEST <= score <= HIGHEST:
            faults[
                f"response {name} has the score {score:g}, which lies outside the scale of {LOWEST} to {HIGHEST}"
            ] = None
        scores.setdefault(name, set()).add(score)
    for name in ("A", "B"):
        if not scores[name]:
            faults[f"there is no line of the form 'Response {name} Visual Factuality Score: <number>/10'"] = None
        elif len(scores[name]) > 1:
            faults[
                f"response {name} has different scores: {' and '.join(f'{value:g}' for value in sorted(scores[name]))}"
            ] = None
    unread = _SCORED.search(_SCORE.sub("\n", reply)) if mentions_scores else None
    if unread is not None:
        faults[f"'{short(unread[0])}' is not in the form 'Response A Visual Factuality Score: <number>/10'"] = None
    if faults:
        raise UnparsableReply("; ".join(faults))
    plainly(lines, reply)
    tail = _SCORE.sub("", reply)[lines[0].start() :]
    if not is_empty_talk(tail):
        raise UnparsableReply(f"'{short(tail)}' stands among the scores: end with the two lines, and nothing else")
    return scores["A"].pop(), scores["B"].pop()


def _with_signs(text: str) -> str:
    """Return a text with HTML entities and single characters for comparison replaced by plain signs."""
    return _SIGN.sub(lambda sign: _SIGNS[sign[0].lower()], text)


def _value(match: re.Match[str]) -> int:
    """Return a verdict as a number, positive if A is better.

    Raises:
        UnparsableReply: the verdict compares a response with itself.
    """
    first, sign, second = match[1].upper(), match[2], match[3].upper()
    if first == second:
        raise UnparsableReply(f"{short(_written(match))} names one response twice: write [[A>B]] or the like")
    if first == "A":
        return VALUES[sign]
    return -VALUES[sign]


def _without_repetition(reply: str, value: int) -> str:
    """Return a reply without the words around its verdict that only repeat it."""
    rest = _ANNOUNCED.sub(lambda match: "" if _agrees(match, value) else match[0], reply)
    end = rest.rfind("]]") + 2
    explanation = _EXPLAINED.fullmatch(rest, end)
    if (
        explanation is not None
        and _agrees(explanation, value)
        and not _TURNS.search(explanation["why"].rstrip(" \t.*_`"))
    ):
        rest = rest[:end]
    return rest


def _agrees(match: re.Match[str], value: int) -> bool:
    """Return whether words on which response is better agree with the value of a verdict."""
    if match["who"] is None:
        return value == 0 or bool(match.groupdict().get("choice"))
    side = 1 if match["who"].upper() == "A" else -1
    grade = _GRADES.get((match["grade"] or "").lower())
    return value * side > 0 and grade in (None, abs(value))


def _written(match: re.Match[str]) -> str:
    return f"[[{match[1]}{match[2]}{match[3]}]]"
