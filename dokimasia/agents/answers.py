"""How much of an answer a judge is shown: all, or beginning and end, which the prompt says and the judgement keeps."""

FIRST, LAST = 80_000, 20_000
"""Characters of a longer answer that are shown, from its beginning and from its end, where the final answer stands."""


def answer_inputs(name: str, text: str) -> dict[str, str]:
    """Return the inputs of a prompt on one answer: its text, and what is shown of it where it is too long."""
    if len(text) <= FIRST + LAST:
        return {name: text}
    return {name: f"{text[:FIRST]}\n[...]\n{text[-LAST:]}", "part": f"{_part(text)}; [...] stands for what is left out"}


def image_if(shown: object) -> tuple[str, ...]:
    """Return what is kept of the image among what a prompt shows: nothing, unless it is shown."""
    return ("image",) if shown else ()


def shown_as(name: str, text: str) -> str:
    """Return what is kept beside a judgement of what its judge was shown of an answer."""
    return name if len(text) <= FIRST + LAST else f"{name}: {_part(text)}"


def _part(text: str) -> str:
    return f"the first {FIRST} and the last {LAST} of {len(text)} characters"
