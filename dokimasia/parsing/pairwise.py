"""Two responses side by side: which is better and by how much, and how true each is to the image (Creation-MMBench, E)."""

import re

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import double, form
from dokimasia.parsing.own import LEFT_OUT, is_empty_talk, own, plainly
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
"""What stands in double brackets and was meant as a verdict, whether or not it is one."""
_LOOSE = form(rf"(?:\[\s{{0,9}}|\bverdict\b[^\n\[\]<>=]{{0,40}}?\b){_ORDER}(?![A-Za-z0-9<>=])")
"""A verdict without its double brackets, which may not differ from the one in them."""
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
"""A line on which some number could be meant as a score."""
_NAMED = re.compile("factuality", re.IGNORECASE)
"""What every score names, and every number that could be meant as one: a reply without it is searched for neither."""
LOWEST, HIGHEST = 0, 10


def parse_pairwise_verdict(text: str) -> int:
    """Return by how much a judge finds response A better: 2, 1, 0, -1 or -2.

    The form is `Final Verdict is: [[A>>B]]`, with `>>`, `>` or `=`. Its mirrored forms (`[[B<<A]]`), lower case, and the
    signs as HTML entities or as single characters say the same. The same verdict may stand in the reply more than once.

    Raises:
        UnparsableReply: there is no verdict, or there are different ones, wherever they stand; one is of other responses
            than A and B, or of one with itself; or one is none of the judge's own (see `dokimasia.parsing.own`).
    """
    said = _SIGN.sub(lambda sign: _SIGNS[sign[0].lower()], own(text))
    for match in matches(_MEANT, said):
        if _VERDICT.fullmatch(match[0]) is None:
            raise UnparsableReply(
                f"{short(match[0])} is no verdict: write [[A>>B]], [[A>B]], [[A=B]], [[B>A]] or [[B>>A]]"
            )
    verdicts = matches(_VERDICT, said)
    if not verdicts:
        raise UnparsableReply("there is no verdict such as [[A>B]], in double brackets, outside of quotes and code")
    stated = {_value(match): match for match in (*matches(_LOOSE, said), *verdicts)}
    if len(stated) > 1:
        first, second = sorted((match.start(), short(_written(match))) for match in stated.values())[:2]
        raise UnparsableReply(f"there are different verdicts: {first[1]} and {second[1]}")
    plainly(verdicts, said)
    return next(iter(stated))


def parse_factuality_scores(text: str) -> tuple[float, float]:
    """Return the visual factuality scores, 0 to 10, that a judge gives responses A and B.

    The form is a line for each at the end of the reply: `Response A Visual Factuality Score: 8.5/10`. `Assistant A`, the
    scale left out, brackets around the number and bold type say the same. What comes before the first of the lines is the
    judge's analysis; scores of single aspects in it are not read.

    Raises:
        UnparsableReply: a response has no score, or different ones, or one outside the scale; there is a score of
            another response; a number that could be meant as a score has another form (`8,5`, `8/10 - 9/10`); or
            something stands beside the scores that could change them. All scores that are wrong are named at once.
    """
    said = own(text)
    named = _NAMED.search(said) is not None
    lines = matches(_SCORE, said) if named else []
    faults: dict[str, None] = {}
    scores: dict[str, set[float]] = {"A": set(), "B": set()}
    for match in lines:
        name, score = match["name"].upper(), float(match["score"])
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
                f"response {name} has different scores: {' and '.join(f'{one:g}' for one in sorted(scores[name]))}"
            ] = None
    unread = _SCORED.search(_SCORE.sub("\n", said)) if named else None
    if unread is not None:
        faults[f"'{short(unread[0])}' is not in the form 'Response A Visual Factuality Score: <number>/10'"] = None
    if faults:
        raise UnparsableReply("; ".join(faults))
    plainly(lines, said)
    beside = _SCORE.sub("", said)[lines[0].start() :]
    if not is_empty_talk(beside):
        raise UnparsableReply(f"'{short(beside)}' stands among the scores: end with the two lines, and nothing else")
    return scores["A"].pop(), scores["B"].pop()


def _value(match: re.Match[str]) -> int:
    """Return what a verdict says of A; one of a response with itself says nothing.

    Raises:
        UnparsableReply: it names one response twice.
    """
    first, sign, second = match[1].upper(), match[2], match[3].upper()
    if first == second:
        raise UnparsableReply(f"{short(_written(match))} names one response twice: write [[A>B]] or the like")
    return VALUES[sign] if first == "A" else -VALUES[sign]


def _written(match: re.Match[str]) -> str:
    return f"[[{match[1]}{match[2]}{match[3]}]]"
