"""Templates drawn as pages: everything in them is escaped, and a report's blocks are the same ones as in a report."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.routing import Match

from dokimasia.report.blocks import Block
from dokimasia.report.drawing import Charts, draw_blocks
from dokimasia.report.figures import several
from dokimasia.report.page import embedded
from dokimasia.service.problems import Refused
from dokimasia.service.state import Person, person_of, service_of
from dokimasia.version import __version__

MENU = (
    ("/", "Runs"),
    ("/new", "New run"),
    ("/compare", "Compare"),
    ("/trees", "Trees"),
    ("/review", "Review"),
    ("/passports", "Passports"),
    ("/settings", "Settings"),
)
"""Where the menu of every page leads."""


def coded(text: str) -> Markup:
    """Return a sentence as HTML, what stands between backticks as code.

    Examples:
        >>> print(coded("say `resume <run>` & wait"))
        say <code>resume &lt;run&gt;</code> &amp; wait
    """
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


_CODE = re.compile(r"`([^`]+)`")


@cache
def templates() -> Environment:
    """Return the templates; a name that a template asks for and is not given is an error."""
    made = Environment(
        loader=PackageLoader("dokimasia.service"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["coded"] = coded
    made.filters["several"] = several
    return made


def page(
    request: Request, template: str, *, status: int = 200, charts: Charts | None = None, **values: Any
) -> HTMLResponse:
    """Return a page drawn from a template of `templates/`.

    Every template is given `path`, `menu`, `person` (None: not known) and `version` beside its own values; `charts` are
    those that `drawn` took in.
    """
    figures = {} if charts is None else charts.figures
    shared = {
        "path": request.url.path,
        "menu": MENU,
        "person": _known(request),
        "version": __version__,
        "tokens": service_of(request).tokens.needed,
        "charts": Markup(embedded(figures)) if figures else "",
    }
    return HTMLResponse(templates().get_template(template).render({**shared, **values}), status)


def error_page(request: Request, status: int, detail: str, **values: Any) -> HTMLResponse:
    """Return the page that says what went wrong, with the way to the page above it where there is one."""
    shown = {"title": TITLES.get(status, HTTPStatus(status).phrase), "code": status, "detail": detail}
    above = _page_above(request) if status == HTTPStatus.NOT_FOUND else ""
    return page(request, "error.html", status=status, above=above, **shown, **values)


TITLES: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: "This cannot be read",
    HTTPStatus.FORBIDDEN: "This is not allowed",
    HTTPStatus.NOT_FOUND: "There is nothing here",
    HTTPStatus.METHOD_NOT_ALLOWED: "This cannot be asked here",
    HTTPStatus.CONFLICT: "Something else came first",
    HTTPStatus.UNPROCESSABLE_ENTITY: "This cannot be used",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong in the service",
}
"""What an error's page is headed, by status."""


def _page_above(request: Request) -> str:
    """Return the nearest page above an address, such as that of a run, but for the list of runs."""

    def is_page(path: str) -> bool:
        scope = {**request.scope, "path": path, "method": "GET"}
        return any(one.matches(scope)[0] is Match.FULL for one in request.app.routes)

    parts = request.url.path.rstrip("/").split("/")
    route = str(getattr(request.scope.get("route"), "path", request.url.path))
    every = ("/".join(parts[:end]) for end in range(len(route.rstrip("/").split("/")) - 1, 1, -1))
    return next((path for path in every if path != "/runs" and is_page(path)), "")


def refusal_page(request: Request, status: int, detail: str) -> HTMLResponse:
    """Return the page that says why a request was refused before anybody was known: it says nobody's name."""
    return error_page(request, status, detail, person=None)


def _known(request: Request) -> Person | None:
    try:
        return person_of(request)
    except Refused:
        return None


def drawn(blocks: Sequence[Block], charts: Charts) -> Markup:
    """Return blocks of a report as HTML, which escapes every text by itself."""
    return Markup("\n".join(draw_blocks(blocks, charts, browser=lambda note: "")))
