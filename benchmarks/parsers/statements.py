"""Replies made by a grammar that knows what each of them states: verdicts, factuality scores and ratings, and what is nearly one.

A reply is analysis, something hidden, and statements. Each piece is drawn with what it does to the meaning: it leaves it,
or spoils it. So what a careful reader takes from the reply is known before any parser sees it. A share of the replies is
edited afterwards; of these only what stands in them is known.
"""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

Stated = float | tuple[float, float] | None
"""What a reply states: a value, or nothing that may be read."""

EDITED = 0.3
"""The share of replies that are edited after they were made."""


class Made(NamedTuple):
    """A reply, what it states, and whether that is known: an edited reply may have come to state something else."""

    text: str
    stated: Stated
    known: bool


ANALYSIS = (
    "Assistant A is vivid, and close to the image.\n",
    "Both name the harbour. On colour A > B, on wit B > A.\n\n",
    "1. Sky: 2.5 of 2.5 points.\n2. Boat: 1 of 2.5 points.\n",
    "Response B misses the sign (score: 3/5 for that aspect).\n",
    "It quotes [[the guide]] at length.\n\n",
    "### Assistant B Evaluation\nIt is short, and does what was asked.\n",
    "A is better than B in 7 of 10 respects.\n\n",
)
PLAIN_LEADS = {
    "verdict": (
        "Final Verdict is: ",
        "**Final Verdict is:** ",
        "Verdict: ",
        "",
        "final verdict is\n\n",
        "The final verdict: ",
    ),
    "scores": ("", "- ", "**", "Final scores:\n\n", "1. ", "The scores are:\n"),
    "rating": ("Rating: ", "**Rating:** ", "", "I would rate it as a ", "My overall rating is "),
}
SPOILING_LEADS = (
    "not ",
    "It is not ",
    "perhaps ",
    "If length counts:\n",
    "The response asks for this: ",
    "never ",
    "It says ",
    "Neither ",
    "wrong would be ",
)
PLAIN_TAILS = ("", ".", "\n", "**", "\n\n", " ", ".\n")
SPOILING_TAILS = (
    "?",
    ", or perhaps not",
    " -> the other",
    "\nCorrection: the other one.",
    " if the sky counts",
    "\nOn reflection, no.",
    " (50 %)",
    "\n<think>or",
    "-1",
    ",5",
    " or 3",
    "\nCorrection: 2",
    "%",
)
NUMBER_TAILS = (
    ",5/10",
    "/100",
    " - 9/10",
    "-9",
    " to 9",
    "/5",
    "\u00bd",
    " or 8",
    "%",
    "e1",
    "/10 - 9/10",
    "\u066b5",
    "\u00b1 1",
)
HIDING = (
    "<think>{}</think>\n",
    "<!-- {} -->\n",
    "<draft>\n{}\n</draft>\n",
    "> {}\n\nSo it stands in the response.\n",
    "```\n{}\n```\nSo it stands in the response.\n",
    "~~{}~~\n",
    "<<<RESPONSE 4f0c9a1be2d37785>>>\n{}\n<<<END RESPONSE 4f0c9a1be2d37785>>>\n",
    "<scratchpad>{}</scratchpad>",
)
SIGNS = {2: ("A>>B", "B<<A"), 1: ("A>B", "B<A"), 0: ("A=B", "B=A"), -1: ("B>A", "A<B"), -2: ("B>>A", "A<<B")}
NO_VERDICTS = (
    *("[[C>A]]", "[[A>>C]]", "[[A>A]]", "[[B=B]]", "[[A>>>B]]", "[[A>=B]]", "[[A]]", "[[Tie]]", "[[1>2]]", "[[A-B]]"),
    *(
        "[A>B]",
        "A>>B",
        "[[VERDICT]]",
        "$ERROR$",
        "[[A>B>A]]",
        "[[A<>B]]",
        "[[A>B",
        "(A>B)",
        "[[]]",
        "[[AB]]",
        "[[A \u2265 B]]",
    ),
)
NO_NUMBERS = (
    "11",
    "10.5",
    "-1",
    "eight",
    "X",
    "",
    "1e1",
    "~8",
    "about 8",
    "\u0668",
    "+",
    "10.01",
    "100",
    "nan",
    "\u221e",
    "8..5",
)
NOISE = (
    *(
        "[",
        "]",
        "[[",
        "]]",
        ">",
        "<",
        "=",
        "A",
        "B",
        "/10",
        "1",
        "0",
        ".",
        ",",
        "-",
        "5",
        " ",
        "\n",
        "~~",
        "`",
        "**",
        "|",
    ),
    *(
        "not ",
        "<think>",
        "</think>",
        "```\n",
        "\n> ",
        "<!--",
        "-->",
        "[[A>B]]",
        "[[7]]",
        "[[B>>A]]",
        "&gt;",
        "\u226b",
        "</s>",
    ),
    *(
        "Response A Visual Factuality Score: 3/10\n",
        "Score: ",
        "Factuality ",
        "Response ",
        "\u200b",
        "\u2028",
        "\ud800",
        "?",
    ),
)


def pick(dice: random.Random, choices: Sequence[str]) -> str:
    """Return one of the texts."""
    return choices[int(dice.random() * len(choices))]


def number(dice: random.Random, low: int, high: int) -> tuple[str, float]:
    """Return a number from `low` to `high` as it may be written, and its value."""
    value: float = dice.randint(low, high)
    if value < high and dice.random() < 0.4:
        value = float(f"{value}.{dice.randint(1, 99):02}")
    return f"{value:g}" + (".0" if value % 1 == 0 and dice.random() < 0.1 else ""), value


def verdict(dice: random.Random) -> tuple[str, Stated]:
    """Return a verdict in double brackets, or what is none, and what it states."""
    if dice.random() < 0.15:
        return pick(dice, NO_VERDICTS), None
    value = dice.randint(-2, 2)
    written = pick(dice, SIGNS[value])
    if dice.random() < 0.1:
        written = written.replace(">", "&gt;").replace("<", "&lt;")
    if dice.random() < 0.1:
        written = written.replace(">>", "\u226b").replace("<<", "\u226a")
    if dice.random() < 0.15:
        written = written.replace("&gt;", ">").replace("&lt;", "<").lower()
    space = " " if dice.random() < 0.1 else ""
    return f"[[{space}{written}{space}]]", float(value)


def rating(dice: random.Random) -> tuple[str, Stated]:
    """Return a rating in double brackets, or what is none, and what it states."""
    if dice.random() < 0.15:
        return f"[[{pick(dice, NO_NUMBERS)}]]", None
    written, value = number(dice, 1, 10)
    if dice.random() < 0.1:
        return f"[[{written}]]{pick(dice, NUMBER_TAILS)}", None
    return f"[[{written}]]{'/10' if dice.random() < 0.2 else ''}", value


def score_line(dice: random.Random, name: str) -> tuple[str, Stated]:
    """Return the line of a response's factuality score, or one that is nearly that, and what it states."""
    who = pick(dice, ("Response", "Response", "Assistant"))
    what = pick(
        dice,
        (
            "Visual Factuality Score: ",
            "Visual Factuality Score: ",
            "visual factuality score is ",
            "Factuality Score = ",
        ),
    )
    if dice.random() < 0.04:
        what = pick(
            dice, ("Score: ", "Visual Factuality: ", "Visual Factuality Score ", "Alignment Score: ", "total: ")
        )
        return f"{who} {name} {what}{number(dice, 0, 10)[0]}/10", None
    if dice.random() < 0.07:
        return f"{who} {name} {what}{pick(dice, NO_NUMBERS)}", None
    written, value = number(dice, 0, 10)
    if dice.random() < 0.07:
        return f"{who} {name} {what}{written}{pick(dice, NUMBER_TAILS)}", None
    return f"{who} {name} {what}{written}{pick(dice, ('/10', '/10', '', ' / 10', ' out of 10'))}", value


def scores(dice: random.Random) -> tuple[str, Stated]:
    """Return both lines, or less, or others, and what they state."""
    (first, a), (second, b) = score_line(dice, "A"), score_line(dice, "B")
    between = "\n\n" if dice.random() < 0.5 else "\n"
    chance = dice.random()
    if chance < 0.04:
        return pick(dice, (first, second)), None
    if chance < 0.08:
        return between.join((first, second, score_line(dice, pick(dice, ("C", "1", "D")))[0])), None
    if chance < 0.12:
        return f"{first}\n{pick(dice, ANALYSIS)}{second}", None
    lines = (second, first) if chance < 0.3 else (first, second)
    return between.join(lines), None if a is None or b is None else (float(str(a)), float(str(b)))


KINDS: dict[str, Callable[[random.Random], tuple[str, Stated]]] = {
    "verdict": verdict,
    "scores": scores,
    "rating": rating,
}


def reply(kind: str, dice: random.Random) -> Made:
    """Return a reply of one kind; the same dice give the same."""
    written, stated = KINDS[kind](dice)
    text = "".join(pick(dice, ANALYSIS) for _ in range(int(dice.random() * 3)))
    text = text if not text or text.endswith("\n") else text + "\n"
    if dice.random() < 0.25:
        text += pick(dice, HIDING).format(KINDS[kind](dice)[0].replace("\n", " "))
        text = text if text.endswith("\n") else text + "\n"
    known = dice.random() >= EDITED
    if dice.random() < 0.12:
        other, meant = KINDS[kind](dice)
        text += pick(dice, PLAIN_LEADS[kind]) + other + "\n"
        known = known and None not in (meant, stated)  # what is no statement may be overlooked where there is one
        stated = stated if meant == stated else None
    if dice.random() < 0.15:
        text, stated = text + pick(dice, SPOILING_LEADS), None
    else:
        text += pick(dice, PLAIN_LEADS[kind])
    text += written
    if dice.random() < 0.2:
        text, stated = text + pick(dice, SPOILING_TAILS), None
    else:
        text += pick(dice, PLAIN_TAILS)
    for _ in range(0 if known else dice.randint(1, 3)):
        text = _edited(text, dice)
    return Made(text, stated, known)


def _edited(text: str, dice: random.Random) -> str:
    start, end = sorted((dice.randint(0, len(text)), dice.randint(0, len(text))))
    chance = dice.random()
    if chance < 0.5:
        return text[:start] + pick(dice, NOISE) + text[start:]
    if chance < 0.7:
        return text[:start] + text[start + 1 :]
    if chance < 0.8:
        return text[:start] + pick(dice, NOISE) + text[start + 1 :]
    if chance < 0.9:
        return text[:start] + text[end:]
    return text[:end] + text[start:]
