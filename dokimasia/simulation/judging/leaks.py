"""What a simulated judge finds that a text gives away: said in any order, spelt out, as a sum, or by ruling out the rest."""

import re
from collections.abc import Sequence

from dokimasia.simulation.judging.scoring import words_of

_SPELLED = re.compile(r"\b(?:\w[-. ])+\w\b")
_SUM = re.compile(r"\b(\d+) (?:plus|and|\+) (\d+)\b")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_ASKS = re.compile(
    r"(?:(?:at|in|on|from|to|by|for|of) )?(?:what|which|who|whose|where|when|how|why)\b.*\?$", re.IGNORECASE
)
_EMPHASIS = re.compile(r"\*([^*\n]+)\*")
_DENIES = re.compile(r"\b(?:none|not|neither|nor|cannot|rule out)\b")
_BACKWARDS = re.compile(r"\b(?:backwards?|revers\w+|from its end)\b")


def telling_passage(secrets: str, text: str, question: str, choices: Sequence[str]) -> str:
    """Return the first sentence of a text that gives a secret away, its last one where it takes several; else nothing."""
    said = [one.strip() for one in _SENTENCE.split(text) if one.strip()]
    alone = next((one for one in said if gives_away(secrets, one, question, choices)), "")
    return alone or (said[-1] if said and gives_away(secrets, text, question, choices) else "")


def gives_away(secrets: str, text: str, question: str, choices: Sequence[str]) -> bool:
    """Return whether a reader who has the question and the text knows one of the secrets (a line each).

    Words that question and choices have give nothing away by being used again, nor does a sentence that only asks.
    """
    text = " ".join(one for one in _SENTENCE.split(text) if not _ASKS.match(one))
    asked = words_of(" ".join((question, *choices)))
    said, low = words_of(text), text.casefold()
    run = f" {' '.join(word for word in said if word not in asked)} "
    pieces = [re.sub(r"\W", "", one) for one in _SPELLED.findall(low)]
    loud = [words for one in _EMPHASIS.findall(text) if (words := words_of(one))]
    sums = {str(int(one) + int(other)) for one, other in _SUM.findall(low)}
    for line in secrets.splitlines():
        words = words_of(line)
        if not words:
            continue
        fresh = [word for word in words if word not in asked]
        numbers = {word for word in words if word[0].isdigit()}
        stated = f" {' '.join(fresh)} " in run and {words[-1], *numbers} <= set(said)
        if fresh and (stated or set(words) <= set(said) or any(set(one) <= set(words) for one in loud)):
            return True
        if (numbers - set(words_of(question))) & {*said, *sums}:
            return True
        for word in {one for one in words if len(one) > 1}:
            turned = word[::-1] in said and word[::-1] != word and _BACKWARDS.search(low)
            if turned or any(word in piece for piece in pieces):
                return True
        if _left_over(line, low, choices):
            return True
    return False


def _left_over(secret: str, text: str, choices: Sequence[str]) -> bool:
    """Whether a text denies all choices but the one that is the secret."""
    unnamed = [choice for choice in choices if choice.casefold() not in text]
    right = len(unnamed) == 1 and words_of(unnamed[0]) == words_of(secret)
    return right and len(choices) > 1 and _DENIES.search(text) is not None
