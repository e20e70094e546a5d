"""Non-answers such as `I don't know`, and references that may mean the same."""

import re
from collections.abc import Sequence

from dokimasia.algorithms.text.closed import LONGEST, plain_answer
from dokimasia.algorithms.text.words import FUNCTION_WORDS, word_set, words

_CANNOT = r"(?:cannot|can't|can not|could not|couldn't|am unable to|am not able to|'m unable to|'m not able to)"
_KNOW = r"(?:tell|say|determine|know|answer|identify)"
_FOUND = r"(?:determined|told|known|said|answered|identified)"
_NO_ANSWER = re.compile(
    r"(?:(?:i am |i'm )?sorry,? (?:but )?)?"
    r"(?:"
    rf"(?:i|we)\s?(?:(?:don't|do not) (?:really )?know|(?:am|'m|are) (?:not|un)\s?sure|{_CANNOT} {_KNOW}|have no idea)"
    rf"|(?:it|this|that) (?:cannot|can't|can not|could not) be {_FOUND}"
    r"|(?:it is |it's |it isn't |that is )?(?:not possible|impossible|possible) to (?:tell|say|determine|know|answer|identify)"
    r"|(?:it is |it's )?hard to (?:tell|say)"
    rf"|(?:cannot|can't|can not|unable to|not able to) (?:be {_FOUND}|{_KNOW})"
    r"|(?:don't|do not) know|no idea|idk|not sure|unsure|(?:it is |it's )?(?:unknown|unclear|undeterminable|indeterminate)"
    r"|(?:there is )?(?:not enough|insufficient) information(?: (?:is )?(?:given|provided|available))?|n/a"
    r")"
    r"(?P<tail> (?:from|based on|based upon|whether|if|what|which|who|how|where|when|why|the|that|with|in|given|of|without)\b.*)?"
)
_BESIDE = word_set("image picture photo photograph information given provided available based upon alone i")
_MAYBE_NONE = re.compile(
    r"\b(?:not?|nor|none|nothing|nobody|nowhere|neither|never|un\w+|in(?:visible|sufficient|determinate|conclusive)|impossible|"
    r"possible|possibly|can|cannot|could|tell|know|known|knows|determined?|sure|clear|certain|information|enough|available|given|"
    r"mentioned|specified|stated|provided|visible|hidden|obscured|missing|absent|blank|empty|illegible|n/a|na|\w+n't|"
    r"ambiguous|anonymous|question|unsure|idk|any|all)\b|\?"
)
_ASKS_WHETHER_ONE_KNOWS = re.compile(
    r"\b(?:can|could|know|known|tell|determined?|sure|possible|able|clear|certain|see|visible)\b"
)


def gives_no_answer(text: str, question: str = "") -> bool:
    """Return whether a text states that it gives no answer, and nothing else except words of the question.

    Examples
    --------
    >>> gives_no_answer("I don't know."), gives_no_answer("Unable to determine from the image")
    (True, True)
    >>> gives_no_answer("I don't know, maybe 3"), gives_no_answer("I cannot tell which bus it is", "Which bus is it?")
    (False, True)
    """
    plain = plain_answer(text)
    match = _NO_ANSWER.fullmatch(plain) if len(text) <= LONGEST else None
    if match is None or plain.endswith("?"):
        return False
    if "unclear" in plain and "clear" in question.casefold():
        return False
    if "possible to" in plain and not re.search(r"\b(?:not|impossible)\b|n't\b", plain):
        return False
    tail = match["tail"] or ""
    if re.search(r"[.,;:!?\n]|\bbut\b|\bexcept\b", tail):
        return False
    allowed = _BESIDE.union(FUNCTION_WORDS, words(question))
    return allowed.issuperset(words(tail))


def is_surely_answered(reference: str, choices: Sequence[str] = (), question: str = "") -> bool:
    """Return whether neither a reference nor an option may mean "no answer", so that giving no answer is wrong.

    Examples
    --------
    >>> is_surely_answered("red"), is_surely_answered("cannot be determined"), is_surely_answered("red", ["red", "unknown"])
    (True, False, False)
    >>> is_surely_answered("no", question="Is it open?"), is_surely_answered("no", question="Can text see what it is?")
    (True, False)
    """
    texts = [plain_answer(text) for text in (reference, *choices)]
    if any(text == "no" for text in texts):
        if not question or _ASKS_WHETHER_ONE_KNOWS.search(question.casefold()):
            return False
        texts = [text for text in texts if text != "no"]
    return not any(_MAYBE_NONE.search(text) for text in texts)
