"""Votes and peer reviews of numbered candidates (PerceptionRubrics, C.3)."""

import re
from collections.abc import Sequence
from itertools import islice

from dokimasia.domain.review import Ballot, CandidateComparison
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.grammar import ROOM, form, tag
from dokimasia.parsing.own import own
from dokimasia.parsing.remarks import remarks
from dokimasia.parsing.reply import MAX_MATCHES, NAMED, listed, short, spoken, tried
from dokimasia.parsing.tags import bare, nothing_beside, only, tagged, without, written

_NAMED = form(r"(?:([0-9]{1,9})[.):]\s{0,9})?(?:candidate\s{0,9})?#?([0-9]{1,9})\.?")
_CRITIQUE = tag("candidate_([0-9]{1,9})_critique")
_REWRITE = tag("rewrite")
_END = tag(f"/{ROOM}rewrite")
_LEFT = re.compile(
    r"(?:none|nothing|n/?a|left out|-|\u2013|\u2014|\.\.\.|\u2026|else the better description, whole"
    r"|the number of the candidate that you ranked first, if it stays as it is)?\.?",
    re.IGNORECASE,
)
"""Contents of an unused alternative: the form's own words, or a word for nothing."""
_BETWEEN = re.compile(r"[,;>\n]| and ")


def parse_vote(text: str, n: int) -> int:
    """Return the number, 1 to n, of the displayed candidate that a judge votes for.

    The form is `<best_candidate_id>2</best_candidate_id>`; `Candidate 2` between the tags is equivalent.

    Args:
        text: the judge's reply.
        n: the number of candidates.

    Raises:
        UnparsableReply: there is no vote, there are several that differ, or it is not for one of the n candidates.
        ValueError: `n` is less than 1.
    """
    _check(n)
    reply = without(own(text), "analysis")
    stated = only(tagged(reply, "best_candidate_id"), "<best_candidate_id>")
    nothing_beside(reply, "best_candidate_id", aside=("equally_good", "rationale"))
    return _number(stated, n, "the vote")


def parse_ballot(text: str, n: int) -> Ballot:
    """Return a vote with a critique of each candidate, equally good candidates, and the reason.

    `<equally_good>1, 3</equally_good>` names candidates that are as good as the best; it may be missing, or `none`.

    Raises:
        UnparsableReply: as `parse_vote`; or a critique or the reason is missing or still the form's placeholder; or the
            equally good ones are not a list of candidates' numbers. The reason names all faults.
        ValueError: `n` is less than 1.
    """
    _check(n)
    faults: list[str] = []
    critiques = tried(faults, _critiques, spoken(text), n)
    best = tried(faults, parse_vote, text, n)
    equal = tried(faults, _equal, text, n)
    rationale = tried(faults, _rationale, text)
    if critiques is None or best is None or equal is None or rationale is None:
        raise UnparsableReply("; ".join(faults))
    others = tuple(number for number in dict.fromkeys(equal) if number != best)
    return Ballot(critiques=critiques, best=best, equal=others, rationale=rationale)


def parse_peer_review(text: str, n: int, shown: Sequence[str] = (), *, may_keep: bool = True) -> CandidateComparison:
    """Return a reviewer's critiques, its ranking of all n candidates, best first, and its rewrite or choice to keep
    one.

    The form is `<ranking>2, 1, 3</ranking>` and either `<rewrite>...</rewrite>` or, to keep the first-ranked candidate
    unchanged, `<keep>2</keep>`. The ranking may be a numbered list (`1. Candidate 2`). The rewrite is read verbatim,
    whatever it quotes, but must be only about the image (see `remarks`), and so must a kept candidate.

    Args:
        text: the reviewer's reply.
        n: the number of candidates.
        shown: the candidates' texts in the order of their numbers, if known.
        may_keep: whether `<keep>` is part of the form.

    Raises:
        UnparsableReply: a critique is missing or still the form's placeholder; the ranking is missing or does not name
            every candidate once; there is neither a rewrite nor a candidate to keep, or both; the rewrite is not closed
            or is opened more than once; or the text mentions candidates, descriptions, rankings or itself. The reason
            names all faults.
        ValueError: `n` is less than 1.
    """
    _check(n)
    faults: list[str] = []
    reply = spoken(text)
    judged = without(reply, "analysis")
    critiques = tried(faults, _critiques, reply, n)
    around = tried(faults, own, _around_rewrite(judged)) or ""
    ranking = tried(faults, _ranking, around, n)
    rewrite = tried(faults, _rewrite, judged)
    keep = tried(faults, _keep, around, n) if may_keep else 0
    if rewrite is not None and keep is not None:
        faults += _not_one(rewrite, keep, ranking) if may_keep or rewrite else ["there is no text in <rewrite>"]
        faults += _off_the_image(rewrite, keep, shown)
    if faults or critiques is None or ranking is None:
        raise UnparsableReply("; ".join(faults))
    return CandidateComparison(critiques=critiques, ranking=ranking, rewrite=rewrite or "", keep=keep or None)


def parse_description(text: str) -> str:
    """Return a description without thought at its beginning and white space around it.

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


def _rewrite(judged: str) -> str:
    """Return the rewrite, up to the last closing tag since it may quote tags; empty if there is none."""
    openings = _first(_REWRITE, judged, 2)
    if not openings:
        return ""
    if len(openings) > 1:
        raise UnparsableReply("<rewrite> stands there more than once")
    inside = judged[openings[0].end() :]
    endings = _first(_END, inside, MAX_MATCHES)
    if not endings:
        raise UnparsableReply("<rewrite> is not closed: there is no </rewrite>")
    return _chosen(inside[: endings[-1].start()])


def _chosen(stated: str) -> str:
    """Return the text of one of two alternatives; empty if it is unfilled or marked as left out."""
    text = written(stated)
    return "" if _LEFT.fullmatch(text) else text


def _around_rewrite(judged: str) -> str:
    """Return the text before the rewrite and, if it is closed, after it."""
    opening = _REWRITE.search(judged)
    if opening is None:
        return judged
    endings = _first(_END, judged[opening.end() :], MAX_MATCHES)
    return judged[: opening.start()] + (judged[opening.end() + endings[-1].end() :] if endings else "")


def _keep(around: str, n: int) -> int:
    """Return the number of the candidate to keep; 0 if none is named."""
    stated = [text for text in tagged(around, "keep") if _chosen(text) or bare(text)[:1].isdigit()]
    if stated:
        return _number(only(stated, "<keep>"), n, "what is kept")
    return 0


def _not_one(rewrite: str, keep: int, ranking: Sequence[int] | None) -> list[str]:
    """Return a fault unless there is exactly one of rewrite and kept candidate, and the kept one is ranked first."""
    if rewrite and keep:
        return ["there are both a text in <rewrite> and a number in <keep>, where one of them is wanted"]
    if not rewrite and not keep:
        return ["there is neither a text in <rewrite> nor a number in <keep>"]
    if keep and ranking and ranking[0] != keep:
        return [f"<keep> names candidate {keep}, but the ranking puts candidate {ranking[0]} first"]
    return []


def _off_the_image(rewrite: str, keep: int, shown: Sequence[str]) -> list[str]:
    """Return a fault if the text mentions anything but the image."""
    kept_text = shown[keep - 1] if keep and not rewrite and keep <= len(shown) else ""
    excerpts = remarks(rewrite or kept_text, shown)
    if not excerpts:
        return []
    quoted = ", ".join(f"'{remark}'" for remark in excerpts[:NAMED])
    if kept_text:
        return [f"candidate {keep} cannot be kept as it is, since not all of it is about the image: {quoted}"]
    return [f"not all of the rewrite is about the image: {quoted}"]


def _number(stated: str, n: int, what: str) -> int:
    named = _NAMED.fullmatch(bare(stated))
    if named is None or named[1]:
        raise UnparsableReply(f"{what} is '{short(stated)}', not the number of a candidate")
    return _among(int(named[2]), n, what)


def _among(number: int, n: int, what: str) -> int:
    if not 1 <= number <= n:
        raise UnparsableReply(f"{what} is for candidate {number}, but the candidates are 1 to {n}")
    return number


def _ranking(around: str, n: int) -> tuple[int, ...]:
    stated = bare(only(tagged(around, "ranking"), "<ranking>"))
    nothing_beside(around, "ranking", "keep", aside=("rationale",))
    what = "a place in the ranking"
    names = [bare(name) for name in _BETWEEN.split(stated[: 100 * (n + 1)]) if name.strip()]
    places = [_NAMED.fullmatch(name) for name in names]
    listed_places = [int(position[1]) for position in places if position is not None and position[1]]
    if listed_places == list(range(1, len(names) + 1)):
        numbers = tuple(_among(int(position[2]), n, what) for position in places if position is not None)
    else:
        numbers = tuple(_number(name, n, what) for name in names)
    if sorted(numbers) != list(range(1, n + 1)):
        raise UnparsableReply(f"the ranking '{short(stated)}' does not name each of the candidates 1 to {n} once")
    return numbers


def _equal(text: str, n: int) -> tuple[int, ...]:
    """Return the candidates that are as good as the best; empty if the reply names none."""
    stated = [bare(body) for body in tagged(without(own(text), "analysis"), "equally_good") if written(body)]
    names = [] if not stated else _BETWEEN.split(only(stated, "<equally_good>")[: 100 * (n + 1)])
    if [bare(name).rstrip(".").casefold() for name in names] == ["none"]:
        return ()
    return tuple(_number(name, n, "what is equally good") for name in names if name.strip())


def _rationale(text: str) -> str:
    reasons = [reason for body in tagged(without(spoken(text), "analysis"), "rationale") if (reason := written(body))]
    if not reasons:
        raise UnparsableReply("<rationale> is missing, not closed, or empty")
    return reasons[0]


def _critiques(reply: str, n: int) -> tuple[str, ...]:
    """Return the critique of each candidate, the first if there are several."""
    critiques: dict[int, str] = {}
    for opening in _first(_CRITIQUE, reply, MAX_MATCHES):
        number = int(opening[1])
        if not 1 <= number <= n or number in critiques:
            continue
        critiques[number] = ""
        end = reply.find("</", opening.end())
        closing = tag(f"/{ROOM}candidate_{opening[1]}_critique").search(reply, end) if end >= 0 else None
        if closing is not None:
            critiques[number] = written(reply[opening.end() : closing.start()])
    missing = [number for number in range(1, n + 1) if not critiques.get(number)]
    if missing:
        raise UnparsableReply(f"there is no critique of candidate {listed(missing)} (missing, not closed, or empty)")
    return tuple(critiques[number] for number in range(1, n + 1))


def _first(pattern: re.Pattern[str], text: str, most: int) -> list[re.Match[str]]:
    """Return the first few matches of a pattern."""
    return list(islice(pattern.finditer(text), most))
