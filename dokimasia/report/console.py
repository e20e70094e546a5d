"""The console that everything for people is printed on: no text on it controls the terminal."""

from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Span, Text

from dokimasia.log import printable


class PrintableConsole(Console):
    """A Rich console on which control characters in a text stand as their escapes, wherever the text comes from.

    Escaped is what becomes text (`render_str`) and texts that were made elsewhere, before they are laid out; and once
    more each piece that is written, so that nothing passes by another way.
    """

    def render_str(self, text: str, **how: Any) -> Text:
        """Make a text of a string, as Rich does."""
        return super().render_str(printable(text), **how)

    def out(self, *objects: Any, **how: Any) -> None:
        """Write texts without wrapping, as Rich does."""
        super().out(*(printable(str(value)) for value in objects), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Any:
        """Yield the pieces of anything that can be drawn, as Rich does."""
        if isinstance(renderable, Text):
            renderable = _escaped(renderable)
        for piece in super().render(renderable, options):
            text = piece.text if piece.control else printable(piece.text)
            yield piece if text == piece.text else Segment(text, piece.style, piece.control)


def _escaped(text: Text) -> Text:
    """Return the text with its control characters escaped, its styles where they were."""
    if printable(text.plain) == text.plain:
        return text
    escaped = text.blank_copy()
    for piece in text.divide([at for at, letter in enumerate(text.plain) if printable(letter) != letter]):
        opening = printable(piece.plain[:1])
        spans = [Span(0, len(opening), span.style) for span in piece[:1].spans]
        escaped.append_text(Text(opening, spans=spans)).append_text(piece[1:])
    return escaped
