"""The difference of two texts as a line of text: what was taken out and what was put in, marked in colour and in signs."""

from collections.abc import Iterable, Sequence

from dokimasia.report.blocks import Span

REMOVED, ADDED = ("[-", "-]"), ("{+", "+}")
"""The signs around words that were taken out and put in, which also tell where there is no colour."""

AROUND = 8
"""Words that are kept on either side of a difference where the rest is left out."""


def difference(pieces: Iterable[Sequence[str]], *, whole: bool = True) -> tuple[str | Span, ...]:
    """Return a word-level difference as a cell: words in both texts as they are, others in signs and in colour.

    Args:
        pieces: kind (`same`, `removed` or `added`) and text of each part, in order.
        whole: whether long passages that both texts share are shown, or left out but for a few words beside a difference.
    """
    parts: list[str | Span] = []
    listed = list(pieces)
    for number, (kind, text) in enumerate(listed):
        if kind == "same":
            parts.append(text if whole else _short(text, first=number == 0, last=number == len(listed) - 1))
            continue
        (begin, end), tone = (REMOVED, "bad") if kind == "removed" else (ADDED, "good")
        words = text.rstrip()
        parts += [Span(f"{begin}{words}{end}", tone), text[len(words) :]]
    return tuple(part for part in parts if part)


def _short(text: str, *, first: bool, last: bool) -> str:
    words = text.split()
    if len(words) <= 2 * AROUND + 2:
        return text
    before = "" if first else " ".join(words[:AROUND]) + " "
    after = "" if last else " " + " ".join(words[-AROUND:]) + text[len(text.rstrip()) :]
    return f"{before}…{after}"
