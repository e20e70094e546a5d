"""Perturbed answers are read as changes of the gold answer or as a whole new one, or refused with all that is wrong."""

import json
from typing import Any

import pytest

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.blindspots.perturbed import (
    parse_change_check,
    parse_gold,
    parse_gold_check,
    parse_passages,
    parse_rewrite,
    reason_kind,
)

GOLD = "Two cats sit on a wall, and the left one is black. A sign beside them says 'Keep off', in 12 red letters."
SAID = "The right cat is now the black one; it was the left."
NAMES = ("object", "colour", "score_neutral")


def passages(*pairs: tuple[str, str], description: Any = SAID) -> str:
    """The reply of a perturber that changes passages."""
    changes = [{"original": original, "new": new} for original, new in pairs]
    return json.dumps({"changes": changes, "description": description})


def rewritten(answer: Any, description: Any = SAID) -> str:
    """The reply of a perturber that writes the answer anew."""
    return json.dumps({"answer": answer, "description": description})


def test_changes_are_made_in_the_gold_answer() -> None:
    """What comes back is the whole changed answer and what was changed; all but the changed words stay."""
    found = parse_passages(f"Here it is:\n{passages(('the left one', 'the right one'))}", GOLD)
    assert found.text == GOLD.replace("left", "right")
    assert (found.description, found.none) == (SAID, "")


def test_a_description_that_comes_first_is_sent_back() -> None:
    """What was announced before it was done is no description of it: changes, or the answer, stand before it."""
    for parse, field in ((parse_passages, "changes"), (parse_rewrite, "answer")):
        made = {"changes": [{"original": "left", "new": "right"}], "answer": GOLD.replace("left", "right")}[field]
        with pytest.raises(UnparsableReply, match="it comes last"):
            parse(json.dumps({"description": SAID, field: made}), GOLD)
        assert parse(json.dumps({field: made, "description": SAID}), GOLD).description == SAID


def test_a_reason_why_an_error_is_easy_to_miss_may_be_nothing_and_stand_anywhere() -> None:
    """No item is lost for a remark that nobody has to make."""
    made = {"changes": [{"original": "left", "new": "right"}], "description": SAID}
    assert parse_passages(json.dumps({**made, "rationale": None}), GOLD).rationale == ""
    assert parse_passages(json.dumps({"rationale": "It reads well.", **made}), GOLD).rationale == "It reads well."
    again = {"answer": GOLD.replace("left", "right"), "description": SAID}
    assert parse_rewrite(json.dumps({"rationale": "It reads well.", **again}), GOLD).rationale == "It reads well."
    with pytest.raises(UnparsableReply) as refused:
        parse_passages(json.dumps({**made, "rationale": 7}), GOLD)
    assert refused.value.reason == "the field 'rationale' is missing, empty, or no text"


def test_an_answer_written_anew_comes_back_whole() -> None:
    """It may differ in most of its words, so long as it is still an answer of that size."""
    new = "On a wall sit two cats. The left one is black; beside them a sign in 12 red letters says 'Keep off'."
    assert parse_rewrite(rewritten(new), GOLD, neutral=True) == (new, SAID, "", "")


@pytest.mark.parametrize("parse", [parse_passages, parse_rewrite])
def test_a_dimension_that_does_not_apply_is_a_reply(parse: Any) -> None:
    """Who says why there is none has replied, and is not sent back."""
    assert parse('{"none": "There are  no steps in it."}', GOLD) == ("", "", "", "There are no steps in it.")


@pytest.mark.parametrize(
    ("reply", "reason", "kind"),
    [
        (passages(("the left one", "the  LEFT one")), "changed into itself", "nothing"),
        (
            passages(("black. A sign", "black - a sign")),
            "it changes nothing: the changed answer has the same",
            "nothing",
        ),
        (
            passages(
                (
                    "Two cats sit on a wall, and the left one is black.",
                    "Seven grey gulls fly over some open sea today.",
                ),
                (
                    "A sign beside them says 'Keep off', in 12 red letters.",
                    "No ship passes, nor any boat, all morning.",
                ),
            ),
            "it changes nearly everything",
            "all",
        ),
        (passages(("a dog", "a cat")), "'a dog' does not stand in the text", ""),
        (passages(("cats", "dogs"), description=" "), "the field 'description' is missing", ""),
        (passages(("cats", "dogs"), description="w " * 81), "the description has 81 words", ""),
        (passages(), 'neither "changes" nor "none"', ""),
        ("No.", 'no complete JSON object with "changes" or "none"', ""),
        (passages(("cats", "dogs")) + passages(("cats", "mice")), "more than one such JSON object", ""),
    ],
)
def test_changes_of_no_use_are_refused(reply: str, reason: str, kind: str) -> None:
    """Nothing changed, nearly everything, words that do not stand there, no description: all with a reason."""
    with pytest.raises(UnparsableReply) as refused:
        parse_passages(reply, GOLD)
    assert reason in refused.value.reason
    assert reason_kind(refused.value.reason) == kind


@pytest.mark.parametrize(
    ("reply", "reason", "kind"),
    [
        (rewritten(GOLD.upper()), "it changes nothing", "nothing"),
        (rewritten("Cats."), "it changes nearly everything: the new answer is 1 words long, the old one 23", "all"),
        (rewritten("Cats. " * 99), "it changes nearly everything", "all"),
        (rewritten(" ".join(["Nothing of that here"] * 5)), "hardly a word of the old one", "all"),
        (rewritten(GOLD.replace("12", "13")), "not the same numbers as the old one: 12, 13", ""),
        (rewritten(f"<<<ANSWER 1234>>> {GOLD}"), "marks of the material", ""),
        (rewritten(7), "the field 'answer' is missing", ""),
        (rewritten(GOLD.replace("cats", "dogs"), description=None), "the field 'description' is missing", ""),
        (rewritten("<the new answer, whole>"), "a placeholder of the form", ""),
        (rewritten(GOLD.replace("cats", "dogs"), description="<one sentence>"), "a placeholder of the form", ""),
        (json.dumps({"none": "<why it cannot be put otherwise>"}), "a placeholder of the form", ""),
    ],
)
def test_answers_written_anew_of_no_use_are_refused(reply: str, reason: str, kind: str) -> None:
    """The same again, another one altogether, other numbers where no harm was to be done, forms that nobody filled in."""
    with pytest.raises(UnparsableReply) as refused:
        parse_rewrite(reply, GOLD, neutral=True)
    assert reason in refused.value.reason
    assert reason_kind(refused.value.reason) == kind


def test_all_that_is_wrong_is_named_at_once() -> None:
    """A reply that is sent back is told every fault, so that the next one can mend them all."""
    with pytest.raises(UnparsableReply) as refused:
        parse_rewrite(rewritten(GOLD.replace("12", "13"), description=""), GOLD, neutral=True)
    assert "description" in refused.value.reason
    assert "numbers" in refused.value.reason


def test_in_a_short_answer_three_words_may_change() -> None:
    """An answer of one word can be perturbed in what one word says."""
    assert parse_passages(passages(("red", "blue")), "red").text == "blue"


def test_a_gold_answer_is_the_whole_reply() -> None:
    """Thoughts before it are left out; nothing, or a refusal, is none."""
    assert parse_gold("<think>A cat?</think>\n A cat.\n") == "A cat."
    for reply in ("  ", "I'm sorry, but I cannot help with that."):
        with pytest.raises(UnparsableReply):
            parse_gold(reply)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"right": True, "words": "", "why": ""}, ("", "")),
        ({"right": True}, ("", "")),
        ({"right": True, "words": None, "why": None}, ("", "")),
        ({"right": True, "why": "Four boats instead of three."}, "the answer is said to be right"),
        ({"right": True, "words": "left one", "why": ""}, "the answer is said to be right"),
        ({"right": False, "words": "LEFT one is  black", "why": "It is\ngrey."}, ("LEFT one is  black", "It is grey.")),
        ({"right": False, "words": "a dog", "why": "It is a cat."}, "'a dog' does not stand in the answer"),
        ({"right": False, "words": "", "why": ""}, "the field 'words' is missing"),
        ({"right": "yes"}, "'right' is 'yes', neither true nor false"),
        ({"wrong": True}, 'no complete JSON object with "right"'),
    ],
)
def test_a_check_of_a_gold_answer_names_words_that_stand_in_it(said: dict[str, Any], expected: Any) -> None:
    """Wrong words are those of the answer; a verdict without them is sent back."""
    reply = f"The cat is there.\n{json.dumps(said)}"
    if isinstance(expected, tuple):
        assert parse_gold_check(reply, GOLD) == expected
        return
    with pytest.raises(UnparsableReply) as refused:
        parse_gold_check(reply, GOLD)
    assert expected in refused.value.reason


def check(**changes: Any) -> str:
    """The reply of a checker of changes."""
    return json.dumps({"kind": "colour", "also": [], "worse": True, "why": "The cat is blue."} | changes)


def test_a_check_of_a_change_is_read() -> None:
    """The kind itself is no further one, `none` is no kind, and every further kind counts once."""
    assert parse_change_check(check(), NAMES) == ("colour", (), True, "The cat is blue.")
    assert parse_change_check(check(also=["colour", "object", "object"]), NAMES)[1] == ("object",)
    assert parse_change_check(check(kind="none", worse=False), NAMES)[0] == ""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": "shape"}, "'shape' is no name of the list"),
        ({"kind": 3}, "the field 'kind' is missing, empty, or no text"),
        ({"also": ["shape"]}, "'shape' is no name of the list"),
        ({"also": "object"}, "'also' is no list"),
        ({"also": [["object"]]}, "'also' holds ['object']"),
        ({"worse": "true"}, "'worse' is 'true', neither true nor false"),
        ({"why": ""}, "the field 'why' is missing"),
    ],
)
def test_a_check_of_a_change_of_no_use_is_refused(changes: dict[str, Any], reason: str) -> None:
    """Names that are not on the list, and verdicts that are none, are sent back."""
    with pytest.raises(UnparsableReply) as refused:
        parse_change_check(check(**changes), NAMES)
    assert reason in refused.value.reason
