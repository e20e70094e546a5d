"""HTML pages drawn from Jinja templates, which escape all values; blocks look as in a report."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from http import HTTPStatus

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.routing import Match

from dokimasia.operations.operation import RequestRefused
from dokimasia.report.blocks import Block, Bullets, Cell, Facts, Fold, Only, Paragraph, Span, spans
from dokimasia.report.drawing import Charts, draw_blocks
from dokimasia.report.figures import cost_text, several
from dokimasia.report.page import script_json
from dokimasia.report.sections.provenance import COMMAND
from dokimasia.service.guard import Caller
from dokimasia.service.state import person_of, service_of
from dokimasia.service.wording import as_on_pages
from dokimasia.version import __version__

MENU = (
    ("/", "Runs"),
    ("/new", "New run"),
    ("/data", "Data"),
    ("/models", "Models"),
    ("/compare", "Compare"),
    ("/board", "Board"),
    ("/trees", "Trees"),
    ("/review", "Review"),
    ("/passports", "Judges"),
    ("/settings", "Settings"),
)
"""Entries of the menu of every page: path and label."""


def mark_code(text: str) -> Markup:
    """Return a sentence as HTML, with text between backticks as code, and the names of pages as links.

    Examples:
        >>> print(mark_code("say `resume <run>` & wait, or see the page Trees"))
        say <code>resume &lt;run&gt;</code> &amp; wait, or see <a href="/trees">the page Trees</a>
    """
    sentence = _CODE.sub(r"<code>\1</code>", str(escape(text)))
    paths = {label: path for path, label in MENU}
    return Markup(_PAGE.sub(lambda page: f'<a href="{paths[page[1]]}">{page[0]}</a>', sentence))


_CODE = re.compile(r"`([^`]+)`")
_PAGE = re.compile(r"\b[Tt]he page (Compare|Data|Judges|Models|Review|Trees)\b")


@cache
def templates() -> Environment:
    """Return the template environment; a template that uses an undefined name fails."""
    environment = Environment(
        loader=PackageLoader("dokimasia.service"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"coded": mark_code, "cost": cost_text, "several": several}
    return environment


def page(
    request: Request,
    template: str,
    context: Mapping[str, object] = {},
    *,
    status: int = 200,
    charts: Charts | None = None,
    **values: object,
) -> HTMLResponse:
    """Return a page drawn from a template of `templates/`.

    Besides its own values, those of `context` and `values`, every template receives `path`, `menu`, `person` (None:
    unknown) and `version`; `charts` are those collected by `drawn`.
    """
    figures = {} if charts is None else charts.figures
    shared = {
        "path": request.url.path,
        "menu": MENU,
        "person": _caller_or_none(request),
        "version": __version__,
        "tokens": service_of(request).tokens.needed,
        "charts": Markup(script_json(figures)) if figures else "",
    }
    return HTMLResponse(templates().get_template(template).render({**shared, **context, **values}), status)


def error_page(request: Request, status: int, detail: str, *, named: bool = True) -> HTMLResponse:
    """Return the page for an error, with a link to the parent page if there is one, and the caller's name if `named`."""
    return page(
        request,
        "error.html",
        status=status,
        above=_page_above(request) if status == HTTPStatus.NOT_FOUND else "",
        title=TITLES.get(status, HTTPStatus(status).phrase),
        code=status,
        detail=detail,
        person=_caller_or_none(request) if named else None,
    )


TITLES: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: "This cannot be read",
    HTTPStatus.FORBIDDEN: "This is not allowed",
    HTTPStatus.NOT_FOUND: "There is nothing here",
    HTTPStatus.METHOD_NOT_ALLOWED: "This cannot be asked here",
    HTTPStatus.CONFLICT: "Something else came first",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Please correct the form",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong in the service",
}
"""Headings of error pages, by status."""


def _page_above(request: Request) -> str:
    """Return the path of the nearest parent page of an address, such as that of a run; never the list of runs."""

    def is_page(path: str) -> bool:
        scope = {**request.scope, "path": path, "method": "GET"}
        return any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)

    parts = request.url.path.rstrip("/").split("/")
    route = str(getattr(request.scope.get("route"), "path", request.url.path))
    parents = ("/".join(parts[:end]) for end in range(len(route.rstrip("/").split("/")) - 1, 1, -1))
    return next((path for path in parents if path != "/runs" and is_page(path)), "")


def refusal_page(request: Request, status: int, detail: str) -> HTMLResponse:
    """Return the page for a request that was refused before its caller was known, which shows no name."""
    return error_page(request, status, detail, named=False)


def _caller_or_none(request: Request) -> Caller | None:
    try:
        return person_of(request)
    except RequestRefused:
        return None


def drawn(blocks: Sequence[Block], charts: Charts, labels: Mapping[str, str] = {}) -> Markup:
    """Return the blocks of a report as HTML, in the words of pages; the blocks escape their own texts.

    Args:
        blocks: the blocks.
        charts: receives their charts.
        labels: the label of each field by its option.
    """
    blocks = [block_on_page(block, labels) for block in blocks]
    return Markup("\n".join(draw_blocks(blocks, charts, browser=lambda note: "")))


def block_on_page(block: Block, labels: Mapping[str, str] = {}) -> Block:
    """Return a block whose sentences name pages in place of commands, and fields in place of options.

    Args:
        block: the block.
        labels: the label of each field by its option.
    """
    if isinstance(block, Paragraph):
        return replace(block, text=_cell_on_page(block.text, labels))
    if isinstance(block, Bullets):
        return replace(block, items=[_cell_on_page(item, labels) for item in block.items])
    if isinstance(block, Facts):  # the page of the run has its command in a fold
        return replace(block, rows=[(name, cell) for name, cell in block.rows if name != COMMAND])
    if isinstance(block, Fold | Only):
        return replace(block, blocks=[block_on_page(inner, labels) for inner in block.blocks])
    return block


def _cell_on_page(cell: Cell, labels: Mapping[str, str]) -> Cell:
    pieces: list[str | Span] = []
    for piece in spans(cell):
        pieces.append(_span_on_page(piece, labels) if isinstance(piece, Span) else as_on_pages(piece, labels))
    return tuple(pieces)


def _span_on_page(piece: Span, labels: Mapping[str, str]) -> str | Span:
    words = as_on_pages(piece.text, labels) if piece.tone == "code" else piece.text
    if words == piece.text:
        return piece
    return f"{words[0].lower()}{words[1:]}"
