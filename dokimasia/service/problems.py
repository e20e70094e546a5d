"""Errors as `application/problem+json` (RFC 9457), or for a browser as a page, with the command line's message."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from http import HTTPStatus
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.routing import Match

from dokimasia.domain.identity import JsonObject
from dokimasia.errors import DecidedMeanwhile, DokimasiaError, Fault, HomeLocked, InputError, NotFound, Unreachable
from dokimasia.log import logger
from dokimasia.operations.operation import RequestRefused
from dokimasia.plugins import broken_plugin
from dokimasia.service.wording import as_on_pages

MEDIA_TYPE = "application/problem+json"
ERROR_HEADER = "dokimasia-error"
"""The header with the class of one of this package's errors, so that a client raises the same."""


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
    """Return the HTTP status for one of this package's errors."""
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
    """Return an error response."""
    body = ProblemDetails(title=HTTPStatus(status).phrase, status=status, detail=detail, request=request)
    return JSONResponse(body.model_dump(), status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


ErrorPage = Callable[[Request, int, str], Response]
"""Draws the page of an error from the request, the status and the message."""


def refusal(request: Request, refused: RequestRefused, draw: ErrorPage) -> Response:
    """Return the response to a request that was refused before it reached a route: a page for a browser, else a problem."""
    if not wants_page(request):
        id = getattr(request.state, "id", "")
        return problem(refused.status, refused.detail, request=id, headers=refused.headers)
    page = draw(request, refused.status, refused.detail)
    page.headers.update(refused.headers)
    return page


def wants_page(request: Request) -> bool:
    """Return whether a browser opens a page, as opposed to a program or script that requests data."""
    fragment = request.headers.get("hx-request") is not None
    return not fragment and not _for_programs(request) and "text/html" in request.headers.get("accept", "")


def login_for(request: Request) -> str:
    """Return the address of the login page, which leads back to the opened page."""
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return f"/login?next={quote(target if request.method == 'GET' else '/', safe='/')}"


def _for_programs(request: Request) -> bool:
    return request.url.path.startswith(("/api/", "/static/"))


def handle_problems(app: FastAPI, redact: Callable[[str], str], *, error_page: ErrorPage) -> None:
    """Make an app answer every error as a problem, or as a page for a browser, without secrets.

    A browser without a token is redirected to the login page.
    """

    def respond(request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
        if status == HTTPStatus.UNAUTHORIZED and wants_page(request):
            return RedirectResponse(login_for(request), HTTPStatus.SEE_OTHER)
        detail = redact(detail) if _for_programs(request) else as_on_pages(redact(detail))
        if wants_page(request):
            return error_page(request, status, detail)
        all_headers = dict(headers or {})
        if status == HTTPStatus.UNAUTHORIZED and not _for_programs(request):
            all_headers["hx-redirect"] = "/login"
        return problem(status, detail, request=getattr(request.state, "id", ""), headers=all_headers)

    @app.exception_handler(DokimasiaError)
    async def package_error(request: Request, error: DokimasiaError) -> Response:  # pyright: ignore[reportUnusedFunction]
        return respond(request, status_of(error), str(error), {ERROR_HEADER: type(error).__name__})

    @app.exception_handler(RequestRefused)
    async def refused(request: Request, error: RequestRefused) -> Response:  # pyright: ignore[reportUnusedFunction]
        return respond(request, error.status, error.detail, error.headers)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:  # pyright: ignore[reportUnusedFunction]
        if isinstance(cause := error.__cause__, RequestRefused):  # the body was refused while a form was read from it
            return await refused(request, cause)
        headers, detail = error.headers, str(error.detail)
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers = {"allow": ", ".join(_methods(app, request))}
            detail = f"{request.method} cannot be asked of {_path(request)}, but {headers['allow']}"
        elif detail == HTTPStatus.NOT_FOUND.phrase:
            detail = _unknown_address(request)
        return respond(request, error.status_code, detail, headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(  # pyright: ignore[reportUnusedFunction]
        request: Request, error: RequestValidationError
    ) -> Response:
        return respond(
            request, HTTPStatus.UNPROCESSABLE_ENTITY, "; ".join(str(Fault.of(details)) for details in error.errors())
        )

    @app.exception_handler(Exception)
    async def internal_error(request: Request, error: Exception) -> Response:
        logger(__name__).error("internal error", path=request.url.path, exc_info=error)
        detail = broken_plugin(error) or f"internal error: {type(error).__name__}"
        return respond(request, HTTPStatus.INTERNAL_SERVER_ERROR, detail)

    # Within the guard, so that the reply has its headers; failures of the guard itself are answered outside of it.
    app.user_middleware.append(Middleware(ServerErrorMiddleware, handler=internal_error))


def _methods(app: FastAPI, request: Request) -> list[str]:
    """Return the methods that the routes of a path accept."""
    scopes = {method: {**request.scope, "method": method} for method in ("GET", "POST", "PUT", "PATCH", "DELETE")}
    return [
        method for method, scope in scopes.items() if any(route.matches(scope)[0] is Match.FULL for route in app.routes)
    ]


def _path(request: Request) -> str:
    return f"{request.url.path[:200]!r}"


BEGINNINGS = (
    "runs",
    "new",
    "data",
    "compare",
    "trees",
    "review",
    "passports",
    "models",
    "settings",
    "spending",
    "login",
    "metrics",
)
"""The first segments of the paths of pages."""


def _unknown_address(request: Request) -> str:
    """Return the message for an unknown address, with the nearest page if it looks misspelt."""
    path = request.url.path
    if path.startswith("/api/"):
        return f"there is no route {_path(request)}; /api/openapi.json describes all"
    if path.startswith("/static/"):
        return f"there is no file {_path(request)}"
    segment = path.split("/")[1]
    matches = get_close_matches(segment, BEGINNINGS, n=1) if segment not in BEGINNINGS else []
    return f"there is no page {_path(request)}{f'; did you mean `/{matches[0]}`?' if matches else ''}"


def may_answer(*statuses: int) -> dict[int | str, JsonObject]:
    """Return the `responses` of a route for these error statuses, for the OpenAPI description."""
    content = {MEDIA_TYPE: {"schema": ProblemDetails.model_json_schema()}}
    return {int(status): {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


PROBLEMS = may_answer(400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 429, 503)
"""The errors that any route may return."""
