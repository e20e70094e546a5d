"""Texts that come near to what parsers accept: usable replies, edited a few times, and texts of nothing but grammar."""

from collections.abc import Callable
from functools import partial

from hypothesis import strategies as st

_ANALYSIS = (
    "<analysis><candidate_1_critique>no\nsky</candidate_1_critique><candidate_2_critique>right</candidate_2_critique>"
    "<candidate_3_critique>a [sic]</candidate_3_critique></analysis>"
)

REPLIES: dict[str, tuple[str, ...]] = {
    "scores": (
        "1 | score: [4]\n2 | score: [1]\n3 | score: [5]",
        "Here are the scores:\n\n- **1 | score: [4]** | Weight 3\n- **2 | score: [2]** | Weight 7\n- **3 | score: [3]**",
        "```\n3 | Score: [[5]]\n1 | Score: [ 4 ]\n2 | Score: [1]\n```\nCriterion 2 is contradicted.",
        "Criterion 1: score: [5]\nCriterion 2: score: [3]\nCriterion 3: score: [2]\nOverall a good response.",
        "<think>1 | score: [2]\nno, better</think>\n1 | score: [4]\n2 | score: [4]\n3 | score: [4]",
        "| 1 | <A><B> | score: [3] |\n| 2 | <A><C> | score: [4] |\n| 3 | <D> | score: [1] |",
        "<A><B> | score: [4] | Weight 3\n<A><C> | score: [5] | Weight 2\n<D> | score: [1] | Weight 5",
    ),
    "score objects": (
        '{"scores": [{"n": 1, "score": 4}, {"n": 2, "score": 1}, {"n": 3, "score": 5}]}',
        '```json\n{"scores": [\n {"n": 3, "score": 2, "why": "half"},\n {"n": 1, "score": 5},\n {"n": 2, "score": 3},\n]}\n```',
        'So be it: {"reasoning": "a [1] and {2}", "scores": [{"score": 1, "n": 2}, {"score": 2, "n": 1}, {"score": 3, "n": 3}]}',
        '{"scores": [{"n": 1, "score": 4}, {"n": 2, "score": 1}, {"n": 3, "score": 5}]}\n1 | score: [4]\n2 | score: [1]',
    ),
    "criteria": (
        '[{"question": "How many birds?", "ground_truth": "Three", "weight": 4, "anchor": "whole image"},'
        ' {"question": "What colour?", "ground_truth": "Red \\"R\\"", "weight": 6}]',
        '```json\n{"criteria": [{"question": "Where?", "ground_truth": "Left\\nof it", "weight": 10.0,'
        ' "anchor": {"image": 1, "box": [0.1, 0.2, 0.5, 0.6]}},]}\n```',
        'Criteria: [{"weight": 3, "ground_truth": 12, "question": "\\u0041nd, [how]?", "anchor": {"image": 0, "box": null}}]',
    ),
    "second looks": (
        "1 | needed: YES | single: YES | open: YES | -\n2 | needed: NO | single: YES | open: YES | beside the way\n"
        "3 | needed: YES | single: NO | open: YES | price and date\nmissing: nothing",
        "**Criterion 1** | Needed: yes | single: yes | open: no | it says so\n- 2 | needed: YES | single: YES | open: YES\n"
        "3: needed: NO | single: NO | open: NO | all of it\n**Missing**: the second bar",
        '{"criteria": [{"n": 1, "needed": true, "single": true, "open": true, "reason": ""}, {"n": 2, "needed": false,'
        ' "single": true, "open": true, "reason": "no"}, {"n": 3, "needed": true, "single": true, "open": false,'
        ' "reason": "hints"}], "missing": "the legend"}',
    ),
    "verdicts": (
        "The counts differ.\n\nVerdict: [[different]]",
        "They agree.\nVerdict: [[ Same ]]",
        '{"reasoning": "the same bird", "verdict": "same"}',
        '```json\n{"verdict": "different", "reasoning": "not [[same]] at all"}\n```',
        "Rating: [[7]]",
        "The first one tells of misread dials, as A misreads them.\n\nReport 1: [[A]]",
        "**Report one**: [[ b ]]\nReport two: [[A]]",
        "A good caption, if not perfect. Rating: [[ 8.5 ]]\n\nAgain: [[8.5]]",
        "<thinking>[[3]]?</thinking>Rating: [[10]]",
    ),
    "duels": (
        "Assistant A is vivid.\n\nFinal Verdict is: [[A>>B]]",
        "On colour A > B.\n**Final Verdict is: [[ b<a ]]**",
        "<think>[[A>B]]?</think>Final Verdict is: [[A=B]]",
        "The sky: 2 of 2.5.\n\nResponse A Visual Factuality Score: 8.5/10\n\nResponse B Visual Factuality Score: 6/10",
        "- **Assistant B factuality score**: 0\n- **Assistant A factuality score**: 10 out of 10.",
    ),
    "judgings": (
        "Ranking: [[2 > 1 = 3]]",
        "**Ranking:** [[ 3>2>1 ]]\n\nRanking: [[3 > 2 > 1]]",
        "<think>[[1 > 2 > 3]]?</think>The ranking: [[1 = 2 = 3]]",
        '[{"criterion": "It names the sign.", "weight": 7}, {"criterion": "It counts \\"all\\" birds.", "weight": 2}]',
        '```json\n[{"criterion": "It reads the dial.", "weight": 10}, {"criterion": "It says why.", "weight": 1},]\n```',
        "what is seen | score: [4]\nhow it is reasoned | score: [1]\nwhat is concluded | score: [5]",
        "- **Seeing** | Score: [[3]]\n- Reasoning | score: [ 2 ]\n2. Answer | score: [5].\n- Tone | score: [1]",
    ),
    "blind spots": (
        "The jetty is grey, not red.\n\nclarity | score: [9]\noverall | score: [4]",
        "Justification: it is right.\n\nThe scores:\n- **Overall** | Score: [ 10/10 ]\n- **Clarity** | Score: [7].",
        "A is right, B is not.\nclarity | better: [tie]\noverall | better: [A]",
        "<think>overall | better: [A]</think>B is right.\nOverall: better: [Response B]\nclarity | better: [b]",
        '{"justification": "The jetty is grey.", "scores": {"clarity": 9, "overall": 4}}',
        '```json\n{"justification": "A is right.", "better": {"clarity": "tie", "overall": "A",},}\n```',
        'Words: "The jetty is called red, but it is grey"\nVerdict: [[yes]]',
        "**Words:** none\nVerdict: [[ No ]]",
    ),
    "chains": (
        "<reasoning>\n1. There are three.\n2. One leaves.\n</reasoning>\n<answer>\ntwo\n</answer>",
        "Sure!\n<REASONING >It follows: <b>a</b> < b.</Reasoning><answer>B. The second</answer> Done.",
        "<think>is <answer>4</answer> right?</think><reasoning>r</reasoning><answer>5</answer>",
        "1. It is red.\n2. So it stops.\n\nFinal answer: the red one",
        "**Final answer:** 42\n",
        "## The final answer is:\n\n> B. green\n",
        "I'm sorry, but I can't help with this request.",
    ),
    "tags": (
        "<Assessment><GroupA><Result>true</Result><Result> False </Result></GroupA><GroupB><Result>true</Result></GroupB>"
        "</Assessment>",
        "<image_evaluation><visual_complexity><reasoning>full, <score>1</score>?</reasoning><score>8</score>"
        "</visual_complexity><informativeness><reasoning>a page</reasoning><score> 10 </score></informativeness>",
        "A chart, by its axes.\n\n<domain>data</domain>",
        "<voting_result>"
        + _ANALYSIS.replace("right", "It says <best_candidate_id>1</best_candidate_id>.")
        + "<best_candidate_id>Candidate 2</best_candidate_id><rationale>it is right</rationale></voting_result>",
        f"<review_result>{_ANALYSIS}<ranking>2, 3, 1</ranking>"
        "<rewrite>\nA page with <b>two</b> words.\n</rewrite></review_result>",
        f"```xml\n<review_result>{_ANALYSIS}<ranking>1. Candidate 3\n2. Candidate 1\n3. Candidate 2</ranking>"
        "<keep>[3]</keep></review_result>\n```",
    ),
}
"""Replies that some parser can use, by the form that they have."""

PIECES = (
    *(
        "1",
        "2",
        "3",
        "5",
        "6",
        "0",
        "7",
        "12",
        "-1",
        "4.0",
        "1e0",
        "0.5",
        "\u0663",
        "\uff13",
        "\u00b2",
        "\u2163",
        "9" * 30,
    ),
    *(
        " ",
        "\n",
        "\r\n",
        "\t",
        "\u2028",
        "\x0b",
        "\x1c",
        "\x85",
        "\xa0",
        "\u200b",
        "\ufeff",
        "\x00",
        "\u202e",
        "\ud800",
    ),
    *(
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "<",
        ">",
        "(",
        ")",
        "|",
        ":",
        ",",
        '"',
        "'",
        "\\",
        "*",
        "**",
        "`",
        "```",
        "-",
        "> ",
        "# ",
    ),
    *(
        "score",
        "Score: ",
        "\u017fcore",
        " | score: [",
        "1 | score: [5]\n",
        "\n2 | score: [2]",
        "3 | score: [1] [2]",
        "Weight 3",
    ),
    *("<A>", "<A><B>", "<A><C> | score: [5]", "<D>", "criterion 2 ", "no. 3", "/5", " of ", " or 4"),
    *(
        '"n": 1',
        '"n": true',
        '"score": 5',
        '"score": "4"',
        '{"n": 2, "score": 2}',
        '{"scores": []}',
        '"scores": [',
        "NaN",
        "null",
    ),
    *(
        '"weight": 4',
        '"weight": 0',
        '"question": ""',
        '"ground_truth": "x"',
        '"anchor": ',
        '"box": [0, 0, 1, 1]',
        '"image": 2',
    ),
    *(
        "[[same]]",
        "[[different]]",
        "[[A>B]]",
        "Final Verdict is: [[B>>A]]",
        "Response A Visual Factuality Score: 7/10\nResponse B Visual Factuality Score: 7/10",
        "[[7]]",
        "[[7/10]]",
        "[[8.5]]",
        "[[.5]]",
        '"verdict": "same"',
        '"verdict": "equal"',
        "\\u0073",
    ),
    *(
        "<think>",
        "</think>",
        "<thinking>",
        "</thinking>",
        "<reasoning>",
        "</reasoning>",
        "<answer>",
        "</answer>",
        "<answer/>",
    ),
    *(
        "~~",
        "~~~\n",
        "```\n",
        "<!--",
        "-->",
        "<draft>",
        "</draft>",
        "<del>",
        "</del>",
        "\n> ",
        "</s>",
        "not ",
        "perhaps ",
        "un",
    ),
    *(
        "/10",
        "/100",
        " out of 10",
        ".5",
        "-4",
        "?",
        " -> 2",
        ", on reflection 2",
        "\nCorrection: 1 | score: [2]",
        "\nDone.",
    ),
    *(
        "Final answer: ",
        "final answer is: 3",
        "I can't help with",
        "and so on",
        "\u00e9",
        "\U0001f426",
        "e\u0301",
        "\u0130",
    ),
    *(
        "[[1 > 2 > 3]]",
        "Ranking: [[3 = 1 > 2]]",
        "\nRanking: [[2 > 3 = 1]]\n",
        " = 2",
        "Ranking: ",
        "seeing | score: [4]",
        '"criterion": ',
        "\nsaying | score: [2]\ntone | score: [5]",
    ),
    *(
        "overall | score: [7]",
        "\nclarity | better: [B]",
        "clarity",
        '"overall": 4',
        '"scores": {',
        "[tie]",
        "Words: ",
        "[[yes]]",
    ),
)
"""What the grammars are made of, and what only looks like it."""

MOST_EDITS = 3
MOST_PIECES = 14


class Dice:
    """Numbers below a bound, one after the other, from the bytes that hypothesis draws; zeros are the plainest text."""

    def __init__(self, drawn: bytes) -> None:
        self._rest = iter(drawn)

    def below(self, bound: int) -> int:
        """Return the next number from 0 to `bound` - 1; 0 when the bytes are used up."""
        return (next(self._rest, 0) * 256 + next(self._rest, 0)) % bound


def near(replies: tuple[str, ...], dice: Dice) -> str:
    """Return one of the replies after up to three edits."""
    text = replies[dice.below(len(replies))]
    for _ in range(dice.below(MOST_EDITS + 1)):
        edit, piece = EDITS[dice.below(len(EDITS))], PIECES[dice.below(len(PIECES))]
        start, end = sorted((dice.below(len(text) + 1), dice.below(len(text) + 1)))
        text = edit(text, start, end, piece)
    return text


EDITS: tuple[Callable[[str, int, int, str], str], ...] = (
    lambda text, start, end, piece: text[:start] + piece + text[start:],
    lambda text, start, end, piece: text[:start] + piece + text[start + 1 :],
    lambda text, start, end, piece: text[:start] + text[start + 1 :],
    lambda text, start, end, piece: text[:start] + text[end:],
    lambda text, start, end, piece: text[:end] + text[start:],
    lambda text, start, end, piece: text[:start] + piece + text[end:],
    lambda text, start, end, piece: text[:start],
    lambda text, start, end, piece: text[start:end] + piece + text,
    lambda text, start, end, piece: text[:start] + text[start:end].swapcase() + text[end:],
    lambda text, start, end, piece: text.replace(text[start : start + 1] or piece, piece),
)
"""Insert, replace, leave out, double, cut off, move to the front, change the case, or change a sign everywhere."""


def two(dice: Dice) -> str:
    """Return two edited replies of any forms, one after the other."""
    return near(_EVERY, dice) + "\n" + near(_EVERY, dice)


def pieces(dice: Dice) -> str:
    """Return pieces in a row or line by line, more often few than many."""
    many = dice.below(1 + dice.below(MOST_PIECES + 1))
    return ("", "\n")[dice.below(2)].join(PIECES[dice.below(len(PIECES))] for _ in range(many))


_EVERY = tuple(one for replies in REPLIES.values() for one in replies)
_MAKERS: dict[str, Callable[[Dice], str]] = {
    **{name: partial(near, replies) for name, replies in REPLIES.items()},
    "two replies": two,
    "grammar": pieces,
}


def _texts(make: Callable[[Dice], str]) -> st.SearchStrategy[str]:
    return st.binary(min_size=64, max_size=64).map(lambda drawn: make(Dice(drawn)))


FAMILIES = {name: _texts(make) for name, make in _MAKERS.items()}
"""Strategies by name. Each text costs hypothesis a single draw, or a million of them would take an hour."""
