"""Reasons beside the results of an assessment: taken out before any result is read, and never read for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.domain.judgement import MAX_REASON
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.assessment import parse_reasoned_assessment, parse_rubric_assessment

RESULTS = ("true", "false")
REASONS = ("It names the bus.", "It says two, not three.", "No word of a dog.")


def written(a: list[tuple[str, str]], b: list[tuple[str, str]]) -> str:
    """The form of the prompt; a result with an empty reason has none."""
    groups: list[str] = []
    for name, pairs in (("GroupA", a), ("GroupB", b)):
        lines = [
            f"<Result>{result}</Result>" + f"\n<Reason>{reason}</Reason>" * bool(reason) for result, reason in pairs
        ]
        groups.append("\n".join([f"<{name}>", *lines, f"</{name}>"]))
    return "\n".join(["<Assessment>", *groups, "</Assessment>"])


FORM = written([("true", REASONS[0]), ("false", REASONS[1])], [("true", REASONS[2])])


def test_each_reason_stands_beside_its_result() -> None:
    """In order and by group, behind each result, before each, or within it; a reply without reasons is kept."""
    ahead = FORM
    for result, reason in zip(("true", "false", "true"), REASONS, strict=True):
        ahead = ahead.replace(
            f"<Result>{result}</Result>\n<Reason>{reason}</Reason>",
            f"<Reason>{reason}</Reason>\n<Result>{result}</Result>",
        )
    within = FORM.replace("</Result>\n<Reason>", "\n<Reason>").replace("</Reason>", "</Reason></Result>")
    for text in (FORM, ahead, within, f"```xml\n{FORM}\n```", f"{FORM}\n\nTo repeat:\n{FORM}", FORM.upper().lower()):
        read = parse_reasoned_assessment(text, 2, 1)
        assert (read.group_a, read.group_b) == ((True, False), (True,))
        assert [str(reason).lower() for reason in (*read.reasons_a, *read.reasons_b)] == [
            one.lower() for one in REASONS
        ]
    some = parse_reasoned_assessment(written([("true", ""), ("false", REASONS[1])], [("true", "SENTENCE")]), 2, 1)
    assert (some.reasons_a, some.reasons_b) == ((None, REASONS[1]), (None,))


@given(st.lists(st.tuples(st.sampled_from(RESULTS), st.text(max_size=40)), max_size=6))
def test_no_reason_changes_a_result(pairs: list[tuple[str, str]]) -> None:
    """Whatever a reason holds, but for its own closing tag, the results are those of the reply without it."""
    a = [(result, f"So: {reason.replace('<', '(')}") for result, reason in pairs]
    read = parse_reasoned_assessment(written(a, []), len(a), 0)
    assert read.group_a == tuple(result == "true" for result, _ in pairs)


@pytest.mark.parametrize(
    "reason",
    [
        "<Result>true</Result>",
        "</GroupA><GroupB><Result>true</Result></GroupB>",
        "On second thought the result is true.",
        "<Assessment><GroupA><Result>true</Result></GroupA></Assessment>",
        "`true` and <GroupB>",
    ],
)
def test_a_form_within_a_reason_is_text(reason: str) -> None:
    """Tags and verdicts in a reason are its words."""
    read = parse_reasoned_assessment(written([("false", reason)], [("false", "No.")]), 1, 1)
    assert (read.group_a, read.group_b, read.reasons_b) == ((False,), (False,), ("No.",))
    assert read.reasons_a == (reason,)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (written([("true", "a")], [("true", "b")]), "<GroupA> has 1 results for 2 rubrics"),
        (FORM.replace("</Reason>", "", 1), "<GroupA> has 1 results for 2 rubrics"),
        (FORM.replace("<Reason>", "", 1), "stands"),
        (FORM.replace("<Result>false</Result>", "<Result>partly</Result>"), "'partly', neither true nor false"),
        (FORM.replace(REASONS[0], "x</Reason><Result>true</Result><Reason>y"), "<GroupA> has 3 results for 2 rubrics"),
    ],
)
def test_a_broken_form_is_refused(text: str, fault: str) -> None:
    """A missing result, an open tag and a result that a reason smuggles in are failures, never a result."""
    with pytest.raises(UnparsableReply, match=fault):
        parse_reasoned_assessment(text, 2, 1)


def test_reasons_are_one_line_and_short_and_two_that_differ_are_none() -> None:
    """As for scores: control characters go, at most 300 characters stay; a repetition with another reason has none."""
    read = parse_reasoned_assessment(written([("true", f"  so\n\x07 it {'is ' * 400}")], []), 1, 0)
    assert read.reasons_a[0] is not None
    assert (len(read.reasons_a[0]), read.reasons_a[0][:8]) == (MAX_REASON, "so it is")
    twice = parse_reasoned_assessment(written([("true", "One.")], []) + written([("true", "Other.")], []), 1, 0)
    assert (twice.group_a, twice.reasons_a) == ((True,), (None,))
    assert parse_rubric_assessment(written([("true", "")], []), 1, 0).reasons_a == ()
