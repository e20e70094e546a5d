"""Five thousand texts for every parser: a value that stands in the text, or UnparsableReply, and nothing else.

`make bench-full` reads a million.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.parsers.__main__ import main
from benchmarks.parsers.blindspot_oracles import LIES as BLINDSPOT_LIES
from benchmarks.parsers.oracles import Refuted
from benchmarks.parsers.tag_oracles import LIES as TAG_LIES
from benchmarks.parsers.texts import FAMILIES, REPLIES
from benchmarks.parsers.trials import PARSERS, chunks, read_by_all, trial
from dokimasia.agents import density
from dokimasia.domain.criterion import CriteriaCheck, CriterionCheck
from dokimasia.domain.judgement import CriterionScore
from dokimasia.parsing import (
    answers,
    assessment,
    chains,
    criteria,
    criteria_check,
    criterion_scores,
    matching,
    pairwise,
    structured,
    verdicts,
    votes,
)
from dokimasia.parsing.blindspots import judged
from dokimasia.parsing.judging import replies as judging

pytestmark = pytest.mark.quick

TRIED = (
    answers,
    assessment,
    chains,
    criterion_scores,
    criteria,
    criteria_check,
    density,
    judged,
    judging,
    matching,
    pairwise,
    structured,
    verdicts,
    votes,
)

TEXTS = 5_000


@pytest.mark.parametrize("family", FAMILIES)
def test_no_parser_says_what_its_text_does_not(family: str) -> None:
    """Over 5,000 texts in all, nothing but UnparsableReply is raised, and every value stands in its text."""
    found: Counter[str] = Counter()
    for name, examples, number in chunks(TEXTS):
        if name == family:
            found.update(trial(name, examples, number))
    assert found["texts"] >= TEXTS / len(FAMILIES)
    assert found.total() > found["texts"] * 1.05, "the texts are too far from what any parser reads"


def test_every_parser_is_tried() -> None:
    """No parser of these modules is left out but that of plain text, and each has a reply in the list that it can read."""
    there = {name for module in TRIED for name in vars(module) if name.startswith("parse_")}
    tried = {name.partition(",")[0] for name in PARSERS}
    assert tried == {*there, "looks_like_refusal"} - {"parse_description"}
    found = {name for replies in REPLIES.values() for text in replies for name in read_by_all(text)}
    assert found == set(PARSERS)


def told(*scores: int | None) -> list[CriterionScore]:
    """What a judge says of each criterion; None where the response does not speak of it."""
    return [CriterionScore(1 if score is None else score, stated=score is not None) for score in scores]


LIES: dict[str, tuple[str, Any]] = {
    "parse_batch_ranking": ("Ranking: [[2 > 1 = 3]]", (1, 2, 2)),
    "parse_compared_criteria": (
        '[{"criterion": "It names the sign.", "weight": 7}, {"criterion": "It counts.", "weight": 2}]',
        (("It names the sign.", 7), ("It adds.", 2)),
    ),
    "parse_aspect_scores": (
        "seeing | score: [4]\nsaying | score: [1]\ntone | score: [5]",
        (("seeing", 4), ("saying", 1), ("tone", 3)),
    ),
    "parse_criterion_scores": ("1 | score: [4]\n2 | score: [1]\n3 | score: [5]", told(4, None, 5)),
    "parse_criterion_scores, by path": ("<A><B> | score: [4]\n<A><C> | score: [1]\n<D> | score: [5]", told(4, 5, 1)),
    "parse_scores": ("1 | score: [4]\n2 | score: [not stated]\n3 | score: [5]", [4, 2, 5]),
    "parse_structured_scores": (
        '{"scores": [{"n": 1, "score": 4}, {"n": 2, "stated": false, "score": 1}, {"n": 3, "score": 1}]}',
        told(4, 1, 1),
    ),
    "parse_reasoned_scores": (
        "1 | score: [4] | reason: So it is.\n2 | score: [1] | reason: 5 would do.\n3 | score: [5]",
        told(4, 5, 5),
    ),
    "parse_structured_reasoned_scores": (
        '{"scores": [{"n": 1, "score": 4, "reason": "5"}, {"n": 2, "score": 1}, {"n": 3, "score": 1}]}',
        told(4, 1, 5),
    ),
    "parse_criteria": ("[]", ()),
    "parse_criteria_check": (
        "1 | needed: YES | single: YES | open: YES | -\nmissing: nothing",
        CriteriaCheck((CriterionCheck(needed=False, single=True, open=True),)),
    ),
    "parse_equivalence": ("[[same]] [[different]]", True),
    "parse_structured_equivalence": ('{"verdict": "different"}', True),
    "parse_rating": ("[[7]] or [[8]]", 7.0),
    "parse_match": ("Report 1: [[A]]", "B"),
    "parse_pairwise_verdict": ("[[A>B]] [[B>A]]", 1),
    "parse_factuality_scores": (
        "Response A Visual Factuality Score: 8/10\nResponse B Visual Factuality Score: 6/10",
        (8.0, 7.0),
    ),
    "parse_final_answer": ("Final answer: 4", "5"),
    **TAG_LIES,
    **BLINDSPOT_LIES,
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_found_out(name: str) -> None:
    """A value that the text does not state, or does not state alone, is refuted."""
    text, value = LIES[name]
    with pytest.raises(Refuted):
        PARSERS[name][1](text, value)


@pytest.mark.parametrize("broken", [lambda text: [5, 5, 5], lambda text: text.nothing])
def test_a_parser_that_breaks_its_word_is_reported(
    broken: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parser that makes a value up, or raises anything else, ends the trial with the text that shows it."""
    monkeypatch.setitem(PARSERS, "parse_scores", (broken, PARSERS["parse_scores"][1]))
    with pytest.raises(Refuted, match=r"parse_scores: .* from "):
        trial("scores", 50)


def test_the_command_counts_what_it_read(capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m benchmarks.parsers` reads as many texts as it was told to and says what each parser found."""
    assert main(["--examples", "84", "--workers", "1"]) == 0
    out = capsys.readouterr().out
    assert "of 84 texts" in out
    assert all(name in out for name in PARSERS)
