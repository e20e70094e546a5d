"""The report as one Markdown document: the sections of the page, with tables instead of charts."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from dokimasia.report.blocks import (
    Block,
    Browser,
    Bullets,
    Cell,
    Chart,
    Facts,
    Fold,
    Image,
    Only,
    Paragraph,
    Span,
    Table,
    Texts,
    captioned,
    spans,
)
from dokimasia.report.browser import most_text, sample_views
from dokimasia.report.data import SIMULATED_NOTE, Clip, ReportData
from dokimasia.report.footnotes import noted, shortened
from dokimasia.report.sample_view import SampleView
from dokimasia.report.sections import sections_of

_SPECIAL = re.compile(r"[\\`*_\[\]<>|~$@]|&(?=[#A-Za-z])|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)
_AT_START = re.compile(r"^([#+=-]|\d+(?=[.)]))")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]+")
_TICKS = re.compile(r"`+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def render_document(data: ReportData) -> str:
    """Return the report as Markdown; equal data give equal bytes. Its first line states if models are simulated."""
    lines: list[str] = []
    if data.simulated:
        lines += [f"> {SIMULATED_NOTE} ({inline(', '.join(data.simulated))})", ""]
    lines += [f"# Dokimasia: {inline(data.facts.data_name)}", ""]
    for section in sections_of(data):
        lines += [f"## {inline(section.title)}", "", *markdown_lines(section.blocks, data)]
    return "\n".join(lines).rstrip() + "\n"


def inline(text: str) -> str:
    """Return text escaped for use within a line of Markdown, with whitespace collapsed."""
    return _SPECIAL.sub(r"\\\g<0>", _SPACE.sub(" ", text).strip())


def opening(line: str) -> str:
    """Return a line of inline Markdown, escaped so that it does not begin a heading, list or rule."""
    return _AT_START.sub(_start, line)


def _start(match: re.Match[str]) -> str:
    """Escape the beginning of a heading, a list or a rule; for a numbered list, the mark after the number."""
    if match[1].isdigit():
        return f"{match[1]}\\"
    return f"\\{match[1]}"


def fenced(text: str) -> str:
    """Return text as a fenced code block; the fence is longer than any in the text, so that nothing in it is markup."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{_CONTROL.sub(chr(0xFFFD), text)}\n{fence}"


def markdown_lines(blocks: Sequence[Block], data: ReportData | None = None) -> Iterator[str]:
    """Yield the lines of blocks as Markdown, with an empty line after each block.

    `data` has the samples of a browser; without it a browser shows none.
    """
    for block, titled in captioned("page", blocks):
        match block:
            case Paragraph(text, kind):
                yield f"**{_cell(text)}**" if kind == "warning" else opening(_cell(text))
            case Table():
                marked, notes = noted(block)
                yield from (f"**{inline(block.about)}**", "") if titled else ()
                yield _table(marked)
                yield from (line for note in notes for line in ("", opening(inline(note))))
            case Facts(rows):
                yield "\n".join(f"- {inline(name)}: {_cell(value)}" for name, value in rows)
            case Bullets(items, warning):
                yield from (f"**{inline(warning)}**", "") if warning else ()
                yield "\n".join(f"- {opening(_cell(item))}" for item in items)
            case Chart() | Only():
                continue
            case Fold(title, inner, _):
                yield f"### {inline(title)}"
                yield ""
                yield from markdown_lines(inner, data)
                continue
            case Image(_, about):
                yield opening(inline(about))
            case Texts(items):
                for title, text in items:
                    yield from (f"{opening(_cell(title))}:", "", fenced(text), "")
                continue
            case Browser(note):
                yield opening(inline(note))
                yield ""
                if data is None:
                    continue
                views = sample_views(data)
                most = most_text(views)
                for fields, view in zip(data.samples, views, strict=True):
                    yield from _sample(fields, view, data, most)
                continue
        yield ""


def _table(table: Table) -> str:
    meanings = [f"{column.title}: {column.meaning}" for column in table.columns if column.meaning]
    head = "| " + " | ".join(inline(column.title) for column in table.columns) + " |"
    rule = "|" + "|".join(" ---: " if column.numeric else " --- " for column in table.columns) + "|"
    rows = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    about = [f"*{inline('; '.join(meanings))}.*", ""] if meanings else []
    return "\n".join([*about, head, rule, *rows])


def _cell(cell: Cell) -> str:
    return "".join(_piece(piece) for piece in spans(cell)).strip()


def _piece(piece: str | Span) -> str:
    text = shortened(piece if isinstance(piece, str) else piece.text)
    lead = " " if text[:1].isspace() else ""
    trail = " " if text[-1:].isspace() and text.strip() else ""
    escaped = inline(text)
    if isinstance(piece, Span) and piece.tone == "strong" and escaped:
        escaped = f"**{escaped}**"
    if isinstance(piece, Span) and piece.tone == "cited" and escaped:
        escaped = f"*{escaped}*"
    return f"{lead}{escaped}{trail}"


def _sample(fields: Mapping[str, JsonValue], view: SampleView, data: ReportData, most: int) -> Iterator[str]:
    sample = view.sample
    clip = Clip(data.facts.run, sample.id, most)
    labels = [*([sample.category] if sample.category else []), *view.failures]
    yield f"### {opening(inline(sample.id))}" + (f" ({inline(', '.join(labels))})" if labels else "")
    yield ""
    if data.drawing.sample is not None:
        yield from markdown_lines(list(data.drawing.sample([fields], lambda text: _clipped(text, clip))), data)


def _clipped(text: str, clip: Clip) -> str:
    visible, omitted = clip.cut(text)
    if omitted:
        return f"{visible}\n{omitted}"
    return visible
