"""Padding of a text by rule: sentences that lengthen it without content."""

SENTENCES = (
    "What follows is an answer to the request above, written in plain sentences.",
    "A request of this kind can be answered in more than one way, and in fewer words or in more.",
    "Whoever looks at an image takes in many things at once, while sentences can only name them one after another.",
    "So an answer has to begin somewhere, and it can begin with what catches the eye or with what was asked for.",
    "Either order can be read without trouble, and neither of the two says more than the other.",
    "The same holds of the words that are chosen, since many things have more than one name.",
)
"""Sentences that are true of any answer and neither describe an image nor assess an answer."""


def padded(text: str) -> str:
    """Return a text preceded by empty sentences: as many words as the text if available, and at least two sentences.

    They come first, so that a final answer on a separate last line stays the last line.

    Examples
    --------
    >>> padded("Three.") == f"{SENTENCES[0]} {SENTENCES[1]}\\n\\nThree."
    True
    """
    target, count, chosen = len(text.split()), 0, list[str]()
    for sentence in SENTENCES:
        if len(chosen) > 1 and count >= target:
            break
        chosen.append(sentence)
        count += len(sentence.split())
    return f"{' '.join(chosen)}\n\n{text}"
