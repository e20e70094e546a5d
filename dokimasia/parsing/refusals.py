"""Detection of refusals by their opening words, used to flag and to classify failures, never to score."""

import re

_OPENING = re.compile(
    r"^\W*(?:i(?:'|’)?m (?:very |truly |really )?sorry\b.{0,80}\b(?:can(?:'|’)?t|cannot|unable|not able|won(?:'|’)?t)\b"
    r"|sorry,? (?:but )?i (?:can(?:'|’)?t|cannot|am unable|am not able|won(?:'|’)?t)\b"
    r"|i (?:can(?:'|’)?t|cannot|won(?:'|’)?t|must decline to|am not able to|am unable to|(?:'|’)?m (?:unable|not able) to)"
    r" (?:help|assist|comply|answer|provide|fulfil|discuss|do that|continue|engage|identify|process|analy[sz]e)"
    r"|i(?:'|’)m (?:unable|not able) to (?:help|assist|comply|answer|provide|identify|process|analy[sz]e|discuss)"
    r"|i (?:must|have to) (?:decline|refuse))",
    re.IGNORECASE | re.DOTALL,
)
_HEAD = 300


def looks_like_refusal(text: str) -> bool:
    """Return whether a text opens like a refusal. Only its first 300 characters are read."""
    return _OPENING.match(text.strip()[:_HEAD]) is not None
