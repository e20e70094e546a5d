"""How much of an answer a judge sees: all of it, or beginning and end, as stated in the prompt and the judgement."""

FIRST, LAST = 80_000, 20_000
"""Numbers of characters shown from the beginning and the end of a longer answer, where the final answer is."""


def answer_inputs(name: str, text: str) -> dict[str, str]:
    """Return a prompt's inputs for one answer: its text, and the shown part if it is too long."""
    if len(text) <= FIRST + LAST:
        return {name: text}
    return {name: f"{text[:FIRST]}\n[...]\n{text[-LAST:]}", "part": f"{_part(text)}; [...] stands for what is left out"}


def image_if(shown: object) -> tuple[str, ...]:
    """Return the entry for the image in the record of what a prompt shows; empty unless the image is shown."""
    return ("image",) if shown else ()


def shown_as(name: str, text: str) -> str:
    """Return the record, stored with a judgement, of what its judge saw of an answer."""
    if len(text) <= FIRST + LAST:
        return name
    return f"{name}: {_part(text)}"


def _part(text: str) -> str:
    return f"the first {FIRST} and the last {LAST} of {len(text)} characters"
