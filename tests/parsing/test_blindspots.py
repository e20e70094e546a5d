"""What judges under test reply: read by axis, every fault named at once, and nothing taken for a score that is none."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.blindspots.judged import (
    parse_axis_choices,
    parse_axis_scores,
    parse_notice,
    parse_structured_axis_choices,
    parse_structured_axis_scores,
)

AXES = ("relevance", "visual_grounding", "overall")
SAID = "The response names the bird rightly. The jetty is called red, but it is grey."
GOOD = f"{SAID}\n\nrelevance | score: [9]\nvisual_grounding | score: [4]\noverall | score: [6]"


def test_points_are_read_by_axis_with_the_justification() -> None:
    """A score on each axis, in the order that was asked for, and the words before them."""
    read = parse_axis_scores(GOOD, AXES)
    assert list(read.values.items()) == [("relevance", 9), ("visual_grounding", 4), ("overall", 6)]
    assert read.justification == SAID


@pytest.mark.parametrize(
    "reply",
    [
        GOOD.replace("visual_grounding", "Visual Grounding"),
        GOOD.replace("visual_grounding", "**visual-grounding**"),
        GOOD.replace("[4]", "[4/10]").replace("[6]", "[ 6 ]."),
        f"Justification: {GOOD}",
        GOOD.replace("relevance |", "- relevance |"),
        f"<think>relevance | score: [1]</think>{GOOD}",
        GOOD.replace("[", "").replace("]", ""),
        GOOD.replace("[4]", "**4/10**"),
        f"{SAID}\n\nThe scores:\noverall | score: [6]\nvisual_grounding | score: [4]\nrelevance | score: [9]\n",
        json.dumps({"justification": SAID, "scores": {"relevance": 9, "Visual Grounding": 4, "overall": 6}}),
    ],
)
def test_what_says_the_same_reads_the_same(reply: str) -> None:
    """Emphasis, spelling of an axis, order, a scale and a heading change nothing; nor does the form of an object."""
    read = parse_structured_axis_scores(reply, AXES)
    assert read.values == {"relevance": 9, "visual_grounding": 4, "overall": 6}
    assert "Justification:" not in read.justification


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (GOOD.replace("[4]", "[11]"), "visual_grounding has '11', not a whole number from 1 to 10"),
        (GOOD.replace("[4]", "[7.5]"), "visual_grounding has '7.5'"),
        (GOOD.replace("[4]", "[0]"), "visual_grounding has '0'"),
        (GOOD.replace("[4]", "[your score]"), "visual_grounding has 'your score'"),
        (GOOD.replace("[4]", "[6 or 7]"), "visual_grounding has '6 or 7'"),
        (GOOD.replace("[4]", "4 or 5"), "visual_grounding has nothing in brackets"),
        (GOOD.replace("[4]", "[4], perhaps [5]"), "behind its bracket"),
        (GOOD.replace("visual_grounding | score: [4]\n", ""), "for visual_grounding"),
        (GOOD + "\nclarity | score: [8]", "a line for 'clarity', which was not asked"),
        (GOOD + "\noverall | score: [6]", "overall has more than one line"),
        (GOOD + "\nOn reflection, take two points off.", "beside the form stands 'On reflection"),
        (GOOD.removeprefix(SAID), "there is no justification"),
        (SAID, "for relevance, visual_grounding, overall"),
        ("", "there is no justification"),
        (SAID * 400 + GOOD, "a few sentences were asked for"),
    ],
)
def test_what_is_wrong_is_named(reply: str, reason: str) -> None:
    """No value is guessed: the reason says which axis and what was written there."""
    for parse in (parse_axis_scores, parse_structured_axis_scores):
        with pytest.raises(UnparsableReply) as caught:
            parse(reply, AXES)
        assert reason in caught.value.reason


def test_all_faults_are_named_at_once() -> None:
    """One reply that is wrong in four ways is sent back once, with the four of them."""
    reply = "relevance | score: [12]\noverall | score: [3]\noverall | score: [4]\nclarity | score: [2]"
    with pytest.raises(UnparsableReply) as caught:
        parse_axis_scores(reply, AXES)
    for fault in ("'12'", "overall has more than one line", "'clarity'", "for visual_grounding", "no justification"):
        assert fault in caught.value.reason


@pytest.mark.parametrize("stated", [True, 4.0, "four", None, [4], 11])
def test_a_value_in_an_object_is_a_whole_number(stated: object) -> None:
    """What JSON lets pass for a number is none: true, a fraction, a list."""
    reply = json.dumps({"justification": SAID, "scores": {"relevance": 9, "visual_grounding": stated, "overall": 6}})
    with pytest.raises(UnparsableReply, match="visual_grounding has"):
        parse_structured_axis_scores(reply, AXES)


def test_choices_are_read_by_place() -> None:
    """A is the first answer, B the second, a tie neither; anything else is refused."""
    reply = f"{SAID}\nrelevance | better: [tie]\nvisual_grounding | better: [B]\noverall | better: [Response A]"
    expected = {"relevance": "tie", "visual_grounding": "second", "overall": "first"}
    assert parse_axis_choices(reply, AXES).values == expected
    assert parse_axis_choices(reply.replace("[", "").replace("]", ""), AXES).values == expected
    as_object = {"justification": SAID, "better": {"relevance": "tie", "visual_grounding": "B", "overall": "a"}}
    assert parse_structured_axis_choices(json.dumps(as_object), AXES).values == expected
    for word in ("your choice", "C", "A or B", "neither", "A, B or tie", ""):
        with pytest.raises(UnparsableReply, match=r"not A, B or tie|nothing in brackets"):
            parse_axis_choices(reply.replace("[B]", f"[{word}]"), AXES)


def test_objects_that_differ_are_refused() -> None:
    """Two objects with different scores state nothing, and a second verdict beside the first neither."""
    one = {"justification": SAID, "scores": {"relevance": 9, "visual_grounding": 4, "overall": 6}}
    other = {**one, "scores": {**one["scores"], "overall": 9}}  # pyright: ignore[reportGeneralTypeIssues]
    for reply, reason in (
        (json.dumps(one) + json.dumps(other), "more than one JSON object"),
        (json.dumps({**one, "final_score": 9}), "states something else"),
        (json.dumps(one) + "\nbut overall rather 3", "beside the object"),
        (json.dumps({**one, "justification": "Overall: 8/10."}), "gives overall 8 of 10, and its line 6"),
    ):
        with pytest.raises(UnparsableReply, match=reason):
            parse_structured_axis_scores(reply, AXES)


def test_words_that_name_an_error_stand_in_the_justification() -> None:
    """A notice is yes with words of the justification, or no with none; anything between is sent back."""
    read = parse_notice('Words: "The jetty is called red, but it is grey"\nVerdict: [[yes]]', SAID)
    assert (read.named, read.words) == (True, "The jetty is called red, but it is grey")
    assert parse_notice("Words: none\nVerdict: [[no]]", SAID) == (False, "")
    for reply, reason in (
        ('Words: "the jetty is blue"\nVerdict: [[yes]]', "do not stand in the justification"),
        ("Words: none\nVerdict: [[yes]]", "quotes no words"),
        ('Words: "The jetty"\nVerdict: [[no]]', "says no and quotes words"),
        ("Verdict: [[yes]]", "one line of the form"),
        ('Words: "The jetty"\nVerdict: [[your verdict]]', "no verdict"),
        ('Words: "The jetty"\nVerdict: [[yes]]\nVerdict: [[no]]', "both"),
    ):
        with pytest.raises(UnparsableReply, match=reason):
            parse_notice(reply, SAID)


PIECES = [
    "overall",
    " | ",
    "score: ",
    "better: ",
    "[",
    "]",
    "7",
    "A",
    "tie",
    "\n",
    "{",
    "}",
    '"',
    ":",
    "<think>",
    "```",
    ">",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=200))
@settings(max_examples=500, deadline=None)
def test_whatever_stands_there_is_read_or_refused(text: str) -> None:
    """No reply breaks a parser: it gives whole numbers of the scale or the reason why not."""
    for parse, allowed in (
        (parse_structured_axis_scores, set(range(1, 11))),
        (parse_structured_axis_choices, {"first", "second", "tie"}),
    ):
        try:
            read = parse(text, ("overall",))
        except UnparsableReply:
            continue
        assert set(read.values.values()) <= allowed
        assert read.justification
    with suppress(UnparsableReply):
        assert parse_notice(text, SAID).words in SAID
