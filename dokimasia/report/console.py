"""The console for all output to people: control characters in text are escaped, so that none reaches the terminal."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Span, Text

from dokimasia.log import printable


class PrintableConsole(Console):
    """A Rich console that escapes control characters in every text.

    Strings are escaped when they become text (`render_str`), ready-made texts before layout, and every segment again
    when it is written.
    """

    def render_str(self, text: str, **how: Any) -> Text:
        """Return a string as text, like Rich."""
        return super().render_str(printable(text), **how)

    def out(
        self,
        *objects: object,
        sep: str = " ",
        end: str = "\n",
        style: str | Style | None = None,
        highlight: bool | None = None,
    ) -> None:
        """Write texts without wrapping, like Rich."""
        texts = (printable(str(value)) for value in objects)
        super().out(*texts, sep=sep, end=end, style=style, highlight=highlight)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable, like Rich."""
        if isinstance(renderable, Text):
            renderable = _escaped(renderable)
        for piece in super().render(renderable, options):
            text = piece.text if piece.control else printable(piece.text)
            yield piece if text == piece.text else Segment(text, piece.style, piece.control)


def _escaped(text: Text) -> Text:
    """Return a text with control characters escaped; styles keep their places."""
    if printable(text.plain) == text.plain:
        return text
    escaped = text.blank_copy()
    for piece in text.divide([index for index, letter in enumerate(text.plain) if printable(letter) != letter]):
        opening = printable(piece.plain[:1])
        spans = [Span(0, len(opening), span.style) for span in piece[:1].spans]
        escaped.append_text(Text(opening, spans=spans)).append_text(piece[1:])
    return escaped
