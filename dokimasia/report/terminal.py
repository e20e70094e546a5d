"""Blocks on a terminal, drawn with Rich: tables fit its width, and folds show only their title."""

import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from rich import box
from rich.console import Console
from rich.rule import Rule
from rich.segment import Segment, Segments
from rich.table import Table as Grid
from rich.text import Text

from dokimasia.log import printable
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
    Tone,
    drawn_at,
    spans,
    with_texts,
)
from dokimasia.report.data import ReportData
from dokimasia.report.figures import several
from dokimasia.report.footnotes import noted, shortened
from dokimasia.report.sections import about_models, sections_of
from dokimasia.report.sections.opening import opening

STYLES: Mapping[Tone, str] = {
    "": "",
    "strong": "bold",
    "muted": "dim",
    "good": "green",
    "bad": "red",
    "higher": "green",
    "lower": "red",
    "code": "",
    "struck": "red strike",
    "cited": "cyan",
}
PARAGRAPHS = {"plain": "", "lead": "", "note": "dim", "warning": "yellow"}
UNBOUNDED = 10_000
LONG = 50_000
"""Texts with more characters are written in one piece and wrapped by the terminal; Rich takes seconds per megabyte."""
WIDEST_WORD, NARROWEST_TITLE = 24, 8
MOST_COLUMNS = 7
"""The maximum columns of a table in a terminal; tables with more are divided, or shown in part."""
_BETWEEN = re.compile(r"[^aeiou](?=[^aeiou])(?<!s(?=t))(?<![tcsp](?=h))", re.IGNORECASE)
_AFTER_VOWEL = re.compile(r"[aeiou](?=[^aeiou])", re.IGNORECASE)

Redact = Callable[[str], str]


def draw_run(
    out: Console, data: ReportData, *, redact: Redact = str, full: bool = False, models: Collection[str] = ()
) -> None:
    """Print the heading of a run, its conclusion and its first table; with `full`, all its terminal sections.

    With `models`, tables have only the rows about these.
    """
    sections = about_models(sections_of(data, "terminal"), models, data.facts.run)
    draw_blocks(out, list(opening(data, data.drawing.name)), redact=redact)
    draw_sections(out, sections if full else in_brief(sections), redact=redact)


def in_brief(sections: Sequence[Section]) -> list[Section]:
    """Return the first section with its first table, in at most `MOST_COLUMNS` columns, and the remaining contents.

    Notes are omitted, unless they name a command; of what follows the table, warnings and commands stay.
    """
    if not sections:
        return []
    first, *others = sections
    selected: list[Block] = []
    hidden: list[str] = []
    n_tables = 0
    notes = False
    for block in drawn_at("terminal", first.blocks):
        if isinstance(block, Table):
            n_tables += 1
            if n_tables == 1:
                brief = in_few_columns(block)
                selected.append(brief)
                if len(brief.columns) < len(block.columns):
                    hidden.append(several(len(block.columns) - len(brief.columns), "more column"))
        elif _is_urgent(block) or (n_tables == 0 and not (isinstance(block, Paragraph) and block.kind == "note")):
            selected.append(block)
        elif not isinstance(block, Chart | Browser | Only):
            notes = True
    if n_tables > 1:
        hidden.append(several(n_tables - 1, "more table"))
    hidden += [section.title for section in others if any(True for _ in drawn_at("terminal", section.blocks))]
    if notes:
        hidden.append("notes")
    if hidden:
        selected.append(Paragraph(f"With dokimasia show RUN --full: {'; '.join(hidden)}.", "note"))
    return [replace(first, blocks=selected)]


def _is_urgent(block: Block) -> bool:
    """Return whether a block warns, or names a command that continues from the figures."""
    if isinstance(block, Bullets):
        return bool(block.warning)
    if not isinstance(block, Paragraph):
        return False
    return block.kind == "warning" or any(
        isinstance(piece, Span) and piece.tone == "code" for piece in spans(block.text)
    )


def in_few_columns(table: Table) -> Table:
    """Return a table with at most `MOST_COLUMNS` columns: if there are more, without details, then the first ones."""
    if len(table.columns) <= MOST_COLUMNS:
        return table
    visible = [index for index, column in enumerate(table.columns) if not column.detail][:MOST_COLUMNS]
    rows = [[row[index] for index in visible] for row in table.rows]
    return replace(table, columns=[table.columns[index] for index in visible], rows=rows)


def draw_sections(out: Console, sections: Sequence[Section], *, redact: Redact = str) -> None:
    """Print sections with their titles; sections that only the page draws are left out."""
    for section in sections:
        blocks = list(drawn_at("terminal", section.blocks))
        if blocks:
            out.print()
            out.print(Text(section.title, style="bold"))
            draw_blocks(out, blocks, redact=redact)


def draw_blocks(out: Console, blocks: Sequence[Block], *, redact: Redact = str, whole: bool = False) -> None:
    """Print blocks; texts are redacted, and nothing in them is interpreted as markup or control characters.

    Args:
        out: the console.
        blocks: the blocks; charts are left out, since a neighbouring table has the same numbers.
        redact: applied to every text.
        whole: whether to draw the contents of folds.
    """
    before: Block | None = None
    for block in drawn_at("terminal", blocks):
        if isinstance(block, Table) and isinstance(before, Table):
            out.print(Text(printable(redact(block.about)), style="italic"))
        if not (isinstance(block, Paragraph) and block.kind in ("note", "warning")):
            before = block  # a note on a table precedes the title of the next one
        match block:
            case Paragraph(text, kind):
                command = any(not isinstance(piece, str) and piece.tone == "code" for piece in spans(text))
                _print(out, _text(text, redact, PARAGRAPHS[kind]), soft_wrap=command)
            case Table():
                marked, notes = noted(_redacted(block, redact))
                for table in _fitting(out, marked, range(len(block.columns))):
                    out.print(table)
                for note in notes:
                    out.print(Text(note, style="dim"))
            case Facts(rows):
                _print_beside(out, [(Text(name, style="dim"), _text(value, redact)) for name, value in rows])
            case Bullets(items, warning):
                if warning:
                    out.print(Text(printable(redact(warning)), style=PARAGRAPHS["warning"]))
                _print_beside(out, [(Text("•", style="dim"), _text(item, redact)) for item in items])
            case Fold(title, inner, _) if whole:
                out.print()
                out.print(Text(printable(redact(title)), style="bold"))
                draw_blocks(out, inner, redact=redact, whole=True)
            case Fold(title, _, _):
                line = " ".join(printable(redact(title)).split())
                out.print(Text("▸ ", style="dim").append(line, style="not dim"), no_wrap=True, overflow="ellipsis")
            case Image(_, about):
                out.print(Text(printable(redact(about)), style="dim"))
            case Texts(items, raw):
                for title, text in items:
                    out.print()
                    out.print(Rule(Text("── ", "dim").append_text(_text(title, redact)), style="dim", align="left"))
                    _print(out, Text(printable(redact(text))), soft_wrap=raw)
            case Chart() | Browser() | Only():
                continue


def _text(cell: Cell, redact: Redact, style: str = "") -> Text:
    short = with_texts(_cleaned(cell, redact), shortened)
    return Text(style=style).append_text(_cell(short, stacked=False))


def _print(out: Console, text: Text, *, soft_wrap: bool = False) -> None:
    if len(text) <= LONG:
        out.print(text, soft_wrap=soft_wrap)
    elif "\t" in text.plain:
        out.out(text.plain, highlight=False)  # which converts tabs to blanks
    else:
        out.print(Segments([Segment(f"{text.plain}\n")]), crop=False)


def _print_beside(out: Console, rows: Sequence[tuple[Text, Text]]) -> None:
    """Print rows of a name and a text; rows with a long text come last, with the text below the name."""
    out.print(_name_grid((name, text) for name, text in rows if len(text) <= LONG))
    for name, text in rows:
        if len(text) > LONG:
            out.print(name)
            _print(out, text)


def _name_grid(rows: Iterator[tuple[Text, Text]]) -> Grid:
    """Return rows of a name and a text as a grid; wrapped text is aligned with its column."""
    grid = Grid.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def _cleaned(cell: Cell, redact: Redact) -> Cell:
    return with_texts(cell, lambda text: printable(redact(text)))


def _redacted(table: Table, redact: Redact) -> Table:
    columns = [replace(column, title=printable(redact(column.title))) for column in table.columns]
    return replace(table, columns=columns, rows=[[_cleaned(cell, redact) for cell in row] for row in table.rows])


def _fits(out: Console, grid: Grid) -> bool:
    """Return whether a table has room for every cell on one line."""
    return out.measure(grid, options=out.options.update(max_width=UNBOUNDED)).maximum <= out.width


def _fitting(out: Console, table: Table, columns: Sequence[int]) -> Iterator[Grid]:
    """Yield a table of at most `MOST_COLUMNS` columns that fits the terminal, or several, all with the name columns."""
    first, second = (_grid(table, columns, stacked=stacked) for stacked in (False, True))
    few = len(columns) <= MOST_COLUMNS
    if few and _fits(out, first):
        yield first
        return
    figures = [index for index, column in enumerate(table.columns) if column.numeric and column.title]
    names = list(range(figures[0])) if figures else [0]  # the columns that identify a row, such as its number
    remaining = [index for index in columns if index not in names]
    narrow = out.measure(second, options=out.options.update(max_width=UNBOUNDED)).minimum <= out.width
    if len(remaining) < 2 or (few and narrow):
        yield second
        return
    middle = (len(remaining) + 1) // 2
    for part in (remaining[:middle], remaining[middle:]):
        yield from _fitting(out, table, [*names, *part])


def _grid(table: Table, columns: Sequence[int], *, stacked: bool) -> Grid:
    """Return a table for Rich; `stacked` places muted text below its figure, and wraps titles."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0) if stacked else (0, 1))
    cells = [[_cell(row[index], stacked=stacked) for index in columns] for row in table.rows]
    for position, index in enumerate(columns):
        column, body = table.columns[index], [line for row in cells for line in row[position].plain.split("\n")]
        width = max(map(len, body), default=0)
        title = _title(column, width) if stacked else column.title
        if column.numeric:
            widest = max(width, *map(len, title.split("\n")))
            style = "" if column.title else "dim"
            grid.add_column(Text(title), justify="right", no_wrap=True, min_width=widest, style=style)
        else:
            words = [word for line in (*body, *title.split("\n")) for word in line.split(" ")]
            widest = max(map(len, words), default=0)
            grid.add_column(Text(title), overflow="fold", min_width=min(widest, WIDEST_WORD))
    for row in cells:
        grid.add_row(*row)
    return grid


def _cell(cell: Cell, *, stacked: bool) -> Text:
    """Return a cell for Rich; with `stacked`, muted text after a figure is on a second line."""
    text, broken = Text(), not stacked
    for piece in spans(cell):
        if isinstance(piece, str):
            text.append(piece)
        elif not broken and piece.tone == "muted" and text.plain.strip():
            text.append("\n").append(piece.text.lstrip(), style=STYLES["muted"])
            broken = True
        else:
            text.append(piece.text, style=STYLES[piece.tone])
    return text


def _title(column: Column, width: int) -> str:
    """Return a title wrapped to about the width of its column, between words or within a long plain word.

    A word with a mark or a digit, such as a model's name, is not split.
    """
    width = max(width, NARROWEST_TITLE)
    pieces = " ".join(_hyphened(word, width) for word in column.title.split(" "))
    return "\n".join(textwrap.wrap(pieces, width, break_long_words=False, break_on_hyphens=False)) or column.title


def _hyphened(word: str, width: int) -> str:
    """Return a plain word in pieces of at most `width`, split between two consonants if possible, else after a vowel."""
    if not word.isalpha() or len(word) <= width + 1:
        return word
    last = min(width + 1, len(word) - 2)
    matches = [_BETWEEN.finditer(word, 2, last), _AFTER_VOWEL.finditer(word, 2, last)]
    position = next((places[-1].end() for candidates in matches if (places := list(candidates))), width - 1)
    return f"{word[:position]}- {_hyphened(word[position:], width)}"
