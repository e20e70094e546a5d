"""Chains are read from their tags, final answers from their line; hostile size ends every parser soon."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.domain.criterion import ReferenceChain
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.answers import parse_final_answer
from dokimasia.parsing.chains import parse_chain
from dokimasia.parsing.criteria import parse_criteria
from dokimasia.parsing.criterion_scores import parse_scores
from dokimasia.parsing.pairwise import parse_factuality_scores, parse_pairwise_verdict
from dokimasia.parsing.verdicts import parse_equivalence, parse_rating


def test_chain_is_read() -> None:
    """The parts come without the white space around them, whatever the tags' case and what stands outside."""
    text = "Sure.\n<Reasoning>\nA < B, so <b>B</b>.\n</Reasoning>\n\n<ANSWER >B</ANSWER> Done."
    assert parse_chain(text) == ReferenceChain(reasoning="A < B, so <b>B</b>.", answer="B")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "missing"),
        ("<reasoning>a</reasoning>", "<answer>, </answer> is missing"),
        ("<reasoning>a</reasoning><answer>b", "</answer> is missing"),
        ("<answer>b</answer><reasoning>a</reasoning>", "out of order"),
        ("<reasoning>a<answer>b</answer></reasoning>", "out of order"),
        ("<reasoning>a</reasoning><answer>b</answer><answer>c</answer>", "more than once"),
        ("<reasoning> </reasoning><answer>b</answer>", "the reasoning is empty"),
        ("<reasoning>a</reasoning><answer>\n</answer>", "the answer is empty"),
    ],
)
def test_chain_is_refused(text: str, reason: str) -> None:
    """Missing, repeated, misplaced or empty parts are unparsable."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_chain(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Thinking.\nFinal answer: 42", "42"),
        ("1. I see it.\n2. I count.\n3. Final answer: 42", "42"),
        ("2) **Final answer:** two dogs", "two dogs"),
        ("In step 3. final answer: 42", None),
        ("Final answer: 1\nWait.\n**Final Answer:** two dogs**", "two dogs"),
        ("### Final Answer:\n\n  B) red \nBecause.", "B) red"),
        ("The final answer is: blue.", "blue."),
        ("My final answer: no line of its own", None),
        ("Answer: 3", None),
        ("Final answer:", None),
        ("", None),
    ],
)
def test_final_answer(text: str, answer: str | None) -> None:
    """The last such line counts, headings carry to the next line, and nothing is guessed."""
    assert parse_final_answer(text) == answer


@given(
    st.lists(
        st.sampled_from(["<reasoning>", "</reasoning>", "<answer>", "</answer>", "a", " ", "<", "\x00"]), max_size=9
    )
)
@settings(max_examples=400, deadline=None)
def test_chain_never_surprises(pieces: list[str]) -> None:
    """Any text gives a chain or raises UnparsableReply and nothing else."""
    try:
        chain = parse_chain("".join(pieces))
    except UnparsableReply:
        return
    assert chain.reasoning
    assert chain.answer


HOSTILE = {
    "line breaks": "\n",
    "open brackets": "[",
    "spaced brackets": "[ ",
    "ratings": "[[1]]",
    "half ratings": "[[1",
    "score lines": "1 | score: [4]\n",
    "one long line": "1 | score: [4] ",
    "tags": "<answer>",
    "objects": '[{"a":',
    "escaped quotes": '[{"\\"',
    "commas": "[{ ,",
    "thoughts": "<think>",
    "final answers": "final answer:\n",
    "digits": "9",
    "half verdicts": "[[A>",
    "words of a verdict": "verdict ",
    "words of a score": "Response A Visual Factuality Score ",
    "spaced scores": "Response A   Visual   Factuality   Score   :   ",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_size_is_survived(piece: str) -> None:
    """A million characters that invite backtracking are refused, or read, by every parser."""
    text = piece * (1_000_000 // len(piece))
    for parse in (
        lambda: parse_rating(text, 1, 10),
        lambda: parse_scores(text, 3),
        lambda: parse_scores(text, ("<a>", "<b>")),
        lambda: parse_chain(text),
        lambda: parse_criteria(text, image_count=1),
        lambda: parse_equivalence(text),
        lambda: parse_pairwise_verdict(text),
        lambda: parse_factuality_scores(text),
    ):
        with pytest.raises(UnparsableReply):
            parse()
    assert parse_final_answer(text) is None or "final" in piece


@pytest.mark.parametrize(
    "text",
    [
        "{chain} no, c",
        "{chain}\nWait, it is c.",
        "{chain}\nFinal answer: c",
        "{chain}\nThe correct answer is c.",
        "{chain} -> c",
        "{chain} \u2192 c",
        "{chain}\nSo it should be c",
        "{chain}\nc",
        "{chain}\nc is right.",
        "{chain}\nUpdate: c",
        "{chain}" + "\nand so on" * 1_000 + "\nI rechecked: c" + "\nand so on" * 1_000,
        "<reasoning>r</reasoning> Not:<answer>b</answer>",
    ],
)
def test_an_answer_that_is_taken_back_is_no_answer(text: str) -> None:
    """Words behind the answer, or right before it, can turn it around, so the chain is refused."""
    with pytest.raises(UnparsableReply, match="beside <answer> stands"):
        parse_chain(text.format(chain="<reasoning>r</reasoning><answer>b</answer>"))


def test_a_chain_may_say_that_the_answer_follows() -> None:
    """Words that only lead over to the answer change nothing."""
    chain = parse_chain("Here it is.\n<reasoning>r</reasoning>\nFinal answer:\n<answer>b</answer>\n<|im_end|>")
    assert chain.answer == "b"
    for behind in ("I hope this helps, and so on.", "I have double-checked: no mistakes.", "Thank you!"):
        assert parse_chain(f"<reasoning>r</reasoning><answer>b</answer>\n{behind}").answer == "b"
    between = "Wait, I come to it now:"
    assert parse_chain(f"<reasoning>r</reasoning>\n{between}\n<answer>b</answer>").answer == "b"


@pytest.mark.parametrize(
    "text",
    [
        "Final answer: b\nNo, c",
        "Final answer: b\n\nWait - it is c.",
        "Final answer: b\nno",
        "Final answer: b\nBut c is right",
        "Final answer: b\nHmm, c is correct.",
        "Final answer: b\nNo. It is c.",
        "Final answer: red\nActually blue.",
        "Final answer: 3\nOops, the number of boats is 4.",
        "Final answer: red\nNo, wait, the answer is the blue boat on the left.",
    ],
)
def test_a_final_answer_that_is_taken_back_is_none(text: str) -> None:
    """Nothing is guessed from a text that takes its final answer back; another such line at its end counts."""
    assert parse_final_answer(text) is None
    assert parse_final_answer(f"{text}\nFinal answer: c") == "c"


@pytest.mark.parametrize(
    ("stated", "behind"),
    [
        ("7", "No. of boats: 7"),
        ("no", "No one is on board."),
        ("Yes", "Actually, this follows from the table above."),
        ("b", "\nSorry, I cannot tell more."),
        ("red", "However, the light is dim, e.g. in the rear."),
        ("3", "No other boats are visible."),
    ],
)
def test_words_behind_a_final_answer_that_name_no_other_take_nothing_back(stated: str, behind: str) -> None:
    """A line may begin like a second thought and be none."""
    assert parse_final_answer(f"Final answer: {stated}\n{behind}") == stated
