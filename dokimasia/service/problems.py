"""Errors as `application/problem+json` (RFC 9457), or for a browser as a page, with the sentence that the command line prints."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.routing import Match

from dokimasia.errors import DecidedMeanwhile, DokimasiaError, HomeLocked, InputError, NotFound, Unreachable
from dokimasia.log import Redactor, logger
from dokimasia.operations.operation import RequestRefused

MEDIA_TYPE = "application/problem+json"
ERROR_HEADER = "dokimasia-error"
"""The header that says of which class of Python an error of ours is, so that a client raises the same."""


class ProblemDetails(BaseModel):
    """What went wrong: a short title, the HTTP status, and a sentence that says what is wrong, where, and the way out."""

    model_config = ConfigDict(
        title="Problem", json_schema_extra={"examples": [{"title": "Not Found", "status": 404, "detail": "..."}]}
    )

    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    request: str = Field(default="", description="The request's id, as it stands in the log of the service.")


def status_of(error: DokimasiaError) -> int:
    """Return the HTTP status that an error of ours is answered with."""
    if isinstance(error, NotFound):
        return HTTPStatus.NOT_FOUND
    if isinstance(error, HomeLocked | DecidedMeanwhile):
        return HTTPStatus.CONFLICT
    if isinstance(error, InputError):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    if isinstance(error, Unreachable):
        return HTTPStatus.BAD_GATEWAY
    return HTTPStatus.INTERNAL_SERVER_ERROR


def problem(status: int, detail: str, *, request: str = "", headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return a response that says what went wrong."""
    told = ProblemDetails(title=HTTPStatus(status).phrase, status=status, detail=detail, request=request)
    return JSONResponse(told.model_dump(), status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


ErrorPage = Callable[[Request, int, str], Response]
"""Draws an error for a person: what was asked, the status, and the sentence."""


def refusal(request: Request, refused: RequestRefused, draw: ErrorPage) -> Response:
    """Return what answers a request that was refused before a route saw it: a page for a browser, else a problem."""
    if not for_a_browser(request):
        id = getattr(request.state, "id", "")
        return problem(refused.status, refused.detail, request=id, headers=refused.headers)
    page = draw(request, refused.status, refused.detail)
    page.headers.update(refused.headers)
    return page


def for_a_browser(request: Request) -> bool:
    """Whether a person in a browser opens a page, and no program or script asks for data."""
    fragment = request.headers.get("hx-request") is not None
    return not fragment and not _for_programs(request) and "text/html" in request.headers.get("accept", "")


def login_for(request: Request) -> str:
    """Return the address at which a browser gives its token, and from which it comes back to what it opened."""
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return f"/login?next={quote(target if request.method == 'GET' else '/', safe='/')}"


def _for_programs(request: Request) -> bool:
    return request.url.path.startswith(("/api/", "/static/"))


def handle_problems(app: FastAPI, redact: Redactor, *, error_page: ErrorPage) -> None:
    """Have an app answer every error as a problem, to a browser as a page; no text of one holds a secret.

    A browser without a token is led to where it can give one.
    """

    def told(request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
        if status == HTTPStatus.UNAUTHORIZED and for_a_browser(request):
            return RedirectResponse(login_for(request), HTTPStatus.SEE_OTHER)
        if for_a_browser(request):
            return error_page(request, status, redact(detail))
        more = dict(headers or {})
        if status == HTTPStatus.UNAUTHORIZED and not _for_programs(request):
            more["hx-redirect"] = "/login"
        return problem(status, redact(detail), request=getattr(request.state, "id", ""), headers=more)

    @app.exception_handler(DokimasiaError)
    async def ours(request: Request, error: DokimasiaError) -> Response:  # pyright: ignore[reportUnusedFunction]
        return told(request, status_of(error), str(error), {ERROR_HEADER: type(error).__name__})

    @app.exception_handler(RequestRefused)
    async def refused(request: Request, error: RequestRefused) -> Response:  # pyright: ignore[reportUnusedFunction]
        return told(request, error.status, error.detail, error.headers)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:  # pyright: ignore[reportUnusedFunction]
        if isinstance(
            cause := error.__cause__, RequestRefused
        ):  # a body that was refused while a form was read from it
            return await refused(request, cause)
        more, detail = error.headers, str(error.detail)
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            more = {"allow": ", ".join(_methods(app, request))}
            detail = f"{request.method} cannot be asked of {_path(request)}, but {more['allow']}"
        elif detail == HTTPStatus.NOT_FOUND.phrase:
            detail = _nowhere(request)
        return told(request, error.status_code, detail, more)

    @app.exception_handler(RequestValidationError)
    async def invalid(  # pyright: ignore[reportUnusedFunction]
        request: Request, error: RequestValidationError
    ) -> Response:
        return told(request, HTTPStatus.UNPROCESSABLE_ENTITY, "; ".join(map(_fault, error.errors())))

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> Response:
        logger(__name__).error("internal error", path=request.url.path, exc_info=error)
        return told(request, HTTPStatus.INTERNAL_SERVER_ERROR, f"internal error: {type(error).__name__}")

    # within the guard, so that it has the headers of every answer; what fails in the guard itself is answered outside of it
    app.user_middleware.append(Middleware(ServerErrorMiddleware, handler=unforeseen))


def _methods(app: FastAPI, request: Request) -> list[str]:
    """Return the methods that a path takes, of all routes that have it."""
    scopes = {method: {**request.scope, "method": method} for method in ("GET", "POST", "PUT", "PATCH", "DELETE")}
    return [
        method for method, scope in scopes.items() if any(route.matches(scope)[0] is Match.FULL for route in app.routes)
    ]


def _path(request: Request) -> str:
    return f"{request.url.path[:200]!r}"


BEGINNINGS = ("runs", "new", "compare", "trees", "review", "passports", "settings", "login", "metrics")
"""How addresses of pages begin."""


def _nowhere(request: Request) -> str:
    """Return the sentence on an address at which there is nothing, with the nearest one where it looks misspelt."""
    path = request.url.path
    if path.startswith("/api/"):
        return f"there is no route {_path(request)}; /api/openapi.json describes all"
    if path.startswith("/static/"):
        return f"there is no file {_path(request)}"
    first = path.split("/")[1]
    near = get_close_matches(first, BEGINNINGS, n=1) if first not in BEGINNINGS else []
    return f"there is no page {_path(request)}{f'; did you mean `/{near[0]}`?' if near else ''}"


def _fault(fault: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {str(fault['msg']).removeprefix('Value error, ')}"


def may_answer(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how the OpenAPI description says that a route may answer with these errors."""
    content = {MEDIA_TYPE: {"schema": ProblemDetails.model_json_schema()}}
    return {int(status): {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


PROBLEMS = may_answer(400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 429, 503)
"""What every route may answer beside its own reply."""
