"""The difference of two texts as one text: removed and added words, marked by colour and by signs."""

from collections.abc import Iterable, Sequence

from dokimasia.report.blocks import Span

REMOVED, ADDED = ("[-", "-]"), ("{+", "+}")
"""Signs around removed and added words, for readers without colour."""

AROUND = 8
"""The number of words kept on either side of a difference when long equal passages are shortened."""


def difference(pieces: Iterable[Sequence[str]], *, whole: bool = True) -> tuple[str | Span, ...]:
    """Return a word-level difference as a cell: equal words unchanged, removed and added ones in signs and colour.

    Args:
        pieces: kind (`same`, `removed` or `added`) and text of each part, in order.
        whole: whether to show long equal passages; otherwise only a few words next to each difference are kept.
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
