"""The blocks of a section: a few kinds, each drawn as HTML, as Markdown and on a terminal."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from dokimasia.domain.identity import JsonObject

Tone = Literal["", "strong", "muted", "good", "bad", "higher", "lower", "code", "struck", "cited"]
Place = Literal["page", "terminal"]
"""Where blocks are drawn; a Markdown document has the blocks of the page."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text; for a figure, also its JSON pointer in `show --json` and its value.

    `heat` tints a score's cell, from 0 (lowest) to 1 (highest). `href` is a link within the page, `#` and an id,
    or on a page of the service to the samples of a run.
    """

    text: str
    tone: Tone = ""
    pointer: str = ""
    value: float | None = None
    heat: float | None = None
    href: str = ""


Cell = str | Span | tuple["str | Span", ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: title, whether it holds numbers, and an explanation of the title if needed.

    `only` restricts the column to one place; by default it is drawn everywhere. A `detail` is left
    out if a terminal shows only some columns.
    """

    title: str
    numeric: bool = True
    meaning: str = ""
    only: Place | None = None
    detail: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; a `warning` is highlighted, a `note` is muted."""

    text: Cell
    kind: Literal["plain", "note", "warning", "lead"] = "plain"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; `about` is the caption, also for readers who do not see the table in its context.

    On the page, the rows of a `sortable` table can be sorted by any column.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    about: str
    sortable: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values, one per line."""

    rows: Sequence[tuple[str, Cell]]


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list; with a `warning`, it is highlighted together with the warning."""

    items: Sequence[Cell]
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A Plotly figure; `about` describes it in words, and a neighbouring table has the same numbers.

    `variants` are alternative views by name: each replaces properties of the figure's first trace. `picks` labels the
    menu of variants. Only the page draws charts; a Markdown document has the table.
    """

    figure: JsonObject
    about: str
    picks: str = ""
    variants: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are hidden until the reader opens them; a link to `id`, or a click on a chart's point with it, opens them.

    A terminal prints only the title.
    """

    title: str
    blocks: "Sequence[Block]"
    id: str = ""


@dataclass(frozen=True, slots=True)
class Browser:
    """The samples of the report's data; each format draws them in its own way."""

    note: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image as a data URI; if it cannot be drawn, `uri` is empty and `about` gives the reason. Markdown has only
    `about`.

    `regions` are drawn on it, with corners as fractions of width and height; `ratio` is then height divided by width.
    `sha256` is the image's hash in the home; a service that has the home uses it if there is no `uri`.
    """

    uri: str
    about: str
    regions: Sequence[tuple[float, float, float, float]] = ()
    ratio: float = 1.0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts side by side, each with a heading and its own line breaks; if `raw`, a terminal does not wrap them.

    The page renders the Markdown and LaTeX of `prose`, as written by models.
    """

    items: Sequence[tuple[Cell, str]]
    raw: bool = False
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Only:
    """Blocks that are drawn in only one place."""

    place: Place
    blocks: "Sequence[Block]"


Block = Paragraph | Table | Facts | Bullets | Chart | Fold | Browser | Image | Texts | Only


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: anchor, title, blocks, title in the menu, and its only place, if restricted."""

    id: str
    title: str
    blocks: Sequence[Block]
    menu: str = ""
    only: Place | None = None


def anchor(prefix: str, name: str) -> str:
    """Return an HTML id: a prefix and a name, in which other characters than letters, digits, `-` and `_` become `-`."""
    return prefix + "".join(character if character.isalnum() or character in "-_" else "-" for character in name)


def spans(cell: Cell) -> tuple[str | Span, ...]:
    """Return the pieces of a cell."""
    if isinstance(cell, tuple):
        return cell
    return (cell,)


def with_texts(cell: Cell, write: Callable[[str], str]) -> Cell:
    """Return a cell whose texts are rewritten."""
    pieces: list[str | Span] = []
    for piece in spans(cell):
        pieces.append(write(piece) if isinstance(piece, str) else replace(piece, text=write(piece.text)))
    return tuple(pieces)


def plain(cell: Cell) -> str:
    """Return the text of a cell, without markup."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in spans(cell))


def drawn_at(place: Place, blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks that a place draws; tables have only the columns of that place."""
    for block in blocks:
        if isinstance(block, Only):
            if block.place == place:
                yield from drawn_at(place, block.blocks)
        elif isinstance(block, Table) and any(column.only for column in block.columns):
            visible = [index for index, column in enumerate(block.columns) if column.only in (None, place)]
            rows = [[row[index] for index in visible] for row in block.rows]
            yield replace(block, columns=[block.columns[index] for index in visible], rows=rows)
        else:
            yield block


def captioned(place: Place, blocks: Sequence[Block]) -> Iterator[tuple[Block, bool]]:
    """Yield the blocks that a place draws, each with whether it is a table next to another and needs a visible title."""
    drawn_blocks = [None, *drawn_at(place, blocks), None]
    for before, block, after in zip(drawn_blocks, drawn_blocks[1:], drawn_blocks[2:], strict=False):
        if block is not None:
            yield block, isinstance(block, Table) and (isinstance(before, Table) or isinstance(after, Table))
