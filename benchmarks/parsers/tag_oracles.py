"""What a value read from between tags has to keep: it stands in the text, in its range, and stands there unopposed."""

import re
from typing import Any

from benchmarks.parsers.oracles import Refuted, said
from dokimasia.domain.density import DOMAINS, Density
from dokimasia.domain.review import Ballot, CandidateComparison
from dokimasia.domain.rubric import RubricAssessment

SHOWN = 3
GROUPS = (2, 1)
_AROUND = r"[\s\[\]*`\u200b\ufeff]*"
"""What may stand around a value between tags: space, emphasis, the brackets of the form, signs that do not show."""


def check_density(text: str, density: Density) -> None:
    """Both ratings lie between 1 and 10 and stand between tags of a score."""
    for score in (density.visual_complexity, density.informativeness):
        stated = re.search(rf"score\s*>{_AROUND}[+]?0*{score}{_AROUND}<", said(text), re.IGNORECASE)
        _require(1 <= score <= 10 and stated is not None, f"no score says {score}")


def check_domain(text: str, domain: str) -> None:
    """The domain is one of the seven and stands in the text."""
    _require(domain in DOMAINS and domain in said(text).casefold(), "no such domain stands there")


def check_vote(text: str, number: int) -> None:
    """The number is that of a candidate and stands between the tags of a vote."""
    stated = re.search(
        rf"best_candidate_id\s*>{_AROUND}(candidate{_AROUND})?#?0*{number}\.?{_AROUND}<", said(text), re.IGNORECASE
    )
    _require(1 <= number <= SHOWN and stated is not None, "no such vote stands there")


def check_assessment(text: str, assessment: RubricAssessment) -> None:
    """Each group has as many results as it has rubrics, and as many of each kind stand in the text at least."""
    results = (*assessment.group_a, *assessment.group_b)
    _require((len(assessment.group_a), len(assessment.group_b)) == GROUPS, "a group has another number of results")
    for value in (True, False):
        stated = re.findall(rf">\s*{value}\s*<", text, re.IGNORECASE)
        _require(len(stated) >= results.count(value), f"not so many results say {value}")


def check_reasoned_assessment(text: str, assessment: RubricAssessment) -> None:
    """The results stand outside of the reasons, of which there is one or None for each."""
    outside = re.sub(r"(?is)<\s*reason\s*>.*?<\s*/\s*reason\s*>", " ", text)
    check_assessment(outside, assessment)
    places = [(assessment.group_a, assessment.reasons_a), (assessment.group_b, assessment.reasons_b)]
    _require(all(len(results) == len(reasons) for results, reasons in places), "not one reason for each result")


def check_ballot(text: str, ballot: Ballot) -> None:
    """The vote is as above, and what was written stands in the text."""
    check_vote(text, ballot.best)
    _check_written(text, (*ballot.critiques, ballot.rationale), ballot.critiques)


def check_review(text: str, review: CandidateComparison) -> None:
    """The ranking names every candidate once, what was written stands in the text, and either it or the best one stays."""
    _require(sorted(review.ranking) == list(range(1, SHOWN + 1)), "the ranking is none")
    _require(bool(review.rewrite) is (review.keep is None), "there is not one of rewrite and kept candidate")
    _require(review.keep in (None, review.ranking[0]), "what is kept is not the best")
    _check_written(text, (*review.critiques, review.rewrite), review.critiques)


def _check_written(text: str, written: tuple[str, ...], critiques: tuple[str, ...]) -> None:
    _require(len(critiques) == SHOWN, "there is not one critique for each candidate")
    for one in written:
        _require(all(piece in text for piece in one.split("\n")), "something else was written")


def _require(kept: bool, problem: str) -> None:
    if not kept:
        raise Refuted(problem)


LIES: dict[str, tuple[str, Any]] = {
    "parse_vote": ("<best_candidate_id>2</best_candidate_id>", 1),
    "parse_rubric_assessment": (
        "<GroupA><Result>true</Result><Result>false</Result></GroupA><GroupB><Result>true</Result></GroupB>",
        RubricAssessment(group_a=(True, True), group_b=(True,)),
    ),
    "parse_reasoned_assessment": (
        "<GroupA><Result>true</Result><Reason>So it is.</Reason><Result>false</Result><Reason><Result>true</Result></Reason>"
        "</GroupA><GroupB><Result>true</Result></GroupB>",
        RubricAssessment(group_a=(True, True), group_b=(True,)),
    ),
    "parse_domain": ("<domain>data</domain>", "stem"),
    "parse_density": (
        "<visual_complexity><score>7</score></visual_complexity><informativeness><score>7</score></informativeness>",
        Density(visual_complexity=7, informativeness=6),
    ),
}
"""Values that the texts beside them do not state."""
