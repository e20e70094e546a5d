"""The roles of a peer review: members compare descriptions of an image, and vote for one (PerceptionRubrics, 3.3.1)."""

from collections.abc import Sequence
from functools import partial

from dokimasia.agents.asking import Ask
from dokimasia.domain.options import prompt_of_protocol
from dokimasia.domain.review import DESCRIBE_REQUEST, Ballot, CandidateComparison, differing_sentences
from dokimasia.domain.sample import Sample
from dokimasia.parsing.votes import parse_ballot, parse_peer_review
from dokimasia.prompts import lines_text


def candidates_text(texts: Sequence[str]) -> str:
    """Return candidates as a reviewer sees them: a JSON array, one object per line, numbered from 1, without names."""
    return lines_text({"candidate": number, "text": text} for number, text in enumerate(texts, start=1))


def review_candidates(
    sample: Sample, texts: Sequence[str], *, request: str = DESCRIBE_REQUEST, published: bool = False
) -> Ask[CandidateComparison]:
    """Ask a member to criticise and rank candidates, shown in this order, and to keep one or write a better one.

    With `published`, it always writes one.
    """
    inputs, shown = _candidate_inputs(texts, request)
    parse = partial(parse_peer_review, n=len(texts), shown=tuple(texts), may_keep=not published)
    return Ask(
        prompt_of_protocol("peer_review", published=published),
        inputs,
        shown,
        parse,
        images=sample.images,
        count=len(texts),
    )


def vote_for_best(
    sample: Sample, texts: Sequence[str], *, request: str = DESCRIBE_REQUEST, published: bool = False
) -> Ask[Ballot]:
    """Ask a member for critiques of candidates, shown in this order with the image, and for its vote (C.3).

    With `published`, it votes for one; otherwise it may name others as equally good, and for candidates that are mostly
    the same, it sees the sentences that differ.
    """
    inputs, shown = _candidate_inputs(texts, request)
    differences = () if published else differing_sentences(texts)
    if differences:
        entries = (
            {"candidate": number, "sentences": [*sentences]} for number, sentences in enumerate(differences, start=1)
        )
        inputs["differences"], shown = lines_text(entries), (*shown, "differences")
    return Ask(
        prompt_of_protocol("peer_vote", published=published),
        inputs,
        shown,
        partial(parse_ballot, n=len(texts)),
        images=sample.images,
        count=len(texts),
    )


def _candidate_inputs(texts: Sequence[str], request: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return a prompt's inputs on candidates, and the record of what is shown, including an unusual request."""
    inputs, shown = {"candidates": candidates_text(texts)}, ("image", "candidates")
    if request == DESCRIBE_REQUEST:
        return inputs, shown
    return {**inputs, "request": request}, (*shown, "request")
