"""What real models replied to questions on drawn pictures is read, or refused for a reason that can be sent back."""

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.answers import parse_final_answer
from dokimasia.parsing.chains import parse_chain
from dokimasia.parsing.criteria import parse_criteria
from dokimasia.parsing.criterion_scores import parse_criterion_scores
from dokimasia.parsing.hints import parse_leaks
from dokimasia.parsing.verdicts import parse_equivalence
from dokimasia.prompts import recognise, render

RECORDED = [
    json.loads(line) for line in (Path(__file__).parents[1] / "recordings" / "exchanges.jsonl").read_text().splitlines()
]


def parser_of(one: dict[str, Any]) -> Callable[[str], Any] | None:
    """Return what reads a reply; None where another test does."""
    inputs = one["inputs"]
    return {
        "solver": lambda: parse_chain,
        "criteria": lambda: partial(parse_criteria, image_count=1),
        "checkpoints": lambda: partial(parse_criterion_scores, expected=len(json.loads(inputs["criteria"]))),
        "equivalence": lambda: parse_equivalence,
        "leak_check": lambda: partial(parse_leaks, checked=inputs["text"]),
    }.get(one["prompt"], lambda: None)()


@pytest.mark.parametrize("name", ["solver", "criteria", "checkpoints", "equivalence", "leak_check"])
def test_every_reply_of_a_careful_model_is_read(name: str) -> None:
    """No reply that a judge gave to the present forms is lost or has to be sent back."""
    replies = [one for one in RECORDED if one["prompt"] == name]
    assert replies
    for one in replies:
        parse = parser_of(one)
        assert parse is not None
        try:
            assert parse(one["reply"]) is not None
        except UnparsableReply as problem:
            pytest.fail(f"{problem.reason}: {one['reply'][:300]}")


def test_candidates_state_their_answer_on_a_line_of_its_own() -> None:
    """Asked to show their work, careful and hasty models end with the line that the parser reads."""
    stated = Counter(
        (one["model"], parse_final_answer(one["reply"]) is not None)
        for one in RECORDED
        if one["prompt"] in ("candidate", "answer_again")
    )
    assert stated["careful", False] == stated["hasty", False] == 0
    assert stated["careful", True] > 8
    assert stated["hasty", True] > 8


def test_judges_tell_silence_from_error() -> None:
    """Of an answer that only describes the picture nothing is stated, and no wrong answer is called silent on all."""
    told = [
        (one["inputs"]["response"], parse_criterion_scores(one["reply"], len(json.loads(one["inputs"]["criteria"]))))
        for one in RECORDED
        if one["prompt"] == "checkpoints"
    ]
    evasive = [scores for response, scores in told if response.startswith(("The chart compares", "It is a menu"))]
    assert evasive
    assert not any(one.stated for scores in evasive for one in scores)
    wrong = [
        scores for response, scores in told if "Final answer: June" in response or "Final answer: 2:45" in response
    ]
    assert wrong
    assert all(any(one.stated and one.score < 3 for one in scores) for scores in wrong)


def test_requests_are_recognised_by_what_they_were_rendered_from() -> None:
    """A request that is rendered anew from what was recorded is recognised with the same inputs."""
    assert len(RECORDED) > 100
    for one in RECORDED:
        found = recognise(render(one["prompt"], one["inputs"]).messages)
        assert found is not None
        assert (found.name, found.inputs) == (one["prompt"], one["inputs"])
