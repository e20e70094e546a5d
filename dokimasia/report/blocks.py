"""What a section is made of: a few kinds of block, written once and drawn as HTML, as Markdown or on a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Tone = Literal["", "strong", "muted", "good", "bad", "code", "struck", "cited"]
Place = Literal["page", "terminal"]
"""Where blocks are drawn; a document in Markdown has what the page has."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text. A figure also has the place of its value in `show --json` (a JSON pointer) and that value.

    `heat` tints a score's cell: 0 the lowest, 1 the highest. `href` leads to another place of the page, `#` and its id.
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
    """A table's column: its title, whether it holds numbers, and what the title means where that needs saying.

    `only` keeps it to one place; without it the column is drawn everywhere.
    """

    title: str
    numeric: bool = True
    meaning: str = ""
    only: Place | None = None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; `warning` stands out, `note` stands back."""

    text: Cell
    kind: Literal["plain", "note", "warning", "lead"] = "plain"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; `about` says what they are, for those who do not see the table's place.

    A `sortable` table's rows can be put in the order of any column on the page.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    about: str
    sortable: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what they are, one a line."""

    rows: Sequence[tuple[str, Cell]]


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list; one under a `warning` stands out with it."""

    items: Sequence[Cell]
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A Plotly figure; the same numbers stand in a table beside it, and `about` says in words what it shows.

    `variants` are ways to see it, by name: each replaces properties of the figure's first trace. `picks` says what the
    reader picks among them. Only the page draws charts: a document in Markdown has the table.
    """

    figure: Mapping[str, Any]
    about: str
    picks: str = ""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are shown when they are asked for; a chart's point, or a link, of its `id` opens it.

    On a terminal nothing can be opened: there its title stands alone.
    """

    title: str
    blocks: Sequence["Block"]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Browser:
    """The samples of the report's data, drawn by each format in its own way."""

    note: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as a data URI; where it cannot be drawn `uri` is empty, and `about` says why. A document has `about`.

    `regions` are drawn on it, corners as fractions of its width and height; `ratio` is then its height by its width.
    `sha256` is its hash in the home, by which a service that has the home at hand shows it where there is no `uri`.
    """

    uri: str
    about: str
    regions: Sequence[tuple[float, float, float, float]] = ()
    ratio: float = 1.0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts beside each other, each under a heading, with the line breaks that they have; if `raw`, a terminal adds none."""

    items: Sequence[tuple[Cell, str]]
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Only:
    """Blocks that are drawn in one place alone."""

    place: Place
    blocks: Sequence["Block"]


Block = Paragraph | Table | Facts | Bullets | Chart | Fold | Browser | Image | Texts | Only


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: its anchor, its title, what it is about in the menu, its blocks, and where alone it is drawn."""

    id: str
    title: str
    blocks: Sequence[Block]
    menu: str = ""
    only: Place | None = None


def spans(cell: Cell) -> tuple[str | Span, ...]:
    """Return a cell's pieces."""
    return cell if isinstance(cell, tuple) else (cell,)


def plain(cell: Cell) -> str:
    """Return a cell's text alone."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in spans(cell))


def drawn_at(place: Place, blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks that a place draws, tables with the columns that it draws."""
    for block in blocks:
        if isinstance(block, Only):
            if block.place == place:
                yield from drawn_at(place, block.blocks)
        elif isinstance(block, Table) and any(column.only for column in block.columns):
            visible = [at for at, column in enumerate(block.columns) if column.only in (None, place)]
            rows = [[row[at] for at in visible] for row in block.rows]
            yield replace(block, columns=[block.columns[at] for at in visible], rows=rows)
        else:
            yield block


def captioned(place: Place, blocks: Sequence[Block]) -> Iterator[tuple[Block, bool]]:
    """Yield the blocks that a place draws, and whether each is a table next to another, which needs its title in sight."""
    drawn = [None, *drawn_at(place, blocks), None]
    for before, block, after in zip(drawn, drawn[1:], drawn[2:], strict=False):
        if block is not None:
            yield block, isinstance(block, Table) and (isinstance(before, Table) or isinstance(after, Table))
