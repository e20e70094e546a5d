"""Blocks as HTML; all text of a page is escaped here."""

import html
import re
from collections.abc import Callable, Iterator, Sequence

from dokimasia.report.blocks import (
    Block,
    Browser,
    Bullets,
    Cell,
    Chart,
    Column,
    Facts,
    Fold,
    Image,
    Only,
    Paragraph,
    Section,
    Span,
    Table,
    Texts,
    captioned,
    spans,
)
from dokimasia.report.footnotes import noted, shortened
from dokimasia.report.prose import with_source

HEAT_STEPS = 8
DENSE = 12
"""Tables with more columns are drawn with less space."""

WIDTH = 1000
"""Width of every picture with regions in its own coordinates, so that all lines have the same thickness."""

_CODE = re.compile(r"`([^`]+)`")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


_BEFORE_PERCENT = re.compile(r"(?<=\d) (?=%)")


def escape(text: str) -> str:
    """Return text escaped for an element or a quoted attribute.

    Control characters other than tab and line feed, which HTML does not allow, become the replacement character.
    """
    return html.escape(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text), quote=True)


def draw_cell(cell: Cell) -> str:
    """Return a cell as HTML; figures carry their JSON pointer and their value as data attributes."""
    markup = "".join(escape(piece) if isinstance(piece, str) else _span(piece) for piece in spans(cell))
    markup = _BEFORE_PERCENT.sub("\N{NO-BREAK SPACE}", markup)
    return shortened(markup, lambda short, details: f'<abbr title="{details}">{short}</abbr>')


def draw_sentence(cell: Cell) -> str:
    """Return a cell as HTML, with plain text between backticks as code."""
    pieces: list[str | Span] = []
    for piece in spans(cell):
        if isinstance(piece, Span):
            pieces.append(piece)
        else:
            pieces += [Span(text, "code") if place % 2 else text for place, text in enumerate(_CODE.split(piece))]
    return draw_cell(tuple(pieces))


def _span(piece: Span) -> str:
    figure = ""
    if piece.pointer:
        figure = f' data-figure="{escape(piece.pointer)}" data-value="{piece.value!r}"'
    kind = f' class="{piece.tone}"' if piece.tone else ""
    if piece.href.startswith(("#", "/runs/")):
        return f'<a href="{escape(piece.href)}"{kind}{figure}>{escape(piece.text)}</a>'
    if not figure and not piece.tone:
        return escape(piece.text)
    return f"<span{kind}{figure}>{escape(piece.text)}</span>"


def heat_class(heat: float) -> str:
    """Return the class that tints a cell: 0 (lowest) to 8 (highest)."""
    return f"heat heat-{round(min(1.0, max(0.0, heat)) * HEAT_STEPS)}"


class Charts:
    """The figures of a page, by the id of the element in which each is drawn."""

    def __init__(self) -> None:
        self.figures: dict[str, object] = {}

    def add(self, chart: Chart) -> str:
        """Add a figure, and return the HTML element in which it will be drawn."""
        id = f"chart-{len(self.figures) + 1}"
        self.figures[id] = {**chart.figure, "variants": chart.variants} if chart.variants else chart.figure
        height = int(chart.figure["layout"]["height"])
        options = "".join(f'<option value="{escape(name)}">{escape(name)}</option>' for name in chart.variants)
        pick = f'<label class="pick" hidden>{escape(chart.picks)} <select data-chart="{id}">{options}</select></label>'
        return (
            f'<figure class="chart">{pick if options else ""}<div class="plot" id="{id}" role="group" '
            f'aria-label="{escape(chart.about)}" style="height:{height}px"></div>'
            f"<figcaption>{draw_sentence(chart.about)}</figcaption></figure>"
        )


def draw_section(section: Section, charts: Charts, *, browser: Callable[[str], str]) -> str:
    """Return a section as HTML; `browser` draws the samples under a note on the selection."""
    body = "\n".join(draw_blocks(section.blocks, charts, browser=browser))
    id = escape(section.id)
    return (
        f'<section id="{id}" aria-labelledby="{id}-title">\n<h2 id="{id}-title">{escape(section.title)}</h2>\n'
        f"{body}\n</section>"
    )


def draw_blocks(blocks: Sequence[Block], charts: Charts, *, browser: Callable[[str], str]) -> Iterator[str]:
    """Yield each block of the page as HTML."""
    for block, titled in captioned("page", blocks):
        match block:
            case Paragraph(text, kind):
                yield f'<p class="{kind}">{draw_sentence(text)}</p>'
            case Table():
                marked, notes = noted(block)
                yield _table(marked, titled=titled)
                yield from (f'<p class="note">{draw_sentence(note)}</p>' for note in notes)
            case Facts(rows):
                lines = "".join(
                    f"<div><dt>{escape(name)}</dt><dd>{draw_cell(value)}</dd></div>" for name, value in rows
                )
                yield f'<dl class="facts">{lines}</dl>'
            case Bullets(items, warning):
                markup = f"<ul>{''.join(f'<li>{draw_sentence(item)}</li>' for item in items)}</ul>"
                yield f'<div class="warning">{escape(warning)}{markup}</div>' if warning else markup
            case Chart():
                yield charts.add(block)
            case Fold(title, inner, id):
                body = "\n".join(draw_blocks(inner, charts, browser=browser))
                attribute = f' id="{escape(id)}"' if id else ""
                yield f"<details{attribute}><summary>{escape(title)}</summary>\n{body}\n</details>"
            case Browser(note):
                yield browser(note)
            case Image("", about):
                yield f'<p class="note">{escape(about)}</p>'
            case Image(_, _, [_, *_]):
                yield _with_regions(block)
            case Image(uri, about):
                yield f'<figure class="shown"><img src="{escape(uri)}" alt="{escape(about)}"></figure>'
            case Texts(items, prose=prose):
                cards = "".join(
                    f'<div class="answer"><p>{draw_cell(title)}</p>{_text(text, prose=prose)}</div>'
                    for title, text in items
                )
                yield f'<div class="answers">{cards}</div>'
            case Only():
                continue


def _text(text: str, *, prose: bool) -> str:
    written = f'<div class="text" dir="auto">{escape(text)}</div>'
    if prose:
        return with_source(text, written)
    return written


def _with_regions(image: Image) -> str:
    """Return a picture with regions drawn on it."""
    height = max(1, round(WIDTH * image.ratio))
    marks = "".join(
        f'<g class="mark look"><rect class="halo" {place}/><rect class="line" {place}/></g>'
        for x0, y0, x1, y1 in dict.fromkeys(image.regions)
        for place in [
            f'x="{x0 * WIDTH:.1f}" y="{y0 * height:.1f}" width="{(x1 - x0) * WIDTH:.1f}" height="{(y1 - y0) * height:.1f}" rx="4"'
        ]
    )
    return (
        f'<figure class="picture"><svg viewBox="-4 -4 {WIDTH + 8} {height + 8}" role="img" aria-label="{escape(image.about)}">'
        f'<image href="{escape(image.uri)}" width="{WIDTH}" height="{height}" preserveAspectRatio="none"/>{marks}</svg>'
        f"<figcaption>{escape(image.about)}</figcaption></figure>"
    )


def _table(table: Table, *, titled: bool) -> str:
    head = "".join(_head(column) for column in table.columns)
    lines: list[str] = []
    for row in table.rows:
        cells = [
            _data(cell, column, first=not index, sortable=table.sortable)
            for index, (cell, column) in enumerate(zip(row, table.columns, strict=True))
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    rows = "\n".join(lines)
    kinds = [*(["sortable"] if table.sortable else []), *(["dense"] if len(table.columns) > DENSE else [])]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    unseen = "" if titled else ' class="unseen"'
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(table.about)}"><table{kind}>'
        f"<caption{unseen}>{draw_sentence(table.about)}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _head(column: Column) -> str:
    kind = ' class="number"' if column.numeric else ""
    meaning = f' title="{escape(column.meaning)}"' if column.meaning else ""
    if not column.title:  # a header without text heads nothing
        return f"<td{kind}></td>"
    return f'<th scope="col"{kind}{meaning}>{escape(column.title)}</th>'


def _data(cell: Cell, column: Column, *, first: bool, sortable: bool) -> str:
    heat = next((piece.heat for piece in spans(cell) if isinstance(piece, Span) and piece.heat is not None), None)
    kinds = [*(["number"] if column.numeric else []), *([heat_class(heat)] if heat is not None else [])]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    value = next((piece.value for piece in spans(cell) if isinstance(piece, Span) and piece.value is not None), None)
    if sortable and value is not None:
        kind += f' data-sort="{value!r}"'
    inner = draw_cell(cell)
    if first and inner:
        return f'<th scope="row"{kind}>{inner}</th>'
    return f"<td{kind}>{inner}</td>"
