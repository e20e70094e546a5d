"""Thousands of replies whose meaning the grammar knows: each is read as it means, or refused.

`python -m benchmarks.parsers.duels` reads a million.
"""

import random
from collections import Counter

import pytest

from benchmarks.parsers.duels import READ, main, read_many, read_one
from benchmarks.parsers.oracles import Refuted
from benchmarks.parsers.statements import KINDS, Made, reply

REFUSED = {"verdict": 0.0, "scores": 0.0, "rating": 0.08}
"""The greatest share of plain replies that may be refused: hypothetical leads that a rating's own rule does not take."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_states_what_is_read(kind: str) -> None:
    """Nothing but UnparsableReply is raised, no value is read that is not stated, and plain replies are read."""
    found = read_many(kind, 6_000, seed=1)
    assert found["texts"] == 6_000
    assert found["states one"] > 1_200
    assert found["refused though it states one"] <= REFUSED[kind] * found["states one"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_makes_the_same_replies(kind: str) -> None:
    """Replies are drawn from their seed alone, and few of them are alike."""
    first, again = ([reply(kind, dice).text for _ in range(200)] for dice in (random.Random(3), random.Random(3)))
    assert first == again
    assert len(set(first)) > 150


@pytest.mark.parametrize(
    ("kind", "text", "stated"),
    [
        ("verdict", "Final Verdict is: [[A>B]]", 2.0),
        ("verdict", "Final Verdict is: [[A>B]]", None),
        ("scores", "Response A Visual Factuality Score: 8\nResponse B Visual Factuality Score: 6", (8.0, 5.0)),
        ("rating", "Rating: [[7]]", 6.0),
    ],
)
def test_another_reading_is_found_out(kind: str, text: str, stated: float | tuple[float, float] | None) -> None:
    """A value that differs from what the grammar knows is refuted."""
    with pytest.raises(Refuted, match="is stated by"):
        read_one(kind, Made(text, stated, known=True), Counter())


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("verdict", "[[A>B]]", -1),
        ("verdict", "[[A>B]] [[B>A]]", 1),
        ("verdict", "<think>[[A>B]]</think>", 1),
        ("verdict", "A>B", 1),
        ("scores", "Response A Visual Factuality Score: 8\nResponse B Visual Factuality Score: 6", (6.0, 8.0)),
        ("scores", "Response A Visual Factuality Score: 8/10", (8.0, 8.0)),
        ("rating", "[[7]] [[8]]", 7.0),
    ],
)
def test_the_oracles_see_what_is_not_stated(kind: str, text: str, value: object) -> None:
    """A value that an edited reply does not state is refuted by the oracle, which shares no code with the parser."""
    with pytest.raises(Refuted):
        READ[kind][1](text, value)


def test_the_command_says_what_it_read(capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m benchmarks.parsers.duels` reads as many replies as it was told to, and says what came of them."""
    assert main(["--examples", "60", "--workers", "1"]) == 0
    assert "of 20 read" in capsys.readouterr().out
