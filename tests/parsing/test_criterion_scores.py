"""Criterion scores are read by number or path, exactly the asked ones, or refused with all that is wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.domain.judgement import CriterionScore
from dokimasia.errors import UnparsableReply
from dokimasia.parsing import parse_criterion_scores, parse_scores

pytestmark = pytest.mark.quick

PATHS = ("<Perception><Fine-grained Perception><Attribute Recognition>", "<Reasoning><Logic><Deduction>")


@pytest.mark.parametrize(
    "text",
    [
        "1 | score: [4]\n2 | score: [5]",
        "2 | score: [5]\n1 | score: [4]",
        "```\n1 | score: [4] | Weight 3\n2 | score: [5] | Weight 7\n```",
        "**1** | **score: [4]**\r\n**2** | **score: [5]**",
        "- 1 | Score:[ 4 ]\n- 2 | Score:[ 5 ]",
        "| 1 | score: [4] |\n| 2 | score: [5] |",
        "Criterion 1: score: [[4]]\nCriterion 2: score: [[5]]",
        "<think>1 | score: [1]</think>\nThe scores:\n1 | score: [4]\n2 | score: [5]\nOverall score: 4.5",
        "1. score: [4] | Weight [3]\n2. score: [5] | Weight: [7]",
    ],
)
def test_scores_are_read_by_number(text: str) -> None:
    """Order, bold type, bullets, tables, a fence around it all, weights and headings do not matter."""
    assert parse_scores(text, 2) == [4, 5]


@pytest.mark.parametrize(
    "text",
    [
        f"{PATHS[1]} | score: [2] | Weight 3\n{PATHS[0]} | score: [4] | Weight 3",
        "<perception> <Fine-grained  Perception> <Attribute Recognition> | score: [4]\n2 | score: [2]",
        f"1 | {PATHS[0]} | score: [4]\n2. {PATHS[1]} | score: [2]",
        "1 | score: [4]\n2 | score: [2]",
    ],
)
def test_scores_are_read_by_path(text: str) -> None:
    """Where paths are given, a line may name its criterion by path, by number, or by both."""
    assert parse_scores(text, PATHS) == [4, 2]


@pytest.mark.parametrize(
    "line", ["2 | score: [not stated]", "**2** | **score: [Not stated]**", "2 | score: [[NOT-STATED]] | Weight 3"]
)
def test_silence_is_told_from_error(line: str) -> None:
    """`[not stated]` in place of a score says that the response does not speak of the point; as a number it is a 1."""
    text = f"1 | score: [1]\n{line}"
    assert parse_criterion_scores(text, 2) == [CriterionScore(1, stated=True), CriterionScore(1, stated=False)]
    assert parse_scores(text, 2) == [1, 1]


def test_silence_is_read_by_path() -> None:
    """Where paths are given, a line that names its criterion by path may say that the response is silent on it."""
    text = f"{PATHS[1]} | score: [not stated]\n1 | {PATHS[0]} | score: [4]"
    assert parse_criterion_scores(text, PATHS) == [CriterionScore(4, stated=True), CriterionScore(1, stated=False)]


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        ("", 2, "criterion 1, 2"),
        ("1 | score: [4] or [not stated]\n2 | score: [5]", 2, "criterion 1 has more than one score"),
        ("1 | score: [not stated] | score: [1]\n2 | score: [5]", 2, "criterion 1 has more than one score"),
        ("1 | score: [not stated]\n2 | score: [5]\n1 | score: [2]", 2, "criterion 1 is scored more than once"),
        ("1 | score: [unstated]\n2 | score: [5]", 2, "criterion 1 has the score 'unstated'"),
        ("1 | score: [not stated, 1]\n2 | score: [5]", 2, "criterion 1 has the score 'not stated, 1'"),
        ("1 | score: not stated\n2 | score: [5]", 2, "criterion 1 has no score in brackets"),
        ("1 | score: [4]", 2, "no line .* for criterion 2"),
        ("1 | score: [4]\n2 | score: [6]", 2, "criterion 2 has the score '6'"),
        ("1 | score: [4]\n2 | score: [0]", 2, "criterion 2 has the score '0'"),
        ("1 | score: [4]\n2 | score: [3.5]", 2, "criterion 2 has the score '3.5'"),
        ("1 | score: [4]\n2 | score: [S]", 2, "criterion 2 has the score 'S'"),
        ("1 | score: [4]\n2 | score: 5", 2, "criterion 2 has no score in brackets"),
        ("1 | score: [4]\n2 | score: [5]\n3 | score: [5]", 2, "criterion 3, but the criteria are 1 to 2"),
        ("1 | score: [4]\n2 | score: [5]\n1 | score: [2]", 2, "criterion 1 is scored more than once"),
        ("1 | score: [4]\n2 | score: [5]\n1 | score: [4]", 2, "criterion 1 is scored more than once"),
        ("1 | score: [4] or [5]\n2 | score: [5]", 2, "criterion 1 has more than one score"),
        ("1 | score: [4] | score: [3]\n2 | score: [5]", 2, "criterion 1 has more than one score"),
        (f"{PATHS[0]} | score: [4]\n2 | score: [5]", 2, "names no criterion by its number"),
        (f"{PATHS[0]} | score: [4]\n<A><B> | score: [5]", PATHS, "which was not asked"),
        (f"1 | {PATHS[1]} | score: [4]\n2 | score: [5]", PATHS, "not its own"),
        (f"{PATHS[0]} | score: [4]\n{PATHS[0]} | score: [5]", (PATHS[0], PATHS[0]), "several criteria"),
        ("1 | score: [4]\n" * 1001, 2, "more than 1000 lines"),
    ],
)
def test_scores_are_refused(text: str, expected: int | tuple[str, ...], reason: str) -> None:
    """A missing, repeated, surplus, doubtful or impossible score is unparsable, and the reason names it."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_scores(text, expected)


def test_reason_names_all_that_is_wrong() -> None:
    """One reason tells the judge about every criterion at once."""
    with pytest.raises(UnparsableReply) as caught:
        parse_scores("1 | score: [9]\n3 | score: [2]", 3)
    assert "criterion 1 has the score '9'" in caught.value.reason
    assert "for criterion 2" in caught.value.reason


def test_no_criterion_is_a_mistake_of_the_caller() -> None:
    """Asking for no criterion raises ValueError."""
    with pytest.raises(ValueError, match="at least one"):
        parse_scores("1 | score: [4]", 0)


@given(
    st.lists(st.integers(1, 5) | st.just(0), min_size=1, max_size=8),
    st.randoms(),
    st.sampled_from(["", "**", "- ", "> "]),
)
@settings(max_examples=500, deadline=None)
def test_what_is_written_is_read(scores: list[int], random, decoration: str) -> None:
    """Any scores and silences (here 0), in any order of lines, come back in the asked order."""
    written = [score or "not stated" for score in scores]
    lines = [f"{decoration}{number} | score: [{score}] | Weight 2" for number, score in enumerate(written, start=1)]
    random.shuffle(lines)
    read = parse_criterion_scores("\n".join(lines), len(scores))
    assert [one.score if one.stated else 0 for one in read] == scores
    assert parse_scores("\n".join(lines), len(scores)) == [score or 1 for score in scores]


@given(
    st.lists(
        st.sampled_from(["1", "2", " | ", "score: ", "[4]", "[", "]", "\n", "<A>", "not stated", "<B>", "x", "*"]),
        max_size=30,
    )
)
@settings(max_examples=400, deadline=None)
def test_scores_never_surprise(pieces: list[str]) -> None:
    """Any text gives two scores of 1 to 5 or raises UnparsableReply and nothing else."""
    for expected in (2, ("<A>", "<B>")):
        try:
            scores = parse_criterion_scores("".join(pieces), expected)
        except UnparsableReply:
            continue
        assert set(scores) <= {CriterionScore(4, stated=True), CriterionScore(1, stated=False)}
        assert len(scores) == 2
