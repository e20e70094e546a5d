"""Replies of judging methods: rankings of several responses, criteria drawn from differences, scores of aspects."""

import re
from collections.abc import Mapping
from typing import NamedTuple, cast

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import form
from dokimasia.parsing.json_finder import objects_of, read_json_and_rest
from dokimasia.parsing.own import LEFT_OUT, beside, own, plainly, split_lines
from dokimasia.parsing.reply import DECORATION, field_text, listed, matches, refuse, short

FEWEST_CRITERIA, MOST_CRITERIA = 2, 8
HEAVIEST = 10
FEWEST_ASPECTS, MOST_ASPECTS = 3, 5
LOWEST, HIGHEST = 1, 5

_RANKING = re.compile(r"\[\[([^\[\]\n]{1,9000})\]\]")
_RANKED = re.compile(r"[0-9]{1,4}(?:\s{0,4}[>=]\s{0,4}[0-9]{1,4})*", re.ASCII)
_NUMBERED_RESPONSE = form(r"\b(?:response|candidate)s?~(?:no\.?|number|#)?~[0-9]", re.UNICODE)
_SCORE = form(r"\bscore\b")
_BULLET = re.compile(r"\s{0,9}(?:[-\u2022+]\s{1,9}|[0-9]{1,3}[.)]\s{1,9})?")
_ASPECT = form(
    r"(?P<aspect>[^|\n]{1,120}?)\s{0,9}\|\s{0,9}score~[:=]?~\[{1,2}~(?P<score>[^\[\]\n]{0,40}?)~\]{1,2}[\s.]{0,9}"
)


class AspectScore(NamedTuple):
    """An aspect in the judge's own words, and the response's score in it, 1 to 5."""

    aspect: str
    score: int


def parse_batch_ranking(text: str, n: int) -> tuple[int, ...]:
    """Return the rank of each response, in the order of their numbers: 1 is the best, and equal ranks are a tie.

    Args:
        text: the judge's reply: `Ranking: [[2 > 1 = 3]]` with the numbers of all responses, from 1, the best first. It
            may repeat the same ranking.
        n: the number of responses.

    Raises:
        UnparsableReply: there is no ranking of this form, there are two that differ, it does not name every response
            once, or words around it could change it. The reason names all faults.
    """
    reply = own(text)
    rankings = [match for match in matches(_RANKING, reply) if any(sign.isdecimal() for sign in match[1])]
    if not rankings:
        raise UnparsableReply("there is no ranking of the form 'Ranking: [[numbers with > and = between them]]'")
    ranks = dict.fromkeys(_places(match[1].strip(), n) for match in rankings)
    if len(ranks) > 1:
        raise UnparsableReply(f"there are different rankings: {short(rankings[0][0])} and others")
    plainly(rankings, reply)
    return next(iter(ranks))


def parse_compared_criteria(text: str) -> tuple[tuple[str, int], ...]:
    """Return criteria that distinguish responses, each with its weight (1 to 10), in order.

    Args:
        text: the judge's reply: a JSON array of 2 to 8 objects with `criterion` and `weight`.

    Raises:
        UnparsableReply: there is no such array, or several that differ; there are too few or too many criteria; one is
            blank, repeated, names a response by its number, or has no weight. The reason names all faults.
    """
    arrays, rest = read_json_and_rest(own(text), objects_of)
    if not arrays:
        raise UnparsableReply("there is no complete JSON array of objects with criterion and weight")
    if any(other != arrays[0] for other in arrays[1:]):
        raise UnparsableReply("there is more than one JSON array of criteria, and they differ")
    rows = arrays[0]
    problems = dict.fromkeys(beside(rest.split("\n")))
    if not FEWEST_CRITERIA <= len(rows) <= MOST_CRITERIA:
        problems[f"there are {len(rows)} criteria, not {FEWEST_CRITERIA} to {MOST_CRITERIA}"] = None
    criteria: dict[str, tuple[str, int]] = {}
    for number, row in enumerate(rows[: 10 * MOST_CRITERIA], start=1):
        try:
            criterion, weight = _criterion(row, number)
        except UnparsableReply as problem:
            problems[problem.reason] = None
            continue
        if criterion.casefold() in criteria:
            problems[f"criterion {number} stands there twice"] = None
        criteria[criterion.casefold()] = (criterion, weight)
    refuse(problems)
    return tuple(criteria.values())


def parse_aspect_scores(text: str) -> tuple[AspectScore, ...]:
    """Return a judge's aspects of a response, in its own words and order, each with a score from 1 to 5.

    Args:
        text: the judge's reply: 3 to 5 lines `ASPECT | score: [4]`.

    Raises:
        UnparsableReply: there are too few or too many lines, one has no integer score from 1 to 5 or no aspect, an
            aspect is scored twice, or there are other words around them. The reason names all faults.
    """
    lines, rest = split_lines(_SCORE, own(text))
    problems = dict.fromkeys(beside(rest))
    scores: dict[str, AspectScore] = {}
    for line in lines:
        plain = line.translate(DECORATION).strip().rstrip("|")
        match = _ASPECT.fullmatch(plain, cast("re.Match[str]", _BULLET.match(plain)).end())
        if match is None:
            problems[f"'{short(line)}' is no line of the form 'ASPECT | score: [S]'"] = None
            continue
        aspect, stated = match.group("aspect", "score")
        aspect = " ".join(aspect.split())
        if not any(sign.isalpha() for sign in aspect) or aspect == "ASPECT" or LEFT_OUT in aspect:
            problems[f"'{short(aspect)}' names no aspect"] = None
        elif aspect.casefold() in scores:
            problems[f"the aspect '{short(aspect)}' is scored more than once"] = None
        elif re.fullmatch(rf"[{LOWEST}-{HIGHEST}]", stated) is None:
            problems[f"the aspect '{short(aspect)}' has the score '{short(stated)}', not an integer from 1 to 5"] = None
        else:
            scores[aspect.casefold()] = AspectScore(aspect, int(stated))
    if not FEWEST_ASPECTS <= len(lines) <= MOST_ASPECTS:
        problems[f"there are {len(lines)} aspects, not {FEWEST_ASPECTS} to {MOST_ASPECTS}"] = None
    refuse(problems)
    return tuple(scores.values())


def _places(stated: str, n: int) -> tuple[int, ...]:
    if _RANKED.fullmatch(stated) is None:
        raise UnparsableReply(f"[[{short(stated)}]] is no ranking: write numbers with > or = between them")
    groups = [[int(number) for number in group.split("=")] for group in stated.split(">")]
    numbers = [number for group in groups for number in group]
    problems: dict[str, None] = {}
    if unknown := {number for number in numbers if not 1 <= number <= n}:
        problems[f"there is no response {listed(unknown)}: they are 1 to {n}"] = None
    if repeated := {number for number in numbers if numbers.count(number) > 1}:
        problems[f"more than once ranked: {listed(repeated)}"] = None
    if missing := set(range(1, n + 1)) - set(numbers):
        problems[f"not ranked: {listed(missing)}"] = None
    refuse(problems)
    rank = {number: position for position, group in enumerate(groups, start=1) for number in group}
    return tuple(rank[number] for number in range(1, n + 1))


def _criterion(row: Mapping[str, object], number: int) -> tuple[str, int]:
    whose = f"criterion {number}"
    criterion = " ".join(field_text(row.get("criterion"), "criterion", whose).split())
    weight = row.get("weight")
    if LEFT_OUT in criterion:
        raise UnparsableReply(f"{whose} holds a comment or something struck out: write it whole, and plainly")
    if criterion == "SENTENCE":
        raise UnparsableReply(f"{whose} is the empty form")
    if _NUMBERED_RESPONSE.search(criterion):
        raise UnparsableReply(f"{whose} speaks of a response by its number, which nobody knows who scores by it")
    if type(weight) is not int or not 1 <= weight <= HEAVIEST:
        raise UnparsableReply(f"{whose}: the weight {short(repr(weight))} is not an integer from 1 to {HEAVIEST}")
    return criterion, weight
