"""An assessment is exactly the results that were asked for, each true or false, or it is no assessment at all."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.assessment import parse_rubric_assessment


def written(a: list[str], b: list[str]) -> str:
    """The form of the paper."""
    groups = ["".join(f"    <Result>{one}</Result>\n" for one in group) for group in (a, b)]
    return f"<Assessment>\n  <GroupA>\n{groups[0]}  </GroupA>\n  <GroupB>\n{groups[1]}  </GroupB>\n</Assessment>"


@given(st.lists(st.booleans(), max_size=9), st.lists(st.booleans(), max_size=9))
def test_what_is_written_is_read(a: list[bool], b: list[bool]) -> None:
    """Any results come back as they were, in order and by group, also with empty groups."""
    text = written([str(one).lower() for one in a], [str(one).lower() for one in b])
    assessment = parse_rubric_assessment(text, len(a), len(b))
    assert (assessment.group_a, assessment.group_b) == (tuple(a), tuple(b))


def test_what_stands_around_does_not_matter() -> None:
    """Fences, comments, case, thought and a repetition of the same assessment are overlooked."""
    text = written(["True", " FALSE "], ["true"])
    for whole in (
        f"```xml\n{text}\n```",
        f"<think>maybe <Assessment><GroupA></think>Here it is.\n{text}",
        text.replace("<GroupB>", "<GroupB><!-- <Result>true</Result> one for each -->"),
        f"{text}\n\nTo repeat:\n{text}",
    ):
        assessment = parse_rubric_assessment(whole, 2, 1)
        assert (assessment.group_a, assessment.group_b) == ((True, False), (True,))
    assert (
        parse_rubric_assessment("<Assessment><GroupB><Result>true</Result></GroupB></Assessment>", 0, 1).group_a == ()
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (written(["true"], ["true"]), "<GroupA> has 1 results for 2 rubrics"),
        (written(["true", "true", "true"], ["true"]), "<GroupA> has 3 results for 2 rubrics"),
        (written(["true"], ["true", "true"]), "wrong group"),
        (written(["true", "partially"], ["true"]), "'partially', neither true nor false"),
        (written(["true", "yes"], ["true"]), "'yes', neither"),
        (written(["true", ""], ["true"]), "neither true nor false"),
        (written(["true", "true false"], ["true"]), "neither true nor false"),
        ("<GroupA><Result>true</Result></GroupA>", "<Assessment> is missing"),
        ("<Assessment><GroupA><Result>true</Result><Result>true</Result></GroupA></Assessment>", "<GroupB> is missing"),
        (written(["true", "true"], ["true"]) + written(["true", "false"], ["true"]), "differ"),
        (written(["true", "true"], ["true"]).replace("</GroupA>", ""), "GroupA"),
        (written(["true", "true"], ["true"]).replace("<GroupB>", "<Result>true</Result><GroupB>"), "outside"),
        (written(["true", "true"], ["true"]).replace("</Result>\n  </GroupA>", "\n  </GroupA>"), "not closed"),
        ("I find it quite good on the whole.", "<Assessment> is missing"),
        ("", "<Assessment> is missing"),
    ],
)
def test_everything_else_is_refused(text: str, reason: str) -> None:
    """One too few, one too many, the wrong group, a third answer: never a false, always a reason."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_rubric_assessment(text, 2, 1)


def test_negative_numbers_are_a_mistake_of_the_caller() -> None:
    """A group of fewer than no rubrics is no reply's fault."""
    with pytest.raises(ValueError, match="negative"):
        parse_rubric_assessment("", -1, 0)


def test_hostile_replies_are_read_in_bounded_time() -> None:
    """Many unclosed tags and comments do not make the reading slow."""
    for text in ("<Assessment>" * 900, "<!--" * 200_000, "<Assessment>" + "<GroupA>" * 900, "<Result>" * 900_000):
        begun = time.process_time()
        with pytest.raises(UnparsableReply):
            parse_rubric_assessment(text, 1, 1)
        assert time.process_time() - begun < 5
