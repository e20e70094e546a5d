"""A reviewer's words on numbered candidates: which is best, or how they rank and what is better (PerceptionRubrics, C.3)."""

import re
from itertools import islice

from dokimasia.domain.review import Ballot, Comparison
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.reply import MAX_MATCHES, short, spoken
from dokimasia.parsing.tags import only, tagged, without

_NAMED = re.compile(r"\s{0,99}(?:candidate\s{0,9})?#?([0-9]{1,9})\.?\s{0,99}", re.IGNORECASE | re.ASCII)
_CRITIQUE = re.compile(r"<\s{0,9}candidate_([0-9]{1,9})_critique\s{0,9}>", re.IGNORECASE | re.ASCII)
_REWRITE = re.compile(r"<\s{0,9}rewrite\s{0,9}>", re.IGNORECASE | re.ASCII)
_END = re.compile(r"<\s{0,9}/\s{0,9}rewrite\s{0,9}>", re.IGNORECASE | re.ASCII)
_BETWEEN = re.compile(r"[,;>\n]")


def parse_vote(text: str, n: int) -> int:
    """Return the number of the candidate that a judge votes for, as the candidates were displayed: 1 to n.

    The form is `<best_candidate_id>2</best_candidate_id>`; `Candidate 2` between the tags says the same.

    Args:
        text: the judge's reply.
        n: how many candidates it was shown.

    Raises:
        UnparsableReply: there is no vote, there are different ones, or it is not for one of the n candidates.
        ValueError: no candidate was shown.
    """
    _check(n)
    stated = only(tagged(without(spoken(text), "analysis"), "best_candidate_id"), "<best_candidate_id>")
    return _number(stated, n, "the vote")


def parse_ballot(text: str, n: int) -> Ballot:
    """Return a vote with its critiques and reason; critiques that are not there are empty.

    Raises:
        UnparsableReply: as `parse_vote`.
        ValueError: no candidate was shown.
    """
    best = parse_vote(text, n)
    reply = spoken(text)
    rationale = tagged(without(reply, "analysis"), "rationale")
    return Ballot(critiques=_critiques(reply, n), best=best, rationale=rationale[0].strip() if rationale else "")


def parse_peer_review(text: str, n: int) -> Comparison:
    """Return a reviewer's critiques, its ranking of all n candidates, the best first, and its rewrite.

    The form is `<ranking>2, 1, 3</ranking>` and, after it, `<rewrite>...</rewrite>`; critiques that are not there are
    empty. The rewrite is taken as it stands, whatever it quotes.

    Args:
        text: the reviewer's reply.
        n: how many candidates it was shown.

    Raises:
        UnparsableReply: the ranking is missing, or does not name every candidate once; or the rewrite is missing, not
            closed, begun more than once, or empty. The reason names what is wrong.
        ValueError: no candidate was shown.
    """
    _check(n)
    reply = spoken(text)
    judged = without(reply, "analysis")
    openings = list(_first(_REWRITE, judged, 2))
    if len(openings) != 1:
        raise UnparsableReply("<rewrite> is missing" if not openings else "<rewrite> stands there more than once")
    ranking = _ranking(only(tagged(judged[: openings[0].start()], "ranking"), "<ranking> before <rewrite>"), n)
    endings = list(_first(_END, judged[openings[0].end() :], MAX_MATCHES))
    if not endings:
        raise UnparsableReply("<rewrite> is not closed")
    rewrite = judged[openings[0].end() :][: endings[-1].start()].strip()
    if not rewrite:
        raise UnparsableReply("the rewrite is empty")
    return Comparison(critiques=_critiques(reply, n), ranking=ranking, rewrite=rewrite)


def parse_description(text: str) -> str:
    """Return a description as it stands, without thought at its beginning and space around it.

    Raises:
        UnparsableReply: it is empty.
    """
    description = spoken(text).strip()
    if not description:
        raise UnparsableReply("the description is empty")
    return description


def _check(n: int) -> None:
    if n < 1:
        raise ValueError("at least one candidate is expected")


def _number(stated: str, n: int, what: str) -> int:
    named = _NAMED.fullmatch(stated)
    if named is None:
        raise UnparsableReply(f"{what} is '{short(stated)}', not the number of a candidate")
    number = int(named[1])
    if not 1 <= number <= n:
        raise UnparsableReply(f"{what} is for candidate {number}, but the candidates are 1 to {n}")
    return number


def _ranking(stated: str, n: int) -> tuple[int, ...]:
    names = [name for name in _BETWEEN.split(stated[: 100 * (n + 1)]) if name.strip()]
    numbers = tuple(_number(name, n, "a place in the ranking") for name in names)
    if sorted(numbers) != list(range(1, n + 1)):
        raise UnparsableReply(f"the ranking '{short(stated)}' does not name each of the candidates 1 to {n} once")
    return numbers


def _critiques(reply: str, n: int) -> tuple[str, ...]:
    """Return the critique of each candidate, the first where there are several, empty where there is none."""
    found: dict[int, str] = {}
    for opening in _first(_CRITIQUE, reply, MAX_MATCHES):
        number = int(opening[1])
        if not 1 <= number <= n or number in found:
            continue
        found[number] = ""
        end = reply.find("</", opening.end())
        tag = re.compile(rf"<\s{{0,9}}/\s{{0,9}}candidate_{opening[1]}_critique\s{{0,9}}>", re.IGNORECASE | re.ASCII)
        closing = tag.search(reply, end) if end >= 0 else None
        if closing is not None:
            found[number] = reply[opening.end() : closing.start()].strip()
    return tuple(found.get(number, "") for number in range(1, n + 1))


def _first(pattern: re.Pattern[str], text: str, most: int) -> list[re.Match[str]]:
    """Return the first few matches of a pattern."""
    return list(islice(pattern.finditer(text), most))
